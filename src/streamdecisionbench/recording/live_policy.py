"""A policy at work in one episode of a suite: which states it wants, how sure answers are, its fallback.

`rules.policy_events` has what happens event by event; replay computes the same for all intervals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from streamdecisionbench.components.contract import RETURN_CONFIDENCE, Answer, Fatal
from streamdecisionbench.errors import InputError
from streamdecisionbench.policies.policy_events import (
    Dispatcher,
    arbiter_of,
    looked_at,
    unsure,
)
from streamdecisionbench.policies.policy_file import (
    COMPOSES,
    Policy,
)
from streamdecisionbench.policies.toml_reader import instead
from streamdecisionbench.suite.scenario import FAMILIES, DecisionSpec, Scenario, Suite


def changed_states(scenario: Scenario, fields: Sequence[str]) -> list[bool]:
    """The first state, and every one that differs from the state before in one of the fields.

    Without fields, in anything.
    """
    seen = [looked_at(step.state, fields) for step in scenario.steps]
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
    return any(looked_at(step.state, [field]) != [None] for step in scenario.steps)


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
        self._seen: object = None
        self._spec = scenario.decision_spec
        self.ranks = {name: k for k, name in enumerate(names)}
        self._wanted = [True] * scenario.n
        if policy.dispatch.mode == "changed":
            self._wanted = [] if live else changed_states(scenario, policy.dispatch.fields)
        self.dispatcher = Dispatcher(policy, self._wanted, len(names))
        self.arbiter = arbiter_of(policy, names)
        self._needs = dict(zip(names, policy.confident(), strict=True))
        self.after_s = policy.expire.after_s
        self.fallback: Mapping[str, str] | None = None
        if math.isfinite(self.after_s):
            self.fallback = policy.expire.fallback_for(scenario.task_family, scenario.episode_id)

    def saw(self, state: object) -> None:
        """The next state of a live session."""
        dispatch = self.policy.dispatch
        if dispatch.mode == "changed":
            seen = looked_at(state, dispatch.fields)
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
                f' ask = "when-unsure" for it; {RETURN_CONFIDENCE}',
            )
        return None

    def unsure(self, confidence: float | None) -> bool:
        """Whether the next component is to be asked."""
        return unsure(self.policy, confidence)
