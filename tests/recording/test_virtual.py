"""The virtual clock: nothing waits, and queueing follows the declared workers exactly."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamdecisionbench.components.contract import Answer, Fatal, Request, Retryable
from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import Newest
from streamdecisionbench.recording.episode_log import EpisodeLog, Tally, prepare
from streamdecisionbench.recording.events import Attempt, Expired, Release, Response, Skipped
from streamdecisionbench.recording.live_policy import LivePolicy
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.realtime import Sending
from streamdecisionbench.recording.record import record
from streamdecisionbench.recording.virtual import VirtualStream, run_virtual_streams
from streamdecisionbench.rules.policy_file import parse_policy
from tests.recording.recorder_kit import (
    Behaviour,
    InProcess,
    MemoryLog,
    alone,
    right,
    settings,
    small_scenario,
    small_suite,
)


def virtual(
    behaviour: Behaviour,
    *,
    steps: int = 4,
    tick: float = 1.0,
    workers: int = 1,
    slots: int = 32,
    policy: str | None = None,
    tally: Tally | None = None,
) -> MemoryLog:
    log, scenario = MemoryLog(), small_scenario("one_a", steps)
    live = None if policy is None else LivePolicy(parse_policy(policy), scenario, [None])
    arbiter = live.arbiter if live else Newest()
    ledger = EpisodeLog(prepare(scenario, tick), log.append, arbiter, tally or Tally(), policy=live)
    asyncio.run(
        run_virtual_streams(
            [VirtualStream(ledger, alone(InProcess(behaviour)))],
            Sending(max_in_flight=slots),
            workers,
        )
    )
    return log


def declared(durations: list[float]) -> Behaviour:
    async def behave(request: Request, call: int) -> Answer:
        return right(request, service_s=durations[request.state["clock"]])

    return behave


def test_one_worker_serves_first_come_first_served() -> None:
    log = virtual(declared([2.5, 0.1, 0.1, 0.1]))
    done = {r.t: r.completed_s for r in log.of(Response)}
    assert done == pytest.approx({0: 2.5, 1: 2.6, 2: 2.7, 3: 3.1})


def test_waiting_for_a_worker_is_latency_and_waiting_for_a_slot_is_not() -> None:
    queued = {r.t: r for r in virtual(declared([2.5, 0.1, 0.1, 0.1])).of(Response)}
    assert queued[1].started_s == 1.0
    assert queued[1].latency_s == pytest.approx(1.6)
    one_slot = {r.t: r for r in virtual(declared([2.5, 0.1, 0.1, 0.1]), slots=1).of(Response)}
    assert one_slot[1].started_s == pytest.approx(2.5)
    assert one_slot[1].latency_s == pytest.approx(0.1)
    assert one_slot[1].completed_s == pytest.approx(2.6)


def test_more_workers_answer_out_of_order_and_acceptance_notices() -> None:
    log = virtual(declared([2.5, 0.1, 0.1, 9.0]), workers=4)
    found = {r.t: (r.accepted, r.discard_reason) for r in log.of(Response)}
    assert found == {
        0: (False, "older_than_active"),
        1: (True, None),
        2: (True, None),
        3: (False, "after_horizon"),
    }


@pytest.mark.parametrize(
    ("service_s", "accepted"), [(0.999999999, True), (1.0, False), (1.000000001, False)]
)
def test_an_answer_at_the_horizon_is_too_late(service_s: float, accepted: bool) -> None:
    """Observed time is [r_0, H): at H itself nothing is in force any more."""
    last = virtual(declared([0.1, 0.1, 0.1, service_s])).of(Response)[-1]
    assert last.accepted is accepted
    assert last.discard_reason == (None if accepted else "after_horizon")
    assert last.accepted_s == (last.actual_recorded_s if accepted else None)


@pytest.mark.parametrize(("service_s", "sent"), [(3.999999999, [0, 3]), (4.0, [0])])
def test_nothing_is_sent_at_the_horizon(service_s: float, sent: list[int]) -> None:
    """Step 3 waits for the answer to step 0 and has no use any more when that comes at H."""
    queued = "[dispatch]\nmode = 'one-at-a-time'"
    log = virtual(declared([service_s, 0.1, 0.1, 0.1]), policy=queued)
    assert [r.t for r in log.of(Response)] == sent
    late = {3: "after_horizon"} if len(sent) == 1 else {}
    assert {s.t: s.reason for s in log.of(Skipped)} == {1: "superseded", 2: "superseded", **late}


@pytest.mark.parametrize(
    ("fallback", "correct_s"),
    [("'none'", 0.9), ("{ route = 'wait' }", 1.9), ("{ route = 'go', speed = 'quick' }", 1.9)],
)
def test_progress_counts_what_is_in_force_after_a_decision_lapsed(
    fallback: str, correct_s: float
) -> None:
    """Step 0 says wait from 0.1 s on, lapses at 1 s; wait is right until 2 s, go and quick until 3 s."""
    tally = Tally()
    policy = f"[expire]\nafter_s = 1\nfallback = {fallback}"
    log = virtual(declared([0.1, 9.0, 9.0, 9.0]), policy=policy, tally=tally, workers=4)
    assert [(e.t, e.expired_s) for e in log.of(Expired)] == [(0, 1.0)]
    assert tally.observed_s == pytest.approx(4.0)
    assert tally.correct_s == pytest.approx(correct_s)


def test_at_one_instant_the_newer_source_comes_first() -> None:
    log = virtual(declared([1.5, 0.5, 0.1, 0.1]), workers=2)
    found = {r.t: r.accepted for r in log.of(Response)}
    assert found[1] is True
    assert found[0] is False


def test_releases_are_exactly_planned_and_events_in_order_of_time() -> None:
    log = virtual(declared([2.5, 0.1, 0.1, 0.1]))
    assert [(r.planned_s, r.release_s) for r in log.of(Release)] == [(t, t) for t in range(4)]
    recorded = [r.actual_recorded_s for r in log.of(Response)]
    assert recorded == sorted(recorded)


def test_measured_time_counts_when_nothing_is_declared() -> None:
    async def work(request: Request, call: int) -> Answer:
        sum(range(20_000))
        return right(request)

    for response in virtual(work).of(Response):
        assert response.started_s < response.received_s <= response.completed_s
        assert response.actual_recorded_s == response.completed_s


def test_a_failed_attempt_is_repeated_on_the_timeline() -> None:
    async def second_time(request: Request, call: int) -> Answer:
        if request.state["clock"] == 0 and call < 3:
            raise Retryable("connection")
        return right(request, service_s=0.1)

    log = virtual(second_time, steps=2)
    attempts = [a for a in log.of(Attempt) if a.t == 0]
    assert [a.ok for a in attempts] == [False, False, True]
    assert attempts[2].started_s >= 0.5
    first = next(r for r in log.of(Response) if r.t == 0)
    assert first.service_s == pytest.approx(0.1)


def test_a_fatal_error_stops_it() -> None:
    async def broken(request: Request, call: int) -> Answer:
        raise Fatal("schema", "not what was asked")

    with pytest.raises(Fatal, match="not what was asked"):
        virtual(broken)


@given(
    durations=st.lists(st.floats(0.001, 9.0), min_size=1, max_size=12),
    workers=st.integers(1, 4),
    slots=st.integers(1, 6),
)
def test_law_of_the_queue(durations: list[float], workers: int, slots: int) -> None:
    """Dispatch and completion equal the textbook recursion for c FIFO servers behind k slots."""
    log = virtual(declared(durations), steps=len(durations), workers=workers, slots=slots)
    free = [0.0] * workers
    completions: list[float] = []
    for t, duration in enumerate(durations):
        dispatched = float(t)
        if len(completions) >= slots:
            dispatched = max(dispatched, sorted(completions)[len(completions) - slots])
        index = free.index(min(free))
        done = max(dispatched, free[index]) + duration
        free[index] = done
        completions.append(done)
        response = next(r for r in log.of(Response) if r.t == t)
        assert response.started_s == pytest.approx(dispatched, abs=1e-6)
        assert response.completed_s == pytest.approx(done, abs=1e-6)


def test_a_virtual_recording_says_so_and_loads(tmp_path: Path) -> None:
    suite = small_suite("one_a", "two_b", tick=2.0)
    outcome = record(
        suite, alone(InProcess()), settings(suite, clock="virtual", workers=3), tmp_path / "out"
    )
    assert outcome.status == "complete"
    recording = read_recording(tmp_path / "out", suite)
    assert recording.virtual_clock
    assert recording.config["workers"] == 3
    assert sum(len(e.responses) for e in recording.episodes.values()) == 12


def test_a_component_elsewhere_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    suite = small_suite()
    component = InProcess(in_process=False)
    with pytest.raises(InputError, match="leave out --clock virtual"):
        record(suite, alone(component), settings(suite, clock="virtual"), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert component.opened == 0


def test_workers_without_the_virtual_clock_mean_nothing_and_are_refused(tmp_path: Path) -> None:
    suite = small_suite()
    with pytest.raises(InputError, match="--workers belongs to the virtual clock"):
        record(suite, alone(InProcess()), settings(suite, workers=2), tmp_path / "out")


def test_simulations_have_no_queue_unless_one_is_declared(tmp_path: Path) -> None:
    suite = small_suite()
    component = InProcess(simulated=True)
    record(suite, alone(component), settings(suite, clock="virtual"), tmp_path / "out")
    recording = read_recording(tmp_path / "out", suite)
    assert recording.config["workers"] == 32
    assert recording.simulated
