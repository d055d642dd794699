"""What the tests of the two authored sessions have in common: states, cards, owners, words."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Any

from streamdecisionbench.families.debugging import DRAFTS
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.scenario import Scenario, State, Step

SCENARIOS: dict[str, Scenario] = {draft.scenario_id: expand(draft) for draft in DRAFTS}


def last_run(state: State) -> dict[str, Any]:
    found: dict[str, Any] = max(
        (run for run in state["runs"] if run["ended"] is not None), key=lambda run: run["ended"]
    )
    return found


def with_route(scenario: Scenario, route: str) -> list[Step]:
    return [step for step in scenario.steps if step.gold["route"] == route]


def spells(scenario: Scenario, route: str) -> list[Step]:
    """The first state of every spell in which this card shows with these answers."""
    told = groupby(scenario.steps, key=lambda step: tuple(step.gold.items()))
    first = [next(group) for _, group in told]
    return [step for step in first if step.gold["route"] == route]


def owner_of(state: State, path: str) -> str:
    """By fnmatch, whose * crosses a slash as well."""
    found: list[str] = [
        entry["team"] for entry in state["session"]["owners"] if fnmatchcase(path, entry["pattern"])
    ]
    return found[-1]


def project_file(state: State, failure: dict[str, Any]) -> str:
    paths: list[str] = [frame.rpartition(":")[0] for frame in failure["frames"]]
    if state["session"]["frame_order"] == "innermost_last":
        paths.reverse()
    roots = state["session"]["project_paths"]
    return next(path for path in paths if any(fnmatchcase(path, root) for root in roots))


def words(text: str) -> set[str]:
    return {word for word in re.split(r"[^a-z0-9]+", text.lower()) if len(word) > 1}
