"""Which steps the in-force score is earned at.

While step g's evidence holds, [r_g, r_{g+1}), some share of the time has the right decision in
force. Adding these up over steps gives the score exactly, at one interval and integrated:

    A_e(Δ) = Σ_g a_g(Δ),   S_e = Σ_g ∫ w(c) a_g(tick/c) dc.

Over a run (source i in force until j arrives, for a range of c) the time within step g is
[clip(u_j(c)) − clip(u_i(c))], clipped to the step: straight pieces in c, integrated in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.bounds import Bounds, check_interval
from streamdecisionbench.scoring.in_force_replay import accepted_at, find_runs
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints

__all__ = [
    "Stretches",
    "in_force_at",
    "shares_by_step",
    "shares_by_step_at",
    "shares_by_step_over",
    "stretches",
]


@dataclass(frozen=True, slots=True)
class Stretches:
    """Time in force, cut at every release: on [begin, end) one decision meets one reference."""

    step: Ints
    begin: Floats
    end: Floats
    right: NDArray[np.bool_]


def stretches(flat: Flat, scenario: Ints, begin: Floats, end: Floats, decision: Ints) -> Stretches:
    """Cuts decisions in force on [begin, end) at the releases they span."""
    first, last = flat.locate(begin, scenario), flat.locate(end, scenario)
    row, step = _spans(first, last)
    begins = np.maximum(begin[row], flat.r[step])
    ends = np.minimum(end[row], flat.step_end[step])
    keep = begins < ends
    row, step = row[keep], step[keep]
    return Stretches(step, begins[keep], ends[keep], decision[row] == flat.y[step])


def in_force_at(flat: Flat, interval: float) -> Stretches:
    """What one component has in force at an interval, on the recording clock."""
    check_interval(interval)
    u = flat.r + (flat.tick / interval)[flat.scenario] * flat.L
    source = np.flatnonzero(accepted_at(flat, u))
    scenario, begin = flat.scenario[source], u[source]
    if not source.size:
        empty = np.zeros(0)
        return Stretches(source, empty, empty, np.zeros(0, dtype=bool))
    newest = np.append(scenario[1:] != scenario[:-1], True)
    end = np.where(newest, flat.H[scenario], np.append(begin[1:], 0.0))
    return stretches(flat, scenario, begin, end, flat.p[source])


def shares_by_step(flat: Flat, found: Stretches) -> Floats:
    """a_g: the time right within each step as a share of its scenario's observed time."""
    seconds = np.where(found.right, found.end - found.begin, 0.0)
    sums = np.bincount(found.step, weights=seconds, minlength=len(flat.r))
    shares: Floats = sums.astype(np.float64) * flat.time_weight
    return shares


def shares_by_step_at(flat: Flat, interval: float) -> Floats:
    """In-force accuracy at an interval, step by step."""
    return shares_by_step(flat, in_force_at(flat, interval))


def shares_by_step_over(flat: Flat, bounds: Bounds) -> Floats:
    """The integrated score, step by step."""
    runs = find_runs(flat, flat.tick / bounds.high, flat.tick / bounds.low)
    held = runs.source >= 0
    scenario, source, until = runs.scenario[held], runs.source[held], runs.until[held]
    low, high = runs.low[held], runs.high[held]
    at_horizon = until < 0
    r_until = np.where(at_horizon, flat.H[scenario], flat.r[until])
    L_until = np.where(at_horizon, 0.0, flat.L[until])
    r_source, L_source = flat.r[source], flat.L[source]
    first = flat.locate(r_source + low * L_source, scenario)
    last = flat.locate(r_until + high * L_until, scenario)
    row, step = _spans(first, last)
    right = flat.p[source[row]] == flat.y[step]
    row, step = row[right], step[right]
    edges = flat.r[step], flat.step_end[step]
    log = bounds.weighting == "log"
    until_then = _passed(r_until[row], L_until[row], low[row], high[row], *edges, log=log)
    before = _passed(r_source[row], L_source[row], low[row], high[row], *edges, log=log)
    sums = np.bincount(step, weights=until_then - before, minlength=len(flat.r))
    if log:
        norm = np.full(len(flat.r), 1.0 / np.log(bounds.high / bounds.low))
    else:
        norm = (flat.tick / (bounds.high - bounds.low))[flat.scenario]
    shares: Floats = sums * norm * flat.time_weight
    return shares


def _passed(
    r: Floats, L: Floats, low: Floats, high: Floats, begin: Floats, end: Floats, *, log: bool
) -> Floats:
    """∫ over [low, high] of clip(r + c·L, begin, end) − begin, dc/c (log) or dc/c² (linear)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        enters = np.where(L > 0, (begin - r) / L, np.where(r > begin, -np.inf, np.inf))
        leaves = np.where(L > 0, (end - r) / L, np.where(r >= end, -np.inf, np.inf))
    enters, leaves = np.clip(enters, low, high), np.clip(leaves, low, high)
    ratio = np.log(leaves / enters)
    if log:
        inside = (r - begin) * ratio + L * (leaves - enters)
        beyond = np.log(high / leaves)
    else:
        inside = (r - begin) * (1 / enters - 1 / leaves) + L * ratio
        beyond = 1 / leaves - 1 / high
    total: Floats = inside + (end - begin) * beyond
    return total


def _spans(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Every (row, step) with first[row] ≤ step ≤ last[row]."""
    size = np.maximum(last - first + 1, 0)
    row = np.repeat(np.arange(len(size)), size)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
    return row, first[row] + nth
