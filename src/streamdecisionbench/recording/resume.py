"""Going on after a stop: complete scenarios stay byte for byte, the others are recorded anew.

Nothing recorded is lost: the log as it was is kept beside the new one as `events.partial-N.jsonl`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from streamdecisionbench.components.providers.hosts import same_place
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.consistency import Expected, check_episode
from streamdecisionbench.recording.event_lines import decode_line
from streamdecisionbench.recording.events import Event
from streamdecisionbench.recording.reader import episodes_of
from streamdecisionbench.recording.run_record import RUN_FILE, RunRecord, read_run
from streamdecisionbench.recording.writer import EVENTS_FILE
from streamdecisionbench.suite.disk import cannot_write, open_new, read_bytes

__all__ = ["Kept", "complete_in", "keep_complete", "record_to_go_on_from", "require_same"]


@dataclass(frozen=True, slots=True)
class Kept:
    """What a resumed recording starts from."""

    complete: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    torn: bool = False
    partial_file: str | None = None


class _Place(msgspec.Struct):
    episode_id: str


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a log: its scenario where it names one, its event where it is one."""

    raw: bytes
    episode_id: str | None
    event: Event | None
    broken: bool = False


def record_to_go_on_from(folder: Path) -> RunRecord | None:
    """The run record to go on from; None where nothing has been recorded yet."""
    if not (folder / RUN_FILE).exists():
        if (folder / EVENTS_FILE).exists():
            raise InputError(
                f"has events but no {RUN_FILE}: it is not known what was being recorded",
                where=folder,
                fix="restore run.json, or record into a fresh --out folder",
            )
        return None
    return read_run(folder)


def require_same(
    folder: Path,
    record: RunRecord,
    config: Mapping[str, Any],
    dataset_hash: str,
    *,
    ignore: Iterable[str] = (),
) -> None:
    """Refuses to continue one recording as another: suite and every setting must be equal."""
    recorded_hash = record.dataset_manifest.dataset_hash
    if recorded_hash != dataset_hash:
        raise InputError(
            f"was recorded on suite {recorded_hash[:12]}, this is suite {dataset_hash[:12]}",
            where=folder,
            fix="give the same suite with --data, or record into a fresh --out folder",
        )
    before = record.config
    differing = [
        f"{key} was {_show(before.get(key))}, now {_show(config.get(key))}"
        for key in sorted({*before, *config} - set(ignore))
        if not _same(key, before.get(key), config.get(key))
    ]
    if differing:
        raise InputError(
            f"was recorded with other settings: {'; '.join(differing)}",
            where=folder,
            fix="repeat the settings it was started with, or record into a fresh --out folder",
        )


def _same(key: str, before: Any, now: Any) -> bool:
    """Equal settings; a server of this machine may come back at another port."""
    if key == "base_url_host":
        return same_place(before) == same_place(now)
    if isinstance(before, Mapping) and isinstance(now, Mapping) and "base_url_host" in before:
        return all(_same(k, before.get(k), now.get(k)) for k in {*before, *now})  # a pair's part
    return bool(before == now)


def complete_in(folder: Path, expected: Mapping[str, Expected]) -> tuple[str, ...]:
    """The scenarios that the log holds completely; nothing is changed."""
    log = folder / EVENTS_FILE
    if not log.exists():
        return ()
    return _complete(_lines(read_bytes(log), log)[0], expected)


def keep_complete(
    folder: Path, expected: Mapping[str, Expected], among: Collection[str] | None = None
) -> Kept:
    """Rewrites the log to its complete scenarios, in one step, with the old one kept aside.

    `among`: only these; others are given up although they are complete. A scenario is complete when nothing about it violates the recording protocol. The steps are:
    write the new log, name the old one `events.partial-N.jsonl`, put the new one in its place. A
    crash between any two of them loses nothing.
    """
    log = folder / EVENTS_FILE
    if not log.exists():
        return Kept()
    data = read_bytes(log)
    lines, torn = _lines(data, log)
    complete = tuple(key for key in _complete(lines, expected) if among is None or key in among)
    seen = dict.fromkeys(line.episode_id for line in lines if line.episode_id is not None)
    dropped = tuple(key for key in seen if key not in complete)
    kept = b"".join(line.raw for line in lines if line.episode_id in (None, *complete))
    if kept == data:
        return Kept(complete)
    partial = _next_partial(folder)
    fresh = folder / f"{EVENTS_FILE}.tmp"
    try:
        with os.fdopen(open_new(fresh), "wb") as file:
            file.write(kept)
            file.flush()
            os.fsync(file.fileno())
        _second_name(log, partial)
        fresh.replace(log)
    except OSError as error:
        raise cannot_write(fresh, error) from None
    return Kept(complete, dropped, torn, partial.name)


def _complete(lines: Sequence[_Line], expected: Mapping[str, Expected]) -> tuple[str, ...]:
    spoiled = {line.episode_id for line in lines if line.broken}
    events = [line.event for line in lines if line.event is not None]
    return tuple(
        key
        for key, episode in episodes_of(events).items()
        if key in expected and key not in spoiled and not check_episode(episode, expected[key])
    )


def _lines(data: bytes, log: Path) -> tuple[list[_Line], bool]:
    """The log's lines, and whether the last one is torn; a torn one is left out."""
    rows = data.splitlines(keepends=True)
    found: list[_Line] = []
    for number, raw in enumerate(rows, start=1):
        if not raw.strip():
            continue
        # The recorder may have stopped between the last brace and the line's end.
        whole = raw if raw.endswith(b"\n") else raw + b"\n"
        try:
            event = decode_line(raw)
            place = event.episode_id if event is not None else _place(raw)
            found.append(_Line(whole, place, event))
            continue
        except (ValueError, RecursionError):
            if whole is not raw:
                return found, True
        place = _place(raw)
        if place is None:
            raise InputError(
                f"line {number} is not an event",
                where=log,
                fix="restore the file from where it was recorded; a log is never edited",
            )
        found.append(_Line(whole, place, None, broken=True))
    return found, False


def _place(raw: bytes) -> str | None:
    try:
        return msgspec.json.decode(raw, type=_Place).episode_id
    except (ValueError, RecursionError):
        return None


def _next_partial(folder: Path) -> Path:
    number = 1
    while (folder / f"events.partial-{number}.jsonl").exists():
        number += 1
    return folder / f"events.partial-{number}.jsonl"


def _second_name(log: Path, partial: Path) -> None:
    try:
        os.link(log, partial)
    except OSError:  # a file system without hard links
        shutil.copyfile(log, partial)


def _show(value: Any) -> str:
    text = msgspec.json.encode(value).decode() if value is not None else "absent"
    return text if len(text) <= 60 else text[:57] + "…"
