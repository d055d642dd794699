"""What happens around the money: consent, cards, forms, the bank's reply."""

from __future__ import annotations

from collections.abc import Callable

from streamdecisionbench.families.support.generator.call import CONNECTED
from streamdecisionbench.families.support.generator.payment import (
    DETAILS,
    DIGITS,
    PaymentCall,
    money,
)
from streamdecisionbench.families.support.generator.voice import AGENT, BACKGROUND, CUSTOMER, plain
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation

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
    if (yield from call.until(lambda: call.shows(payment_stage="result"), most=3)):
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
        stage = call.script.panel.get("payment_stage")
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
    if (yield from call.until(lambda: call.shows(payment_stage="ask_consent"), most=2)):
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
        asked = call.script.panel.get("instrument")
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
    ident = call.next_id()
    text = plain(final).replace("digits removed", row)
    call.script.emit(call.utter(speaker, False, text, "cause: live digits", ident))
    call.live = True
    call.show("digits in a live partial")
    yield from call.wait(call.draws.between(1, 2))
    call.script.emit(call.final(speaker, final, "cause: nothing is live", ident))
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
    if call.script.has_room_for_traps:
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
    call.script.emit(call.final(CUSTOMER, call.words("consent"), "cause: consent at the very tick"))
    call.hear("consent")
    call.show("the customer agrees at the tick of the new amount")


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
    """The agent's offer and an unlisted wish choose nothing."""
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
    if not (yield from call.until(lambda: call.shows(payment_stage="submit"), most=3)):
        return
    call.pay("cause: the payment leaves draft, capture closes")
    card = next(c for c in call.cards if c != call.card)
    call.script.trap(
        call.final(CUSTOMER, call.words(f"card {card}"), "trap: a card at the very tick")
    )
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


def on_the_line(call: PaymentCall) -> bool:
    return call.status == CONNECTED and call.left >= 7


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
