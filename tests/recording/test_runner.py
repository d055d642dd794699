"""The real-time runner: releases, slots, acceptance, and what is written when."""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import Any

import pytest

from streamdecisionbench.components.contract import Answer, Fatal, Request, Retryable
from streamdecisionbench.kernel.rule import PairRule
from streamdecisionbench.recording.clock import Clock
from streamdecisionbench.recording.episode import EpisodeLog, Member, Tally, prepare
from streamdecisionbench.recording.event_log import Attempt, Release, Response
from streamdecisionbench.recording.realtime import run_episode
from streamdecisionbench.recording.run_options import DispatchOptions, RetryPolicy
from tests.recording.recorder_kit import InProcess, MemoryLog, alone, right, small_scenario

pytestmark = pytest.mark.slow

QUICK = RetryPolicy(delays_s=(0.0, 0.001, 0.001, 0.001))


def episode(
    lanes: list[Member],
    *,
    steps: int = 6,
    interval: float = 0.01,
    dispatch: DispatchOptions | None = None,
    rule: str | None = None,
    log: Any = None,
) -> tuple[MemoryLog, Tally]:
    log = log if log is not None else MemoryLog()
    tally = Tally()
    prepared = prepare(small_scenario("one_a", steps), interval)
    ledger = EpisodeLog(prepared, lanes, log.append, tally, rule=rule)
    asyncio.run(run_episode(ledger, dispatch or DispatchOptions(retry=QUICK), Clock()))
    return log, tally


def test_every_step_is_released_in_order_and_answered_once() -> None:
    log, tally = episode(alone(InProcess()))
    releases = log.of(Release)
    assert [r.t for r in releases] == list(range(6))
    assert [r.planned_s for r in releases] == [round(0.01 * t, 9) for t in range(6)]
    assert all(r.release_s >= r.planned_s for r in releases)
    assert sorted(r.t for r in log.of(Response)) == list(range(6))
    assert tally.in_flight == 0


def test_after_a_stall_due_steps_go_out_one_by_one() -> None:
    """A component that blocks the whole process makes releases late, never lost or bunched."""

    async def block(request: Request, call: int) -> Answer:
        if request.state["clock"] == 1:
            time.sleep(0.1)
        return right(request)

    log, _ = episode(alone(InProcess(block)), steps=8)
    releases = [r.release_s for r in log.of(Release)]
    assert releases == sorted(set(releases))
    assert max(r.release_s - r.planned_s for r in log.of(Release)) > 0.05
    order = [(type(e).__name__, e.t) for e in log.events if not isinstance(e, Attempt)]
    for t in range(2, 6):
        assert order.index(("Response", t)) < order.index(("Release", t + 2))


def test_a_step_is_published_while_earlier_ones_are_pending() -> None:
    held = asyncio.Event()

    async def hold(request: Request, call: int) -> Answer:
        if request.state["clock"] == 5:
            held.set()
        await held.wait()
        return right(request)

    log, _ = episode(alone(InProcess(hold)))
    last_release = max(i for i, e in enumerate(log.events) if isinstance(e, Release))
    first_response = min(i for i, e in enumerate(log.events) if isinstance(e, Response))
    assert last_release < first_response


def test_times_are_in_causal_order_and_chained_to_the_release() -> None:
    async def slow(request: Request, call: int) -> Answer:
        await asyncio.sleep(0.003)
        return right(request)

    log, _ = episode(alone(InProcess(slow)))
    releases = {r.t: r.release_s for r in log.of(Release)}
    for r in log.of(Response):
        assert r.release_s == releases[r.t]
        assert r.release_s <= r.started_s <= r.received_s <= r.completed_s <= r.actual_recorded_s
        assert r.latency_s > 0


def test_a_full_house_makes_the_next_request_wait_and_that_is_not_latency() -> None:
    first_leaves = asyncio.Event()

    async def hold(request: Request, call: int) -> Answer:
        if request.state["clock"] == 0:
            await first_leaves.wait()
        return right(request)

    component = InProcess(hold)

    async def run() -> MemoryLog:
        log = MemoryLog()
        prepared = prepare(small_scenario("one_a", 3), 0.01)
        ledger = EpisodeLog(prepared, alone(component), log.append, Tally())
        work = asyncio.create_task(run_episode(ledger, DispatchOptions(max_in_flight=1), Clock()))
        while len(log.of(Release)) < 3:
            await asyncio.sleep(0.001)
        first_leaves.set()
        await work
        return log

    log = asyncio.run(run())
    assert component.most_at_once == 1
    done = {r.t: r for r in log.of(Response)}
    # Step 1 could only start once step 0 was through, which was after step 2 was published.
    assert done[1].started_s >= done[2].release_s
    assert done[1].success_started_s >= done[0].completed_s


def test_at_most_the_declared_number_runs_at_once() -> None:
    async def slow(request: Request, call: int) -> Answer:
        await asyncio.sleep(0.02)
        return right(request)

    component = InProcess(slow)
    episode(alone(component), steps=20, interval=0.001, dispatch=DispatchOptions(max_in_flight=4))
    assert component.most_at_once == 4


def test_an_older_answer_is_discarded_and_one_after_the_horizon_too() -> None:
    newer = asyncio.Event()

    async def shuffle(request: Request, call: int) -> Answer:
        t = request.state["clock"]
        if t == 0:
            await newer.wait()
        if t == 1:
            newer.set()
        if t == 2:
            await asyncio.sleep(0.5)
        return right(request)

    log, tally = episode(alone(InProcess(shuffle)), steps=3, interval=0.2)
    done = {r.t: r for r in log.of(Response)}
    assert (done[1].accepted, done[1].accepted_s) == (True, done[1].actual_recorded_s)
    assert (done[0].accepted, done[0].discard_reason) == (False, "older_than_active")
    assert (done[2].accepted, done[2].discard_reason) == (False, "after_horizon")
    assert (tally.accepted, tally.discarded) == (1, 2)


def test_events_are_written_before_they_have_consequences() -> None:
    """When a request reaches the component, its release is in the log; no response precedes its attempt."""
    log = MemoryLog()

    async def look(request: Request, call: int) -> Answer:
        assert request.state["clock"] in [r.t for r in log.of(Release)]
        return right(request)

    episode(alone(InProcess(look)), log=log)
    for t in range(6):
        kinds = [type(e) for e in log.events if e.t == t]
        assert kinds == [Release, Attempt, Response]


def test_a_retried_request_keeps_its_input_and_every_attempt_is_written() -> None:
    hashes = []

    async def third_time(request: Request, call: int) -> Answer:
        hashes.append(request.request_hash)
        if call == 1:
            raise Retryable("connection")
        if call == 2:
            raise Retryable("rate_limit", http_status=429)
        return right(request)

    log, tally = episode(alone(InProcess(third_time)), steps=1)
    assert len(set(hashes)) == 1
    attempts = log.of(Attempt)
    assert [(a.attempt, a.ok, a.retryable, a.error_type, a.http_status) for a in attempts] == [
        (1, False, True, "connection", None),
        (2, False, True, "rate_limit", 429),
        (3, True, False, None, None),
    ]
    (response,) = log.of(Response)
    assert response.started_s == attempts[0].started_s
    assert response.success_started_s == attempts[2].started_s
    assert response.latency_s <= response.actual_recorded_s - attempts[2].started_s + 1e-9
    assert tally.failed_attempts == 2


def test_five_failures_stop_the_episode() -> None:
    async def never(request: Request, call: int) -> Answer:
        raise Retryable("connection")

    component = InProcess(never)
    log = MemoryLog()
    with pytest.raises(Fatal, match="5 attempts failed"):
        episode(alone(component), steps=1, log=log)
    assert component.calls == {("one_a", 0): 5}
    assert len(log.of(Attempt)) == 5


def test_a_fatal_error_gives_up_what_is_pending_and_keeps_what_is_written() -> None:
    async def break_at_two(request: Request, call: int) -> Answer:
        if request.state["clock"] == 2:
            raise Fatal("authentication", "the key was refused", fix="renew it")
        if request.state["clock"] == 1:
            await asyncio.sleep(60)
        return right(request)

    log = MemoryLog()
    with pytest.raises(Fatal, match="the key was refused"):
        episode(alone(InProcess(break_at_two)), steps=30, log=log)
    assert 1 not in [r.t for r in log.of(Response)]
    assert 0 in [r.t for r in log.of(Response)]
    assert max(r.t for r in log.of(Release)) < 29


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer({"route": "K01"}), "missing_answer"),
        (Answer({"route": "K01", "speed": "K99"}), "unknown_label"),
        (Answer({"route": "K01", "speed": "K03", "mood": "K01"}), "unknown_question"),
        (
            Answer(
                {"route": "K01", "speed": "K03"}, probabilities={"speed": {"K03": 0.2, "K04": 0.2}}
            ),
            "bad_distribution",
        ),
    ],
)
def test_an_answer_that_breaks_the_contract_stops_the_run(answer: Answer, error: str) -> None:
    async def broken(request: Request, call: int) -> Answer:
        return answer

    log = MemoryLog()
    with pytest.raises(Fatal) as caught:
        episode(alone(InProcess(broken)), log=log)
    assert caught.value.error_type == error
    (attempt,) = log.of(Attempt)
    assert (attempt.ok, attempt.retryable, attempt.error_type) == (False, False, error)
    assert attempt.received_s is not None
    assert not log.of(Response)


def test_an_attempt_that_never_answers_is_timed_out_and_retried() -> None:
    async def hang_once(request: Request, call: int) -> Answer:
        if call == 1:
            await asyncio.sleep(600)
        return right(request)

    component = InProcess(hang_once, in_process=False)
    dispatch = DispatchOptions(timeout_s=0.5, retry=QUICK)
    log, _ = episode(alone(component), steps=1, dispatch=dispatch)
    assert [a.error_type for a in log.of(Attempt)] == ["timeout", None]


def test_what_runs_in_this_process_has_no_network_to_time_out() -> None:
    async def slow(request: Request, call: int) -> Answer:
        await asyncio.sleep(0.05)
        return right(request)

    log, _ = episode(alone(InProcess(slow)), steps=1, dispatch=DispatchOptions(timeout_s=0.001))
    assert [a.ok for a in log.of(Attempt)] == [True]


def test_a_declared_service_time_really_passes() -> None:
    async def declared(request: Request, call: int) -> Answer:
        return right(request, service_s=0.03)

    log, _ = episode(alone(InProcess(declared)), steps=2)
    assert all(r.service_s >= 0.03 for r in log.of(Response))


def test_probabilities_confidence_and_usage_are_kept() -> None:
    async def sure(request: Request, call: int) -> Answer:
        hint = request.state["hint"]
        options = {"route": ("K01", "K02"), "speed": ("K03", "K04")}
        spread = {q: {k: 0.9 if k == hint[q] else 0.1 for k in options[q]} for q in hint}
        return right(request, probabilities=spread, confidence={"route": 0.9}, model="m-1")

    log, _ = episode(alone(InProcess(sure)), steps=1)
    (response,) = log.of(Response)
    assert response.probabilities["route"]["K02"] == 0.9
    assert response.confidence == {"route": 0.9}
    assert response.model == "m-1"


def test_a_log_that_cannot_be_written_takes_no_further_line() -> None:
    class Full(MemoryLog):
        def append(self, event: Any) -> None:
            if len(self.events) >= 4:
                self.refused = getattr(self, "refused", 0) + 1
                raise OSError(28, "No space left on device")
            super().append(event)

    log = Full()
    with pytest.raises(OSError, match="No space left"):
        episode(alone(InProcess()), log=log)
    assert log.refused == 1


def test_running_in_force_accuracy_is_that_of_the_log() -> None:
    """The tally's share equals the one computed from the written events."""

    async def wrong_at_first(request: Request, call: int) -> Answer:
        if request.state["clock"] < 2:
            return Answer({"route": "K01", "speed": "K03"})
        return right(request)

    log, tally = episode(alone(InProcess(wrong_at_first)), steps=8)
    scenario = small_scenario("one_a", 8)
    reference, horizon = scenario.reference(), 8 * 0.01
    edges = sorted(
        {r.release_s for r in log.of(Release)}
        | {r.accepted_s for r in log.of(Response) if r.accepted}
        | {horizon}
    )
    correct = 0.0
    for start, end in itertools.pairwise(edges):
        if end > horizon:
            continue
        step = max(r.t for r in log.of(Release) if r.release_s <= start)
        live = [r for r in log.of(Response) if r.accepted and r.accepted_s <= start]
        if live and max(live, key=lambda r: r.t).decision == reference[step]:
            correct += end - start
    assert tally.correct_s == pytest.approx(correct, abs=1e-6)
    assert tally.observed_s == pytest.approx(horizon - edges[0], abs=1e-6)


def test_a_live_pair_calls_both_and_arbitrates_as_answers_arrive() -> None:
    slow_may = asyncio.Event()

    async def fast(request: Request, call: int) -> Answer:
        if request.state["clock"] == 1:
            slow_may.set()
        return right(request)

    async def slow(request: Request, call: int) -> Answer:
        if request.state["clock"] == 0:
            await slow_may.wait()
            await asyncio.sleep(0.005)
        return right(request)

    lanes = [Member(InProcess(fast), "fast"), Member(InProcess(slow), "slow")]
    log, _ = episode(lanes, steps=2, interval=0.4, rule="freshest")
    found = {(r.component, r.t): r for r in log.of(Response)}
    assert len(found) == 4
    assert found["fast", 0].accepted
    assert found["fast", 1].accepted
    # The slow answer to step 0 came after the fast one to step 1 took effect.
    assert found["slow", 0].discard_reason == "older_than_active"
    # At equal source the slow answer corrects the fast one.
    assert found["slow", 1].accepted


@pytest.mark.parametrize(
    ("rule", "admitted"),
    [("freshest", [2]), ("lag_one", [1, 2]), ("late_override", [0, 1, 2])],
)
def test_pair_rules_differ_in_how_old_a_correction_may_be(rule: str, admitted: list[int]) -> None:
    found = []
    for source in range(3):
        arbiter = PairRule(rule)
        assert arbiter.admits("fast", 2)
        arbiter.activate("fast", 2)
        if arbiter.admits("slow", source):
            found.append(source)
    assert found == admitted


def test_within_a_component_only_newer_sources_count_even_after_a_refusal() -> None:
    arbiter = PairRule("late_override")
    assert arbiter.admits("slow", 3)
    arbiter.activate("slow", 3)
    assert arbiter.admits("fast", 2) is False
    assert arbiter.admits("slow", 1) is False
    assert arbiter.admits("fast", 2) is False
    assert arbiter.admits("fast", 4)
