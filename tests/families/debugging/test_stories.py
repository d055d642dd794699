"""Sessions hold together: what breaks has a cause, who claims a run owns it, speech grows.

First the two authored ones; then generated ones, played right and played wrong.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from streamdecisionbench.families.debugging import DRAFTS
from streamdecisionbench.suite.authoring import Draft, expand
from streamdecisionbench.suite.scenario import Scenario, State
from streamdecisionbench.worlds.generation.draws import Draws
from tests.families.debugging.told import SCENARIOS, last_run, owner_of, project_file, with_route
from tests.families.test_worlds import PLAYERS, composed, play

pytestmark = pytest.mark.slow

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


@cache
def generated() -> tuple[Scenario, ...]:
    """Thirty sessions played right, and ten as every other player leaves them."""
    right = [composed("live_debugging", seed, n).right for seed in (1, 2, 3) for n in range(10)]
    lived = []
    for player in PLAYERS[1:]:
        for number in range(10):
            world = composed("live_debugging", number=number).again()
            play(world, player, Draws("stories", number))
            lived.append(expand(world.draft()))
    return (*right, *lived)


def ends() -> list[State]:
    return [scenario.steps[-1].state for scenario in generated()]


def finished(state: State) -> list[dict[str, Any]]:
    return [run for run in state["runs"] if run["ended"] is not None]


def saved(state: State, after: int, until: int) -> set[str]:
    """Watched files saved in between, the very start of a run included."""
    return {
        s["path"] for s in state["saves"] if after < s["at"] <= until and _scope(state, s["path"])
    }


def _scope(state: State, path: str) -> str:
    found = [e["scope"] for e in state["session"]["scopes"] if fnmatchcase(path, e["pattern"])]
    return found[-1] if found else ""


def test_a_test_fails_in_its_own_file_and_at_its_own_line() -> None:
    for state in ends():
        places: dict[str, str] = {}
        outside = -1 if state["session"]["frame_order"] == "innermost_first" else 0
        for run in finished(state):
            for failure in run["failed"]:
                area = re.split(r"::|/|\.", failure["test"])[0]
                place = failure["frames"][outside]
                assert area in place
                assert places.setdefault(failure["test"], place) == place
        assert len(set(places.values())) == len(places)


def test_every_test_of_a_scope_is_executed_or_skipped() -> None:
    for state in ends():
        sizes: dict[str, int] = {}
        for run in finished(state):
            size = len(run["passed"]) + len(run["failed"]) + run["skipped"]
            assert sizes.setdefault(run["scope"], size) == size


def test_what_nobody_touched_ends_as_before_and_what_breaks_was_touched() -> None:
    """A file that concerns everything explains everything."""
    broken = again = 0
    for state in ends():
        known: dict[str, tuple[int, dict[str, Any] | None]] = {}
        for run in finished(state):
            told = {**dict.fromkeys(run["passed"]), **{f["test"]: f for f in run["failed"]}}
            for test, failure in told.items():
                since, before = known.get(test, (None, None))
                if since is not None:
                    touched = saved(state, since, run["started"])
                    assert touched or failure == before, (run["id"], test)
                    again += not touched and failure is not None
                    if failure and not before:
                        paths = {frame.rpartition(":")[0] for frame in failure["frames"]}
                        everything = any(_scope(state, path) == "full" for path in touched)
                        assert everything or paths & touched, (run["id"], test)
                        broken += 1
                known[test] = run["started"], failure
    assert broken > 50
    assert again > 5


def test_the_first_compiler_error_is_in_a_file_saved_since_the_run_before() -> None:
    found = 0
    for state in ends():
        for before, run in pairwise(finished(state)):
            again = run["compiler"] == before["compiler"]  # started for nothing
            errors = [e["file"] for e in run["compiler"] if e["severity"] == "error" and not again]
            assert not errors or errors[0] in saved(state, before["started"], run["started"])
            found += bool(errors)
    assert found > 10


def test_nobody_says_what_was_said_before() -> None:
    for state in ends():
        said = [m["text"] for m in state["messages"] if m["final"]]
        assert len(set(said)) == len(said)


def test_an_edit_after_a_green_run_is_somebodys_wish_and_the_cursor_is_there() -> None:
    wishes = 0
    for scenario in generated():
        for before, after in pairwise(scenario.steps):
            known = [e["path"] for e in before.state["editor"]["unsaved"]]
            for entry in after.state["editor"]["unsaved"]:
                if entry["path"] in known or not _scope(after.state, entry["path"]):
                    continue
                assert after.state["editor"]["cursor"].startswith(entry["path"] + ":")
                if before.gold["route"] == "ready":
                    stem = entry["path"].rpartition("/")[2].partition(".")[0]
                    green = last_run(before.state)["ended"]
                    talk = [m["text"] for m in before.state["messages"] if m["at"] >= green]
                    assert any(stem in text for text in talk)
                    wishes += 1
    assert wishes


def test_a_run_prints_nothing_twice_and_gets_on() -> None:
    for state in ends():
        for run in state["runs"]:
            told = [line["text"] for line in run["output"]]
            assert len(set(told)) == len(told)
            shares = [int(found) for found in re.findall(r"\[ (\d+)%\]", " ".join(told))]
            assert shares == sorted(shares)
