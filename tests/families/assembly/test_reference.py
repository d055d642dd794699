"""The assembly reference as a whole: no untested rule, no untested line, stored answers reproduced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamdecisionbench.families.assembly import DRAFTS, RULES
from streamdecisionbench.families.assembly import reference as reference_module
from streamdecisionbench.families.assembly.reference import reference
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.scenario import Scenario
from tests.families.assembly.test_results import RESULT_CASES
from tests.families.assembly.test_rework import REWORK_CASES
from tests.families.assembly.test_routes import ROUTE_CASES
from tests.families.cases import Case, holds, survivors

pytestmark = pytest.mark.slow

HAND_WRITTEN = [*RESULT_CASES, *REWORK_CASES, *ROUTE_CASES]
SCENARIOS = [expand(draft) for draft in DRAFTS]
STORED = [
    Case(f"{scenario.scenario_id} tick {step.t}", step.state, step.gold)
    for scenario in SCENARIOS
    for step in scenario.steps
]
DOCS = Path(__file__).parents[3] / "docs" / "families" / "assembly.md"


def test_case_names_are_unique() -> None:
    names = [case.name for case in HAND_WRITTEN]
    assert len(names) == len(set(names))


def test_every_case_pins_known_rules() -> None:
    assert {rule for case in HAND_WRITTEN for rule in case.rules} == set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_the_docs_page_names_every_rule(rule: str) -> None:
    assert f"`{rule}`" in DOCS.read_text()


def test_no_mutant_of_the_reference_survives_the_hand_written_cases() -> None:
    assert survivors(reference_module, "reference", HAND_WRITTEN) == []


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.scenario_id)
def test_the_reference_reproduces_every_stored_answer(scenario: Scenario) -> None:
    for step in scenario.steps:
        assert reference(step.state) == step.gold


def test_the_reference_reads_nothing_but_what_the_rules_name() -> None:
    """Rules text, clock, speech and tools can go: they are for readers and never decide."""
    for case in STORED:
        bare = {**case.state, "speech": [], "tools": {}, "clock": {}}
        bare["prepared"] = {"station": case.state["prepared"]["station"]}
        assert holds(Case(case.name, bare, case.expected), reference), case.name


def test_the_reference_leaves_its_state_alone() -> None:
    for case in STORED:
        before = json.dumps(case.state)
        reference(case.state)
        assert json.dumps(case.state) == before
