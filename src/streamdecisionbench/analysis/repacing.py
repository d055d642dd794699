"""Is re-pacing true? What one pace predicts for the others, against what was measured there.

A score re-paces recorded latencies and so assumes that a service answers as fast at four times the
rate. With recordings of one setting at several intervals this can be checked: from the recording made
at Δ_j the in-force accuracy at Δ_i is predicted, and the recording made at Δ_i has measured it. The
difference is taken scenario by scenario; its interval is Student's over scenarios, at 95 % for all
predictions together (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streamdecisionbench.analysis.result_table import Cell, Table, number, percent, text
from streamdecisionbench.analysis.student import student_quantile
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.score import Score, score, score_timelines
from streamdecisionbench.suite.scenario import Suite

__all__ = ["MATTERS", "Condition", "Prediction", "Repacing", "repacing", "repacing_tables"]

MATTERS = 0.01
"""A difference below one point does not make a prediction wrong, however sure it is."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One recording at its own pace."""

    name: str
    interval: float
    in_force: float
    oracle: float
    latency_p50_s: float
    latency_p95_s: float
    latency_p99_s: float
    held: bool
    """Whether the client itself kept the pace; one that did not is left out of conclusions."""
    remark: str

    @property
    def rate(self) -> float:
        """Requests a second."""
        return 1 / self.interval


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the recording at `source` predicts for `target`, and what was measured there."""

    source: float
    target: float
    predicted: float
    measured: float
    low: float
    high: float
    """95 % interval of measured − predicted, simultaneous over all predictions."""
    fails: bool

    @property
    def difference(self) -> float:
        return self.measured - self.predicted


@dataclass(frozen=True, slots=True)
class Repacing:
    """Every prediction between the conditions, and what follows."""

    conditions: tuple[Condition, ...]
    predictions: tuple[Prediction, ...]
    fails_from: float | None
    """The longest interval at which the slowest condition's prediction fails; None: nowhere."""
    sentence: str


def repacing(recordings: Sequence[tuple[Recording, Suite]]) -> Repacing:
    """Compares recordings of one setting at several intervals, slowest first."""
    own = sorted((_own(r, s) for r, s in recordings), key=lambda s: -s.interval)
    _require_comparable(own)
    conditions = tuple(_condition(s) for s in own)
    held = [s for s, c in zip(own, conditions, strict=True) if c.held]
    pairs = [(a, b) for a in held for b in held if a is not b]
    predictions = tuple(_predict(a, b, len(pairs)) for a, b in pairs)
    fails_from = None
    if held:
        slowest = held[0].interval
        failing = [p.target for p in predictions if p.source == slowest and p.fails]
        fails_from = max(failing, default=None)
    return Repacing(
        conditions, predictions, fails_from, _sentence(conditions, predictions, fails_from)
    )


def repacing_tables(result: Repacing) -> list[Table]:
    """The conditions, and every prediction between those that were held."""
    conditions: list[tuple[Cell, ...]] = [
        (c.interval, c.rate, c.in_force, c.oracle, c.latency_p50_s, c.latency_p95_s,
         "held" if c.held else "not held")
        for c in result.conditions
    ]  # fmt: skip
    predictions: list[tuple[Cell, ...]] = [
        (p.source, p.target, p.predicted, p.measured, 100 * p.difference, 100 * p.low,
         100 * p.high, "fails" if p.fails else "holds")
        for p in result.predictions
    ]  # fmt: skip
    remarks = tuple(f"at {c.interval:g} s: {c.remark}" for c in result.conditions if c.remark)
    return [
        Table(
            "Measured at each pace",
            (
                number("interval (s)", 3, "interval_s"),
                number("requests/s", 2, "rate"),
                percent("in force", "in_force"),
                percent("oracle", "oracle"),
                number("p50 (s)", 3, "latency_p50_s"),
                number("p95 (s)", 3, "latency_p95_s"),
                text("pace", "held"),
            ),
            tuple(conditions),
            remarks,
        ),
        Table(
            "Predicted from one pace, measured at another (in force; points)",
            (
                number("from (s)", 3, "source_s"),
                number("at (s)", 3, "target_s"),
                percent("predicted", "predicted"),
                percent("measured", "measured"),
                number("diff.", 1, "difference_points"),
                number("low", 1, "low_points"),
                number("high", 1, "high_points"),
                text("", "verdict"),
            ),
            tuple(predictions),
            (result.sentence,),
        ),
    ]


def _own(recording: Recording, suite: Suite) -> Score:
    """The score at the pace it was recorded at."""
    first = score(recording, suite)
    ticks = {part.tick for part in first.parts}
    if len(ticks) > 1:
        raise InputError(
            "its scenarios were recorded at different intervals",
            where=recording.name,
            fix="record with --interval",
        )
    return score(recording, suite, interval=ticks.pop())


def _require_comparable(scores: Sequence[Score]) -> None:
    if len({s.interval for s in scores}) < 2:
        raise InputError(
            "re-pacing is checked between paces, and there is only one",
            fix="give recordings of one setting at two or more intervals: `sdb run --intervals`",
        )
    for one in scores[1:]:
        if set(one.by_scenario) != set(scores[0].by_scenario):
            raise InputError(
                f"does not cover the same scenarios as {scores[0].name}",
                where=one.name,
                fix="record the same scenarios at every interval",
            )


def _condition(own: Score) -> Condition:
    found, on_time = own.latency, own.punctuality
    if found is None or on_time is None:
        raise AssertionError("a recording has latencies and releases")
    return Condition(
        name=own.name,
        interval=own.interval,
        in_force=own.in_force,
        oracle=own.oracle,
        latency_p50_s=found.p50,
        latency_p95_s=found.p95,
        latency_p99_s=found.p99,
        held=on_time.punctual,
        remark=on_time.words,
    )


def _predict(source: Score, target: Score, predictions: int) -> Prediction:
    predicted = score_timelines(source.parts, interval=target.interval)
    names = list(target.by_scenario)
    differences = np.array(
        [target.by_scenario[e].in_force - predicted.by_scenario[e].in_force for e in names]
    )
    middle = target.in_force - predicted.in_force
    half = math.inf
    if len(names) > 1:
        t = student_quantile(1 - 0.025 / max(predictions, 1), len(names) - 1)
        half = float(t * differences.std(ddof=1) / math.sqrt(len(names)))
    low, high = middle - half, middle + half
    return Prediction(
        source=source.interval,
        target=target.interval,
        predicted=predicted.in_force,
        measured=target.in_force,
        low=low,
        high=high,
        fails=abs(middle) > MATTERS and not low <= 0 <= high,
    )


def _sentence(
    conditions: Sequence[Condition], predictions: Sequence[Prediction], fails_from: float | None
) -> str:
    held = [c for c in conditions if c.held]
    left_out = [f"{c.interval:g} s" for c in conditions if not c.held]
    also = f" Left out, the client could not keep the pace: {', '.join(left_out)}." * bool(left_out)
    if len(held) < 2:
        return f"Fewer than two paces were held, so nothing can be said.{also}"
    slowest = held[0]
    if fails_from is None:
        return (
            f"What was recorded at {slowest.interval:g} s predicts every measured pace down to"
            f" {held[-1].interval:g} s.{also}"
        )
    worst = next(p for p in predictions if p.source == slowest.interval and p.target == fails_from)
    return (
        f"What was recorded at {slowest.interval:g} s fails to predict from {fails_from:g} s"
        f" ({1 / fails_from:.3g} requests a second) on: predicted {100 * worst.predicted:.1f},"
        f" measured {100 * worst.measured:.1f}.{also}"
    )
