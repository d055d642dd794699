"""Stretches of time in which neither the decision in force nor the reference changes.

At one scale a stretch has two fixed ends. Over a range of scales both move, and a stretch is one
form of a piece meeting a reference segment [B, E): it begins at the later of the piece's begin and
B, ends at the earlier of the piece's end and E, and is cut where "later" or "earlier" changes sides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.timeline import Floats, Ints
from streamdecisionbench.scoring.trajectory import NOTHING, References, Sweep, Trajectory

_ROUNDING = 1e-12
"""A stretch shorter than this share of the horizon is two equal times that rounding told apart: being
right for it neither ends a spell nor answers a change."""

__all__ = ["Moments", "MovingStretches", "Stretches", "moments", "moving_stretches", "stretches"]


@dataclass(frozen=True, slots=True)
class Stretches:
    """At one scale: all of observed time, scenario after scenario in time order, nothing empty."""

    scenario: Ints
    piece: Ints
    """Which piece of the trajectory is in force."""
    segment: Ints
    """Which reference segment holds."""
    begin: Floats
    end: Floats
    right: NDArray[np.bool_]
    known: NDArray[np.bool_]
    """Whether it is known what is right."""

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Known not to be right; no decision is not right."""
        return self.known & ~self.right

    @property
    def length(self) -> Floats:
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class MovingStretches:
    """Over a range of scales: from begin_at + c·begin_delay to end_at + c·end_delay, c in [low, high).

    Listed in the order of time, as the pieces of a sweep are.
    """

    scenario: Ints
    piece: Ints
    segment: Ints
    begin_at: Floats
    begin_delay: Floats
    end_at: Floats
    end_delay: Floats
    low: Floats
    high: Floats
    right: NDArray[np.bool_]
    known: NDArray[np.bool_]

    @property
    def wrong(self) -> NDArray[np.bool_]:
        return self.known & ~self.right

    def where(self, keep: NDArray[np.bool_]) -> MovingStretches:
        return MovingStretches(
            *(getattr(self, name)[keep] for name in MovingStretches.__dataclass_fields__)
        )


@dataclass(frozen=True, slots=True)
class Moments:
    """For c in [low, high) the moment `row` falls into reference segment `segment`."""

    row: Ints
    segment: Ints
    low: Floats
    high: Floats


def stretches(path: Trajectory) -> Stretches:
    """A trajectory cut where the reference changes."""
    refs = path.references
    pieces = len(path.begin)
    time = np.concatenate((path.begin, refs.begin))
    scenario = np.concatenate((path.scenario, refs.scenario))
    order = np.lexsort((time, scenario))
    time, scenario = time[order], scenario[order]
    # Where a piece and a segment begin together, the first of the two cuts is an empty stretch.
    of_piece = order < pieces
    piece = np.cumsum(of_piece) - 1
    segment = np.cumsum(~of_piece) - 1
    last = np.append(scenario[1:] != scenario[:-1], True)
    end = np.where(last, refs.horizon[scenario], np.append(time[1:], 0.0))
    keep = end - time > _ROUNDING * refs.horizon[scenario]
    piece, segment = piece[keep], segment[keep]
    reference = refs.decision[segment]
    known = reference != NOTHING
    return Stretches(
        scenario[keep],
        piece,
        segment,
        time[keep],
        end[keep],
        known & (path.decision[piece] == reference),
        known,
    )


def moving_stretches(sweep: Sweep) -> MovingStretches:
    """A sweep cut where the reference changes."""
    refs = sweep.references
    piece, segment = _meetings(sweep)
    begin_at, begin_delay = sweep.begin_at[piece], sweep.begin_delay[piece]
    end_at, end_delay = sweep.end_at[piece], sweep.end_delay[piece]
    B, E = refs.begin[segment], refs.end[segment]
    low, high = sweep.low[piece], sweep.high[piece]
    # The piece meets the segment while it begins before E and ends after B.
    meets_low = np.clip(_crossing(end_at, end_delay, B, beyond=True), low, high)
    meets_high = np.clip(_crossing(begin_at, begin_delay, E), low, high)
    inside = (meets_low < meets_high) & (B < E)
    piece, segment, low, high = (
        piece[inside],
        segment[inside],
        meets_low[inside],
        meets_high[inside],
    )
    begin_at, begin_delay = begin_at[inside], begin_delay[inside]
    end_at, end_delay, B, E = end_at[inside], end_delay[inside], B[inside], E[inside]
    # Below the crossing with B the stretch begins with the segment, above it with the piece; below
    # the crossing with E it ends with the piece, above it with the segment.
    from_piece = np.clip(_crossing(begin_at, begin_delay, B), low, high)
    to_segment = np.clip(_crossing(end_at, end_delay, E), low, high)
    first, second = np.minimum(from_piece, to_segment), np.maximum(from_piece, to_segment)
    # At most three forms for each meeting, beside each other in c.
    lows, highs = np.stack((low, first, second), axis=1), np.stack((first, second, high), axis=1)
    row, form = np.nonzero(lows < highs)
    low, high = lows[row, form], highs[row, form]
    middle = 0.5 * (low + high)
    begins_with_piece = middle >= from_piece[row]
    ends_with_segment = middle >= to_segment[row]
    piece, segment = piece[row], segment[row]
    reference = refs.decision[segment]
    known = reference != NOTHING
    return MovingStretches(
        sweep.scenario[piece],
        piece,
        segment,
        np.where(begins_with_piece, begin_at[row], B[row]),
        np.where(begins_with_piece, begin_delay[row], 0.0),
        np.where(ends_with_segment, E[row], end_at[row]),
        np.where(ends_with_segment, 0.0, end_delay[row]),
        low,
        high,
        known & (sweep.decision[piece] == reference),
        known,
    )


def moments(
    refs: References, scenario: Ints, at: Floats, delay: Floats, low: Floats, high: Floats
) -> Moments:
    """Moving moments at + c·delay, cut where they pass from one segment into the next."""
    first = _locate(refs, at + low * delay, scenario)
    last = np.maximum(_locate(refs, at + high * delay, scenario), first)
    row, segment = _spread(first, last - first + 1)
    low, high, at, delay = low[row], high[row], at[row], delay[row]
    enters = np.where(segment == first[row], low, _crossing(at, delay, refs.begin[segment]))
    leaves = np.where(segment == last[row], high, _crossing(at, delay, refs.end[segment]))
    enters, leaves = np.clip(enters, low, high), np.clip(leaves, low, high)
    keep = enters < leaves
    return Moments(row[keep], segment[keep], enters[keep], leaves[keep])


def _meetings(sweep: Sweep) -> tuple[Ints, Ints]:
    """Every piece with every segment it may meet at some scale of its range."""
    refs = sweep.references
    earliest = sweep.begin_at + sweep.low * sweep.begin_delay
    latest = sweep.end_at + sweep.high * sweep.end_delay
    first = _locate(refs, earliest, sweep.scenario)
    last = np.maximum(_locate(refs, latest, sweep.scenario), first)
    return _spread(first, np.where(sweep.empty, 0, last - first + 1))


def _spread(first: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Row k for each of first[k], first[k] + 1, …, `count[k]` of them."""
    row = np.repeat(np.arange(len(count)), count)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return row, first[row] + nth


def _locate(refs: References, time: Floats, scenario: Ints) -> Ints:
    """The segment that holds at a time of a scenario."""
    # As `Flat.locate`: the scenario plus the share of its time that has passed.
    scale = 0.5 / refs.observed
    keys = refs.scenario + (refs.begin - refs.start[refs.scenario]) * scale[refs.scenario]
    sought = scenario + (time - refs.start[scenario]) * scale[scenario]
    found = np.searchsorted(keys, sought, side="right") - 1
    size = np.bincount(refs.scenario, minlength=refs.count)
    last = np.cumsum(size) - 1
    return np.clip(found, (last - size + 1)[scenario], last[scenario])


def _crossing(at: Floats, delay: Floats, time: Floats, *, beyond: bool = False) -> Floats:
    """The scale from which at + c·delay has reached `time`: −∞ if always, ∞ if never.

    What stands still has reached it when it is there already; `beyond` asks for more than that.
    """
    moving = delay > 0
    there = at > time if beyond else at >= time
    found = (time - at) / np.where(moving, delay, 1.0)
    return np.where(moving, found, np.where(there, -np.inf, np.inf))
