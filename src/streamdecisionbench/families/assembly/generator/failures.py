"""Results that fail: once, twice over, again and again, and what puts them right."""

from __future__ import annotations

from streamdecisionbench.families.assembly.generator.bench import Bench
from streamdecisionbench.families.assembly.generator.station import Check
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation

BOTH_TIRED, IN_BETWEEN = "two targets fail again and again", "passes in between"
"""These take so many records that they need a low limit."""


def reachable(bench: Bench) -> list[Check]:
    """Targets that could fail now. Owed ones if any."""
    found = _fallible(bench)
    owed = {value for question, value in bench.owing() if question == "target"}
    methods = {value for question, value in bench.owing() if question == "method"}
    wanted = [c for c in found if c.target in owed or c.plan.if_failed in methods]
    return wanted or found


def _fallible(bench: Bench) -> list[Check]:
    return [c for c in bench.station.checks if bench.may_fail(c)]


def come_loose(bench: Bench) -> list[Check]:
    """Finished targets that could fail all the same."""
    return [c for c in bench.done() if bench.may_fail(c)]


def is_part(check: Check) -> bool:
    """Whether it can be replaced: nobody replaces a measurement."""
    return bool(check.plan.if_damaged) or check.plan.by == "camera"


def _covered(bench: Bench) -> list[Check]:
    covers = [
        t for role, _, targets in bench.station.product.roles for t in targets
        if ("destination", role) in bench.owing()
    ]  # fmt: skip
    covers = covers or [t for _, _, targets in bench.station.product.roles for t in targets]
    found = _fallible(bench)
    return [c for c in found if c.target in covers and not bench.failures.get(c.target)]


def fail(bench: Bench, check: Check, times: int = 1) -> Ticks[None]:
    """The target fails so many times in a row.

    One that had passed is looked at again for a reason; before one whose turn it is the operator looks
    at the card, and what a wrong one has him do may have settled it.
    """
    if bench.passed.get(check.target):
        yield from bench.script.wait(1)
        value = check.plan.wrong or "damaged"
        bench.script.trap(bench.unsure(check, value, "trap: a doubt, below the confidence needed"))
    for time in range(times):
        yield from bench.script.hold(1, 3)
        if not time and check in bench.to_do():
            yield from bench.look()
            if bench.passed.get(check.target) or not bench.may_fail(check):
                return
        bench.result(check, False, f"cause: {check.target} fails")
        bench.show(f"{check.target} fails")


def set_right(bench: Bench, check: Check) -> Ticks[None]:
    """What the card says, and then the target passes."""
    yield from bench.script.hold(1, 3)
    unbuilt = bench.unbuilt()
    yield from bench.look()
    if bench.is_test(check) and bench.unbuilt() != unbuilt:
        return  # a wrong card had the unit taken apart
    yield from bench.uncover(check)
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
    pair = bench.draws.sample(come_loose(bench), 2)
    first, second = sorted(pair, key=bench.station.checks.index)
    yield from fail(bench, second)
    yield from fail(bench, first)
    yield from set_right(bench, first)
    yield from set_right(bench, second)


_LABELS = (
    "Read me the {target} label meanwhile.",
    "Scan the {target} meanwhile, for the sheet.",
    "I need the {target} number again.",
    "Is that the right {target}? Scan it.",
)


def labels(bench: Bench) -> list[Check]:
    """Labels of other stages that were right, and can be read on a closed unit, too."""
    return [c for c in bench.done() if c.target in bench.settled and c.stage != bench.stage]


def _and_a_label(bench: Bench) -> Ticks[None]:
    """The record of another stage moves the stage and mends nothing."""
    check = bench.draws.choose(come_loose(bench))
    yield from fail(bench, check)
    label = bench.draws.choose([c for c in labels(bench) if c.stage != check.stage])
    bench.lead_says(_LABELS, target=label.target)
    yield from bench.script.hold(1, 2)
    bench.result(label, True, f"cause: {label.target} is read while {check.target} is defective")
    bench.show(f"{label.target} is read while {check.target} is defective")
    yield from set_right(bench, check)


def _again_and_again(bench: Bench, found: list[Check]) -> Ticks[Check]:
    check = bench.draws.choose(found)
    yield from fail(bench, check, bench.station.public["fail_limit"])
    return check


def _covered_parts(bench: Bench) -> list[Check]:
    return [c for c in _covered(bench) if is_part(c)]


def _until_it_passes(bench: Bench) -> Ticks[None]:
    """A fresh pass withdraws the escalation."""
    yield from set_right(bench, (yield from _again_and_again(bench, _covered(bench))))


def _until_it_is_replaced(bench: Bench) -> Ticks[None]:
    """So does a replacement, and a failure after it is the first of its kind."""
    check = yield from _again_and_again(bench, _covered_parts(bench))
    yield from bench.script.hold(1, 3)
    yield from bench.uncover(check)
    bench.replace(check, f"cause: {check.target} is replaced")
    bench.show(f"{check.target} is replaced and has no result")
    yield from fail(bench, check)
    yield from set_right(bench, check)


def _until_the_specialist_comes(bench: Bench) -> Ticks[None]:
    """The escalation becomes a handoff, which lasts until the badge is out."""
    check = yield from _again_and_again(bench, _covered(bench))
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
    check = bench.draws.choose(_covered_parts(bench))
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


def _tiring_part(bench: Bench) -> bool:
    return _tiring(bench) and bool(_covered_parts(bench))


def _two(bench: Bench) -> bool:
    return bench.calm and len(come_loose(bench)) > 1 and bench.has_time_for(9)


def _with_label(bench: Bench) -> bool:
    """A part that has come loose, and a label of an earlier stage beside it."""
    found = bool(come_loose(bench)) and bench.station.checks[0].target in bench.settled
    return bench.calm and found and bench.has_time_for(7)


def _two_tiring(bench: Bench) -> bool:
    few = bench.station.public["fail_limit"] == 2
    return bench.calm and few and len(_covered(bench)) > 1 and bench.has_time_for(12)


_DEFECT = ("defect", "repair", "limits", "stage", "precedence", "inactive")
_TIRED = ("repeated", "precedence", "limits")

FAILURES: tuple[Situation[Bench], ...] = (
    Situation("failure", "fails once", _DEFECT, _quick, _once, 5),
    Situation("failure", "two defects", _DEFECT, _two, _two_defects, 1),
    Situation("failure", "fails, and a label is read", _DEFECT, _with_label, _and_a_label, 2),
    Situation("tired", "fails until it passes", _TIRED, _tiring, _until_it_passes, 1),
    Situation(
        "tired", "fails until it is replaced", (*_TIRED, "replacement"), _tiring_part, _until_it_is_replaced, 1
    ),
    Situation(
        "tired", "fails until the specialist comes", (*_TIRED, "specialist"), _tiring,
        _until_the_specialist_comes, 1,
    ),
    Situation("tired", IN_BETWEEN, _TIRED, _tiring_part, _passes_in_between, 1),
    Situation(
        "mending", "put right", _DEFECT, lambda b: b.route in ("repair", "escalate"), put_right, dealt=False
    ),
    Situation("tired", BOTH_TIRED, _TIRED, _two_tiring, _both_again_and_again, 1),
)  # fmt: skip
