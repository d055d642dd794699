"""Partial recordings of one setting, made at different times, joined into one.

A part is a complete recording of some of a suite's scenarios. The parts must be of one suite and one
setting and share no scenario; each keeps its start and end, environment, requested and served
models and event digest in the joined record. Sweeps are joined condition by condition.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.event_log import EVENTS_FILE, scan
from streamdecisionbench.recording.reader import conditions_in, read_recording, recordings_in
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.recording_folder import (
    clear,
    require_fresh,
    require_same,
    summarise_log,
)
from streamdecisionbench.recording.run_file import (
    COMPLETE,
    RunRecord,
    place_of_suite,
    read_run,
    write_run,
)
from streamdecisionbench.suite.file_io import (
    cannot_write,
    make_folder,
    read_bytes,
    write_synced,
)
from streamdecisionbench.suite.scenario import Suite

_PER_PART = ("scenarios",)
"""What of the config may differ between the parts of one setting."""


def merge(folders: Sequence[Path], out: Path, suite: Suite | None = None) -> dict[str, Any]:
    """Writes the joined recording and returns its run record. The parts stay as they are."""
    if len(folders) < 2:
        raise InputError("one recording is nothing to merge", fix="name at least two recordings")
    require_fresh(out)
    # The reader refuses what is incomplete or is not what its digest says.
    parts = [read_recording(folder, suite) for folder in folders]
    records = [read_run(folder) for folder in folders]
    for part, record, folder in zip(parts[1:], records[1:], folders[1:], strict=True):
        require_same(folder, records[0], record.config, part.dataset_hash, ignore=_PER_PART)
    _require_disjoint(parts)
    recorded = {episode for part in parts for episode in part.episodes}
    manifest = records[0].dataset_manifest
    aside = _aside(out)
    if aside.exists():
        clear(aside)
    make_folder(aside)
    log = aside / EVENTS_FILE
    _concatenate([folder / EVENTS_FILE for folder in folders], log)
    found = scan(log)
    summary = summarise_log(found.events)
    run = RunRecord(
        schema_version=records[0].schema_version,
        status=COMPLETE,
        config={
            **records[0].config,
            "scenarios": [e.episode_id for e in manifest.episodes if e.episode_id in recorded],
        },
        dataset_manifest=manifest,
        started_at=min((r.started_at for r in records if r.started_at), default=None),
        ended_at=max((r.ended_at for r in records if r.ended_at), default=None),
        served_models=summary.pop("served_models"),
        summary=summary,
        environment=records[0].environment,
        network=[entry for record in records for entry in record.network],
        events_sha256=found.sha256,
        suite_at=place_of_suite(
            folders[0].resolve() / records[0].suite_at if records[0].suite_at else None, out
        ),
        parts=[_describe(p, r) for p, r in zip(parts, records, strict=True)],
    )
    write_run(aside, run)
    _put(aside, out)
    return run.to_json()


def merge_sweeps(
    folders: Sequence[Path], out: Path, suite: Suite | None = None
) -> dict[str, dict[str, Any]]:
    """Joins sweeps condition by condition; the run records by the names of the conditions."""
    require_fresh(out)
    listed = [_conditions(folder) for folder in folders]
    for folder, names in zip(folders[1:], listed[1:], strict=True):
        if names != listed[0]:
            odd = sorted({*names} ^ {*listed[0]})
            raise InputError(
                f"is not recorded under the conditions of {folders[0].name}: {', '.join(odd)}",
                where=folder,
                fix="merge sweeps over the same --intervals and --streams; with more streams than"
                " scenarios, over equally many scenarios",
            )
    aside = _aside(out)
    if aside.exists():
        shutil.rmtree(aside)
    joined = {
        name: merge([folder / name for folder in folders], aside / name, suite)
        for name in listed[0]
    }
    _put(aside, out)
    return joined


def _aside(out: Path) -> Path:
    """Where it is built, to be put in place in one step: a kill leaves nothing in the way."""
    return out.absolute().with_name(f".{out.absolute().name}.merging")


def _put(aside: Path, out: Path) -> None:
    try:
        if out.is_dir():
            clear(out)
            out.rmdir()
        aside.rename(out)
    except OSError as error:
        raise cannot_write(out, error) from None


def _conditions(folder: Path) -> list[str]:
    found = [run for condition in conditions_in(folder) for run in recordings_in(condition)]
    return [run.relative_to(folder).as_posix() for run in found]


def _require_disjoint(parts: Sequence[Recording]) -> None:
    owner: dict[str, str] = {}
    for part in parts:
        for episode in part.episodes:
            if episode in owner:
                raise InputError(
                    f"{episode} is in {owner[episode]} and in {part.name}",
                    fix="merge parts that share no scenario; two passes over the same scenarios"
                    " are repeated passes, not parts",
                )
            owner[episode] = part.name


def _concatenate(logs: Sequence[Path], target: Path) -> None:
    parts = [read_bytes(log) for log in logs]
    ended = [data if data.endswith(b"\n") or not data else data + b"\n" for data in parts]
    try:
        write_synced(target, b"".join(ended))
    except OSError as error:
        raise cannot_write(target, error) from None


def _describe(part: Recording, record: RunRecord) -> dict[str, Any]:
    return {
        "name": part.name,
        "scenarios": list(part.episodes),
        "started_at": record.started_at,
        "ended_at": record.ended_at,
        "events_sha256": part.events_sha256,
        "dataset_hash": part.dataset_hash,
        "generator": record.dataset_manifest.generator or {},
        "requested_model": record.config.get("model") or record.config.get("component"),
        "served_models": record.served_models or list(part.served_models),
        "environment": record.environment,
        "preparation": record.preparation,
        "observed": record.observed,
        "diagnostics": record.diagnostics,
        "interruptions": record.interruptions,
    }
