"""Seconds by class: what was in force, beside what was right, under a measure of paces.

Whoever decided, one component, a pair, a policy or somebody's log, leaves a `Sweep`: pieces in which
the decision of one source is in force, their ends a + b·c. Cut where the reference changes, a piece
becomes stretches of one class each (`in_force` has the table of classes), and

    seconds = (end_at − begin_at)·∫1 + (end_delay − begin_delay)·∫c
    shares  = seconds by scenario and class / observed time

with ∫ over a range of intervals or at one of them, as the measure says. Everything in this house that
is a share of time comes from these lines.

At one pace, where pieces have fixed ends, `class_stretches` cuts at every release instead, which a sorted
merge does three times as fast: a law in the tests holds it to the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.in_force import (
    ALL_CLASSES,
    CLASS_OF_BITS,
    CORRECT,
    CURRENT,
    HELD,
    NOW_KNOWN,
    OWN_KNOWN,
    RIGHT,
)
from streamdecisionbench.scoring.cut import Meetings, meetings_of, spans_of
from streamdecisionbench.scoring.measure import At, Measure, measure_over
from streamdecisionbench.scoring.pace_bounds import Bounds, check_interval
from streamdecisionbench.scoring.sweep import Sweep, by_step, effects_of, sweep_over
from streamdecisionbench.scoring.timeline import (
    NOTHING,
    Effects,
    Flat,
    Floats,
    Ints,
    by_scenario,
    portions,
)

TABLE = (*ALL_CLASSES, "segment_in_force", "later_component")
"""Columns of the scorer's tables: the classes, segment-balanced in-force accuracy, and the share of
time in which the decision of a component after the first is in force (the slow one of a pair)."""
SEGMENT, LATER = len(ALL_CLASSES), len(ALL_CLASSES) + 1

_CLASS = np.array(CLASS_OF_BITS, dtype=np.int64)
_IS_CORRECT = np.isin(np.arange(len(ALL_CLASSES)), CORRECT)
_AT_ONCE = 3 << 11
"""Meetings looked at together: enough to be fast, few enough that memory is not asked for again each time."""


def shares_over(
    sweep: Sweep, measures: Sequence[Measure], *, segments: bool = True
) -> list[Floats]:
    """Shares of observed time per scenario, columns as in `TABLE`, under each of the measures.

    Without `segments` the segment-balanced accuracy is left at zero.
    """
    refs = sweep.references
    shape = refs.count, len(TABLE)
    size = refs.count * len(TABLE)
    seconds, balanced = np.zeros((2, len(measures), size))
    for met, column in classified(sweep):
        row = met.scenario * len(TABLE)
        place = row + column
        weight = refs.weight[met.segment] if segments else None
        component = met.sweep.component
        later = None if component is None else np.flatnonzero(component[met.piece] > 0)
        for k, measure in enumerate(measures):
            time = _within(met, measure).time(measure)
            seconds[k] += np.bincount(place, time, size)
            if weight is not None:
                balanced[k] += np.bincount(place, time * weight, size)
            if later is not None:
                seconds[k] += np.bincount(row[later] + LATER, time[later], size)
    found = [one.reshape(shape) / refs.observed[:, None] for one in seconds]
    for out, one in zip(found, balanced, strict=True):
        out[:, SEGMENT] = one.reshape(shape)[:, CORRECT].sum(axis=1)
    return found


def classified(sweep: Sweep) -> Iterator[tuple[Meetings, Ints]]:
    """A sweep's pieces beside the reference segments they meet, with the class of each, some at a time."""
    find, (first, count) = class_finder(sweep), spans_of(sweep)
    for some in portions(count, _AT_ONCE):
        met = meetings_of(sweep.where(some), first[some], count[some])
        yield met, find(met.piece + some.start, met.segment)


def class_finder(sweep: Sweep) -> Callable[[Ints, Ints], Ints]:
    """Says of which class an instant is, given its piece of the sweep and its reference segment."""
    refs = sweep.references
    own = refs.decision[refs.step_segment[sweep.source]]
    known = bool((refs.decision != NOTHING).all())
    bits = _source_bits(sweep.decision, own, all_known=known)

    def find(piece: Ints, segment: Ints) -> Ints:
        return _column(bits[piece], sweep.decision[piece], own[piece], refs.decision[segment])

    return find


def table_over(flat: Flat, bounds: Bounds, *, segments: bool = True) -> Floats:
    """One component in replay: integrated shares per scenario, columns as in `TABLE`."""
    measure = measure_over(bounds, flat.tick, flat.alone)
    sweep = sweep_over(flat, bounds)
    return shares_over(sweep, [measure], segments=segments)[0]


def _within(met: Meetings, measure: Measure) -> Meetings:
    """Ranges as far as the measure goes, where it is narrower."""
    if isinstance(measure, At):
        return met
    lowest, highest = met.sweep.lowest, met.sweep.highest
    if np.array_equal(measure.lowest, lowest) and np.array_equal(measure.highest, highest):
        return met
    return met.within(measure.lowest, measure.highest)


def _source_bits(decision: Ints, own: Ints, *, all_known: bool) -> NDArray[np.uint8]:
    """What a decision and its own reference say of its instants, whatever is right then."""
    bits = np.equal(decision, own).view(np.uint8) * RIGHT
    bits += np.not_equal(decision, NOTHING).view(np.uint8) * HELD
    if all_known:
        bits += OWN_KNOWN + NOW_KNOWN
    else:
        bits += np.greater_equal(own, 0).view(np.uint8) * OWN_KNOWN
    return bits


def _column(bits: NDArray[np.uint8], decision: Ints, own: Ints, now: Ints) -> Ints:
    """The class of each instant, given the bits of its source."""
    bits = bits + np.equal(decision, now)
    bits += np.equal(own, now).view(np.uint8) * CURRENT
    if len(bits) and not bits[0] & NOW_KNOWN:
        bits += np.greater_equal(now, 0).view(np.uint8) * NOW_KNOWN
    column: Ints = _CLASS.take(bits)
    return column


# One pace: pieces with fixed ends, cut at every release.


@dataclass(frozen=True, slots=True)
class ClassStretches:
    """Observed time, cut at every release and where a piece begins: on [begin, end) nothing changes.

    `piece` is the piece in force, −1 before the first; `step` the one whose evidence holds.
    """

    scenario: Ints
    piece: Ints
    step: Ints
    begin: Floats
    end: Floats
    column: Ints
    """The class."""

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether the decision in force is what is right."""
        correct: NDArray[np.bool_] = _IS_CORRECT[self.column]
        return correct


def class_stretches(flat: Flat, effects: Effects) -> ClassStretches:
    """All observed time, given what comes into force."""
    scenario, source, decision, begin = effects
    pieces = len(source)
    # A piece's place among all cuts: after the releases up to its time and the pieces before it.
    place = flat.locate(begin, scenario) + np.arange(1, pieces + 1)
    is_piece = np.zeros(len(flat.r) + pieces, dtype=np.int64)
    is_piece[place] = 1
    piece = np.cumsum(is_piece) - 1
    step = np.arange(-1, len(piece) - 1) - piece
    time = flat.r[step]
    time[place] = begin
    end = np.append(time[1:], 0.0)
    end[np.cumsum(flat.n + np.bincount(scenario, minlength=flat.count)) - 1] = flat.H
    of_step = flat.scenario[step]
    piece[np.append(scenario, -1)[piece] != of_step] = -1
    own, decision = np.append(flat.y[source], NOTHING), np.append(decision, NOTHING)
    bits = _source_bits(decision, own, all_known=flat.all_known)
    column = _column(bits[piece], decision[piece], own[piece], flat.y[step])
    return ClassStretches(of_step, piece, step, time, end, column)


def path_stretches(flat: Flat, path: Sweep) -> ClassStretches:
    """The same of a trajectory."""
    return class_stretches(flat, Effects(path.scenario, path.source, path.decision, path.begin))


def table_of(flat: Flat, found: ClassStretches, *, segments: bool = True) -> Floats:
    """Shares of observed time per scenario, columns as in `TABLE`.

    Without `segments` the segment-balanced accuracy is left at zero, which saves a quarter.
    """
    seconds = found.end - found.begin
    width = len(TABLE)
    sums = np.bincount(found.scenario * width + found.column, seconds, flat.count * width)
    out: Floats = sums.reshape(flat.count, width) / (flat.H - flat.r0)[:, None]
    if segments:
        right = np.flatnonzero(found.correct)
        balanced = seconds[right] * flat.segment_weight[found.step[right]]
        out[:, SEGMENT] = by_scenario(found.scenario[right], balanced, flat.count)
    return out


def stretches_at(flat: Flat, interval: float | None) -> ClassStretches:
    """One component in replay at an interval, or at the pace of each recording."""
    return class_stretches(flat, effects_of(flat, flat.arrivals(flat.scale(interval))))


# Step by step: A_e(Δ) = Σ_g a_g(Δ), and the same integrated. While step g's evidence holds,
# [r_g, r_{g+1}), some share of the time has the right decision in force; adding these up over steps
# gives the score exactly.


def shares_by_step(flat: Flat, found: ClassStretches) -> Floats:
    """a_g: the time right within each step as a share of its scenario's observed time."""
    right = np.flatnonzero(found.correct)
    seconds = np.bincount(found.step[right], (found.end - found.begin)[right], len(flat.r))
    shares: Floats = seconds * flat.time_weight
    return shares


def shares_by_step_at(flat: Flat, interval: float) -> Floats:
    """In-force accuracy of one component at an interval, step by step."""
    check_interval(interval)
    return shares_by_step(flat, stretches_at(flat, interval))


def shares_by_step_over(flat: Flat, bounds: Bounds) -> Floats:
    """The integrated score, step by step."""
    shares: Floats = classes_by_step(flat, bounds)[:, CORRECT].sum(axis=1)
    return shares


def classes_by_step(flat: Flat, bounds: Bounds, interval: float | None = None) -> Floats:
    """Every class (column) within each step as a share of its scenario's observed time: integrated
    over the bounds, or at an interval."""
    width = len(ALL_CLASSES)
    seconds = np.zeros(len(flat.r) * width)
    if interval is not None:
        check_interval(interval)
        found = stretches_at(flat, interval)
        seconds += np.bincount(
            found.step * width + found.column, found.end - found.begin, len(seconds)
        )
    else:
        measure = measure_over(bounds, flat.tick, flat.alone)
        sweep = sweep_over(flat, bounds)
        for met, column in classified(replace(sweep, references=by_step(sweep.references))):
            seconds += np.bincount(met.segment * width + column, met.time(measure), len(seconds))
    shares: Floats = seconds.reshape(-1, width) * flat.time_weight[:, None]
    return shares
