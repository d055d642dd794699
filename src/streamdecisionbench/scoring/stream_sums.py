"""Sums over streams that parts compute anywhere and merge: classes, latencies, replicates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.kernel.arrays import Floats
from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    COMPOUND,
    CORRECT,
    JUDGMENT,
    STALE,
    UNATTRIBUTED,
    UNJUDGED,
    split_unattributed,
)
from streamdecisionbench.scoring.intervals import Spread, drawn_sums

# Latency quantiles that parts can add up to.
#
# Few values are kept as they are and their quantiles are exact. Many are counted in bins that grow by
# 2^(1/64): the quantiles are then within 0.6 % and say so. Count, mean, least and largest are exact.


_KEPT = 10_000
_PER_OCTAVE = 64
_LOWEST, _OCTAVES = -30, 60
"""From a nanosecond to years; what is shorter counts as the shortest."""
RELATIVE_ERROR = 0.006


@dataclass
class LatencySums:
    """Latencies of a group, added up so far."""

    count: int = 0
    total: float = 0.0
    least: float = np.inf
    most: float = -np.inf
    kept: list[Floats] = field(default_factory=list)
    bins: NDArray[np.int64] | None = None

    def add(self, values: Floats) -> None:
        if not len(values):
            return
        self._meet(len(values), float(values.sum()), float(values.min()), float(values.max()))
        if self.bins is None and self.count <= _KEPT:
            self.kept.append(np.array(values))
        else:
            self._count(values)

    def merge(self, other: LatencySums) -> None:
        if not other.count:
            return
        self._meet(other.count, other.total, other.least, other.most)
        if self.bins is None and other.bins is None and self.count <= _KEPT:
            self.kept += other.kept
            return
        for values in other.kept:
            self._count(values)
        if other.bins is not None:
            self.bins = self._spread() + other.bins

    def quantiles(self, shares: tuple[float, ...]) -> list[float]:
        """By linear interpolation between order statistics, or to the middle of a bin."""
        ranks = np.array(shares) * (self.count - 1)
        if self.bins is None:
            values = np.sort(np.concatenate(self.kept))
            return [float(v) for v in np.interp(ranks, np.arange(len(values)), values)]
        values, counts = self.values()
        return [float(v) for v in values[np.searchsorted(np.cumsum(counts), ranks, side="right")]]

    def values(self) -> tuple[Floats, NDArray[np.int64]]:
        """What was added, and how often each: as it was, or the middles of bins."""
        if self.bins is None:
            kept = np.concatenate([*self.kept, np.zeros(0)])
            return kept, np.ones(len(kept), dtype=np.int64)
        at = np.flatnonzero(self.bins)
        middle = np.exp2(_LOWEST + (at + 0.5) / _PER_OCTAVE)
        return np.clip(middle, self.least, self.most), self.bins[at]

    def to_json(self) -> dict[str, float | int | None]:
        """Seconds, with how far the quantiles may be off."""
        if not self.count:
            return {"answered": 0}
        p50, p95, p99 = self.quantiles((0.50, 0.95, 0.99))
        return {
            "answered": self.count,
            "mean": self.total / self.count,
            "p50": p50,
            "p95": p95,
            "p99": p99,
            "min": self.least,
            "max": self.most,
            "relative_error": 0.0 if self.bins is None else RELATIVE_ERROR,
        }

    def _meet(self, count: int, total: float, least: float, most: float) -> None:
        self.count += count
        self.total += total
        self.least = min(self.least, least)
        self.most = max(self.most, most)

    def _spread(self) -> NDArray[np.int64]:
        """The bins, with what was kept so far counted into them."""
        if self.bins is None:
            self.bins = sum((_binned(values) for values in self.kept), start=_binned(np.zeros(0)))
            self.kept = []
        return self.bins

    def _count(self, values: Floats) -> None:
        self.bins = self._spread() + _binned(values)


def _binned(values: Floats) -> NDArray[np.int64]:
    with np.errstate(divide="ignore"):
        at = np.floor((np.log2(values) - _LOWEST) * _PER_OCTAVE)
    at = np.clip(at, 0, _OCTAVES * _PER_OCTAVE - 1).astype(np.int64)
    return np.bincount(at, minlength=_OCTAVES * _PER_OCTAVE)


# What a group of streams adds up to: sums that parts compute and anybody may merge.
#
# A group pools time: every observed second of its streams counts alike, times the stream's weight. At
# an interval Δ the seconds are those of the re-paced streams, (H − r_0)·Δ/tick of each.


COUNTS = (
    "streams", "decisions", "judged", "seconds", "weighted_judged", "weighted_right", "cost",
    "assumed_end", "simulated", "virtual_clock", "declared_latency", "cascade",
)  # fmt: skip
"""What is counted of every stream beside its classes."""


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


class Sums(dict[str, Sum]):
    """Vectors by name."""

    def add(self, name: str, amount: Floats) -> None:
        if name in self:
            self[name].add(amount)
        else:
            self[name] = Sum(np.array(amount, dtype=np.float64))

    def merge(self, other: Sums) -> None:
        for name, one in other.items():
            if name in self:
                self[name].merge(one)
            else:
                self[name] = Sum(one.value, one.lost)


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
    older: Floats
    """Of the judgment in `pace`: by a decision made for an older state."""
    over: Floats | None = None
    physical: Floats | None = None
    names: NDArray[np.object_] | None = None
    """What streams are called, where they are kept."""

    def seconds(self) -> Floats:
        """By class, at the pace scored, times weight."""
        return self.pace[:, : len(ALL_CLASSES)] * self.time[:, None]

    def older_judgment(self) -> Floats:
        """Seconds of judgment whose decision was made for an older state, times weight."""
        return self.older * self.time


@dataclass
class Group:
    """Sums of one group, by name."""

    sums: Sums = field(default_factory=Sums)
    latency: LatencySums = field(default_factory=LatencySums)
    members: dict[str, LatencySums] = field(default_factory=dict)
    """Of cascades: the latency of each member."""

    def add(self, rows: StreamRows, latencies: Floats, resamples: int) -> None:
        """Adds scored streams and the latencies of their answers."""
        self.sums.add("counts", rows.counts.sum(axis=0))
        seconds = {
            "pace": (rows.pace, rows.time),
            "over": (rows.over, rows.length),
            "physical": (rows.physical, rows.as_it_ran),
        }
        found = {
            name: table[:, : len(ALL_CLASSES)] * time[:, None]
            for name, (table, time) in seconds.items()
            if table is not None
        }
        for name, values in found.items():
            self.sums.add(name, values.sum(axis=0))
            judged = values.sum(axis=1) - values[:, UNJUDGED]
            self.sums.add(f"{name}_judged", _spread_sums(judged))
        older = rows.older_judgment()
        self.sums.add("older_judgment", older.sum(keepdims=True))
        compared = older + found["pace"][:, [STALE, COMPOUND]].sum(axis=1)
        self.sums.add("both_labelled", _spread_sums(compared))
        if resamples:
            drawn_of = {
                f"{name}_replicates": found[name] for name in ("pace", "over") if name in found
            } | {"older_judgment_replicates": older[:, None]}
            drawn = drawn_sums(
                rows.keys, np.concatenate(list(drawn_of.values()), axis=1), resamples
            )
            ends = np.cumsum([columns.shape[1] for columns in drawn_of.values()])[:-1]
            for name, values in zip(drawn_of, np.split(drawn, ends, axis=1), strict=True):
                self.sums.add(name, values)
        self.latency.add(latencies)

    def merge(self, other: Group) -> None:
        self.sums.merge(other.sums)
        self.latency.merge(other.latency)
        for name, latency in other.members.items():
            self.members.setdefault(name, LatencySums()).merge(latency)

    def get(self, name: str) -> Floats | None:
        one = self.sums.get(name)
        return None if one is None else one.get()

    def spread(self, name: str) -> Spread:
        """Of the judged time in `pace`, `over` or `physical`."""
        return _spread(self.sums[f"{name}_judged"].get())

    def both_labelled(self) -> Spread:
        """Of wrong time with an older source, where both references are known."""
        return _spread(self.sums["both_labelled"].get())

    def counts(self) -> Mapping[str, float]:
        found = self.get("counts")
        values = np.zeros(len(COUNTS)) if found is None else found
        return dict(zip(COUNTS, values.tolist(), strict=True))


def _spread_sums(seconds: Floats) -> Floats:
    """Of seconds per stream: how many streams have some, and the sums of powers 1 to 3."""
    amounts = [np.count_nonzero(seconds > 1e-12), *((seconds**k).sum() for k in (1, 2, 3))]
    return np.array(amounts, dtype=np.float64)


def _spread(sums: Floats) -> Spread:
    streams, total, squares, cubes = sums.tolist()
    if not streams:
        return Spread(0, 1.0, 1.0)
    return Spread(int(streams), squares / total / total, cubes / total / total / total)


def attributed(
    seconds: Floats, older_judgment: Floats | float, like: Floats | None = None
) -> Floats:
    """Seconds by class along the last axis, with unattributed time divided by `split_unattributed`.

    The proportions are those of the same row. Rows of single streams get those of their group with
    `like`, the group's seconds by class, to which `older_judgment` then belongs. Such rows add up to the
    group's own.

    >>> by_class = np.array([70.0, 4, 6, 2, 0, 2, 0, 16])
    >>> attributed(by_class, 2.0).round(1).tolist()
    [70.0, 7.2, 15.6, 5.2, 0.0, 2.0, 0.0, 0.0]
    """
    like = seconds if like is None else like
    judgment, stale, compound, unknown = split_unattributed(
        seconds[..., UNATTRIBUTED], older_judgment, like[..., STALE], like[..., COMPOUND]
    )
    found = seconds.copy()
    found[..., JUDGMENT] += judgment
    found[..., STALE] += stale
    found[..., COMPOUND] += compound
    found[..., UNATTRIBUTED] = unknown
    return found


def in_force_of(seconds: Floats) -> Floats:
    """A of seconds by class along the last axis: correct over judged; not a number where none is.

    >>> by_class = np.array([6.0, 1, 1, 0, 0, 2, 5, 0])
    >>> float(in_force_of(by_class))
    0.6
    """
    correct = seconds[..., CORRECT].sum(axis=-1)
    judged = seconds.sum(axis=-1) - seconds[..., UNJUDGED]
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Floats = np.where(judged > 1e-12, correct / judged, np.nan)
    return share
