"""Who replaces whom in a pair, over a whole range of time scales.

In u_i(c) = r_i + c·L_i two arrivals with r_i < r_j change order once, at (r_j − r_i)/(L_i − L_j) if
L_i > L_j: below it i comes first. By the closed form of the rules (see `pair_path`) every answer of
a pair is therefore accepted exactly below one scale of its own, as in a single component:

    fast i   min( its own c*_i , min over slow s ≥ i of the crossing of i with s )
    slow s   min( its own c*_s , min over fast j > s + k of the crossing of s with j )

What differs is the order in which accepted answers take effect. Among fast ones, and among slow
ones, it is that of their sources; between fast j and slow s < j it changes at their crossing. The
*predecessor* of an accepted answer b at scale c is the later of the last fast and the last slow
acceptance before u_b(c). Each of these two is found by a search that only moves one way as c grows;
a *cell* is a range of c over which the predecessor of b stays the same. The horizon is a boundary
like any other: a fast answer for step n without latency.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.in_force import REACH
from streamdecisionbench.scoring.in_force_replay import runs_of
from streamdecisionbench.scoring.pairs.nominal_clock import Duo
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints

__all__ = ["Cells", "Scales", "cells", "scales"]


@dataclass(frozen=True, slots=True)
class Cells:
    """For c in [low, high), node `holder` is in force until node `until` takes effect.

    `holder` is −1 before the first acceptance, `until` −1 at the horizon.
    """

    scenario: Ints
    holder: Ints
    until: Ints
    fast_before: Ints
    """The last fast acceptance before `until` takes effect, −1 if none: places `until` in time."""
    low: Floats
    high: Floats

    def __len__(self) -> int:
        return len(self.low)

    def where(self, keep: NDArray[np.bool_]) -> Cells:
        return Cells(
            self.scenario[keep],
            self.holder[keep],
            self.until[keep],
            self.fast_before[keep],
            self.low[keep],
            self.high[keep],
        )

    @staticmethod
    def join(parts: Sequence[Cells]) -> Cells:
        return Cells(
            *(
                np.concatenate([getattr(part, name) for part in parts])
                for name in ("scenario", "holder", "until", "fast_before", "low", "high")
            )
        )


@dataclass(frozen=True)
class Scales:
    """Below which scale every answer is accepted, over a range of c per scenario."""

    duo: Duo
    low: Floats
    high: Floats
    fast: Floats
    slow: dict[str, Floats]
    """By rule."""


@dataclass(frozen=True, slots=True)
class _Spans:
    """What a search found for `owner`: step `value`, or −1, for c in [low, high)."""

    owner: Ints
    value: Ints
    low: Floats
    high: Floats


class _ByOwner:
    """Spans that can be looked up by their owner."""

    def __init__(self, spans: _Spans, owners: int) -> None:
        order = np.argsort(spans.owner, kind="stable")
        self.value, self.low, self.high = (
            spans.value[order],
            spans.low[order],
            spans.high[order],
        )
        self.count = np.bincount(spans.owner, minlength=owners)
        self.start = np.cumsum(self.count) - self.count


def scales(duo: Duo, low: Floats, high: Floats, rules: Sequence[str]) -> Scales:
    """Acceptance scales under each rule. Those beyond `high` are only known to be beyond it."""
    flat, fast, slow = duo.stage.flat, duo.fast, duo.slow
    first = np.minimum(fast.critical, _earliest_crossing(flat, fast.L, slow.L, 1, high))
    # A slow answer for the same step that takes no longer keeps the fast one out at any scale.
    first = np.where(slow.L <= fast.L, 0.0, first)
    found = {}
    for rule in rules:
        reach = REACH[rule]
        found[rule] = slow.critical
        if reach is not None:
            overtaken = _earliest_crossing(flat, slow.L, fast.L, 1 + reach, high)
            found[rule] = np.minimum(slow.critical, overtaken)
    return Scales(duo, low, high, first, found)


def cells(at: Scales) -> dict[str, Cells]:
    """All cells under each rule: together they cover every boundary below its own scale."""
    flat, n = at.duo.stage.flat, at.duo.n
    runs = runs_of(at.duo.fast.flat, at.fast, at.low, at.high)
    previous_fast = _ByOwner(
        _Spans(_key(flat, runs.until, runs.scenario), runs.source, runs.low, runs.high),
        n + flat.count,
    )
    # The fast answer before a slow one is the one that precedes the next fast one after it.
    ahead = _next_fast(at)
    a, b, low, high = _overlap(
        ahead, _key(flat, ahead.value, flat.scenario[ahead.owner]), previous_fast
    )
    fast_before_slow = _Spans(ahead.owner[a], previous_fast.value[b], low, high)
    return {
        rule: Cells.join(
            [
                _before_fast(at, _last_slow(at, limit), previous_fast),
                _before_slow(at, limit, fast_before_slow),
            ]
        )
        for rule, limit in at.slow.items()
    }


def _before_fast(at: Scales, last_slow: _Spans, previous_fast: _ByOwner) -> Cells:
    """Cells that end with a fast acceptance or the horizon."""
    flat, n = at.duo.stage.flat, at.duo.n
    a, b, low, high = _overlap(last_slow, last_slow.owner, previous_fast)
    owner = last_slow.owner[a]
    at_horizon = owner >= n
    scenario = np.where(at_horizon, owner - n, flat.scenario[np.where(at_horizon, 0, owner)])
    until = np.where(at_horizon, -1, owner)
    return _later(at, scenario, until, previous_fast.value[b], last_slow.value[a], low, high)


def _before_slow(at: Scales, limit: Floats, last_fast: _Spans) -> Cells:
    """Cells that end with a slow acceptance."""
    flat, n = at.duo.stage.flat, at.duo.n
    runs = runs_of(at.duo.slow.flat, limit, at.low, at.high)
    answers = runs.until >= 0
    previous_slow = _ByOwner(
        _Spans(runs.until[answers], runs.source[answers], runs.low[answers], runs.high[answers]), n
    )
    a, b, low, high = _overlap(last_fast, last_fast.owner, previous_slow)
    owner = last_fast.owner[a]
    return _later(
        at, flat.scenario[owner], n + owner, last_fast.value[a], previous_slow.value[b], low, high
    )


def _later(
    at: Scales, scenario: Ints, until: Ints, fast: Ints, slow: Ints, low: Floats, high: Floats
) -> Cells:
    """Of the last fast and the last slow acceptance before a boundary, the later one holds.

    A slow answer for the same or a newer step is later, or the fast one would not be accepted. One
    for an older step is later from their crossing on.
    """
    duo = at.duo
    slow_holds_from = _crossing(duo.stage.flat, slow, duo.slow.L, fast, duo.fast.L)
    slow_holds_from = np.where(slow >= fast, 0.0, slow_holds_from)
    slow_holds_from = np.where(slow < 0, np.inf, slow_holds_from)
    by_fast = Cells(scenario, fast, until, fast, low, np.minimum(high, slow_holds_from))
    by_slow = Cells(scenario, slow + duo.n, until, fast, np.maximum(low, slow_holds_from), high)
    return Cells.join([part.where(part.low < part.high) for part in (by_fast, by_slow)])


def _next_fast(at: Scales) -> _Spans:
    """Per slow answer, the first fast acceptance after it; −1 for the horizon.

    As c grows candidates only drop out: they cease to be accepted, or the slow answer passes them.
    """
    flat, duo = at.duo.stage.flat, at.duo
    owner = np.arange(duo.n)
    last = flat.last[flat.scenario]

    def candidate(open_: Ints, distance: int) -> tuple[Ints, Floats]:
        fast = open_ + distance
        at_horizon = fast > last[open_]
        fast = np.where(at_horizon, 0, fast)
        lasts = np.minimum(at.fast[fast], _crossing(flat, open_, duo.slow.L, fast, duo.fast.L))
        return np.where(at_horizon, -1, fast), np.where(at_horizon, np.inf, lasts)

    widest: Floats = np.maximum.reduce(list(at.slow.values()))
    limit = np.minimum(widest, at.high[flat.scenario])
    return _search(owner, at.low[flat.scenario], limit, candidate)


def _last_slow(at: Scales, accepted_below: Floats) -> _Spans:
    """Per fast answer and per horizon (n + scenario), the last slow acceptance before it; −1 if none.

    Slow answers for the same or newer steps come later. Of the others, as c grows, candidates only
    drop out: they cease to be accepted, or they fall behind the fast answer.
    """
    flat, duo = at.duo.stage.flat, at.duo
    every = np.arange(flat.count)
    owner = np.arange(duo.n + flat.count)
    position = np.concatenate((owner[: duo.n], flat.last + 1))
    scenario = np.concatenate((flat.scenario, every))
    first = flat.first[scenario]
    r, L = np.concatenate((flat.r, flat.H)), np.concatenate((duo.fast.L, np.zeros(flat.count)))

    def candidate(open_: Ints, distance: int) -> tuple[Ints, Floats]:
        slow = position[open_] - distance
        none = slow < first[open_]
        slow = np.where(none, 0, slow)
        drop = duo.slow.L[slow] - L[open_]
        falls = drop > 0
        passed = np.where(falls, (r[open_] - flat.r[slow]) / np.where(falls, drop, 1.0), np.inf)
        lasts = np.minimum(accepted_below[slow], passed)
        return np.where(none, -1, slow), np.where(none, np.inf, lasts)

    limit = np.minimum(np.concatenate((at.fast, np.full(flat.count, np.inf))), at.high[scenario])
    return _search(owner, at.low[scenario], limit, candidate)


def _search(
    owner: Ints,
    low: Floats,
    limit: Floats,
    candidate: Callable[[Ints, int], tuple[Ints, Floats]],
) -> _Spans:
    """For each owner the nearest candidate that still lasts at c, over all c from `low` to `limit`.

    `candidate(owners, distance)` gives the candidates at a distance and up to which c they last.
    """
    current = low.copy()
    open_ = np.flatnonzero(low < limit)
    found: list[tuple[Ints, Ints, Floats, Floats]] = []
    distance = 1
    while open_.size:
        value, lasts = candidate(open_, distance)
        longer = lasts > current[open_]
        hit, lasts = open_[longer], lasts[longer]
        found.append((owner[hit], value[longer], current[hit], np.minimum(lasts, limit[hit])))
        current[hit] = lasts
        open_ = open_[current[open_] < limit[open_]]
        distance += 1
    if not found:
        none = np.zeros(0, dtype=np.int64)
        return _Spans(none, none, np.zeros(0), np.zeros(0))
    return _Spans(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _overlap(spans: _Spans, key: Ints, other: _ByOwner) -> tuple[Ints, Ints, Floats, Floats]:
    """Every pair of a span and one of `key`'s spans in `other` that share a range of c."""
    count = other.count[key]
    a = np.repeat(np.arange(len(key)), count)
    b = np.arange(len(a)) + np.repeat(other.start[key] - (np.cumsum(count) - count), count)
    low = np.maximum(spans.low[a], other.low[b])
    high = np.minimum(spans.high[a], other.high[b])
    keep = low < high
    return a[keep], b[keep], low[keep], high[keep]


def _key(flat: Flat, step: Ints, scenario: Ints) -> Ints:
    """Owners are steps, or N + scenario for the horizon."""
    return np.where(step < 0, len(flat.r) + scenario, step)


def _crossing(flat: Flat, early: Ints, L_early: Floats, late: Ints, L_late: Floats) -> Floats:
    """The scale from which the older source's answer comes after the newer's; ∞ if there is none."""
    drop = L_early[early] - L_late[late]
    falls = drop > 0
    found: Floats = np.where(
        falls, (flat.r[late] - flat.r[early]) / np.where(falls, drop, 1.0), np.inf
    )
    return found


def _earliest_crossing(
    flat: Flat, L: Floats, L_other: Floats, nearest: int, c_max: Floats
) -> Floats:
    """Per step i, the smallest scale at which the other's answer for a step ≥ i + nearest is first."""
    c = np.full(len(L), np.inf)
    limit, end = c_max[flat.scenario], flat.last[flat.scenario]
    active = np.flatnonzero(L > 0)
    distance = nearest
    while active.size:
        active = active[active + distance <= end[active]]
        gap = flat.r[active + distance] - flat.r[active]
        # No answer further on can lower c: its quotient is at least gap / L.
        active = active[gap < np.minimum(c[active], limit[active]) * L[active]]
        c[active] = np.minimum(c[active], _crossing(flat, active, L, active + distance, L_other))
        distance += 1
    return c
