"""Going on after a stop: what is kept, what is recorded anew, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.components.contract import Answer, Fatal, Request
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.episode_log import Member
from streamdecisionbench.recording.events import EVENTS_FILE
from streamdecisionbench.recording.folder import keep_complete
from streamdecisionbench.recording.reader import expectations, read_recording
from streamdecisionbench.recording.record import record
from streamdecisionbench.recording.run_file import RUN_FILE, read_run
from streamdecisionbench.suite.scenario import Suite
from tests.recording.recorder_kit import InProcess, alone, right, settings, small_suite


def stopped_in(folder: Path, suite: Suite, episode: str, step: int = 3) -> bytes:
    """A recording that broke off in the given episode; its log."""

    async def break_off(request: Request, call: int) -> Answer:
        if (request.state["scenario"], request.state["clock"]) == (episode, step):
            raise Fatal("rejected", "refused")
        return right(request)

    with pytest.raises(Fatal):
        record(suite, alone(InProcess(break_off)), settings(suite), folder)
    return (folder / EVENTS_FILE).read_bytes()


def run_record(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / RUN_FILE).read_text())
    return found


def test_complete_scenarios_stay_byte_for_byte_and_the_rest_is_recorded_anew(
    tmp_path: Path,
) -> None:
    suite = small_suite("one_a", "two_b", "three_a")
    before = stopped_in(tmp_path, suite, "two_b")
    component = InProcess()
    outcome = record(suite, alone(component), settings(suite), tmp_path, resume=True)
    assert outcome.status == "complete"
    assert {scenario for scenario, _ in component.calls} == {"two_b", "three_a"}
    kept = b"".join(line for line in before.splitlines(True) if b'"one_a"' in line)
    assert (tmp_path / EVENTS_FILE).read_bytes().startswith(kept)
    assert (tmp_path / "events.partial-1.jsonl").read_bytes() == before
    assert sum(len(e.responses) for e in read_recording(tmp_path, suite).episodes.values()) == 18
    (interruption,) = run_record(tmp_path)["interruptions"]
    assert interruption["kept"] == ["one_a"]
    assert interruption["recorded_anew"] == ["two_b"]
    assert interruption["error_type"] == "rejected"


def test_every_partial_log_is_kept(tmp_path: Path) -> None:
    suite = small_suite("one_a", "two_b")
    first = stopped_in(tmp_path, suite, "one_a")

    async def break_off(request: Request, call: int) -> Answer:
        if request.state["scenario"] == "two_b":
            raise Fatal("rejected", "refused")
        return right(request)

    with pytest.raises(Fatal):
        record(suite, alone(InProcess(break_off)), settings(suite), tmp_path, resume=True)
    second = (tmp_path / EVENTS_FILE).read_bytes()
    record(suite, alone(InProcess()), settings(suite), tmp_path, resume=True)
    assert (tmp_path / "events.partial-1.jsonl").read_bytes() == first
    assert (tmp_path / "events.partial-2.jsonl").read_bytes() == second
    assert len(run_record(tmp_path)["interruptions"]) == 2
    read_recording(tmp_path, suite)


def test_a_torn_last_line_is_recognised_and_kept_aside(tmp_path: Path) -> None:
    suite = small_suite("one_a", "two_b")
    before = stopped_in(tmp_path, suite, "two_b")
    torn = before[:-25]
    (tmp_path / EVENTS_FILE).write_bytes(torn)
    with pytest.raises(InputError, match="cut off by a crash"):
        read_recording(tmp_path, suite)
    record(suite, alone(InProcess()), settings(suite), tmp_path, resume=True)
    assert (tmp_path / "events.partial-1.jsonl").read_bytes() == torn
    assert run_record(tmp_path)["interruptions"][0]["torn_last_line"] is True
    read_recording(tmp_path, suite)


def test_a_torn_line_after_complete_scenarios_costs_none_of_them(tmp_path: Path) -> None:
    suite = small_suite("one_a")
    record(suite, alone(InProcess()), settings(suite), tmp_path)
    log = (tmp_path / EVENTS_FILE).read_bytes()
    run = run_record(tmp_path) | {"status": "running"}
    (tmp_path / RUN_FILE).write_text(json.dumps(run))
    (tmp_path / EVENTS_FILE).write_bytes(log + b'{"kind":"rel')
    component = InProcess()
    assert (
        record(suite, alone(component), settings(suite), tmp_path, resume=True).status == "complete"
    )
    assert component.calls == {}
    assert (tmp_path / EVENTS_FILE).read_bytes() == log


def test_a_run_killed_after_its_last_response_only_needs_closing(tmp_path: Path) -> None:
    suite = small_suite()
    record(suite, alone(InProcess()), settings(suite), tmp_path)
    log = (tmp_path / EVENTS_FILE).read_bytes()
    run = run_record(tmp_path) | {"status": "running"}
    del run["events_sha256"]
    (tmp_path / RUN_FILE).write_text(json.dumps(run))
    component = InProcess()
    record(suite, alone(component), settings(suite), tmp_path, resume=True)
    assert component.calls == {}
    assert (tmp_path / EVENTS_FILE).read_bytes() == log
    assert not list(tmp_path.glob("events.partial-*"))
    read_recording(tmp_path, suite)


def test_a_complete_recording_is_left_alone(tmp_path: Path) -> None:
    suite = small_suite()
    record(suite, alone(InProcess()), settings(suite), tmp_path)
    files = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    component = InProcess()
    outcome = record(suite, alone(component), settings(suite), tmp_path, resume=True)
    assert outcome.reason == "already complete"
    assert component.opened == 0
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == files


def test_a_folder_in_which_nothing_began_is_started(tmp_path: Path) -> None:
    suite = small_suite()
    outcome = record(suite, alone(InProcess()), settings(suite), tmp_path / "new", resume=True)
    assert outcome.status == "complete"


def test_a_component_that_does_not_open_leaves_the_recording_as_it_is(tmp_path: Path) -> None:
    class Away(InProcess):
        async def open(self) -> None:
            raise ConnectionRefusedError

    suite = small_suite("one_a", "two_b")
    stopped_in(tmp_path, suite, "two_b")
    files = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with pytest.raises(Fatal, match="cannot be opened"):
        record(suite, alone(Away()), settings(suite), tmp_path, resume=True)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == files


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"interval_s": 0.5}, "interval_s was 0.06, now 0.5"),
        ({"names": {None: "test:other"}}, "component was"),
        ({"seed": 9}, "seed was 0, now 9"),
        ({"scenarios": ("one_a",)}, "scenarios was"),
        ({"clock": "virtual"}, "clock was"),
    ],
)
def test_other_settings_are_refused_by_name(
    tmp_path: Path, changes: dict[str, Any], named: str
) -> None:
    suite = small_suite("one_a", "two_b")
    before = stopped_in(tmp_path, suite, "two_b")
    with pytest.raises(InputError, match="other settings") as caught:
        record(suite, alone(InProcess()), settings(suite, **changes), tmp_path, resume=True)
    assert named in str(caught.value)
    assert (tmp_path / EVENTS_FILE).read_bytes() == before


def test_another_suite_is_refused(tmp_path: Path) -> None:
    stopped_in(tmp_path, small_suite("one_a", "two_b"), "two_b")
    other = small_suite("one_a", "two_b", steps=7)
    with pytest.raises(InputError, match="was recorded on suite"):
        record(other, alone(InProcess()), settings(other), tmp_path, resume=True)


def test_events_without_a_run_record_are_refused(tmp_path: Path) -> None:
    suite = small_suite("one_a", "two_b")
    stopped_in(tmp_path, suite, "two_b")
    (tmp_path / RUN_FILE).unlink()
    with pytest.raises(InputError, match=r"events but no run\.json"):
        record(suite, alone(InProcess()), settings(suite), tmp_path, resume=True)


def test_an_altered_line_in_the_middle_is_refused_not_dropped(tmp_path: Path) -> None:
    suite = small_suite("one_a", "two_b")
    before = stopped_in(tmp_path, suite, "two_b")
    lines = before.splitlines(True)
    lines[3] = b"not json\n"
    (tmp_path / EVENTS_FILE).write_bytes(b"".join(lines))
    with pytest.raises(InputError, match="line 4 is not an event"):
        record(suite, alone(InProcess()), settings(suite), tmp_path, resume=True)
    assert (tmp_path / EVENTS_FILE).read_bytes() == b"".join(lines)


def test_a_pair_is_complete_only_with_both_answers(tmp_path: Path) -> None:
    suite = small_suite("one_a")
    lanes = [Member(InProcess(), "fast"), Member(InProcess(), "slow")]
    chosen = settings(suite, names={"fast": "a:b", "slow": "c:d"}, rule="freshest")
    record(suite, lanes, chosen, tmp_path)
    expected = expectations(read_run(tmp_path), suite, {"one_a": 6})
    assert keep_complete(tmp_path, expected).complete == ("one_a",)
    log = tmp_path / EVENTS_FILE
    lines = log.read_bytes().splitlines(True)
    last_slow = max(i for i, x in enumerate(lines) if b'"response"' in x and b'"slow"' in x)
    log.write_bytes(b"".join(lines[:last_slow] + lines[last_slow + 1 :]))
    assert keep_complete(tmp_path, expected).dropped == ("one_a",)
