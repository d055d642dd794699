"""A pair's shares over a range of intervals: closed forms on cells, as for one component.

At scale c the time in force of every class is a sum over boundaries b (acceptances and the horizon)

    Σ_b  F_holder(b)(u_b(c)) − F_b(u_b(c)),

F_a(t) being the share of [r_0, t) that falls into the class if a were in force: the holder's time
ends where b's begins. Each term is piecewise α + β·c with knots where u_b(c) passes a release, and
an acceptance that comes or goes as c grows is an end of its cells: the jumps of the pace curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.classes import CLASSES, N_METRICS, classify
from streamdecisionbench.scoring.integrals import Pieces
from streamdecisionbench.scoring.pairs.crossings import Cells, Scales
from streamdecisionbench.scoring.pairs.nominal_clock import Duo, Stage
from streamdecisionbench.scoring.pairs.replay import SLOW_SHARE
from streamdecisionbench.scoring.timeline import Floats, Ints

__all__ = ["Terms", "integrate_terms", "pieces_of", "terms"]

_CURRENT, _CORRECT, _TOTAL, _SEGMENT = range(4)
_WAITING = 4
"""Kinds of holder: wrong fast, right fast, wrong slow, right slow, nothing yet."""


@dataclass(frozen=True, slots=True)
class Terms:
    """On [low, high] a term adds `alpha` + `beta`·c of four measures to what its holder is worth.

    The measures: time its source is current, time its decision is correct, all time, and correct
    time weighted for segment balance.
    """

    scenario: Ints
    kind: Ints
    low: Floats
    high: Floats
    alpha: tuple[Floats, Floats, Floats, Floats]
    beta: tuple[Floats, Floats, Floats, Floats]


def terms(duo: Duo, cells: Cells, sign: float = 1.0) -> Terms:
    """sign · F_holder(u_until(c)) over each cell, split where u_until(c) passes a release."""
    flat, stage = duo.stage.flat, duo.stage
    at_horizon = cells.until < 0
    r = np.where(at_horizon, flat.H[cells.scenario], duo.r[cells.until])
    L = np.where(at_horizon, 0.0, duo.latency[cells.until])
    first = _step(stage, r + cells.low * L, cells.scenario)
    last = np.maximum(_step(stage, r + cells.high * L, cells.scenario), first)
    # Before the first acceptance only time passes, whatever the reference.
    count = np.where(cells.holder < 0, 1, last - first + 1)
    row = np.repeat(np.arange(len(count)), count)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    step = first[row] + nth
    r, L, low, high = r[row], L[row], cells.low[row], cells.high[row]
    with np.errstate(divide="ignore", invalid="ignore"):
        enters = np.where(nth > 0, (flat.r[step] - r) / L, low)
        leaves = np.where(nth < count[row] - 1, (flat.step_end[step] - r) / L, high)
    enters, leaves = np.clip(enters, low, high), np.clip(leaves, low, high)

    holder, scenario = cells.holder[row], cells.scenario[row]
    waiting = holder < 0
    never = stage.never[step]
    y, p = (np.where(waiting, never, decision[holder]) for decision in (duo.y, duo.p))
    kind = np.where(waiting, _WAITING, 2 * (holder >= duo.n) + duo.right[holder])
    weight, balance = flat.time_weight[step] * sign, flat.segment_weight[step] * sign
    since = r - flat.r[step]
    here_y = np.where(flat.y[step] == y, weight, 0.0)
    here_p = flat.y[step] == p
    here_s, here_p = np.where(here_p, balance, 0.0), np.where(here_p, weight, 0.0)
    before_y = sign * stage.time.before(y, step)
    position = stage.time.position(p, step)
    before_p = sign * stage.time.before(p, step, position)
    before_s = sign * stage.segment.before(p, step, position)
    return Terms(
        scenario,
        kind,
        enters,
        leaves,
        alpha=(
            before_y + since * here_y,
            before_p + since * here_p,
            r * weight,
            before_s + since * here_s,
        ),
        beta=(L * here_y, L * here_p, L * weight, L * here_s),
    )


def own(duo: Duo, slow: bool, accepted_below: Floats, at: Scales) -> Cells:
    """Each accepted answer at its own arrival: where its time in force begins."""
    scenario = duo.stage.flat.scenario
    step = np.flatnonzero(at.low[scenario] < np.minimum(accepted_below, at.high[scenario]))
    node = step + duo.n if slow else step
    scenario = scenario[step]
    return Cells(
        scenario,
        node,
        node,
        np.full(len(node), -1),
        at.low[scenario],
        np.minimum(accepted_below[step], at.high[scenario]),
    )


def integrate_terms(stage: Stage, parts: Sequence[Terms], bounds: Bounds) -> Floats:
    """Six classes, segment-balanced accuracy and slow share per scenario, over the bounds."""
    flat = stage.flat
    sums = np.zeros((4, flat.count * 5))
    for part in parts:
        on_alpha, on_beta = _areas(part.low, part.high, bounds)
        key = part.scenario * 5 + part.kind
        for measure in range(4):
            values = part.alpha[measure] * on_alpha + part.beta[measure] * on_beta
            sums[measure] += np.bincount(key, weights=values, minlength=flat.count * 5)
    sums = sums.reshape(4, flat.count, 5) * _norm(stage, bounds)[:, None]
    current, correct, total, segment = sums
    out = np.zeros((flat.count, SLOW_SHARE + 1))
    for kind in range(_WAITING):
        right = np.full(flat.count, kind % 2 == 1)
        shares = classify(right, current[:, kind], correct[:, kind], total[:, kind])
        out[:, : len(CLASSES)] += np.stack(shares, axis=1)
    out[:, CLASSES.index("no_decision")] = total[:, _WAITING]
    out[:, len(CLASSES)] = segment.sum(axis=1)
    out[:, SLOW_SHARE] = total[:, 2] + total[:, 3]
    return out


def integrate_in_force(stage: Stage, parts: Sequence[Terms], ranges: Sequence[Bounds]) -> Floats:
    """In-force accuracy per scenario (rows) over several ranges of intervals (columns)."""
    flat = stage.flat
    out = np.zeros((flat.count, len(ranges)))
    for column, bounds in enumerate(ranges):
        for part in parts:
            tick = flat.tick[part.scenario]
            low = np.maximum(part.low, tick / bounds.high)
            high = np.minimum(part.high, tick / bounds.low)
            inside = low < high
            on_alpha, on_beta = _areas(low[inside], high[inside], bounds)
            values = part.alpha[_CORRECT][inside] * on_alpha + part.beta[_CORRECT][inside] * on_beta
            out[:, column] += flat.sum_by_scenario(values, part.scenario[inside])
        out[:, column] *= _norm(stage, bounds)
    return out


def pieces_of(parts: Sequence[Terms]) -> Pieces:
    """The terms as pieces of the six classes, segment-balanced accuracy and slow share."""

    def columns(part: Terms, measures: tuple[Floats, ...]) -> Floats:
        waiting, right = part.kind == _WAITING, part.kind % 2 == 1
        current, correct, total, segment = measures
        out = np.zeros((len(part.low), SLOW_SHARE + 1))
        out[:, : len(CLASSES)] = np.stack(classify(right, current, correct, total), axis=1)
        out[waiting] = 0.0
        out[waiting, CLASSES.index("no_decision")] = total[waiting]
        out[:, N_METRICS - 1] = segment
        slow: NDArray[np.bool_] = (part.kind == 2) | (part.kind == 3)
        out[:, SLOW_SHARE] = np.where(slow, total, 0.0)
        return out

    return Pieces(
        np.concatenate([part.scenario for part in parts]),
        np.concatenate([part.low for part in parts]),
        np.concatenate([part.high for part in parts]),
        np.concatenate([columns(part, part.alpha) for part in parts]),
        np.concatenate([columns(part, part.beta) for part in parts]),
    )


def _step(stage: Stage, time: Floats, scenario: Ints) -> Ints:
    """The step whose evidence holds at a time: where releases are i · tick, a division finds it."""
    flat = stage.flat
    if not stage.regular:
        return flat.locate(time, scenario)
    step = (time / flat.tick[scenario]).astype(np.int64)
    found: Ints = flat.first[scenario] + np.clip(step, 0, flat.n[scenario] - 1)
    return found


def _areas(low: Floats, high: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
    """∫ dΔ of 1 and of c, with the weighting's measure, up to `_norm`."""
    ratio = np.log(high / low)
    if bounds.weighting == "log":
        return ratio, high - low
    return (high - low) / (low * high), ratio


def _norm(stage: Stage, bounds: Bounds) -> Floats:
    if bounds.weighting == "log":
        return np.full(stage.flat.count, 1.0 / np.log(bounds.high / bounds.low))
    norm: Floats = stage.flat.tick / (bounds.high - bounds.low)
    return norm
