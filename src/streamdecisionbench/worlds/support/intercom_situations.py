"""Situations of an intercom call: parcels, devices, contact, holds."""

from __future__ import annotations

from streamdecisionbench.worlds.generation.world import Situation
from streamdecisionbench.worlds.generation.world_simulator import Ticks
from streamdecisionbench.worlds.support.call import (
    Call,
    draws_to_its_end,
    has_ended,
    has_time_for_a_hold,
    on_the_line,
)
from streamdecisionbench.worlds.support.intercom import (
    CHANNELS,
    IntercomCall,
)
from streamdecisionbench.worlds.support.phrases import (
    DOUBT,
    DRIVER,
)
from streamdecisionbench.worlds.support.voice import (
    AGENT,
    CUSTOMER,
)

# Parcels: requests, corrections, deadlines, cancellations.


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
    call.trap(call.final(CUSTOMER, call.words(f"correct {unfit}"), "trap: does not fit the work"))
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
    because = "the second request is final first", "what was said first is final at last"
    yield from call.overtake(first, second, ("another request", "final at last"), because)
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
    driver = call.draws.choose(DRIVER)
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
        later = call.now + call.steps
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


# Devices, contact and telephone: tests, permissions, channels, holds.


def _to_a_test(call: IntercomCall, result: str) -> Ticks[str]:
    """A device is tested; `result` comes out."""
    item = call.next_device()
    if call.devices[item].test != "none":
        yield from call.pause()
        call.restart(item)
    yield from call.ask("repair", item)
    yield from call.examine(result)
    return item


def _clear(call: IntercomCall) -> Ticks[None]:
    item = yield from _to_a_test(call, "clear")
    yield from call.breathe()
    yield from call.mislead(CUSTOMER, DOUBT, f"an opinion about the {call.name(item)}")


def _hardware(call: IntercomCall) -> Ticks[None]:
    """A part is posted if one is in stock and fits without a technician: one is enough."""
    item = yield from _to_a_test(call, "hardware")
    device = call.devices[item]
    other = other_item(call, item)
    yield from call.pause(1, 2)
    if not device.self_fit:
        call.fit(item, True, "cause: can be fitted")
        call.show("the customer can fit it")
        yield from call.pause(1, 2)
    if device.stock:
        call.stock(item, 0, "cause: out of stock")
        call.show("no spare in stock")
        yield from call.breathe()
    if call.has_room_for_traps:
        call.stock(other, call.draws.between(2, 6), "trap: the other device's spare")
    yield from call.pause(1, 2)
    call.stock(item, 1, "cause: exactly one in stock")
    call.show("one spare in stock that the customer can fit")
    yield from call.report()
    yield from call.breathe()
    yield from call.mislead(AGENT, call.voice.line("technician")[0], "the agent's preference")


def _technicians_part(call: IntercomCall) -> Ticks[None]:
    """A part in stock is not posted to a customer who cannot fit it."""
    item = yield from _to_a_test(call, "hardware")
    device = call.devices[item]
    if device.self_fit:
        yield from call.pause(1, 2)
        call.fit(item, False, "only a technician can fit the new part")
        call.show("the customer cannot fit it")
    if not device.stock:
        yield from call.pause(1, 2)
        call.stock(item, call.draws.between(1, 4), "trap: in stock, not for the customer to fit")
    yield from call.breathe()
    yield from call.mislead(AGENT, call.voice.line("post")[0], "the customer cannot fit it")
    yield from call.pause(1, 2)
    call.fit(item, True, "cause: can be fitted")
    call.show("a spare in stock that the customer can fit")
    yield from call.report()


def _unclear(call: IntercomCall) -> Ticks[None]:
    """A remote check needs the customer's own permission, and outlives it."""
    item = yield from _to_a_test(call, "unclear")
    yield from call.breathe()
    if call.has_room_for_traps:
        call.permit("remote_access", True, AGENT, "trap: an entry the agent made")
    yield from call.pause(1, 2)
    if call.shows(repair_action="remote_check"):
        call.count("checks_without_access")
    else:
        call.permit("remote_access", True, CUSTOMER, "cause: the customer allows remote access")
        call.show("remote access is allowed")
        yield from call.pause(1, 2)
        yield from call.see(3, repair_action="remote_check")
    yield from call.tell("remote_check", name=call.name(item))
    call.remote(item, "running", "cause: the remote check runs")
    call.show("the remote check runs")
    yield from call.wait(1)
    if "remote_access" in call.permitted:
        call.permit("remote_access", False, CUSTOMER, "trap: the check runs on")
    yield from call.pause(1, 2)
    result = "clear" if call.remote_checks % 2 else "hardware"
    call.remote(item, result, f"cause: the remote check finds {result}")
    call.show(f"the remote check finds {result}")
    yield from call.report()


def _ask_how(call: IntercomCall) -> Ticks[None]:
    """The agent asks how to get back to a customer who has not said so."""
    yield from call.pause(1, 2)
    if call.preferred == "none":
        yield from call.tell("contact")
        yield from call.wait(1)


def _prefers(call: IntercomCall) -> Ticks[None]:
    """A preference with its permission; others cannot prefer for the customer."""
    channel = call.next_channel()
    others = [c for c in CHANNELS if c not in (channel, call.preferred)]
    other = call.draws.choose([c for c in others if c in call.permitted] or others)
    if channel not in call.permitted:
        yield from call.wait(1)
        call.permit(channel, True, CUSTOMER, "a permission for a channel not preferred")
    yield from _ask_how(call)
    speaker = call.draws.choose(call.voice.bystanders())
    text = call.voice.by_others(other, speaker)
    yield from call.mislead(speaker, text, f"a preference from the {speaker}")
    yield from call.slip(other)
    yield from call.pause(1, 2)
    yield from call.customer_says(channel, f"prefers {channel}", f"the customer prefers {channel}")


def _loses(call: IntercomCall) -> Ticks[None]:
    """The preferred channel loses its permission: no other one takes its place."""
    call.lost = True
    if call.preferred == "none" or call.preferred not in call.permitted:
        yield from _prefers(call)
    channel = call.preferred
    fallback = call.draws.choose([c for c in CHANNELS if c != channel])
    yield from call.pause(1, 2)
    if fallback not in call.permitted:
        call.permit(fallback, True, CUSTOMER, "trap: another channel's permission")
        yield from call.wait(1)
    call.permit(channel, False, CUSTOMER, "cause: the preferred channel loses its permission")
    call.show(f"permission for {channel} is withdrawn")
    yield from call.breathe()
    if call.has_room_for_traps:
        call.permit(channel, True, AGENT, "trap: an entry the agent made")
    yield from call.pause(1, 2)
    call.permit(channel, True, CUSTOMER, "cause: the customer's own entry")
    call.show(f"permission for {channel} is given again")


def _without_permission(call: IntercomCall) -> Ticks[None]:
    """A preference for a channel without permission leaves nothing until it is given."""
    closed = _closed(call)
    yield from _ask_how(call)
    channel = call.draws.choose(closed)
    yield from call.customer_says(channel, f"prefers {channel}", f"no permission for {channel}")
    yield from call.pause(1, 3)
    yield from call.mislead(CUSTOMER, call.voice.talk(CUSTOMER), "nothing said is a permission")
    yield from call.pause(1, 2)
    call.permit(channel, True, CUSTOMER, f"cause: {channel} is permitted")
    call.show(f"{channel} is preferred and permitted")


def _words_only(call: IntercomCall) -> Ticks[None]:
    """Two channels in one breath, and words that sound like the first and are none.

    A component that takes a mere thought for a preference fails where another channel is preferred.
    """
    second = call.next_channel()
    first = call.draws.choose([c for c in CHANNELS if c not in (second, call.preferred)])
    for channel in (first, second):
        if channel not in call.permitted:
            yield from call.wait(1)
            call.permit(channel, True, CUSTOMER, "a permission for a channel not preferred")
    yield from _ask_how(call)
    if second == "phone":
        yield from _sounds_like_a_preference(call, first)
    text = call.voice.both(first, second)
    yield from call.customer_says(
        second, f"{first}, then {second}", f"the customer settles on {second}", text
    )
    if second != "phone":
        yield from call.pause(1, 2)
        yield from _sounds_like_a_preference(call, first)


def _sounds_like_a_preference(call: IntercomCall, channel: str) -> Ticks[None]:
    yield from call.mislead(CUSTOMER, call.unsaid(channel), "sounds like a preference and is none")
    yield from call.pause(1, 2)


def _long_hold(call: IntercomCall) -> Ticks[None]:
    """The limit is reached by the clock alone; results that come in do not end a hold."""
    yield from call.breathe()
    yield from call.announce_hold()
    yield from call.breathe()
    call.trap_log(f"music on hold: track {call.draws.between(1, 9)}", "nothing restarts the timer")
    yield from call.stay_to_the_limit()


def _news_on_hold(call: IntercomCall) -> Ticks[None]:
    """What is said and what comes in during a hold shows once it is over."""
    yield from call.speak_on_hold(lambda: " ".join(other_work(call)))
    travelling = [i for i in call.open_parcels if call.parcels[i].status == "in_transit"]
    if travelling and call.draws.chance(0.5):
        parcel = travelling[0]
        call.ship(parcel, "delivered", f"carrier: {call.name(parcel)} signed for", "trap: on hold")
    yield from call.wait(call.draws.between(0, call.hold_limit - 2))
    yield from call.take_back()
    yield from call.attend()


def _resolved(call: IntercomCall) -> Ticks[None]:
    """A resolved case and a goodbye end nothing; the telephone does."""
    if not call.at_rest:
        yield from call.report()
    yield from call.take_leave()
    if call.at_rest:
        fields = {"case.status": "resolved"}
        call.tool(fields, "case: resolved", call.mere("a resolved case ends no call"))
    yield from call.wait(call.draws.between(1, 2))
    yield from call.settle()
    call.hang_up()
    yield from call.wait(1)
    call.follow_up()


def _closed(call: IntercomCall) -> list[str]:
    """Channels without permission that are not the preferred one."""
    return [c for c in CHANNELS if c not in call.permitted and c != call.preferred]


def _settled_in(call: IntercomCall) -> bool:
    """Nobody speaks of letters before he has said what he calls about."""
    return on_the_line(call) and call.now > 4


_DEVICE = ("B10_device_test", "B12_finding", "B07_targets")
_CONTACT = ("B13_permissions", "B14_channel")
_HOLD = ("B01_time", "B06_route")

REPAIRS: tuple[Situation[IntercomCall], ...] = (
    Situation("device", "clear", _DEVICE, on_the_line, _clear, 1),
    Situation("device", "hardware", _DEVICE, on_the_line, _hardware, 2),
    Situation("device", "a technician's part", _DEVICE, on_the_line, _technicians_part, 1),
    Situation("device", "unclear", (*_DEVICE, "B11_remote", "B13_permissions"), on_the_line, _unclear, 2),
    Situation("contact", "prefers", (*_CONTACT, "B04_speech"), _settled_in, _prefers, 2),
    Situation("contact", "loses its permission", _CONTACT, lambda c: _settled_in(c) and not c.lost, _loses, 1),
    Situation("contact", "without permission", _CONTACT, lambda c: _settled_in(c) and bool(_closed(c)), _without_permission, 1),
    Situation("contact", "words only", (*_CONTACT, "B03_wordings"), _settled_in, _words_only, 1),
    Situation("hold", "a long hold", _HOLD, has_time_for_a_hold, _long_hold, 2),
    Situation("hold", "news on hold", _HOLD, has_time_for_a_hold, _news_on_hold, 1),
    Situation("end", "the end", ("B06_route", "B16_other"), draws_to_its_end, _resolved, 4, dealt=False),
    Situation("end", "after the call", ("B06_route",), has_ended, Call.after_call, dealt=False),
)  # fmt: skip
