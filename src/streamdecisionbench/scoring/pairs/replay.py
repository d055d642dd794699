"""What a pair has in force at one time scale, and what arbitration did on the way.

The rules ask about every arrival in turn; their outcome has a closed form. Let k be how many steps
a slow answer may lie behind the active source: 0 `freshest`, 1 `lag_one`, ∞ `late_override`. Then

    fast i is accepted  ⇔  it arrives before every newer fast answer and before every slow s ≥ i
    slow s is accepted  ⇔  it arrives before every newer slow answer and before every fast j > s + k

and both before H. (Active fast sources only grow, so a slow answer meets the newest fast source
delivered; a slow answer s ≥ i that comes first is always let in and keeps i out.) At equal times
the newer source, then the slow one, comes first: "before" is strict, and of two accepted answers
that arrive together the slow one is the older source and stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.in_force import REACH
from streamdecisionbench.scoring.classes import CLASSES, N_METRICS, Cumulative, classify
from streamdecisionbench.scoring.pairs.nominal_clock import Duo
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints
from streamdecisionbench.scoring.trajectory import in_force_until

__all__ = ["SLOW_SHARE", "Counts", "Path", "StaleLoss", "path_at", "shares_along"]

SLOW_SHARE = N_METRICS
"""Column of the slow share, after the single scorer's seven."""


@dataclass(frozen=True, slots=True)
class Counts:
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


def count(duo: Duo, path: Path) -> Counts:
    slow = path.node >= duo.n
    over, gap = _overrides(duo, path)
    return Counts(
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
