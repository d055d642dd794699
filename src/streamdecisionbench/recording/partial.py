"""The complete scenarios of a recording that is not complete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.consistency import check_episode
from streamdecisionbench.recording.event_lines import scan
from streamdecisionbench.recording.reader import assemble, expectations, read_recording, wanted
from streamdecisionbench.recording.recording import Episode, Recording
from streamdecisionbench.recording.run_record import COMPLETE, RUN_FILE, read_run, require_manifest
from streamdecisionbench.recording.writer import EVENTS_FILE, file_sha256
from streamdecisionbench.suite.scenario import Suite

__all__ = ["read_partial"]


def read_partial(folder: str | Path, suite: Suite) -> Recording:
    """What of a recording can be scored: all of a complete one, else its complete scenarios.

    `config.partial` then says so, and with it every note and signature.
    """
    folder = Path(folder)
    record = read_run(folder)
    if record.status == COMPLETE:
        return read_recording(folder, suite)
    if record.dataset_manifest.dataset_hash != suite.dataset_hash:
        raise InputError(
            f"was recorded on suite {record.dataset_manifest.dataset_hash[:12]}, not on"
            f" {suite.dataset_hash[:12]}",
            where=folder,
            fix="give the folder of that suite with --data",
        )
    steps = require_manifest(record, suite, folder / RUN_FILE)
    log = folder / EVENTS_FILE
    events = scan(log).events if log.exists() else []
    found = assemble(folder, record, events, file_sha256(log) if log.exists() else "")
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
