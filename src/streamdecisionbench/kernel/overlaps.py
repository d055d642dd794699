"""A sweep cut where the reference changes: stretches in which neither it nor the decision changes.

Over a range of scales both ends of a stretch move. It is one form of a piece meeting a reference
segment [B, E): it begins at the later of the piece's begin and B, ends at the earlier of the piece's
end and E, and is cut where "later" or "earlier" changes sides. At one scale nothing moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.kernel.arrays import (
    NOTHING,
    Columns,
    Floats,
    Ints,
)
from streamdecisionbench.kernel.paces import PaceWeights
from streamdecisionbench.kernel.trajectory import (
    References,
    Trajectory,
)

ROUNDING = 1e-12
"""A stretch shorter than this share of the horizon is two equal times that rounding told apart: being
right for it neither ends a spell nor answers a change."""


@dataclass(frozen=True, slots=True)
class Stretches(Columns):
    """A sweep's pieces cut where the reference changes, listed in the order of time as they are.

    A stretch lasts from begin_at + c·begin_delay to end_at + c·end_delay, for c in [low, high).
    """

    SHARED: ClassVar[tuple[str, ...]] = ("sweep",)

    sweep: Trajectory
    """Which pieces, and beside which references."""
    scenario: Ints
    piece: Ints
    """Which piece of the sweep is in force."""
    segment: Ints
    """Which reference segment holds."""
    begin_at: Floats
    begin_delay: Floats
    end_at: Floats
    end_delay: Floats
    low: Floats
    high: Floats
    opens: NDArray[np.bool_]
    """The piece comes into force with this stretch: it begins within the segment, or with it."""

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether it is known what is right."""
        return np.not_equal(self.sweep.references.decision[self.segment], NOTHING)

    @property
    def right(self) -> NDArray[np.bool_]:
        reference = self.sweep.references.decision[self.segment]
        return self.known & np.equal(self.sweep.decision[self.piece], reference)

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Known not to be right; no decision is not right."""
        return self.known & ~self.right

    @property
    def judged(self) -> Floats:
        """T of each scenario on the recording clock: the time in which it is known what is right."""
        return self.sweep.references.judged

    def time(self, measure: PaceWeights) -> Floats:
        """How long each stretch lasts on the recording clock, weighed."""
        one, scale = measure.lengths(self.scenario, self.low, self.high)
        length: Floats = (self.end_at - self.begin_at) * one
        length += (self.end_delay - self.begin_delay) * scale
        return length

    def opening(self, piece: Ints, low: Floats, high: Floats) -> tuple[Ints, Ints, Floats, Floats]:
        """With which stretch each piece comes into force, for c in [low, high): which piece of these,
        the stretch, and over which part of the range."""
        opens = np.flatnonzero(self.opens)
        count = np.bincount(self.piece[opens], minlength=len(self.sweep.low))
        row, place = spread((np.cumsum(count) - count)[piece], count[piece])
        stretch = opens[place]
        low = np.maximum(low[row], self.low[stretch])
        high = np.minimum(high[row], self.high[stretch])
        keep = low < high
        return row[keep], stretch[keep], low[keep], high[keep]


@dataclass(frozen=True, slots=True)
class SegmentOverlaps:
    """Pieces of a sweep beside every segment [B, E) they meet, piece after piece in the order of time.

    Segments follow each other, so only B matters: from scale `reached` on the piece ends after it, from
    `passed` on it begins after it. The E of a meeting is the B of the piece's next one.
    """

    sweep: Trajectory
    scenario: Ints
    piece: Ints
    segment: Ints
    low: Floats
    begin_to_b: Floats
    """B − `begin_at` of the piece."""
    begin_delay: Floats
    end_to_b: Floats
    end_delay: Floats
    reached: Floats
    passed: Floats
    last: Ints
    """The last meeting of each piece."""

    def until(self, values: Floats, of_piece: Floats) -> Floats:
        """Values at B become those at E; at the end of the last segment stands that of the piece."""
        found = np.append(values[1:], 0.0)
        found[self.last] = of_piece[self.piece[self.last]]
        return found

    def time(self, measure: PaceWeights) -> Floats:
        """How long each lasts on the recording clock, weighed: the piece before E less the piece before B.

        Before B are ∫(B − begin) while it begins before B, less ∫(B − end) while it ends before B.
        """
        sweep = self.sweep
        one, scale = measure.lengths(sweep.scenario, sweep.low, sweep.high)
        whole = (sweep.end_at - sweep.begin_at) * one
        whole += (sweep.end_delay - sweep.begin_delay) * scale
        one, scale = measure.lengths(self.scenario, self.low, self.passed)
        before = self.begin_to_b * one - self.begin_delay * scale
        one, scale = measure.lengths(self.scenario, self.low, self.reached)
        before -= self.end_to_b * one - self.end_delay * scale
        return self.until(before, whole) - before

    def within(self, lowest: Floats, highest: Floats) -> SegmentOverlaps:
        """As far as scales of each scenario go."""

        def clipped(scenario: Ints, *scales: Floats) -> list[Floats]:
            return [np.clip(c, lowest[scenario], highest[scenario]) for c in scales]

        low, high = clipped(self.sweep.scenario, self.sweep.low, self.sweep.high)
        sweep = replace(self.sweep, low=low, high=high)
        low, reached, passed = clipped(self.scenario, self.low, self.reached, self.passed)
        return replace(self, sweep=sweep, low=low, reached=reached, passed=passed)


def segment_overlaps(sweep: Trajectory, first: Ints, count: Ints) -> SegmentOverlaps:
    """Of each piece with segment `first` and those after it, `count` in all."""
    piece, segment = spread(first, count)
    low, high = sweep.low[piece], sweep.high[piece]
    B = sweep.references.begin[segment]
    begin_to_b, begin_delay = B - sweep.begin_at[piece], sweep.begin_delay[piece]
    end_to_b, end_delay = B - sweep.end_at[piece], sweep.end_delay[piece]
    # What stands still at B (0/0) never begins before it, and never ends after it.
    with np.errstate(divide="ignore", invalid="ignore"):
        passed = np.fmin(np.fmax(begin_to_b / begin_delay, low), high)
        reached = np.fmax(np.fmin(end_to_b / end_delay, high), low)
    last = (np.cumsum(count) - 1)[count > 0]
    ends = begin_to_b, begin_delay, end_to_b, end_delay
    return SegmentOverlaps(
        sweep, sweep.scenario[piece], piece, segment, low, *ends, reached, passed, last
    )


def stretches_of(sweep: Trajectory, references: References | None = None) -> Stretches:
    """A sweep cut where its references change, or where others do: with one segment per step, at steps.

    At one scale nothing moves, and a stretch that only rounding made is left out.
    """
    if references is not None:
        sweep = replace(sweep, references=references)
    refs = sweep.references
    if np.array_equal(sweep.highest, np.nextafter(sweep.lowest, np.inf)):
        piece, segment = spread(*spans_of(sweep))
        begin = np.maximum(sweep.begin_at[piece], refs.begin[segment])
        end = np.minimum(sweep.end_at[piece], refs.end[segment])
        row = np.flatnonzero(end - begin > ROUNDING * refs.horizon[refs.scenario[segment]])
        piece, segment, still = piece[row], segment[row], np.zeros(len(row))
        opens = np.append(True, piece[1:] != piece[:-1])[: len(piece)]
        ends = (begin[row], still, end[row], still)
        low, high = sweep.low[piece], sweep.high[piece]
        return Stretches(sweep, sweep.scenario[piece], piece, segment, *ends, low, high, opens)
    met = segment_overlaps(sweep, *spans_of(sweep))
    B, E, low = refs.begin[met.segment], refs.end[met.segment], met.reached
    high = met.until(met.passed, sweep.high)
    high = np.where((B < E) & (low < high), high, low)
    from_piece = np.clip(met.passed, low, high)
    to_segment = np.clip(met.until(low, sweep.high), low, high)
    # At most three forms for each meeting, beside each other in c.
    inner = np.minimum(from_piece, to_segment), np.maximum(from_piece, to_segment)
    scales = np.stack((low, *inner, high), axis=1)
    place = np.flatnonzero(scales[:, :-1] < scales[:, 1:])
    row = place // 3
    low, high = scales.ravel()[place + row], scales.ravel()[place + row + 1]
    opens, closes = low >= from_piece[row], low < to_segment[row]
    piece, segment = met.piece[row], met.segment[row]
    ends = (
        np.where(opens, sweep.begin_at[piece], B[row]),
        np.where(opens, sweep.begin_delay[piece], 0.0),
        np.where(closes, sweep.end_at[piece], E[row]),
        np.where(closes, sweep.end_delay[piece], 0.0),
    )
    return Stretches(sweep, met.scenario[row], piece, segment, *ends, low, high, opens)


def spans_of(sweep: Trajectory) -> tuple[Ints, Ints]:
    """The first segment each piece may meet at some scale of its range, and how many."""
    refs = sweep.references
    earliest = sweep.begin_at + sweep.low * sweep.begin_delay
    latest = sweep.end_at + sweep.high * sweep.end_delay
    first = refs.places.find(earliest, sweep.scenario)
    last = np.maximum(refs.places.find(latest, sweep.scenario), first)
    return first, np.where(sweep.empty, 0, last - first + 1)


def spread(first: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Row k for each of first[k], first[k] + 1, …, `count[k]` of them."""
    row = np.repeat(np.arange(len(count)), count)
    return row, np.arange(len(row)) + (first - np.cumsum(count) + count)[row]


def at_most(at: Floats, slope: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The part of [low, high] in which at + slope·c ≤ 0; empty ranges keep low = high."""
    with np.errstate(divide="ignore", invalid="ignore"):
        cut = np.clip(-at / slope, low, high)
    rising, falling = slope > 0, slope < 0
    never = ~rising & ~falling & (at > 0)
    return np.where(falling, cut, low), np.where(never, low, np.where(rising, cut, high))


# Which things follow each other, when each exists only over a range of scales.
#
# Elements are listed in the order of time: of two that exist at the same c, the one listed first comes
# first. Two are *neighbours* at c when both exist there and none between them does. Every element
# looks back over the list, and the part of its range that an earlier one covers is settled; what is
# left, below and above that part, looks further back. Whole blocks of the list that exist nowhere in
# what is left are passed over at once. Pairs are few: they are the gaps between strips that do not
# cross, at most three for each element.


EDGE = -1
"""Before the first and after the last element of a group."""

_BLOCK = 16


@dataclass(frozen=True, slots=True)
class Neighbours(Columns):
    """For c in [low, high) element `after` follows element `before`; either may be the `EDGE`."""

    group: Ints
    before: Ints
    after: Ints
    low: Floats
    high: Floats


def neighbours(
    group: Ints, low: Floats, high: Floats, group_low: Floats, group_high: Floats
) -> Neighbours:
    """All neighbours. `group` ascends; elements exist for c in [low, high) within their group's range.

    >>> found = neighbours(np.array([0, 0]), np.array([1.0, 1.0]), np.array([2.0, 4.0]),
    ...                    np.array([1.0]), np.array([4.0]))
    >>> sorted(zip(found.before.tolist(), found.after.tolist(), found.low.tolist()))
    [(-1, 0, 1.0), (-1, 1, 2.0), (0, 1, 1.0), (1, -1, 1.0)]
    """
    groups, total = len(group_low), len(group) + 2 * len(group_low)
    # Each group's elements between two edges that exist over its whole range.
    place = np.arange(len(group)) + 2 * group + 1
    size = np.bincount(group, minlength=groups) + 2
    last = np.cumsum(size) - 1
    first = last - size + 1
    owner = np.repeat(np.arange(groups), size)
    element = np.full(total, EDGE, dtype=np.int64)
    element[place] = np.arange(len(group))
    if np.all((low == group_low[group]) & (high == group_high[group])):
        # At one scale everything exists: neighbours are those of the list.
        inside = owner[1:] == owner[:-1]
        group = owner[1:][inside]
        before, after = element[:-1][inside], element[1:][inside]
        return Neighbours(group, before, after, group_low[group], group_high[group])

    lows, highs = group_low[owner], group_high[owner]
    lows[place], highs[place] = low, high
    block_low, block_high = _hulls(lows, highs)
    is_first = np.zeros(total, dtype=bool)
    is_first[first] = True
    looking = np.flatnonzero(~is_first)
    looking = looking[lows[looking] < highs[looking]]
    at = looking - 1
    left, right = lows[looking], highs[looking]
    found: list[tuple[Ints, Ints, Floats, Floats]] = []
    while looking.size:
        covered_low = np.maximum(left, lows[at])
        covered_high = np.minimum(right, highs[at])
        hit = covered_low < covered_high
        if hit.any():
            found.append((at[hit], looking[hit], covered_low[hit], covered_high[hit]))
        # What is covered is settled; an uncovered part on either side goes on.
        above = hit & (covered_high < right)
        below = ~hit | (left < covered_low)
        right_below = np.where(hit, covered_low, right)
        looking = np.concatenate((looking[below], looking[above]))
        left = np.concatenate((left[below], covered_high[above]))
        right = np.concatenate((right_below[below], right[above]))
        at = np.concatenate((at[below], at[above])) - 1
        block = at // _BLOCK
        skip = at % _BLOCK == _BLOCK - 1
        skip &= (block_low[block] >= right) | (block_high[block] <= left)
        while skip.any():
            at = np.where(skip, at - _BLOCK, at)
            block = at // _BLOCK
            skip &= (block_low[block] >= right) | (block_high[block] <= left)
    if not found:
        none = np.zeros(0, dtype=np.int64)
        return Neighbours(none, none, none, np.zeros(0), np.zeros(0))
    before, after, low_, high_ = (np.concatenate(column) for column in zip(*found, strict=True))
    return Neighbours(owner[after], element[before], element[after], low_, high_)


def _hulls(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """From the lowest to the highest scale at which anything of each block exists."""
    starts = np.arange(0, len(low), _BLOCK)
    empty = low >= high
    return (
        np.minimum.reduceat(np.where(empty, np.inf, low), starts),
        np.maximum.reduceat(np.where(empty, -np.inf, high), starts),
    )


@dataclass(frozen=True, slots=True)
class NotWrongRuns:
    """Stretches that are not wrong, and which of them follow each other.

    What lies between two neighbours is a wrong spell; the first right one of a reference segment ends
    the wait for it. Time in which it is not known what is right counts as calm: nothing is charged.
    """

    cut: Stretches
    pairs: Neighbours


def not_wrong_runs(cut: Stretches) -> NotWrongRuns:
    """The calm stretches of a cut."""
    calm, sweep = cut.where(~cut.wrong), cut.sweep
    pairs = neighbours(calm.scenario, calm.low, calm.high, sweep.lowest, sweep.highest)
    return NotWrongRuns(calm, pairs)
