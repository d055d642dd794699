"""A virtual timeline for components in this process: nothing waits.

Answers are computed one at a time and each one's duration is measured (or declared, by a
simulation or by whoever records). Those durations are then laid out on a timeline where steps are published as planned and a
declared number of workers serves requests first come, first served. Waiting for a worker is part of
the component's latency, as it would be if the component queued requests itself: `started_s` is when
the request was handed over, not when a worker took it up. Waiting for one of `max_in_flight` slots
is dispatch wait, as on the real clock.

Paused, the timeline waits for every answer, wherever it comes from: it is there at the instant it was
asked for. That measures judgment alone.
"""

from __future__ import annotations

import asyncio
import hashlib
import heapq
import math
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

from streamdecisionbench.components.contract import Fatal, Retryable
from streamdecisionbench.policies.policy_events import Order
from streamdecisionbench.recording.clock import seconds
from streamdecisionbench.recording.episode import EpisodeLog, Exchange, ReadAnswer
from streamdecisionbench.recording.realtime import call
from streamdecisionbench.recording.retry import classify, next_delay
from streamdecisionbench.recording.run_options import DispatchOptions, RetryPolicy

_DONE, _READY, _RELEASE = 0, 1, 2
"""Order of what happens at one instant: answers, then retries, then the next step."""


@dataclass(frozen=True, slots=True)
class StatedLatency:
    """Latencies declared by whoever records: of a state always the same, on whatever machine.

    e^(ln(median) + σ·z), z a standard normal draw from a hash of seed, scenario and step; or those of a
    recording, state by state.
    """

    text: str
    """As the run record and every signature have it."""
    median_s: float = 0.0
    sigma: float = 0.0
    recorded: Mapping[tuple[str, int], float] | None = None

    def of(self, episode_id: str, t: int, seed: int) -> float:
        """
        >>> StatedLatency("0.4", 0.4).of("support_a", 7, seed=1)
        0.4
        """
        if self.recorded is not None:
            return self.recorded[episode_id, t]
        if not self.sigma:
            return self.median_s
        drawn = hashlib.blake2b(f"{seed} {episode_id} {t}".encode(), digest_size=7).digest()
        share = (int.from_bytes(drawn, "big") + 0.5) / 2**56
        return self.median_s * math.exp(self.sigma * NormalDist().inv_cdf(share))


@dataclass(slots=True, eq=False)
class _Job:
    """A request on the timeline, and how its current attempt will end; times of its own episode."""

    exchange: Exchange
    stream: VirtualStream
    started_s: float = 0.0
    received_s: float = 0.0
    completed_s: float = 0.0
    in_flight: int = 0
    """1 from when it has a slot."""
    served: bool = False
    wait_s: float = 0.0
    """Paused: seconds to wait before it is tried again, while the timeline stands still."""
    given_up: bool = False
    outcome: ReadAnswer | Retryable | Fatal | None = None


@dataclass(slots=True)
class _Pool:
    """What all streams share of one component: slots in all, and workers."""

    slots: float
    workers: int
    waiting: deque[_Job] = field(default_factory=deque)
    queued: deque[_Job] = field(default_factory=deque)

    def drop(self, job: _Job) -> None:
        """A request that is given up leaves its queue, its slots and its worker at once."""
        job.given_up = True
        for line in (self.waiting, self.queued):
            if job in line:
                line.remove(job)
        self.give_back(job)
        self.workers += job.served

    def give_back(self, job: _Job) -> None:
        self.slots += job.in_flight
        job.stream.slots[job.exchange.member.name] += job.in_flight

    def with_slots(self) -> list[_Job]:
        """Who may start now, in order of waiting; takes the slots."""
        found: list[_Job] = []
        for job in list(self.waiting) if self.slots else ():
            own = job.stream.slots
            if self.slots and own[job.exchange.member.name]:
                own[job.exchange.member.name] -= 1
                self.slots -= 1
                self.waiting.remove(job)
                found.append(job)
        return found


class VirtualStream:
    """One episode's requests under way, begun `offset_s` after the first on the common timeline."""

    def __init__(self, log: EpisodeLog, offset_s: float = 0.0) -> None:
        self.log, self.offset_s = log, seconds(offset_s)
        self.slots: dict[str | None, int] = {}
        self.jobs: dict[tuple[int, int], _Job] = {}


async def run_virtual_streams(
    given: Sequence[VirtualStream],
    dispatch: DispatchOptions,
    workers: int,
    stated: StatedLatency | None = None,
    seed: int = 0,
    *,
    paused: bool = False,
) -> None:
    """The same events as `run_episode`, at the times the queueing model gives.

    Several episodes at once share the workers, and the slots in all where those are limited.
    """
    await _Timeline(given, dispatch, workers, stated, seed, paused).run()
    for stream in given:
        stream.log.finished()


class _Timeline:
    """What happens next, over all streams."""

    def __init__(
        self,
        given: Sequence[VirtualStream],
        dispatch: DispatchOptions,
        workers: int,
        stated: StatedLatency | None,
        seed: int,
        paused: bool,
    ) -> None:
        self.dispatch, self.stated, self.seed, self.paused = dispatch, stated, seed, paused
        self.streams = given
        for stream in given:
            stream.slots = {member.name: dispatch.max_in_flight for member in stream.log.members}
        in_all = float("inf") if dispatch.in_all is None else dispatch.in_all
        names = dict.fromkeys(
            member.name for stream in self.streams for member in stream.log.members
        )
        self.pools = {name: _Pool(in_all, workers) for name in names}
        self._heap: list[tuple[float, int, int, int, int, VirtualStream, _Job | None]] = []
        self._order = 0

    async def run(self) -> None:
        for stream in self.streams:
            planned_s = stream.log.prepared.planned_s
            for t in range(len(stream.log.releases), len(planned_s)):
                self._plan(stream, planned_s[t], _RELEASE, t)
        while self._heap:
            at_s, kind, _, _, _, stream, job = heapq.heappop(self._heap)
            self._happen(stream, seconds(at_s - stream.offset_s), kind, job)
            for pool in self.pools.values():
                await self._start(pool, at_s)

    def _happen(self, stream: VirtualStream, now_s: float, kind: int, job: _Job | None) -> None:
        if kind == _RELEASE:
            self._carry_out(stream, stream.log.release(now_s), now_s)
        elif job is None or job.given_up:
            pass
        elif kind == _READY:
            job.started_s = now_s
            self.pools[job.exchange.member.name].queued.append(job)
        else:
            self._done(stream, now_s, job)

    def _done(self, stream: VirtualStream, now_s: float, job: _Job) -> None:
        name, t = job.exchange.member.name, job.exchange.t
        pool = self.pools[name]
        pool.workers += 1
        job.served = False
        found = _conclude(stream.log, self.dispatch, job)
        if isinstance(found, float):
            job.wait_s = found if self.paused else 0.0
            self._plan(stream, now_s + found - job.wait_s, _READY, t, job)
            return
        pool.give_back(job)
        stream.log.tally.in_flight -= 1
        del stream.jobs[stream.log.ranks[name], t]
        self._carry_out(stream, found, now_s)

    async def _start(self, pool: _Pool, at_s: float) -> None:
        for job in pool.with_slots():
            now_s = seconds(at_s - job.stream.offset_s)
            job.started_s = job.exchange.begun_s = now_s
            job.in_flight = 1
            job.stream.log.tally.in_flight += 1
            pool.queued.append(job)
        while pool.workers and pool.queued:
            taken = pool.queued.popleft()
            pool.workers -= 1
            taken.served = True
            stream = taken.stream
            episode, t = stream.log.prepared.scenario.episode_id, taken.exchange.t
            stated_s = self.stated.of(episode, t, self.seed) if self.stated else None
            limit_s = self.dispatch.timeout_s if self.paused else None
            await asyncio.sleep(taken.wait_s)
            now_s = seconds(at_s - stream.offset_s)
            await _measure(stream.log, taken, now_s, self.dispatch.retry, stated_s, limit_s)
            self._plan(stream, taken.completed_s, _DONE, taken.exchange.t, taken)

    def _plan(
        self, stream: VirtualStream, now_s: float, kind: int, t: int, job: _Job | None = None
    ) -> None:
        self._order += 1
        # Of two answers at one instant the newer source comes first, then the later component, as
        # the protocol has it.
        earlier = 0 if job is None else -stream.log.ranks[job.exchange.member.name]
        rank = -t if kind == _DONE else self._order
        at_s = seconds(stream.offset_s + seconds(now_s))
        heapq.heappush(self._heap, (at_s, kind, rank, earlier, self._order, stream, job))

    def _carry_out(self, stream: VirtualStream, orders: Sequence[Order], now_s: float) -> None:
        for order in orders:
            member = stream.log.members[order.rank]
            if order.cancel:
                job = stream.jobs.pop((order.rank, order.t))
                stream.log.gave_up(job.exchange, now_s)
                self.pools[member.name].drop(job)
                stream.log.tally.in_flight -= job.in_flight
            else:
                request = stream.log.prepared.requests[order.t]
                job = _Job(Exchange(member, order.t, stream.log.releases[order.t], request), stream)
                stream.jobs[order.rank, order.t] = job
                self.pools[member.name].waiting.append(job)


async def _measure(
    log: EpisodeLog,
    job: _Job,
    taken_s: float,
    retry: RetryPolicy,
    stated_s: float | None,
    paused_s: float | None,
) -> None:
    """Calls the component now and says when, on the timeline, it will have answered.

    Paused, at once, if it answers within so many seconds.
    """
    await asyncio.sleep(0)  # an interruption gets through, also when answers never wait
    begin = received = time.perf_counter()
    declared_s = stated_s
    try:
        component = job.exchange.member.component
        async with asyncio.timeout(None if component.info.in_process else paused_s):
            raw = await call(component, job.exchange.request)
        received = time.perf_counter()
        answer = log.received(raw)
        declared_s = answer.service_s if stated_s is None else stated_s
        job.outcome = log.read(answer, job.exchange.member)
    except Exception as error:
        job.outcome = classify(error, retry)
    ended = time.perf_counter()
    if paused_s is not None:
        declared_s = 0.0
    served_s = received - begin if declared_s is None else declared_s
    checked_s = ended - begin if declared_s is None else declared_s
    job.received_s = seconds(taken_s + served_s)
    job.completed_s = seconds(taken_s + checked_s)


def _conclude(log: EpisodeLog, dispatch: DispatchOptions, job: _Job) -> float | list[Order]:
    """Writes how the attempt ended; seconds to wait before the next one, or what is to be done now."""
    exchange, outcome = job.exchange, job.outcome
    if isinstance(outcome, ReadAnswer):
        log.attempted(exchange, job.started_s, job.received_s, job.completed_s)
        return log.commit(exchange, outcome, job.completed_s)
    if outcome is None:
        raise AssertionError("an attempt ends with an answer or a failure")
    log.attempted(exchange, job.started_s, None, job.completed_s, outcome)
    if isinstance(outcome, Fatal):
        raise outcome
    return next_delay(dispatch.retry, len(exchange.attempts), outcome)
