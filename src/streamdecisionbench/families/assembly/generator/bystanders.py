"""Evidence that must change nothing at a station: other units, unsure cameras, talk, devices."""

from __future__ import annotations

from collections.abc import Callable

from streamdecisionbench.families.assembly import events as say
from streamdecisionbench.families.assembly.generator.bench import Bench

_TALK = (
    "Looks right to me.", "We are behind, come on.", "I'd send it on.",
    "The neighbour's is worse.", "Who has my pen?", "Somebody open a ticket.", "Call the specialist?",
    "Tickets are all closed.", "This one can go, if you ask me.",
    "The camera is never wrong.", "Just skip the last step.", "A new one, and we are done.",
    "The limits are not that strict, are they?",
    "Put it aside for now.", "Start over, it's quicker.", "Nobody checks that anyway.",
)  # fmt: skip
_OF_THE_NEXT = ("I'll do {target} later.", "Leave {target}, go on.", "Do we really need {target}?")
_OF_DONE = ("{target} is good, I looked twice.", "I don't trust {target}.", "{target} is too tight, I'd say.",
            "Do {target} once more, to be safe.", "That one was fine a minute ago.", "It passed, didn't it?")  # fmt: skip
_OF_FAILED = (
    "{target} again? Never.",
    "{target} passes next time, you'll see.",
    "Forget {target}, it is close enough.",
    "One more try, then I call somebody.",
)
_HALVES = {
    "that is all": "That is all the trays we have.",
    "it is fine so": "It is fine, so why the fuss?",
    "pass it": "Pass it over, would you?",
    "ready to go": "Ready to go home, more like.",
    "replace": "Replace the battery at noon.",
    "send it": "Send it round on Friday, the list.",
    "open a ticket": "Open a ticket for the coffee machine.",
    "it failed": "It failed us all, that heating.",
    "hold it": "Hold it like this when you sweep.",
    "next step": "Next step: weekend.",
}


def distract(bench: Bench) -> bool:
    """One event that changes nothing. A half sentence is completed before another begins."""
    if bench.open_speech is not None:
        bench.script.emit(bench.finish_speaking("distractor: speech becomes final, and is speech"))
        return True
    kinds: dict[Callable[[Bench], bool], int] = {
        _device: 5, _talk: 3, _neighbour: 6, _heartbeat: 2, _half_sentence: 1, _unsure: 1,
        _unreadable: 1,
    }  # fmt: skip
    return bench.draws.weighted(kinds)(bench) or _heartbeat(bench)


def _device(bench: Bench) -> bool:
    name, field, values = bench.draws.choose(bench.station.product.tools)
    last = bench.script.events[-1]
    if (last.at, last.kind, last.data.get("name")) == (bench.now, "tool", name):
        return False  # there and back within a tick would show nothing
    bench.devices[name] = bench.draws.choose([v for v in values if v != bench.devices[name]])
    bench.script.emit(say.tool(bench.now, name, **{field: bench.devices[name]}))
    return True


def _talk(bench: Bench) -> bool:
    """Something nobody has said yet, about a target only what could be said of it now."""
    of = {
        _OF_THE_NEXT: [c.target for c in bench.to_do()[:1]],
        _OF_DONE: [c.target for c in bench.done()],
        _OF_FAILED: [target for target, times in bench.failures.items() if times],
    }
    about = {line: targets for lines, targets in of.items() if targets for line in lines}
    line = bench.line([*_TALK, *about])
    if line:
        who = bench.draws.choose([bench.station.operator, bench.station.lead])
        text = line.format(target=bench.draws.choose(about.get(line, [""])))
        bench.script.emit(bench.speak(who, text, "distractor: speech is no record"))
    return bool(line)


def _neighbour(bench: Bench) -> bool:
    """Another unit's next check, good or bad; a bad one is done again, and after the last one the unit is gone."""
    station = bench.station
    unit = bench.draws.choose(bench.neighbours)
    if unit.next_check == len(station.checks):
        unit.number, unit.next_check = max(n.number for n in bench.neighbours) + 1, 0
    check = station.checks[unit.next_check]
    good = bench.draws.chance(0.5)
    unit.next_check += good
    if check.plan.by == "scan" and not bench.is_work(check):
        check = check.of_another_unit(unit.number - station.number)
    value = check.passing(bench.draws) if good else check.failing(bench.draws)
    more = {"confidence": bench.draws.between(90, 99) / 100} if check.plan.by == "camera" else {}
    name, note = f"{station.product.unit}{unit.number}", "distractor: another unit"
    bench.script.emit(
        say.record(bench.now, name, check.plan.by, check.target, value, note=note, **more)
    )
    return True


def _heartbeat(bench: Bench) -> bool:
    name = bench.draws.choose(bench.station.product.tools)[0]
    bench.script.emit(say.heartbeat(bench.now, name))
    return True


def _half_sentence(bench: Bench) -> bool:
    half = bench.line(list(_HALVES))
    if half:
        note = "distractor: partial speech"
        bench.script.emit(bench.begin_to_speak(bench.station.operator, half, _HALVES[half], note))
    return bool(half)


def _unsure(bench: Bench) -> bool:
    """What the camera can see: a part that is there."""
    seen = [c for c in bench.at_hand() if c.plan.by == "camera"]
    seen += [c for c in bench.at_hand() if c.plan.if_damaged and c.target in bench.passed]
    if seen:
        check = bench.draws.choose(seen)
        value = check.plan.wrong if check.plan.by == "camera" else "damaged"
        bench.script.emit(bench.unsure(check, value, "distractor: the camera is not sure enough"))
    return bool(seen)


def _unreadable(bench: Bench) -> bool:
    read = [c for c in bench.at_hand() if c.plan.by == "scan"]
    if read:
        check = bench.draws.choose(read)
        bench.script.emit(bench.unreadable(check, "distractor: unreadable"))
    return bool(read)
