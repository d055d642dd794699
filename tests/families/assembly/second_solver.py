"""The second solver of the assembly family: written from the published rules alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Entry = dict[str, Any]
State = dict[str, Any]
Sort = Literal["result", "replacement", "damage"]

NONE = "none"
UNREADABLE = "NO_READ"


@dataclass(frozen=True)
class Counted:
    """A counted record: its place in the log, target, stage number, sort, and verdict."""

    place: int
    target: str
    stage: int
    sort: Sort
    passes: bool


@dataclass(frozen=True)
class Finding:
    """What stands for one target."""

    check: Entry
    stage: int
    results: tuple[Counted, ...]
    damaged: bool

    @property
    def standing(self) -> Counted | None:
        return self.results[-1] if self.results else None

    @property
    def complete(self) -> bool:
        return self.standing is not None and self.standing.passes and not self.damaged

    @property
    def defective(self) -> bool:
        return self.damaged or (self.standing is not None and not self.standing.passes)

    def missing(self, current: int) -> bool:
        return self.standing is None and not self.damaged and self.stage < current


# One unit, What counts, Unreadable records, Camera confidence, Pass and fail


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def result_passes(check: Entry, value: Any) -> bool:
    if "expects" in check:
        expected = check["expects"]
        if is_number(expected):
            return is_number(value) and bool(value == expected)
        return type(value) is type(expected) and bool(value == expected)
    if not is_number(value):
        return False
    low, high = check.get("min"), check.get("max")
    return bool((low is None or value >= low) and (high is None or value <= high))


def sort_of(check: Entry, record: Entry) -> Sort | None:
    """Which sort of counted record this is for its target, if any."""
    kind = record.get("kind")
    if kind == "replaced":
        return "replacement"
    if kind == "camera" and record.get("value") == "damaged" and "if_damaged" in check:
        return "damage"
    return "result" if kind == check["by"] else None


def is_believed(station: Entry, record: Entry) -> bool:
    """Neither unreadable nor a camera record below station.min_confidence."""
    if record.get("value") == UNREADABLE:
        return False
    if record.get("kind") != "camera":
        return True
    confidence = record.get("confidence")
    return is_number(confidence) and bool(confidence >= station["min_confidence"])


def counted_records(state: State) -> list[Counted]:
    station = state["prepared"]["station"]
    checks = {check["target"]: check for check in station["checks"]}
    counted = []
    for place, record in enumerate(state["station_log"]):
        check = checks.get(record.get("target"))
        if record.get("unit") != station["unit"] or check is None:
            continue
        sort = sort_of(check, record)
        if sort is None or not is_believed(station, record):
            continue
        passes = sort == "result" and result_passes(check, record.get("value"))
        stage = station["stages"].index(check["stage"])
        counted.append(Counted(place, check["target"], stage, sort, passes))
    return counted


# Replacement, Damage, Obsolete checks


def is_wiped(record: Counted, counted: list[Counted]) -> bool:
    return any(
        other.sort == "replacement" and other.target == record.target and other.place > record.place
        for other in counted
    )


def is_obsolete(station: Entry, record: Counted, counted: list[Counted]) -> bool:
    """A result of a recheck stage with a counted record of an earlier stage after it."""
    if station["stages"][record.stage] not in station["recheck_after_rework"]:
        return False
    return any(other.stage < record.stage and other.place > record.place for other in counted)


def findings(state: State, counted: list[Counted]) -> list[Finding]:
    """One finding for every target, in the order of station.checks."""
    station = state["prepared"]["station"]
    found = []
    for check in station["checks"]:
        valid = [
            record
            for record in counted
            if record.target == check["target"] and not is_wiped(record, counted)
        ]
        results = tuple(
            record
            for record in valid
            if record.sort == "result" and not is_obsolete(station, record, counted)
        )
        damaged = any(record.sort == "damage" for record in valid)
        found.append(Finding(check, station["stages"].index(check["stage"]), results, damaged))
    return found


# Current stage, Complete


def current_stage(counted: list[Counted]) -> int:
    return counted[-1].stage if counted else 0


def stage_complete(found: list[Finding], stage: int) -> bool:
    return all(finding.complete for finding in found if finding.stage == stage)


# the lines of the route: each gives the route with its fields, or nothing


def hold(state: State) -> Entry | None:
    station = state["prepared"]["station"]
    for ticket in state["tickets"]:
        if ticket["unit"] == station["unit"] and ticket["closed"] is None:
            return {"route": "hold", "destination": station["destinations"]["hold"]}
    return None


def handoff(state: State) -> Entry | None:
    station = state["prepared"]["station"]
    present = {
        badge["role"]
        for badge in state["badges"]
        if badge["station"] == station["id"] and badge["out"] is None
    }
    for specialist in station["specialists"]:
        if specialist["role"] in present:
            return {"route": "handoff", "destination": specialist["role"]}
    return None


def run_of_failures(finding: Finding) -> int:
    length = 0
    for result in reversed(finding.results):
        if result.passes:
            break
        length += 1
    return length


def covering_role(station: Entry, target: str) -> str | None:
    for specialist in station["specialists"]:
        if target in specialist["covers"]:
            return str(specialist["role"])
    return None


def escalate(state: State, found: list[Finding]) -> Entry | None:
    station = state["prepared"]["station"]
    for finding in found:
        target = finding.check["target"]
        role = covering_role(station, target)
        if role is not None and run_of_failures(finding) >= station["fail_limit"]:
            return {"route": "escalate", "target": target, "destination": role}
    return None


def repair(found: list[Finding], current: int) -> Entry | None:
    for finding in found:
        if finding.defective:
            key = "if_damaged" if finding.damaged else "if_failed"
            method = finding.check[key]
            return {"route": "repair", "target": finding.check["target"], "method": method}
    for finding in found:
        if finding.missing(current):
            target = finding.check["target"]
            return {"route": "repair", "target": target, "method": "complete_missing"}
    return None


def release(state: State, found: list[Finding]) -> Entry | None:
    if all(finding.complete for finding in found):
        destination = state["prepared"]["station"]["destinations"]["release"]
        return {"route": "release", "destination": destination}
    return None


def advance(state: State, found: list[Finding], current: int) -> Entry | None:
    if not stage_complete(found, current):
        return None
    for stage, name in enumerate(state["prepared"]["station"]["stages"]):
        if not stage_complete(found, stage):
            return {"route": "advance", "next_step": name}
    return None


def route(state: State, found: list[Finding], current: int) -> Entry:
    """The first line that applies."""
    return (
        hold(state)
        or handoff(state)
        or escalate(state, found)
        or repair(found, current)
        or release(state, found)
        or advance(state, found, current)
        or {"route": "wait"}
    )


def answers(state: dict[str, Any]) -> dict[str, str]:
    counted = counted_records(state)
    found = findings(state, counted)
    current = current_stage(counted)
    unused = dict.fromkeys(("next_step", "target", "method", "destination"), NONE)
    card = {**unused, **route(state, found, current)}
    card["stage"] = state["prepared"]["station"]["stages"][current]
    return {question: str(value) for question, value in card.items()}
