"""The judge: in-force accuracy by its plain definition, slow and easy to check by eye.

Walk through time from one breakpoint (a release or an acceptance) to the next; between two of them
nothing changes, so the class of the whole stretch is the class at its middle.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from streamdecisionbench.kernel.arrays import Timeline

CLASSES = ("current_correct", "judgment", "stale", "compound", "outdated_correct", "no_decision")


def accept(arrivals: list[float], horizon: float) -> list[int]:
    """Sources in the order they take effect. At equal times the newer source comes first."""
    active = -1
    taken = []
    for i in sorted(range(len(arrivals)), key=lambda i: (arrivals[i], -i)):
        if arrivals[i] < horizon and i > active:
            active = i
            taken.append(i)
    return taken


def shares(timeline: Timeline, interval: float) -> dict[str, float]:
    """The six class shares and the segment-balanced accuracy at an interval, by definition."""
    c = timeline.tick / interval
    arrivals = [
        float(r + c * lat) for r, lat in zip(timeline.release, timeline.latency, strict=True)
    ]
    return shares_of(timeline, arrivals, accept(arrivals, timeline.horizon))


def shares_of(timeline: Timeline, arrivals: list[float], taken: list[int]) -> dict[str, float]:
    releases = [float(r) for r in timeline.release]
    reference = [int(y) for y in timeline.reference]
    predicted = [int(p) for p in timeline.predicted]
    start, horizon = releases[0], timeline.horizon
    cuts = sorted({*releases, *(arrivals[i] for i in taken), horizon})
    seconds = dict.fromkeys(CLASSES, 0.0)
    segment_of, lengths = _segments(releases, reference, horizon)
    right_in_segment = [0.0] * len(lengths)
    for begin, end in pairwise(cuts):
        step = max(i for i, r in enumerate(releases) if r <= begin)
        inforce = [i for i in taken if arrivals[i] <= begin]
        name = _class(inforce[-1] if inforce else None, step, reference, predicted)
        seconds[name] += end - begin
        if name in ("current_correct", "outdated_correct"):
            right_in_segment[segment_of[step]] += end - begin
    out = {name: value / (horizon - start) for name, value in seconds.items()}
    out["segment"] = sum(a / b for a, b in zip(right_in_segment, lengths, strict=True)) / len(
        lengths
    )
    return out


def accuracy(timeline: Timeline, interval: float) -> float:
    found = shares(timeline, interval)
    return found["current_correct"] + found["outdated_correct"]


def integral(timeline: Timeline, low: float, high: float, weighting: str) -> dict[str, float]:
    """The integral by definition: split at every crossing, where everything is linear in c = tick/Δ.

    On a piece each share is α + β·c, known from its values at two interior points.
    """
    c_low, c_high = timeline.tick / high, timeline.tick / low
    cuts = sorted({c_low, c_high, *(c for c in _crossings(timeline) if c_low < c < c_high)})
    total: dict[str, float] = {}
    for a, b in pairwise(cuts):
        if b - a < 1e-13 * b:
            continue
        c1, c2 = a + (b - a) / 3, a + (b - a) * 2 / 3
        one, two = shares(timeline, timeline.tick / c1), shares(timeline, timeline.tick / c2)
        for name in one:
            beta = (two[name] - one[name]) / (c2 - c1)
            alpha = one[name] - beta * c1
            if weighting == "log":
                area = alpha * math.log(b / a) + beta * (b - a)
                area /= math.log(high / low)
            else:
                area = alpha * (1 / a - 1 / b) + beta * math.log(b / a)
                area *= timeline.tick / (high - low)
            total[name] = total.get(name, 0.0) + area
    return total


def nested_trapezoids(
    curve: Callable[[float], list[float]], low: float, high: float, tolerance: float = 1e-5
) -> list[float]:
    """The published quadrature: trapezoids in ln Δ, 128 subintervals, doubled until nothing moves."""
    span = math.log(high / low)

    def at(x: float) -> list[float]:
        return curve(low * math.exp(x * span))

    n = 128
    values = [at(i / n) for i in range(n + 1)]

    def area() -> list[float]:
        width = 1 / (len(values) - 1)
        return [
            width * (sum(v[k] for v in values) - (values[0][k] + values[-1][k]) / 2)
            for k in range(len(values[0]))
        ]

    before = area()
    while n < 4096:
        middle = [at((i + 0.5) / n) for i in range(n)]
        merged = [values[0]]
        for m, v in zip(middle, values[1:], strict=True):
            merged += [m, v]
        values, n = merged, 2 * n
        now = area()
        if max(abs(a - b) for a, b in zip(before, now, strict=True)) <= tolerance:
            return now
        before = now
    return before


def _class(source: int | None, step: int, reference: list[int], predicted: list[int]) -> str:
    if source is None:
        return "no_decision"
    current = reference[source] == reference[step]
    right = predicted[source] == reference[source]
    if current:
        return "current_correct" if right else "judgment"
    if right:
        return "stale"
    return "outdated_correct" if predicted[source] == reference[step] else "compound"


def _segments(
    releases: list[float], reference: list[int], horizon: float
) -> tuple[list[int], list[float]]:
    segment_of, lengths = [], []
    ends = [*releases[1:], horizon]
    for i, y in enumerate(reference):
        if i == 0 or y != reference[i - 1]:
            lengths.append(0.0)
        lengths[-1] += ends[i] - releases[i]
        segment_of.append(len(lengths) - 1)
    return segment_of, lengths


def _crossings(timeline: Timeline) -> list[float]:
    """Every c at which an arrival meets a release, the horizon or another arrival."""
    found = []
    points = [*map(float, timeline.release), timeline.horizon]
    rl = list(zip(map(float, timeline.release), map(float, timeline.latency), strict=True))
    for r, lat in rl:
        if lat > 0:
            found += [(p - r) / lat for p in points if p > r]
        found += [(r2 - r) / (lat - lat2) for r2, lat2 in rl if lat > lat2 and r2 > r]
    return found
