"""Latency against accuracy, and what latency is made of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from streamdecisionbench.analysis.network import NetworkEstimate, measured
from streamdecisionbench.kernel.levels import family_weights
from streamdecisionbench.render.palette import INK
from streamdecisionbench.render.table import (
    fixed,
    percent,
)
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    OWN_COLOUR,
    Drawing,
    Look,
    bars,
    beside,
    chart,
    keyed,
    lanes,
    layers,
    looks,
    names,
    notes,
    quantity,
    short,
    text_mark,
)
from streamdecisionbench.report.report_data import Entry, ReportInput

# Names beside points: each takes the first free place around its point.

_CHARACTER, _LINE = 6.2, 13.0
"""Pixels of a letter and of a line at 11 points."""

Box = tuple[float, float, float, float]


def place_labels(
    points: Sequence[tuple[float, float, str]],
    *,
    width: float,
    height: float,
    obstacles: Sequence[tuple[float, float]] = (),
) -> list[tuple[float, float]]:
    """The left ends of labels in pixels from the top left, at half their height.

    Greedy, in the order given: right, left, above, below, then farther out.

    >>> place_labels([(50.0, 50.0, "a"), (52.0, 50.0, "b")], width=200, height=100)
    [(58.0, 50.0), (37.8, 50.0)]
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
        found.append(best)
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


_WIDTH, _HEIGHT = 460, 320


class Spot(NamedTuple):
    """A setting on the map: median latency and accuracy, and both without the remainder, where known."""

    name: str
    look: Look
    at: tuple[float, float]
    end: tuple[float, float] | None


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
    material: ReportInput, networks: Mapping[str, NetworkEstimate]
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
        _, tokens = measured(entry.recording, entry.parts)
        network = max(estimate.fit.remainder_s, 0.0)
        prefill = estimate.fit.prefill_s_per_ktok * float(tokens["prefill"].mean())
        decode = estimate.fit.decode_s_per_tok * float(tokens["decode"].mean())
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


def oracle_slope(material: ReportInput) -> tuple[float, float]:
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


def latency_map(material: ReportInput, parts: Mapping[str, LatencyParts]) -> Figure:
    """Each setting at its median latency and in-force accuracy; arrows take the remainder away."""
    style = looks(material)
    known = [e for e in material.ranked if e.score.latency]
    medians = {e.name: e.score.latency.p50 for e in known if e.score.latency}
    spots: list[Spot] = []
    for e in known:
        part = parts.get(e.name) if style[e.name].named else None
        end = (part.removed_median, part.removed_in_force) if part else None
        spots.append(Spot(e.name, style[e.name], (medians[e.name], e.score.in_force), end))
    slope, valid = oracle_slope(material)
    right = max([*medians.values(), min(valid, 1.2 * max(medians.values(), default=1.0))]) * 1.12
    accuracy = f"in-force accuracy at {material.interval:g} s (%)"
    where = {
        "x": quantity("x", (0, right), {"title": "median latency (s)", "tickCount": 7}),
        "y": quantity("y", (0, 100), {"title": accuracy, "tickCount": 5}),
    }
    last = min(valid, right)
    oracle = [{"x": 0.0, "y": 100.0}, {"x": last, "y": 100 * (1 - slope * last)}]
    said = text_mark(align="left", dx=6, dy=-9, fontStyle="italic", text="oracle: 1 − K·L/H")
    dashed = {"type": "line", "strokeDash": [5, 4], "color": INK, "strokeWidth": 1}
    points = [{"x": s.at[0], "y": 100 * s.at[1], "colour": s.look.colour} for s in reversed(spots)]
    dot = {"type": "point", "filled": True, "size": 75, "opacity": 1}
    line = [(last * k / 24, 1 - slope * last * k / 24) for k in range(25)]
    drawing = [
        chart(oracle, dashed, **where),
        chart([{"x": 0.3 * last, "y": 100 * (1 - slope * 0.3 * last)}], said, **where),
        *_arrows(spots, right, where),
        chart(points, dot, **where, color=OWN_COLOUR),
        _names(spots, line, right, where),
    ]
    arrows = any(s.end for s in spots)
    removed = " Arrows subtract the estimated non-token remainder, an upper bound on network delay."
    table = []
    for e in material.entries:
        if e.name in medians:
            part = parts.get(e.name)
            without = (part.removed_median, 100 * part.removed_in_force) if part else ("", "")
            table.append(
                (e.name, e.score.simulated, medians[e.name], 100 * e.score.in_force, *without)
            )
    return Figure(
        "latency_map",
        f"Latency and in-force accuracy at {material.interval:g} s",
        "Dashed: a component that is always right and answers after a constant delay, drawn as far as"
        " the formula holds."
        + (removed if arrows else "")
        + notes(material),
        "Scatter of median latency against in-force accuracy. "
        + " ".join(
            f"{e.label}: {fixed(medians[e.name], 2)} s, {percent(e.score.in_force)} %"
            + (
                f", without the remainder {fixed(parts[e.name].removed_median, 2)} s,"
                f" {percent(parts[e.name].removed_in_force)} %"
                if e.name in parts
                else ""
            )
            + "."
            for e in known[:12]
        ),
        layers(drawing, _WIDTH, _HEIGHT),
        ("setting", "simulated", "median_latency_s", "in_force_percent", "removed_median_s",
         "removed_in_force_percent"),
        table,
    )  # fmt: skip


_FIT_WIDTH, _FIT_HEIGHT = 300, 190
_KINDS = (
    ("network", "non-token remainder", "#0072B2"),
    ("prefill", "prefill (input tokens)", "#56B4E9"),
    ("decode", "decode (output tokens)", "#E69F00"),
    ("waiting", "waiting and the rest", "#C9C9C9"),
)


def latency_decomposition(
    material: ReportInput,
    parts: Mapping[str, LatencyParts],
    networks: Mapping[str, NetworkEstimate],
) -> Figure | None:
    """Mean latency of each setting in parts, and the observations the fits were made from.

    None where no recording reports tokens.
    """
    entries = [e for e in material.entries if e.name in parts]
    if not entries:
        return None
    rows, whiskers = [], []
    table: list[tuple[Any, ...]] = []
    for e in entries:
        part, begin = parts[e.name], 0.0
        setting = short(e.label)
        for key, label, _ in _KINDS:
            value = float(getattr(part, key))
            rows.append({"setting": setting, "part": label, "begin": begin, "end": begin + value})
            begin += value
        keys = (*(key for key, _, _ in _KINDS), "network_low", "network_high")
        table += [(e.name, e.score.simulated, key, "", getattr(part, key)) for key in keys]
        whiskers.append({"setting": setting, "low": part.network_low, "high": part.network_high})
    settings = [short(e.label) for e in entries]
    y = lanes("setting", settings)
    x = quantity("begin", axis={"title": "mean latency (s)", "tickCount": 7})
    legend = {"orient": "top", "title": None, "symbolType": "square", "columns": 4}
    colours = keyed("part", {label: colour for _, label, colour in _KINDS}, legend)
    rule = {"type": "rule", "color": INK, "strokeWidth": 1.2}
    tick = {"type": "tick", "color": INK, "thickness": 1.2, "size": 8}
    drawing = [
        bars(rows, band=0.7, y=y, x=x, color=colours),
        chart(whiskers, rule, y=y, x=quantity("low"), x2={"field": "high"}),
        *(chart(whiskers, tick, y=y, x=quantity(end)) for end in ("low", "high")),
    ]
    fitted = {e.name: _fitted(e, networks[e.name]) for e in entries}
    for e in entries:
        for name, points in (("observed", fitted[e.name].observed), ("fit", fitted[e.name].line)):
            table += [(e.name, e.score.simulated, name, *point) for point in points]
    split = layers(drawing, 480, {"step": 26 if len(settings) <= 12 else 20})
    return Figure(
        "latency_decomposition",
        "What latency is made of",
        "Mean latency split by a fit to the fastest tenth of responses; whiskers: the remainder's 95 %"
        " range. Below, every response and the fits; dashed: fits extrapolated to zero tokens. Times"
        " beside output tokens are without what input tokens took. Responses above the 99th percentile"
        " are only in the CSV. The remainder bounds the fixed network delay from above."
        + notes(material, [e.score for e in entries]),
        "Stacked bars of mean latency in seconds. "
        + " ".join(
            f"{e.label}: remainder {fixed(parts[e.name].network, 2)}, prefill"
            f" {fixed(parts[e.name].prefill, 2)}, decode {fixed(parts[e.name].decode, 2)}, waiting"
            f" {fixed(parts[e.name].waiting, 2)}."
            for e in entries[:12]
        ),
        {"vconcat": [split, _fits(material, fitted)], "spacing": 18},
        ("setting", "simulated", "part", "tokens", "seconds"),
        table,
    )


class Fitted(NamedTuple):
    """A setting's responses by tokens of the term they are drawn against, and its fit: at none, the fewest, the most."""

    text: bool
    """Against output tokens; models that return no text against input tokens, in thousands."""
    observed: list[tuple[float, float]]
    line: list[tuple[float, float]]
    span: tuple[float, float]
    """The remainder's 95 % range."""


def _fitted(entry: Entry, estimate: NetworkEstimate) -> Fitted:
    tau, tokens = measured(entry.recording, entry.parts)
    fit = estimate.fit
    text = fit.dropped.get("decode") != "returns no text"
    slope = fit.decode_s_per_tok if text else fit.prefill_s_per_ktok
    x = tokens["decode" if text else "prefill"]
    y = tau - fit.prefill_s_per_ktok * tokens["prefill"] if text else tau
    ends = (0.0, float(x.min()), float(x.max()))
    return Fitted(
        text,
        list(zip(x.tolist(), y.tolist(), strict=True)),
        [(at, fit.remainder_s + slope * at) for at in ends],
        (estimate.low_s, estimate.high_s),
    )


def _fits(material: ReportInput, fitted: Mapping[str, Fitted]) -> Drawing:
    """Responses and fits by output tokens, and by input tokens where no text is returned."""
    style = looks(material)
    titles = {True: "output tokens", False: "uncached input tokens (thousands)"}
    panels: list[Drawing] = []
    for text, title in titles.items():
        drawn = {n: f for n, f in fitted.items() if f.text == text and style[n].named}
        if not drawn:
            continue
        every = [point for one in drawn.values() for point in one.observed]
        right, high = (
            1.05 * sorted(column)[int(0.99 * (len(every) - 1))] or 1.0
            for column in zip(*every, strict=True)
        )
        said = "time before receipt (s)" if not panels else None
        where = {
            "x": quantity("x", (0, right), {"title": title, "tickCount": 6}),
            "y": quantity("y", (0, high), {"title": said, "tickCount": 6}),
        }

        lines = [
            [
                {"x": x, "y": y, "name": n, "colour": style[n].colour}
                for n, one in drawn.items()
                for x, y in _within(one.line[k], one.line[k + 1], right, high)
            ]
            for k in (1, 0)
        ]
        dots = [
            {"x": x, "y": y, "colour": style[n].colour}
            for n, one in drawn.items()
            for x, y in one.observed
            if x <= right and 0 <= y <= high
        ]
        spans = [
            {"x": 0, "y": y, "high": y2, "colour": style[n].colour}
            for n, one in drawn.items()
            for (_, y), (_, y2) in [_within((0, one.span[0]), (0, one.span[1]), right, high)]
        ]
        dot = {"type": "point", "filled": True, "size": 10, "opacity": 0.35}
        rule = {"type": "rule", "strokeWidth": 3}
        labels = [
            chart([{}], text_mark(align="right", color=style[n].colour, text=style[n].label),
                  x={"value": _FIT_WIDTH - 4}, y={"value": _FIT_HEIGHT - 9 - 14 * k})
            for k, n in enumerate(drawn)
        ]  # fmt: skip
        panels.append(
            layers(
                [
                    chart(dots, dot, **where, color=OWN_COLOUR),
                    *(
                        chart(
                            rows,
                            {"type": "line", "strokeWidth": 2, "strokeDash": dash},
                            **where,
                            color=OWN_COLOUR,
                            detail=names("name"),
                        )
                        for rows, dash in zip(lines, ([1, 0], [4, 3]), strict=True)
                    ),
                    chart(spans, rule, **where, y2={"field": "high"}, color=OWN_COLOUR),
                    *labels,
                ],
                _FIT_WIDTH,
                _FIT_HEIGHT,
            )
        )
    return beside(*panels, spacing=24)


def _within(
    a: tuple[float, float], b: tuple[float, float], right: float, high: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """What of a line lies in the panel; the converter numbers clips anew every time.

    >>> _within((0, -1), (4, 3), 3, 9)
    ((1.0, 0.0), (3.0, 2.0))
    """
    low, up = 0.0, 1.0
    for at, to, most in ((a[0], b[0], right), (a[1], b[1], high)):
        for edge in (0.0, most):
            if (at < edge) != (to < edge) and at != to:
                cut = (edge - at) / (to - at)
                inward = (at < edge) == (edge == 0.0)
                low, up = (max(low, cut), up) if inward else (low, min(up, cut))
    first, last = ((a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])) for t in (low, up))
    return first, last


def _arrows(spots: Sequence[Spot], right: float, where: Mapping[str, Drawing]) -> list[Drawing]:
    lines: list[dict[str, Any]] = []
    heads: list[dict[str, Any]] = []
    for name, look, a, b in spots:
        if b is None:
            continue
        across = (b[0] - a[0]) * _WIDTH / right
        up = (100 * b[1] - 100 * a[1]) * _HEIGHT / 100
        lines += [{"x": x, "y": 100 * y, "name": name, "colour": look.colour} for x, y in (a, b)]
        # A triangle points up; angles turn it clockwise.
        turn = math.degrees(math.atan2(across, up))
        heads.append({"x": b[0], "y": 100 * b[1], "colour": look.colour, "turn": turn})
    if not lines:
        return []
    head = {"type": "point", "shape": "triangle", "filled": True, "size": 55, "opacity": 1}
    angle = {**quantity("turn"), "scale": None}
    line = {"type": "line", "strokeWidth": 1.3}
    return [
        chart(lines, line, **where, color=OWN_COLOUR, detail=names("name")),
        chart(heads, head, **where, color=OWN_COLOUR, angle=angle),
    ]


def _names(
    spots: Sequence[Spot],
    line: Sequence[tuple[float, float]],
    right: float,
    where: Mapping[str, Drawing],
) -> Drawing:
    def pixels(seconds: float, share: float) -> tuple[float, float]:
        return seconds * _WIDTH / right, (1 - share) * _HEIGHT

    named = [spot for spot in spots if spot.look.named]
    obstacles = [*line, *(spot.at for spot in spots if not spot.look.named)]
    for _, _, (x, y), end in spots:
        if end is not None:
            eighths = [k / 8 for k in range(1, 9)]
            obstacles += [(x + t * (end[0] - x), y + t * (end[1] - y)) for t in eighths]
    places = place_labels(
        [(*pixels(*spot.at), spot.look.label) for spot in named],
        width=_WIDTH,
        height=_HEIGHT,
        obstacles=[pixels(*at) for at in obstacles],
    )
    rows = [
        {
            "x": x * right / _WIDTH, "y": 100 * (1 - y / _HEIGHT),
            "name": spot.look.label, "colour": spot.look.colour,
        }
        for spot, (x, y) in zip(named, places, strict=True)
    ]  # fmt: skip
    mark = {"type": "text", "align": "left", "baseline": "middle", "fontSize": 11}
    return chart(rows, mark, **where, text=names("name"), color=OWN_COLOUR)
