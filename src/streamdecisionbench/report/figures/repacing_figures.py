"""In-force accuracy and latency against the rate of requests: predicted from one, measured at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from streamdecisionbench.analysis.repacing import Condition, Repacing
from streamdecisionbench.render.palette import (
    GREY,
    INK,
    PALETTE,
)
from streamdecisionbench.render.sentences import simulation_note
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    Drawing,
    beside,
    chart,
    keyed,
    layers,
    names,
    quantity,
    text_mark,
)

_WIDTH, _HEIGHT = 300, 240
_LOOKS = {
    "measured": (PALETTE[0], "circle"),
    "predicted": (PALETTE[1], "diamond"),
    "left out": (GREY, "cross"),
}
_LEGEND = {"title": None, "orient": "bottom", "direction": "horizontal"}

Rows = Sequence[Mapping[str, Any]]


def repacing_figure(name: str, found: Repacing, simulated: bool) -> Figure:
    """On the left what was in force, on the right how long answers took; both by requests a second."""
    predicted = {(p.target, p.target_streams): p for p in found.from_base}
    rows: list[dict[str, Any]] = []
    for c in found.conditions:
        kind = "measured" if c.held else "left out"
        label = f"{c.interval:g} s" + (f" ×{c.streams}" if c.streams > 1 else "")
        row = {"rate": c.rate, "value": 100 * c.in_force, "kind": kind, "label": label}
        p = predicted.get((c.interval, c.streams))
        if p is not None:
            # A prediction fails where the measured point lies outside this bar, a point or more away.
            low, high = 100 * (p.measured - p.high), 100 * (p.measured - p.low)
            rows.append(
                {**row, "value": 100 * p.predicted, "kind": "predicted", "low": low, "high": high}
            )
        rows.append(row)
    times = [
        {"rate": c.rate, "value": value, "kind": kind}
        for c in found.conditions
        for kind, value in (("p50", c.latency_p50_s), ("p95", c.latency_p95_s))
    ]
    return Figure(
        "repacing",
        "Does one pace predict the others?",
        f"{name}. Measured in force (%) against requests a second, one point per interval and number of"
        " streams (×). Diamonds: predicted from the lowest rate, with simultaneous 95 % bars; it fails"
        " where the measured point lies outside its bar, at the dashed rule first. Right: latency."
        f" {found.sentence}" + (f" {simulation_note()}" if simulated else ""),
        f"In-force accuracy and latency by rate of requests, {name}. {found.sentence} "
        + " ".join(
            f"{c.rate:.3g} a second ({c.interval:g} s, {_load(c)}): in force {100 * c.in_force:.1f} %,"
            f" median latency {c.latency_p50_s:.3g} s."
            for c in found.conditions
        ),
        {
            **beside(_in_force(rows, found.fails_from_rate), _latency(times), spacing=36),
            "resolve": {"scale": {"color": "independent", "shape": "independent"}},
        },
        ("interval_s", "streams", "rate", "held", "measured_percent", "predicted_percent",
         "low_points", "high_points", "latency_p50_s", "latency_p95_s"),
        [
            (c.interval, c.streams, c.rate, c.held, 100 * c.in_force,
             100 * p.predicted if p else None, 100 * p.low if p else None,
             100 * p.high if p else None, c.latency_p50_s, c.latency_p95_s)
            for c in found.conditions
            for p in [predicted.get((c.interval, c.streams))]
        ],
    )  # fmt: skip


def _load(c: Condition) -> str:
    return f"{c.streams} stream{'s' if c.streams > 1 else ''}"


def _rate(rows: Rows) -> Drawing:
    rates = [row["rate"] for row in rows]
    axis = {
        "title": "requests a second", "values": _ticks(rates), "format": "~g", "grid": False
    }  # fmt: skip
    return quantity("rate", (min(rates) / 1.2, max(rates) * 1.2), axis, type="log")


def _ticks(rates: Sequence[float]) -> list[float]:
    """Rates that were measured, as far as their labels do not touch."""
    found: list[float] = []
    for rate in sorted(set(rates)):
        if not found or rate >= 1.35 * found[-1]:
            found.append(rate)
    return found


def _steps(values: Sequence[float]) -> list[float]:
    """1, 2, 5 and their decades around the values.

    >>> _steps([0.25, 3.0])
    [0.2, 0.5, 1.0, 2.0, 5.0]
    """
    low, high = max(min(values), 1e-6), max(*values, 2e-6)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1
    all_of_them = [float(f"{k}e{power}") for power in range(first, last) for k in (1, 2, 5)]
    begin = max((x for x in all_of_them if x <= low), default=all_of_them[0])
    end = min(x for x in all_of_them if x >= high)
    return [x for x in all_of_them if begin <= x <= end]


def _in_force(rows: Rows, fails_from: float | None) -> Drawing:
    x = _rate(rows)
    y = {**quantity("value", axis={"title": "in force (%)"}), "scale": {"domain": [0, 100]}}
    kinds = [kind for kind in _LOOKS if any(row["kind"] == kind for row in rows)]
    colour, shape = (
        keyed("kind", {kind: _LOOKS[kind][place] for kind in kinds}, _LEGEND) for place in (0, 1)
    )
    parts: list[Drawing] = []
    if fails_from is not None:
        rule = {"type": "rule", "color": INK, "strokeDash": [3, 3]}
        parts.append(chart([{"rate": fails_from}], rule, x=x))
    bars = [
        {**row, "low": max(0.0, row["low"]), "high": min(100.0, row["high"])}
        for row in rows
        if "low" in row
    ]
    if bars:
        bar = {"type": "rule", "color": PALETTE[1], "strokeWidth": 3, "opacity": 0.4}
        low = {**quantity("low"), "title": "in force (%)"}
        parts.append(chart(bars, bar, x=x, y=low, y2={"field": "high"}))
    for kind, size in (("predicted", 150), ("measured", 45), ("left out", 45)):
        some = [row for row in rows if row["kind"] == kind]
        if some:
            point = {"type": "point", "filled": True, "size": size, "opacity": 1}
            parts.append(chart(some, point, x=x, y=y, color=colour, shape=shape))
    for named, dy in zip(_labelled(rows), (-13, 15), strict=True):
        if named:
            parts.append(chart(named, text_mark(dy=dy, fontSize=9), x=x, y=y, text=names("label")))
    return layers(parts, _WIDTH, _HEIGHT)


def _labelled(rows: Rows) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """What is named above and what below its point: of several at one rate the outermost."""
    by_rate: dict[float, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["kind"] != "predicted":
            by_rate.setdefault(round(row["rate"], 9), []).append(row)
    groups = [sorted(group, key=lambda row: row["value"]) for group in by_rate.values()]
    return [group[-1] for group in groups], [group[0] for group in groups if len(group) > 1]


def _latency(rows: Rows) -> Drawing:
    steps = _steps([row["value"] for row in rows])
    axis = {"title": "latency (s)", "format": "~g", "values": steps}
    points = chart(
        rows,
        {"type": "point", "filled": True, "size": 60, "opacity": 1},
        x=_rate(rows),
        y=quantity("value", (steps[0], steps[-1]), axis, type="log"),
        color=keyed("kind", {"p50": PALETTE[2], "p95": PALETTE[3]}, _LEGEND),
    )
    return {**points, "width": _WIDTH, "height": _HEIGHT}
