"""Writing a recording's log: every event is a line, handed to the operating system before the next.

A line is read back before it is written. What would come back otherwise than it was meant, or not at
all, is refused, so that one odd answer cannot make a log unreadable.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from streamdecisionbench.components.contract import Fatal
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.events import Attempt, Event, Response
from streamdecisionbench.recording.run_record import RUN_FILE
from streamdecisionbench.suite.disk import cannot_write, make_folder, open_regular

__all__ = ["EVENTS_FILE", "RUN_FILE", "EventLog", "file_sha256", "to_line"]

EVENTS_FILE = "events.jsonl"

_ALWAYS: dict[type, tuple[str, ...]] = {
    Attempt: ("received_s", "completed_s", "ok", "retryable"),
    Response: ("discard_reason", "attempts", "wire_answers", "decision", "model", "usage"),
}
"""Keys of the published format that are written even when they hold their default."""

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


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
        make_folder(folder)
        try:
            # Never through a link: somebody else's file is not our log.
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NO_FOLLOW
            self._fd = os.open(self.path, flags if resume else flags | os.O_EXCL, 0o644)
        except OSError as error:
            raise cannot_write(self.path, error) from None
        self._size = os.fstat(self._fd).st_size
        self._encoder = msgspec.json.Encoder()
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Event)

    def append(self, event: Event) -> None:
        """One line, written in a single call."""
        line = self._checked(event)
        self._size += len(line)
        while line:
            line = line[os.write(self._fd, line) :]

    def sync(self) -> None:
        os.fsync(self._fd)

    def require_ours(self) -> None:
        """The file under our name is the one we write, and nobody else has written to it."""
        mine = os.fstat(self._fd)
        try:
            named = os.lstat(self.path)
            here = (mine.st_dev, mine.st_ino) == (named.st_dev, named.st_ino)
        except OSError:
            here = False
        if not here:
            raise InputError(
                "is not the log of this run any more: the folder was moved, deleted or replaced",
                where=self.path,
                fix="go on with --resume where the folder is now, or record again",
            )
        if mine.st_size != self._size:
            raise InputError(
                "was written to by somebody else while this run recorded",
                where=self.path,
                fix="record again into a fresh folder, and let one process write to it",
            )

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

    def _checked(self, event: Event) -> bytes:
        try:
            line = self._encoder.encode(to_line(event)) + b"\n"
            same = self._decoder.decode(line) == event
        except (ValueError, TypeError, OverflowError, RecursionError):
            same = False
        if not same:
            raise Fatal(
                "unwritable",
                f"{event.episode_id} t={event.t}: the {type(event).__name__.lower()} holds"
                " something that cannot be written as JSON and read again",
                fix="correct the component or the server, then go on with --resume",
            )
        return line


def to_line(event: Event) -> dict[str, Any]:
    """The published form of an event: keys the format always has are there even when empty."""
    line: dict[str, Any] = msgspec.to_builtins(event)
    for name in _ALWAYS.get(type(event), ()):
        line.setdefault(name, msgspec.to_builtins(getattr(event, name)))
    return line


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with os.fdopen(open_regular(path), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
