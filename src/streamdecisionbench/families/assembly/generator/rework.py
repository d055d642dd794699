"""What undoes finished work: damage, replacements, records made up late, checks gone obsolete."""

from __future__ import annotations

from streamdecisionbench.families.assembly.generator.bench import Bench
from streamdecisionbench.families.assembly.generator.failures import (
    come_loose,
    fail,
    is_part,
    labels,
    set_right,
)
from streamdecisionbench.families.assembly.generator.station import Check
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation

_AGAIN = (
    "Check {target} again, will you?",
    "I want to see {target} once more.",
    "{target} once more, for the sheet.",
    "The sheet has no {target} on it. Do it again.",
    "Quality asks for {target} again.",
)
_CHANGE = (
    "That {target} is from the old batch, change it.",
    "I don't like that {target}. A new one, please.",
    "They have recalled this sort of {target}, so swap it.",
    "Who took that {target}? It goes back.",
)


def _breakable(bench: Bench) -> list[Check]:
    return [c for c in bench.done() if c.plan.if_damaged]


def _damaged(bench: Bench) -> Ticks[None]:
    """A damage report, first without the confidence; a pass does not lift it, a replacement does."""
    check = bench.draws.choose(_breakable(bench))
    yield from bench.script.hold(1, 2)
    bench.script.trap(bench.unsure(check, "damaged", "trap: below the confidence needed"))
    yield from bench.script.hold(1, 2)
    bench.damage(check, f"cause: {check.target} is reported damaged")
    bench.show(f"{check.target} is damaged")
    yield from bench.script.hold(1, 2)
    bench.result(check, True, "trap: a passing result does not lift the damage")
    bench.show(f"{check.target} passes but is damaged")
    yield from bench.script.hold(1, 2)
    yield from bench.look()
    bench.replace(check, f"cause: {check.target} is replaced")
    bench.show(f"a new {check.target} has no result yet")
    yield from set_right(bench, check)


def _checked_again(bench: Bench) -> Ticks[None]:
    """A passing record of earlier work voids checks that have to follow it, if there are any."""
    check = bench.draws.choose(_voiding(bench) or labels(bench))
    yield from bench.script.hold(1, 2)
    bench.lead_says(_AGAIN, target=check.target)
    yield from bench.script.hold(1, 2)
    bench.result(check, True, f"cause: {check.target} is checked again")
    bench.show(f"{check.target} passes again; later checks are void")


def _voiding(bench: Bench) -> list[Check]:
    """Done targets with a result after them that a new record would void."""
    recheck = bench.station.public["recheck_after_rework"]
    late = [c for c in bench.station.checks if c.stage in recheck and c.target in bench.passed]
    seen = [c for c in bench.done() if not bench.is_hidden(c)]
    return [c for c in seen if any(bench.before(c.stage, x.stage) for x in late)]


def _replaced(bench: Bench) -> Ticks[None]:
    """A replacement wipes the pass of its own target and no other, and moves the stage back.

    What lies on top comes off before.
    """
    check = bench.draws.choose(_behind(bench))
    yield from bench.script.hold(1, 2)
    bench.lead_says(_CHANGE, target=check.target)
    yield from bench.script.hold(1, 2)
    yield from bench.uncover(check)
    bench.replace(check, f"cause: {check.target} is replaced")
    bench.show(f"a new {check.target} has no result yet")
    yield from set_right(bench, check)


def _behind(bench: Bench) -> list[Check]:
    """Finished parts of earlier stages, with no more than a lid on top."""
    behind = [c for c in bench.done() if is_part(c) and bench.before(c.stage, bench.stage)]
    return [c for c in behind if len(bench.on_top(c)) <= bench.is_hidden(c)]


def _late_failure(bench: Bench) -> Ticks[None]:
    """Finished work of an earlier stage turns out to be defective; a pass puts it right."""
    check = bench.draws.choose(_late(bench))
    yield from fail(bench, check)
    yield from set_right(bench, check)


def _late(bench: Bench) -> list[Check]:
    return [c for c in _voiding(bench) if c in come_loose(bench)]


def _left_out(bench: Bench) -> Ticks[None]:
    """Somebody records a later stage first: what was left out is missing until it is made up."""
    skipped, check = bench.to_do()[0], _may_pass_ahead(bench)[0]
    yield from bench.script.hold(1, 3)
    bench.result(check, True, f"cause: {check.target} is recorded before {skipped.target}")
    bench.show(f"{skipped.target} was left out")
    yield from set_right(bench, skipped)


def _left_out_and_defective(bench: Bench) -> Ticks[None]:
    """A defect goes before what is missing, though its target is listed later."""
    skipped, check = bench.to_do()[0], _may_fail_ahead(bench)[0]
    yield from bench.script.hold(1, 3)
    bench.result(check, False, f"cause: {check.target} fails before {skipped.target} is recorded")
    bench.show(f"{check.target} fails; {skipped.target} was left out as well")
    yield from set_right(bench, check)
    yield from set_right(bench, skipped)


def _ahead(bench: Bench) -> list[Check]:
    """Targets of the next stage with work left, if what comes before them can be left out.

    What a camera has to see cannot be made up later without taking the unit apart.
    """
    to_do = bench.to_do()
    if not to_do or to_do[0].plan.by == "camera" or _needed(bench, to_do[0]):
        return []
    later = [c for c in to_do if c.stage != to_do[0].stage]
    return [c for c in later if c.stage == later[0].stage]


def _needed(bench: Bench, check: Check) -> bool:
    """Whether it has to fail at its turn, and must not pass before."""
    at_its_turn = not check.plan.if_damaged and check.target not in bench.settled
    return at_its_turn and bench.owes(check)


def _may_pass_ahead(bench: Bench) -> list[Check]:
    return [c for c in _ahead(bench) if not _needed(bench, c)]


def _may_fail_ahead(bench: Bench) -> list[Check]:
    return [c for c in _ahead(bench) if c.target not in bench.settled]


def _skips(bench: Bench) -> bool:
    owed = ("method", "complete_missing") in bench.owing()
    return bench.calm and (owed or bench.has_time_for(6))


def _breaks(bench: Bench) -> bool:
    owed = {value for question, value in bench.owing() if question == "method"}
    check = next(iter(_breakable(bench)), None)
    return (
        bench.calm
        and check is not None
        and (check.plan.if_damaged in owed or bench.has_time_for(9))
    )


_MISSING = ("defect", "repair", "stage", "precedence", "order")

REWORK: tuple[Situation[Bench], ...] = (
    Situation("rework", "damaged", ("damage", "confidence", "replacement", "repair"), _breaks, _damaged, 3),
    Situation(
        "rework", "checked again", ("obsolete", "stage", "advance"),
        lambda b: b.calm and bool(_voiding(b) or labels(b)) and b.has_time_for(6), _checked_again, 2,
    ),
    Situation(
        "rework", "replaced", ("replacement", "obsolete"),
        lambda b: b.calm and bool(_behind(b)) and b.has_time_for(9), _replaced, 1,
    ),
    Situation(
        "rework", "late failure", ("obsolete", "defect", "repair"),
        lambda b: b.calm and bool(_late(b)) and b.has_time_for(7), _late_failure, 2,
    ),
    Situation("rework", "left out", _MISSING, lambda b: _skips(b) and bool(_may_pass_ahead(b)), _left_out, 2),
    Situation("rework", "left out, and a defect", _MISSING, lambda b: _skips(b) and bool(_may_fail_ahead(b)), _left_out_and_defective, 1),
)  # fmt: skip
