"""Each analysis on a case small enough to check by hand."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamdecisionbench as sdb
from streamdecisionbench.analysis.network import has_decode, network_estimate
from streamdecisionbench.analysis.paper_analyses import (
    SCHEDULES,
    ErrorCount,
    baselines,
    choose_window,
    clock_gap,
    offsets,
    pace,
    paired_counts,
    project,
    separability,
    transition_errors,
    window_shares,
)
from streamdecisionbench.analysis.repeated_runs import repeats
from streamdecisionbench.analysis.token_cost import cost
from streamdecisionbench.components.contract import Usage
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import JoinedTimelines
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.shares import classify_at
from streamdecisionbench.recording.prices import read_prices
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.score import score_timelines
from streamdecisionbench.scoring.timelines import timelines
from tests.analysis.kit import timeline, with_usage

USAGE = [Usage(1000 + 100 * k, 0, 40 + 10 * k, 5 * k) for k in range(4)]


@given(st.lists(st.integers(0, 2), min_size=2, max_size=30))
def test_offsets_are_the_nearest_change_ties_to_the_earlier(reference: list[int]) -> None:
    changes = [i for i in range(1, len(reference)) if reference[i] != reference[i - 1]]
    found = offsets(np.array(reference))
    if not changes:
        assert found is None
        return
    assert found is not None
    nearest = [min(changes, key=lambda c: (abs(t - c), c)) for t in range(len(reference))]
    assert found.tolist() == [t - c for t, c in enumerate(nearest)]


def test_transition_errors_count_every_state_once() -> None:
    part = timeline([0, 0, 0, 0, 1, 1, 2], [0, 9, 0, 9, 1, 1, 9], family="a")
    still = timeline([5, 5], [5, 9], name="still", family="b")
    found = transition_errors([part, still])
    assert found.near["a"] == ErrorCount(4, 2)
    assert found.far["a"] == ErrorCount(3, 1)
    assert found.far["b"] == ErrorCount(2, 1)
    assert found.near["b"].rate is None
    assert found.without_change == 2
    assert found.by_offset["overall"][-3] == ErrorCount(1, 1)
    assert sum(c.states for c in found.by_offset["overall"].values()) == 7


def test_paired_counts() -> None:
    a = [timeline([0, 1, 2, 3], [0, 1, 9, 9], family="a")]
    b = [timeline([0, 1, 2, 3], [0, 9, 2, 9], family="a")]
    counts = paired_counts(a, b, ("x", "y")).counts[-1]
    assert (counts.both, counts.only_first, counts.only_second, counts.neither) == (1, 1, 1, 1)
    assert counts.either == 0.75
    with pytest.raises(InputError, match="same states"):
        paired_counts(a, [timeline([0, 1, 2], [0, 1, 2])])


def test_pace_is_the_score_at_the_interval() -> None:
    part = timeline(list(range(10)), latency=1.0)
    rows = {row.label: row for row in pace([part])}
    assert rows["×2"].interval == pytest.approx(1.0)
    for row in rows.values():
        assert row.in_force == score_timelines([part], interval=row.interval).in_force


def test_clocks_differ_by_what_late_releases_are_worth() -> None:
    """A state published half a tick late moves its own evidence and its answer; its plan does not move."""
    example, suite = sdb.example_recording(), sdb.example_suite()
    episode = example.episodes["tiny"]
    late = tuple(
        msgspec.structs.replace(r, release_s=r.release_s + (0.5 if r.t == 2 else 0.0))
        for r in episode.releases
    )
    moved = replace(example, episodes={"tiny": replace(episode, releases=late)})
    gap = clock_gap(moved, suite, 1.0, Bounds(0.5, 8.0))
    on = {
        clock: score_timelines(timelines(moved, suite, clock=clock), interval=1.0)
        for clock in ("published", "nominal")
    }
    assert gap.difference == on["published"].in_force - on["nominal"].in_force != 0
    assert gap.log_auc_difference == on["published"].log_auc - on["nominal"].log_auc
    assert gap.by_scenario == {"tiny": pytest.approx(gap.difference, abs=1e-12)}
    assert gap.worst_lag_s == pytest.approx(0.5)
    assert gap.scored == "nominal"
    assert clock_gap(example, suite, 1.0, Bounds(0.5, 8.0)).scored == "recorded"


def test_schedules_drawn_in_parts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    part = timeline([0, 0, 1, 1, 0, 2], [0, 1, 1, 1, 0, 2], [0.5, 1.5, 0.7, 3.0, 0.2, 0.9])
    whole = project([part], draws=50)
    monkeypatch.setattr("streamdecisionbench.analysis.paper_analyses._STATES_AT_ONCE", 400)
    for one, other in zip(whole, project([part], draws=50), strict=True):
        assert one.oracle == pytest.approx(other.oracle, abs=1e-12)


def test_schedules_have_the_published_changes_and_steps() -> None:
    changes = {s.name: s.changes for s in SCHEDULES}
    assert list(changes.values()) == [5, 11, 22, 40, 22, 22, 22]
    for schedule in SCHEDULES:
        reference = schedule.reference()
        assert len(reference) == 60
        assert (np.diff(reference) != 0).sum() == schedule.changes
    bursty = next(s for s in SCHEDULES if s.name == "bursty").segments
    runs = "".join("1" if n == 1 else " " for n in bursty).split()
    assert [len(run) + 1 for run in runs] == [6, 6, 5, 5]


def test_projection_of_constant_latency_is_exact() -> None:
    """O = 1 − K·L / (H − r_0) while L is shorter than a segment; drawing from one value is no draw."""
    part = timeline(np.repeat(np.arange(6), 10).tolist(), latency=0.5)
    rows = {row.schedule: row for row in project([part], draws=3)}
    assert rows["sparse"].oracle == pytest.approx(1 - 6 * 0.5 / 120)
    assert rows["the suite's own"].projected == pytest.approx(1 - 6 * 0.5 / 120)
    # With a latency shorter than every segment, coming back to a decision gains nothing.
    assert rows["recurrent A-B-A"].oracle == pytest.approx(1 - 23 * 0.5 / 120)


def test_baselines_on_the_example() -> None:
    found = baselines(sdb.example_suite()).by_scenario["tiny"]
    assert (found.states, found.first_option, found.best_constant) == (4, 3, 3)


def test_repeats_give_mean_and_range() -> None:
    one = score_timelines([timeline([0, 1, 2, 3], [0, 1, 2, 9])], name="one")
    two = score_timelines([timeline([0, 1, 2, 3], [0, 9, 9, 9])], name="two")
    found = repeats([one, two])
    assert found.headlines["untimed"].mean == pytest.approx(0.5)
    assert (found.headlines["untimed"].low, found.headlines["untimed"].high) == (0.25, 0.75)
    assert (found.always_right, found.never_right) == (0.25, 0.25)
    with pytest.raises(InputError, match="no range"):
        repeats([one])


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.floats(0, 9)), min_size=2, max_size=25
    ),
    st.floats(0.3, 20),
)
def test_windows_hold_the_right_time_they_overlap(
    steps: list[tuple[int, int, float]], seconds: float
) -> None:
    reference, predicted, latency = (list(column) for column in zip(*steps, strict=True))
    part = timeline(reference, predicted, latency)
    held = classify_at(JoinedTimelines([part]), 2.0)
    spans = [
        (b, e) for b, e, right in zip(held.begin, held.end, held.correct, strict=True) if right
    ]
    for k, share in enumerate(window_shares(part, seconds=seconds)):
        low, high = k * part.tick, k * part.tick + seconds
        plain = sum(max(0.0, min(e, high) - max(b, low)) for b, e in spans) / seconds
        assert share == pytest.approx(plain, abs=1e-9)


def test_memory_is_linear_in_the_steps_of_a_scenario() -> None:
    """100,000 steps once took 22 GB; a square of 20,000 numbers alone has 3.2."""
    draw = np.random.default_rng(0)
    reference = draw.integers(0, 3, 20_000).tolist()
    predicted = [r if x < 0.7 else 0 for r, x in zip(reference, draw.random(20_000), strict=True)]
    part = timeline(reference, predicted, draw.random(20_000).tolist())
    tracemalloc.start()
    try:
        window_shares(part, seconds=20.0)
        project([part], draws=30)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200e6


def test_the_window_is_the_most_representative() -> None:
    # Right in steps 0–3 and 6, wrong elsewhere; zero latency, so shares are counts of steps.
    part = timeline(list(range(8)), [0, 1, 2, 3, 9, 9, 6, 9])
    shares = window_shares(part, seconds=4.0)
    assert shares.tolist() == pytest.approx([1.0, 1.0, 1.0, 0.5, 0.0, 0.5, 0.5])
    chosen = choose_window({"x": [part]}, seconds=4.0)
    assert (chosen.start_step, chosen.start_s, chosen.end_s, chosen.candidates) == (3, 6.0, 10.0, 7)
    assert chosen.deviation == pytest.approx(abs(0.5 - 5 / 8))
    with pytest.raises(InputError, match="not in these recordings"):
        choose_window({"x": [part]}, scenario="nowhere")
    with pytest.raises(InputError, match="ask for less"):
        choose_window({"x": [part]}, seconds=100.0)


def test_separability_is_exact_without_latency() -> None:
    part = timeline([0, 1, 2, 3], [0, 1, 9, 9])
    found = separability([part])
    assert found.max_deviation == pytest.approx(0, abs=1e-12)
    assert found.overall.product == pytest.approx(0.5)


def test_cost_by_provider_alias_and_own_prices(tmp_path: Path) -> None:
    example = sdb.example_recording()
    astra = with_usage(
        example,
        USAGE,
        {"component": "openai:gpt-6-astra", "provider": "openai", "model": "gpt-6-astra"},
    )
    found = cost(astra)
    assert found is not None
    assert found.tokens.input_total == 4600
    assert found.input == pytest.approx(4600 * 10 / 1e6)
    assert found.output == pytest.approx(220 * 50 / 1e6)
    assert found.per_hour(2.0) == pytest.approx((found.total or 0) / 4 * 1800)
    simulated = with_usage(example, USAGE, {"provider": "simulated", "model": "jev"})
    priced = cost(simulated)
    assert priced is not None
    assert priced.price is not None
    assert priced.price.input == 0.042
    # A model of somebody else's that happens to be called like a published setting has no price.
    stranger = cost(with_usage(example, USAGE, {"provider": "chat", "model": "jev"}))
    assert stranger is not None
    assert stranger.total is None
    own = tmp_path / "prices.json"
    line = {"provider": "chat", "model": "je*", "input": 1.0, "output": 2.0, "cached_input": 0.5}
    own.write_text(json.dumps({"currency": "EUR", "as_of": "2026-11-01", "prices": [line]}))
    cached = [Usage(1000, 600, 10, 0)] * 4
    mine = cost(with_usage(example, cached, {"provider": "chat", "model": "jev"}), read_prices(own))
    assert mine is not None
    assert mine.input == pytest.approx((1600 * 1.0 + 2400 * 0.5) / 1e6)
    assert mine.currency == "EUR"


@pytest.mark.parametrize(
    ("component", "total"),
    [
        ("openai:gpt-6-luna", (1600 * 0.1 + 2400 * 0.01 + 40 * 0.5) / 1e6),
        ("openai-decisions:gpt-6-luna", (1600 + 2400) * 0.1 / 1e6),
    ],
)
def test_gpt_6_luna_has_a_price_and_a_cached_one(component: str, total: float) -> None:
    provider, _, model = component.partition(":")
    config = {"component": component, "provider": provider, "model": model}
    found = cost(with_usage(sdb.example_recording(), [Usage(1000, 600, 10, 0)] * 4, config))
    assert found is not None
    assert found.total == pytest.approx(total)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"currency": "USD", "as_of": "x", "prices": [{"provider": "a", "model": "b", "input": -1, "output": 0}]}',
        '{"currency": "USD", "as_of": "x", "prices": [{"model": "b"}]}',
    ],
)
def test_a_bad_price_table_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"prices\.json"):
        read_prices(path)


def test_no_tokens_no_cost_and_no_network_estimate() -> None:
    example = sdb.example_recording()
    assert cost(example) is None
    with pytest.raises(InputError, match="no token counts"):
        network_estimate(example, sdb.example_suite())


def test_network_estimate_without_varying_tokens_is_a_quantile() -> None:
    example = sdb.example_recording()
    plain = with_usage(example, [Usage(1000, 0, 10, 0)] * 4, {"component": "openai:x"})
    found = network_estimate(plain, sdb.example_suite(), resamples=40)
    assert dict(found.fit.dropped) == {"prefill": "does not vary", "decode": "does not vary"}
    assert found.fit.remainder_s == pytest.approx(0.4)
    assert found.floor_s == pytest.approx(0.4)
    # Removing all of the 0.4 s leaves 0, 0, 0.4 and 0.4 s.
    assert found.estimate.in_force == pytest.approx(
        score_timelines([timeline([0, 0, 1, 0], [0, 0, 1, 1], [0.0, 0.0, 0.4, 0.4])]).in_force
    )


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"provider": "systemone"}, False),
        ({"provider": "openai-decisions"}, False),
        ({"component": "systemone:jev"}, False),
        ({"provider": "openai"}, True),
        ({"component": "astra-low"}, True),
    ],
)
def test_decision_models_have_no_decode_term(config: dict, expected: bool) -> None:
    assert has_decode(Recording("x", {"config": config}, {})) is expected
