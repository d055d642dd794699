"""Recordings as decision logs: one row per state, scored by `sdb logs score` to the same digits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.log_files import format_of
from streamdecisionbench.logs.log_schema import SCHEMA
from streamdecisionbench.recording.reader import read_recording, recorded_suite_hash
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.timelines import timelines
from streamdecisionbench.suite.digest import digest
from streamdecisionbench.suite.file_io import (
    cannot_write,
    make_folder,
)
from streamdecisionbench.suite.scenario import Scenario, Suite
from streamdecisionbench.suite.suite_files import find_suite
from streamdecisionbench.text import compact_json

if TYPE_CHECKING:
    import pyarrow as pa

_LINES = 20_000
"""Lines written of one batch."""


def log_of(runs: Sequence[Path], *, states: bool = True, data: Path | None = None) -> pa.Table:
    """Recordings as one table."""
    from streamdecisionbench.suite.suite_files import read_suite

    given = read_suite(data) if data else None
    opened: list[tuple[Recording, Suite]] = []
    for run in runs:
        suite = given or find_suite(recorded_suite_hash(run), near=run)
        recording = read_recording(run, suite)
        parts = list(recording.halves.values()) if recording.halves else [recording]
        opened += [(part, suite) for part in parts]
    names = [recording.name for recording, _ in opened]
    if len(set(names)) < len(names):
        again = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"two recordings are called {again!r}: their streams would mix",
            fix="give their folders different names",
        )
    rows = [
        row
        for recording, suite in opened
        for row in export_rows(recording, suite, states=states, several=len(opened) > 1)
    ]
    return _table(rows, states=states)


def export_rows(
    recording: Recording, suite: Suite, *, states: bool = True, several: bool = False
) -> Iterable[dict[str, Any]]:
    """Every state of a recording; times in seconds since its scenario's start.

    States are published when the scorer takes them to be: of a recording whose client was late, when
    they were planned (see `timelines`). With `several` recordings in one table a stream is named after
    its recording too.
    """
    config = recording.config
    component = str(config.get("component") or config.get("model") or recording.name)
    for part in timelines(recording, suite):
        scenario, episode = suite.scenarios[part.episode_id], recording.episodes[part.episode_id]
        tick = part.tick
        stream = scenario.episode_id
        references = scenario.reference()
        newest = -1
        took_effect = {}
        for answer in sorted(episode.responses, key=lambda a: (a.actual_recorded_s, -a.t)):
            if answer.actual_recorded_s < scenario.n * tick and answer.t > newest:
                newest = answer.t
                took_effect[answer.t] = answer.actual_recorded_s
        for release, answer, reference in zip(
            part.release.tolist(), episode.responses, references, strict=True
        ):
            latency = max(answer.latency_s, 0.0)
            asked = max(answer.success_started_s, release)
            row = {
                "stream": f"{recording.name}/{stream}" if several else stream,
                "published_at": release,
                "requested_at": asked,
                "answered_at": asked + latency,
                "applied_at": took_effect.get(answer.t),
                "decision": compact_json(scenario.decision_spec.compose(answer.pred)),
                "reference": compact_json(reference),
                "ended_at": scenario.n * tick,
                "tick_s": tick,
                "state_id": _state_id(scenario, answer.t),
                "scenario": scenario.episode_id,
                "family": scenario.task_family,
                "recording": recording.name,
                "component": component,
                "model": answer.model,
                "simulated": recording.simulated,
                "virtual_clock": recording.virtual_clock,
                "declared_latency": isinstance(recording.config.get("latency"), str),
                "step": answer.t,
            }
            if states:
                row["state"] = compact_json(scenario.steps[answer.t].state)
            yield row


def write_log(table: pa.Table, path: Path, *, nulls: bool = True) -> None:
    """Writes a log as its name says: Parquet, CSV or JSON Lines. Nothing is overwritten."""
    import msgspec
    import pyarrow.csv
    import pyarrow.parquet

    form = check_name(path)
    make_folder(path.parent)
    partial = path.with_name(f".{path.name}.partial")
    try:
        if form == "parquet":
            named = table.replace_schema_metadata({"schema": SCHEMA})
            pyarrow.parquet.write_table(named, partial, compression="zstd")
        elif form == "csv":
            pyarrow.csv.write_csv(table, partial)
        else:
            with partial.open("wb") as out:
                for batch in table.to_batches(_LINES):
                    for row in batch.to_pylist():
                        kept = {k: v for k, v in row.items() if nulls or v is not None}
                        out.write(msgspec.json.encode(kept) + b"\n")
        partial.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from None
    finally:
        partial.unlink(missing_ok=True)


def check_name(path: Path) -> str:
    """The format a new log's name asks for; refused where there is something already."""
    form = format_of(path.name)
    if form is None or path.suffix in (".gz", ".zst"):
        raise InputError(
            "is no name for a log", where=path, fix="end it in .parquet, .csv or .jsonl"
        )
    if path.exists():
        raise InputError("is there already", where=path, fix="remove it, or name another file")
    return form


def _table(rows: list[dict[str, Any]], *, states: bool) -> pa.Table:
    import pyarrow as pa

    text, number = pa.string(), pa.float64()
    fields = [
        ("stream", text), ("published_at", number), ("requested_at", number),
        ("answered_at", number), ("applied_at", number), ("decision", text), ("reference", text),
        ("ended_at", number), ("tick_s", number), ("state_id", text), ("scenario", text),
        ("family", text), ("recording", text), ("component", text), ("model", text),
        ("simulated", pa.bool_()), ("virtual_clock", pa.bool_()),
        ("declared_latency", pa.bool_()), ("step", pa.int64()),
    ]  # fmt: skip
    if states:
        fields.append(("state", text))
    return pa.Table.from_pylist(rows, schema=pa.schema(fields))


def _state_id(scenario: Scenario, t: int) -> str:
    """Names a state within its questions: the same for every recording of it."""
    return digest({"episode_id": scenario.episode_id, "state": scenario.steps[t].state})[:24]
