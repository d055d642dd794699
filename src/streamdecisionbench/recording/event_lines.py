"""Reading `events.jsonl` line by line: unknown keys and kinds are read over, broken lines are named.

The process that wrote a log may have died within its last line; that is recognised, not an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.events import Event, Response
from streamdecisionbench.suite.disk import open_regular

__all__ = ["EventScan", "decode_line", "iter_events", "scan"]

_BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_KINDS = ("release", "attempt", "response", "cancelled", "skipped", "expired")
_DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Event)


@dataclass(frozen=True, slots=True)
class EventScan:
    """What an event log holds, complete or not."""

    events: list[Event]
    torn: bool
    """The last line was cut off: the process died while writing it."""

    def by_episode(self) -> dict[str, list[Event]]:
        found: dict[str, list[Event]] = {}
        for event in self.events:
            found.setdefault(event.episode_id, []).append(event)
        return found


class _Kind(msgspec.Struct):
    kind: str = ""


def iter_events(path: Path) -> Iterator[Event | None]:
    """Events line by line; None stands for a torn last line. Lines of unknown kind are passed over."""
    with os.fdopen(open_regular(path), "rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                event = decode_line(line)
            except _BROKEN as error:
                if not line.endswith(b"\n"):
                    yield None
                    return
                what = "nested too deeply" if isinstance(error, RecursionError) else error
                raise InputError(
                    f"line {number} is not an event: {what}",
                    where=path,
                    fix="restore the file from where it was recorded; a log is never edited",
                ) from None
            if event is not None:
                yield event


def scan(path: Path) -> EventScan:
    """All events of a log, and whether its last line is torn."""
    events: list[Event] = []
    for event in iter_events(path):
        if event is None:
            return EventScan(events, torn=True)
        events.append(event)
    return EventScan(events, torn=False)


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
