"""One stream as pages and the terminal draw it: what was right when, and each component's decisions in
force.

Classes are those of `in_force`, the scorer's too: what is shown of a finished stream is what `sdb score` or
`sdb logs score` says of it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from streamdecisionbench.kernel.arrays import Floats
from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    CORRECT,
    UNJUDGED,
    class_of,
)
from streamdecisionbench.kernel.rule import Newest
from streamdecisionbench.logs.worst_streams import (
    NOTHING_YET,
    ShownStream,
)
from streamdecisionbench.render.palette import (
    CLASS_STYLE,
    UNKNOWN_STYLE,
)
from streamdecisionbench.text import printable

_STYLES = [{**CLASS_STYLE, **UNKNOWN_STYLE}[name] for name in ALL_CLASSES]
_LABEL = 10
"""Columns of a terminal that lanes are named in."""
_MISTAKES = 5
"""Wrong stretches of a stream that are spelled out, the longest."""


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
    weight: float = 1.0
    """How much each of its seconds counts, where streams are pooled."""


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


def logged_stream(shown: ShownStream, group: str = "") -> WatchedStream:
    """A stream of a log, at the pace it was scored at."""
    taken = None if shown.taken is None else [TakenAnswer(*one) for one in shown.taken]
    lane = DrawnLane("in force", shown.latency, shown.decisions, taken=taken)
    return WatchedStream(
        id=shown.name,
        title=shown.name,
        group=group,
        release=shown.release,
        references=shown.references,
        end=shown.end,
        lanes=[lane],
        open=False,
    )


def lane_lines(shown: ShownStream, width: int = 80) -> list[str]:
    """The lanes of one stream for a terminal: seconds, what was right, the class of every moment by its
    mark, what was in force; then the longest wrong stretches in words. No text of the log acts."""
    view = view_of(logged_stream(shown))
    if view is None:
        return []
    room = width - _LABEL
    (lane,) = view.json["lanes"]
    pieces = lane["pieces"]
    marks = [mark for _, mark, _ in _STYLES]
    edges = [shown.end * k / room for k in range(room + 1)]
    classes = "".join(marks[_most(pieces, a, b)] for a, b in pairwise(edges))
    held = [[a, b, text] for a, b, _, _, text in _joined([[*p[:2], 0, 0, p[4]] for p in pieces])]
    lines = [
        "seconds".ljust(_LABEL) + _ruler(shown.end, room),
        "right".ljust(_LABEL)
        + _words([p[:3] for p in view.json["reference"]], shown.end, room, "?"),
        "in force".ljust(_LABEL) + classes,
        " " * _LABEL + _words(held, shown.end, room, NOTHING_YET),
    ]
    return [line.rstrip() for line in lines] + _mistakes(shown, view.json["reference"], pieces)


def class_legend() -> str:
    """What the marks of lanes mean."""
    return "  ".join(f"{mark} {label}" for label, mark, _ in _STYLES)


def _most(pieces: Sequence[Sequence[Any]], begin: float, end: float) -> int:
    """The class that most of a cell's time has."""
    sums: dict[int, float] = {}
    for a, b, kind, *_ in pieces:
        if a < end and b > begin:
            sums[kind] = sums.get(kind, 0.0) + min(b, end) - max(a, begin)
    return max(sums, key=lambda kind: sums[kind]) if sums else UNJUDGED


def _ruler(end: float, room: int) -> str:
    """Round numbers of seconds where they lie."""
    power = 10.0 ** math.floor(math.log10(end / 6))
    step = next(k * power for k in (1, 2, 5, 10) if end / (k * power) <= 8)
    line = [" "] * room
    at = 0.0
    while at <= end:
        place, text = int(at / end * room), f"{at:g}"
        if place + len(text) <= room:
            line[place : place + len(text)] = text
        at = round(at + step, 9)
    return "".join(line)


def _words(spans: Sequence[Sequence[Any]], end: float, room: int, nothing: str) -> str:
    """What holds in each span, written from where it begins as far as there is room."""
    line = [" "] * room
    for a, b, text in spans:
        first, last = int(a / end * room), min(int(b / end * room), room)
        if last <= first:
            continue
        said = printable(nothing if text is None else text)
        word = said if len(said) < last - first else said[: max(last - first - 2, 0)] + "…"
        line[first:last] = f"|{word[: last - first - 1]}".ljust(last - first)
    return "".join(line)


def _mistakes(
    shown: ShownStream, reference: Sequence[Sequence[Any]], pieces: Sequence[Sequence[Any]]
) -> list[str]:
    wrong = [p for p in pieces if p[2] != UNJUDGED and p[2] not in CORRECT]
    longest = sorted(wrong, key=lambda p: p[0] - p[1])[:_MISTAKES]
    lines = []
    for a, b, kind, source, text in sorted(longest, key=lambda p: p[0]):
        right = next((p[2] for p in reference if p[0] <= a < p[1]), None)
        said = NOTHING_YET if text is None else text
        of = "" if source < 0 else f", answer to state {source}"
        lines.append(
            f"  {a:.1f}–{b:.1f} s {_STYLES[kind][0]}: {_cut(said)} in force, {_cut(right)} right{of}"
        )
        if shown.states is not None:
            now = max(k for k, at in enumerate(shown.release) if at <= a + 1e-6)
            lines.append(f"    state {now}: {_cut(shown.states[now], 200)}")
    if more := len(wrong) - len(longest):
        lines.append(f"  and {more} shorter wrong stretch{'' if more == 1 else 'es'}")
    return lines


def _cut(text: str | None, most: int = 40) -> str:
    said = printable("–" if text is None else text)
    return said if len(said) <= most else said[: most - 1] + "…"
