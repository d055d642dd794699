"""In-force accuracy and latency against the rate of requests: predicted from one, measured at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from streamdecisionbench.analysis.repacing import Condition, Repacing
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import Drawing, data, finish
from streamdecisionbench.report.palette import GREY, INK, PALETTE

_WIDTH, _HEIGHT = 300, 240
_KINDS = ("measured", "predicted", "left out")
_LATENCIES = ("p50", "p95")


def repacing_figure(name: str, found: Repacing, simulated: bool) -> Figure:
    """On the left what was in force, on the right how long answers took; both by requests a second."""
    import altair as alt

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
    title = "Does one pace predict the others?"
    caption = (
        f"{name}. Measured in force (%) against requests a second, one point per interval and number of"
        " streams (×). Diamonds: predicted from the lowest rate, with simultaneous 95 % bars; it fails"
        " where the measured point lies outside its bar, at the dashed rule first. Right: latency."
        f" {found.sentence}" + (" Simulation, not a measurement of a model." if simulated else "")
    )
    times = [
        {"rate": c.rate, "value": value, "kind": kind}
        for c in found.conditions
        for kind, value in zip(_LATENCIES, (c.latency_p50_s, c.latency_p95_s), strict=True)
    ]
    chart = alt.hconcat(
        _in_force(rows, found.fails_from_rate), _latency(times), spacing=36
    ).resolve_scale(color="independent", shape="independent")
    alt_text = (
        f"In-force accuracy and latency by rate of requests, {name}. {found.sentence} "
        + " ".join(
            f"{c.rate:.3g} a second ({c.interval:g} s, {_load(c)}): in force {100 * c.in_force:.1f} %,"
            f" median latency {c.latency_p50_s:.3g} s."
            for c in found.conditions
        )
    )
    table = [
        (c.interval, c.streams, c.rate, c.held, 100 * c.in_force,
         100 * p.predicted if p else None, 100 * p.low if p else None, 100 * p.high if p else None,
         c.latency_p50_s, c.latency_p95_s)
        for c in found.conditions
        for p in [predicted.get((c.interval, c.streams))]
    ]  # fmt: skip
    return Figure(
        "repacing", title, caption, alt_text, finish(chart, title, alt_text),
        ("interval_s", "streams", "rate", "held", "measured_percent", "predicted_percent",
         "low_points", "high_points", "latency_p50_s", "latency_p95_s"),
        table,
    )  # fmt: skip


def _load(c: Condition) -> str:
    return f"{c.streams} stream{'s' if c.streams > 1 else ''}"


def _rate(rows: Sequence[Mapping[str, Any]]) -> Any:
    import altair as alt

    rates = [row["rate"] for row in rows]
    scale = alt.Scale(type="log", domain=[min(rates) / 1.2, max(rates) * 1.2], nice=False)
    axis = alt.Axis(title="requests a second", values=_ticks(rates), format="~g", grid=False)
    return alt.X("rate:Q", scale=scale, axis=axis)


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


def _in_force(rows: Sequence[Mapping[str, Any]], fails_from: float | None) -> Drawing:
    import altair as alt

    x = _rate(rows)
    y = alt.Y("value:Q", scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(title="in force (%)"))
    kinds = [kind for kind in _KINDS if any(row["kind"] == kind for row in rows)]
    looks = {"measured": (PALETTE[0], "circle"), "predicted": (PALETTE[1], "diamond"),
             "left out": (GREY, "cross")}  # fmt: skip
    legend = alt.Legend(title=None, orient="bottom", direction="horizontal")
    colour = alt.Color(
        "kind:N", legend=legend, scale=alt.Scale(domain=kinds, range=[looks[k][0] for k in kinds])
    )
    shape = alt.Shape(
        "kind:N", legend=legend, scale=alt.Scale(domain=kinds, range=[looks[k][1] for k in kinds])
    )
    bars = [row for row in rows if "low" in row]
    layers: list[Any] = []
    if fails_from is not None:
        layers.append(
            alt.Chart(data([{"rate": fails_from}]))
            .mark_rule(color=INK, strokeDash=[3, 3])
            .encode(x=x)
        )
    if bars:
        layers.append(
            alt.Chart(data([{**row, "low": max(0.0, row["low"]), "high": min(100.0, row["high"])} for row in bars]))
            .mark_rule(color=PALETTE[1], strokeWidth=3, opacity=0.4)
            .encode(x=x, y=alt.Y("low:Q", title="in force (%)"), y2=alt.Y2("high:Q"))
        )  # fmt: skip
    for kind, size in (("predicted", 150), ("measured", 45), ("left out", 45)):
        some = [row for row in rows if row["kind"] == kind]
        if some:
            layers.append(
                alt.Chart(data(some))
                .mark_point(filled=True, size=size, opacity=1)
                .encode(x=x, y=y, color=colour, shape=shape)
            )
    for some, dy in zip(_labelled(rows), (-13, 15), strict=True):
        if some:
            layers.append(
                alt.Chart(data(some))
                .mark_text(dy=dy, fontSize=9, color=INK)
                .encode(x=x, y=y, text=alt.Text("label:N"))
            )
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)


def _labelled(
    rows: Sequence[Mapping[str, Any]],
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """What is named above and what below its point: of several at one rate the outermost."""
    by_rate: dict[float, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["kind"] != "predicted":
            by_rate.setdefault(round(row["rate"], 9), []).append(row)
    groups = [sorted(group, key=lambda row: row["value"]) for group in by_rate.values()]
    return [group[-1] for group in groups], [group[0] for group in groups if len(group) > 1]


def _latency(rows: Sequence[Mapping[str, Any]]) -> Drawing:
    import altair as alt

    steps = _steps([row["value"] for row in rows])
    y = alt.Y(
        "value:Q",
        scale=alt.Scale(type="log", domain=[steps[0], steps[-1]], nice=False),
        axis=alt.Axis(title="latency (s)", format="~g", values=steps),
    )
    colour = alt.Color(
        "kind:N",
        legend=alt.Legend(title=None, orient="bottom", direction="horizontal"),
        scale=alt.Scale(domain=list(_LATENCIES), range=[PALETTE[2], PALETTE[3]]),
    )
    return (
        alt.Chart(data(rows))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(x=_rate(rows), y=y, color=colour)
        .properties(width=_WIDTH, height=_HEIGHT)
    )
