"""The work itself, stage by stage, and records on the way that count for nothing."""

from __future__ import annotations

from streamdecisionbench.families.assembly import events as say
from streamdecisionbench.families.assembly.generator.bench import Bench
from streamdecisionbench.families.assembly.generator.station import Check
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation

UNSURE = "unsure first"
"""Needs a unit that is still open."""


def goes_on(bench: Bench) -> bool:
    """Calm, with work left."""
    return bench.calm and bool(bench.to_do())


def _by_camera(bench: Bench) -> bool:
    check = _camera_target(bench)
    return bench.calm and check in bench.at_hand() and not bench.has_to_fail(check)


def _camera_target(bench: Bench) -> Check:
    return next(c for c in bench.station.checks if c.plan.by == "camera")


def _has_time(bench: Bench) -> bool:
    return goes_on(bench) and bench.has_time_for(5)


def pass_next(bench: Bench) -> Ticks[None]:
    """The next target of the work passes, if any is left; one that still has to fail fails first."""
    for check in bench.to_do()[:1]:
        yield from bench.uncover(check)
        passes = not bench.has_to_fail(check)
        what = f"{check.target} {'passes' if passes else 'fails'}"
        bench.result(check, passes, f"cause: {what}")
        bench.show(what)


def _passes(bench: Bench) -> Ticks[None]:
    yield from bench.script.hold(1, 3)
    yield from bench.look()
    yield from pass_next(bench)


def _stays_in_the_nest(bench: Bench) -> Ticks[None]:
    """The finished unit waits for whoever takes it."""
    yield from bench.script.hold(2, 4)


def _unreadable_first(bench: Bench) -> Ticks[None]:
    """An unreadable record of another stage moves nothing; then the next target passes."""
    yield from bench.script.hold(1, 2)
    check = bench.draws.choose(_of_other_stages(bench))
    bench.script.trap(bench.unreadable(check, "trap: unreadable, as if it were not there"))
    yield from bench.script.hold(1, 3)
    yield from bench.look()
    yield from pass_next(bench)


def _of_other_stages(bench: Bench) -> list[Check]:
    return [c for c in bench.at_hand() if c.stage != bench.stage]


def _unsure_first(bench: Bench) -> Ticks[None]:
    """A camera that is not sure enough, whatever it says; then one that is."""
    yield from bench.script.hold(1, 2)
    check = _camera_target(bench)
    value = check.plan.wrong if check.target in bench.passed else str(check.public["expects"])
    bench.script.trap(bench.unsure(check, value, "trap: below the confidence needed"))
    yield from bench.script.hold(1, 2)
    bench.result(check, True, f"cause: {check.target} is seen with enough confidence")
    bench.show(f"{check.target} passes")


def _another_kind_of_reading(bench: Bench) -> Ticks[None]:
    """A reading nobody asked for on that target, with a value that would fail."""
    yield from bench.script.hold(1, 2)
    check = bench.draws.choose([c for c in bench.at_hand() if c.plan.by != "camera"])
    kind = "weight" if check.plan.by in ("scan", "kit_count") else "temperature"
    bench.script.trap(
        say.record(
            bench.now, bench.station.unit, kind, check.target, bench.draws.between(2, 60),
            note="trap: a kind of reading not asked for on this target",
        )
    )  # fmt: skip
    yield from bench.script.hold(1, 2)
    yield from bench.look()
    yield from pass_next(bench)


def _fails_and_passes(bench: Bench) -> bool:
    return (
        _has_time(bench)
        and bench.may_fail(bench.to_do()[0])
        and not bench.has_to_fail(bench.to_do()[0])
    )


def _two_in_a_tick(bench: Bench) -> Ticks[None]:
    """A failure and a pass of one target at one tick: the one listed later stands."""
    yield from bench.script.hold(1, 3)
    check = bench.to_do()[0]
    bench.result(check, False, "overtaken by the next record of the same tick")
    bench.result(check, True, f"cause: {check.target} passes, listed after its failure")
    bench.show(f"{check.target} passes after failing at the same tick")


_PASS = ("limits", "stage", "complete", "counted", "advance", "precedence")

WORK: tuple[Situation[Bench], ...] = (
    Situation("work", "the next target passes", _PASS, goes_on, _passes, 7, dealt=False),
    Situation("trap", "unreadable first", (*_PASS, "no_read"), lambda b: _has_time(b) and bool(_of_other_stages(b)), _unreadable_first, 1),
    Situation("trap", UNSURE, (*_PASS, "confidence"), _by_camera, _unsure_first, 1),
    Situation(
        "trap", "another kind of reading", (*_PASS, "counted"),
        lambda b: _has_time(b) and any(c.plan.by != "camera" for c in b.at_hand()), _another_kind_of_reading, 1,
    ),
    Situation("trap", "two in a tick", (*_PASS, "order"), _fails_and_passes, _two_in_a_tick, 1),
    Situation("work", "stays in the nest", ("complete",), lambda b: not b.to_do(), _stays_in_the_nest, 1, dealt=False),
)  # fmt: skip
