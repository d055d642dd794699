"""Joining parts of one setting: what is kept of each part, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.event_log import EVENTS_FILE, file_sha256
from streamdecisionbench.recording.merge import merge
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import record
from streamdecisionbench.recording.run_file import RUN_FILE
from streamdecisionbench.suite.suite_files import write_suite
from tests.cli.command import sdb
from tests.recording.recorder_kit import InProcess, alone, right, settings, small_suite

SUITE = small_suite("one_a", "two_b", "three_a")


def part(folder: Path, *scenarios: str, served: str = "m-1", **changes: Any) -> Path:
    async def answer(request: Any, call: int) -> Any:
        return right(request, model=served)

    info = changes.pop("info", {})
    chosen = settings(SUITE, scenarios=scenarios, clock="virtual", workers=2, **changes)
    record(SUITE, alone(InProcess(answer, **info)), chosen, folder)
    return folder


def test_parts_are_joined_in_suite_order_and_described(tmp_path: Path) -> None:
    late = part(tmp_path / "late", "three_a", served="m-2")
    early = part(tmp_path / "early", "one_a", "two_b")
    run = merge([late, early], tmp_path / "all", SUITE)
    recording = read_recording(tmp_path / "all", SUITE)
    assert run["config"]["scenarios"] == ["one_a", "two_b", "three_a"]
    assert set(recording.episodes) == {"one_a", "two_b", "three_a"}
    assert run["served_models"] == ["m-1", "m-2"]
    first, second = run["parts"]
    assert first["scenarios"] == ["three_a"]
    assert first["events_sha256"] == file_sha256(late / EVENTS_FILE)
    assert first["served_models"] == ["m-2"]
    assert second["requested_model"] == "in-process"
    assert run["started_at"] == first["started_at"]
    assert run["ended_at"] == second["ended_at"]
    for folder, described in ((late, first), (early, second)):
        record_of_part = json.loads((folder / RUN_FILE).read_text())
        assert described["started_at"] == record_of_part["started_at"]
        assert described["environment"] == record_of_part["environment"]
    joined = (tmp_path / "all" / EVENTS_FILE).read_bytes()
    assert joined == (late / EVENTS_FILE).read_bytes() + (early / EVENTS_FILE).read_bytes()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"interval_s": 0.7}, "interval_s"),
        ({"seed": 4}, "seed"),
        ({"efforts": {None: "high"}}, "effort"),
        ({"info": {"settings": {"temperature": 1}}}, "settings"),
        ({"info": {"model": "another"}}, "model"),
    ],
)
def test_another_setting_is_refused(tmp_path: Path, changes: dict[str, Any], named: str) -> None:
    one = part(tmp_path / "one", "one_a")
    two = part(tmp_path / "two", "two_b", **changes)
    with pytest.raises(InputError, match="other settings") as caught:
        merge([one, two], tmp_path / "all")
    assert named in str(caught.value)
    assert not (tmp_path / "all").exists()


def test_a_scenario_in_two_parts_is_refused(tmp_path: Path) -> None:
    one = part(tmp_path / "one", "one_a", "two_b")
    two = part(tmp_path / "two", "two_b", "three_a")
    with pytest.raises(InputError, match="two_b is in one and in two"):
        merge([one, two], tmp_path / "all")


def test_another_suite_is_refused(tmp_path: Path) -> None:
    one = part(tmp_path / "one", "one_a")
    other = small_suite("one_a", "two_b", steps=8)
    chosen = settings(other, scenarios=("two_b",), clock="virtual", workers=2)
    record(other, alone(InProcess()), chosen, tmp_path / "two")
    with pytest.raises(InputError, match="was recorded on suite"):
        merge([one, tmp_path / "two"], tmp_path / "all")


def test_an_altered_or_incomplete_part_is_refused(tmp_path: Path) -> None:
    one = part(tmp_path / "one", "one_a")
    two = part(tmp_path / "two", "two_b")
    log = (two / EVENTS_FILE).read_bytes()
    (two / EVENTS_FILE).write_bytes(log.replace(b'"ok":true', b'"ok":true ', 1))
    with pytest.raises(InputError, match="not the one that was recorded"):
        merge([one, two], tmp_path / "all")
    (two / EVENTS_FILE).write_bytes(log)
    run = json.loads((two / RUN_FILE).read_text()) | {"status": "incomplete"}
    (two / RUN_FILE).write_text(json.dumps(run))
    with pytest.raises(InputError, match="incomplete"):
        merge([one, two], tmp_path / "all")


def test_the_command_says_what_it_joined(tmp_path: Path) -> None:
    write_suite(SUITE, tmp_path / "suite")
    one = part(tmp_path / "one", "one_a")
    two = part(tmp_path / "two", "two_b", served="m-9")
    done = sdb("merge", one, two, "--out", tmp_path / "all", "--data", tmp_path / "suite")
    assert done.returncode == 0, done.stderr
    assert "2 scenarios, 12 responses" in done.stdout
    assert "served by different models: m-1, m-9" in done.stdout
    assert "1 scenario of the suite is in none of the parts" in done.stdout
    read_recording(tmp_path / "all", SUITE)


@pytest.mark.parametrize("step", ["_concatenate", "summarise_log", "write_run"])
def test_a_killed_merge_can_be_run_again(tmp_path: Path, step: str) -> None:
    one, two = part(tmp_path / "one", "one_a"), part(tmp_path / "two", "two_b")
    script = (
        "import os, sys; from pathlib import Path; from streamdecisionbench.recording import merge;"
        f"real = merge.{step}; merge.{step} = lambda *given: (real(*given), os._exit(9));"
        "merge.merge([Path(p) for p in sys.argv[1:3]], Path(sys.argv[3]))"
    )
    out = tmp_path / "all"
    done = subprocess.run([sys.executable, "-c", script, one, two, out], check=False)
    assert done.returncode == 9
    assert not out.exists()
    merge([one, two], out)
    assert len(read_recording(out).episodes) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["all", "one", "two"]
