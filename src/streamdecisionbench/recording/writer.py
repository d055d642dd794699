"""Writing a recording: the event log, line by line, and the run record beside it.

An event is handed to the operating system before `append` returns, so that killing the process at
any moment loses nothing written before. `sync` forces it to the medium as well; the recorder calls
it at the end of every scenario.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.events import Attempt, Event, Response
from streamdecisionbench.suite.disk import make_folder, write_text

__all__ = ["EVENTS_FILE", "RUN_FILE", "EventLog", "file_sha256", "to_line", "write_run_record"]

EVENTS_FILE = "events.jsonl"
RUN_FILE = "run.json"

_ALWAYS: dict[type, tuple[str, ...]] = {
    Attempt: ("received_s", "completed_s", "ok", "retryable"),
    Response: ("discard_reason", "attempts", "wire_answers", "decision", "model", "usage"),
}
"""Keys of the published format that are written even when they hold their default."""


class EventLog:
    """Appends events to `events.jsonl` of a fresh (or resumed) recording folder."""

    def __init__(self, folder: Path, *, resume: bool = False) -> None:
        self.path = folder / EVENTS_FILE
        if self.path.exists() and not resume:
            raise InputError(
                "a recording is already here",
                where=self.path,
                fix="choose a fresh --out folder, or add --resume to go on with this one",
            )
        folder.mkdir(parents=True, exist_ok=True)
        # Never through a link: somebody else's file is not our log.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        self._fd = os.open(self.path, flags if resume else flags | os.O_EXCL, 0o644)
        self._encoder = msgspec.json.Encoder()

    def append(self, event: Event) -> None:
        """One line, written in a single call."""
        line = self._encoder.encode(to_line(event)) + b"\n"
        while line:
            line = line[os.write(self._fd, line) :]

    def sync(self) -> None:
        os.fsync(self._fd)

    def close(self) -> None:
        if self._fd >= 0:
            os.fsync(self._fd)
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> EventLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def to_line(event: Event) -> dict[str, Any]:
    """The published form of an event: keys the format always has are there even when empty."""
    line: dict[str, Any] = msgspec.to_builtins(event)
    for name in _ALWAYS.get(type(event), ()):
        line.setdefault(name, msgspec.to_builtins(getattr(event, name)))
    return line


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_run_record(folder: Path, record: dict[str, Any]) -> None:
    """Replaces `run.json` in one step: a reader sees the old record or the new one, never half."""
    make_folder(folder)
    text = json.dumps(record, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    write_text(folder / RUN_FILE, text)
