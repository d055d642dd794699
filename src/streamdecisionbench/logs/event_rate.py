"""How often states and references really change: the calibration of one's own bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    Floats,
    Ints,
)
from streamdecisionbench.logs.engines.engine import Engine, StreamSums
from streamdecisionbench.logs.log_score import check_by
from streamdecisionbench.logs.log_sums import grouped
from streamdecisionbench.logs.stream_arrays import StreamArrays
from streamdecisionbench.logs.unusable_rows import Allowed
from streamdecisionbench.logs.worst_streams import Key
from streamdecisionbench.render.sentences import NO_USABLE_STREAM
from streamdecisionbench.scoring.stream_sums import LatencySums

if TYPE_CHECKING:
    import pyarrow as pa

SHARES = (0.05, 0.25, 0.50, 0.75, 0.95)
LEAST_FACTOR = 4


@dataclass
class PaceGroup:
    """Gaps of one group: between states, between changes of the reference, and streams' means."""

    streams: int = 0
    states: LatencySums = field(default_factory=LatencySums)
    references: LatencySums = field(default_factory=LatencySums)
    intervals: LatencySums = field(default_factory=LatencySums)

    def merge(self, other: PaceGroup) -> None:
        self.streams += other.streams
        self.states.merge(other.states)
        self.references.merge(other.references)
        self.intervals.merge(other.intervals)


@dataclass
class PaceSums(StreamSums):
    """Gaps of every group, added up."""

    by: tuple[str, ...] = ()
    groups: dict[Key, PaceGroup] = field(default_factory=dict)

    @property
    def grouping(self) -> Sequence[str]:
        return self.by

    def take(self, found: StreamArrays, table: pa.Table) -> None:
        of = np.repeat(np.arange(len(found.n)), found.n)
        for key, streams in grouped(table.take(found.row), self.by):
            rows = np.flatnonzero(np.isin(of, streams))
            group = self.groups.setdefault(key, PaceGroup())
            group.streams += len(streams)
            group.states.add(_gaps(of[rows], found.r[rows]))
            group.references.add(_reference_gaps(found, of, rows[found.y[rows] >= 0]))
            group.intervals.add(found.tick[streams])

    def merge(self, other: Self) -> None:
        super().merge(other)
        for key, group in other.groups.items():
            self.groups.setdefault(key, PaceGroup()).merge(group)


@dataclass(frozen=True, slots=True)
class LogPace:
    """What `sdb logs pace` says."""

    source: str
    by: tuple[str, ...]
    groups: tuple[tuple[Key, PaceGroup], ...]
    bounds: tuple[float, float]
    spread: tuple[float, float]
    """The quick twentieth of all streams' mean intervals, and the slow one: what bounds are made of."""

    @property
    def widened(self) -> bool:
        """Whether that is less than a range worth integrating over."""
        return self.spread[1] < LEAST_FACTOR * self.spread[0]

    def to_json(self) -> dict[str, Any]:
        """Schema `sdb-logs-pace/1`: seconds by quantile."""
        names = [f"p{round(share * 100):02d}" for share in SHARES]

        def quantiles(sums: LatencySums) -> dict[str, float] | None:
            if not sums.count:
                return None
            return dict(zip(names, sums.quantiles(SHARES), strict=True))

        return {
            "schema": "sdb-logs-pace/1",
            "groups": [
                {
                    "by": dict(zip(self.by, key, strict=True)),
                    "streams": group.streams,
                    "seconds_between_states": quantiles(group.states),
                    "seconds_between_reference_changes": quantiles(group.references),
                    "mean_interval_s": quantiles(group.intervals),
                }
                for key, group in self.groups
            ],
            "bounds": list(self.bounds),
            "bounds_from": list(self.spread),
        }


def log_pace(engine: Engine, by: Sequence[str], allowed: Allowed) -> LogPace:
    """Looks through a log for when things change."""
    check_by(engine.schema(), by, engine.name)
    wanted = ("stream", "published_at", "reference", "ended_at", "tick_s", "weight")
    sums = engine.usable(PaceSums(tuple(by)), (*wanted, *by), allowed)
    if not sums.groups:
        raise InputError(NO_USABLE_STREAM, where=engine.name)
    whole = PaceGroup()
    for group in sums.groups.values():
        whole.merge(group)
    ordered = sorted(sums.groups.items(), key=lambda item: [str(v) for v in item[0]])
    low, high = whole.intervals.quantiles((SHARES[0], SHARES[-1]))
    bounds = suggested_bounds(whole.intervals)
    return LogPace(engine.name, tuple(by), tuple(ordered), bounds, (low, high))


def suggested_bounds(intervals: LatencySums) -> tuple[float, float]:
    """From the quick twentieth of streams to the slow one, rounded outwards, at least a factor of 4.

    >>> sums = LatencySums()
    >>> sums.add(np.array([1.9, 2.0, 2.1]))
    >>> suggested_bounds(sums)
    (0.9, 4.0)
    """
    low, high = intervals.quantiles((SHARES[0], SHARES[-1]))
    if high < LEAST_FACTOR * low:
        middle = math.sqrt(low * high)
        low, high = middle / 2, middle * 2
    return _rounded(low, math.floor), _rounded(high, math.ceil)


def _rounded(value: float, towards: Any) -> float:
    """One significant digit, down or up."""
    unit = 10.0 ** math.floor(math.log10(value))
    steps = towards(round(value / unit, 9))
    return float(f"{steps * unit:.12g}")


def _gaps(of: Ints, at: Floats) -> Floats:
    """Seconds from each row to the next one of the same stream."""
    gaps: Floats = np.diff(at)[of[1:] == of[:-1]]
    return gaps


def _reference_gaps(found: StreamArrays, of: Ints, known: Ints) -> Floats:
    """Between changes of what is known to be right; a state without a reference is passed over."""
    steps = (np.diff(of[known]) != 0) | (np.diff(found.y[known]) != 0)
    changed = known[np.flatnonzero(np.append(True, steps))] if len(known) else known
    return _gaps(of[changed], found.r[changed])
