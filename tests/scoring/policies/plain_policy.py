"""The judge of policies: one event after another, in the words of docs/reference/policies.md.

Times are on the recording clock, where every delay is scaled by c = tick/Δ. At one instant answers
land first, then states are published, then requests are sent; all that landed is then judged, newer
sources first, later components first. Nothing here is clever, and nothing is shared with the code it
judges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.policies.policy_file import Policy

CLASSES = ("current_correct", "judgment", "stale", "compound", "outdated_correct", "no_decision")


@dataclass
class Voice:
    """What one component said: by step, a decision, how long it took, how sure it was."""

    part: Timeline
    confidence: Sequence[float]


@dataclass
class Held:
    """A decision in force from `begin` until the next one."""

    begin: float
    component: int
    source: int
    decision: int


@dataclass
class Walk:
    """What happened in one scenario."""

    held: list[Held] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    cancelled: int = 0
    withheld: int = 0
    held_back: int = 0
    escalated: int = 0


@dataclass
class _Room:
    """One component at work."""

    flying: dict[int, float] = field(default_factory=dict)
    waiting: int = -1
    delivered: int = -1
    said: int | None = None
    streak: int = 0


def walk(
    policy: Policy,
    voices: Sequence[Voice],
    interval: float,
    *,
    changed: Sequence[bool] | None = None,
    fallback: int | None = None,
) -> Walk:
    """Everything that happens in one scenario at an interval."""
    first = voices[0].part
    c = first.tick / interval
    n, H = first.n, first.horizon
    releases = [float(r) for r in first.release]
    rooms = [_Room() for _ in voices]
    out = Walk(sent=[0] * len(voices))
    wanted = [True] * n
    if policy.dispatch.mode == "changed" and changed is not None:
        wanted = list(changed)
    active: Held | None = None
    now = -math.inf

    def send(k: int, i: int) -> None:
        rooms[k].flying[i] = now + c * float(voices[k].part.latency[i])
        out.sent[k] += 1

    def ask(k: int, i: int) -> None:
        room = rooms[k]
        if policy.dispatch.mode == "one-at-a-time":
            room.waiting = max(room.waiting, i)
        elif policy.dispatch.mode == "latest":
            busy = [s for s, u in room.flying.items() if u > now]
            if len(busy) >= (policy.dispatch.limit or 0):
                if min(busy) > i:
                    return
                del room.flying[min(busy)]
                out.cancelled += 1
            send(k, i)
        else:
            send(k, i)

    def landed(k: int, i: int) -> None:
        """The answer is there: its slot is free, and the next component may be asked."""
        del rooms[k].flying[i]
        further = policy.when_unsure and k + 1 < len(voices)
        if further and policy.cascade and voices[k].confidence[i] < policy.cascade.below:
            out.escalated += 1
            ask(k + 1, i)

    def judge(k: int, i: int) -> None:
        """Gate, debounce, in-force rule."""
        nonlocal active
        if policy.gated()[k] and voices[k].confidence[i] < policy.gate.confidence:
            out.withheld += 1
            return
        room = rooms[k]
        if i <= room.delivered:
            return
        room.delivered = i
        decision = int(voices[k].part.predicted[i])
        room.streak = room.streak + 1 if decision == room.said else 1
        room.said = decision
        if room.streak < policy.debounce.agree:
            out.held_back += 1
            return
        if active is not None and not _admits(policy.rule, k, i, active):
            return
        active = Held(now, k, i, decision)
        out.held.append(active)

    published = 0
    while True:
        times = [u for room in rooms for u in room.flying.values()]
        times += releases[published : published + 1]
        coming = [t for t in times if t < H]
        if not coming:
            break
        now = min(coming)
        arrived: list[tuple[int, int]] = []
        busy = True
        while busy:
            here = [
                (i, k) for k, room in enumerate(rooms) for i, u in room.flying.items() if u <= now
            ]
            for i, k in sorted(here, reverse=True):
                landed(k, i)
            arrived += here
            busy = bool(here)
            if published < n and releases[published] <= now:
                for k in range(1 if policy.when_unsure else len(voices)):
                    if wanted[published]:
                        ask(k, published)
                published, busy = published + 1, True
            for k, room in enumerate(rooms):
                if room.waiting >= 0 and not room.flying:
                    i, room.waiting = room.waiting, -1
                    send(k, i)
                    busy = True
        for i, k in sorted(arrived, reverse=True):
            judge(k, i)
    return out


def shares(
    policy: Policy,
    voices: Sequence[Voice],
    interval: float,
    *,
    changed: Sequence[bool] | None = None,
    fallback: int | None = None,
) -> dict[str, float]:
    """Six classes and segment-balanced accuracy at an interval; `expiries` counts decisions that yielded."""
    done = walk(policy, voices, interval, changed=changed, fallback=fallback)
    part = voices[0].part
    c = part.tick / interval
    releases, reference = [float(r) for r in part.release], [int(y) for y in part.reference]
    start, H = releases[0], part.horizon

    def expiry(held: Held) -> float:
        return releases[held.source] + c * policy.expire.after_s

    cuts = {*releases, *(h.begin for h in done.held), H}
    cuts |= {e for e in map(expiry, done.held) if start < e < H}
    seconds = dict.fromkeys(CLASSES, 0.0)
    segment_of = [0]
    for a, b in pairwise(reference):
        segment_of.append(segment_of[-1] + (a != b))
    ends = [*releases[1:], H]
    lengths = [0.0] * (segment_of[-1] + 1)
    for i, k in enumerate(segment_of):
        lengths[k] += ends[i] - releases[i]
    right_in = [0.0] * len(lengths)
    for begin, end in pairwise(sorted(cuts)):
        step = max(i for i, r in enumerate(releases) if r <= begin)
        taken = [h for h in done.held if h.begin <= begin]
        name = "no_decision"
        if taken:
            decision: int | None = taken[-1].decision
            if expiry(taken[-1]) <= begin:
                decision = fallback
            if decision is not None:
                name = _class(reference[taken[-1].source], decision, reference[step])
        seconds[name] += end - begin
        if name in ("current_correct", "outdated_correct"):
            right_in[segment_of[step]] += end - begin
    out = {name: value / (H - start) for name, value in seconds.items()}
    out["segment"] = sum(a / b for a, b in zip(right_in, lengths, strict=True)) / len(lengths)
    replaced = [*(h.begin for h in done.held[1:]), H][: len(done.held)]
    out["expiries"] = sum(
        max(expiry(h), h.begin) < end for h, end in zip(done.held, replaced, strict=True)
    )
    return out


def _admits(rule: str, k: int, i: int, active: Held) -> bool:
    """Against an earlier component's decision a later one may be as old as the rule lets it be."""
    if k <= active.component:
        return i > active.source
    return {
        "freshest": i >= active.source,
        "lag_one": i >= active.source - 1,
        "late_override": True,
    }[rule]


def _class(source_reference: int, said: int, now: int) -> str:
    right = said == source_reference
    if source_reference == now:
        return "current_correct" if right else "judgment"
    if right:
        return "stale"
    return "outdated_correct" if said == now else "compound"
