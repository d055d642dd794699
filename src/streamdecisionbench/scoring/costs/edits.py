"""Changes of the decision in force: which were needed, which were not, which flickered.

Whoever watches the application sees the decision in force change. A change is *needed* when the new
decision is right at that moment, *useless* when it is not, and *reversed* when the decision before
it is back within one tick. The first decision is a change from none. As for incremental speech
recognition (Baumann, Atterer and Schlangen 2009), the edit overhead is the share of changes that
were useless; the flicker is the share that were reversed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.costs.neighbours import EDGE, neighbours
from streamdecisionbench.scoring.costs.powers import mean_by_scenario, powers
from streamdecisionbench.scoring.costs.stretches import Stretches, moments, stretches
from streamdecisionbench.scoring.timeline import Floats, Ints
from streamdecisionbench.scoring.trajectory import NOTHING, Sweep, Trajectory

__all__ = ["Edits", "MovingChanges", "edits", "edits_of", "mean_edits", "moving_changes"]

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
    >>> from streamdecisionbench.scoring.trajectory import trajectory_at
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
