"""The reference as a whole: mutants, rules, documentation and edits of stored states."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from streamdecisionbench.families.debugging import DRAFTS, RULES
from streamdecisionbench.families.debugging import reference as reference_module
from streamdecisionbench.families.debugging.reference import reference
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.scenario import Scenario
from tests.families.cases import Case, holds, survivors
from tests.families.debugging.test_commitments import COMMITMENT_CASES
from tests.families.debugging.test_results import RUN_CASES
from tests.families.debugging.test_timers import TIMER_CASES

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[3] / "docs" / "families" / "debugging.md"
CASES = [*TIMER_CASES, *RUN_CASES, *COMMITMENT_CASES]


@cache
def scenario(name: str) -> Scenario:
    return {draft.scenario_id: expand(draft) for draft in DRAFTS}[name]


def stored() -> list[Case]:
    return [
        Case(f"{draft.scenario_id} tick {step.t}", step.state, step.gold)
        for draft in DRAFTS
        for step in scenario(draft.scenario_id).steps
    ]


def test_stored_answers_are_the_references() -> None:
    assert [case.name for case in stored() if not holds(case, reference)] == []


def test_case_names_are_unique() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


def test_no_mutant_survives() -> None:
    assert survivors(reference_module, "reference", [*CASES, *stored()]) == []


def test_every_rule_is_pinned_by_a_case() -> None:
    pinned = {rule for case in CASES for rule in case.rules}
    assert pinned == set(RULES)


def test_every_rule_is_in_the_documentation_with_the_file_that_pins_it() -> None:
    text = DOCS.read_text(encoding="utf-8").split("## Which tests pin which rule")[1]
    files = {"timers": TIMER_CASES, "results": RUN_CASES, "commitments": COMMITMENT_CASES}
    for rule in RULES:
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{rule}` |")]
        for name, cases in files.items():
            assert (f"`{name}`" in row) == any(rule in case.rules for case in cases), (rule, name)


def test_every_change_is_in_the_documentation() -> None:
    text = DOCS.read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")]
    for draft in DRAFTS:
        for change in draft.changes:
            assert any(row[0] == f"| {change.at}" and change.because in row[-1] for row in rows), (
                change
            )
