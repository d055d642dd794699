"""The judge of pairs: arrivals taken one by one under the rule's own words, then a walk through time.

Nothing here is clever. Releases are nominal (r_i = i·tick, or a logged rhythm in ticks), every arrival is asked about in order,
and between two breakpoints (a release or an acceptance) nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from streamdecisionbench.kernel.arrays import Timeline

CLASSES = ("current_correct", "judgment", "stale", "compound", "outdated_correct", "no_decision")
RULES = ("freshest", "lag_one", "late_override")


@dataclass(frozen=True)
class Taken:
    """An accepted answer: from when, by whom, for which step."""

    time: float
    slow: bool
    source: int


@dataclass(frozen=True)
class Walk:
    """What the arbitration of one scenario did."""

    taken: list[Taken]
    corrections: int
    regressions: int
    refusals: int


def nominal(timeline: Timeline, tick: float) -> list[float]:
    beats = range(timeline.n) if timeline.rhythm is None else map(float, timeline.rhythm)
    return [beat * tick for beat in beats]


def arrivals(timeline: Timeline, c: float, tick: float) -> list[float]:
    releases = nominal(timeline, tick)
    return [r + c * float(x) for r, x in zip(releases, timeline.latency, strict=True)]


def arbitrate(fast: Sequence[float], slow: Sequence[float], horizon: float, rule: str) -> Walk:
    """Every arrival before the horizon, in order of time; newer sources first, slow before fast."""
    events = [(time, source, False) for source, time in enumerate(fast)]
    events += [(time, source, True) for source, time in enumerate(slow)]
    events.sort(key=lambda e: (e[0], -e[1], not e[2]))
    delivered = {False: -1, True: -1}
    active: Taken | None = None
    taken: list[Taken] = []
    corrections = regressions = refusals = 0
    for time, source, is_slow in events:
        if time >= horizon or source <= delivered[is_slow]:
            continue
        delivered[is_slow] = source
        at = active.source if active else -1
        if not is_slow:
            admitted = source > at
        elif rule == "freshest":
            admitted = source >= at
        elif rule == "lag_one":
            admitted = source >= at - 1
        else:
            admitted = True
        if not admitted:
            refusals += is_slow
            continue
        if is_slow and active is not None:
            corrections += source == at and not active.slow
            regressions += source < at
        active = Taken(time, is_slow, source)
        taken.append(active)
    return Walk(taken, corrections, regressions, refusals)


def shares(fast: Timeline, slow: Timeline, interval: float, rule: str) -> dict[str, float]:
    """Six classes, segment-balanced accuracy and the slow share at an interval."""
    tick, n = fast.tick, fast.n
    horizon = n * tick
    c = tick / interval
    walk = arbitrate(arrivals(fast, c, tick), arrivals(slow, c, tick), horizon, rule)
    reference = [int(y) for y in fast.reference]
    answered = {False: list(map(int, fast.predicted)), True: list(map(int, slow.predicted))}
    segment_of = [0]
    for a, b in pairwise(reference):
        segment_of.append(segment_of[-1] + (a != b))
    releases = nominal(fast, tick)
    ends = [*releases[1:], horizon]
    lengths = [0.0] * (segment_of[-1] + 1)
    for k, begin, end in zip(segment_of, releases, ends, strict=True):
        lengths[k] += end - begin
    cuts = sorted({*releases, *(t.time for t in walk.taken), horizon})
    seconds = dict.fromkeys((*CLASSES, "slow"), 0.0)
    in_segment = [0.0] * len(lengths)
    for begin, end in pairwise(cuts):
        step = max(i for i, r in enumerate(releases) if r <= begin)
        held = [t for t in walk.taken if t.time <= begin]
        name = "no_decision"
        if held:
            source, said = held[-1].source, answered[held[-1].slow][held[-1].source]
            name = _class(reference[source], said, reference[step])
            seconds["slow"] += (end - begin) * held[-1].slow
        seconds[name] += end - begin
        if name in ("current_correct", "outdated_correct"):
            in_segment[segment_of[step]] += end - begin
    out = {name: value / horizon for name, value in seconds.items()}
    out["segment"] = sum(a / b for a, b in zip(in_segment, lengths, strict=True)) / len(lengths)
    return out


def integral(
    fast: Timeline, slow: Timeline, rule: str, low: float, high: float, weighting: str
) -> dict[str, float]:
    """Split at every crossing; on a piece each share is α + β·c, known from two interior points."""
    tick = fast.tick
    c_low, c_high = tick / high, tick / low
    cuts = sorted({c_low, c_high, *(c for c in crossings(fast, slow) if c_low < c < c_high)})
    total: dict[str, float] = {}
    for a, b in pairwise(cuts):
        if b - a < 1e-13 * b:
            continue
        c1, c2 = a + (b - a) / 3, a + (b - a) * 2 / 3
        one, two = (shares(fast, slow, tick / c, rule) for c in (c1, c2))
        for name in one:
            beta = (two[name] - one[name]) / (c2 - c1)
            alpha = one[name] - beta * c1
            if weighting == "log":
                area = (alpha * math.log(b / a) + beta * (b - a)) / math.log(high / low)
            else:
                area = (alpha * (1 / a - 1 / b) + beta * math.log(b / a)) * tick / (high - low)
            total[name] = total.get(name, 0.0) + area
    return total


def crossings(fast: Timeline, slow: Timeline) -> list[float]:
    """Every c at which an arrival meets a release, the horizon or another arrival."""
    tick = fast.tick
    edges = [*nominal(fast, tick), fast.n * tick]
    lines = [
        (r, float(x)) for part in (fast, slow) for r, x in zip(edges, part.latency, strict=False)
    ]
    lines += [(edge, 0.0) for edge in edges]
    return [(r2 - r1) / (l1 - l2) for r1, l1 in lines for r2, l2 in lines if l1 > l2 and r2 > r1]


def _class(source_reference: int, said: int, now: int) -> str:
    right = said == source_reference
    if source_reference == now:
        return "current_correct" if right else "judgment"
    if right:
        return "stale"
    return "outdated_correct" if said == now else "compound"
