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

from streamdecisionbench.scoring.measure import Measure
from streamdecisionbench.scoring.sweep import References, Sweep
from streamdecisionbench.scoring.timeline import NOTHING, Columns, Floats, Ints

ROUNDING = 1e-12
"""A stretch shorter than this share of the horizon is two equal times that rounding told apart: being
right for it neither ends a spell nor answers a change."""


@dataclass(frozen=True, slots=True)
class Cut(Columns):
    """A sweep's pieces cut where the reference changes, listed in the order of time as they are.

    A stretch lasts from begin_at + c·begin_delay to end_at + c·end_delay, for c in [low, high).
    """

    SHARED: ClassVar[tuple[str, ...]] = ("sweep",)

    sweep: Sweep
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

    def time(self, measure: Measure) -> Floats:
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
class Meetings(Columns):
    """Every piece of a sweep beside every segment [B, E) it meets, for c in [low, high).

    It begins with the segment below `from_piece` and with the piece above, and ends with the piece below
    `to_segment` and with the segment above.
    """

    SHARED: ClassVar[tuple[str, ...]] = ("sweep",)

    sweep: Sweep
    scenario: Ints
    piece: Ints
    segment: Ints
    begin_at: Floats
    begin_delay: Floats
    end_at: Floats
    end_delay: Floats
    B: Floats
    E: Floats
    low: Floats
    high: Floats
    from_piece: Floats
    to_segment: Floats

    def time(self, measure: Measure) -> Floats:
        """How long each lasts on the recording clock, weighed: the piece, less what is before B or after E."""
        one, scale = measure.lengths(self.scenario, self.low, self.high)
        time: Floats = (self.end_at - self.begin_at) * one
        time += (self.end_delay - self.begin_delay) * scale
        one, scale = measure.lengths(self.scenario, self.low, self.from_piece)
        time -= (self.B - self.begin_at) * one - self.begin_delay * scale
        one, scale = measure.lengths(self.scenario, self.to_segment, self.high)
        time -= (self.end_at - self.E) * one + self.end_delay * scale
        return time

    def within(self, lowest: Floats, highest: Floats) -> Meetings:
        """As far as scales of each scenario go."""
        bounds = lowest[self.scenario], highest[self.scenario]
        names = ("low", "high", "from_piece", "to_segment")
        return replace(self, **{name: np.clip(getattr(self, name), *bounds) for name in names})


def meetings_of(sweep: Sweep) -> Meetings:
    refs = sweep.references
    piece, segment = _meetings(sweep)
    begin_at, begin_delay = sweep.begin_at[piece], sweep.begin_delay[piece]
    end_at, end_delay = sweep.end_at[piece], sweep.end_delay[piece]
    B, E = refs.begin[segment], refs.end[segment]
    # The piece meets the segment while it begins before E and ends after B.
    low, high = sweep.low[piece], sweep.high[piece]
    with np.errstate(divide="ignore", invalid="ignore"):
        ends_after_b, begins_at_e = (B - end_at) / end_delay, (E - begin_at) / begin_delay
        begins_at_b, ends_at_e = (B - begin_at) / begin_delay, (E - end_at) / end_delay
    # What stands still has no crossing (0/0) where it is there already: from the first scale on.
    low, high = (
        np.fmax(np.fmin(ends_after_b, high), low),
        np.fmin(np.fmax(begins_at_e, low), high),
    )
    high = np.where((B < E) & (low < high), high, low)
    from_piece = np.fmin(np.fmax(begins_at_b, low), high)
    to_segment = np.fmin(np.fmax(ends_at_e, low), high)
    ends = (begin_at, begin_delay, end_at, end_delay, B, E)
    scales = (low, high, from_piece, to_segment)
    return Meetings(sweep, sweep.scenario[piece], piece, segment, *ends, *scales)


def cut_of(sweep: Sweep, references: References | None = None) -> Cut:
    """A sweep cut where its references change, or where others do: with one segment per step, at steps.

    At one scale nothing moves, and a stretch that only rounding made is left out.
    """
    if references is not None:
        sweep = replace(sweep, references=references)
    refs = sweep.references
    if np.array_equal(sweep.highest, np.nextafter(sweep.lowest, np.inf)):
        piece, segment = _meetings(sweep)
        begin = np.maximum(sweep.begin_at[piece], refs.begin[segment])
        end = np.minimum(sweep.end_at[piece], refs.end[segment])
        row = np.flatnonzero(end - begin > ROUNDING * refs.horizon[refs.scenario[segment]])
        piece, segment, still = piece[row], segment[row], np.zeros(len(row))
        opens = np.append(True, piece[1:] != piece[:-1])[: len(piece)]
        ends = (begin[row], still, end[row], still)
        low, high = sweep.low[piece], sweep.high[piece]
        return Cut(sweep, sweep.scenario[piece], piece, segment, *ends, low, high, opens)
    met = meetings_of(sweep)
    # At most three forms for each meeting, beside each other in c.
    scales = np.stack(
        (
            met.low,
            np.minimum(met.from_piece, met.to_segment),
            np.maximum(met.from_piece, met.to_segment),
            met.high,
        ),
        axis=1,
    )
    place = np.flatnonzero(scales[:, :-1] < scales[:, 1:])
    row = place // 3
    low, high = scales.ravel()[place + row], scales.ravel()[place + row + 1]
    opens, closes = low >= met.from_piece[row], low < met.to_segment[row]
    piece, segment = met.piece[row], met.segment[row]
    ends = (
        np.where(opens, met.begin_at[row], met.B[row]),
        np.where(opens, met.begin_delay[row], 0.0),
        np.where(closes, met.end_at[row], met.E[row]),
        np.where(closes, met.end_delay[row], 0.0),
    )
    return Cut(sweep, met.scenario[row], piece, segment, *ends, low, high, opens)


def _meetings(sweep: Sweep) -> tuple[Ints, Ints]:
    """Every piece with every segment it may meet at some scale of its range."""
    refs = sweep.references
    earliest = sweep.begin_at + sweep.low * sweep.begin_delay
    latest = sweep.end_at + sweep.high * sweep.end_delay
    first = refs.places.find(earliest, sweep.scenario)
    last = np.maximum(refs.places.find(latest, sweep.scenario), first)
    return spread(first, np.where(sweep.empty, 0, last - first + 1))


def spread(first: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Row k for each of first[k], first[k] + 1, …, `count[k]` of them."""
    row = np.repeat(np.arange(len(count)), count)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return row, first[row] + nth


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
class Calm:
    """Stretches that are not wrong, and which of them follow each other.

    What lies between two neighbours is a wrong spell; the first right one of a reference segment ends
    the wait for it. Time in which it is not known what is right counts as calm: nothing is charged.
    """

    cut: Cut
    pairs: Neighbours


def calm_of(cut: Cut) -> Calm:
    """The calm stretches of a cut."""
    calm, sweep = cut.where(~cut.wrong), cut.sweep
    pairs = neighbours(calm.scenario, calm.low, calm.high, sweep.lowest, sweep.highest)
    return Calm(calm, pairs)
