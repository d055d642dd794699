"""Recommendations: the right one wins, ties go to the simple, money and doubt are told."""

from __future__ import annotations

import numpy as np
import pytest

from streamdecisionbench.analysis.bootstrap import Sampling
from streamdecisionbench.analysis.choose import Budget, choose
from streamdecisionbench.analysis.token_cost import Cost, Tokens
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.prices import Price
from streamdecisionbench.scoring.pairs.compose import compose
from streamdecisionbench.scoring.score import score_timelines
from streamdecisionbench.scoring.timeline import Timeline
from tests.analysis.kit import timeline

REFERENCE = np.repeat(np.arange(20), 3).tolist()
QUICK = Sampling(resamples=300)


def _recording(error: float, latency: float, seed: int = 0) -> list[Timeline]:
    rng = np.random.default_rng(seed)
    return [
        timeline(
            REFERENCE,
            [y if rng.random() > error else 99 for y in REFERENCE],
            (latency * rng.uniform(0.8, 1.2, 60)).tolist(),
            name=f"s{k}",
            family="ab"[k % 2],
        )
        for k in range(4)
    ]


def _cost(per_1000: float) -> Cost:
    tokens = Tokens(1000, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    return Cost(tokens, Price("p", "m", 1, 1), "USD", "2026-11-01", per_1000, 0.0)


RUNS = {"quick": _recording(0.3, 0.1, 1), "careful": _recording(0.02, 3.0, 2)}


def test_values_are_the_scorers_on_the_nominal_clock() -> None:
    found = choose(RUNS, 1.5, sampling=QUICK)
    by_name = {c.name: c for c in found.candidates}
    for name, parts in RUNS.items():
        scored = score_timelines(parts, interval=1.5)
        assert by_name[name].in_force.value == pytest.approx(scored.in_force, abs=1e-12)
        assert by_name[name].shares.stale == pytest.approx(scored.overall.at_interval.stale)
    pair = compose(RUNS["quick"], RUNS["careful"], "freshest", 1.5)
    assert by_name["quick + careful (freshest)"].in_force.value == pytest.approx(
        pair.in_force, abs=1e-12
    )
    assert by_name["quick + careful (freshest)"].slow_share == pytest.approx(pair.slow_share)
    assert [c.in_force.value for c in found.candidates] == sorted(
        (c.in_force.value for c in found.candidates), reverse=True
    )


def test_pace_decides_between_judgment_and_latency() -> None:
    fast = choose(RUNS, 0.5, pairs=False, sampling=QUICK)
    slow = choose(RUNS, 30.0, pairs=False, sampling=QUICK)
    assert (fast.best.name, fast.best.limit) == ("quick", "judgment")
    assert (slow.best.name, slow.best.limit) == ("careful", "latency")
    assert fast.runner_up is not None
    assert fast.runner_up.behind_best.excludes_zero
    low, high = fast.holds
    assert low <= 0.5 <= high < 30


def test_a_pair_that_changes_nothing_does_not_win() -> None:
    """At 0.1 s the careful one never arrives while its source is newest."""
    found = choose(RUNS, 0.1, sampling=QUICK)
    assert found.best.name == "quick"
    pair = next(c for c in found.candidates if c.rule)
    assert pair.same_as_best
    assert found.runner_up is not None
    assert found.runner_up.name == "careful"


def test_every_rule_can_be_tried() -> None:
    found = choose(RUNS, 2.0, rule="all", sampling=QUICK)
    assert {c.rule for c in found.candidates} == {None, "freshest", "lag_one", "late_override"}


def test_budget_and_cost() -> None:
    costs = {"quick": _cost(0.1), "careful": _cost(20.0)}
    free = choose(RUNS, 30.0, costs=costs, sampling=QUICK)
    assert free.best.members[-1] == "careful"
    tight = choose(RUNS, 30.0, costs=costs, budget=Budget(per_1000=1.0), sampling=QUICK)
    assert tight.best.name == "quick"
    assert tight.best.per_hour == pytest.approx(0.1 / 1000 * 3600 / 30)
    assert not next(c for c in tight.candidates if c.name == "careful").within_budget
    pair = next(c for c in tight.candidates if c.rule)
    assert pair.per_1000 == pytest.approx(20.1)
    hourly = choose(RUNS, 30.0, costs=costs, budget=Budget(per_hour=0.1), sampling=QUICK)
    assert hourly.best.name == "quick"


def test_an_unknown_cost_is_never_within_a_budget() -> None:
    with pytest.raises(InputError, match="budget"):
        choose(RUNS, 1.0, costs={"quick": None}, budget=Budget(per_hour=100.0), sampling=QUICK)


def test_what_cannot_be_told_apart_is_said_with_the_cheaper_one() -> None:
    runs = {"one": _recording(0.2, 0.2, 3), "other": _recording(0.2, 0.2, 4)}
    costs = {"one": _cost(1.0), "other": _cost(2.0)}
    found = choose(runs, 1.0, costs=costs, pairs=False, sampling=QUICK)
    assert [c.name for c in found.level_with_best] == [found.candidates[1].name]
    assert found.cheapest_level is not None
    assert found.cheapest_level.name == "one"


@pytest.mark.parametrize("interval", [0.0, -1.0, float("nan"), float("inf")])
def test_a_pace_must_be_seconds(interval: float) -> None:
    with pytest.raises(InputError, match="interval"):
        choose(RUNS, interval, sampling=QUICK)
