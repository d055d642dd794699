"""How long it stays wrong, and how soon it is right again: staircases of spells and of delays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from streamdecisionbench.analysis.table import fixed, percent
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    Drawing,
    data,
    finish,
    label_panel,
    label_width,
    looks,
    others_note,
    simulated_note,
)
from streamdecisionbench.report.material import ErrorCosts, Material
from streamdecisionbench.report.palette import GREY
from streamdecisionbench.scoring.cost import THETA_S
from streamdecisionbench.scoring.measure import family_weights

_WIDTH, _HEIGHT = 430, 260

Corners = list[tuple[float, float]]


def wrong_spells(material: Material, found: ErrorCosts) -> Figure:
    """Per recording, the share of time in wrong spells longer than x."""
    curves = {e.name: _lengths(found, e.name) for e in material.entries}
    until = max([THETA_S, *(x for corners in curves.values() for x, _ in corners)])
    title = f"Time in wrong spells longer than x, at {material.interval:g} s"
    words = [
        f"{e.label}: {percent(found.spells[e.name].wrong_share)} % wrong in"
        f" {found.spells[e.name].count} spells, longest {fixed(found.spells[e.name].longest_s)} s"
        for e in material.ranked[:12]
    ]
    caption = (
        "Share of time (%) that lies in wrong spells longer than x seconds; at 0 it is all wrong time."
        f" The rule marks {THETA_S:g} s." + others_note(material) + simulated_note(material.entries)
    )
    return _figure(
        material, "wrong_spells", title, caption, words, curves, "share of time (%)", until, THETA_S
    )


def delays_after_changes(material: Material, found: ErrorCosts) -> Figure:
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
    title = f"Reference changes answered within t, at {material.interval:g} s"
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
        + others_note(material)
        + simulated_note(material.entries)
    )
    return _figure(
        material, "delays_after_changes", title, caption, words, curves, "answered (%)", until
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
    material: Material,
    name: str,
    title: str,
    caption: str,
    words: Sequence[str],
    curves: Mapping[str, Corners],
    y_title: str,
    until: float,
    mark: float | None = None,
) -> Figure:
    import altair as alt

    style = looks(material)
    high = max(10.0, *(10 * np.ceil(y / 10) for corners in curves.values() for _, y in corners))
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, until], nice=True), axis=alt.Axis(title="seconds"))
    y = alt.Y(
        "y:Q", scale=alt.Scale(domain=[0, float(high)], nice=False), axis=alt.Axis(title=y_title)
    )
    layers: list[Drawing] = []
    if mark is not None:
        rule = alt.Chart(data([{"x": mark}]))
        layers.append(rule.mark_rule(color=GREY, strokeDash=[3, 3]).encode(x=x))
    # Grey ones first, so that named ones lie above them.
    for e in sorted(material.ranked, key=lambda e: style[e.name].named):
        look = style[e.name]
        rows = [{"x": a, "y": b, "k": k} for k, (a, b) in enumerate(curves[e.name])]
        layers.append(
            alt.Chart(data(rows))
            .mark_line(color=look.colour, strokeDash=look.dash, strokeWidth=2 if look.named else 1)
            .encode(x=x, y=y, order=alt.Order("k:O"))
        )
    panel = alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)
    named = [e for e in material.ranked if style[e.name].named]
    items = [
        (style[e.name].label, style[e.name].colour, _label_at(curves[e.name], name)) for e in named
    ]
    labels = label_panel(
        items, height=_HEIGHT, domain=(0, float(high)), width=label_width([i[0] for i in items])
    )
    chart = alt.hconcat(panel, labels, spacing=0)
    alt_text = f"{title}. " + "; ".join(words) + "."
    table = [(e.name, e.score.simulated, a, b) for e in material.entries for a, b in curves[e.name]]
    return Figure(
        name, title, caption, alt_text, finish(chart, title, alt_text),
        ("setting", "simulated", "seconds", "percent"), table,
    )  # fmt: skip


def _label_at(corners: Corners, name: str) -> float:
    """Spell curves all end at 0 and are named by where they begin, the others by where they end."""
    return corners[0][1] if name == "wrong_spells" else corners[-1][1]
