"""Which states differ from the one before, in the parts that a policy looks at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from streamdecisionbench.suite.scenario import Scenario

__all__ = ["changed_states", "has_field"]


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
