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
from streamdecisionbench.in_force import FAST
from streamdecisionbench.recording.clock import seconds
from streamdecisionbench.recording.ledger import Exchange, Lane, Ledger, Reading
from streamdecisionbench.recording.realtime import Dispatch, call
from streamdecisionbench.recording.retry import classify, next_delay

__all__ = ["run_virtual_episode"]

_DONE, _READY, _RELEASE = 0, 1, 2
"""Order of what happens at one instant: answers, then retries, then the next step."""


@dataclass(slots=True)
class _Job:
    """A request on the timeline, and how its current attempt will end."""

    exchange: Exchange
    started_s: float = 0.0
    received_s: float = 0.0
    completed_s: float = 0.0
    outcome: Reading | Retryable | Fatal | None = None


@dataclass(slots=True)
class _Pool:
    """One component's slots and workers."""

    slots: int
    workers: int
    waiting: deque[_Job] = field(default_factory=deque)
    queued: deque[_Job] = field(default_factory=deque)


async def run_virtual_episode(
    ledger: Ledger, lanes: Sequence[Lane], dispatch: Dispatch, workers: int
) -> None:
    """The same events as `run_episode`, at the times the queueing model gives."""
    pools = {lane.name: _Pool(dispatch.max_in_flight, workers) for lane in lanes}
    timeline: list[tuple[float, int, int, bool, int, _Job | None]] = []
    order = 0

    def plan(at_s: float, kind: int, t: int, job: _Job | None = None) -> None:
        nonlocal order
        order += 1
        # Of two answers at one instant the newer source comes first, then slow before fast, as the
        # protocol has it.
        fast = job is not None and job.exchange.lane.name == FAST
        rank = -t if kind == _DONE else order
        heapq.heappush(timeline, (seconds(at_s), kind, rank, fast, order, job))

    prepared = ledger.prepared
    for t in range(len(prepared.requests)):
        plan(t * prepared.interval_s, _RELEASE, t)
    published = 0
    while timeline:
        now_s, kind, _, _, _, job = heapq.heappop(timeline)
        if kind == _RELEASE:
            t, published = published, published + 1
            ledger.released(t, now_s)
            for lane in lanes:
                exchange = Exchange(lane, t, now_s, prepared.requests[t])
                pools[lane.name].waiting.append(_Job(exchange))
        elif job is not None and kind == _READY:
            job.started_s = now_s
            pools[job.exchange.lane.name].queued.append(job)
        elif job is not None:
            pool = pools[job.exchange.lane.name]
            pool.workers += 1
            retry_s = _conclude(ledger, dispatch, job)
            if retry_s is None:
                pool.slots += 1
                ledger.tally.in_flight -= 1
            else:
                plan(now_s + retry_s, _READY, job.exchange.t, job)
        for pool in pools.values():
            while pool.slots and pool.waiting:
                waiting = pool.waiting.popleft()
                waiting.started_s = now_s
                pool.slots -= 1
                ledger.tally.in_flight += 1
                pool.queued.append(waiting)
            while pool.workers and pool.queued:
                taken = pool.queued.popleft()
                pool.workers -= 1
                await _measure(ledger, taken, now_s)
                plan(taken.completed_s, _DONE, taken.exchange.t, taken)
    ledger.finished()


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
        job.outcome = ledger.read(answer)
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
