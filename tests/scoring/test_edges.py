"""The edges: equal times, exact thresholds, what is refused, and figures computed a second time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings

from streamdecisionbench.errors import InputError
from streamdecisionbench.examples import example_recording, example_suite
from streamdecisionbench.kernel.arrays import (
    NO_ANSWER,
    UNKNOWN,
    JoinedTimelines,
    Timeline,
    check,
)
from streamdecisionbench.kernel.classes import ALL_CLASSES
from streamdecisionbench.kernel.levels import (
    Levels,
    family_weights,
)
from streamdecisionbench.kernel.overlaps import (
    at_most,
    neighbours,
    stretches_of,
)
from streamdecisionbench.kernel.paces import (
    AtPace,
    Bounds,
    OverPaces,
)
from streamdecisionbench.kernel.pair_trajectory import StaleLoss
from streamdecisionbench.kernel.shares import (
    classify_at,
    shares_by_step_at,
    shares_over,
    table_of,
    table_over,
)
from streamdecisionbench.kernel.trajectory import (
    accepted_at,
    critical_scale,
    trajectory_at,
    trajectory_between,
)
from streamdecisionbench.policies.policy_file import (
    Cascade,
    ConfidenceGate,
    Debounce,
    Dispatch,
    Expire,
    Policy,
)
from streamdecisionbench.scoring.error_costs import (
    Figures,
    path_measures,
)
from streamdecisionbench.scoring.latency import reliability
from streamdecisionbench.scoring.pairs import all_pairs, compose, compose_recordings, matrix
from streamdecisionbench.scoring.policy_answers import Answers
from streamdecisionbench.scoring.policy_score import (
    score_policy,
    score_policy_recordings,
)
from streamdecisionbench.scoring.result import Result
from streamdecisionbench.scoring.score import score, score_timelines, took_effect
from streamdecisionbench.scoring.timelines import timelines
from tests.kernel import plain
from tests.scoring import plain_pairs
from tests.scoring.policies.kit import timeline
from tests.scoring.test_pairs import duos, intervals, rules

SOME = settings(max_examples=100, deadline=None)

PART = timeline([0.4, 0.4, 0.8, 0.4], [0, 0, 1, 0], [0, 0, 1, 1])
SURE = {way: [np.array([0.5, 0.75, 0.5, 0.75])] for way in ("min", "product")}


# What is refused, with the words that say why.

Entry = Callable[[float], object]
ENTRIES: dict[str, Entry] = {
    "score": lambda x: score(example_recording(), example_suite(), interval=x),
    "score_timelines": lambda x: score_timelines([PART], interval=x),
    "shares_by_step_at": lambda x: shares_by_step_at(JoinedTimelines([PART]), x),
    "course_of": lambda x: path_measures([PART], x, Bounds()),
    "compose": lambda x: compose([PART], [PART], "freshest", x),
    "compose_recordings": lambda x: compose_recordings(
        example_recording(), example_recording(), example_suite(), interval=x
    ),
    "all_pairs": lambda x: all_pairs([example_recording()] * 2, example_suite(), interval=x),
    "matrix": lambda x: matrix([example_recording()] * 2, example_suite(), interval=x),
    "score_policy": lambda x: score_policy(Policy(), [Answers("a", [PART])], interval=x),
    "score_policy_recordings": lambda x: score_policy_recordings(
        Policy(), [example_recording()], example_suite(), interval=x
    ),
}


@pytest.mark.parametrize("interval", [-1.0, 0.0, math.inf, math.nan, 9e-7, 1.1e6])
@pytest.mark.parametrize("entry", ENTRIES)
def test_what_is_no_interval_is_refused_wherever_it_comes_in(entry: str, interval: float) -> None:
    with pytest.raises(InputError, match=r"interval \S+ is not (a number|between)"):
        ENTRIES[entry](interval)


@pytest.mark.parametrize("interval", [1e-6, 1e6])
def test_the_shortest_and_the_longest_interval_are_intervals(interval: float) -> None:
    shares = score_timelines([PART], interval=interval).overall.at_interval
    assert shares.no_decision == pytest.approx(1.0 if interval < 1 else 1e-7, rel=1e-9)


@pytest.mark.parametrize(
    ("low", "high", "weighting", "words"),
    [
        (8.0, 0.5, "log", "bounds 8 0.5 are not an interval range"),
        (2.0, 2.0, "log", "bounds 2 2 are not an interval range"),
        (0.5, math.inf, "log", "bounds 0.5 inf are not an interval range"),
        (0.5, 2e6, "log", "interval 2e.06 is not between 1e-06 and 1e.06 seconds"),
        (0.5, 8.0, "cubic", "weighting 'cubic' is not known"),
    ],
)
def test_what_are_no_bounds_is_refused(low: float, high: float, weighting: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Bounds(low, high, weighting)


def test_what_python_asks_for_and_cannot_have_is_refused_by_name() -> None:
    one, suite = example_recording(), example_suite()
    other = replace(one, name="other", run={"dataset_manifest": {"dataset_hash": "f" * 64}})
    two = Policy(cascade=Cascade(("a", "b")))
    answers = Answers("a", [PART])
    refused: list[tuple[str, Callable[[], object]]] = [
        ("clock 'wall' is not known", lambda: score(one, suite, clock="wall")),
        ("'nobody' is no family and no scenario", lambda: score(one, suite).curve("nobody")),
        ("a pair needs two recordings", lambda: all_pairs([one], suite)),
        ("a pair needs two recordings", lambda: matrix([one], suite)),
        ("other: was recorded on suite ffffffffffff", lambda: all_pairs([one, other], suite)),
        (
            "other: was recorded on suite ffffffffffff",
            lambda: score_policy_recordings(Policy(), [other], suite),
        ),
        ("takes 2 component.s., 1 given", lambda: score_policy(two, [answers])),
        ("takes 1 component.s., 2 given", lambda: score_policy(Policy(), [answers, answers])),
        ("there is no scenario to compose", lambda: compose([], [], "freshest")),
    ]
    for words, call in refused:
        with pytest.raises(InputError, match=words):
            call()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"release": np.array([0.0, 2.0, 2.0, 6.0])}, "releases must increase"),
        ({"release": np.array([0.0, 2.0, math.inf, 6.0])}, "releases must increase"),
        ({"latency": np.array([0.0, 0.0, -1e-9, 0.0])}, "not negative"),
        ({"latency": np.array([0.0, 0.0, math.inf, 0.0])}, "finite"),
        ({"end": 6.0}, "the last release is at or after the horizon"),
    ],
)
def test_timelines_that_nothing_could_have_recorded_are_refused(
    change: dict[str, object], words: str
) -> None:
    check([PART, replace(PART, end=6.000001)])
    with pytest.raises(InputError, match=words):
        check([replace(PART, **change)])  # type: ignore[arg-type]


def test_a_gap_is_no_fault_where_gaps_are_known_but_not_a_number_is() -> None:
    check([replace(PART, latency=np.array([0.0, math.inf, 0.0, 0.0]))], gaps=True)
    with pytest.raises(InputError, match="finite"):
        check([replace(PART, latency=np.array([0.0, math.nan, 0.0, 0.0]))], gaps=True)


# AnswerCounts.


def test_retried_requests_are_those_with_two_attempts_and_more() -> None:
    recording = example_recording()
    episode = recording.episodes["tiny"]
    attempts = [{"ok": False}, {"ok": False}, {"ok": True}]
    responses = tuple(
        msgspec.structs.replace(r, attempts=attempts[3 - count :])
        for r, count in zip(episode.responses, (1, 2, 3, 1), strict=True)
    )
    found = reliability(
        replace(recording, episodes={"tiny": replace(episode, responses=responses)})
    )
    assert (found.requests, found.attempts, found.failed_attempts) == (4, 7, 3)
    assert found.retried_requests == 2


def test_families_weigh_alike_whatever_they_hold() -> None:
    assert family_weights(["a", "b", "a", "a"]).tolist() == pytest.approx(
        [1 / 6, 1 / 2, 1 / 6, 1 / 6]
    )


# One component.


def test_of_two_arrivals_at_once_the_newer_source_takes_effect() -> None:
    """Steps 0 and 1 both arrive at 3; step 3 arrives at the horizon."""
    flat = JoinedTimelines([timeline([3.0, 1.0, 0.0, 2.0], [0, 1, 2, 3], [0, 1, 2, 3])])
    assert accepted_at(flat, flat.arrivals(np.ones(1))).tolist() == [False, True, True, False]
    assert critical_scale(flat, np.full(1, 99.0)).tolist() == [1.0, 2.0, math.inf, 1.0]
    path = trajectory_at(flat, 2.0)
    assert (path.source.tolist(), path.begin.tolist()) == ([-1, 1, 2], [0.0, 3.0, 4.0])


def test_the_newest_answer_overtakes_all_others() -> None:
    flat = JoinedTimelines([timeline([9.0, 9.0, 0.5], [0, 0, 0], [0, 0, 0])])
    assert critical_scale(flat, np.full(1, 99.0)) == pytest.approx([4 / 8.5, 2 / 8.5, 4.0])


@pytest.mark.parametrize("latency", [[2.0, 1.0], [4.0, 2.0, 2.0], [3.0, 1.0, 1.0, 0.5]])
def test_answers_that_drop_out_at_the_same_scale_are_counted_once(latency: list[float]) -> None:
    part = timeline(latency, [0, 1, 0, 1][: len(latency)], [0, 1, 1, 1][: len(latency)])
    found = score_timelines([part], bounds=Bounds(0.25, 8.0)).overall.integrated
    want = plain.integral(part, 0.25, 8.0, "log")
    assert {name: want[name] for name in found.classes()} == pytest.approx(
        found.classes(), abs=1e-12
    )


def test_a_long_backlog_of_equal_latencies_only_ends_with_the_horizon() -> None:
    """More than are compared one by one: the lines never cross."""
    flat = JoinedTimelines([timeline([500.0] * 90, [0] * 90, [0] * 90)])
    found = critical_scale(flat, np.full(1, 99.0))
    assert found == pytest.approx((180.0 - flat.r) / 500.0, rel=1e-15)


def test_what_is_held_ends_with_its_scenario() -> None:
    """Whatever stands beside it, a scenario is what it is alone."""
    silent = timeline([99.0, 99.0], [1, 1], [1, 1], name="silent")
    parts = [PART, silent, PART]
    flat = JoinedTimelines(parts)
    together = table_of(flat, classify_at(flat, 2.0))
    for part, row in zip(parts, together, strict=True):
        alone = JoinedTimelines([part])
        assert row.tolist() == table_of(alone, classify_at(alone, 2.0))[0].tolist()
    path = trajectory_at(flat, 2.0)
    ends = [path.end[path.scenario == k].max() for k in range(3)]
    assert ends == [8.0, 4.0, 8.0]


def test_the_first_decision_is_known_where_others_are_not() -> None:
    """Its id is 0, which is neither unknown nor nothing."""
    part = timeline([0.0] * 4, [UNKNOWN, 0, 0, 1], [0, 1, 0, 0])
    found = score_timelines([part]).overall.at_interval.classes()
    assert found == pytest.approx(
        {
            **dict.fromkeys(ALL_CLASSES, 0.0),
            "unjudged": 0.25,
            "current_correct": 0.25,
            "judgment": 0.5,
        }
    )


# Two components.


def test_at_one_step_a_slow_answer_that_is_no_slower_keeps_the_fast_one_out_at_every_pace() -> None:
    fast = timeline([0.5, 0.5], [0, 0], [1, 1])
    slow = timeline([0.5, 0.5], [0, 0], [0, 0])
    for rule in plain_pairs.RULES:
        found = compose([fast], [slow], rule)
        assert found.counts.fast_accepted == 0
        assert found.overall.integrated.judgment == 0.0
        assert found.overall.slow_share_integrated == pytest.approx(
            1 - found.overall.integrated.no_decision, abs=1e-15
        )
    sooner = compose([fast], [timeline([0.25, 0.25], [0, 0], [0, 0])], "late_override")
    assert sooner.overall.integrated.judgment == 0.0
    later = compose([fast], [timeline([0.75, 0.75], [0, 0], [0, 0])], "freshest")
    assert (later.counts.corrections, later.counts.regressions) == (2, 0)


def plain_loss(fast: Timeline, slow: Timeline, interval: float, rule: str) -> StaleLoss | None:
    """Every override in turn, second by second of the recording clock; the first of the longest."""
    tick, c = fast.tick, fast.tick / interval
    horizon = fast.n * tick
    lines = [plain_pairs.arrivals(part, c, tick) for part in (fast, slow)]
    taken = plain_pairs.arbitrate(*lines, horizon, rule).taken
    releases, y = plain_pairs.nominal(fast, tick), fast.reference.tolist()
    ends = [*releases[1:], horizon]
    best: StaleLoss | None = None
    for k in range(1, len(taken)):
        before, now = taken[k - 1], taken[k]
        said = fast.predicted[before.source], slow.predicted[now.source]
        right = said == (y[before.source], y[now.source])
        if before.slow or not now.slow or now.source >= before.source or not right:
            continue
        until = taken[k + 1].time if k + 1 < len(taken) else horizon
        spans: list[list[float]] = []
        for release, end, reference in zip(releases, ends, y, strict=True):
            a, b = max(now.time, release), min(until, end)
            if a >= b or reference != y[before.source] or reference == y[now.source]:
                continue
            if spans and spans[-1][1] == a:
                spans[-1][1] = b
            else:
                spans.append([a, b])
        for a, b in spans:
            moments = [x / c for x in (before.time, now.time, a, b)]
            if best is None or (b - a) / c > best.seconds + 1e-9:
                best = StaleLoss(fast.episode_id, before.source, now.source, *moments)
    return best


@SOME
@given(duos(14), rules, intervals)
def test_the_longest_stale_loss_is_that_of_a_plain_walk_at_any_interval(
    duo: tuple[Timeline, Timeline], rule: str, interval: float
) -> None:
    found = compose([duo[0]], [duo[1]], rule, interval).longest_stale_loss
    want = plain_loss(*duo, interval, rule)
    if found is None or want is None:
        assert found is want
        return
    assert found.seconds == pytest.approx(want.seconds, abs=1e-9)
    if (found.fast_source, found.slow_source) == (want.fast_source, want.slow_source):
        for name in ("fast_arrival_s", "slow_arrival_s", "begin_s", "end_s"):
            assert getattr(found, name) == pytest.approx(getattr(want, name), abs=1e-9)


def test_a_stale_loss_is_in_seconds_of_the_interval() -> None:
    """At 1 s the recording's 2 s pass in one: arrivals at 1.05 and 1.25 s, fast 2 again at 2.05."""
    fast = timeline([0.05] * 4, [0, 1, 1, 0], [0, 1, 1, 0])
    slow = timeline([1.25, 90.0, 90.0, 90.0], [0, 1, 1, 0], [0, 1, 1, 0])
    loss = compose([fast], [slow], "late_override", 1.0).longest_stale_loss
    assert loss is not None
    times = (loss.fast_arrival_s, loss.slow_arrival_s, loss.begin_s, loss.end_s)
    assert times == pytest.approx((1.05, 1.25, 1.25, 2.05))
    assert loss.seconds == pytest.approx(0.8)


def test_losses_of_two_overrides_are_two_however_they_touch() -> None:
    """Slow 0 takes the place of fast 2 from 5 to 7; fast 3 and slow 1 arrive at 7, and slow 1 stays."""
    y = [0, 2, 1, 1]
    fast, slow = timeline([0.5, 0.5, 0.5, 1.0], y, y), timeline([5.0, 5.0, 99.0, 99.0], y, y)
    loss = compose([fast], [slow], "late_override").longest_stale_loss
    assert loss is not None
    assert (loss.fast_source, loss.slow_source) == (2, 0)
    assert (loss.begin_s, loss.end_s) == pytest.approx((5.0, 7.0))


def test_live_answers_at_the_horizon_did_not_take_effect() -> None:
    recording = example_recording()
    episode = recording.episodes["tiny"]
    times = (0.4, 2.4, 2.4, 8.0)
    responses = tuple(
        msgspec.structs.replace(r, accepted_s=None if k else at, actual_recorded_s=at)
        for k, (r, at) in enumerate(zip(episode.responses, times, strict=True))
    )
    told = replace(recording, episodes={"tiny": replace(episode, responses=responses)})
    scenario, component, step, begin = took_effect((told, told), ["tiny"], np.array([8.0]))
    # At one instant the newer source first, then the later component.
    assert component.tolist() == [1, 0, 1, 0, 1, 0]
    assert step.tolist() == [0, 0, 2, 2, 1, 1]
    assert begin.tolist() == [0.4, 0.4, 2.4, 2.4, 2.4, 2.4]
    assert scenario.tolist() == [0] * 6


# Policies: what happens within one instant, and exactly at a threshold.


def sources(found: Result) -> list[tuple[int, float]]:
    path = found.trajectory(found.interval)
    return list(zip(path.source.tolist(), path.begin.tolist(), strict=True))


def test_what_is_published_as_an_answer_arrives_waits_for_it() -> None:
    """One at a time, each answer for as long as two ticks: at 4 s step 2 is the newest there is."""
    part = timeline([4.0] * 6, [0] * 6, [0] * 6)
    policy = Policy(dispatch=Dispatch("one-at-a-time"))
    found = score_policy(policy, [Answers("a", [part])], interval=2.0)
    assert sources(found) == [(-1, 0.0), (0, 4.0), (2, 8.0)]
    assert found.counts.requests == (3,)


def test_what_an_earlier_component_asks_as_an_answer_arrives_waits_for_it() -> None:
    """The second is asked at 0.5, 2.5, 4.5 …, free again at 4.5 and 8.5, when 2 and 4 are newest."""
    first = timeline([0.5] * 6, [0] * 6, [1] * 6)
    second = timeline([4.0] * 6, [0] * 6, [0] * 6)
    unsure = {way: [np.full(6, 0.25)] for way in ("min", "product")}
    cascade = Cascade(("a", "b"), "when-unsure", 0.5, "late_override")
    policy = Policy(dispatch=Dispatch("one-at-a-time"), cascade=cascade)
    answers = [Answers("a", [first], unsure), Answers("b", [second])]
    found = score_policy(policy, answers, interval=2.0)
    assert found.counts.requests == (6, 3)
    assert [x for x in sources(found) if x[1] in (4.5, 8.5)] == [(0, 4.5), (2, 8.5)]


def test_an_answer_that_arrives_as_the_next_state_is_published_is_not_given_up() -> None:
    part = timeline([2.0, 2.0, 2.5, 2.0], [0] * 4, [0] * 4)
    policy = Policy(dispatch=Dispatch("latest", 1))
    found = score_policy(policy, [Answers("a", [part])], interval=2.0)
    assert found.counts.cancelled == (1,)
    assert sources(found) == [(-1, 0.0), (0, 2.0), (1, 4.0)]


def test_a_request_asked_for_late_gives_way_to_newer_ones_in_flight() -> None:
    """The second is asked about 0, 2, 3 and only then about 1, when it is busy with two newer ones."""
    first = timeline([0.5, 5.0, 0.5, 0.5], [0] * 4, [1] * 4)
    second = timeline([0.1, 99.0, 99.0, 99.0], [0] * 4, [0] * 4)
    unsure = {way: [np.full(4, 0.25)] for way in ("min", "product")}
    policy = Policy(dispatch=Dispatch("latest", 2), cascade=Cascade(("a", "b"), "when-unsure", 0.5))
    answers = [Answers("a", [first], unsure), Answers("b", [second])]
    found = score_policy(policy, answers, interval=2.0)
    assert (found.counts.requests, found.counts.cancelled) == ((4, 3), (0, 0))


def test_of_two_answers_at_once_one_is_taken() -> None:
    part = timeline([3.0, 1.0, 0.5, 0.5], [0] * 4, [0] * 4)
    found = score_policy(Policy(), [Answers("a", [part])], interval=2.0)
    assert found.counts.taken == (3,)
    assert sources(found) == [(-1, 0.0), (1, 3.0), (2, 4.5), (3, 6.5)]


def test_nothing_is_sent_at_the_horizon() -> None:
    """The first component's last answer comes exactly then."""
    first = timeline([0.5, 2.0], [0, 0], [1, 1])
    unsure = {way: [np.full(2, 0.25)] for way in ("min", "product")}
    policy = Policy(cascade=Cascade(("a", "b"), "when-unsure", 0.5))
    answers = [Answers("a", [first], unsure), Answers("b", [timeline([0.0, 0.0], [0, 0], [0, 0])])]
    found = score_policy(policy, answers, interval=2.0)
    assert found.counts.requests == (2, 1)
    assert found.counts.answers == (1, 1)


def test_exactly_at_a_threshold() -> None:
    """Gate: at least. Below: less than."""
    gated = score_policy(Policy(gate=ConfidenceGate(0.75)), [Answers("a", [PART], SURE)])
    assert (gated.counts.withheld, gated.counts.taken) == ((2,), (2,))
    cascade = Cascade(("a", "b"), "when-unsure", 0.75)
    asked = score_policy(
        Policy(cascade=cascade), [Answers("a", [PART], SURE), Answers("b", [PART])]
    )
    assert asked.counts.requests == (4, 2)
    assert asked.counts.escalations == 2


def test_a_decision_that_arrives_as_it_lapses_is_never_in_force() -> None:
    part = timeline([1.0, 0.5, 1.5, 0.5], [0] * 4, [0] * 4)
    found = score_policy(Policy(expire=Expire(1.0)), [Answers("a", [part])], interval=2.0)
    path = found.trajectory(found.interval)
    pieces = list(zip(path.decision.tolist(), path.begin.tolist(), strict=True))
    assert [begin for decision, begin in pieces if decision == 0] == [2.5, 6.5]
    assert found.counts.expiries == 4
    assert found.overall.at_interval.in_force == pytest.approx(1.0 / 8.0)


def test_a_debounce_of_two_takes_the_second_of_two_alike() -> None:
    part = timeline([0.5] * 4, [0] * 4, [0, 0, 1, 1])
    found = score_policy(Policy(debounce=Debounce(2)), [Answers("a", [part])], interval=2.0)
    assert sources(found) == [(-1, 0.0), (1, 2.5), (3, 6.5)]
    assert found.counts.held_back == 2


def test_a_correction_may_lie_exactly_one_step_behind() -> None:
    fast = timeline([0.5] * 4, [0] * 4, [1] * 4)
    slow = timeline([3.0, 5.0, 99.0, 99.0], [0] * 4, [0] * 4)
    for rule, taken in (("freshest", 0), ("lag_one", 1), ("late_override", 2)):
        policy = Policy(cascade=Cascade(("a", "b"), rule=rule))
        played = score_policy(policy, [Answers("a", [fast]), Answers("b", [slow])], interval=2.0)
        pair = compose([fast], [slow], rule, 2.0)
        assert played.counts.taken[1] == pair.counts.slow_accepted == taken
        assert pair.counts.regressions == taken


@pytest.mark.parametrize(("waited", "known"), [(1.96, True), (1.94, False)])
def test_a_request_given_up_live_may_be_given_up_hardly_later(waited: float, known: bool) -> None:
    """Here it runs for 2 s before the next state takes its place."""
    part = timeline([math.inf, 0.5], [0, 0], [-1, 0])
    answers = Answers("a", [part], waited=[np.array([waited, 0.0])])
    policy = Policy(dispatch=Dispatch("latest", 1))
    if known:
        found = score_policy(policy, [answers], interval=2.0)
        assert (found.counts.cancelled, found.counts.taken) == ((1,), (1,))
    else:
        with pytest.raises(InputError, match="for longer than they did when they were given up"):
            score_policy(policy, [answers], interval=2.0)


# The kernel's own small parts.


def test_a_line_that_touches_zero_is_at_most_zero() -> None:
    one = np.ones(1)
    for at, slope, want in (
        (0.0, 0.0, (1.0, 4.0)),
        (1e-9, 0.0, (1.0, 1.0)),
        (-2.0, 1.0, (1.0, 2.0)),
        (2.0, -1.0, (2.0, 4.0)),
        (-8.0, 1.0, (1.0, 4.0)),
        (8.0, -1.0, (4.0, 4.0)),
    ):
        low, high = at_most(at * one, slope * one, one, 4 * one)
        assert (low[0], high[0]) == want


def test_neighbours_are_those_of_a_plain_search_however_long_the_list() -> None:
    rng = np.random.default_rng(5)
    for count in (1, 7, 15, 16, 17, 33, 80, 81, 90, 200):
        low = rng.integers(0, 6, count) / 2 + 1.0
        high = low + rng.integers(0, 5, count) / 2
        low, high = np.minimum(low, 4.0), np.minimum(high, 4.0)
        low[0], high[0] = 1.0, 4.0
        if count > 33:  # whole stretches of the list exist at the ends of the range alone
            ends = np.arange(count) // (count // 5) % 3
            low = np.where(ends == 0, 1.0, np.where(ends == 1, 3.5, low))
            high = np.where(ends == 0, 1.5, np.where(ends == 1, 4.0, np.minimum(high, 2.0)))
        zero = np.zeros(count, dtype=np.int64)
        found = neighbours(zero, low, high, np.array([1.0]), np.array([4.0]))
        for c in (1.25, 1.75, 2.25, 2.75, 3.25, 3.75):
            here = (found.low <= c) & (c < found.high)
            pairs = sorted(
                zip(found.before[here].tolist(), found.after[here].tolist(), strict=True)
            )
            exist = [-1, *np.flatnonzero((low <= c) & (c < high)).tolist(), -1]
            assert pairs == sorted(pairwise(exist))


def test_one_pace_weighs_once_where_ranges_meet() -> None:
    at = AtPace(np.array([2.0])).of(
        np.zeros(3, dtype=np.int64), np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0])
    )
    assert at.one.tolist() == [0.0, 1.0, 0.0]
    assert at.inverse.tolist() == [0.0, 0.5, 0.0]
    assert at.scale.tolist() == [0.0, 2.0, 0.0]


@pytest.mark.parametrize("weighting", ["log", "linear"])
def test_integrals_of_powers_are_those_of_a_fine_sum(weighting: str) -> None:
    bounds, tick = Bounds(0.5, 8.0, weighting), 2.0
    a, b = 0.5, 3.0
    edges = np.linspace(a, b, 200_001)
    c = (edges[1:] + edges[:-1]) / 2
    density = 1 / c / math.log(16) if weighting == "log" else tick / c**2 / 7.5
    found = OverPaces(bounds, np.array([tick])).of(
        np.zeros(1, dtype=np.int64), np.array([a]), np.array([b])
    )
    for power, value in zip((-1, 0, 1), found, strict=True):
        assert float(value[0]) == pytest.approx(
            float((c**power * density).sum() * (b - a) / 200_000), rel=1e-8
        )


def test_a_spell_of_theta_but_for_rounding_is_not_longer_than_theta() -> None:
    """Wrong from 0 to 0.4 and from 4 to 4.4, which is 0.40000000000000036."""
    path = trajectory_at(JoinedTimelines([timeline([0.4] * 4, [0, 0, 1, 1], [0, 0, 1, 1])]), 2.0)
    spells = Figures(path, AtPace(path.scale)).spells
    assert spells.length.max() > 0.4
    assert spells.long_share(0.4).tolist() == [0.0]
    assert spells.long_share(0.399)[0] == pytest.approx(0.1)


def test_a_spell_of_exactly_theta_is_not_longer_than_theta() -> None:
    """Wrong from 0 to 0.4, from 4 to 4.8, and from 6 on."""
    path = trajectory_at(JoinedTimelines(timelines(example_recording(), example_suite())), 2.0)
    spells = Figures(path, AtPace(path.scale)).spells
    shares = [float(spells.long_share(theta)[0]) for theta in (0.79, 0.8, 0.81, 2.0, 2.01)]
    assert shares == pytest.approx([0.35, 0.25, 0.25, 0.0, 0.0])


def test_stretches_cover_observed_time_to_its_end_at_every_pace() -> None:
    flat = JoinedTimelines([PART, timeline([0.1, 9.0], [0, 1], [0, 1], name="y")])
    bounds = Bounds()
    measure = OverPaces(bounds, flat.tick)
    cut = stretches_of(trajectory_between(flat, measure.lowest, measure.highest))
    time = np.bincount(cut.scenario, cut.time(measure), 2)
    assert time == pytest.approx([8.0, 4.0], abs=1e-12)


def test_a_narrower_measure_takes_its_own_part_of_a_sweep() -> None:
    flat = JoinedTimelines([PART])
    wide, narrow = OverPaces(Bounds(0.5, 8.0), flat.tick), OverPaces(Bounds(1.0, 2.0), flat.tick)
    sweep = trajectory_between(flat, wide.lowest, wide.highest)
    whole, part = shares_over(sweep, [wide, narrow])
    assert part == pytest.approx(table_over(flat, Bounds(1.0, 2.0)), abs=1e-12)
    assert whole == pytest.approx(table_over(flat, Bounds(0.5, 8.0)), abs=1e-12)


def test_another_sweep_is_not_the_one_before() -> None:
    """A replay is kept for who asks again, and only for the same range."""
    flat = JoinedTimelines([PART])
    for low, high in ((0.5, 4.0), (0.5, 8.0), (0.25, 8.0), (1.0, 4.0), (0.5, 8.0)):
        kept, fresh = (
            table_over(flat, Bounds(low, high)),
            table_over(JoinedTimelines([PART]), Bounds(low, high)),
        )
        assert kept.tolist() == fresh.tolist()


def test_what_nobody_knows_is_in_no_mean() -> None:
    """Two families; of one scenario of the first, and of the whole of the third, nothing is known."""
    parts = [replace(PART, episode_id=f"s{k}", family=of) for k, of in enumerate("aabc")]
    found = Levels(parts).means(np.array([[0.2], [math.nan], [0.6], [math.nan]]))[:4, 0]
    assert found[:3] == pytest.approx([0.4, 0.2, 0.6])
    assert math.isnan(found[3])


def test_states_of_which_nobody_knows_what_was_right_are_in_no_accuracy() -> None:
    """Of five states at once answered, two are unknown, one of these unanswered: 2 of 3 are right.

    Known segments are two states long, half right, and one state long, right.
    """
    part = replace(
        timeline(
            [0.0, 0.0, math.inf, 0.0, 0.0], [0, 0, UNKNOWN, UNKNOWN, 1], [0, 1, NO_ANSWER, 0, 1]
        ),
        reference=np.array([0, 0, UNKNOWN, UNKNOWN, 1]),
    )
    found = score_timelines([part], interval=2.0).overall
    assert found.untimed == pytest.approx(2 / 3)
    assert found.untimed_segment == pytest.approx(3 / 4)
    assert found.at_interval.segment_in_force == pytest.approx(3 / 4)


@pytest.mark.parametrize("scale", [0.5, 1.0, 1.5, 2.0])
def test_at_the_scale_where_an_answer_drops_out_it_is_out(scale: float) -> None:
    """Steps 0 and 3 last until c = 1, step 1 until 2: a sweep says there what a replay at it says."""
    flat = JoinedTimelines([timeline([3.0, 1.0, 0.0, 2.0], [0, 1, 2, 3], [0, 1, 2, 3])])
    path = trajectory_between(flat, np.full(1, 0.25), np.full(1, 4.0)).at(np.full(1, scale))
    want = trajectory_at(flat, 2.0 / scale)
    for name in ("source", "decision", "begin", "end"):
        assert getattr(path, name).tolist() == getattr(want, name).tolist()


def test_a_pair_is_of_the_same_scenarios() -> None:
    more = [PART, replace(PART, episode_id="y")]
    for fast, slow in ((more, [PART]), ([PART], more)):
        with pytest.raises(InputError, match=r"y (was not recorded|is in one recording only)"):
            compose(fast, slow, "freshest")
