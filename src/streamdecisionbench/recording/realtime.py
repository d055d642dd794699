"""Real time: every step is published when it is planned, whatever is still pending.

Every release starts one request per component, or what a policy orders instead. At most
`max_in_flight` requests of a component run at once; one more waits for a slot, and that wait is
dispatch lag, not latency. A request keeps its slot through its retries. Streams that run side by side
may share a further limit, over all of them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from streamdecisionbench.components.contract import Answer, Component, Fatal, Request, Retryable
from streamdecisionbench.policies.policy_events import Order
from streamdecisionbench.recording.clock import Clock, Heartbeat, PauseDetector
from streamdecisionbench.recording.episode import EpisodeLog, Exchange, ReadAnswer
from streamdecisionbench.recording.retry import classify, next_delay
from streamdecisionbench.recording.run_options import DispatchOptions

_GRACE_S = 0.1


async def run_episode(
    log: EpisodeLog,
    dispatch: DispatchOptions,
    clock: Clock,
    pauses: PauseDetector | None = None,
    gates: Mapping[str | None, asyncio.Semaphore] | None = None,
    heart: Heartbeat | None = None,
) -> None:
    """Publishes every step and returns when every answer is in, also those after the horizon.

    The first failure that may not be retried ends the episode: what is pending is given up, what
    was written stays. So does `pauses` that sees time pass us by. `gates` hold the slots that this
    stream shares with others, by component. Every time in which `heart` found the loop standing still is
    written with the states and answers that waited through it.
    """
    work = _Episode(log, dispatch, clock, gates or {}, heart)
    prepared = log.prepared
    try:
        async with asyncio.TaskGroup() as group:
            for t in range(len(log.releases), prepared.n):
                release_s = await clock.sleep_until(prepared.planned_s[t])
                stalled_s = work.stalled_s(prepared.planned_s[t], release_s)
                work.carry_out(group, log.release(release_s, stalled_s))
                if pauses is not None:
                    pauses.released(t, release_s, prepared.planned_s[t])
    except BaseExceptionGroup as failures:
        if pauses is not None:  # a machine that slept breaks connections: that is the cause
            pauses.check_sleep(log.tally.step - 1)
        raise _first(failures) from None
    if pauses is not None:
        pauses.check_sleep(prepared.n - 1)
    log.finished()


class _Episode:
    """Requests under way in one episode."""

    def __init__(
        self,
        log: EpisodeLog,
        dispatch: DispatchOptions,
        clock: Clock,
        gates: Mapping[str | None, asyncio.Semaphore],
        heart: Heartbeat | None = None,
    ) -> None:
        self.log, self.dispatch, self.clock = log, dispatch, clock
        self.heart, self.episode_id = heart, log.prepared.scenario.episode_id
        if heart is not None:
            heart.watch(self)
        self._slots = [asyncio.Semaphore(dispatch.max_in_flight) for _ in log.members]
        self._shared = [gates.get(m.name) or contextlib.nullcontext() for m in log.members]
        self._running: dict[tuple[int, int], tuple[Exchange, asyncio.Task[None]]] = {}

    def waiting(self, end_s: float) -> int | None:
        """The step that an answer was pending for, or that was due before `end_s`."""
        published, planned_s = len(self.log.releases), self.log.prepared.planned_s
        if self._running:
            return published - 1
        due = published < len(planned_s) and planned_s[published] < self.clock.at(end_s)
        return published if due else None

    def stalled_s(self, begin_s: float, end_s: float) -> float:
        """How much of this time the event loop stood still; asked before anything is written."""
        if self.heart is None:
            return 0.0
        self.heart.beat()
        return self.heart.within(self.clock.origin + begin_s, self.clock.origin + end_s)

    def carry_out(self, group: asyncio.TaskGroup, orders: Sequence[Order]) -> None:
        for order in orders:
            place, log = (order.rank, order.t), self.log
            if order.cancel:
                exchange, task = self._running.pop(place)
                log.gave_up(exchange, self.clock.now())
                task.cancel()
            else:
                request, release_s = log.prepared.requests[order.t], log.releases[order.t]
                exchange = Exchange(log.members[order.rank], order.t, release_s, request)
                task = group.create_task(self._serve(group, order, exchange))
                self._running[place] = exchange, task

    async def _serve(self, group: asyncio.TaskGroup, order: Order, exchange: Exchange) -> None:
        log = self.log
        async with self._slots[order.rank], self._shared[order.rank]:
            log.tally.in_flight += 1
            try:
                reading = await self._answer(exchange)
                now_s = self.clock.now()
                stalled_s = self.stalled_s(exchange.release_s, now_s)
                orders = log.commit(exchange, reading, now_s, stalled_s)
            finally:
                log.tally.in_flight -= 1
        del self._running[order.rank, order.t]
        self.carry_out(group, orders)

    async def _answer(self, exchange: Exchange) -> ReadAnswer:
        """Tries until there is an answer."""
        while True:
            outcome = await _attempt(self.log, exchange, self.dispatch, self.clock)
            if isinstance(outcome, ReadAnswer):
                return outcome
            await asyncio.sleep(next_delay(self.dispatch.retry, len(exchange.attempts), outcome))


async def _attempt(
    log: EpisodeLog, exchange: Exchange, dispatch: DispatchOptions, clock: Clock
) -> ReadAnswer | Retryable:
    """One call. A failure that may be tried again is returned, any other is raised."""
    component = exchange.member.component
    # The limit is on the network: what runs in this process takes the time it takes.
    # A client that keeps the limit itself ends first, and can say how far it had come.
    limit_s = None if component.info.in_process else dispatch.timeout_s + _GRACE_S
    received_s: float | None = None
    started_s = exchange.begun_s = clock.now()
    try:
        async with asyncio.timeout(limit_s):
            answer = log.received(await call(component, exchange.request))
            if answer.service_s is not None:
                # A simulation declares its service time; on the real clock it takes that long.
                await asyncio.sleep(max(0.0, started_s + answer.service_s - clock.now()))
        received_s = _received(answer, started_s, clock)
        reading = log.read(answer, exchange.member)
        completed_s = clock.now()
    except Exception as error:
        kind = classify(error, dispatch.retry)
        log.attempted(exchange, started_s, received_s, clock.now(), kind)
        if isinstance(kind, Fatal):
            raise kind from None
        return kind
    log.attempted(exchange, started_s, received_s, completed_s)
    return reading


async def call(component: Component, request: Request) -> Any:
    """Asks the component. Its own exits are failures of it, never of the recorder.

    A cancelled task inside a component would end this one without a trace, and the step with it.
    """
    task = asyncio.current_task()
    try:
        return await component.answer(request)
    except asyncio.CancelledError:
        if task is not None and task.cancelling():
            raise
        kind, what = "cancelled", "gave up a request by itself (CancelledError)"
    except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        kind, what = type(error).__name__, f"raised {type(error).__name__}"
    fix = "correct the component, then go on with --resume"
    raise Fatal(kind, f"{component.info.name} {what}", fix=fix)


def _received(answer: Answer, started_s: float, clock: Clock) -> float:
    now = clock.now()
    if answer.received_at is None or answer.service_s is not None:
        return now
    return min(max(clock.at(answer.received_at), started_s), now)


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    for failure in failures.exceptions:
        if isinstance(failure, BaseExceptionGroup):
            return _first(failure)
        return failure
    return failures
