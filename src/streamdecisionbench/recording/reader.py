"""Reading recordings: streaming, tolerant of unknown keys, strict about meaning.

Only a complete, unaltered recording is handed out. Anything else is refused with a message that
says what is missing and how to go on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.consistency import check_episode
from streamdecisionbench.recording.events import Attempt, Event, Release, Response
from streamdecisionbench.recording.recording import Episode, Problem, Recording
from streamdecisionbench.recording.writer import EVENTS_FILE, RUN_FILE, file_sha256
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import read_json

__all__ = [
    "EventScan",
    "find_problems",
    "iter_events",
    "read_recording",
    "recorded_suite_hash",
    "scan",
]

_SHOWN = 5


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
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Event)
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise InputError("no such file", where=path, fix="is this a recording folder?") from None
    with file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                yield decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                if not line.endswith(b"\n"):
                    yield None
                    return
                if isinstance(error, msgspec.ValidationError):
                    if _unknown_kind(line):
                        continue
                    mended = _with_plain_usage(line)
                    if mended is not None:
                        yield mended
                        continue
                raise InputError(
                    f"line {number} is not an event: {error}",
                    where=path,
                    fix="restore the file from where it was recorded; a log is never edited",
                ) from None


def scan(path: Path) -> EventScan:
    """All events of a log, and whether its last line is torn."""
    events: list[Event] = []
    for event in iter_events(path):
        if event is None:
            return EventScan(events, torn=True)
        events.append(event)
    return EventScan(events, torn=False)


def read_recording(folder: str | Path, suite: Suite | None = None) -> Recording:
    """A complete recording, checked. With its suite, meanings are checked as well as times."""
    folder = Path(folder)
    run = _read_run(folder)
    log = folder / EVENTS_FILE
    _require_complete(folder, run)
    recorded_digest = run.get("events_sha256")
    actual_digest = file_sha256(log) if log.exists() else ""
    if recorded_digest != actual_digest:
        raise InputError(
            f"the event log is not the one that was recorded (events_sha256 in {RUN_FILE} differs)",
            where=log,
            fix="restore events.jsonl, or record again into a fresh folder",
        )
    if suite is not None:
        _require_suite(folder, run, suite)
    recording = _assemble(folder, run, scan(log), actual_digest)
    problems = find_problems(recording, suite)
    if problems:
        shown = "\n".join(f"  {p}" for p in problems[:_SHOWN])
        more = f"\n  … and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise InputError(
            f"{len(problems)} violation(s) of the recording protocol:\n{shown}{more}",
            where=log,
            fix="this log could not have been recorded like this; record again",
        )
    return recording


def recorded_suite_hash(folder: str | Path) -> str:
    """Which suite a recording says it was made on, without reading its events."""
    manifest = _read_run(Path(folder)).get("dataset_manifest") or {}
    return str(manifest.get("dataset_hash", ""))


def find_problems(recording: Recording, suite: Suite | None = None) -> list[Problem]:
    """Every violation of completeness, causality and meaning."""
    problems: list[Problem] = []
    steps = _expected_steps(recording.run)
    wanted = _wanted_episodes(recording.run, steps)
    problems += [Problem(e, "no events at all") for e in wanted if e not in recording.episodes]
    for name, half in (recording.halves or {"": recording}).items():
        for episode_id, episode in half.episodes.items():
            if episode_id not in steps:
                problems.append(Problem(episode_id, "is not an episode of the recorded suite"))
                continue
            problems += check_episode(
                f"{episode_id} ({name})" if name else episode_id,
                steps[episode_id],
                episode.releases,
                episode.attempts,
                episode.responses,
                scenario=suite.scenarios.get(episode_id) if suite else None,
                consumed_only=recording.consumed_only,
                arbitrated=bool(name),
            )
    return problems


def _assemble(folder: Path, run: Mapping[str, Any], log: EventScan, sha256: str) -> Recording:
    by_episode = log.by_episode()
    components = {
        e.component for e in log.events if isinstance(e, Response) and e.component is not None
    }

    def episodes(component: str | None) -> dict[str, Episode]:
        def mine(event: Attempt | Response) -> bool:
            return component is None or event.component == component

        return {
            key: Episode(
                key,
                tuple(sorted((e for e in events if isinstance(e, Release)), key=lambda e: e.t)),
                tuple(e for e in events if isinstance(e, Attempt) and mine(e)),
                tuple(
                    sorted(
                        (e for e in events if isinstance(e, Response) and mine(e)),
                        key=lambda e: e.t,
                    )
                ),
            )
            for key, events in by_episode.items()
        }

    name = str(run.get("name") or folder.resolve().name)
    halves = {}
    if {"fast", "slow"} <= components:
        halves = {
            role: Recording(f"{name} {role}", run, episodes(role), folder, sha256)
            for role in ("fast", "slow")
        }
    return Recording(name, run, episodes(None), folder, sha256, halves)


def _read_run(folder: Path) -> Mapping[str, Any]:
    if not folder.is_dir():
        raise InputError("no such folder", where=folder, fix="give the folder of a recording")
    path = folder / RUN_FILE
    if not path.exists():
        raise InputError(
            f"has no {RUN_FILE}", where=folder, fix="give the folder that `sdb run --out` made"
        )
    run = read_json(path)
    if not isinstance(run, dict):
        raise InputError("is not a JSON object", where=path, fix="restore the file")
    return run


def _require_complete(folder: Path, run: Mapping[str, Any]) -> None:
    status = run.get("status")
    if status == "complete":
        return
    if status not in ("running", "incomplete"):
        raise InputError(
            f"status is {status!r}",
            where=folder / RUN_FILE,
            fix="expected running, complete or incomplete",
        )
    steps = _expected_steps(run)
    wanted = _wanted_episodes(run, steps)
    log = folder / EVENTS_FILE
    found = scan(log) if log.exists() else EventScan([], torn=False)
    answered: dict[str, int] = {}
    for event in found.events:
        if isinstance(event, Response) and event.ok:
            answered[event.episode_id] = answered.get(event.episode_id, 0) + 1
    total = sum(steps.get(e, 0) for e in wanted)
    missing = [e for e in wanted if answered.get(e, 0) < steps.get(e, 0)]
    torn = "; its last line was cut off by a crash" if found.torn else ""
    raise InputError(
        f"the recording is incomplete (status {status}): {sum(answered.values())} of {total} responses{torn};"
        f" still to record: {', '.join(missing) or 'nothing, but the run was not closed'}",
        where=folder,
        fix="finish it with `sdb run … --out` of the same folder and --resume",
    )


def _require_suite(folder: Path, run: Mapping[str, Any], suite: Suite) -> None:
    manifest = run.get("dataset_manifest") or {}
    recorded = str(manifest.get("dataset_hash", ""))
    if recorded != suite.dataset_hash:
        raise InputError(
            f"was recorded on suite {recorded[:12] or '(unnamed)'}, not on {suite.dataset_hash[:12]}",
            where=folder,
            fix="give the folder of that suite with --data",
        )


def _expected_steps(run: Mapping[str, Any]) -> dict[str, int]:
    manifest = run.get("dataset_manifest") or {}
    try:
        return {str(e["episode_id"]): int(e["steps"]) for e in manifest["episodes"]}
    except (KeyError, TypeError, ValueError):
        raise InputError(
            "dataset_manifest.episodes is missing or has no episode_id and steps",
            where=RUN_FILE,
            fix="restore run.json as it was recorded",
        ) from None


def _wanted_episodes(run: Mapping[str, Any], steps: Mapping[str, int]) -> list[str]:
    """What this recording set out to cover: all of the suite unless its config names scenarios."""
    chosen = (run.get("config") or {}).get("scenarios")
    if isinstance(chosen, list) and chosen and all(e in steps for e in chosen):
        return [str(e) for e in chosen]
    return list(steps)


def _with_plain_usage(line: bytes) -> Event | None:
    """Services report token counts as null or nested at times; what is no count is left out."""
    try:
        raw = msgspec.json.decode(line)
        usage = raw.get("usage")
        if raw.get("kind") != "response" or usage is None:
            return None
        counts = usage if isinstance(usage, dict) else {}
        raw["usage"] = {k: v for k, v in counts.items() if type(v) is int}
        response: Event = msgspec.convert(raw, Response)
    except (msgspec.DecodeError, msgspec.ValidationError, AttributeError):
        return None
    return response


def _unknown_kind(line: bytes) -> bool:
    try:
        kind = msgspec.json.decode(line, type=_Kind).kind
    except msgspec.DecodeError:
        return False
    return kind not in ("release", "attempt", "response")
