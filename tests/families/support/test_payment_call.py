"""The payment call's reference, case by case: thresholds, precedence, speakers, finality."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from streamdecisionbench.families.support.reference import reference
from streamdecisionbench.families.support.rules import PAYMENT_RULES
from tests.families.cases import Case, holds
from tests.families.support.listed import PAYMENT_START, A, B, C, Call, Line

pytestmark = pytest.mark.slow

CALL = Call(PAYMENT_START, PAYMENT_RULES)
call, case, CASES = CALL.state, CALL.case, CALL.cases


def form(card: str | None, number: bool = True, expiry: bool = True, code: bool = True) -> Any:
    return {"card": card, "number": number, "expiry": expiry, "code": code}


YES: Line = (2, C, True, "Yes, you can take the payment.")
HOUSEHOLD: Line = (3, C, True, "Please use the household card.")
COMPANY: Line = (3, C, True, "Please use the company card.")
ASK: Line = (4, A, True, "Could you read me the long number?")
STOP: Line = (6, A, True, "Let's stop there with the card.")
LINE: Line = (1, C, True, "My connection has dropped.")
ROUTER: Line = (1, C, True, "Can you check the router?")

PAYMENT_OFF = {"payment_stage": "none", "instrument": "none"}
SERVICE_OFF = {"service_target": "none", "service_action": "none"}
HOLD_OFF = {"hold_action": "none"}

# fmt: off
# --- route: telephony before speech, then the subject named last -------------------------------
case("menu choice before any speech", "A05 A17", call(0), {**SERVICE_OFF, **HOLD_OFF}, route="payment", payment_stage="ask_consent", instrument="unknown", recorder="record")
case("another menu choice", "A05 A07 A17", call(0, telephony__menu_choice="router"), {**PAYMENT_OFF, **HOLD_OFF}, route="service", service_target="router", service_action="check_power")
case("menu choice connection", "A05 A07", call(0, telephony__menu_choice="connection"), route="service", service_target="connection", service_action="run_test")
case("speech replaces the menu choice", "A05", call(1, (0, C, True, "I want to pay the balance."), telephony__menu_choice="router"), route="payment")
for text, route, target in (
    ("Let me pay the balance.", "payment", "none"),
    ("Can we go BACK to the payment?", "payment", "none"),
    ("The connection has dropped!", "service", "connection"),
    ("Please look at the line.", "service", "connection"),
    ("Check the router, please.", "service", "router"),
    ("Is the router online?", "service", "router"),
):
    start = "router" if route == "payment" else "payment"
    case(f"final customer: {text}", "A03 A04 A05", call(5, (5, C, True, text), telephony__menu_choice=start), route=route, service_target=target)
    case(f"partial customer: {text}", "A02 A04", call(5, (5, C, False, text.lower()), telephony__menu_choice=start), route="service" if start == "router" else "payment")
    case(f"final agent: {text}", "A04", call(5, (5, A, True, text), telephony__menu_choice=start), route="service" if start == "router" else "payment")
    case(f"background: {text}", "A04", call(5, (5, B, True, text), telephony__menu_choice=start), route="service" if start == "router" else "payment")
case("a similar wording is no phrase", "A03", call(5, (5, C, True, "My router is broken, check my router.")), route="payment")
case("phrase words must stand side by side", "A03", call(5, (5, C, True, "Check, if you can, the router.")), route="payment")
case("whole words only", "A03", call(5, (5, C, True, "Please check the routers.")), route="payment")
case("phrase at the very start and end", "A03", call(5, (5, C, True, "Check the router")), route="service")
case("punctuation inside a phrase", "A03", call(5, (5, C, True, "So check... the router!")), route="service")
case("quotation marks around a phrase", "A03", call(5, (5, C, True, "The leaflet says 'check the router', so do.")), route="service")
case("a phrase counts whatever surrounds it", "A03", call(5, (5, C, True, "I would never say check the router.")), route="service")
case("last subject wins", "A02 A05", call(9, LINE, (5, C, True, "Check the router.")), service_target="router")
case("last subject wins, other way", "A02 A05", call(9, ROUTER, (5, C, True, "Look at the line.")), service_target="connection")
case("same tick: place in the list", "A02", call(9, (5, C, True, "Check the router."), (5, C, True, "Look at the line.")), service_target="connection")
case("began earlier, final later", "A02", call(9, (7, C, True, "Check the router."), (5, C, True, "Look at the line.")), service_target="router")
case("two subjects in one utterance", "A03", call(9, (5, C, True, "Check the router, no, look at the line.")), service_target="connection")
case("two subjects, other way", "A03", call(9, (5, C, True, "Look at the line, no, check the router.")), service_target="router")
case("goodbye on an open line", "A05", call(9, ROUTER, (8, C, True, "That's all, bye!")), route="service")
case("hold announced only", "A05", call(9, (8, A, True, "I'm putting you on hold.")), route="payment", hold_action="none")
case("wrap outranks the subject", "A05 A14 A17", call(9, ROUTER, telephony__status="after_call"), {**PAYMENT_OFF, **SERVICE_OFF, **HOLD_OFF}, route="wrap", recorder="stop")
case("hold outranks the subject", "A05 A17", call(9, ROUTER, telephony__status="hold", telephony__since=9), {**PAYMENT_OFF, **SERVICE_OFF}, route="hold", hold_action="wait", recorder="record")
case("subject named on hold has to wait", "A05", call(9, (8, C, True, "Check the router."), telephony__status="hold", telephony__since=7), route="hold", service_target="none")
case("subject named on hold applies afterwards", "A05", call(9, (8, C, True, "Check the router."), telephony__since=9), route="service", service_target="router")

# --- hold: the threshold includes equality ------------------------------------------------------
for held, action in ((0, "wait"), (3, "wait"), (4, "return_customer"), (5, "return_customer")):
    case(f"held {held} ticks", "A01 A06", call(20 + held, telephony__status="hold", telephony__since=20), route="hold", hold_action=action)
case("the threshold is the published one", "A06", call(25, telephony__status="hold", telephony__since=20, policy__hold_check_ticks=6), hold_action="wait")
case("a claim does not shorten a hold", "A06", call(23, (23, A, True, "That's four ticks, go back."), telephony__status="hold", telephony__since=20), hold_action="wait")
case("a claim does not lengthen a hold", "A06", call(24, (24, A, True, "She's only just been put on hold."), telephony__status="hold", telephony__since=20), hold_action="return_customer")
case("a long connected call is no hold", "A06 A17", call(50, telephony__since=0), hold_action="none")

# --- service -------------------------------------------------------------------------------------
for status, result, action in (
    ("not_run", None, "run_test"),
    ("running", None, "wait_test"),
    ("complete", "down", "escalate_line"),
    ("complete", "up", "confirm_online"),
):
    test = {"status": status, "result": result}
    case(f"line test {status} {result}", "A07 A08", call(9, LINE, service__line_test=test), {**PAYMENT_OFF, **HOLD_OFF}, service_target="connection", service_action=action)
    case(f"line test {status} {result}, router online", "A08", call(9, LINE, service__line_test=test, service__router__status="online"), service_action=action)
    case(f"line test {status} {result} is nothing to the router", "A09", call(9, ROUTER, service__line_test=test), service_action="check_power")
case("progress is no result", "A08 A18", call(9, LINE, service__line_test={"status": "running", "result": "down"}), service_action="wait_test")
case("router online", "A09", call(9, ROUTER, service__router__status="online"), service_target="router", service_action="confirm_online")
case("router restarting", "A09", call(9, ROUTER, service__router__status="restarting"), service_action="check_power")
case("router said to be online", "A09 A18", call(9, ROUTER, (8, C, True, "It's online again!")), service_action="check_power")

# --- payment stage: status first, then consent, card, details ----------------------------------
for status, stage in (("processing", "wait"), ("approved", "result"), ("declined", "result")):
    case(f"payment {status} without consent or card", "A10", call(9, payment__status=status, payment__left_draft_at=5), payment_stage=stage, instrument="unknown")
    case(f"payment {status} with everything", "A10 A12", call(9, YES, HOUSEHOLD, payment__captured=form("household"), payment__status=status, payment__left_draft_at=5), payment_stage=stage, instrument="household")
case("no consent outranks no card", "A10", call(9), payment_stage="ask_consent", instrument="unknown")
case("no consent outranks details", "A10", call(9, HOUSEHOLD), payment_stage="ask_consent", instrument="household")
case("no consent outranks submit", "A10", call(9, HOUSEHOLD, payment__captured=form("household")), payment_stage="ask_consent")
case("consent but no card", "A10 A12", call(9, YES, payment__captured=form("household")), payment_stage="choose_card", instrument="unknown")
case("consent and card", "A10 A13", call(9, YES, HOUSEHOLD), payment_stage="collect", instrument="household")
case("consent, card, details", "A10 A13", call(9, YES, HOUSEHOLD, payment__captured=form("household")), payment_stage="submit", instrument="household")
case("other card, details", "A12 A13", call(9, YES, COMPANY, payment__captured=form("company")), payment_stage="submit", instrument="company")
for missing in ("number", "expiry", "code"):
    case(f"{missing} missing", "A13", call(9, YES, HOUSEHOLD, payment__captured={**form("household"), missing: False}), payment_stage="collect")
case("a complete form for the other card", "A13", call(9, YES, COMPANY, payment__captured=form("household")), payment_stage="collect", instrument="company")

# --- consent --------------------------------------------------------------------------------------
for text in ("You can take the payment.", "Go ahead and charge it."):
    case(f"consent: {text}", "A04 A11", call(9, (2, C, True, text), HOUSEHOLD), payment_stage="collect")
    case(f"consent in a partial: {text}", "A04 A11", call(9, (2, C, False, text.lower()), HOUSEHOLD), payment_stage="ask_consent")
    case(f"consent by the agent: {text}", "A04 A11", call(9, (2, A, True, text), HOUSEHOLD), payment_stage="ask_consent")
    case(f"consent in the background: {text}", "A04 A11", call(9, (2, B, True, text), HOUSEHOLD), payment_stage="ask_consent")
case("ticked checklist", "A04 A18", call(9, HOUSEHOLD, checklist__consent=True), payment_stage="ask_consent")
case("withdrawn", "A11", call(9, YES, HOUSEHOLD, (5, C, True, "Please don't take the payment.")), payment_stage="ask_consent", instrument="household")
case("withdrawn in a partial", "A02 A04 A11", call(9, YES, HOUSEHOLD, (5, C, False, "don't take the payment")), payment_stage="collect")
case("withdrawal by the agent", "A04", call(9, YES, HOUSEHOLD, (5, A, True, "Don't take the payment.")), payment_stage="collect")
case("withdrawn, then given again", "A11", call(9, HOUSEHOLD, (4, C, True, "Don't take the payment."), (5, C, True, "All right, go ahead and charge it.")), payment_stage="collect")
case("yes then no in one utterance", "A03 A11", call(9, HOUSEHOLD, (4, C, True, "You can take the payment, no, don't take the payment.")), payment_stage="ask_consent")
case("no then yes in one utterance", "A03 A11", call(9, HOUSEHOLD, (4, C, True, "Don't take the payment... oh, go ahead and charge it.")), payment_stage="collect")
for since, stage in ((1, "collect"), (2, "collect"), (3, "ask_consent")):
    case(f"consent at 2, amount since {since}", "A11", call(9, YES, HOUSEHOLD, payment__amount_since=since), payment_stage=stage)
case("changing the card keeps consent", "A11", call(9, YES, HOUSEHOLD, (5, C, True, "No, use the company card.")), payment_stage="collect", instrument="company")
case("changing the subject keeps consent", "A11", call(9, YES, ROUTER, (5, C, True, "Now back to the payment.")), payment_stage="choose_card")
case("an old consent does not revive", "A11", call(9, YES, (5, C, True, "Don't take the payment."), payment__amount_since=0), payment_stage="ask_consent")

# --- card ------------------------------------------------------------------------------------------
for who, final in ((C, False), (A, True), (A, False), (B, True)):
    case(f"card by {who}, final={final}", "A04 A12", call(9, YES, (3, who, final, "Use the household card.")), payment_stage="choose_card", instrument="unknown")
case("last choice wins", "A12", call(9, YES, HOUSEHOLD, (5, C, True, "Or use the company card.")), instrument="company")
case("last choice wins, other way", "A12", call(9, YES, COMPANY, (5, C, True, "Or use the household card.")), instrument="household")
case("both cards in one utterance", "A03 A12", call(9, YES, (3, C, True, "Use the company card, no, use the household card.")), instrument="household")
case("mentioning a card chooses nothing", "A03 A12", call(9, YES, HOUSEHOLD, (5, C, True, "The company card is at work.")), instrument="household")
for at, card in ((6, "company"), (7, "household"), (8, "household")):
    case(f"choice at {at}, draft left at 7", "A12", call(9, YES, HOUSEHOLD, (at, C, True, "Use the company card."), payment__status="processing", payment__left_draft_at=7), instrument=card, payment_stage="wait")
case("choice while still a draft", "A12", call(9, YES, HOUSEHOLD, (8, C, True, "Use the company card.")), instrument="company")
case("no choice before the draft was left", "A12", call(9, YES, (8, C, True, "Use the company card."), payment__status="approved", payment__left_draft_at=7), instrument="unknown")

# --- recorder: capture ----------------------------------------------------------------------------
case("nothing to hide", "A14", call(9, YES, HOUSEHOLD), recorder="record")
for text in ("Please read me the long number.", "Just give me the long number."):
    case(f"request: {text}", "A15", call(9, (4, A, True, text)), recorder="pause")
    case(f"request in a partial: {text}", "A15", call(9, (4, A, False, text.lower())), recorder="record")
    case(f"request by the customer: {text}", "A15", call(9, (4, C, True, text)), recorder="record")
    case(f"request in the background: {text}", "A15", call(9, (4, B, True, text)), recorder="record")
case("mentioning the number asks for nothing", "A03 A15", call(9, (4, A, True, "I'll want the long number soon.")), recorder="record")
case("final stop by the agent", "A15", call(9, ASK, STOP), recorder="record")
case("stop in a partial", "A15", call(9, ASK, (6, A, False, "stop there with the card")), recorder="pause")
case("stop by the customer", "A15", call(9, ASK, (6, C, True, "Stop there with the card.")), recorder="pause")
case("stop in the background", "A15", call(9, ASK, (6, B, True, "Stop there with the card.")), recorder="pause")
case("asked again after a stop", "A15", call(9, ASK, STOP, (7, A, True, "Now give me the long number.")), recorder="pause")
case("a stop before the request", "A02 A15", call(9, (3, A, True, "Stop there with the card."), ASK), recorder="pause")
case("stop listed first but final later", "A02 A15", call(9, STOP, ASK), recorder="record")
case("request and stop in one utterance", "A03 A15", call(9, (4, A, True, "Read me the long number... no, stop there with the card.")), recorder="record")
case("stop and request in one utterance", "A03 A15", call(9, (4, A, True, "Stop there with the card; give me the long number of the other.")), recorder="pause")
case("open through a change of subject", "A14 A15", call(9, ASK, (7, C, True, "Check the router.")), route="service", recorder="pause")
case("open through a hold", "A14 A15", call(9, ASK, telephony__status="hold", telephony__since=8), route="hold", recorder="pause")
case("open through a change of card", "A15", call(9, HOUSEHOLD, ASK, (7, C, True, "Use the company card.")), recorder="pause")
case("open without consent", "A15", call(9, HOUSEHOLD, ASK), payment_stage="ask_consent", recorder="pause")
case("open with complete details", "A15", call(9, YES, HOUSEHOLD, ASK, payment__captured=form("household")), payment_stage="submit", recorder="pause")
case("wrap outranks capture", "A14", call(9, ASK, telephony__status="after_call"), recorder="stop")
case("wrap outranks live digits", "A14", call(9, (9, C, False, "4000"), telephony__status="after_call"), recorder="stop")
for status in ("processing", "approved", "declined"):
    case(f"capture is closed in status {status}", "A15", call(9, ASK, payment__status=status, payment__left_draft_at=8), recorder="record")
for since, command in ((3, "pause"), (4, "pause"), (5, "record")):
    case(f"request at 4, draft since {since}", "A15", call(9, ASK, payment__draft_since=since), recorder=command)
case("a chat command", "A15 A18", {**call(9, ASK), "log": [{"at": 9, "text": "chat: stop there with the card"}]}, recorder="pause")

# --- recorder: live digits -------------------------------------------------------------------------
for text, command in (
    ("four zero zero", "record"),
    ("four zero zero zero", "pause"),
    ("four zero zero zero zero", "pause"),
    ("it's oh one two", "record"),
    ("it's oh one two three", "pause"),
    ("five six seven eight", "pause"),
    ("nine nine nine nine or so", "pause"),
    ("400", "record"),
    ("4000", "pause"),
    ("it is 40 then zero zero", "record"),
    ("it is 40, zero zero", "pause"),
    ("40.00", "pause"),
    ("please 400", "record"),
    ("one two three and four five six", "record"),
    ("one two three and four five six seven", "pause"),
    ("one two three four and five", "pause"),
    ("a4000b", "record"),
    ("ten eleven twelve thirteen", "record"),
    ("someone four zero zero", "record"),
):
    case(f"customer partial: {text}", "A16", call(9, (9, C, False, text)), recorder=command)
case("agent partial reads digits back", "A16", call(9, (9, A, False, "four zero zero zero")), recorder="pause")
case("background partial with digits", "A16", call(9, (9, B, False, "four zero zero zero")), recorder="record")
case("final with digits, customer", "A16", call(9, (9, C, True, "four zero zero zero")), recorder="record")
case("final with digits, agent", "A16", call(9, (9, A, True, "four zero zero zero")), recorder="record")
case("digits across two partials", "A16", call(9, (9, C, False, "four zero"), (9, A, False, "zero zero")), recorder="record")
case("an old partial is still live", "A02 A16", call(9, (2, C, False, "four zero zero zero")), recorder="pause")
case("digits pause in service", "A14 A16", call(9, LINE, (9, C, False, "4000")), route="service", recorder="pause")
case("digits pause on hold", "A14 A16", call(9, (9, A, False, "4000"), telephony__status="hold", telephony__since=9), route="hold", recorder="pause")
case("digits pause after the draft", "A14 A16", call(9, (9, C, False, "4000"), payment__status="processing", payment__left_draft_at=8), payment_stage="wait", recorder="pause")
case("the row's length is the published one", "A16", call(9, (9, C, False, "4000"), policy__digits_in_a_row=5), recorder="record")
# fmt: on


@pytest.mark.parametrize("pinned", CASES, ids=lambda c: c.name)
def test_case(pinned: Case) -> None:
    got = reference(copy.deepcopy(pinned.state))
    assert {q: got[q] for q in pinned.expected} == dict(pinned.expected)
    assert holds(pinned, reference)


def test_names_are_unique() -> None:
    assert len({c.name for c in CASES}) == len(CASES)


def test_every_rule_is_pinned() -> None:
    assert {r for c in CASES for r in c.rules} == set(PAYMENT_RULES)
