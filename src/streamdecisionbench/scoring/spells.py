"""Wrong spells at one interval: how long the application stays wrong, and how often.

A *wrong spell* is a maximal stretch of time in which the decision in force is not right, whatever
wrong decisions follow each other in it. No decision is not right; ages start at the release of
step 0. With T the observed time and ℓ_k the lengths of the spells, in seconds at the interval:

    mean age      Σ ℓ_k²/2 / T            the mean over time of how long it has been wrong
    beyond share  Σ max(0, ℓ_k − θ) / T   the share of time wrong for longer than θ
    longest       max ℓ_k                 count   how many there are

The mean age is the age of incorrect information of Maatouk, Kriouile, Assaad and Ephremides (2020)
with a linear penalty; θ gives its threshold penalty. Where it is not known what was right, a spell
ends and T does not run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.cut import (
    EDGE,
    Calm,
    Stretches,
    mean_by_scenario,
    powers,
    stretches,
)
from streamdecisionbench.scoring.sweep import References, Trajectory
from streamdecisionbench.scoring.timeline import Floats, Ints


@dataclass(frozen=True, slots=True)
class Spells:
    """Every wrong spell, in seconds since its scenario's clock began at the interval, in time order."""

    scenario: Ints
    begin: Floats
    end: Floats
    observed: Floats
    """T of each scenario: judged seconds at the interval."""
    wrong: Floats
    """Wrong seconds of each scenario, added up without the spells: 1 − A times T."""

    @property
    def length(self) -> Floats:
        return self.end - self.begin

    @property
    def mean_age(self) -> Floats:
        """Σ ℓ²/2 / T per scenario, in seconds."""
        return _per(self._sum(0.5 * self.length**2), self.observed)

    def beyond_share(self, theta: float) -> Floats:
        """Σ max(0, ℓ − θ) / T per scenario."""
        return _per(self._sum(np.maximum(0.0, self.length - theta)), self.observed)

    def long_share(self, theta: float) -> Floats:
        """The share of time in spells that last longer than θ, from their beginning."""
        long_ = np.where(self.length > theta * (1 + 1e-9), self.length, 0.0)
        return _per(self._sum(long_), self.observed)

    @property
    def longest(self) -> Floats:
        """The longest spell per scenario, 0 where there is none."""
        found = np.zeros(len(self.observed))
        np.maximum.at(found, self.scenario, self.length)
        return found

    @property
    def count(self) -> Ints:
        return np.bincount(self.scenario, minlength=len(self.observed))

    def _sum(self, values: Floats) -> Floats:
        return np.bincount(self.scenario, weights=values, minlength=len(self.observed)).astype(
            np.float64
        )


def spells(path: Trajectory) -> Spells:
    """The wrong spells of a trajectory.

    >>> from streamdecisionbench import example_recording, example_suite
    >>> from streamdecisionbench.scoring.timeline import Flat, timelines
    >>> from streamdecisionbench.scoring.sweep import trajectory_at
    >>> found = spells(trajectory_at(Flat(timelines(example_recording(), example_suite())), 2.0))
    >>> found.begin.round(3).tolist(), found.length.round(3).tolist()
    ([0.0, 4.0, 6.0], [0.4, 0.8, 2.0])
    >>> round(float(found.mean_age[0]), 3), round(float(found.beyond_share(1.0)[0]), 3)
    (0.3, 0.125)
    """
    return spells_of(path, stretches(path))


def spells_of(path: Trajectory, cut: Stretches) -> Spells:
    """The same, where the stretches are at hand."""
    refs = path.references
    count = refs.count
    wrong = cut.wrong
    before = np.append(False, wrong[:-1] & (cut.scenario[1:] == cut.scenario[:-1]))
    after = np.append(wrong[1:] & (cut.scenario[1:] == cut.scenario[:-1]), False)
    first, last = np.flatnonzero(wrong & ~before), np.flatnonzero(wrong & ~after)
    scenario = cut.scenario[first]
    c = path.scale
    judged = refs.observed
    if not cut.known.all():
        known = np.where(cut.known, cut.length, 0.0)
        judged = np.bincount(cut.scenario, weights=known, minlength=count).astype(np.float64)
    amount = np.bincount(cut.scenario, weights=np.where(wrong, cut.length, 0.0), minlength=count)
    return Spells(
        scenario,
        cut.begin[first] / c[scenario],
        cut.end[last] / c[scenario],
        judged / c,
        amount / c,
    )


def _per(amount: Floats, observed: Floats) -> Floats:
    return np.divide(amount, observed, out=np.zeros_like(amount), where=observed > 0)


# The highest of many straight lines, each of which exists over a range only.
#
# Between two points at which lines come or go the highest is convex. So a line that is highest at both
# ends of such a cell is highest throughout, and two lines that are highest at its two ends cross
# inside: either they share the cell between them, or the crossing belongs to a third line, and both
# halves are looked at again.


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


# Wrong spells over a range of intervals: exact means of their age, their excess, their number.
#
# A spell lies between two neighbouring stretches that are not wrong. Over a range of c its length on
# the recording clock is ℓ(c) = a + b·c, in seconds at the interval ℓ(c)/c, and T likewise T/c. So
#
#     mean age       ℓ²/(2·T·c) = (a²/c + 2ab + b²·c) / 2T
#     beyond share   (ℓ − θ·c)/T   where that is positive: cut at c = a/(θ − b)
#     count          1
#     longest        the upper envelope of all ℓ(c)/c


@dataclass(frozen=True, slots=True)
class MovingSpells:
    """On [low, high) a spell of `at` + c · `delay` seconds of the recording clock."""

    references: References
    scenario: Ints
    at: Floats
    delay: Floats
    low: Floats
    high: Floats
    observed: Floats
    """T of each scenario on the recording clock: judged time."""

    def wrong_share(self, bounds: Bounds) -> Floats:
        """Σ ℓ / T per scenario: 1 − A over the bounds."""
        return self.beyond_share(0.0, bounds)

    def mean_age(self, bounds: Bounds, beyond: float = 0.0) -> Floats:
        """Σ ℓ²/2 / T in seconds at the interval, over the bounds; of what spells last `beyond` that."""
        low, high, slope = self.longer_than(beyond)
        on = powers(low, high, bounds)
        a, b = self.at, slope
        amount = 0.5 * a * a * on.inverse + a * b * on.one + 0.5 * b * b * on.scale
        return self._mean(self._per_time(amount), bounds)

    def beyond_share(self, theta: float, bounds: Bounds) -> Floats:
        """Σ max(0, ℓ − θ) / T over the bounds."""
        low, high, slope = self.longer_than(theta)
        on = powers(low, high, bounds)
        return self._mean(self._per_time(self.at * on.one + slope * on.scale), bounds)

    def long_share(self, theta: float, bounds: Bounds) -> Floats:
        """The share of time in spells that last longer than θ, over the bounds."""
        low, high, _ = self.longer_than(theta)
        on = powers(low, high, bounds)
        return self._mean(self._per_time(self.at * on.one + self.delay * on.scale), bounds)

    def count(self, bounds: Bounds) -> Floats:
        """How many spells there are, on average over the bounds."""
        return self._mean(powers(self.low, self.high, bounds).one, bounds)

    def longest(self, bounds: Bounds) -> Floats:
        """The longest spell in seconds at the interval, on average over the bounds."""
        top = upper_envelope(
            self.scenario, self.at, self.delay, self.low, self.high, self.references.count
        )
        on = powers(top.low, top.high, bounds)
        amount = self.at[top.line] * on.inverse + self.delay[top.line] * on.one
        return mean_by_scenario(amount, self.scenario[top.line], self.references.tick, bounds)

    def longer_than(self, theta: float) -> tuple[Floats, Floats, Floats]:
        """Where ℓ(c)/c > θ within each range, and the slope of ℓ(c) − θ·c.

        Seconds at the interval fall as c grows unless ℓ grows at least as fast.
        """
        slope = self.delay - theta
        with np.errstate(divide="ignore", invalid="ignore"):
            cut = np.clip(-self.at / slope, self.low, self.high)
        rising, falling = slope > 0, slope < 0
        never = ~rising & ~falling & (self.at <= 0)
        low = np.where(rising, cut, self.low)
        high = np.where(never, self.low, np.where(falling, cut, self.high))
        return low, high, slope

    def _per_time(self, amount: Floats) -> Floats:
        T = self.observed[self.scenario]
        return np.divide(amount, T, out=np.zeros_like(amount), where=T > 0)

    def _mean(self, amount: Floats, bounds: Bounds) -> Floats:
        return mean_by_scenario(amount, self.scenario, self.references.tick, bounds)


def moving_spells(calm: Calm) -> MovingSpells:
    """The wrong spells of a sweep: what lies between its calm stretches."""
    refs, cut, pairs = calm.references, calm.stretches, calm.pairs
    begin_at, begin_delay = _end(cut.end_at, cut.end_delay, pairs.before, refs.start[pairs.group])
    end_at, end_delay = _end(cut.begin_at, cut.begin_delay, pairs.after, refs.horizon[pairs.group])
    # Stretches that touch at every scale have nothing between them.
    apart = (end_at != begin_at) | (end_delay != begin_delay)
    return MovingSpells(
        refs,
        pairs.group[apart],
        (end_at - begin_at)[apart],
        (end_delay - begin_delay)[apart],
        pairs.low[apart],
        pairs.high[apart],
        calm.judged,
    )


def _end(at: Floats, delay: Floats, index: Ints, edge: Floats) -> tuple[Floats, Floats]:
    """One end of each chosen stretch, or the edge of the scenario, which stands still."""
    if not len(at):
        return edge, np.zeros_like(edge)
    outside = index == EDGE
    return np.where(outside, edge, at[index]), np.where(outside, 0.0, delay[index])
