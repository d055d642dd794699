"""What a pair has in force: at one time scale, and over a whole range of them as a sweep.

Two components are put on one nominal clock. Releases are r_i = i · tick, or a scenario's own times at
that mean distance. Latencies stay in seconds, so at Δ every delay is scaled by c = tick/Δ whatever tick
a component was recorded at. A *node* is an answer: fast answers are numbered 0 … N−1 over all scenarios
laid end to end, slow ones N … 2N−1. −1 stands for "nothing yet" where an answer in force is meant, and
for the horizon where the end of its time in force is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import REACH
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.classes import LATER, ClassStretches, class_stretches, table_of
from streamdecisionbench.scoring.cut import crossing, spread
from streamdecisionbench.scoring.sweep import (
    NOTHING,
    Effects,
    Runs,
    Sweep,
    critical_scale,
    in_force_until,
    runs_of,
    sweep_along,
    trajectory_of,
)
from streamdecisionbench.scoring.timeline import (
    Columns,
    Flat,
    Floats,
    Ints,
    Timeline,
    by_scenario,
    nominal,
    nominal_like,
)


@dataclass(frozen=True, slots=True)
class PairMember:
    """One component, on a clock and with decision ids that all it may be paired with share."""

    flat: Flat
    critical: Floats
    """c*_i against its own later answers and the horizon: below it the component delivers i."""
    untimed: Floats
    """U of each scenario."""


@dataclass(frozen=True)
class PairNodes:
    """A fast and a slow component, their answers numbered as nodes."""

    fast: PairMember
    slow: PairMember

    @property
    def flat(self) -> Flat:
        """Releases and references, which both share."""
        return self.fast.flat

    @property
    def n(self) -> int:
        """N: how many answers each component gives; nodes from N on are slow."""
        return len(self.flat.r)

    @cached_property
    def latency(self) -> Floats:
        return np.concatenate((self.fast.flat.L, self.slow.flat.L))

    @cached_property
    def p(self) -> Ints:
        return np.concatenate((self.fast.flat.p, self.slow.flat.p))

    @property
    def r(self) -> Floats:
        return np.tile(self.flat.r, 2)

    def step(self, node: Ints) -> Ints:
        """The step a node answers."""
        return node % self.n


def pair_members(
    components: Sequence[Sequence[Timeline]], names: Sequence[str], shortest: float
) -> list[PairMember]:
    """Components on the first one's nominal clock, ready for intervals from `shortest` on."""
    if not components[0]:
        raise InputError("there is no scenario to compose")
    first = [nominal(part) for part in components[0]]
    every = [
        nominal_like(first, parts, name) for parts, name in zip(components, names, strict=True)
    ]
    found = []
    for parts in every:
        flat = Flat(parts, every)
        untimed = np.array([p.untimed for p in parts])
        found.append(PairMember(flat, critical_scale(flat, flat.tick / shortest), untimed))
    return found


# Who replaces whom in a pair, over a whole range of time scales.
#
# In u_i(c) = r_i + c·L_i two arrivals with r_i < r_j change order once, at (r_j − r_i)/(L_i − L_j) if
# L_i > L_j: below it i comes first. By the closed form of the rules (see `path_at`) every answer of
# a pair is therefore accepted exactly below one scale of its own, as in a single component:
#
#     fast i   min( its own c*_i , min over slow s ≥ i of the crossing of i with s )
#     slow s   min( its own c*_s , min over fast j > s + k of the crossing of s with j )
#
# What differs is the order in which accepted answers take effect. Among fast ones, and among slow
# ones, it is that of their sources; between fast j and slow s < j it changes at their crossing. The
# *predecessor* of an accepted answer b at scale c is the later of the last fast and the last slow
# acceptance before u_b(c). Each of these two is found by a search that only moves one way as c grows;
# a *cell* is a range of c over which the predecessor of b stays the same. The horizon is a boundary
# like any other: a fast answer for step n without latency.


@dataclass(frozen=True, slots=True)
class _Cells(Runs):
    """Runs of a pair: for c in [low, high) node `source` is in force until node `until` takes effect."""

    fast_before: Ints
    """The last fast acceptance before `until` takes effect, −1 if none: places `until` in time."""


@dataclass(frozen=True)
class _Scales:
    """Below which scale every answer is accepted, over a range of c per scenario."""

    pair: PairNodes
    low: Floats
    high: Floats
    fast: Floats
    slow: dict[str, Floats]
    """By rule."""


@dataclass(frozen=True, slots=True)
class _Spans(Columns):
    """What a search found for `owner`: step `value`, or −1, for c in [low, high)."""

    owner: Ints
    value: Ints
    low: Floats
    high: Floats


class _ByOwner:
    """Spans that can be looked up by their owner."""

    def __init__(self, spans: _Spans, owners: int) -> None:
        self.spans = spans.where(np.argsort(spans.owner, kind="stable"))
        self.count = np.bincount(spans.owner, minlength=owners)
        self.start = np.cumsum(self.count) - self.count

    def overlap(self, others: _Spans, key: Ints) -> tuple[Ints, Ints, Floats, Floats]:
        """Every pair of an other span and one of its key's spans here that share a range of c: which
        of the others, the value here, and the range."""
        a, b = spread(self.start[key], self.count[key])
        low = np.maximum(others.low[a], self.spans.low[b])
        high = np.minimum(others.high[a], self.spans.high[b])
        keep = low < high
        return a[keep], self.spans.value[b[keep]], low[keep], high[keep]


def _scales(pair: PairNodes, low: Floats, high: Floats, rules: Sequence[str]) -> _Scales:
    """Acceptance scales under each rule. Those beyond `high` are only known to be beyond it."""
    flat, fast, slow = pair.flat, pair.fast.flat.L, pair.slow.flat.L
    first = np.minimum(pair.fast.critical, _earliest_crossing(flat, fast, slow, 1, high))
    # A slow answer for the same step that takes no longer keeps the fast one out at any scale.
    first = np.where(slow <= fast, 0.0, first)
    found = {}
    for rule in rules:
        reach = REACH[rule]
        found[rule] = pair.slow.critical
        if reach is not None:
            overtaken = _earliest_crossing(flat, slow, fast, 1 + reach, high)
            found[rule] = np.minimum(pair.slow.critical, overtaken)
    return _Scales(pair, low, high, first, found)


def _cells(at: _Scales) -> dict[str, _Cells]:
    """All cells under each rule: together they cover every boundary below its own scale."""
    flat, n = at.pair.flat, at.pair.n
    runs = runs_of(at.pair.fast.flat, at.fast, at.low, at.high)
    previous_fast = _ByOwner(
        _Spans(_key(flat, runs.until, runs.scenario), runs.source, runs.low, runs.high),
        n + flat.count,
    )
    # The fast answer before a slow one is the one that precedes the next fast one after it.
    ahead = _next_fast(at)
    key = _key(flat, ahead.value, flat.scenario[ahead.owner])
    a, fast, low, high = previous_fast.overlap(ahead, key)
    fast_before_slow = _Spans(ahead.owner[a], fast, low, high)
    found = {}
    for rule, limit in at.slow.items():
        before_fast = _before_fast(at, _last_slow(at, limit), previous_fast)
        found[rule] = before_fast.followed_by([_before_slow(at, limit, fast_before_slow)])
    return found


def _before_fast(at: _Scales, last_slow: _Spans, previous_fast: _ByOwner) -> _Cells:
    """_Cells that end with a fast acceptance or the horizon."""
    flat, n = at.pair.flat, at.pair.n
    a, fast, low, high = previous_fast.overlap(last_slow, last_slow.owner)
    owner = last_slow.owner[a]
    at_horizon = owner >= n
    scenario = np.where(at_horizon, owner - n, flat.scenario[np.where(at_horizon, 0, owner)])
    until = np.where(at_horizon, -1, owner)
    return _later(at, scenario, until, fast, last_slow.value[a], low, high)


def _before_slow(at: _Scales, limit: Floats, last_fast: _Spans) -> _Cells:
    """_Cells that end with a slow acceptance."""
    flat, n = at.pair.flat, at.pair.n
    runs = runs_of(at.pair.slow.flat, limit, at.low, at.high)
    runs = runs.where(runs.until >= 0)
    previous_slow = _ByOwner(_Spans(runs.until, runs.source, runs.low, runs.high), n)
    a, slow, low, high = previous_slow.overlap(last_fast, last_fast.owner)
    owner = last_fast.owner[a]
    return _later(at, flat.scenario[owner], n + owner, last_fast.value[a], slow, low, high)


def _later(
    at: _Scales, scenario: Ints, until: Ints, fast: Ints, slow: Ints, low: Floats, high: Floats
) -> _Cells:
    """Of the last fast and the last slow acceptance before a boundary, the later one holds.

    A slow answer for the same or a newer step is later, or the fast one would not be accepted. One
    for an older step is later from their crossing on.
    """
    pair = at.pair
    slow_holds_from = _crossing(pair.flat, slow, pair.slow.flat.L, fast, pair.fast.flat.L)
    slow_holds_from = np.where(slow >= fast, 0.0, slow_holds_from)
    slow_holds_from = np.where(slow < 0, np.inf, slow_holds_from)
    by_fast = _Cells(scenario, fast, until, low, np.minimum(high, slow_holds_from), fast)
    by_slow = _Cells(scenario, slow + pair.n, until, np.maximum(low, slow_holds_from), high, fast)
    found = by_fast.followed_by([by_slow])
    return found.where(found.low < found.high)


def _next_fast(at: _Scales) -> _Spans:
    """Per slow answer, the first fast acceptance after it; −1 for the horizon.

    As c grows candidates only drop out: they cease to be accepted, or the slow answer passes them.
    """
    flat, L_slow, L_fast = at.pair.flat, at.pair.slow.flat.L, at.pair.fast.flat.L
    owner = np.arange(at.pair.n)
    last = flat.last[flat.scenario]

    def candidate(open_: Ints, distance: int) -> tuple[Ints, Floats]:
        fast = open_ + distance
        at_horizon = fast > last[open_]
        fast = np.where(at_horizon, 0, fast)
        lasts = np.minimum(at.fast[fast], _crossing(flat, open_, L_slow, fast, L_fast))
        return np.where(at_horizon, -1, fast), np.where(at_horizon, np.inf, lasts)

    widest: Floats = np.maximum.reduce(list(at.slow.values()))
    limit = np.minimum(widest, at.high[flat.scenario])
    return _search(owner, at.low[flat.scenario], limit, candidate)


def _last_slow(at: _Scales, accepted_below: Floats) -> _Spans:
    """Per fast answer and per horizon (n + scenario), the last slow acceptance before it; −1 if none.

    Slow answers for the same or newer steps come later. Of the others, as c grows, candidates only
    drop out: they cease to be accepted, or they fall behind the fast answer.
    """
    flat, n = at.pair.flat, at.pair.n
    every = np.arange(flat.count)
    owner = np.arange(n + flat.count)
    position = np.concatenate((owner[:n], flat.last + 1))
    scenario = np.concatenate((flat.scenario, every))
    first = flat.first[scenario]
    r = np.concatenate((flat.r, flat.H))
    L = np.concatenate((at.pair.fast.flat.L, np.zeros(flat.count)))

    def candidate(open_: Ints, distance: int) -> tuple[Ints, Floats]:
        slow = position[open_] - distance
        none = slow < first[open_]
        slow = np.where(none, 0, slow)
        passed = crossing(flat.r[slow], at.pair.slow.flat.L[slow] - L[open_], r[open_])
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


def _key(flat: Flat, step: Ints, scenario: Ints) -> Ints:
    """Owners are steps, or N + scenario for the horizon."""
    return np.where(step < 0, len(flat.r) + scenario, step)


def _crossing(flat: Flat, early: Ints, L_early: Floats, late: Ints, L_late: Floats) -> Floats:
    """The scale from which the older source's answer comes after the newer's; ∞ if there is none."""
    return crossing(flat.r[early], L_early[early] - L_late[late], flat.r[late])


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


# What a pair has in force at one time scale, and what arbitration did on the way.
#
# The rules ask about every arrival in turn; their outcome has a closed form. Let k be how many steps
# a slow answer may lie behind the active source: 0 `freshest`, 1 `lag_one`, ∞ `late_override`. Then
#
#     fast i is accepted  ⇔  it arrives before every newer fast answer and before every slow s ≥ i
#     slow s is accepted  ⇔  it arrives before every newer slow answer and before every fast j > s + k
#
# and both before H. (Active fast sources only grow, so a slow answer meets the newest fast source
# delivered; a slow answer s ≥ i that comes first is always let in and keeps i out.) At equal times
# the newer source, then the slow one, comes first: "before" is strict, and of two accepted answers
# that arrive together the slow one is the older source and stays.


@dataclass(frozen=True, slots=True)
class PairCounts:
    """What became of the answers, over all scenarios."""

    fast_accepted: int
    slow_accepted: int
    corrections: int
    """Slow answers accepted for the very step whose fast answer was active."""
    regressions: int
    """Slow answers accepted with an older source than the active one."""
    refusals: int
    """Slow answers their component delivered and arbitration turned away."""


@dataclass(frozen=True, slots=True)
class StaleLoss:
    """A right fast decision replaced by a slow one of an older source, right when it was asked.

    From `begin` to `end` the older decision was stale while the replaced one still matched the
    reference. Times are seconds since the scenario's start at the interval scored.
    """

    episode_id: str
    fast_source: int
    slow_source: int
    fast_arrival_s: float
    slow_arrival_s: float
    begin_s: float
    end_s: float

    @property
    def seconds(self) -> float:
        return self.end_s - self.begin_s


@dataclass(frozen=True, slots=True)
class PairPath:
    """Accepted answers, scenario by scenario in the order they took effect."""

    node: Ints
    scenario: Ints
    begin: Floats
    end: Floats
    refused: int


def path_at(pair: PairNodes, c: Floats, rule: str) -> PairPath:
    """The composed path with the delays of each scenario scaled by its c."""
    flat = pair.flat
    scale = c[flat.scenario]
    fast, slow = flat.r + scale * pair.fast.flat.L, flat.r + scale * pair.slow.flat.L
    horizon = flat.H[flat.scenario]
    after_fast, after_slow = _earliest_newer(flat, fast), _earliest_newer(flat, slow)
    take_fast = (fast < after_fast[:, 1]) & (fast < after_slow[:, 0]) & (fast < horizon)
    delivered = (slow < after_slow[:, 1]) & (slow < horizon)
    reach = REACH[rule]
    take_slow = delivered if reach is None else delivered & (slow < after_fast[:, 1 + reach])
    node = np.flatnonzero(np.concatenate((take_fast, take_slow)))
    time = np.concatenate((fast, slow))[node]
    order = np.lexsort((node, time, flat.scenario[pair.step(node)]))
    node, begin = node[order], time[order]
    scenario = flat.scenario[pair.step(node)]
    return PairPath(
        node,
        scenario,
        begin,
        in_force_until(begin, scenario, flat.H),
        int((delivered & ~take_slow).sum()),
    )


def pair_stretches(pair: PairNodes, path: PairPath, clock: Flat | None = None) -> ClassStretches:
    """All observed time by class along a path.

    `clock` says when the evidence changed; of a live pair that is the recorded clock.
    """
    return class_stretches(clock or pair.flat, _effects(pair, path))


def _effects(pair: PairNodes, path: PairPath) -> Effects:
    return Effects(path.scenario, pair.step(path.node), pair.p[path.node], path.begin)


def pair_table(
    pair: PairNodes,
    path: PairPath,
    clock: Flat | None = None,
    held: ClassStretches | None = None,
) -> Floats:
    """Shares per scenario along a path, columns as in `classes.TABLE`; `held` if it is at hand."""
    flat = clock or pair.flat
    out = table_of(flat, held or pair_stretches(pair, path, clock))
    seconds = np.where(path.node >= pair.n, path.end - path.begin, 0.0)
    out[:, LATER] = by_scenario(path.scenario, seconds, flat.count) / (flat.H - flat.r0)
    return out


def count(pair: PairNodes, path: PairPath) -> PairCounts:
    slow = path.node >= pair.n
    over, gap = _overrides(pair, path)
    return PairCounts(
        fast_accepted=int((~slow).sum()),
        slow_accepted=int(slow.sum()),
        corrections=int((over & (gap == 0)).sum()),
        regressions=int((over & (gap < 0)).sum()),
        refusals=path.refused,
    )


def longest_stale_loss(
    pair: PairNodes, path: PairPath, c: Floats, held: ClassStretches
) -> StaleLoss | None:
    """The longest contiguous stretch, over all scenarios, that one override made stale.

    That is time of a slow answer in force with its source outdated and the replaced one's not; of
    equally long ones the first.
    """
    over, gap = _overrides(pair, path)
    own = pair.flat.y[pair.step(path.node)]
    right = pair.p[path.node] == own
    harmful = np.append(over & (gap < 0) & right & np.roll(right, 1), False)
    where = np.flatnonzero(harmful[held.piece] & (held.begin < held.end))
    piece, now = held.piece[where], pair.flat.y[held.step[where]]
    where = where[(now == own[piece - 1]) & (now != own[piece])]
    if not where.size:
        return None
    piece, begin, end = held.piece[where], held.begin[where], held.end[where]
    breaks = np.flatnonzero((piece[1:] != piece[:-1]) | (begin[1:] != end[:-1]))
    first, last = np.append(0, breaks + 1), np.append(breaks, len(where) - 1)
    longest = int(np.argmax(end[last] - begin[first]))
    k = int(piece[first[longest]])
    scenario = int(path.scenario[k])
    source = pair.step(path.node) - pair.flat.first[scenario]
    # On the recording clock delays are scaled by c; in seconds at the interval everything else is.
    moments = path.begin[k - 1], path.begin[k], begin[first[longest]], end[last[longest]]
    seconds = (np.array(moments) / c[scenario]).tolist()
    episode = pair.flat.parts[scenario].episode_id
    return StaleLoss(episode, int(source[k - 1]), int(source[k]), *seconds)


def _earliest_newer(flat: Flat, u: Floats) -> Floats:
    """Per step i, the earliest arrival among sources ≥ i, ≥ i+1 and ≥ i+2 of its scenario."""
    longest = int(flat.n.max())
    table = np.full((flat.count, longest + 2), np.inf)
    column = np.arange(len(u)) - flat.first[flat.scenario]
    table[flat.scenario, column] = u
    newest = np.minimum.accumulate(table[:, ::-1], axis=1)[:, ::-1]
    found: Floats = np.stack([newest[flat.scenario, column + d] for d in range(3)], axis=1)
    return found


def _overrides(pair: PairNodes, path: PairPath) -> tuple[NDArray[np.bool_], Ints]:
    """Where a slow answer replaced a fast one, and how much newer its source is."""
    if not path.node.size:
        return np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int64)
    slow, source = path.node >= pair.n, pair.step(path.node)
    same = np.append(False, path.scenario[1:] == path.scenario[:-1])
    gap = source - np.roll(source, 1)
    return same & slow & ~np.roll(slow, 1), gap


# What a pair had in force when, as a trajectory: at one interval and over a range of them.


def pair_trajectory(
    fast: Sequence[Timeline], slow: Sequence[Timeline], rule: str, interval: float
) -> Sweep:
    """Two components in replay at an interval, on the nominal clock."""
    pair = PairNodes(*pair_members((fast, slow), ("fast", "slow"), np.inf))
    scale = pair.flat.tick / interval
    return trajectory_of(pair.flat, _effects(pair, path_at(pair, scale, rule)), scale)


def pair_sweep(
    fast: Sequence[Timeline], slow: Sequence[Timeline], rule: str, bounds: Bounds
) -> Sweep:
    """Two components in replay at every interval within the bounds."""
    pair = PairNodes(*pair_members((fast, slow), ("fast", "slow"), bounds.low))
    return pair_sweeps(pair, bounds, (rule,))[rule]


def pair_sweeps(pair: PairNodes, bounds: Bounds, rules: Sequence[str]) -> dict[str, Sweep]:
    """The same by rule, of two members that are ready for the bounds."""
    tick = pair.flat.tick
    at = _scales(pair, tick / bounds.high, tick / bounds.low, rules)
    return {rule: _sweep(at, found) for rule, found in _cells(at).items()}


def _sweep(at: _Scales, found: _Cells) -> Sweep:
    pair, flat = at.pair, at.pair.flat
    # A boundary's place among all that exist at the same c: fast answers in the order of their
    # steps, each followed by the slow ones accepted before the next fast one, the horizon last.
    slow_end, at_horizon = found.until >= pair.n, found.until < 0
    major = np.where(slow_end, found.fast_before, found.until)
    major = np.where(at_horizon, pair.n, major)
    minor = np.where(slow_end, found.until, NOTHING)
    order = np.lexsort((minor, major, found.scenario))
    return sweep_along(flat, found.where(order), at.low, at.high, pair.r, pair.latency, pair.p)
