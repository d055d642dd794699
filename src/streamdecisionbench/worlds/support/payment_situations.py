"""Situations of a payment call: payment, connection and router, recorder."""

from __future__ import annotations

from collections.abc import Callable

from streamdecisionbench.families.support import events as say
from streamdecisionbench.worlds.generation.world import Situation
from streamdecisionbench.worlds.generation.world_simulator import Ticks
from streamdecisionbench.worlds.support import phrases
from streamdecisionbench.worlds.support.call import (
    Call,
    draws_to_its_end,
    has_ended,
    has_time_for_a_hold,
    on_the_line,
)
from streamdecisionbench.worlds.support.payment import (
    DETAILS,
    DIGITS,
    SUBJECTS,
    PaymentCall,
    money,
)
from streamdecisionbench.worlds.support.voice import (
    AGENT,
    BACKGROUND,
    CUSTOMER,
    plain,
)

# Payment: consent, cards, forms, the bank's reply.

_TURNS = 6
"""What an agent does for a payment in a row, at most, before the customer takes it into his own hands."""


def to_a_draft(call: PaymentCall) -> Ticks[None]:
    """The panel shows a payment that is still a draft."""
    if call.payment != "approved":
        yield from call.turn_to("payment")
    if call.payment == "processing":
        yield from _reply(call, call.draws.choose(["approved", "declined"]))
    if call.payment != "draft":
        yield from call.pause()
        call.new_draft("cause: a new payment is drafted")
        call.show("a new payment is drafted")
    yield from call.turn_to("payment")


def _reply(call: PaymentCall, reply: str) -> Ticks[None]:
    """The bank replies, and the agent tells the customer once the panel says so."""
    yield from call.pause(1, 2)
    call.answer(reply, "cause: the bank replied")
    call.show(f"the bank has {reply}")
    yield from call.wait(1)
    if (yield from call.see(3, payment_stage="result")):
        yield from call.tell(reply)
        call.resolved |= reply == "approved"


def serve(call: PaymentCall, done: Callable[[], bool], turns: int = _TURNS) -> Ticks[bool]:
    """The agent takes the payment forward as the panel says, until `done`; whether it came to that.

    A panel that says submit is obeyed as soon as a form is full, with consent or without.
    """
    idle = 0
    for _ in range(turns):
        if done() or call.payment != "draft" or idle > 2:
            break
        yield from call.pause(1, 2)
        stage = call.panel.get("payment_stage")
        if stage == "ask_consent":
            yield from call.tell("consent", amount=call.price)
            yield from call.wait(1)
            yield from _agree(call)
        elif stage == "choose_card":
            yield from call.tell("card", cards=" or ".join(call.cards))
            yield from call.wait(1)
            yield from _choose(call, _next_card(call))
        elif stage == "collect":
            yield from collect(call)
        elif stage == "submit" and call.full:
            call.pay("cause: the payment leaves draft, capture closes")
            call.show("the payment leaves draft")
        else:
            idle += 1
            call.acknowledge()
    return done()


def finish(call: PaymentCall) -> Ticks[None]:
    """The payment is sent when the panel says so, and the bank replies."""
    yield from serve(call, lambda: False)
    if call.payment == "processing":
        yield from _reply(call, "approved")


def _ask_for_consent(call: PaymentCall) -> Ticks[None]:
    """The agent names the amount because the panel says so; nobody agrees to a sum unheard of."""
    yield from call.pause(1, 2)
    if (yield from call.see(2, payment_stage="ask_consent")):
        yield from call.tell("consent", amount=call.price)
    yield from call.wait(1)


def _agree(call: PaymentCall, because: str = "the customer agrees to the amount") -> Ticks[None]:
    yield from call.customer_says("consent", "final consent", because)


def _to_an_agreed_draft(call: PaymentCall) -> Ticks[bool]:
    """Whether the customer has agreed to what is still a draft, asked or not."""
    yield from to_a_draft(call)
    if not (yield from serve(call, lambda: call.agreed)) and call.payment == "draft":
        yield from _agree(call)
    return call.payment == "draft"


def to_a_chosen_card(call: PaymentCall) -> Ticks[bool]:
    if (yield from _to_an_agreed_draft(call)):
        chosen = yield from serve(call, lambda: call.card != "unknown")
        if not chosen and call.payment == "draft":
            yield from _choose(call, _next_card(call))
    return call.payment == "draft"


def to_missing_details(call: PaymentCall) -> Ticks[bool]:
    """A card is chosen whose details are still to be taken: what is complete is sent before."""
    if (yield from to_a_chosen_card(call)) and call.complete:
        yield from finish(call)
        yield from to_a_chosen_card(call)
    return call.payment == "draft" and not call.complete


def _to_a_full_form(call: PaymentCall) -> Ticks[bool]:
    if (yield from to_a_chosen_card(call)):
        full = yield from serve(call, lambda: call.complete)
        if not full and call.payment == "draft":
            yield from collect(call)
    return call.payment == "draft" and call.complete


def collect(call: PaymentCall) -> Ticks[None]:
    """The agent asks for the number, the customer says it, and the form fills."""
    card = call.card
    if card == "unknown":
        asked = call.panel.get("instrument")
        card = asked if asked in call.cards else call.cards[0]
    if call.form["card"] != card:
        call.open_form(card, "an empty form changes nothing")
    yield from open_capture(call)
    yield from call.wait(1)
    yield from take_details(call)


def take_number(call: PaymentCall) -> Ticks[None]:
    """The customer says the number, and the form has it."""
    if not call.form["number"]:
        row = " ".join(call.draws.sample(DIGITS, call.digits + call.draws.between(0, 2)))
        yield from aloud(call, CUSTOMER, call.draws.choose(call.voice.number()), row)
        call.accept("number", "the number is in")
        call.show("the number is in")


def take_details(call: PaymentCall) -> Ticks[None]:
    """The number, and the rest is keyed in."""
    yield from take_number(call)
    for detail in [d for d in DETAILS if not call.form[d]]:
        yield from call.wait(1)
        call.accept(detail, f"{detail} is in")
        call.show(f"{detail} of the {call.form['card']} card is in")


def aloud(call: PaymentCall, speaker: str, final: str, row: str) -> Ticks[None]:
    """Digits are live for a tick or two; the final has them removed."""
    yield from call.turn(speaker)
    ident = call.next_utterance()
    text = plain(final).replace("digits removed", row)
    call.emit(call.utter(speaker, False, text, "cause: live digits", ident))
    call.live = True
    call.show("digits in a live partial")
    yield from call.wait(call.draws.between(1, 2))
    call.emit(call.final(speaker, final, "cause: nothing is live", ident))
    call.live = False
    call.show("the partial is final, nothing is live")


def _next_card(call: PaymentCall) -> str:
    """Another card than the one chosen, and one that no panel has named while there is one."""
    others = [c for c in call.cards if c != call.card]
    return call.draws.choose([c for c in others if c not in call.shown] or others)


def _choose(call: PaymentCall, card: str) -> Ticks[None]:
    yield from call.customer_says(
        f"card {card}", f"chooses {card}", f"the customer chooses the {card} card"
    )


def open_capture(call: PaymentCall) -> Ticks[None]:
    if not call.capturing:
        yield from call.wait(1)
        yield from call.agent_says(
            "request", "asks for the long number", "the agent asks for the long number"
        )


def _consent(call: PaymentCall) -> Ticks[None]:
    """The agent's words and half a sentence are no consent."""
    yield from to_a_draft(call)
    if call.agreed:
        yield from _add_a_fee(call)
    yield from _ask_for_consent(call)
    yield from call.mislead(AGENT, call.voice.by_others("consent", AGENT), "consent from the agent")
    yield from call.slip("consent")
    yield from _to_an_agreed_draft(call)


def _add_a_fee(call: PaymentCall) -> Ticks[None]:
    yield from call.pause()
    yield from call.tell("fee")
    yield from call.wait(1)
    call.raise_amount(call.draw_fee())
    call.show("the amount changes, so the consent lapses")


def _another_amount(call: PaymentCall) -> Ticks[None]:
    """A new amount needs a new consent, whatever the agent and the checklist say."""
    if not (yield from _to_an_agreed_draft(call)):
        return
    yield from _add_a_fee(call)
    yield from call.breathe()
    yield from call.mislead(AGENT, call.voice.line("claim")[0], "the agent's claim of consent")
    if call.has_room_for_traps:
        call.tick("trap: the checklist is no consent")
    yield from call.breathe()
    yield from call.mislead(
        BACKGROUND, call.voice.by_others("consent", BACKGROUND), "consent from the background"
    )
    yield from _to_an_agreed_draft(call)


def _at_the_very_tick(call: PaymentCall) -> Ticks[None]:
    """A consent at the tick of the new amount counts."""
    yield from to_a_draft(call)
    yield from call.pause(1, 2)
    fee = call.draw_fee()
    yield from call.tell("total", amount=money(call.amount + fee))
    yield from call.wait(1)
    yield from call.turn(CUSTOMER)
    call.raise_amount(fee)
    because = "the customer agrees at the tick of the new amount"
    call.conclude("consent", call.words("consent"), "consent at the very tick", because)


def _withdrawn(call: PaymentCall) -> Ticks[None]:
    """Withdrawn and given again; others cannot withdraw."""
    if not (yield from _to_an_agreed_draft(call)):
        return
    yield from call.breathe()
    yield from call.mislead(
        AGENT, call.voice.by_others("withdrawal", AGENT), "withdrawal from the agent"
    )
    yield from call.slip("withdrawal")
    yield from call.pause(1, 2)
    yield from call.customer_says("withdrawal", "withdraws", "the customer withdraws the consent")
    yield from call.pause(1, 3)
    yield from call.mislead(CUSTOMER, call.unsaid("consent"), "sounds like consent and is none")
    yield from _to_an_agreed_draft(call)


def _yes_and_no(call: PaymentCall) -> Ticks[None]:
    """Consent and withdrawal in one breath: what comes last counts."""
    yield from to_a_draft(call)
    if not call.agreed:
        yield from _ask_for_consent(call)
        yield from _waver(call, "consent", "withdrawal")
    if (yield from _to_an_agreed_draft(call)) and on_the_line(call):
        yield from call.pause(2, 4)
        yield from _waver(call, "withdrawal", "consent")


def _waver(call: PaymentCall, first: str, second: str) -> Ticks[None]:
    text = call.voice.both(first, second)
    cause, because = f"{first}, then {second}", f"the last word is {second}"
    yield from call.customer_says(second, cause, because, text)


def _card(call: PaymentCall) -> Ticks[None]:
    """The agent's offer and an unlisted request choose nothing."""
    yield from to_a_draft(call)
    card = _next_card(call)
    yield from call.breathe()
    yield from call.mislead(
        AGENT, call.voice.by_others(f"card {card}", AGENT), "a card from the agent"
    )
    yield from call.slip(f"card {card}")
    yield from call.breathe()
    yield from call.mislead(
        CUSTOMER, call.unsaid(f"card {card}"), "sounds like a choice and is none"
    )
    yield from call.pause(1, 2)
    yield from _choose(call, card)


def _two_cards(call: PaymentCall) -> Ticks[None]:
    """Two cards in one breath."""
    yield from to_a_draft(call)
    card = _next_card(call)
    other = next(c for c in call.cards if c != card)
    yield from call.pause()
    text = call.voice.both(f"card {other}", f"card {card}")
    because = f"the customer settles on the {card} card"
    yield from call.customer_says(f"card {card}", f"{other}, then {card}", because, text)


def _too_late(call: PaymentCall) -> Ticks[None]:
    """A card chosen as the payment leaves draft does not count for it, but for the next draft.

    The bank declines, and the request of the old draft opens no capture in the new one.
    """
    if not (yield from _to_a_full_form(call)):
        return
    yield from call.wait(1)
    if not (yield from call.see(3, payment_stage="submit")):
        return
    call.pay("cause: the payment leaves draft, capture closes")
    card = next(c for c in call.cards if c != call.card)
    call.trap(call.final(CUSTOMER, call.words(f"card {card}"), "trap: a card at the very tick"))
    call.hear(f"card {card}")
    call.show("the payment leaves draft")
    yield from call.wait(1)
    yield from call.tell("late_card")
    yield from _reply(call, "declined")
    yield from call.pause(1, 2)
    call.new_draft("cause: a new payment is drafted")
    call.show(f"a new payment is drafted, with the {card} card")


def _other_form(call: PaymentCall) -> Ticks[None]:
    """A complete form for the other card is no form."""
    if not (yield from _to_a_full_form(call)):
        return
    yield from call.wait(1)
    yield from _choose(call, _next_card(call))
    yield from call.pause(1, 2)
    yield from _to_a_full_form(call)


def _paid(call: PaymentCall) -> Ticks[None]:
    """From a complete form to the bank's reply; capture does not outlive the draft."""
    if (yield from _to_a_full_form(call)):
        sent = call.voice.line("sent")[0]
        yield from call.mislead(AGENT, sent, "still a draft, capture still open")
        yield from finish(call)


def _once_more(call: PaymentCall) -> Ticks[None]:
    """A new draft starts from nothing; an earlier request no longer opens capture."""
    yield from _to_an_agreed_draft(call)


def _unfilled(call: PaymentCall) -> bool:
    """Nobody thinks of another card who has just given all details of one."""
    return on_the_line(call) and not call.complete


def _ready(call: PaymentCall) -> bool:
    """Nothing is missing but that the payment is sent."""
    at_hand = on_the_line(call) and call.subject == "payment"
    return at_hand and call.payment == "draft" and call.agreed and call.complete


def _decided(call: PaymentCall) -> bool:
    return on_the_line(call) and call.payment in ("approved", "declined")


_CONSENT = ("A03_phrases", "A03_intents", "A04_who", "A10_stage", "A11_consent", "A18_other")
_CARD = ("A03_phrases", "A03_intents", "A04_who", "A12_card")

PAYING: tuple[Situation[PaymentCall], ...] = (
    Situation("consent", "consent", _CONSENT, on_the_line, _consent, 2),
    Situation("consent", "another amount", _CONSENT, on_the_line, _another_amount, 2),
    Situation("consent", "at the very tick", _CONSENT, on_the_line, _at_the_very_tick, 1),
    Situation("consent", "withdrawn", _CONSENT, on_the_line, _withdrawn, 2),
    Situation("consent", "yes and no", _CONSENT, on_the_line, _yes_and_no, 1),
    Situation("card", "a card", _CARD, _unfilled, _card, 3),
    Situation("card", "two cards", _CARD, _unfilled, _two_cards, 2),
    Situation("card", "too late", (*_CARD, "A10_stage", "A15_capture"), on_the_line, _too_late, 1),
    Situation("form", "the other form", ("A13_details", "A10_stage"), on_the_line, _other_form, 1),
    Situation("form", "paid", ("A10_stage", "A15_capture"), on_the_line, _paid, 1),
    Situation("form", "ready", ("A10_stage", "A15_capture"), _ready, finish, 16, dealt=False),
    Situation("form", "once more", ("A10_stage", "A11_consent"), _decided, _once_more, 2, dealt=False),
)  # fmt: skip


# Connection: changes of subject, line tests, the router, holds, the end.


def _others(call: PaymentCall) -> list[str]:
    """The other subjects; a payment that is paid comes last."""
    others = call.draws.shuffled([s for s in SUBJECTS if s != call.subject])
    return sorted(others, key=lambda s: s == "payment" and call.payment == "approved")


def _turn(call: PaymentCall) -> Ticks[None]:
    """Somebody else names a subject first, which nobody follows."""
    subject, other = _others(call)
    yield from call.breathe()
    speaker = call.draws.choose(call.voice.bystanders())
    text = call.voice.by_others(other, speaker)
    yield from call.mislead(speaker, text, f"a subject from the {speaker}")
    yield from call.turn_to(subject)
    yield from attend(call)


def attend(call: PaymentCall) -> Ticks[None]:
    """The agent sees to what the customer has turned to."""
    if call.subject == "payment":
        yield from serve(call, lambda: False, turns=1)
        if call.payment == "processing":
            yield from finish(call)
    elif call.subject == "router" or call.line in ("up", "down"):
        yield from _report(call)
    else:
        yield from _test(call)


def _in_other_words(call: PaymentCall) -> Ticks[None]:
    """Words that are not listed, a half sentence, then words that are."""
    subject, other = _others(call)
    yield from call.breathe()
    yield from call.mislead(CUSTOMER, call.unsaid(other), "sounds like a subject and names none")
    yield from call.slip(subject)
    yield from call.turn_to(subject)
    yield from attend(call)


def _two_subjects(call: PaymentCall) -> Ticks[None]:
    subject, other = _others(call)
    yield from call.pause()
    text = call.voice.both(other, subject)
    because = f"the customer settles on {subject}"
    yield from call.customer_says(subject, f"{other}, then {subject}", because, text)
    yield from attend(call)


def _overtaken(call: PaymentCall) -> Ticks[None]:
    """A sentence that began first becomes final last, so it is the later one."""
    first, second = _others(call)
    because = f"the customer turns to {second}", f"the sentence about {first} is final at last"
    yield from call.overtake(first, second, (f"names {second}", f"{first} is final"), because)
    yield from attend(call)


def _line(call: PaymentCall) -> Ticks[None]:
    """A line test from start to end; remarks are no result."""
    yield from call.turn_to("connection")
    if call.line in ("up", "down"):
        yield from call.pause()
        call.test_line(
            "not_run", "cause: the old result is void", "line test: old result discarded"
        )
        call.show("the old result is void")
    yield from _test(call)


def _test(call: PaymentCall) -> Ticks[None]:
    """The line is tested, and the customer hears what came of it."""
    if call.line == "not_run":
        yield from call.wait(1)
        yield from call.see(3, service_action="run_test")
        yield from call.tell("run_test")
        yield from call.wait(1)
        call.test_line("running", "cause: the test runs")
        call.show("the line test runs")
    yield from call.breathe()
    call.trap_log(f"line test {call.draws.between(60, 95)} %, no fault so far", "no result yet")
    yield from call.pause(1, 3)
    call.test_line("up" if call.tests % 2 else "down", "cause: the result is in")
    call.show("the line test is complete")
    yield from _report(call)


def _report(call: PaymentCall) -> Ticks[None]:
    """The agent tells the customer what the panel says about line or router."""
    said = ("escalate_line", "confirm_online", "check_power")
    yield from call.wait(1)
    yield from call.until(lambda: call.panel.get("service_action") in said, most=2)
    action = call.panel.get("service_action")
    if action in said and call.subject != "payment":
        yield from call.tell(action)
        call.known = action
        call.count_statement(call.decision().get("service_action") == action)
    else:
        call.acknowledge()


def _router(call: PaymentCall) -> Ticks[None]:
    """The router comes and goes; what people see counts for nothing."""
    yield from call.turn_to("router")
    yield from _report(call)
    yield from call.wait(1)
    seen = phrases.ROUTER_SEEN["online" if call.router_online else "offline"]
    yield from call.mislead(CUSTOMER, seen, "the field counts, not the remark")
    yield from call.pause(1, 2)
    call.switch_router(not call.router_online, "cause: the router's status")
    call.show("the router's status changes")
    yield from _report(call)


def _long_hold(call: PaymentCall) -> Ticks[None]:
    """The limit is reached by the clock alone, at exactly the tick."""
    yield from call.breathe()
    yield from call.announce_hold()
    yield from call.stay_to_the_limit()


def _short_hold(call: PaymentCall) -> Ticks[None]:
    """Back just before the limit."""
    yield from call.pause()
    yield from call.announce_hold()
    yield from call.wait(call.draws.between(2, call.hold_limit - 1))
    yield from call.take_back()


def _news_on_hold(call: PaymentCall) -> Ticks[None]:
    """What is said and what happens on hold shows once the hold is over."""
    yield from call.speak_on_hold(lambda: _others(call)[0])
    if call.draws.chance(0.5):
        call.switch_router(not call.router_online, "trap: no service on hold")
    yield from call.wait(call.draws.between(0, call.hold_limit - 2))
    yield from call.take_back()
    yield from attend(call)


def _goodbye(call: PaymentCall) -> Ticks[None]:
    """A goodbye ends nothing; the telephone does."""
    yield from call.take_leave()
    if call.has_room_for_traps:
        ticked = "checklist: goodbye ticked by agent"
        fields = {"checklist.goodbye": True}
        call.trap(say.put(call.now, fields, ticked, "trap: the checklist ends no call"))
    yield from call.wait(1)
    yield from call.settle()
    call.hang_up()


_WORDS = ("A03_phrases", "A03_intents")
_ROUTE = ("A05_route", "A07_service_target", "A17_inactive")
_HOLD = ("A01_time", "A05_route", "A06_hold")

HELPING: tuple[Situation[PaymentCall], ...] = (
    Situation("subject", "another subject", (*_ROUTE, "A04_who"), on_the_line, _turn, 1, dealt=False),
    Situation("subject", "in other words", (*_ROUTE, *_WORDS), on_the_line, _in_other_words, 2),
    Situation("subject", "two subjects", (*_ROUTE, *_WORDS), on_the_line, _two_subjects, 2),
    Situation("subject", "overtaken", (*_ROUTE, "A02_transcript"), on_the_line, _overtaken, 1),
    Situation("service", "line test", ("A08_connection",), on_the_line, _line, 3),
    Situation("service", "router", ("A09_router",), on_the_line, _router, 2),
    Situation("hold", "a long hold", _HOLD, has_time_for_a_hold, _long_hold, 2),
    Situation("hold", "a short hold", _HOLD, has_time_for_a_hold, _short_hold, 1),
    Situation("hold", "news on hold", _HOLD, has_time_for_a_hold, _news_on_hold, 1),
    Situation("end", "the end", ("A05_route", "A14_recorder"), draws_to_its_end, _goodbye, 4, dealt=False),
    Situation("end", "after the call", ("A14_recorder",), has_ended, Call.after_call, dealt=False),
)  # fmt: skip


# Recorder: requests for the card number, stops, digits said aloud.


def _close_capture(call: PaymentCall) -> Ticks[None]:
    if call.capturing:
        yield from call.pause()
        yield from call.agent_says("stop", "closes capture", "the agent stops the capture")


def _long_number(call: PaymentCall) -> Ticks[None]:
    """Only the agent's final request opens capture; it outlives a hold and the digits."""
    if not (yield from to_missing_details(call)):
        return
    yield from _close_capture(call)
    yield from call.breathe()
    yield from call.mislead(
        CUSTOMER, call.voice.by_others("request", CUSTOMER), "a request from the customer"
    )
    yield from _ask(call)
    yield from take_number(call)
    yield from call.pause(1, 2)
    yield from call.announce_hold()
    yield from call.wait(call.draws.between(2, call.hold_limit - 1))
    yield from call.take_back()
    yield from call.wait(1)
    yield from take_details(call)


def _ask(call: PaymentCall) -> Ticks[None]:
    """The form of the card is open, and the agent has asked for its number."""
    if call.form["card"] != call.card:
        call.open_form(call.card, "an empty form changes nothing")
    yield from open_capture(call)
    yield from call.wait(1)


def _stopped(call: PaymentCall) -> Ticks[None]:
    """Capture outlives a change of subject, but not the agent's final stop."""
    if not (yield from to_missing_details(call)):
        return
    yield from open_capture(call)
    yield from call.breathe()
    yield from call.mislead(
        BACKGROUND, call.voice.by_others("stop", BACKGROUND), "stop from the background"
    )
    yield from call.slip("stop", AGENT)
    untold = [] if call.line in ("up", "down") else ["connection"]
    yield from call.turn_to(call.draws.choose(["router", *untold]))
    yield from call.breathe()
    call.trap_log("chat, supervisor: the recorder may run again", "chat commands nothing")
    yield from call.pause(1, 2)
    yield from call.agent_says("stop", "closes capture", "the agent stops the capture")
    yield from attend(call)


def _ask_and_stop(call: PaymentCall) -> Ticks[None]:
    """Request and stop in one breath: too early to ask, then too early to stop."""
    if not (yield from to_missing_details(call)):
        return
    if not call.capturing:
        yield from call.pause(1, 2)
        yield from _rethink(call, "request", "stop")
        yield from call.pause(1, 2)
    yield from _ask(call)
    yield from take_number(call)
    yield from call.wait(1)
    yield from _rethink(call, "stop", "request")
    yield from take_details(call)


def _rethink(call: PaymentCall, first: str, second: str) -> Ticks[None]:
    text = call.voice.both(first, second)
    cause, because = f"{first}, then {second}", f"the last word is {second}"
    yield from call.agent_says(second, cause, because, text)


def _live_digits(call: PaymentCall) -> Ticks[None]:
    """Digits pause while they are live; one too few, a television or a final do not."""
    row = call.draws.sample(DIGITS, call.digits - 1)
    if call.draws.chance(0.4):
        row[call.draws.below(len(row))] = "oh"
    short = " ".join(row)
    heard = f"{short} {call.draws.choose(DIGITS)}"
    speaker = call.draws.choose([CUSTOMER, CUSTOMER, AGENT])
    opening = call.draws.choose(phrases.DIGITS_AFTER[speaker])
    kept = "[digits removed]" if call.draws.chance(0.3) else heard
    yield from _dictate(call, speaker, opening, short, heard, kept)


def _in_figures(call: PaymentCall) -> Ticks[None]:
    """A number in figures has as many digits as figures, those after a point included."""
    figures = "".join(call.draws.sample("123456789", call.digits))
    speaker = call.draws.choose([CUSTOMER, CUSTOMER, AGENT])
    sums = [phrases.DIGITS_AFTER_SUM] if speaker == CUSTOMER else []
    opening = call.draws.choose([*phrases.DIGITS_AFTER[speaker], *sums])
    point = "." if opening == phrases.DIGITS_AFTER_SUM else call.draws.choose(["", " "])
    heard = f"{figures[:-2]}{point}{figures[-2:]}"
    yield from _dictate(call, speaker, opening, figures[:-1], heard, "[digits removed]")


def _dictate(
    call: PaymentCall, speaker: str, opening: str, short: str, heard: str, kept: str
) -> Ticks[None]:
    """A partial grows by the digit that pauses the recorder, until it is final."""
    yield from _close_capture(call)
    yield from call.breathe()
    yield from call.turn(speaker)
    ident = call.next_utterance()
    text = f"{opening} {short}"
    call.trap(call.utter(speaker, False, text, "trap: one digit too few", ident))
    yield from call.wait(call.draws.between(1, 2))
    text = f"{opening} {heard}"
    call.emit(call.utter(speaker, False, text, "cause: live digits", ident))
    call.live = True
    call.show(f"{call.digits} digits in a live partial")
    yield from call.wait(call.draws.between(1, 3))
    text = f"{opening[0].upper()}{opening[1:]} {kept}."
    call.emit(call.final(speaker, text, "cause: nothing is live", ident))
    call.live = False
    call.show("the partial is final, nothing is live")


def _strange_digits(call: PaymentCall) -> Ticks[None]:
    """Digits of a television, and digits that are final at once."""
    yield from _close_capture(call)
    yield from call.pause(1, 2)
    yield from call.turn(BACKGROUND)
    ident = call.next_utterance()
    row = " ".join(call.draws.sample(DIGITS, call.digits + 1))
    text = phrases.DIGITS_IN_THE_BACKGROUND.format(digits=row)
    note = "trap: live digits from the background"
    call.trap(call.utter(BACKGROUND, False, plain(text), note, ident))
    yield from call.wait(call.draws.between(1, 2))
    call.trap(call.final(BACKGROUND, text, "trap: background", ident))
    yield from call.pause(1, 2)
    row = " ".join(call.draws.sample(DIGITS, call.digits + 1))
    text = phrases.DIGITS_FINAL_AT_ONCE.format(digits=row)
    yield from call.mislead(CUSTOMER, text, "digits that are final")


def _has_time_for_digits(call: PaymentCall) -> bool:
    return on_the_line(call) and call.left >= call.hold_limit + 8


_CAPTURE = ("A03_phrases", "A03_intents", "A14_recorder", "A15_capture")
_LIVE = ("A14_recorder", "A16_live_digits")

CAPTURING: tuple[Situation[PaymentCall], ...] = (
    Situation("capture", "the long number", (*_CAPTURE, "A05_route"), _has_time_for_digits, _long_number, 2),
    Situation("capture", "stopped", (*_CAPTURE, "A05_route"), on_the_line, _stopped, 1),
    Situation("capture", "ask and stop", _CAPTURE, on_the_line, _ask_and_stop, 1),
    Situation("digits", "live digits", _LIVE, on_the_line, _live_digits, 2),
    Situation("digits", "digits in figures", _LIVE, on_the_line, _in_figures, 1),
    Situation("digits", "strange digits", ("A16_live_digits",), on_the_line, _strange_digits, 1),
)  # fmt: skip
