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


def _find(state: State, tick: int, kind: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = [
        r for r in state["station_log"] if r["tick"] == tick and r["kind"] == kind
    ]
    assert len(found) == 1
    return found[0]


def log(tick: int, kind: str, **fields: Any) -> Edit:
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
JOINING, HARNESS = "joining_specialist", "harness_specialist"
SENT = {"route": "release", "destination": "dispatch_conveyor", **OFF}
CALL_J2 = {"route": "escalate", "target": "J2", "destination": JOINING}

EDITS = [
    Edited("a", 3, "NO_READ becomes the right code", log(3, "scan", value="CV-2207-R"), {"stage": "cover", "next_step": "fasten"}),
    Edited("a", 4, "left cover becomes right", log(4, "scan", value="CV-2207-R"), {**ADVANCE, "next_step": "fasten"}),
    Edited("a", 7, "the wrong cover is ours", log(7, "scan", unit="GX-0417"), {"route": "repair", "next_step": "none", "target": "cover", "method": "replace_part"}),
    Edited("a", 8, "J1 9.2 becomes 9.1", log(8, "rundown", value=9.1), {"route": "repair", "target": "J1", "method": "retorque"}),
    Edited("a", 9, "the good J2 is ours", log(9, "rundown", unit="GX-0417"), {"route": "advance", "next_step": "inspection"}),
    Edited("a", 10, "J2 21.9 becomes 22.0", log(10, "rundown", value=22.0), {**ADVANCE, "next_step": "inspection"}),
    Edited("a", 12, "no inspection", drop(12, "inspection"), {"stage": "fasten"}),
    Edited("a", 12, "inspection of another unit", log(12, "inspection", unit="GX-0416"), {"stage": "fasten"}),
    Edited("a", 12, "inspection failed", log(12, "inspection", value="FAIL"), {}),
    Edited("a", 12, "J2 in range", log(10, "rundown", value=22.0), SENT),
    Edited("a", 12, "J2 never measured", drop(10, "rundown"), {"method": "complete_missing"}),
    Edited("a", 13, "damage at exactly 0.80", log(13, "camera", confidence=0.8), {"stage": "fasten", "method": "replace_fastener"}),
    Edited("a", 15, "limit of two failures", station(fail_limit=2), {**CALL_J2, "method": "none"}),
    Edited("a", 16, "first failure a pass", log(10, "rundown", value=22.0), {"route": "repair", "method": "retorque", "destination": "none"}),
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
    Edited("a", 25, "the first reopens", ticket("QT-884", closed=None), {"route": "hold", "destination": "containment_desk"}),
    Edited("a", 26, "specialist gone", badge(19, JOINING, out=26), {"route": "escalate", "target": "J2"}),
    Edited("a", 27, "specialist gone, screw new", badge(19, JOINING, out=27), {"route": "wait", "destination": "none"}),
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
    Edited("a", 36, "lower confidence is enough", station(min_confidence=0.58), {"route": "repair", "stage": "seal", "target": "gasket", "method": "fit_gasket", "destination": "none"}),
    Edited("a", 37, "0.91 becomes 0.79", log(37, "camera", confidence=0.79), {"stage": "inspection", **SENT}),
    Edited("a", 39, "0.80 becomes 0.79", log(39, "camera", confidence=0.79), {"route": "repair", "next_step": "none", "target": "gasket", "method": "fit_gasket"}),
    Edited("a", 40, "the PASS is ours", log(40, "inspection", unit="GX-0417"), {"route": "release", "stage": "inspection", "next_step": "none", "destination": "dispatch_conveyor"}),
    Edited("a", 42, "the ticket is ours", ticket("QT-890", unit="GX-0417"), {"route": "hold", "destination": "containment_desk"}),
    Edited("a", 44, "the visitor is a specialist", badge(44, "material_handler", role="sealing_specialist"), {"route": "handoff", "destination": "sealing_specialist"}),
    Edited("a", 46, "no damage report", drop(45, "camera"), {**ADVANCE, "next_step": "inspection"}),
    Edited("a", 46, "damage seen on J2", log(45, "camera", target="J2"), {"target": "J2"}),
    Edited("a", 47, "no new screw", drop(47, "replaced"), {"route": "repair", "target": "J1", "method": "replace_fastener"}),
    Edited("a", 48, "NO_READ becomes the right code", log(48, "scan", value="GH-4410-B"), {"route": "advance", "stage": "intake", "next_step": "fasten"}),
    Edited("a", 49, "J1 10.8 becomes 10.9", log(49, "rundown", value=10.9), {"route": "repair", "next_step": "none", "target": "J1", "method": "retorque"}),
    Edited("a", 51, "FAIL becomes PASS", log(51, "inspection", value="PASS"), SENT),
    Edited("a", 54, "specialist at this station", badge(54, JOINING, station="S6"), {"route": "handoff", "destination": JOINING}),
    Edited("a", 57, "NO_READ becomes the wrong code", log(57, "scan", value="CV-2207-L"), {"route": "repair", "stage": "cover", "target": "cover", "method": "replace_part", "destination": "none"}),
    Edited("a", 59, "the loose J2 is ours", log(59, "rundown", unit="GX-0417"), {"route": "repair", "stage": "fasten", "target": "J2", "method": "retorque", "destination": "none"}),
    Edited("b", 3, "0.71 becomes 0.85", log(3, "camera", confidence=0.85), {**ADVANCE, "next_step": "terminate"}),
    Edited("b", 4, "0.85 becomes 0.84", log(4, "camera", confidence=0.84), {"route": "repair", "next_step": "none", "target": "orientation", "method": "reseat"}),
    Edited("b", 5, "NO_READ becomes readable", log(5, "scan", value="CMX-22-A3"), {"stage": "intake"}),
    Edited("b", 8, "P2 1.27 becomes 1.26", log(8, "crimp_height", value=1.26), {**ADVANCE, "next_step": "electrical"}),
    Edited("b", 10, "first failure a pass", log(8, "crimp_height", value=1.26), {"route": "repair", "method": "recrimp", "destination": "none"}),
    Edited("b", 11, "the neighbour's pass is ours", log(11, "crimp_height", unit="CM-2291"), {"route": "advance", "next_step": "electrical", "target": "none", "destination": "none"}),
    Edited("b", 12, "another unit's ticket", ticket("N-3056", unit="CM-2290"), {"route": "escalate", "target": "P2", "destination": HARNESS}),
    Edited("b", 14, "ticket closed", ticket("N-3056", closed=14), {"route": "handoff", "destination": HARNESS}),
    Edited("b", 16, "nobody came", badge(14, HARNESS, station="K4"), {"route": "escalate", "target": "P2"}),
    Edited("b", 22, "P2 1.18 becomes 1.17", log(20, "crimp_height", value=1.17), {"route": "repair", "next_step": "none", "target": "P2", "method": "recrimp"}),
    Edited("b", 22, "no new terminal, P2 1.17", both(drop(18, "replaced"), log(20, "crimp_height", value=1.17)), {"route": "escalate", "next_step": "none", "target": "P2", "destination": HARNESS}),
    Edited("b", 23, "test engineer at this station", badge(23, "test_engineer", station="K3"), {"route": "handoff", "next_step": "none", "destination": "test_engineer"}),
    Edited("b", 26, "insulation fails as well", log(26, "resistance", value=19.9), {}),
    Edited("b", 26, "continuity at the limit", log(24, "resistance", value=0.4), {**ADVANCE, "next_step": "label"}),
    Edited("b", 28, "continuity 0.41 again", log(28, "resistance", value=0.41), {"route": "escalate", "next_step": "none", "target": "continuity", "destination": "test_engineer"}),
    Edited("b", 28, "insulation never measured", drop(26, "resistance"), {"route": "wait", "next_step": "none"}),
    Edited("b", 29, "NO_READ becomes the right label", log(29, "scan", value="LB-2291-07"), {"route": "wait", "stage": "label", "next_step": "none"}),
    Edited("b", 30, "digits the right way", log(30, "scan", value="LB-2291-07"), {"route": "wait", **OFF}),
    Edited("b", 33, "0.62 becomes 0.85", log(33, "camera", confidence=0.85), {"route": "repair", "stage": "mount", "target": "orientation", "method": "reseat"}),
    Edited("b", 34, "five pieces", log(34, "kit_count", value=5), {}),
    Edited("b", 35, "the full kit is ours", log(35, "kit_count", unit="CM-2291"), {"route": "release", "destination": "burn_in_rack", **OFF}),
    Edited("b", 38, "another unit's P1", log(38, "crimp_height", unit="CM-2290"), {"route": "release", "stage": "label", "next_step": "none", "destination": "burn_in_rack"}),
    Edited("b", 38, "P1 1.42 becomes 1.41", log(38, "crimp_height", value=1.41), {"route": "repair", "next_step": "none", "target": "P1", "method": "recrimp"}),
    Edited("b", 40, "label unreadable", log(40, "scan", value="NO_READ"), {"route": "advance", "stage": "terminate", "next_step": "electrical", **OFF}),
    Edited("b", 40, "P1 not reworked", drop(38, "crimp_height"), {"route": "release", "destination": "burn_in_rack", **OFF}),
    Edited("b", 41, "the kit is short", log(41, "kit_count", value=3), {"target": "accessory", "method": "adjust_kit"}),
    Edited("b", 42, "continuity fails", log(42, "resistance", value=0.41), {"route": "repair", "target": "continuity", "method": "trace_connection"}),
    Edited("b", 44, "insulation 19.9 becomes 20.0", log(44, "resistance", value=20.0), {**ADVANCE, "next_step": "label"}),
    Edited("b", 46, "insulation 20.0 becomes 19.9", log(46, "resistance", value=19.9), {"route": "escalate", "next_step": "none", "target": "insulation", "destination": "test_engineer"}),
    Edited("b", 47, "label scan after the tests", last(40, "scan"), {"route": "wait", "stage": "label", "next_step": "none"}),
    Edited("b", 49, "tray readable", log(49, "kit_count", value=4), {"route": "release", "destination": "burn_in_rack"}),
    Edited("b", 51, "the ticket is ours", ticket("N-3060", unit="CM-2291"), {"route": "hold", "destination": "quarantine_cage"}),
    Edited("b", 53, "0.84 becomes 0.85", log(53, "camera", confidence=0.85), {"route": "repair", "stage": "terminate", "target": "P1", "method": "replace_cable", "destination": "none"}),
    Edited("b", 54, "the dropped unit's damage is ours", log(54, "camera", unit="CM-2291"), {"route": "repair", "stage": "terminate", "target": "P1", "method": "replace_cable", "destination": "none"}),
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
