"""Going on after a stop: complete scenarios stay byte for byte, the others are recorded anew.

Nothing recorded is lost: the log as it was is kept beside the new one as `events.partial-N.jsonl`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from streamdecisionbench.components.providers.hosts import same_place
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.reader import iter_events
from streamdecisionbench.recording.writer import EVENTS_FILE, RUN_FILE
from streamdecisionbench.suite.disk import open_new, read_json

__all__ = ["Kept", "keep_complete", "read_run_record", "require_same"]


@dataclass(frozen=True, slots=True)
class Kept:
    """What a resumed recording starts from."""

    complete: tuple[str, ...]
    dropped: tuple[str, ...]
    torn: bool
    partial_file: str | None


class _Line(msgspec.Struct):
    kind: str
    episode_id: str
    t: int
    ok: bool = True
    component: str | None = None


def read_run_record(folder: Path) -> dict[str, Any] | None:
    """The run record to go on from; None where nothing has been recorded yet."""
    path = folder / RUN_FILE
    if not path.exists():
        if (folder / EVENTS_FILE).exists():
            raise InputError(
                f"has events but no {RUN_FILE}: it is not known what was being recorded",
                where=folder,
                fix="restore run.json, or record into a fresh --out folder",
            )
        return None
    record = read_json(path)
    if not isinstance(record, dict):
        raise InputError("is not a JSON object", where=path, fix="restore the file")
    return record


def require_same(
    folder: Path,
    record: Mapping[str, Any],
    config: Mapping[str, Any],
    dataset_hash: str,
    *,
    ignore: Iterable[str] = (),
) -> None:
    """Refuses to continue one recording as another: suite and every setting must be equal."""
    recorded_hash = (record.get("dataset_manifest") or {}).get("dataset_hash")
    if recorded_hash != dataset_hash:
        raise InputError(
            f"was recorded on suite {str(recorded_hash)[:12]}, this is suite {dataset_hash[:12]}",
            where=folder,
            fix="give the same suite with --data, or record into a fresh --out folder",
        )
    before = record.get("config") or {}
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


def keep_complete(folder: Path, steps: Mapping[str, int], components: Sequence[str | None]) -> Kept:
    """Rewrites the log to its complete scenarios, in one step, with the old one kept aside.

    A scenario is complete when every step was released once and every component's valid response
    to it is there. The steps are: write the new log, name the old one `events.partial-N.jsonl`, put
    the new one in its place. A crash between any two of them loses nothing.
    """
    log = folder / EVENTS_FILE
    if not log.exists():
        return Kept((), (), torn=False, partial_file=None)
    torn = any(event is None for event in iter_events(log))
    seen: dict[str, list[tuple[str, int, str | None]]] = {}
    raw, lines = _lines(log, torn)
    for _, line in lines:
        if line.kind == "release" or (line.kind == "response" and line.ok):
            component = line.component if line.kind == "response" else None
            seen.setdefault(line.episode_id, []).append((line.kind, line.t, component))
        else:
            seen.setdefault(line.episode_id, [])
    complete = tuple(
        episode
        for episode, found in seen.items()
        if _is_complete(found, steps.get(episode, -1), components)
    )
    dropped = tuple(episode for episode in seen if episode not in complete)
    whole = not torn and raw == b"".join(line for line, _ in lines)
    if not dropped and whole:
        return Kept(complete, (), torn=False, partial_file=None)
    partial = _next_partial(folder)
    fresh = folder / f"{EVENTS_FILE}.tmp"
    with os.fdopen(open_new(fresh), "wb") as file:
        file.writelines(raw for raw, line in lines if line.episode_id in complete)
        file.flush()
        os.fsync(file.fileno())
    _second_name(log, partial)
    fresh.replace(log)
    return Kept(complete, dropped, torn, partial.name)


def _lines(log: Path, torn: bool) -> tuple[bytes, list[tuple[bytes, _Line]]]:
    """The log's bytes, and its usable lines."""
    decoder = msgspec.json.Decoder(_Line)
    data = log.read_bytes()
    rows = [row for row in data.splitlines(keepends=True) if row.strip()]
    if torn:
        rows.pop()
    elif rows and not rows[-1].endswith(b"\n"):
        rows[-1] += b"\n"  # stopped between the last brace and the line's end
    found = []
    for line in rows:
        try:
            found.append((line, decoder.decode(line)))
        except msgspec.ValidationError:
            continue  # an event of a kind this version does not know; it stays in the partial file
    return data, found


def _is_complete(
    found: Sequence[tuple[str, int, str | None]], steps: int, components: Sequence[str | None]
) -> bool:
    expected: set[tuple[str, int, str | None]] = {("release", t, None) for t in range(steps)}
    expected |= {("response", t, component) for t in range(steps) for component in components}
    return len(found) == len(expected) and set(found) == expected


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
