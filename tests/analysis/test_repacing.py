"""One pace predicts the others where latency does not depend on the rate, and not where it does."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from streamdecisionbench.analysis.repacing import repacing
from streamdecisionbench.components.contract import Answer, Request
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import record
from streamdecisionbench.recording.recording import Episode, Recording
from streamdecisionbench.recording.run_request import RunRequest, launch
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


def sweep(home: Path, workers: int, service_s: float = 0.5) -> list[tuple[Recording, Suite]]:
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


def test_a_queue_breaks_the_prediction_where_its_capacity_ends(tmp_path: Path) -> None:
    """Two requests a second fit; at 0.4 s two and a half come."""
    result = repacing(sweep(tmp_path, workers=1))
    assert result.fails_from == 0.4
    assert "fails to predict from 0.4 s (2.5 requests a second) on" in result.sentence
    assert [c.interval for c in result.conditions] == list(INTERVALS)
    assert all(c.held for c in result.conditions)


def test_independent_latency_is_predicted_exactly(tmp_path: Path) -> None:
    result = repacing(sweep(tmp_path, workers=32))
    assert result.fails_from is None
    assert max(abs(p.difference) for p in result.predictions) < 1e-9
    assert "predicts every measured pace down to 0.4 s" in result.sentence


def late(recording: Recording) -> Recording:
    """The same with one state a tenth of a tick late."""
    episodes = dict(recording.episodes)
    episode = episodes["one_a"]
    first = episode.releases[5]
    tick = episode.releases[1].planned_s
    slow = msgspec.structs.replace(first, release_s=first.planned_s + 0.1 * tick)
    releases = (*episode.releases[:5], slow, *episode.releases[6:])
    episodes["one_a"] = Episode("one_a", releases, episode.attempts, episode.responses)
    return replace(recording, episodes=episodes)


def test_a_pace_the_client_did_not_hold_is_left_out_of_conclusions(tmp_path: Path) -> None:
    found = sweep(tmp_path, workers=1)
    broken = late(found[3][0])
    result = repacing([*found[:3], (broken, SUITE)])
    assert [c.held for c in result.conditions] == [True, True, True, False]
    assert result.fails_from is None
    assert all(0.4 not in (p.source, p.target) for p in result.predictions)
    assert "Left out, the client could not keep the pace: 0.4 s" in result.sentence
    assert result.conditions[3].remark.startswith("published late: 1 of 120")


def test_one_pace_checks_nothing(tmp_path: Path) -> None:
    found = sweep(tmp_path, workers=1)[:1]
    with pytest.raises(InputError, match="only one"):
        repacing(found)


def test_a_sweep_by_command_can_be_resumed_as_a_whole(tmp_path: Path) -> None:
    data, out = suite_folder(tmp_path / "suite", *NAMES, steps=10), tmp_path / "sweep"
    sweeping = ["run", "baseline:first-option", "--clock", "virtual", "--data", data,
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
    done = sdb("run", "baseline:first-option", "--intervals", intervals, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "fix:" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_sweep_excludes_other_ways_to_repeat(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sweep of its own"):
        launch(
            RunRequest({None: "baseline:first-option"}, tmp_path, intervals=(1.0,), passes=2),
            lambda estimates: True,
        )
