"""How far one gets without reading: the untimed accuracy of policies that ignore the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.suite.trivial_policies import first_option, lexical_overlap

__all__ = ["POLICIES", "best_constant", "states_right"]

Policy = Callable[[Mapping[str, Any]], dict[str, str]]

POLICIES: dict[str, Policy] = {"first_option": first_option, "lexical_overlap": lexical_overlap}


def states_right(scenario: Scenario, policy: Policy) -> int:
    """States whose composed decision a policy gets right."""
    spec = scenario.decision_spec
    right = 0
    for step in scenario.steps:
        answers = scenario.decode(policy(scenario.request(step.t)))
        right += spec.compose(answers) == spec.compose(step.gold)
    return right


def best_constant(scenario: Scenario) -> int:
    """States at which the most frequent composed reference decision holds: no constant does better."""
    counts = Counter(tuple(decision.items()) for decision in scenario.reference())
    return counts.most_common(1)[0][1]
