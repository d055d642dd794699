"""What policies that read no rules would score on a suite, ignoring latency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamdecisionbench.analysis.result_table import Cell, Table, count, percent, text
from streamdecisionbench.scoring.score import family_weights
from streamdecisionbench.suite.scenario import Scenario, Suite
from streamdecisionbench.suite.trivial_policies import first_option, lexical_overlap

__all__ = ["Baselines", "ScenarioBaselines", "baselines", "baselines_table"]


@dataclass(frozen=True, slots=True)
class ScenarioBaselines:
    """States decided right. None where the suite holds no real states or options to read."""

    states: int
    first_option: int | None
    lexical_overlap: int | None
    best_constant: int
    """How often the most frequent composed reference decision is the reference."""


@dataclass(frozen=True, slots=True)
class Baselines:
    """By scenario, and as the suite averages: mean over families of the mean over scenarios."""

    by_scenario: Mapping[str, ScenarioBaselines]
    first_option: float | None
    lexical_overlap: float | None
    best_constant: float


def baselines(suite: Suite) -> Baselines:
    """Runs the trivial policies over every state of the suite."""
    found = {s.episode_id: _scenario(s) for s in suite}
    weights = family_weights([s.task_family for s in suite])

    def mean(name: str) -> float | None:
        counts = [getattr(row, name) for row in found.values()]
        if any(c is None for c in counts):
            return None
        states = [row.states for row in found.values()]
        return float(weights @ (np.array(counts, dtype=np.float64) / states))

    return Baselines(
        found, mean("first_option"), mean("lexical_overlap"), mean("best_constant") or 0.0
    )


def baselines_table(result: Baselines, name: str) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (key, row.states, _share(row.first_option, row), _share(row.lexical_overlap, row),
         _share(row.best_constant, row))
        for key, row in result.by_scenario.items()
    ]  # fmt: skip
    states = sum(row.states for row in result.by_scenario.values())
    rows.append(
        ("overall", states, result.first_option, result.lexical_overlap, result.best_constant)
    )
    notes: tuple[str, ...] = ()
    if result.first_option is None:
        notes = ("– : this suite was imported from tables, which carry no states and no options.",)
    return Table(
        f"Trivial baselines on {name}, untimed (%)",
        (text("", "scenario"), count("states"), percent("first option"), percent("lexical overlap"),
         percent("best constant")),
        tuple(rows),
        notes,
    )  # fmt: skip


def _scenario(scenario: Scenario) -> ScenarioBaselines:
    reference = scenario.reference()
    most = Counter(tuple(decision.items()) for decision in reference).most_common(1)[0][1]
    readable = any(len(step.state) > 1 for step in scenario.steps)
    return ScenarioBaselines(
        scenario.n,
        _right(scenario, first_option) if readable else None,
        _right(scenario, lexical_overlap) if readable else None,
        most,
    )


def _right(scenario: Scenario, policy: Callable[[Mapping[str, Any]], dict[str, str]]) -> int:
    spec = scenario.decision_spec
    return sum(
        spec.compose(scenario.decode(policy(scenario.request(t)))) == decision
        for t, decision in enumerate(scenario.reference())
    )


def _share(right: int | None, row: ScenarioBaselines) -> float | None:
    return None if right is None else right / row.states
