"""Situations of an assembly session: work, failures, rework and interruptions."""

from __future__ import annotations

from streamdecisionbench.families.assembly import events as say
from streamdecisionbench.worlds.assembly.bench import (
    SAFE,
    Bench,
)
from streamdecisionbench.worlds.assembly.phrases import (
    AGAIN,
    CHANGE,
    COMING,
    LABEL,
    MEANWHILE,
)
from streamdecisionbench.worlds.assembly.station import Check
from streamdecisionbench.worlds.generation.world import Situation
from streamdecisionbench.worlds.generation.world_simulator import Ticks

# Work, stage by stage, and records that count for nothing.

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
    yield from bench.hold(1, 3)
    yield from bench.look()
    yield from pass_next(bench)


def _stays_in_the_nest(bench: Bench) -> Ticks[None]:
    """The finished unit waits for whoever takes it."""
    yield from bench.hold(2, 4)


def _unreadable_first(bench: Bench) -> Ticks[None]:
    """An unreadable record of another stage moves nothing; then the next target passes."""
    yield from bench.hold(1, 2)
    check = bench.draws.choose(_of_other_stages(bench))
    bench.trap(bench.unreadable(check, "trap: unreadable, as if it were not there"))
    yield from bench.hold(1, 3)
    yield from bench.look()
    yield from pass_next(bench)


def _of_other_stages(bench: Bench) -> list[Check]:
    return [c for c in bench.at_hand() if c.stage != bench.stage]


def _unsure_first(bench: Bench) -> Ticks[None]:
    """A camera that is not sure enough, whatever it says; then one that is."""
    yield from bench.hold(1, 2)
    check = _camera_target(bench)
    value = check.plan.wrong if check.target in bench.passed else str(check.public["expects"])
    bench.trap(bench.unsure(check, value, "trap: below the confidence needed"))
    yield from bench.hold(1, 2)
    bench.result(check, True, f"cause: {check.target} is seen with enough confidence")
    bench.show(f"{check.target} passes")


def _another_kind_of_reading(bench: Bench) -> Ticks[None]:
    """A reading nobody asked for on that target, with a value that would fail."""
    yield from bench.hold(1, 2)
    check = bench.draws.choose([c for c in bench.at_hand() if c.plan.by != "camera"])
    kind = "weight" if check.plan.by in ("scan", "kit_count") else "temperature"
    bench.trap(
        say.record(
            bench.now, bench.station.unit, kind, check.target, bench.draws.between(2, 60),
            note="trap: a kind of reading not asked for on this target",
        )
    )  # fmt: skip
    yield from bench.hold(1, 2)
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
    yield from bench.hold(1, 3)
    check = bench.to_do()[0]
    bench.result(check, False, "overtaken by the next record of the same tick")
    bench.result(check, True, f"cause: {check.target} passes, listed after its failure")
    bench.show(f"{check.target} passes after failing at the same tick")


_PASS = ("limits", "stage", "complete", "counted", "advance", "precedence")

WORK: tuple[Situation[Bench], ...] = (
    Situation("work", "the next target passes", _PASS, goes_on, _passes, 7, dealt=False),
    Situation("trap", "unreadable first", (*_PASS, "no_read"), lambda b: _has_time(b) and bool(_of_other_stages(b)), _unreadable_first, 1),
    Situation("trap", UNSURE, (*_PASS, "confidence"), _by_camera, _unsure_first, 1),
    Situation("trap", "another kind of reading", (*_PASS, "counted"), lambda b: _has_time(b) and any(c.plan.by != "camera" for c in b.at_hand()), _another_kind_of_reading, 1),
    Situation("trap", "two in a tick", (*_PASS, "order"), _fails_and_passes, _two_in_a_tick, 1),
    Situation("work", "stays in the nest", ("complete",), lambda b: not b.to_do(), _stays_in_the_nest, 1, dealt=False),
)  # fmt: skip


# Failures: once, twice, repeatedly, and their corrections.

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
        yield from bench.wait(1)
        value = check.plan.wrong or "damaged"
        bench.trap(bench.unsure(check, value, "trap: a doubt, below the confidence needed"))
    for time in range(times):
        yield from bench.hold(1, 3)
        if not time and check in bench.to_do():
            yield from bench.look()
            if bench.passed.get(check.target) or not bench.may_fail(check):
                return
        bench.conclude(check, False, f"{check.target} fails")


def set_right(bench: Bench, check: Check) -> Ticks[None]:
    """What the card says, and then the target passes."""
    yield from bench.hold(1, 3)
    unbuilt = bench.unbuilt()
    yield from bench.look()
    if bench.is_test(check) and bench.unbuilt() != unbuilt:
        return  # a wrong card had the unit taken apart
    yield from bench.uncover(check)
    bench.conclude(check, True, f"{check.target} passes")


def put_right(bench: Bench) -> Ticks[None]:
    """Defects that wrong cards have caused are found and fixed."""
    target = bench.card()["target"]
    check = next(c for c in bench.station.checks if c.target == target)
    if target in bench.damaged:
        yield from bench.hold(1, 2)
        bench.swap(check, f"{target} is replaced", f"a new {target} has no result yet")
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


def labels(bench: Bench) -> list[Check]:
    """Labels of other stages that were right, and can be read on a closed unit, too."""
    return [c for c in bench.done() if c.target in bench.settled and c.stage != bench.stage]


def _and_a_label(bench: Bench) -> Ticks[None]:
    """The record of another stage moves the stage and fixes nothing."""
    check = bench.draws.choose(come_loose(bench))
    yield from fail(bench, check)
    label = bench.draws.choose([c for c in labels(bench) if c.stage != check.stage])
    bench.lead_says(LABEL, target=label.target)
    yield from bench.hold(1, 2)
    bench.conclude(label, True, f"{label.target} is read while {check.target} is defective")
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
    yield from bench.hold(1, 3)
    yield from bench.uncover(check)
    bench.replace(check, f"cause: {check.target} is replaced")
    bench.show(f"{check.target} is replaced and has no result")
    yield from fail(bench, check)
    yield from set_right(bench, check)


def _until_the_specialist_comes(bench: Bench) -> Ticks[None]:
    """The escalation becomes a handoff, which lasts until the badge is out."""
    check = yield from _again_and_again(bench, _covered(bench))
    role = next(r for r, _, covers in bench.station.product.roles if check.target in covers)
    yield from bench.hold(1, 3)
    yield from bench.call(role)
    bench.arrive(role, "cause: the specialist is present")
    yield from bench.hold(1, 2)
    bench.result(check, True, f"{check.target} passes, but the specialist is still present")
    bench.show(f"{check.target} passes during the handoff")
    yield from bench.hold(1, 2)
    bench.leave(role, "cause: the specialist has gone")


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
    """A part that has come loose, and a label of an earlier stage."""
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
    Situation("tired", "fails until it is replaced", (*_TIRED, "replacement"), _tiring_part, _until_it_is_replaced, 1),
    Situation("tired", "fails until the specialist comes", (*_TIRED, "specialist"), _tiring, _until_the_specialist_comes, 1),
    Situation("tired", IN_BETWEEN, _TIRED, _tiring_part, _passes_in_between, 1),
    Situation("mending", "put right", _DEFECT, lambda b: b.route in ("repair", "escalate"), put_right, dealt=False),
    Situation("tired", BOTH_TIRED, _TIRED, _two_tiring, _both_again_and_again, 1),
)  # fmt: skip


# Rework: damage, replacements, late records, obsolete checks.


def _breakable(bench: Bench) -> list[Check]:
    return [c for c in bench.done() if c.plan.if_damaged]


def _damaged(bench: Bench) -> Ticks[None]:
    """A damage report, first without the confidence; a pass does not lift it, a replacement does."""
    check = bench.draws.choose(_breakable(bench))
    yield from bench.hold(1, 2)
    bench.trap(bench.unsure(check, "damaged", "trap: below the confidence needed"))
    yield from bench.hold(1, 2)
    bench.damage(check, f"cause: {check.target} is reported damaged")
    bench.show(f"{check.target} is damaged")
    yield from bench.hold(1, 2)
    bench.result(check, True, "trap: a passing result does not lift the damage")
    bench.show(f"{check.target} passes but is damaged")
    yield from bench.hold(1, 2)
    yield from bench.look()
    bench.swap(check, f"{check.target} is replaced", f"a new {check.target} has no result yet")
    yield from set_right(bench, check)


def _checked_again(bench: Bench) -> Ticks[None]:
    """A passing record of earlier work voids checks that have to follow it, if there are any."""
    check = bench.draws.choose(_voiding(bench) or labels(bench))
    yield from bench.hold(1, 2)
    bench.lead_says(AGAIN, target=check.target)
    yield from bench.hold(1, 2)
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
    yield from bench.hold(1, 2)
    bench.lead_says(CHANGE, target=check.target)
    yield from bench.hold(1, 2)
    yield from bench.uncover(check)
    bench.swap(check, f"{check.target} is replaced", f"a new {check.target} has no result yet")
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
    yield from bench.hold(1, 3)
    bench.result(check, True, f"cause: {check.target} is recorded before {skipped.target}")
    bench.show(f"{skipped.target} was left out")
    yield from set_right(bench, skipped)


def _left_out_and_defective(bench: Bench) -> Ticks[None]:
    """A defect goes before what is missing, though its target is listed later."""
    skipped, check = bench.to_do()[0], _may_fail_ahead(bench)[0]
    yield from bench.hold(1, 3)
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
    Situation("rework", "checked again", ("obsolete", "stage", "advance"), lambda b: b.calm and bool(_voiding(b) or labels(b)) and b.has_time_for(6), _checked_again, 2),
    Situation("rework", "replaced", ("replacement", "obsolete"), lambda b: b.calm and bool(_behind(b)) and b.has_time_for(9), _replaced, 1),
    Situation("rework", "late failure", ("obsolete", "defect", "repair"), lambda b: b.calm and bool(_late(b)) and b.has_time_for(7), _late_failure, 2),
    Situation("rework", "left out", _MISSING, lambda b: _skips(b) and bool(_may_pass_ahead(b)), _left_out, 2),
    Situation("rework", "left out, and a defect", _MISSING, lambda b: _skips(b) and bool(_may_fail_ahead(b)), _left_out_and_defective, 1),
)  # fmt: skip


# Interruptions: quality tickets and specialists.


def _concerned(bench: Bench) -> dict[str, str]:
    """Roles with something of theirs at the unit, and the last of it."""
    begun = [*bench.passed, *(c.target for c in bench.to_do()[:1])]
    roles = {role: covers for role, _, covers in bench.station.product.roles}
    found = {role: [t for t in begun if t in covers] for role, covers in roles.items()}
    return {role: targets[-1] for role, targets in found.items() if targets}


def _announce(bench: Bench, role: str) -> Ticks[None]:
    """Somebody says why a specialist comes; a word is no badge."""
    yield from bench.hold(1, 2)
    name = bench.station.specialists[role].split()[0]
    bench.lead_says(COMING, name=name, target=_concerned(bench)[role])


def _role(bench: Bench) -> str:
    roles = list(_concerned(bench))
    owed = [role for role in roles if ("destination", role) in bench.owing()]
    return bench.draws.choose(owed or roles)


def _hold(bench: Bench) -> Ticks[str]:
    yield from bench.hold(1, 3)
    ticket = bench.open_ticket("cause: a ticket for this unit")
    bench.show(f"{ticket} opens")
    return ticket


def _ends(bench: Bench, ticket: str) -> Ticks[None]:
    """The hold, in which the operator works on unless a card keeps him off; then it is over."""
    yield from bench.hold(1, 3)
    if bench.panel.get("route") not in SAFE and bench.to_do():
        yield from pass_next(bench)
        yield from bench.wait(1)
    bench.close_ticket(ticket, "cause: the last open ticket of this unit closes")
    bench.show(f"{ticket} closes")


def _one_ticket(bench: Bench) -> Ticks[None]:
    """A neighbour's ticket holds nobody; ours does, whatever is said about it."""
    yield from bench.hold(1, 2)
    number = bench.draws.choose(bench.neighbours).number
    other = f"{bench.station.product.unit}{number}"
    subject = bench.subject()
    theirs = bench.next_id("T-", bench.draws.between(300, 800))
    bench.trap(
        say.ticket_opened(bench.now, theirs, other, subject, note="trap: another unit's ticket")
    )
    ticket = yield from _hold(bench)
    yield from bench.wait(1)
    lead = bench.station.lead
    bench.trap(bench.speak(lead, f"Forget {ticket}, go on.", "trap: speech closes nothing"))
    yield from _ends(bench, ticket)


def _two_tickets(bench: Bench) -> Ticks[None]:
    """Each of two tickets closes on its own."""
    first = yield from _hold(bench)
    yield from bench.hold(1, 2)
    second = bench.open_ticket("a second ticket, the hold goes on")
    yield from bench.hold(1, 2)
    bench.close_ticket(first, "trap: one of two closes, the other is still open")
    yield from _ends(bench, second)


def _work_during_a_hold(bench: Bench) -> Ticks[None]:
    """The stage moves while the card does not."""
    ticket = yield from _hold(bench)
    bench.lead_says(MEANWHILE, target=bench.to_do()[0].target)
    yield from bench.hold(1, 2)
    yield from pass_next(bench)
    yield from _ends(bench, ticket)


def _visit(bench: Bench) -> Ticks[None]:
    """A specialist elsewhere hands nothing over; here the handoff lasts until the badge is out."""
    role = _role(bench)
    holder = bench.station.specialists[role]
    there = bench.station.elsewhere
    yield from _announce(bench, role)
    yield from bench.wait(1)
    bench.trap(say.badge_in(bench.now, holder, role, there, note="trap: another station"))
    yield from bench.wait(1)
    bench.emit(say.badge_out(bench.now, holder, there, note="leaves the other station"))
    yield from bench.hold(1, 2)
    bench.arrive(role, "cause: the specialist is present")
    yield from bench.hold(1, 3)
    bench.leave(role, "cause: the specialist has gone")


def _two_specialists(bench: Bench) -> Ticks[None]:
    """The role listed first, though it came second."""
    first, second = (role for role, _, _ in bench.station.product.roles)
    yield from _announce(bench, second)
    yield from bench.hold(1, 2)
    bench.arrive(second, "cause: a specialist is present")
    yield from bench.hold(1, 2)
    bench.arrive(
        first, "cause: another one is present, listed first", f"the {first} badges in as well"
    )
    yield from bench.hold(1, 2)
    bench.leave(first, "cause: the one listed first has gone")
    yield from bench.hold(1, 2)
    bench.leave(second, "cause: the other has gone too")


def _ticket_during_a_visit(bench: Bench) -> Ticks[None]:
    """A ticket goes before a specialist."""
    role = _role(bench)
    yield from _announce(bench, role)
    yield from bench.hold(1, 2)
    bench.arrive(role, "cause: the specialist is present")
    ticket = yield from _hold(bench)
    yield from _ends(bench, ticket)
    yield from bench.hold(1, 2)
    bench.leave(role, "cause: the specialist has gone")


def _is_free(bench: Bench) -> bool:
    owed = {value for question, value in bench.owing() if question == "destination"}
    return bench.calm and (bool(owed) or bench.has_time_for(8))


def _has_visitor(bench: Bench) -> bool:
    """Whoever comes has something to see; a visit that is owed comes first."""
    owed = {value for question, value in bench.owing() if question == "destination"}
    roles = set(_concerned(bench))
    return _is_free(bench) and bool(roles & owed or (roles and bench.has_time_for(8)))


_TICKETS = ("tickets", "precedence", "scope", "inactive")
_BADGES = ("specialist", "precedence")

INTERRUPTIONS: tuple[Situation[Bench], ...] = (
    Situation("interruption", "a ticket", (*_TICKETS, "bystanders"), _is_free, _one_ticket, 1),
    Situation("interruption", "two tickets", _TICKETS, _is_free, _two_tickets, 1),
    Situation("interruption", "work during a hold", (*_TICKETS, "stage"), lambda b: _is_free(b) and bool(b.to_do()), _work_during_a_hold, 1),
    Situation("interruption", "a specialist's visit", _BADGES, _has_visitor, _visit, 1),
    Situation("interruption", "two specialists", _BADGES, lambda b: _has_visitor(b) and len(_concerned(b)) > 1, _two_specialists, 1),
    Situation("interruption", "a ticket during a visit", (*_BADGES, *_TICKETS), _has_visitor, _ticket_during_a_visit, 1),
)  # fmt: skip
