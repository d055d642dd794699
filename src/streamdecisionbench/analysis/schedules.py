"""Projection onto other reference schedules: untimed accuracy × mean oracle share.

The oracle share depends on the schedule and the latencies alone, so it is computed exactly for
latencies drawn with replacement from the recording. The projection assumes A ≈ U·O and that U does
not depend on the schedule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from streamdecisionbench.analysis.result_table import Cell, Table, count, percent, text
from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.bounds import check_interval
from streamdecisionbench.scoring.classes import shares_at
from streamdecisionbench.scoring.in_force_replay import accepted_at
from streamdecisionbench.scoring.score import family_weights, score_timelines
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints, Timeline

__all__ = ["SCHEDULES", "Projection", "Schedule", "evenly", "project", "schedules_table"]

STEPS = 60

_STATES_AT_ONCE = 200_000
"""Of all draws together: some tens of megabytes, and more than the usual 300 draws of 60 steps."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A reference of 60 steps by the lengths of its segments; `recurrent` alternates two decisions."""

    name: str
    segments: tuple[int, ...]
    recurrent: bool = False

    @property
    def changes(self) -> int:
        return len(self.segments) - 1

    def reference(self) -> Ints:
        ids = np.arange(len(self.segments))
        return np.repeat(ids % 2 if self.recurrent else ids, self.segments).astype(np.int64)


def evenly(changes: int, steps: int = STEPS) -> tuple[int, ...]:
    """Segment lengths with the changes spaced evenly, each at the nearest step.

    >>> evenly(5)
    (10, 10, 10, 10, 10, 10)
    """
    at = [0, *(round(k * steps / (changes + 1)) for k in range(1, changes + 1)), steps]
    return tuple(b - a for a, b in pairwise(at))


def _bursts(sizes: tuple[int, ...], quiet: int) -> tuple[int, ...]:
    """Each burst: a quiet segment, then changes one step apart; the rest at the end."""
    lengths = [x for size in sizes for x in (quiet, *([1] * (size - 1)))]
    return (*lengths, STEPS - sum(lengths))


SCHEDULES = (
    Schedule("sparse", evenly(5)),
    Schedule("medium", evenly(11)),
    Schedule("uniform", evenly(22)),
    Schedule("dense", evenly(40)),
    Schedule("bursty", _bursts((6, 6, 5, 5), 8)),
    Schedule(
        "long-tail dwell", (1, 2, 1, 6, 1, 1, 2, 1, 14, 1, 2, 3, 1, 2, 1, 1, 10, 1, 2, 1, 3, 2, 1)
    ),
    Schedule("recurrent A-B-A", evenly(22), recurrent=True),
)
"""The published kinds. Where the changes of the bursty and the long-tailed one fall is ours."""


@dataclass(frozen=True, slots=True)
class Projection:
    """One row: `projected` = untimed × mean oracle; `changes` None for the suite's own schedules."""

    schedule: str
    changes: int | None
    oracle: float
    projected: float


def project(
    parts: Sequence[Timeline],
    *,
    schedules: Sequence[Schedule] = SCHEDULES,
    draws: int = 300,
    seed: int = 0,
    interval: float = 2.0,
) -> list[Projection]:
    """The suite's own schedules first (each scenario with its own latencies), then the others."""
    check_interval(interval)
    if not 1 <= draws <= 100_000:
        raise InputError(f"{draws} resamples cannot be drawn", fix="give 1 to 100000")
    rng = np.random.default_rng(seed)
    untimed = score_timelines(parts).untimed
    weights = family_weights([p.family for p in parts])
    own = np.array([_oracle(p.reference, p.latency, interval, draws, rng) for p in parts])
    found = [
        Projection("the suite's own", None, float(weights @ own), untimed * float(weights @ own))
    ]
    pool = np.concatenate([p.latency for p in parts])
    for schedule in schedules:
        oracle = _oracle(schedule.reference(), pool, interval, draws, rng)
        found.append(Projection(schedule.name, schedule.changes, oracle, untimed * oracle))
    return found


def schedules_table(results: Mapping[str, Sequence[Projection]], draws: int) -> Table:
    first = next(iter(results.values()))
    rows: list[tuple[Cell, ...]] = [
        (row.schedule, row.changes,
         *(found[k].projected for found in results.values()))
        for k, row in enumerate(first)
    ]  # fmt: skip
    return Table(
        "Projected in-force accuracy by reference schedule (%)",
        (text("schedule"), count("changes"), *(percent(name) for name in results)),
        tuple(rows),
        (f"Untimed accuracy × mean oracle over {draws} resamples of the recorded latencies.",),
    )


def _oracle(
    reference: Ints, pool: Floats, interval: float, draws: int, rng: np.random.Generator
) -> float:
    """The mean over the draws, so many at a time that a long reference fits in memory."""
    n = len(reference)
    release: Floats = np.arange(n, dtype=np.float64) * interval
    at_once = max(1, _STATES_AT_ONCE // n)
    total = 0.0
    for first in range(0, draws, at_once):
        latency = rng.choice(pool, (min(at_once, draws - first), n))
        flat = Flat(
            [Timeline("", "", interval, release, row, reference, reference) for row in latency]
        )
        u = flat.r + flat.L
        shares = shares_at(flat, u, accepted_at(flat, u))
        total += float(np.sum(shares[:, 0] + shares[:, 1]))
    return total / draws
