"""The gate: verdicts as defined, few false alarms, drops found as often as it promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, t

from streamdecisionbench.analysis.bootstrap import Estimate, Sampling
from streamdecisionbench.analysis.gate import (
    CANNOT_TELL,
    FAIL,
    PASS,
    Gate,
    Limits,
    gate_by_scenario,
    gate_estimates,
    gate_timelines,
)
from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.pooled import student_quantile
from streamdecisionbench.scoring.timeline import Timeline

STEPS, TICK, FAMILIES = 60, 2.0, ("a", "a", "b", "b", "c", "c", "d", "d")
TRIALS = 100
SAMPLING = Sampling(block=10, resamples=800, seed=0)


def pair(rng: np.random.Generator, drop: float) -> tuple[list[Timeline], list[Timeline]]:
    """A baseline that errs in runs, and a new component: the same but for states that flip.

    A twentieth of all states flips either way; `drop` more of them flip from right to wrong.
    """
    old, new = [], []
    for k, family in enumerate(FAMILIES):
        reference = np.repeat(np.arange(STEPS // 3), 3)
        runs = np.repeat(rng.random(STEPS // 5) < 0.2, 5)
        flips = rng.random(STEPS)
        lost = ~runs & (flips < (0.04 + drop) / 0.8)
        won = runs & (flips < 0.04 / 0.2)
        wrong = (runs | lost) & ~won
        for where, mask in ((old, runs), (new, wrong)):
            where.append(
                Timeline(
                    f"s{k}", family, TICK, np.arange(STEPS, dtype=np.float64) * TICK,
                    np.full(STEPS, 0.01), reference, np.where(mask, reference + 100, reference),
                )
            )  # fmt: skip
    return new, old


@pytest.mark.parametrize("drop", [0.0, 0.02, 0.05])
def test_false_alarms_are_rare_and_drops_are_found_as_promised(drop: float) -> None:
    rng = np.random.default_rng(int(1000 * drop))
    gates = []
    for _ in range(TRIALS):
        new, old = pair(rng, drop)
        gates.append(gate_timelines(new, old, limits=Limits(0.0), interval=2.0, sampling=SAMPLING))
    failed = sum(g.verdict == FAIL for g in gates)
    if drop == 0:
        assert failed <= 5
        return
    promised = float(np.mean([g.promised(drop) for g in gates]))
    low, high = binom.ppf([0.001, 0.999], TRIALS, promised)
    assert low <= failed <= high, f"{failed} found, {100 * promised:.0f} promised"
    # The printed detectable drop is one that is promised in 80 of 100 trials.
    for gate in gates:
        assert gate.promised(gate.detectable) == pytest.approx(0.8)


def test_an_allowed_drop_is_passed_when_shown_to_be_smaller() -> None:
    new, old = pair(np.random.default_rng(1), 0.0)
    gate = gate_timelines(new, old, limits=Limits(20.0), interval=2.0, sampling=SAMPLING)
    assert gate.verdict == PASS
    assert gate.drop.value == pytest.approx(gate.baseline.value - gate.new.value)


def test_the_same_recording_drops_by_nothing() -> None:
    new, _ = pair(np.random.default_rng(2), 0.0)
    gate = gate_timelines(new, new, limits=Limits(0.0), sampling=SAMPLING)
    assert (gate.verdict, gate.drop) == (PASS, Estimate(0.0, 0.0, 0.0, 0.0))
    assert gate.promised(0.01) == 1.0


def made(drop: tuple[float, float], new: tuple[float, float], limits: Limits) -> Gate:
    return gate_estimates(
        Estimate(sum(new) / 2, *new, 0.01), Estimate(0.5, 0.4, 0.6, 0.01),
        Estimate(sum(drop) / 2, *drop, 0.01), limits=limits, measure="m", paired_by="state",
        drawn="blocks",
    )  # fmt: skip


@given(
    st.floats(-0.5, 0.5), st.floats(0, 0.5), st.floats(0, 1), st.floats(0, 0.4),
    st.floats(0, 20), st.none() | st.floats(0, 100),
)  # fmt: skip
def test_verdicts_are_as_defined(
    low: float, width: float, score: float, spread: float, allowed: float, floor: float | None
) -> None:
    drop, new = (low, low + width), (score, min(1.0, score + spread))
    gate = made(drop, new, Limits(allowed, floor))
    fails = drop[0] > allowed / 100 or (floor is not None and new[1] < floor / 100)
    passes = drop[1] <= allowed / 100 and (floor is None or new[0] >= floor / 100)
    assert gate.verdict == (FAIL if fails else PASS if passes else CANNOT_TELL)
    assert len(gate.reasons) == 1 + (floor is not None)


def test_another_served_model_fails_unless_allowed() -> None:
    new, old = pair(np.random.default_rng(3), 0.0)
    models = {"new": ["m-2"], "baseline": ["m-1"]}
    gate = gate_timelines(new, old, limits=Limits(30.0), models=models, sampling=SAMPLING)
    assert gate.verdict == FAIL
    assert "m-1 before, m-2 now" in gate.reasons[-1]
    allowed = gate_timelines(
        new, old, limits=Limits(30.0), models=models, sampling=SAMPLING, allow_model_change=True
    )
    assert allowed.verdict == PASS


def test_scores_by_scenario_are_paired_by_scenario() -> None:
    families = {f"s{k}": family for k, family in enumerate(FAMILIES)}
    old = {name: 0.6 + 0.01 * k for k, name in enumerate(families)}
    shift = np.array([0.01, 0.03, 0.02, 0.02, 0.04, 0.0, 0.02, 0.02])
    new = {name: old[name] - shift[k] for k, name in enumerate(families)}
    gate = gate_by_scenario(new, old, families, limits=Limits(1.0), measure="m")
    half = t.ppf(0.975, 7) * shift.std(ddof=1) / np.sqrt(8)
    assert gate.drop.value == pytest.approx(0.02)
    assert (gate.drop.low, gate.drop.high) == pytest.approx((0.02 - half, 0.02 + half))
    with pytest.raises(InputError, match="not of the same scenarios"):
        gate_by_scenario({"s0": 1.0}, old, families, limits=Limits(), measure="m")


@given(st.floats(0.5, 0.9999), st.integers(1, 200))
def test_student_quantile_is_scipy_s(p: float, degrees: int) -> None:
    assert student_quantile(p, degrees) == pytest.approx(t.ppf(p, degrees), rel=1e-9, abs=1e-9)


def test_limits_are_points() -> None:
    with pytest.raises(InputError, match="max-drop"):
        Limits(-1.0)
    with pytest.raises(InputError, match="--min"):
        Limits(1.0, 101.0)
