"""Generated stations hold together: what is closed stays closed, what passed fails for a reason, people have reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.scenario import Scenario, State
from streamdecisionbench.worlds.generation.draws import Draws
from tests.families.test_worlds import PLAYERS, composed, play

pytestmark = pytest.mark.slow

FAMILY = "procedural_coaching"
Record = dict[str, Any]


@cache
def right() -> tuple[Scenario, ...]:
    return tuple(composed(FAMILY, seed, n).right for seed in (1, 2, 3) for n in range(10))


@cache
def stories() -> tuple[Scenario, ...]:
    """Thirty sessions played right, and ten as every other player leaves them."""
    lived = []
    for player in PLAYERS[1:]:
        for number in range(10):
            world = composed(FAMILY, number=number).again()
            play(world, player, Draws("stories", number))
            lived.append(expand(world.draft()))
    return (*right(), *lived)


def ends() -> list[State]:
    return [scenario.steps[-1].state for scenario in stories()]


def station(state: State) -> dict[str, Any]:
    found: dict[str, Any] = state["prepared"]["station"]
    return found


def checks(state: State) -> dict[str, dict[str, Any]]:
    return {check["target"]: check for check in station(state)["checks"]}


def ours(state: State) -> list[Record]:
    """Everything logged of this unit on a target."""
    unit = station(state)["unit"]
    return [record for record in state["station_log"] if record.get("unit") == unit]


def is_result(state: State, record: Record) -> bool:
    sure = record.get("confidence", 1) >= station(state)["min_confidence"]
    kind = checks(state)[record["target"]]["by"]
    return record["kind"] == kind and record["value"] != "NO_READ" and sure


def passes(check: dict[str, Any], value: Any) -> bool:
    if "expects" in check:
        return bool(value == check["expects"])
    return bool(check.get("min", value) <= value <= check.get("max", value))


def built_over(state: State, target: str) -> set[str]:
    """Targets of later stages that the unit is built of."""
    stages, tests = station(state)["stages"], station(state)["recheck_after_rework"]
    place = stages.index(checks(state)[target]["stage"])
    later = [s for s in stages[place + 1 :] if s not in tests]
    return {name for name, check in checks(state).items() if check["stage"] in later}


def walk(state: State) -> Iterator[tuple[Record, dict[str, list[Record]]]]:
    """Every record of ours with the results so far that no replacement has wiped, by target."""
    results: dict[str, list[Record]] = {target: [] for target in checks(state)}
    for record in ours(state):
        yield record, results
        if record["kind"] == "replaced":
            results[record["target"]] = []
        elif is_result(state, record):
            results[record["target"]].append(record)


def test_nothing_is_seen_or_changed_under_what_was_put_on_later() -> None:
    """A closed unit is opened first; in a cell the part stays in sight, but nobody can turn it."""
    opened = 0
    for state in ends():
        inside = {name for name, check in checks(state).items() if check["by"] == "camera"}
        lidded = len(checks(state)) == 6
        for record, results in walk(state):
            target = record["target"]
            on_top = [name for name in built_over(state, target) if results[name]]
            if target in inside and on_top:
                assert lidded is False, (station(state)["unit"], record)
                assert record["kind"] != "replaced"
                turned = results[target] and results[target][-1]["value"] != record.get("value")
                assert not (is_result(state, record) and turned), (station(state)["unit"], record)
            opened += record["kind"] == "replaced" and "if_damaged" not in checks(state)[target]
    assert opened


def test_only_parts_that_are_there_are_replaced_and_reported_damaged() -> None:
    for state in ends():
        tests = station(state)["recheck_after_rework"]
        for record, results in walk(state):
            check = checks(state)[record["target"]]
            if record["kind"] == "replaced":
                assert check["stage"] not in tests
            if record.get("value") == "damaged":
                assert results[record["target"]], (station(state)["unit"], record)


def test_no_reading_of_a_target_whose_turn_has_not_come() -> None:
    for scenario in right():
        state = scenario.steps[-1].state
        order = list(checks(state))
        skipped = 0
        for record, results in walk(state):
            place = order.index(record["target"])
            skipped += any(not results[name] for name in order[:place])
            if not is_result(state, record):
                known = [bool(results[name]) for name in order]
                begun = max((i for i, found in enumerate(known) if found), default=-1)
                assert place <= begun + 1, (station(state)["unit"], record)
    assert skipped < 10


def test_a_code_or_count_that_was_right_stays_right() -> None:
    for state in ends():
        for record, results in walk(state):
            check = checks(state)[record["target"]]
            if check["by"] in ("scan", "kit_count") and is_result(state, record):
                before = [passes(check, found["value"]) for found in results[record["target"]]]
                assert not any(before) or passes(check, record["value"]), record


def test_what_passed_fails_only_after_a_doubt_or_other_work() -> None:
    """The camera has seen something, however unsure; a test may fail once something else was worked on."""
    doubted = 0
    for state in ends():
        tests = station(state)["recheck_after_rework"]
        since: dict[str, list[Record]] = {}
        for record, results in walk(state):
            target, check = record["target"], checks(state)[record["target"]]
            if is_result(state, record):
                before = results[target][-1:]
                if before and passes(check, before[0]["value"]) > passes(check, record["value"]):
                    doubts = [r for r in since[target] if r["target"] == target]
                    assert doubts or (check["stage"] in tests and since[target]), record
                    doubted += bool(doubts)
                since[target] = []
            for name, found in since.items():
                if name != target or not is_result(state, record):
                    found.append(record)
    assert doubted > 50


def test_no_test_passes_on_a_unit_that_is_far_from_built() -> None:
    for state in ends():
        tests = station(state)["recheck_after_rework"]
        built = [name for name, check in checks(state).items() if check["stage"] not in tests]
        for record, results in walk(state):
            check = checks(state)[record["target"]]
            tested = check["stage"] in tests and check["by"] not in ("scan", "kit_count")
            if tested and is_result(state, record) and passes(check, record["value"]):
                assert sum(not results[name] for name in built) <= 2, (
                    station(state)["unit"],
                    record,
                )


def test_neighbours_go_through_the_same_checks_in_order() -> None:
    for state in ends():
        order = list(checks(state))
        places: dict[str, list[int]] = {}
        for record in state["station_log"]:
            if record.get("unit", station(state)["unit"]) != station(state)["unit"]:
                places.setdefault(record["unit"], []).append(order.index(record["target"]))
        assert all(b - a in (0, 1) for found in places.values() for a, b in pairwise(found))


def test_no_other_unit_goes_on_with_the_number_of_this_one() -> None:
    """Codes of parts are the same on every unit; what goes on at the end is numbered."""
    went_on = 0
    for state in ends():
        last = station(state)["stages"][-1]
        numbers = {n: c["expects"] for n, c in checks(state).items() if c["by"] == "scan" and c["stage"] == last}  # fmt: skip
        units: dict[str, list[Record]] = {}
        for record in state["station_log"]:
            if record.get("unit", station(state)["unit"]) != station(state)["unit"]:
                units.setdefault(record["unit"], []).append(record)
        for records in units.values():
            for record, later in pairwise(records):
                if record["target"] in numbers and later["target"] != record["target"]:
                    assert record["value"] != numbers[record["target"]]
                    went_on += 1
    assert went_on


def test_nobody_says_what_was_said_before() -> None:
    for state in ends():
        said = Counter(entry["text"] for entry in state["speech"] if entry["final"])
        assert not said or max(said.values()) == 1


def test_no_two_tickets_are_about_the_same() -> None:
    for state in ends():
        subjects = [ticket["subject"] for ticket in state["tickets"]]
        assert len(set(subjects)) == len(subjects)


def test_a_specialist_comes_because_of_an_escalation_or_is_announced() -> None:
    announced = 0
    for scenario in right():
        for before, after in pairwise(scenario.steps):
            roles = [entry["role"] for entry in station(after.state)["specialists"]]
            for badge in after.state["badges"][len(before.state["badges"]) :]:
                if badge["role"] in roles and badge["station"] == station(after.state)["id"]:
                    name = badge["holder"].split()[0]
                    told = any(name in entry["text"] for entry in before.state["speech"])
                    called = before.gold["route"] in ("escalate", "handoff")
                    assert told or called, (scenario.episode_id, after.t)
                    announced += told
    assert announced > 10


def test_a_device_that_reports_shows_something_new() -> None:
    for scenario in right():
        for before, after in pairwise(scenario.steps):
            if any("tool fields" in note for note in after.evidence):
                assert after.state["tools"] != before.state["tools"]
