"""Spells, ages, delays and changes against plain walks, and the laws that tie them to the score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamdecisionbench.kernel.arrays import (
    JoinedTimelines,
    Timeline,
)
from streamdecisionbench.kernel.paces import (
    AtPace,
    Bounds,
    OverPaces,
    PaceWeights,
)
from streamdecisionbench.kernel.pair_trajectory import (
    pair_trajectory,
    pair_trajectory_over,
)
from streamdecisionbench.kernel.trajectory import (
    Trajectory,
    trajectory_at,
    trajectory_between,
)
from streamdecisionbench.scoring.change_delays import survival
from streamdecisionbench.scoring.error_costs import Figures
from streamdecisionbench.scoring.error_episodes import Spells
from streamdecisionbench.scoring.score import score_timelines
from tests.kernel.test_exact import bounds, intervals, recordings
from tests.kernel.test_streams import streams, timeline_of
from tests.scoring.costs import plain_costs
from tests.scoring.test_pairs import duos

pytestmark = pytest.mark.slow

EXACT, INTEGRATED = 1e-12, 1e-9
MANY = settings(max_examples=100, deadline=None)
SOME = settings(max_examples=80, deadline=None)
FEW = settings(max_examples=40, deadline=None)

thetas = st.sampled_from([0.0, 0.5, 2.0, 3.7])
rules = st.sampled_from(("freshest", "lag_one", "late_override"))
weightings = st.sampled_from(("log", "linear"))


def _sweep(parts: list[Timeline], limits: tuple[float, float]) -> Trajectory:
    flat = JoinedTimelines(parts)
    return trajectory_between(flat, flat.tick / limits[1], flat.tick / limits[0])


def _figures(found: Trajectory, measure: PaceWeights, theta: float, k: int) -> dict[str, float]:
    figures = Figures(found, measure)
    numbers = {**figures.spell_numbers, **figures.change_numbers}
    shares, changes = figures.spell_shares(theta), numbers["changes"][k]
    return {
        "mean_age": float(shares["mean_age_s"][k]),
        "beyond": float(shares["beyond_share"][k]),
        "count": float(numbers["count"][k]),
        "long": float(shares["long_share"][k]),
        "wrong": float(shares["wrong_share"][k]),
        "never": float(numbers["never_right"][k]),
        "waited": float(numbers["waited_s"][k] / changes) if changes else 0.0,
        "needed": float(numbers["needed"][k]),
        "useless": float(numbers["useless"][k]),
        "reversed": float(numbers["reversed_in_a_tick"][k]),
    }


def _at(path: Trajectory, theta: float, k: int = 0) -> dict[str, float]:
    longest = _spells(path).longest[k]
    return {**_figures(path, AtPace(path.scale), theta, k), "longest": float(longest)}


def _over(sweep: Trajectory, theta: float, limits: Bounds, k: int = 0) -> dict[str, float]:
    return _figures(sweep, OverPaces(limits, sweep.references.tick), theta, k)


def _spells(path: Trajectory) -> Spells:
    return Figures(path, AtPace(path.scale)).spells


def _plainly(walker: plain_costs.Walker, theta: float) -> Callable[[float], dict[str, float]]:
    def measure(interval: float) -> dict[str, float]:
        found = walker(interval)
        return {
            **plain_costs.measures(found, theta),
            **plain_costs.waiting(found),
            **plain_costs.edits(found, interval),
        }

    return measure


def _plain_mean(
    walker: plain_costs.Walker,
    parts: list[Timeline],
    theta: float,
    limits: Bounds,
    *,
    nominal: bool,
) -> dict[str, float]:
    tick = parts[0].tick
    crossings = plain_costs.meetings(parts, [theta], nominal)
    found = plain_costs.mean_over(
        _plainly(walker, theta), crossings, tick, limits.low, limits.high, limits.weighting
    )
    found.pop("longest")  # given at one pace only
    return found


def _close(found: dict[str, float], want: dict[str, float], tolerance: float) -> None:
    """Relative where values are large: seconds, unlike shares, may be in the thousands."""
    assert found == pytest.approx(want, abs=tolerance, rel=tolerance)


@MANY
@given(recordings(), intervals, thetas)
def test_a_recording_at_any_interval(timeline: Timeline, interval: float, theta: float) -> None:
    path = trajectory_at(JoinedTimelines([timeline]), interval)
    want = _plainly(lambda x: plain_costs.walk(timeline, x), theta)(interval)
    _close(_at(path, theta), want, EXACT)


@SOME
@given(recordings(), intervals, thetas)
def test_delays_one_by_one_add_up(timeline: Timeline, interval: float, theta: float) -> None:
    path = trajectory_at(JoinedTimelines([timeline]), interval)
    waits = Figures(path, AtPace(path.scale)).waits
    found = waits.delays()
    assert waits.never_right[0] == found.never.sum()
    assert waits.waited[0] == pytest.approx(np.minimum(found.delay, found.limit).sum(), rel=EXACT)


@SOME
@given(st.one_of(recordings(), streams().map(timeline_of)), bounds, thetas, st.floats(0.01, 0.99))
def test_a_pace_is_the_range_with_all_weight_on_it(
    timeline: Timeline, limits: tuple[float, float], theta: float, share: float
) -> None:
    """Away from crossings, where rounding decides."""
    sweep = _sweep([timeline], limits)
    scale = sweep.lowest * (sweep.highest / sweep.lowest) ** share
    found = Figures(sweep, AtPace(scale))
    if np.min(np.abs(np.concatenate((found.cut.low, found.cut.high)) - scale)) < 1e-9:
        return
    want = Figures(sweep.at(scale), AtPace(scale))
    assert found.spells.wrong_share == pytest.approx(want.spells.wrong_share, abs=INTEGRATED)
    assert found.spells.mean_age() == pytest.approx(
        want.spells.mean_age(), abs=INTEGRATED, rel=1e-9
    )


@MANY
@given(duos(), rules, intervals, thetas)
def test_a_pair_at_any_interval(
    pair: tuple[Timeline, Timeline], rule: str, interval: float, theta: float
) -> None:
    path = pair_trajectory([pair[0]], [pair[1]], rule, interval)
    want = _plainly(lambda x: plain_costs.walk_pair(*pair, rule, x), theta)(interval)
    _close(_at(path, theta), want, EXACT)


@FEW
@given(recordings(most=6), bounds, weightings, thetas)
def test_a_recording_over_bounds(
    timeline: Timeline, limits: tuple[float, float], weighting: str, theta: float
) -> None:
    within = Bounds(*limits, weighting)
    found = _over(_sweep([timeline], limits), theta, within)
    want = _plain_mean(
        lambda x: plain_costs.walk(timeline, x), [timeline], theta, within, nominal=False
    )
    _close(found, want, INTEGRATED)


@FEW
@given(duos(most=4), rules, bounds, weightings, thetas)
def test_a_pair_over_bounds(
    pair: tuple[Timeline, Timeline],
    rule: str,
    limits: tuple[float, float],
    weighting: str,
    theta: float,
) -> None:
    within = Bounds(*limits, weighting)
    found = _over(pair_trajectory_over([pair[0]], [pair[1]], rule, within), theta, within)
    want = _plain_mean(
        lambda x: plain_costs.walk_pair(*pair, rule, x), [*pair], theta, within, nominal=True
    )
    _close(found, want, INTEGRATED)


@MANY
@given(streams().map(timeline_of), intervals, thetas)
def test_a_logged_stream_at_any_interval(timeline: Timeline, interval: float, theta: float) -> None:
    """Irregular times, lost answers, references that nobody knows: none is charged."""
    path = trajectory_at(JoinedTimelines([timeline]), interval)
    want = _plainly(lambda x: plain_costs.walk(timeline, x), theta)(interval)
    _close(_at(path, theta), want, EXACT)


@FEW
@given(streams(most=5).map(timeline_of), bounds, weightings, thetas)
def test_a_logged_stream_over_bounds(
    timeline: Timeline, limits: tuple[float, float], weighting: str, theta: float
) -> None:
    within = Bounds(*limits, weighting)
    found = _over(_sweep([timeline], limits), theta, within)
    want = _plain_mean(
        lambda x: plain_costs.walk(timeline, x), [timeline], theta, within, nominal=False
    )
    _close(found, want, INTEGRATED)


@SOME
@given(recordings(most=30), intervals, bounds, weightings)
def test_spells_add_up_to_what_the_score_leaves(
    timeline: Timeline, interval: float, limits: tuple[float, float], weighting: str
) -> None:
    """Σ ℓ / T = 1 − A, and so is the share beyond θ = 0."""
    within = Bounds(*limits, weighting)
    score = score_timelines([timeline], interval=interval, bounds=within)
    found = _spells(trajectory_at(JoinedTimelines([timeline]), interval))
    assert found.length.sum() / found.observed[0] == pytest.approx(1 - score.in_force, abs=EXACT)
    assert found.beyond_share(0.0)[0] == pytest.approx(1 - score.in_force, abs=EXACT)
    sweep = _sweep([timeline], limits)
    moving = Figures(sweep, OverPaces(within, sweep.references.tick)).spells
    assert moving.wrong_share[0] == pytest.approx(1 - score.log_auc, abs=INTEGRATED)


@SOME
@given(recordings(most=20), st.sampled_from([0.25, 3.0, 1024.0]), intervals, thetas)
def test_scaling_all_times_scales_ages(
    timeline: Timeline, factor: float, interval: float, theta: float
) -> None:
    scaled = replace(
        timeline,
        tick=timeline.tick * factor,
        release=timeline.release * factor,
        latency=timeline.latency * factor,
    )
    one = _over(_sweep([timeline], (0.5, 8.0)), theta, Bounds())
    wide = (0.5 * factor, 8.0 * factor)
    two = _over(_sweep([scaled], wide), theta * factor, Bounds(*wide))
    at_one = _at(trajectory_at(JoinedTimelines([timeline]), interval), theta)
    at_two = _at(trajectory_at(JoinedTimelines([scaled]), interval * factor), theta * factor)
    in_seconds = ("mean_age", "longest", "waited")
    for before, after, tolerance in ((one, two, INTEGRATED), (at_one, at_two, EXACT)):
        want = {name: x * (factor if name in in_seconds else 1) for name, x in before.items()}
        _close(after, want, tolerance)


@SOME
@given(recordings(most=12), st.data(), intervals, thetas)
def test_refining_a_segment_changes_nothing(
    timeline: Timeline, data: st.DataObject, interval: float, theta: float
) -> None:
    """A state that repeats the one before it, whose answer never arrives, is no event."""
    k = data.draw(st.integers(0, timeline.n - 1))
    gap = (np.append(timeline.release[1:], timeline.horizon) - timeline.release)[k]
    insert = lambda x, value: np.insert(x, k + 1, value)  # noqa: E731
    finer = Timeline(
        "x",
        "f",
        timeline.tick * timeline.n / (timeline.n + 1),
        insert(timeline.release, timeline.release[k] + 0.5 * gap),
        insert(timeline.latency, 1e7),
        insert(timeline.reference, timeline.reference[k]),
        insert(timeline.predicted, timeline.predicted[k]),
    )
    assert finer.horizon == pytest.approx(timeline.horizon, abs=EXACT)
    shorter = interval * timeline.n / (timeline.n + 1)
    one = _at(trajectory_at(JoinedTimelines([timeline]), interval), theta)
    two = _at(trajectory_at(JoinedTimelines([finer]), shorter), theta)
    one.pop("reversed"), two.pop("reversed")  # within a tick, and the tick is shorter
    _close(two, one, EXACT)


@SOME
@given(st.lists(recordings(most=10), min_size=2, max_size=4), thetas)
def test_scenarios_do_not_leak_into_each_other(parts: list[Timeline], theta: float) -> None:
    together = _sweep(parts, (0.5, 8.0))
    path = trajectory_at(JoinedTimelines(parts), 2.0)
    for k, part in enumerate(parts):
        alone = _over(_sweep([part], (0.5, 8.0)), theta, Bounds())
        _close(_over(together, theta, Bounds(), k), alone, EXACT)
        _close(_at(path, theta, k), _at(trajectory_at(JoinedTimelines([part]), 2.0), theta), EXACT)


@SOME
@given(st.floats(0.0, 1.9), intervals)
def test_one_spell_of_length_l_has_a_linear_age_of_half_its_square(
    late: float, interval: float
) -> None:
    """Nothing until the second state, then wrong until the third one's answer comes."""
    timeline = Timeline(
        "x", "f", 2.0, np.arange(5) * 2.0, np.array([1e6, 0.0, late, 0.0, 0.0]),
        np.zeros(5, int), np.array([0, 1, 0, 0, 0]),
    )  # fmt: skip
    found = _spells(trajectory_at(JoinedTimelines([timeline]), interval))
    length = 2 * interval + min(late, interval)
    assert found.length.tolist() == pytest.approx([length], rel=EXACT)
    assert found.mean_age()[0] * found.observed[0] == pytest.approx(length**2 / 2, rel=EXACT)


def test_kaplan_and_meier_by_hand() -> None:
    """Delays 1, 2+, 3, 3, 5+ (a plus: never right in that time)."""
    found = survival(
        np.array([1.0, 2.0, 3.0, 3.0, 5.0]), np.array([True, False, True, True, False])
    )
    assert found.time.tolist() == [1.0, 3.0]
    assert found.share.tolist() == pytest.approx([4 / 5, 4 / 5 * 1 / 3])
    assert found.quantile(0.5) == 3.0
    assert found.quantile(0.95) is None


@SOME
@given(st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_without_censoring_the_median_is_the_ordinary_one(values: list[int]) -> None:
    found = survival(np.array(values, dtype=float), np.ones(len(values), dtype=bool))
    assert found.quantile(0.5) == pytest.approx(float(np.median(values)))
