"""A small, correct recording on disk, for tests that then break it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamdecisionbench.examples import example_recording, example_suite
from streamdecisionbench.recording.event_log import (
    EVENTS_FILE,
    Attempt,
    Event,
    EventLog,
    Release,
    Response,
    file_sha256,
)
from streamdecisionbench.recording.run_file import write_run
from streamdecisionbench.suite.suite_files import write_suite


def events() -> list[Event]:
    """The example's events in the order a recorder writes them."""
    episode = example_recording().episodes["tiny"]
    found: list[Event] = list(episode.releases)
    for response in episode.responses:
        found.append(
            Attempt(
                "tiny",
                response.t,
                "",
                1,
                response.started_s,
                response.received_s,
                response.completed_s,
                ok=True,
            )
        )
        found.append(response)
    return found


def run_record(**changed: Any) -> dict[str, Any]:
    suite = example_suite()
    return {
        "status": "complete",
        "config": {"component": "test:example"},
        "dataset_manifest": {
            "dataset_hash": suite.dataset_hash,
            "episodes": [{"episode_id": "tiny", "steps": 4}],
        },
        **changed,
    }


def write(folder: Path, found: list[Event] | None = None, **changed: Any) -> Path:
    """A recording folder with its suite beside it, digests fitting."""
    write_suite(example_suite(), folder.parent / "suite")
    with EventLog(folder) as log:
        for event in events() if found is None else found:
            log.append(event)
    record = run_record(events_sha256=file_sha256(folder / EVENTS_FILE))
    write_run(folder, {**record, **changed})
    return folder


def edit_lines(folder: Path, edit: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """Changes events as JSON and mends the digest, so that only the meaning is wrong."""
    path = folder / EVENTS_FILE
    lines = [edit(json.loads(line)) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines if line is not None))
    record = json.loads((folder / "run.json").read_text())
    record["events_sha256"] = file_sha256(path)
    (folder / "run.json").write_text(json.dumps(record))


__all__ = ["Release", "Response", "edit_lines", "events", "run_record", "write"]
