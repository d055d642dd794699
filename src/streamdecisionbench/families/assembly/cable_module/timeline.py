"""Assembly B, a cable module: a connector the wrong way round, a terminal crimped wrong twice, and
a late re-crimp that makes the electrical tests, the label and the kit count obsolete.

Voice: a quiet two-person bench with instruments, where people argue from memory. Traps: transposed
label digits, tests that "were green already", a badge that comes in during a hold, a failed
insulation test that a plain repeat puts right.
"""

from __future__ import annotations

from streamdecisionbench.families.assembly.cable_module.setting import OPTIONS, STATION
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
from streamdecisionbench.families.assembly.questions import SPEC, questions
from streamdecisionbench.families.assembly.reference import reference
from streamdecisionbench.families.assembly.state import projector
from streamdecisionbench.suite.authoring import Change, Draft, Event

__all__ = ["DRAFT"]

UNIT: str = STATION["unit"]
BEFORE = "CM-2290"
AFTER = "CM-2292"

EVENTS: tuple[Event, ...] = (
    badge_in(0, "Tomas Reyl", "operator", "K3", note="distractor: an operator is no specialist"),
    ticket_opened(0, "N-3051", BEFORE, "sleeve scorched", note="distractor: another unit's ticket"),
    tool(0, "crimper", status="ready", die="0.5", note="initial tool fields"),
    tool(0, "tester", status="ready", leads="set 4", note="initial tool fields"),
    record(0, UNIT, "scan", "module", "CMX-22-A3", note="cause: the right module"),
    tool(1, "crimper", die="1.5"),
    record(2, UNIT, "camera", "orientation", "key_down", confidence=0.93, note="cause: the connector sits the wrong way round"),
    record(3, UNIT, "camera", "orientation", "key_up", confidence=0.71, note="distractor: the right way round, but confidence too low"),
    record(4, UNIT, "camera", "orientation", "key_up", confidence=0.85, note="cause: confidence equal to the minimum counts"),
    record(5, UNIT, "scan", "module", "NO_READ", note="distractor: unreadable, the stage does not go back to intake"),
    record(6, UNIT, "crimp_height", "P1", 1.45, note="cause: P1 passes, P2 is to do"),
    tool(7, "crimper", die="0.5"),
    record(7, BEFORE, "crimp_height", "P2", 1.22, note="distractor: P2 of another unit"),
    record(8, UNIT, "crimp_height", "P2", 1.27, note="cause: just above the range"),
    say(9, "s1", "Tomas", "A hundredth over. The gauge isn't even that good.", note="distractor: an excuse is no result"),
    record(10, UNIT, "crimp_height", "P2", 1.17, note="cause: second failure in a row, this time too low"),
    record(11, BEFORE, "crimp_height", "P2", 1.2, note="distractor: another unit's pass withdraws nothing"),
    ticket_opened(12, "N-3056", UNIT, "P2 out of tolerance twice", note="cause: a ticket for this unit"),
    say(13, "s2", "Imke (lead)", "fifty six is only a", final=False, note="distractor: a partial"),
    badge_in(14, "Sunniva Hale", "harness_specialist", "K3", note="distractor: the open ticket outranks the specialist"),
    say(14, "s2", "Imke (lead)", "Fifty-six is only a formality, treat it as closed.", note="distractor: speech closes no ticket"),
    ticket_closed(15, "N-3051", note="distractor: another unit's ticket closes"),
    ticket_closed(16, "N-3056", note="cause: the ticket closes and the specialist is present"),
    say(17, "s3", "Sunniva", "Wings are folded under. I'll cut it off and start clean.", note="distractor: speech"),
    record(18, UNIT, "replaced", "P2", part="terminal 0.5", note="distractor: wipes P2's failures, but the specialist is still present"),
    heartbeat(19, "tester"),
    record(20, UNIT, "crimp_height", "P2", 1.18, note="distractor: exactly at the lower limit passes, the specialist is still present"),
    say(21, "s4", "Sunniva", "One eighteen. Not pretty, but it's in.", note="distractor: the handoff lasts until the badge is out"),
    badge_out(22, "Sunniva Hale", "K3", note="cause: the specialist has gone"),
    badge_in(23, "Orla Venn", "test_engineer", "K4", note="distractor: a specialist at another station"),
    record(24, UNIT, "resistance", "continuity", 0.41, note="cause: just above the continuity limit"),
    say(25, "s5", "Tomas", "Point four one, that rounds to point four.", note="distractor: nobody rounds for the tester"),
    record(26, UNIT, "resistance", "insulation", 64.0, note="distractor: insulation passes, continuity is still defective"),
    record(27, BEFORE, "resistance", "continuity", 0.22, note="distractor: another unit's continuity"),
    record(28, UNIT, "resistance", "continuity", 0.4, note="cause: exactly at the limit passes"),
    record(29, UNIT, "scan", "label", "NO_READ", note="distractor: unreadable, the stage stays"),
    record(30, UNIT, "scan", "label", "LB-2291-70", note="cause: the digits are transposed"),
    say(31, "s6", "Tomas", "Twenty-two ninety-one, dash... yes, that's ours.", note="distractor: reading half a code aloud"),
    record(32, UNIT, "scan", "label", "LB-2291-07", note="cause: the right label, the kit is to do"),
    record(33, UNIT, "camera", "orientation", "key_down", confidence=0.62, note="distractor: confidence too low"),
    record(34, UNIT, "kit_count", "accessory", 3, note="cause: one piece short"),
    record(35, AFTER, "kit_count", "accessory", 4, note="distractor: another unit's kit"),
    record(36, UNIT, "kit_count", "accessory", 4, note="cause: the unit is complete"),
    say(37, "s7", "Imke (lead)", "P1 looks a bit proud to me. Give it another squeeze before it goes.", note="distractor: a request is no rework yet"),
    tool(37, "crimper", die="1.5"),
    record(38, UNIT, "crimp_height", "P1", 1.42, note="cause: rework of P1, at the limit; electrical and label results are obsolete"),
    say(39, "s8", "Tomas", "The electrical was all green already, I'll just rescan the label.", note="distractor: a recollection is no result"),
    record(40, UNIT, "scan", "label", "LB-2291-07", note="cause: the stage is label, so the electrical tests before it are missing"),
    record(41, UNIT, "kit_count", "accessory", 4, note="distractor: the kit is right, continuity is still missing"),
    record(42, UNIT, "resistance", "continuity", 0.31, note="cause: the stage is electrical; insulation is to do and the label obsolete"),
    say(43, "s9", "Tomas", "Insulation was sixty-four, remember?", note="distractor: a recollection is no result"),
    record(44, UNIT, "resistance", "insulation", 19.9, note="cause: just below the limit"),
    say(45, "s10", "Tomas", "oh the clip was on the", final=False, note="distractor: a partial"),
    record(45, BEFORE, "resistance", "insulation", 38.0, note="distractor: another unit's insulation"),
    record(46, UNIT, "resistance", "insulation", 20.0, note="cause: a fresh result exactly at the limit passes, no cable was replaced"),
    say(46, "s10", "Tomas", "Oh, the clip was on the shield. Measured again.", note="distractor: speech"),
    say(47, "s11", "Imke (lead)", "You've scanned that label often enough. Skip it.", note="distractor: speech does not renew an obsolete label scan"),
    record(48, UNIT, "scan", "label", "LB-2291-07", note="cause: label renewed, the kit is to do"),
    record(49, UNIT, "kit_count", "accessory", "NO_READ", note="distractor: the tray was unreadable"),
    record(50, UNIT, "kit_count", "accessory", 4, note="cause: the unit is complete"),
    ticket_opened(51, "N-3060", AFTER, "module dropped", note="distractor: another unit's ticket"),
    badge_out(52, "Orla Venn", "K4", note="distractor: leaves another station"),
    record(53, UNIT, "camera", "P1", "damaged", confidence=0.84, note="distractor: damage report just below the confidence needed"),
    record(54, AFTER, "camera", "P1", "damaged", confidence=0.97, note="distractor: a sure damage report, but on the dropped unit"),
    tool(55, "tester", status="self-test", leads="set 5"),
    say(56, "s12", "Imke (lead)", "Sixty is the dropped one, not ours.", note="distractor: speech about another unit's ticket"),
    record(57, UNIT, "scan", "label", "NO_READ", note="distractor: unreadable"),
    ticket_opened(58, "N-3063", UNIT, "paperwork: lot number to confirm", note="cause: a ticket is open"),
    ticket_closed(59, "N-3063", note="cause: the ticket closes"),
)  # fmt: skip

CHANGES: tuple[Change, ...] = (
    Change(2, ("route", "stage", "next_step", "target", "method"), "the connector is seen the wrong way round"),
    Change(4, ("route", "next_step", "target", "method"), "seen the right way round at exactly the needed confidence"),
    Change(6, ("route", "stage", "next_step"), "P1 passes, P2 is still to do"),
    Change(8, ("route", "target", "method"), "P2 is 1.27 mm, above 1.26"),
    Change(10, ("route", "method", "destination"), "the second failure of P2 in a row"),
    Change(12, ("route", "target", "destination"), "a quality ticket outranks the escalation"),
    Change(16, ("route", "destination"), "the ticket closes; the specialist badged in at 14"),
    Change(22, ("route", "next_step", "destination"), "the specialist badges out; P2's fresh pass has withdrawn the escalation"),
    Change(24, ("route", "stage", "next_step", "target", "method"), "continuity is 0.41 ohm, above 0.4"),
    Change(28, ("route", "next_step", "target", "method"), "continuity passes at 0.4, insulation at 26"),
    Change(30, ("route", "stage", "next_step", "target", "method"), "a label with transposed digits is scanned"),
    Change(32, ("route", "target", "method"), "the right label is scanned, the kit is to do"),
    Change(34, ("route", "target", "method"), "three pieces instead of four"),
    Change(36, ("route", "target", "method", "destination"), "four pieces: complete"),
    Change(38, ("route", "stage", "next_step", "destination"), "P1 is crimped again: tests, label and kit are obsolete"),
    Change(40, ("route", "stage", "next_step", "target", "method"), "the label is scanned before the electrical tests are repeated"),
    Change(42, ("route", "stage", "target", "method"), "continuity is repeated, insulation is still to do"),
    Change(44, ("route", "target", "method"), "insulation is 19.9 megohm, below 20"),
    Change(46, ("route", "next_step", "target", "method"), "insulation passes at exactly 20"),
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
