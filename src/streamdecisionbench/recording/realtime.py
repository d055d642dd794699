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
from dataclasses import dataclass, field
from typing import Any

from streamdecisionbench.components.contract import Answer, Component, Fatal, Request, Retryable
from streamdecisionbench.recording.clock import Clock, PauseDetector
from streamdecisionbench.recording.episode_log import EpisodeLog, Exchange, Member, ReadAnswer
from streamdecisionbench.recording.retry import RetryPolicy, classify, next_delay
from streamdecisionbench.rules.policy_events import Dispatcher, Order
from streamdecisionbench.rules.policy_file import Policy

_GRACE_S = 0.1


@dataclass(frozen=True, slots=True)
class Sending:
    """How requests are sent: the same for every step of a recording."""

    max_in_flight: int = 32
    """Requests of one component at once, in each stream."""
    in_all: int | None = None
    """The same over all streams together; None: no limit beyond theirs."""
    timeout_s: float = 20.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)


async def run_episode(
    log: EpisodeLog,
    members: Sequence[Member],
    dispatch: Sending,
    clock: Clock,
    pauses: PauseDetector | None = None,
    gates: Mapping[str | None, asyncio.Semaphore] | None = None,
    released: Sequence[float] = (),
) -> None:
    """Publishes every step and returns when every answer is in, also those after the horizon.

    The first failure that may not be retried ends the episode: what is pending is given up, what
    was written stays. So does `pauses` that sees time pass us by. `gates` hold the slots that this
    stream shares with others, by component. `released` are states of a session that is taken up where
    it was broken off: published before, and answered.
    """
    work = _Episode(log, members, dispatch, clock, gates or {})
    prepared = log.prepared
    work.releases += released
    take_up(work.dispatcher, len(released), len(members))
    try:
        async with asyncio.TaskGroup() as group:
            for t in range(len(released), prepared.n):
                release_s = await clock.sleep_until(prepared.planned_s[t])
                log.publish(release_s, members)
                # The tasks run once this one waits again: after the release is on disk.
                work.releases.append(release_s)
                orders = work.dispatcher.published(t)
                work.start(group, [order for order in orders if not order.cancel])
                log.released(t, release_s)
                work.give_up([order for order in orders if order.cancel])
                if pauses is not None:
                    pauses.released(t, release_s, prepared.planned_s[t])
    except BaseExceptionGroup as failures:
        if pauses is not None:  # a machine that slept breaks connections: that is the cause
            pauses.check_sleep(log.tally.step - 1)
        raise _first(failures) from None
    if pauses is not None:
        pauses.check_sleep(prepared.n - 1)
    for member, t, reason in work.dispatcher.skipped():
        log.skipped(members[member], t, reason)
    log.finished()


def dispatcher_of(log: EpisodeLog, members: Sequence[Member]) -> Dispatcher:
    """The policy's, or one that sends every state to everyone."""
    if log.policy is not None:
        return log.policy.dispatcher
    return Dispatcher(Policy(), [True] * log.prepared.n, len(members))


def take_up(dispatcher: Dispatcher, states: int, members: int) -> None:
    """Tells it of states that were published and answered before."""
    for t in range(states):
        dispatcher.published(t)
        for rank in range(members):
            dispatcher.answered(rank, t, unsure=False, in_time=True)


class _Episode:
    """Requests under way in one episode."""

    def __init__(
        self,
        log: EpisodeLog,
        members: Sequence[Member],
        dispatch: Sending,
        clock: Clock,
        gates: Mapping[str | None, asyncio.Semaphore],
    ) -> None:
        self.log, self.members, self.dispatch, self.clock = log, members, dispatch, clock
        self.releases: list[float] = []
        self.dispatcher = dispatcher_of(log, members)
        self._slots = [asyncio.Semaphore(dispatch.max_in_flight) for _ in members]
        self._shared = [gates.get(member.name) or contextlib.nullcontext() for member in members]
        self._running: dict[tuple[int, int], tuple[Exchange, asyncio.Task[None]]] = {}

    def start(self, group: asyncio.TaskGroup, orders: Sequence[Order]) -> None:
        for order in orders:
            request = self.log.prepared.requests[order.t]
            exchange = Exchange(self.members[order.rank], order.t, self.releases[order.t], request)
            task = group.create_task(self._serve(group, order, exchange))
            self._running[order.rank, order.t] = exchange, task

    def give_up(self, orders: Sequence[Order]) -> None:
        for order in orders:
            exchange, task = self._running.pop((order.rank, order.t))
            self.log.gave_up(exchange, self.clock.now())
            task.cancel()

    async def _serve(self, group: asyncio.TaskGroup, order: Order, exchange: Exchange) -> None:
        log, clock = self.log, self.clock
        async with self._slots[order.rank], self._shared[order.rank]:
            log.tally.in_flight += 1
            try:
                reading = await self._answer(exchange)
                response = log.commit(exchange, reading, clock.now())
            finally:
                log.tally.in_flight -= 1
        del self._running[order.rank, order.t]
        unsure = log.policy is not None and log.policy.unsure(reading.confidence)
        in_time = response.actual_recorded_s < log.prepared.horizon_s
        orders = self.dispatcher.answered(order.rank, order.t, unsure=unsure, in_time=in_time)
        self.give_up([each for each in orders if each.cancel])
        self.start(group, [each for each in orders if not each.cancel])

    async def _answer(self, exchange: Exchange) -> ReadAnswer:
        """Tries until there is an answer."""
        while True:
            outcome = await _attempt(self.log, exchange, self.dispatch, self.clock)
            if isinstance(outcome, ReadAnswer):
                return outcome
            await asyncio.sleep(next_delay(self.dispatch.retry, len(exchange.attempts), outcome))


async def _attempt(
    log: EpisodeLog, exchange: Exchange, dispatch: Sending, clock: Clock
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
