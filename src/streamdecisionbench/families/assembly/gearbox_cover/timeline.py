"""Assembly A, a gearbox cover: a wrong cover, joint J2 under- and over-tightened, two overlapping
tickets, a gasket the camera is first unsure about, and checks to repeat after each rework.

Voice: a small bench with a talkative operator and a line lead in a hurry. Traps: a PASS that came
too early and later goes obsolete, the neighbour unit's good torques, assurances about tickets.
"""

from __future__ import annotations

from streamdecisionbench.families.assembly.events import (
    badge_in,
    badge_out,
    heartbeat,
    record,
    say,
    ticket_closed,
    ticket_opened,
    tool,
)
from streamdecisionbench.families.assembly.gearbox_cover.setting import OPTIONS, STATION
from streamdecisionbench.families.assembly.questions import SPEC, questions
from streamdecisionbench.families.assembly.reference import reference
from streamdecisionbench.families.assembly.state import projector
from streamdecisionbench.suite.authoring import Change, Draft, Event

__all__ = ["DRAFT"]

UNIT: str = STATION["unit"]
BEFORE = "GX-0416"
AFTER = "GX-0418"

EVENTS: tuple[Event, ...] = (
    badge_in(0, "Marta Quell", "operator", "S6", note="distractor: an operator is no specialist"),
    ticket_opened(0, "QT-871", BEFORE, "paint run on flange", note="distractor: another unit's ticket"),
    tool(0, "spindle", status="ready", program="J1", battery_pct=81, note="initial tool fields"),
    tool(0, "camera", status="online", lighting="ring", note="initial tool fields"),
    record(0, UNIT, "scan", "housing", "GH-4410-B", note="cause: the right housing"),
    say(1, "u1", "Marta", "Housing's in the nest. Gasket next.", note="distractor: announced work is no record"),
    record(2, UNIT, "camera", "gasket", "present", confidence=0.97, note="cause: the gasket is seen"),
    record(3, UNIT, "scan", "cover", "NO_READ", note="distractor: unreadable, the stage stays seal"),
    record(4, UNIT, "scan", "cover", "CV-2207-L", note="cause: the left-hand cover is wrong"),
    say(5, "u2", "Marta", "It sits flush, holes line up and all.", note="distractor: speech does not undo a wrong code"),
    record(6, UNIT, "scan", "cover", "CV-2207-R", note="cause: the right cover"),
    record(7, AFTER, "scan", "cover", "CV-2207-L", note="distractor: a wrong cover on another unit"),
    record(8, UNIT, "rundown", "J1", 9.2, angle_deg=148, note="cause: J1 exactly at its lower limit passes; J2 has no result yet"),
    tool(8, "spindle", program="J2"),
    record(9, BEFORE, "rundown", "J2", 24.1, angle_deg=201, note="distractor: J2 of another unit"),
    record(10, UNIT, "rundown", "J2", 21.9, angle_deg=188, note="cause: J2 just below its range"),
    say(11, "u3", "Deniz (line lead)", "j two is fine is", final=False, note="distractor: a partial that sounds like a verdict"),
    record(12, UNIT, "inspection", "inspection", "PASS", note="cause: the stage moves to inspection although J2 is out of range"),
    say(12, "u3", "Deniz (line lead)", "J2 is fine, isn't it? Inspection just went green.", note="distractor: the final is a question, and speech anyway"),
    record(13, UNIT, "camera", "J2", "damaged", confidence=0.38, note="distractor: damage report below the confidence needed"),
    record(14, UNIT, "rundown", "J2", 26.1, angle_deg=236, note="cause: just above the range; second failure, and the stage is fasten again"),
    say(15, "u4", "Marta", "Now it's over. Once more, slower this time.", note="distractor: speech between two failures"),
    record(16, UNIT, "rundown", "J2", 26.4, angle_deg=241, note="cause: third failure in a row, too low and too high alike"),
    badge_in(17, "Henning Falk", "joining_specialist", "S5", note="distractor: the specialist is at another station"),
    record(18, BEFORE, "rundown", "J2", 24.4, angle_deg=199, note="distractor: another unit's pass withdraws nothing"),
    badge_out(18, "Henning Falk", "S5", note="distractor: leaves the other station"),
    badge_in(19, "Henning Falk", "joining_specialist", "S6", note="cause: the specialist is present"),
    say(20, "u5", "Henning", "Morning. Which one is it, the big screw?", note="distractor: speech"),
    ticket_opened(21, "QT-884", UNIT, "overtorque on J2, check thread", note="cause: a ticket for this unit"),
    ticket_opened(22, "QT-885", UNIT, "cover batch CV-2207 under review", note="distractor: a second ticket, the hold goes on"),
    ticket_closed(23, "QT-884", note="distractor: one of two closes, the other is still open"),
    say(23, "u6", "Deniz (line lead)", "Quality signed eight eighty-four. That's the tickets done, carry on.", note="distractor: a claim that no ticket is left"),
    ticket_closed(24, "QT-871", note="distractor: another unit's ticket closes"),
    ticket_closed(25, "QT-885", note="cause: the last open ticket of this unit closes"),
    say(26, "u7", "Henning", "thread looks ga", final=False, note="distractor: a partial"),
    record(27, UNIT, "replaced", "J2", part="M10 screw", note="distractor: wipes J2's failures, but the specialist is still present"),
    say(27, "u7", "Henning", "Thread looks galled. New screw's in.", note="distractor: speech"),
    tool(28, "spindle", status="armed", battery_pct=74),
    record(29, UNIT, "rundown", "J2", 26.0, angle_deg=214, note="distractor: exactly at the upper limit passes, but the specialist is still present"),
    say(30, "u8", "Henning", "Twenty-six flat. I'll take that.", note="distractor: the handoff lasts until the badge is out"),
    badge_out(31, "Henning Falk", "S6", note="cause: the specialist has gone; the PASS of tick 12 is obsolete, a future stage"),
    heartbeat(32, "spindle"),
    record(33, UNIT, "inspection", "inspection", "PASS", note="cause: everything is complete"),
    say(34, "u9", "Marta", "Green. Conveyor's backed up, so it stays in the nest for now.", note="distractor: a unit that has to wait for the conveyor is still to be sent on"),
    record(35, UNIT, "camera", "gasket", "absent", confidence=0.58, note="distractor: gasket reported missing, confidence too low"),
    record(36, UNIT, "camera", "gasket", "absent", confidence=0.79, note="distractor: the same again, just below the confidence needed"),
    record(37, UNIT, "camera", "gasket", "absent", confidence=0.91, note="cause: the missing gasket is now reported with enough confidence"),
    say(38, "u10", "Marta", "I've pushed it back in, look, it's there.", note="distractor: speech is no camera report"),
    record(39, UNIT, "camera", "gasket", "present", confidence=0.8, note="cause: confidence equal to the minimum counts; the PASS of tick 33 is obsolete"),
    record(40, BEFORE, "inspection", "inspection", "PASS", note="distractor: another unit's PASS"),
    record(41, UNIT, "inspection", "inspection", "PASS", note="cause: complete again"),
    ticket_opened(42, "QT-890", BEFORE, "label smudged", note="distractor: another unit's ticket"),
    record(43, UNIT, "camera", "J1", "damaged", confidence=0.66, note="distractor: damage report below the confidence needed"),
    badge_in(44, "Pia Lund", "material_handler", "S6", note="distractor: a role that is no specialist"),
    record(45, UNIT, "camera", "J1", "damaged", confidence=0.86, note="cause: J1's screw is damaged, whatever its torque"),
    tool(46, "spindle", program="J1"),
    record(46, UNIT, "rundown", "J1", 10.1, angle_deg=150, note="distractor: a passing torque does not lift the damage"),
    record(47, UNIT, "replaced", "J1", part="M6 screw", note="cause: damage and torques of J1 are wiped; it has no result"),
    record(48, UNIT, "scan", "housing", "NO_READ", note="distractor: unreadable, the stage does not go back to intake"),
    say(48, "u11", "Marta", "It read ten point one a moment ago, that still holds.", note="distractor: a recollection is no result"),
    record(49, UNIT, "rundown", "J1", 10.8, angle_deg=157, note="cause: exactly at the upper limit passes; inspection has to be repeated"),
    badge_out(50, "Pia Lund", "S6", note="distractor: never was a specialist"),
    record(51, UNIT, "inspection", "inspection", "FAIL", note="cause: the inspection fails"),
    say(52, "u12", "Deniz (line lead)", "That's a smudge on the lens. I'd have called it a pass.", note="distractor: speech overrules no inspection"),
    record(53, UNIT, "inspection", "inspection", "PASS", note="cause: complete"),
    badge_in(54, "Henning Falk", "joining_specialist", "S5", note="distractor: the specialist is at another station"),
    record(55, UNIT, "camera", "gasket", "absent", confidence=0.52, note="distractor: confidence too low"),
    ticket_closed(56, "QT-890", note="distractor: another unit's ticket closes"),
    record(57, UNIT, "scan", "cover", "NO_READ", note="distractor: unreadable"),
    tool(58, "spindle", status="idle", battery_pct=66),
    say(58, "u13", "Deniz (line lead)", "Conveyor's still full. Hold on, should we open a ticket for that lens?", note="distractor: talk of a ticket is no ticket"),
    record(59, AFTER, "rundown", "J2", 21.0, angle_deg=170, note="distractor: J2 of another unit"),
)  # fmt: skip

CHANGES: tuple[Change, ...] = (
    Change(2, ("stage", "next_step"), "the gasket is in, so seal is complete"),
    Change(4, ("route", "stage", "next_step", "target", "method"), "the scanned cover is the left-hand one"),
    Change(6, ("route", "next_step", "target", "method"), "the right cover is scanned"),
    Change(8, ("route", "stage", "next_step"), "J1 passes at its limit, J2 is still to do"),
    Change(10, ("route", "target", "method"), "J2 is run down to 21.9, below 22.0"),
    Change(12, ("stage",), "an inspection record moves the stage; J2 is still defective"),
    Change(14, ("stage",), "the second rundown of J2 moves the stage back; 26.1 fails too"),
    Change(16, ("route", "method", "destination"), "the third failure of J2 in a row"),
    Change(19, ("route", "target"), "the joining specialist badges in at this station"),
    Change(21, ("route", "destination"), "a quality ticket outranks the specialist"),
    Change(25, ("route", "destination"), "the second of two tickets closes"),
    Change(31, ("route", "next_step", "destination"), "the specialist badges out; fasten is complete and the old PASS obsolete"),
    Change(33, ("route", "stage", "next_step", "destination"), "a fresh inspection passes"),
    Change(37, ("route", "stage", "target", "method", "destination"), "the camera reports the gasket missing with enough confidence"),
    Change(39, ("route", "next_step", "target", "method"), "the gasket is seen again at exactly the needed confidence"),
    Change(41, ("route", "stage", "next_step", "destination"), "the inspection is repeated"),
    Change(45, ("route", "stage", "target", "method", "destination"), "J1's screw is reported damaged with enough confidence"),
    Change(47, ("route", "target", "method"), "a new screw has no torque yet"),
    Change(49, ("route", "next_step"), "J1 passes at its upper limit"),
    Change(51, ("route", "stage", "next_step", "target", "method"), "the inspection fails"),
    Change(53, ("route", "target", "method", "destination"), "the inspection passes"),
)  # fmt: skip

DRAFT = Draft(
    scenario_id="assembly_a",
    task_family="procedural_coaching",
    title="Gearbox cover: mismatched part, joint rework and quality hold",
    questions=questions(OPTIONS),
    decision_spec=SPEC,
    events=EVENTS,
    changes=CHANGES,
    project=projector(STATION),
    reference=reference,
)
