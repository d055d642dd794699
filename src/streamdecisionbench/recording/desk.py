"""Which requests a policy sends and gives up, as states come out and answers come in.

The desk knows no clock: whoever runs an episode tells it what happens, in order, and carries out what
it says. docs/policies.md defines the modes; replay computes the same for all intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from streamdecisionbench.policy_file import Policy

__all__ = ["Desk", "Order"]


@dataclass(frozen=True, slots=True)
class Order:
    """Send step `t` to the component of rank `lane`, or give its request up."""

    lane: int
    t: int
    cancel: bool = False


@dataclass(slots=True)
class _Tray:
    """One component's requests."""

    flying: set[int] = field(default_factory=set)
    waiting: int = -1
    asked: set[int] = field(default_factory=set)


class Desk:
    """One episode's requests under a policy; `wanted` are the states that its mode sends at all.

    >>> from streamdecisionbench.policy_file import Dispatch
    >>> desk = Desk(Policy(dispatch=Dispatch("one-at-a-time")), [True] * 3, lanes=1)
    >>> desk.published(0), desk.published(1), desk.published(2)
    ([Order(lane=0, t=0, cancel=False)], [], [])
    >>> desk.answered(0, 0, unsure=False, in_time=True)
    [Order(lane=0, t=2, cancel=False)]
    >>> desk.skipped()
    [(0, 1, 'superseded')]
    """

    def __init__(self, policy: Policy, wanted: Sequence[bool], lanes: int) -> None:
        self._policy = policy
        self._wanted = wanted
        self._trays = [_Tray() for _ in range(lanes)]
        self._reasons: dict[tuple[int, int], str] = {}

    def published(self, t: int) -> list[Order]:
        """State `t` is out."""
        first = self._trays[:1] if self._policy.when_unsure else self._trays
        if not self._wanted[t]:
            for lane in range(len(first)):
                self._reasons[lane, t] = "unchanged"
            return []
        return [order for lane in range(len(first)) for order in self._ask(lane, t)]

    def answered(self, lane: int, t: int, *, unsure: bool, in_time: bool) -> list[Order]:
        """Its answer is there; `in_time`: before the horizon, after which nothing is sent."""
        tray = self._trays[lane]
        tray.flying.discard(t)
        orders: list[Order] = []
        if self._policy.when_unsure and lane + 1 < len(self._trays):
            if unsure and in_time:
                orders += self._ask(lane + 1, t)
            else:
                self._reasons[lane + 1, t] = "sure" if in_time else "after_horizon"
        if tray.waiting >= 0 and not tray.flying:
            next_, tray.waiting = tray.waiting, -1
            if in_time:
                orders.append(self._send(lane, next_))
            else:
                self._reasons[lane, next_] = "after_horizon"
        return orders

    def skipped(self) -> list[tuple[int, int, str]]:
        """Every (component, step, why) that was never sent, once the episode is over."""
        return [
            (lane, t, self._reasons.get((lane, t), "not_asked"))
            for lane, tray in enumerate(self._trays)
            for t in range(len(self._wanted))
            if t not in tray.asked
        ]

    def _ask(self, lane: int, t: int) -> list[Order]:
        tray, dispatch = self._trays[lane], self._policy.dispatch
        if dispatch.mode == "one-at-a-time" and tray.flying:
            older, tray.waiting = sorted((tray.waiting, t))
            if older >= 0:
                self._reasons[lane, older] = "superseded"
            return []
        orders = []
        if dispatch.mode == "latest" and len(tray.flying) >= (dispatch.limit or 0):
            oldest = min(tray.flying)
            if oldest > t:
                self._reasons[lane, t] = "superseded"
                return []
            tray.flying.remove(oldest)
            orders.append(Order(lane, oldest, cancel=True))
        return [*orders, self._send(lane, t)]

    def _send(self, lane: int, t: int) -> Order:
        self._trays[lane].flying.add(t)
        self._trays[lane].asked.add(t)
        return Order(lane, t)
