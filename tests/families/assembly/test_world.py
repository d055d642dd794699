"""What becomes of a unit by what the station's display shows: histories with known consequences."""

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

FAMILY = "procedural_coaching"
SAFE = ("hold", "handoff")


def lived(number: int, change: Change, outcome: str) -> World[Any]:
    world = composed(FAMILY, number=number).again()
    play(world, wrong_until(outcome, change), Draws(""))
    return world


def checks(world: World[Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.right.steps[0].state["prepared"]["station"]["checks"]
    return found


def counted(world: World[Any]) -> dict[str, float]:
    return {name: n for name, n in world.outcomes().items() if n and name != "units_finished"}


@pytest.mark.parametrize("number", range(10))
def test_right_cards_cost_no_rework_no_scrap_and_no_unsafe_second(number: int) -> None:
    world = composed(FAMILY, number=number).again()
    play(world, right, Draws(""))
    assert counted(world) == {}
    released = [step.t for step in world.right.steps if step.gold["route"] == "release"]
    assert world.outcomes()["units_finished"] <= bool(released)
    if number >= 8:  # whose turn it is to show a release
        assert world.outcomes()["units_finished"] == 1
        assert world.cost() == -1


def test_no_unit_is_finished_without_a_card_that_sends_it_on() -> None:
    def kept(world: World[Any], draws: Draws) -> Held:
        decision = world.reference()
        return held_at(world, None if decision["route"] == "release" else decision)

    for number in (8, 9):
        world = composed(FAMILY, number=number).again()
        play(world, kept, Draws(""))
        assert world.outcomes()["units_finished"] == 0
        assert counted(world) == {}


def test_unsafe_seconds_of_exactly_three_and_a_half() -> None:
    """A ticket opens while the operator works; the hold is on the display 3.5 s later."""
    for number in range(10):
        world = composed(FAMILY, number=number).again()
        while world.reference()["route"] != "hold" and world.t + 1 < world.right.n:
            world.advance((world.t + 1) * 2.0, right(world, Draws("")))
        begun, before = world.t * 2.0, world.simulator.panel
        if world.reference()["route"] != "hold" or not world.simulator.to_do():
            continue
        world.advance(begun + 2, [(begun, before)])
        if world.reference()["route"] != "hold":
            continue
        world.advance(begun + 4, [(begun + 3.5, world.reference())])
        while not world.done:
            world.advance((world.t + 1) * 2.0, right(world, Draws("")))
        assert counted(world) == {"unsafe_s": 3.5}
        return
    pytest.fail("no hold lasted long enough")


@pytest.mark.parametrize("number", range(4))
def test_without_any_card_every_hold_and_handoff_is_unsafe_and_the_work_goes_on(
    number: int,
) -> None:
    world = composed(FAMILY, number=number).again()
    unsafe = 0
    while not world.done:
        unsafe += world.reference()["route"] in SAFE
        world.advance((world.t + 1) * 2.0, nothing(world, Draws("")))
    assert counted(world) == ({"unsafe_s": unsafe * 2.0} if unsafe else {})
    assert len(events(world, "log")) > 10


def test_a_part_that_only_had_to_be_put_right_is_scrapped_once() -> None:
    def change(world: World[Any], decision: dict[str, str]) -> dict[str, str] | None:
        for check in checks(world):
            failed = {"route": "repair", "target": check["target"], "method": check["if_failed"]}
            if "if_damaged" in check and failed.items() <= decision.items():
                return decision | {"method": check["if_damaged"]}
        return None

    found = [lived(number, change, "scrap") for number in range(10)]
    scrapped = [world for world in found if counted(world) == {"scrap": 1}]
    assert len(scrapped) >= 3
    assert all(counted(world) in ({}, {"scrap": 1}) for world in found)
    for world in scrapped:
        notes = [e.note for e in events(world, "log") if e.data["kind"] == "replaced"]
        assert sum("though it need not be" in note for note in notes) == 1


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_a_correction_of_the_wrong_target_is_rework_once(number: int) -> None:
    def change(world: World[Any], decision: dict[str, str]) -> dict[str, str] | None:
        if decision["route"] != "repair":
            return None
        other = next(c for c in checks(world) if c["target"] != decision["target"])
        return decision | {"target": other["target"], "method": other["if_failed"]}

    world = lived(number, change, "rework")
    assert counted(world) == {"rework": 1}
    assert sum("by a wrong card" in e.note for e in events(world, "log")) == 1


@pytest.mark.parametrize("number", [0, 1, 3, 4])
def test_work_out_of_turn_is_rework_once(number: int) -> None:
    def change(world: World[Any], decision: dict[str, str]) -> dict[str, str] | None:
        if decision["route"] != "advance":
            return None
        last = checks(world)[-1]["stage"]
        return None if decision["next_step"] == last else decision | {"next_step": last}

    world = lived(number, change, "rework")
    assert counted(world) == {"rework": 1}
    assert sum("out of turn" in e.note for e in events(world, "log")) == 1


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_a_unit_sent_on_unfinished_comes_back(number: int) -> None:
    def change(world: World[Any], decision: dict[str, str]) -> dict[str, str] | None:
        return {"route": "release"} if decision["route"] in ("wait", "advance") else None

    assert counted(lived(number, change, "rework")) == {"rework": 1}


def test_the_wrong_specialist_comes_for_nothing() -> None:
    came = 0
    for number in range(10):
        world = composed(FAMILY, number=number).again()
        roles = list(world.simulator.station.specialists)

        def other(world: World[Any], draws: Draws, roles: list[str] = roles) -> Held:
            decision = world.reference()
            if decision["route"] == "escalate":
                decision |= {"destination": next(r for r in roles if r != decision["destination"])}
            return held_at(world, decision)

        play(world, other, Draws(""))
        came += sum("does not cover it" in e.note for e in events(world, "badge_in"))
        assert counted(world) == {}
    assert came


def test_nobody_believes_a_card_that_always_calls_a_specialist() -> None:
    came = 0
    for number in range(6):
        world = composed(FAMILY, number=number).again()
        role = next(iter(world.simulator.station.specialists))
        always = {"route": "escalate", "destination": role}
        play(world, lambda world, draws, always=always: held_at(world, always), Draws(""))
        vain = [e for e in events(world, "badge_in") if "does not cover it" in e.note]
        assert len(vain) <= 2
        came += len(vain)
    assert came > 4


def test_what_is_not_there_is_not_worked_on() -> None:
    told = 0
    for number in range(6):
        world = composed(FAMILY, number=number).again()
        last = checks(world)[-1]
        always = {"route": "repair", "target": last["target"], "method": last["if_failed"]}
        play(world, lambda world, draws, always=always: held_at(world, always), Draws(""))
        early = [e for e in events(world, "speech") if "what is not there" in e.note]
        told += len(early)
    assert told > 4
