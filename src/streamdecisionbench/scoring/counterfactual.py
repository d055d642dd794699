"""What would help a pair or a policy: the same replay with a member instant, always right, or both.

The classes of wrong time do not answer this for several components. While a slow answer is on its way,
a wrong fast answer to the current state is in force: that time counts as judgment, and a faster slow
component would still shorten it. Here every figure is the score of a replay with changed answers:

    instant        every latency is 0; answers stay
    always right   every answer is the reference; latencies and confidences stay
    both           the two together

An answer that was never given (its latency is infinite) stays missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from streamdecisionbench.kernel.arrays import Timeline

INSTANT, RIGHT, BOTH = "instant", "always right", "instant and always right"
CHANGES = (INSTANT, RIGHT, BOTH)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """In-force accuracy at the interval if these members were changed like this."""

    members: tuple[str, ...]
    change: str
    in_force: float
    gain: float
    """Against the members as recorded."""

    @property
    def single(self) -> bool:
        """Whether one property of one member was changed."""
        return len(self.members) == 1 and self.change != BOTH


def changed_parts(parts: Sequence[Timeline], change: str) -> list[Timeline]:
    """A component's timelines, as they would be after the change."""
    found = list(parts)
    if change in (INSTANT, BOTH):
        found = [
            replace(p, latency=np.where(np.isfinite(p.latency), 0.0, np.inf), arrival=None)
            for p in found
        ]
    if change in (RIGHT, BOTH):
        found = [replace(p, predicted=p.reference) for p in found]
    return found


def counterfactuals(
    names: Sequence[str],
    members: Sequence[T],
    changed: Callable[[T, str], T],
    in_force: Callable[[Sequence[T]], float | None],
    recorded: float,
) -> list[Counterfactual]:
    """Every member by itself, then all together, under each change.

    `in_force` scores changed members; None where the recordings lack an answer that this needs.
    """
    found = []
    for which, change in _tried(len(members)):
        scored = in_force(
            [changed(one, change) if k in which else one for k, one in enumerate(members)]
        )
        if scored is not None:
            whose = tuple(names[k] for k in which)
            found.append(Counterfactual(whose, change, scored, scored - recorded))
    return found


def _tried(count: int) -> Iterator[tuple[tuple[int, ...], str]]:
    groups: list[tuple[int, ...]] = [(k,) for k in range(count)]
    if count > 1:
        groups.append(tuple(range(count)))
    for which in groups:
        for change in CHANGES:
            yield which, change
