"""In-force accuracy as a function of the interval, over all families and in each."""

from __future__ import annotations

import numpy as np

from streamdecisionbench.analysis.table import percent
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    OWN_COLOUR,
    Drawing,
    Look,
    accuracy,
    beside,
    chart,
    grid,
    intervals,
    layers,
    looks,
    names,
    others_note,
    panel_title,
    simulated_note,
    with_labels,
)
from streamdecisionbench.report.material import Entry, Material, family_name

POINTS = 193
"""Exact values are taken at so many intervals, evenly on the logarithmic axis."""

_HEIGHT, _WIDTH = 290, 330
_SMALL_HEIGHT, _SMALL_WIDTH = 118, 150

Samples = dict[str, list[tuple[float, float]]]


def pace_curves(material: Material) -> Figure:
    """The whole on the left with names, families as small multiples on the right."""
    style = looks(material)
    xs = grid(material.bounds.low, material.bounds.high, POINTS)
    levels = ["overall", *material.families]
    samples = {level: _samples(material.entries, level, xs) for level in levels}
    whole = _panel(material, style, samples["overall"], "All families (equal mean)", large=True)
    labels = [
        (style[e.name].label, style[e.name].colour, samples["overall"][e.name][-1][1])
        for e in material.entries
        if style[e.name].named
    ]
    drawing = with_labels(whole, labels, _HEIGHT)
    small = [
        _panel(material, style, samples[family], family_name(family), large=False)
        for family in material.families
    ]
    if len(small) > 1:
        columns = 2 if len(small) <= 4 else 3
        drawing = beside(drawing, {"concat": small, "columns": columns, "spacing": 14}, spacing=24)
    return Figure(
        "pace_curves",
        "In-force accuracy at every pace of events",
        "In-force accuracy (%) of each recorded pass at every interval, with its recorded answers and"
        " latencies. The area under a curve on this axis, normalised, is the integrated score."
        + others_note(material)
        + simulated_note(material.entries),
        _alternative(material, samples["overall"]),
        drawing,
        ("level", "setting", "simulated", "interval_s", "in_force_percent"),
        [
            (level, e.name, e.score.simulated, x, y)
            for level in levels
            for e in material.entries
            for x, y in samples[level].get(e.name, [])
        ],
    )


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
    shown = [name for name in samples if style[name].named]
    scale = {"domain": shown, "range": [style[name].dash for name in shown]}
    parts = []
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
        width = (2 if large else 1.6) if named else 0.8
        dash = {"strokeDash": names("setting", scale=scale, legend=None)} if named else {}
        parts.append(
            chart(
                rows,
                {"type": "line", "strokeWidth": width},
                x=intervals(material.bounds, titled=large),
                y=accuracy(titled=large),
                color=OWN_COLOUR,
                detail=names("setting"),
                **dash,
            )
        )
    sides = (_WIDTH, _HEIGHT) if large else (_SMALL_WIDTH, _SMALL_HEIGHT)
    return layers(parts, *sides, title=panel_title(title, offset=4))


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
