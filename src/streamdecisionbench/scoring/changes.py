"""Delays after reference changes: how long until the application was right again.

When the reference changes, the clock starts; it stops at the first moment the decision in force is
right. If the next change (or the end) comes first, the delay is *censored*: longer than the time
there was. Leaving those out would flatter a slow component, counting them as they stand would
flatter it too, so quantiles are those of Kaplan and Meier (1958): with d_i delays of exactly t_i and
n_i changes still waiting just before t_i,

    S(t) = Π over t_i ≤ t of (1 − d_i/n_i),    the p-quantile is the first t with S(t) ≤ 1 − p.

Where S stays at exactly 1 − p for a while, the quantile is the middle of that while, so that without
censoring the median is the ordinary one. The first segment of a scenario is not a change.
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
    moments,
    neighbours,
    powers,
    stretches,
)
from streamdecisionbench.scoring.sweep import NOTHING, References, Sweep, Trajectory
from streamdecisionbench.scoring.timeline import Floats, Ints


@dataclass(frozen=True, slots=True)
class Delays:
    """Every reference change, in seconds at the interval."""

    scenario: Ints
    at: Floats
    """When the reference changed."""
    delay: Floats
    """Until the decision in force was right; infinite where it never was."""
    limit: Floats
    """Until the next change or the end."""

    @property
    def never(self) -> NDArray[np.bool_]:
        return np.isinf(self.delay)

    def of(self, scenarios: Ints) -> Delays:
        """Those of some scenarios only."""
        keep = np.isin(self.scenario, scenarios)
        return Delays(self.scenario[keep], self.at[keep], self.delay[keep], self.limit[keep])

    def survival(self) -> Survival:
        return survival(np.minimum(self.delay, self.limit), ~self.never)


@dataclass(frozen=True, slots=True)
class Survival:
    """Kaplan–Meier: `share` of the changes is still unanswered from `time` on."""

    time: Floats
    share: Floats

    def quantile(self, p: float) -> float | None:
        """The delay within which a share p of the changes is answered; None if that is never seen.

        >>> found = survival(np.array([1.0, 2.0, 3.0, 3.0]), np.array([True, True, True, False]))
        >>> found.quantile(0.5), found.quantile(0.95)
        (2.5, None)
        """
        close = np.isclose(self.share, 1 - p, rtol=0.0, atol=1e-12)
        reached = np.flatnonzero((self.share < 1 - p) | close)
        if not len(reached):
            return None
        k = int(reached[0])
        if close[k] and k + 1 < len(self.time):
            return float(self.time[k] + self.time[k + 1]) / 2
        return float(self.time[k])


@dataclass(frozen=True, slots=True)
class MeanDelays:
    """Per scenario, on average over the bounds."""

    changes: Ints
    never_right: Floats
    """How many changes are never answered in time."""
    waited: Floats
    """Mean wait after a change in seconds at the interval, at most until the next change."""


def survival(time: Floats, seen: NDArray[np.bool_], count: Ints | None = None) -> Survival:
    """The Kaplan–Meier estimate from delays and whether each was seen to end.

    `count` says how many changes each of them stands for, where that is not one.
    """
    number = np.ones(len(time), dtype=np.int64) if count is None else count
    order = np.argsort(time, kind="stable")
    time, seen, number = time[order], seen[order], number[order]
    moments, which = np.unique(time[seen], return_inverse=True)
    ends = np.bincount(which, weights=number[seen], minlength=len(moments))
    before = np.append(0, np.cumsum(number))
    waiting = before[-1] - before[np.searchsorted(time, moments, side="left")]
    share: Floats = np.cumprod(1.0 - ends / waiting).astype(np.float64)
    return Survival(moments, share)


def delays(path: Trajectory) -> Delays:
    """The delay after every reference change of a trajectory.

    >>> from streamdecisionbench import example_recording, example_suite
    >>> from streamdecisionbench.scoring.timeline import Flat, timelines
    >>> from streamdecisionbench.scoring.sweep import trajectory_at
    >>> found = delays(trajectory_at(Flat(timelines(example_recording(), example_suite())), 2.0))
    >>> found.at.tolist(), found.delay.round(3).tolist()
    ([4.0, 6.0], [0.8, inf])
    """
    return delays_of(path, stretches(path))


def delays_of(path: Trajectory, cut: Stretches) -> Delays:
    """The same, where the stretches are at hand."""
    refs = path.references
    first = np.full(len(refs.begin), np.inf)
    right = np.flatnonzero(cut.right)[::-1]
    # Written backwards, so that the earliest right moment of each segment stays.
    first[cut.segment[right]] = cut.begin[right]
    change = _changes(refs)
    scenario = refs.scenario[change]
    c = path.scale[scenario]
    begin = refs.begin[change]
    return Delays(scenario, begin / c, (first[change] - begin) / c, (refs.end[change] - begin) / c)


def mean_delays(calm: Calm, bounds: Bounds) -> MeanDelays:
    """What follows reference changes, over a range of intervals.

    A segment's first right stretch is the one whose neighbour before it lies in another segment.
    Over a range of c the wait until it is a + b·c on the recording clock; where a segment has none,
    the wait is the whole segment.
    """
    refs, cut, pairs = calm.references, calm.stretches, calm.pairs
    change = _changes(refs)
    is_change = np.zeros(len(refs.begin), dtype=bool)
    is_change[change] = True
    inner = np.flatnonzero(pairs.after != EDGE)
    after, before = pairs.after[inner], pairs.before[inner]
    segment = cut.segment[after]
    fresh = (before == EDGE) | (cut.segment[before] != segment)
    fresh &= is_change[segment] & cut.right[after]
    inner, after, segment = inner[fresh], after[fresh], segment[fresh]
    on = powers(pairs.low[inner], pairs.high[inner], bounds)
    scenario = pairs.group[inner]
    # Answered waits are shorter than the whole segment by what is left of it.
    left = (refs.end[segment] - cut.begin_at[after]) * on.inverse
    left -= cut.begin_delay[after] * on.one
    whole = powers(calm.lowest, calm.highest, bounds)
    owner = refs.scenario[change]
    length = (refs.end - refs.begin)[change] * whole.inverse[owner]

    def mean(values: Floats, where: Ints) -> Floats:
        return mean_by_scenario(values, where, refs.tick, bounds)

    count = np.bincount(owner, minlength=refs.count)
    waited = mean(length, owner) - mean(left, scenario)
    return MeanDelays(
        count,
        np.maximum(count - mean(on.one, scenario), 0.0),
        np.divide(waited, count, out=np.zeros_like(waited), where=count > 0),
    )


def _changes(refs: References) -> Ints:
    """Segments that begin with a change: not a scenario's first, and known on both sides."""
    known = refs.decision != NOTHING
    follows = np.append(False, refs.scenario[1:] == refs.scenario[:-1])
    return np.flatnonzero(follows & known & np.append(False, known[:-1]))


# Changes of the decision in force: which were needed, which were not, which flickered.
#
# Whoever watches the application sees the decision in force change. A change is *needed* when the new
# decision is right at that moment, *useless* when it is not, and *reversed* when the decision before
# it is back within one tick. The first decision is a change from none. As for incremental speech
# recognition (Baumann, Atterer and Schlangen 2009), the edit overhead is the share of changes that
# were useless; the flicker is the share that were reversed.


_A_TICK = 1 + 1e-9
"""Equal latencies make changes exactly a tick apart, which rounding must not tell from more."""


@dataclass(frozen=True, slots=True)
class Edits:
    """How many changes of the decision in force each scenario saw; over bounds, on average."""

    needed: Floats
    useless: Floats
    unjudged: Floats
    """At a moment for which it is not known what was right."""
    reversed_in_a_tick: Floats

    @property
    def changes(self) -> Floats:
        return self.needed + self.useless + self.unjudged


@dataclass(frozen=True, slots=True)
class MovingChanges:
    """Over [low, high) the decision in force changes from `old` to that of piece `piece`."""

    scenario: Ints
    piece: Ints
    old: Ints
    new: Ints
    at: Floats
    delay: Floats
    low: Floats
    high: Floats


def edits(path: Trajectory) -> Edits:
    """The changes of a trajectory.

    >>> from streamdecisionbench import example_recording, example_suite
    >>> from streamdecisionbench.scoring.timeline import Flat, timelines
    >>> from streamdecisionbench.scoring.sweep import trajectory_at
    >>> found = edits(trajectory_at(Flat(timelines(example_recording(), example_suite())), 2.0))
    >>> found.needed.tolist(), found.useless.tolist()
    ([2.0], [0.0])
    """
    return edits_of(path, stretches(path))


def edits_of(path: Trajectory, cut: Stretches) -> Edits:
    """The same, where the stretches are at hand."""
    count = path.references.count
    # Every piece that was in force for longer than rounding, with its first stretch.
    shown, begins = np.unique(cut.piece, return_index=True)
    owner, decision = path.scenario[shown], path.decision[shown]
    follows = np.append(False, owner[1:] == owner[:-1])
    old = np.where(follows, np.append(NOTHING, decision[:-1]), NOTHING)
    changed = decision != old
    scenario, old, new = owner[changed], old[changed], decision[changed]
    first = begins[changed]
    time, right, known = path.begin[cut.piece[first]], cut.right[first], cut.known[first]
    back = np.zeros(len(new), dtype=bool)
    back[:-1] = (
        (scenario[1:] == scenario[:-1])
        & (new[1:] == old[:-1])
        & (time[1:] - time[:-1] <= _A_TICK * path.references.tick[scenario[:-1]])
    )

    def counted(which: NDArray[np.bool_]) -> Floats:
        return np.bincount(scenario[which], minlength=count).astype(np.float64)

    return Edits(counted(right), counted(known & ~right), counted(~known), counted(back))


def moving_changes(sweep: Sweep, key: Ints) -> MovingChanges:
    """Where `key` of the piece in force changes, listed in the order of time.

    `key` is what each piece shows: its decision, or a part of it.
    """
    pieces = np.flatnonzero(~sweep.empty)
    pairs = neighbours(
        sweep.scenario[pieces], sweep.low[pieces], sweep.high[pieces], sweep.lowest, sweep.highest
    )
    inner = pairs.after != EDGE
    before, after = pairs.before[inner], pieces[pairs.after[inner]]
    old = np.where(before == EDGE, NOTHING, key[pieces[before]])
    changed = np.flatnonzero(old != key[after])
    # At any c each piece has one before it, so the order of the pieces is that of the changes.
    changed = changed[np.argsort(after[changed], kind="stable")]
    piece = after[changed]
    return MovingChanges(
        sweep.scenario[piece],
        piece,
        old[changed],
        key[piece],
        sweep.begin_at[piece],
        sweep.begin_delay[piece],
        pairs.low[inner][changed],
        pairs.high[inner][changed],
    )


def mean_edits(sweep: Sweep, bounds: Bounds) -> Edits:
    """The changes of a sweep, on average over the bounds."""
    refs = sweep.references
    found = moving_changes(sweep, sweep.decision)
    seen = moments(refs, found.scenario, found.at, found.delay, found.low, found.high)
    reference = refs.decision[seen.segment]
    known = reference != NOTHING
    right = known & (reference == found.new[seen.row])
    on = powers(seen.low, seen.high, bounds).one

    def mean(values: Floats, scenario: Ints) -> Floats:
        return mean_by_scenario(values, scenario, refs.tick, bounds)

    def counted(which: NDArray[np.bool_]) -> Floats:
        return mean(np.where(which, on, 0.0), found.scenario[seen.row])

    pairs = neighbours(found.scenario, found.low, found.high, sweep.lowest, sweep.highest)
    inner = (pairs.before != EDGE) & (pairs.after != EDGE)
    before, after = pairs.before[inner], pairs.after[inner]
    back = found.new[after] == found.old[before]
    before, after = before[back], after[back]
    scenario = found.scenario[after]
    low, high = at_most(
        found.at[after] - found.at[before] - _A_TICK * refs.tick[scenario],
        found.delay[after] - found.delay[before],
        pairs.low[inner][back],
        pairs.high[inner][back],
    )
    return Edits(
        counted(right),
        counted(known & ~right),
        counted(~known),
        mean(powers(low, high, bounds).one, scenario),
    )


def at_most(at: Floats, slope: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The part of [low, high] in which at + slope·c ≤ 0; empty ranges keep low = high."""
    with np.errstate(divide="ignore", invalid="ignore"):
        cut = np.clip(-at / slope, low, high)
    rising, falling = slope > 0, slope < 0
    never = ~rising & ~falling & (at > 0)
    return np.where(falling, cut, low), np.where(never, low, np.where(rising, cut, high))
