"""How long it stays wrong, and how soon it is right again: staircases of spells and of delays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from streamdecisionbench.kernel.levels import family_weights
from streamdecisionbench.render.palette import GREY
from streamdecisionbench.render.table import (
    fixed,
    percent,
)
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    Drawing,
    chart,
    layers,
    looks,
    notes,
    quantity,
    with_labels,
)
from streamdecisionbench.report.report_data import ErrorCosts, ReportInput
from streamdecisionbench.scoring.error_costs import THETA_S
from streamdecisionbench.text import plural

_WIDTH, _HEIGHT = 430, 260

Corners = list[tuple[float, float]]


def wrong_spells(material: ReportInput, found: ErrorCosts) -> Figure:
    """Per recording, the share of time in wrong spells longer than x."""
    curves = {e.name: _lengths(found, e.name) for e in material.entries}
    until = max([THETA_S, *(x for corners in curves.values() for x, _ in corners)])
    words = [
        f"{e.label}: {percent(found.spells[e.name].wrong_share)} % wrong in"
        f" {plural(found.spells[e.name].count, 'spell')}, longest {fixed(found.spells[e.name].longest_s)} s"
        for e in material.ranked[:12]
    ]
    caption = (
        "Share of time (%) that lies in wrong spells longer than x seconds; at 0 it is all wrong time."
        f" The rule marks {THETA_S:g} s."
    )
    title = f"Time in wrong spells longer than x, at {material.interval:g} s"
    # These curves all end at 0, so they are named by where they begin.
    ends = {name: corners[0][1] for name, corners in curves.items()}
    return _figure(
        material, "wrong_spells", title, caption, words, curves, ends, "share of time (%)", until,
        THETA_S,
    )  # fmt: skip


def delays_after_changes(material: ReportInput, found: ErrorCosts) -> Figure:
    """Per recording, the share of reference changes answered within t, by Kaplan and Meier."""
    last = [float(w.time[-1]) for w in found.waits.values() if len(w.time)]
    until = max([material.interval, *last])
    curves: dict[str, Corners] = {}
    for name, curve in found.waits.items():
        corners, share = [(0.0, 0.0)], 0.0
        for time, left in zip(curve.time.tolist(), curve.share.tolist(), strict=True):
            corners += [(time, 100 * share), (time, 100 * (1 - left))]
            share = 1 - left
        curves[name] = [*corners, (until, 100 * share)]
    words = []
    for e in material.ranked[:12]:
        changes = found.changes[e.name]
        words.append(
            f"{e.label}: median {fixed(changes.median_delay_s, 2)} s, {changes.never_right} of"
            f" {changes.changes} never right in time"
        )
    caption = (
        "Share of reference changes (%) after which the decision in force was right within t seconds;"
        " changes overtaken by the next one are censored (Kaplan and Meier)."
    )
    title = f"Reference changes answered within t, at {material.interval:g} s"
    ends = {name: corners[-1][1] for name, corners in curves.items()}
    return _figure(
        material, "delays_after_changes", title, caption, words, curves, ends, "answered (%)", until
    )


def _lengths(found: ErrorCosts, name: str) -> Corners:
    course = found.courses[name]
    spells = course.at.spells
    weight = np.divide(family_weights(list(course.families)), spells.observed)
    order = np.argsort(spells.length, kind="stable")
    share = 100 * (weight[spells.scenario] * spells.length)[order]
    left = float(share.sum())
    corners = [(0.0, left)]
    for length, part in zip(spells.length[order].tolist(), share.tolist(), strict=True):
        corners.append((length, left))
        left = max(left - part, 0.0)
        corners.append((length, left))
    return corners


def _figure(
    material: ReportInput,
    name: str,
    title: str,
    caption: str,
    words: Sequence[str],
    curves: Mapping[str, Corners],
    ends: Mapping[str, float],
    y_title: str,
    until: float,
    mark: float | None = None,
) -> Figure:
    style = looks(material)
    most = max(y for corners in curves.values() for _, y in corners)
    high = max(10.0, 10 * float(np.ceil(most / 10)))
    x = quantity("x", (0, until), {"title": "seconds"}, nice=True)
    y = quantity("y", (0, high), {"title": y_title})
    parts: list[Drawing] = []
    if mark is not None:
        parts.append(
            chart([{"x": mark}], {"type": "rule", "color": GREY, "strokeDash": [3, 3]}, x=x)
        )
    # Grey ones first, so that named ones lie above them.
    for e in sorted(material.ranked, key=lambda e: style[e.name].named):
        rows = [{"x": a, "y": b, "k": k} for k, (a, b) in enumerate(curves[e.name])]
        order = {"field": "k", "type": "ordinal"}
        parts.append(chart(rows, style[e.name].line, x=x, y=y, order=order))
    labels = [
        (style[e.name].label, style[e.name].colour, ends[e.name])
        for e in material.ranked
        if style[e.name].named
    ]
    return Figure(
        name,
        title,
        caption + notes(material),
        f"{title}. " + "; ".join(words) + ".",
        with_labels(layers(parts, _WIDTH, _HEIGHT), labels, _HEIGHT, high),
        ("setting", "simulated", "seconds", "percent"),
        [(e.name, e.score.simulated, a, b) for e in material.entries for a, b in curves[e.name]],
    )
