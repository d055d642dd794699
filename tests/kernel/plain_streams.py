"""The judge of logged streams: the class of an instant, asked instant by instant.

Written from the definitions alone: irregular times, answers that never came, references nobody
knows, an end of its own. At an instant it is asked which state is current, which answer is in
force, and what follows. Between two cuts nothing changes, so the middle of a stretch stands for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

CLASSES = (
    "current_correct",
    "judgment",
    "stale",
    "compound",
    "outdated_correct",
    "no_decision",
    "unjudged",
    "unattributed",
)


@dataclass(frozen=True)
class Stream:
    """Rows of one stream: when states came, how long answers took, what was right and answered."""

    times: list[float]
    latencies: list[float | None]
    references: list[str | None]
    decisions: list[str | None]
    end: float

    @property
    def tick(self) -> float:
        return (self.end - self.times[0]) / len(self.times)

    def paced(self, interval: float) -> Stream:
        """The same stream with states `interval` seconds apart on average and the same latencies."""
        factor = interval / self.tick
        start = self.times[0]
        return Stream(
            [(t - start) * factor for t in self.times],
            self.latencies,
            self.references,
            self.decisions,
            (self.end - start) * factor,
        )


def class_at(stream: Stream, instant: float) -> str:
    """The class of one instant, by asking who is in force and what was right."""
    now = max(i for i, t in enumerate(stream.times) if t <= instant)
    right_now = stream.references[now]
    if right_now is None:
        return "unjudged"
    source = in_force(stream, instant)
    if source is None:
        return "no_decision"
    decision, right_then = stream.decisions[source], stream.references[source]
    if decision == right_now:
        return "current_correct" if right_then in (None, right_now) else "outdated_correct"
    if right_then is None:
        return "unattributed"
    if decision == right_then:
        return "stale"
    return "judgment" if right_then == right_now else "compound"


def in_force(stream: Stream, instant: float) -> int | None:
    """The newest state whose answer has arrived by then: an older answer never replaces a newer."""
    arrived = [
        i
        for i, (t, wait) in enumerate(zip(stream.times, stream.latencies, strict=True))
        if wait is not None and t + wait <= instant
    ]
    return max(arrived, default=None)


def seconds(stream: Stream) -> dict[str, float]:
    """Seconds by class over the stream as it is."""
    arrivals = [
        t + wait
        for t, wait in zip(stream.times, stream.latencies, strict=True)
        if wait is not None and t + wait < stream.end
    ]
    cuts = sorted({*stream.times, *arrivals, stream.end})
    found = dict.fromkeys(CLASSES, 0.0)
    for begin, end in pairwise(cuts):
        found[class_at(stream, (begin + end) / 2)] += end - begin
    return found


def shares(stream: Stream, interval: float | None = None) -> dict[str, float]:
    paced = stream if interval is None else stream.paced(interval)
    total = paced.end - paced.times[0]
    return {name: value / total for name, value in seconds(paced).items()}


def in_force_accuracy(found: dict[str, float]) -> float:
    """Correct time over judged time."""
    return (found["current_correct"] + found["outdated_correct"]) / (1 - found["unjudged"])


def integral(stream: Stream, low: float, high: float) -> dict[str, float]:
    """Shares averaged over the logarithm of the interval, split wherever two moments can meet.

    Between such intervals every share is a + b/Δ, which two interior points determine.
    """
    meetings = set()
    rows = list(zip(stream.times, stream.latencies, strict=True))
    for t, wait in rows:
        if not wait:
            continue
        for other in (*stream.times, stream.end):
            if other > t:
                meetings.add(wait * stream.tick / (other - t))
        for other, less in rows:
            if less is not None and other > t and wait > less:
                meetings.add((wait - less) * stream.tick / (other - t))
    cuts = [low, *sorted(m for m in meetings if low < m < high), high]
    total = dict.fromkeys(CLASSES, 0.0)
    for a, b in pairwise(cuts):
        if b - a < 1e-13 * b:
            continue
        one, two = a + (b - a) / 3, a + (b - a) * 2 / 3
        at_one, at_two = shares(stream, one), shares(stream, two)
        for name in CLASSES:
            slope = (at_two[name] - at_one[name]) / (1 / two - 1 / one)
            base = at_one[name] - slope / one
            total[name] += base * math.log(b / a) + slope * (1 / a - 1 / b)
    return {name: value / math.log(high / low) for name, value in total.items()}
