"""Bootstrap intervals: laws, and coverage on simulated recordings with known truth."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import t as student

from streamdecisionbench.analysis.bootstrap import (
    METRICS,
    Sampling,
    block_variance,
    bootstrap,
    intervals,
    intervals_table,
    resampled_counts,
    resampled_sums,
)
from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.log_score import score_log
from streamdecisionbench.scoring.intervals import (
    Spread,
    interval_95,
    stream_keys,
    student_interval,
)
from streamdecisionbench.scoring.score import score_timelines
from tests.analysis.kit import bench, timeline

RNG = np.random.default_rng(5)
REFERENCE = np.repeat(np.arange(20), 3).tolist()
FAST = Sampling(resamples=400)


def _noisy(error: float, latency: float, seed: int) -> list:
    rng = np.random.default_rng(seed)
    return [
        timeline(
            REFERENCE,
            [y if rng.random() > error else 99 for y in REFERENCE],
            (latency * rng.exponential(size=60)).tolist(),
            name=f"s{k}",
            family="ab"[k % 2],
        )
        for k in range(4)
    ]


def test_values_are_the_scores_and_lie_inside() -> None:
    parts = _noisy(0.3, 1.0, 1)
    found = intervals({"x": parts}, sampling=FAST).recordings["x"]
    scored = score_timelines(parts)
    for metric, value in zip(
        METRICS, (scored.log_auc, scored.in_force, scored.untimed), strict=True
    ):
        assert found[metric].value == pytest.approx(value, abs=1e-12)
        assert 0 <= found[metric].low < value < found[metric].high <= 1


def test_the_seed_decides_and_nothing_else() -> None:
    runs = {"a": _noisy(0.3, 1.0, 1), "b": _noisy(0.1, 3.0, 2)}
    one, two = intervals(runs, sampling=FAST), intervals(runs, sampling=FAST)
    assert one == two
    other = intervals(runs, sampling=Sampling(resamples=400, seed=1))
    assert one.recordings["a"]["log_auc"].low != other.recordings["a"]["log_auc"].low


def test_a_difference_is_paired() -> None:
    """A recording that is right exactly where another is differs by nothing, for sure."""
    parts = _noisy(0.3, 1.0, 1)
    gap = intervals({"a": parts, "b": list(parts)}, sampling=FAST).differences[0]
    assert gap.metrics["log_auc"].low == gap.metrics["log_auc"].high == 0
    far = intervals({"a": parts, "b": _noisy(0.9, 1.0, 2)}, sampling=FAST).differences[0]
    assert far.metrics["untimed"].excludes_zero
    assert far.metrics["untimed"].value == pytest.approx(
        score_timelines(parts).untimed - score_timelines(_noisy(0.9, 1.0, 2)).untimed
    )


def test_a_perfect_component_has_no_width() -> None:
    perfect = [timeline(REFERENCE)]
    found = intervals({"x": perfect}, sampling=FAST).recordings["x"]["untimed"]
    assert (found.low, found.value, found.high) == pytest.approx((1.0, 1.0, 1.0))


def test_other_states_are_refused() -> None:
    with pytest.raises(InputError, match="same states"):
        intervals({"a": [timeline([0, 1, 2])], "b": [timeline([0, 1, 1])]})


@pytest.mark.parametrize("n", [1, 2, 7, 23])
def test_scenarios_of_any_length_can_be_resampled(n: int) -> None:
    found = intervals({"x": [timeline(list(range(n)), latency=0.5)]}, sampling=FAST)
    assert "x" in intervals_table(found).rows[0]


def test_every_resample_has_as_many_steps() -> None:
    for counts in np.concatenate(list(resampled_counts([60, 7, 23], Sampling(10, 40)))):
        assert [counts[:60].sum(), counts[60:67].sum(), counts[67:].sum()] == [60, 7, 23]


def test_block_variance_is_what_resamples_show() -> None:
    values = [RNG.normal(size=(60, 2)).cumsum(axis=0), RNG.normal(size=(40, 2))]
    weights = np.array([0.25, 0.75])
    sums = resampled_sums(values, weights, Sampling(10, 40_000))
    shrunk = [
        (v - v.mean(axis=0)) * np.sqrt((len(v) - 10) / len(v)) + v.mean(axis=0) for v in values
    ]
    np.testing.assert_allclose(sums.var(axis=0), block_variance(shrunk, weights, 10), rtol=0.05)
    centre = weights @ np.stack([v.sum(axis=0) for v in values])
    np.testing.assert_allclose(sums.mean(axis=0), centre, atol=4 * sums.std(axis=0).max() / 200)


def _plain_width(values: list[float], block: int) -> float:
    """The standard error of Σ values by its definition, every block summed by hand.

    V(b) = n/b · n/(n − b) · variance of the circular blocks' sums; κ² = max(2 − V(b/2)/V(b), 1); t/z with
    as many degrees of freedom as blocks fit, less one.
    """
    n = len(values)

    def variance(b: int) -> float:
        sums = [sum(values[(first + k) % n] for k in range(b)) for first in range(n)]
        mean = sum(sums) / n
        return n / b * n / (n - b) * sum((x - mean) ** 2 for x in sums) / n

    kappa = sqrt(max(2 - variance(block // 2) / variance(block), 1))
    z = NormalDist().inv_cdf(0.975)
    student = 1 + (z * z + 1) / (4 * (n / block - 1))
    return sqrt(variance(block)) * kappa * student


@pytest.mark.parametrize(("n", "block"), [(60, 10), (20, 10), (40, 4)])
def test_an_interval_is_as_wide_as_its_definition(n: int, block: int) -> None:
    rng = np.random.default_rng(n)
    values = np.zeros(n)
    for k in range(1, n):
        values[k] = 0.7 * values[k - 1] + rng.normal()
    values[:3] += 6.0  # what lies across the end counts
    values *= 0.01 / n
    (found,) = bootstrap([timeline([0] * n)], values[:, None], Sampling(block, 60_000), share=False)
    width = _plain_width(values.tolist(), block)
    assert found.error == pytest.approx(width, rel=0.015)
    z = NormalDist().inv_cdf(0.975)
    assert found.high - found.low == pytest.approx(2 * z * width, rel=0.06)
    assert found.low - found.value == pytest.approx(-z * width, rel=0.12)


def test_scenarios_of_one_step_scatter_as_scenarios_do() -> None:
    values = np.array([0.9, 0.2, 0.4, 0.8, 0.1, 0.7])
    parts = [timeline([0], name=f"s{k}", family=f"f{k}") for k in range(6)]
    (found,) = bootstrap(parts, values[:, None], Sampling(resamples=60_000))
    z = NormalDist().inv_cdf(0.975)
    student = 1 + (z * z + 1) / (4 * 5)
    assert found.value == pytest.approx(values.mean())
    assert found.error == pytest.approx(values.std(ddof=1) / sqrt(6) * student, rel=0.015)


def test_the_interval_of_a_log_is_students_by_definition() -> None:
    drawn = np.random.default_rng(0).normal(0.3, 0.02, 400)
    for streams in (5, 9, 40):
        spread = Spread(streams, 1 / streams, 1 / streams**2)
        half = student.ppf(0.975, streams - 1) * drawn.std() * np.sqrt(streams / (streams - 1))
        assert interval_95(0.3, drawn, spread) == pytest.approx((0.3 - half, 0.3 + half), rel=1e-9)
        odds, wide = np.log(0.3 / 0.7), half / (0.3 * 0.7)
        ends = [1 / (1 + np.exp(-(odds + sign * wide))) for sign in (-1, 1)]
        assert interval_95(0.3, drawn, spread, share=True) == pytest.approx(ends, rel=1e-9)
    assert interval_95(0.3, drawn, Spread(4, 1 / 4, 1 / 16)) is None
    assert interval_95(1.0, drawn, Spread(9, 1 / 9, 1 / 81), share=True) == (0.025 ** (1 / 9), 1.0)


def test_the_less_sure_of_two_spreads_decides() -> None:
    """Few equal streams against many of which one is most of the time."""
    equal, uneven = Spread.of(np.ones(6)), Spread.of(np.array([400.0, *[1.0] * 99]))
    for found in (equal.narrower(uneven), uneven.narrower(equal)):
        assert (found.streams, found.degrees) == (6, 1)
        assert found.inflation == uneven.inflation > equal.inflation


@pytest.mark.parametrize("rest", [0.0, 1e-11, 1e-6])
def test_one_stream_that_is_all_the_time_has_no_interval(rest: float) -> None:
    """Also where rounding hides the others."""
    spread = Spread.of(np.array([1.0, *[rest] * 5]))
    assert interval_95(0.3, np.random.default_rng(0).normal(0.3, 0.02, 400), spread) is None
    assert student_interval(0.3, (1e-4, spread)) is None


def test_the_seed_that_a_log_prints_is_the_one_that_drew_it() -> None:
    rng = np.random.default_rng(3)
    rows = [
        {"stream": f"c{k}", "published_at": float(t), "answered_at": t + 0.1, "ended_at": 5.0,
         "decision": "x" if rng.random() < 0.3 else "a", "reference": "a"}
        for k in range(12)
        for t in range(5)
    ]  # fmt: skip
    table = pa.Table.from_pylist(rows)
    found = [score_log(table, seed=seed, resamples=100) for seed in (0, 0, 1)]
    drawn = [score.groups[0].at_pace.replicates for score in found]
    assert all(x is not None for x in drawn)
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    assert [score.signature.split(" seed:")[1].split()[0] for score in found] == ["0", "0", "1"]
    assert stream_keys(["call"], 0).tolist() != stream_keys(["call"], 1).tolist()


@pytest.mark.parametrize(
    "bad",
    [
        {"block": 0},
        {"resamples": 1},
        {"level": 1.0},
        {"resamples": 10**9},
        {"resamples": 39},
        {"seed": 2**63},
        {"seed": -1},
    ],
)
def test_settings_that_make_no_sense_are_refused(bad: dict) -> None:
    with pytest.raises(InputError):
        intervals({"x": [timeline([0, 1, 2, 3])]}, sampling=Sampling(**bad))


def test_intervals_cover_the_truth() -> None:
    """The bench with fewer trials: of 40 nominal 95 % intervals at least 35 hold the truth, 37 on average.

    The seed is fixed, so the outcome is too. Intervals of 90 % hold it 33 times at least and 34.9 on
    average, and do not pass.
    """
    coverage = bench("bootstrap")
    found = coverage.coverage(
        (coverage.FAST, coverage.SLOW), same_timelines=False, trials=40, passes=300, resamples=400,
        seed=11,
    )  # fmt: skip
    assert len(found) == 9
    assert min(found.values()) >= 35 / 40, found
    assert sum(found.values()) / len(found) >= 37 / 40, found
