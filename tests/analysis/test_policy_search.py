"""Searching policies: honest about chance, exact where it reports, and as cheap as it says."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import msgspec
import numpy as np
import pytest

from streamdecisionbench.analysis.bootstrap import Sampling
from streamdecisionbench.analysis.candidates import CandidatePool, halve
from streamdecisionbench.analysis.choose import Budget, Terms, choice_lines
from streamdecisionbench.analysis.policy_search import (
    PolicySearch,
    frontier_table,
    search,
    steps_table,
    tried_lines,
)
from streamdecisionbench.analysis.token_cost import cost, request_costs
from streamdecisionbench.components.contract import Usage
from streamdecisionbench.components.simulated.profiles import ProfileCalibration, builtin_profiles
from streamdecisionbench.components.simulated.simulator import draw_scenario
from streamdecisionbench.errors import InputError
from streamdecisionbench.examples import example_recording
from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.kernel.levels import family_weights
from streamdecisionbench.recording.prices import Price, PriceTable
from streamdecisionbench.scoring.policy_answers import Answers
from streamdecisionbench.scoring.policy_score import score_policy
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite
from tests.analysis.kit import timeline, with_usage

pytestmark = pytest.mark.slow

FEW = Sampling(resamples=400)


@cache
def suite() -> Suite:
    return read_suite(builtin_suite_path())


def simulated(
    profile: str, seed: int, calibration: ProfileCalibration | None, price: float | None = None
) -> Answers:
    """A profile's answers to SDB v1, with a calibration of our own; None: confidences are noise."""
    own = msgspec.structs.replace(builtin_profiles()[profile], calibration=calibration)
    parts, least, product = [], [], []
    for scenario in suite():
        draws = draw_scenario(own, scenario, seed)
        spec, ids = scenario.decision_spec, {}  # type: ignore[var-annotated]
        reference = [ids.setdefault(tuple(d.items()), len(ids)) for d in scenario.reference()]
        said = [spec.compose(d.answers) for d in draws]
        predicted = [ids.setdefault(tuple(d.items()), len(ids)) for d in said]
        parts.append(
            Timeline(
                scenario.episode_id,
                scenario.task_family,
                2.0,
                np.arange(scenario.n) * 2.0,
                np.array([d.latency_s for d in draws]),
                np.array(reference),
                np.array(predicted),
            )
        )
        sure = [
            [d.confidence[q] for q in composed] for d, composed in zip(draws, said, strict=True)
        ]
        least.append(np.array([min(row) for row in sure]))
        product.append(np.array([np.prod(row) for row in sure]))
    cost = None if price is None else [np.full(p.n, price) for p in parts]
    return Answers(f"{profile}-{seed}", parts, {"min": least, "product": product}, cost)


def searched(
    components: list[Answers], interval: float, budget: float | None = None
) -> PolicySearch:
    field = CandidatePool({one.name: one.parts for one in components}, answers=components)
    return search(field, interval, Terms(Budget(budget), sampling=FEW))


@cache
def telling() -> PolicySearch:
    """A fast component that knows when it is wrong, and a slow one that is nearly always right."""
    sure = ProfileCalibration(right=0.9, wrong=0.3, spread=0.08)
    fast, slow = simulated("jev", 0, sure, 0.001), simulated("astra-low", 0, None, 0.02)
    return searched([fast, replace(slow, confidence=None)], 4.0)


def test_noise_is_not_mistaken_for_a_policy() -> None:
    """Confidences that tell nothing: in at least 95 of 100 trials nothing beats the plain policy."""
    trials = [searched([simulated("jev", seed, None)], 2.0) for seed in range(100)]
    assert sum(found.winner is None for found in trials) >= 95
    for seed, found in enumerate(trials):
        if found.winner is None:
            assert f"use jev-{seed}: it keeps" in choice_lines(found.choice)[0]


def test_with_two_components_noise_adds_nothing_to_asking_both() -> None:
    trials = [
        searched([simulated("jev", s, None), simulated("kev-4b", s, None)], 2.0) for s in range(20)
    ]
    assert sum(found.gains["policy_gain"].low <= 0 for found in trials) >= 19
    # Overfitting is visible: on the scenarios it was chosen on, the same noise looks like a gain.
    weights = family_weights([p.family for p in simulated("jev", 0, None).parts])
    looks = [
        (t.steps["best"].candidate.in_force - t.steps["together"].candidate.in_force) @ weights
        for t in trials
    ]
    assert min(looks) >= 0
    assert np.mean(looks) > 0 > np.mean([t.gains["policy_gain"].value for t in trials])


def test_confidences_that_tell_are_used() -> None:
    found = telling()
    assert found.winner is not None
    assert found.winner is found.choice.best
    assert found.winner.members == ("jev-0", "astra-low-0")
    assert found.winner.policy is not None
    assert {"gate", "cascade"} <= {*found.winner.policy}
    assert not found.steps["best"].candidate.together
    assert found.gains["gain"].low > 0
    assert found.without_confidence == ("astra-low-0",)
    assert found.winner.name in choice_lines(found.choice)[0]
    assert "astra-low-0; no gate was tried" in tried_lines(found)[-1]


def test_every_candidate_is_worth_what_the_score_says() -> None:
    found = telling()
    sure = ProfileCalibration(right=0.9, wrong=0.3, spread=0.08)
    named = {
        "jev-0": simulated("jev", 0, sure, 0.001),
        "astra-low-0": replace(simulated("astra-low", 0, None, 0.02), confidence=None),
    }
    for point in found.frontier[:: max(1, len(found.frontier) // 4)]:
        c = point.candidate
        scored = score_policy(c.policy, [named[m] for m in c.members], interval=4.0)
        values = [scored.by_scenario[p.episode_id].in_force for p in scored.parts]
        assert c.in_force.tolist() == pytest.approx(values, abs=1e-12)
        assert point.seen == pytest.approx(scored.in_force, abs=1e-12)
        assert c.per_hour == pytest.approx(scored.cost_per_hour, rel=1e-9)


def test_steps_add_up_to_the_accuracy() -> None:
    sure = ProfileCalibration(right=0.9, wrong=0.3, spread=0.08)
    one = simulated("jev", 1, sure)
    trials = CandidatePool({one.name: one.parts}, answers=[one], thresholds=3).trials
    weights = np.repeat(1.0, 8)
    for kind in trials.kinds((one.name,), 2.0).values():
        for tried in kind:
            by_step = trials.by_step(tried, 2.0)
            assert by_step.sum() == pytest.approx(tried.in_force @ weights, abs=1e-12)


def test_the_frontier_only_rises_and_budgets_bind() -> None:
    found = telling()
    costs = [p.candidate.per_hour or 0.0 for p in found.frontier]
    assert costs == sorted(costs)
    assert [p.seen for p in found.frontier] == sorted(p.seen for p in found.frontier)
    sure = ProfileCalibration(right=0.9, wrong=0.3, spread=0.08)
    parts = [simulated("jev", 0, sure, 0.001), simulated("astra-low", 0, None, 0.02)]
    tight = searched(parts, 4.0, costs[0] * 1.01)
    assert tight.within_budget < tight.tried
    assert (tight.steps["best"].candidate.per_hour or 0.0) <= costs[0] * 1.01
    with pytest.raises(InputError, match="within the budget"):
        searched(parts, 4.0, 0.0)


def test_halves_take_scenarios_of_every_family() -> None:
    parts = [timeline([0], name=f"s{k}", family=f"f{k // 2}") for k in range(6)]
    assert halve(parts).tolist() == [True, False, False, True, True, False]
    lonely = [timeline([0], name=f"s{k}", family=f"f{k}") for k in range(3)]
    assert 0 < halve(lonely).sum() < 3
    with pytest.raises(InputError, match="one scenario"):
        halve(parts[:1])


def test_tables_fit_what_was_found() -> None:
    found = telling()
    assert [row[0] for row in steps_table(found).rows] == ["single", "together", "policy"]
    assert len(frontier_table(found, every=True).rows) == len(found.frontier)


def test_single_requests_cost_what_the_pass_costs() -> None:
    """Also where the service reports its cache for some answers only."""
    recording = example_recording()
    prices = PriceTable("USD", "2026-01-01", (Price("p", "m", 2.0, 8.0, cached_input=0.5),))
    config = {"provider": "p", "model": "m"}
    for cached in ([100, 100, 0, 100], [100, None, 0, 100]):
        usage = [Usage(1000, c, 50 + k) for k, c in enumerate(cached)]
        own = with_usage(recording, usage, config)
        (each,) = request_costs(own, prices, list(own.episodes)) or ()
        whole = cost(own, prices)
        assert whole is not None
        assert each.sum() == pytest.approx(whole.total)
