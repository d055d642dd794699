"""A client that stands still between two releases: found, recorded again or marked, never silent."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamdecisionbench.components.contract import Answer, Request
from streamdecisionbench.recording.clock import AGAIN_S, STALL_S, STOPPED, Heartbeat, Paused
from streamdecisionbench.recording.event_log import EVENTS_FILE
from streamdecisionbench.recording.provenance_notes import stall_remarks
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import record
from streamdecisionbench.recording.run_file import RUN_FILE
from streamdecisionbench.scoring.score import score
from tests.recording.recorder_kit import (
    InProcess,
    alone,
    right,
    settings,
    small_suite,
    suite_folder,
)
from tests.recording.warm_process import start

SUITE = small_suite("one_a", steps=4, tick=0.3)
TICKS = st.integers(1, 3000)


class Stream:
    """Waits for an answer all the time, or never."""

    episode_id = "one"

    def __init__(self, pending: bool = True) -> None:
        self.pending = pending

    def waiting(self, end_s: float) -> int | None:
        return 3 if self.pending else None


def beaten(
    gaps_ms: list[int], *, busy: float = 0.0, pending: bool = True, **options: Any
) -> Heartbeat:
    """A heartbeat whose loop ran after each of these times, having used this share of them."""
    times = [sum(gaps_ms[:k]) / 1000 for k in range(len(gaps_ms) + 1)]
    now, used = iter(times), iter([busy * t for t in times])
    heart = Heartbeat(now=lambda: next(now), cpu=lambda: next(used), **options)
    heart.watch(Stream(pending))
    for _ in gaps_ms:
        heart.beat()
    return heart


@given(st.lists(TICKS, max_size=30), TICKS, TICKS)
def test_gaps_are_those_between_two_beats(gaps_ms: list[int], first: int, second: int) -> None:
    """Against the plain definition: every millisecond belongs to a gap or to none."""
    heart = beaten(gaps_ms)
    within = range(min(first, second), max(first, second))
    inside = set()
    at = 0
    for gap in gaps_ms:
        if gap / 1000 >= STALL_S:
            inside |= set(range(at, at + gap))
        at += gap
    found = heart.within(within.start / 1000, within.stop / 1000)
    assert found == pytest.approx(sum(ms in inside for ms in within) / 1000, abs=1e-6)


@given(st.lists(TICKS, min_size=1, max_size=8), st.booleans(), st.booleans(), st.booleans())
def test_a_stop_that_spoiled_something_pauses(
    gaps_ms: list[int], busy: bool, pending: bool, stops: bool
) -> None:
    heart = beaten(gaps_ms, busy=0.9 if busy else 0.0, pending=pending, stops=stops)
    long = any(gap / 1000 > AGAIN_S + 1e-6 for gap in gaps_ms)
    close = any(abs(gap / 1000 - AGAIN_S) <= 1e-6 for gap in gaps_ms)
    if not close:
        assert (heart.pause is not None) == (long and pending and stops and not busy)


def test_work_in_this_process_is_no_gap() -> None:
    assert not beaten([900], busy=0.9, only_stops=True).gaps
    assert beaten([900], busy=0.9).gaps
    assert beaten([900], only_stops=True).gaps


def stalling(stall_s: float, **info: Any) -> InProcess:
    """A component during whose first answer to step 1 the whole event loop stands still."""

    async def behave(request: Request, call: int) -> Answer:
        if request.state["clock"] == 1 and call == 1:
            asyncio.get_running_loop().call_later(0.02, time.sleep, stall_s)
        await asyncio.sleep(0.1)
        return right(request)

    return InProcess(behave, **info)


@pytest.mark.realtime
def test_a_round_with_a_long_gap_is_recorded_again(tmp_path: Path) -> None:
    remote = stalling(0.5, in_process=False)
    record(SUITE, alone(remote), settings(SUITE), tmp_path / "out")
    run = json.loads((tmp_path / "out" / RUN_FILE).read_text())
    assert [note["reason"] for note in run["interruptions"]][:1] == [STOPPED]
    assert remote.calls["one_a", 1] > 1


@pytest.mark.realtime
def test_latency_that_contains_a_short_gap_is_marked(tmp_path: Path) -> None:
    out = tmp_path / "out"
    record(SUITE, alone(stalling(0.15, in_process=False)), settings(SUITE), out)
    run = json.loads((out / RUN_FILE).read_text())
    if run["interruptions"]:
        return  # the machine made more of it than we did
    recording = read_recording(out, SUITE)
    marked = {r.t: r.stalled_s for r in recording.episodes["one_a"].responses if r.stalled_s}
    assert marked[1] >= 0.15
    assert run["summary"]["stalled"]["answers"] == len(marked)
    (said,) = stall_remarks(recording)
    assert "the client stood still" in said
    assert said in score(recording, SUITE).notes


@pytest.mark.realtime
def test_a_gap_that_returns_every_time_is_marked_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamdecisionbench.recording.recorder._TRYING_S", 0.0)

    async def behave(request: Request, call: int) -> Answer:
        if request.state["clock"] == 1:
            asyncio.get_running_loop().call_later(0.02, time.sleep, 0.4)
        await asyncio.sleep(0.1)
        return right(request)

    out = tmp_path / "out"
    record(SUITE, alone(InProcess(behave, in_process=False)), settings(SUITE), out)
    assert len(json.loads((out / RUN_FILE).read_text())["interruptions"]) == 2
    assert stall_remarks(read_recording(out, SUITE))


@pytest.mark.realtime
def test_a_component_that_blocks_the_loop_itself_is_measured_not_stopped(tmp_path: Path) -> None:
    """`time.sleep` in an async component is its latency, however unwise."""

    async def behave(request: Request, call: int) -> Answer:
        time.sleep(0.27)
        return right(request)

    calls = InProcess(behave)
    suite = small_suite("one_a", steps=3, tick=0.6)
    record(suite, alone(calls), settings(suite), tmp_path / "out")
    recording = read_recording(tmp_path / "out", suite)
    run = json.loads((tmp_path / "out" / RUN_FILE).read_text())
    assert not run["interruptions"]
    assert not stall_remarks(recording)
    assert set(calls.calls.values()) == {1}


@pytest.mark.realtime
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs SIGSTOP")
@pytest.mark.parametrize("stall_s", [0.1, 0.8, 1.3])
def test_a_process_that_was_stopped_between_two_releases(tmp_path: Path, stall_s: float) -> None:
    (tmp_path / "plain.py").write_text(
        "import asyncio\n\nasync def answer(request):\n    await asyncio.sleep(0.5)\n"
        "    return dict(request.state['hint'])\n"
    )
    data, out = suite_folder(tmp_path / "suite", steps=4, tick=2.0), tmp_path / "out"
    process = start(
        "run", "python:plain:answer", "--data", data, "--out", out, "--quiet", cwd=tmp_path
    )
    try:
        deadline = time.monotonic() + 120
        log = out / EVENTS_FILE
        while (not log.exists() or log.read_bytes().count(b'"release"') < 2) and (
            time.monotonic() < deadline
        ):
            time.sleep(0.005)
        time.sleep(0.1)
        os.kill(process.pid or 0, signal.SIGSTOP)
        time.sleep(stall_s)
        os.kill(process.pid or 0, signal.SIGCONT)
        process.join(120)
        assert process.exitcode == 0
    finally:
        process.kill()
    recording = read_recording(out)
    again = [note["reason"] for note in json.loads((out / RUN_FILE).read_text())["interruptions"]]
    if stall_s > AGAIN_S:
        assert again == [STOPPED]
        assert not stall_remarks(recording)
    else:
        assert again or stall_remarks(recording)


def test_a_pause_ends_the_work_and_says_where() -> None:
    now = iter([0.0, 0.0, *([1.0] * 1000)])

    async def work() -> None:
        await asyncio.sleep(60)

    async def play() -> None:
        heart = Heartbeat(now=lambda: next(now), cpu=lambda: 0.0)
        heart.watch(Stream())
        heart.beat()
        await heart.over(work())

    with pytest.raises(Paused) as found:
        asyncio.run(play())
    assert (found.value.kind, found.value.t, found.value.episode_id) == (STOPPED, 3, "one")


def test_a_failure_of_the_work_is_raised_as_it_is() -> None:
    async def work() -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        asyncio.run(Heartbeat().over(work()))


def test_a_stop_that_ends_with_the_last_answer_is_not_lost() -> None:
    now = iter([0.0, 1.0])

    async def play() -> None:
        heart = Heartbeat(now=lambda: next(now), cpu=lambda: 0.0)
        heart.watch(Stream())

        async def work() -> None:
            heart.beat()

        await heart.over(work())

    with pytest.raises(Paused):
        asyncio.run(play())
