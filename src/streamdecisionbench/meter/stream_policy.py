"""A policy at work on one stream of a service: who is asked, what may take effect, when it yields.

Only a meter that has a policy pays for importing it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from streamdecisionbench.kernel.rule import REACH
from streamdecisionbench.meter.counts import GRAINS
from streamdecisionbench.meter.lane import Lane, LaneStep
from streamdecisionbench.policies.policy_events import (
    Dispatcher,
    Order,
    arbiter_of,
    looked_at,
    unsure,
)
from streamdecisionbench.policies.policy_file import Policy
from streamdecisionbench.text import decision_text

_MOST_ORDERS = 100
"""Requests that the policy wants and nobody takes up; older ones are forgotten."""


class StreamPolicy:
    """What a policy remembers of one stream; the meter's lock is held whenever it is asked."""

    __slots__ = (
        "_after", "_dispatcher", "_looked_at", "_orders", "_policy", "_taken", "fallback", "fallback_text", "names",
        "needs", "rule", "yields",
    )  # fmt: skip

    def __init__(self, policy: Policy, labels: Mapping[str, str], name: str) -> None:
        self._policy = policy
        self.names = (None,) if policy.cascade is None else policy.cascade.components
        self.needs = policy.confident()
        """By member, whether its answers have to say how sure they are."""
        self.rule = arbiter_of(policy, self.names)
        self._after = policy.expire.after_s
        self.yields: int | None = None
        """When what is in force lapses, in grains; None: never."""
        given = policy.expire.fallback_for(labels.get("family", ""), name)
        self.fallback = None if given is None or math.isinf(self._after) else dict(given)
        self.fallback_text = None if self.fallback is None else decision_text(self.fallback)
        self._dispatcher = Dispatcher(policy, None, len(self.names))
        self._orders: dict[tuple[int, int], None] = {}
        self._looked_at: str | None = None
        self._taken = 0

    def decides(self, lane: Lane) -> None:
        lane.decided_by(self.rule, len(self.names), REACH[self._policy.rule])

    def member(self, component: str | None) -> int:
        """Which of its components this is; one that is alone needs no name."""
        if component is None and len(self.names) == 1:
            return 0
        return self.names.index(component)

    def published(self, step: int, state: Any) -> None:
        wanted = True
        if self._policy.dispatch.mode == "changed":
            seen = decision_text(looked_at(state, self._policy.dispatch.fields))
            wanted, self._looked_at = step == 0 or seen != self._looked_at, seen
        self._carry_out(self._dispatcher.published(step, wanted=wanted))

    def answered(self, member: int, step: int, confidence: float | None, *, failed: bool) -> None:
        """Its answer is there, or will never be: who failed is not sure."""
        doubts = failed or unsure(self._policy, confidence)
        self._carry_out(self._dispatcher.answered(member, step, unsure=doubts, in_time=True))

    def gave_up(self, member: int, step: int) -> bool:
        return self._dispatcher.gave_up(member, step)

    def takes(self, component: str | None, step: int) -> bool:
        """Whether this request is wanted; from now on it is under way."""
        return self._orders.pop((self.member(component), step), self) is None

    def take_all(self) -> list[tuple[str | None, int]]:
        found = [(self.names[member], step) for member, step in self._orders]
        self._orders.clear()
        return found

    def takes_effect(self, step: LaneStep, decision: str, at: float, now: int) -> int | None:
        """An answer is in force from now on. Until when, unless another one comes."""
        since = max(at - step.at, 0.0)
        step.effects.append({"n": self._taken, "after_s": since, "decision": decision})
        self._taken += 1
        if math.isinf(self._after):
            return None
        step.effects[-1] |= {"until_s": max(self._after, since), "fallback": self.fallback_text}
        self.yields = max(step.published + int(self._after * GRAINS), now)
        return self.yields

    def _carry_out(self, orders: list[Order]) -> None:
        for order in orders:
            key = order.rank, order.t
            if order.cancel:
                self._orders.pop(key, None)
            else:
                self._orders[key] = None
        while len(self._orders) > _MOST_ORDERS:
            del self._orders[next(iter(self._orders))]
