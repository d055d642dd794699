"""Names beside points: each takes the first free place around its point."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from streamdecisionbench.analysis.network import NetworkEstimate
from streamdecisionbench.analysis.table import fixed, percent
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    Drawing,
    Look,
    data,
    finish,
    looks,
    others_note,
    short,
    simulated_note,
)
from streamdecisionbench.report.material import Entry, Material
from streamdecisionbench.report.palette import INK
from streamdecisionbench.scoring.measure import family_weights

if TYPE_CHECKING:
    import altair as alt


_CHARACTER, _LINE = 6.2, 13.0
"""Pixels of a letter and of a line at 11 points."""

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Placed:
    """The left end of a label in pixels from the top left, at half its height."""

    x: float
    y: float


def place_labels(
    points: Sequence[tuple[float, float, str]],
    *,
    width: float,
    height: float,
    obstacles: Sequence[tuple[float, float]] = (),
) -> list[Placed]:
    """Greedy, in the order given: right, left, above, below, then farther out.

    >>> place_labels([(50.0, 50.0, "a"), (52.0, 50.0, "b")], width=200, height=100)
    [Placed(x=58.0, y=50.0), Placed(x=37.8, y=50.0)]
    """
    taken: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y, _ in points]
    taken += [(x - 3, y - 3, x + 3, y + 3) for x, y in obstacles]
    found = []
    for x, y, label in points:
        wide = _CHARACTER * len(label)
        choices = [
            (x + dx, y + dy)
            for reach in range(8)
            for dx, dy in _around(wide, reach)
            if x + dx >= 0 and x + dx + wide <= width + 4 and 6 <= y + dy <= height - 6
        ] or [(x + 8, y)]
        best = min(choices, key=lambda c: _overlap((c[0], c[1] - 6, c[0] + wide, c[1] + 6), taken))
        taken.append((best[0], best[1] - _LINE / 2, best[0] + wide, best[1] + _LINE / 2))
        found.append(Placed(*best))
    return found


def _around(wide: float, reach: int) -> list[tuple[float, float]]:
    up = 13.0 + 7 * reach
    side = 7.0 * reach
    return [
        (8, -side), (8, side), (-8 - wide, -side), (-8 - wide, side),
        (-wide / 2, -up), (-wide / 2, up),
    ]  # fmt: skip


def _overlap(box: Box, taken: Sequence[Box]) -> float:
    """Area shared with what is there already; the first place without any wins."""
    total = 0.0
    for other in taken:
        across = min(box[2], other[2]) - max(box[0], other[0])
        down = min(box[3], other[3]) - max(box[1], other[1])
        total += max(across, 0.0) * max(down, 0.0)
    return total


# Latency against accuracy, and what latency is made of.


_WIDTH, _HEIGHT = 460, 320


@dataclass(frozen=True, slots=True)
class LatencyParts:
    """Mean latency in parts, seconds: the remainder without tokens, prefill, decode, waiting."""

    network: float
    network_low: float
    network_high: float
    prefill: float
    decode: float
    waiting: float
    removed_median: float
    """Median latency with the remainder taken away."""
    removed_in_force: float


def latency_parts(
    material: Material, networks: Mapping[str, NetworkEstimate]
) -> dict[str, LatencyParts]:
    """Means of a fit's terms over the pass; what they leave of the mean latency is waiting."""
    found = {}
    for entry in material.entries:
        if entry.name not in networks:
            continue
        estimate = networks[entry.name]
        responses = [
            r for p in entry.score.parts for r in entry.recording.episodes[p.episode_id].responses
        ]
        usage = [r.usage for r in responses if r.usage is not None]
        fresh = sum(u.fresh_tokens for u in usage) / 1000 / len(usage)
        written = sum(u.output_tokens for u in usage) / len(usage)
        network = max(estimate.fit.remainder_s, 0.0)
        prefill = estimate.fit.prefill_s_per_ktok * fresh
        decode = estimate.fit.decode_s_per_tok * written
        mean = sum(r.latency_s for r in responses) / len(responses)
        removed = [
            r.service_s - min(network, r.received_s - r.success_started_s) for r in responses
        ]
        found[entry.name] = LatencyParts(
            network=network,
            network_low=max(estimate.low_s, 0.0),
            network_high=max(estimate.high_s, 0.0),
            prefill=prefill,
            decode=decode,
            waiting=max(mean - network - prefill - decode, 0.0),
            removed_median=median(removed),
            removed_in_force=estimate.estimate.in_force,
        )
    return found


def oracle_slope(material: Material) -> tuple[float, float]:
    """O = 1 − slope·L for a constant delay L, and up to which L that holds.

    slope = mean of K/H over scenarios and families, K reference segments in H = n·Δ seconds; L must
    stay below the shortest segment.
    """
    scenarios = material.scenarios
    weights = family_weights([s.task_family for s in scenarios])
    slope = 0.0
    shortest = math.inf
    for weight, scenario in zip(weights, scenarios, strict=True):
        changes = scenario.changes()
        slope += float(weight) * (len(changes) + 1) / (scenario.n * material.interval)
        edges = [0, *changes, scenario.n]
        shortest = min(shortest, *(b - a for a, b in pairwise(edges)))
    return slope, shortest * material.interval


def latency_map(material: Material, parts: Mapping[str, LatencyParts]) -> Figure:
    """Each setting at its median latency and in-force accuracy; arrows take the remainder away."""
    import altair as alt

    style = looks(material)
    known = [e for e in material.ranked if e.score.latency]
    medians = {e.name: e.score.latency.p50 for e in known if e.score.latency}
    slope, valid = oracle_slope(material)
    right = max([*medians.values(), min(valid, 1.2 * max(medians.values(), default=1.0))]) * 1.12
    x_scale = alt.Scale(domain=[0, right], nice=False)
    y_scale = alt.Scale(domain=[0, 100], nice=False)
    x = alt.X("x:Q", scale=x_scale, axis=alt.Axis(title="median latency (s)", tickCount=7))
    y = alt.Y(
        "y:Q", scale=y_scale,
        axis=alt.Axis(title=f"in-force accuracy at {material.interval:g} s (%)", tickCount=5),
    )  # fmt: skip

    end = min(valid, right)
    oracle: list[dict[str, float]] = [{"x": 0, "y": 100}, {"x": end, "y": 100 * (1 - slope * end)}]
    layers: list[Any] = [
        alt.Chart(data(oracle)).mark_line(strokeDash=[5, 4], color=INK, strokeWidth=1).encode(x=x, y=y),
        alt.Chart(data([{"x": 0.3 * end, "y": 100 * (1 - slope * 0.3 * end)}]))
        .mark_text(align="left", dx=6, dy=-9, fontSize=11, color=INK, fontStyle="italic", text="oracle: 1 − K·L/H")
        .encode(x=x, y=y),
    ]  # fmt: skip
    arrows = {n: p for n, p in parts.items() if n in medians and style[n].named}
    layers += _arrows(known, arrows, medians, style, right, x, y)
    points = [
        {"x": medians[e.name], "y": 100 * e.score.in_force, "colour": style[e.name].colour}
        for e in reversed(known)
    ]
    colour = alt.Color("colour:N", scale=None, legend=None)
    layers.append(
        alt.Chart(data(points))
        .mark_point(filled=True, size=75, opacity=1)
        .encode(x=x, y=y, color=colour)
    )
    line = [(end * k / 24, 1 - slope * end * k / 24) for k in range(25)]
    layers.append(_names(known, medians, arrows, line, style, right, x, y))
    chart = alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)
    title = f"Latency and in-force accuracy at {material.interval:g} s"
    caption = (
        "Dashed: a component that is always right and answers after a constant delay, drawn as far as"
        " the formula holds."
        + (" Arrows subtract the estimated non-token remainder, an upper bound on network delay." if arrows else "")
        + others_note(material)
        + simulated_note(material.entries)
    )  # fmt: skip
    alt_text = "Scatter of median latency against in-force accuracy. " + " ".join(
        f"{e.label}: {fixed(medians[e.name], 2)} s, {percent(e.score.in_force)} %"
        + (
            f", without the remainder {fixed(parts[e.name].removed_median, 2)} s,"
            f" {percent(parts[e.name].removed_in_force)} %"
            if e.name in parts
            else ""
        )
        + "."
        for e in known[:12]
    )
    table = []
    for e in material.entries:
        if e.name not in medians:
            continue
        removed = parts.get(e.name)
        table.append(
            (
                e.name, e.score.simulated, medians[e.name], 100 * e.score.in_force,
                removed.removed_median if removed else "",
                100 * removed.removed_in_force if removed else "",
            )
        )  # fmt: skip
    return Figure(
        "latency_map", title, caption, alt_text, finish(chart, title, alt_text),
        (
            "setting", "simulated", "median_latency_s", "in_force_percent",
            "removed_median_s", "removed_in_force_percent",
        ),
        table,
    )  # fmt: skip


def latency_decomposition(material: Material, parts: Mapping[str, LatencyParts]) -> Figure | None:
    """Mean latency of each setting in parts; None where no recording reports tokens."""
    import altair as alt

    entries = [e for e in material.entries if e.name in parts]
    if not entries:
        return None
    kinds = (
        ("network", "non-token remainder", "#0072B2"),
        ("prefill", "prefill (input tokens)", "#56B4E9"),
        ("decode", "decode (output tokens)", "#E69F00"),
        ("waiting", "waiting and the rest", "#C9C9C9"),
    )
    rows, whiskers, table = [], [], []
    for e in entries:
        part, begin = parts[e.name], 0.0
        for place, (key, label, _) in enumerate(kinds):
            value = float(getattr(part, key))
            rows.append(
                {
                    "setting": short(e.label),
                    "part": label,
                    "order": place,
                    "begin": begin,
                    "end": begin + value,
                }
            )
            begin += value
            table.append((e.name, e.score.simulated, key, value))
        table += [
            (e.name, e.score.simulated, "network_low", part.network_low),
            (e.name, e.score.simulated, "network_high", part.network_high),
        ]
        whiskers.append(
            {"setting": short(e.label), "low": part.network_low, "high": part.network_high}
        )
    settings = [short(e.label) for e in entries]
    y = alt.Y("setting:N", sort=settings, title=None, axis=alt.Axis(ticks=False, domain=False))
    x = alt.X("begin:Q", axis=alt.Axis(title="mean latency (s)", tickCount=7))
    bars = (
        alt.Chart(data(rows))
        .mark_bar(stroke="white", strokeWidth=0.6, height={"band": 0.7})
        .encode(
            y=y, x=x, x2=alt.X2("end:Q"),
            color=alt.Color(
                "part:N",
                scale=alt.Scale(domain=[k[1] for k in kinds], range=[k[2] for k in kinds]),
                legend=alt.Legend(orient="top", title=None, symbolType="square", columns=4),
            ),
        )
    )  # fmt: skip
    rule = (
        alt.Chart(data(whiskers))
        .mark_rule(color=INK, strokeWidth=1.2)
        .encode(y=y, x=alt.X("low:Q"), x2=alt.X2("high:Q"))
    )
    ends = [
        alt.Chart(data(whiskers))
        .mark_tick(color=INK, thickness=1.2, size=8)
        .encode(y=y, x=f"{k}:Q")
        for k in ("low", "high")
    ]
    chart = alt.layer(bars, rule, *ends).properties(
        width=480, height={"step": 26 if len(settings) <= 12 else 20}
    )
    title = "What latency is made of"
    caption = (
        "Mean latency split by a fit to the fastest tenth of responses; whiskers: the remainder's 95 %"
        " range. The remainder bounds the fixed network delay from above." + simulated_note(entries)
    )
    alt_text = "Stacked bars of mean latency in seconds. " + " ".join(
        f"{e.label}: remainder {fixed(parts[e.name].network, 2)}, prefill"
        f" {fixed(parts[e.name].prefill, 2)}, decode {fixed(parts[e.name].decode, 2)}, waiting"
        f" {fixed(parts[e.name].waiting, 2)}."
        for e in entries[:12]
    )
    return Figure(
        "latency_decomposition", title, caption, alt_text, finish(chart, title, alt_text),
        ("setting", "simulated", "part", "seconds"), table,
    )  # fmt: skip


def _arrows(
    entries: Sequence[Entry],
    parts: Mapping[str, LatencyParts],
    medians: Mapping[str, float],
    style: Mapping[str, Look],
    right: float,
    x: alt.X,
    y: alt.Y,
) -> list[Any]:
    import altair as alt

    lines, heads = [], []
    for e in entries:
        if e.name not in parts:
            continue
        part = parts[e.name]
        a = (medians[e.name], 100 * e.score.in_force)
        b = (part.removed_median, 100 * part.removed_in_force)
        across = (b[0] - a[0]) * _WIDTH / right
        up = (b[1] - a[1]) * _HEIGHT / 100
        colour = style[e.name].colour
        lines += [{"x": p[0], "y": p[1], "name": e.name, "colour": colour} for p in (a, b)]
        # A triangle points up; angles turn it clockwise.
        heads.append(
            {"x": b[0], "y": b[1], "colour": colour, "turn": math.degrees(math.atan2(across, up))}
        )
    if not lines:
        return []
    colour_of = alt.Color("colour:N", scale=None, legend=None)
    return [
        alt.Chart(data(lines)).mark_line(strokeWidth=1.3).encode(x=x, y=y, color=colour_of, detail=alt.Detail("name:N")),
        alt.Chart(data(heads))
        .mark_point(shape="triangle", filled=True, size=55, opacity=1)
        .encode(x=x, y=y, color=colour_of, angle=alt.Angle("turn:Q", scale=None)),
    ]  # fmt: skip


def _names(
    entries: Sequence[Entry],
    medians: Mapping[str, float],
    parts: Mapping[str, LatencyParts],
    line: Sequence[tuple[float, float]],
    style: Mapping[str, Look],
    right: float,
    x: alt.X,
    y: alt.Y,
) -> Drawing:
    import altair as alt

    def pixels(seconds: float, share: float) -> tuple[float, float]:
        return seconds * _WIDTH / right, (1 - share) * _HEIGHT

    named = [e for e in entries if style[e.name].named]
    points = [(*pixels(medians[e.name], e.score.in_force), style[e.name].label) for e in named]
    obstacles = [pixels(*point) for point in line]
    obstacles += [
        pixels(medians[e.name], e.score.in_force) for e in entries if not style[e.name].named
    ]
    for e in named:
        if e.name in parts:
            part = parts[e.name]
            for k in range(1, 9):
                t = k / 8
                seconds = medians[e.name] + t * (part.removed_median - medians[e.name])
                share = e.score.in_force + t * (part.removed_in_force - e.score.in_force)
                obstacles.append(pixels(seconds, share))
    places = place_labels(points, width=_WIDTH, height=_HEIGHT, obstacles=obstacles)
    rows = [
        {
            "x": place.x * right / _WIDTH, "y": 100 * (1 - place.y / _HEIGHT),
            "name": style[e.name].label, "colour": style[e.name].colour,
        }
        for e, place in zip(named, places, strict=True)
    ]  # fmt: skip
    return (
        alt.Chart(data(rows))
        .mark_text(align="left", baseline="middle", fontSize=11)
        .encode(
            x=x, y=y, text=alt.Text("name:N"), color=alt.Color("colour:N", scale=None, legend=None)
        )
    )
