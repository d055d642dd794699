"""Minimal edits of stored states: one fact changes, and exactly the answers it bears on."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from streamdecisionbench.families.assembly import DRAFTS
from streamdecisionbench.families.assembly.reference import reference
from streamdecisionbench.suite.authoring import Draft, expand

pytestmark = pytest.mark.slow

State = dict[str, Any]
Edit = Callable[[State], None]

GOLD = {d.scenario_id[-1]: expand(d).steps for d in DRAFTS}
DRAFT = {d.scenario_id[-1]: d for d in DRAFTS}


@dataclass(frozen=True)
class Edited:
    """`changed` holds every answer that differs after the edit; empty means none may."""

    scenario: str
    t: int
    what: str
    edit: Edit
    changed: dict[str, str]


def _find(state: State, tick: int, what: str) -> dict[str, Any]:
    """The one record of a kind at a tick; where there are two of a kind, `what` adds the target."""
    kind, _, target = what.partition(" ")
    found: list[dict[str, Any]] = [
        r
        for r in state["station_log"]
        if r["tick"] == tick and r["kind"] == kind and target in ("", r["target"])
    ]
    assert len(found) == 1
    return found[0]


def log(tick: int, kind: str, /, **fields: Any) -> Edit:
    """Change fields of one log record."""
    return lambda state: _find(state, tick, kind).update(fields)


def drop(tick: int, kind: str) -> Edit:
    return lambda state: state["station_log"].remove(_find(state, tick, kind))


def last(tick: int, kind: str) -> Edit:
    """Move one record to the end of the log."""

    def edit(state: State) -> None:
        found = _find(state, tick, kind)
        state["station_log"].remove(found)
        state["station_log"].append(found)

    return edit


def drop_value(tick: int, value: float) -> Edit:
    """Remove the record of a tick that has this value."""
    return lambda state: state["station_log"].remove(
        next(r for r in state["station_log"] if (r["tick"], r.get("value")) == (tick, value))
    )


def last_of(tick: int, value: float) -> Edit:
    """Move the record of a tick that has this value to the end of the log."""

    def edit(state: State) -> None:
        log: list[dict[str, Any]] = state["station_log"]
        log.append(log.pop([(r["tick"], r.get("value")) for r in log].index((tick, value))))

    return edit


def ticket(name: str, **fields: Any) -> Edit:
    return lambda state: next(t for t in state["tickets"] if t["ticket"] == name).update(fields)


def badge(since: int, role: str, /, **fields: Any) -> Edit:
    return lambda state: next(
        x for x in state["badges"] if (x["in"], x["role"]) == (since, role)
    ).update(fields)


def station(**fields: Any) -> Edit:
    return lambda state: state["prepared"]["station"].update(fields)


def both(*edits: Edit) -> Edit:
    def edit(state: State) -> None:
        for each in edits:
            each(state)

    return edit


OFF = {"target": "none", "method": "none"}
ADVANCE = {"route": "advance", **OFF}
JOINING, SEALING, HARNESS = "joining_specialist", "sealing_specialist", "harness_specialist"
SENT = {"route": "release", "destination": "dispatch_conveyor", **OFF}
CALL_J2 = {"route": "escalate", "target": "J2", "destination": JOINING}

EDITS = [
    Edited("a", 2, "the housing is not exchanged", drop(2, "replaced"), {**ADVANCE, "next_step": "cover"}),
    Edited("a", 2, "the exchange comes after the gasket", last(2, "replaced"), {"route": "wait", "stage": "intake", **OFF}),
    Edited("a", 3, "NO_READ becomes the right code", log(3, "scan", value="GH-4410-B"), {**ADVANCE, "stage": "intake", "next_step": "cover"}),
    Edited("a", 3, "NO_READ becomes a wrong code", log(3, "scan", value="GH-4410-A"), {"stage": "intake", "method": "replace_part"}),
    Edited("a", 4, "no gasket yet", drop(2, "camera"), {"next_step": "seal"}),
    Edited("a", 5, "NO_READ becomes the right code", log(5, "scan", value="CV-2207-R"), {"stage": "cover", "next_step": "fasten"}),
    Edited("a", 6, "left cover becomes right", log(6, "scan", value="CV-2207-R"), {**ADVANCE, "next_step": "fasten"}),
    Edited("a", 7, "the right cover is ours", log(7, "scan", unit="GX-0417"), {**ADVANCE, "next_step": "fasten"}),
    Edited("a", 8, "no exchange on record", drop(8, "replaced"), {}),
    Edited("a", 8, "scanned before the exchange", last(8, "replaced"), {"route": "wait", "next_step": "none"}),
    Edited("a", 9, "the loose J2 is ours", log(9, "rundown", unit="GX-0417"), {"route": "repair", "stage": "fasten", "next_step": "none", "target": "J2", "method": "retorque"}),
    Edited("a", 10, "J2 21.9 becomes 22.0", log(10, "rundown", value=22.0), {"route": "wait", **OFF}),
    Edited("a", 11, "0.79 becomes 0.80", log(11, "camera", confidence=0.8), {"stage": "seal", "target": "gasket", "method": "fit_gasket"}),
    Edited("a", 12, "no inspection", drop(12, "inspection"), {"stage": "seal"}),
    Edited("a", 12, "inspection of another unit", log(12, "inspection", unit="GX-0416"), {"stage": "seal"}),
    Edited("a", 12, "inspection failed", log(12, "inspection", value="FAIL"), {}),
    Edited("a", 12, "the gasket is there", log(12, "camera", value="present"), {"target": "J2", "method": "retorque"}),
    Edited("a", 12, "no defect, J1 missing", both(log(12, "camera", value="present"), log(10, "rundown", value=22.0)), {"target": "J1", "method": "complete_missing"}),
    Edited("a", 14, "0.80 becomes 0.79", log(14, "camera", confidence=0.79), {"target": "gasket", "method": "fit_gasket"}),
    Edited("a", 15, "J1 9.2 becomes 9.1", log(15, "rundown", value=9.1), {"target": "J1"}),
    Edited("a", 15, "limit of two failures", station(fail_limit=2), {**CALL_J2, "method": "none"}),
    Edited("a", 16, "first failure a pass", log(10, "rundown", value=22.0), {"route": "repair", "method": "retorque", "destination": "none"}),
    Edited("a", 16, "second failure a pass", log(14, "rundown", value=26.0), {"route": "repair", "method": "retorque", "destination": "none"}),
    Edited("a", 16, "limit of four failures", station(fail_limit=4), {"route": "repair", "method": "retorque", "destination": "none"}),
    Edited("a", 16, "third failure a pass", log(16, "rundown", value=26.0), {"route": "advance", "next_step": "inspection", "target": "none", "destination": "none"}),
    Edited("a", 17, "specialist at this station", badge(17, JOINING, station="S6"), {"route": "handoff", "target": "none"}),
    Edited("a", 18, "the neighbour's pass is ours", log(18, "rundown", unit="GX-0417"), {"route": "advance", "next_step": "inspection", "target": "none", "destination": "none"}),
    Edited("a", 19, "specialist at the other station", badge(19, JOINING, station="S5"), {"route": "escalate", "target": "J2"}),
    Edited("a", 20, "a visitor instead", badge(19, JOINING, role="visitor"), {"route": "escalate", "target": "J2"}),
    Edited("a", 20, "sealing specialist instead", badge(19, JOINING, role="sealing_specialist"), {"destination": "sealing_specialist"}),
    Edited("a", 22, "only the second ticket", ticket("QT-884", unit="GX-0416"), {}),
    Edited("a", 22, "only the first ticket", ticket("QT-885", unit="GX-0416"), {}),
    Edited("a", 23, "the second closes too", ticket("QT-885", closed=23), {"route": "handoff", "destination": JOINING}),
    Edited("a", 24, "the neighbour's ticket stays open", ticket("QT-871", closed=None), {}),
    Edited("a", 25, "the first reopens", ticket("QT-884", closed=None), {"route": "hold", "destination": "containment_desk"}),
    Edited("a", 26, "only the second specialist", badge(19, JOINING, out=26), {"destination": "sealing_specialist"}),
    Edited("a", 28, "both gone, screw new", badge(19, JOINING, out=28), {"route": "wait", "destination": "none"}),
    Edited("a", 29, "26.1 under a handoff", log(29, "rundown", value=26.1), {}),
    Edited("a", 30, "specialist gone early", badge(19, JOINING, out=30), {"route": "advance", "next_step": "inspection", "destination": "none"}),
    Edited("a", 31, "J2 26.0 becomes 26.1", log(29, "rundown", value=26.1), {"route": "repair", "next_step": "none", "target": "J2", "method": "retorque"}),
    Edited("a", 31, "no rundown", drop(29, "rundown"), {"route": "wait", "next_step": "none"}),
    Edited("a", 31, "the old screw run down to 26.0", drop(27, "replaced"), {}),
    Edited("a", 31, "the old screw run down to 26.1", both(drop(27, "replaced"), log(29, "rundown", value=26.1)), {"route": "escalate", "next_step": "none", "target": "J2", "destination": JOINING}),
    Edited("a", 32, "the PASS comes after the rundown", last(12, "inspection"), {"route": "release", "stage": "inspection", "next_step": "none", "destination": "dispatch_conveyor"}),
    Edited("a", 32, "no PASS at all", drop(12, "inspection"), {}),
    Edited("a", 32, "a FAIL at tick 12", log(12, "inspection", value="FAIL"), {}),
    Edited("a", 32, "inspection never repeated at this station", station(recheck_after_rework=[]), {"route": "release", "next_step": "none", "destination": "dispatch_conveyor"}),
    Edited("a", 36, "0.79 becomes 0.80", log(36, "camera", confidence=0.8), {"route": "repair", "stage": "seal", "target": "gasket", "method": "fit_gasket", "destination": "none"}),
    Edited("a", 37, "no new gasket", drop(37, "replaced"), {"stage": "inspection", **SENT}),
    Edited("a", 38, "0.74 becomes 0.80", log(38, "camera", confidence=0.8), {"route": "advance", "next_step": "inspection"}),
    Edited("a", 39, "at the other station", badge(39, SEALING, station="S5"), {"route": "wait", "destination": "none"}),
    Edited("a", 41, "0.80 becomes 0.79", log(40, "camera", confidence=0.79), {"route": "repair", "target": "gasket", "method": "complete_missing", "destination": "none"}),
    Edited("a", 41, "no inspection", drop(41, "inspection"), {"route": "advance", "stage": "seal", "next_step": "inspection", "destination": "none"}),
    Edited("a", 41, "still there", badge(39, SEALING, out=None), {"route": "handoff", "destination": SEALING}),
    Edited("a", 42, "the ticket is ours", ticket("QT-890", unit="GX-0417"), {"route": "hold", "destination": "containment_desk"}),
    Edited("a", 43, "0.79 becomes 0.80", log(43, "camera", confidence=0.8), {"route": "repair", "stage": "fasten", "target": "J2", "method": "replace_fastener", "destination": "none"}),
    Edited("a", 46, "no damage report", drop(45, "camera"), {**ADVANCE, "next_step": "inspection"}),
    Edited("a", 46, "damage seen on J2", log(45, "camera", target="J2"), {"target": "J2"}),
    Edited("a", 47, "no new screw", drop(47, "replaced"), {"route": "repair", "next_step": "none", "target": "J1", "method": "replace_fastener"}),
    Edited("a", 47, "the cover is not scanned", drop(47, "scan"), {"route": "wait", "stage": "fasten", "next_step": "none"}),
    Edited("a", 48, "NO_READ becomes the right code", log(48, "scan", value="GH-4410-B"), {"stage": "intake"}),
    Edited("a", 49, "J1 10.8 becomes 10.9", log(49, "rundown", value=10.9), {"route": "repair", "next_step": "none", "target": "J1", "method": "retorque"}),
    Edited("a", 50, "the PASS is ours", log(50, "inspection", unit="GX-0417"), {"route": "release", "stage": "inspection", "next_step": "none", "destination": "dispatch_conveyor"}),
    Edited("a", 51, "FAIL becomes PASS", log(51, "inspection", value="PASS"), SENT),
    Edited("a", 54, "specialist at this station", badge(54, JOINING, station="S6"), {"route": "handoff", "destination": JOINING}),
    Edited("a", 54, "the camera looks at J1", log(54, "camera", target="J1"), {"route": "repair", "stage": "fasten", "target": "J1", "method": "replace_fastener", "destination": "none"}),
    Edited("a", 57, "NO_READ becomes the wrong code", log(57, "scan", value="CV-2207-L"), {"route": "repair", "stage": "cover", "target": "cover", "method": "replace_part", "destination": "none"}),
    Edited("a", 59, "the loose J2 is ours", log(59, "rundown", unit="GX-0417"), {"route": "repair", "stage": "fasten", "target": "J2", "method": "retorque", "destination": "none"}),
    Edited("b", 0, "the right module", log(0, "scan", value="CMX-22-A3"), {**ADVANCE, "next_step": "mount"}),
    Edited("b", 2, "scanned before the exchange", last(2, "replaced"), {"route": "wait", "next_step": "none"}),
    Edited("b", 5, "0.84 becomes 0.85", log(5, "camera", confidence=0.85), {**ADVANCE, "next_step": "terminate"}),
    Edited("b", 6, "0.85 becomes 0.84", log(6, "camera", confidence=0.84), {"route": "repair", "next_step": "none", "target": "orientation", "method": "reseat"}),
    Edited("b", 8, "P1 1.41 becomes 1.42", log(8, "crimp_height P1", value=1.42), {"target": "P2"}),
    Edited("b", 8, "P2 1.29 becomes 1.26", log(8, "crimp_height P2", value=1.26), {}),
    Edited("b", 9, "the old terminal crimped again", drop(9, "replaced"), {"route": "escalate", "method": "none", "destination": HARNESS}),
    Edited("b", 10, "P1 1.51 becomes 1.50", log(10, "crimp_height P1", value=1.5), {"target": "P2"}),
    Edited("b", 10, "P2 1.27 becomes 1.26", log(10, "crimp_height P2", value=1.26), {}),
    Edited("b", 10, "limit of three failures", station(fail_limit=3), {"route": "repair", "method": "recrimp", "destination": "none"}),
    Edited("b", 12, "0.85 becomes 0.84", log(12, "camera", confidence=0.84), {**ADVANCE, "next_step": "electrical"}),
    Edited("b", 12, "P1 1.50 becomes 1.51", log(12, "crimp_height P1", value=1.51), {"route": "escalate", "target": "P1", "method": "none", "destination": HARNESS}),
    Edited("b", 15, "another unit's damage", log(12, "camera", unit="CM-2290"), {**ADVANCE, "next_step": "electrical"}),
    Edited("b", 16, "at the other station", badge(16, HARNESS, station="K4"), {"route": "repair", "target": "P2", "method": "replace_cable", "destination": "none"}),
    Edited("b", 17, "only the second specialist", badge(16, HARNESS, out=17), {"destination": "test_engineer"}),
    Edited("b", 22, "P2 1.18 becomes 1.17", log(20, "crimp_height", value=1.17), {"route": "repair", "next_step": "none", "target": "P2", "method": "recrimp"}),
    Edited("b", 22, "no new lead", drop(18, "replaced"), {"route": "repair", "next_step": "none", "target": "P2", "method": "replace_cable"}),
    Edited("b", 23, "test engineer still there", badge(17, "test_engineer", out=None), {"route": "handoff", "next_step": "none", "destination": "test_engineer"}),
    Edited("b", 25, "insulation fails as well", log(25, "resistance", value=19.9), {}),
    Edited("b", 26, "the pass comes last", last_of(26, 0.38), {**ADVANCE, "next_step": "label"}),
    Edited("b", 26, "no pass in between", drop_value(26, 0.38), {"route": "escalate", "method": "none", "destination": "test_engineer"}),
    Edited("b", 27, "the neighbour's continuity is ours", log(27, "resistance", unit="CM-2291"), {**ADVANCE, "next_step": "label"}),
    Edited("b", 28, "continuity 0.41 again", log(28, "resistance", value=0.41), {"route": "escalate", "next_step": "none", "target": "continuity", "destination": "test_engineer"}),
    Edited("b", 28, "insulation never measured", drop(25, "resistance"), {"route": "wait", "next_step": "none"}),
    Edited("b", 29, "NO_READ becomes the right label", log(29, "scan", value="LB-2291-07"), {"route": "wait", "stage": "label", "next_step": "none"}),
    Edited("b", 30, "digits the right way", log(30, "scan", value="LB-2291-07"), {"route": "wait", **OFF}),
    Edited("b", 31, "NO_READ becomes readable", log(31, "scan", value="CMX-22-A3"), {"route": "advance", "stage": "intake", "next_step": "electrical", **OFF}),
    Edited("b", 34, "five pieces", log(34, "kit_count", value=5), {}),
    Edited("b", 35, "0.62 becomes 0.85", log(35, "camera", confidence=0.85), {"stage": "mount", "target": "orientation", "method": "reseat"}),
    Edited("b", 38, "another unit's P1", log(38, "crimp_height", unit="CM-2290"), {"route": "release", "stage": "label", "next_step": "none", "destination": "burn_in_rack"}),
    Edited("b", 38, "P1 1.42 becomes 1.41", log(38, "crimp_height", value=1.41), {"route": "repair", "next_step": "none", "target": "P1", "method": "recrimp"}),
    Edited("b", 40, "label unreadable", log(40, "scan", value="NO_READ"), {"route": "advance", "stage": "terminate", "next_step": "electrical", **OFF}),
    Edited("b", 40, "P1 not reworked", drop(38, "crimp_height"), {"route": "release", "destination": "burn_in_rack", **OFF}),
    Edited("b", 41, "the kit is short", log(41, "kit_count", value=3), {"target": "accessory", "method": "adjust_kit"}),
    Edited("b", 42, "continuity fails as well", log(42, "resistance continuity", value=0.41), {"target": "continuity"}),
    Edited("b", 42, "insulation 19.9 becomes 20.0", log(42, "resistance insulation", value=20.0), {**ADVANCE, "next_step": "label"}),
    Edited("b", 44, "first failure a pass", log(42, "resistance insulation", value=20.0), {"route": "repair", "method": "trace_connection", "destination": "none"}),
    Edited("b", 46, "insulation 20.0 becomes 19.9", log(46, "resistance", value=19.9), {"route": "escalate", "next_step": "none", "target": "insulation", "destination": "test_engineer"}),
    Edited("b", 47, "label scan after the tests", last(40, "scan"), {"route": "wait", "stage": "label", "next_step": "none"}),
    Edited("b", 49, "tray readable", log(49, "kit_count", value=4), {"route": "release", "destination": "burn_in_rack"}),
    Edited("b", 51, "the label is scanned, and torn", log(51, "camera", kind="scan"), {"route": "repair", "target": "label", "method": "replace_label", "destination": "none"}),
    Edited("b", 53, "the ticket is ours", ticket("N-3060", unit="CM-2291"), {"route": "hold", "destination": "quarantine_cage"}),
    Edited("b", 53, "0.84 becomes 0.85", log(53, "camera", confidence=0.85), {"route": "repair", "stage": "terminate", "target": "P1", "method": "replace_cable", "destination": "none"}),
    Edited("b", 55, "the dropped unit's damage is ours", log(55, "camera", unit="CM-2291"), {"route": "repair", "stage": "terminate", "target": "P1", "method": "replace_cable", "destination": "none"}),
    Edited("b", 58, "another subject", ticket("N-3063", subject="P1 damaged"), {}),
    Edited("b", 58, "another unit's ticket", ticket("N-3063", unit="CM-2292"), {"route": "release", "destination": "burn_in_rack"}),
    Edited("b", 59, "ticket still open", ticket("N-3063", closed=None), {"route": "hold", "destination": "quarantine_cage"}),
]  # fmt: skip


@pytest.mark.parametrize("case", EDITS, ids=lambda c: f"{c.scenario} tick {c.t}: {c.what}")
def test_one_fact_changes_exactly_these_answers(case: Edited) -> None:
    step = GOLD[case.scenario][case.t]
    state = copy.deepcopy(step.state)
    case.edit(state)
    assert state != step.state
    after = reference(state)
    assert {q: v for q, v in after.items() if v != step.gold[q]} == {
        q: v for q, v in case.changed.items() if v != step.gold[q]
    }
    assert case.changed.items() <= after.items()


def _without(draft: Draft, t: int, word: str) -> dict[str, str]:
    """The decision at `t` had the events of that tick whose note begins with `word` not happened."""
    seen = [e for e in draft.events if e.at <= t and not (e.at == t and e.note.startswith(word))]
    return draft.decision_spec.compose(draft.reference(draft.project(seen, t)))


@pytest.mark.parametrize("key", ["a", "b"])
def test_every_change_needs_its_cause(key: str) -> None:
    draft = DRAFT[key]
    for change in draft.changes:
        before = draft.decision_spec.compose(GOLD[key][change.at - 1].gold)
        assert _without(draft, change.at, "cause") == before, change


@pytest.mark.parametrize("key", ["a", "b"])
def test_a_distractor_changes_nothing_when_it_arrives(key: str) -> None:
    draft = DRAFT[key]
    for step in GOLD[key]:
        decision = draft.decision_spec.compose(step.gold)
        assert _without(draft, step.t, "distractor") == decision, step.t
