"""What happens around devices, contact and the telephone: tests, permissions, channels, holds."""

from __future__ import annotations

from streamdecisionbench.families.support.generator.call import CONNECTED, ENDED
from streamdecisionbench.families.support.generator.intercom import CHANNELS, IntercomCall
from streamdecisionbench.families.support.generator.parcels import (
    on_the_line,
    other_item,
    other_work,
)
from streamdecisionbench.families.support.generator.voice import AGENT, CUSTOMER
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation


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
    yield from call.mislead(
        CUSTOMER, "Well, I hear what I hear.", f"an opinion about the {call.name(item)}"
    )


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
    if call.script.has_room_for_traps:
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
    if call.script.has_room_for_traps:
        call.permit("remote_access", True, AGENT, "trap: an entry the agent made")
    yield from call.pause(1, 2)
    if call.shows(repair_action="remote_check"):
        call.script.count("checks_without_access")
    else:
        call.permit("remote_access", True, CUSTOMER, "cause: the customer allows remote access")
        call.show("remote access is allowed")
        yield from call.pause(1, 2)
        yield from call.until(lambda: call.shows(repair_action="remote_check"), most=3)
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
    if call.script.has_room_for_traps:
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

    Whoever takes a mere thought for a wish to be called is found out where another channel is preferred.
    """
    second = call.next_channel()
    first = call.draws.choose([c for c in CHANNELS if c not in (second, call.preferred)])
    for channel in (first, second):
        if channel not in call.permitted:
            yield from call.wait(1)
            call.permit(channel, True, CUSTOMER, "a permission for a channel not preferred")
    yield from _ask_how(call)
    if second == "phone":
        yield from _half_a_wish(call, first)
    text = call.voice.both(first, second)
    yield from call.customer_says(
        second, f"{first}, then {second}", f"the customer settles on {second}", text
    )
    if second != "phone":
        yield from call.pause(1, 2)
        yield from _half_a_wish(call, first)


def _half_a_wish(call: IntercomCall, channel: str) -> Ticks[None]:
    yield from call.mislead(CUSTOMER, call.unsaid(channel), "sounds like a preference and is none")
    yield from call.pause(1, 2)


def _long_hold(call: IntercomCall) -> Ticks[None]:
    """The limit is reached by the clock alone; results that come in do not end a hold."""
    yield from call.breathe()
    yield from call.announce_hold()
    yield from call.breathe()
    call.trap_log(f"music on hold: track {call.draws.between(1, 9)}", "nothing restarts the timer")
    yield from call.wait(call.since + call.hold_limit - 1 - call.now)
    yield from call.mislead(AGENT, call.voice.line("soon")[0], "one tick short")
    yield from call.wait(1)
    yield from call.come_back()


def _news_on_hold(call: IntercomCall) -> Ticks[None]:
    """What is said and what comes in during a hold shows once it is over."""
    yield from call.pause()
    yield from call.announce_hold()
    yield from call.wait(1)
    kind, item = other_work(call)
    text = call.words(f"{kind} {item}")
    call.script.trap(call.final(CUSTOMER, text, "trap: shows once the hold is over"))
    call.hear(f"{kind} {item}")
    yield from call.wait(1)
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


def _after(call: IntercomCall) -> Ticks[None]:
    yield from call.after_call()


def _closed(call: IntercomCall) -> list[str]:
    """Channels without permission that are not the preferred one."""
    return [c for c in CHANNELS if c not in call.permitted and c != call.preferred]


def _settled_in(call: IntercomCall) -> bool:
    """Nobody speaks of letters before he has said what he calls about."""
    return on_the_line(call) and call.now > 4


def _has_time(call: IntercomCall) -> bool:
    return call.status == CONNECTED and call.now > 3 and call.left >= call.hold_limit + 6


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
    Situation("hold", "a long hold", _HOLD, _has_time, _long_hold, 2),
    Situation("hold", "news on hold", _HOLD, _has_time, _news_on_hold, 1),
    Situation(
        "end", "the end", ("B06_route", "B16_other"),
        lambda c: c.status == CONNECTED and c.left < 7, _resolved, 4, dealt=False,
    ),
    Situation("end", "after the call", ("B06_route",), lambda c: c.status == ENDED, _after, dealt=False),
)  # fmt: skip
