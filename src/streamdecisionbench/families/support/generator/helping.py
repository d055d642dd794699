"""What happens around the connection: changes of subject, line tests, the router, holds, the end."""

from __future__ import annotations

from streamdecisionbench.families.support import events as say
from streamdecisionbench.families.support.generator.call import CONNECTED, ENDED
from streamdecisionbench.families.support.generator.paying import finish, serve
from streamdecisionbench.families.support.generator.payment import SUBJECTS, PaymentCall
from streamdecisionbench.families.support.generator.voice import AGENT, CUSTOMER, plain
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation


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
    yield from call.pause(1, 2)
    yield from call.turn(CUSTOMER)
    call.listen(CUSTOMER)
    ident = call.next_id()
    text = call.words(first)
    note = "trap: said, but not final"
    call.script.trap(call.utter(CUSTOMER, False, plain(text), note, ident))
    yield from call.pause(1, 2)
    because = f"the customer turns to {second}"
    shorter = call.final(CUSTOMER, call.words(second), f"cause: names {second}")
    call.script.emit(shorter)
    call.hear(second)
    call.show(because)
    yield from call.pause(1, 3)
    call.script.emit(call.final(CUSTOMER, text, f"cause: {first} is final", ident))
    call.hear(first)
    call.show(f"the sentence about {first} is final at last")
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
        yield from call.until(lambda: call.shows(service_action="run_test"), most=3)
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
    yield from call.until(lambda: call.script.panel.get("service_action") in said, most=2)
    action = call.script.panel.get("service_action")
    if action in said and call.subject != "payment":
        yield from call.tell(action)
        call.known = action
        call.told(call.decision().get("service_action") == action)
    else:
        call.acknowledge()


def _router(call: PaymentCall) -> Ticks[None]:
    """The router comes and goes; what people see counts for nothing."""
    yield from call.turn_to("router")
    yield from _report(call)
    yield from call.wait(1)
    seen = (
        "I can hardly see the lights from here."
        if call.router_online
        else "All the lights are green here."
    )
    yield from call.mislead(CUSTOMER, seen, "the field counts, not the remark")
    yield from call.pause(1, 2)
    call.switch_router(not call.router_online, "cause: the router's status")
    call.show("the router's status changes")
    yield from _report(call)


def _long_hold(call: PaymentCall) -> Ticks[None]:
    """The limit is reached by the clock alone, at exactly the tick."""
    yield from call.breathe()
    yield from call.announce_hold()
    yield from call.wait(call.since + call.hold_limit - 1 - call.now)
    yield from call.mislead(AGENT, call.voice.line("soon")[0], "one tick short")
    yield from call.wait(1)
    yield from call.come_back()


def _short_hold(call: PaymentCall) -> Ticks[None]:
    """Back just before the limit."""
    yield from call.pause()
    yield from call.announce_hold()
    yield from call.wait(call.draws.between(2, call.hold_limit - 1))
    yield from call.take_back()


def _news_on_hold(call: PaymentCall) -> Ticks[None]:
    """What is said and what happens on hold shows once the hold is over."""
    yield from call.pause()
    yield from call.announce_hold()
    yield from call.wait(1)
    subject = _others(call)[0]
    call.script.trap(call.final(CUSTOMER, call.words(subject), "trap: shows once the hold is over"))
    call.hear(subject)
    yield from call.wait(1)
    if call.draws.chance(0.5):
        call.switch_router(not call.router_online, "trap: no service on hold")
    yield from call.wait(call.draws.between(0, call.hold_limit - 2))
    yield from call.take_back()
    yield from attend(call)


def _goodbye(call: PaymentCall) -> Ticks[None]:
    """A goodbye ends nothing; the telephone does."""
    yield from call.take_leave()
    if call.script.has_room_for_traps:
        ticked = "checklist: goodbye ticked by agent"
        fields = {"checklist.goodbye": True}
        call.script.trap(say.put(call.now, fields, ticked, "trap: the checklist ends no call"))
    yield from call.wait(1)
    yield from call.settle()
    call.hang_up()


def _after(call: PaymentCall) -> Ticks[None]:
    yield from call.after_call()


def _on_the_line(call: PaymentCall) -> bool:
    return call.status == CONNECTED and call.left >= 7


def _has_time(call: PaymentCall) -> bool:
    return call.status == CONNECTED and call.now > 3 and call.left >= call.hold_limit + 6


def _ends(call: PaymentCall) -> bool:
    return call.status == CONNECTED and call.left < 7


_WORDS = ("A03_phrases", "A03_intents")
_ROUTE = ("A05_route", "A07_service_target", "A17_inactive")
_HOLD = ("A01_time", "A05_route", "A06_hold")

HELPING: tuple[Situation[PaymentCall], ...] = (
    Situation("subject", "another subject", (*_ROUTE, "A04_who"), _on_the_line, _turn, 1, dealt=False),
    Situation("subject", "in other words", (*_ROUTE, *_WORDS), _on_the_line, _in_other_words, 2),
    Situation("subject", "two subjects", (*_ROUTE, *_WORDS), _on_the_line, _two_subjects, 2),
    Situation("subject", "overtaken", (*_ROUTE, "A02_transcript"), _on_the_line, _overtaken, 1),
    Situation("service", "line test", ("A08_connection",), _on_the_line, _line, 3),
    Situation("service", "router", ("A09_router",), _on_the_line, _router, 2),
    Situation("hold", "a long hold", _HOLD, _has_time, _long_hold, 2),
    Situation("hold", "a short hold", _HOLD, _has_time, _short_hold, 1),
    Situation("hold", "news on hold", _HOLD, _has_time, _news_on_hold, 1),
    Situation("end", "the end", ("A05_route", "A14_recorder"), _ends, _goodbye, 4, dealt=False),
    Situation("end", "after the call", ("A14_recorder",), lambda c: c.status == ENDED, _after, dealt=False),
)  # fmt: skip
