"""The intercom call's reference, case by case: deadlines, callbacks, corrections, permissions."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from streamdecisionbench.families.support.reference import reference
from streamdecisionbench.families.support.rules import INTERCOM_RULES
from tests.families.cases import Case, holds
from tests.families.support.listed import INTERCOM_START, A, B, C, Call, Line

pytestmark = pytest.mark.slow

CALL = Call(INTERCOM_START, INTERCOM_RULES)
call, case, CASES = CALL.state, CALL.case, CALL.cases


def callbacks(*pairs: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"at": i, "parcel": parcel, "outcome": out} for i, (parcel, out) in enumerate(pairs)]


def permissions(*entries: tuple[str, str, str]) -> list[dict[str, Any]]:
    return [{"at": i, "for": p, "says": s, "by": by} for i, (p, s, by) in enumerate(entries)]


def device(
    test: str = "none",
    result: str | None = None,
    remote: str = "none",
    found: str | None = None,
    self_fit: bool = True,
    stock: int = 0,
) -> dict[str, Any]:
    return {
        "place": "hall",
        "test": {"status": test, "result": result},
        "remote": {"status": remote, "result": found},
        "spare": {"self_fit": self_fit, "stock": stock},
    }


DOORPLATE: Line = (1, C, True, "Where is the door plate?")
KEYPAD: Line = (1, C, True, "Where is the keypad?")
CANCEL: Line = (1, C, True, "Please cancel the keypad.")
GATE: Line = (1, C, True, "Can you fix the gate unit?")
SCREEN: Line = (1, C, True, "Can you fix the hall screen?")
EMAIL: Line = (2, C, True, "Email me.")
TEXT: Line = (2, C, True, "Text me.")
RING: Line = (2, C, True, "Ring me.")

DELIVERY_OFF = {"delivery_action": "none"}
CANCEL_OFF = {"cancellation_action": "none"}
REPAIR_OFF = {"repair_target": "none", "repair_action": "none"}
ALL_OFF = {**DELIVERY_OFF, **CANCEL_OFF, **REPAIR_OFF, "delivery_target": "none"}

# fmt: off
# --- the work: requests, corrections, who may set it --------------------------------------------
case("menu choice before any speech", "B05 B15", call(0), {**CANCEL_OFF, **REPAIR_OFF}, route="delivery", delivery_target="doorplate", delivery_action="wait", contact_channel="none")
case("another menu choice", "B05", call(0, call__menu_choice={"kind": "repair", "item": "hall_screen"}), route="repair", repair_target="hall_screen", repair_action="diagnose")
WORDINGS = (
    ("Where is the door plate?", "delivery", "doorplate"),
    ("Where is the keypad?", "delivery", "keypad"),
    ("Cancel the door plate.", "cancel", "doorplate"),
    ("Cancel the keypad!", "cancel", "keypad"),
    ("Fix the gate unit, please.", "repair", "gate_unit"),
    ("FIX the hall screen.", "repair", "hall_screen"),
)
for text, kind, item in WORDINGS:
    target = "repair_target" if kind == "repair" else "delivery_target"
    menu = (
        {"kind": "delivery", "item": "keypad"}
        if kind == "repair"
        else {"kind": "repair", "item": "gate_unit"}
    )
    case(f"final customer: {text}", "B03 B04 B05 B07", call(5, (5, C, True, text), call__menu_choice=menu), {"route": kind, target: item})
    for who, final in ((C, False), (A, True), (B, True)):
        case(f"{who}, final={final}: {text}", "B04", call(5, (5, who, final, text), call__menu_choice=menu), {"route": menu["kind"]})
case("routes switch off what they do not use: cancel", "B07 B15", call(5, CANCEL), {**DELIVERY_OFF, **REPAIR_OFF}, route="cancel", delivery_target="keypad", cancellation_action="cancel_request")
case("routes switch off what they do not use: repair", "B07 B15", call(5, GATE), {**DELIVERY_OFF, **CANCEL_OFF}, delivery_target="none", route="repair", repair_target="gate_unit", repair_action="diagnose")
case("another wording asks for nothing", "B03", call(5, (5, C, True, "My keypad, where has it got to? Cancel it.")), route="delivery", delivery_target="doorplate")
case("words must be adjacent", "B03", call(5, (5, C, True, "Cancel, please, the keypad.")), route="delivery")
case("complete words only", "B03", call(5, (5, C, True, "Cancel the keypads.")), route="delivery")
case("wording alone in the utterance", "B03", call(5, (5, C, True, "cancel the keypad")), route="cancel")
case("punctuation inside a wording", "B03", call(5, (5, C, True, "Cancel... the keypad.")), route="cancel")
case("quotation marks around a wording", "B03", call(5, (5, C, True, "It says 'cancel the keypad' here.")), route="cancel")
case("surroundings do not matter", "B03", call(5, (5, C, True, "Nobody said cancel the keypad.")), route="cancel")
case("last request stands", "B05", call(9, CANCEL, (5, C, True, "Fix the gate unit.")), route="repair", repair_target="gate_unit")
case("one tick: order of the list", "B02", call(9, (5, C, True, "Fix the gate unit."), (5, C, True, "Cancel the keypad.")), route="cancel")
case("order of at, not of the list", "B02", call(9, (7, C, True, "Fix the gate unit."), (5, C, True, "Cancel the keypad.")), route="repair")
case("left to right in one utterance", "B03", call(9, (5, C, True, "Cancel the keypad, no, where is the keypad?")), route="delivery", delivery_target="keypad")
case("left to right, other way", "B03", call(9, (5, C, True, "Where is the keypad? Oh, cancel the keypad.")), route="cancel")
for opener in ("I mean the", "make that the"):
    case(f"correction of a device: {opener}", "B05", call(9, GATE, (5, C, True, f"Sorry, {opener} hall screen.")), route="repair", repair_target="hall_screen")
case("correction keeps delivery", "B05", call(9, DOORPLATE, (5, C, True, "No, I mean the keypad.")), route="delivery", delivery_target="keypad")
case("correction keeps cancel", "B05", call(9, CANCEL, (5, C, True, "No, I mean the door plate.")), route="cancel", delivery_target="doorplate")
case("a parcel does not fit a repair", "B05", call(9, GATE, (5, C, True, "I mean the keypad.")), route="repair", repair_target="gate_unit")
case("a device does not fit a delivery", "B05", call(9, KEYPAD, (5, C, True, "I mean the gate unit.")), route="delivery", delivery_target="keypad")
case("a device does not fit a cancellation", "B05", call(9, CANCEL, (5, C, True, "I mean the hall screen.")), route="cancel", delivery_target="keypad")
case("a correction that did not fit is gone", "B05", call(9, KEYPAD, (4, C, True, "I mean the hall screen."), (5, C, True, "Fix the gate unit.")), repair_target="gate_unit")
case("request and correction in one utterance", "B03 B05", call(9, (5, C, True, "Fix the gate unit, sorry, I mean the hall screen.")), repair_target="hall_screen")
case("correction, then request", "B03 B05", call(9, GATE, (5, C, True, "I mean the hall screen. No, do fix the gate unit.")), repair_target="gate_unit")
case("correction before a fitting request", "B03 B05", call(9, KEYPAD, (5, C, True, "I mean the hall screen, fix the gate unit.")), repair_target="gate_unit")
case("two corrections", "B03 B05", call(9, GATE, (5, C, True, "I mean the gate unit, no, I mean the hall screen.")), repair_target="hall_screen")
for who, final in ((C, False), (A, True), (B, True)):
    case(f"correction by {who}, final={final}", "B04", call(9, GATE, (5, who, final, "i mean the hall screen")), repair_target="gate_unit")
case("naming an item corrects nothing", "B05", call(9, GATE, (5, C, True, "The hall screen is fine.")), repair_target="gate_unit")
case("opener without a name", "B05", call(9, GATE, (5, C, True, "I mean the one in the hall, screen and all.")), repair_target="gate_unit")
case("name before the opener", "B05", call(9, GATE, (5, C, True, "The hall screen, I mean the.")), repair_target="gate_unit")

# --- route ---------------------------------------------------------------------------------------
case("ended", "B06 B15", call(9, GATE, call__status="ended", call__since=9), ALL_OFF, route="closed", contact_channel="none")
case("ended still has a channel", "B06 B14", call(9, EMAIL, call__status="ended"), route="closed", contact_channel="email")
for held, route in ((0, "hold_wait"), (3, "hold_wait"), (4, "hold_return"), (5, "hold_return")):
    case(f"held {held} ticks", "B01 B06 B15", call(30 + held, GATE, EMAIL, call__status="hold", call__since=30), ALL_OFF, route=route, contact_channel="email")
case("the limit is the published one", "B06", call(35, call__status="hold", call__since=30, policy__hold_limit_ticks=6), route="hold_wait")
case("a result does not end a hold", "B06", call(33, GATE, call__status="hold", call__since=30, devices__gate_unit=device("done", "clear")), route="hold_wait", repair_action="none")
case("a claim does not end a hold", "B06", call(33, (33, A, True, "He's waited long enough."), call__status="hold", call__since=30), route="hold_wait")
case("speech on hold waits", "B06", call(33, (32, C, True, "Fix the gate unit."), call__status="hold", call__since=30), route="hold_wait", repair_target="none")
case("speech on hold shows afterwards", "B06", call(33, (32, C, True, "Fix the gate unit."), call__since=33), route="repair", repair_target="gate_unit")
case("hold announced only", "B06", call(9, (9, A, True, "I'll put you on hold."), GATE), route="repair")
case("a goodbye ends nothing", "B06", call(9, GATE, (9, C, True, "Goodbye!")), route="repair")
case("a resolved case ends nothing", "B06 B16", call(9, GATE, case__status="resolved"), route="repair")

# --- delivery -------------------------------------------------------------------------------------
PARCEL = {"status": "in_transit", "deadline": 20, "eta": 17, "order_line": "shipped"}
for status, before, after in (
    ("in_transit", "wait", "open_case"),
    ("label_only", "check_tracking", "open_case"),
    ("address_query", "correct_address", "correct_address"),
    ("delivered", "confirm_delivery", "confirm_delivery"),
):
    for now, action in ((19, before), (20, after), (21, after)):
        case(f"{status} at {now}, deadline 20", "B01 B08", call(now, DOORPLATE, parcels__doorplate={**PARCEL, "status": status}), {**CANCEL_OFF, **REPAIR_OFF}, route="delivery", delivery_action=action)
case("the other parcel's record", "B07 B08", call(19, KEYPAD, parcels__doorplate={**PARCEL, "status": "delivered"}), delivery_target="keypad", delivery_action="check_tracking")
case("an ETA past the deadline", "B08", call(19, parcels__doorplate={**PARCEL, "eta": 30}), delivery_action="wait")
case("an ETA that has passed", "B08", call(19, parcels__doorplate={**PARCEL, "eta": 5}), delivery_action="wait")
case("a later ETA moves no deadline", "B08", call(20, parcels__doorplate={**PARCEL, "eta": 30}), delivery_action="open_case")
case("said to be late", "B08", call(19, (19, A, True, "It's overdue.")), delivery_action="wait")
case("a cancelled parcel asked about as a delivery", "B08", call(9, KEYPAD, carrier_callbacks=callbacks(("keypad", "cancelled"))), route="delivery", delivery_action="check_tracking")

# --- cancellation -----------------------------------------------------------------------------------
for name, entries, action in (
    ("none", (), "cancel_request"),
    ("received", (("keypad", "received"),), "cancel_request"),
    ("cancelled", (("keypad", "cancelled"),), "confirm_cancelled"),
    ("refused", (("keypad", "refused"),), "explain_refusal"),
    ("other parcel", (("doorplate", "cancelled"),), "cancel_request"),
    ("other parcel last", (("keypad", "cancelled"), ("doorplate", "refused")), "confirm_cancelled"),
    (
        "received after cancelled",
        (("keypad", "cancelled"), ("keypad", "received")),
        "confirm_cancelled",
    ),
    (
        "refused, then cancelled",
        (("keypad", "refused"), ("keypad", "cancelled")),
        "confirm_cancelled",
    ),
    (
        "cancelled, then refused",
        (("keypad", "cancelled"), ("keypad", "refused")),
        "explain_refusal",
    ),
):
    case(f"callbacks: {name}", "B09", call(9, CANCEL, carrier_callbacks=callbacks(*entries)), {**DELIVERY_OFF, **REPAIR_OFF}, route="cancel", cancellation_action=action)
case("the agent says cancelled", "B09", call(9, CANCEL, (5, A, True, "That's cancelled.")), cancellation_action="cancel_request")
case("the order line says cancelled", "B09", call(9, CANCEL, parcels__keypad__order_line="cancelled"), cancellation_action="cancel_request")
case("a late or delivered parcel in cancel", "B09", call(50, CANCEL, parcels__keypad__status="delivered"), cancellation_action="cancel_request", delivery_action="none")

# --- repair -------------------------------------------------------------------------------------------
ACCESS = permissions(("remote_access", "given", "customer"))
NO_ACCESS = permissions(("email", "given", "customer"))
for name, record, without, with_access, rules in (
    ("untested", device(), "diagnose", "diagnose", "B10"),
    ("testing", device("running"), "await_result", "await_result", "B10"),
    (
        "testing again after a result",
        device("running", "hardware"),
        "await_result",
        "await_result",
        "B10",
    ),
    ("clear", device("done", "clear"), "explain_clear", "explain_clear", "B10 B12"),
    (
        "clear with a spare",
        device("done", "clear", stock=2),
        "explain_clear",
        "explain_clear",
        "B12",
    ),
    (
        "clear whatever the remote check does",
        device("done", "clear", "running"),
        "explain_clear",
        "explain_clear",
        "B10",
    ),
    ("hardware, no spare", device("done", "hardware"), "book_visit", "book_visit", "B10 B12"),
    ("hardware, one spare", device("done", "hardware", stock=1), "send_part", "send_part", "B12"),
    ("hardware, two spares", device("done", "hardware", stock=2), "send_part", "send_part", "B12"),
    (
        "hardware, spare needs a technician",
        device("done", "hardware", self_fit=False, stock=1),
        "book_visit",
        "book_visit",
        "B12",
    ),
    ("unclear", device("done", "unclear"), "request_access", "remote_check", "B10 B11"),
    (
        "unclear with a spare",
        device("done", "unclear", stock=1),
        "request_access",
        "remote_check",
        "B11",
    ),
    (
        "unclear, remote running",
        device("done", "unclear", "running"),
        "await_result",
        "await_result",
        "B11",
    ),
    (
        "unclear, remote clear",
        device("done", "unclear", "done", "clear"),
        "explain_clear",
        "explain_clear",
        "B11 B12",
    ),
    (
        "unclear, remote hardware",
        device("done", "unclear", "done", "hardware"),
        "book_visit",
        "book_visit",
        "B11 B12",
    ),
    (
        "unclear, remote hardware, spare",
        device("done", "unclear", "done", "hardware", stock=1),
        "send_part",
        "send_part",
        "B11 B12",
    ),
    ("untested, remote done", device("none", None, "done", "clear"), "diagnose", "diagnose", "B10"),
):
    case(f"{name}, no access", rules, call(9, SCREEN, devices__hall_screen=record, permission_log=NO_ACCESS), {**DELIVERY_OFF, **CANCEL_OFF}, repair_target="hall_screen", repair_action=without)
    case(f"{name}, access", rules, call(9, SCREEN, devices__hall_screen=record, permission_log=ACCESS), repair_action=with_access)
case("another device's spare", "B12", call(9, SCREEN, devices__hall_screen=device("done", "hardware"), devices__gate_unit=device(stock=4)), repair_action="book_visit")
case("another device's test", "B12", call(9, GATE, devices__hall_screen=device("done", "clear")), repair_action="diagnose")
case("said to be tested", "B10", call(9, GATE, (5, A, True, "The self-test is running.")), repair_action="diagnose")

# --- permissions and channel ----------------------------------------------------------------------
ALL = [(p, "given", C) for p in ("email", "sms", "phone", "remote_access")]
UNCLEAR = device("done", "unclear")
for line, channel in ((EMAIL, "email"), (TEXT, "sms"), (RING, "phone")):
    case(f"prefers {channel}, all given", "B13 B14", call(9, line, permission_log=permissions(*ALL)), contact_channel=channel)
    case(f"prefers {channel}, nothing given", "B13 B14", call(9, line, permission_log=[]), contact_channel="none")
    case(f"prefers {channel}, only the others given", "B13 B14", call(9, line, permission_log=permissions(*[e for e in ALL if e[0] != channel])), contact_channel="none")
    case(f"prefers {channel}, withdrawn", "B13 B14", call(9, line, permission_log=permissions(*ALL, (channel, "withdrawn", C))), contact_channel="none")
    case(f"prefers {channel}, withdrawn and given again", "B13", call(9, line, permission_log=permissions(*ALL, (channel, "withdrawn", C), (channel, "given", C))), contact_channel=channel)
    case(f"prefers {channel}, withdrawn by the agent", "B13", call(9, line, permission_log=permissions(*ALL, (channel, "withdrawn", A))), contact_channel=channel)
    case(f"prefers {channel}, given again by the agent", "B13", call(9, line, permission_log=permissions((channel, "withdrawn", C), (channel, "given", A))), contact_channel="none")
    for other in ("email", "sms", "phone", "remote_access"):
        if other != channel:
            case(f"prefers {channel}, {other} withdrawn", "B13", call(9, line, permission_log=permissions(*ALL, (other, "withdrawn", C))), contact_channel=channel)
    for who, final in ((C, False), (A, True), (B, True)):
        case(f"{channel} named by {who}, final={final}", "B04 B14", call(9, (2, who, final, line[3]), permission_log=permissions(*ALL)), contact_channel="none")
case("no preference yet", "B14", call(9, permission_log=permissions(*ALL)), contact_channel="none")
case("last preference", "B14", call(9, EMAIL, (5, C, True, "No, text me."), permission_log=permissions(*ALL)), contact_channel="sms")
case("last preference not permitted", "B14", call(9, EMAIL, (5, C, True, "No, text me.")), contact_channel="none")
case("preference outlives a missing permission", "B14", call(9, TEXT, permission_log=permissions(("sms", "withdrawn", C), ("sms", "given", C))), contact_channel="sms")
case("two preferences in one utterance", "B03 B14", call(9, (5, C, True, "Email me, no, ring me."), permission_log=permissions(*ALL)), contact_channel="phone")
case("two preferences, other way", "B03 B14", call(9, (5, C, True, "Ring me, no, email me."), permission_log=permissions(*ALL)), contact_channel="email")
case("text messages are not text me", "B03", call(9, EMAIL, (5, C, True, "Text messages never reach me.")), contact_channel="email")
case("preferences in order of at", "B02", call(9, (7, C, True, "Email me."), (5, C, True, "Ring me.")), contact_channel="email")
case("saying yes to access gives none", "B13", call(9, GATE, (5, C, True, "You may connect remotely."), devices__gate_unit=UNCLEAR), repair_action="request_access")
case("access entered by the agent", "B11 B13", call(9, GATE, devices__gate_unit=UNCLEAR, permission_log=permissions(("remote_access", "given", A))), repair_action="request_access")
case("access withdrawn", "B11 B13", call(9, GATE, devices__gate_unit=UNCLEAR, permission_log=permissions(*ALL, ("remote_access", "withdrawn", C))), repair_action="request_access")
case("channel withdrawn, access stays", "B13", call(9, GATE, TEXT, devices__gate_unit=UNCLEAR, permission_log=permissions(*ALL, ("sms", "withdrawn", C))), repair_action="remote_check", contact_channel="none")
case("access withdrawn, channel stays", "B13", call(9, GATE, TEXT, devices__gate_unit=UNCLEAR, permission_log=permissions(*ALL, ("remote_access", "withdrawn", C))), repair_action="request_access", contact_channel="sms")
# fmt: on


@pytest.mark.parametrize("pinned", CASES, ids=lambda c: c.name)
def test_case(pinned: Case) -> None:
    got = reference(copy.deepcopy(pinned.state))
    assert {q: got[q] for q in pinned.expected} == dict(pinned.expected)
    assert holds(pinned, reference)


def test_names_are_unique() -> None:
    assert len({c.name for c in CASES}) == len(CASES)


def test_every_rule_is_pinned() -> None:
    assert {r for c in CASES for r in c.rules} == set(INTERCOM_RULES)
