"""For which scales a replay stays the same: every comparison it made, turned into a range of c.

All times of a replay are lines a + b·c. Two of them change order where they meet, at
(a₂ − a₁)/(b₁ − b₂); as long as none of the pairs that were compared meets, every request, every
acceptance and every class keeps its place, and each share is one α + β·c.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import REACH
from streamdecisionbench.rules.policy_file import Policy
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.classes import CLASSES, N_METRICS, classify
from streamdecisionbench.scoring.integrals import Pieces
from streamdecisionbench.scoring.policy_answers import (
    NO_FALLBACK,
    Answers,
    Rows,
    Scene,
    Setting,
    on_one_clock,
    scenes,
)
from streamdecisionbench.scoring.sweep import NOTHING, References, Sweep, Trajectory, references_of
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints


class ScaleWindow:
    """The range (low, high) around each row's c in which nothing it compared changes order."""

    def __init__(self, c: Floats) -> None:
        self.c = c
        self.low = np.zeros(len(c))
        self.high = np.full(len(c), np.inf)

    def meet(
        self,
        row: Ints | None,
        a: Floats,
        b: Floats,
        other_a: Floats,
        other_b: Floats | float,
        where: NDArray[np.bool_] | bool = True,
    ) -> None:
        """Takes note that these lines were compared. `row` None: the first axis is the rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            drop = np.asarray(b - other_b)
            at = np.asarray((other_a - a) / drop)
        c = self.c if row is None else self.c[row]
        c = c.reshape(c.shape + (1,) * (at.ndim - c.ndim))
        # Parallel lines never meet, and what is compared with "never" has no place to meet.
        real = np.isfinite(at) & (drop != 0) & where
        above = np.where(real & (at > c), at, np.inf)
        below = np.where(real & (at < c), at, 0.0)
        if row is None:
            axes = tuple(range(1, at.ndim))
            self.high = np.minimum(self.high, above.min(axis=axes, initial=np.inf))
            self.low = np.maximum(self.low, below.max(axis=axes, initial=0.0))
        else:
            np.minimum.at(self.high, row, above)
            np.maximum.at(self.low, row, below)


# Which requests a policy sends, and when their answers arrive, on the re-paced clock.
#
# Every time is a line a + b·c: a release, and the seconds that have passed since, multiplied by the
# scale. At one instant answers arrive first, then states are published, then requests are sent. An
# answer keeps its recorded latency from whenever its request is sent; nothing is sent at or after H.


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


def fly(scene: Scene, rows: Rows, window: ScaleWindow | None = None) -> Flights:
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
    window: ScaleWindow | None,
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
    window: ScaleWindow | None,
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


def _in_time(asks: _Asks, window: ScaleWindow | None, *, ordered: bool) -> Ints:
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


# Which answers take effect: gate, then debounce, then the in-force rule, arrival by arrival.
#
# With one component, or under `freshest`, and without a debounce, the outcome has a closed form. Number
# the answers i·K + k, later components after earlier ones for one step: an answer takes effect exactly
# if it passes the gate, arrives before H and before every answer with a higher number that passes the
# gate. Otherwise arrivals are taken one by one, all rows at once.


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


def take(scene: Scene, rows: Rows, flights: Flights, window: ScaleWindow | None = None) -> Taken:
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


def _closed_form(scene: Scene, rows: Rows, found: _Arrivals, window: ScaleWindow | None) -> Taken:
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
    scene: Scene, rows: Rows, found: _Arrivals, window: ScaleWindow | None, agree: int
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


# What a replay is worth: the six classes of every row as α + β·c, and what was counted on the way.
#
# A decision of source i is in force from its arrival until the next one takes effect, or until it
# expires at r_i + c·after; from then on the fallback is. A fallback *decision* stands in its source's
# place: its time is current while that source is, and right if it is what was right for that source.
# Falling back to none is `no_decision`.


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
    window = ScaleWindow(rows.c) if ranges else None
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


def _hold(scene: Scene, rows: Rows, taken: Taken, window: ScaleWindow | None) -> tuple[Held, Lines]:
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
    scene: Scene, rows: Rows, held: Held, lines: Lines, window: ScaleWindow | None
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


def _steps(scene: Scene, line: Line, row: Ints, s: Ints, window: ScaleWindow | None) -> Ints:
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


# A policy over a range of intervals: the range cut where a replay changes, each part in closed form.
#
# A replay at one scale also says for which scales around it nothing changes (`window`). So the range is
# covered: replay somewhere in every gap, keep the range that replay holds for, go on with what is left.
# Nothing is sampled and nothing is fitted; every part is an exact α + β·c.


_FIRST = 48
"""Gaps to begin with, per scenario."""
_INSIDE = 0.4142135
"""Where in a gap to look: nowhere special, so that no two times coincide there by design."""
_NARROW = 4e-14
"""Relative width of a gap that rounding of the crossings leaves; its neighbour covers it."""
_CELLS = 4_000_000
"""Answers replayed at once: what memory holds comfortably."""
_MOST = 6
"""Into how many parts one round may cut a gap."""


def cover(scene: Scene, bounds: Bounds) -> Pieces:
    """All pieces of every scenario of a scene over the bounds; scenarios numbered as in the whole."""
    low, high = scene.tick / bounds.high, scene.tick / bounds.low
    every = np.arange(scene.count)
    gaps = _cut(every, low, high, np.full(scene.count, _FIRST))
    found: list[tuple[Ints, Floats, Floats, Floats, Floats]] = []
    pieces = 0
    while len(gaps[0]):
        s, begin, end = gaps
        at = begin * (end / begin) ** _INSIDE
        rows = Rows(s, np.zeros(len(s), dtype=np.int64), at)
        alpha, beta, lower, upper = _replay(scene, rows)
        lower, upper = np.clip(lower, begin, at), np.clip(upper, at, end)
        lower = np.where(lower - begin <= _NARROW * end, begin, lower)
        upper = np.where(end - upper <= _NARROW * end, end, upper)
        found.append((s, lower, upper, alpha, beta))
        pieces += len(s)
        left, right = begin < lower, upper < end
        s = np.concatenate((s[left], s[right]))
        begin, end = (
            np.concatenate((begin[left], upper[right])),
            np.concatenate((lower[left], end[right])),
        )
        width = float(np.sum(np.log(high / low))) / max(pieces, 1)
        parts = np.clip((np.log(end / begin) / width / 2).astype(np.int64), 1, _MOST)
        gaps = _cut(s, begin, end, parts)
    s, lower, upper, alpha, beta = (np.concatenate(x) for x in zip(*found, strict=True))
    return Pieces(scene.index[s], lower, upper, alpha, beta)


def _cut(s: Ints, begin: Floats, end: Floats, parts: Ints) -> tuple[Ints, Floats, Floats]:
    """Every gap in equal parts of ln c."""
    owner = np.repeat(np.arange(len(s)), parts)
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(parts) - parts, parts)
    ratio = (end / begin)[owner]
    lower = begin[owner] * ratio ** (nth / parts[owner])
    upper = begin[owner] * ratio ** ((nth + 1) / parts[owner])
    upper = np.where(nth + 1 == parts[owner], end[owner], upper)
    return s[owner], lower, upper


def _replay(scene: Scene, rows: Rows) -> tuple[Floats, Floats, Floats, Floats]:
    size = max(1, _CELLS // (scene.components * scene.n))
    out: tuple[list[Floats], ...] = ([], [], [], [])
    for begin in range(0, len(rows), size):
        part = replay(scene, rows.slice(begin, begin + size), ranges=True)
        for column, values in zip(out, (part.alpha, part.beta, part.low, part.high), strict=True):
            column.append(values)
    if not out[0]:
        nothing = np.zeros((0, N_METRICS))
        return nothing, nothing, np.zeros(0), np.zeros(0)
    alpha, beta, low, high = (np.concatenate(column) for column in out)
    return alpha, beta, low, high


# What a policy had in force when, as a trajectory: at one interval and over a range of them.
#
# Over a range the pieces come window by window (`cover`): within one the same decisions follow each
# other and every moment is a line in c, so two pieces that hold at the same scale lie in one window
# and are listed in the order of time, as a sweep asks.


_CELLS_OF_A_SWEEP = 2_000_000
"""Answers replayed at once."""


def policy_trajectory(
    policy: Policy, components: Sequence[Answers], interval: float, setting: Setting | None = None
) -> Trajectory:
    """A policy in replay at an interval.

    >>> from streamdecisionbench import example_recording, example_suite
    >>> from streamdecisionbench.rules.policy_file import Expire
    >>> from streamdecisionbench.scoring.policy_answers import answers_of
    >>> answers = answers_of(example_recording(), example_suite())
    >>> found = policy_trajectory(Policy(expire=Expire(3.0)), [answers], 2.0)
    >>> found.decision.tolist(), found.begin.tolist()
    ([-1, 0, 0, 1, 1], [0.0, 0.4, 2.4, 4.8, 6.8])
    """
    stand = _Stand(policy, components, setting or Setting({}, {}))
    found = [stand.pieces(scene, scene.rows(interval)) for scene in stand.scenes]
    pieces = _sorted(found)
    begin, end = pieces.begin.time, pieces.end.time
    keep = begin < end
    return Trajectory(
        stand.references,
        stand.flat.tick / interval,
        pieces.scenario[keep],
        pieces.decision[keep],
        pieces.source[keep],
        begin[keep],
        end[keep],
    )


def policy_sweep(
    policy: Policy, components: Sequence[Answers], bounds: Bounds, setting: Setting | None = None
) -> Sweep:
    """A policy in replay at every interval within the bounds."""
    stand = _Stand(policy, components, setting or Setting({}, {}))
    found = []
    for scene in stand.scenes:
        windows = cover(scene, bounds)
        wide = np.flatnonzero(windows.low < windows.high)
        order = wide[np.argsort(windows.low[wide], kind="stable")]
        place = np.zeros(stand.flat.count, dtype=np.int64)
        place[scene.index] = np.arange(scene.count)
        low, high = windows.low[order], windows.high[order]
        rows = Rows(
            place[windows.scenario[order]],
            np.zeros(len(order), dtype=np.int64),
            np.sqrt(low * high),
        )
        size = max(1, _CELLS_OF_A_SWEEP // (scene.components * scene.n))
        for begin in range(0, len(rows), size):
            part = rows.slice(begin, begin + size)
            one = stand.pieces(scene, part)
            span = slice(begin, begin + size)
            found.append(replace(one, low=low[span][one.row], high=high[span][one.row]))
    pieces = _sorted(found)
    keep = ~((pieces.begin.a == pieces.end.a) & (pieces.begin.b == pieces.end.b))
    return Sweep(
        stand.references,
        stand.flat.tick / bounds.high,
        stand.flat.tick / bounds.low,
        pieces.scenario[keep],
        pieces.decision[keep],
        pieces.source[keep],
        pieces.begin.a[keep],
        pieces.begin.b[keep],
        pieces.end.a[keep],
        pieces.end.b[keep],
        pieces.low[keep],
        pieces.high[keep],
    )


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Pieces of some rows, row after row in the order of time, empty ones among them."""

    row: Ints
    scenario: Ints
    decision: Ints
    source: Ints
    begin: Line
    end: Line
    low: Floats
    high: Floats


class _Stand:
    """Components on one clock, with decision ids that all of them share."""

    def __init__(self, policy: Policy, components: Sequence[Answers], setting: Setting) -> None:
        components = on_one_clock(components)
        parts = components[0].parts
        self.scenes = scenes(policy, components, changed=setting.changed, fallback=setting.fallback)
        self.flat = Flat(parts)
        words = [_words(components, s, setting) for s in range(len(parts))]
        self.width = np.array([own.width for own in words])
        self.offset = np.cumsum(self.width) - self.width
        self.words = words
        self.references = self._references()

    def pieces(self, scene: Scene, rows: Rows) -> _Pieces:
        """Nothing at first, then each decision, and what stands in for it once it has lapsed."""
        done = replay(scene, rows)
        held, lines = done.held, done.lines
        count = len(rows)
        s = rows.scenario[held.row]
        index = scene.index[s]
        start = scene.release[rows.scenario, 0]
        horizon = scene.horizon[rows.scenario]
        first = np.append(True, held.row[1:] != held.row[:-1])[: len(held.row)]
        until = Line(horizon.copy(), np.zeros(count), horizon.copy())
        for mine, other in zip(
            (until.a, until.b, until.time),
            (lines.begin.a, lines.begin.b, lines.begin.time),
            strict=True,
        ):
            mine[held.row[first]] = other[first]
        nothing = np.full(count, NOTHING, dtype=np.int64)
        table = np.stack(
            [
                np.stack([self.words[i].answered[k] for i in scene.index.tolist()])
                for k in range(scene.components)
            ]
        )
        said = table[held.component, s, held.source]
        source = self.flat.first[index] + held.source
        instead = np.array([w.fallback for w in self.words], dtype=np.int64)[index]
        lapsed = held.instead == NO_FALLBACK
        standing = np.where(lapsed, NOTHING, instead + self.offset[index])
        row = np.concatenate((np.arange(count), held.row, held.row))
        # Within a row: nothing, then decisions and their fallbacks by turns.
        nth = np.arange(len(held.row))
        place = np.concatenate((np.full(count, -1), 2 * nth, 2 * nth + 1))
        order = np.lexsort((place, row))
        begin = _joined(Line(start, np.zeros(count), start), lines.begin, lines.yields)
        end = _joined(until, lines.yields, lines.end)
        decision = np.concatenate((nothing, said + self.offset[index], standing))
        sources = np.concatenate((nothing, source, np.where(lapsed, NOTHING, source)))
        return _Pieces(
            row[order],
            scene.index[rows.scenario[row]][order],
            decision[order],
            sources[order],
            _at(begin, order),
            _at(end, order),
            np.zeros(len(row)),
            np.zeros(len(row)),
        )

    def _references(self) -> References:
        plain = references_of(self.flat)
        starts, _ = self.flat.segments
        reference = np.concatenate(
            [own.reference + begin for own, begin in zip(self.words, self.offset, strict=True)]
        )
        values = [value for own in self.words for value in own.values]
        named = all(own.values for own in self.words)
        return replace(plain, decision=reference[starts], values=values if named else ())


@dataclass(frozen=True, slots=True)
class _Words:
    """One scenario's decisions, one id each, whoever gave them."""

    reference: Ints
    answered: Sequence[Ints]
    """By component and step."""
    fallback: int
    values: Sequence[Mapping[str, str]]
    width: int


def _words(components: Sequence[Answers], s: int, setting: Setting) -> _Words:
    """Without values, equal ids are taken for equal decisions."""
    parts = [one.parts[s] for one in components]
    name = parts[0].episode_id
    fallback = setting.fallback.get(name, NO_FALLBACK)
    if not all(part.values for part in parts):
        answered = [part.predicted for part in parts]
        highest = max(int(parts[0].reference.max()), fallback, *(int(p.max()) for p in answered))
        return _Words(parts[0].reference, answered, fallback, (), highest + 1)
    ids: dict[tuple[tuple[str, str], ...], int] = {}

    def known(values: Sequence[Mapping[str, str]]) -> Ints:
        own = [ids.setdefault(tuple(sorted(v.items())), len(ids)) for v in values]
        return np.array(own, dtype=np.int64)

    maps = [known(part.values) for part in parts]
    answered = [
        np.where(part.predicted < 0, NOTHING, own[np.maximum(part.predicted, 0)])
        for own, part in zip(maps, parts, strict=True)
    ]
    if fallback != NO_FALLBACK:
        said = setting.said.get(name)
        fallback = int(known([said])[0]) if said is not None else int(maps[0][fallback])
    reference = maps[0][parts[0].reference]
    return _Words(reference, answered, fallback, [dict(key) for key in ids], len(ids))


def _joined(*lines: Line) -> Line:
    return Line(*(np.concatenate([getattr(x, n) for x in lines]) for n in ("a", "b", "time")))


def _at(line: Line, which: Ints | NDArray[np.bool_]) -> Line:
    return Line(line.a[which], line.b[which], line.time[which])


def _sorted(found: Sequence[_Pieces]) -> _Pieces:
    """Scenario after scenario; within one as they come."""
    scenario = np.concatenate([one.scenario for one in found])
    order = np.argsort(scenario, kind="stable")

    def ids(name: str) -> Ints:
        whole: Ints = np.concatenate([getattr(one, name) for one in found])[order]
        return whole

    def scales(name: str) -> Floats:
        values: Floats = np.concatenate([getattr(one, name) for one in found])[order]
        return values

    def moments(name: str) -> Line:
        return _at(_joined(*(getattr(one, name) for one in found)), order)

    return _Pieces(
        np.zeros(0, dtype=np.int64),
        scenario[order],
        ids("decision"),
        ids("source"),
        moments("begin"),
        moments("end"),
        scales("low"),
        scales("high"),
    )
