"""Nothing beside the evidence gives an answer away: cursor, saves, lists, names, texts, labels."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from streamdecisionbench.audit.probe import shortcuts
from streamdecisionbench.families.debugging import DRAFTS, RULES
from streamdecisionbench.families.debugging.questions import questions
from streamdecisionbench.suite.scenario import Scenario, State
from tests.families.debugging.told import (
    SCENARIOS,
    last_run,
    owner_of,
    project_file,
    spells,
    with_route,
    words,
)

pytestmark = pytest.mark.slow

each_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


@each_scenario
def test_the_cursor_is_in_the_right_file_no_more_often_than_by_chance(scenario: Scenario) -> None:
    """Five files: it may be right once in a while, as a cursor is."""
    inspected = with_route(scenario, "inspect")
    right = [s for s in inspected if s.state["editor"]["cursor"].startswith(s.gold["inspect_file"])]
    assert 0 < len(right) <= len(inspected) / 4


def test_the_file_saved_last_is_seldom_the_one_to_inspect() -> None:
    cards = [step for s in SCENARIOS.values() for step in spells(s, "inspect")]
    right = [
        step
        for step in cards
        if step.state["saves"] and step.state["saves"][-1]["path"] == step.gold["inspect_file"]
    ]
    assert 0 < len(right) <= len(cards) / 3


def test_the_failure_that_counts_stands_first_about_as_often_as_not() -> None:
    first = []
    for scenario in SCENARIOS.values():
        for step in [*spells(scenario, "inspect"), *spells(scenario, "delegate")]:
            run = last_run(step.state)
            if len(run["failed"]) > 1 and not run["compiler"]:
                files = [project_file(step.state, failure) for failure in run["failed"]]
                if len(set(files)) > 1:
                    first.append(_answers(step.gold, step.state, files[0]))
    assert 1 / 3 <= sum(first) / len(first) <= 2 / 3


def _answers(gold: dict[str, str], state: State, path: str) -> bool:
    return path == gold["inspect_file"] or owner_of(state, path) == gold["owner"]


def test_option_texts_say_what_a_file_does_and_nothing_about_the_evidence() -> None:
    evidence = words("caller called traceback trace frame run runs fail fails failing failure test")
    evidence |= words("error team owner owned every always never rest other saved edited pinned")
    for draft in DRAFTS:
        for path, text in draft.questions["inspect_file"].options.items():
            if path != "none":
                assert text.startswith("Where ")
                assert not words(text) & evidence, text


@each_scenario
def test_team_texts_repeat_no_pattern(scenario: Scenario) -> None:
    patterns = words(json.dumps(scenario.steps[0].state["session"]["owners"]))
    for label, text in scenario.questions["owner"].criteria.items():
        team, _, about = text.partition(": ")
        assert not (words(about) - words(team)) & (patterns - words("team")), (label, about)


def test_directory_names_are_no_guide_to_the_owner() -> None:
    """A path that names a team misleads as often as it helps, and most name none."""
    right = wrong = 0
    cards = [(s, step) for s in SCENARIOS.values() for step in spells(s, "delegate")]
    for scenario, step in cards:
        session = step.state["session"]
        teams = [v for v in scenario.option_semantics["owner"].values() if v != "none"]
        named = {
            team
            for failure in last_run(step.state)["failed"]
            for team in (*teams, session["team"])
            if words(team) & words(project_file(step.state, failure).removeprefix("clearing/"))
        }
        right += step.gold["owner"] in named
        wrong += bool(named - {step.gold["owner"]})
    assert len(cards) == 6
    assert right <= wrong <= len(cards) / 3
    for scenario in SCENARIOS.values():
        for step in spells(scenario, "inspect"):
            path = step.gold["inspect_file"].removeprefix("clearing/")
            assert not words(step.state["session"]["team"]) & words(path)


@each_scenario
def test_no_question_has_nearly_always_the_same_answer(scenario: Scenario) -> None:
    most = {
        name: Counter(step.gold[name] for step in scenario.steps).most_common(1)[0][1]
        for name in scenario.questions
    }
    assert most["control_action"] <= 45
    assert most["inspect_file"] <= 51
    few_reruns = {"debugging_a": 53, "debugging_b": 58}[scenario.episode_id]
    assert most.pop("rerun_scope") == few_reruns  # docs/explanation/dataset-card.md says why
    assert max(most.values()) <= 54


@each_scenario
def test_runs_do_not_all_last_equally_long(scenario: Scenario) -> None:
    runs = scenario.steps[-1].state["runs"]
    lasted = Counter(run["ended"] - run["started"] for run in runs)
    assert len(lasted) >= 3
    assert lasted.most_common(1)[0][1] < len(runs) / 2


@each_scenario
def test_the_lengths_of_option_texts_and_the_words_of_questions_say_nothing(
    scenario: Scenario,
) -> None:
    guessed = shortcuts(scenario)
    for name in ("longest_option", "shortest_option", "question_only", "state_frequency"):
        assert guessed[name] == 0, name


@each_scenario
def test_no_label_and_no_option_text_is_in_a_state(scenario: Scenario) -> None:
    told = [
        text.partition(": ")[2] for q in scenario.questions.values() for text in q.criteria.values()
    ]
    for step in scenario.steps:
        shown = json.dumps(step.state)
        assert not re.search(r"\bK\d\d\b", shown)
        assert not [text for text in told if text in shown]


@each_scenario
def test_the_place_of_an_option_says_nothing(scenario: Scenario) -> None:
    """Files and teams: every place in the list and every label is the answer of some state."""
    for name in ("inspect_file", "owner"):
        labels = {
            label for label, value in scenario.option_semantics[name].items() if value != "none"
        }
        answered = {scenario.encode(step.gold)[name] for step in scenario.steps}
        assert labels <= answered


def test_rules_quote_nothing_that_happens() -> None:
    """No name of a session, and no list of the ways in which people fail to commit."""
    law = " ".join(RULES.values()).lower()
    for scenario in SCENARIOS.values():
        state = scenario.steps[-1].state
        names = [run["id"] for run in state["runs"]] + [m["speaker"] for m in state["messages"]]
        names += [m["team"] for m in state["messages"]] + [s["path"] for s in state["saves"]]
        assert not [name for name in names if re.search(rf"\b{re.escape(name.lower())}\b", law)]
    assert not words(RULES["commitment"]) & words("maybe doubt condition except hearsay partial")
    assert "for example" not in law


def test_instructions_name_the_rules_they_lean_on() -> None:
    for name, question in questions({}, {}).items():
        named = words(question.instructions.partition("Apply ")[2].replace("_", ""))
        ids = {rule.replace("_", "") for rule in RULES}
        assert "runs" in named, name
        assert named - words("with the cases it numbers") <= ids, name
