"""A scenario in figures: one row of the benchmark table."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.suite.sizes import estimate_tokens
from streamdecisionbench.suite.untimed import POLICIES, best_constant, states_right

__all__ = ["facts"]


def facts(scenario: Scenario) -> dict[str, Any]:
    """One row of the benchmark table."""
    options = [len(q.criteria) for q in scenario.questions.values()]
    changes = scenario.changes()
    edges = [0, *changes, scenario.n]
    lengths = [b - a for a, b in pairwise(edges)]
    sizes = [estimate_tokens(scenario.request(t)) for t in range(scenario.n)]
    consumed = [len(decision) for decision in scenario.reference()]
    near = sum(any(abs(t - c) <= 1 for c in changes) for t in range(scenario.n))
    return {
        "scenario": scenario.episode_id,
        "family": scenario.task_family,
        "title": scenario.title,
        "steps": scenario.n,
        "questions": len(options),
        "routes": len(scenario.decision_spec.branches),
        "options_min": min(options),
        "options_max": max(options),
        "consumed_min": min(consumed),
        "consumed_max": max(consumed),
        "changes": len(changes),
        "near_states": near,
        "segment_min": min(lengths),
        "segment_max": max(lengths),
        "best_constant": best_constant(scenario) / scenario.n,
        **{f"{name}_states": states_right(scenario, policy) for name, policy in POLICIES.items()},
        "tokens_min": min(sizes),
        "tokens_max": max(sizes),
    }
