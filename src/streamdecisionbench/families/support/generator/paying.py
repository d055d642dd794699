"""What happens around the money: consent, cards, forms, capture, the bank's reply."""

from __future__ import annotations

from streamdecisionbench.families.support import events as say
from streamdecisionbench.families.support.generator.call import CONNECTED
from streamdecisionbench.families.support.generator.payment import DETAILS, PaymentCall
from streamdecisionbench.families.support.generator.voice import AGENT, BACKGROUND, CUSTOMER, plain
from streamdecisionbench.suite.generation.situations import Situation

__all__ = ["PAYING"]

_DIGITS = ("zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


# --- what has to be so before something can happen --------------------------------------------------


def _to_a_draft(call: PaymentCall) -> None:
    """The panel shows a payment that is still a draft."""
    call.turn_to("payment")
    if call.payment == "processing":
        call.pause(1, 2)
        call.answer(call.draws.choose(["approved", "declined"]), "cause: the bank replied")
        call.show("the bank has replied")
    if call.payment != "draft":
        call.pause()
        call.new_draft("cause: a new payment is drafted")
        call.show("a new payment is drafted")


def _to_an_agreed_draft(call: PaymentCall) -> None:
    _to_a_draft(call)
    if not call.agreed:
        call.pause()
        call.customer_says("consent", "final consent", "the customer agrees to the amount")


def _to_a_chosen_card(call: PaymentCall) -> None:
    _to_an_agreed_draft(call)
    if call.card == "unknown":
        call.pause()
        _choose(call, _next_card(call))


def _next_card(call: PaymentCall) -> str:
    """Another card than the one chosen, and one that no panel has named while there is one."""
    others = [c for c in call.cards if c != call.card]
    return call.draws.choose([c for c in others if c not in call.shown] or others)


def _choose(call: PaymentCall, card: str) -> None:
    call.customer_says(f"card {card}", f"chooses {card}", f"the customer chooses the {card} card")


def _open_capture(call: PaymentCall) -> None:
    if not call.capturing:
        call.pause()
        call.agent_says("request", "asks for the long number", "the agent asks for the long number")


def _close_capture(call: PaymentCall) -> None:
    if call.capturing:
        call.pause()
        call.agent_says("stop", "closes capture", "the agent stops the capture")


# --- consent ---------------------------------------------------------------------------------------


def _consent(call: PaymentCall) -> None:
    """The agent's words and half a sentence are no consent."""
    _to_a_draft(call)
    if call.agreed:
        call.pause()
        call.raise_amount()
        call.show("the amount changes, so the consent lapses")
    call.breathe()
    call.trap(AGENT, call.voice.by_others("consent", AGENT), "consent from the agent")
    call.slip("consent")
    call.pause()
    call.customer_says("consent", "final consent", "the customer agrees to the amount")


def _another_amount(call: PaymentCall) -> None:
    """A new amount needs a new consent, whatever the agent and the checklist say."""
    _to_an_agreed_draft(call)
    call.pause()
    call.raise_amount()
    call.show("the amount changes, so the consent lapses")
    call.breathe()
    call.trap(AGENT, "You have agreed already, so we're fine.", "the agent's claim of consent")
    if call.script.has_room_for_traps:
        fields = {"checklist.consent": True}
        text = "checklist: consent ticked by agent"
        call.script.trap(say.put(call.now, fields, text, "trap: the checklist is no consent"))
    call.breathe()
    call.trap(
        BACKGROUND, call.voice.by_others("consent", BACKGROUND), "consent from the background"
    )
    call.pause(1, 2)
    call.customer_says("consent", "consent to the new amount", "the customer agrees once more")


def _at_the_very_tick(call: PaymentCall) -> None:
    """A consent at the tick of the new amount counts."""
    _to_a_draft(call)
    call.pause()
    if call.agreed:
        call.raise_amount()
        call.show("the amount changes, so the consent lapses")
        call.pause(1, 2)
    call.raise_amount()
    call.script.emit(
        call.final(CUSTOMER, call.voice.says("consent"), "cause: consent at the very tick")
    )
    call.hear("consent")
    call.show("the customer agrees at the tick of the new amount")


def _withdrawn(call: PaymentCall) -> None:
    """Withdrawn and given again; others cannot withdraw."""
    _to_an_agreed_draft(call)
    call.breathe()
    call.trap(AGENT, call.voice.by_others("withdrawal", AGENT), "withdrawal from the agent")
    call.slip("withdrawal")
    call.pause(1, 2)
    call.customer_says("withdrawal", "withdraws", "the customer withdraws the consent")
    call.pause(1, 3)
    call.trap(CUSTOMER, call.voice.unsaid("consent"), "sounds like consent and is none")
    call.pause(1, 2)
    call.customer_says("consent", "final consent", "the customer agrees again")


def _yes_and_no(call: PaymentCall) -> None:
    """Consent and withdrawal in one breath: what comes last counts."""
    _to_a_draft(call)
    first, second = ("consent", "withdrawal") if call.agreed else ("withdrawal", "consent")
    call.pause()
    text = call.voice.both(first, second)
    call.customer_says(second, f"{first}, then {second}", f"the last word is {second}", text)
    call.pause(1, 2)
    text = call.voice.both(second, first)
    call.customer_says(first, f"{second}, then {first}", f"the last word is {first}", text)


# --- cards -----------------------------------------------------------------------------------------


def _card(call: PaymentCall) -> None:
    """The agent's offer and an unlisted wish choose nothing."""
    _to_a_draft(call)
    card = _next_card(call)
    call.breathe()
    call.trap(AGENT, call.voice.by_others(f"card {card}", AGENT), "a card from the agent")
    call.slip(f"card {card}")
    call.breathe()
    call.trap(CUSTOMER, call.voice.unsaid(f"card {card}"), "sounds like a choice and is none")
    call.pause(1, 2)
    _choose(call, card)


def _two_cards(call: PaymentCall) -> None:
    """Two cards in one breath."""
    _to_a_draft(call)
    card = _next_card(call)
    other = next(c for c in call.cards if c != card)
    call.pause()
    text = call.voice.both(f"card {other}", f"card {card}")
    because = f"the customer settles on the {card} card"
    call.customer_says(f"card {card}", f"{other}, then {card}", because, text)


def _too_late(call: PaymentCall) -> None:
    """A card chosen after the payment left draft does not count for it."""
    _to_a_chosen_card(call)
    call.pause()
    call.pay("cause: the payment leaves draft")
    call.show("the payment leaves draft")
    call.wait(1)
    card = next(c for c in call.cards if c != call.card)
    call.script.trap(
        call.final(CUSTOMER, call.voice.says(f"card {card}"), "trap: a card after the draft")
    )
    call.hear(f"card {card}")
    call.pause(1, 3)
    call.answer(call.draws.choose(["approved", "declined"]), "cause: the bank replied")
    call.show("the bank has replied")


# --- forms and the bank ----------------------------------------------------------------------------


def _other_form(call: PaymentCall) -> None:
    """A complete form for the other card is no form."""
    _to_a_chosen_card(call)
    if call.complete:
        call.pause()
        _choose(call, _next_card(call))
    if not all(call.form[d] for d in DETAILS) or call.form["card"] == call.card:
        other = next(c for c in call.cards if c != call.card)
        call.pause(1, 2)
        full = {"card": other, "number": True, "expiry": True, "code": True}
        call.form = dict(full)
        text = f"form: {other} filled in from last time"
        call.script.trap(
            say.put(call.now, {"payment.captured": full}, text, "trap: a form for the other card")
        )
    call.pause(1, 2)
    _fill(call)


def _fill(call: PaymentCall) -> None:
    """The form of the chosen card, one detail after the other."""
    if call.form["card"] != call.card:
        call.open_form(call.card, "an empty form changes nothing")
        call.wait(1)
    for detail in [d for d in DETAILS if not call.form[d]]:
        call.wait(1)
        call.accept(detail, f"{detail} is in")
    call.show(f"all details of the {call.card} card are in")


def _paid(call: PaymentCall) -> None:
    """From a complete form to the bank's reply; capture does not outlive the draft."""
    _to_a_chosen_card(call)
    if not call.complete:
        call.pause(1, 2)
        _fill(call)
    _open_capture(call)
    call.breathe()
    call.trap(AGENT, "There, it's on its way to the bank.", "still a draft, capture still open")
    call.pause(1, 2)
    call.pay("cause: the payment leaves draft, capture closes")
    call.show("the payment leaves draft")
    call.breathe()
    call.trap(AGENT, call.voice.says("request"), "a request that comes after the draft")
    call.pause(1, 2)
    call.answer(call.draws.choose(["approved", "declined"]), "cause: the bank replied")
    call.show("the bank has replied")


def _once_more(call: PaymentCall) -> None:
    """A new draft starts from nothing; an earlier request no longer opens capture."""
    call.turn_to("payment")
    call.pause()
    call.new_draft("cause: a new payment is drafted")
    call.show("a new payment is drafted")
    call.pause(1, 2)
    call.customer_says("consent", "final consent", "the customer agrees to the amount")


# --- capture and digits ----------------------------------------------------------------------------


def _long_number(call: PaymentCall) -> None:
    """Only the agent's final request opens capture; it outlives the digits."""
    _to_a_draft(call)
    _close_capture(call)
    call.breathe()
    call.trap(CUSTOMER, call.voice.by_others("request", CUSTOMER), "a request from the customer")
    call.pause(1, 2)
    _open_capture(call)
    call.breathe()
    call.trap(CUSTOMER, "Sure, it's [digits removed].", "capture stays open after the digits")


def _stopped(call: PaymentCall) -> None:
    """Capture outlives much, but not the agent's final stop."""
    _to_a_draft(call)
    _open_capture(call)
    call.breathe()
    call.trap(BACKGROUND, call.voice.by_others("stop", BACKGROUND), "stop from the background")
    call.slip("stop", AGENT)
    call.breathe()
    call.trap_log("chat, supervisor: the recorder may run again", "chat commands nothing")
    call.pause(1, 2)
    call.agent_says("stop", "closes capture", "the agent stops the capture")


def _ask_and_stop(call: PaymentCall) -> None:
    """Request and stop in one breath, either way round."""
    _to_a_draft(call)
    order = ("request", "stop") if call.capturing else ("stop", "request")
    call.pause()
    text = call.voice.both(*order)
    call.agent_says(order[1], f"{order[0]}, then {order[1]}", f"the last word is {order[1]}", text)
    call.pause(1, 3)
    text = call.voice.both(order[1], order[0])
    call.agent_says(order[0], f"{order[1]}, then {order[0]}", f"the last word is {order[0]}", text)


def _live_digits(call: PaymentCall) -> None:
    """Digits pause while they are live; one too few, a television or a final do not."""
    _close_capture(call)
    call.breathe()
    speaker = call.draws.choose([CUSTOMER, CUSTOMER, AGENT])
    ident = call.next_id()
    row = call.draws.sample(_DIGITS[2:], call.digits - 1)
    if call.draws.chance(0.4):
        row[call.draws.below(len(row))] = "oh"
    opening = call.draws.choose(["it ends in", "the reference is", "the postcode is", "that makes"])
    heard = f"{opening} {' '.join(row)}"
    call.script.trap(say.say(call.now, ident, speaker, False, heard, "trap: one digit too few"))
    call.wait(call.draws.between(1, 2))
    row.append(call.draws.choose(_DIGITS[2:]))
    heard = f"{opening} {' '.join(row)}"
    call.script.emit(say.say(call.now, ident, speaker, False, heard, "cause: live digits"))
    call.live = True
    call.show(f"{call.digits} digits in a live partial")
    call.wait(call.draws.between(1, 3))
    text = heard[0].upper() + heard[1:] + "."
    if call.draws.chance(0.3):
        text = opening[0].upper() + opening[1:] + " [digits removed]."
    call.script.emit(say.say(call.now, ident, speaker, True, text, "cause: nothing is live"))
    call.live = False
    call.show("the partial is final, nothing is live")


def _strange_digits(call: PaymentCall) -> None:
    """Digits of a television, and digits that are final at once."""
    _close_capture(call)
    call.pause(1, 2)
    ident = call.next_id()
    row = " ".join(call.draws.sample(_DIGITS[2:], call.digits + 1))
    text = f"Ring us now on {row}!"
    note = "trap: live digits from the background"
    call.script.trap(say.say(call.now, ident, BACKGROUND, False, plain(text), note))
    call.wait(call.draws.between(1, 2))
    call.script.trap(say.say(call.now, ident, BACKGROUND, True, text, "trap: background"))
    call.pause(1, 2)
    row = " ".join(call.draws.sample(_DIGITS[2:], call.digits + 1))
    call.trap(CUSTOMER, f"My customer number is {row}.", "digits that are final")


# --- the table -------------------------------------------------------------------------------------


def _on_the_line(call: PaymentCall) -> bool:
    return call.status == CONNECTED and call.left >= 7


def _decided(call: PaymentCall) -> bool:
    return _on_the_line(call) and call.payment in ("approved", "declined")


_CONSENT = ("A03_phrases", "A03_intents", "A04_who", "A10_stage", "A11_consent", "A18_other")
_CARD = ("A03_phrases", "A03_intents", "A04_who", "A12_card")
_CAPTURE = ("A03_phrases", "A03_intents", "A14_recorder", "A15_capture")

PAYING: tuple[Situation[PaymentCall], ...] = (
    Situation("consent", "consent", _CONSENT, _on_the_line, _consent, 2),
    Situation("consent", "another amount", _CONSENT, _on_the_line, _another_amount, 2),
    Situation("consent", "at the very tick", _CONSENT, _on_the_line, _at_the_very_tick, 1),
    Situation("consent", "withdrawn", _CONSENT, _on_the_line, _withdrawn, 2),
    Situation("consent", "yes and no", _CONSENT, _on_the_line, _yes_and_no, 1),
    Situation("card", "a card", _CARD, _on_the_line, _card, 3),
    Situation("card", "two cards", _CARD, _on_the_line, _two_cards, 2),
    Situation("card", "too late", (*_CARD, "A10_stage"), _on_the_line, _too_late, 1),
    Situation("form", "the other form", ("A13_details", "A10_stage"), _on_the_line, _other_form, 1),
    Situation("form", "paid", ("A10_stage", "A15_capture"), _on_the_line, _paid, 1),
    Situation("form", "once more", ("A10_stage", "A11_consent"), _decided, _once_more, 4, dealt=False),
    Situation("capture", "the long number", _CAPTURE, _on_the_line, _long_number, 2),
    Situation("capture", "stopped", _CAPTURE, _on_the_line, _stopped, 1),
    Situation("capture", "ask and stop", _CAPTURE, _on_the_line, _ask_and_stop, 1),
    Situation("digits", "live digits", ("A16_live_digits", "A14_recorder"), _on_the_line, _live_digits, 2),
    Situation("digits", "strange digits", ("A16_live_digits",), _on_the_line, _strange_digits, 1),
)  # fmt: skip
