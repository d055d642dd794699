"""Laws of composition, and the exact scorer of pairs against the plain definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.kernel.classes import CLASSES
from streamdecisionbench.kernel.curves import PAIR_METRICS
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.rule import (
    FAST,
    SLOW,
    PairRule,
)
from streamdecisionbench.kernel.shares import Shares
from streamdecisionbench.scoring.pairs import compose
from streamdecisionbench.scoring.result import Result
from streamdecisionbench.scoring.score import score_timelines
from tests.scoring import plain_pairs
from tests.scoring.drawn import any_of, latencies, whole

pytestmark = pytest.mark.slow

EXACT = 1e-12
MANY = settings(max_examples=100, deadline=None)
SOME = settings(max_examples=100, deadline=None)
RULES = plain_pairs.RULES

rules = st.sampled_from(RULES)
intervals = st.one_of(
    st.sampled_from([0.5, 1.0, 2.0, 4.0, 8.0]), st.floats(0.05, 20).map(lambda x: round(x, 4))
)
limits = st.builds(
    lambda low, factor, weighting: Bounds(low, low * factor, weighting),
    st.sampled_from([0.1, 0.5, 0.7, 1.0, 3.0]),
    st.sampled_from([1.5, 2.0, 16.0]),
    st.sampled_from(["log", "linear"]),
)


@st.composite
def rhythms(draw: DrawFn, n: int) -> np.ndarray | None:
    """Every tick, or at times of their own, as logged sessions have them."""
    if draw(st.booleans()):
        return None
    round_, odd = any_of(draw, n, (0.25, 0.5, 1.0, 1.5, 4.0)), whole(draw, n, 2**31)
    gaps = [g if k % 2 else 0.01 + 4.99 * k / 2**31 for g, k in zip(round_, odd, strict=True)]
    edges = np.cumsum([0.0, *gaps])
    return edges[:-1] * (n / edges[-1])


@st.composite
def duos(draw: DrawFn, most: int = 9) -> tuple[Timeline, Timeline]:
    """A fast and a slow component on one scenario; decisions recur and answers may be anything."""
    n = draw(st.integers(1, most))
    tick = draw(st.sampled_from([2.0, 1.0, 0.5]))
    reference = np.array(whole(draw, n, 2))
    rhythm = draw(rhythms(n))

    def component() -> Timeline:
        answers = whole(draw, n, 4)
        right = whole(draw, n, 1)
        took = latencies(draw, n, 9, (30, 3000), 3)
        made = timeline(took, reference, np.where(right, reference, answers), tick)
        return made if rhythm is None else replace(made, rhythm=rhythm, release=rhythm * tick)

    return component(), component()


def timeline(
    latency: list[float],
    reference: np.ndarray | list[int],
    predicted: np.ndarray | list[int],
    tick: float = 2.0,
    name: str = "x",
    family: str = "f",
) -> Timeline:
    return Timeline(
        name,
        family,
        tick,
        np.arange(len(latency)) * tick,
        np.array(latency, dtype=float),
        np.array(reference, dtype=np.int64),
        np.array(predicted, dtype=np.int64),
    )


def pair(
    duo: tuple[Timeline, Timeline],
    rule: str,
    interval: float = 2.0,
    bounds: Bounds | None = None,
) -> Result:
    return compose([duo[0]], [duo[1]], rule, interval, bounds or Bounds())


def difference(shares: Shares, other: Shares) -> float:
    names = (*CLASSES, "segment_in_force")
    return max(abs(getattr(shares, name) - getattr(other, name)) for name in names)


@MANY
@given(duos(14), rules, intervals)
def test_at_an_interval_exact_equals_plain(
    duo: tuple[Timeline, Timeline], rule: str, interval: float
) -> None:
    found = pair(duo, rule, interval)
    judge = plain_pairs.shares(*duo, interval, rule)
    for name in CLASSES:
        assert getattr(found.overall.at_interval, name) == pytest.approx(judge[name], abs=EXACT)
    assert found.overall.at_interval.segment_in_force == pytest.approx(judge["segment"], abs=EXACT)
    assert found.slow_share == pytest.approx(judge["slow"], abs=EXACT)


@MANY
@given(duos(), rules, limits)
@example((timeline([6, 4, 2, 0], [0, 1, 0, 1], [0, 1, 0, 1]),) * 2, "late_override", Bounds())
def test_integrated_exact_equals_plain(
    duo: tuple[Timeline, Timeline], rule: str, bounds: Bounds
) -> None:
    found = pair(duo, rule, bounds=bounds).overall
    judge = plain_pairs.integral(*duo, rule, bounds.low, bounds.high, bounds.weighting)
    for name in CLASSES:
        assert getattr(found.integrated, name) == pytest.approx(judge[name], abs=EXACT)
    assert found.integrated.segment_in_force == pytest.approx(judge["segment"], abs=EXACT)
    assert found.slow_share_integrated == pytest.approx(judge["slow"], abs=EXACT)


@MANY
@given(duos(14), rules, intervals)
def test_counts_equal_a_walk_through_the_arrivals(
    duo: tuple[Timeline, Timeline], rule: str, interval: float
) -> None:
    tick = duo[0].tick
    c = tick / interval
    fast, slow = (plain_pairs.arrivals(part, c, tick) for part in duo)
    walk = plain_pairs.arbitrate(fast, slow, duo[0].horizon, rule)
    counts = pair(duo, rule, interval).counts
    assert counts.corrections == walk.corrections
    assert counts.regressions == walk.regressions
    assert counts.refusals == walk.refusals
    assert counts.slow_accepted == sum(t.slow for t in walk.taken)
    assert counts.fast_accepted == sum(not t.slow for t in walk.taken)


@MANY
@given(duos(14), rules, intervals)
def test_the_recorder_s_arbiter_takes_the_same_path(
    duo: tuple[Timeline, Timeline], rule: str, interval: float
) -> None:
    tick = duo[0].tick
    fast, slow = (plain_pairs.arrivals(part, tick / interval, tick) for part in duo)
    walk = plain_pairs.arbitrate(fast, slow, duo[0].horizon, rule)
    events = [(t, -i, FAST) for i, t in enumerate(fast)] + [
        (t, -i, SLOW) for i, t in enumerate(slow)
    ]
    arbiter = PairRule(rule)
    taken = []
    for time, older, lane in sorted(events, key=lambda e: (e[0], e[1], e[2] == FAST)):
        if time < duo[0].horizon and arbiter.admits(lane, -older):
            arbiter.activate(lane, -older)
            taken.append(plain_pairs.Taken(time, lane == SLOW, -older))
    assert taken == walk.taken


@SOME
@given(duos(), rules, intervals)
def test_a_slow_component_that_never_arrives_changes_nothing(
    duo: tuple[Timeline, Timeline], rule: str, interval: float
) -> None:
    fast, slow = duo
    never = replace(slow, latency=np.full(slow.n, 1e9))
    found, alone = pair((fast, never), rule, interval), score_timelines([fast], interval=interval)
    assert difference(found.overall.at_interval, alone.overall.at_interval) < EXACT
    assert difference(found.overall.integrated, alone.overall.integrated) < EXACT
    assert found.slow_share == found.overall.slow_share_integrated == 0
    assert found.counts.slow_accepted == found.counts.refusals == 0


@SOME
@given(duos(), rules, intervals)
def test_a_slow_component_without_latency_is_all_there_is(
    duo: tuple[Timeline, Timeline], rule: str, interval: float
) -> None:
    fast, slow = duo
    instant = replace(slow, latency=np.zeros(slow.n))
    found = pair((fast, instant), rule, interval)
    alone = score_timelines([instant], interval=interval)
    assert difference(found.overall.at_interval, alone.overall.at_interval) < EXACT
    assert difference(found.overall.integrated, alone.overall.integrated) < EXACT
    assert found.slow_share == pytest.approx(1, abs=EXACT)
    assert found.counts.fast_accepted == 0


@SOME
@given(duos(14), intervals)
def test_late_override_equals_freshest_where_no_slow_answer_is_late(
    duo: tuple[Timeline, Timeline], interval: float
) -> None:
    """Late: a newer fast answer has arrived at or before it. Such slow answers are put off for ever."""
    fast, slow = duo
    tick = fast.tick
    ahead, behind = (plain_pairs.arrivals(part, tick / interval, tick) for part in duo)
    late = [any(ahead[j] <= behind[s] for j in range(s + 1, fast.n)) for s in range(fast.n)]
    punctual = replace(slow, latency=np.where(late, 1e9, slow.latency))
    override, freshest = (
        pair((fast, punctual), rule, interval) for rule in ("late_override", "freshest")
    )
    assert override.counts == freshest.counts
    assert override.counts.regressions == 0
    assert override.longest_stale_loss is None
    assert difference(override.overall.at_interval, freshest.overall.at_interval) == 0


@SOME
@given(duos(14), rules, intervals, limits)
def test_identity_and_partition(
    duo: tuple[Timeline, Timeline], rule: str, interval: float, bounds: Bounds
) -> None:
    level = pair(duo, rule, interval, bounds).overall
    for shares in (level.at_interval, level.integrated):
        assert sum(shares.classes().values()) == pytest.approx(1, abs=EXACT)
        product = 0.0 if shares.u_current is None else shares.oracle * shares.u_current
        assert shares.in_force == pytest.approx(product + shares.outdated_correct, abs=EXACT)


@SOME
@given(duos(14), rules, intervals)
def test_oracle_is_what_reference_answers_would_get_on_the_same_path(
    duo: tuple[Timeline, Timeline], rule: str, interval: float
) -> None:
    """No rule looks at an answer, so replacing the answers leaves the path as it was."""
    perfect = tuple(replace(part, predicted=part.reference) for part in duo)
    found, best = pair(duo, rule, interval), pair((perfect[0], perfect[1]), rule, interval)
    assert found.counts == best.counts
    assert found.overall.at_interval.oracle == pytest.approx(best.in_force, abs=EXACT)
    assert found.overall.integrated.oracle == pytest.approx(best.log_auc, abs=EXACT)


@SOME
@given(duos(14), rules, st.sampled_from([0.25, 3.0]))
def test_only_seconds_matter_not_the_tick_of_the_clock(
    duo: tuple[Timeline, Timeline], rule: str, factor: float
) -> None:
    """The slow component may have been recorded at another pace."""
    fast, slow = duo
    tick = slow.tick * factor
    other = replace(slow, tick=tick, release=np.arange(slow.n) * tick)
    a, b = pair(duo, rule), pair((fast, other), rule)
    assert difference(a.overall.integrated, b.overall.integrated) == 0


@SOME
@given(duos(), rules, st.lists(intervals, min_size=1, max_size=6))
def test_the_curve_is_the_score_at_every_interval(
    duo: tuple[Timeline, Timeline], rule: str, at: list[float]
) -> None:
    bounds = Bounds(0.05, 20)
    drawn = pair(duo, rule, bounds=bounds).curve(metrics=tuple(PAIR_METRICS))
    for interval in at:
        level = pair(duo, rule, interval).overall
        for name, line in drawn.items():
            # At a jump the curve has two values; which one a rounded crossing belongs to is open.
            if np.min(np.abs(line.intervals / interval - 1)) < 1e-9:
                continue
            shares = level if name == "slow_share" else level.at_interval
            assert float(line(interval)) == pytest.approx(getattr(shares, name), abs=1e-10)


@SOME
@given(st.lists(duos(), min_size=2, max_size=4), rules, limits)
def test_scenarios_do_not_touch_each_other(
    duos_: list[tuple[Timeline, Timeline]], rule: str, bounds: Bounds
) -> None:
    """Scores laid end to end are the scores one by one, and levels are their plain means."""
    named = [
        tuple(replace(part, episode_id=f"s{k}", family=f"f{k // 2}") for part in duo)
        for k, duo in enumerate(duos_)
    ]
    fast, slow = [d[0] for d in named], [d[1] for d in named]
    together = compose(fast, slow, rule, 1.0, bounds)
    means: dict[str, list[float]] = {}
    for k, duo in enumerate(duos_):
        alone = pair(duo, rule, 1.0, bounds)
        level = together.by_scenario[f"s{k}"]
        assert difference(level.integrated, alone.overall.integrated) < EXACT
        assert difference(level.at_interval, alone.overall.at_interval) < EXACT
        means.setdefault(f"f{k // 2}", []).append(alone.log_auc)
    for family, values in means.items():
        assert together.by_family[family].log_auc == pytest.approx(np.mean(values), abs=EXACT)
    overall = np.mean([np.mean(values) for values in means.values()])
    assert together.log_auc == pytest.approx(overall, abs=EXACT)


@SOME
@given(duos(), rules)
def test_ranges_add_up_to_the_bounds(duo: tuple[Timeline, Timeline], rule: str) -> None:
    octaves = [Bounds(x, 2 * x) for x in (0.5, 1.0, 2.0, 4.0)]
    found = compose([duo[0]], [duo[1]], rule, 2.0, Bounds(), ranges=octaves).overall
    assert np.mean(found.by_range) == pytest.approx(found.log_auc, abs=EXACT)
    one = pair(duo, rule, bounds=octaves[1])
    assert found.by_range[1] == pytest.approx(one.log_auc, abs=EXACT)


def test_equal_times_newer_source_first_then_slow() -> None:
    """Fast 1 and slow 0 arrive together at 2; fast 2 and slow 2 together at 4."""
    fast = timeline([0.0, 0.0, 0.0], [0, 1, 2], [0, 1, 2])
    slow = timeline([2.0, 9.0, 0.0], [0, 1, 2], [0, 1, 2])
    freshest, lag_one, late = (pair((fast, slow), rule).counts for rule in RULES)
    assert (freshest.slow_accepted, freshest.fast_accepted, freshest.refusals) == (1, 2, 1)
    assert (lag_one.slow_accepted, lag_one.regressions, lag_one.refusals) == (2, 1, 0)
    assert late == lag_one


def test_the_longest_stale_loss_is_found_with_its_times() -> None:
    """Slow 0 replaces fast 1, right for the reference of steps 1 and 2, at 2.5 until fast 2 at 4.1."""
    fast = timeline([0.1, 0.1, 0.1, 0.1], [0, 1, 1, 0], [0, 1, 1, 0])
    slow = timeline([2.5, 90.0, 90.0, 90.0], [0, 1, 1, 0], [0, 1, 1, 0])
    loss = pair((fast, slow), "late_override").longest_stale_loss
    assert loss is not None
    assert (loss.episode_id, loss.fast_source, loss.slow_source) == ("x", 1, 0)
    assert (loss.fast_arrival_s, loss.slow_arrival_s) == pytest.approx((2.1, 2.5))
    assert (loss.begin_s, loss.end_s) == pytest.approx((2.5, 4.1))
    assert loss.seconds == pytest.approx(1.6)
    assert pair((fast, slow), "freshest").longest_stale_loss is None
    # At half the pace the answer is in force from 2.5 s too: the fast one for step 1 is not out yet.
    assert pair((fast, slow), "late_override", 4.0).longest_stale_loss is None


def test_a_stale_loss_ends_where_the_replaced_decision_would_have_gone_stale_too() -> None:
    fast = timeline([0.1, 0.1, 9.0, 9.0], [0, 1, 2, 0], [0, 1, 2, 0])
    slow = timeline([2.5, 90.0, 90.0, 90.0], [0, 1, 2, 0], [0, 1, 2, 0])
    loss = pair((fast, slow), "late_override").longest_stale_loss
    assert loss is not None
    assert (loss.begin_s, loss.end_s) == pytest.approx((2.5, 4.0))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"episode_id": "y"}, "x was not recorded"),
        ({"reference": np.array([0, 2])}, "another reference"),
        ({"latency": np.array([0.1, np.nan])}, "finite"),
        ({"latency": np.array([0.1, -1.0])}, "not negative"),
    ],
)
def test_components_that_do_not_fit_are_refused(change: dict[str, object], words: str) -> None:
    part = timeline([0.1, 0.1], [0, 1], [0, 1])
    with pytest.raises(InputError, match=words):
        compose([part], [replace(part, **change)], "freshest")  # type: ignore[arg-type]


def test_unknown_rules_and_intervals_are_refused() -> None:
    part = timeline([0.1, 0.1], [0, 1], [0, 1])
    with pytest.raises(InputError, match="rule"):
        compose([part], [part], "newest")
    with pytest.raises(InputError, match="interval"):
        compose([part], [part], "freshest", 0.0)
    with pytest.raises(InputError, match="steps"):
        compose([part], [timeline([0.1], [0], [0])], "freshest")
