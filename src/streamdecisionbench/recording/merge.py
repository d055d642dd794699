"""Partial recordings of one setting, made at different times, joined into one.

A part is a complete recording of some of a suite's scenarios. The parts must be of one suite and one
setting and share no scenario; each keeps its start and end, environment, requested and served
models and event digest in the joined record.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import require_fresh
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.resume import require_same
from streamdecisionbench.recording.summary import summarise_log
from streamdecisionbench.recording.writer import EVENTS_FILE, file_sha256, write_run_record
from streamdecisionbench.suite.disk import open_new
from streamdecisionbench.suite.scenario import Suite

__all__ = ["merge"]

_PER_PART = ("scenarios",)
"""What of the config may differ between the parts of one setting."""


def merge(folders: Sequence[Path], out: Path, suite: Suite | None = None) -> dict[str, Any]:
    """Writes the joined recording and returns its run record. The parts stay as they are."""
    if len(folders) < 2:
        raise InputError("one recording is nothing to merge", fix="name at least two recordings")
    require_fresh(out)
    # The reader refuses what is incomplete or is not what its digest says.
    parts = [read_recording(folder, suite) for folder in folders]
    first = parts[0]
    for part, folder in zip(parts[1:], folders[1:], strict=True):
        require_same(folder, first.run, part.config, part.dataset_hash, ignore=_PER_PART)
    _require_disjoint(parts)
    config = dict(first.config)
    recorded = {episode for part in parts for episode in part.episodes}
    config["scenarios"] = [e for e in _suite_order(first.run) if e in recorded]
    out.mkdir(parents=True, exist_ok=True)
    log = out / EVENTS_FILE
    _concatenate([folder / EVENTS_FILE for folder in folders], log)
    summary = summarise_log(log)
    run: dict[str, Any] = {
        "schema_version": first.run.get("schema_version"),
        "status": "complete",
        "config": config,
        "dataset_manifest": first.run["dataset_manifest"],
        "started_at": _extreme(parts, "started_at", min),
        "ended_at": _extreme(parts, "ended_at", max),
        "served_models": summary.pop("served_models"),
        "summary": summary,
        "environment": first.run.get("environment"),
        "events_sha256": file_sha256(log),
        "parts": [_describe(part) for part in parts],
    }
    write_run_record(out, run)
    return run


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
    with os.fdopen(open_new(target), "wb") as joined:
        for log in logs:
            data = log.read_bytes()
            joined.write(data if data.endswith(b"\n") or not data else data + b"\n")
        joined.flush()
        os.fsync(joined.fileno())


def _describe(part: Recording) -> dict[str, Any]:
    run = part.run
    config = part.config
    return {
        "name": part.name,
        "scenarios": list(part.episodes),
        "started_at": run.get("started_at"),
        "ended_at": run.get("ended_at"),
        "events_sha256": part.events_sha256,
        "dataset_hash": part.dataset_hash,
        "generator": (run.get("dataset_manifest") or {}).get("generator") or {},
        "requested_model": config.get("model") or config.get("component"),
        "served_models": list(run.get("served_models") or part.served_models),
        "environment": run.get("environment"),
        "interruptions": run.get("interruptions") or [],
    }


def _suite_order(run: Mapping[str, Any]) -> list[str]:
    return [str(e["episode_id"]) for e in run["dataset_manifest"]["episodes"]]


def _extreme(parts: Sequence[Recording], key: str, choose: Any) -> str | None:
    times = [str(part.run[key]) for part in parts if part.run.get(key)]
    return choose(times) if times else None
