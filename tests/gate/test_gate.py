"""The gate: verdicts as defined, few false alarms, drops found as often as it promises."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binom, t

from streamdecisionbench.analysis.bootstrap import Estimate, Sampling
from streamdecisionbench.analysis.flips import Flip, Flips
from streamdecisionbench.errors import InputError
from streamdecisionbench.gate.outputs import (
    junit_xml,
    verdict_line,
    workflow_commands,
)
from streamdecisionbench.gate.verdict import (
    CANNOT_TELL,
    FAIL,
    PASS,
    Gate,
    Limits,
    Side,
    Sides,
    Streams,
    gate_by_scenario,
    gate_estimates,
    gate_streams,
    gate_timelines,
)
from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.logs.log_score import score_log
from streamdecisionbench.scoring.intervals import student_quantile
from tests.analysis.kit import bench
from tests.logs.made_logs import service_logs

STEPS, TICK, FAMILIES = 60, 2.0, ("a", "a", "b", "b", "c", "c", "d", "d")
TRIALS = 100
SAMPLING = Sampling(block=10, resamples=800, seed=0)


def pair(rng: np.random.Generator, drop: float) -> tuple[list[Timeline], list[Timeline]]:
    """A baseline that errs in runs, and a new component: the same but for states that flip.

    A twentieth of all states flips either way; `drop` more of them flip from right to wrong.
    """
    old, new = [], []
    for k, family in enumerate(FAMILIES):
        reference = np.repeat(np.arange(STEPS // 3), 3)
        runs = np.repeat(rng.random(STEPS // 5) < 0.2, 5)
        flips = rng.random(STEPS)
        lost = ~runs & (flips < (0.04 + drop) / 0.8)
        won = runs & (flips < 0.04 / 0.2)
        wrong = (runs | lost) & ~won
        for where, mask in ((old, runs), (new, wrong)):
            where.append(
                Timeline(
                    f"s{k}", family, TICK, np.arange(STEPS, dtype=np.float64) * TICK,
                    np.full(STEPS, 0.01), reference, np.where(mask, reference + 100, reference),
                )
            )  # fmt: skip
    return new, old


@pytest.mark.parametrize("drop", [0.0, 0.02, 0.05])
def test_false_alarms_are_rare_and_drops_are_found_as_promised(drop: float) -> None:
    rng = np.random.default_rng(int(1000 * drop))
    gates = []
    for _ in range(TRIALS):
        new, old = pair(rng, drop)
        gates.append(gate_timelines(new, old, limits=Limits(0.0), interval=2.0, sampling=SAMPLING))
    failed = sum(g.verdict == FAIL for g in gates)
    if drop == 0:
        assert failed <= 5
        return
    promised = float(np.mean([g.promised(drop) for g in gates]))
    low, high = binom.ppf([0.001, 0.999], TRIALS, promised)
    assert low <= failed <= high, f"{failed} found, {100 * promised:.0f} promised"
    # The printed detectable drop is one that is promised in 80 of 100 trials.
    for gate in gates:
        assert gate.promised(gate.detectable) == pytest.approx(0.8)


def test_an_allowed_drop_is_passed_when_shown_to_be_smaller() -> None:
    new, old = pair(np.random.default_rng(1), 0.0)
    gate = gate_timelines(new, old, limits=Limits(20.0), interval=2.0, sampling=SAMPLING)
    assert gate.verdict == PASS
    assert gate.drop.value == pytest.approx(gate.baseline.value - gate.new.value)


def test_the_same_recording_drops_by_nothing_and_shows_nothing() -> None:
    new, _ = pair(np.random.default_rng(2), 0.0)
    gate = gate_timelines(new, new, limits=Limits(5.0), sampling=SAMPLING)
    assert gate.verdict == CANNOT_TELL
    assert "nothing was measured anew" in gate.reasons[0]
    room = 1 - 0.025 ** (1 / 480)
    assert (gate.drop.value, gate.drop.low, gate.drop.high) == pytest.approx((0.0, -room, room))
    # What goes unseen in so many states with a probability of 2.5 %.
    assert (1 - room) ** 480 == pytest.approx(0.025)


def made(drop: tuple[float, float], new: tuple[float, float], limits: Limits) -> Gate:
    return gate_estimates(
        Estimate(sum(new) / 2, *new, 0.01), Estimate(0.5, 0.4, 0.6, 0.01),
        Estimate(sum(drop) / 2, *drop, 0.01), limits=limits, measure="m", paired_by="state",
        drawn="blocks",
    )  # fmt: skip


@given(
    st.floats(-0.5, 0.5), st.floats(0, 0.5), st.floats(0, 1), st.floats(0, 0.4),
    st.floats(0, 20), st.none() | st.floats(0, 100),
)  # fmt: skip
@example(0.0, 0.005, 0.4, 0.2, 1.0, 50.0)
@example(0.0, 0.005, 0.4, 0.2, 1.0, 40.0)
@example(0.0, 0.005, 0.4, 0.2, 1.0, 61.0)
@example(0.0, 0.005, 0.4, 0.2, 1.0, 39.0)
@example(-0.1, 0.2, 0.4, 0.2, 1.0, None)
@example(0.02, 0.1, 0.4, 0.2, 1.0, 39.0)
@example(0.25, 0.25, 0.4, 0.2, 25.0, None)  # a drop of at least what is allowed may be just that
@example(0.0, 0.25, 0.4, 0.2, 25.0, None)  # and one of at most that is allowed
@example(-0.25, 0.25, 0.25, 0.25, 1.0, 50.0)  # a score of at most what is asked may be just that
@example(-0.25, 0.25, 0.25, 0.25, 1.0, 25.0)  # and one of at least that is enough
def test_verdicts_are_as_defined(
    low: float, width: float, score: float, spread: float, allowed: float, floor: float | None
) -> None:
    drop, new = (low, low + width), (score, min(1.0, score + spread))
    gate = made(drop, new, Limits(allowed, floor))
    fails = drop[0] > allowed / 100 or (floor is not None and new[1] < floor / 100)
    passes = drop[1] <= allowed / 100 and (floor is None or new[0] >= floor / 100)
    assert gate.verdict == (FAIL if fails else PASS if passes else CANNOT_TELL)
    assert len(gate.reasons) == 1 + (floor is not None)
    of_floor = floor is not None and (new[1] < floor / 100 or drop[1] <= allowed / 100)
    if gate.verdict == FAIL:
        assert gate.reasons[0].startswith("the score" if drop[0] <= allowed / 100 else "the drop")
    elif gate.verdict == CANNOT_TELL:
        assert gate.reasons[0].startswith("the score" if of_floor else "the drop")


def test_a_gain_is_called_a_gain_and_what_fails_comes_first() -> None:
    gate = made((-0.16, -0.11), (0.4, 0.45), Limits(1.0, 50.0))
    assert verdict_line(gate) == "FAIL: m, gain 13.5 points (11.0 to 16.0)"
    assert gate.reasons == (
        "the score is at most 45.0 points, 50 is asked",
        "the score rose by at least 11.0 points",
    )
    assert b"the score is at most 45.0 points" in junit_xml(gate)
    small = made((-0.0002, 0.0001), (0.4, 0.45), Limits(1.0))
    assert verdict_line(small) == "PASS: m, drop 0.0 points (0.0 to 0.0)"


def test_another_served_model_fails_unless_allowed() -> None:
    new, old = pair(np.random.default_rng(3), 0.0)
    sides = Sides(Side("new", models=("m-2",)), Side("old", models=("m-1",)))
    gate = gate_timelines(new, old, limits=Limits(30.0), sides=sides, sampling=SAMPLING)
    assert gate.verdict == FAIL
    assert "m-1 before, m-2 now" in gate.reasons[0]
    allowed = gate_timelines(
        new, old, limits=Limits(30.0, model_change=True), sides=sides, sampling=SAMPLING
    )
    assert allowed.verdict == PASS


def test_scores_by_scenario_are_paired_by_scenario() -> None:
    families = {f"s{k}": family for k, family in enumerate(FAMILIES)}
    old = {name: 0.6 + 0.01 * k for k, name in enumerate(families)}
    shift = np.array([0.01, 0.03, 0.02, 0.02, 0.04, 0.0, 0.02, 0.02])
    new = {name: old[name] - shift[k] for k, name in enumerate(families)}
    gate = gate_by_scenario(new, old, families, states=480, limits=Limits(1.0), measure="m")
    scatter = t.ppf(0.975, 7) * shift.std(ddof=1) / np.sqrt(8)
    half = np.hypot(scatter, 1 - 0.025 ** (1 / 480))
    assert gate.drop.value == pytest.approx(0.02)
    assert (gate.drop.low, gate.drop.high) == pytest.approx((0.02 - half, 0.02 + half))
    with pytest.raises(InputError, match="not of the same scenarios"):
        gate_by_scenario({"s0": 1.0}, old, families, states=9, limits=Limits(), measure="m")


@pytest.mark.parametrize("kind", ["logs", "unpaired", "scores", "recordings"])
def test_little_data_makes_neither_false_passes_nor_false_alarms(kind: str) -> None:
    """The bench with fewer trials, over sizes at which intervals are hard; seeds are fixed.

    At the edge of what is allowed intervals of 95 % are wrong in 2.5 of 100 trials to either side.
    """
    rates = bench("gate").rates
    trials = 25 if kind == "recordings" else 100
    found = [
        rates(kind, *size, 0.01, trials) for size in ((2, 30), (5, 10), (8, 1), (8, 3), (8, 60))
    ]
    false_pass, edge_pass, alarm, _ = np.array(found).T
    assert false_pass.max() <= 0.02
    assert false_pass.mean() <= 0.005
    for wrong in (edge_pass, alarm):
        assert wrong.max() <= binom.ppf(0.999, trials, 0.025) / trials
        assert wrong.mean() <= 0.025


@pytest.mark.parametrize("paired", [True, False])
def test_unequal_streams_make_neither_false_passes_nor_false_alarms(paired: bool) -> None:
    """The bench with fewer trials; seeds are fixed. Where streams are not that unequal, drops are found."""
    gates, trials = bench("gate"), 300
    most = binom.ppf(0.999, trials, 0.025) / trials
    wrong = []
    for shape in gates.SHAPES:
        for streams in (5, 10, 50):
            *rates, found = gates.shape_rates(shape, streams, 0.01, trials, paired=paired)
            assert max(rates) <= most, (shape, streams, rates)
            wrong.append(rates)
            if streams == 50 and shape != "one stream of 80 %":
                assert found >= 0.8
    assert np.mean(wrong, axis=0).max() <= 0.025


def test_the_interval_of_a_log_is_the_one_of_the_gate() -> None:
    """One routine: `logs score` draws replicates of streams, the gate adds residuals up."""
    first = service_logs(1, 40, seed=3)
    said = first["decision"].to_numpy().copy()
    said[np.random.default_rng(0).random(len(said)) < 0.1] = 4
    second = first.set_column(0, "log", pa.array(np.ones(len(said), dtype=np.int64)))
    second = second.set_column(second.column_names.index("decision"), "decision", pa.array(said))
    scored = score_log(pa.concat_tables([first, second]), by="log", streams=True, resamples=20_000)
    sides = [
        Streams.of(rows.keys.astype(np.int64), rows.seconds(), 10**9, [""] * len(rows.keys))
        for (rows,) in scored.streams
    ]
    gate = gate_streams(*sides, limits=Limits(), measure="m")
    for found, group in ((gate.new, scored.groups[0]), (gate.baseline, scored.groups[1])):
        assert (found.low, found.high) == pytest.approx(group.interval_95, rel=0.02)
    (difference,) = scored.differences
    _, ends = difference.in_force
    assert ends is not None
    assert (gate.drop.low, gate.drop.high) == pytest.approx(ends, abs=0.02 * (ends[1] - ends[0]))


def test_a_stream_that_is_most_of_the_time_is_named() -> None:
    judged = np.array([900.0, *[25.0] * 4])
    new, old = (
        Streams(np.arange(5), judged * share, judged, judged, 10**9)
        for share in (np.array([0.5, 0.4, 0.6, 0.5, 0.5]), np.array([0.8, 0.7, 0.9, 0.7, 0.9]))
    )
    gate = gate_streams(new, old, limits=Limits(), measure="m")
    assert gate.verdict == CANNOT_TELL
    assert "one stream has 90 % of the judged time" in " ".join(gate.reasons)


def test_two_streams_are_enough_to_find_what_is_plain() -> None:
    """With little data the gate is careful, not mute: what both streams show alike it says."""
    worse, better = (np.array([x, x + 1]) for x in (10.0, 55.0))
    for new, old, verdict in ((worse, better, FAIL), (better, worse, PASS)):
        sides = (
            Streams(np.arange(2), right, np.full(2, 60.0), np.full(2, 60.0), 120)
            for right in (new, old)
        )
        assert gate_streams(*sides, limits=Limits(5.0), measure="m").verdict == verdict


@given(st.integers(2, 30), st.floats(0, 1), st.booleans(), st.booleans(), st.integers(0, 2**32))
def test_what_one_side_lacks_could_be_all_right_or_all_wrong(
    count: int, share: float, lacks_new: bool, is_right: bool, seed: int
) -> None:
    """Whatever the judged time that only one log has held, the true drop is in the interval."""
    rng = np.random.default_rng(seed)
    judged = rng.uniform(1, 50, count)
    seen = judged * np.where(rng.random(count) < share, rng.uniform(0.01, 1, count), 1.0)
    part = seen * rng.uniform(0, 1, count)
    lacking, other = part + is_right * (judged - seen), judged * rng.uniform(0, 1, count)
    sides = [(part, seen, lacking), (other, judged, other)]
    new, old = sides if lacks_new else sides[::-1]
    true = float((old[2] - new[2]).sum() / judged.sum())
    made_of = (Streams(np.arange(count), x[0], x[1], judged, 10**9) for x in (new, old))
    gate = gate_streams(*made_of, limits=Limits(), measure="m")
    assert gate.drop.low - 1e-9 <= true <= gate.drop.high + 1e-9


@pytest.mark.parametrize("lacks_new", [True, False])
def test_without_scatter_the_interval_is_what_may_be_hidden(lacks_new: bool) -> None:
    """Ten streams of ten seconds; one side has references for eight of them, where it is right."""
    keys, whole = np.arange(10), np.full(10, 10.0)
    part = Streams(keys, np.full(10, 8.0), np.full(10, 8.0), whole, 10**9)
    other = Streams(keys, np.full(10, 9.0), whole, whole, 10**9)
    new, old = (part, other) if lacks_new else (other, part)
    drop = gate_streams(new, old, limits=Limits(), measure="m").drop
    assert (drop.low, drop.high) == pytest.approx((-0.1, 0.1), abs=1e-6)


def unequal(lengths: np.ndarray) -> tuple[float, int]:
    """By what squared residuals of a weighted mean are too small on average, and degrees of freedom.

    The residuals of values with variance one are x − Σ w·x, row by row of the matrix I − 1wᵀ.
    """
    w = lengths / lengths.sum()
    residuals = w[:, None] * (np.eye(len(w)) - w[None, :])
    return float((w @ w) / (residuals**2).sum()), max(1, round(1 / (w @ w)) - 1)


@given(st.integers(2, 12), st.integers(0, 2**32))
def test_a_drop_of_streams_is_paired_by_definition(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    judged = rng.uniform(1, 9, count)
    new, old = (judged * rng.uniform(0, 1, count) for _ in range(2))
    whole = judged.sum()
    shares = [float(x.sum() / whole) for x in (new, old)]
    apart = [
        (o - shares[1] * j) / whole - (n - shares[0] * j) / whole
        for n, o, j in zip(new, old, judged, strict=True)
    ]
    factor, degrees = unequal(judged)
    error = np.sqrt(factor * sum(x * x for x in apart))
    half = np.hypot(t.ppf(0.975, degrees) * error, 1 - 0.025 ** (1 / 50))
    sides = (Streams(np.arange(count), x, judged, judged, 50) for x in (new, old))
    drop = gate_streams(*sides, limits=Limits(), measure="m").drop
    assert drop.value == pytest.approx(shares[1] - shares[0])
    low, high = drop.value - half, drop.value + half
    assert (drop.low, drop.high) == pytest.approx((max(low, -1), min(high, 1)), abs=1e-9)


@given(st.floats(0.5, 0.9999), st.integers(1, 200))
def test_student_quantile_is_scipy_s(p: float, degrees: int) -> None:
    assert student_quantile(p, degrees) == pytest.approx(t.ppf(p, degrees), rel=1e-9, abs=1e-9)


def test_one_unit_alone_shows_no_scatter() -> None:
    """Whatever it says, anything is possible; and one scenario is not compared at all."""
    one = Streams(np.arange(1), np.full(1, 30.0), np.full(1, 60.0), np.full(1, 60.0), 10**9)
    other = replace(one, right=np.full(1, 54.0))
    for paired in (True, False):
        gate = gate_streams(one, other, limits=Limits(5.0), measure="m", paired=paired)
        assert gate.verdict == CANNOT_TELL
        assert (gate.drop.low, gate.drop.high) == (-1.0, 1.0)
    with pytest.raises(InputError, match="one scenario says nothing"):
        gate_by_scenario(
            {"s": 0.1}, {"s": 0.9}, {"s": "f"}, states=60, limits=Limits(), measure="m"
        )


def test_no_score_is_above_one_or_below_nothing() -> None:
    room = float(np.hypot(1 - 0.025 ** (1 / 20), 1 - 0.025 ** (1 / 9)))
    for right, ends in ((60.0, (1 - room, 1.0)), (0.0, (0.0, room))):
        side = Streams(np.arange(9), np.full(9, right), np.full(9, 60.0), np.full(9, 60.0), 20)
        gate = gate_streams(side, side, limits=Limits(), measure="m")
        for found in (gate.new, gate.baseline):
            assert (found.low, found.high) == pytest.approx(ends)
            assert (found.low, found.high)[right > 0] in (0.0, 1.0)


def test_scores_by_scenario_are_means_of_families() -> None:
    """Three scenarios of one family and one of another: each family is half of the whole."""
    families = {"a1": "a", "a2": "a", "a3": "a", "b1": "b"}
    old = dict.fromkeys(families, 0.8)
    new = {"a1": 0.7, "a2": 0.6, "a3": 0.5, "b1": 0.8}
    gate = gate_by_scenario(new, old, families, states=10**9, limits=Limits(), measure="m")
    assert (gate.new.value, gate.drop.value) == pytest.approx((0.7, 0.1))
    weights, drops = np.array([1 / 6, 1 / 6, 1 / 6, 1 / 2]), np.array([0.1, 0.2, 0.3, 0.0])
    factor, degrees = unequal(weights)
    half = t.ppf(0.975, degrees) * np.sqrt(factor * ((weights * (drops - 0.1)) ** 2).sum())
    assert gate.drop.high - gate.drop.value == pytest.approx(half, rel=1e-6)


@pytest.mark.parametrize("of_new", [True, False])
def test_labels_of_either_side_make_it_unable_to_tell(of_new: bool) -> None:
    plain, marked = Side("plain"), Side("marked", labels=frozenset({"simulation"}))
    new, old = (marked, plain) if of_new else (plain, marked)
    better, worse = Estimate(0.9, 0.89, 0.91, 0.01), Estimate(0.5, 0.49, 0.51, 0.01)
    drop = Estimate(-0.4, -0.41, -0.39, 0.01)
    words = {"limits": Limits(), "measure": "m", "paired_by": "state", "drawn": "blocks"}
    gate = gate_estimates(better, worse, drop, sides=Sides(new, old), **words)  # type: ignore[arg-type]
    assert gate.verdict == CANNOT_TELL
    assert gate.reasons == (f"only the {'new one' if of_new else 'baseline'} is a simulation",)
    for alike in (plain, marked):
        gate = gate_estimates(better, worse, drop, sides=Sides(alike, alike), **words)  # type: ignore[arg-type]
        assert gate.verdict == PASS


def test_room_is_that_of_the_smaller_log() -> None:
    keys, right, judged = np.arange(9), np.full(9, 30.0), np.full(9, 60.0)
    for few, many in ((20, 10**6), (10**6, 20)):
        new, old = (Streams(keys, right, judged, judged, states) for states in (few, many))
        drop = gate_streams(new, old, limits=Limits(), measure="m").drop
        assert drop.high == pytest.approx(1 - 0.025 ** (1 / 20))


def test_a_drop_without_error_is_found_or_not() -> None:
    gate = replace(made((0.0, 0.0), (0.4, 0.6), Limits(2.0)), drop=Estimate(0.0, 0.0, 0.0))
    assert [gate.promised(drop) for drop in (0.0, 0.02, 0.021)] == [0.0, 0.0, 1.0]
    assert gate.detectable == pytest.approx(0.02)
    gate = made((0.0, 0.0), (0.4, 0.6), Limits(2.0))
    assert gate.promised(gate.detectable) == pytest.approx(0.8)


def test_new_times_are_a_new_measurement() -> None:
    """The same answers after other times were given anew; after the same times they are a copy."""
    old, _ = pair(np.random.default_rng(4), 0.0)
    again = [replace(part, latency=part.latency + 1e-9) for part in old]
    for new, said in ((again, False), (old, True)):
        gate = gate_timelines(new, old, limits=Limits(5.0), interval=2.0, sampling=SAMPLING)
        assert any("nothing was measured anew" in reason for reason in gate.reasons) == said


def test_two_samples_scatter_each_for_itself() -> None:
    """Unpaired, both logs' variances add; degrees of freedom are Welch's and Satterthwaite's."""
    rng = np.random.default_rng(8)
    sides, errors = [], []
    for count, wide in ((6, 0.1), (11, 0.4)):
        judged = rng.uniform(20, 60, count)
        right = judged * rng.uniform(0.5 - wide, 0.5 + wide, count)
        apart = (right - right.sum() / judged.sum() * judged) / judged.sum()
        factor, degrees = unequal(judged)
        errors.append((factor * (apart @ apart), degrees))
        sides.append(Streams(np.arange(count), right, judged, judged, 10**9))
    total = sum(v for v, _ in errors)
    degrees = int(total**2 / sum(v * v / k for v, k in errors))
    half = t.ppf(0.975, degrees) * np.sqrt(total)
    drop = gate_streams(*sides, limits=Limits(), measure="m", paired=False).drop
    assert drop.high - drop.value == pytest.approx(half, rel=1e-6)


def test_limits_are_points() -> None:
    Limits(0.0, 0.0)
    Limits(100.0, 100.0)
    with pytest.raises(InputError, match="max-drop"):
        Limits(-1e-9)
    with pytest.raises(InputError, match="--min"):
        Limits(1.0, 100.1)


STRICT = (
    # verdict, strict; JUnit: failures, skipped; annotation
    (PASS, False, ("0", "0"), "notice"),
    (PASS, True, ("0", "0"), "notice"),
    (CANNOT_TELL, False, ("0", "1"), "warning"),
    (CANNOT_TELL, True, ("1", "0"), "error"),
    (FAIL, False, ("1", "0"), "error"),
    (FAIL, True, ("1", "0"), "error"),
)


@pytest.mark.parametrize(("verdict", "strict", "counts", "kind"), STRICT)
def test_every_form_of_a_verdict_is_as_strict(
    verdict: str, strict: bool, counts: tuple[str, str], kind: str
) -> None:
    drop = {PASS: (0.0, 0.005), CANNOT_TELL: (0.0, 0.1), FAIL: (0.05, 0.1)}[verdict]
    gate = made(drop, (0.4, 0.6), Limits(1.0))
    assert gate.verdict == verdict
    root = ET.fromstring(junit_xml(gate, strict=strict))  # noqa: S314
    for level in (root, root[0]):
        assert (level.get("failures"), level.get("skipped")) == counts
    case = root[0][0]
    assert [child.tag for child in case if child.tag in ("failure", "skipped")] == (
        ["failure"] * int(counts[0]) + ["skipped"] * int(counts[1])
    )
    (line,) = workflow_commands(gate, strict=strict)
    assert line.startswith(f"::{kind} title=sdb gate::")


def test_annotations_are_one_line_that_reads_back() -> None:
    """`%`, line ends, and in a title `:` and `,` as well, are written so that the runner undoes it."""
    odd = "50 %25 of: a, b\r\nnext"
    flip = Flip(odd, 3, "lost", {"q": odd}, {"q": odd}, {"q": "x%0Ay"}, 0.1, 0.2, ())
    gate = replace(made((0.05, 0.1), (0.4, 0.6), Limits(1.0)), flips=Flips("a", "b", 9, (flip,)))
    verdict, lost = workflow_commands(gate)
    assert verdict.count("::") == 2
    title, said = re.fullmatch(r"::warning title=([^:,\r\n]*)::([^\r\n]*)", lost).groups()  # type: ignore[union-attr]
    undone = said.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
    assert undone == f"right before, wrong now: q=x%0Ay instead of q={odd}"
    for code, sign in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        title = title.replace(code, sign)
    assert title == f"{odd} step 3"
