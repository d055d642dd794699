"""Can the confidence of the decision in force be trusted? Reliability, and risk against coverage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamdecisionbench.analysis.calibration import Calibration
from streamdecisionbench.analysis.table import percent
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    Drawing,
    Look,
    data,
    finish,
    label_panel,
    label_width,
    looks,
    others_note,
    simulated_note,
)
from streamdecisionbench.report.material import Entry, Material
from streamdecisionbench.report.palette import GREY

_SIDE = 260


def calibration_in_force(material: Material, found: Mapping[str, Calibration]) -> Figure | None:
    """One line per recording whose answers carry confidences; None without any."""
    import altair as alt

    drawn = [e for e in material.ranked if e.name in found]
    if not drawn:
        return None
    style = looks(material)
    # Grey ones first, so that named ones lie above them.
    order = sorted(drawn, key=lambda e: style[e.name].named)
    named = [e for e in drawn if style[e.name].named]
    items = [
        (style[e.name].label, style[e.name].colour, 100 * found[e.name].coverage[0].risk)
        for e in named
    ]
    labels = label_panel(
        items, height=_SIDE, domain=(0, 100), width=label_width([i[0] for i in items])
    )
    risk = alt.hconcat(_risk(order, style, found), labels, spacing=0)
    chart = alt.hconcat(_reliability(order, style, found), risk, spacing=18)
    title = f"Can the confidence in force be trusted? At {material.interval:g} s"
    caption = (
        "Left: share of time right against mean confidence, in tenths of confidence; larger points"
        " stand for more time, on the dashed line confidence is what it says. Right: how much of the"
        " time is wrong among decisions of at least some confidence, against how much of the decided"
        " time these cover. Right is judged now, not when the state was new, so a slow component looks"
        " overconfident." + others_note(material) + simulated_note(drawn)
    )
    words = [
        f"{e.label}: Brier {percent(c.brier)} %, mean confidence {percent(c.confidence)} %,"
        f" right {percent(c.right)} %"
        for e in drawn[:12]
        for c in (found[e.name],)
    ]
    alt_text = f"{title}. " + "; ".join(words) + "."
    rows = [
        (e.name, e.score.simulated, "reliability", b.time, b.confidence, b.right)
        for e in drawn
        for b in found[e.name].bins
    ] + [
        (e.name, e.score.simulated, "risk", p.coverage, p.confidence, 1 - p.risk)
        for e in drawn
        for p in found[e.name].coverage
    ]
    return Figure(
        "calibration_in_force", title, caption, alt_text, finish(chart, title, alt_text),
        ("setting", "simulated", "panel", "time_share", "confidence", "right"), rows,
    )  # fmt: skip


def _reliability(
    entries: Sequence[Entry], style: Mapping[str, Look], found: Mapping[str, Calibration]
) -> Drawing:
    import altair as alt

    x = _axis("x", "mean confidence (%)")
    y = _axis("y", "right now (% of its time)")
    ends = data([{"x": 0, "y": 0}, {"x": 100, "y": 100}])
    layers: list[Drawing] = [
        alt.Chart(ends).mark_line(strokeDash=[5, 4], color=GREY).encode(x=x, y=y)
    ]
    for e in entries:
        look = style[e.name]
        bins = [
            {"x": 100 * b.confidence, "y": 100 * b.right, "time": b.time}
            for b in found[e.name].bins
        ]
        base = alt.Chart(data(bins)).encode(x=x, y=y)
        size = alt.Size("time:Q", scale=alt.Scale(domain=[0, 1], range=[12, 420]), legend=None)
        layers.append(
            base.mark_line(
                color=look.colour, strokeDash=look.dash, strokeWidth=2 if look.named else 1
            )
        )
        layers.append(base.mark_circle(color=look.colour, opacity=0.75).encode(size=size))
    return alt.layer(*layers).properties(width=_SIDE, height=_SIDE)


def _risk(
    entries: Sequence[Entry], style: Mapping[str, Look], found: Mapping[str, Calibration]
) -> Drawing:
    import altair as alt

    x = _axis("x", "coverage (% of decided time)")
    y = _axis("y", "wrong (% of what is covered)")
    layers: list[Drawing] = []
    for e in entries:
        look = style[e.name]
        points = [
            {"x": 100 * p.coverage, "y": 100 * p.risk, "k": k}
            for k, p in enumerate(found[e.name].coverage)
        ]
        layers.append(
            alt.Chart(data(points))
            .mark_line(color=look.colour, strokeDash=look.dash, strokeWidth=2 if look.named else 1)
            .encode(x=x, y=y, order=alt.Order("k:O"))
        )
    return alt.layer(*layers).properties(width=_SIDE, height=_SIDE)


def _axis(field: str, title: str) -> Drawing:
    import altair as alt

    kind = alt.X if field == "x" else alt.Y
    return kind(
        f"{field}:Q",
        scale=alt.Scale(domain=[0, 100], nice=False),
        axis=alt.Axis(title=title, tickCount=5),
    )
