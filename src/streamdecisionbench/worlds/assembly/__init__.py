"""New assembly sessions from a seed: fastening benches, and cells with electrical tests."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from streamdecisionbench.families.assembly import events as say
from streamdecisionbench.families.assembly.questions import SPEC, questions
from streamdecisionbench.families.assembly.reference import reference
from streamdecisionbench.families.assembly.state import projector
from streamdecisionbench.worlds.assembly.bench import (
    OUTCOMES,
    Bench,
    Neighbour,
    distract,
)
from streamdecisionbench.worlds.assembly.situations import (
    BOTH_TIRED,
    FAILURES,
    IN_BETWEEN,
    INTERRUPTIONS,
    REWORK,
    UNSURE,
    WORK,
)
from streamdecisionbench.worlds.assembly.station import (
    BENCHES,
    CELLS,
    SAME_PRODUCT,
    Product,
    Station,
    draw_station,
)
from streamdecisionbench.worlds.generation.draws import (
    Draws,
    Pool,
    Seat,
)
from streamdecisionbench.worlds.generation.world import (
    Kind,
    Situation,
)
from streamdecisionbench.worlds.generation.world_simulator import (
    Answer,
    Opening,
    Ticks,
)

WORDINGS = ("listed",)

QUARTERS = 4


def _and_hand_on(situation: Situation[Bench]) -> Situation[Bench]:
    """Whatever has made the unit complete, it then waits for a card that sends it on."""

    def play(bench: Bench) -> Ticks[None]:
        yield from situation.play(bench)
        yield from bench.hand_on()

    return replace(situation, play=play)


SITUATIONS = tuple(map(_and_hand_on, (*WORK, *FAILURES, *REWORK, *INTERRUPTIONS)))


def _open(pool: Pool[Product], opening: Opening) -> Bench:
    """A bench at tick 0: devices report, some of the work is done."""
    draws, seat = opening.draws, opening.seat
    limit = 2 if {BOTH_TIRED, IN_BETWEEN} & set(seat.agenda) else draws.between(2, 3)
    station = draw_station(draws.fork("station"), seat, pool, limit)
    must = _must_show(station, seat)
    first = station.public["stages"][0]
    bench = Bench(opening=opening, draws=draws.fork("bench"), station=station, stage=first)
    bench.must_show = must
    bench.publish(
        family="procedural_coaching",
        title=f"{station.product.line}: unit {station.unit}",
        questions=questions(station.options),
        spec=SPEC,
        project=projector(station.public),
        reference=reference,
    )
    bench.distract = partial(distract, bench)
    bench.neighbours = [
        Neighbour(station.number - 1, draws.between(2, len(station.checks) - 2)),
        Neighbour(station.number + 1, 0),
    ]
    bench.devices = {name: values[0] for name, _, values in station.product.tools}
    for name, field, values in station.product.tools:
        bench.emit(say.tool(0, name, **{field: values[0]}, note="initial tool fields"))
    bench.emit(
        say.badge_in(0, station.operator, "operator", station.public["id"], note="the operator")
    )
    for check in station.checks[: _done_before(station, must, seat, draws)]:
        bench.result(check, True, "done before the session starts")
    bench.show("")
    return bench


def _done_before(station: Station, must: frozenset[Answer], seat: Seat, draws: Draws) -> int:
    """How much of the work is done at tick 0: much where something late is owed.

    What has to fail at its turn, and what a camera still has to see open, is to come.
    """
    checks, half = station.checks, len(station.checks) // 2
    done = draws.between(1, half)
    owed = [i for i, c in enumerate(checks) if ("target", c.target) in must]
    if not owed or max(owed) > half + 1:
        done = half + 1
    most = [i for i in owed if not checks[i].plan.if_damaged]
    if station.product.closes and UNSURE in seat.agenda:
        most.append(2)
    return min([done, *most])


def _must_show(station: Station, seat: Seat) -> frozenset[Answer]:
    """Some of a product's targets and places: the stations that make it show all of them."""
    product, turn = station.product, seat.number // 2 % SAME_PRODUCT
    if turn == QUARTERS:
        return frozenset({("destination", product.release[0])})
    plans = product.checks[turn::QUARTERS]
    found = {("target", plan.target) for plan in plans}
    found |= {("method", plan.if_failed) for plan in plans}
    found |= (
        {("method", "complete_missing"), ("next_step", product.stages[1][0])},
        {("method", plan.if_damaged) for plan in product.checks if plan.if_damaged},
        {("destination", product.hold[0]), ("destination", product.roles[0][0])},
        {("destination", product.roles[1][0])},
    )[turn]
    return frozenset(found)


KINDS: tuple[Kind[Bench], ...] = (
    Kind("fastening_bench", SITUATIONS, partial(_open, BENCHES), True, OUTCOMES),
    Kind("test_cell", SITUATIONS, partial(_open, CELLS), True, OUTCOMES),
)
