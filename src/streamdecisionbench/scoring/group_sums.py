"""What a group of streams adds up to: sums that parts compute and anybody may merge.

A group pools time: every observed second of its streams counts alike, times the stream's weight. At
an interval Δ the seconds are those of the re-paced streams, (H − r_0)·Δ/tick of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.classes import ALL_CLASSES, TABLE
from streamdecisionbench.scoring.latency_sums import LatencySums
from streamdecisionbench.scoring.poisson_bootstrap import poisson_weights
from streamdecisionbench.scoring.timeline import Floats

__all__ = ["COUNTS", "STREAMS_AT_ONCE", "Group", "StreamRows", "Sum", "in_force_of"]

COUNTS = (
    "streams", "decisions", "judged", "seconds", "weighted_judged", "weighted_right", "cost",
    "assumed_end", "simulated", "virtual_clock",
)  # fmt: skip
"""What is counted of every stream beside its classes."""

STREAMS_AT_ONCE = 128
"""Streams whose draws lie near the processor together."""

_CLASS_COLUMNS = [TABLE.index(name) for name in ALL_CLASSES]
_CORRECT = [ALL_CLASSES.index(name) for name in ("current_correct", "outdated_correct")]
_UNJUDGED = ALL_CLASSES.index("unjudged")


class Sum:
    """A vector that keeps what rounding would lose, so that the order of parts leaves no trace."""

    __slots__ = ("lost", "value")

    def __init__(self, value: Floats, lost: Floats | None = None) -> None:
        self.value = value
        self.lost = np.zeros_like(value) if lost is None else lost

    def add(self, amount: Floats) -> None:
        total = self.value + amount
        kept = np.where(
            np.abs(self.value) >= np.abs(amount),
            (self.value - total) + amount,
            (amount - total) + self.value,
        )
        self.lost = self.lost + kept
        self.value = total

    def merge(self, other: Sum) -> None:
        self.add(other.value)
        self.lost = self.lost + other.lost

    def get(self) -> Floats:
        total: Floats = self.value + self.lost
        return total


@dataclass(frozen=True, slots=True)
class StreamRows:
    """Streams that were scored, row by row: what a group adds up.

    `pace`, `over` and `physical` hold shares in columns of `TABLE`; `time` and `length` say how many
    seconds, times the weight, they are shares of.
    """

    keys: NDArray[np.uint64]
    counts: Floats
    """One column per name of `COUNTS`."""
    time: Floats
    """Seconds at the pace scored, times weight."""
    length: Floats
    """Ticks, times weight: what integrated shares are shares of."""
    as_it_ran: Floats
    """Seconds as recorded, times weight: what physical shares are shares of."""
    pace: Floats
    over: Floats | None = None
    physical: Floats | None = None


@dataclass
class Group:
    """Sums of one group, by name."""

    sums: dict[str, Sum] = field(default_factory=dict)
    latency: LatencySums = field(default_factory=LatencySums)

    def add(self, rows: StreamRows, latencies: Floats, resamples: int) -> None:
        """Adds scored streams and the latencies of their answers."""
        self._add("counts", rows.counts.sum(axis=0))
        seconds = {
            "pace": (rows.pace, rows.time),
            "over": (rows.over, rows.length),
            "physical": (rows.physical, rows.as_it_ran),
        }
        found = {
            name: table[:, _CLASS_COLUMNS] * time[:, None]
            for name, (table, time) in seconds.items()
            if table is not None
        }
        for name, values in found.items():
            self._add(name, values.sum(axis=0))
        if resamples:
            self._replicate(rows.keys, found, resamples)
        self.latency.add(latencies)

    def merge(self, other: Group) -> None:
        for name, one in other.sums.items():
            if name in self.sums:
                self.sums[name].merge(one)
            else:
                self.sums[name] = Sum(one.value, one.lost)
        self.latency.merge(other.latency)

    def get(self, name: str) -> Floats | None:
        one = self.sums.get(name)
        return None if one is None else one.get()

    def counts(self) -> Mapping[str, float]:
        found = self.get("counts")
        values = np.zeros(len(COUNTS)) if found is None else found
        return dict(zip(COUNTS, values.tolist(), strict=True))

    def _replicate(
        self, keys: NDArray[np.uint64], found: Mapping[str, Floats], resamples: int
    ) -> None:
        names = [name for name in ("pace", "over") if name in found]
        columns = np.concatenate([found[name] for name in names], axis=1)
        total = np.zeros((resamples, columns.shape[1]))
        for begin in range(0, len(keys), STREAMS_AT_ONCE):
            part = slice(begin, begin + STREAMS_AT_ONCE)
            total += poisson_weights(keys[part], resamples).T @ columns[part]
        for name, values in zip(names, np.split(total, len(names), axis=1), strict=True):
            self._add(f"{name}_replicates", values)

    def _add(self, name: str, amount: Floats) -> None:
        if name in self.sums:
            self.sums[name].add(amount)
        else:
            self.sums[name] = Sum(np.array(amount, dtype=np.float64))


def in_force_of(seconds: Floats) -> Floats:
    """A of seconds by class along the last axis: correct over judged; not a number where none is.

    >>> by_class = np.array([6.0, 1, 1, 0, 0, 2, 5, 0])
    >>> float(in_force_of(by_class))
    0.6
    """
    correct = seconds[..., _CORRECT].sum(axis=-1)
    judged = seconds.sum(axis=-1) - seconds[..., _UNJUDGED]
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Floats = np.where(judged > 1e-12, correct / judged, np.nan)
    return share
