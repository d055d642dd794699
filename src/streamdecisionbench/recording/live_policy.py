"""A policy at work in one episode: what is sent, what may take effect, when a decision lapses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from streamdecisionbench.components.contract import Answer, Fatal
from streamdecisionbench.in_force import Arbiter, CascadeRule, Newest, PolicyRule
from streamdecisionbench.policy_file import Policy
from streamdecisionbench.recording.changed_states import changed_states
from streamdecisionbench.recording.confidence import composed_confidence
from streamdecisionbench.recording.desk import Desk
from streamdecisionbench.suite.scenario import Scenario

__all__ = ["LivePolicy"]


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
