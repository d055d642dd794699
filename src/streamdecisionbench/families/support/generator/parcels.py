"""What happens around parcels: requests, corrections, deadlines, cancellations."""

from __future__ import annotations

from streamdecisionbench.families.support import events as say
from streamdecisionbench.families.support.generator.call import CONNECTED
from streamdecisionbench.families.support.generator.intercom import IntercomCall
from streamdecisionbench.families.support.generator.voice import AGENT, BACKGROUND, CUSTOMER, plain
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation

_FAR = 400
"""A deadline that no session reaches."""


def other_item(call: IntercomCall, item: str) -> str:
    """The other one of the two parcels, or of the two devices."""
    items = call.parcels if item in call.parcels else call.devices
    return next(i for i in items if i != item)


def other_work(call: IntercomCall) -> tuple[str, str]:
    """Work of another kind than the present one, about an item whose turn it is."""
    kinds = ["delivery", "cancel", "repair"] if _undecided(call) else ["delivery", "repair"]
    kind = call.draws.choose([k for k in kinds if k != call.kind])
    if kind == "repair":
        return kind, call.next_device()
    return kind, call.draws.choose(_undecided(call)) if kind == "cancel" else call.next_parcel()


def _ask(call: IntercomCall) -> Ticks[None]:
    """Somebody else asks for something first, which nobody follows."""
    kind, item = other_work(call)
    other = f"{kind} {other_item(call, item)}"
    yield from call.breathe()
    speaker = call.draws.choose([AGENT, BACKGROUND])
    call.trap(speaker, call.voice.by_others(other, speaker), f"a request from the {speaker}")
    yield from call.ask(kind, item)
    yield from call.report()


def _in_other_words(call: IntercomCall) -> Ticks[None]:
    """Words that are not listed, a half sentence, then words that are."""
    kind, item = other_work(call)
    yield from call.breathe()
    call.trap(
        CUSTOMER, call.voice.unsaid(f"{kind} {other_item(call, item)}"), "sounds like a request"
    )
    yield from call.slip(f"{kind} {item}")
    yield from call.ask(kind, item)


def _corrected(call: IntercomCall) -> Ticks[None]:
    """A correction keeps the kind; one that does not fit has no effect."""
    unfit = call.draws.choose(list(call.parcels if call.kind == "repair" else call.devices))
    item = other_item(call, call.item)
    yield from call.wait(1)
    call.script.trap(
        call.final(CUSTOMER, call.voice.says(f"correct {unfit}"), "trap: does not fit the work")
    )
    yield from call.slip(f"correct {item}")
    yield from call.pause(1, 2)
    because = f"corrected to the {call.name(item)}"
    yield from call.customer_says(f"correct {item}", "a correction that fits", because)


def _in_one_breath(call: IntercomCall) -> Ticks[None]:
    """A request and a correction of it: they take effect from left to right."""
    kind, item = other_work(call)
    first = other_item(call, item)
    yield from call.pause()
    text = call.voice.both(f"{kind} {first}", f"correct {item}")
    because = f"{kind}, corrected to the {call.name(item)}"
    yield from call.customer_says(f"{kind} {item}", "a request and its correction", because, text)


def _overtaken(call: IntercomCall) -> Ticks[None]:
    """A sentence that began first becomes final last, so it is the later one."""
    kind, item = other_work(call)
    yield from call.pause(1, 2)
    yield from call.settle(CUSTOMER)
    ident = call.next_id()
    text = call.voice.says(f"{kind} {item}")
    call.script.trap(
        say.say(call.now, ident, CUSTOMER, False, plain(text), "trap: begun, not final")
    )
    yield from call.pause(1, 2)
    other = f"{call.kind} {other_item(call, call.item)}"
    call.script.emit(call.final(CUSTOMER, call.voice.says(other), "cause: another request"))
    call.hear(other)
    call.show("the shorter request is final first")
    yield from call.pause(1, 3)
    call.script.emit(call.final(CUSTOMER, text, "cause: final at last", ident))
    call.hear(f"{kind} {item}")
    call.show("the sentence that began first is final at last")


def _deadline(call: IntercomCall) -> Ticks[None]:
    """Late exactly at the deadline, whatever the estimate and the driver say; delivered all the same."""
    item = call.next_parcel()
    yield from call.ask("delivery", item)
    if call.parcels[item].status == "address_query":
        yield from call.report()
        yield from call.wait(1)
        text = f"carrier: {call.name(item)} address corrected, on the van"
        call.ship(item, "in_transit", text, "cause: travels")
        call.show("the parcel travels")
    yield from call.pause(1, 2)
    ticks = call.draws.between(4, 6)
    deadline = call.now + ticks
    call.promise(
        item, deadline, call.now + 1, "the deadline is set anew; the estimate is no deadline"
    )
    call.show("a new deadline")
    yield from call.wait(2)
    call.trap(AGENT, call.voice.line("late")[0], "the agent's opinion")
    yield from call.wait(deadline - 1 - call.now)
    driver = call.draws.choose(["turning into your street", "two stops away", "parking outside"])
    call.trap_log(f"driver: {driver}", "a message moves no deadline")
    yield from call.wait(1)
    yield from call.report()
    call.tool(
        {f"parcels.{item}.eta": call.now + 4}, f"carrier: ETA now {call.now + 4}", "trap: an ETA"
    )
    yield from call.pause(1, 2)
    call.ship(item, "delivered", f"carrier: {call.name(item)} handed over", "cause: delivered")
    call.show("delivered outranks late")
    yield from call.report()


def _on_its_way(call: IntercomCall) -> Ticks[None]:
    """A label, a query, the road: the parcel's status moves on."""
    item = call.next_parcel()
    parcel = call.parcels[item]
    yield from call.ask("delivery", item)
    if parcel.deadline < call.now + 12:
        yield from call.pause()
        call.promise(item, _FAR, call.now + 9, "cause: the deadline is far away")
        call.show("not late any more")
    texts = {
        "address_query": f"carrier: {parcel.name} held, house number missing",
        "in_transit": f"carrier: {parcel.name} on the van",
    }
    yield from call.report()
    for status in ("in_transit",) if parcel.status == "address_query" else texts:
        yield from call.pause(1, 2)
        call.trap(AGENT, call.voice.line("moving", name=parcel.name)[0], "the agent's opinion")
        yield from call.pause(1, 2)
        call.ship(item, status, texts[status], f"cause: {status}")
        call.show(f"the carrier reports {status}")
        yield from call.report()


def _undecided(call: IntercomCall) -> list[str]:
    """Parcels that are still to come, and that no callback has decided about."""
    return [i for i in call.open_parcels if call.parcels[i].answer == "cancel_request"]


def _to_a_cancellation(call: IntercomCall) -> Ticks[str]:
    """A cancellation that the carrier has not decided yet."""
    item = call.draws.choose(_undecided(call))
    yield from call.ask("cancel", item)
    yield from call.report()
    return item


def _cancel_in_the_shop(call: IntercomCall, item: str) -> Ticks[None]:
    """The agent and the shop's own record cancel nothing."""
    yield from call.breathe()
    call.trap(AGENT, call.voice.line("cancelled")[0], "the agent's word cancels nothing")
    fields = {f"parcels.{item}.order_line": "cancelled"}
    text = f"shop: {call.name(item)} order line cancelled"
    call.tool(fields, text, "trap: the shop's own record")


def _cancelled(call: IntercomCall) -> Ticks[None]:
    """Only the carrier cancels: not the agent, not the shop, not a callback about another parcel."""
    item = yield from _to_a_cancellation(call)
    name = call.name(item)
    yield from _cancel_in_the_shop(call, item)
    yield from call.pause(1, 2)
    call.call_back(item, "received", "noted, asking the depot", "trap: received is not cancelled")
    stranger = call.draws.choose(call.other_parcels)
    yield from call.wait(1)
    call.call_back(stranger, "cancelled", "called off, another order", "trap: another parcel")
    yield from call.pause(1, 2)
    call.call_back(item, "cancelled", f"{name} goes back to you", "cause: the carrier cancels")
    call.show("the carrier's callback says cancelled")
    yield from call.report()
    yield from call.pause(1, 2)
    call.call_back(item, "received", "noted again", "trap: received undoes nothing")


def _refused(call: IntercomCall) -> Ticks[None]:
    """Refused at first, cancelled after all: the last decisive callback counts."""
    item = yield from _to_a_cancellation(call)
    name = call.name(item)
    yield from _cancel_in_the_shop(call, item)
    yield from call.pause(1, 2)
    call.call_back(item, "refused", f"{name} is loaded already", "cause: the carrier refuses")
    call.show("the carrier's callback says refused")
    yield from call.report()
    yield from call.pause(1, 2)
    stranger = call.draws.choose(call.other_parcels)
    call.call_back(stranger, "cancelled", "another customer's", "trap: another parcel")
    yield from call.pause(1, 2)
    call.call_back(item, "cancelled", f"{name} caught at the depot", "cause: cancelled after all")
    call.show("the last callback says cancelled")
    yield from call.report()


def on_the_line(call: IntercomCall) -> bool:
    return call.status == CONNECTED and call.left >= 7


def _to_come(call: IntercomCall) -> bool:
    return on_the_line(call) and bool(call.open_parcels)


def _can_cancel(call: IntercomCall) -> bool:
    return on_the_line(call) and bool(_undecided(call))


_WORK = (
    "B03_wordings",
    "B03_intents",
    "B04_speech",
    "B05_work",
    "B06_route",
    "B07_targets",
    "B15_inactive",
)

PARCELS: tuple[Situation[IntercomCall], ...] = (
    Situation("work", "other work", _WORK, on_the_line, _ask, 3, dealt=False),
    Situation("work", "in other words", _WORK, on_the_line, _in_other_words, 2),
    Situation("work", "corrected", _WORK, on_the_line, _corrected, 2),
    Situation("work", "in one breath", _WORK, on_the_line, _in_one_breath, 2),
    Situation("work", "overtaken", (*_WORK, "B02_transcript"), on_the_line, _overtaken, 1),
    Situation("delivery", "deadline", ("B01_time", "B08_delivery"), lambda c: _to_come(c) and c.left > 14, _deadline, 2),
    Situation("delivery", "on its way", ("B08_delivery",), _to_come, _on_its_way, 2),
    Situation("cancel", "cancelled", ("B09_cancellation",), _can_cancel, _cancelled, 2),
    Situation("cancel", "refused", ("B09_cancellation",), _can_cancel, _refused, 2),
)  # fmt: skip
