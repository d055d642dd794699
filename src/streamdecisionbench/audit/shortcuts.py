"""Guessing without reading the rules: each shortcut's untimed accuracy per scenario.

None of them may look at the references except where its definition is a bound over all policies of
a kind (best constant, best position): those say how far *any* such policy could get.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from streamdecisionbench.suite.digest import canonical
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.suite.trivial_policies import (
    content_words,
    first_option,
    lexical_overlap,
)
from streamdecisionbench.suite.untimed import best_constant, states_right

__all__ = ["SHORTCUTS", "shortcuts"]


def shortcuts(scenario: Scenario) -> dict[str, float]:
    """Share of states whose composed decision each shortcut gets right."""
    return {name: count(scenario) / scenario.n for name, (count, _) in SHORTCUTS.items()}


def _persistence(scenario: Scenario) -> int:
    """The reference of the state before: what a perfect answer is worth one step too late."""
    decisions = scenario.reference()
    return sum(a == b for a, b in pairwise(decisions))


def _position(scenario: Scenario) -> int:
    """The best of the policies "always the k-th listed option" (the last where there are fewer)."""
    most = max(len(q.criteria) for q in scenario.questions.values())

    def pick(k: int) -> Callable[[Mapping[str, Any]], dict[str, str]]:
        def policy(request: Mapping[str, Any]) -> dict[str, str]:
            return {
                name: list(q["criteria"])[min(k, len(q["criteria"]) - 1)]
                for name, q in request["questions"].items()
            }

        return policy

    return max(states_right(scenario, pick(k)) for k in range(most))


def _by_length(longest: bool) -> Callable[[Scenario], int]:
    def policy(request: Mapping[str, Any]) -> dict[str, str]:
        choose = max if longest else min
        return {
            name: choose(q["criteria"], key=lambda label, c=q["criteria"]: len(c[label]))  # type: ignore[misc]
            for name, q in request["questions"].items()
        }

    return lambda scenario: states_right(scenario, policy)


def _question_only(scenario: Scenario) -> int:
    """State removed: the option that shares most words with its question's instructions."""

    def policy(request: Mapping[str, Any]) -> dict[str, str]:
        labels = {}
        for name, q in request["questions"].items():
            asked = content_words(q["instructions"])
            criteria: dict[str, str] = q["criteria"]
            labels[name] = max(
                criteria, key=lambda label: len(content_words(criteria[label]) & asked)
            )
        return labels

    return states_right(scenario, policy)


def _state_frequency(scenario: Scenario) -> int:
    """The option whose value is named most often in the state, rules included."""

    def policy(request: Mapping[str, Any]) -> dict[str, str]:
        text = canonical(request["state"]).decode().lower()
        labels = {}
        for name, q in request["questions"].items():
            criteria: dict[str, str] = q["criteria"]
            labels[name] = max(
                criteria,
                key=lambda label: text.count(criteria[label].partition(":")[0].lower()),
            )
        return labels

    return states_right(scenario, policy)


def _majority_answers(scenario: Scenario) -> int:
    """Each question's most frequent reference answer, composed: a bound on per-question constants."""
    spec = scenario.decision_spec
    common = {
        q: Counter(step.gold[q] for step in scenario.steps).most_common(1)[0][0]
        for q in scenario.questions
    }
    decision = spec.compose(common)
    return sum(d == decision for d in scenario.reference())


SHORTCUTS: dict[str, tuple[Callable[[Scenario], int], str]] = {
    "first_option": (lambda s: states_right(s, first_option), "the first listed option"),
    "lexical_overlap": (
        lambda s: states_right(s, lexical_overlap),
        "most words shared with the state",
    ),
    "best_constant": (best_constant, "the best constant decision (a bound)"),
    "majority_answers": (_majority_answers, "each question's commonest answer (a bound)"),
    "persistence": (_persistence, "the right answer to the state before (a bound)"),
    "position": (_position, "the best fixed position in the list (a bound)"),
    "longest_option": (_by_length(longest=True), "the longest option text"),
    "shortest_option": (_by_length(longest=False), "the shortest option text"),
    "question_only": (_question_only, "state removed: words shared with the instructions"),
    "state_frequency": (_state_frequency, "the value the state names most often"),
}
"""Name → (states right, what it does)."""
