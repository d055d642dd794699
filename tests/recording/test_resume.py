"""Going on after a stop: what is kept, what is recorded anew, and what is refused."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.components.contract import Answer, Fatal, Request
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.episode import Member
from streamdecisionbench.recording.event_log import EVENTS_FILE
from streamdecisionbench.recording.reader import expectations, read_recording
from streamdecisionbench.recording.recorder import record
from streamdecisionbench.recording.recording_folder import keep_complete
from streamdecisionbench.recording.run_file import RUN_FILE, read_run
from streamdecisionbench.suite.scenario import Suite
from tests.recording.recorder_kit import InProcess, alone, right, settings, small_suite

pytestmark = pytest.mark.slow


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


Syncs = list[tuple[str, int]]


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> Syncs:
    """Every fsync: which file, and how many bytes of it were on the medium from then on."""
    seen: Syncs = []
    real = os.fsync

    def fsync(fd: int) -> None:
        real(fd)
        seen.append((Path(f"/proc/self/fd/{fd}").readlink().name, os.fstat(fd).st_size))

    monkeypatch.setattr(os, "fsync", fsync)
    return seen


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads names from /proc")


@needs_proc
def test_every_scenario_is_on_the_medium_before_the_next_begins(
    tmp_path: Path, syncs: Syncs
) -> None:
    """A power cut costs the scenario under way, not the hour before it."""
    suite = small_suite("one_a", "two_b", "three_a")
    record(suite, alone(InProcess()), settings(suite, clock="virtual"), tmp_path)
    ends: dict[str, int] = {}
    at = 0
    for line in (tmp_path / EVENTS_FILE).read_bytes().splitlines(keepends=True):
        at += len(line)
        ends[json.loads(line)["episode_id"]] = at
    assert list(ends) == ["one_a", "two_b", "three_a"]
    for end in ends.values():
        assert (EVENTS_FILE, end) in syncs
    # The whole log is there before the record says `complete`, and so is the record.
    assert syncs[-1] == (f"{RUN_FILE}.tmp", (tmp_path / RUN_FILE).stat().st_size)
    assert syncs[-2] == (EVENTS_FILE, at)


@needs_proc
def test_what_a_stop_leaves_is_on_the_medium_before_the_record_says_so(
    tmp_path: Path, syncs: Syncs
) -> None:
    whole = len(stopped_in(tmp_path, small_suite("one_a", "two_b"), "two_b"))
    assert syncs[-2:] == [
        (EVENTS_FILE, whole),
        (f"{RUN_FILE}.tmp", (tmp_path / RUN_FILE).stat().st_size),
    ]


@needs_proc
@pytest.mark.parametrize("links", [True, False])
def test_every_step_of_a_rewrite_is_on_the_medium_before_the_next(
    tmp_path: Path, syncs: Syncs, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    """A power cut may undo a name that its folder was not synced with; the old log has one throughout."""
    suite = small_suite("one_a", "two_b")
    before = stopped_in(tmp_path, suite, "two_b")
    whole = sum(len(line) for line in before.splitlines(keepends=True) if b'"one_a"' in line)
    expected = expectations(read_run(tmp_path), suite, {"one_a": 6, "two_b": 6})
    real = Path.replace
    syncs.clear()

    def replace(path: Path, target: Path) -> Path:
        syncs.append((f"{path.name} becomes {target.name}", target.stat().st_size))
        return real(path, target)

    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(Path, "replace", replace)
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    partial = keep_complete(tmp_path, expected).partial_file
    assert partial is not None
    assert (tmp_path / partial).read_bytes() == before
    copied = [] if links else [(partial, len(before))]
    found = [(name, 0 if name == tmp_path.name else size) for name, size in syncs]
    folder = (tmp_path.name, 0)
    becomes = (f"{EVENTS_FILE}.tmp becomes {EVENTS_FILE}", len(before))
    assert found == [(f"{EVENTS_FILE}.tmp", whole), *copied, folder, becomes, folder]


def test_a_scenario_with_a_broken_line_is_recorded_anew(tmp_path: Path) -> None:
    """All of its steps are answered; what the line was meant to say nobody knows."""
    suite = small_suite("one_a", "two_b", "three_a")
    virtual = settings(suite, clock="virtual")
    record(suite, alone(InProcess()), virtual, tmp_path)
    lines = (tmp_path / EVENTS_FILE).read_bytes().splitlines(keepends=True)
    place = 2 + next(k for k, line in enumerate(lines) if b'"two_b"' in line)
    broken = b'{"kind":"attempt","episode_id":"two_b","t":"three"}\n'
    (tmp_path / EVENTS_FILE).write_bytes(b"".join([*lines[:place], broken, *lines[place:]]))
    (tmp_path / RUN_FILE).write_text(json.dumps(run_record(tmp_path) | {"status": "running"}))
    component = InProcess()
    done = record(suite, alone(component), virtual, tmp_path, resume=True)
    assert done.status == "complete"
    assert {scenario for scenario, _ in component.calls} == {"two_b"}
    assert broken not in (tmp_path / EVENTS_FILE).read_bytes()
    assert broken in (tmp_path / "events.partial-1.jsonl").read_bytes()


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
