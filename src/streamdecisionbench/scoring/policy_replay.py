"""A policy on recorded answers, arrival by arrival, and for which scales its replay stays the same.

All times of a replay are lines a + b·c. Two of them change order where they meet, at
(a₂ − a₁)/(b₁ − b₂); as long as none of the pairs that were compared meets, every request, every
acceptance keeps its place, and pieces of "this answer is in force" have ends that are such lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    NOTHING,
    Columns,
    Floats,
    Ints,
    JoinedTimelines,
)
from streamdecisionbench.kernel.overlaps import spread
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.rule import REACH
from streamdecisionbench.kernel.shares import trajectory_table
from streamdecisionbench.kernel.trajectory import (
    Trajectory,
    references_of,
    trajectory_between,
)
from streamdecisionbench.policies.policy_file import Policy
from streamdecisionbench.scoring.policy_answers import (
    NO_FALLBACK,
    Answers,
    PolicyArrays,
    Rows,
    Setting,
    on_one_clock,
    policy_arrays,
)

Bools = NDArray[np.bool_]


class Line(NamedTuple):
    """Moments a + b·c, and where they are at the scale of their row: infinite where they never come."""

    a: Floats
    b: Floats
    time: Floats

    @classmethod
    def still(cls, time: Floats) -> Line:
        return cls(time, np.zeros_like(time), time)

    def at(self, *place: Any) -> Line:
        """Some of them."""
        return Line(*(x[place] for x in self))

    def chosen(self, where: Bools, other: Line) -> Line:
        """These where `where` says so, else the other's."""
        both = zip(self, other, strict=True)
        return Line(*(np.where(where, mine, theirs) for mine, theirs in both))


class ScaleWindow:
    """The range (low, high) around each row's c in which nothing it compared changes order."""

    def __init__(self, c: Floats) -> None:
        self.c = c
        self.low = np.zeros(len(c))
        self.high = np.full(len(c), np.inf)

    def meet(
        self, one: Line, other: Line, where: Bools | bool = True, row: Ints | None = None
    ) -> None:
        """Takes note that these lines were compared. Without `row` the first axis is the rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            drop = np.asarray(one.b - other.b)
            at = np.asarray((other.a - one.a) / drop)
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

    def rank(self, ordered: Line) -> None:
        """Takes note of an order along each row: every line was compared with the next that comes."""
        every, after = slice(None), ordered.at(slice(None), slice(1, None))
        self.meet(ordered.at(every, slice(-1)), after, np.isfinite(after.time))


# Which requests a policy sends, and when their answers arrive, on the re-paced clock.
#
# Every time is a line a + b·c: a release, and the seconds that have passed since, multiplied by the
# scale. At one instant answers arrive first, then states are published, then requests are sent. An
# answer keeps its recorded latency from whenever its request is sent; nothing is sent at or after H.


_SLACK_S = 0.05
"""How much later than live a replay may give a request up: releases are not punctual to the second."""


class MissingAnswersError(InputError):
    """The recording was made under a policy that did not ask for an answer this one needs."""


class RequestTimes(NamedTuple):
    """Requests and answers of every row: [row, component, step], or [row, step] of one component.

    `arrival` = `a` + `b`·c, infinite where no answer comes: not sent, or cancelled.
    """

    a: Floats
    b: Floats
    arrival: Floats
    sent: Bools
    cancelled: Bools


class _Trip(NamedTuple):
    """What the requests of one component meet: when it is asked, and how long it takes."""

    asks: Line
    latency: Floats
    c: Floats
    horizon: Floats
    window: ScaleWindow | None
    as_published: bool
    """Asked as states are published, not by an earlier component."""


def simulate_requests(
    arrays: PolicyArrays, rows: Rows, window: ScaleWindow | None = None
) -> RequestTimes:
    """Dispatch and cascade, component by component: later ones only depend on earlier ones."""
    s, c = rows.scenario, rows.c[:, None]
    mode = arrays.policy.dispatch.mode
    horizon = arrays.horizon[s][:, None]
    releases = np.where(arrays.wanted[s], arrays.release[s], np.inf)
    published = Line(arrays.release[s], np.zeros_like(releases), releases)
    asks = published
    found: list[RequestTimes] = []
    for k in range(arrays.components):
        trip = _Trip(asks, arrays.latency[k][s], c, horizon, window, asks is published)
        if mode == "one-at-a-time":
            one = _one_at_a_time(trip, all_wanted=bool(arrays.wanted.all()))
        elif mode == "latest":
            limit = min(arrays.policy.dispatch.limit or arrays.n, arrays.n)
            one = _latest(trip, limit, arrays.waited[k][s])
        else:
            one = _every(trip)
        _require_answers(arrays, rows, k, one)
        found.append(one)
        if arrays.policy.when_unsure:
            asked = arrays.unsure[rows.variant, k, s] & (one.arrival < horizon)
            asks = Line(one.a, one.b, np.where(asked, one.arrival, np.inf))
    return RequestTimes(*(np.stack(column, axis=1) for column in zip(*found, strict=True)))


def _every(trip: _Trip) -> RequestTimes:
    asks, b = trip.asks, trip.asks.b + trip.latency
    sent = asks.time < trip.horizon
    arrival = np.where(sent, asks.a + b * trip.c, np.inf)
    return RequestTimes(asks.a, b, arrival, sent, np.zeros_like(sent))


def _one_at_a_time(trip: _Trip, *, all_wanted: bool) -> RequestTimes:
    """One request at a time; when it is answered the newest step asked for since is next.

    Steps are asked for in order here, so answers come in order too.
    """
    asks, latency, c, horizon, window, as_published = trip
    count, n = asks.time.shape
    every = np.arange(count)
    find = _next_of_all if as_published and all_wanted else _next
    within = asks.time < horizon
    a, b = np.zeros((count, n)), np.zeros((count, n))
    sent = np.zeros((count, n), dtype=bool)
    last = np.full(count, -1)
    free = Line.still(np.full(count, -np.inf))
    for _ in range(n):
        queued, newest, ahead, following = find(asks.time, within, last, free.time)
        step = np.where(queued, newest, following)
        start = free.chosen(queued, asks.at(every, step))
        go = (queued | ahead) & (start.time < horizon[:, 0])
        if window is not None:
            ran = np.isfinite(free.time)
            window.meet(free, asks.at(every, newest), ran & queued)
            window.meet(free, asks.at(every, following), ran & ahead)
            window.meet(start, Line.still(horizon[:, 0]), queued)
        if not go.any():
            break
        end_b = start.b + latency[every, step]
        end = Line(start.a, end_b, np.where(go, start.a + end_b * c[:, 0], np.inf))
        moving = every[go], step[go]
        a[moving], b[moving], sent[moving] = start.a[go], end_b[go], True
        last, free = np.where(go, step, n), end
    arrival = np.where(sent, a + b * c, np.inf)
    return RequestTimes(a, b, arrival, sent, np.zeros_like(sent))


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


def _latest(trip: _Trip, limit: int, waited: Floats) -> RequestTimes:
    """At most `limit` in flight; one more cancels the oldest step's, unless it is the oldest itself."""
    asks, latency, c, horizon, window, as_published = trip
    count, n = asks.time.shape
    every = np.arange(count)
    b = asks.b + latency
    arrival = asks.a + b * c
    sent, cancelled = np.zeros((count, n), dtype=bool), np.zeros((count, n), dtype=bool)
    ran = np.zeros((count, n))
    order = _in_time(asks, window, ordered=as_published)
    step_in = np.full((count, limit), -1)
    lands = Line(*(np.full((count, limit), -np.inf) for _ in range(3)))
    for nth in range(n):
        step = order[:, nth]
        ask = asks.at(every, step)
        asked = ask.time < horizon[:, 0]
        if not asked.any():
            break
        free = lands.time <= ask.time[:, None]
        if window is not None:
            window.meet(lands, ask.at(slice(None), None), asked[:, None] & (step_in >= 0))
        room = free.any(axis=1)
        oldest = np.argmin(step_in, axis=1)
        older = step_in[every, oldest] < step
        give_up = asked & ~room & older
        gone = every[give_up], step_in[every, oldest][give_up]
        cancelled[gone] = True
        ran[gone] = (ask.time[give_up] - asks.time[gone]) / c[gone[0], 0]
        slot = np.where(room, np.argmax(free, axis=1), oldest)
        put = asked & (room | older)
        at, slot, step = every[put], slot[put], step[put]
        sent[at, step] = True
        step_in[at, slot] = step
        for mine, theirs in zip(lands, (asks.a, b, arrival), strict=True):
            mine[at, slot] = theirs[at, step]
    _require_known_wait(cancelled & ~np.isfinite(latency), ran, waited)
    arrival = np.where(sent & ~cancelled, arrival, np.inf)
    return RequestTimes(asks.a, b, arrival, sent, cancelled)


def _require_known_wait(cancelled: Bools, ran: Floats, waited: Floats) -> None:
    """A request that was given up live may be given up again as early, or hardly later."""
    if (cancelled & (ran > waited + _SLACK_S)).any():
        raise MissingAnswersError(
            "this policy lets requests run for longer than they did when they were given up live",
            fix="replay at the recorded interval, with the recorded limit or a lower one",
        )


def _in_time(asks: Line, window: ScaleWindow | None, *, ordered: bool) -> Ints:
    """Steps in the order they are asked about; at one instant the newer first."""
    count, n = asks.time.shape
    if ordered:
        return np.broadcast_to(np.arange(n), (count, n))
    order: Ints = n - 1 - np.argsort(asks.time[:, ::-1], axis=1, kind="stable")
    if window is not None:
        window.rank(Line(*(np.take_along_axis(x, order, axis=1) for x in asks)))
    return order


def _require_answers(arrays: PolicyArrays, rows: Rows, k: int, found: RequestTimes) -> None:
    """A recording of a policy lacks the answers that policy never asked for."""
    lacking = found.sent & ~found.cancelled & ~np.isfinite(found.arrival)
    if not lacking.any():
        return
    row, step = (int(x[0]) for x in np.nonzero(lacking))
    name = arrays.names[int(rows.scenario[row])]
    interval = float(arrays.tick[rows.scenario[row]] / rows.c[row])
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
    """Answers that took effect, row by row in the order they did, and when."""

    row: Ints
    component: Ints
    source: Ints
    begin: Line
    held_back: Ints
    """Per row: sure answers that a debounce kept from taking effect."""


def take(
    arrays: PolicyArrays, rows: Rows, flights: RequestTimes, window: ScaleWindow | None = None
) -> Taken:
    """What takes effect in every row."""
    sure = arrays.sure[rows.variant, :, rows.scenario]
    arrival = np.where(sure, flights.arrival, np.inf)
    # Answers that pass the gate, [row, component, step] as [row, i·K + k].
    found = Line(
        *(np.swapaxes(x, 1, 2).reshape(len(x), -1) for x in (flights.a, flights.b, arrival))
    )
    agree = arrays.policy.debounce.agree
    if agree == 1 and (arrays.components == 1 or arrays.policy.rule == "freshest"):
        return _closed_form(arrays, rows, found, window)
    return _one_by_one(arrays, rows, found, window, agree)


def _closed_form(
    arrays: PolicyArrays, rows: Rows, found: Line, window: ScaleWindow | None
) -> Taken:
    time = found.time
    count, width = time.shape
    horizon = arrays.horizon[rows.scenario][:, None]
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
        window.meet(found, found.at(every, rival), compared)
        window.meet(found, Line.still(horizon), np.isfinite(time))
    row, number = np.nonzero(taken)
    return _taken(arrays, found, row, number, np.zeros(count, dtype=np.int64))


def _one_by_one(
    arrays: PolicyArrays, rows: Rows, found: Line, window: ScaleWindow | None, agree: int
) -> Taken:
    count, width = found.time.shape
    K, every = arrays.components, np.arange(count)
    horizon = arrays.horizon[rows.scenario]
    # Highest number first, so that a stable sort leaves equal times in the order of the protocol.
    order = width - 1 - np.argsort(found.time[:, ::-1], axis=1, kind="stable")
    time = np.take_along_axis(found.time, order, axis=1)
    if window is not None:
        ordered = Line(*(np.take_along_axis(x, order, axis=1) for x in found))
        window.rank(ordered)
        window.meet(ordered, Line.still(horizon[:, None]), np.isfinite(time))
    reach = REACH[arrays.policy.rule]
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
            decision = arrays.predicted[k, rows.scenario, i]
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
    return _taken(arrays, found, row, order[row, place], held_back)


def _taken(arrays: PolicyArrays, found: Line, row: Ints, number: Ints, held_back: Ints) -> Taken:
    source, component = np.divmod(number, arrays.components)
    return Taken(row, component, source, found.at(row, number), held_back)


# What was in force, and what was counted on the way.
#
# A decision of source i is in force from its arrival until the next one takes effect, or until it
# expires at r_i + c·after; from then on the fallback is. A fallback *decision* stands in its source's
# place: its time is current while that source is, and right if it is what was right for that source.
# Falling back to none is `no_decision`.


@dataclass(frozen=True, slots=True)
class Held:
    """Decisions in force, row by row in order: from `begin` to `yields` its own, to `end` the fallback.

    `decision` is what was answered, `instead` the fallback's id or −1.
    """

    rows: Rows
    row: Ints
    component: Ints
    source: Ints
    decision: Ints
    instead: Ints
    begin: Line
    yields: Line
    end: Line


@dataclass(frozen=True, slots=True)
class Replay:
    """Rows replayed; what was in force holds for c in (low[r], high[r]) of each row."""

    flights: RequestTimes
    taken: Taken
    held: Held
    low: Floats
    high: Floats


def replay(arrays: PolicyArrays, rows: Rows, *, ranges: bool = False) -> Replay:
    """Requests, acceptance and what is in force in every row; with `ranges` for which c they hold."""
    window = ScaleWindow(rows.c) if ranges else None
    flights = simulate_requests(arrays, rows, window)
    taken = take(arrays, rows, flights, window)
    held = hold(arrays, rows, taken, window)
    low, high = (rows.c, rows.c) if window is None else (window.low, window.high)
    return Replay(flights, taken, held, low, high)


def hold(arrays: PolicyArrays, rows: Rows, taken: Taken, window: ScaleWindow | None = None) -> Held:
    """What given acceptances kept in force, whoever decided on them."""
    row, s = taken.row, rows.scenario[taken.row]
    last = np.append(row[1:] != row[:-1], True)[: len(row)]
    begin = taken.begin
    following = Line(*(np.append(x[1:], 0.0)[: len(x)] for x in begin))
    end = Line.still(arrays.horizon[s]).chosen(last, following)
    after = arrays.after[rows.variant[row]]
    release = arrays.release[s, taken.source]
    expires = np.isfinite(after)
    expiry = Line(release, np.where(expires, after, 0.0), release + rows.c[row] * after)
    if window is not None:
        window.meet(expiry, begin, expires, row)
        window.meet(expiry, end, expires, row)
    yields = begin.chosen(expiry.time <= begin.time, expiry.chosen(expiry.time < end.time, end))
    decision = arrays.predicted[taken.component, s, taken.source]
    instead = arrays.fallback[s]
    return Held(rows, row, taken.component, taken.source, decision, instead, begin, yields, end)


def correct_share(arrays: PolicyArrays, rows: Rows) -> tuple[Floats, RequestTimes]:
    """In-force accuracy of every row and nothing else: what a search asks for thousands of times.

    Only where expired decisions leave none behind: a fallback decision could be right, too.
    """
    if (arrays.fallback != NO_FALLBACK).any():
        raise ValueError("a fallback decision can be right; use replay")
    flights = simulate_requests(arrays, rows)
    held = hold(arrays, rows, take(arrays, rows, flights))
    s, p = rows.scenario[held.row], arrays.known(held.decision)
    begin, end = (_correct_until(arrays, s, p, line.time) for line in (held.begin, held.yields))
    share = np.bincount(held.row, weights=end - begin, minlength=len(rows)).astype(np.float64)
    return share, flights


def _correct_until(arrays: PolicyArrays, s: Ints, p: Ints, time: Floats) -> Floats:
    """F_p(t): the share of observed time so far whose reference is p."""
    step = arrays.places.find(time, s) - s * arrays.n
    here = np.where(arrays.reference[s, step] == p, arrays.share[s], 0.0)
    so_far: Floats = arrays.time_before[s, p, step] + (time - arrays.release[s, step]) * here
    return so_far


# What a policy had in force when: at an interval, and over a range of them as a sweep.
#
# A replay at one scale also says for which scales around it nothing changes (`ScaleWindow`). So a range
# is covered: replay somewhere in every gap, keep the range that replay holds for, go on with what is
# left. Nothing is sampled and nothing is fitted. Within a window the same decisions follow each other
# and every moment is a line in c, so two pieces that hold at the same scale lie in one window and are
# listed in the order of time, as a sweep asks.


_FIRST = 16
"""Gaps to begin with, per scenario."""
_INSIDE = 0.4142135
"""Where in a gap to look: nowhere special, so that no two times coincide there by design."""
_NARROW = 4e-14
"""Relative width of a gap that rounding of the crossings leaves; its neighbour covers it."""
_CELLS = 2_000_000
"""Answers replayed at once: what memory holds comfortably."""
_MOST = 6
"""Into how many parts one round may cut a gap."""
_Range = tuple[Floats, Floats]
"""Scales, from and to."""


@dataclass(frozen=True, slots=True)
class _Gaps(Columns):
    """Ranges of c that no window covers yet."""

    scenario: Ints
    begin: Floats
    end: Floats

    def cut(self, parts: Ints) -> _Gaps:
        """Every gap in equal parts of ln c."""
        owner, nth = spread(np.zeros_like(parts), parts)
        gap, of = self.where(owner), parts[owner]
        ratio = gap.end / gap.begin
        lower, upper = gap.begin * ratio ** (nth / of), gap.begin * ratio ** ((nth + 1) / of)
        return _Gaps(gap.scenario, lower, np.where(nth + 1 == of, gap.end, upper))


class PolicyReplay:
    """A policy on recorded answers: components on one clock, with decision ids that all share.

    One component keeps its recorded releases; several are put on the nominal clock.
    """

    def __init__(
        self,
        policy: Policy,
        components: Sequence[Answers],
        setting: Setting | None = None,
        *,
        as_recorded: bool = False,
    ) -> None:
        """With `as_recorded` several components keep their releases, too: those of one recording."""
        self.policy = policy
        self.components = list(components) if as_recorded else on_one_clock(components)
        self.parts = self.components[0].parts
        self.flat = JoinedTimelines(self.parts, [one.parts for one in self.components])
        self.references = references_of(self.flat)
        self.groups = policy_arrays(policy, self.components, setting=setting)

    def at(self, interval: float) -> list[Replay]:
        """Every group's scenarios at an interval."""
        return [replay(arrays, arrays.rows(interval)) for arrays in self.groups]

    def trajectory(self, interval: float) -> Trajectory:
        """What is in force at an interval."""
        return self.trajectory_from([one.held for one in self.at(interval)])

    def table(self, interval: float) -> Floats:
        """Shares per scenario at an interval, columns as in `classes.TABLE`."""
        return trajectory_table(self.flat, self.trajectory(interval))

    def trajectory_from(self, held: Sequence[Held]) -> Trajectory:
        """What is in force, one row for every scenario."""
        scale = np.ones(self.flat.count)
        for arrays, one in zip(self.groups, held, strict=True):
            scale[arrays.index[one.rows.scenario]] = one.rows.c
        here = scale, np.nextafter(scale, np.inf)
        first, *others = [
            self._pieces(arrays, one, here, (one.rows.c, np.nextafter(one.rows.c, np.inf)))
            for arrays, one in zip(self.groups, held, strict=True)
        ]
        pieces = first.followed_by(others)
        return pieces.where(np.argsort(pieces.scenario, kind="stable")).at(scale)

    def sweep(self, bounds: Bounds) -> Trajectory:
        """What is in force at every interval within the bounds, or at the one pace that holds."""
        if self.flat.fixed_pace:
            return self.trajectory(float(self.flat.tick[0]))
        low, high = self.flat.tick / bounds.high, self.flat.tick / bounds.low
        if (closed := self._closed_form()) is not None:
            return trajectory_between(closed, low, high)
        first, *others = [
            part for arrays in self.groups for part in self._cover(arrays, (low, high))
        ]
        pieces = first.followed_by(others)
        # Scenario by scenario, window by window; within a window in the order of time.
        return pieces.where(np.lexsort((pieces.low, pieces.scenario)))

    def _closed_form(self) -> JoinedTimelines | None:
        """One component whose answers just arrive or do not, as in plain replay; else None."""
        policy = self.policy
        if (
            len(self.components) > 1
            or policy.dispatch.mode not in ("every", "changed")
            or policy.debounce.agree > 1
            or np.isfinite(policy.expire.after_s)
        ):
            return None
        parts = list(self.parts)
        for arrays in self.groups:
            for nth, s in enumerate(arrays.index.tolist()):
                arrives = arrays.wanted[nth] & arrays.sure[0, 0, nth]
                parts[s] = replace(parts[s], latency=np.where(arrives, parts[s].latency, np.inf))
        return JoinedTimelines(parts)

    def _cover(self, arrays: PolicyArrays, within: _Range) -> list[Trajectory]:
        """Pieces of every window."""
        low, high = (scale[arrays.index] for scale in within)
        gaps = _Gaps(np.arange(arrays.count), low, high).cut(np.full(arrays.count, _FIRST))
        at_once = max(1, _CELLS // (arrays.components * arrays.n))
        found: list[Trajectory] = []
        windows = 0
        while len(gaps.begin):
            left: list[_Gaps] = []
            for first in range(0, len(gaps.begin), at_once):
                mine = gaps.where(slice(first, first + at_once))
                begin, end = mine.begin, mine.end
                at = begin * (end / begin) ** _INSIDE
                rows = Rows(mine.scenario, np.zeros(len(at), dtype=np.int64), at)
                done = replay(arrays, rows, ranges=True)
                lower, upper = np.clip(done.low, begin, at), np.clip(done.high, at, end)
                lower = np.where(lower - begin <= _NARROW * end, begin, lower)
                upper = np.where(end - upper <= _NARROW * end, end, upper)
                pieces = self._pieces(arrays, done.held, within, (lower, upper))
                found.append(pieces.where(~pieces.empty & (pieces.low < pieces.high)))
                left += [replace(mine, end=lower), replace(mine, begin=upper)]
            windows += len(gaps.begin)
            gaps = left[0].followed_by(left[1:])
            gaps = gaps.where(gaps.begin < gaps.end)
            width = float(np.sum(np.log(high / low))) / windows
            parts = (np.log(gaps.end / gaps.begin) / width / 2).astype(np.int64)
            gaps = gaps.cut(np.clip(parts, 1, _MOST))
        return found

    def _pieces(
        self, arrays: PolicyArrays, held: Held, within: _Range, holds: _Range
    ) -> Trajectory:
        """Nothing at first, then each decision, and what stands in for it once it has lapsed.

        `within` are the sweep's scales by scenario, `holds` those for which each row holds.
        """
        rows = held.rows
        count, number = len(rows), len(held.row)
        of_row, index = arrays.index[rows.scenario], arrays.index[rows.scenario[held.row]]
        none = np.full(count, NOTHING, dtype=np.int64)
        start = Line.still(self.flat.r0[of_row])
        # Where nothing takes effect, nothing is in force up to the horizon.
        first = np.flatnonzero(np.append(True, held.row[1:] != held.row[:-1])[:number])
        until = Line.still(self.flat.H[of_row])
        until.a[held.row[first]], until.b[held.row[first]] = (
            held.begin.a[first],
            held.begin.b[first],
        )
        offset, source = self.flat.offset[index], self.flat.first[index] + held.source
        said = np.where(held.decision < 0, NOTHING, held.decision + offset)
        instead = np.where(held.instead == NO_FALLBACK, NOTHING, held.instead + offset)
        behind = np.where(held.instead == NO_FALLBACK, NOTHING, source)
        lapse = bool((held.yields.time < held.end.time).any())
        # By turns within a row: nothing, then decisions and, where any lapses, their fallbacks.
        turns = 2 if lapse else 1
        place = np.arange(count) + turns * np.searchsorted(held.row, np.arange(count))
        own = turns * np.arange(number) + held.row + 1

        def woven(begins: Ints | Floats, decided: Ints | Floats, lapsed: Ints | Floats) -> Any:
            out = np.empty(count + turns * number, dtype=decided.dtype)
            out[place], out[own] = begins, decided
            if lapse:
                out[own + 1] = lapsed
            return out

        row = woven(np.arange(count), held.row, held.row)
        return Trajectory(
            self.references,
            *within,
            woven(of_row, index, index),
            woven(none, said, instead),
            woven(none, source, behind),
            begin_at=woven(start.a, held.begin.a, held.yields.a),
            begin_delay=woven(start.b, held.begin.b, held.yields.b),
            end_at=woven(until.a, held.yields.a, held.end.a),
            end_delay=woven(until.b, held.yields.b, held.end.b),
            low=holds[0][row],
            high=holds[1][row],
            component=woven(none, held.component, held.component),
        )


def policy_trajectory(
    policy: Policy, components: Sequence[Answers], interval: float, setting: Setting | None = None
) -> Trajectory:
    """A policy in replay at an interval.

    >>> from streamdecisionbench import example_recording, example_suite
    >>> from streamdecisionbench.policies.policy_file import Expire
    >>> from streamdecisionbench.scoring.policy_answers import answers_of
    >>> answers = answers_of(example_recording(), example_suite())
    >>> found = policy_trajectory(Policy(expire=Expire(3.0)), [answers], 2.0)
    >>> found.decision.tolist(), found.begin.tolist()
    ([-1, 0, 0, 1, 1], [0.0, 0.4, 2.4, 4.8, 6.8])
    """
    return PolicyReplay(policy, components, setting).trajectory(interval)
