"""Which scenario plays in which stream: rounds of equally many streams, begun one after another.

S streams play at once. With E scenarios that is E/S rounds where S divides E. Where it does not, or
S is larger than E, the suite is recorded several times over at once, in *replicas*: as many as it
takes to fill every round, S / gcd(S, E). So the load never drops because scenarios ran out.

Within a round stream k begins k·Δ/S after the first: releases are spread evenly over an interval and
no two coincide. The next round starts when every answer of this one is in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Play", "replicas_for", "rounds_of"]


@dataclass(frozen=True, slots=True)
class Play:
    """A scenario of a replica (counted from 0) in a stream."""

    replica: int
    episode_id: str
    stream: int

    def offset_s(self, interval_s: float, streams: int) -> float:
        """How long after the first stream this one begins."""
        return interval_s * self.stream / streams


def replicas_for(streams: int, scenarios: int) -> int:
    """How many recordings of the suite fill all rounds.

    >>> [replicas_for(streams, 8) for streams in (1, 4, 8, 16, 3)]
    [1, 1, 1, 2, 3]
    """
    return streams // math.gcd(streams, scenarios)


def rounds_of(scenarios: Sequence[str], streams: int) -> list[list[Play]]:
    """What plays together, round by round.

    >>> [[p.episode_id for p in plays] for plays in rounds_of(["a", "b", "c", "d"], 2)]
    [['a', 'b'], ['c', 'd']]
    >>> [(p.replica, p.episode_id) for p in rounds_of(["a"], 2)[0]]
    [(0, 'a'), (1, 'a')]
    """
    replicas = replicas_for(streams, len(scenarios))
    everything = [(replica, name) for replica in range(replicas) for name in scenarios]
    return [
        [Play(*each, k) for k, each in enumerate(everything[begin : begin + streams])]
        for begin in range(0, len(everything), streams)
    ]
