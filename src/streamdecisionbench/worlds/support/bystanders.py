"""Evidence that must change nothing in a call: small talk, other voices, tools, other people's things."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from streamdecisionbench.families.support import events as say
from streamdecisionbench.worlds.support import phrases
from streamdecisionbench.worlds.support.call import (
    CONNECTED,
    ENDED,
    HOLD,
    Call,
)
from streamdecisionbench.worlds.support.intercom import (
    CHANNELS,
    IntercomCall,
)
from streamdecisionbench.worlds.support.payment import (
    SUBJECTS,
    PaymentCall,
)
from streamdecisionbench.worlds.support.voice import (
    AGENT,
    BACKGROUND,
    CUSTOMER,
    plain,
)

_CROWDED = 60
"""Events after which distractions keep short, so that a long and noisy call still fits into a request."""


def distract_payment(call: PaymentCall) -> bool:
    """One event that changes nothing."""
    cards = [f"card {card}" for card in call.cards]
    purposes = [*SUBJECTS, *cards, "consent", "withdrawal"]
    return _distract(call, purposes, {_account: 2, _checklist: 1, _chat: 1})


def distract_intercom(call: IntercomCall) -> bool:
    """One event that changes nothing."""
    purposes = [
        *CHANNELS,
        *(f"{kind} {item}" for kind in ("delivery", "cancel", "correct") for item in call.parcels),
        *(f"{kind} {item}" for kind in ("repair", "correct") for item in call.devices),
    ]
    kinds: dict[Callable[[Any], None], int] = {
        _eta: 2,
        _order_line: 1,
        _other_callback: 1,
        _own_entry: 1,
        _idle_device: 1,
    }
    return _distract(call, purposes, kinds)


def _distract(call: Any, purposes: Sequence[str], kinds: dict[Callable[[Any], None], int]) -> bool:
    """A half sentence is always completed before another begins."""
    if call.open_speech is not None and call.heard_at < call.now:
        call.go_on()
        return True
    shared: dict[Callable[[Any], None], int] = {_tool: 4}
    if call.status == HOLD:
        shared[_tone] = 4
    elif call.status != ENDED and call.silent(BACKGROUND) and call.next_up != BACKGROUND:
        shared |= {_word_by_word: 4, lambda c: _words_of_others(c, purposes): 2}
    if call.idle and call.status == CONNECTED:
        shared[_talk] = 3
    crowded = len(call.events) > _CROWDED
    call.draws.weighted(_short(shared) if crowded else {**shared, **kinds})(call)
    return True


def _short(kinds: dict[Callable[[Any], None], int]) -> dict[Callable[[Any], None], int]:
    """What takes little room in a state: lines of the log, and one voice that goes on and on."""
    return {kind: weight for kind, weight in kinds.items() if kind in (_tool, _tone, _word_by_word)}


def _tool(call: Call) -> None:
    note = "distractor: a tool of the desk"
    text = call.fresh(lambda: call.draws.choose(phrases.TOOLS))
    call.emit(say.log(call.now, text, note))


def _tone(call: Call) -> None:
    call.emit(
        say.log(call.now, call.draws.choose(phrases.HOLD_TONES), "distractor: no timer restarts")
    )


def _talk(call: Call) -> None:
    """Between two things that matter; who is speaking goes on."""
    speaker = call.draws.choose([CUSTOMER, AGENT])
    if not call.silent(speaker):
        _tool(call)
        return
    text = call.fresh(lambda: call.voice.talk(speaker))
    call.emit(call.final(speaker, text, "distractor: small talk"))


def _word_by_word(call: Call) -> None:
    """A voice of the background that grows in the transcript."""
    text = call.fresh(lambda: call.voice.talk(BACKGROUND))
    words = plain(text).split()
    cuts = sorted({call.draws.between(1, len(words)) for _ in range(call.draws.between(1, 3))})
    call.begin(BACKGROUND, [*(" ".join(words[:cut]) for cut in cuts), text])


def _words_of_others(call: Call, purposes: Sequence[str]) -> None:
    """Words that would count, from somebody from whom they do not."""
    text = call.voice.by_others(call.draws.choose(purposes), BACKGROUND)
    call.emit(call.final(BACKGROUND, text, "distractor: words from the background"))


def _account(call: PaymentCall) -> None:
    text = call.fresh(lambda: call.draws.choose(phrases.ACCOUNT))
    call.emit(say.log(call.now, text, "distractor: the account"))


def _checklist(call: PaymentCall) -> None:
    """Ticked by an agent who has not looked, once; the goodbye waits for the end."""
    if not call.tick("distractor: the checklist is information only"):
        _account(call)


def _chat(call: PaymentCall) -> None:
    purpose = call.draws.choose(["consent", "withdrawal"])
    text = f"chat, supervisor: {plain(call.voice.by_others(purpose, AGENT))}"
    call.emit(say.log(call.now, text, "distractor: chat commands nothing"))


def _eta(call: IntercomCall) -> None:
    if not call.open_parcels:
        _tool(call)
        return
    item = call.draws.choose(call.open_parcels)
    eta = call.now + call.draws.between(1, 9)
    text = f"carrier: {call.name(item)} ETA now {eta}"
    note = "distractor: an ETA moves nothing"
    call.emit(say.put(call.now, {f"parcels.{item}.eta": eta}, text, note))


def _order_line(call: IntercomCall) -> None:
    if not call.open_parcels:
        _tool(call)
        return
    item = call.draws.choose(call.open_parcels)
    word = call.draws.choose(["shipped", "on_hold", "insured"])
    text = f"shop: {call.name(item)} order line {word}"
    note = "distractor: the shop's own record"
    call.emit(say.put(call.now, {f"parcels.{item}.order_line": word}, text, note))


def _other_callback(call: IntercomCall) -> None:
    outcome = call.draws.choose(["cancelled", "refused", "received"])
    stranger = call.draws.choose(call.other_parcels)
    call.call_back(stranger, outcome, "another order", "distractor: another parcel")


def _own_entry(call: IntercomCall) -> None:
    """The agent writes into the permission log."""
    permission = call.draws.choose([*CHANNELS, "remote_access"])
    given = permission not in call.entered
    call.permit(permission, given, AGENT, "distractor: an entry the agent made")


def _idle_device(call: IntercomCall) -> None:
    item = call.draws.choose(list(call.devices))
    line = call.draws.choose(phrases.DEVICE_LINES)
    call.emit(say.log(call.now, f"{call.name(item)}: {line}", "distractor: a heartbeat"))
