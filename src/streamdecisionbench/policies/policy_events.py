"""A policy event by event: which states it wants sent, what may take effect, who is asked next.

The recorder and the meter run it; `scoring.policy_replay` computes the same for all intervals.
docs/reference/policies.md defines every part. Standard library alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamdecisionbench.kernel.rule import (
    Arbiter,
    CascadeRule,
    Newest,
    PolicyRule,
)
from streamdecisionbench.policies.policy_file import Policy


def arbiter_of(policy: Policy, names: Sequence[str | None]) -> Arbiter:
    """The rule for what takes effect, for components in the cascade's order."""
    if len(names) == 1 and policy.plain:
        return Newest()
    return PolicyRule(
        CascadeRule(names, policy.rule),
        gates={
            name: policy.gate.confidence if on else 0.0
            for name, on in zip(names, policy.gated(), strict=True)
        },
        agree=policy.debounce.agree,
    )


def unsure(policy: Policy, confidence: float | None) -> bool:
    """Whether an answer makes the policy ask the next component."""
    cascade = policy.cascade
    if cascade is None or not policy.when_unsure:
        return False
    return cascade.below > 1 if confidence is None else confidence < cascade.below


def looked_at(state: Any, fields: Sequence[str]) -> Any:
    """The parts of a state that `changed` compares: these fields, by name or path, or the whole state."""
    return [_look_up(state, name) for name in fields] if fields else state


def _look_up(state: Any, field: str) -> Any:
    """A field by its name, or by a path of names joined with dots; None where it is not there."""
    if isinstance(state, Mapping) and field in state:
        return state[field]
    head, dot, rest = field.partition(".")
    if dot and isinstance(state, Mapping) and head in state:
        return _look_up(state[head], rest)
    return None


@dataclass(frozen=True, slots=True)
class Order:
    """Send step `t` to the component of this rank, or give its request up."""

    rank: int
    t: int
    cancel: bool = False


@dataclass(slots=True)
class _Requests:
    """Of one component."""

    flying: set[int] = field(default_factory=set)
    waiting: int = -1
    asked: set[int] = field(default_factory=set)


class Dispatcher:
    """Which requests a policy sends and gives up, as states come out and answers come in.

    It knows no clock: the caller reports events in order and carries out the orders it returns. `wanted`
    are the states that the policy's mode sends at all. Without it the caller decides, and states
    that are not sent are not kept.

    >>> from streamdecisionbench.policies.policy_file import Dispatch, Policy
    >>> dispatcher = Dispatcher(Policy(dispatch=Dispatch("one-at-a-time")), [True] * 3, 1)
    >>> dispatcher.published(0), dispatcher.published(1), dispatcher.published(2)
    ([Order(rank=0, t=0, cancel=False)], [], [])
    >>> dispatcher.answered(0, 0, unsure=False, in_time=True)
    [Order(rank=0, t=2, cancel=False)]
    >>> dispatcher.skipped()
    [(0, 1, 'superseded')]
    """

    def __init__(self, policy: Policy, wanted: Sequence[bool] | None, components: int) -> None:
        self._policy = policy
        self._wanted = wanted
        self._requests = [_Requests() for _ in range(components)]
        self._reasons: dict[tuple[int, int], str] = {}

    def published(self, t: int, *, wanted: bool = True) -> list[Order]:
        """State `t` is out."""
        first = self._requests[:1] if self._policy.when_unsure else self._requests
        if not (wanted if self._wanted is None else self._wanted[t]):
            for rank in range(len(first)):
                self._skip(rank, t, "unchanged")
            return []
        return [order for rank in range(len(first)) for order in self._ask(rank, t)]

    def answered(self, rank: int, t: int, *, unsure: bool, in_time: bool) -> list[Order]:
        """Its answer is there; `in_time`: before the horizon, after which nothing is sent."""
        requests = self._requests[rank]
        requests.flying.discard(t)
        orders: list[Order] = []
        if self._policy.when_unsure and rank + 1 < len(self._requests):
            if unsure and in_time:
                orders += self._ask(rank + 1, t)
            else:
                self._skip(rank + 1, t, "sure" if in_time else "after_horizon")
        if requests.waiting >= 0 and not requests.flying:
            next_, requests.waiting = requests.waiting, -1
            if in_time:
                orders.append(self._send(rank, next_))
            else:
                self._skip(rank, next_, "after_horizon")
        return orders

    def skipped(self) -> list[tuple[int, int, str]]:
        """Every (component, step, why) that was never sent, once the episode is over."""
        return [
            (rank, t, self._reasons.get((rank, t), "not_asked"))
            for rank, requests in enumerate(self._requests)
            for t in range(len(self._wanted or ()))
            if t not in requests.asked
        ]

    def gave_up(self, rank: int, t: int) -> bool:
        """Whether `latest` no longer waits for its answer."""
        return self._policy.dispatch.mode == "latest" and t not in self._requests[rank].flying

    def _ask(self, rank: int, t: int) -> list[Order]:
        requests, dispatch = self._requests[rank], self._policy.dispatch
        if dispatch.mode == "one-at-a-time" and requests.flying:
            older, requests.waiting = sorted((requests.waiting, t))
            if older >= 0:
                self._skip(rank, older, "superseded")
            return []
        orders = []
        if dispatch.mode == "latest" and len(requests.flying) >= (dispatch.limit or 0):
            oldest = min(requests.flying)
            if oldest > t:
                self._skip(rank, t, "superseded")
                return []
            requests.flying.remove(oldest)
            orders.append(Order(rank, oldest, cancel=True))
        return [*orders, self._send(rank, t)]

    def _send(self, rank: int, t: int) -> Order:
        if self._policy.dispatch.mode in ("one-at-a-time", "latest"):
            self._requests[rank].flying.add(t)
        if self._wanted is not None:
            self._requests[rank].asked.add(t)
        return Order(rank, t)

    def _skip(self, rank: int, t: int, why: str) -> None:
        if self._wanted is not None:
            self._reasons[rank, t] = why
