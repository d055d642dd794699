"""What happens around the money: consent, cards, forms, the bank's reply."""

from __future__ import annotations

from streamdecisionbench.families.support import events as say
from streamdecisionbench.families.support.generator.call import CONNECTED
from streamdecisionbench.families.support.generator.payment import DETAILS, PaymentCall
from streamdecisionbench.families.support.generator.voice import AGENT, BACKGROUND, CUSTOMER
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation


def to_a_draft(call: PaymentCall) -> Ticks[None]:
    """The panel shows a payment that is still a draft."""
    yield from call.turn_to("payment")
    if call.payment == "processing":
        yield from call.pause(1, 2)
        call.answer(call.draws.choose(["approved", "declined"]), "cause: the bank replied")
        call.show("the bank has replied")
    if call.payment != "draft":
        yield from call.pause()
        call.new_draft("cause: a new payment is drafted")
        call.show("a new payment is drafted")


def _to_an_agreed_draft(call: PaymentCall) -> Ticks[None]:
    yield from to_a_draft(call)
    if not call.agreed:
        yield from call.pause()
        yield from call.customer_says(
            "consent", "final consent", "the customer agrees to the amount"
        )


def _to_a_chosen_card(call: PaymentCall) -> Ticks[None]:
    yield from _to_an_agreed_draft(call)
    if call.card == "unknown":
        yield from call.pause()
        yield from _choose(call, _next_card(call))


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
        yield from call.pause()
        yield from call.agent_says(
            "request", "asks for the long number", "the agent asks for the long number"
        )


def _consent(call: PaymentCall) -> Ticks[None]:
    """The agent's words and half a sentence are no consent."""
    yield from to_a_draft(call)
    if call.agreed:
        yield from call.pause()
        call.raise_amount()
        call.show("the amount changes, so the consent lapses")
    yield from call.breathe()
    call.trap(AGENT, call.voice.by_others("consent", AGENT), "consent from the agent")
    yield from call.slip("consent")
    yield from call.pause()
    yield from call.customer_says("consent", "final consent", "the customer agrees to the amount")


def _another_amount(call: PaymentCall) -> Ticks[None]:
    """A new amount needs a new consent, whatever the agent and the checklist say."""
    yield from _to_an_agreed_draft(call)
    yield from call.pause()
    call.raise_amount()
    call.show("the amount changes, so the consent lapses")
    yield from call.breathe()
    call.trap(AGENT, "You have agreed already, so we're fine.", "the agent's claim of consent")
    if call.script.has_room_for_traps:
        fields = {"checklist.consent": True}
        text = "checklist: consent ticked by agent"
        call.script.trap(say.put(call.now, fields, text, "trap: the checklist is no consent"))
    yield from call.breathe()
    call.trap(
        BACKGROUND, call.voice.by_others("consent", BACKGROUND), "consent from the background"
    )
    yield from call.pause(1, 2)
    yield from call.customer_says(
        "consent", "consent to the new amount", "the customer agrees once more"
    )


def _at_the_very_tick(call: PaymentCall) -> Ticks[None]:
    """A consent at the tick of the new amount counts."""
    yield from to_a_draft(call)
    yield from call.pause()
    if call.agreed:
        call.raise_amount()
        call.show("the amount changes, so the consent lapses")
        yield from call.pause(1, 2)
    call.raise_amount()
    call.script.emit(
        call.final(CUSTOMER, call.voice.says("consent"), "cause: consent at the very tick")
    )
    call.hear("consent")
    call.show("the customer agrees at the tick of the new amount")


def _withdrawn(call: PaymentCall) -> Ticks[None]:
    """Withdrawn and given again; others cannot withdraw."""
    yield from _to_an_agreed_draft(call)
    yield from call.breathe()
    call.trap(AGENT, call.voice.by_others("withdrawal", AGENT), "withdrawal from the agent")
    yield from call.slip("withdrawal")
    yield from call.pause(1, 2)
    yield from call.customer_says("withdrawal", "withdraws", "the customer withdraws the consent")
    yield from call.pause(1, 3)
    call.trap(CUSTOMER, call.voice.unsaid("consent"), "sounds like consent and is none")
    yield from call.pause(1, 2)
    yield from call.customer_says("consent", "final consent", "the customer agrees again")


def _yes_and_no(call: PaymentCall) -> Ticks[None]:
    """Consent and withdrawal in one breath: what comes last counts."""
    yield from to_a_draft(call)
    first, second = ("consent", "withdrawal") if call.agreed else ("withdrawal", "consent")
    yield from call.pause()
    text = call.voice.both(first, second)
    yield from call.customer_says(
        second, f"{first}, then {second}", f"the last word is {second}", text
    )
    yield from call.pause(1, 2)
    text = call.voice.both(second, first)
    yield from call.customer_says(
        first, f"{second}, then {first}", f"the last word is {first}", text
    )


def _card(call: PaymentCall) -> Ticks[None]:
    """The agent's offer and an unlisted wish choose nothing."""
    yield from to_a_draft(call)
    card = _next_card(call)
    yield from call.breathe()
    call.trap(AGENT, call.voice.by_others(f"card {card}", AGENT), "a card from the agent")
    yield from call.slip(f"card {card}")
    yield from call.breathe()
    call.trap(CUSTOMER, call.voice.unsaid(f"card {card}"), "sounds like a choice and is none")
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
    yield from _to_a_chosen_card(call)
    yield from open_capture(call)
    yield from call.pause()
    call.pay("cause: the payment leaves draft, capture closes")
    card = next(c for c in call.cards if c != call.card)
    call.script.trap(
        call.final(CUSTOMER, call.voice.says(f"card {card}"), "trap: a card at the very tick")
    )
    call.hear(f"card {card}")
    call.show("the payment leaves draft")
    yield from call.wait(1)
    call.trap(CUSTOMER, call.voice.says(f"card {card}"), "a card after the draft")
    yield from call.pause(1, 2)
    call.answer("declined", "cause: the bank replied")
    call.show("the bank has declined")
    yield from call.pause(1, 2)
    call.new_draft("cause: a new payment is drafted")
    call.show(f"a new payment is drafted, with the {card} card")


def _other_form(call: PaymentCall) -> Ticks[None]:
    """A complete form for the other card is no form."""
    yield from _to_a_chosen_card(call)
    if call.complete:
        yield from call.pause()
        yield from _choose(call, _next_card(call))
    if not all(call.form[d] for d in DETAILS) or call.form["card"] == call.card:
        other = next(c for c in call.cards if c != call.card)
        yield from call.pause(1, 2)
        full = {"card": other, "number": True, "expiry": True, "code": True}
        call.form = dict(full)
        text = f"form: {other} filled in from last time"
        call.script.trap(
            say.put(call.now, {"payment.captured": full}, text, "trap: a form for the other card")
        )
    yield from call.pause(1, 2)
    yield from _fill(call)


def _fill(call: PaymentCall) -> Ticks[None]:
    """The form of the chosen card, one detail after the other."""
    if call.form["card"] != call.card:
        call.open_form(call.card, "an empty form changes nothing")
        yield from call.wait(1)
    for detail in [d for d in DETAILS if not call.form[d]]:
        yield from call.wait(1)
        call.accept(detail, f"{detail} is in")
    call.show(f"all details of the {call.card} card are in")


def _paid(call: PaymentCall) -> Ticks[None]:
    """From a complete form to the bank's reply; capture does not outlive the draft."""
    yield from _to_a_chosen_card(call)
    if not call.complete:
        yield from call.pause(1, 2)
        yield from _fill(call)
    yield from open_capture(call)
    yield from call.breathe()
    call.trap(AGENT, "There, it's on its way to the bank.", "still a draft, capture still open")
    yield from call.pause(1, 2)
    call.pay("cause: the payment leaves draft, capture closes")
    call.show("the payment leaves draft")
    yield from call.breathe()
    call.trap(AGENT, call.voice.says("request"), "a request that comes after the draft")
    yield from call.pause(1, 2)
    call.answer("approved", "cause: the bank replied")
    call.show("the bank has approved")


def _once_more(call: PaymentCall) -> Ticks[None]:
    """A new draft starts from nothing; an earlier request no longer opens capture."""
    yield from call.turn_to("payment")
    yield from call.pause()
    call.new_draft("cause: a new payment is drafted")
    call.show("a new payment is drafted")
    yield from call.pause(1, 2)
    yield from call.customer_says("consent", "final consent", "the customer agrees to the amount")


def on_the_line(call: PaymentCall) -> bool:
    return call.status == CONNECTED and call.left >= 7


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
    Situation("card", "a card", _CARD, on_the_line, _card, 3),
    Situation("card", "two cards", _CARD, on_the_line, _two_cards, 2),
    Situation("card", "too late", (*_CARD, "A10_stage", "A15_capture"), on_the_line, _too_late, 1),
    Situation("form", "the other form", ("A13_details", "A10_stage"), on_the_line, _other_form, 1),
    Situation("form", "paid", ("A10_stage", "A15_capture"), on_the_line, _paid, 1),
    Situation("form", "once more", ("A10_stage", "A11_consent"), _decided, _once_more, 4, dealt=False),
)  # fmt: skip
