"""What a pair had in force when, as a trajectory: at one interval and over a range of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.pairs.crossings import cells, scales
from streamdecisionbench.scoring.pairs.nominal_clock import Duo, lane, on_stage, stage
from streamdecisionbench.scoring.pairs.replay import Path, path_at
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints, Timeline
from streamdecisionbench.scoring.trajectory import (
    NOTHING,
    References,
    Sweep,
    Trajectory,
    references_of,
)

__all__ = ["pair_sweep", "pair_trajectory", "trajectory_along"]


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
