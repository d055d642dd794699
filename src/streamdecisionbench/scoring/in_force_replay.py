"""Which answers take effect, at one time scale and over a whole range of them.

With every delay scaled by c, u_i(c) = r_i + c·L_i. A newer arrival at or before an older one
supersedes it, and arrivals at or after H are out, so answer i is accepted exactly when c < c*_i with

    c*_i = min( (H − r_i)/L_i ,  min over j > i with L_j < L_i of (r_j − r_i)/(L_i − L_j) ).

The accepted set only shrinks as c grows. At any c the decision of source i is in force from u_i to
u_j, j the next newer source with c < c*_j. A *run* is such a pair (i, j) with the range of c over
which j follows i; there are fewer than 2n of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.timeline import Flat, Floats, Ints

__all__ = ["Runs", "accepted_at", "critical_scale", "find_runs", "runs_of"]

_SIDE_BY_SIDE = 64
"""How many newer answers are compared one by one before a scenario's lines are swept instead."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Source `i` in force until the arrival of `j`, for c in [low, high).

    `source` is a step index, or −1 for "no decision yet"; `until` is a step index, or −1 for the
    horizon. The scenario is that of the run.
    """

    scenario: Ints
    source: Ints
    until: Ints
    low: Floats
    high: Floats

    def twice(self) -> Runs:
        """Every run two times over, one after the other: once for its end, once for its beginning."""
        return Runs(
            np.tile(self.scenario, 2),
            np.tile(self.source, 2),
            np.tile(self.until, 2),
            np.tile(self.low, 2),
            np.tile(self.high, 2),
        )


def accepted_at(flat: Flat, u: Floats) -> NDArray[np.bool_]:
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


def critical_scale(flat: Flat, c_max: Floats) -> Floats:
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
        near = gap < np.minimum(c[active], limit[active]) * L[active]
        active, gap = active[near], gap[near]
        drop = L[active] - L[active + distance]
        with np.errstate(divide="ignore"):
            quotient = np.where(drop > 0, gap / np.where(drop > 0, drop, 1.0), np.inf)
        c[active] = np.minimum(c[active], quotient)
        distance += 1
    for scenario in np.unique(flat.scenario[active]).tolist():
        _lower_envelope(flat, int(scenario), c)
    return c


def _lower_envelope(flat: Flat, scenario: int, c: Floats) -> None:
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


def find_runs(flat: Flat, c_low: Floats, c_high: Floats) -> Runs:
    """All runs over [c_low, c_high] of each scenario.

    Sources i < j follow each other at scale c exactly when every source between them is gone
    (c ≥ max of their c*) and both are still there (c < min of theirs). So j is the first source
    after i that lasts at least as long as i, or i is the last before j that lasts longer than j.
    """
    return runs_of(flat, critical_scale(flat, c_high), c_low, c_high)


def runs_of(flat: Flat, critical: Floats, c_low: Floats, c_high: Floats) -> Runs:
    """The runs of answers that are accepted exactly below the given scales, whatever set these."""
    critical = np.where(critical >= c_high[flat.scenario], np.inf, critical)
    # Nodes: every scenario's steps between a start and an end sentinel that always last.
    node_of_step = np.arange(len(flat.r)) + 2 * flat.scenario + 1
    total = len(flat.r) + 2 * flat.count
    lasts = np.full(total, np.inf)
    lasts[node_of_step] = critical
    step_of_node = np.full(total, -1, dtype=np.int64)
    step_of_node[node_of_step] = np.arange(len(flat.r))
    scenario_of_node = np.repeat(np.arange(flat.count), flat.n + 2)
    is_end, is_start = np.zeros((2, total), dtype=bool)
    is_end[flat.last + 2 * np.arange(flat.count) + 2] = True
    is_start[flat.first + 2 * np.arange(flat.count)] = True

    heads = np.flatnonzero(~is_end)
    follower, gone_by_then = _first_lasting(lasts, heads, step=1, strict=False)
    tails = np.flatnonzero(np.isfinite(lasts) & ~is_start)
    leader, gone_before = _first_lasting(lasts, tails, step=-1, strict=True)

    i = np.concatenate((heads, leader))
    j = np.concatenate((follower, tails))
    scenario = scenario_of_node[i]
    low = np.maximum(np.concatenate((gone_by_then, gone_before)), c_low[scenario])
    high = np.minimum(np.minimum(lasts[i], lasts[j]), c_high[scenario])
    keep = low < high
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
