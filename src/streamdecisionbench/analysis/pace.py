"""How the score depends on pace: at single intervals, and on the bounds and weighting of the AUC.

Multiplying every latency by c on a recording at interval Δ equals the same latencies at Δ/c.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamdecisionbench.analysis.result_table import Cell, Table, percent, text
from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.score import score_timelines
from streamdecisionbench.scoring.timeline import Timeline

__all__ = [
    "SCALES",
    "SENSITIVITY",
    "Pace",
    "Sensitivity",
    "pace",
    "pace_table",
    "sensitivity",
    "sensitivity_table",
]

SCALES = (("×0.5", 0.5), ("×2/3", 2 / 3), ("×1", 1.0), ("×1.5", 1.5), ("×2", 2.0))
"""Latency scales of the published time-step table."""

SENSITIVITY = (
    Bounds(0.5, 8.0), Bounds(0.5, 8.0, "linear"), Bounds(1.0, 4.0), Bounds(0.5, 4.0),
    Bounds(1.0, 8.0), Bounds(0.1, 4.0), Bounds(0.1, 8.0),
)  # fmt: skip
"""All six combinations of 0.1, 0.5, 1 s with 4, 8 s, and linear weighting of the primary bounds."""


@dataclass(frozen=True, slots=True)
class Pace:
    """In-force accuracy with latencies scaled: equivalent to `interval` at the recorded ones."""

    label: str
    scale: float
    interval: float
    in_force: float


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The integrated score for each choice of bounds and weighting, and A at the interval."""

    aucs: Mapping[str, float]
    interval: float
    in_force: float


def pace(
    parts: Sequence[Timeline],
    *,
    scales: Sequence[tuple[str, float]] = SCALES,
    tick: float | None = None,
) -> list[Pace]:
    """In-force accuracy at each latency scale, relative to the recording's own tick."""
    base = parts[0].tick if tick is None else tick
    if tick is None and any(p.tick != base for p in parts):
        raise InputError(
            "scenarios were recorded at different intervals", fix="name the intervals instead"
        )
    found = []
    for label, scale in scales:
        if not scale > 0:
            raise InputError(f"latency scale {scale:g} is not above 0")
        scored = score_timelines(parts, interval=base / scale)
        found.append(Pace(label, scale, base / scale, scored.in_force))
    return found


def sensitivity(
    parts: Sequence[Timeline],
    *,
    bounds: Sequence[Bounds] = SENSITIVITY,
    interval: float = 2.0,
) -> Sensitivity:
    """How much the choice of bounds and weighting decides."""
    return Sensitivity(
        {b.text(): score_timelines(parts, bounds=b).log_auc for b in bounds},
        interval,
        score_timelines(parts, interval=interval).in_force,
    )


def pace_table(results: Mapping[str, Sequence[Pace]]) -> Table:
    """One row per scale, one column per recording."""
    first = next(iter(results.values()))
    return Table(
        "In-force accuracy by time-step interval (%)",
        (text("scale"), text("interval"), *(percent(name) for name in results)),
        tuple(
            (row.label, f"{row.interval:.2f} s", *(found[k].in_force for found in results.values()))
            for k, row in enumerate(first)
        ),
        ("Answers and latencies as recorded; ×1 is the recording's own pace.",),
    )


def sensitivity_table(results: Mapping[str, Sensitivity]) -> Table:
    """One row per choice, one column per recording."""
    first = next(iter(results.values()))
    rows: list[tuple[Cell, ...]] = [
        (label, *(found.aucs[label] for found in results.values())) for label in first.aucs
    ]
    rows.append((f"at {first.interval:g} s", *(f.in_force for f in results.values())))
    return Table(
        "Normalised AUC by bounds and weighting (%)",
        (text("", "score"), *(percent(name) for name in results)),
        tuple(rows),
        ("log 0.5–8 s is the primary score.",),
    )
