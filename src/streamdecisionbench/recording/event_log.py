"""`events.jsonl`: what a line may be (a release, an attempt, a response, or what a policy did instead),
how a log is read and how it is written.

Times are seconds since the episode's start on a monotonic clock. Field names follow
the paper's; unknown keys and kinds are read over, broken lines are named. The process that wrote a
log may have died within its last line; that is recognised, not an error. Every event is a line, handed
to the operating system before the next, and read back before it is written: what would come back
otherwise than it was meant is refused, so that one odd answer cannot make a log unreadable.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from streamdecisionbench.components.contract import Fatal, Usage
from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.file_io import (
    cannot_write,
    make_folder,
    open_regular,
    read_bytes,
)

AFTER_HORIZON = "after_horizon"


class Release(msgspec.Struct, frozen=True, tag_field="kind", tag="release", omit_defaults=True):
    """Step `t` was to be published at `planned_s` and really was at `release_s`."""

    episode_id: str
    t: int
    planned_s: float
    release_s: float
    stalled_s: float | None = None
    """Seconds of its delay in which the client stood still."""


class Attempt(msgspec.Struct, frozen=True, tag_field="kind", tag="attempt", omit_defaults=True):
    """One call to the component, successful or not. No error text: it could echo the input."""

    episode_id: str
    t: int
    request_hash: str
    attempt: int
    started_s: float
    received_s: float | None = None
    completed_s: float | None = None
    ok: bool = False
    retryable: bool = False
    error_type: str | None = None
    http_status: int | None = None
    component: str | None = None


class Response(msgspec.Struct, frozen=True, tag_field="kind", tag="response", omit_defaults=True):
    """The answer to step `t`, what it decodes to, and whether it took effect."""

    episode_id: str
    t: int
    release_s: float
    request_hash: str
    ok: bool
    accepted: bool
    started_s: float
    received_s: float
    pred: dict[str, str]
    completed_s: float
    actual_recorded_s: float
    discard_reason: str | None = None
    attempts: list[Any] = []
    wire_answers: dict[str, str] = {}
    decision: dict[str, str] = {}
    model: str | None = None
    usage: Usage | None = None
    accepted_s: float | None = None
    component: str | None = None
    probabilities: dict[str, dict[str, float]] | None = None
    confidence: dict[str, float] | None = None
    stalled_s: float | None = None
    """Seconds between publication and acceptance in which the client stood still: not the component's."""

    @property
    def success_started_s(self) -> float:
        """Start of the successful attempt (the last one that was ok)."""
        for attempt in reversed(self.attempts):
            if not isinstance(attempt, dict) or not attempt.get("ok", True):
                continue
            if isinstance(attempt.get("started_s"), int | float):
                return float(attempt["started_s"])
        return self.started_s

    @property
    def service_s(self) -> float:
        """completed − started of the successful attempt: what published latency quantiles use."""
        return self.completed_s - self.success_started_s

    @property
    def commit_lag_s(self) -> float:
        """From validated completion to the acceptance check."""
        return self.actual_recorded_s - self.completed_s

    @property
    def latency_s(self) -> float:
        """L_i = (completed − started of the successful attempt) + (recorded − completed)."""
        return self.service_s + self.commit_lag_s


class Cancelled(msgspec.Struct, frozen=True, tag_field="kind", tag="cancelled", omit_defaults=True):
    """A request that a policy gave up: its answer will never be known."""

    episode_id: str
    t: int
    request_hash: str
    started_s: float
    cancelled_s: float
    component: str | None = None

    @property
    def waited_s(self) -> float:
        """For how long it is known not to have been answered."""
        return self.cancelled_s - self.started_s


class Skipped(msgspec.Struct, frozen=True, tag_field="kind", tag="skipped", omit_defaults=True):
    """A state that a policy did not send to a component."""

    episode_id: str
    t: int
    reason: str
    component: str | None = None


class Expired(msgspec.Struct, frozen=True, tag_field="kind", tag="expired", omit_defaults=True):
    """A decision that lapsed: from `expired_s` on the policy's fallback was in force."""

    episode_id: str
    t: int
    expired_s: float
    component: str | None = None


Event = Release | Attempt | Response | Cancelled | Skipped | Expired


NO_TIME = "is not a time (NaN, infinite or negative)"


def finite(value: float | None) -> bool:
    """A usable time: present, finite, not negative."""
    return value is not None and math.isfinite(value) and value >= 0


EVENTS_FILE = "events.jsonl"
EDITED = "restore the file from where it was recorded; a log is never edited"

_KINDS = ("release", "attempt", "response", "cancelled", "skipped", "expired")
_DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Event)


class _Kind(msgspec.Struct):
    kind: str = ""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a log as it lies there: its event, None for a kind nobody here knows, or why not."""

    number: int
    raw: bytes
    event: Event | None
    broken: str = ""

    @property
    def torn(self) -> bool:
        """Cut off: the process died while writing it. A whole event without its line's end is not."""
        return bool(self.broken) and not self.raw.endswith(b"\n")


@dataclass(frozen=True, slots=True)
class EventScan:
    """What an event log holds, complete or not."""

    events: list[Event]
    torn: bool = False
    """The last line was cut off: the process died while writing it."""
    sha256: str = ""
    """Of the file's bytes."""


def scan(path: Path, data: bytes | None = None) -> EventScan:
    """All events of a log, and whether its last line is torn; `data` are its bytes, if at hand."""
    data = read_bytes(path) if data is None else data
    sha256 = hashlib.sha256(data).hexdigest()
    events: list[Event] = []
    for line in log_lines(data):
        if line.torn:
            return EventScan(events, True, sha256)
        if line.broken:
            what = f"line {line.number} is not an event: {line.broken}"
            raise InputError(what, where=path, fix=EDITED)
        if line.event is not None:
            events.append(line.event)
    return EventScan(events, False, sha256)


def log_lines(data: bytes) -> Iterator[LogLine]:
    """The lines of a log that are not empty; what is broken is told, not raised."""
    for number, raw in enumerate(io.BytesIO(data), start=1):
        if not raw.strip():
            continue
        try:
            yield LogLine(number, raw, decode_line(raw))
        except (ValueError, RecursionError) as error:
            deep = isinstance(error, RecursionError)
            yield LogLine(number, raw, None, "nested too deeply" if deep else str(error))


def decode_line(line: bytes) -> Event | None:
    """One event; None for a kind nobody here knows. Raises what msgspec raises."""
    try:
        event: Event = _DECODER.decode(line)
    except msgspec.ValidationError:
        if _unknown_kind(line):
            return None
        mended = _without_odd_extras(line)
        if mended is None:
            raise
        return mended
    return event


def _unknown_kind(line: bytes) -> bool:
    try:
        kind = msgspec.json.decode(line, type=_Kind).kind
    except msgspec.DecodeError:
        return False
    return kind not in _KINDS


def _without_odd_extras(line: bytes) -> Event | None:
    """A response whose counts, model or confidences are odd is still a response.

    Services report token counts as null or nested at times; what is no count is left out. Nothing
    that decides a score is touched.
    """
    try:
        raw = msgspec.json.decode(line)
        if not isinstance(raw, dict) or raw.get("kind") != "response":
            return None
        usage = raw.pop("usage", None)
        if isinstance(usage, dict):
            raw["usage"] = {k: v for k, v in usage.items() if type(v) is int}
        confidence = raw.pop("confidence", None)
        if isinstance(confidence, dict):
            raw["confidence"] = {q: v for q, v in confidence.items() if type(v) in (int, float)}
        if not isinstance(raw.get("model"), str):
            raw.pop("model", None)
        try:
            msgspec.convert(raw.get("probabilities"), dict[str, dict[str, float]] | None)
        except msgspec.ValidationError:
            raw.pop("probabilities")
        response: Event = msgspec.convert(raw, Response)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
    return response


_ALWAYS: dict[type, tuple[str, ...]] = {
    Attempt: ("received_s", "completed_s", "ok", "retryable"),
    Response: ("discard_reason", "attempts", "wire_answers", "decision", "model", "usage"),
}
"""Keys of the paper's events that are written even when they hold their default."""

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

    def __exit__(self, *_: object) -> None:
        self.close()

    def _checked(self, event: Event) -> bytes:
        try:
            line = self._encoder.encode(to_line(event)) + b"\n"
            same = _DECODER.decode(line) == event
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
