"""How figures look: colours and names of settings, labels beside what they name, parts of drawings.

Drawings are Vega-Lite in plain dictionaries: `quantity` and `names` make channels, `chart` marks rows,
`layers` and `beside` put charts together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.render.palette import (
    CLASS_STYLE,
    DASHES,
    GREY,
    INK,
    PALETTE,
    SHOWN,
)
from streamdecisionbench.render.sentences import simulation_note
from streamdecisionbench.report.report_data import ReportInput
from streamdecisionbench.scoring.score import Score

Drawing = dict[str, Any]
"""A chart, a part of one, or a channel of its encoding."""


@dataclass(frozen=True, slots=True)
class Look:
    """A setting as it appears in every figure of one report."""

    label: str
    colour: str
    dash: list[int]
    named: bool

    @property
    def line(self) -> Drawing:
        width = 2 if self.named else 1
        return {
            "type": "line", "color": self.colour, "strokeDash": self.dash, "strokeWidth": width
        }  # fmt: skip


def looks(material: ReportInput) -> dict[str, Look]:
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


def notes(material: ReportInput, shown: Iterable[Score] | None = None) -> str:
    """What a caption ends with when not every setting has a name in the picture, or was measured."""
    rest = len(material.entries) - SHOWN
    grey = f" The best {SHOWN} are named; {rest} more are grey (all in the CSV)."
    return (grey if rest > 0 else "") + simulated_note(shown or material.scores)


def simulated_note(shown: Iterable[Score]) -> str:
    return f" {simulation_note()}" if any(one.simulated for one in shown) else ""


def short(label: str, most: int = 34) -> str:
    """Long names lose their middle: both ends tell recordings apart.

    >>> short("a-very-long-recording-name-with-many-parts", 21)
    'a-very-lon…many-parts'
    """
    if len(label) <= most:
        return label
    half = (most - 1) // 2
    return f"{label[: most - 1 - half]}…{label[-half:]}"


_AS_USUAL: Any = object()


def quantity(
    field: str, domain: Sequence[float] | None = None, axis: Any = _AS_USUAL, **scale: Any
) -> Drawing:
    """A channel of numbers; without an `axis` of its own the usual one, with None none."""
    found: Drawing = {"field": field, "type": "quantitative"}
    if domain is not None:
        found["scale"] = {"domain": list(domain), "nice": False, **scale}
    return found if axis is _AS_USUAL else {**found, "axis": axis}


def names(field: str, **how: Any) -> Drawing:
    """A channel of words."""
    return {"field": field, "type": "nominal", **how}


def keyed(field: str, looks: Mapping[str, Any], legend: Drawing | None) -> Drawing:
    """A channel of words that each look their own way."""
    scale = {"domain": list(looks), "range": list(looks.values())}
    return names(field, scale=scale, legend=legend)


OWN_COLOUR = names("colour", scale=None, legend=None)
"""Rows that name their colour themselves."""


def lanes(field: str, order: Sequence[str], **axis: Any) -> Drawing:
    """Names down the left side, in this order."""
    return names(
        field, sort=list(order), title=None, axis={"ticks": False, "domain": False, **axis}
    )


def chart(rows: Sequence[Mapping[str, Any]], mark: Drawing, **encoding: Any) -> Drawing:
    return {"data": {"values": list(rows)}, "mark": mark, "encoding": encoding}


def bars(
    rows: Sequence[Mapping[str, Any]], *, gap: float = 0.6, band: float = 0.78, **encoding: Any
) -> Drawing:
    """Bars from `begin`, the encoding's x, to `end`."""
    mark = {"type": "bar", "stroke": "white", "strokeWidth": gap, "height": {"band": band}}
    return chart(rows, mark, x2={"field": "end"}, **encoding)


def class_colours(classes: Iterable[str], orient: str) -> Drawing:
    """The channel that colours bars by class, with these in its legend."""
    legend = {"orient": orient, "title": None, "symbolType": "square", "columns": 6}
    shown = (CLASS_STYLE[name] for name in classes)
    return keyed("class", {label: colour for label, _, colour in shown}, legend)


def layers(parts: Sequence[Drawing], width: float, height: Any, **more: Any) -> Drawing:
    return {"layer": list(parts), "width": width, "height": height, **more}


def beside(*parts: Drawing, spacing: int = 0) -> Drawing:
    return {"hconcat": list(parts), "spacing": spacing}


def panel_title(text: str, **how: Any) -> Drawing:
    return {"text": text, "fontSize": 11, "fontWeight": "normal", "anchor": "start", **how}


def intervals(bounds: Bounds, *, titled: bool = True) -> Drawing:
    """A logarithmic axis of intervals with round ticks inside the bounds."""
    low, high = bounds.low, bounds.high
    ticks = [v for k in range(-10, 11) if low * 0.999 <= (v := 2.0**k) <= high * 1.001]
    title = "time-step interval Δ (s, log scale)" if titled else None
    axis = {"values": ticks if len(ticks) > 1 else [low, high], "format": "~g", "title": title}
    return quantity("x", (low, high), axis, type="log", base=2)


def accuracy(*, titled: bool = True) -> Drawing:
    title = "in-force accuracy (%)" if titled else None
    return quantity("y", (0, 100), {"title": title, "values": [0, 25, 50, 75, 100]})


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


def with_labels(
    plot: Drawing, items: Sequence[tuple[str, str, float]], height: int, high: float = 100
) -> Drawing:
    """Names beside the right ends of curves: (label, colour, value), moved apart, with leaders."""
    places = spaced([value for _, _, value in items], high * 13 / height, 0, high)
    leaders, texts = [], []
    for (label, colour, value), place in zip(items, places, strict=True):
        row = {"label": label, "colour": colour}
        leaders += [{"x": 0, "y": value, **row}, {"x": 9, "y": place, **row}]
        texts.append({"x": 12, "y": place, **row})
    width = 20 + math.ceil(6.1 * max((len(label) for label, _, _ in items), default=0))
    where = {"x": quantity("x", (0, width), None), "y": quantity("y", (0, high), None)}
    lines = chart(
        leaders, {"type": "line", "strokeWidth": 0.8},
        **where, color=OWN_COLOUR, detail=names("label"),
    )  # fmt: skip
    labels = chart(
        texts, {"type": "text", "align": "left", "baseline": "middle", "fontSize": 11},
        **where, color=OWN_COLOUR, text=names("label"),
    )  # fmt: skip
    return beside(plot, layers([lines, labels], width, height, view={"stroke": None}))


def text_mark(**how: Any) -> Drawing:
    return {"type": "text", "fontSize": 11, "color": INK, **how}
