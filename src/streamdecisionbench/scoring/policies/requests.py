"""Which requests a policy sends, and when their answers arrive, on the re-paced clock.

Every time is a line a + b·c: a release, and the seconds that have passed since, multiplied by the
scale. At one instant answers arrive first, then states are published, then requests are sent. An
answer keeps its recorded latency from whenever its request is sent; nothing is sent at or after H.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.policies.scene import Rows, Scene
from streamdecisionbench.scoring.policies.window import Window
from streamdecisionbench.scoring.timeline import Floats, Ints

__all__ = ["Flights", "MissingAnswersError", "fly"]

Bools = NDArray[np.bool_]

_SLACK_S = 0.05
"""How much later than live a replay may give a request up: releases are not punctual to the second."""


class MissingAnswersError(InputError):
    """The recording was made under a policy that did not ask for an answer this one needs."""


@dataclass(frozen=True, slots=True)
class Flights:
    """Requests and answers of every row: [row, component, step].

    `arrival` = `a` + `b`·c, infinite where no answer comes: not sent, or cancelled.
    """

    a: Floats
    b: Floats
    arrival: Floats
    sent: Bools
    cancelled: Bools


@dataclass(frozen=True, slots=True)
class _Asks:
    """When a component is asked about each step: lines, and their values (infinite: never)."""

    a: Floats
    b: Floats
    time: Floats


def fly(scene: Scene, rows: Rows, window: Window | None = None) -> Flights:
    """Dispatch and cascade, component by component: later ones only depend on earlier ones."""
    s, c = rows.scenario, rows.c[:, None]
    mode = scene.policy.dispatch.mode
    horizon = scene.horizon[s][:, None]
    releases = np.where(scene.wanted[s], scene.release[s], np.inf)
    published = _Asks(scene.release[s], np.zeros_like(releases), releases)
    asks = published
    found = []
    for k in range(scene.components):
        latency = scene.latency[k][s]
        if mode == "one-at-a-time":
            ordered = asks is published and bool(scene.wanted.all())
            one = _one_at_a_time(asks, latency, c, horizon, window, ordered=ordered)
        elif mode == "latest":
            limit = min(scene.policy.dispatch.limit or scene.n, scene.n)
            waited = scene.waited[k][s]
            one = _latest(
                asks, latency, c, horizon, limit, window, waited, ordered=asks is published
            )
        else:
            one = _every(asks, latency, c, horizon)
        _require_answers(scene, rows, k, one)
        found.append(one)
        if scene.policy.when_unsure:
            a, b, arrival, _, _ = one
            unsure = scene.unsure[rows.variant, k, s]
            asks = _Asks(a, b, np.where(unsure & (arrival < horizon), arrival, np.inf))
    return Flights(*(np.stack(column, axis=1) for column in zip(*found, strict=True)))


_Found = tuple[Floats, Floats, Floats, Bools, Bools]


def _every(asks: _Asks, latency: Floats, c: Floats, horizon: Floats) -> _Found:
    sent = asks.time < horizon
    b = asks.b + latency
    arrival = np.where(sent, asks.a + b * c, np.inf)
    return asks.a, b, arrival, sent, np.zeros_like(sent)


def _one_at_a_time(
    asks: _Asks,
    latency: Floats,
    c: Floats,
    horizon: Floats,
    window: Window | None,
    *,
    ordered: bool,
) -> _Found:
    """One request at a time; when it is answered the newest step asked for since is next.

    Steps are asked for in order here, so answers come in order too. `ordered`: every one of them, and
    none before an earlier one.
    """
    count, n = asks.time.shape
    every = np.arange(count)
    find = _next_of_all if ordered else _next
    within = asks.time < horizon
    a, b = np.zeros((count, n)), np.zeros((count, n))
    sent = np.zeros((count, n), dtype=bool)
    last = np.full(count, -1)
    free_a, free_b, free = np.full(count, -np.inf), np.zeros(count), np.full(count, -np.inf)
    for _ in range(n):
        queued, newest, ahead, following = find(asks.time, within, last, free)
        step = np.where(queued, newest, following)
        start_a = np.where(queued, free_a, asks.a[every, step])
        start_b = np.where(queued, free_b, asks.b[every, step])
        start = start_a + start_b * c[:, 0]
        go = (queued | ahead) & (start < horizon[:, 0])
        if window is not None:
            ran = np.isfinite(free)
            for chosen, there in ((newest, queued), (following, ahead)):
                ask_a, ask_b = asks.a[every, chosen], asks.b[every, chosen]
                window.meet(None, free_a, free_b, ask_a, ask_b, ran & there)
            window.meet(None, start_a, start_b, horizon[:, 0], 0.0, queued)
        if not go.any():
            break
        end_b = start_b + latency[every, step]
        moving = every[go]
        a[moving, step[go]], b[moving, step[go]] = start_a[go], end_b[go]
        sent[moving, step[go]] = True
        last = np.where(go, step, n)
        free_a, free_b = np.where(go, start_a, free_a), np.where(go, end_b, free_b)
        free = np.where(go, start_a + end_b * c[:, 0], np.inf)
    arrival = np.where(sent, a + b * c, np.inf)
    return a, b, arrival, sent, np.zeros_like(sent)


_Next = tuple[Bools, Ints, Bools, Ints]
"""Whether a step waits, and the newest that does; whether one comes later, and the first of those."""


def _next(time: Floats, within: Bools, last: Ints, free: Floats) -> _Next:
    n = time.shape[1]
    open_ = within & (np.arange(n) > last[:, None])
    waiting = open_ & (time <= free[:, None])
    coming = open_ & ~waiting
    queued, ahead = np.logical_or.reduce((waiting, coming), axis=2)
    return queued, n - 1 - np.argmax(waiting[:, ::-1], axis=1), ahead, np.argmax(coming, axis=1)


def _next_of_all(time: Floats, within: Bools, last: Ints, free: Floats) -> _Next:
    """The same where times rise along a row: how many have passed says which."""
    n = time.shape[1]
    passed = np.count_nonzero(time <= free[:, None], axis=1)
    end = np.count_nonzero(within, axis=1)
    newest, following = np.minimum(passed, end) - 1, np.maximum(passed, last + 1)
    return newest > last, np.maximum(newest, 0), following < end, np.minimum(following, n - 1)


def _latest(
    asks: _Asks,
    latency: Floats,
    c: Floats,
    horizon: Floats,
    limit: int,
    window: Window | None,
    waited: Floats,
    *,
    ordered: bool,
) -> _Found:
    """At most `limit` in flight; one more cancels the oldest step's, unless it is the oldest itself."""
    count, n = asks.time.shape
    every = np.arange(count)
    b = asks.b + latency
    arrival = asks.a + b * c
    sent, cancelled = np.zeros((count, n), dtype=bool), np.zeros((count, n), dtype=bool)
    ran = np.zeros((count, n))
    order = _in_time(asks, window, ordered=ordered)
    step_in = np.full((count, limit), -1)
    lands, lands_a, lands_b = (np.full((count, limit), -np.inf) for _ in range(3))
    for nth in range(n):
        step = order[:, nth]
        time = asks.time[every, step]
        asked = time < horizon[:, 0]
        if not asked.any():
            break
        free = lands <= time[:, None]
        if window is not None:
            ask_a, ask_b = asks.a[every, step][:, None], asks.b[every, step][:, None]
            window.meet(None, lands_a, lands_b, ask_a, ask_b, asked[:, None] & (step_in >= 0))
        room = free.any(axis=1)
        oldest = np.argmin(step_in, axis=1)
        older = step_in[every, oldest] < step
        give_up = asked & ~room & older
        gone = every[give_up], step_in[every, oldest][give_up]
        cancelled[gone] = True
        ran[gone] = (time[give_up] - asks.time[gone]) / c[gone[0], 0]
        slot = np.where(room, np.argmax(free, axis=1), oldest)
        put = asked & (room | older)
        at, slot, step = every[put], slot[put], step[put]
        sent[at, step] = True
        step_in[at, slot], lands[at, slot] = step, arrival[at, step]
        lands_a[at, slot], lands_b[at, slot] = asks.a[at, step], b[at, step]
    _require_known_wait(cancelled & ~np.isfinite(latency), ran, waited)
    arrival = np.where(sent & ~cancelled, arrival, np.inf)
    return asks.a, b, arrival, sent, cancelled


def _require_known_wait(cancelled: Bools, ran: Floats, waited: Floats) -> None:
    """A request that was given up live may be given up again as early, or hardly later."""
    if (cancelled & (ran > waited + _SLACK_S)).any():
        raise MissingAnswersError(
            "this policy lets requests run for longer than they did when they were given up live",
            fix="replay at the recorded interval, with the recorded limit or a lower one",
        )


def _in_time(asks: _Asks, window: Window | None, *, ordered: bool) -> Ints:
    """Steps in the order they are asked about; at one instant the newer first."""
    count, n = asks.time.shape
    if ordered:
        return np.broadcast_to(np.arange(n), (count, n))
    order: Ints = n - 1 - np.argsort(asks.time[:, ::-1], axis=1, kind="stable")
    if window is not None and n > 1:
        a, b, time = (np.take_along_axis(x, order, axis=1) for x in (asks.a, asks.b, asks.time))
        both = np.isfinite(time[:, 1:])
        window.meet(None, a[:, :-1], b[:, :-1], a[:, 1:], b[:, 1:], both)
    return order


def _require_answers(scene: Scene, rows: Rows, k: int, found: _Found) -> None:
    """A recording of a policy lacks the answers that policy never asked for."""
    _, _, arrival, sent, cancelled = found
    lacking = sent & ~cancelled & ~np.isfinite(arrival)
    if not lacking.any():
        return
    row, step = (int(x[0]) for x in np.nonzero(lacking))
    name = scene.names[int(rows.scenario[row])]
    interval = float(scene.tick[rows.scenario[row]] / rows.c[row])
    raise MissingAnswersError(
        f"{name} t={step}: at {interval:.6g} s this policy sends the state to component {k + 1},"
        " and its recording has no answer to it",
        fix="replay a policy that asks for less, at the recorded interval, or record every state",
    )
