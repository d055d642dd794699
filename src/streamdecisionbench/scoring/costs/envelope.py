"""The highest of many straight lines, each of which exists over a range only.

Between two points at which lines come or go the highest is convex. So a line that is highest at both
ends of such a cell is highest throughout, and two lines that are highest at its two ends cross
inside: either they share the cell between them, or the crossing belongs to a third line, and both
halves are looked at again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.timeline import Floats, Ints

__all__ = ["Envelope", "upper_envelope"]

_COARSE = 32
_ROUNDS = 64
"""Each round splits a cell at a crossing of its own lines; more would be rounding, not crossings."""
_SLIVER = 1e-12


@dataclass(frozen=True, slots=True)
class Envelope:
    """On [low, high) line `line` is the highest of its owner."""

    line: Ints
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class _Lines:
    owner: Ints
    at: Floats
    slope: Floats
    low: Floats
    high: Floats

    def of(self, index: Ints) -> _Lines:
        return _Lines(
            self.owner[index], self.at[index], self.slope[index], self.low[index], self.high[index]
        )


@dataclass(frozen=True, slots=True)
class _Cells:
    """Ranges, each with the lines that exist throughout it: line[start[k] : start[k] + size[k]]."""

    low: Floats
    high: Floats
    size: Ints
    line: Ints

    @property
    def start(self) -> Ints:
        return np.cumsum(self.size) - self.size


def upper_envelope(
    owner: Ints, at: Floats, slope: Floats, low: Floats, high: Floats, owners: int
) -> Envelope:
    """The highest of at + slope·c for every owner and c that some line of its own covers.

    >>> found = upper_envelope(np.array([0, 0]), np.array([0.0, 2.0]), np.array([1.0, 0.0]),
    ...                        np.array([1.0, 1.0]), np.array([4.0, 4.0]), 1)
    >>> sorted(zip(found.low.tolist(), found.line.tolist()))
    [(1.0, 1), (2.0, 0)]
    """
    lines = _Lines(owner, at, slope, low, high)
    wide = np.flatnonzero(high - low > _SLIVER * high)
    kept = wide[_may_be_highest(lines.of(wide), owners)]
    lines = lines.of(kept)
    cells = _between_ends(lines)
    found: list[Envelope] = []
    for _ in range(_ROUNDS):
        if not len(cells.low):
            break
        left, right = _highest(lines, cells, cells.low), _highest(lines, cells, cells.high)
        # Lines that agree at an end: take the one that is highest at the other.
        same = _value(lines, left, cells.high) >= _value(lines, right, cells.high)
        right = np.where(same, left, right)
        same |= _value(lines, right, cells.low) >= _value(lines, left, cells.low)
        left = np.where(same, right, left)
        found.append(Envelope(left[same], cells.low[same], cells.high[same]))
        cells, left, right = _where(cells, ~same), left[~same], right[~same]
        fall = lines.slope[right] - lines.slope[left]
        meet = np.clip((lines.at[left] - lines.at[right]) / fall, cells.low, cells.high)
        top = _highest(lines, cells, meet)
        value = _value(lines, left, meet)
        shared = (top == left) | (top == right) | (_value(lines, top, meet) <= value)
        found.append(Envelope(left[shared], cells.low[shared], meet[shared]))
        found.append(Envelope(right[shared], meet[shared], cells.high[shared]))
        cells = _halves(_where(cells, ~shared), meet[~shared])
    line, lows, highs = (
        np.concatenate([getattr(part, name) for part in found] or [np.zeros(0)])
        for name in ("line", "low", "high")
    )
    return Envelope(kept[line.astype(np.int64)], lows, highs)


def _value(lines: _Lines, line: Ints, c: Floats) -> Floats:
    value: Floats = lines.at[line] + lines.slope[line] * c
    return value


def _highest(lines: _Lines, cells: _Cells, c: Floats) -> Ints:
    """The highest line of each cell at one point of it."""
    if not len(cells.low):
        return np.zeros(0, dtype=np.int64)
    values = _value(lines, cells.line, np.repeat(c, cells.size))
    top = np.maximum.reduceat(values, cells.start)
    hit = np.flatnonzero(values == np.repeat(top, cells.size))
    cell = np.repeat(np.arange(len(cells.size)), cells.size)[hit]
    _, first = np.unique(cell, return_index=True)
    return cells.line[hit[first]]


def _between_ends(lines: _Lines) -> _Cells:
    """Each owner's range cut wherever a line of its own begins or ends."""
    none = np.zeros(0, dtype=np.int64)
    if not len(lines.low):
        return _Cells(np.zeros(0), np.zeros(0), none, none)
    points = np.concatenate((lines.low, lines.high))
    owner = np.concatenate((lines.owner, lines.owner))
    order = np.lexsort((points, owner))
    new = np.append(
        True,
        (points[order][1:] != points[order][:-1]) | (owner[order][1:] != owner[order][:-1]),
    )
    rank = np.empty(len(points), dtype=np.int64)
    rank[order] = np.cumsum(new) - 1
    cuts = points[order][new]
    begins, ends = rank[: len(lines.low)], rank[len(lines.low) :]
    count = ends - begins
    line = np.repeat(np.arange(len(count)), count)
    cell = begins[line] + np.arange(len(line)) - np.repeat(np.cumsum(count) - count, count)
    by_cell = np.argsort(cell, kind="stable")
    cell, line = cell[by_cell], line[by_cell]
    first = np.flatnonzero(np.append(True, cell[1:] != cell[:-1]))
    size = np.diff(np.append(first, len(cell)))
    return _Cells(cuts[cell[first]], cuts[cell[first] + 1], size, line)


def _where(cells: _Cells, keep: NDArray[np.bool_]) -> _Cells:
    return _Cells(
        cells.low[keep],
        cells.high[keep],
        cells.size[keep],
        cells.line[np.repeat(keep, cells.size)],
    )


def _halves(cells: _Cells, at: Floats) -> _Cells:
    wide_left, wide_right = cells.low < at, at < cells.high
    left = _where(_Cells(cells.low, at, cells.size, cells.line), wide_left)
    right = _where(_Cells(at, cells.high, cells.size, cells.line), wide_right)
    return _Cells(
        *(
            np.concatenate((getattr(left, name), getattr(right, name)))
            for name in ("low", "high", "size", "line")
        )
    )


def _may_be_highest(lines: _Lines, owners: int) -> NDArray[np.bool_]:
    """Leaves out lines that lie below others all along, so that few are compared with each other.

    In every part of a coarse grid the highest line that spans it is a floor for all.
    """
    total = len(lines.low)
    lowest, highest = np.full(owners, np.inf), np.full(owners, -np.inf)
    np.minimum.at(lowest, lines.owner, lines.low)
    np.maximum.at(highest, lines.owner, lines.high)
    width = np.where(highest > lowest, (highest - lowest) / _COARSE, 1.0)[lines.owner]
    base = lowest[lines.owner]
    first = np.clip((lines.low - base) / width, 0, _COARSE - 1).astype(np.int64)
    last = np.clip((lines.high - base) / width, 0, _COARSE - 1).astype(np.int64)
    count = last - first + 1
    line = np.repeat(np.arange(total), count)
    part = first[line] + np.arange(len(line)) - np.repeat(np.cumsum(count) - count, count)
    left, right = base[line] + part * width[line], base[line] + (part + 1) * width[line]
    spans = (lines.low[line] <= left) & (right <= lines.high[line])
    cell = lines.owner[line] * _COARSE + part
    floor = np.full(owners * _COARSE, -np.inf)
    least = np.minimum(_value(lines, line, left), _value(lines, line, right))
    np.maximum.at(floor, cell[spans], least[spans])
    left, right = np.maximum(left, lines.low[line]), np.minimum(right, lines.high[line])
    most = np.maximum(_value(lines, line, left), _value(lines, line, right))
    keep = np.zeros(total, dtype=bool)
    keep[line[most >= floor[cell]]] = True
    return keep
