"""The trajectory: the same pieces however they are come by, and a sweep is a trajectory at every c."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamdecisionbench.kernel.arrays import (
    NOTHING,
    JoinedTimelines,
    Timeline,
)
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.pair_trajectory import (
    pair_trajectory,
    pair_trajectory_over,
)
from streamdecisionbench.kernel.trajectory import (
    Trajectory,
    trajectory_at,
    trajectory_between,
)
from tests.kernel import plain
from tests.kernel.test_exact import SOME, bounds, intervals, recordings
from tests.scoring import plain_pairs
from tests.scoring.test_pairs import duos

pytestmark = pytest.mark.slow

RULES = ("freshest", "lag_one", "late_override")


def _pieces(found: Trajectory) -> list[tuple[float, float, int, int]]:
    columns = (found.begin, found.end, found.decision, found.source)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _covers(found: Trajectory) -> None:
    """Whole, in order, nothing empty."""
    where = found.references
    for scenario in range(where.count):
        mine = found.scenario == scenario
        begin, end = found.begin[mine], found.end[mine]
        assert begin[0] == where.start[scenario]
        assert end[-1] == where.horizon[scenario]
        assert np.array_equal(end[:-1], begin[1:])
        assert np.all(begin < end)


@SOME
@given(recordings(most=30), intervals)
def test_a_trajectory_is_what_acceptance_by_arrival_puts_in_force(
    timeline: Timeline, interval: float
) -> None:
    found = trajectory_at(JoinedTimelines([timeline]), interval)
    _covers(found)
    c = timeline.tick / interval
    arrivals = [float(x) for x in timeline.release + c * timeline.latency]
    taken = plain.accept(arrivals, timeline.horizon)
    want = [(float(timeline.release[0]), NOTHING, NOTHING)]
    want += [(arrivals[i], int(timeline.predicted[i]), i) for i in taken]
    want = [piece for piece, after in zip(want, [*want[1:], None], strict=True)
            if after is None or piece[0] < after[0]]  # fmt: skip
    assert [(b, d, s) for b, _, d, s in _pieces(found)] == want


def _check_sweep(sweep: Trajectory, at: list[Trajectory], scales: list[np.ndarray]) -> None:
    for want, c in zip(at, scales, strict=True):
        ends = np.concatenate((sweep.low, sweep.high))
        if np.min(np.abs(ends - c[np.concatenate((sweep.scenario, sweep.scenario))])) < 1e-9:
            continue
        found = sweep.at(c)
        _covers(found)
        assert np.array_equal(found.decision, want.decision)
        assert np.array_equal(found.source, want.source)
        assert found.begin == pytest.approx(want.begin, abs=1e-9)


@SOME
@given(st.lists(recordings(most=20), min_size=1, max_size=3), bounds)
def test_a_sweep_is_the_trajectory_at_every_scale(
    parts: list[Timeline], limits: tuple[float, float]
) -> None:
    flat = JoinedTimelines(parts)
    sweep = trajectory_between(flat, flat.tick / limits[1], flat.tick / limits[0])
    points = np.geomspace(*limits, 6)[1:-1].tolist()
    _check_sweep(sweep, [trajectory_at(flat, x) for x in points], [flat.tick / x for x in points])


@SOME
@given(duos(most=12), st.sampled_from(RULES), bounds)
def test_a_pair_s_sweep_is_its_trajectory_at_every_scale(
    pair: tuple[Timeline, Timeline], rule: str, limits: tuple[float, float]
) -> None:
    fast, slow = pair
    sweep = pair_trajectory_over([fast], [slow], rule, Bounds(*limits))
    points = np.geomspace(*limits, 6)[1:-1].tolist()
    ticks = sweep.references.tick
    want = [pair_trajectory([fast], [slow], rule, x) for x in points]
    _check_sweep(sweep, want, [ticks / x for x in points])


@SOME
@given(duos(most=12), st.sampled_from(RULES), intervals)
def test_a_pair_s_trajectory_is_what_arbitration_let_in(
    pair: tuple[Timeline, Timeline], rule: str, interval: float
) -> None:
    fast, slow = pair
    found = pair_trajectory([fast], [slow], rule, interval)
    _covers(found)
    c = fast.tick / interval
    arrivals = [plain_pairs.arrivals(part, c, fast.tick) for part in pair]
    walk = plain_pairs.arbitrate(*arrivals, fast.horizon, rule)
    want = [(0.0, NOTHING, NOTHING)]
    want += [
        (t.time, int((slow if t.slow else fast).predicted[t.source]), t.source) for t in walk.taken
    ]
    want = [piece for piece, after in zip(want, [*want[1:], None], strict=True)
            if after is None or piece[0] < after[0]]  # fmt: skip
    assert [(b, d, s) for b, _, d, s in _pieces(found)] == want
