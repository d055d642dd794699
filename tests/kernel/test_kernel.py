"""The kernel against its fast paths: shares of a sweep under a measure, whoever left the sweep.

What the kernel gives is held to the plain definitions elsewhere (`test_exact`, `test_streams`,
`test_pairs`, `policies/test_replay`); here the ways around it are held to the kernel.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from streamdecisionbench.kernel.arrays import (
    Floats,
    JoinedTimelines,
    Timeline,
    by_scenario,
)
from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    CORRECT,
)
from streamdecisionbench.kernel.overlaps import stretches_of
from streamdecisionbench.kernel.paces import (
    AtPace,
    Bounds,
    OverPaces,
)
from streamdecisionbench.kernel.pair_trajectory import (
    PairNodes,
    pair_members,
    pair_table,
    pair_trajectories,
    path_at,
)
from streamdecisionbench.kernel.shares import (
    LATER,
    classify_at,
    classify_time,
    shares_by_step_at,
    shares_over,
    table_of,
)
from streamdecisionbench.kernel.trajectory import (
    Trajectory,
    activations_of,
    by_step,
    trajectory_between,
    trajectory_from,
)
from streamdecisionbench.scoring.policy_replay import PolicyReplay, correct_share
from tests.kernel.plain_streams import Stream
from tests.kernel.test_exact import bounds, intervals, recordings
from tests.kernel.test_streams import joined_timelines, streams
from tests.scoring.policies import kit
from tests.scoring.policies.kit import Case
from tests.scoring.test_pairs import duos

EXACT = 1e-12
SOME = settings(max_examples=80, deadline=None)
RULES = ("freshest", "lag_one", "late_override")


def at(sweep: Trajectory, scale: Floats) -> Floats:
    return shares_over(sweep, [AtPace(scale)])[0]


def swept(flat: JoinedTimelines, scale: Floats) -> Trajectory:
    return trajectory_between(flat, scale * 0.7, scale * 1.4)


def near_a_jump(sweep: Trajectory, scale: Floats) -> bool:
    ends = np.concatenate((sweep.low / scale[sweep.scenario], sweep.high / scale[sweep.scenario]))
    return bool(np.min(np.abs(ends - 1.0)) < 1e-9)


@SOME
@given(st.lists(recordings(most=20), min_size=1, max_size=3), intervals)
def test_one_pace_is_the_kernel_with_all_weight_on_it(
    parts: list[Timeline], interval: float
) -> None:
    flat = JoinedTimelines(parts)
    scale = flat.tick / interval
    want = at(swept(flat, scale), scale)
    assert table_of(flat, classify_at(flat, interval)) == pytest.approx(want, abs=EXACT)
    by_steps = shares_by_step_at(flat, interval)
    right = want[:, CORRECT].sum(axis=1)
    assert by_scenario(flat.scenario, by_steps, flat.count) == pytest.approx(right, abs=EXACT)


A_MILLISECOND = Stream([0.0, 64.0], [None, 0.001], [None, "a"], [None, "a"], 64.001)


@SOME
@example([A_MILLISECOND])
@given(st.lists(streams(), min_size=1, max_size=3))
def test_logs_at_the_recorded_pace_with_unknown_references(found: list[Stream]) -> None:
    flat = joined_timelines(found)
    ones = np.ones(flat.count)
    want = at(swept(flat, ones), ones)
    # A time is known to its last bit, and a short segment makes much of that bit.
    near = EXACT + float(np.spacing(flat.H).max() * flat.segment_weight.max())
    assert table_of(flat, classify_at(flat, None)) == pytest.approx(want, abs=near)
    fast = table_of(flat, classify_at(flat, None), segments=False)
    names = range(len(ALL_CLASSES))
    assert fast[:, names] == pytest.approx(want[:, names], abs=EXACT)


@SOME
@given(recordings(most=20), st.integers(0, 2**32))
def test_physical_arrivals_are_a_sweep_that_stands_still(timeline: Timeline, seed: int) -> None:
    flat = JoinedTimelines([timeline])
    rng = np.random.default_rng(seed)
    arrivals = flat.r + rng.choice([0.0, 0.5, 2.0, 7.0], len(flat.r)) * rng.random(len(flat.r))
    scale, effects = np.full(1, 3.0), activations_of(flat, arrivals)
    still = trajectory_from(flat, effects, scale)
    found = table_of(flat, classify_time(flat, effects))
    assert found == pytest.approx(at(still, scale), abs=EXACT)


@SOME
@given(duos(most=12), st.sampled_from(RULES), st.floats(0.6, 7.0))
def test_a_pair_at_one_pace(duo: tuple[Timeline, Timeline], rule: str, interval: float) -> None:
    pair = PairNodes(*pair_members([[one] for one in duo], ("fast", "slow"), 0.5))
    sweep, scale = pair_trajectories(pair, Bounds(), (rule,))[rule], pair.flat.tick / interval
    assume(not near_a_jump(sweep, scale))
    found = pair_table(pair, path_at(pair, scale, rule))
    assert found == pytest.approx(at(sweep, scale), abs=EXACT)


@SOME
@given(kit.loose(), st.floats(0.6, 7.0))
def test_a_policy_at_one_pace(case: Case, interval: float) -> None:
    played = PolicyReplay(case.policy, case.answers, case.setting)
    sweep, scale = played.sweep(Bounds()), played.flat.tick / interval
    assume(not near_a_jump(sweep, scale))
    want = at(sweep, scale)
    assert played.table(interval)[:, :LATER] == pytest.approx(want[:, :LATER], abs=EXACT)
    if case.fallback is None:
        (arrays,) = played.groups
        share, _ = correct_share(arrays, arrays.rows(interval))
        assert share == pytest.approx(want[:, CORRECT].sum(axis=1), abs=EXACT)


@SOME
@given(recordings(most=15), bounds, st.sampled_from(["log", "linear"]))
def test_cutting_at_steps_or_in_ranges_changes_no_share(
    timeline: Timeline, limits: tuple[float, float], weighting: str
) -> None:
    """A finer cut adds up to the same, and a whole is the mean of its parts."""
    flat = JoinedTimelines([timeline])
    low, high = limits
    over = OverPaces(Bounds(low, high, weighting), flat.tick)
    sweep = trajectory_between(flat, over.lowest, over.highest)
    middle = low * (high / low) ** 0.4
    parts = [
        OverPaces(Bounds(a, b, weighting), flat.tick) for a, b in ((low, middle), (middle, high))
    ]
    whole, lower, upper = shares_over(sweep, [over, *parts])
    share = np.log(middle / low) / np.log(high / low)
    if weighting == "linear":
        share = (middle - low) / (high - low)
    assert share * lower + (1 - share) * upper == pytest.approx(whole, abs=EXACT)
    steps = stretches_of(sweep, by_step(sweep.references))
    right = steps.right
    seconds = float(steps.time(over)[right].sum()) / float(sweep.references.observed[0])
    assert seconds == pytest.approx(float(whole[0, CORRECT].sum()), abs=EXACT)
