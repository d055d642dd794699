"""The two sessions hold together: what breaks has a cause, who claims a run owns it, speech grows."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from streamdecisionbench.families.debugging import DRAFTS
from streamdecisionbench.suite.authoring import Draft
from streamdecisionbench.suite.scenario import Scenario
from tests.families.debugging.told import SCENARIOS, last_run, owner_of, project_file, with_route

each_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
each_draft = pytest.mark.parametrize("draft", DRAFTS, ids=SCENARIOS)


@each_scenario
def test_a_test_that_breaks_has_a_saved_file_in_its_frames(scenario: Scenario) -> None:
    state = scenario.steps[-1].state
    passed: dict[str, int] = {}
    broken = 0
    for run in state["runs"]:
        for failure in run["failed"]:
            since = passed.pop(failure["test"], None)
            if since is not None:
                paths = [frame.rpartition(":")[0] for frame in failure["frames"]]
                saved = [
                    s
                    for s in state["saves"]
                    if since < s["at"] <= run["started"] and s["path"] in paths
                ]
                assert saved, (run["id"], failure["test"])
                broken += 1
        passed |= dict.fromkeys(run["passed"], run["started"])
    assert broken >= 3


@each_scenario
def test_the_compiler_objects_only_to_what_was_saved_since_the_run_before(
    scenario: Scenario,
) -> None:
    state = scenario.steps[-1].state
    for before, run in pairwise(state["runs"]):
        for entry in run["compiler"]:
            ticks = [s["at"] for s in state["saves"] if s["path"] == entry["file"]]
            assert any(before["started"] < at <= run["started"] for at in ticks), entry


@each_scenario
def test_a_team_that_takes_a_run_owns_all_that_failed_in_it(scenario: Scenario) -> None:
    taken = set()
    for step in scenario.steps:
        run = last_run(step.state)
        idle = step.gold["process"] == "idle" and not step.state["editor"]["unsaved"]
        saved = any(s["at"] > step.t - 2 for s in step.state["saves"])
        if step.gold["route"] == "wait" and idle and not saved:
            owners = {owner_of(step.state, project_file(step.state, f)) for f in run["failed"]}
            assert len(owners) == 1
            taken.add(run["id"])
    assert taken


@each_scenario
def test_a_rerun_card_covers_the_tests_that_its_changes_concern(scenario: Scenario) -> None:
    final = scenario.steps[-1].state
    ran: dict[str, set[str]] = {"target": set(), "module": set(), "full": set()}
    for run in final["runs"]:
        for scope in list(ran)[list(ran).index(run["scope"]) :]:
            ran[scope] |= {*run["passed"], *(f["test"] for f in run["failed"])}
    for step in with_route(scenario, "rerun"):
        run = last_run(step.state)
        changed = {s["path"] for s in step.state["saves"] if s["at"] > run["started"]}
        concerned = {f["test"] for f in run["failed"] if project_file(step.state, f) in changed}
        assert concerned <= ran[step.gold["rerun_scope"]]


def test_pytest_calls_tests_that_were_not_asked_for_deselected() -> None:
    runs = SCENARIOS["debugging_b"].steps[-1].state["runs"]
    narrow = [line["text"] for r in runs if r["scope"] == "target" for line in r["output"]]
    assert any(f"{run['skipped']} deselected" in text for text in narrow for run in runs)
    assert not [text for text in narrow if "skipped" in text]


@each_draft
def test_people_and_output_are_right_about_as_often_as_wrong(draft: Draft) -> None:
    claims = [event.note.partition(":")[0] for event in draft.events]
    true, false = claims.count("true"), claims.count("false")
    assert true + false >= 7
    assert abs(true - false) <= 2


@each_draft
def test_speech_grows_over_several_ticks_and_some_of_it_is_harmless(draft: Draft) -> None:
    heard: dict[str, list[int]] = {}
    texts: dict[str, str] = {}
    for event in draft.events:
        if event.kind == "message":
            heard.setdefault(event.data["id"], []).append(event.at)
            texts[event.data["id"]] = event.data["text"]
    grown = [ident for ident, ticks in heard.items() if len(ticks) >= 3]
    assert len(grown) >= 2
    assert all(heard[ident][-1] - heard[ident][0] >= 2 for ident in grown)
    assert [ident for ident in grown if not re.search(r"\br\d+\b", texts[ident])]
