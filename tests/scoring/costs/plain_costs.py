"""The judge of spells, delays and changes: plain walks through one scenario, and plain quadrature.

`walk` asks of every moment between two breakpoints what is in force and what is right. Everything
else follows from the list it gives. Integrals cut the range of scales wherever any two moving
moments meet or are θ or a tick apart, and use Gauss and Legendre's rule between cuts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from streamdecisionbench.kernel.arrays import Timeline
from tests.kernel import plain
from tests.scoring import plain_pairs

NONE = -1


@dataclass(frozen=True)
class Stretch:
    """Seconds of the re-paced timeline, the decision in force (and its source), what is right."""

    begin: float
    end: float
    decision: int
    source: int
    segment: int
    reference: int

    @property
    def wrong(self) -> bool:
        return self.reference not in (NONE, self.decision)

    @property
    def right(self) -> bool:
        return self.reference != NONE and self.decision == self.reference


Walker = Callable[[float], list[Stretch]]
"""From an interval to the stretches of one scenario."""


def walk(timeline: Timeline, interval: float) -> list[Stretch]:
    """One component in replay."""
    c = timeline.tick / interval
    arrivals = [float(r + c * x) for r, x in zip(timeline.release, timeline.latency, strict=True)]
    taken = [
        (arrivals[i], i, int(timeline.predicted[i]))
        for i in plain.accept(arrivals, timeline.horizon)
    ]
    return stretches([float(r) for r in timeline.release], timeline, taken, c)


def walk_pair(fast: Timeline, slow: Timeline, rule: str, interval: float) -> list[Stretch]:
    """Two components under a rule, on the nominal clock."""
    tick = fast.tick
    c = tick / interval
    both = (fast, slow)
    first, second = (plain_pairs.arrivals(part, c, tick) for part in both)
    found = plain_pairs.arbitrate(first, second, fast.horizon, rule).taken
    taken = [(t.time, t.source, int(both[t.slow].predicted[t.source])) for t in found]
    return stretches(plain_pairs.nominal(fast, tick), fast, taken, c)


def stretches(
    releases: list[float], timeline: Timeline, taken: list[tuple[float, int, int]], c: float
) -> list[Stretch]:
    reference = [max(int(y), NONE) for y in timeline.reference]
    segment = [0]
    for a, b in pairwise(reference):
        segment.append(segment[-1] + (a != b))
    cuts = sorted({*releases, *(time for time, _, _ in taken), timeline.horizon})
    found = []
    for begin, end in pairwise(cuts):
        if end - begin <= 1e-12 * timeline.horizon:
            continue  # two equal times that rounding told apart
        step = max(i for i, r in enumerate(releases) if r <= begin)
        held = [(source, said) for time, source, said in taken if time <= begin]
        source, said = held[-1] if held else (NONE, NONE)
        found.append(Stretch(begin / c, end / c, said, source, segment[step], reference[step]))
    return found


def spells(found: list[Stretch]) -> list[float]:
    """Lengths of maximal wrong runs."""
    lengths: list[float] = []
    begin = None
    for stretch in found:
        if stretch.wrong and begin is None:
            begin = stretch.begin
        if not stretch.wrong and begin is not None:
            lengths.append(stretch.begin - begin)
            begin = None
    if begin is not None:
        lengths.append(found[-1].end - begin)
    return lengths


def observed(found: list[Stretch]) -> float:
    return sum(s.end - s.begin for s in found if s.reference != NONE)


def measures(found: list[Stretch], theta: float) -> dict[str, float]:
    lengths, T = spells(found), observed(found)
    return {
        "mean_age": sum(x * x / 2 for x in lengths) / T if T else 0.0,
        "beyond": sum(max(0.0, x - theta) for x in lengths) / T if T else 0.0,
        "longest": max(lengths, default=0.0),
        "count": float(len(lengths)),
        "long": sum(x for x in lengths if x > theta * (1 + 1e-9)) / T if T else 0.0,
        "wrong": sum(s.end - s.begin for s in found if s.wrong) / T if T else 0.0,
    }


def delays(found: list[Stretch]) -> list[tuple[float, float]]:
    """(delay, limit) for every reference change; infinite where it was never right in time."""
    by_segment: dict[int, list[Stretch]] = {}
    for stretch in found:
        by_segment.setdefault(stretch.segment, []).append(stretch)
    out = []
    for k, mine in by_segment.items():
        if k == 0 or mine[0].reference == NONE or by_segment[k - 1][0].reference == NONE:
            continue
        right = [s.begin for s in mine if s.right]
        out.append(
            (min(right) - mine[0].begin if right else math.inf, mine[-1].end - mine[0].begin)
        )
    return out


def waiting(found: list[Stretch]) -> dict[str, float]:
    every = delays(found)
    return {
        "never": float(sum(math.isinf(d) for d, _ in every)),
        "waited": sum(min(d, limit) for d, limit in every) / len(every) if every else 0.0,
    }


def edits(found: list[Stretch], tick: float) -> dict[str, float]:
    """`tick` in seconds of the re-paced timeline: the interval itself."""
    old = NONE
    changes: list[tuple[float, int, int, Stretch]] = []
    for stretch in found:
        if stretch.decision != old:
            changes.append((stretch.begin, old, stretch.decision, stretch))
            old = stretch.decision
    back = sum(
        two[2] == one[1] and two[0] - one[0] <= tick * (1 + 1e-9) for one, two in pairwise(changes)
    )
    return {
        "needed": float(sum(c[3].right for c in changes)),
        "useless": float(sum(c[3].wrong for c in changes)),
        "reversed": float(back),
    }


def mean_over(
    measure: Callable[[float], dict[str, float]],
    crossings: Sequence[float],
    tick: float,
    low: float,
    high: float,
    weighting: str,
) -> dict[str, float]:
    """The mean of measures of the interval over bounds; `crossings` are scales c = tick/Δ."""
    cuts = sorted({low, high, *(tick / c for c in crossings if c > 0 and low < tick / c < high)})
    fine = []
    for a, b in pairwise(cuts):
        parts = max(1, math.ceil(math.log(b / a) / 0.5))
        fine += [
            (a * (b / a) ** (k / parts), a * (b / a) ** ((k + 1) / parts)) for k in range(parts)
        ]
    nodes, weights = np.polynomial.legendre.leggauss(7)
    total: dict[str, float] = {}
    for a, b in fine:
        if b - a < 1e-12 * b:
            continue
        for x, w in zip(nodes, weights, strict=True):
            if weighting == "log":
                middle, half = (math.log(a) + math.log(b)) / 2, math.log(b / a) / 2
                interval, weight = math.exp(middle + half * x), w * half / math.log(high / low)
            else:
                interval, weight = (a + b) / 2 + (b - a) / 2 * x, w * (b - a) / 2 / (high - low)
            for name, value in measure(interval).items():
                total[name] = total.get(name, 0.0) + weight * value
    return total


def meetings(parts: Sequence[Timeline], apart: Sequence[float], nominal: bool) -> list[float]:
    """Scales at which two moments of the scenario meet, or are a time apart.

    `apart` are seconds at the interval, so c times as long on the recording clock; a tick there is
    always `timeline.tick`.
    """
    lines = []
    for part in parts:
        on_plan = plain_pairs.nominal(part, part.tick)
        release = on_plan if nominal else part.release.tolist()
        lines += [
            (float(r), float(x))
            for r, x in zip(release, part.latency, strict=True)
            if math.isfinite(x)
        ]
        lines += [(float(r), 0.0) for r in release]
    lines += [(parts[0].horizon, 0.0)]
    out = []
    for r1, l1 in lines:
        for r2, l2 in lines:
            for fixed, moving in [
                (0.0, 0.0),
                (parts[0].tick * (1 + 1e-9), 0.0),
                *((0.0, x) for x in apart),
            ]:
                slope = l1 - l2 - moving
                if slope:
                    out.append((fixed - (r1 - r2)) / slope)
    return [c for c in out if c > 0]


def cost_rate(found: list[Stretch], cost: Callable[[int, int], float]) -> float:
    """(1/T) ∫ C dt, stretch by stretch."""
    T = observed(found)
    amount = sum((s.end - s.begin) * cost(s.reference, s.decision) for s in found if s.wrong)
    return amount / T if T else 0.0


def penalty_rate(found: list[Stretch], penalty: Callable[[float], float]) -> float:
    """(1/T) Σ ∫ of a penalty of age over each spell, by its own quadrature between its corners."""
    T = observed(found)
    return sum(penalty(x) for x in spells(found)) / T if T else 0.0


def acts(
    found: list[Stretch],
    act_of: Callable[[int], object],
    source_segment: Callable[[int], int],
    within: float,
) -> dict[str, float]:
    """Doings one after another, each looking for the call it answers."""
    calls: list[dict[str, object]] = []
    asked: object = None
    call_in_segment: dict[int, int] = {}
    for s in found:
        now = act_of(s.reference) if s.reference != NONE else None
        if now is not None and now != asked:
            calls.append({"act": now, "begin": s.begin, "outcome": None})
        if now is not None:
            call_in_segment[s.segment] = len(calls) - 1
        asked = now
    out = dict.fromkeys(("in_time", "late", "missed", "wrongly", "twice"), 0.0)
    standing: object = None
    for k, s in enumerate(found):
        act = act_of(s.decision) if s.decision != NONE else None
        if act == standing:
            continue
        standing = act
        if act is None:
            continue
        until = next(
            (
                t.begin
                for t in found[k:]
                if (act_of(t.decision) if t.decision != NONE else None) != act
            ),
            found[-1].end,
        )
        holding = call_in_segment.get(s.segment)
        own = call_in_segment.get(source_segment(s.source)) if s.source != NONE else None
        if holding is not None and calls[holding]["act"] == act:
            late = s.begin - float(calls[holding]["begin"]) > within * (1 + 1e-12)  # type: ignore[arg-type]
            target, outcome = holding, "late" if late else "in_time"
        elif own is not None and calls[own]["act"] == act:
            target, outcome = own, "late"
        else:
            if s.reference == NONE:
                continue
            out["wrongly"] += 1
            later = [c for c in calls if c["act"] == act and float(c["begin"]) > s.begin]  # type: ignore[arg-type]
            if later and float(later[0]["begin"]) < until and later[0]["outcome"] is None:  # type: ignore[arg-type]
                later[0]["outcome"] = "in_time"
            continue
        if calls[target]["outcome"] is None:
            calls[target]["outcome"] = outcome
        else:
            out["twice"] += 1
    for call in calls:
        out[str(call["outcome"] or "missed")] += 1
    return {"calls": float(len(calls)), **out}
