"""Spells and costs inside the meter against a plain walk, and against the log the meter wrote."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamdecisionbench.errors import InputError
from streamdecisionbench.meter import DecisionLog, Meter
from streamdecisionbench.policies.cost_rules import (
    AgePenalty,
    Costs,
    Pair,
    Section,
)
from tests.cli.command import sdb
from tests.meter import plain
from tests.meter.plain import Happened
from tests.meter.test_counters import Action, FakeClock, actions, drawn, drive, play, ticking

SECTION = Section(
    wrong=2.5,
    no_decision=0.5,
    pairs=(Pair("decision", "hold", "wait", 20.0), Pair("decision", None, "advance", 0.0)),
)
PENALTIES = (
    None,
    AgePenalty("linear", per_s=0.3),
    AgePenalty("threshold", after_s=1.25, add=2.0),
    AgePenalty("capped", per_s=0.5, cap=1.25),
)
THETA = 1.5


class Walked(NamedTuple):
    lengths: list[float]
    begun: int
    """Spells of which it is known where they began."""
    cost: float


def walk(events: list[Happened], now: float, window: int = 1000) -> Walked:
    """Stretch by stretch: wrong, calm, or not known yet; neighbouring wrong ones are one spell."""
    found = plain.known(events, window)
    lengths: list[float] = []
    begun, cost, kind_before = 0, 0.0, "calm"
    if not found.published:
        return Walked([], 0, 0.0)
    last = now if found.end is None else found.end
    cuts = sorted({*found.published, *(at for at, _ in found.applied), last})
    for begin, end in pairwise(cut for cut in cuts if cut <= last):
        current = max(i for i, at in enumerate(found.published) if at <= begin)
        sources = [step for at, step in found.applied if at <= begin]
        decision = found.decisions[sources[-1]] if sources else None
        kind = "calm"
        if current not in found.references:
            kind = "calm" if current in found.given_up else "pending"
        elif found.references[current] != decision:
            kind = "wrong"
            cost += (end - begin) * price(found.references[current], decision)
        if kind == "wrong":
            if kind_before == "wrong":
                lengths[-1] += end - begin
            else:
                lengths.append(end - begin)
                begun += kind_before == "calm"
        kind_before = kind
    return Walked(lengths, begun, cost)


def price(right: str, shown: str | None) -> float:
    if shown is None:
        return 0.5
    return 20.0 if (right, shown) == ("hold", "wait") else 0.0 if shown == "advance" else 2.5


def penalty(age: AgePenalty | None, length: float) -> float:
    if age is None:
        return 0.0
    if age.kind == "threshold":
        return age.add * max(0.0, length - age.after_s)
    full = age.cap / age.per_s if age.kind == "capped" else float("inf")
    rising = min(length, full)
    return age.per_s * rising**2 / 2 + max(0.0, length - full) * age.cap


def walked_alike(taken: list[Action], age: AgePenalty | None, window: int) -> None:
    """What the meter says at every look, and at the end, is what a plain walk says."""
    costs = Costs("test", default=replace(SECTION, age=age))
    before: list[float] = [0.0] * 5

    def look(meter: Meter, happened: list[Happened], now: float) -> None:
        (reading,) = meter.readings()
        want = walk(happened, now, window)
        found = [reading.wrong_age_integral_s2, reading.beyond_s, reading.cost_s["wrong"], reading.cost_s["age"], reading.spells]  # fmt: skip
        assert found == pytest.approx(
            [
                sum(x * x / 2 for x in want.lengths),
                sum(max(0.0, x - THETA) for x in want.lengths),
                want.cost,
                sum(penalty(age, x) for x in want.lengths),
                want.begun,
            ],
            rel=1e-9,
            abs=1e-9,
        )
        assert all(a >= b - 1e-9 for a, b in zip(found, before, strict=True)), "a counter went back"
        before[:] = found

    # On a grid the clock's grains can tell apart: shorter than a grain is nothing to the meter.
    taken = [(what, round(pause * 2**30) / 2**30, *rest) for what, pause, *rest in taken]
    meter, happened, clock = play(taken, window=window, look=look, theta=THETA, costs=costs)
    look(meter, happened, clock.now)
    assert meter.errors.keys() <= {"judged too late"}


@settings(max_examples=400, deadline=None)
@given(actions, st.sampled_from(PENALTIES), st.sampled_from([2, 3, 1000]))
def test_spells_and_costs_at_any_moment(
    taken: list[Action], age: AgePenalty | None, window: int
) -> None:
    walked_alike(taken, age, window)


@pytest.mark.parametrize("age", PENALTIES)
def test_spells_and_costs_of_many_sequences(age: AgePenalty | None) -> None:
    """Judged in any order, so that spells are joined, parted and forgotten; half outgrow their window."""
    for seed in range(300):
        draw = random.Random(seed)
        late = [("judge", 0.0, draw.random(), draw.randrange(3)) for _ in range(draw.randrange(30))]
        walked_alike(drawn(draw) + late, age, draw.choice((2, 3, 1000, 1000)))


@pytest.mark.parametrize("age", PENALTIES)
def test_sdb_logs_score_of_the_log_gives_the_counters(
    age: AgePenalty | None, tmp_path: Path
) -> None:
    """Late and missing judgments, answers out of order, a shadow, two families."""
    costs = tmp_path / "costs.toml"
    costs.write_text(
        'schema = "sdb-costs/1"\n[default]\nwrong = 2.5\nno_decision = 0.5\n'
        '[[default.pairs]]\nfield = "decision"\nreference = "hold"\ndecision = "wait"\ncost = 20.0\n'
        "[family.calm]\nwrong = 0.25\n" + _age_table(age)
    )
    meter = Meter("test", clock=ticking(0.13), shadows=("candidate",), costs=costs, theta=THETA)
    log = DecisionLog(meter, tmp_path / "log", flush_s=3600)
    for k in range(10):
        drive(meter, f"call-{k}", k, 40, **({"family": "calm"} if k % 3 == 0 else {}))
    log.flush()
    meter.close()
    done = sdb(
        "logs", "score", tmp_path / "log", "--by", "component", "--json", "--theta", THETA,
        "--costs", costs,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    groups = {g["by"]["component"]: g for g in json.loads(done.stdout)["groups"]}
    readings = {r.component: r for r in meter.readings()}
    assert groups.keys() == readings.keys() == {"applied", "candidate"}
    for component, group in groups.items():
        reading, judged = readings[component], readings[component].judged_s
        spells, cost = group["spells"], group["cost_of_error"]
        assert reading.spells == spells["count"] > 20
        assert reading.mean_wrong_age_s == pytest.approx(spells["mean_age_s"], rel=1e-9)
        assert reading.beyond_s / judged == pytest.approx(spells["beyond_share"], rel=1e-9)
        assert reading.cost_s["wrong"] / judged == pytest.approx(cost["wrong"], rel=1e-9)
        assert reading.cost_s["age"] / judged == pytest.approx(cost["age"], rel=1e-9, abs=1e-12)


def _age_table(age: AgePenalty | None) -> str:
    if age is None:
        return ""
    given = {"per_s": age.per_s, "after_s": age.after_s, "add": age.add, "cap": age.cap}
    lines = [f"{name} = {value}" for name, value in given.items() if value]
    return "\n".join(["[family.calm.age]", f'kind = "{age.kind}"', *lines]) + "\n"


def test_one_step_that_is_never_judged_does_not_make_memory_grow() -> None:
    clock = FakeClock()
    meter = Meter("test", clock=clock)
    call = meter.stream("one")
    call.publish()
    sizes = []
    for _ in range(3):
        for k in range(2000):
            clock.now += 1.0
            step = call.publish(reference="hold" if k % 2 else "wait")
            call.answer(step, "wait")
        lane = call._lanes["applied"]
        run, entries = lane._spells._tail, 0
        while run is not None:
            run, entries = run.before, entries + 1
        heap = lane.counts._beyond._heap
        sizes.append((entries, len(heap) <= 64 + 4))
    assert sizes == [(sizes[0][0], True)] * 3
    assert sizes[0][0] <= 8


def test_a_wrong_cost_file_is_refused_when_the_service_starts(tmp_path: Path) -> None:
    costs = tmp_path / "costs.toml"
    costs.write_text('schema = "sdb-costs/1"\n[default]\nwrnog = 2\n')
    with pytest.raises(InputError, match="wrnog"):
        Meter("test", costs=costs)


def test_the_shipped_costs_by_family() -> None:
    clock = FakeClock()
    meter = Meter("recorder", clock=clock, costs="default", by=("family",))
    with meter.stream("call-7", family="support_call_assist") as call:
        step = call.publish(reference={"recorder": "pause"})
        call.answer(step, {"recorder": "record"})
        clock.now += 3.0
    (reading,) = meter.readings()
    assert reading.cost_s["wrong"] == pytest.approx(3 * 20)
    assert reading.spells == 1
    for other in ("nobody's", "support_call_assist"):  # each by its own section, in any order
        with meter.stream("call-8", family=other) as call:
            call.answer(call.publish(reference={"recorder": "pause"}), {"recorder": "record"})
            clock.now += 3.0
    found = {reading.labels[0][1]: reading.cost_s["wrong"] for reading in meter.readings()}
    assert found == pytest.approx({"support_call_assist": 6 * 20, "nobody's": 3 * 1})
