"""Which states differ from the one before, in the parts that a policy looks at."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from streamdecisionbench.components.contract import Answer, Fatal
from streamdecisionbench.in_force import Arbiter, CascadeRule, Newest, PolicyRule
from streamdecisionbench.rules.policy_file import COMPOSES, Policy
from streamdecisionbench.suite.scenario import DecisionSpec, Scenario


def changed_states(scenario: Scenario, fields: Sequence[str]) -> list[bool]:
    """The first state, and every one that differs from the state before in one of the fields.

    Without fields, in anything.
    """
    seen = [_part(step.state, fields) for step in scenario.steps]
    return [True, *(a != b for a, b in pairwise(seen))]


def has_field(scenario: Scenario, field: str) -> bool:
    """Whether any state has it."""
    return any(_look_up(step.state, field) is not None for step in scenario.steps)


def _part(state: Mapping[str, Any], fields: Sequence[str]) -> Any:
    return [_look_up(state, field) for field in fields] if fields else state


def _look_up(state: Any, field: str) -> Any:
    """A field by its name, or by a path of names joined with dots; None where it is not there."""
    if isinstance(state, Mapping) and field in state:
        return state[field]
    head, dot, rest = field.partition(".")
    if dot and isinstance(state, Mapping) and head in state:
        return _look_up(state[head], rest)
    return None


# How sure a composed decision is.
#
# Composed over the answers the decision consumes (κ's questions under the answered route): their
# minimum, or their product in composed order. An answer's confidence is the one the component gave for
# it, else the probability it gave to its choice. Nothing is made up where there is neither.


def composed_confidence(
    spec: DecisionSpec,
    pred: Mapping[str, str],
    labels: Mapping[str, str],
    confidence: Mapping[str, float] | None,
    probabilities: Mapping[str, Mapping[str, float]] | None,
) -> dict[str, float] | None:
    """By way of composing; None where one of the answers does not say.

    >>> spec = DecisionSpec("route", (), {"hold": ("action",)})
    >>> said = {"route": "hold", "action": "wait"}
    >>> composed_confidence(spec, said, {}, {"route": 0.5, "action": 0.5, "other": 0.1}, None)
    {'min': 0.5, 'product': 0.25}
    >>> composed_confidence(spec, said, {"route": "K1"}, None, {"route": {"K1": 0.9}}) is None
    True
    """
    found = []
    for question in spec.consumed(pred[spec.route_question]):
        value = (confidence or {}).get(question)
        if value is None:
            value = ((probabilities or {}).get(question) or {}).get(labels.get(question, ""))
        if value is None:
            return None
        found.append(float(value))
    return dict(zip(COMPOSES, (min(found), math.prod(found)), strict=True))


# Which requests a policy sends and gives up, as states come out and answers come in.
#
# The desk knows no clock: whoever runs an episode tells it what happens, in order, and carries out what
# it says. docs/policies.md defines the modes; replay computes the same for all intervals.


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

    >>> from streamdecisionbench.rules.policy_file import Dispatch
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


# A policy at work in one episode: what is sent, what may take effect, when a decision lapses.


class LivePolicy:
    """One episode under a policy. `lanes` are the components in the cascade's order."""

    def __init__(
        self,
        policy: Policy,
        scenario: Scenario,
        lanes: Sequence[str | None],
        *,
        rule: str | None = None,
    ) -> None:
        self.policy = policy
        self._spec = scenario.decision_spec
        self.ranks = {lane: k for k, lane in enumerate(lanes)}
        wanted = [True] * scenario.n
        if policy.dispatch.mode == "changed":
            wanted = changed_states(scenario, policy.dispatch.fields)
        self.desk = Desk(policy, wanted, len(lanes))
        self.arbiter = self._arbiter(lanes, rule)
        self._needs = (
            dict(zip(lanes, policy.confident(), strict=True)) if policy.count == len(lanes) else {}
        )
        self.after_s = policy.expire.after_s
        self.fallback: Mapping[str, str] | None = None
        if math.isfinite(self.after_s):
            self.fallback = policy.expire.fallback_for(scenario.task_family, scenario.episode_id)

    def confidence(self, lane: str | None, answer: Answer, pred: Mapping[str, str]) -> float | None:
        """How sure the composed decision is; `Fatal` where the policy has to know and cannot."""
        found = composed_confidence(
            self._spec, pred, answer.labels, answer.confidence, answer.probabilities
        )
        if found is not None:
            return found[self.policy.gate.compose]
        if self._needs.get(lane):
            raise Fatal(
                "no_confidence",
                f"the policy looks at the confidence of {lane or 'the component'}, and its answers"
                " carry none",
                fix="use a component that returns probabilities, or a policy without [gate] and"
                ' ask = "when-unsure" for it',
            )
        return None

    def unsure(self, confidence: float | None) -> bool:
        """Whether the next component is to be asked."""
        cascade = self.policy.cascade
        if cascade is None or not self.policy.when_unsure:
            return False
        return cascade.below > 1 if confidence is None else confidence < cascade.below

    def _arbiter(self, lanes: Sequence[str | None], rule: str | None) -> Arbiter:
        if len(lanes) == 1 and self.policy.plain:
            return Newest()
        gated = self.policy.gated() if self.policy.count == len(lanes) else (True,) * len(lanes)
        return PolicyRule(
            CascadeRule(lanes, rule or self.policy.rule),
            gates={
                lane: self.policy.gate.confidence if on else 0.0
                for lane, on in zip(lanes, gated, strict=True)
            },
            agree=self.policy.debounce.agree,
        )
