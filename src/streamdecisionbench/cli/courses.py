"""What commands about wrong time read: one course per recording, and one of their pair if asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from streamdecisionbench.cli.loading import Subject, require_one_suite
from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.costs.course import Course, course_of, course_of_pair

if TYPE_CHECKING:
    from streamdecisionbench.cost_file.rules import Costs

__all__ = ["costs_for", "courses"]


def courses(
    subjects: Sequence[Subject], interval: float, bounds: Bounds, pair: str | None = None
) -> dict[str, Course]:
    """By name; with a rule, two recordings also as fast and slow component of a pair."""
    found = {s.name: course_of(s.parts, interval, bounds) for s in subjects}
    if pair is not None:
        from streamdecisionbench.in_force import pair_rule

        rule = pair_rule(pair)
        if len(subjects) != 2:
            raise InputError(
                f"a pair is two components, not {len(subjects)}",
                fix="name the fast recording, then the slow one",
            )
        require_one_suite(subjects)
        fast, slow = subjects
        found[f"pair {rule}"] = course_of_pair(fast.parts, slow.parts, rule, interval, bounds)
    return found


def costs_for(costs: str | None, subjects: Sequence[Subject]) -> Costs:
    """The cost file named, held to the suites it is used on; the shipped one otherwise."""
    from streamdecisionbench.cost_file.read import DEFAULT, default_costs
    from streamdecisionbench.scoring.costs.suite_costs import read_costs

    if costs is None or costs == DEFAULT:
        return default_costs()
    suites = {s.suite.dataset_hash: s.suite for s in subjects}
    read = [read_costs(Path(costs), suite) for suite in suites.values()]
    return read[0]
