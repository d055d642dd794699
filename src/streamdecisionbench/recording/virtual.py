"""A virtual timeline for components in this process: nothing waits.

Answers are computed one at a time and each one's duration is measured (or declared, by a
simulation). Those durations are then laid out on a timeline where step i is published at i·Δ and a
declared number of workers serves requests first come, first served. Waiting for a worker is part of
the component's latency, as it would be if the component queued requests itself: `started_s` is when
the request was handed over, not when a worker took it up. Waiting for one of `max_in_flight` slots
is dispatch wait, as on the real clock.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from streamdecisionbench.components.contract import Fatal, Retryable
from streamdecisionbench.policy_file import Policy
from streamdecisionbench.recording.clock import seconds
from streamdecisionbench.recording.desk import Desk, Order
from streamdecisionbench.recording.ledger import Exchange, Lane, Ledger, Reading
from streamdecisionbench.recording.realtime import Dispatch, call
from streamdecisionbench.recording.retry import classify, next_delay

__all__ = ["run_virtual_episode"]

_DONE, _READY, _RELEASE = 0, 1, 2
"""Order of what happens at one instant: answers, then retries, then the next step."""


@dataclass(slots=True, eq=False)
class _Job:
    """A request on the timeline, and how its current attempt will end."""

    exchange: Exchange
    started_s: float = 0.0
    received_s: float = 0.0
    completed_s: float = 0.0
    in_flight: int = 0
    """1 from when it has a slot."""
    served: bool = False
    given_up: bool = False
    outcome: Reading | Retryable | Fatal | None = None


@dataclass(slots=True)
class _Pool:
    """One component's slots and workers."""

    slots: int
    workers: int
    waiting: deque[_Job] = field(default_factory=deque)
    queued: deque[_Job] = field(default_factory=deque)

    def drop(self, job: _Job) -> None:
        """A request that is given up leaves its queue, its slot and its worker at once."""
        job.given_up = True
        for line in (self.waiting, self.queued):
            if job in line:
                line.remove(job)
        self.slots += job.in_flight
        self.workers += job.served


async def run_virtual_episode(
    ledger: Ledger, lanes: Sequence[Lane], dispatch: Dispatch, workers: int
) -> None:
    """The same events as `run_episode`, at the times the queueing model gives."""
    pools = {lane.name: _Pool(dispatch.max_in_flight, workers) for lane in lanes}
    steps = len(ledger.prepared.requests)
    policy = ledger.policy
    desk = policy.desk if policy else Desk(Policy(), [True] * steps, len(lanes))
    ranks = {lane.name: k for k, lane in enumerate(lanes)}
    jobs: dict[tuple[int, int], _Job] = {}
    releases: list[float] = []
    timeline: list[tuple[float, int, int, int, int, _Job | None]] = []
    order = 0

    def plan(at_s: float, kind: int, t: int, job: _Job | None = None) -> None:
        nonlocal order
        order += 1
        # Of two answers at one instant the newer source comes first, then the later component, as
        # the protocol has it.
        earlier = 0 if job is None else -ranks[job.exchange.lane.name]
        rank = -t if kind == _DONE else order
        heapq.heappush(timeline, (seconds(at_s), kind, rank, earlier, order, job))

    def carry_out(orders: Sequence[Order], now_s: float) -> None:
        for order in orders:
            lane = lanes[order.lane]
            if order.cancel:
                job = jobs.pop((order.lane, order.t))
                ledger.gave_up(job.exchange, now_s)
                pools[lane.name].drop(job)
                ledger.tally.in_flight -= job.in_flight
            else:
                request = ledger.prepared.requests[order.t]
                job = _Job(Exchange(lane, order.t, releases[order.t], request))
                jobs[order.lane, order.t] = job
                pools[lane.name].waiting.append(job)

    prepared = ledger.prepared
    for t in range(steps):
        plan(t * prepared.interval_s, _RELEASE, t)
    published = 0
    while timeline:
        now_s, kind, _, _, _, job = heapq.heappop(timeline)
        if kind == _RELEASE:
            t, published = published, published + 1
            ledger.released(t, now_s)
            releases.append(now_s)
            carry_out(desk.published(t), now_s)
        elif job is not None and job.given_up:
            pass
        elif job is not None and kind == _READY:
            job.started_s = now_s
            pools[job.exchange.lane.name].queued.append(job)
        elif job is not None:
            pool = pools[job.exchange.lane.name]
            pool.workers += 1
            job.served = False
            retry_s = _conclude(ledger, dispatch, job)
            if retry_s is None:
                pool.slots += 1
                ledger.tally.in_flight -= 1
                rank = ranks[job.exchange.lane.name]
                del jobs[rank, job.exchange.t]
                in_time = job.completed_s < prepared.horizon_s
                unsure = policy is not None and policy.unsure(_sure(job))
                orders = desk.answered(rank, job.exchange.t, unsure=unsure, in_time=in_time)
                carry_out(orders, now_s)
            else:
                plan(now_s + retry_s, _READY, job.exchange.t, job)
        for pool in pools.values():
            while pool.slots and pool.waiting:
                waiting = pool.waiting.popleft()
                waiting.started_s = now_s
                waiting.exchange.begun_s = now_s
                waiting.in_flight = 1
                pool.slots -= 1
                ledger.tally.in_flight += 1
                pool.queued.append(waiting)
            while pool.workers and pool.queued:
                taken = pool.queued.popleft()
                pool.workers -= 1
                taken.served = True
                await _measure(ledger, taken, now_s)
                plan(taken.completed_s, _DONE, taken.exchange.t, taken)
    for rank, t, reason in desk.skipped():
        ledger.skipped(lanes[rank], t, reason)
    ledger.finished()


def _sure(job: _Job) -> float | None:
    return job.outcome.confidence if isinstance(job.outcome, Reading) else None


async def _measure(ledger: Ledger, job: _Job, taken_s: float) -> None:
    """Calls the component now and says when, on the timeline, it will have answered."""
    await asyncio.sleep(0)  # an interruption gets through, also when answers never wait
    begin = received = time.perf_counter()
    declared_s: float | None = None
    try:
        raw = await call(job.exchange.lane.component, job.exchange.request)
        received = time.perf_counter()
        answer = ledger.received(raw)
        declared_s = answer.service_s
        job.outcome = ledger.read(answer, job.exchange.lane)
    except Exception as error:
        job.outcome = classify(error)
    ended = time.perf_counter()
    served_s = received - begin if declared_s is None else declared_s
    checked_s = ended - begin if declared_s is None else declared_s
    job.received_s = seconds(taken_s + served_s)
    job.completed_s = seconds(taken_s + checked_s)


def _conclude(ledger: Ledger, dispatch: Dispatch, job: _Job) -> float | None:
    """Writes how the attempt ended; seconds to wait before the next one, or None: answered."""
    exchange, outcome = job.exchange, job.outcome
    if isinstance(outcome, Reading):
        ledger.succeeded(exchange, job.started_s, job.received_s, job.completed_s)
        ledger.commit(exchange, outcome, job.received_s, job.completed_s, job.completed_s)
        return None
    if outcome is None:
        raise AssertionError("an attempt ends with an answer or a failure")
    ledger.failed(exchange, job.started_s, job.completed_s, outcome)
    if isinstance(outcome, Fatal):
        raise outcome
    return next_delay(dispatch.retry, len(exchange.attempts), outcome)
