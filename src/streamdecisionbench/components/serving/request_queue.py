"""When a server with so many places lets each reply leave: first come, first served, or in batches.

`capacity` places serve at once; who finds none free waits in order of arrival. A place takes one
request, or with batching up to `batch` of those that wait, whose replies leave together after the
longest service time among them. Nobody waits for a batch to fill. The rate a server can sustain is
capacity · batch / mean time of a batch; offered more, its queue grows as long as the load lasts.

A queue knows no clock: it is told what time it is, and tells each request when its reply leaves as
soon as that is known, which is when its service starts.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["RequestQueue"]

Tell = Callable[[float], None]


@dataclass(slots=True)
class RequestQueue:
    """Requests that wait for one of `capacity` places.

    >>> queue, leaves = RequestQueue(capacity=1), []
    >>> for arrived in (0.0, 0.1, 5.0):
    ...     queue.arrive(arrived, 1.0, leaves.append)
    >>> leaves
    [1.0, 2.0, 6.0]
    """

    capacity: int
    batch: int = 1
    longest: int = 0
    """The most requests that ever waited at once."""
    _busy: list[float] = field(default_factory=list)
    """When each taken place becomes free, as a heap."""
    _waiting: deque[tuple[float, Tell]] = field(default_factory=deque)

    def arrive(self, now: float, service_s: float, tell: Tell) -> None:
        """A request is here; `tell` is called with the moment its reply leaves, now or later."""
        self.advance(now)
        self._waiting.append((service_s, tell))
        if len(self._busy) < self.capacity:
            self._serve(now)
        self.longest = max(self.longest, len(self._waiting))

    def advance(self, now: float) -> None:
        """Places that became free up to `now` take who waits, at the moment they became free."""
        while self._busy and self._busy[0] <= now:
            free_at = heapq.heappop(self._busy)
            if self._waiting:
                self._serve(free_at)

    @property
    def due(self) -> float | None:
        """When `advance` has something to do: the next place becomes free and somebody waits."""
        return self._busy[0] if self._waiting and self._busy else None

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def _serve(self, at: float) -> None:
        taken = [self._waiting.popleft() for _ in range(min(self.batch, len(self._waiting)))]
        leaves = at + max(service_s for service_s, _ in taken)
        heapq.heappush(self._busy, leaves)
        for _, tell in taken:
            tell(leaves)
