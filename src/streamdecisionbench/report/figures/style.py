"""How figures look: one set of type sizes, labels beside what they name."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamdecisionbench.report.material import Entry, Material
from streamdecisionbench.report.palette import DASHES, GREY, INK, PALETTE, SHOWN

if TYPE_CHECKING:
    import altair as alt

Drawing = Any
"""A chart or part of one; Altair's own types do not say which of its classes a method gives back."""

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"


@dataclass(frozen=True, slots=True)
class Look:
    """A setting as it appears in every figure of one report."""

    label: str
    colour: str
    dash: list[int]
    named: bool


def looks(material: Material) -> dict[str, Look]:
    """By recording name, the best integrated scores first; the rest share grey."""
    found = {}
    for place, entry in enumerate(material.ranked):
        named = place < SHOWN
        found[entry.name] = Look(
            label=short(entry.label),
            colour=PALETTE[place] if named else GREY,
            dash=list(DASHES[place]) if named else [1, 0],
            named=named,
        )
    return found


def others_note(material: Material) -> str:
    """What a caption says when not every setting has a name in the picture."""
    rest = len(material.entries) - SHOWN
    return (
        f" The best {SHOWN} are named; {rest} more are grey (all in the CSV)." if rest > 0 else ""
    )


def simulated_note(entries: Sequence[Entry]) -> str:
    if any(entry.score.simulated for entry in entries):
        return " (sim.): simulation from a declared profile, not a measurement of the model."
    return ""


def short(label: str, most: int = 34) -> str:
    """Long names lose their middle: both ends tell recordings apart.

    >>> short("a-very-long-recording-name-with-many-parts", 21)
    'a-very-lon…many-parts'
    """
    if len(label) <= most:
        return label
    half = (most - 1) // 2
    return f"{label[: most - 1 - half]}…{label[-half:]}"


_SHEETS: dict[str, list[dict[str, Any]]] = {}
"""Rows by digest until `finish` puts them into the specification. Altair copies and checks inline
rows over and over, which for thirty settings takes longer than drawing them."""


def data(rows: Sequence[Mapping[str, Any]]) -> alt.NamedData:
    """Rows a chart refers to by name; equal rows share a name."""
    import altair as alt

    plain = [dict(row) for row in rows]
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    name = "rows-" + hashlib.sha256(text.encode()).hexdigest()[:12]
    _SHEETS[name] = plain
    return alt.NamedData(name=name)


def interval_scale(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis of intervals with round ticks inside the bounds."""
    import altair as alt

    ticks = [v for k in range(-10, 11) if low * 0.999 <= (v := 2.0**k) <= high * 1.001]
    if len(ticks) < 2:
        ticks = [low, high]
    return {
        "scale": alt.Scale(type="log", base=2, domain=[low, high], nice=False),
        "axis": alt.Axis(values=ticks, format="~g", title="time-step interval Δ (s, log scale)"),
    }


def grid(low: float, high: float, points: int) -> list[float]:
    """Evenly spaced on the logarithmic axis, ends included exactly."""
    ratio = math.log(high / low)
    inner = [low * math.exp(ratio * i / (points - 1)) for i in range(1, points - 1)]
    return [low, *inner, high]


def spaced(values: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Label positions near the values, at least `gap` apart and inside [low, high].

    >>> spaced([1.0, 1.1, 5.0], 1.0, 0.0, 10.0)
    [0.55, 1.55, 5.0]
    """
    order = sorted(range(len(values)), key=lambda i: values[i])
    # Neighbours that are too close form a block, which sits where its members on average are.
    blocks: list[list[int]] = []

    def centre(block: list[int]) -> float:
        half = gap * (len(block) - 1) / 2
        mean = sum(values[i] for i in block) / len(block)
        return min(max(mean, low + half), high - half)

    for index in order:
        blocks.append([index])
        while len(blocks) > 1:
            upper, lower = blocks[-1], blocks[-2]
            room = gap * (len(upper) + len(lower)) / 2
            if centre(upper) - centre(lower) >= room - 1e-9:
                break
            blocks[-2:] = [lower + upper]
    placed = [0.0] * len(values)
    for block in blocks:
        start = centre(block) - gap * (len(block) - 1) / 2
        for k, index in enumerate(block):
            placed[index] = round(start + gap * k, 9)
    return placed


def label_panel(
    items: Sequence[tuple[str, str, float]], *, height: int, domain: tuple[float, float], width: int
) -> Drawing:
    """Names beside the right ends of curves: (label, colour, value), moved apart, with leaders."""
    import altair as alt

    low, high = domain
    gap = (high - low) * 13 / height
    places = spaced([value for _, _, value in items], gap, low, high)
    leaders, texts = [], []
    for (label, colour, value), place in zip(items, places, strict=True):
        leaders += [
            {"x": 0, "y": value, "label": label, "colour": colour},
            {"x": 9, "y": place, "label": label, "colour": colour},
        ]
        texts.append({"x": 12, "y": place, "label": label, "colour": colour})
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, width], nice=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[low, high], nice=False), axis=None)
    shade = alt.Color("colour:N", scale=None, legend=None)
    lines = (
        alt.Chart(data(leaders))
        .mark_line(strokeWidth=0.8)
        .encode(x=x, y=y, color=shade, detail=alt.Detail("label:N"))
    )
    names = (
        alt.Chart(data(texts))
        .mark_text(align="left", baseline="middle", fontSize=11)
        .encode(x=x, y=y, color=shade, text=alt.Text("label:N"))
    )
    return alt.layer(lines, names).properties(
        width=width, height=height, view=alt.ViewConfig(stroke=None)
    )


def label_width(labels: Sequence[str]) -> int:
    """Pixels that the longest of these names needs at 11 points."""
    return 20 + math.ceil(6.1 * max((len(label) for label in labels), default=0))


def finish(chart: Any, title: str, alt_text: str) -> dict[str, Any]:
    """The specification with the title, the text alternative and the common style."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec["datasets"] = {name: _SHEETS[name] for name in _referenced(spec)}
    _SHEETS.clear()
    spec["title"] = {
        "text": title, "anchor": "start", "fontSize": 13, "fontWeight": "bold", "offset": 10,
    }  # fmt: skip
    spec["description"] = alt_text
    spec["background"] = "white"
    spec["padding"] = 8
    spec["config"] = {
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal",
            "labelColor": INK, "titleColor": INK, "gridColor": "#E6E6E6", "domainColor": "#888888",
            "tickColor": "#888888", "labelLimit": 260,
        },
        "legend": {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "labelLimit": 260},
        "header": {"labelFontSize": 11, "titleFontSize": 11},
        "title": {"color": INK},
    }  # fmt: skip
    return spec


def _referenced(part: Any) -> list[str]:
    """Names of the rows a specification uses, in order of appearance."""
    if isinstance(part, list):
        return list(dict.fromkeys(name for item in part for name in _referenced(item)))
    if not isinstance(part, dict):
        return []
    own = part.get("data")
    found = [own["name"]] if isinstance(own, dict) and own.get("name") in _SHEETS else []
    for key, value in part.items():
        if key != "datasets":
            found += _referenced(value)
    return list(dict.fromkeys(found))
