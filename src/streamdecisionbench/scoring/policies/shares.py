"""What a replay is worth: the six classes of every row as α + β·c, and what was counted on the way.

A decision of source i is in force from its arrival until the next one takes effect, or until it
expires at r_i + c·after; from then on the fallback is. A fallback *decision* stands in its source's
place: its time is current while that source is, and right if it is what was right for that source.
Falling back to none is `no_decision`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from streamdecisionbench.scoring.classes import CLASSES, N_METRICS, classify
from streamdecisionbench.scoring.policies.acceptance import Taken, take
from streamdecisionbench.scoring.policies.requests import Flights, fly
from streamdecisionbench.scoring.policies.scene import NO_FALLBACK, Rows, Scene
from streamdecisionbench.scoring.policies.window import Window
from streamdecisionbench.scoring.timeline import Floats, Ints

__all__ = ["Held", "Line", "Lines", "Replay", "correct_share", "held_of", "replay", "shares_of"]

_NONE = CLASSES.index("no_decision")


@dataclass(frozen=True, slots=True)
class Held:
    """Decisions in force, row by row in order: from `begin` to `yields` its own, to `end` the fallback.

    `decision` is what was answered, `instead` the fallback's id or −1.
    """

    row: Ints
    component: Ints
    source: Ints
    decision: Ints
    instead: Ints
    begin: Floats
    yields: Floats
    end: Floats


@dataclass(frozen=True, slots=True)
class Line:
    """Moments a + b·c, and where they are at the scale of their row."""

    a: Floats
    b: Floats
    time: Floats


@dataclass(frozen=True, slots=True)
class Lines:
    """How the three moments of `Held` move with the scale."""

    begin: Line
    yields: Line
    end: Line


@dataclass(frozen=True, slots=True)
class Replay:
    """Rows replayed. A share of row r is `alpha[r]` + `beta[r]`·c for c in (low[r], high[r])."""

    alpha: Floats
    beta: Floats
    low: Floats
    high: Floats
    flights: Flights
    taken: Taken
    held: Held
    lines: Lines


def replay(scene: Scene, rows: Rows, *, ranges: bool = False) -> Replay:
    """Requests, acceptance and classes of every row; with `ranges` also for which c they hold."""
    window = Window(rows.c) if ranges else None
    flights = fly(scene, rows, window)
    taken = take(scene, rows, flights, window)
    held, lines = _hold(scene, rows, taken, window)
    alpha, beta = _add_up(scene, rows, held, lines, window)
    low = window.low if window else rows.c
    high = window.high if window else rows.c
    return Replay(alpha, beta, low, high, flights, taken, held, lines)


def shares_of(scene: Scene, rows: Rows, taken: Taken) -> Floats:
    """The six classes and segment-balanced accuracy of given acceptances, whoever decided on them."""
    held, lines = _hold(scene, rows, taken, None)
    alpha, beta = _add_up(scene, rows, held, lines, None)
    return alpha + beta * rows.c[:, None]


def held_of(scene: Scene, rows: Rows) -> tuple[Held, Flights]:
    """What was in force when, and nothing about what it was worth."""
    flights = fly(scene, rows)
    held, _ = _hold(scene, rows, take(scene, rows, flights), None)
    return held, flights


def correct_share(scene: Scene, rows: Rows) -> tuple[Floats, Flights]:
    """In-force accuracy of every row and nothing else: what a search asks for thousands of times.

    Only where expired decisions leave none behind: a fallback decision could be right, too.
    """
    if (scene.fallback != NO_FALLBACK).any():
        raise ValueError("a fallback decision can be right; use replay")
    held, flights = held_of(scene, rows)
    s, p = rows.scenario[held.row], scene.known(held.decision)
    begin, end = (_correct_until(scene, s, p, time) for time in (held.begin, held.yields))
    share = np.bincount(held.row, weights=end - begin, minlength=len(rows)).astype(np.float64)
    return share, flights


def _correct_until(scene: Scene, s: Ints, p: Ints, time: Floats) -> Floats:
    """F_p(t): the share of observed time so far whose reference is p."""
    step = _located(scene, time, s)
    here = np.where(scene.reference[s, step] == p, scene.time_weight[s, step], 0.0)
    so_far: Floats = scene.time_before[s, p, step] + (time - scene.release[s, step]) * here
    return so_far


def _hold(scene: Scene, rows: Rows, taken: Taken, window: Window | None) -> tuple[Held, Lines]:
    row, s = taken.row, rows.scenario[taken.row]
    last = np.append(row[1:] != row[:-1], True)[: len(row)]
    begin = Line(taken.a, taken.b, taken.time)
    horizon = scene.horizon[s]
    end = Line(
        *(
            np.where(last, stop, np.append(x[1:], 0.0)[: len(x)])
            for stop, x in ((horizon, begin.a), (0.0, begin.b), (horizon, begin.time))
        )
    )
    after = scene.after[rows.variant[row]]
    release = scene.release[s, taken.source]
    expiry = release + rows.c[row] * after
    if window is not None:
        window.meet(row, release, after, begin.a, begin.b, np.isfinite(after))
        window.meet(row, release, after, end.a, end.b, np.isfinite(after))
    at_once, in_time = expiry <= begin.time, expiry < end.time
    finite = np.where(np.isfinite(after), after, 0.0)
    yields = Line(
        *(
            np.where(at_once, one, np.where(in_time, own, other))
            for one, own, other in (
                (begin.a, release, end.a),
                (begin.b, finite, end.b),
                (begin.time, expiry, end.time),
            )
        )
    )
    held = Held(
        row,
        taken.component,
        taken.source,
        scene.predicted[taken.component, s, taken.source],
        scene.fallback[s],
        begin.time,
        yields.time,
        end.time,
    )
    return held, Lines(begin, yields, end)


def _add_up(
    scene: Scene, rows: Rows, held: Held, lines: Lines, window: Window | None
) -> tuple[Floats, Floats]:
    count = len(rows)
    alpha, beta = np.zeros((count, N_METRICS)), np.zeros((count, N_METRICS))
    time, segment = scene.time_before, scene.segment_before
    row, s = held.row, rows.scenario[held.row]
    weight = scene.time_weight[s, 0]
    y = scene.reference[s, held.source]
    # Before the first decision there is none.
    first = np.append(True, row[1:] != row[:-1])[: len(row)]
    start = scene.release[rows.scenario, 0]
    per_row = scene.time_weight[rows.scenario, 0]
    until_a, until_b = scene.horizon[rows.scenario].copy(), np.zeros(count)
    until_a[row[first]], until_b[row[first]] = lines.begin.a[first], lines.begin.b[first]
    alpha[:, _NONE], beta[:, _NONE] = (until_a - start) * per_row, until_b * per_row

    spans = [(lines.begin, lines.yields, held.decision, np.ones(len(row), dtype=bool))]
    if (held.yields < held.end).any():
        spans.append((lines.yields, lines.end, held.instead, held.instead != NO_FALLBACK))
    steps = {id(line): _steps(scene, line, row, s, window) for span in spans for line in span[:2]}
    for enters, leaves, decision, some in spans:
        p = scene.known(decision)
        ends = enters, steps[id(enters)], leaves, steps[id(leaves)]
        current = _between(scene, time, scene.time_weight, s, y, *ends)
        correct = _between(scene, time, scene.time_weight, s, p, *ends)
        balanced = _between(scene, segment, scene.segment_weight, s, p, *ends)
        totals = (leaves.a - enters.a) * weight, (leaves.b - enters.b) * weight
        for part, out in enumerate((alpha, beta)):
            columns = classify(np.equal(p, y), current[part], correct[part], totals[part])
            columns = [np.where(some, x, 0.0) for x in (*columns, balanced[part])]
            columns[_NONE] = np.where(some, 0.0, totals[part])
            for metric, values in enumerate(columns):
                out[:, metric] += np.bincount(row, weights=values, minlength=count)
    return alpha, beta


def _between(
    scene: Scene,
    before: Floats,
    weight: Floats,
    s: Ints,
    decision: Ints,
    enters: Line,
    at: Ints,
    leaves: Line,
    to: Ints,
) -> tuple[Floats, Floats]:
    """F_d(leaves) − F_d(enters) as α and β: how much weight in between had reference d."""
    here = np.where(scene.reference[s, at] == decision, weight[s, at], 0.0)
    there = np.where(scene.reference[s, to] == decision, weight[s, to], 0.0)
    until = before[s, decision, to] + (leaves.a - scene.release[s, to]) * there
    since = before[s, decision, at] + (enters.a - scene.release[s, at]) * here
    return until - since, leaves.b * there - enters.b * here


def _steps(scene: Scene, line: Line, row: Ints, s: Ints, window: Window | None) -> Ints:
    """The step whose evidence holds at each time of a line."""
    step = _located(scene, line.time, s)
    if window is not None:
        window.meet(row, line.a, line.b, scene.edges[s, step], 0.0)
        window.meet(row, line.a, line.b, scene.edges[s, step + 1], 0.0)
    return step


def _located(scene: Scene, time: Floats, s: Ints) -> Ints:
    keys, span = scene.keys
    found = np.searchsorted(keys, time + span * s, side="right") - 1 - s * scene.n
    step: Ints = np.clip(found, 0, scene.n - 1)
    return step
