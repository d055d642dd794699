"""One stream as the page draws it: what was right when, and each component's decisions in force.

Classes are those of `in_force`, the scorer's too: what the page shows of a finished stream is what
`sdb score` or `sdb logs score` says of it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from streamdecisionbench.in_force import ALL_CLASSES, Newest, class_of
from streamdecisionbench.scoring.timeline import Floats


@dataclass(frozen=True, slots=True)
class DrawnLane:
    """One component's answers on one stream: per step its latency (infinite: none) and what it said."""

    component: str
    latency: Sequence[float]
    decisions: Sequence[str | None]
    service: Sequence[float] = ()
    """What latency figures are made of, where that is not all of the latency."""
    taken: Sequence[TakenAnswer] | None = None
    """What took effect and when, where somebody decided between several answers; otherwise the newest
    source does, after its latency."""


class TakenAnswer(NamedTuple):
    """From `at` on the decision of this step was in force; None: no decision was."""

    at: float
    step: int
    decision: str | None


@dataclass(frozen=True, slots=True)
class WatchedStream:
    """What is known of one stream by now. Times are seconds on the stream's own clock."""

    id: str
    title: str
    group: str
    release: Sequence[float]
    references: Sequence[str | None]
    end: float
    lanes: Sequence[DrawnLane]
    open: bool
    began: float = 0.0
    """Where its clock's zero lies on the source's clock, to put streams in order."""


@dataclass(frozen=True, slots=True)
class StreamView:
    """A stream with its classes: seconds by component, and the page's own JSON."""

    stream: WatchedStream
    seconds: Mapping[str, Floats]
    """By component, columns as in `ALL_CLASSES`."""
    latencies: Mapping[str, Sequence[float]]
    json: Mapping[str, Any] = field(default_factory=dict)


def view_of(stream: WatchedStream) -> StreamView | None:
    """The stream's classes; None while nothing was observed."""
    if not stream.release or stream.end <= stream.release[0]:
        return None
    seconds: dict[str, Floats] = {}
    latencies: dict[str, Sequence[float]] = {}
    lanes: list[dict[str, Any]] = []
    for lane in stream.lanes:
        taken = _newest(stream, lane) if lane.taken is None else lane.taken
        waits = [x for x in lane.service or lane.latency if math.isfinite(x)]
        pieces = _pieces(stream, taken)
        sums: Floats = np.zeros(len(ALL_CLASSES))
        for begin, end, kind, *_ in pieces:
            sums[kind] += end - begin
        seconds[lane.component], latencies[lane.component] = sums, waits
        lanes.append(
            {
                "component": lane.component,
                "seconds": sums.tolist(),
                "answers": len(waits) if lane.taken is None else len(lane.taken),
                "pieces": _joined([[round(a, 6), round(b, 6), *rest] for a, b, *rest in pieces]),
            }
        )
    json = {
        "id": stream.id,
        "title": stream.title,
        "group": stream.group,
        "open": stream.open,
        "from": stream.release[0],
        "to": stream.end,
        "states": len(stream.release),
        "reference": _segments(stream),
        "lanes": lanes,
    }
    return StreamView(stream, seconds, latencies, json)


def _newest(stream: WatchedStream, lane: DrawnLane) -> list[TakenAnswer]:
    """What takes effect where nobody decides: an answer for a newer step than the one in force."""
    rule = Newest()
    answers = sorted(
        (at + wait, step)
        for step, (at, wait) in enumerate(zip(stream.release, lane.latency, strict=True))
        if math.isfinite(wait)
    )
    found = []
    for at, step in answers:
        if rule.admits(None, step):
            rule.activate(None, step)
            found.append(TakenAnswer(at, step, lane.decisions[step]))
    return found


def _pieces(stream: WatchedStream, taken: Sequence[TakenAnswer]) -> list[list[Any]]:
    """Stretches of one class: [from, to, class, step the decision in force is for, the decision]."""
    begin, end = stream.release[0], stream.end
    taken = [one for one in taken if one.at < end]
    times = [one.at for one in taken]
    cuts = sorted({begin, end, *(t for t in (*stream.release, *times) if begin < t < end)})
    found: list[list[Any]] = []
    for a, b in pairwise(cuts):
        now = stream.references[bisect_right(stream.release, a) - 1]
        held = bisect_right(times, a) - 1
        source, said = taken[held][1:] if held >= 0 else (-1, None)
        own = None if said is None else stream.references[source]
        found.append([a, b, class_of(said, own, now), source, said])
    return found


def _segments(stream: WatchedStream) -> list[list[Any]]:
    """Stretches of one reference: [from, to, what is right or None, first step]."""
    found: list[list[Any]] = []
    ends = [*stream.release[1:], stream.end]
    for step, (begin, end, text) in enumerate(
        zip(stream.release, ends, stream.references, strict=True)
    ):
        if found and found[-1][2] == text:
            found[-1][1] = round(end, 6)
        elif end > begin:
            found.append([round(begin, 6), round(end, 6), text, step])
    return found


def _joined(pieces: list[list[Any]]) -> list[list[Any]]:
    """Neighbours of one class and one source as one piece."""
    found: list[list[Any]] = []
    for piece in pieces:
        if found and found[-1][2:] == piece[2:]:
            found[-1][1] = piece[1]
        else:
            found.append(piece)
    return found
