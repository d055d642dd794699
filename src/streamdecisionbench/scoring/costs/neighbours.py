"""Which things follow each other, when each exists only over a range of scales.

Elements are listed in the order of time: of two that exist at the same c, the one listed first comes
first. Two are *neighbours* at c when both exist there and none between them does. Every element
looks back over the list, and the part of its range that an earlier one covers is settled; what is
left, below and above that part, looks further back. Whole blocks of the list that exist nowhere in
what is left are passed over at once. Pairs are few: they are the gaps between strips that do not
cross, at most three for each element.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from streamdecisionbench.scoring.timeline import Floats, Ints

__all__ = ["EDGE", "Neighbours", "neighbours"]

EDGE = -1
"""Before the first and after the last element of a group."""

_BLOCK = 16


@dataclass(frozen=True, slots=True)
class Neighbours:
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
    lows, highs = group_low[owner], group_high[owner]
    lows[place], highs[place] = low, high
    element = np.full(total, EDGE, dtype=np.int64)
    element[place] = np.arange(len(group))

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
