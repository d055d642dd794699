"""What streams add up to, in sums that parts compute anywhere and merge: classes, latencies, replicates.

How sure a pooled share is, a bootstrap says that any number of machines draw alike. In replicate b a stream counts k times, k ~ Poisson(1), read off a hash of (seed, stream, b). No
stream's draw depends on another's, so parts can be summed anywhere and in any order; and a stream
that appears in two groups counts alike in both, which pairs their difference.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import ALL_CLASSES, CORRECT, UNJUDGED
from streamdecisionbench.scoring.timeline import Floats

RESAMPLES = 500
FEWEST = 5
"""Judged streams from which on there is an interval."""

_MOST_DEGREES = 1000
"""Beyond them Student's t is the normal distribution's to a thousandth."""
STREAMS_AT_ONCE = 128
"""Streams whose draws lie near the processor together."""
_LANES = 4
"""Sixteen bits decide one draw: a 64-bit hash holds four, each share right to 1/65536."""


def stream_keys(streams: Sequence[str], seed: int = 0) -> NDArray[np.uint64]:
    """64 bits per stream id, the same on every machine.

    >>> stream_keys(["call-7"]).tolist() == stream_keys(["call-7"]).tolist()
    True
    """
    if not -(2**63) <= seed < 2**63:
        raise InputError(f"seed {seed} is too large", fix="seeds are below 2^63")
    salt = seed.to_bytes(8, "little", signed=True)
    digests = (
        hashlib.blake2b(stream.encode(), digest_size=8, key=salt).digest() for stream in streams
    )
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def poisson_weights(keys: NDArray[np.uint64], resamples: int = RESAMPLES) -> Floats:
    """How often each stream (row) counts in each replicate (column).

    >>> weights = poisson_weights(stream_keys([str(k) for k in range(2000)]), 8)
    >>> weights.shape, bool(0.9 < weights.mean() < 1.1), bool(0.9 < weights.var() < 1.1)
    ((2000, 8), True, True)
    """
    blocks = -(-resamples // _LANES)
    with np.errstate(over="ignore"):
        x = keys[:, None] + np.arange(1, blocks + 1, dtype=np.uint64) * np.uint64(
            0x9E3779B97F4A7C15
        )
        x ^= x >> np.uint64(30)
        x *= np.uint64(0xBF58476D1CE4E5B9)
        x ^= x >> np.uint64(27)
        x *= np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    draws = _COUNT[x.astype("<u8", copy=False).view("<u2")]
    weights: Floats = draws[:, :resamples].astype(np.float64)
    return weights


def drawn_sums(keys: NDArray[np.uint64], columns: Floats, resamples: int) -> Floats:
    """Sums of columns over streams (rows) in each replicate (row)."""
    total = np.zeros((resamples, columns.shape[1]))
    for begin in range(0, len(keys), STREAMS_AT_ONCE):
        part = slice(begin, begin + STREAMS_AT_ONCE)
        total += poisson_weights(keys[part], resamples).T @ columns[part]
    return total


@dataclass(frozen=True, slots=True)
class Spread:
    """Over how many streams judged time is spread."""

    streams: int
    squares: float
    """The sum of their squared judged times, over the square of its sum."""

    @property
    def degrees(self) -> int:
        """Of freedom: as many streams as would be as sure if all were equally long, less one. Where few
        streams are most of the time, the others say little."""
        return min(max(round(1 / self.squares) - 1, 1), _MOST_DEGREES)

    def narrower(self, other: Spread) -> Spread:
        """The one that says less."""
        return min(self, other, key=lambda one: (one.streams, -one.squares))


def interval_95(
    value: float, drawn: Floats, spread: Spread, *, share: bool = False
) -> tuple[float, float] | None:
    """Where the process's value lies, by Student's t: v ± t·s·√(n/(n−1)), s the spread of replicates.

    A share is measured on the scale of log(v/(1−v)), so that an interval near 0 or 1 leans towards the
    middle and stays inside. One that is 0 or 1 in all of n streams is known as far as n throws of a coin
    tell. None with fewer than five judged streams: they say too little about others.
    """
    found = drawn[np.isfinite(drawn)]
    if spread.streams < FEWEST or len(found) < 2 or not np.isfinite(value):
        return None
    if share and not 1e-12 < value < 1 - 1e-12:
        least = 0.025 ** (1 / spread.streams)
        return (least, 1.0) if value > 0.5 else (0.0, 1 - least)
    error = float(found.std()) * math.sqrt(spread.streams / (spread.streams - 1))
    half = student_quantile(0.975, spread.degrees) * error
    if not share:
        return value - half, value + half
    odds, half = math.log(value / (1 - value)), half / (value * (1 - value))
    low, high = (1 / (1 + math.exp(min(-v, 700.0))) for v in (odds - half, odds + half))
    return low, high


@cache
def student_quantile(p: float, degrees: int) -> float:
    """t with P(T ≤ t) = p for `degrees` of freedom, to about twelve digits.

    >>> round(student_quantile(0.975, 7), 6), round(student_quantile(0.975, 1), 6)
    (2.364624, 12.706205)
    """
    if not 0.5 <= p < 1 or degrees < 1:
        raise ValueError("p lies in [0.5, 1) and there is at least one degree of freedom")
    low, high = 0.0, 1.0
    while _below(high, degrees) < p:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if _below(middle, degrees) < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _below(t: float, degrees: int) -> float:
    """P(T ≤ t), t ≥ 0: the finite sums for whole degrees of freedom in θ = atan(t/√ν)."""
    angle = math.atan(t / math.sqrt(degrees))
    cosine, sine = math.cos(angle), math.sin(angle)
    term, total = 1.0, 0.0
    if degrees % 2:
        term = cosine
        for k in range(1, (degrees - 1) // 2 + 1):
            total += term
            term *= cosine * cosine * (2 * k) / (2 * k + 1)
        return 0.5 + (angle + sine * total) / math.pi
    for k in range(degrees // 2):
        total += term
        term *= cosine * cosine * (2 * k + 1) / (2 * k + 2)
    return 0.5 + sine * total / 2


def _counts() -> NDArray[np.uint8]:
    """Poisson(1) by inversion, for every value of sixteen bits."""
    reached = np.cumsum([math.exp(-1) / math.factorial(k) for k in range(12)])
    middle = (np.arange(1 << 16) + 0.5) / (1 << 16)
    return np.searchsorted(reached, middle).astype(np.uint8)


_COUNT = _counts()


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
    "assumed_end", "simulated", "virtual_clock",
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
    over: Floats | None = None
    physical: Floats | None = None

    def judged_and_right(self) -> tuple[Floats, Floats]:
        """Seconds at the pace scored, times weight: those with a reference, and those right."""
        seconds = self.pace[:, : len(ALL_CLASSES)] * self.time[:, None]
        return seconds.sum(axis=1) - seconds[:, UNJUDGED], seconds[:, CORRECT].sum(axis=1)


@dataclass
class Group:
    """Sums of one group, by name."""

    sums: Sums = field(default_factory=Sums)
    latency: LatencySums = field(default_factory=LatencySums)

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
            amounts = [np.count_nonzero(judged > 1e-12), judged.sum(), (judged**2).sum()]
            self.sums.add(f"{name}_judged", np.array(amounts, dtype=np.float64))
        if resamples:
            names = [name for name in ("pace", "over") if name in found]
            columns = np.concatenate([found[name] for name in names], axis=1)
            drawn = drawn_sums(rows.keys, columns, resamples)
            for name, values in zip(names, np.split(drawn, len(names), axis=1), strict=True):
                self.sums.add(f"{name}_replicates", values)
        self.latency.add(latencies)

    def merge(self, other: Group) -> None:
        self.sums.merge(other.sums)
        self.latency.merge(other.latency)

    def get(self, name: str) -> Floats | None:
        one = self.sums.get(name)
        return None if one is None else one.get()

    def spread(self, name: str) -> Spread:
        """Of the judged time in `pace`, `over` or `physical`."""
        streams, total, squares = self.sums[f"{name}_judged"].get().tolist()
        return Spread(int(streams), squares / total**2 if streams else 1.0)

    def counts(self) -> Mapping[str, float]:
        found = self.get("counts")
        values = np.zeros(len(COUNTS)) if found is None else found
        return dict(zip(COUNTS, values.tolist(), strict=True))


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
