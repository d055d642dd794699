"""Assembly A, a gearbox cover: a housing changed before it was scanned, a wrong cover, joint J2 under-
and over-tightened beside a gasket that slips out, two overlapping tickets, and checks to repeat.

Voice: a small bench with a talkative operator and a line lead in a hurry. Traps: an inspection gate
that fires by itself and later goes obsolete, two defects beside work left out, two specialists at
once, a camera that is often right before it is sure, people who are right and people who are not.
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

UNIT: str = STATION["unit"]
BEFORE = "GX-0416"
AFTER = "GX-0418"

# Housing, gasket and cover; one part is exchanged before it was scanned, one because of its scan.
BUILDING: tuple[Event, ...] = (
    badge_in(0, "Marta Quell", "operator", "S6", note="distractor: an operator is no specialist"),
    ticket_opened(0, "QT-871", BEFORE, "paint run on flange", note="distractor: another unit's ticket"),
    tool(0, "spindle", battery_pct=81, note="initial tool fields"),
    tool(0, "gate", door="open", note="initial tool fields"),
    tool(0, "conveyor", status="running", note="initial tool fields"),
    record(0, UNIT, "scan", "housing", "GH-4410-B", note="cause: the right housing"),
    say(1, "u1", "Marta", "there's a burr on", final=False, note="distractor: a partial that grows"),
    record(2, UNIT, "replaced", "housing", note="cause: the scan of the first housing is wiped"),
    record(2, UNIT, "camera", "gasket", "present", confidence=0.97, note="cause: the stage is seal, so the new housing's scan is missing"),
    say(2, "u1", "Marta", "there's a burr on this one so i've taken", final=False, note="distractor: the partial goes on"),
    record(3, UNIT, "scan", "housing", "NO_READ", note="distractor: unreadable, the housing is still missing"),
    say(3, "u1", "Marta", "There's a burr on this one, so I've taken the next. Gasket's in.", note="distractor: true, but speech"),
    record(4, UNIT, "scan", "housing", "GH-4410-B", note="cause: the new housing is the right one, and the gasket keeps its result"),
    record(5, UNIT, "scan", "cover", "NO_READ", note="distractor: unreadable, the stage stays intake"),
    record(6, UNIT, "scan", "cover", "CV-2207-L", note="cause: the left-hand cover is wrong"),
    record(7, AFTER, "scan", "cover", "CV-2207-R", note="distractor: the right cover, on another unit"),
    say(7, "u2", "Marta", "It sits flush, holes line up and all.", note="distractor: false comfort, the code is wrong"),
    record(8, UNIT, "replaced", "cover", note="cause: the wrong cover is exchanged"),
    record(8, UNIT, "scan", "cover", "CV-2207-R", note="cause: the right cover, scanned after the exchange"),
    tool(9, "spindle", battery_pct=79),
    record(9, BEFORE, "rundown", "J2", 21.4, note="distractor: J2 of another unit is loose"),
)  # fmt: skip

# J2 fails three times with other records in between; the gasket slips out and is put back.
JOINT: tuple[Event, ...] = (
    record(10, UNIT, "rundown", "J2", 21.9, note="cause: J2 just below its range"),
    record(11, UNIT, "camera", "gasket", "absent", confidence=0.79, note="distractor: true, as it turns out, but not sure enough"),
    say(11, "u3", "Deniz (line lead)", "j2 is done", final=False, note="distractor: a partial that sounds like a verdict"),
    tool(11, "gate", door="shut"),
    record(12, UNIT, "camera", "gasket", "absent", confidence=0.91, note="cause: now it is sure, and the gasket is listed before J2"),
    record(12, UNIT, "inspection", "inspection", "PASS", note="cause: the gate moves the stage to inspection; J1 is missing behind two defects"),
    say(12, "u3", "Deniz (line lead)", "j2 is done is it the gate", final=False, note="distractor: the partial goes on"),
    say(13, "u3", "Deniz (line lead)", "J2 is done, is it? The gate just went green.", note="distractor: false, and a question"),
    say(13, "u4", "Marta", "It fires by itself, door or no door. It only sees the face.", note="distractor: true, but speech"),
    record(14, UNIT, "camera", "gasket", "present", confidence=0.8, note="cause: confidence equal to the minimum counts"),
    record(14, UNIT, "rundown", "J2", 26.1, note="cause: just above the range; second failure, and the stage is fasten again"),
    record(15, UNIT, "rundown", "J1", 9.2, note="distractor: exactly at the lower limit passes, and breaks no run of J2"),
    record(16, UNIT, "rundown", "J2", 26.4, note="cause: third failure since J2 last passed, too low and too high alike"),
    badge_in(17, "Henning Falk", "joining_specialist", "S5", note="distractor: the specialist is at another station"),
    record(18, BEFORE, "rundown", "J2", 24.4, note="distractor: another unit's pass withdraws nothing"),
    badge_out(18, "Henning Falk", "S5", note="distractor: leaves the other station"),
)  # fmt: skip

# The specialist comes, quality holds the unit twice over, a second specialist looks in.
HANDED_OVER: tuple[Event, ...] = (
    badge_in(19, "Henning Falk", "joining_specialist", "S6", note="cause: the specialist is present"),
    tool(20, "gate", door="open"),
    ticket_opened(21, "QT-884", UNIT, "J2 overtorque, attach torque log", note="cause: a ticket for this unit"),
    ticket_opened(22, "QT-885", UNIT, "cover batch under review", note="distractor: a second ticket, the hold goes on"),
    say(22, "u5", "Deniz (line lead)", "qt-884 is signed and", final=False, note="distractor: a partial"),
    ticket_closed(23, "QT-884", note="distractor: one of two closes, the other is still open"),
    say(23, "u5", "Deniz (line lead)", "QT-884 is signed and QT-885 is cleared too. Carry on.", note="distractor: false about the second, which is not closed"),
    ticket_closed(24, "QT-871", note="distractor: another unit's ticket closes"),
    ticket_closed(25, "QT-885", note="cause: the last open ticket of this unit closes"),
    badge_in(26, "Ilka Sorin", "sealing_specialist", "S6", note="distractor: two specialists, the one listed first is still there"),
    say(26, "u6", "Henning", "thread looks", final=False, note="distractor: a partial that grows"),
    record(27, UNIT, "replaced", "J2", note="distractor: wipes J2's failures, but a specialist is still present"),
    say(27, "u6", "Henning", "thread looks galled i've put", final=False, note="distractor: the partial goes on"),
    badge_out(28, "Ilka Sorin", "S6", note="distractor: the other specialist is still there"),
    say(28, "u6", "Henning", "Thread looks galled. I've put a new screw in.", note="distractor: true, but speech"),
    record(29, UNIT, "rundown", "J2", 26.0, note="distractor: exactly at the upper limit passes, but the specialist is still present"),
    tool(30, "spindle", battery_pct=74),
    badge_out(31, "Henning Falk", "S6", note="cause: the specialist has gone; the PASS of tick 12 is obsolete, a future stage"),
    heartbeat(32, "spindle"),
)  # fmt: skip

# Finished, but the conveyor is full: a new gasket, and the camera and the specialist again.
WAITING: tuple[Event, ...] = (
    record(33, UNIT, "inspection", "inspection", "PASS", note="cause: everything is complete"),
    tool(34, "conveyor", status="full"),
    say(35, "u7", "Marta", "Green. The conveyor's full, so it waits here.", note="distractor: a unit that has to wait is still to be sent on"),
    record(36, UNIT, "camera", "gasket", "absent", confidence=0.79, note="distractor: false, and just below the confidence needed"),
    record(37, UNIT, "replaced", "gasket", note="cause: a new gasket has no result; a replacement alone moves the stage"),
    say(37, "u8", "Marta", "i won't argue with", final=False, note="distractor: a partial"),
    record(38, UNIT, "camera", "gasket", "present", confidence=0.74, note="distractor: true, but not sure enough"),
    say(38, "u8", "Marta", "I won't argue with a camera. Fresh one's in.", note="distractor: true, but speech"),
    badge_in(39, "Ilka Sorin", "sealing_specialist", "S6", note="cause: the sealing specialist is present"),
    record(40, UNIT, "camera", "gasket", "present", confidence=0.8, note="distractor: equal to the minimum counts, but the specialist is still present"),
    record(41, UNIT, "inspection", "inspection", "PASS", note="cause: complete again"),
    badge_out(41, "Ilka Sorin", "S6", note="cause: the specialist has gone"),
    ticket_opened(42, "QT-890", BEFORE, "label smudged", note="distractor: another unit's ticket"),
    record(43, UNIT, "camera", "J2", "damaged", confidence=0.79, note="distractor: false, and just below the confidence needed"),
)  # fmt: skip

# J1's screw is damaged; the gate fails once; the unit waits for the conveyor.
LAST_SCREW: tuple[Event, ...] = (
    record(45, UNIT, "camera", "J1", "damaged", confidence=0.86, note="cause: J1's screw is damaged, whatever its torque"),
    record(46, UNIT, "rundown", "J1", 10.1, note="distractor: a passing torque does not lift the damage"),
    say(46, "u9", "Deniz (line lead)", "Once that's out, scan the cover for the batch list.", note="distractor: a request"),
    record(47, UNIT, "replaced", "J1", note="cause: damage and torques of J1 are wiped"),
    record(47, UNIT, "scan", "cover", "CV-2207-R", note="cause: the stage is cover, and J1 has no result"),
    record(48, UNIT, "scan", "housing", "NO_READ", note="distractor: unreadable, the stage does not go back to intake"),
    say(48, "u10", "Marta", "It read ten point one a moment ago, that still holds.", note="distractor: false, a recollection is no result"),
    record(49, UNIT, "rundown", "J1", 10.8, note="cause: exactly at the upper limit passes; inspection has to be repeated"),
    record(50, BEFORE, "inspection", "inspection", "PASS", note="distractor: another unit's PASS"),
    record(51, UNIT, "inspection", "inspection", "FAIL", note="cause: the inspection fails"),
    say(52, "u11", "Deniz (line lead)", "Smudge on the lens. Wipe it and it'll pass.", note="distractor: true, as it turns out, but speech"),
    record(53, UNIT, "inspection", "inspection", "PASS", note="cause: complete"),
    record(54, UNIT, "camera", "cover", "damaged", confidence=0.95, note="distractor: sure, but no camera is asked about the cover"),
    badge_in(54, "Henning Falk", "joining_specialist", "S5", note="distractor: the specialist is at another station"),
    ticket_closed(56, "QT-890", note="distractor: another unit's ticket closes"),
    record(57, UNIT, "scan", "cover", "NO_READ", note="distractor: unreadable"),
    say(57, "u12", "Deniz (line lead)", "that scratch on the", final=False, note="distractor: a partial"),
    say(58, "u12", "Deniz (line lead)", "That scratch on the cover needs a ticket.", note="distractor: talk of a ticket is no ticket"),
    record(59, AFTER, "rundown", "J2", 21.0, note="distractor: J2 of another unit is loose"),
)  # fmt: skip

EVENTS = (*BUILDING, *JOINT, *HANDED_OVER, *WAITING, *LAST_SCREW)

CHANGES: tuple[Change, ...] = (
    Change(2, ("route", "stage", "next_step", "target", "method"), "the gasket is in, but the new housing was never scanned"),
    Change(4, ("route", "stage", "next_step", "target", "method"), "the new housing is scanned; the gasket is in already"),
    Change(6, ("route", "stage", "next_step", "target", "method"), "the scanned cover is the left-hand one"),
    Change(8, ("route", "next_step", "target", "method"), "the cover is exchanged, then scanned as the right one"),
    Change(10, ("route", "stage", "next_step", "target", "method"), "J2 is run down to 21.9, below 22.0"),
    Change(12, ("stage", "target", "method"), "the gasket is gone and the gate inspects: of two defects the gasket is listed first"),
    Change(14, ("stage", "target", "method"), "the gasket is back; J2's second rundown, 26.1, fails too"),
    Change(16, ("route", "method", "destination"), "the third failure of J2 since it last passed"),
    Change(19, ("route", "target"), "the joining specialist badges in at this station"),
    Change(21, ("route", "destination"), "a quality ticket goes before the specialist"),
    Change(25, ("route", "destination"), "the second of two tickets closes"),
    Change(31, ("route", "next_step", "destination"), "the specialist badges out; fasten is complete and the old PASS obsolete"),
    Change(33, ("route", "stage", "next_step", "destination"), "a fresh inspection passes"),
    Change(37, ("route", "stage", "destination"), "a new gasket, not seen yet"),
    Change(39, ("route", "destination"), "the sealing specialist badges in at this station"),
    Change(41, ("route", "stage", "destination"), "she badges out after the gasket was seen, and the inspection is repeated"),
    Change(45, ("route", "stage", "target", "method", "destination"), "J1's screw is reported damaged with enough confidence"),
    Change(47, ("route", "stage", "next_step", "target", "method"), "a new screw has no torque yet; the cover is scanned again"),
    Change(49, ("stage", "next_step"), "J1 passes at its upper limit"),
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
