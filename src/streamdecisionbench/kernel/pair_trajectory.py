"""What a pair has in force: at one time scale, and over a whole range of them as a sweep.

Two components are put on one nominal clock. Releases are r_i = i · tick, or a scenario's own times at
that mean distance. Latencies stay in seconds, so at Δ every delay is scaled by c = tick/Δ whatever tick
a component was recorded at. A *node* is an answer: fast answers are numbered 0 … N−1 over all scenarios
laid end to end, slow ones N … 2N−1. −1 stands for "nothing yet" where an answer in force is meant, and
for the horizon where the end of its time in force is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    NOTHING,
    Activations,
    Floats,
    Ints,
    JoinedTimelines,
    Timeline,
    by_scenario,
    nominal,
    nominal_like,
)
from streamdecisionbench.kernel.overlaps import neighbours
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.rule import REACH
from streamdecisionbench.kernel.shares import (
    LATER,
    AnswerCounts,
    ClassifiedTime,
    classify_time,
    table_of,
)
from streamdecisionbench.kernel.trajectory import (
    Runs,
    Trajectory,
    critical_scale,
    in_force_until,
    trajectory_from,
    trajectory_from_runs,
)


@dataclass(frozen=True, slots=True)
class PairMember:
    """One component, on a clock and with decision ids that all it may be paired with share."""

    flat: JoinedTimelines
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
    def flat(self) -> JoinedTimelines:
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
        flat = JoinedTimelines(parts, every)
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
# ones, it is that of their sources; between fast j and slow s < j it changes at their crossing. So a
# slow answer is listed once for every fast answer that may be the next one after it, with the range of
# c over which it is: then the list is in the order of time at every c, and an answer is in force until
# the arrival of its neighbour.


def pair_trajectories(
    pair: PairNodes, bounds: Bounds, rules: Sequence[str]
) -> dict[str, Trajectory]:
    """A pair in replay at every interval within the bounds, by rule; its members are ready for them."""
    flat, n = pair.flat, pair.n
    if flat.fixed_pace:
        scale = np.ones(flat.count)
        return {rule: path_trajectory(pair, path_at(pair, scale, rule), scale) for rule in rules}
    low, high = flat.tick / bounds.high, flat.tick / bounds.low
    below_fast, below_slow = _scales(pair, high, rules)
    widest: Floats = np.maximum.reduce(list(below_slow.values()))
    slow, ahead, *span = _next_fast(pair, below_fast, widest, low, high)
    every = np.arange(n)
    # At the place of each fast answer first the slow ones before it; the horizon's come last of all.
    step = np.concatenate((every, slow))
    place = np.concatenate((every, np.where(ahead < 0, n, ahead)))
    is_fast = np.arange(len(step)) < n
    order = np.lexsort((step, is_fast, place, flat.scenario[step]))
    step, is_fast = step[order], is_fast[order]
    scenario = flat.scenario[step]
    node = np.where(is_fast, step, n + step)
    begins = np.concatenate((low[flat.scenario], span[0]))[order]
    ends = np.concatenate((np.minimum(below_fast, high[flat.scenario]), span[1]))[order]
    found = {}
    for rule, limit in below_slow.items():
        until = np.where(is_fast, ends, np.minimum(ends, limit[step]))
        keep = begins < until
        pairs = neighbours(scenario[keep], begins[keep], until[keep], low, high)
        pairs = pairs.where(np.lexsort((pairs.before, pairs.group)))
        at = np.append(node[keep], NOTHING)  # the last is where the edge points
        runs = Runs(pairs.group, at[pairs.before], at[pairs.after], pairs.low, pairs.high)
        found[rule] = trajectory_from_runs(flat, runs, low, high, pair.r, pair.latency, pair.p)
    return found


def _scales(
    pair: PairNodes, high: Floats, rules: Sequence[str]
) -> tuple[Floats, dict[str, Floats]]:
    """Below which scale every answer is accepted: fast ones, and slow ones by rule.

    Those beyond `high` are only known to be beyond it.
    """
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
    return first, found


def _next_fast(
    pair: PairNodes, below_fast: Floats, below_slow: Floats, low: Floats, high: Floats
) -> tuple[Ints, Ints, Floats, Floats]:
    """Per slow answer, the first fast acceptance after it (−1 for the horizon), and for which c.

    As c grows candidates only drop out: they cease to be accepted, or the slow answer passes them. So
    the nearest one that still lasts is followed by a further one where it ends.
    """
    flat, last = pair.flat, pair.flat.last[pair.flat.scenario]
    current, limit = low[flat.scenario], np.minimum(below_slow, high[flat.scenario])
    open_ = np.flatnonzero(current < limit)
    found: list[tuple[Ints, Ints, Floats, Floats]] = []
    distance = 1
    while open_.size:
        at_horizon = open_ + distance > last[open_]
        fast = np.where(at_horizon, 0, open_ + distance)
        passed = _crossing(flat, open_, pair.slow.flat.L, fast, pair.fast.flat.L)
        lasts = np.where(at_horizon, np.inf, np.minimum(below_fast[fast], passed))
        longer = lasts > current[open_]
        hit, lasts = open_[longer], lasts[longer]
        ahead = np.where(at_horizon, NOTHING, fast)[longer]
        found.append((hit, ahead, current[hit], np.minimum(lasts, limit[hit])))
        current[hit] = lasts
        open_ = open_[current[open_] < limit[open_]]
        distance += 1
    none = np.zeros(0, dtype=np.int64)
    found = found or [(none, none, np.zeros(0), np.zeros(0))]
    slow, ahead, begin, end = (np.concatenate(column) for column in zip(*found, strict=True))
    return slow, ahead, begin, end


def _crossing(
    flat: JoinedTimelines, early: Ints, L_early: Floats, late: Ints, L_late: Floats
) -> Floats:
    """The scale from which the older source's answer comes after the newer's; ∞ if there is none."""
    gains, gap = L_early[early] - L_late[late], flat.r[late] - flat.r[early]
    return np.where(gains > 0, gap / np.where(gains > 0, gains, 1.0), np.inf)


def _earliest_crossing(
    flat: JoinedTimelines, L: Floats, L_other: Floats, nearest: int, c_max: Floats
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


def pair_stretches(
    pair: PairNodes, path: PairPath, clock: JoinedTimelines | None = None
) -> ClassifiedTime:
    """All observed time by class along a path.

    `clock` says when the evidence changed; of a live pair that is the recorded clock.
    """
    return classify_time(clock or pair.flat, _effects(pair, path))


def _effects(pair: PairNodes, path: PairPath) -> Activations:
    return Activations(path.scenario, pair.step(path.node), pair.p[path.node], path.begin)


def path_trajectory(
    pair: PairNodes, path: PairPath, scale: Floats, clock: JoinedTimelines | None = None
) -> Trajectory:
    """The decisions in force along a path; `clock` as in `pair_stretches`."""
    component = (path.node >= pair.n).astype(np.int64)
    return trajectory_from(clock or pair.flat, _effects(pair, path), scale, component)


def pair_table(
    pair: PairNodes,
    path: PairPath,
    clock: JoinedTimelines | None = None,
    held: ClassifiedTime | None = None,
) -> Floats:
    """Shares per scenario along a path, columns as in `classes.TABLE`; `held` if it is at hand."""
    flat = clock or pair.flat
    out = table_of(flat, held or pair_stretches(pair, path, clock))
    seconds = np.where(path.node >= pair.n, path.end - path.begin, 0.0)
    out[:, LATER] = by_scenario(path.scenario, seconds, flat.count) / (flat.H - flat.r0)
    return out


def count(pair: PairNodes, path: PairPath) -> AnswerCounts:
    slow = path.node >= pair.n
    over, gap = _overrides(pair, path)
    return AnswerCounts(
        taken=(int((~slow).sum()), int(slow.sum())),
        corrections=int((over & (gap == 0)).sum()),
        regressions=int((over & (gap < 0)).sum()),
        refusals=path.refused,
    )


def longest_stale_loss(
    pair: PairNodes, path: PairPath, c: Floats, held: ClassifiedTime
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


def _earliest_newer(flat: JoinedTimelines, u: Floats) -> Floats:
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
) -> Trajectory:
    """Two components in replay at an interval, on the nominal clock."""
    pair = PairNodes(*pair_members((fast, slow), ("fast", "slow"), np.inf))
    scale = pair.flat.scale(interval)
    return path_trajectory(pair, path_at(pair, scale, rule), scale)


def pair_trajectory_over(
    fast: Sequence[Timeline], slow: Sequence[Timeline], rule: str, bounds: Bounds
) -> Trajectory:
    """Two components in replay at every interval within the bounds."""
    pair = PairNodes(*pair_members((fast, slow), ("fast", "slow"), bounds.low))
    return pair_trajectories(pair, bounds, (rule,))[rule]
