"""What becomes of a debugging session by what its card shows: histories with known consequences."""

from __future__ import annotations

from typing import Any

import pytest

from streamdecisionbench.worlds.generation.draws import Draws
from streamdecisionbench.worlds.generation.world import (
    Held,
    World,
)
from tests.families.test_worlds import (
    Change,
    composed,
    events,
    held_at,
    nothing,
    play,
    right,
    wrong_until,
)

pytestmark = pytest.mark.slow

FAMILY = "live_debugging"


def lived(number: int, change: Change, outcome: str = "wasted_runs") -> World[Any]:
    world = composed(FAMILY, number=number).again()
    play(world, wrong_until(outcome, change), Draws(""))
    return world


@pytest.mark.parametrize("number", range(10))
def test_a_right_card_wastes_no_run_and_loses_no_edit(number: int) -> None:
    world = composed(FAMILY, number=number).again()
    play(world, right, Draws(""))
    found = world.outcomes()
    assert (found["wasted_runs"], found["lost_edits"]) == (0, 0)
    ready = [t for t, step in enumerate(world.right.steps) if step.gold["route"] == "ready"]
    assert found["not_green_s"] == (ready[0] if ready else world.right.n) * 2


@pytest.mark.parametrize("number", range(4))
def test_a_run_is_started_with_a_wrong_scope_exactly_once(number: int) -> None:
    other = {"target": "full", "module": "target", "full": "module"}

    def change(world: World[Any], decision: dict[str, str]) -> dict[str, str] | None:
        scope = decision.get("rerun_scope")
        return None if scope is None else decision | {"rerun_scope": other[scope]}

    world = lived(number, change)
    cards = [d["rerun_scope"] for d in world.simulator.decisions() if d["route"] == "rerun"]
    scopes = [event.data["scope"] for event in events(world, "run_start")]
    assert scopes[0] == other[cards[0]]
    assert scopes[1:] == cards[1 : len(scopes)]
    assert world.outcomes()["wasted_runs"] == 1


def test_a_run_that_was_too_narrow_is_never_green_and_wide_enough() -> None:
    def narrow(world: World[Any], draws: Draws) -> Held:
        decision = world.reference()
        if decision.get("rerun_scope", "target") != "target":
            decision = decision | {"rerun_scope": "target"}
        return held_at(world, decision)

    seen = 0
    for number in range(6):
        world = composed(FAMILY, number=number).again()
        due = ""
        while not world.done:
            card = world.reference()
            due = card.get("rerun_scope", due)
            if card["route"] == "ready":
                assert due == "target"
            seen += due not in ("", "target")
            world.advance((world.t + 1) * 2.0, narrow(world, Draws("")))
    assert seen


@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_edit_of_a_file_that_is_not_at_fault_is_lost_and_taken_back(number: int) -> None:
    def change(world: World[Any], decision: dict[str, str]) -> dict[str, str] | None:
        if decision["route"] != "inspect":
            return None
        files = [f.path for f in world.simulator.project.ours]
        return decision | {"inspect_file": next(f for f in files if f != decision["inspect_file"])}

    world = lived(number, change, "lost_edits")
    assert world.outcomes() | {"not_green_s": 0} == {
        "wasted_runs": 0,
        "lost_edits": 1,
        "not_green_s": 0,
    }
    (taken_back,) = [e for e in events(world, "save") if "taken back" in e.note]
    assert taken_back.data["path"] in [e.data["path"] for e in events(world, "edit")]


def test_a_run_that_is_well_is_stopped_if_the_card_says_so() -> None:
    def change(world: World[Any], decision: dict[str, str]) -> dict[str, str] | None:
        if (decision["route"], decision["process"]) != ("wait", "running"):
            return None
        return decision | {"route": "control", "control_action": "stop"}

    world = lived(0, change)
    assert [e.data["end"] for e in events(world, "run_end")].count("stopped") == 1
    assert world.outcomes()["wasted_runs"] == 1


def test_a_rerun_card_with_nothing_changed_brings_the_same_result_again() -> None:
    def change(world: World[Any], decision: dict[str, str]) -> dict[str, str] | None:
        if decision["route"] not in ("inspect", "delegate"):
            return None
        scope = world.simulator.scope
        return {k: decision[k] for k in ("process", "target_result")} | {"route": "rerun", "rerun_scope": scope}  # fmt: skip

    world = lived(0, change)
    first, second = world.state()["runs"][:2]
    for part in ("scope", "passed", "failed", "skipped", "compiler"):
        assert first[part] == second[part]
    assert world.outcomes()["wasted_runs"] == 1


def test_nobody_believes_a_card_that_always_asks_for_a_rerun() -> None:
    always = {"route": "rerun", "rerun_scope": "full"}
    for number in range(4):
        world = composed(FAMILY, number=number).again()
        play(world, lambda world, draws: held_at(world, always), Draws(""))
        vain = [e for e in events(world, "run_start") if "nothing has changed" in e.note]
        assert len(vain) == 3


def test_the_wrong_team_says_no() -> None:
    asked = 0
    for number in range(10):

        def change(world: World[Any], decision: dict[str, str]) -> dict[str, str] | None:
            if decision["route"] != "delegate":
                return None
            teams = list(world.simulator.project.other_people)
            return decision | {"owner": next(t for t in teams if t != decision["owner"])}

        world = lived(number, change)
        asked += sum("asked for nothing" in e.note for e in events(world, "message"))
        assert world.outcomes()["wasted_runs"] == 0
    assert asked


def test_without_any_card_people_help_themselves() -> None:
    for number in range(4):
        world = composed(FAMILY, number=number).again()
        play(world, nothing, Draws(""))
        assert len(events(world, "run_start")) >= 2
        assert world.outcomes()["wasted_runs"] == world.outcomes()["lost_edits"] == 0


def test_a_ready_card_over_a_failure_is_doubted_aloud() -> None:
    doubts = 0
    for number in range(4):
        world = composed(FAMILY, number=number).again()
        play(world, lambda world, draws: held_at(world, {"route": "ready"}), Draws(""))
        doubts += sum("nobody believes" in e.note for e in events(world, "message"))
    assert doubts > 3
