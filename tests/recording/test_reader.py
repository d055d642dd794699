"""Only what could have happened, happened completely and was not touched is handed out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.examples import example_suite
from streamdecisionbench.recording.event_log import Attempt, EventLog, scan, to_line
from streamdecisionbench.recording.reader import read_recording
from tests.cli.command import sdb
from tests.recording.made import edit_lines, events, write


def test_round_trip(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    recording = read_recording(folder, example_suite())
    assert [r.pred["recorder"] for r in recording.episodes["tiny"].responses] == [
        "record", "record", "pause", "pause",
    ]  # fmt: skip
    assert scan(folder / "events.jsonl").events == events()


def test_published_keys_are_always_written(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    lines = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    response = next(line for line in lines if line["kind"] == "response")
    assert {
        "kind", "episode_id", "t", "release_s", "request_hash", "ok", "accepted", "discard_reason", "started_s",
        "attempts", "received_s", "pred", "wire_answers", "decision", "model", "usage", "completed_s",
        "actual_recorded_s",
    } <= set(response)  # fmt: skip
    assert {"kind", "episode_id", "t", "planned_s", "release_s"} == set(lines[0])
    attempt = next(line for line in lines if line["kind"] == "attempt")
    assert {
        "kind", "episode_id", "t", "request_hash", "attempt", "started_s", "received_s", "completed_s", "ok",
        "retryable",
    } == set(attempt)  # fmt: skip


def test_a_failed_attempt_says_that_it_failed() -> None:
    line = to_line(
        Attempt("tiny", 0, "", 1, 0.0, completed_s=0.5, retryable=True, error_type="timeout")
    )
    assert line["ok"] is False
    assert line["retryable"] is True
    assert line["received_s"] is None


def test_unknown_keys_and_kinds_are_read_over(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    edit_lines(folder, lambda line: {**line, "novel": {"x": 1}})
    with (folder / "events.jsonl").open("a") as file:
        file.write('{"kind":"heartbeat","at":3}\n')
    edit_lines(folder, lambda line: line)
    assert len(read_recording(folder, example_suite()).episodes["tiny"].responses) == 4


def _of(kind: str, at: int, **changed: Any) -> Any:
    def edit(line: dict[str, Any]) -> dict[str, Any] | None:
        if line["kind"] == kind and line["t"] == at:
            return None if changed == {"drop": True} else {**line, **changed}
        return line

    return edit


BROKEN = {
    "a response is missing": (_of("response", 2, drop=True), "1 of 4 steps have no response (t = 2)"),
    "a release is missing": (_of("release", 1, drop=True), "1 of 4 steps have no release (t = 1)"),
    "a step twice": (_of("response", 1, t=0), "more than one response"),
    "a step outside": (_of("response", 3, t=7), "outside 0–3"),
    "not ok": (_of("response", 1, ok=False), "not ok"),
    "started before release": (_of("response", 1, started_s=1.0), "started_s (1.000000) is before release_s"),
    "received before start": (_of("response", 1, received_s=1.5), "received_s (1.500000) is before started_s"),
    "completed before receipt": (_of("response", 1, completed_s=2.1), "completed_s (2.100000) is before received_s"),
    "recorded before completion": (_of("response", 1, actual_recorded_s=2.2), "actual_recorded_s (2.200000) is before"),
    "negative time": (_of("response", 0, completed_s=-1.0), "completed_s is not a time"),
    "another release": (_of("response", 2, release_s=4.5, started_s=4.6), "not that of the release"),
    "releases out of order": (_of("release", 2, release_s=1.0), "released at or before t=1"),
    "another request": (_of("attempt", 2, request_hash="abc"), "sent another request"),
    "attempts out of order": (_of("attempt", 1, t=0), "not numbered in order"),
    "unanswered question": (_of("response", 0, pred={}), "leaves recorder unanswered"),
    "value that is no option": (_of("response", 0, pred={"recorder": "off"}), "is no option"),
    "question nobody asked": (_of("response", 0, pred={"recorder": "record", "mood": "x"}), "does not ask"),
    "label that means something else": (_of("response", 0, wire_answers={"recorder": "K02"}), "does not mean"),
    "decision that is not composed": (_of("response", 0, decision={"recorder": "pause"}), "not what pred composes"),
    "accepted though older": (_of("response", 0, completed_s=6.9, received_s=6.9, actual_recorded_s=6.9, accepted_s=6.9), "was accepted but"),
    "discarded without reason": (_of("response", 2, accepted=False, discard_reason="older_than_active"), "should not be"),
    "accepted before recorded": (_of("response", 2, accepted_s=1.0), "accepted_s is before"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_protocol_violations(tmp_path: Path, name: str) -> None:
    edit, words = BROKEN[name]
    folder = write(tmp_path / "run")
    edit_lines(folder, edit)
    with pytest.raises(InputError) as caught:
        read_recording(folder, example_suite())
    assert words in str(caught.value)
    assert "fix:" in str(caught.value)


@pytest.mark.parametrize(
    "name", ["a response is missing", "negative time", "accepted though older"]
)
def test_score_refuses_with_code_two(tmp_path: Path, name: str) -> None:
    edit, words = BROKEN[name]
    folder = write(tmp_path / "run")
    edit_lines(folder, edit)
    done = sdb("score", folder)
    assert done.returncode == 2
    assert words.split("(")[0].strip() in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_nan_is_no_json_number(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    edit_lines(folder, _of("response", 0, completed_s=float("nan")))
    done = sdb("score", folder)
    assert done.returncode == 2
    assert "events.jsonl" in done.stderr


def test_altered_log_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    log = folder / "events.jsonl"
    log.write_text(log.read_text().replace('"pause"', '"record"', 1))
    with pytest.raises(InputError, match="not the one that was recorded"):
        read_recording(folder, example_suite())


def test_torn_last_line_is_recognised(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", status="running", events_sha256=None)
    log = folder / "events.jsonl"
    whole = log.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for cut in range(last + 1, len(whole) - 1):
        log.write_bytes(whole[:cut])
        found = scan(log)
        assert found.torn
        assert len(found.events) == len(events()) - 1
    done = sdb("score", folder)
    assert done.returncode == 2
    assert "3 of 4 responses" in " ".join(done.stderr.split())
    assert "cut off by a crash" in " ".join(done.stderr.split())
    assert "--resume" in done.stderr


def test_a_broken_line_in_the_middle_is_an_error(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    log = folder / "events.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    lines[2] = lines[2][:20] + "\n"
    log.write_text("".join(lines))
    with pytest.raises(InputError, match="line 3 is not an event"):
        scan(log)


@pytest.mark.parametrize("status", ["running", "incomplete"])
def test_incomplete_recordings_say_what_is_missing(tmp_path: Path, status: str) -> None:
    folder = write(tmp_path / "run", events()[:8], status=status)
    with pytest.raises(InputError, match=r"2 of 4 responses.*tiny"):
        read_recording(folder, example_suite())


def test_another_suite_is_refused(tmp_path: Path) -> None:
    manifest = {"dataset_hash": "0" * 64, "episodes": [{"episode_id": "tiny", "steps": 4}]}
    folder = write(tmp_path / "run", dataset_manifest=manifest)
    with pytest.raises(InputError, match="was recorded on suite 000000000000"):
        read_recording(folder, example_suite())


def test_not_a_recording(tmp_path: Path) -> None:
    for folder in (tmp_path / "nowhere", tmp_path):
        done = sdb("score", folder)
        assert done.returncode == 2
        assert "fix:" in done.stderr
    (tmp_path / "run.json").write_text("[]")
    assert sdb("score", tmp_path).returncode == 2


def test_a_log_is_never_overwritten(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    before = (folder / "events.jsonl").read_bytes()
    with pytest.raises(InputError, match="already here"):
        EventLog(folder)
    assert (folder / "events.jsonl").read_bytes() == before


def test_counts_that_are_no_counts_are_left_out(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    odd = {"input_tokens": 9, "cached_tokens": None, "details": {"x": 1}}
    edit_lines(folder, _of("response", 0, usage=odd))
    usage = read_recording(folder, example_suite()).episodes["tiny"].responses[0].usage
    assert usage is not None
    assert (usage.input_tokens, usage.cached_tokens) == (9, None)


def test_sparse_attempts_and_manifests_load(tmp_path: Path) -> None:
    """What others may leave out: times of attempts, counts of the manifest, our own keys."""
    folder = write(tmp_path / "run")

    def sparse(line: dict[str, Any]) -> dict[str, Any]:
        if line["kind"] == "attempt":
            return {
                k: line[k]
                for k in ("kind", "episode_id", "t", "request_hash", "attempt", "started_s", "ok")
            }
        return line

    edit_lines(folder, sparse)
    assert read_recording(folder, example_suite()).episodes["tiny"].attempts[0].received_s is None
    record = json.loads((folder / "run.json").read_text())
    record["config"]["scenarios"] = ["some other name"]
    (folder / "run.json").write_text(json.dumps(record))
    assert read_recording(folder, example_suite())
