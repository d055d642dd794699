"""The meter's judge: seconds by class from the list of what happened, slow and easy to check by eye.

Time is cut at every event. Of each stretch it is asked which step was current, whose answer was in
force, and what is known by now of what was right; nothing is remembered from one stretch to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

CLASSES = (
    "current_correct", "judgment", "stale", "compound", "outdated_correct", "no_decision",
    "unjudged", "unattributed",
)  # fmt: skip


class Happened(NamedTuple):
    """`kind` is publish, answer, judge or end; a publication's step is its place among them."""

    kind: str
    at: float
    step: int = -1
    value: str = ""


class Known(NamedTuple):
    """What is known at one moment."""

    published: list[float]
    applied: list[tuple[float, int]]
    decisions: dict[int, str]
    references: dict[int, str]
    given_up: set[int]
    """Their judgment no longer counts."""
    end: float | None


def known(events: Sequence[Happened], window: int = 1000) -> Known:
    """Walks once through what happened, keeping everything."""
    published: list[float] = []
    applied: list[tuple[float, int]] = []
    decisions: dict[int, str] = {}
    answered: set[int] = set()
    references: dict[int, str] = {}
    given_up: set[int] = set()
    gone: set[int] = set()
    end: float | None = None

    def waits(step: int) -> bool:
        active = applied[-1][1] if applied else -1
        if end is None and step in (len(published) - 1, active):
            return True
        if step not in references:
            return True
        return end is None and step not in answered and step > active

    for event in events:
        if event.kind == "publish" and end is None:
            published.append(event.at)
            kept = [i for i in range(len(published)) if i not in gone and waits(i)]
            if len(kept) > window:
                gone.add(kept[0])
                if kept[0] not in references:
                    given_up.add(kept[0])
        elif event.kind == "answer" and 0 <= event.step < len(published):
            if end is None and (not applied or event.step > applied[-1][1]):
                applied.append((event.at, event.step))
                decisions[event.step] = event.value
            answered.add(event.step)
        elif event.kind == "judge" and 0 <= event.step < len(published):
            if event.step not in references and event.step not in given_up:
                references[event.step] = event.value
        elif event.kind == "end" and end is None:
            end = event.at
    return Known(published, applied, decisions, references, given_up, end)


def seconds(
    events: Sequence[Happened], now: float, *, window: int = 1000, closed: bool = False
) -> dict[str, float]:
    """Seconds by class that are certain at `now`; `closed`: nothing more will become known."""
    found = known(events, window)
    out = dict.fromkeys(CLASSES, 0.0)
    if not found.published:
        return out
    last = now if found.end is None else found.end
    cuts = sorted({*found.published, *(at for at, _ in found.applied), last})
    for begin, end in pairwise(cut for cut in cuts if cut <= last):
        current = max(i for i, at in enumerate(found.published) if at <= begin)
        sources = [step for at, step in found.applied if at <= begin]
        name = _class(found, current, sources[-1] if sources else None, closed)
        if name is not None:
            out[name] += end - begin
    return out


def _class(found: Known, current: int, source: int | None, closed: bool) -> str | None:
    if current not in found.references:
        return "unjudged" if closed or current in found.given_up else None
    right = found.references[current]
    if source is None:
        return "no_decision"
    decision = found.decisions[source]
    if source not in found.references:
        if not closed and source not in found.given_up:
            return None
        return "current_correct" if decision == right else "unattributed"
    own = found.references[source]
    table = {
        # (right for its own state, own state still holds, matches what is right now)
        (True, True, True): "current_correct",
        (False, True, False): "judgment",
        (True, False, False): "stale",
        (False, False, False): "compound",
        (False, False, True): "outdated_correct",
    }
    return table[decision == own, own == right, decision == right]


class Judged(NamedTuple):
    """Time by what is known at one moment: whether it was right, or what it waits for."""

    right: float
    wrong: float
    unjudged: float
    """What is right now may still become known."""
    unattributed: float
    """It is known whether it was right, and may become known whether its own state was."""


def judged(events: Sequence[Happened], now: float, *, window: int = 1000) -> Judged:
    """In-force accuracy needs what is right now and what is in force, and nothing else."""
    found = known(events, window)
    sums = {"right": 0.0, "wrong": 0.0, "unjudged": 0.0, "unattributed": 0.0}
    last = now if found.end is None else found.end
    cuts = sorted({*found.published, *(at for at, _ in found.applied), last})
    for begin, end in pairwise(cut for cut in cuts if found.published and cut <= last):
        current = max(i for i, at in enumerate(found.published) if at <= begin)
        sources = [step for at, step in found.applied if at <= begin]
        if current not in found.references:
            sums["unjudged"] += 0.0 if current in found.given_up else end - begin
            continue
        decision = found.decisions[sources[-1]] if sources else None
        sums["right" if decision == found.references[current] else "wrong"] += end - begin
        if sources and not {sources[-1]} & (found.references.keys() | found.given_up):
            sums["unattributed"] += end - begin
    return Judged(**sums)


def causes(
    events: Sequence[Happened], now: float, *, window: int = 1000
) -> tuple[dict[str, float], float]:
    """Seconds by cause: wrong time of unknown cause is divided as wrong time that differs only in that its source
    is judged; and how many seconds say how."""
    found = known(events, window)
    alike = {"latency": 0.0, "judgment": 0.0, "both": 0.0}
    lost = {**alike, "unknown": 0.0}
    of_class = {
        "stale": "latency",
        "no_decision": "latency",
        "judgment": "judgment",
        "compound": "both",
    }
    last = now if found.end is None else found.end
    cuts = sorted({*found.published, *(at for at, _ in found.applied), last})
    for begin, end in pairwise(cut for cut in cuts if found.published and cut <= last):
        current = max(i for i, at in enumerate(found.published) if at <= begin)
        sources = [step for at, step in found.applied if at <= begin]
        name = _class(found, current, sources[-1] if sources else None, True)
        if name == "unattributed":
            lost["unknown"] += end - begin
        elif name in of_class:
            lost[of_class[name]] += end - begin
            if sources and sources[-1] != current:
                alike[of_class[name]] += end - begin
    whole = sum(alike.values())
    if whole > 0:
        for cause, part in alike.items():
            lost[cause] += lost["unknown"] * part / whole
        lost["unknown"] = 0.0
    return lost, whole


def age_integral(events: Sequence[Happened], now: float) -> tuple[float, float]:
    """∫ age dt and seconds, over the time a decision was in force."""
    found = known(events)
    last = now if found.end is None else found.end
    total = held = 0.0
    ends = [at for at, _ in found.applied[1:]] + [last]
    for (begin, step), end in zip(found.applied, ends, strict=False):
        a, b = begin - found.published[step], end - found.published[step]
        total += (b * b - a * a) / 2
        held += end - begin
    return total, held
