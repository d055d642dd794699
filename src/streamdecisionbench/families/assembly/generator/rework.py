"""What undoes finished work: damage, replacements, records made up late, checks gone obsolete."""

from __future__ import annotations

from streamdecisionbench.families.assembly.generator.bench import Bench
from streamdecisionbench.families.assembly.generator.failures import fail, set_right
from streamdecisionbench.families.assembly.generator.station import Check
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation


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
    """A passing record of earlier work voids checks that have to follow it."""
    check = bench.draws.choose(_voiding(bench))
    yield from bench.script.hold(1, 3)
    bench.result(check, True, f"cause: {check.target} is checked again")
    bench.show(f"{check.target} passes again; later checks are void")


def _voiding(bench: Bench) -> list[Check]:
    """Done targets with a result after them that a new record would void."""
    recheck = bench.station.public["recheck_after_rework"]
    late = [c for c in bench.station.checks if c.stage in recheck and c.target in bench.passed]
    return [c for c in bench.done() if any(bench.before(c.stage, x.stage) for x in late)]


def _replaced(bench: Bench) -> Ticks[None]:
    """A replacement wipes the pass of its own target and no other, and moves the stage back."""
    check = bench.draws.choose(_behind(bench))
    yield from bench.script.hold(1, 3)
    bench.replace(check, f"cause: {check.target} is replaced")
    bench.show(f"a new {check.target} has no result yet")
    yield from set_right(bench, check)


def _behind(bench: Bench) -> list[Check]:
    """Finished targets of earlier stages."""
    return [c for c in bench.done() if bench.before(c.stage, bench.stage)]


def _late_failure(bench: Bench) -> Ticks[None]:
    """Finished work of an earlier stage turns out to be defective; a pass puts it right."""
    check = bench.draws.choose(_voiding(bench))
    yield from fail(bench, check)
    yield from set_right(bench, check)


def _left_out(bench: Bench) -> Ticks[None]:
    """Somebody records a later stage first: what was left out is missing until it is made up."""
    skipped, *later = bench.to_do()
    check = next(c for c in later if c.stage != skipped.stage)
    yield from bench.script.hold(1, 3)
    bench.result(check, True, f"cause: {check.target} is recorded before {skipped.target}")
    bench.show(f"{skipped.target} was left out")
    yield from set_right(bench, skipped)


def _left_out_and_defective(bench: Bench) -> Ticks[None]:
    """A defect goes before what is missing, though its target is listed later."""
    skipped, *later = bench.to_do()
    check = next(c for c in later if c.stage != skipped.stage)
    yield from bench.script.hold(1, 3)
    bench.result(check, False, f"cause: {check.target} fails before {skipped.target} is recorded")
    bench.show(f"{check.target} fails; {skipped.target} was left out as well")
    yield from set_right(bench, check)
    yield from set_right(bench, skipped)


def _can_skip(bench: Bench) -> bool:
    to_do = bench.to_do()
    return bench.calm and bool(to_do) and any(c.stage != to_do[0].stage for c in to_do)


def _skips(bench: Bench) -> bool:
    owed = ("method", "complete_missing") in bench.owing()
    return _can_skip(bench) and (owed or bench.has_time_for(6))


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
        lambda b: b.calm and bool(_voiding(b)) and b.has_time_for(4), _checked_again, 2,
    ),
    Situation(
        "rework", "replaced", ("replacement", "obsolete"),
        lambda b: b.calm and bool(_behind(b)) and b.has_time_for(6), _replaced, 1,
    ),
    Situation(
        "rework", "late failure", ("obsolete", "defect", "repair"),
        lambda b: b.calm and bool(_voiding(b)) and b.has_time_for(6), _late_failure, 2,
    ),
    Situation("rework", "left out", _MISSING, _skips, _left_out, 2),
    Situation("rework", "left out, and a defect", _MISSING, _skips, _left_out_and_defective, 1),
)  # fmt: skip
