"""One-time acts over a range of intervals: how often each outcome happens, on average.

Doings come, go and change their standing as c grows: their moment passes from one reference segment
into the next, becomes late, or outlasts the beginning of a later call. Cut at these crossings, a
doing keeps its standing over each range of c, and which doing of a call is the first one is a
question of neighbours, as for spells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.cost_file.rules import Act
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.costs.acts import (
    EARLY,
    IN_TIME,
    LATE,
    WRONG,
    ActCounts,
    Calls,
    Instances,
    calls_of,
    candidates,
    limits,
)
from streamdecisionbench.scoring.costs.edits import MovingChanges, at_most, moving_changes
from streamdecisionbench.scoring.costs.neighbours import EDGE, neighbours
from streamdecisionbench.scoring.costs.powers import mean_by_scenario, powers
from streamdecisionbench.scoring.costs.stretches import moments
from streamdecisionbench.scoring.timeline import Floats, Ints
from streamdecisionbench.scoring.trajectory import NOTHING, References, Sweep

__all__ = ["MeanActs", "mean_acts"]


@dataclass(frozen=True, slots=True)
class MeanActs:
    """Over the bounds: how often each outcome happens, and the same times c."""

    counts: ActCounts
    rates: ActCounts
    """The mean of count · c: divided by T on the recording clock, outcomes per second."""


@dataclass(frozen=True, slots=True)
class _Doings:
    """On [low, high) a doing of standing `kind` for `call`, in the order of time."""

    scenario: Ints
    call: Ints
    kind: Ints
    order: Ints
    low: Floats
    high: Floats

    def where(self, keep: NDArray[np.bool_] | Ints) -> _Doings:
        return _Doings(*(getattr(self, name)[keep] for name in _Doings.__dataclass_fields__))


def mean_acts(
    sweep: Sweep, instance: Instances, acts: Sequence[Act | None], bounds: Bounds
) -> MeanActs:
    """The calls and doings of one act per scenario along a sweep."""
    refs = sweep.references
    calls = calls_of(refs, instance)
    doings = _doings(sweep, calls, instance, acts)
    wrong = doings.where((doings.kind == WRONG) | (doings.kind == EARLY))
    answers = doings.where(doings.call != NOTHING)
    answers = answers.where(np.lexsort((answers.order, answers.call)))
    pairs = neighbours(
        answers.call,
        answers.low,
        answers.high,
        sweep.lowest[calls.scenario],
        sweep.highest[calls.scenario],
    )
    first = (pairs.before == EDGE) & (pairs.after != EDGE)
    kind = np.where(pairs.after == EDGE, NOTHING, answers.kind[pairs.after]) if len(answers.kind) else np.full(len(pairs.after), NOTHING)  # fmt: skip
    owner = calls.scenario[pairs.group]
    on_pairs, on_wrong = (
        powers(pairs.low, pairs.high, bounds),
        powers(wrong.low, wrong.high, bounds),
    )
    whole = powers(sweep.lowest[calls.scenario], sweep.highest[calls.scenario], bounds)

    def sums(weight: str) -> ActCounts:
        def mean(values: Floats, scenario: Ints) -> Floats:
            return mean_by_scenario(values, scenario, refs.tick, bounds)

        def over(which: NDArray[np.bool_]) -> Floats:
            return mean(np.where(which, getattr(on_pairs, weight), 0.0), owner)

        return ActCounts(
            calls=mean(getattr(whole, weight), calls.scenario),
            in_time=over(first & ((kind == IN_TIME) | (kind == EARLY))),
            late=over(first & (kind == LATE)),
            missed=over((pairs.before == EDGE) & (pairs.after == EDGE)),
            wrongly=mean(getattr(on_wrong, weight), wrong.scenario),
            twice=over((pairs.before != EDGE) & (pairs.after != EDGE)),
        )

    return MeanActs(sums("one"), sums("scale"))


def _doings(sweep: Sweep, calls: Calls, instance: Instances, acts: Sequence[Act | None]) -> _Doings:
    refs = sweep.references
    found = moving_changes(sweep, instance.of(sweep.scenario, sweep.decision))
    # How long what a doing did stands: until the act shown changes again, or the end.
    pairs = neighbours(found.scenario, found.low, found.high, sweep.lowest, sweep.highest)
    stay = np.flatnonzero(pairs.before != EDGE)
    stay = stay[found.new[pairs.before[stay]] != NOTHING]
    doing, low, high = pairs.before[stay], pairs.low[stay], pairs.high[stay]
    until_at, until_delay = _until(refs, found, pairs.after[stay], found.scenario[doing])
    seen = moments(refs, found.scenario[doing], found.at[doing], found.delay[doing], low, high)
    row = seen.row
    doing, until_at, until_delay = doing[row], until_at[row], until_delay[row]
    low, high = seen.low, seen.high
    scenario, key = found.scenario[doing], found.new[doing]
    now, before, after = candidates(
        refs, calls, key, seen.segment, sweep.source[found.piece[doing]]
    )
    known = (refs.decision[seen.segment] != NOTHING) | (before != NOTHING)

    def part(keep: NDArray[np.bool_], call: Ints, kind: int, a: Floats, b: Floats) -> _Doings:
        keep = keep & (a < b)
        count = int(keep.sum())
        return _Doings(
            scenario[keep],
            call[keep],
            np.full(count, kind),
            found.piece[doing][keep],
            a[keep],
            b[keep],
        )

    holds, over = now != NOTHING, (now == NOTHING) & (before != NOTHING)
    stray = ~holds & ~over
    parts = [part(over, before, LATE, low, high)]
    if len(calls.begin):
        # In time while t − begin ≤ within_s · c.
        within = limits(acts)[scenario]
        slope = np.where(np.isinf(within), 0.0, found.delay[doing] - within)
        gap = np.where(np.isinf(within), -1.0, found.at[doing] - calls.begin[now])
        a, b = at_most(gap, slope, low, high)
        parts += [part(holds, now, IN_TIME, a, b)]
        parts += [part(holds, now, LATE, low, a), part(holds, now, LATE, b, high)]
        # Stands at the next call while until > begin: the other way round for `at_most`.
        ends = stray & (after != NOTHING)
        a, b = at_most(until_at - calls.begin[after], until_delay, low, high)
        parts += [
            part(ends & known, after, EARLY, b, high),
        ]
        nothing = np.full(len(now), NOTHING)
        parts += [part(ends & known, nothing, WRONG, a, b)]
        stray &= after == NOTHING
    parts.append(part(stray & known, np.full(len(now), NOTHING), WRONG, low, high))
    return _Doings(
        *(
            np.concatenate([getattr(p, name) for p in parts])
            for name in _Doings.__dataclass_fields__
        )
    )


def _until(
    refs: References, found: MovingChanges, after: Ints, scenario: Ints
) -> tuple[Floats, Floats]:
    at_end = after == EDGE
    return (
        np.where(at_end, refs.horizon[scenario], found.at[after]),
        np.where(at_end, 0.0, found.delay[after]),
    )
