"""Latency quantiles that parts can add up to.

Few values are kept as they are and their quantiles are exact. Many are counted in bins that grow by
2^(1/64): the quantiles are then within 0.6 % and say so. Count, mean, least and largest are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.timeline import Floats

__all__ = ["RELATIVE_ERROR", "LatencySums"]

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
        at = np.searchsorted(np.cumsum(self.bins), ranks, side="right")
        middle = np.exp2(_LOWEST + (at + 0.5) / _PER_OCTAVE)
        return [float(v) for v in np.clip(middle, self.least, self.most)]

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
