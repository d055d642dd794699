"""Recommendations: one rule decides, whoever asks; money and doubt are told."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamdecisionbench.analysis.bootstrap import Sampling
from streamdecisionbench.analysis.candidates import CandidatePool, ScoredCandidate
from streamdecisionbench.analysis.choose import (
    Budget,
    Candidate,
    Choice,
    Terms,
    choice_lines,
    choice_table,
    choose,
    decide,
    holds,
)
from streamdecisionbench.analysis.token_cost import Cost, Tokens
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.recording.prices import Price
from streamdecisionbench.scoring.pairs import compose
from streamdecisionbench.scoring.score import score_timelines
from tests.analysis.kit import timeline

REFERENCE = np.repeat(np.arange(20), 3).tolist()
QUICK = Sampling(resamples=300)
TERMS = Terms(sampling=QUICK)
ALONE = Terms(sampling=QUICK, pairs=False)


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
    found = choose(RUNS, 1.5, terms=TERMS)
    by_name = {c.name: c for c in found.candidates}
    for name, parts in RUNS.items():
        scored = score_timelines(parts, interval=1.5)
        assert by_name[name].in_force.value == pytest.approx(scored.in_force, abs=1e-12)
        assert by_name[name].shares.stale == pytest.approx(scored.overall.at_interval.stale)
    for rule in ("freshest", "lag_one", "late_override"):
        pair = compose(RUNS["quick"], RUNS["careful"], rule, 1.5)
        mine = by_name[f"quick + careful ({rule.replace('_', '-')})"]
        assert mine.in_force.value == pytest.approx(pair.in_force, abs=1e-12)
        assert mine.shares.stale == pytest.approx(pair.overall.at_interval.stale)
        assert mine.slow_share == pytest.approx(pair.slow_share)
    assert [c.in_force.value for c in found.candidates] == sorted(
        (c.in_force.value for c in found.candidates), reverse=True
    )


def test_pace_decides_between_judgment_and_latency() -> None:
    fast = choose(RUNS, 0.5, terms=ALONE)
    slow = choose(RUNS, 30.0, terms=ALONE)
    assert (fast.best.name, fast.best.limit) == ("quick", "judgment")
    assert (slow.best.name, slow.best.limit) == ("careful", "latency")
    assert fast.runner_up is not None
    assert fast.runner_up.behind_leader.excludes_zero
    low, high = holds(CandidatePool(RUNS), fast)
    assert low <= 0.5 <= high < 30


def _plainly(found: Choice) -> str:
    """The rule in words of its own, over everything the choice lists."""
    terms = found.terms
    able = [c for c in found.candidates if c.within_budget and not c.simulated_pair]
    top = max(able, key=lambda c: c.in_force.value)
    good: list[Candidate] = []
    for c in able:
        behind = top.in_force.value - c.in_force.value
        doubt = c.behind_leader.low <= 0 <= c.behind_leader.high
        if behind < max(terms.min_gain, 1e-12) or doubt:
            good.append(c)
    cheapest = min(math.inf if c.per_hour is None else c.per_hour for c in good)
    cheap = [c for c in good if (math.inf if c.per_hour is None else c.per_hour) == cheapest]
    fewest = min(len(c.members) for c in cheap)
    simple = [c for c in cheap if len(c.members) == fewest]
    return max(simple, key=lambda c: c.in_force.value).name


@settings(max_examples=40, deadline=None)
@given(
    errors=st.lists(st.sampled_from([0.0, 0.02, 0.2, 0.3]), min_size=1, max_size=4),
    latencies=st.lists(st.sampled_from([0.1, 0.5, 3.0]), min_size=4, max_size=4),
    prices=st.lists(st.sampled_from([None, 0.1, 1.0, 40.0]), min_size=4, max_size=4),
    simulated=st.sets(st.integers(0, 3)),
    interval=st.sampled_from([0.2, 0.64, 1.0, 2.0, 8.0]),
    min_gain=st.sampled_from([0.0, 0.01, 0.1]),
    budget=st.sampled_from([None, 500.0]),
)
def test_one_rule_decides(
    errors: list[float],
    latencies: list[float],
    prices: list[float | None],
    simulated: set[int],
    interval: float,
    min_gain: float,
    budget: float | None,
) -> None:
    runs = {f"r{k}": _recording(e, latencies[k], seed=k % 3) for k, e in enumerate(errors)}
    costs = {f"r{k}": None if x is None else _cost(x) for k, x in enumerate(prices)}
    terms = Terms(Budget(per_hour=budget), min_gain, sampling=QUICK)
    sims = [f"r{k}" for k in simulated]
    try:
        found = choose(runs, interval, costs=costs, simulated=sims, terms=terms)
    except InputError:
        assert budget is not None
        spent = [None if (c := costs[name]) is None else c.per_hour(interval) for name in runs]
        assert all(x is None or x > budget for x in spent)
        return
    assert found.best.name == _plainly(found)
    lean = decide(CandidatePool(runs, costs, sims), interval, terms)
    assert choice_lines(lean) == choice_lines(found)
    if found.best.rule:
        assert not set(found.best.members) & set(sims)


def test_a_pair_that_changes_nothing_does_not_win() -> None:
    """At 0.1 s the careful one never arrives while its source is newest."""
    found = choose(RUNS, 0.1, terms=TERMS)
    assert found.best.name == "quick"
    assert "quick + careful (freshest)" in found.idle
    assert any("very same times" in line for line in choice_lines(found))
    assert found.runner_up is not None
    assert found.runner_up.name not in found.idle


def test_two_tenths_of_a_point_are_not_worth_two_hundred_times_the_price() -> None:
    """As published at 2 s: the pair leads by less than the minimum gain."""
    runs = {"quick": _recording(0.3, 0.1, 1), "slow": _recording(0.02, 2.6, 2)}
    costs = {"quick": _cost(0.15), "slow": _cost(33.0)}
    found = choose(runs, 2.0, costs=costs, terms=TERMS)
    assert found.leader.members == ("quick", "slow")
    gain = found.best.behind_leader.value
    assert gain > 0
    asked = Terms(sampling=QUICK, min_gain=gain + 1e-6)
    cautious = choose(runs, 2.0, costs=costs, terms=asked)
    assert cautious.best.name == "quick"
    assert any("less than the minimum gain" in line for line in choice_lines(cautious))
    assert any("the cheaper one" in line for line in choice_lines(cautious))


def test_pairs_of_simulations_prove_nothing() -> None:
    runs = {"quick": _recording(0.1, 0.1, 1), "careful": _recording(0.0, 3.0, 2)}
    free = choose(runs, 4.0, terms=TERMS)
    assert free.best.rule is not None, "a pair wins where nothing is simulated"
    for simulated in (["quick"], ["careful"], ["quick", "careful"]):
        found = choose(runs, 4.0, simulated=simulated, terms=TERMS)
        assert found.best.rule is None
        assert found.leader.rule is None
        assert any("prove nothing" in line for line in choice_lines(found))
    assert not any("prove nothing" in line for line in choice_lines(free))


def test_every_rule_is_tried() -> None:
    found = choose(RUNS, 2.0, terms=TERMS)
    assert {c.rule for c in found.candidates} == {None, "freshest", "lag_one", "late_override"}


def test_budget_and_cost() -> None:
    costs = {"quick": _cost(0.1), "careful": _cost(20.0)}
    free = choose(RUNS, 30.0, costs=costs, terms=TERMS)
    assert free.best.members[-1] == "careful"
    tight = choose(RUNS, 30.0, costs=costs, terms=Terms(Budget(per_1000=1.0), sampling=QUICK))
    assert tight.best.name == "quick"
    assert tight.best.per_hour == pytest.approx(0.1 / 1000 * 3600 / 30)
    assert not next(c for c in tight.candidates if c.name == "careful").within_budget
    pair = next(c for c in tight.candidates if c.rule)
    assert pair.per_1000 == pytest.approx(20.1)
    hourly = choose(RUNS, 30.0, costs=costs, terms=Terms(Budget(per_hour=0.1), sampling=QUICK))
    assert hourly.best.name == "quick"


def test_an_unknown_cost_is_never_within_a_budget() -> None:
    terms = Terms(Budget(per_hour=100.0), sampling=QUICK)
    with pytest.raises(InputError, match="budget"):
        choose(RUNS, 1.0, costs={"quick": None}, terms=terms)
    found = choose(RUNS, 1.0, costs={"quick": _cost(0.1)}, terms=terms)
    assert found.unpriced == ["careful"]


def test_what_cannot_be_told_apart_goes_to_the_cheaper_one() -> None:
    runs = {"one": _recording(0.2, 0.2, 3), "other": _recording(0.2, 0.2, 4)}
    dear_first = {"one": _cost(2.0), "other": _cost(1.0)}
    dear_last = {"one": _cost(1.0), "other": _cost(2.0)}
    assert choose(runs, 1.0, costs=dear_first, terms=ALONE).best.name == "other"
    assert choose(runs, 1.0, costs=dear_last, terms=ALONE).best.name == "one"


def test_of_many_recordings_the_best_are_paired_and_that_is_said() -> None:
    runs = {f"r{k:02}": _recording(0.05 * (k % 6), 0.1 + 0.4 * (k % 5), k) for k in range(12)}
    found = choose(runs, 1.0, terms=Terms(sampling=Sampling(resamples=50)))
    assert 4 <= found.paired <= 8 < found.recordings == 12
    assert any("Pairs were made of" in line for line in choice_lines(found))
    assert len({m for c in found.candidates if c.rule for m in c.members}) == found.paired


def test_whatever_else_applies_decisions_goes_through_the_same_choice() -> None:
    class More(CandidatePool):
        def singles(self, interval: float) -> list[ScoredCandidate]:
            perfect = ScoredCandidate(
                name="perfect",
                members=("perfect",),
                rule=None,
                interval=interval,
                per_state=None,
                by_step=lambda: np.full(240, 1 / 60),
                shares=lambda: score_timelines(_recording(0.0, 0.0)).overall.at_interval,
                in_force=self.in_force,
            )
            return [*super().singles(interval), perfect]

    found = decide(More(RUNS, {}), 1.0, TERMS)
    assert found.best.name == "perfect"
    assert found.best.in_force.value == pytest.approx(1.0)


def test_the_table_marks_what_is_recommended_and_what_may_not_be() -> None:
    found = choose(RUNS, 4.0, simulated=["quick"], terms=TERMS)
    marks = {row[1]: row[0] for row in choice_table(found, 10, every=True).rows}
    assert marks[found.best.name] == ">"
    assert {m for name, m in marks.items() if "+" in str(name)} == {"~"}
    full = choice_table(found)
    assert [row[-1] for row in full.rows].count("yes") == 1


@pytest.mark.parametrize("interval", [0.0, -1.0, float("nan"), float("inf")])
def test_a_pace_must_be_seconds(interval: float) -> None:
    with pytest.raises(InputError, match="interval"):
        choose(RUNS, interval, terms=TERMS)


@pytest.mark.parametrize("gain", [-0.01, 1.0, float("nan")])
def test_a_minimum_gain_must_be_points(gain: float) -> None:
    with pytest.raises(InputError, match="minimum gain"):
        Terms(min_gain=gain)
