"""Can the confidence of the decision in force be trusted? Reliability, and risk against coverage."""

from __future__ import annotations

from collections.abc import Mapping

from streamdecisionbench.analysis.calibration import Calibration
from streamdecisionbench.render.palette import GREY
from streamdecisionbench.render.table import percent
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    Drawing,
    beside,
    chart,
    layers,
    looks,
    notes,
    quantity,
    with_labels,
)
from streamdecisionbench.report.report_data import ReportInput

_SIDE = 260


def calibration_in_force(material: ReportInput, found: Mapping[str, Calibration]) -> Figure | None:
    """One line per recording whose answers carry confidences; None without any."""
    drawn = [e for e in material.ranked if e.name in found]
    if not drawn:
        return None
    style = looks(material)
    confidence, right = _axes("mean confidence (%)", "right now (% of its time)")
    coverage, wrong = _axes("coverage (% of decided time)", "wrong (% of what is covered)")
    ends = [{"x": 0, "y": 0}, {"x": 100, "y": 100}]
    equal = {"type": "line", "strokeDash": [5, 4], "color": GREY}
    reliability, risk = [chart(ends, equal, x=confidence, y=right)], []
    size = {
        "field": "time",
        "type": "quantitative",
        "scale": {"domain": [0, 1], "range": [12, 420]},
        "legend": None,
    }
    # Grey ones first, so that named ones lie above them.
    for e in sorted(drawn, key=lambda e: style[e.name].named):
        look, own = style[e.name], found[e.name]
        bins = [{"x": 100 * b.confidence, "y": 100 * b.right, "time": b.time} for b in own.bins]
        circles = {"type": "circle", "color": look.colour, "opacity": 0.75}
        reliability.append(chart(bins, look.line, x=confidence, y=right))
        reliability.append(chart(bins, circles, x=confidence, y=right, size=size))
        points = [
            {"x": 100 * p.coverage, "y": 100 * p.risk, "k": k} for k, p in enumerate(own.coverage)
        ]
        order = {"field": "k", "type": "ordinal"}
        risk.append(chart(points, look.line, x=coverage, y=wrong, order=order))
    labels = [
        (style[e.name].label, style[e.name].colour, 100 * found[e.name].coverage[0].risk)
        for e in drawn
        if style[e.name].named
    ]
    title = f"Can the confidence in force be trusted? At {material.interval:g} s"
    words = [
        f"{e.label}: Brier {percent(c.brier)} %, mean confidence {percent(c.confidence)} %,"
        f" right {percent(c.right)} %"
        for e in drawn[:12]
        for c in (found[e.name],)
    ]
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
        "calibration_in_force",
        title,
        "Left: share of time right against mean confidence, in tenths of confidence; larger points"
        " stand for more time, on the dashed line confidence is what it says. Right: how much of the"
        " time is wrong among decisions of at least some confidence, against how much of the decided"
        " time these cover. Right is judged now, not when the state was new, so a slow component looks"
        " overconfident." + notes(material, [e.score for e in drawn]),
        f"{title}. " + "; ".join(words) + ".",
        beside(
            layers(reliability, _SIDE, _SIDE),
            with_labels(layers(risk, _SIDE, _SIDE), labels, _SIDE),
            spacing=18,
        ),
        ("setting", "simulated", "panel", "time_share", "confidence", "right"),
        rows,
    )


def _axes(x: str, y: str) -> tuple[Drawing, Drawing]:
    return (
        quantity("x", (0, 100), {"title": x, "tickCount": 5}),
        quantity("y", (0, 100), {"title": y, "tickCount": 5}),
    )
