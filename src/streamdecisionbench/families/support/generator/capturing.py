"""What happens around the recorder: requests for the card number, stops, digits said aloud."""

from __future__ import annotations

from streamdecisionbench.families.support.generator.helping import attend
from streamdecisionbench.families.support.generator.paying import (
    on_the_line,
    open_capture,
    take_details,
    take_number,
    to_missing_details,
)
from streamdecisionbench.families.support.generator.payment import DIGITS, PaymentCall
from streamdecisionbench.families.support.generator.voice import AGENT, BACKGROUND, CUSTOMER, plain
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation

_OPENINGS = {CUSTOMER: ("it ends in", "the postcode is"), AGENT: ("the reference is",)}
_SUM = "that makes"
"""How a customer adds up; only what is heard in figures is a sum."""


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
    opening = call.draws.choose(_OPENINGS[speaker])
    kept = "[digits removed]" if call.draws.chance(0.3) else heard
    yield from _dictate(call, speaker, opening, short, heard, kept)


def _in_figures(call: PaymentCall) -> Ticks[None]:
    """A number in figures has as many digits as figures, those after a point included."""
    figures = "".join(call.draws.sample("123456789", call.digits))
    speaker = call.draws.choose([CUSTOMER, CUSTOMER, AGENT])
    sums = [_SUM] if speaker == CUSTOMER else []
    opening = call.draws.choose([*_OPENINGS[speaker], *sums])
    point = "." if opening == _SUM else call.draws.choose(["", " "])
    heard = f"{figures[:-2]}{point}{figures[-2:]}"
    yield from _dictate(call, speaker, opening, figures[:-1], heard, "[digits removed]")


def _dictate(
    call: PaymentCall, speaker: str, opening: str, short: str, heard: str, kept: str
) -> Ticks[None]:
    """A partial grows by the digit that pauses the recorder, until it is final."""
    yield from _close_capture(call)
    yield from call.breathe()
    yield from call.turn(speaker)
    ident = call.next_id()
    text = f"{opening} {short}"
    call.script.trap(call.utter(speaker, False, text, "trap: one digit too few", ident))
    yield from call.wait(call.draws.between(1, 2))
    text = f"{opening} {heard}"
    call.script.emit(call.utter(speaker, False, text, "cause: live digits", ident))
    call.live = True
    call.show(f"{call.digits} digits in a live partial")
    yield from call.wait(call.draws.between(1, 3))
    text = f"{opening[0].upper()}{opening[1:]} {kept}."
    call.script.emit(call.final(speaker, text, "cause: nothing is live", ident))
    call.live = False
    call.show("the partial is final, nothing is live")


def _strange_digits(call: PaymentCall) -> Ticks[None]:
    """Digits of a television, and digits that are final at once."""
    yield from _close_capture(call)
    yield from call.pause(1, 2)
    yield from call.turn(BACKGROUND)
    ident = call.next_id()
    row = " ".join(call.draws.sample(DIGITS, call.digits + 1))
    text = f"Ring us now on {row}!"
    note = "trap: live digits from the background"
    call.script.trap(call.utter(BACKGROUND, False, plain(text), note, ident))
    yield from call.wait(call.draws.between(1, 2))
    call.script.trap(call.final(BACKGROUND, text, "trap: background", ident))
    yield from call.pause(1, 2)
    row = " ".join(call.draws.sample(DIGITS, call.digits + 1))
    yield from call.mislead(CUSTOMER, f"My customer number is {row}.", "digits that are final")


def _has_time(call: PaymentCall) -> bool:
    return on_the_line(call) and call.left >= call.hold_limit + 8


_CAPTURE = ("A03_phrases", "A03_intents", "A14_recorder", "A15_capture")
_LIVE = ("A14_recorder", "A16_live_digits")

CAPTURING: tuple[Situation[PaymentCall], ...] = (
    Situation("capture", "the long number", (*_CAPTURE, "A05_route"), _has_time, _long_number, 2),
    Situation("capture", "stopped", (*_CAPTURE, "A05_route"), on_the_line, _stopped, 1),
    Situation("capture", "ask and stop", _CAPTURE, on_the_line, _ask_and_stop, 1),
    Situation("digits", "live digits", _LIVE, on_the_line, _live_digits, 2),
    Situation("digits", "digits in figures", _LIVE, on_the_line, _in_figures, 1),
    Situation("digits", "strange digits", ("A16_live_digits",), on_the_line, _strange_digits, 1),
)  # fmt: skip
