"""A policy at work in one episode: what is sent and given up, what may take effect, when it lapses.

docs/policies.md defines the modes; replay computes the same for all intervals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from streamdecisionbench.components.contract import Answer, Fatal
from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import Arbiter, CascadeRule, Newest, PolicyRule
from streamdecisionbench.rules.policy_file import COMPOSES, Policy
from streamdecisionbench.rules.toml_table import instead
from streamdecisionbench.suite.scenario import FAMILIES, DecisionSpec, Scenario, Suite


def changed_states(scenario: Scenario, fields: Sequence[str]) -> list[bool]:
    """The first state, and every one that differs from the state before in one of the fields.

    Without fields, in anything.
    """
    states: list[Any] = [step.state for step in scenario.steps]
    seen = [[_look_up(s, field) for field in fields] for s in states] if fields else states
    return [True, *(a != b for a, b in pairwise(seen))]


def require_fallbacks(policy: Policy, suite: Suite) -> None:
    """Refuses a fallback for a family or scenario that is none: it would never apply, unnoticed.

    A family of ours that this suite leaves out is no slip.
    """
    named = policy.expire.fallback or {}
    known = [*suite.families(), *suite.scenarios]
    for name, decision in named.items():
        if isinstance(decision, Mapping) and name not in (*known, *FAMILIES):
            raise InputError(
                f"expire.fallback names {name!r:.60}, which is no family or scenario of {suite.name}",
                where=policy.name,
                fix=instead(name, known),
            )


def has_field(scenario: Scenario, field: str) -> bool:
    """Whether any state has it."""
    return any(_look_up(step.state, field) is not None for step in scenario.steps)


def _look_up(state: Any, field: str) -> Any:
    """A field by its name, or by a path of names joined with dots; None where it is not there."""
    if isinstance(state, Mapping) and field in state:
        return state[field]
    head, dot, rest = field.partition(".")
    if dot and isinstance(state, Mapping) and head in state:
        return _look_up(state[head], rest)
    return None


def composed_confidence(
    spec: DecisionSpec,
    pred: Mapping[str, str],
    labels: Mapping[str, str],
    confidence: Mapping[str, float] | None,
    probabilities: Mapping[str, Mapping[str, float]] | None,
) -> dict[str, float] | None:
    """How sure a composed decision is, by way of composing; None where one of the answers does not say.

    Composed over the answers the decision consumes (κ's questions under the answered route): their
    minimum, or their product in composed order. An answer's confidence is the one the component gave
    for it, else the probability it gave to its choice. Nothing is made up where there is neither.

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

    It knows no clock: whoever runs an episode tells it what happens, in order, and carries out what it
    says. `wanted` are the states that the policy's mode sends at all.

    >>> from streamdecisionbench.rules.policy_file import Dispatch
    >>> dispatcher = Dispatcher(Policy(dispatch=Dispatch("one-at-a-time")), [True] * 3, 1)
    >>> dispatcher.published(0), dispatcher.published(1), dispatcher.published(2)
    ([Order(rank=0, t=0, cancel=False)], [], [])
    >>> dispatcher.answered(0, 0, unsure=False, in_time=True)
    [Order(rank=0, t=2, cancel=False)]
    >>> dispatcher.skipped()
    [(0, 1, 'superseded')]
    """

    def __init__(self, policy: Policy, wanted: Sequence[bool], components: int) -> None:
        self._policy = policy
        self._wanted = wanted
        self._requests = [_Requests() for _ in range(components)]
        self._reasons: dict[tuple[int, int], str] = {}

    def published(self, t: int) -> list[Order]:
        """State `t` is out."""
        first = self._requests[:1] if self._policy.when_unsure else self._requests
        if not self._wanted[t]:
            for rank in range(len(first)):
                self._reasons[rank, t] = "unchanged"
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
                self._reasons[rank + 1, t] = "sure" if in_time else "after_horizon"
        if requests.waiting >= 0 and not requests.flying:
            next_, requests.waiting = requests.waiting, -1
            if in_time:
                orders.append(self._send(rank, next_))
            else:
                self._reasons[rank, next_] = "after_horizon"
        return orders

    def skipped(self) -> list[tuple[int, int, str]]:
        """Every (component, step, why) that was never sent, once the episode is over."""
        return [
            (rank, t, self._reasons.get((rank, t), "not_asked"))
            for rank, requests in enumerate(self._requests)
            for t in range(len(self._wanted))
            if t not in requests.asked
        ]

    def _ask(self, rank: int, t: int) -> list[Order]:
        requests, dispatch = self._requests[rank], self._policy.dispatch
        if dispatch.mode == "one-at-a-time" and requests.flying:
            older, requests.waiting = sorted((requests.waiting, t))
            if older >= 0:
                self._reasons[rank, older] = "superseded"
            return []
        orders = []
        if dispatch.mode == "latest" and len(requests.flying) >= (dispatch.limit or 0):
            oldest = min(requests.flying)
            if oldest > t:
                self._reasons[rank, t] = "superseded"
                return []
            requests.flying.remove(oldest)
            orders.append(Order(rank, oldest, cancel=True))
        return [*orders, self._send(rank, t)]

    def _send(self, rank: int, t: int) -> Order:
        self._requests[rank].flying.add(t)
        self._requests[rank].asked.add(t)
        return Order(rank, t)


class LivePolicy:
    """One episode under a policy. `names` are its components in the cascade's order."""

    def __init__(
        self,
        policy: Policy,
        scenario: Scenario,
        names: Sequence[str | None],
        *,
        live: bool = False,
    ) -> None:
        """`live`: states come one by one, and `saw` tells of each before it is published."""
        self.policy = policy
        self._seen: Any = None
        self._spec = scenario.decision_spec
        self.ranks = {name: k for k, name in enumerate(names)}
        self._wanted = [True] * scenario.n
        if policy.dispatch.mode == "changed":
            self._wanted = [] if live else changed_states(scenario, policy.dispatch.fields)
        self.dispatcher = Dispatcher(policy, self._wanted, len(names))
        self.arbiter = self._arbiter(names)
        self._needs = dict(zip(names, policy.confident(), strict=True))
        self.after_s = policy.expire.after_s
        self.fallback: Mapping[str, str] | None = None
        if math.isfinite(self.after_s):
            self.fallback = policy.expire.fallback_for(scenario.task_family, scenario.episode_id)

    def saw(self, state: Any) -> None:
        """The next state of a live session."""
        dispatch = self.policy.dispatch
        if dispatch.mode == "changed":
            fields = dispatch.fields
            seen = [_look_up(state, field) for field in fields] if fields else state
            self._wanted.append(not self._wanted or seen != self._seen)
            self._seen = seen

    def confidence(self, name: str | None, answer: Answer, pred: Mapping[str, str]) -> float | None:
        """How sure the composed decision is; `Fatal` where the policy has to know and cannot."""
        found = composed_confidence(
            self._spec, pred, answer.labels, answer.confidence, answer.probabilities
        )
        if found is not None:
            return found[self.policy.gate.compose]
        if self._needs.get(name):
            raise Fatal(
                "no_confidence",
                f"the policy looks at the confidence of {name or 'the component'}, and its answers"
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

    def _arbiter(self, names: Sequence[str | None]) -> Arbiter:
        if len(names) == 1 and self.policy.plain:
            return Newest()
        return PolicyRule(
            CascadeRule(names, self.policy.rule),
            gates={
                name: self.policy.gate.confidence if on else 0.0
                for name, on in zip(names, self.policy.gated(), strict=True)
            },
            agree=self.policy.debounce.agree,
        )
