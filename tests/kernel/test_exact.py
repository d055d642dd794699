"""The exact scorer against the plain definition, on recordings nobody would call typical."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from streamdecisionbench.kernel.arrays import (
    JoinedTimelines,
    Timeline,
)
from streamdecisionbench.kernel.classes import CLASSES
from streamdecisionbench.kernel.curves import METRICS
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.shares import (
    TABLE,
    classify_at,
    table_of,
    table_over,
)
from streamdecisionbench.kernel.trajectory import (
    accepted_at,
    critical_scale,
    runs_of,
)
from streamdecisionbench.scoring.score import score_timelines
from tests.kernel import plain
from tests.scoring.drawn import latencies, whole

pytestmark = pytest.mark.slow

EXACT = 1e-12
MANY = settings(max_examples=1500, deadline=None)
SOME = settings(max_examples=300, deadline=None)

_NAMES = (*CLASSES, "segment")
_COLUMNS = [TABLE.index(name) for name in (*CLASSES, "segment_in_force")]


@st.composite
def recordings(draw: DrawFn, most: int = 14) -> Timeline:
    """Two steps and more, jittered or nominal releases, decisions that recur (A-B-A)."""
    n = draw(st.integers(2, most))
    tick = draw(st.sampled_from([2.0, 1.0, 0.5]))
    jitter = [k / 2**24 for k in whole(draw, n, round(0.4 * 2**24))]
    late = draw(st.sampled_from((0, 1))) * tick
    release = [i * tick + round(j * late, 6) for i, j in enumerate(jitter)]
    reference = whole(draw, n, 2)
    answers = whole(draw, n, 4)
    obey = whole(draw, n, 1)
    predicted = [y if ok else p for y, p, ok in zip(reference, answers, obey, strict=True)]
    return Timeline(
        "x",
        "f",
        tick,
        np.array(release),
        np.array(latencies(draw, n, 12, (50, 5000), 6)),
        np.array(reference),
        np.array(predicted),
    )


intervals = st.one_of(
    st.sampled_from([0.1, 0.5, 1.0, 2.0, 4.0, 8.0]), st.floats(0.1, 16.0).map(lambda x: round(x, 4))
)
bounds = st.sampled_from([(0.5, 8.0), (1.0, 4.0), (0.1, 8.0), (0.3, 0.31), (2.0, 100.0)])


def _flat(timeline: Timeline) -> JoinedTimelines:
    """With a neighbour on either side, so that nothing may leak between scenarios."""
    other = Timeline(
        "o",
        "f",
        3.0,
        np.array([0.0, 3.0]),
        np.array([1.0, 9.0]),
        np.array([0, 1]),
        np.array([1, 1]),
    )
    return JoinedTimelines([other, timeline, other])


def _at(timeline: Timeline, interval: float) -> dict[str, float]:
    flat = _flat(timeline)
    row = table_of(flat, classify_at(flat, interval))[1, _COLUMNS]
    return dict(zip(_NAMES, row.tolist(), strict=True))


def _over(timeline: Timeline, limits: Bounds) -> dict[str, float]:
    row = table_over(_flat(timeline), limits)[1, _COLUMNS]
    return dict(zip(_NAMES, row.tolist(), strict=True))


@MANY
@given(recordings(), intervals)
def test_exact_equals_plain_at_any_interval(timeline: Timeline, interval: float) -> None:
    assert _at(timeline, interval) == pytest.approx(plain.shares(timeline, interval), abs=EXACT)


@MANY
@given(recordings(most=9), bounds, st.sampled_from(["log", "linear"]))
def test_exact_equals_plain_integrated(
    timeline: Timeline, limits: tuple[float, float], weighting: str
) -> None:
    want = plain.integral(timeline, *limits, weighting)
    assert _over(timeline, Bounds(*limits, weighting)) == pytest.approx(want, abs=EXACT)


@MANY
@given(recordings(most=40), intervals, bounds)
def test_partition_and_identity(
    timeline: Timeline, interval: float, limits: tuple[float, float]
) -> None:
    score = score_timelines([timeline], interval=interval, bounds=Bounds(*limits))
    for shares in (score.overall.at_interval, score.overall.integrated):
        assert sum(shares.classes().values()) == pytest.approx(1.0, abs=EXACT)
        assert all(-EXACT <= v <= 1 + EXACT for v in shares.classes().values())
        u_current = shares.u_current if shares.u_current is not None else 0.0
        rebuilt = shares.oracle * u_current + shares.outdated_correct
        assert rebuilt == pytest.approx(shares.in_force, abs=EXACT)


@SOME
@given(recordings(most=30), intervals)
def test_zero_latency_gives_untimed_accuracy(timeline: Timeline, interval: float) -> None:
    n = timeline.n
    nominal = np.arange(n) * timeline.tick
    still = Timeline(
        "x", "f", timeline.tick, nominal, np.zeros(n), timeline.reference, timeline.predicted
    )
    score = score_timelines([still], interval=interval)
    assert score.in_force == pytest.approx(score.untimed, abs=EXACT)
    assert score.oracle == pytest.approx(1.0, abs=EXACT)
    assert score.log_auc == pytest.approx(score.untimed, abs=EXACT)


@SOME
@given(recordings(most=30), st.sampled_from([0.25, 0.5, 2.0, 1024.0]), intervals)
def test_scaling_all_times_changes_nothing(
    timeline: Timeline, factor: float, interval: float
) -> None:
    scaled = Timeline(
        "x", "f", timeline.tick * factor, timeline.release * factor, timeline.latency * factor,
        timeline.reference, timeline.predicted,
    )  # fmt: skip
    one = score_timelines([timeline], interval=interval).overall
    two = score_timelines(
        [scaled], interval=interval * factor, bounds=Bounds(0.5 * factor, 8.0 * factor)
    ).overall
    assert one.at_interval.classes() == pytest.approx(two.at_interval.classes(), abs=EXACT)
    assert one.integrated.classes() == pytest.approx(two.integrated.classes(), abs=EXACT)


@SOME
@given(recordings(most=30), st.sampled_from([0.25, 0.5, 2.0, 4.0]))
def test_an_interval_is_a_latency_scale(timeline: Timeline, factor: float) -> None:
    """Latencies times c at interval Δ equal the same latencies at Δ/c."""
    slower = Timeline(
        "x",
        "f",
        timeline.tick,
        timeline.release,
        timeline.latency * factor,
        timeline.reference,
        timeline.predicted,
    )
    assert _at(slower, 2.0) == pytest.approx(_at(timeline, 2.0 / factor), abs=EXACT)


@SOME
@given(recordings(most=30), intervals)
def test_oracle_is_the_accuracy_of_the_reference_answers(
    timeline: Timeline, interval: float
) -> None:
    perfect = Timeline(
        "x",
        "f",
        timeline.tick,
        timeline.release,
        timeline.latency,
        timeline.reference,
        timeline.reference,
    )
    ours = score_timelines([timeline], interval=interval)
    theirs = score_timelines([perfect], interval=interval)
    assert ours.oracle == pytest.approx(theirs.in_force, abs=EXACT)
    assert ours.overall.integrated.oracle == pytest.approx(theirs.log_auc, abs=EXACT)


@SOME
@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.floats(0.01, 1.9))
def test_closed_form_for_constant_latency(lengths: list[int], latency: float) -> None:
    """O = 1 − K·L / (H − r_0) while L is shorter than every reference segment."""
    reference = np.repeat(np.arange(len(lengths)), lengths)
    n = len(reference)
    timeline = Timeline(
        "x", "f", 2.0, np.arange(n) * 2.0, np.full(n, latency), reference, reference
    )
    expected = 1 - len(lengths) * latency / (2.0 * n)
    assert score_timelines([timeline]).oracle == pytest.approx(expected, abs=EXACT)


@SOME
@given(recordings(most=30), intervals)
def test_acceptance_by_closed_form_and_by_arrival(timeline: Timeline, interval: float) -> None:
    flat = JoinedTimelines([timeline])
    c = timeline.tick / interval
    u = flat.r + c * flat.L
    taken = plain.accept([float(x) for x in u], timeline.horizon)
    assert sorted(taken) == np.flatnonzero(accepted_at(flat, u)).tolist()
    limit = critical_scale(flat, np.array([c * 2]))
    sure = np.abs(limit - c) > 1e-9 * np.maximum(c, 1)
    by_form = c < limit
    assert np.array_equal(by_form[sure], accepted_at(flat, u)[sure])


@SOME
@given(recordings(most=40), bounds)
def test_runs_are_few_and_cover_every_scale(
    timeline: Timeline, limits: tuple[float, float]
) -> None:
    flat = JoinedTimelines([timeline])
    low, high = np.array([timeline.tick / limits[1]]), np.array([timeline.tick / limits[0]])
    runs = runs_of(flat, critical_scale(flat, high), low, high)
    assert len(runs.low) <= 2 * timeline.n + 1
    for c in np.linspace(low[0], high[0], 7)[1:-1]:
        if np.min(np.abs(np.concatenate((runs.low, runs.high)) - c)) < 1e-9:
            continue
        here = (runs.low <= c) & (c < runs.high)
        chain = dict(zip(runs.source[here], runs.until[here], strict=True))
        node, steps = -1, 0
        while (node := int(chain[node])) != -1:
            steps += 1
        assert steps == int(accepted_at(flat, flat.r + c * flat.L).sum())


@SOME
@given(recordings(most=20), st.lists(intervals, min_size=1, max_size=5))
def test_curve_coefficients_are_the_curve(timeline: Timeline, points: list[float]) -> None:
    score = score_timelines([timeline], bounds=Bounds(0.1, 16.0))
    drawn = score.curve(metrics=tuple(METRICS), bounds=Bounds(0.1, 16.0))
    for interval in points:
        want = plain.shares(timeline, interval)
        for name in CLASSES:
            assert float(drawn[name](interval)) == pytest.approx(want[name], abs=1e-11)
        assert float(drawn["in_force"](interval)) == pytest.approx(
            want["current_correct"] + want["outdated_correct"], abs=1e-11
        )
        assert float(drawn["segment_in_force"](interval)) == pytest.approx(
            want["segment"], abs=1e-11
        )


def test_macro_is_a_mean_of_families_not_of_scenarios() -> None:
    def constant(name: str, family: str, right: int) -> Timeline:
        n = 4
        return Timeline(
            name,
            family,
            2.0,
            np.arange(n) * 2.0,
            np.zeros(n),
            np.zeros(n, int),
            np.array([0] * right + [1] * (n - right)),
        )

    score = score_timelines(
        [constant("a1", "a", 4), constant("a2", "a", 2), constant("b1", "b", 0)]
    )
    assert score.by_family["a"].untimed == pytest.approx(0.75)
    assert score.untimed == pytest.approx(0.375)
    assert score.log_auc == pytest.approx(0.375)
    # U_cur divides macro shares; it is not the mean of the scenarios' ratios.
    assert score.overall.u_current == pytest.approx(
        score.overall.at_interval.current_correct / score.oracle
    )


def test_trapezoids_converge_to_the_exact_value() -> None:
    rng = np.random.default_rng(7)
    n = 20
    timeline = Timeline(
        "x",
        "f",
        2.0,
        np.arange(n) * 2.0,
        rng.exponential(2.0, n),
        np.arange(n) // 3,
        np.arange(n) // 3,
    )
    published = plain.nested_trapezoids(lambda d: [plain.accuracy(timeline, d)], 0.5, 8.0)
    assert score_timelines([timeline]).log_auc == pytest.approx(published[0], abs=2e-5)
