"""What two components of a pair share, and what each brings: arrays on one nominal clock.

Releases are r_i = i · tick, or a scenario's own times at that mean distance. Latencies stay in seconds, so at Δ every delay is scaled by c = tick/Δ
whatever tick a component was recorded at. A *node* is an answer: fast answers are numbered
0 … N−1 over all scenarios laid end to end, slow ones N … 2N−1. −1 stands for "nothing yet" where an
answer in force is meant, and for the horizon where the end of its time in force is.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import REACH
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.classes import CLASSES, N_METRICS, Cumulative, classify
from streamdecisionbench.scoring.sweep import (
    NOTHING,
    References,
    Sweep,
    Trajectory,
    critical_scale,
    in_force_until,
    references_of,
    runs_of,
)
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints, Timeline, check


class Stage:
    """Scenarios, releases and references: the same for every component that plays on it.

    A decision that is never the reference is the scenario's `never` id, whoever answered it.
    """

    def __init__(self, parts: Sequence[Timeline]) -> None:
        self.parts = parts
        self.flat = Flat([_without_answers(part) for part in parts])
        self.never: Ints = self.flat.p
        self.time = Cumulative(self.flat, self.flat.time_weight)
        self.segment = Cumulative(self.flat, self.flat.segment_weight)
        self.regular = all(part.rhythm is None for part in parts)
        self.local = np.arange(len(self.flat.r)) - self.flat.first[self.flat.scenario]
        self._offset = self.flat.y - np.concatenate([p.reference for p in parts])

    def decisions(self, predicted: Ints) -> Ints:
        """Answered decisions in the reference's ids."""
        own = np.where(predicted < 0, self.never, predicted + self._offset)
        return np.minimum(own, self.never)


@dataclass(frozen=True, slots=True)
class PairLane:
    """One component on a stage."""

    flat: Flat
    L: Floats
    p: Ints
    untimed: Floats
    """U of each scenario."""
    critical: Floats
    """c*_i against its own later answers and the horizon: below it the component delivers i."""


@dataclass(frozen=True)
class Duo:
    """A fast and a slow component on one stage, their answers numbered as nodes."""

    stage: Stage
    fast: PairLane
    slow: PairLane

    @cached_property
    def latency(self) -> Floats:
        return np.concatenate((self.fast.L, self.slow.L))

    @cached_property
    def y(self) -> Ints:
        return np.concatenate((self.stage.flat.y, self.stage.flat.y))

    @cached_property
    def p(self) -> Ints:
        return np.concatenate((self.fast.p, self.slow.p))

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        return np.equal(self.y, self.p)

    @cached_property
    def r(self) -> Floats:
        return np.concatenate((self.stage.flat.r, self.stage.flat.r))

    @cached_property
    def scenario(self) -> Ints:
        return np.concatenate((self.stage.flat.scenario, self.stage.flat.scenario))

    @cached_property
    def source(self) -> Ints:
        """The step an answer is for, counted within its scenario."""
        return np.concatenate((self.stage.local, self.stage.local))

    @property
    def n(self) -> int:
        """N: how many answers each component gives; nodes from N on are slow."""
        return len(self.stage.flat.r)


def stage(parts: Sequence[Timeline]) -> Stage:
    """The stage these timelines were recorded on, with nominal releases."""
    if not parts:
        raise InputError("there is no scenario to compose")
    return Stage([nominal(part, part.tick) for part in parts])


def on_stage(where: Stage, parts: Sequence[Timeline], who: str) -> list[Timeline]:
    """The component's timelines in the stage's order, on its clock; refused when they do not fit."""
    mine = {part.episode_id: part for part in parts}
    found = []
    for part in where.parts:
        own = mine.pop(part.episode_id, None)
        if own is None or own.n != part.n:
            what = "was not recorded" if own is None else f"has {own.n} steps, not {part.n}"
            raise InputError(
                f"{part.episode_id} {what}", where=who, fix="pair recordings of the same scenarios"
            )
        if not np.array_equal(own.reference, part.reference):
            raise InputError(
                f"{part.episode_id} has another reference",
                where=who,
                fix="pair recordings of the same suite",
            )
        found.append(nominal(own, part.tick))
    if mine:
        raise InputError(
            f"{', '.join(mine)} is in one recording only",
            where=who,
            fix="pair recordings of the same scenarios",
        )
    check(found)
    return found


def lane(where: Stage, parts: Sequence[Timeline], c_max: Floats) -> PairLane:
    """A component whose timelines fit the stage (see `on_stage`), ready up to scale `c_max`."""
    flat = copy.copy(where.flat)
    flat.L = np.concatenate([np.asarray(p.latency, dtype=np.float64) for p in parts])
    return PairLane(
        flat=flat,
        L=flat.L,
        p=where.decisions(np.concatenate([p.predicted for p in parts])),
        untimed=np.array([p.untimed for p in parts]),
        critical=critical_scale(flat, c_max),
    )


def nominal(part: Timeline, tick: float) -> Timeline:
    """The same answers with releases exactly as planned."""
    return replace(part, tick=tick, release=part.nominal(tick), arrival=None)


def _without_answers(part: Timeline) -> Timeline:
    if part.reference.min() < 0:
        raise InputError("decision ids of the reference start at 0", where=part.episode_id)
    never = int(part.reference.max()) + 1
    return replace(part, latency=np.zeros(part.n), predicted=np.full(part.n, never))


# Who replaces whom in a pair, over a whole range of time scales.
#
# In u_i(c) = r_i + c·L_i two arrivals with r_i < r_j change order once, at (r_j − r_i)/(L_i − L_j) if
# L_i > L_j: below it i comes first. By the closed form of the rules (see `pair_path`) every answer of
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


SLOW_SHARE = N_METRICS
"""Column of the slow share, after the single scorer's seven."""


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
class Path:
    """Accepted answers, scenario by scenario in the order they took effect."""

    node: Ints
    scenario: Ints
    begin: Floats
    end: Floats
    refused: int


def path_at(duo: Duo, c: Floats, rule: str) -> Path:
    """The composed path with the delays of each scenario scaled by its c."""
    flat = duo.stage.flat
    scale = c[flat.scenario]
    fast, slow = flat.r + scale * duo.fast.L, flat.r + scale * duo.slow.L
    horizon = flat.H[flat.scenario]
    after_fast, after_slow = _earliest_newer(flat, fast), _earliest_newer(flat, slow)
    take_fast = (fast < after_fast[:, 1]) & (fast < after_slow[:, 0]) & (fast < horizon)
    delivered = (slow < after_slow[:, 1]) & (slow < horizon)
    reach = REACH[rule]
    take_slow = delivered if reach is None else delivered & (slow < after_fast[:, 1 + reach])
    node = np.flatnonzero(np.concatenate((take_fast, take_slow)))
    time = np.concatenate((fast, slow))[node]
    order = np.lexsort((node, time, duo.scenario[node]))
    node, begin = node[order], time[order]
    scenario = duo.scenario[node]
    return Path(
        node,
        scenario,
        begin,
        in_force_until(begin, scenario, flat.H),
        int((delivered & ~take_slow).sum()),
    )


def shares_along(duo: Duo, path: Path, flat: Flat, time: Cumulative, segment: Cumulative) -> Floats:
    """Six classes, segment-balanced accuracy and slow share per scenario along a path.

    `flat` says when the evidence changed; of a live pair that is the recorded clock.
    """
    out = np.zeros((flat.count, SLOW_SHARE + 1))
    waiting = flat.H.copy()
    node, scenario = path.node, path.scenario
    first = np.append(True, scenario[1:] != scenario[:-1])[: len(scenario)]
    waiting[scenario[first]] = path.begin[first]
    out[:, CLASSES.index("no_decision")] = (waiting - flat.r0) / (flat.H - flat.r0)
    y, p = duo.y[node], duo.p[node]
    from_step, to_step = flat.locate(path.begin, scenario), flat.locate(path.end, scenario)

    def held(cumulative: Cumulative, decision: Ints) -> Floats:
        after = cumulative.at(decision, path.end, to_step)
        return after - cumulative.at(decision, path.begin, from_step)

    total = (path.end - path.begin) * flat.time_weight[flat.first[scenario]]
    classes = classify(duo.right[node], held(time, y), held(time, p), total)
    for column, values in enumerate(classes[:5]):
        out[:, column] = flat.sum_by_scenario(values, scenario)
    out[:, 6] = flat.sum_by_scenario(held(segment, p), scenario)
    out[:, SLOW_SHARE] = flat.sum_by_scenario(np.where(node >= duo.n, total, 0.0), scenario)
    return out


def count(duo: Duo, path: Path) -> PairCounts:
    slow = path.node >= duo.n
    over, gap = _overrides(duo, path)
    return PairCounts(
        fast_accepted=int((~slow).sum()),
        slow_accepted=int(slow.sum()),
        corrections=int((over & (gap == 0)).sum()),
        regressions=int((over & (gap < 0)).sum()),
        refusals=path.refused,
    )


def longest_stale_loss(duo: Duo, path: Path, c: Floats) -> StaleLoss | None:
    """The longest contiguous stretch, over all scenarios, that one override made stale."""
    over, gap = _overrides(duo, path)
    right = duo.right[path.node]
    harmful = np.flatnonzero(over & (gap < 0) & right & np.roll(right, 1))
    held = path.end[harmful] - path.begin[harmful]
    best: tuple[float, int, float, float] | None = None
    # Nothing can be lost for longer than it was in force, so the longest come first. Equal ones
    # are told apart by scenario and time: the earliest is reported.
    for k in harmful[np.argsort(-held, kind="stable")]:
        if best is not None and path.end[k] - path.begin[k] < best[0]:
            break
        for begin, end in _lost(duo, path, int(k)):
            if best is None or (end - begin, -int(k)) > (best[0], -best[1]):
                best = (end - begin, int(k), begin, end)
    if best is None:
        return None
    _, k, begin, end = best
    scenario = int(path.scenario[k])
    # On the recording clock delays are scaled by c; in seconds at the interval everything else is.
    seconds = 1.0 / float(c[scenario])
    return StaleLoss(
        episode_id=duo.stage.parts[scenario].episode_id,
        fast_source=int(duo.source[path.node[k - 1]]),
        slow_source=int(duo.source[path.node[k]]),
        fast_arrival_s=float(path.begin[k - 1]) * seconds,
        slow_arrival_s=float(path.begin[k]) * seconds,
        begin_s=begin * seconds,
        end_s=end * seconds,
    )


def _earliest_newer(flat: Flat, u: Floats) -> Floats:
    """Per step i, the earliest arrival among sources ≥ i, ≥ i+1 and ≥ i+2 of its scenario."""
    longest = int(flat.n.max())
    table = np.full((flat.count, longest + 2), np.inf)
    column = np.arange(len(u)) - flat.first[flat.scenario]
    table[flat.scenario, column] = u
    newest = np.minimum.accumulate(table[:, ::-1], axis=1)[:, ::-1]
    found: Floats = np.stack([newest[flat.scenario, column + d] for d in range(3)], axis=1)
    return found


def _overrides(duo: Duo, path: Path) -> tuple[NDArray[np.bool_], Ints]:
    """Where a slow answer replaced a fast one, and how much newer its source is."""
    if not path.node.size:
        return np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int64)
    slow, source = path.node >= duo.n, duo.source[path.node]
    same = np.append(False, path.scenario[1:] == path.scenario[:-1])
    gap = source - np.roll(source, 1)
    return same & slow & ~np.roll(slow, 1), gap


def _lost(duo: Duo, path: Path, k: int) -> list[tuple[float, float]]:
    """Stretches of answer k's time in force with its source outdated and the replaced one's not."""
    flat = duo.stage.flat
    begin, end = float(path.begin[k]), float(path.end[k])
    scenario = path.scenario[k : k + 1]
    bounds = flat.locate(np.array([begin]), scenario), flat.locate(np.array([end]), scenario)
    old, replaced = duo.y[path.node[k]], duo.y[path.node[k - 1]]
    found: list[tuple[float, float]] = []
    for step in range(int(bounds[0][0]), int(bounds[1][0]) + 1):
        now = flat.y[step]
        a, b = max(begin, float(flat.r[step])), min(end, float(flat.step_end[step]))
        if now != replaced or now == old or a >= b:
            continue
        if found and found[-1][1] == a:
            found[-1] = (found[-1][0], b)
        else:
            found.append((a, b))
    return found


# What a pair had in force when, as a trajectory: at one interval and over a range of them.


def pair_trajectory(
    fast: Sequence[Timeline], slow: Sequence[Timeline], rule: str, interval: float
) -> Trajectory:
    """Two components in replay at an interval, on the nominal clock."""
    duo = _duo(fast, slow, interval)
    scale = duo.stage.flat.tick / interval
    return trajectory_along(duo, path_at(duo, scale, rule), fast, slow, scale)


def trajectory_along(
    duo: Duo,
    path: Path,
    fast: Sequence[Timeline],
    slow: Sequence[Timeline],
    scale: Floats,
    clock: Flat | None = None,
) -> Trajectory:
    """A path's pieces; `clock` says when the evidence changed where that is not the nominal clock."""
    words = _vocabulary(duo, fast, slow)
    flat = clock or duo.stage.flat
    every = np.arange(flat.count)
    scenario = np.concatenate((every, path.scenario))
    order = np.argsort(scenario, kind="stable")
    waiting = flat.H.copy()
    first = np.append(True, path.scenario[1:] != path.scenario[:-1])[: len(path.scenario)]
    waiting[path.scenario[first]] = path.begin[first]
    none = np.full(flat.count, NOTHING, dtype=np.int64)
    begin = np.concatenate((flat.r0, path.begin))[order]
    end = np.concatenate((waiting, path.end))[order]
    decision = np.concatenate((none, words.answered[path.node]))[order]
    source = np.concatenate((none, path.node % duo.n))[order]
    keep = begin < end
    return Trajectory(
        words.references(flat),
        scale,
        scenario[order][keep],
        decision[keep],
        source[keep],
        begin[keep],
        end[keep],
    )


def pair_sweep(
    fast: Sequence[Timeline], slow: Sequence[Timeline], rule: str, bounds: Bounds
) -> Sweep:
    """Two components in replay at every interval within the bounds."""
    duo = _duo(fast, slow, bounds.low)
    words = _vocabulary(duo, fast, slow)
    flat = duo.stage.flat
    low, high = flat.tick / bounds.high, flat.tick / bounds.low
    found = cells(scales(duo, low, high, (rule,)))[rule]
    # A boundary's place among all that exist at the same c: fast answers in the order of their
    # steps, each followed by the slow ones accepted before the next fast one, the horizon last.
    slow_end, at_horizon = found.until >= duo.n, found.until < 0
    major = np.where(slow_end, found.fast_before, found.until)
    major = np.where(at_horizon, duo.n, major)
    minor = np.where(slow_end, found.until, NOTHING)
    order = np.lexsort((minor, major, found.scenario))
    scenario, holder, until = found.scenario[order], found.holder[order], found.until[order]
    waiting, at_horizon = holder < 0, until < 0
    return Sweep(
        words.references(flat),
        low,
        high,
        scenario,
        np.where(waiting, NOTHING, words.answered[holder]),
        np.where(waiting, NOTHING, holder % duo.n),
        begin_at=np.where(waiting, flat.r0[scenario], duo.r[holder]),
        begin_delay=np.where(waiting, 0.0, duo.latency[holder]),
        end_at=np.where(at_horizon, flat.H[scenario], duo.r[until]),
        end_delay=np.where(at_horizon, 0.0, duo.latency[until]),
        low=found.low[order],
        high=found.high[order],
    )


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """Decision ids that both components share: unlike the scorer's, wrong ones stay apart."""

    reference: Ints
    """By step."""
    answered: Ints
    """By node."""
    values: Sequence[Mapping[str, str]]

    def references(self, flat: Flat) -> References:
        plain = references_of(flat)
        starts, _ = flat.segments
        return replace(plain, decision=self.reference[starts], values=self.values)


def _duo(fast: Sequence[Timeline], slow: Sequence[Timeline], interval: float) -> Duo:
    where = stage(fast)
    c_max = where.flat.tick / interval
    mine, theirs = on_stage(where, fast, "fast"), on_stage(where, slow, "slow")
    return Duo(where, lane(where, mine, c_max), lane(where, theirs, c_max))


def _vocabulary(duo: Duo, fast: Sequence[Timeline], slow: Sequence[Timeline]) -> _Vocabulary:
    """One id per decision and scenario. Without values, equal ids are taken for equal decisions."""
    by_episode = {part.episode_id: part for part in slow}
    reference, by_fast, by_slow = [], [], []
    values: list[Mapping[str, str]] = []
    named = True
    offset = 0
    for part in (next(p for p in fast if p.episode_id == s.episode_id) for s in duo.stage.parts):
        other = by_episode[part.episode_id]
        theirs = other.predicted
        width = int(max(part.reference.max(), part.predicted.max())) + 1
        if part.values and other.values:
            ids = {tuple(value.items()): k for k, value in enumerate(part.values)}
            map_ = [ids.setdefault(tuple(value.items()), len(ids)) for value in other.values]
            theirs = np.array(map_, dtype=np.int64)[theirs]
            values += [dict(key) for key in ids]
            width = len(ids)
        else:
            named = False
            width = max(width, int(theirs.max()) + 1)
        reference.append(part.reference + offset)
        by_fast.append(part.predicted + offset)
        by_slow.append(theirs + offset)
        offset += width
    return _Vocabulary(
        np.concatenate(reference),
        np.concatenate((*by_fast, *by_slow)),
        values if named else (),
    )
