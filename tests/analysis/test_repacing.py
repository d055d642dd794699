"""One pace predicts the others where latency does not depend on the rate, and not where it does."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from streamdecisionbench.analysis.repacing import repacing
from streamdecisionbench.components.contract import Answer, Request
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import Part, record, record_together, replicas_for
from streamdecisionbench.recording.recording import Episode, Recording
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
)
from streamdecisionbench.suite.scenario import Suite
from tests.cli.command import sdb
from tests.recording.recorder_kit import (
    InProcess,
    alone,
    right,
    settings,
    small_suite,
    suite_folder,
)

NAMES = ("one_a", "two_b", "three_a", "four_b")
SUITE = small_suite(*NAMES, steps=30, tick=2.0)
INTERVALS = (4.0, 2.0, 1.0, 0.4)
Trajectory = list[tuple[Recording, Suite]]


def sweep(home: Path, workers: int, service_s: float = 0.5) -> Trajectory:
    """A component that takes half a second, behind so many workers."""

    async def behave(request: Request, call: int) -> Answer:
        return right(request, service_s=service_s)

    found = []
    for interval in INTERVALS:
        out = home / f"{workers}-{interval:g}"
        chosen = settings(SUITE, clock="virtual", workers=workers, interval_s=interval)
        record(SUITE, alone(InProcess(behave)), chosen, out)
        found.append((read_recording(out, SUITE), SUITE))
    return found


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Trajectory:
    """One worker: two requests a second fit; at 0.4 s two and a half come."""
    return sweep(tmp_path_factory.mktemp("queue"), workers=1)


def test_a_queue_breaks_the_prediction_where_its_capacity_ends(queue: Trajectory) -> None:
    result = repacing(queue)
    assert result.fails_from == 0.4
    assert "fails to predict from 0.4 s (2.5 requests a second) on" in result.sentence
    assert [c.interval for c in result.conditions] == list(INTERVALS)
    assert all(c.held for c in result.conditions)


def test_independent_latency_is_predicted_exactly(tmp_path: Path) -> None:
    result = repacing(sweep(tmp_path, workers=32))
    assert result.fails_from is None
    assert max(abs(p.difference) for p in result.predictions) < 1e-9
    assert "predicts every measured pace down to 0.4 s" in result.sentence


def late(recording: Recording, states: int) -> Recording:
    """The same with so many states of a scenario a tenth of a tick late."""
    episodes = dict(recording.episodes)
    episode = episodes["one_a"]
    tick = episode.releases[1].planned_s
    slow = tuple(
        msgspec.structs.replace(r, release_s=r.planned_s + 0.1 * tick)
        for r in episode.releases[:states]
    )
    releases = (*slow, *episode.releases[states:])
    episodes["one_a"] = Episode("one_a", releases, episode.attempts, episode.responses)
    return replace(recording, episodes=episodes)


def test_a_pace_the_client_did_not_hold_is_left_out_of_conclusions(queue: Trajectory) -> None:
    found = queue
    broken = late(found[3][0], states=10)
    result = repacing([*found[:3], (broken, SUITE)])
    assert [c.held for c in result.conditions] == [True, True, True, False]
    assert result.fails_from is None
    assert all(0.4 not in (p.source, p.target) for p in result.predictions)
    assert "Left out, the client could not keep the pace: 0.4 s" in result.sentence
    assert result.conditions[3].remark.startswith("published late: 10 of 120")
    # One of 120 can change a thousandth of the time at most: said, but not left out.
    once = repacing([*found[:3], (late(found[3][0], states=1), SUITE)])
    assert once.conditions[3].held
    assert once.conditions[3].remark.startswith("published late: 1 of 120")
    assert once.fails_from == 0.4


LOADS = ((4.0, 1), (2.0, 1), (4.0, 4), (2.0, 4), (1.0, 4))
"""Rates of 0.25, 0.5, 1, 2 and 4 requests a second."""


def loaded(home: Path, services: Callable[[Request, int], float], workers: int) -> Trajectory:
    found = []
    for number, (interval, streams) in enumerate(LOADS):

        async def behave(request: Request, call: int, number: int = number) -> Answer:
            return right(request, service_s=services(request, number))

        out = home / f"{interval:g}-{streams}"
        chosen = settings(
            SUITE, clock="virtual", workers=workers, interval_s=interval, streams=streams
        )
        record(SUITE, alone(InProcess(behave)), chosen, out)
        found.append((read_recording(out, SUITE), SUITE))
    return found


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_break_lies_between_the_rates_around_the_capacity(tmp_path: Path, seed: int) -> None:
    """A mean of 0.3 s behind one worker: 3.3 a second; and as drawn, whoever else asks: no break."""

    def drawn(request: Request, number: int) -> float:
        place = f"{seed}/{number}/{request.state['scenario']}/{request.state['clock']}"
        return random.Random(place).uniform(0.2, 0.4)

    queued = repacing(loaded(tmp_path / "queued", drawn, workers=1))
    assert [c.rate for c in queued.conditions] == [0.25, 0.5, 1.0, 2.0, 4.0]
    assert (queued.holds_to_rate, queued.fails_from_rate) == (2.0, 4.0)
    assert (queued.fails_from, queued.fails_from_streams) == (1.0, 4)
    assert "from 1 s with 4 streams (4 requests a second) on" in queued.sentence
    assert "Up to 2 a second it holds." in queued.sentence
    free = repacing(loaded(tmp_path / "free", drawn, workers=1000))
    assert free.fails_from_rate is None
    assert free.holds_to_rate == 4.0
    assert "up to 1 s with 4 streams (4 requests a second)" in free.sentence


def test_replicas_are_one_condition(tmp_path: Path) -> None:
    data, out = suite_folder(tmp_path / "suite", *NAMES, steps=10), tmp_path / "sweep"
    done = sdb("sweep", "baseline:first-option", "--clock", "virtual", "--data", data,
               "--intervals", "2", "--streams", "1,8", "--out", out, "--quiet")  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = sdb("analyze", "repacing", out, "--data", data, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert [(c["streams"], c["recordings"]) for c in result["conditions"]] == [(1, 1), (8, 2)]


def test_choose_prefers_what_was_measured_at_ones_own_pace(tmp_path: Path) -> None:
    data, out = suite_folder(tmp_path / "suite", *NAMES, steps=10), tmp_path / "sweep"
    sdb("sweep", "baseline:first-option", "--clock", "virtual", "--data", data,
        "--intervals", "4,1", "--streams", "1,4", "--out", out, "--quiet")  # fmt: skip
    done = sdb("choose", out, "--interval", 1, "--data", data, "--resamples", 200, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert result["words"][0] == "interval-1-streams-1: measured at 1 s itself, not re-paced."
    assert [c["name"] for c in result["candidates"]] == ["interval-1-streams-1"]
    other = sdb("choose", out, "--interval", 3, "--data", data, "--resamples", 200)
    assert "not measured at 3 s; re-paced from 4 s, the nearest" in " ".join(other.stdout.split())
    alone_ = sdb("choose", out / "interval-4-streams-1", "--interval", 1, "--data", data,
                 "--resamples", 200)  # fmt: skip
    assert "measured at" not in alone_.stdout


@pytest.mark.realtime
def test_a_client_that_is_busy_itself_is_left_out(tmp_path: Path) -> None:
    """Every eighth answer keeps the processor for 80 ms: no matter at 0.3 s, but with eight streams."""
    suite = small_suite("one_a", "two_b", steps=6, tick=0.3)

    async def behave(request: Request, call: int) -> Answer:
        asked.append(request.state["clock"])
        until = time.perf_counter() + (0.08 if len(asked) % 8 == 0 else 0.0)
        while time.perf_counter() < until:
            pass
        return right(request)

    asked: list[int] = []
    found = []
    for interval, streams in ((0.3, 1), (0.2, 1), (0.2, 8)):
        parts = [
            Part(
                alone(InProcess(behave)),
                settings(
                    suite, interval_s=interval, streams=streams, replica=k if streams > 1 else None
                ),
                tmp_path / f"{interval}-{streams}-{k}",
            )
            for k in range(1, replicas_for(streams, 2) + 1)
        ]
        for outcome in record_together(suite, parts):
            found.append((read_recording(outcome.folder, suite), suite))
    result = repacing(found)
    loaded = next(c for c in result.conditions if c.streams == 8)
    assert not loaded.held
    assert "published late" in loaded.remark
    assert all(8 not in (p.source_streams, p.target_streams) for p in result.predictions)
    assert "the client could not keep the pace" in result.sentence
    assert "0.2 s with 8 streams" in result.sentence
    assert result.fails_from_streams != 8


def test_one_pace_checks_nothing(queue: Trajectory) -> None:
    with pytest.raises(InputError, match="only one"):
        repacing(queue[:1])


def test_a_sweep_by_command_can_be_resumed_as_a_whole(tmp_path: Path) -> None:
    data, out = suite_folder(tmp_path / "suite", *NAMES, steps=10), tmp_path / "sweep"
    sweeping = ["sweep", "baseline:first-option", "--clock", "virtual", "--data", data,
                "--intervals", "2,0.5", "--out", out, "--quiet"]  # fmt: skip
    assert sdb(*sweeping).returncode == 0
    assert sorted(p.name for p in out.iterdir()) == ["interval-0.5", "interval-2"]
    kept = (out / "interval-2" / "events.jsonl").read_bytes()
    for name in ("run.json", "events.jsonl"):
        (out / "interval-0.5" / name).unlink()
    again = sdb(*sweeping, "--resume")
    assert again.returncode == 0, again.stderr
    assert (out / "interval-2" / "events.jsonl").read_bytes() == kept
    done = sdb("analyze", "repacing", out, "--data", data, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert [c["interval"] for c in result["conditions"]] == [2.0, 0.5]
    assert result["sentence"]


@pytest.mark.parametrize("intervals", ["", "0", "-1", "fast", "1,1", "nan", "1e9"])
def test_odd_intervals_are_refused(tmp_path: Path, intervals: str) -> None:
    done = sdb(
        "sweep", "baseline:first-option", "--intervals", intervals, "--out", tmp_path / "out"
    )
    assert done.returncode == 2
    assert "fix:" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_sweep_excludes_other_ways_to_repeat(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sweep of its own"):
        launch(
            RunOptions.of({None: "baseline:first-option"}, tmp_path, intervals=(1.0,), passes=2),
            lambda estimates: True,
        )
