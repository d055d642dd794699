"""What was in force when: the one form in which anything that applies decisions can be judged.

A single recording, a pair, a policy and a log all end in the same thing, per scenario a sequence of
*pieces*: a decision, the step it was given for, and from when to when it was in force. Beside it
stand the reference *segments*: which decision was right from when to when. Times are those of the
recording clock, on which delays are scaled by c = tick/Δ; t/c are seconds at the interval Δ.

A `Trajectory` holds for one c per scenario, a `Sweep` for a whole range of them: there both ends of
a piece move with c.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.in_force_replay import accepted_at, find_runs
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints

__all__ = [
    "NOTHING",
    "References",
    "Sweep",
    "Trajectory",
    "in_force_until",
    "references_of",
    "sweep_of",
    "trajectory_at",
    "trajectory_of",
]

NOTHING = -1
"""The decision where nothing was decided, the source where no state was, the reference not known."""


@dataclass(frozen=True, slots=True)
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
    step_segment: Ints
    """The segment of every step, counted over all scenarios."""
    values: Sequence[Mapping[str, str]] = ()
    """What each decision id says, field by field; empty where only ids are known."""

    @property
    def count(self) -> int:
        """How many scenarios there are."""
        return len(self.start)

    @property
    def observed(self) -> Floats:
        """T = H − r_0 on the recording clock."""
        return self.horizon - self.start


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Pieces at one scale per scenario, one scenario after another, in time order without gaps.

    The first piece of a scenario begins at r_0 (with `NOTHING` until something takes effect), the
    last one ends at the horizon. No piece is empty.
    """

    references: References
    scale: Floats
    """c of each scenario."""
    scenario: Ints
    decision: Ints
    source: Ints
    """The step the decision was given for, counted over all scenarios; `NOTHING` if for none."""
    begin: Floats
    end: Floats


@dataclass(frozen=True, slots=True)
class Sweep:
    """Pieces over a range of scales: in force from `begin` to `end` for c in [low, high).

    Both ends move: an end is `…_at` + c · `…_delay`. For every c of its scenario's range the pieces that hold at c cover
    [r_0, H) without overlap, and they are listed in the order of time: of two pieces that hold at
    the same c, the one listed first is in force first. Pieces may be empty at some c.
    """

    references: References
    lowest: Floats
    """The range of c, per scenario."""
    highest: Floats
    scenario: Ints
    decision: Ints
    source: Ints
    begin_at: Floats
    begin_delay: Floats
    end_at: Floats
    end_delay: Floats
    low: Floats
    high: Floats

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Pieces that end where they begin, at every scale."""
        empty: NDArray[np.bool_] = (self.begin_at == self.end_at) & (
            self.begin_delay == self.end_delay
        )
        return empty

    def at(self, scale: Floats) -> Trajectory:
        """The trajectory at one scale per scenario, each within its range."""
        c = scale[self.scenario]
        begin, end = self.begin_at + c * self.begin_delay, self.end_at + c * self.end_delay
        keep = np.flatnonzero((self.low <= c) & (c < self.high) & (begin < end))
        return Trajectory(
            self.references,
            scale,
            self.scenario[keep],
            self.decision[keep],
            self.source[keep],
            begin[keep],
            end[keep],
        )


def references_of(flat: Flat) -> References:
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
        step_segment=np.repeat(np.arange(len(starts)), counts),
        values=flat.values,
    )


def trajectory_at(flat: Flat, interval: float | None) -> Trajectory:
    """One component in step-anchored replay at an interval Δ: u_i = r_i + c·L_i, newest source wins.

    Without an interval, at the pace at which each scenario was recorded.

    >>> from streamdecisionbench import example_recording, example_suite
    >>> from streamdecisionbench.scoring.timeline import timelines
    >>> flat = Flat(timelines(example_recording(), example_suite()))
    >>> found = trajectory_at(flat, 2.0)
    >>> found.decision.tolist(), found.begin.tolist()
    ([-1, 0, 0, 1, 1], [0.0, 0.4, 2.4, 4.8, 6.8])
    """
    scale = np.ones(flat.count) if interval is None else flat.tick / interval
    u = flat.r + scale[flat.scenario] * flat.L
    return trajectory_of(flat, u, accepted_at(flat, u), scale)


def trajectory_of(
    flat: Flat, u: Floats, accepted: NDArray[np.bool_], scale: Floats | None = None
) -> Trajectory:
    """What given arrivals had in force, `accepted` being those that took effect, in step order."""
    source = np.flatnonzero(accepted)
    scenario = np.concatenate((np.arange(flat.count), flat.scenario[source]))
    order = np.argsort(scenario, kind="stable")
    scenario = scenario[order]
    none = np.full(flat.count, NOTHING, dtype=np.int64)
    begin = np.concatenate((flat.r0, u[source]))[order]
    end = in_force_until(begin, scenario, flat.H)
    keep = begin < end
    return Trajectory(
        references_of(flat),
        np.ones(flat.count) if scale is None else scale,
        scenario[keep],
        np.concatenate((none, flat.p[source]))[order][keep],
        np.concatenate((none, source))[order][keep],
        begin[keep],
        end[keep],
    )


def sweep_of(flat: Flat, low: Floats, high: Floats) -> Sweep:
    """One component in replay for every c from `low` to `high` of its scenario."""
    runs = find_runs(flat, low, high)
    order = np.lexsort((runs.source, runs.scenario))
    scenario, source, until = runs.scenario[order], runs.source[order], runs.until[order]
    waiting, at_horizon = source < 0, until < 0
    return Sweep(
        references_of(flat),
        low,
        high,
        scenario,
        np.where(waiting, NOTHING, flat.p[source]),
        source,
        begin_at=np.where(waiting, flat.r0[scenario], flat.r[source]),
        begin_delay=np.where(waiting, 0.0, flat.L[source]),
        end_at=np.where(at_horizon, flat.H[scenario], flat.r[until]),
        end_delay=np.where(at_horizon, 0.0, flat.L[until]),
        low=runs.low[order],
        high=runs.high[order],
    )


def in_force_until(begin: Floats, scenario: Ints, horizon: Floats) -> Floats:
    """A decision is in force until the next one of its scenario takes effect, or the horizon."""
    if not begin.size:
        return begin
    last = np.append(scenario[1:] != scenario[:-1], True)
    return np.where(last, horizon[scenario], np.append(begin[1:], 0.0))
