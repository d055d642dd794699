"""Streams through the scorer, in batches that stay near the processor.

Everything is known of a stream once its own arrays are; so streams are scored some thousand
decisions at a time, in time and memory linear in decisions and in streams, and sums of seconds keep
their last digits however many streams there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.classes import table_at
from streamdecisionbench.scoring.in_force_replay import accepted_at
from streamdecisionbench.scoring.integrals import table_over
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints, Timeline

__all__ = ["Tables", "batches", "joined", "tables", "tables_of"]

_DECISIONS = 1 << 13
"""A batch's arrays of this length lie in a processor's second cache together."""
_STREAMS = 1 << 11
"""Beyond this many streams, finding a time within its stream costs digits (see `Flat.locate`)."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Per stream, columns as in `TABLE`: shares of observed time, and what else was counted."""

    at: Floats
    over: Floats | None
    physical: Floats | None
    untimed: Floats
    untimed_segment: Floats
    accepted: Ints
    after_horizon: Ints


def batches(n: Ints) -> Iterator[slice]:
    """Consecutive streams with some thousand decisions together, or one longer stream alone."""
    ends = np.cumsum(n)
    begin = 0
    while begin < len(n):
        passed = int(ends[begin - 1]) if begin else 0
        end = int(np.searchsorted(ends, passed + _DECISIONS, side="right"))
        end = max(min(end, begin + _STREAMS), begin + 1)
        yield slice(begin, end)
        begin = end


def tables_of(
    parts: Sequence[Timeline], *, interval: float | None = None, bounds: Bounds | None = None
) -> Tables:
    """What `tables` says of timelines, batch by batch."""
    sizes = np.array([p.n for p in parts], dtype=np.int64)
    found = []
    for batch in batches(sizes):
        some = parts[batch]
        arrivals = [p.arrival for p in some if p.arrival is not None]
        known = len(arrivals) == len(some)
        found.append(
            tables(
                Flat(some),
                interval=interval,
                bounds=bounds,
                arrivals=np.concatenate(arrivals) if known else None,
                published=_as_published(some) if known else None,
            )
        )
    return Tables(
        at=np.concatenate([t.at for t in found]),
        over=joined([t.over for t in found]),
        physical=joined([t.physical for t in found]),
        untimed=np.concatenate([t.untimed for t in found]),
        untimed_segment=np.concatenate([t.untimed_segment for t in found]),
        accepted=np.concatenate([t.accepted for t in found]),
        after_horizon=np.concatenate([t.after_horizon for t in found]),
    )


def tables(
    flat: Flat,
    *,
    interval: float | None = None,
    bounds: Bounds | None = None,
    arrivals: Floats | None = None,
    published: Flat | None = None,
    segments: bool = True,
) -> Tables:
    """Scores whole streams at one pace (as recorded without `interval`) and over the bounds.

    `published` holds the streams as they ran, where `flat` is on another clock.
    """
    scale = np.ones(flat.count) if interval is None else flat.tick / interval
    u = flat.r + scale[flat.scenario] * flat.L
    accepted = accepted_at(flat, u)
    source = np.flatnonzero(accepted)
    physical = None
    if arrivals is not None:
        ran = published or flat
        applied = np.flatnonzero(accepted_at(ran, arrivals))
        physical = table_at(ran, applied, arrivals[applied], segments=segments)
    untimed, untimed_segment = flat.untimed() if segments else (np.zeros(0), np.zeros(0))
    return Tables(
        at=table_at(flat, source, u[source], segments=segments),
        over=table_over(flat, bounds, segments=segments) if bounds else None,
        physical=physical,
        untimed=untimed,
        untimed_segment=untimed_segment,
        accepted=_count(flat, accepted),
        after_horizon=_count(flat, u >= flat.H[flat.scenario]),
    )


def _as_published(parts: Sequence[Timeline]) -> Flat | None:
    """The same streams with releases as they happened; None where that is what they have."""
    if all(p.published is None for p in parts):
        return None
    return Flat([p if p.published is None else replace(p, release=p.published) for p in parts])


def _count(flat: Flat, which: NDArray[np.bool_]) -> Ints:
    return np.bincount(flat.scenario[which], minlength=flat.count)


def joined(parts: Sequence[Floats | None]) -> Floats | None:
    """The tables of all batches, or None where a batch has none."""
    found = [part for part in parts if part is not None]
    return np.concatenate(found) if len(found) == len(parts) else None
