"""One trajectory, one result: a recording is the empty policy, a pair is its cascade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.kernel.curves import METRICS, PAIR_METRICS
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.shares import Shares
from streamdecisionbench.policies.policy_file import Cascade, Policy
from streamdecisionbench.scoring.pairs import compose
from streamdecisionbench.scoring.policy_answers import Answers
from streamdecisionbench.scoring.policy_score import score_policy
from streamdecisionbench.scoring.result import Result
from streamdecisionbench.scoring.score import score_timelines
from tests.scoring.drawn import any_of, whole
from tests.scoring.test_pairs import duos, intervals, limits, rules

EXACT = 1e-12
MANY = settings(max_examples=100, deadline=None)


@st.composite
def suites(draw: DrawFn) -> tuple[list[Timeline], list[Timeline]]:
    """A fast and a slow component on one to three scenarios of two families."""
    found = [draw(duos()) for _ in range(draw(st.integers(1, 3)))]
    families = any_of(draw, len(found), ("one", "other"))
    named = [
        [replace(part, episode_id=f"scenario {k}", family=families[k]) for part in duo]
        for k, duo in enumerate(found)
    ]
    return [fast for fast, _ in named], [slow for _, slow in named]


@st.composite
def recorded(draw: DrawFn) -> list[Timeline]:
    """Components whose states were published at irregular times."""
    parts = draw(suites())[draw(st.integers(0, 1))]
    found = []
    for part in parts:
        late = np.array(whole(draw, part.n, 99)) / 1000
        late[0] = 0.0
        release = part.nominal(part.tick)
        gap = np.diff(np.append(release, part.horizon)).min()
        found.append(replace(part, release=release + late * gap * 9))
    return found


def same(one: Result, other: Result, metrics: Sequence[str], bounds: Bounds) -> None:
    assert [row[:2] for row in one.rows()] == [row[:2] for row in other.rows()]
    for _, name, level in one.rows():
        theirs = other.at(name)
        same_shares(level.at_interval, theirs.at_interval)
        same_shares(level.integrated, theirs.integrated)
        figures = (level.in_force, level.log_auc, level.oracle, level.oracle_integrated)
        others = (theirs.in_force, theirs.log_auc, theirs.oracle, theirs.oracle_integrated)
        assert figures == pytest.approx(others, abs=EXACT)
        curves = (x.curve(name, tuple(metrics)) for x in (one, other))
        for mine, theirs_ in zip(*(c.values() for c in curves), strict=True):
            # At a jump both are right. Rounding may place it elsewhere, so compare between jumps.
            edges = np.union1d(mine.intervals, theirs_.intervals)
            wide = np.diff(edges) > 1e-9 * edges[1:]
            middle = ((edges[1:] + edges[:-1]) / 2)[wide]
            for at in middle.tolist():
                assert float(mine(at)) == pytest.approx(float(theirs_(at)), abs=EXACT)
    assert one.counts.taken == other.counts.taken
    assert one.in_force_at(bounds.low) == pytest.approx(other.in_force_at(bounds.low), abs=EXACT)


def same_shares(one: Shares, other: Shares) -> None:
    assert one.classes() == pytest.approx(other.classes(), abs=EXACT)
    for name in ("segment_in_force", "in_force", "oracle", "later_component", "product"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=EXACT), name
    assert one.fixed_pace == other.fixed_pace


@MANY
@given(recorded(), intervals, limits)
def test_a_recording_is_the_empty_policy(
    parts: list[Timeline], interval: float, bounds: Bounds
) -> None:
    single = score_timelines(parts, name="one", interval=interval, bounds=bounds)
    empty = score_policy(Policy(), [Answers("one", parts)], interval=interval, bounds=bounds)
    assert single.policy == empty.policy
    assert single.members == empty.members
    same(single, empty, tuple(METRICS), bounds)


@MANY
@given(suites(), rules, intervals, limits)
def test_a_pair_is_its_cascade(
    both: tuple[list[Timeline], list[Timeline]], rule: str, interval: float, bounds: Bounds
) -> None:
    names = ("fast", "slow")
    pair = compose(*both, rule, interval, bounds, names=names)
    policy = Policy(cascade=Cascade(names, rule=rule))
    cascade = score_policy(
        policy,
        [Answers(name, parts) for name, parts in zip(names, both, strict=True)],
        interval=interval,
        bounds=bounds,
    )
    assert (pair.rule, pair.members) == (cascade.rule, cascade.members)
    assert pair.policy.cascade == policy.cascade
    same(pair, cascade, tuple(PAIR_METRICS), bounds)


@MANY
@given(suites(), rules)
def test_a_closed_loop_holds_for_one_pace_whatever_decided(
    both: tuple[list[Timeline], list[Timeline]], rule: str
) -> None:
    """In a closed loop all kinds hold for the recorded pace and refuse others."""
    tick = both[0][0].tick
    fast, slow = (
        [replace(p, fixed_pace=True, tick=tick) for p in parts if p.tick == tick] for parts in both
    )
    names = ("fast", "slow")
    answers = [Answers(name, parts) for name, parts in zip(names, (fast, slow), strict=True)]
    for found in (
        score_timelines(fast, interval=tick),
        compose(fast, slow, rule, tick, names=names),
        score_policy(Policy(cascade=Cascade(names, rule=rule)), answers, interval=tick),
    ):
        assert found.fixed_pace
        assert np.isnan(found.log_auc)
        assert found.overall.integrated.classes() == pytest.approx(
            found.overall.at_interval.classes(), abs=EXACT
        )
        path = found.trajectory(tick)
        assert path.fixed_pace
        assert found.trajectory(found.bounds).fixed_pace
        with pytest.raises(InputError, match="another session"):
            found.curve()
