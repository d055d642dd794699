"""A cost file held to a suite: whatever it names must be something a question has."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from streamdecisionbench.cost_file.read import Values, Vocabulary, read_cost_file
from streamdecisionbench.cost_file.rules import Costs
from streamdecisionbench.suite.scenario import FAMILIES, Scenario, Suite

__all__ = ["read_costs"]


def read_costs(path: str | Path, suite: Suite | None = None) -> Costs:
    """A user's cost file; with a suite, nothing in it may name what no question has."""
    return read_cost_file(path, None if suite is None else _vocabulary(suite))


def _vocabulary(suite: Suite) -> Vocabulary:
    scenarios = list(suite)
    families = list(dict.fromkeys(s.task_family for s in scenarios))
    return Vocabulary(
        names=tuple(dict.fromkeys([*families, *FAMILIES])),
        families={
            family: _values(s for s in scenarios if s.task_family == family) for family in families
        },
        every=_values(scenarios),
    )


def _values(scenarios: Iterable[Scenario]) -> Values:
    found: dict[str, dict[str, None]] = {}
    for scenario in scenarios:
        for name, labels in scenario.option_semantics.items():
            found.setdefault(name, {}).update(dict.fromkeys(labels.values()))
    return {name: tuple(values) for name, values in found.items()}
