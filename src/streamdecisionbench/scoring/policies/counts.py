"""What became of states and answers under a policy, with what the requests cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streamdecisionbench.policy_file import Policy
from streamdecisionbench.scoring.policies.scene import Answers, Scene
from streamdecisionbench.scoring.policies.shares import Replay
from streamdecisionbench.scoring.timeline import Ints, Timeline

__all__ = ["Counts", "cost_per_hour", "count"]


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of states and answers at the interval, over all scenarios; tuples by component."""

    states: int
    requests: tuple[int, ...]
    cancelled: tuple[int, ...]
    answers: tuple[int, ...]
    """That arrived before the horizon."""
    withheld: tuple[int, ...]
    """Of these, kept back by the gate."""
    taken: tuple[int, ...]
    held_back: int
    """Sure and new, but not yet agreed on: kept back by the debounce."""
    expiries: int
    """Decisions that yielded to the fallback before another one came."""
    escalations: int
    """Requests that an unsure answer caused."""


def count(policy: Policy, stages: Sequence[Scene], done: Sequence[Replay]) -> Counts:
    K = policy.count
    requests, cancelled, answers, withheld, taken = (np.zeros(K, dtype=np.int64) for _ in range(5))
    held_back = expiries = 0
    for scene, one in zip(stages, done, strict=True):
        flights = one.flights
        arrived = flights.arrival < scene.horizon[:, None, None]
        sure = np.swapaxes(scene.sure[0], 0, 1)
        requests += flights.sent.sum(axis=(0, 2))
        cancelled += flights.cancelled.sum(axis=(0, 2))
        answers += arrived.sum(axis=(0, 2))
        withheld += (arrived & ~sure).sum(axis=(0, 2))
        taken += np.bincount(one.taken.component, minlength=K)
        held_back += int(one.taken.held_back.sum())
        expiries += int((one.held.yields < one.held.end).sum())
    return Counts(
        states=sum(scene.release.size for scene in stages),
        requests=_whole(requests),
        cancelled=_whole(cancelled),
        answers=_whole(answers),
        withheld=_whole(withheld),
        taken=_whole(taken),
        held_back=held_back,
        expiries=expiries,
        escalations=int(requests[1:].sum()) if policy.when_unsure else 0,
    )


def cost_per_hour(
    components: Sequence[Answers],
    parts: Sequence[Timeline],
    interval: float,
    stages: Sequence[Scene],
    done: Sequence[Replay],
) -> float | None:
    """Money for every request sent, cancelled ones too, per hour of stream."""
    spent = 0.0
    for k, one in enumerate(components):
        if one.cost is None:
            return None
        for scene, found in zip(stages, done, strict=True):
            for nth, s in enumerate(scene.index.tolist()):
                spent += float(one.cost[s][found.flights.sent[nth, k]].sum())
    return None if math.isnan(spent) else spent / (sum(p.n for p in parts) * interval / 3600)


def _whole(values: Ints) -> tuple[int, ...]:
    return tuple(map(int, values.tolist()))
