"""Assembly B, a cable module: a wrong module, a connector the wrong way round, two terminals crimped
wrong at once, a flickering continuity test, and a late re-crimp that makes tests, label and kit obsolete.

Voice: a quiet two-person bench with instruments, where people argue from memory. Traps: two targets to
escalate at once, a failure after a replacement, a pass between failures, transposed label digits,
tests that "were green already", an escalation that a plain repeat withdraws.
"""

from __future__ import annotations

from streamdecisionbench.families.assembly.cable_module.setting import OPTIONS, STATION
from streamdecisionbench.families.assembly.events import (
    badge_in,
    badge_out,
    record,
    say,
    ticket_closed,
    ticket_opened,
    tool,
)
from streamdecisionbench.families.assembly.questions import SPEC, questions
from streamdecisionbench.families.assembly.reference import reference
from streamdecisionbench.families.assembly.state import projector
from streamdecisionbench.suite.authoring import Change, Draft, Event

UNIT: str = STATION["unit"]
BEFORE = "CM-2290"
AFTER = "CM-2292"

# The module comes from the wrong bin, the connector sits upside down.
MOUNTING: tuple[Event, ...] = (
    badge_in(0, "Tomas Reyl", "operator", "K3", note="distractor: an operator is no specialist"),
    ticket_opened(0, "N-3051", BEFORE, "sleeve scorched", note="distractor: another unit's ticket"),
    tool(0, "press", stop="B", note="initial tool fields"),
    tool(0, "tester", status="ready", note="initial tool fields"),
    tool(0, "rack", free=3, note="initial tool fields"),
    record(0, UNIT, "scan", "module", "CMX-22-A2", note="cause: a module of another revision"),
    say(1, "s1", "Tomas", "Two, three, it's all the same bin.", note="distractor: false, every digit counts"),
    record(2, UNIT, "replaced", "module", note="cause: the wrong module is exchanged"),
    record(2, UNIT, "scan", "module", "CMX-22-A3", note="cause: the right module, scanned after the exchange"),
    record(4, UNIT, "camera", "orientation", "key_down", confidence=0.93, note="cause: the connector sits the wrong way round"),
    record(5, UNIT, "camera", "orientation", "key_up", confidence=0.84, note="distractor: true, but just below the confidence needed"),
    say(5, "s2", "Tomas", "turned it", final=False, note="distractor: a partial that grows"),
    record(6, UNIT, "camera", "orientation", "key_up", confidence=0.85, note="cause: confidence equal to the minimum counts"),
    say(6, "s2", "Tomas", "turned it round key's", final=False, note="distractor: the partial goes on"),
    say(7, "s2", "Tomas", "Turned it round, key's up now.", note="distractor: true, but speech"),
)  # fmt: skip

# The twin press crimps both terminals wrong, again and again; one is damaged on the way.
CRIMPING: tuple[Event, ...] = (
    record(8, UNIT, "crimp_height", "P1", 1.41, note="cause: just below the range, and listed before P2"),
    record(8, UNIT, "crimp_height", "P2", 1.29, note="cause: above the range"),
    record(9, UNIT, "replaced", "P1", note="distractor: wipes the first failure"),
    record(9, UNIT, "crimp_height", "P1", 1.53, note="distractor: the first failure of the new terminal, so no run yet"),
    record(10, UNIT, "crimp_height", "P1", 1.51, note="cause: second failure since the replacement, just above the range"),
    record(10, UNIT, "crimp_height", "P2", 1.27, note="cause: second failure, just above the range, but P1 is listed first"),
    tool(11, "press", stop="C"),
    say(11, "s3", "Tomas", "Somebody had moved the stop. It's back now.", note="distractor: true, but speech"),
    record(12, UNIT, "crimp_height", "P1", 1.5, note="cause: exactly at the upper limit passes, which withdraws the escalation"),
    record(12, UNIT, "crimp_height", "P2", 1.26, note="cause: exactly at the upper limit passes"),
    record(12, UNIT, "camera", "P2", "damaged", confidence=0.85, note="cause: a damage report at exactly the confidence needed"),
    say(13, "s4", "Imke (lead)", "That's a loose strand, nothing more.", note="distractor: false, and speech lifts no damage"),
    record(14, UNIT, "crimp_height", "P2", 1.24, note="distractor: a passing height does not lift the damage"),
    badge_in(16, "Sunniva Hale", "harness_specialist", "K3", note="cause: the specialist is present"),
    badge_in(17, "Orla Venn", "test_engineer", "K3", note="distractor: two specialists, the one listed first is still there"),
    say(17, "s5", "Sunniva", "the insulation's nicked", final=False, note="distractor: a partial"),
    record(18, UNIT, "replaced", "P2", note="distractor: lifts the damage, but a specialist is still present"),
    say(18, "s5", "Sunniva", "The sheath's nicked. New lead, new terminal.", note="distractor: true, but speech"),
    badge_out(19, "Orla Venn", "K3", note="distractor: the other specialist is still there"),
    record(20, UNIT, "crimp_height", "P2", 1.18, note="distractor: exactly at the lower limit passes, the specialist is still present"),
    tool(21, "tester", status="warming up"),
)  # fmt: skip

# Tests, label and kit for the first time.
TESTING: tuple[Event, ...] = (
    badge_out(22, "Sunniva Hale", "K3", note="cause: the specialist has gone"),
    ticket_closed(23, "N-3051", note="distractor: another unit's ticket closes"),
    tool(23, "tester", status="ready"),
    record(24, UNIT, "resistance", "continuity", 0.41, note="cause: just above the continuity limit"),
    record(25, UNIT, "resistance", "insulation", 64.0, note="distractor: insulation passes, continuity is still defective"),
    say(25, "s6", "Tomas", "Point four one, that rounds to point four.", note="distractor: false, nobody rounds for the tester"),
    record(26, UNIT, "resistance", "continuity", 0.38, note="distractor: a pass, overtaken by the next record of the same tick"),
    record(26, UNIT, "resistance", "continuity", 0.42, note="distractor: a failure again, but only one since the pass"),
    record(27, BEFORE, "resistance", "continuity", 0.22, note="distractor: another unit's continuity"),
    record(28, UNIT, "resistance", "continuity", 0.4, note="cause: exactly at the limit passes"),
    record(29, UNIT, "scan", "label", "NO_READ", note="distractor: unreadable, the stage stays"),
    record(30, UNIT, "scan", "label", "LB-2291-70", note="cause: the digits are transposed"),
    record(31, UNIT, "scan", "module", "NO_READ", note="distractor: unreadable, the stage does not go back to intake"),
    record(32, UNIT, "replaced", "label", note="cause: the wrong label is peeled off"),
    record(32, UNIT, "scan", "label", "LB-2291-07", note="cause: the right label, the kit is to do"),
    tool(33, "rack", free=2),
    record(34, UNIT, "kit_count", "accessory", 3, note="cause: one piece short"),
    record(35, UNIT, "camera", "orientation", "key_down", confidence=0.62, note="distractor: false, and not sure enough"),
    record(36, UNIT, "kit_count", "accessory", 4, note="cause: the unit is complete"),
    say(37, "s7", "Imke (lead)", "P1 looks proud. Another squeeze before it goes.", note="distractor: a request is no rework yet"),
)  # fmt: skip

# P1 is crimped again, so all that has to follow it is done again, first in the wrong order.
AGAIN: tuple[Event, ...] = (
    record(38, UNIT, "crimp_height", "P1", 1.42, note="cause: rework of P1, at the limit; electrical and label results are obsolete"),
    say(39, "s8", "Tomas", "Electrical was green. I'll just rescan the label.", note="distractor: false, a recollection is no result"),
    record(40, UNIT, "scan", "label", "LB-2291-07", note="cause: the stage is label, so the electrical tests before it are missing"),
    record(41, UNIT, "kit_count", "accessory", 4, note="distractor: the kit is right, continuity is still missing"),
    record(42, UNIT, "resistance", "continuity", 0.31, note="cause: continuity is repeated"),
    record(42, UNIT, "resistance", "insulation", 19.9, note="cause: just below the limit"),
    say(43, "s9", "Tomas", "oh the clip", final=False, note="distractor: a partial that grows"),
    record(44, UNIT, "resistance", "insulation", 19.6, note="cause: second failure; the 64.0 of tick 25 is obsolete"),
    say(44, "s9", "Tomas", "oh the clip was on the", final=False, note="distractor: the partial goes on"),
    record(46, UNIT, "resistance", "insulation", 20.0, note="cause: exactly at the limit passes, which withdraws the escalation"),
    say(46, "s9", "Tomas", "Oh, the clip was on the shield. Measured again.", note="distractor: true, but speech"),
    tool(47, "rack", free=1),
    record(48, UNIT, "scan", "label", "LB-2291-07", note="cause: label renewed, the kit is to do"),
    record(49, UNIT, "kit_count", "accessory", "NO_READ", note="distractor: the tray was unreadable"),
)  # fmt: skip

# Finished, but the burn-in rack is full.
WAITING: tuple[Event, ...] = (
    record(50, UNIT, "kit_count", "accessory", 4, note="cause: the unit is complete"),
    tool(51, "rack", free=0),
    record(51, UNIT, "camera", "label", "torn", confidence=0.96, note="distractor: sure, but no camera is asked about the label"),
    say(52, "s10", "Imke (lead)", "Rack's full, so ours waits on the bench.", note="distractor: a unit that has to wait is still to be sent on"),
    ticket_opened(53, "N-3060", AFTER, "module dropped", note="distractor: another unit's ticket"),
    record(53, UNIT, "camera", "P1", "damaged", confidence=0.84, note="distractor: false, and just below the confidence needed"),
    record(55, AFTER, "camera", "P1", "damaged", confidence=0.97, note="distractor: a sure damage report, but on the dropped unit"),
    tool(56, "press", stop="B"),
    ticket_opened(58, "N-3063", UNIT, "lot number to confirm", note="cause: a ticket is open"),
    ticket_closed(59, "N-3063", note="cause: the ticket closes"),
)  # fmt: skip

EVENTS = (*MOUNTING, *CRIMPING, *TESTING, *AGAIN, *WAITING)

CHANGES: tuple[Change, ...] = (
    Change(2, ("route", "next_step", "target", "method"), "the module is exchanged, then scanned as the right one"),
    Change(4, ("route", "stage", "next_step", "target", "method"), "the connector is seen the wrong way round"),
    Change(6, ("route", "next_step", "target", "method"), "seen the right way round at exactly the needed confidence"),
    Change(8, ("route", "stage", "next_step", "target", "method"), "both crimps are out of range: of two defects P1 is listed first"),
    Change(10, ("route", "method", "destination"), "both terminals have failed twice: P1 is listed first"),
    Change(12, ("route", "target", "method", "destination"), "both pass, which withdraws the escalation, but P2 is reported damaged"),
    Change(16, ("route", "target", "method", "destination"), "the harness specialist badges in at this station"),
    Change(22, ("route", "next_step", "destination"), "the specialist badges out; P2 was replaced and passes"),
    Change(24, ("route", "stage", "next_step", "target", "method"), "continuity is 0.41 ohm, above 0.4"),
    Change(28, ("route", "next_step", "target", "method"), "continuity passes at 0.4, insulation at 25"),
    Change(30, ("route", "stage", "next_step", "target", "method"), "a label with transposed digits is scanned"),
    Change(32, ("route", "target", "method"), "the label is exchanged and scanned, the kit is to do"),
    Change(34, ("route", "target", "method"), "three pieces instead of four"),
    Change(36, ("route", "target", "method", "destination"), "four pieces: complete"),
    Change(38, ("route", "stage", "next_step", "destination"), "P1 is crimped again: tests, label and kit are obsolete"),
    Change(40, ("route", "stage", "next_step", "target", "method"), "the label is scanned before the electrical tests are repeated"),
    Change(42, ("stage", "target", "method"), "continuity is repeated; insulation is 19.9 megohm, below 20"),
    Change(44, ("route", "method", "destination"), "insulation fails a second time"),
    Change(46, ("route", "next_step", "target", "destination"), "insulation passes at exactly 20: the escalation is withdrawn"),
    Change(48, ("route", "stage", "next_step"), "the label is renewed, the kit is to do"),
    Change(50, ("route", "destination"), "the kit is counted again: complete"),
    Change(58, ("route", "destination"), "a ticket opens on the finished unit"),
    Change(59, ("route", "destination"), "the ticket closes at once"),
)  # fmt: skip

DRAFT = Draft(
    scenario_id="assembly_b",
    task_family="procedural_coaching",
    title="Cable module: orientation, crimp repair and stale electrical checks",
    questions=questions(OPTIONS),
    decision_spec=SPEC,
    events=EVENTS,
    changes=CHANGES,
    project=projector(STATION),
    reference=reference,
)
