"""Calibration in force: how far the confidence of the decision in force can be trusted, by time.

With q(t) the composed confidence of the decision in force and e(t) = 1 where it is right now,

    Brier = ∫ (q − e)² dt / ∫ dt,   over the time with a decision in force.

Reliability compares mean confidence with the share of time right in bins of q; risk against coverage
keeps only decisions of at least some confidence and says how much of their time is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from streamdecisionbench.components.contract import RETURN_CONFIDENCE
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import JoinedTimelines
from streamdecisionbench.kernel.levels import family_weights
from streamdecisionbench.kernel.shares import classify_trajectory
from streamdecisionbench.policies.policy_file import Policy
from streamdecisionbench.render.table import (
    Table,
    percentage,
    text,
)
from streamdecisionbench.scoring.policy_answers import Answers
from streamdecisionbench.scoring.policy_replay import policy_trajectory

BINS = 10
_SAME = 1e-12


@dataclass(frozen=True, slots=True)
class Bin:
    """Confidences in [low, high): share of decided time, mean confidence, share of it right."""

    low: float
    high: float
    time: float
    confidence: float
    right: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """Decisions at least `confidence` sure: share of decided time, and how much of it is wrong."""

    confidence: float
    coverage: float
    risk: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """One recording at one interval; scenarios count as in the score."""

    interval: float
    compose: str
    decided: float
    """Share of observed time with a decision in force."""
    brier: float
    confidence: float
    right: float
    bins: tuple[Bin, ...]
    coverage: tuple[Coverage, ...]
    """From all decisions to the surest ones."""

    def risk_at(self, coverage: float) -> float:
        """How much of the time is wrong among the surest decisions that cover at least so much."""
        return [p for p in self.coverage if p.coverage >= coverage - _SAME][-1].risk


def calibration(answers: Answers, interval: float, compose: str = "min") -> Calibration:
    """Time-weighted calibration of the newest answer in force; refused without confidences."""
    if answers.confidence is None:
        raise InputError(
            "its answers carry no confidences",
            where=answers.name,
            fix=f"calibration needs a component that returns probabilities; {RETURN_CONFIDENCE}",
        )
    parts = answers.parts
    flat = JoinedTimelines(parts)
    weights = family_weights([p.family for p in parts])
    path = policy_trajectory(Policy(), [answers], interval)
    found = classify_trajectory(flat, path)
    source = path.source[found.piece]
    mine = np.flatnonzero((source >= 0) & (found.begin < found.end))
    share = flat.time_weight * weights[flat.scenario]
    time = ((found.end - found.begin) * share[found.step])[mine]
    q = np.concatenate(list(answers.confidence[compose]))[source[mine]]
    e = found.correct[mine].astype(np.float64)
    total = float(time.sum())
    if total <= 0:
        raise InputError(
            f"no decision is ever in force at {interval:g} s",
            where=answers.name,
            fix="ask for a longer interval",
        )
    place = np.minimum((q * BINS).astype(np.int64), BINS - 1)
    bins = []
    for b in range(BINS):
        mine = place == b
        own = float(time[mine].sum())
        if own > 0:
            sums = (float((time * x)[mine].sum()) / own for x in (q, e))
            bins.append(Bin(b / BINS, (b + 1) / BINS, own / total, *sums))
    levels = np.unique(np.concatenate(([0.0], np.quantile(q, np.linspace(0, 0.95, 20)))))
    curve = []
    for level in levels.tolist():
        kept = q >= level
        own = float(time[kept].sum())
        curve.append(Coverage(level, own / total, 1 - float((time * e)[kept].sum()) / own))
    return Calibration(
        interval, compose, total, float((time * (q - e) ** 2).sum()) / total,
        float((time * q).sum()) / total, float((time * e).sum()) / total, tuple(bins), tuple(curve),
    )  # fmt: skip


def calibration_tables(found: Mapping[str, Calibration]) -> Sequence[Table]:
    """All recordings side by side, then reliability and risk against coverage of each."""
    tables = [calibration_table(found)]
    for name, c in found.items():
        tables.append(
            Table(
                f"{name}: reliability (%)",
                (percentage("from", "low", 0), percentage("to", "high", 0), percentage("time"),
                 percentage("confidence"), percentage("right")),
                tuple((b.low, b.high, b.time, b.confidence, b.right) for b in c.bins),
            )
        )  # fmt: skip
        tables.append(
            Table(
                f"{name}: risk against coverage (%)",
                (percentage("at least", "confidence", 0), percentage("coverage"), percentage("risk")),
                tuple((p.confidence, p.coverage, p.risk) for p in c.coverage[::3]),
            )
        )  # fmt: skip
    return tables


def calibration_table(found: Mapping[str, Calibration], *, risks: bool = False) -> Table:
    """One row per recording; `risks` adds what curves of their own show otherwise."""
    first = next(iter(found.values()))
    more = (percentage("Overconfident"), percentage("Risk at 80 %"), percentage("Risk at 50 %"))
    return Table(
        f"Calibration in force at {first.interval:g} s, {first.compose} (%)",
        (text("", "recording", "Setting"), percentage("Brier", "brier", title="Brier %"),
         percentage("confidence", title="Confidence %"), percentage("right", title="Right %"),
         *(more if risks else ()), percentage("decided", title="Decided %")),
        tuple(
            (name, c.brier, c.confidence, c.right,
             *((c.confidence - c.right, c.risk_at(0.8), c.risk_at(0.5)) if risks else ()), c.decided)
            for name, c in found.items()
        ),
        ("Weighted by time in force; right: of the decision now, not when it was asked.",),
    )  # fmt: skip
