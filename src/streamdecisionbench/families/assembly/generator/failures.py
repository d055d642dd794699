"""Results that fail: once, twice over, again and again, and what puts them right."""

from __future__ import annotations

from streamdecisionbench.families.assembly.generator.bench import Bench
from streamdecisionbench.families.assembly.generator.station import Check
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation

BOTH_TIRED = "two targets fail again and again"
"""Takes so many records that it needs a low limit."""


def reachable(bench: Bench) -> list[Check]:
    """Targets that can be recorded now: done ones, and the next of the work. Owed ones if any."""
    found = [*bench.done(), *bench.to_do()[:1]]
    owed = {value for question, value in bench.owing() if question == "target"}
    methods = {value for question, value in bench.owing() if question == "method"}
    wanted = [c for c in found if c.target in owed or c.plan.if_failed in methods]
    return wanted or found


def _covered(bench: Bench) -> list[Check]:
    covers = [
        t for role, _, targets in bench.station.product.roles for t in targets
        if ("destination", role) in bench.owing()
    ]  # fmt: skip
    covers = covers or [t for _, _, targets in bench.station.product.roles for t in targets]
    found = [*bench.done(), *bench.to_do()[:1]]
    return [c for c in found if c.target in covers and not bench.failures.get(c.target)]


def fail(bench: Bench, check: Check, times: int = 1) -> Ticks[None]:
    """The target fails so many times in a row."""
    for _ in range(times):
        yield from bench.script.hold(1, 3)
        bench.result(check, False, f"cause: {check.target} fails")
        bench.show(f"{check.target} fails")


def set_right(bench: Bench, check: Check) -> Ticks[None]:
    """What the card says, and then the target passes."""
    yield from bench.script.hold(1, 3)
    yield from bench.look()
    bench.result(check, True, f"cause: {check.target} passes")
    bench.show(f"{check.target} passes")


def put_right(bench: Bench) -> Ticks[None]:
    """What wrong cards have left behind is found and mended."""
    target = bench.card()["target"]
    check = next(c for c in bench.station.checks if c.target == target)
    if target in bench.damaged:
        yield from bench.script.hold(1, 2)
        bench.replace(check, f"cause: {target} is replaced")
        bench.show(f"a new {target} has no result yet")
    yield from set_right(bench, check)


def _once(bench: Bench) -> Ticks[None]:
    check = bench.draws.choose(reachable(bench))
    yield from fail(bench, check)
    yield from set_right(bench, check)


def _two_defects(bench: Bench) -> Ticks[None]:
    """The defect listed first in the checks is shown, whichever came first."""
    pair = bench.draws.sample(_pairs(bench), 2)
    first, second = sorted(pair, key=bench.station.checks.index)
    yield from fail(bench, second)
    yield from fail(bench, first)
    yield from set_right(bench, first)
    yield from set_right(bench, second)


def _pairs(bench: Bench) -> list[Check]:
    """Targets that do not void each other."""
    recheck = bench.station.public["recheck_after_rework"]
    return [c for c in bench.done() if c.stage not in recheck]


def _again_and_again(bench: Bench) -> Ticks[Check]:
    check = bench.draws.choose(_covered(bench))
    yield from fail(bench, check, bench.station.public["fail_limit"])
    return check


def _until_it_passes(bench: Bench) -> Ticks[None]:
    """A fresh pass withdraws the escalation."""
    yield from set_right(bench, (yield from _again_and_again(bench)))


def _until_it_is_replaced(bench: Bench) -> Ticks[None]:
    """So does a replacement, and a failure after it is the first of its kind."""
    check = yield from _again_and_again(bench)
    yield from bench.script.hold(1, 3)
    bench.replace(check, f"cause: {check.target} is replaced")
    bench.show(f"{check.target} is replaced and has no result")
    yield from fail(bench, check)
    yield from set_right(bench, check)


def _until_the_specialist_comes(bench: Bench) -> Ticks[None]:
    """The escalation becomes a handoff, which lasts until the badge is out."""
    check = yield from _again_and_again(bench)
    role = next(r for r, _, covers in bench.station.product.roles if check.target in covers)
    yield from bench.script.hold(1, 3)
    yield from bench.call(role)
    bench.arrive(role, "cause: the specialist is present")
    bench.show(f"the {role} badges in")
    yield from bench.script.hold(1, 2)
    bench.result(check, True, f"{check.target} passes, but the specialist is still present")
    bench.show(f"{check.target} passes during the handoff")
    yield from bench.script.hold(1, 2)
    bench.leave(role, "cause: the specialist has gone")
    bench.show(f"the {role} badges out")


def _passes_in_between(bench: Bench) -> Ticks[None]:
    """A pass between failures ends the run: as many failures, but no escalation."""
    check = bench.draws.choose(_covered(bench))
    yield from fail(bench, check, bench.station.public["fail_limit"] - 1)
    yield from set_right(bench, check)
    yield from fail(bench, check)
    yield from set_right(bench, check)


def _both_again_and_again(bench: Bench) -> Ticks[None]:
    """Of two targets that qualify, the first in the checks is escalated."""
    first, second = _covered(bench)[:2]
    yield from fail(bench, second, bench.station.public["fail_limit"])
    yield from fail(bench, first, bench.station.public["fail_limit"])
    yield from set_right(bench, first)
    yield from set_right(bench, second)


def _quick(bench: Bench) -> bool:
    return bench.calm and bool(reachable(bench)) and _owes_a_target(bench)


def _owes_a_target(bench: Bench) -> bool:
    """A failure is welcome where a target or method is owed, or where nothing is."""
    owed = {question for question, _ in bench.owing()}
    return bool(owed & {"target", "method"}) or bench.has_time_for(6)


def _tiring(bench: Bench) -> bool:
    return bench.calm and bool(_covered(bench)) and bench.has_time_for(10)


def _two(bench: Bench) -> bool:
    return bench.calm and len(_pairs(bench)) > 1 and bench.has_time_for(9)


def _two_tiring(bench: Bench) -> bool:
    few = bench.station.public["fail_limit"] == 2
    return bench.calm and few and len(_covered(bench)) > 1 and bench.has_time_for(12)


_DEFECT = ("defect", "repair", "limits", "stage", "precedence", "inactive")
_TIRED = ("repeated", "precedence", "limits")

FAILURES: tuple[Situation[Bench], ...] = (
    Situation("failure", "fails once", _DEFECT, _quick, _once, 5),
    Situation("failure", "two defects", _DEFECT, _two, _two_defects, 1),
    Situation("tired", "fails until it passes", _TIRED, _tiring, _until_it_passes, 1),
    Situation(
        "tired", "fails until it is replaced", (*_TIRED, "replacement"), _tiring, _until_it_is_replaced, 1
    ),
    Situation(
        "tired", "fails until the specialist comes", (*_TIRED, "specialist"), _tiring,
        _until_the_specialist_comes, 1,
    ),
    Situation("tired", "passes in between", _TIRED, _tiring, _passes_in_between, 1),
    Situation(
        "mending", "put right", _DEFECT, lambda b: b.route in ("repair", "escalate"), put_right, dealt=False
    ),
    Situation("tired", BOTH_TIRED, _TIRED, _two_tiring, _both_again_and_again, 1),
)  # fmt: skip
