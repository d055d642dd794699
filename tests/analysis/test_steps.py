"""Contributions of steps add up to the score, exactly, and each is what its definition says."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from streamdecisionbench.kernel.arrays import (
    JoinedTimelines,
    Timeline,
)
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.shares import (
    shares_by_step_at,
    shares_by_step_over,
)
from streamdecisionbench.scoring.score import score_timelines
from tests.kernel import plain
from tests.kernel.test_exact import bounds, intervals, recordings

MANY = settings(max_examples=400, deadline=None)


@MANY
@given(recordings(most=30), bounds)
def test_integrated_contributions_sum_to_the_score(
    timeline: Timeline, limits: tuple[float, float]
) -> None:
    for weighting in ("log", "linear"):
        over = Bounds(*limits, weighting)
        by_step = shares_by_step_over(JoinedTimelines([timeline]), over)
        assert by_step.sum() == pytest.approx(
            score_timelines([timeline], bounds=over).log_auc, abs=1e-12
        )
        assert by_step.min() >= -1e-12


@MANY
@given(recordings(most=20), intervals)
def test_contributions_at_an_interval_are_the_definition(
    timeline: Timeline, interval: float
) -> None:
    by_step = shares_by_step_at(JoinedTimelines([timeline]), interval)
    c = timeline.tick / interval
    arrivals = [float(u) for u in timeline.release + c * timeline.latency]
    taken = plain.accept(arrivals, timeline.horizon)
    edges = [*map(float, timeline.release), timeline.horizon]
    observed = timeline.horizon - edges[0]
    for g in range(timeline.n):
        right = 0.0
        cuts = sorted(
            {edges[g], edges[g + 1], *(u for u in arrivals if edges[g] < u < edges[g + 1])}
        )
        for begin, end in pairwise(cuts):
            inforce = [i for i in taken if arrivals[i] <= begin]
            if inforce and timeline.predicted[inforce[-1]] == timeline.reference[g]:
                right += end - begin
        assert by_step[g] == pytest.approx(right / observed, abs=1e-12)


def test_scenarios_do_not_leak_into_each_other() -> None:
    rng = np.random.default_rng(2)
    parts = [
        Timeline(
            f"s{k}", "f", tick, np.arange(n) * tick, rng.exponential(3.0, n), rng.integers(0, 3, n),
            rng.integers(0, 3, n),
        )
        for k, (n, tick) in enumerate([(7, 2.0), (30, 1.0), (12, 3.0)])
    ]  # fmt: skip
    together = shares_by_step_over(JoinedTimelines(parts), Bounds())
    alone = np.concatenate([shares_by_step_over(JoinedTimelines([p]), Bounds()) for p in parts])
    np.testing.assert_allclose(together, alone, atol=1e-12)
