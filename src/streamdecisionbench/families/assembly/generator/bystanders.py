"""Evidence that must change nothing at a station: other units, unsure cameras, talk, devices."""

from __future__ import annotations

from collections.abc import Callable

from streamdecisionbench.families.assembly import events as say
from streamdecisionbench.families.assembly.generator.bench import Bench

_TALK = (
    "Looks right to me.", "That one was fine a minute ago.", "{target} is good, I felt it click.",
    "We are behind, come on.", "I'd send it on.", "{target} again? Never.", "I'll do {target} later.",
    "The neighbour's is worse.", "Who has the small driver?", "Somebody open a ticket.",
    "Call the specialist?", "It passed, didn't it?", "Leave {target}, go on.", "Tickets are all closed.",
)  # fmt: skip
_HALVES = (
    ("that is all", "That is all the trays we have."),
    ("it is fine so", "It is fine, so why the fuss?"),
    ("pass it", "Pass it over, would you?"),
    ("ready to go", "Ready to go home, more like."),
    ("replace", "Replace the battery at noon."),
)


def distract(bench: Bench) -> bool:
    """One event that changes nothing. A half sentence is completed before another begins."""
    if bench.open_speech is not None:
        bench.script.emit(bench.finish_speaking("distractor: speech becomes final, and is speech"))
        return True
    kinds: dict[Callable[[Bench], None], int] = {
        _device: 5, _talk: 3, _neighbour: 4, _heartbeat: 2, _half_sentence: 1, _unsure: 2,
        _unreadable: 1,
    }  # fmt: skip
    bench.draws.weighted(kinds)(bench)
    return True


def _device(bench: Bench) -> None:
    name, field, values = bench.draws.choose(bench.station.product.tools)
    bench.script.emit(say.tool(bench.now, name, **{field: bench.draws.choose(values)}))


def _talk(bench: Bench) -> None:
    who = bench.draws.choose([bench.station.operator, bench.station.lead])
    target = bench.draws.choose(bench.station.checks).target
    text = bench.draws.choose(bench.seat.some(_TALK)).format(target=target)
    bench.script.emit(bench.speak(who, text, "distractor: speech is no record"))


def _neighbour(bench: Bench) -> None:
    """The same target on another unit, good or bad."""
    check = bench.draws.choose([c for c in bench.station.checks if c.plan.by != "camera"])
    good = bench.draws.chance(0.5)
    value = check.passing(bench.draws) if good else check.failing(bench.draws)
    unit = bench.draws.choose(bench.station.other_units)
    note = "distractor: another unit"
    bench.script.emit(say.record(bench.now, unit, check.plan.by, check.target, value, note=note))


def _heartbeat(bench: Bench) -> None:
    name = bench.draws.choose(bench.station.product.tools)[0]
    bench.script.emit(say.heartbeat(bench.now, name))


def _half_sentence(bench: Bench) -> None:
    half, whole = bench.draws.choose(bench.seat.some(_HALVES))
    note = "distractor: partial speech"
    bench.script.emit(bench.begin_to_speak(bench.station.operator, half, whole, note))


def _unsure(bench: Bench) -> None:
    check = bench.draws.choose(
        [c for c in bench.station.checks if c.plan.by == "camera" or c.plan.if_damaged]
    )
    value = check.plan.wrong if check.plan.by == "camera" else "damaged"
    bench.script.emit(bench.unsure(check, value, "distractor: the camera is not sure enough"))


def _unreadable(bench: Bench) -> None:
    check = bench.draws.choose([c for c in bench.station.checks if c.plan.by == "scan"])
    bench.script.emit(bench.unreadable(check, "distractor: unreadable"))
