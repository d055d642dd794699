"""What stops or hands over the work: quality tickets and specialists."""

from __future__ import annotations

from streamdecisionbench.families.assembly import events as say
from streamdecisionbench.families.assembly.generator.bench import SAFE, Bench
from streamdecisionbench.families.assembly.generator.work import pass_next
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation

_COMING = (
    "{name} is coming over about {target}.",
    "I asked {name} about {target}.",
    "{name} does the round and wants to know about {target}.",
    "Let {name} have a word about {target}.",
    "{name} is to hear about {target}.",
)
_MEANWHILE = (
    "They want {target} done while they have it.",
    "Quality does {target} itself meanwhile.",
    "{target} can go on during the hold, they say.",
)


def _concerned(bench: Bench) -> dict[str, str]:
    """Roles with something of theirs at the unit, and the last of it."""
    begun = [*bench.passed, *(c.target for c in bench.to_do()[:1])]
    roles = {role: covers for role, _, covers in bench.station.product.roles}
    found = {role: [t for t in begun if t in covers] for role, covers in roles.items()}
    return {role: targets[-1] for role, targets in found.items() if targets}


def _announce(bench: Bench, role: str) -> Ticks[None]:
    """Somebody says why a specialist comes; a word is no badge."""
    yield from bench.script.hold(1, 2)
    name = bench.station.specialists[role].split()[0]
    bench.lead_says(_COMING, name=name, target=_concerned(bench)[role])


def _role(bench: Bench) -> str:
    roles = list(_concerned(bench))
    owed = [role for role in roles if ("destination", role) in bench.owing()]
    return bench.draws.choose(owed or roles)


def _hold(bench: Bench) -> Ticks[str]:
    yield from bench.script.hold(1, 3)
    ticket = bench.open_ticket("cause: a ticket for this unit")
    bench.show(f"{ticket} opens")
    return ticket


def _ends(bench: Bench, ticket: str) -> Ticks[None]:
    """The hold, in which the operator works on unless a card keeps him off; then it is over."""
    yield from bench.script.hold(1, 3)
    if bench.script.panel.get("route") not in SAFE and bench.to_do():
        yield from pass_next(bench)
        yield from bench.script.wait(1)
    bench.close_ticket(ticket, "cause: the last open ticket of this unit closes")
    bench.show(f"{ticket} closes")


def _one_ticket(bench: Bench) -> Ticks[None]:
    """A neighbour's ticket holds nobody; ours does, whatever is said about it."""
    yield from bench.script.hold(1, 2)
    number = bench.draws.choose(bench.neighbours).number
    other = f"{bench.station.product.unit}{number}"
    subject = bench.subject()
    theirs = bench.next_id("T-", bench.draws.between(300, 800))
    bench.script.trap(
        say.ticket_opened(bench.now, theirs, other, subject, note="trap: another unit's ticket")
    )
    ticket = yield from _hold(bench)
    yield from bench.script.wait(1)
    lead = bench.station.lead
    bench.script.trap(bench.speak(lead, f"Forget {ticket}, go on.", "trap: speech closes nothing"))
    yield from _ends(bench, ticket)


def _two_tickets(bench: Bench) -> Ticks[None]:
    """Each of two tickets closes on its own."""
    first = yield from _hold(bench)
    yield from bench.script.hold(1, 2)
    second = bench.open_ticket("a second ticket, the hold goes on")
    yield from bench.script.hold(1, 2)
    bench.close_ticket(first, "trap: one of two closes, the other is still open")
    yield from _ends(bench, second)


def _work_during_a_hold(bench: Bench) -> Ticks[None]:
    """The stage moves while the card does not."""
    ticket = yield from _hold(bench)
    bench.lead_says(_MEANWHILE, target=bench.to_do()[0].target)
    yield from bench.script.hold(1, 2)
    yield from pass_next(bench)
    yield from _ends(bench, ticket)


def _visit(bench: Bench) -> Ticks[None]:
    """A specialist elsewhere hands nothing over; here the handoff lasts until the badge is out."""
    role = _role(bench)
    holder = bench.station.specialists[role]
    there = bench.station.elsewhere
    yield from _announce(bench, role)
    yield from bench.script.wait(1)
    bench.script.trap(say.badge_in(bench.now, holder, role, there, note="trap: another station"))
    yield from bench.script.wait(1)
    bench.script.emit(say.badge_out(bench.now, holder, there, note="leaves the other station"))
    yield from bench.script.hold(1, 2)
    bench.arrive(role, "cause: the specialist is present")
    bench.show(f"the {role} badges in")
    yield from bench.script.hold(1, 3)
    bench.leave(role, "cause: the specialist has gone")
    bench.show(f"the {role} badges out")


def _two_specialists(bench: Bench) -> Ticks[None]:
    """The role listed first, though it came second."""
    first, second = (role for role, _, _ in bench.station.product.roles)
    yield from _announce(bench, second)
    yield from bench.script.hold(1, 2)
    bench.arrive(second, "cause: a specialist is present")
    bench.show(f"the {second} badges in")
    yield from bench.script.hold(1, 2)
    bench.arrive(first, "cause: another one is present, listed first")
    bench.show(f"the {first} badges in as well")
    yield from bench.script.hold(1, 2)
    bench.leave(first, "cause: the one listed first has gone")
    bench.show(f"the {first} badges out")
    yield from bench.script.hold(1, 2)
    bench.leave(second, "cause: the other has gone too")
    bench.show(f"the {second} badges out")


def _ticket_during_a_visit(bench: Bench) -> Ticks[None]:
    """A ticket goes before a specialist."""
    role = _role(bench)
    yield from _announce(bench, role)
    yield from bench.script.hold(1, 2)
    bench.arrive(role, "cause: the specialist is present")
    bench.show(f"the {role} badges in")
    ticket = yield from _hold(bench)
    yield from _ends(bench, ticket)
    yield from bench.script.hold(1, 2)
    bench.leave(role, "cause: the specialist has gone")
    bench.show(f"the {role} badges out")


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
    Situation(
        "interruption", "work during a hold", (*_TICKETS, "stage"),
        lambda b: _is_free(b) and bool(b.to_do()), _work_during_a_hold, 1,
    ),
    Situation("interruption", "a specialist's visit", _BADGES, _has_visitor, _visit, 1),
    Situation(
        "interruption", "two specialists", _BADGES,
        lambda b: _has_visitor(b) and len(_concerned(b)) > 1, _two_specialists, 1,
    ),
    Situation("interruption", "a ticket during a visit", (*_BADGES, *_TICKETS), _has_visitor, _ticket_during_a_visit, 1),
)  # fmt: skip
