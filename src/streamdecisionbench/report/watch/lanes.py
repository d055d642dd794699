"""One stream as the page draws it: what was right when, and each component's decisions in force.

Classes come from the scorer's own arrays, so what the page shows of a finished stream is what
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

from streamdecisionbench.in_force import ALL_CLASSES, class_of
from streamdecisionbench.scoring.classes import class_stretches
from streamdecisionbench.scoring.sweep import accepted_at
from streamdecisionbench.scoring.timeline import NO_ANSWER, UNKNOWN, Flat, Floats, Timeline


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
        if lane.taken is not None:
            pieces = _pieces_taken(stream, lane.taken)
            sums = np.zeros(len(ALL_CLASSES))
            for begin, end, kind, *_ in pieces:
                sums[kind] += end - begin
            seconds[lane.component], latencies[lane.component] = sums, []
            lanes.append(_lane_json(lane.component, sums, len(lane.taken), pieces))
            continue
        timeline = _timeline(stream, lane)
        flat = Flat([timeline])
        arrival = flat.r + flat.L
        source = np.flatnonzero(accepted_at(flat, arrival))
        found = class_stretches(flat, source, arrival[source])
        held = np.append(source, -1)[found.piece]
        spans = found.end - found.begin
        sums = np.zeros(len(ALL_CLASSES))
        np.add.at(sums, found.column, spans)
        seconds[lane.component] = sums
        latencies[lane.component] = [x for x in lane.service or lane.latency if math.isfinite(x)]
        pieces = [
            [a, b, c, s, lane.decisions[s] if s >= 0 else None]
            for a, b, c, s in zip(
                found.begin.tolist(), found.end.tolist(), found.column.tolist(), held.tolist(),
                strict=True,
            )
            if b > a
        ]  # fmt: skip
        answers = len(latencies[lane.component])
        lanes.append(_lane_json(lane.component, sums, answers, pieces))
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


def _lane_json(
    component: str, sums: Floats, answers: int, pieces: list[list[Any]]
) -> dict[str, Any]:
    shown = [[round(a, 6), round(b, 6), *rest] for a, b, *rest in pieces]
    return {
        "component": component,
        "seconds": sums.tolist(),
        "answers": answers,
        "pieces": _joined(shown),
    }


def _pieces_taken(stream: WatchedStream, taken: Sequence[TakenAnswer]) -> list[list[Any]]:
    """Stretches of one class: [from, to, class, step the decision in force is for, the decision]."""
    begin, end = stream.release[0], stream.end
    taken = [one for one in taken if one.at < end]
    times = [one.at for one in taken]
    cuts = sorted({begin, end, *(t for t in (*stream.release, *times) if begin < t < end)})
    found: list[list[Any]] = []
    for a, b in pairwise(cuts):
        step = bisect_right(stream.release, a) - 1
        held = bisect_right(times, a) - 1
        source, said = taken[held][1:] if held >= 0 else (-1, None)
        now = stream.references[step]
        own = stream.references[source] if said is not None else None
        found.append([a, b, class_of(said, own, now), source, said])
    return found


def _timeline(stream: WatchedStream, lane: DrawnLane) -> Timeline:
    ids: dict[str, int] = {}

    def number(text: str | None, otherwise: int) -> int:
        return otherwise if text is None else ids.setdefault(text, len(ids))

    reference = [number(text, UNKNOWN) for text in stream.references]
    predicted = [number(text, NO_ANSWER) for text in lane.decisions]
    n = len(stream.release)
    return Timeline(
        episode_id=stream.id,
        family=stream.group,
        tick=(stream.end - stream.release[0]) / n,
        release=np.array(stream.release, dtype=np.float64),
        latency=np.array(lane.latency, dtype=np.float64),
        reference=np.array(reference, dtype=np.int64),
        predicted=np.array(predicted, dtype=np.int64),
        end=stream.end,
    )


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
