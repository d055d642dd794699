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
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.kernel.arrays import (
    NOTHING,
    Columns,
    Floats,
    Ints,
    by_scenario,
)
from streamdecisionbench.kernel.overlaps import (
    EDGE,
    NotWrongRuns,
    Stretches,
    at_most,
    neighbours,
)
from streamdecisionbench.kernel.paces import PaceWeights
from streamdecisionbench.kernel.trajectory import References


@dataclass(frozen=True, slots=True)
class Delays(Columns):
    """Every reference change at one pace, in seconds at the interval."""

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
        return self.where(np.isin(self.scenario, scenarios))

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


@dataclass(frozen=True)
class Waits:
    """What follows reference changes: on [low, high) `segment` is first right at `at` + c · `delay`.

    Its figures are by scenario, under the measure.
    """

    measure: PaceWeights
    references: References
    segment: Ints
    at: Floats
    delay: Floats
    low: Floats
    high: Floats

    @cached_property
    def changed(self) -> Ints:
        """Segments that begin with a change: not a scenario's first, and known on both sides."""
        return _changes(self.references)

    @property
    def changes(self) -> Floats:
        """How many there are."""
        return self._sum(self.changed, np.ones(len(self.changed)))

    @property
    def never_right(self) -> Floats:
        """How many are never answered in time."""
        answered = self.measure.of(self.references.scenario[self.segment], self.low, self.high).one
        return np.maximum(self.changes - self._sum(self.segment, answered), 0.0)

    @property
    def waited(self) -> Floats:
        """Seconds at the interval waited after changes, at most until the next one.

        Where a segment is never right, the wait is the whole segment.
        """
        refs, measure = self.references, self.measure
        on = measure.of(refs.scenario[self.segment], self.low, self.high)
        answered = (self.at - refs.begin[self.segment]) * on.inverse + self.delay * on.one
        every = np.arange(refs.count)
        never = measure.of(every, measure.lowest, measure.highest).inverse[refs.scenario]
        never -= by_scenario(self.segment, on.inverse, len(refs.begin))
        whole = ((refs.end - refs.begin) * never)[self.changed]
        return self._sum(self.segment, answered) + self._sum(self.changed, whole)

    def delays(self) -> Delays:
        """One by one, at one pace."""
        refs, change = self.references, self.changed
        scale = self.measure.lowest
        first = np.full(len(refs.begin), np.inf)
        first[self.segment] = self.at + self.delay * scale[refs.scenario[self.segment]]
        scenario, begin = refs.scenario[change], refs.begin[change]
        c = scale[scenario]
        limit = (refs.end[change] - begin) / c
        return Delays(scenario, begin / c, (first[change] - begin) / c, limit)

    def _sum(self, segment: Ints, values: Floats) -> Floats:
        return by_scenario(self.references.scenario[segment], values, self.references.count)


def waits_of(calm: NotWrongRuns, measure: PaceWeights) -> Waits:
    """The first right stretch of each segment: the calm one before it lies in another segment."""
    cut, pairs = calm.cut, calm.pairs
    refs = cut.sweep.references
    is_change = np.zeros(len(refs.begin), dtype=bool)
    is_change[_changes(refs)] = True
    pairs = pairs.where(pairs.after != EDGE)
    segment = cut.segment[pairs.after]
    fresh = (pairs.before == EDGE) | (cut.segment[pairs.before] != segment)
    pairs = pairs.where(fresh & is_change[segment] & cut.right[pairs.after])
    first = cut.where(pairs.after)
    ends = first.segment, first.begin_at, first.begin_delay
    return Waits(measure, refs, *ends, pairs.low, pairs.high)


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
    """How many changes of the decision in force each scenario saw; over bounds on average."""

    needed: Floats
    useless: Floats
    unjudged: Floats
    """At a moment for which it is not known what was right."""
    reversed_in_a_tick: Floats

    @property
    def changes(self) -> Floats:
        return self.needed + self.useless + self.unjudged


@dataclass(frozen=True, slots=True)
class Changes(Columns):
    """On [low, high) what is shown changes from `old` to `new` with a piece, in the order of time."""

    piece: Ints
    old: Ints
    new: Ints
    low: Floats
    high: Floats


def changes_of(cut: Stretches, key: Ints) -> Changes:
    """Where `key` of the piece in force changes: its decision, or a part of it."""
    sweep = cut.sweep
    shown = cut.piece[np.append(True, cut.piece[1:] != cut.piece[:-1])[: len(cut.piece)]]
    pairs = neighbours(
        sweep.scenario[shown], sweep.low[shown], sweep.high[shown], sweep.lowest, sweep.highest
    )
    pairs = pairs.where(pairs.after != EDGE)
    piece, old = (
        shown[pairs.after],
        np.where(pairs.before == EDGE, NOTHING, key[shown[pairs.before]]),
    )
    found = Changes(piece, old, key[piece], pairs.low, pairs.high)
    found = found.where(found.old != found.new)
    # At any c each piece has one before it, so the order of the pieces is that of the changes.
    return found.where(np.argsort(found.piece, kind="stable"))


def edits_of(cut: Stretches, measure: PaceWeights) -> Edits:
    """The changes of the decision in force."""
    sweep, found = cut.sweep, changes_of(cut, cut.sweep.decision)
    refs = sweep.references
    piece, scenario = found.piece, sweep.scenario[found.piece]
    _, stretch, *span = cut.opening(piece, found.low, found.high)
    on = measure.of(cut.scenario[stretch], *span).one
    right, known = cut.right[stretch], cut.known[stretch]
    pairs = neighbours(scenario, found.low, found.high, sweep.lowest, sweep.highest)
    pairs = pairs.where((pairs.before != EDGE) & (pairs.after != EDGE))
    pairs = pairs.where(found.new[pairs.after] == found.old[pairs.before])
    before, after, owner = piece[pairs.before], piece[pairs.after], pairs.group
    # Back within a tick.
    low, high = at_most(
        sweep.begin_at[after] - sweep.begin_at[before] - _A_TICK * refs.tick[owner],
        sweep.begin_delay[after] - sweep.begin_delay[before],
        pairs.low,
        pairs.high,
    )

    def counted(which: NDArray[np.bool_]) -> Floats:
        return by_scenario(cut.scenario[stretch], np.where(which, on, 0.0), refs.count)

    return Edits(
        counted(right),
        counted(known & ~right),
        counted(~known),
        by_scenario(owner, measure.of(owner, low, high).one, refs.count),
    )
