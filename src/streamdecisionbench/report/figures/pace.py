"""In-force accuracy as a function of the interval, over all families and in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streamdecisionbench.analysis.table import percent
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    Drawing,
    Look,
    data,
    finish,
    grid,
    interval_scale,
    label_panel,
    label_width,
    looks,
    others_note,
    simulated_note,
)
from streamdecisionbench.report.material import Entry, Material, family_name

if TYPE_CHECKING:
    pass

POINTS = 193
"""Exact values are taken at so many intervals, evenly on the logarithmic axis."""

_HEIGHT, _WIDTH = 290, 330
_SMALL_HEIGHT, _SMALL_WIDTH = 118, 150

Samples = dict[str, list[tuple[float, float]]]


def pace_curves(material: Material) -> Figure:
    """The whole on the left with names, families as small multiples on the right."""
    import altair as alt

    style = looks(material)
    xs = grid(material.bounds.low, material.bounds.high, POINTS)
    levels = ["overall", *material.families]
    samples = {level: _samples(material.entries, level, xs) for level in levels}
    whole = _panel(material, style, samples["overall"], "All families (equal mean)", large=True)
    named = [e for e in material.entries if style[e.name].named]
    items = [
        (style[e.name].label, style[e.name].colour, samples["overall"][e.name][-1][1])
        for e in named
    ]
    width = label_width([label for label, _, _ in items])
    names = label_panel(items, height=_HEIGHT, domain=(0, 100), width=width)
    left = alt.hconcat(whole, names, spacing=0)
    small = [
        _panel(material, style, samples[family], family_name(family), large=False)
        for family in material.families
    ]
    chart = left
    if len(small) > 1:
        right = alt.concat(*small, columns=2 if len(small) <= 4 else 3, spacing=14)
        chart = alt.hconcat(left, right, spacing=24)
    title = "In-force accuracy at every pace of events"
    caption = (
        "In-force accuracy (%) of each recorded pass at every interval, with its recorded answers and"
        " latencies. The area under a curve on this axis, normalised, is the integrated score."
        + others_note(material)
        + simulated_note(material.entries)
    )
    table = [
        (level, e.name, e.score.simulated, x, y)
        for level in levels
        for e in material.entries
        for x, y in samples[level].get(e.name, [])
    ]
    alt_text = _alternative(material, samples["overall"])
    return Figure(
        "pace_curves", title, caption, alt_text, finish(chart, title, alt_text),
        ("level", "setting", "simulated", "interval_s", "in_force_percent"), table,
    )  # fmt: skip


def _samples(entries: tuple[Entry, ...], level: str, xs: list[float]) -> Samples:
    found: Samples = {}
    for entry in entries:
        if level != "overall" and level not in entry.score.by_family:
            continue
        values = entry.score.curve(level)["in_force"](np.array(xs))
        found[entry.name] = [(x, 100 * float(y)) for x, y in zip(xs, values, strict=True)]
    return found


def _panel(
    material: Material, style: dict[str, Look], samples: Samples, title: str, *, large: bool
) -> Drawing:
    import altair as alt

    x_options = interval_scale(material.bounds.low, material.bounds.high)
    if not large:
        x_options["axis"] = alt.Axis(values=x_options["axis"].values, format="~g", title=None)
    x = alt.X("x:Q", **x_options)
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(domain=[0, 100], nice=False),
        axis=alt.Axis(
            title="in-force accuracy (%)" if large else None, values=[0, 25, 50, 75, 100]
        ),
    )
    names = [name for name in samples if style[name].named]
    dash = alt.Scale(domain=names, range=[style[name].dash for name in names])
    colour = alt.Color("colour:N", scale=None, legend=None)
    layers = []
    # Grey first, so that named curves lie on top.
    for named in (False, True):
        rows = [
            {"x": a, "y": b, "setting": name, "colour": style[name].colour}
            for name, points in samples.items()
            if style[name].named == named
            for a, b in points
        ]
        if not rows:
            continue
        drawn = (
            alt.Chart(data(rows))
            .mark_line(strokeWidth=(2 if large else 1.6) if named else 0.8)
            .encode(x=x, y=y, color=colour, detail=alt.Detail("setting:N"))
        )
        if named:
            drawn = drawn.encode(strokeDash=alt.StrokeDash("setting:N", scale=dash, legend=None))
        layers.append(drawn)
    return alt.layer(*layers).properties(
        width=_WIDTH if large else _SMALL_WIDTH,
        height=_HEIGHT if large else _SMALL_HEIGHT,
        title=alt.TitleParams(title, fontSize=11, fontWeight="normal", anchor="start", offset=4),
    )


def _alternative(material: Material, samples: Samples) -> str:
    low, high = material.bounds.low, material.bounds.high
    parts = []
    for entry in material.ranked[:12]:
        points = samples[entry.name]
        middle = min(points, key=lambda p: abs(np.log(p[0] / material.interval)))
        parts.append(
            f"{entry.label}: {percent(points[0][1] / 100)} % at {low:g} s,"
            f" {percent(middle[1] / 100)} % near {middle[0]:.3g} s,"
            f" {percent(points[-1][1] / 100)} % at {high:g} s."
        )
    return "Curves of in-force accuracy against the time-step interval. " + " ".join(parts)
