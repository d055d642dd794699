"""Reading recordings: tolerant of unknown keys and of what others leave out, strict about meaning.

Only a complete, unaltered recording is handed out. Anything else is refused with a message that
says what is missing and how to go on.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.rule import (
    FAST,
    SLOW,
    pair_rule,
)
from streamdecisionbench.recording.event_log import (
    EVENTS_FILE,
    Attempt,
    Cancelled,
    Event,
    EventScan,
    Expired,
    Release,
    Response,
    Skipped,
    scan,
)
from streamdecisionbench.recording.recording import Episode, Problem, Recording
from streamdecisionbench.recording.recording_check import (
    Expected,
    check_episode,
)
from streamdecisionbench.recording.run_file import (
    COMPLETE,
    RUN_FILE,
    RunRecord,
    parse_run,
    read_run,
    require_manifest,
)
from streamdecisionbench.suite.file_io import read_bytes
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import other_suite_error
from streamdecisionbench.text import plural

_SHOWN = 5


def read_recording(folder: str | Path, suite: Suite | None = None) -> Recording:
    """A complete recording, checked. With its suite, meanings are checked as well as times."""
    folder = Path(folder)
    record = read_run(folder)
    if suite is not None:
        _require_suite(folder, record, suite)
    _require_complete(folder, record, suite)
    log = folder / EVENTS_FILE
    data = read_bytes(log) if log.exists() else None
    sha256 = "" if data is None else hashlib.sha256(data).hexdigest()
    if record.events_sha256 != sha256:
        raise InputError(
            f"the event log is not the one that was recorded (events_sha256 in {RUN_FILE} differs)",
            where=log,
            fix="restore events.jsonl, or record again into a fresh folder",
        )
    steps = require_manifest(record, suite, folder / RUN_FILE)
    recording = assemble(folder, record, scan(log, data).events, sha256)
    require_no_problems(_problems(record, recording, suite, steps), log)
    return recording


def recorded_suite_hash(folder: str | Path) -> str:
    """Which suite a recording says it was made on, without reading its events."""
    record = read_run(Path(folder))
    if record.status != COMPLETE and record.config.get("world") is not None:
        raise InputError(
            f"status is {record.status}: the suite of a world is written when its sessions have ended",
            where=Path(folder) / RUN_FILE,
            fix="finish it with `sdb run … --out` of the same folder and --resume",
        )
    return record.dataset_manifest.dataset_hash


def find_problems(recording: Recording, suite: Suite | None = None) -> list[Problem]:
    """Every violation of completeness, causality and meaning."""
    record = parse_run({"status": COMPLETE, **recording.run})
    steps = require_manifest(record, suite, recording.path)
    return _problems(record, recording, suite, steps)


def require_no_problems(problems: Sequence[Problem], log: Path) -> None:
    """Refuses a log that could not have been recorded like this, with the first of what is wrong."""
    if not problems:
        return
    shown = "\n".join(f"  {p}" for p in problems[:_SHOWN])
    more = f"\n  … and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    raise InputError(
        f"{len(problems)} violation(s) of the recording protocol:\n{shown}{more}",
        where=log,
        fix="this log could not have been recorded like this; record again",
    )


def expectations(
    record: RunRecord, suite: Suite | None, steps: Mapping[str, int], *, pair: bool = False
) -> dict[str, Expected]:
    """What every scenario of the suite would have to look like in this recording."""
    rule = record.config.get("rule")
    policy = record.policy
    versions = record.environment.get("versions")
    ours = isinstance(versions, dict) and "streamdecisionbench" in versions
    return {
        name: Expected(
            steps=count,
            scenario=suite.scenarios.get(name) if suite else None,
            interval_s=record.interval_s,
            irregular=record.config.get("irregular") is True,
            consumed_only=record.config.get("answers") == "consumed_only",
            members=record.members or ((FAST, SLOW) if pair else ()),
            rule=None if rule is None else pair_rule(rule),
            policy=policy,
            our_hashes=ours,
        )
        for name, count in steps.items()
    }


def assemble(
    folder: Path, record: RunRecord, events: Sequence[Event], sha256: str = ""
) -> Recording:
    """Events in memory; of a live pair or cascade also each component's own recording."""
    run = record.to_json()
    name = record.name or folder.resolve().name
    components = {e.component for e in events if isinstance(e, Response)}
    roles = record.members or ((FAST, SLOW) if {FAST, SLOW} <= components else ())
    halves = {
        role: Recording(f"{name} {role}", run, episodes_of(events, role), folder, sha256)
        for role in roles
    }
    return Recording(name, run, episodes_of(events), folder, sha256, halves)


def episodes_of(events: Sequence[Event], component: str | None = None) -> dict[str, Episode]:
    """Events by scenario, releases and responses in step order; of one component where it is named."""
    by_episode: dict[str, list[Event]] = {}
    for event in events:
        by_episode.setdefault(event.episode_id, []).append(event)

    def mine(event: Attempt | Response | Cancelled | Skipped | Expired) -> bool:
        return component is None or event.component == component

    return {
        key: Episode(
            key,
            tuple(sorted((e for e in found if isinstance(e, Release)), key=lambda e: e.t)),
            tuple(e for e in found if isinstance(e, Attempt) and mine(e)),
            tuple(
                sorted((e for e in found if isinstance(e, Response) and mine(e)), key=lambda e: e.t)
            ),
            tuple(e for e in found if isinstance(e, Cancelled | Skipped) and mine(e)),
            tuple(e for e in found if isinstance(e, Expired) and mine(e)),
        )
        for key, found in by_episode.items()
    }


def wanted(record: RunRecord, steps: Mapping[str, int]) -> list[str]:
    """What this recording set out to cover: all of the suite unless its record names scenarios."""
    chosen = record.scenarios
    if chosen and all(e in steps for e in chosen):
        return chosen
    listed = [e.episode_id for e in record.dataset_manifest.episodes]
    return listed or list(steps)


def _problems(
    record: RunRecord, recording: Recording, suite: Suite | None, steps: Mapping[str, int]
) -> list[Problem]:
    expected = expectations(record, suite, steps, pair=bool(recording.halves))
    named = wanted(record, steps)
    problems = [Problem(e, "no events at all") for e in named if e not in recording.episodes]
    for episode_id, episode in recording.episodes.items():
        if episode_id not in expected:
            problems.append(Problem(episode_id, "is not an episode of the recorded suite"))
        else:
            problems += check_episode(episode, expected[episode_id])
    return problems


def _require_complete(folder: Path, record: RunRecord, suite: Suite | None) -> None:
    if record.status == COMPLETE:
        return
    steps = require_manifest(record, suite, folder / RUN_FILE)
    named = wanted(record, steps)
    log = folder / EVENTS_FILE
    found = scan(log) if log.exists() else EventScan([])
    parts = len(record.members) or 1
    answered: dict[str, int] = {}
    for event in found.events:
        if isinstance(event, Cancelled | Skipped) or (isinstance(event, Response) and event.ok):
            answered[event.episode_id] = answered.get(event.episode_id, 0) + 1
    total = parts * sum(steps.get(e, 0) for e in named)
    missing = [e for e in named if answered.get(e, 0) < parts * steps.get(e, 0)]
    torn = "; its last line was cut off by a crash" if found.torn else ""
    raise InputError(
        f"the recording is incomplete (status {record.status}): {sum(answered.values())} of"
        f" {plural(total, 'response')}{torn};"
        f" still to record: {', '.join(missing) or 'nothing, but the run was not closed'}",
        where=folder,
        fix="finish it with `sdb run … --out` of the same folder and --resume; `sdb score --partial`"
        " scores the scenarios that are complete",
    )


def _require_suite(folder: Path, record: RunRecord, suite: Suite) -> None:
    recorded = record.dataset_manifest.dataset_hash
    if recorded != suite.dataset_hash:
        raise other_suite_error(
            recorded,
            suite.dataset_hash,
            where=folder,
            fix="give the folder of that suite with --data",
        )


def read_partial(folder: str | Path, suite: Suite) -> Recording:
    """What of a recording can be scored: all of a complete one, else its complete scenarios.

    `config.partial` then says so, and with it every note and signature.
    """
    folder = Path(folder)
    record = read_run(folder)
    if record.status == COMPLETE:
        return read_recording(folder, suite)
    _require_suite(folder, record, suite)
    steps = require_manifest(record, suite, folder / RUN_FILE)
    log = folder / EVENTS_FILE
    read = scan(log) if log.exists() else EventScan([])
    found = assemble(folder, record, read.events, read.sha256)
    expected = expectations(record, suite, steps, pair=bool(found.halves))
    named = wanted(record, steps)
    scored = [
        name
        for name in named
        if name in found.episodes and not check_episode(found.episodes[name], expected[name])
    ]
    if not scored:
        raise InputError(
            f"no scenario of the recording is complete (status {record.status})",
            where=folder,
            fix="finish it with `sdb run … --out` of the same folder and --resume",
        )
    partial = {"scored": scored, "of": len(named)}
    run = {**found.run, "config": {**found.config, "scenarios": scored, "partial": partial}}
    return replace(
        found,
        run=run,
        episodes=_only(found.episodes, scored),
        halves={
            role: replace(half, run=run, episodes=_only(half.episodes, scored))
            for role, half in found.halves.items()
        },
    )


def _only(episodes: Mapping[str, Episode], names: list[str]) -> dict[str, Episode]:
    return {name: episodes[name] for name in names}


_CONDITION = re.compile(r"interval-[^/]+|streams-[0-9]+")
_REPLICA = re.compile(r"(?:pass|replica)-[0-9]+")


def conditions_in(folder: Path) -> list[Path]:
    """The conditions of a sweep's folder, in order of their names; none where it is no sweep."""
    if not folder.is_dir() or (folder / RUN_FILE).exists():
        return []
    inside = [p for p in folder.iterdir() if _CONDITION.fullmatch(p.name) and recordings_in(p)]
    return sorted(inside, key=_by_numbers)


def recordings_in(folder: Path) -> list[Path]:
    """The recording itself, or the passes or replicas in the folder; empty where there are none."""
    if (folder / RUN_FILE).is_file():
        return [folder]
    if not folder.is_dir():
        return []
    found = [p for p in folder.iterdir() if _REPLICA.fullmatch(p.name) and (p / RUN_FILE).is_file()]
    return sorted(found, key=_by_numbers)


def _by_numbers(path: Path) -> tuple[list[float], str]:
    return [float(x) for x in re.findall(r"[0-9]+(?:\.[0-9]+)?", path.name)], path.name
