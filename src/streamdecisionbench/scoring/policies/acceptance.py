"""Which answers take effect: gate, then debounce, then the in-force rule, arrival by arrival.

With one component, or under `freshest`, and without a debounce, the outcome has a closed form. Number
the answers i·K + k, later components after earlier ones for one step: an answer takes effect exactly
if it passes the gate, arrives before H and before every answer with a higher number that passes the
gate. Otherwise arrivals are taken one by one, all rows at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.in_force import REACH
from streamdecisionbench.scoring.policies.requests import Flights
from streamdecisionbench.scoring.policies.scene import Rows, Scene
from streamdecisionbench.scoring.policies.window import Window
from streamdecisionbench.scoring.timeline import Floats, Ints

__all__ = ["Taken", "take"]

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Taken:
    """Answers that took effect, row by row in the order they did; `a` + `b`·c is when."""

    row: Ints
    component: Ints
    source: Ints
    a: Floats
    b: Floats
    time: Floats
    held_back: Ints
    """Per row: sure answers that a debounce kept from taking effect."""


@dataclass(frozen=True, slots=True)
class _Arrivals:
    """Answers that pass the gate, as [row, i·K + k]; infinite where there is none."""

    a: Floats
    b: Floats
    time: Floats


def take(scene: Scene, rows: Rows, flights: Flights, window: Window | None = None) -> Taken:
    """What takes effect in every row."""
    sure = scene.sure[rows.variant, :, rows.scenario]
    found = _Arrivals(
        _numbered(flights.a),
        _numbered(flights.b),
        _numbered(np.where(sure, flights.arrival, np.inf)),
    )
    agree = scene.policy.debounce.agree
    if agree == 1 and (scene.components == 1 or scene.policy.rule == "freshest"):
        return _closed_form(scene, rows, found, window)
    return _one_by_one(scene, rows, found, window, agree)


def _closed_form(scene: Scene, rows: Rows, found: _Arrivals, window: Window | None) -> Taken:
    time = found.time
    count, width = time.shape
    horizon = scene.horizon[rows.scenario][:, None]
    backward = time[:, ::-1]
    earliest = np.minimum.accumulate(backward, axis=1)
    before = np.concatenate((np.full((count, 1), np.inf), earliest[:, :-1]), axis=1)[:, ::-1]
    taken = (time < before) & (time < horizon)
    if window is not None:
        # Which later answer is the earliest, step by step from the end.
        rank = np.where(backward <= earliest, np.arange(width), 0)
        which = width - 1 - np.maximum.accumulate(rank, axis=1)[:, ::-1]
        rival = np.concatenate((which[:, 1:], np.full((count, 1), width - 1)), axis=1)
        every = np.arange(count)[:, None]
        compared = np.isfinite(time) & np.isfinite(before)
        window.meet(None, found.a, found.b, found.a[every, rival], found.b[every, rival], compared)
        window.meet(None, found.a, found.b, horizon, 0.0, np.isfinite(time))
    row, number = np.nonzero(taken)
    return _taken(scene, found, row, number, np.zeros(count, dtype=np.int64))


def _one_by_one(
    scene: Scene, rows: Rows, found: _Arrivals, window: Window | None, agree: int
) -> Taken:
    count, width = found.time.shape
    K, every = scene.components, np.arange(count)
    horizon = scene.horizon[rows.scenario]
    # Highest number first, so that a stable sort leaves equal times in the order of the protocol.
    order = width - 1 - np.argsort(found.time[:, ::-1], axis=1, kind="stable")
    time = np.take_along_axis(found.time, order, axis=1)
    if window is not None:
        a, b = (np.take_along_axis(x, order, axis=1) for x in (found.a, found.b))
        both = np.isfinite(time[:, 1:])
        window.meet(None, a[:, :-1], b[:, :-1], a[:, 1:], b[:, 1:], both)
        window.meet(None, a, b, horizon[:, None], 0.0, np.isfinite(time))
    reach = REACH[scene.policy.rule]
    delivered, said = np.full((count, K), -1), np.full((count, K), -1)
    streak = np.zeros((count, K), dtype=np.int64)
    active, active_of = np.full(count, -1), np.full(count, -1)
    held_back = np.zeros(count, dtype=np.int64)
    taken = np.zeros((count, width), dtype=bool)
    for nth in range(width):
        arrived = time[:, nth] < horizon
        if not arrived.any():
            break
        i, k = np.divmod(order[:, nth], K)
        newer = arrived & (i > delivered[every, k])
        delivered[every, k] = np.where(newer, i, delivered[every, k])
        ready = newer
        if agree > 1:
            decision = scene.predicted[k, rows.scenario, i]
            again = (decision == said[every, k]) & (delivered[every, k] >= 0)
            length = np.where(again, streak[every, k] + 1, 1)
            streak[every, k] = np.where(newer, length, streak[every, k])
            said[every, k] = np.where(newer, decision, said[every, k])
            ready = newer & (streak[every, k] >= agree)
            held_back += newer & ~ready
        behind = np.ones(count, dtype=bool) if reach is None else i >= active - reach
        admitted = (active < 0) | np.where(k > active_of, behind, i > active)
        taken[:, nth] = ready & admitted
        active, active_of = np.where(taken[:, nth], (i, k), (active, active_of))
    row, place = np.nonzero(taken)
    return _taken(scene, found, row, order[row, place], held_back)


def _taken(scene: Scene, found: _Arrivals, row: Ints, number: Ints, held_back: Ints) -> Taken:
    source, component = np.divmod(number, scene.components)
    a, b, time = (x[row, number] for x in (found.a, found.b, found.time))
    return Taken(row, component, source, a, b, time, held_back)


def _numbered(values: Floats) -> Floats:
    """[row, component, step] as [row, i·K + k]."""
    return np.swapaxes(values, 1, 2).reshape(len(values), -1)
