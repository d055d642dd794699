"""Seconds by class: what was in force, beside what was right, under a measure of paces.

Whoever decided, one component, a pair, a policy or somebody's log, leaves a `Trajectory`: pieces in which
the decision of one source is in force, their ends a + b·c. Cut where the reference changes, a piece
becomes stretches of one class each (`in_force` has the table of classes), and

    seconds = (end_at − begin_at)·∫1 + (end_delay − begin_delay)·∫c
    shares  = seconds by scenario and class / observed time

with ∫ over a range of intervals or at one of them, as the measure says. Everything in this house that
is a share of time comes from these lines.

At one pace, where pieces have fixed ends, `classify_time` cuts at every release instead, which a sorted
merge does three times as fast: a law in the tests holds it to the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.kernel.arrays import (
    NOTHING,
    Activations,
    Columns,
    Floats,
    Ints,
    JoinedTimelines,
    Timeline,
    by_scenario,
    joined,
    joined_timelines,
    portions,
)
from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    CLASS_OF_BITS,
    CLASSES,
    CORRECT,
    CURRENT,
    HELD,
    JUDGMENT,
    NOW_KNOWN,
    OWN_KNOWN,
    RIGHT,
    UNATTRIBUTED,
    UNJUDGED,
)
from streamdecisionbench.kernel.levels import Levels
from streamdecisionbench.kernel.overlaps import (
    SegmentOverlaps,
    segment_overlaps,
    spans_of,
)
from streamdecisionbench.kernel.paces import (
    AtPace,
    Bounds,
    PaceWeights,
    check_interval,
)
from streamdecisionbench.kernel.trajectory import (
    Trajectory,
    activations_of,
    by_step,
    trajectory_over,
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
    sweep: Trajectory, measures: Sequence[PaceWeights], *, segments: bool = True
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


def classified(sweep: Trajectory) -> Iterator[tuple[SegmentOverlaps, Ints]]:
    """A sweep's pieces beside the reference segments they meet, with the class of each, some at a time."""
    find, (first, count) = class_finder(sweep), spans_of(sweep)
    for some in portions(count, _AT_ONCE):
        met = segment_overlaps(sweep.where(some), first[some], count[some])
        yield met, find(met.piece + some.start, met.segment)


def class_finder(sweep: Trajectory) -> Callable[[Ints, Ints], Ints]:
    """Says of which class an instant is, given its piece of the sweep and its reference segment."""
    refs = sweep.references
    own = refs.decision[refs.step_segment[sweep.source]]
    known = bool((refs.decision != NOTHING).all())
    bits = _source_bits(sweep.decision, own, all_known=known)

    def find(piece: Ints, segment: Ints) -> Ints:
        return _column(bits[piece], sweep.decision[piece], own[piece], refs.decision[segment])

    return find


def table_over(flat: JoinedTimelines, bounds: Bounds, *, segments: bool = True) -> Floats:
    """One component in replay: integrated shares per scenario, columns as in `TABLE`."""
    sweep = trajectory_over(flat, bounds)
    return shares_over(sweep, [sweep.weights(bounds)], segments=segments)[0]


def _within(met: SegmentOverlaps, measure: PaceWeights) -> SegmentOverlaps:
    """Ranges as far as the measure goes, where it is narrower."""
    if isinstance(measure, AtPace):
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
class ClassifiedTime:
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
    source: Ints
    """Of each piece: the step its decision was made for."""

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether the decision in force is what is right."""
        correct: NDArray[np.bool_] = _IS_CORRECT[self.column]
        return correct


def classify_time(flat: JoinedTimelines, effects: Activations) -> ClassifiedTime:
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
    return ClassifiedTime(of_step, piece, step, time, end, column, source)


def classify_trajectory(flat: JoinedTimelines, path: Trajectory) -> ClassifiedTime:
    """The same of a trajectory."""
    return classify_time(flat, Activations(path.scenario, path.source, path.decision, path.begin))


def table_of(flat: JoinedTimelines, found: ClassifiedTime, *, segments: bool = True) -> Floats:
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


def trajectory_table(flat: JoinedTimelines, path: Trajectory) -> Floats:
    """The same of a trajectory at one pace, with the share of later components."""
    out = table_of(flat, classify_trajectory(flat, path))
    if path.component is not None:
        seconds = np.where(path.component > 0, path.end - path.begin, 0.0)
        out[:, LATER] = by_scenario(path.scenario, seconds, flat.count) / (flat.H - flat.r0)
    return out


def older_judgment(flat: JoinedTimelines, found: ClassifiedTime) -> Floats:
    """Per scenario, the share of observed time that is judgment by a decision made for an older state.

    `in_force.split_unattributed` compares with it.
    """
    wrong = np.flatnonzero(found.column == JUDGMENT)
    older = wrong[found.source[found.piece[wrong]] != found.step[wrong]]
    seconds = by_scenario(found.scenario[older], (found.end - found.begin)[older], flat.count)
    shares: Floats = seconds / (flat.H - flat.r0)
    return shares


def classify_at(flat: JoinedTimelines, interval: float | None) -> ClassifiedTime:
    """One component in replay at an interval, or at the pace of each recording."""
    return classify_time(flat, activations_of(flat, flat.arrivals(flat.scale(interval))))


# Step by step: A_e(Δ) = Σ_g a_g(Δ), and the same integrated. While step g's evidence holds,
# [r_g, r_{g+1}), some share of the time has the right decision in force; adding these up over steps
# gives the score exactly.


def shares_by_step(flat: JoinedTimelines, found: ClassifiedTime) -> Floats:
    """a_g: the time right within each step as a share of its scenario's observed time."""
    right = np.flatnonzero(found.correct)
    seconds = np.bincount(found.step[right], (found.end - found.begin)[right], len(flat.r))
    shares: Floats = seconds * flat.time_weight
    return shares


def shares_by_step_at(flat: JoinedTimelines, interval: float) -> Floats:
    """In-force accuracy of one component at an interval, step by step."""
    check_interval(interval)
    return shares_by_step(flat, classify_at(flat, interval))


def shares_by_step_over(flat: JoinedTimelines, bounds: Bounds) -> Floats:
    """The integrated score, step by step."""
    shares: Floats = classes_by_step(flat, bounds)[:, CORRECT].sum(axis=1)
    return shares


def classes_by_step(flat: JoinedTimelines, bounds: Bounds, interval: float | None = None) -> Floats:
    """Every class (column) within each step as a share of its scenario's observed time: integrated
    over the bounds, or at an interval."""
    width = len(ALL_CLASSES)
    seconds = np.zeros(len(flat.r) * width)
    if interval is not None:
        check_interval(interval)
        found = classify_at(flat, interval)
        seconds += np.bincount(
            found.step * width + found.column, found.end - found.begin, len(seconds)
        )
    else:
        sweep = trajectory_over(flat, bounds)
        measure = sweep.weights(bounds)
        for met, column in classified(replace(sweep, references=by_step(sweep.references))):
            seconds += np.bincount(met.segment * width + column, met.time(measure), len(seconds))
    shares: Floats = seconds.reshape(-1, width) * flat.time_weight[:, None]
    return shares


# Whole streams: their tables, batch by batch, and the shares of scenarios, families and the whole.


_DECISIONS = 1 << 13
"""A batch's arrays of this length lie in a processor's second cache together."""


_STREAMS = 1 << 11
"""Beyond this many streams, finding a time within its stream costs digits (see `JoinedTimelines.locate`)."""


@dataclass(frozen=True, slots=True)
class Tables(Columns):
    """Per stream, columns as in `TABLE`: shares of observed time, and what else was counted."""

    at: Floats
    older_judgment: Floats
    """Of the judgment in `at`: by a decision made for an older state."""
    over: Floats | None
    physical: Floats | None
    untimed: Floats
    untimed_segment: Floats
    accepted: Ints
    after_horizon: Ints


def batches(n: Ints) -> Iterator[slice]:
    """Consecutive streams with some thousand decisions together, or one longer stream alone."""
    return portions(n, _DECISIONS, _STREAMS)


def tables_of(
    parts: Sequence[Timeline], *, interval: float | None = None, bounds: Bounds | None = None
) -> Tables:
    """What `tables` says of timelines, batch by batch."""
    sizes = np.array([p.n for p in parts], dtype=np.int64)
    found = []
    for batch in batches(sizes):
        some = parts if batch == slice(0, len(parts)) else parts[batch]
        flat, ran = joined_timelines(some), _as_published(some)
        arrivals = joined([p.arrival for p in some])
        found.append(
            tables(flat, interval=interval, bounds=bounds, arrivals=arrivals, published=ran)
        )
    return found[0].followed_by(found[1:])


def tables(
    flat: JoinedTimelines,
    *,
    interval: float | None = None,
    bounds: Bounds | None = None,
    arrivals: Floats | None = None,
    published: JoinedTimelines | None = None,
    segments: bool = True,
) -> Tables:
    """Scores whole streams at one pace (as recorded without `interval`) and over the bounds.

    `published` holds the streams as they ran, where `flat` is on another clock.
    """
    u = flat.arrivals(flat.scale(interval))
    effects, physical = activations_of(flat, u), None
    stretches = classify_time(flat, effects)
    at = table_of(flat, stretches, segments=segments)
    if flat.effects is not None and flat.fixed_pace:
        physical = at
    elif arrivals is not None:
        ran = published or flat
        took = classify_time(ran, activations_of(ran, arrivals))
        physical = table_of(ran, took, segments=segments)
    untimed, untimed_segment = flat.untimed() if segments else (np.zeros(0), np.zeros(0))
    return Tables(
        at=at,
        older_judgment=older_judgment(flat, stretches),
        over=table_over(flat, bounds, segments=segments) if bounds else None,
        physical=physical,
        untimed=untimed,
        untimed_segment=untimed_segment,
        accepted=np.bincount(effects.scenario, minlength=flat.count),
        after_horizon=np.bincount(flat.scenario[u >= flat.H[flat.scenario]], minlength=flat.count),
    )


def _as_published(parts: Sequence[Timeline]) -> JoinedTimelines | None:
    """The same streams with releases as they happened; None where that is what they have."""
    if all(p.published is None for p in parts):
        return None
    return JoinedTimelines(
        [p if p.published is None else replace(p, release=p.published) for p in parts]
    )


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """What became of states and answers at the interval, over all scenarios; tuples by component.

    A component has those of `after_horizon` and `superseded`, a pair those of its slow answers, a policy
    the others.
    """

    taken: tuple[int, ...]
    """Answers that took effect."""
    after_horizon: int = 0
    superseded: int = 0
    """Answers that came after a newer one."""
    corrections: int = 0
    """Slow answers accepted for the very step whose fast answer was active."""
    regressions: int = 0
    """Slow answers accepted with an older source than the active one."""
    refusals: int = 0
    """Slow answers their component delivered and arbitration turned away."""
    states: int = 0
    requests: tuple[int, ...] = ()
    cancelled: tuple[int, ...] = ()
    answers: tuple[int, ...] = ()
    """Answers that arrived before the horizon."""
    withheld: tuple[int, ...] = ()
    """Of these, kept back by the gate."""
    held_back: int = 0
    """Sure and new, but not yet agreed on: kept back by the debounce."""
    expiries: int = 0
    """Decisions that yielded to the fallback before another one came."""
    escalations: int = 0
    """Requests that an unsure answer caused."""

    @property
    def fast_accepted(self) -> int:
        return self.taken[0]

    @property
    def slow_accepted(self) -> int:
        return self.taken[-1]


@dataclass(frozen=True, slots=True)
class Shares:
    """The classes as shares of observed time, and what follows from them.

    A = current_correct + outdated_correct;  O = current_correct + judgment;
    U_cur = current_correct / O;  λ = outdated_correct;  A = O·U_cur + λ.
    """

    current_correct: float
    judgment: float
    stale: float
    compound: float
    outdated_correct: float
    no_decision: float
    segment_in_force: float
    product: float
    """Mean over scenarios of U_e·O_e, with the same weights: the approximation of A."""
    unjudged: float = 0.0
    """Time of which nobody knows what was right; zero in every recording of a suite."""
    unattributed: float = 0.0
    later_component: float = 0.0
    """Time with a decision of a later component in force: the slow one of a pair."""
    fixed_pace: bool = field(default=False, kw_only=True)
    """Whether it replaces a mean over paces, because its trajectory holds for one pace only."""

    @property
    def judged(self) -> float:
        """The share of observed time of which it is known what was right."""
        return 1.0 - self.unjudged

    @property
    def in_force(self) -> float:
        """A: the share of judged time with a correct decision in force."""
        return self._of_judged(self.current_correct + self.outdated_correct)

    @property
    def oracle(self) -> float:
        """O: in-force accuracy of the reference answers at these arrivals."""
        return self._of_judged(self.current_correct + self.judgment)

    @property
    def u_current(self) -> float | None:
        """U_cur: accuracy while the source is current; a ratio of macro shares. None if O = 0."""
        current = self.current_correct + self.judgment
        return self.current_correct / current if current > 0 else None

    def classes(self) -> dict[str, float]:
        """Six shares that sum to one; with the two classes more where references are unknown."""
        unknown = self.unjudged > 0 or self.unattributed > 0
        return {name: getattr(self, name) for name in (ALL_CLASSES if unknown else CLASSES)}

    def _of_judged(self, share: float) -> float:
        if not self.unjudged:
            return share
        return share / self.judged if self.judged > 1e-12 else float("nan")


def macro_shares(table: Floats, untimed: Floats, weights: Floats) -> Shares:
    """Weighted means of the columns for one set of scenario weights."""
    product = weights @ (untimed * (table[:, 0] + table[:, 1]))
    return _all_shares((weights @ table)[None, :], np.array([product]))[0]


def level_shares(
    levels: Levels, table: Floats, untimed: Floats, *, fixed_pace: bool = False
) -> list[Shares]:
    """The shares of every level from a table and U by scenario."""
    product = untimed * (table[:, 0] + table[:, 1])
    found = _all_shares(levels.means(table), levels.means(product))
    return [replace(shares, fixed_pace=True) for shares in found] if fixed_pace else found


def _all_shares(means: Floats, products: Floats) -> list[Shares]:
    """Shares from rows of mean columns. The partition's sum is asserted at run time."""
    totals = means[:, : len(ALL_CLASSES)].sum(axis=1)
    if np.max(np.abs(totals - 1.0)) > 1e-9:
        raise AssertionError(f"the classes sum to {totals!r}, not to one")
    # A class no instant falls into may come out as a rounding residue of either sign.
    means = np.where(np.abs(means) < 1e-15, 0.0, means)
    columns = [*range(len(CLASSES)), SEGMENT, UNJUDGED, UNATTRIBUTED, LATER]
    rows: list[list[float]] = np.insert(
        means[:, columns], len(CLASSES) + 1, products, axis=1
    ).tolist()
    return [Shares(*row) for row in rows]
