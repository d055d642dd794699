"""Logged streams against the plain definition: irregular, unanswered, unjudged, ended early."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from streamdecisionbench.kernel.arrays import (
    NO_ANSWER,
    UNKNOWN,
    JoinedTimelines,
    Timeline,
)
from streamdecisionbench.kernel.classes import ALL_CLASSES
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.shares import (
    TABLE,
    batches,
    tables,
)
from streamdecisionbench.kernel.trajectory import critical_scale
from streamdecisionbench.scoring.score import score_timelines
from tests.kernel import plain_streams
from tests.kernel.plain_streams import Stream

pytestmark = pytest.mark.slow

EXACT = 1e-12
MANY = settings(max_examples=400, deadline=None)
SOME = settings(max_examples=120, deadline=None)

_COLUMNS = [TABLE.index(name) for name in ALL_CLASSES]


@st.composite
def streams(draw: DrawFn, most: int = 10) -> Stream:
    """One row and more; gaps from milliseconds to minutes, ties, lost answers, unknown references."""
    n = draw(st.integers(1, most))
    gap = st.one_of(
        st.sampled_from([0.5, 1.0, 2.0]),
        st.floats(0.001, 60).map(lambda x: round(x, 4)),
    )
    start = draw(st.sampled_from([0.0, 0.25]))
    gaps = draw(st.lists(gap, min_size=n, max_size=n))
    times = [start]
    for step in gaps[:-1]:
        times.append(times[-1] + step)
    end = times[-1] + draw(st.one_of(st.just(gaps[-1]), st.just(0.001), gap))
    wait = st.one_of(
        st.none(),
        st.just(0.0),
        st.sampled_from([0.5, 1.0, 1.5, 2.0, 4.0]),
        st.floats(0, 30).map(lambda x: round(x, 4)),
        st.floats(100, 5000).map(lambda x: round(x, 1)),
    )
    latencies = draw(st.lists(wait, min_size=n, max_size=n))
    option = st.sampled_from(["a", "b", "c"])
    unknown = draw(st.sampled_from([0.0, 0.3, 1.0]))
    references: list[str | None] = [
        None if draw(st.floats(0, 1)) < unknown else draw(option) for _ in range(n)
    ]
    decisions: list[str | None] = [
        None if lat is None else (y if y and draw(st.booleans()) else draw(option))
        for y, lat in zip(references, latencies, strict=True)
    ]
    return Stream(times, latencies, references, decisions, end)


intervals = st.one_of(st.none(), st.sampled_from([0.1, 0.5, 1.0, 2.0, 8.0]), st.floats(0.1, 16))


def joined_timelines(found: list[Stream]) -> JoinedTimelines:
    ids = {"a": 0, "b": 1, "c": 2}
    return JoinedTimelines.of(
        n=np.array([len(s.times) for s in found]),
        r=np.concatenate([s.times for s in found]),
        L=np.array([np.inf if w is None else w for s in found for w in s.latencies]),
        H=np.array([s.end for s in found]),
        tick=np.array([s.tick for s in found]),
        y=np.array([UNKNOWN if y is None else ids[y] for s in found for y in s.references]),
        p=np.array([NO_ANSWER if p is None else ids[p] for s in found for p in s.decisions]),
    )


def timeline_of(stream: Stream, name: str = "x") -> Timeline:
    flat = joined_timelines([stream])
    return Timeline(
        name, "f", stream.tick, flat.r, flat.L, flat.y, flat.p, end=stream.end
    )  # fmt: skip


def by_name(row: np.ndarray) -> dict[str, float]:
    return dict(zip(ALL_CLASSES, map(float, row[_COLUMNS]), strict=True))


@MANY
@given(st.lists(streams(), min_size=1, max_size=3), intervals)
def test_every_class_equals_the_plain_definition(
    found: list[Stream], interval: float | None
) -> None:
    table = tables(joined_timelines(found), interval=interval, segments=False).at
    for stream, row in zip(found, table, strict=True):
        assert by_name(row) == pytest.approx(plain_streams.shares(stream, interval), abs=EXACT)


@MANY
@given(streams(most=7), st.sampled_from([(0.5, 8.0), (0.1, 1.0), (3.0, 3.01), (2.0, 200.0)]))
def test_every_integrated_class_equals_the_plain_definition(
    stream: Stream, limits: tuple[float, float]
) -> None:
    over = tables(joined_timelines([stream]), bounds=Bounds(*limits), segments=False).over
    assert over is not None
    assert by_name(over[0]) == pytest.approx(plain_streams.integral(stream, *limits), abs=EXACT)


@SOME
@given(st.lists(streams(), min_size=1, max_size=6), intervals)
def test_neighbours_change_nothing(found: list[Stream], interval: float | None) -> None:
    together = tables(joined_timelines(found), interval=interval, bounds=Bounds())
    assert together.over is not None
    for k, stream in enumerate(found):
        alone = tables(joined_timelines([stream]), interval=interval, bounds=Bounds())
        assert alone.over is not None
        assert together.at[k] == pytest.approx(alone.at[0], abs=EXACT, nan_ok=True)
        assert together.over[k] == pytest.approx(alone.over[0], abs=EXACT, nan_ok=True)


@SOME
@given(streams(), st.sampled_from([0.5, 2.0, 7.0]))
def test_a_score_says_what_the_plain_definition_says(stream: Stream, interval: float) -> None:
    score = score_timelines([timeline_of(stream)], interval=interval)
    want = plain_streams.shares(stream, interval)
    shares = score.overall.at_interval
    assert sum(shares.classes().values()) == pytest.approx(1.0, abs=EXACT)
    assert {**dict.fromkeys(ALL_CLASSES, 0.0), **shares.classes()} == pytest.approx(want, abs=EXACT)
    if any(stream.references):
        assert shares.in_force == pytest.approx(plain_streams.in_force_accuracy(want), abs=1e-10)
        drawn = score.curve(metrics=("in_force", "stale"))
        assert float(drawn["in_force"](interval)) == pytest.approx(shares.in_force, abs=1e-9)
        assert float(drawn["stale"](interval)) == pytest.approx(want["stale"], abs=1e-10)


@SOME
@given(streams(most=30), st.floats(0.1, 20))
def test_long_delays_are_swept_to_the_same_scales(stream: Stream, c_max: float) -> None:
    """Streams with many overlapping answers take another way to the same critical scales."""
    from streamdecisionbench.kernel import trajectory as in_force_replay

    flat = joined_timelines([stream])
    limit = np.array([c_max])
    side_by_side = critical_scale(flat, limit)
    swept = side_by_side.copy()
    in_force_replay._lower_envelope(flat, 0, swept)
    below = np.minimum(side_by_side, swept) < c_max
    assert side_by_side[below] == pytest.approx(swept[below], rel=1e-12)


def test_one_answer_delayed_beyond_everything_is_as_cheap_as_any_other() -> None:
    n = 20_000
    latency = np.full(n, 0.1)
    latency[3] = 15_000.0
    part = Timeline("x", "f", 1.0, np.arange(n) * 1.0, latency, np.zeros(n, int), np.zeros(n, int))
    assert score_timelines([part]).overall.at_interval.no_decision == pytest.approx(0.05 / n)


def test_the_five_row_example_by_hand() -> None:
    """States at 0, 2, 3, 7, 8 s until 10 s; nobody knows what was right at 3 s; one answer is lost.

    0–1 no decision, 1–2 right; the state of 2 s wants b, a is in force and was right when asked: stale
    until its own answer at 2.5, right until 3; 3–7 unjudged; at 7 the answer of 3 s (b, at 3.5) is in
    force, a is wanted, and nobody knows whether b was right when asked: unattributed until the end, as
    no answer came at 7 and the last one comes too late.
    """
    stream = Stream(
        times=[0.0, 2.0, 3.0, 7.0, 8.0],
        latencies=[1.0, 0.5, 0.5, None, 4.0],
        references=["a", "b", None, "a", "a"],
        decisions=["a", "b", "b", None, "a"],
        end=10.0,
    )
    row = by_name(tables(joined_timelines([stream])).at[0])
    assert row == pytest.approx(
        {
            "current_correct": 0.15,
            "judgment": 0.0,
            "stale": 0.05,
            "compound": 0.0,
            "outdated_correct": 0.0,
            "no_decision": 0.1,
            "unjudged": 0.4,
            "unattributed": 0.3,
        },
        abs=1e-15,
    )


def test_a_right_decision_from_an_unjudged_state_counts_as_current_correct() -> None:
    stream = Stream([0.0, 1.0], [0.5, None], [None, "a"], ["a", None], 2.0)
    row = by_name(tables(joined_timelines([stream])).at[0])
    assert (row["current_correct"], row["unjudged"]) == (0.5, 0.5)


def test_batches_hold_whole_streams_and_all_of_them() -> None:
    sizes = np.array([1] * 5000 + [100] * 300 + [30_000, 1, 2])
    found = list(batches(sizes))
    assert [b.start for b in found[1:]] == [b.stop for b in found[:-1]]
    assert (found[0].start, found[-1].stop) == (0, len(sizes))
    assert all(b.stop - b.start <= 2048 for b in found)
    assert all(sizes[b].sum() <= 8192 or b.stop - b.start == 1 for b in found)


def test_memory_is_linear_in_streams() -> None:
    """Twice the streams need at most about twice the memory, and 60 steps of 50,000 a gigabyte."""

    def peak(count: int) -> int:
        rng = np.random.default_rng(1)
        n = 60
        parts = [
            Timeline(
                f"s{k}",
                f"f{k % 4}",
                2.0,
                np.arange(n) * 2.0,
                rng.exponential(2.0, n),
                rng.integers(0, 3, n),
                rng.integers(0, 3, n),
            )
            for k in range(count)
        ]
        tracemalloc.start()
        score = score_timelines(parts)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert score.by_scenario["s0"].name == "s0"
        return most

    one, two = peak(500), peak(1000)
    assert two < 2.5 * one
    assert two * 50 < 1e9
