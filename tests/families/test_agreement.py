"""Two solvers, written apart from each other from the same rules, agree on every state."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

import pytest

from streamdecisionbench.families.registry import FAMILY_MODULES, reference_of
from streamdecisionbench.suite.scenario import Scenario, State, Suite
from streamdecisionbench.worlds.generate import (
    generate,
    generated_families,
)
from streamdecisionbench.worlds.generation.compose import GenerationError
from streamdecisionbench.worlds.generation.parameters import Parameters
from tests.families.second_solvers import second_solver

pytestmark = pytest.mark.slow


def differences(scenario: Scenario, solver: Callable[[State], dict[str, str]]) -> list[str]:
    found = []
    for step in scenario.steps:
        answers = solver(json.loads(json.dumps(step.state)))
        if answers != step.gold:
            found.append(f"{scenario.episode_id} tick {step.t}: {answers} but {step.gold}")
    return found


def wording_of(scenario: Scenario) -> str:
    state = scenario.steps[0].state
    set_up = {**state.get("policy", {}), **state.get("prepared", {})}
    return "free" if "intents" in set_up else "listed"


@pytest.mark.parametrize("family", FAMILY_MODULES)
def test_the_second_solver_agrees_on_sdb_v1(family: str, sdb_v1: Suite) -> None:
    scenarios = [s for s in sdb_v1 if s.task_family == family]
    for scenario in scenarios:
        assert differences(scenario, second_solver(family, wording_of(scenario))) == []


@pytest.mark.parametrize("family", generated_families())
def test_the_second_solver_agrees_on_generated_scenarios(
    family: str, generated: Callable[[str], Suite]
) -> None:
    solver = second_solver(family)
    assert [line for s in generated(family) for line in differences(s, solver)] == []


@pytest.mark.parametrize("family", generated_families("free"))
def test_the_second_solver_agrees_on_people_s_own_words(family: str) -> None:
    suite = generate(Parameters(seed=1, families=(family,), per_family=4, wording="free"))
    solver = second_solver(family, "free")
    assert [line for s in suite for line in differences(s, solver)] == []


@pytest.mark.parametrize("family", generated_families())
def test_generation_refuses_where_the_solvers_differ_and_says_where(family: str) -> None:
    reference = reference_of(family)

    def other(state: State) -> dict[str, str]:
        answers = reference(copy.deepcopy(state))
        if state["clock"]["now"] == 17:
            question = next(iter(answers))
            answers[question] = "something else"
        return answers

    wanted = Parameters(seed=3, families=(family,), per_family=1)
    with pytest.raises(GenerationError, match="tick 17: the two solvers differ on"):
        generate(wanted, {family: other})
