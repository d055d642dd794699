"""Which answers take effect, at one time scale and over a whole range of them.

With every delay scaled by c, u_i(c) = r_i + c·L_i. A newer arrival at or before an older one
supersedes it, and arrivals at or after H are out, so answer i is accepted exactly when c < c*_i with

    c*_i = min( (H − r_i)/L_i ,  min over j > i with L_j < L_i of (r_j − r_i)/(L_i − L_j) ).

The accepted set only shrinks as c grows. At any c the decision of source i is in force from u_i to
u_j, j the next newer source with c < c*_j. A *run* is such a pair (i, j) with the range of c over
which j follows i; there are fewer than 2n of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.kernel.arrays import (
    NOTHING,
    Activations,
    Columns,
    Floats,
    Ints,
    JoinedTimelines,
    TimeIndex,
    by_scenario,
)
from streamdecisionbench.kernel.paces import AtPace, Bounds, OverPaces, PaceWeights

_SIDE_BY_SIDE = 64
"""How many newer answers are compared one by one before a scenario's lines are swept instead."""


@dataclass(frozen=True, slots=True)
class Runs(Columns):
    """Source `i` in force until the arrival of `j`, for c in [low, high).

    `source` is a step index, or −1 for "no decision yet"; `until` is a step index, or −1 for the
    horizon. The scenario is that of the run.
    """

    scenario: Ints
    source: Ints
    until: Ints
    low: Floats
    high: Floats


def accepted_at(flat: JoinedTimelines, u: Floats) -> NDArray[np.bool_]:
    """Accepted answers for given arrivals: before H and before every newer answer's arrival."""
    earliest = np.append(u[1:], np.inf)
    earliest[flat.last] = np.inf
    # Each round looks twice as far: earliest[i] becomes the minimum over the next 2·reach answers.
    reach, longest = 1, int(flat.n.max()) - 1
    while reach < longest:
        same = flat.scenario[reach:] == flat.scenario[:-reach]
        further = np.where(same, earliest[reach:], np.inf)
        np.minimum(earliest[:-reach], further, out=earliest[:-reach])
        reach *= 2
    accepted: NDArray[np.bool_] = (u < earliest) & (u < flat.H[flat.scenario])
    return accepted


def critical_scale(flat: JoinedTimelines, c_max: Floats) -> Floats:
    """c*_i for every step. Values above the scenario's `c_max` are only known to be above it."""
    r, L = flat.r, flat.L
    limit = c_max[flat.scenario]
    with np.errstate(divide="ignore"):
        c = np.where(L > 0, (flat.H[flat.scenario] - r) / L, np.inf)
    end = flat.last[flat.scenario]
    active = np.flatnonzero((L > 0) & np.isfinite(L))
    distance = 1
    while active.size and distance <= _SIDE_BY_SIDE:
        active = active[active + distance <= end[active]]
        gap = r[active + distance] - r[active]
        # No newer answer beyond this gap can lower c*_i: its quotient is at least gap / L_i.
        near = np.flatnonzero(gap < np.minimum(c[active], limit[active]) * L[active])
        active, gap = active[near], gap[near]
        drop = L[active] - L[active + distance]
        with np.errstate(divide="ignore"):
            quotient = np.where(drop > 0, gap / drop, np.inf)
        c[active] = np.minimum(c[active], quotient)
        distance += 1
    for scenario in np.unique(flat.scenario[active]).tolist():
        _lower_envelope(flat, int(scenario), c)
    return c


def _lower_envelope(flat: JoinedTimelines, scenario: int, c: Floats) -> None:
    """c*_i of one long-delayed scenario in linear time, whatever the delays.

    As c grows, u_j(c) = r_j + c·L_j are straight lines. From the newest source back, every line
    begins below all newer ones and leaves their lower envelope once, at c*_i: what it covered until
    then it covers for every older source too, so each line is put on the stack and taken off once.
    """
    first, last = int(flat.first[scenario]), int(flat.last[scenario])
    r, L = flat.r[first : last + 1].tolist(), flat.L[first : last + 1].tolist()
    horizon = float(flat.H[scenario])
    found = c[first : last + 1]
    # Lines of the envelope from large c to small, and the c up to which each one is the lowest.
    lines: list[int] = []
    until: list[float] = []
    for i in range(last - first, -1, -1):
        if not L[i] < np.inf:
            continue
        meets = np.inf
        while lines:
            j = lines[-1]
            meets = (r[j] - r[i]) / (L[i] - L[j]) if L[i] > L[j] else np.inf
            if meets < until[-1]:
                break
            lines.pop()
            until.pop()
            meets = np.inf
        lines.append(i)
        until.append(meets)
        at_horizon = (horizon - r[i]) / L[i] if L[i] > 0 else np.inf
        found[i] = min(meets, at_horizon)


def runs_of(flat: JoinedTimelines, critical: Floats, c_low: Floats, c_high: Floats) -> Runs:
    """All runs over [c_low, c_high] of each scenario, of answers accepted exactly below `critical`,
    in the order of their sources.

    Sources i < j follow each other at scale c exactly when every source between them is gone
    (c ≥ max of their c*) and both are still there (c < min of theirs). So j is the first source
    after i that lasts at least as long as i, or i is the last before j that lasts longer than j.
    """
    critical = np.where(critical >= c_high[flat.scenario], np.inf, critical)
    # Nodes: every scenario's steps between a start and an end sentinel that always last.
    node_of_step = np.arange(len(flat.r)) + 2 * flat.scenario + 1
    total = len(flat.r) + 2 * flat.count
    lasts = np.full(total, np.inf)
    lasts[node_of_step] = critical
    step_of_node = np.full(total, -1, dtype=np.int64)
    step_of_node[node_of_step] = np.arange(len(flat.r))
    scenario_of_node = np.repeat(np.arange(flat.count), flat.n + 2)
    is_head = np.ones(total, dtype=bool)
    is_head[flat.last + 2 * np.arange(flat.count) + 2] = False

    heads = np.flatnonzero(is_head)
    follower, gone_by_then = _first_lasting(lasts, heads, step=1, strict=False)
    tails = np.flatnonzero(np.isfinite(lasts))
    leader, gone_before = _first_lasting(lasts, tails, step=-1, strict=True)

    i = np.concatenate((heads, leader))
    j = np.concatenate((follower, tails))
    scenario = scenario_of_node[i]
    low = np.maximum(np.concatenate((gone_by_then, gone_before)), c_low[scenario])
    high = np.minimum(np.minimum(lasts[i], lasts[j]), c_high[scenario])
    keep = np.flatnonzero(low < high)
    keep = keep[np.argsort(i[keep], kind="stable")]
    return Runs(scenario[keep], step_of_node[i[keep]], step_of_node[j[keep]], low[keep], high[keep])


def _first_lasting(lasts: Floats, nodes: Ints, *, step: int, strict: bool) -> tuple[Ints, Floats]:
    """For each node, the nearest node in direction `step` that lasts at least as long (or longer).

    Returns it with the largest `lasts` strictly between. Sentinels last for ever, so every search
    ends inside its scenario. All nodes jump at once, each over the stretch its landing place has
    already covered, so the number of rounds stays small.
    """
    total = len(lasts)
    found = np.clip(np.arange(total) + step, 0, total - 1)
    between = np.zeros(total)
    open_ = nodes
    while open_.size:
        landed = found[open_]
        short = lasts[landed] <= lasts[open_] if strict else lasts[landed] < lasts[open_]
        open_, landed = open_[short], landed[short]
        # One statement: the right side must see every node as it was before this round.
        between[open_] = np.maximum(between[open_], np.maximum(lasts[landed], between[landed]))
        found[open_] = found[landed]
    return found[nodes], between[nodes]


# What was in force when: the one form in which anything that applies decisions can be judged.
#
# A single recording, a pair, a policy and a log all end in the same thing, per scenario a sequence of
# *pieces*: a decision, the step it was given for, and from when to when it was in force. Beside it
# stand the reference *segments*: which decision was right from when to when. Times are those of the
# recording clock, on which delays are scaled by c = tick/Δ; t/c are seconds at the interval Δ.
#
# A `Trajectory` holds for a range of c per scenario, over which both ends of a piece move. Where the range is
# one c, nothing moves: a *trajectory*.


@dataclass(frozen=True)
class References:
    """What was right when: segments of all scenarios, one scenario after another in time order.

    Decision ids are equal exactly when decisions are, and belong to one scenario only.
    """

    scenario: Ints
    decision: Ints
    """`NOTHING` where what was right is not known."""
    begin: Floats
    end: Floats
    start: Floats
    """r_0 of each scenario, where observation begins."""
    horizon: Floats
    tick: Floats
    release: Floats
    """When each step was published, over all scenarios."""
    step_segment: Ints
    """The segment of every step."""
    weight: Floats
    """1 / (K · |I_k|) of each segment: turns seconds into segment-balanced shares."""
    values: Sequence[Mapping[str, str]] = ()
    """What each decision id says, field by field; empty where only ids are known."""

    @cached_property
    def places(self) -> TimeIndex:
        return TimeIndex(self.begin, self.scenario, self.start, self.horizon)

    @property
    def count(self) -> int:
        """How many scenarios there are."""
        return len(self.start)

    @property
    def observed(self) -> Floats:
        """T = H − r_0 on the recording clock."""
        return self.horizon - self.start

    @property
    def judged(self) -> Floats:
        """The part of T in which it is known what is right."""
        known = self.decision != NOTHING
        if known.all():
            return self.observed
        return by_scenario(self.scenario, np.where(known, self.end - self.begin, 0.0), self.count)


@dataclass(frozen=True, slots=True)
class Trajectory(Columns):
    """Pieces over a range of scales: in force from `begin` to `end` for c in [low, high).

    Both ends move: an end is `…_at` + c · `…_delay`. For every c of its scenario's range the pieces
    that hold at c cover [r_0, H) without overlap, `NOTHING` until something takes effect, and they are
    listed in the order of time: of two pieces that hold at the same c, the one listed first is in force
    first. Pieces may be empty at some c.
    """

    SHARED: ClassVar[tuple[str, ...]] = ("references", "lowest", "highest")

    references: References
    lowest: Floats
    """The range of c, per scenario."""
    highest: Floats
    scenario: Ints
    decision: Ints
    source: Ints
    """The step the decision was given for, counted over all scenarios; `NOTHING` if for none."""
    begin_at: Floats
    begin_delay: Floats
    end_at: Floats
    end_delay: Floats
    low: Floats
    high: Floats
    component: Ints | None = None
    """Whose decision it is, where there are several: 0 for the first."""

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Pieces that end where they begin, at every scale."""
        return np.equal(self.begin_at, self.end_at) & np.equal(self.begin_delay, self.end_delay)

    def at(self, scale: Floats) -> Trajectory:
        """The trajectory at one scale per scenario, each within its range; no piece of it is empty."""
        c = scale[self.scenario]
        begin, end = self.begin_at + c * self.begin_delay, self.end_at + c * self.end_delay
        end = np.where((self.low <= c) & (c < self.high), end, begin)
        whose = self.scenario, self.decision, self.source
        return trajectory(self.references, scale, *whose, begin, end, self.component)

    @property
    def fixed_pace(self) -> bool:
        """Whether it holds for one pace only."""
        return np.array_equal(self.highest, np.nextafter(self.lowest, np.inf))

    def weights(self, bounds: Bounds) -> PaceWeights:
        """How paces weigh: within the bounds, or all weight on the one pace that it holds for."""
        if self.fixed_pace:
            return AtPace(self.lowest)
        return OverPaces(bounds, self.references.tick)

    # At one scale nothing moves.

    @property
    def scale(self) -> Floats:
        """c of each scenario."""
        return self.lowest

    @property
    def begin(self) -> Floats:
        return self.begin_at

    @property
    def end(self) -> Floats:
        return self.end_at


def trajectory(
    references: References,
    scale: Floats,
    scenario: Ints,
    decision: Ints,
    source: Ints,
    begin: Floats,
    end: Floats,
    component: Ints | None = None,
) -> Trajectory:
    """Pieces that do not move, and hold at one scale per scenario and nowhere else; no empty ones."""
    still, beyond = np.zeros(len(begin)), np.nextafter(scale, np.inf)
    ends, holds = (begin, still, end, still), (scale[scenario], beyond[scenario])
    found = Trajectory(
        references, scale, beyond, scenario, decision, source, *ends, *holds, component
    )
    return found.where(np.flatnonzero(begin < end))


def references_of(flat: JoinedTimelines) -> References:
    """The reference segments of timelines."""
    starts, counts = flat.segments
    return References(
        scenario=flat.scenario[starts],
        decision=np.maximum(flat.y[starts], NOTHING),
        begin=flat.r[starts],
        end=flat.step_end[starts + counts - 1],
        start=flat.r0,
        horizon=flat.H,
        tick=flat.tick,
        release=flat.r,
        step_segment=np.repeat(np.arange(len(starts)), counts),
        weight=flat.segment_weight[starts],
        values=flat.values,
    )


def by_step(refs: References) -> References:
    """The same with one segment for every step."""
    scenario = refs.scenario[refs.step_segment]
    return replace(
        refs,
        scenario=scenario,
        decision=refs.decision[refs.step_segment],
        begin=refs.release,
        end=in_force_until(refs.release, scenario, refs.horizon),
        step_segment=np.arange(len(scenario)),
        weight=refs.weight[refs.step_segment],
    )


def activations_of(flat: JoinedTimelines, arrivals: Floats) -> Activations:
    """The component's own answers, where the rule accepts them; what a policy let take effect as it did."""
    if flat.effects is not None:
        return flat.effects
    source = np.flatnonzero(accepted_at(flat, arrivals))
    return Activations(flat.scenario[source], source, flat.p[source], arrivals[source])


def trajectory_at(flat: JoinedTimelines, interval: float | None) -> Trajectory:
    """One component in step-anchored replay at an interval Δ: u_i = r_i + c·L_i, newest source wins.

    Without an interval, at the pace at which each scenario was recorded.

    >>> from streamdecisionbench import example_recording, example_suite
    >>> from streamdecisionbench.scoring.timelines import timelines
    >>> flat = JoinedTimelines(timelines(example_recording(), example_suite()))
    >>> found = trajectory_at(flat, 2.0)
    >>> found.decision.tolist(), found.begin.tolist()
    ([-1, 0, 0, 1, 1], [0.0, 0.4, 2.4, 4.8, 6.8])
    """
    scale = flat.scale(interval)
    return trajectory_from(flat, activations_of(flat, flat.arrivals(scale)), scale)


def trajectory_from(
    flat: JoinedTimelines, found: Activations, scale: Floats, component: Ints | None = None
) -> Trajectory:
    """What was in force, given what came into force: nothing at first, then one after another."""
    none = np.full(flat.count, NOTHING, dtype=np.int64)
    at_first = Activations(np.arange(flat.count), none, none, flat.r0)
    order = np.argsort(np.concatenate((at_first.scenario, found.scenario)), kind="stable")
    scenario, source, decision, begin = (
        np.concatenate(both)[order] for both in zip(at_first, found, strict=True)
    )
    end = in_force_until(begin, scenario, flat.H)
    if component is not None:
        component = np.concatenate((none, component))[order]
    return trajectory(references_of(flat), scale, scenario, decision, source, begin, end, component)


def trajectory_over(flat: JoinedTimelines, bounds: Bounds) -> Trajectory:
    """One component in replay at every interval within bounds; replayed once, however often asked."""
    flat.require_replay()
    if flat.swept is None or flat.swept[:2] != (bounds.low, bounds.high):
        low, high = flat.tick / bounds.high, flat.tick / bounds.low
        found = (
            trajectory_at(flat, None) if flat.fixed_pace else trajectory_between(flat, low, high)
        )
        flat.swept = bounds.low, bounds.high, found
    return cast(Trajectory, flat.swept[2])


def trajectory_between(flat: JoinedTimelines, low: Floats, high: Floats) -> Trajectory:
    """One component in replay for every c from `low` to `high` of its scenario."""
    runs = runs_of(flat, critical_scale(flat, high), low, high)
    return trajectory_from_runs(flat, runs, low, high, flat.r, flat.L, flat.p)


def trajectory_from_runs(
    flat: JoinedTimelines, runs: Runs, low: Floats, high: Floats, r: Floats, L: Floats, p: Ints
) -> Trajectory:
    """Runs as pieces. What runs number as sources are answers: those of the first component, for every
    step in turn, then those of the next; `r`, `L` and `p` are theirs."""
    scenario, holder, until, steps = runs.scenario, runs.source, runs.until, len(flat.r)
    # Of no answer, −1, the last place tells.
    said, delay = np.append(p, NOTHING), np.append(L, 0.0)
    later = None if len(r) == steps else (holder >= steps).astype(np.int64)
    return Trajectory(
        references_of(flat),
        low,
        high,
        scenario,
        said[holder],
        holder if later is None else holder - later * steps,
        begin_at=np.where(holder < 0, flat.r0[scenario], r[holder]),
        begin_delay=delay[holder],
        end_at=np.where(until < 0, flat.H[scenario], r[until]),
        end_delay=delay[until],
        low=runs.low,
        high=runs.high,
        component=later,
    )


def in_force_until(begin: Floats, scenario: Ints, horizon: Floats) -> Floats:
    """A decision is in force until the next one of its scenario takes effect, or the horizon."""
    if not begin.size:
        return begin
    last = np.append(scenario[1:] != scenario[:-1], True)
    return np.where(last, horizon[scenario], np.append(begin[1:], 0.0))
