"""What happens around parcels: requests, corrections, deadlines, cancellations."""

from __future__ import annotations

from streamdecisionbench.families.support.generator.call import CONNECTED
from streamdecisionbench.families.support.generator.intercom import IntercomCall
from streamdecisionbench.families.support.generator.voice import AGENT, CUSTOMER, plain
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation


def other_item(call: IntercomCall, item: str) -> str:
    """The other one of the two parcels, or of the two devices."""
    items = call.parcels if item in call.parcels else call.devices
    return next(i for i in items if i != item)


def askable(call: IntercomCall) -> list[tuple[str, str]]:
    """Work that a customer could ask for now, other than the present one.

    Nobody asks where a parcel is that has come or that he does not want, nor calls one off twice.
    """
    works = [("delivery", item) for item in call.awaited]
    works += [("cancel", item) for item in _undecided(call) if item not in call.unwanted]
    works += [("repair", item) for item in call.devices]
    return [work for work in works if work != (call.kind, call.item)]


def other_work(call: IntercomCall, mistakable: bool = False) -> tuple[str, str]:
    """Work of another kind than the present one, about an item whose turn it is.

    It is mistakable if the customer could as well ask the same about the other item.
    """
    works = askable(call)
    if mistakable:
        known = [*works, (call.kind, call.item)]
        works = [(kind, item) for kind, item in works if (kind, other_item(call, item)) in known]
    other = [work for work in works if work[0] != call.kind] or works
    new = [work for work in other if work not in call.settled] or other
    return call.draws.choose([work for work in new if work[1] not in call.shown] or new)


def _ask(call: IntercomCall) -> Ticks[None]:
    """Somebody else asks for something first, which nobody follows."""
    kind, item = other_work(call)
    offers = [f"{k} {i}" for k, i in askable(call) if (k, i) != (kind, item)]
    yield from call.breathe()
    if offers:
        speaker = call.draws.choose(call.voice.bystanders())
        text = call.voice.by_others(call.draws.choose(offers), speaker)
        yield from call.mislead(speaker, text, f"a request from the {speaker}")
    yield from call.ask(kind, item)
    yield from call.attend()


def _in_other_words(call: IntercomCall) -> Ticks[None]:
    """Words that are not listed, a half sentence, then words that are."""
    kind, item = other_work(call)
    yield from call.breathe()
    text = call.unsaid(f"{kind} {other_item(call, item)}")
    yield from call.mislead(CUSTOMER, text, "sounds like a request")
    yield from call.slip(f"{kind} {item}")
    yield from call.ask(kind, item)
    yield from call.attend()


def _corrected(call: IntercomCall) -> Ticks[None]:
    """A correction keeps the kind; one that does not fit has no effect."""
    kind, item = other_work(call, mistakable=True)
    yield from call.ask(kind, other_item(call, item))
    unfit = call.draws.choose(list(call.parcels if kind == "repair" else call.devices))
    yield from call.wait(1)
    yield from call.turn(CUSTOMER)
    call.script.trap(
        call.final(CUSTOMER, call.words(f"correct {unfit}"), "trap: does not fit the work")
    )
    yield from call.slip(f"correct {item}")
    yield from call.pause(1, 2)
    because = f"corrected to the {call.name(item)}"
    yield from call.customer_says(f"correct {item}", "a correction that fits", because)
    yield from call.attend()


def _in_one_breath(call: IntercomCall) -> Ticks[None]:
    """A request and a correction of it: they take effect from left to right."""
    kind, item = other_work(call, mistakable=True)
    first = other_item(call, item)
    yield from call.pause()
    text = call.voice.both(f"{kind} {first}", f"correct {item}")
    because = f"{kind}, corrected to the {call.name(item)}"
    yield from call.customer_says(f"{kind} {item}", "a request and its correction", because, text)
    yield from call.attend()


def _overtaken(call: IntercomCall) -> Ticks[None]:
    """What was said first becomes final last, so it is the later one."""
    first, second = (f"{k} {i}" for k, i in call.draws.sample(askable(call), 2))
    yield from call.pause(1, 2)
    yield from call.turn(CUSTOMER)
    call.listen(CUSTOMER)
    ident = call.next_id()
    text = call.words(first)
    note = "trap: said, but not final"
    call.script.trap(call.utter(CUSTOMER, False, plain(text), note, ident))
    yield from call.pause(1, 2)
    call.script.emit(call.final(CUSTOMER, call.words(second), "cause: another request"))
    call.hear(second)
    call.show("the second request is final first")
    yield from call.pause(1, 3)
    call.script.emit(call.final(CUSTOMER, text, "cause: final at last", ident))
    call.hear(first)
    call.show("what was said first is final at last")
    yield from call.attend()


def _deadline(call: IntercomCall) -> Ticks[None]:
    """Late exactly at the deadline, whatever the estimate and the driver say; delivered all the same."""
    item = call.next_parcel()
    yield from call.ask("delivery", item)
    yield from call.report()
    if call.parcels[item].status == "address_query":
        yield from _address(call, item)
    elif call.parcels[item].status == "label_only":
        yield from call.pause(1, 2)
        _collected(call, item)
    yield from call.pause(1, 2)
    ticks = call.draws.between(4, 6)
    deadline = call.now + ticks
    call.promise(
        item, deadline, call.now + 1, "the deadline is set anew; the estimate is no deadline"
    )
    call.show("a new deadline")
    yield from call.wait(2)
    yield from call.mislead(AGENT, call.voice.line("late")[0], "the agent's opinion")
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


def _collected(call: IntercomCall, item: str) -> None:
    """What was only a label is with the carrier: nothing is held or delivered before that."""
    text = f"carrier: {call.name(item)} collected"
    call.ship(item, "in_transit", text, "cause: travels")
    call.show("the parcel travels")


def _address(call: IntercomCall, item: str) -> Ticks[None]:
    """The carrier misses a house number, and goes on once it is given."""
    yield from call.wait(2)
    yield from call.tell("house_number", name=call.name(item))
    yield from call.pause(1, 2)
    text = f"carrier: {call.name(item)} back on the van"
    call.ship(item, "in_transit", text, "cause: travels")
    call.show("the parcel travels")


def _on_its_way(call: IntercomCall) -> Ticks[None]:
    """A label, the road, a query, the road: the parcel's status moves on."""
    item = call.draws.choose(_unqueried(call))
    parcel = call.parcels[item]
    yield from call.ask("delivery", item)
    if parcel.deadline < call.now + 12:
        yield from call.pause()
        later = call.now + call.script.steps
        call.promise(item, later, call.now + 9, "cause: the deadline is far away")
        call.show("not late any more")
    yield from call.report()
    if parcel.status == "label_only":
        yield from call.pause(1, 2)
        _collected(call, item)
        yield from call.report()
    yield from call.wait(1)
    text = call.voice.line("moving", name=parcel.name)[0]
    yield from call.mislead(AGENT, text, "the agent's opinion")
    yield from call.pause(1, 2)
    parcel.queried = True
    held = f"carrier: {parcel.name} held, house number missing"
    call.ship(item, "address_query", held, "cause: address_query")
    call.show("the carrier holds the parcel")
    yield from call.report()
    yield from _address(call, item)
    yield from call.report()


def _unqueried(call: IntercomCall) -> list[str]:
    """Parcels waited for that the carrier knows where to take, as far as it has asked."""
    return [i for i in call.awaited if not call.parcels[i].queried]


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
    yield from call.mislead(
        AGENT, call.voice.line("cancelled")[0], "the agent's word cancels nothing"
    )
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
    return on_the_line(call) and bool(call.awaited)


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
    Situation("work", "overtaken", (*_WORK, "B02_transcript"), lambda c: on_the_line(c) and len(askable(c)) > 1, _overtaken, 1),
    Situation("delivery", "deadline", ("B01_time", "B08_delivery"), lambda c: _to_come(c) and c.left > 14, _deadline, 2),
    Situation("delivery", "on its way", ("B08_delivery",), lambda c: on_the_line(c) and bool(_unqueried(c)), _on_its_way, 2),
    Situation("cancel", "cancelled", ("B09_cancellation",), _can_cancel, _cancelled, 2),
    Situation("cancel", "refused", ("B09_cancellation",), _can_cancel, _refused, 2),
)  # fmt: skip
