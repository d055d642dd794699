"""A log as a recording: scored alike, read by everything that reads recordings, and honest about the rest."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamdecisionbench as sdb_api
from streamdecisionbench.kernel.classes import CLASSES
from streamdecisionbench.kernel.shares import tables_of
from streamdecisionbench.logs.log_references import attach_references
from streamdecisionbench.logs.log_source import LogSource
from streamdecisionbench.logs.suite_of_log import recording_of_log
from streamdecisionbench.logs.unusable_rows import Allowed
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.scoring.timelines import timelines
from streamdecisionbench.suite.suite_files import read_suite
from tests.cli.command import sdb
from tests.kernel.plain_streams import Stream
from tests.logs.made_logs import rows_of, table_of
from tests.logs.test_score_log import FEW, drawn

EXACT = 1e-9


def _whole(seed: int, count: int, *, digits: int = 15) -> list[Stream]:
    """Sessions that were answered and judged throughout."""
    rng = random.Random(seed)
    found = []
    for one in drawn(count, rng.randint(1, 8), seed):
        found.append(
            replace(
                one,
                times=[0.0, *(round(t + rng.random() / 9, digits) for t in one.times[1:])],
                latencies=[round(rng.expovariate(0.7), digits) for _ in one.times],
                references=[y or "a" for y in one.references],
                decisions=["z", *(p or "b" for p in one.decisions[1:])],
                end=one.end + 1 + rng.random(),
            )
        )
    return found


def _rows(streams: list[Stream], *, asked: bool) -> list[dict[str, Any]]:
    rows = rows_of(streams, start=100.0 if asked else 0.0)
    for row in rows:
        row["state"] = json.dumps({"at": row["published_at"]})
        if asked:
            row["requested_at"] = row["published_at"] + 0.25 * (
                row["answered_at"] - row["published_at"]
            )
    return rows


@FEW
@given(
    st.integers(0, 10_000), st.integers(1, 5), st.booleans(), st.sampled_from([None, 0.7, 2.0, 5.0])
)
def test_the_recording_is_worth_what_the_log_is(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    count: int,
    asked: bool,
    interval: float | None,
) -> None:
    table = table_of(_rows(_whole(seed, count), asked=asked))
    out = tmp_path_factory.mktemp("import") / "run"
    with LogSource(table).open() as opened:
        held = attach_references(opened, None, None)
        recording_of_log(opened, held, Allowed(), out, streams=100)
    suite = read_suite(out / "suite")
    recording = read_recording(out, suite)
    parts = timelines(recording, suite)
    found = tables_of(parts, interval=interval)
    by_stream = {
        group.by["stream"]: group
        for group in sdb_api.score_log(table, by="stream", interval=interval, resamples=0).groups
    }
    assert len(parts) == count == len(by_stream)
    for part, shares in zip(parts, found.at, strict=True):
        group = by_stream[part.episode_id]
        for name, share in zip(CLASSES, shares[: len(CLASSES)], strict=True):
            assert share == pytest.approx(group.classes[name], abs=EXACT)
    # All of it together, every second alike.
    (whole,) = sdb_api.score_log(table, interval=interval, resamples=0).groups
    lasted = np.array([p.horizon * (1.0 if interval is None else interval / p.tick) for p in parts])
    pooled = (found.at[:, : len(CLASSES)] * lasted[:, None]).sum(axis=0) / lasted.sum()
    assert pooled == pytest.approx([whole.classes[name] for name in CLASSES], abs=EXACT)
    # And as it ran, by the recorded arrivals.
    if not asked and interval is None:
        assert found.physical is not None
        assert found.physical[:, 0] == pytest.approx(found.at[:, 0], abs=EXACT)


def _log(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_everything_that_reads_recordings_reads_it(tmp_path: Path) -> None:
    log = _log(tmp_path / "log.parquet", _rows(_whole(3, 6), asked=True))
    run = tmp_path / "runs" / "prod"
    done = sdb("logs", "import", log, "--out", run, "--quiet")
    assert done.returncode == 0, done.stderr
    assert "6 of 6 sessions" in done.stdout
    assert "not in a log: attempts and retries, tokens" in done.stdout
    assert "sdb logs score counts seconds alike" in done.stdout
    assert sdb("validate", run).returncode == 0
    other = tmp_path / "runs" / "jev"
    made = sdb(
        "run",
        "simulated:jev",
        "--clock",
        "virtual",
        "--data",
        run / "suite",
        "--out",
        other,
        "--quiet",
    )
    assert made.returncode == 0, made.stderr
    for command in (
        ("score", run),
        ("diff", run, other, "--data", run / "suite"),
        ("choose", run, other, "--interval", "2", "--data", run / "suite"),
        *(("analyze", which, run) for which in ("spells", "changes", "transitions", "intervals")),
        ("report", run, other, "--data", run / "suite", "--out", tmp_path / "report"),
        ("logs", "export", run, "--out", tmp_path / "again.parquet"),
    ):
        done = sdb(*command)
        assert done.returncode == 0, (command, done.stderr)
    for which in ("cost", "calibration", "network"):
        refused = sdb("analyze", which, run)
        assert refused.returncode == 2, which
        assert "fix:" in refused.stderr
    there, back = (
        sdb_api.score_log(p, by="stream", resamples=0) for p in (log, tmp_path / "again.parquet")
    )
    for one, two in zip(there.groups, back.groups, strict=True):
        assert one.classes == pytest.approx(two.classes, abs=EXACT)


def test_what_cannot_be_taken_is_said(tmp_path: Path) -> None:
    rows = _rows(_whole(5, 6), asked=False)
    for row in rows:
        del row["state"]
        row["weight"] = 2.0
        row["simulated"] = True
    for row in rows:
        if row["stream"] == "s1":
            row["answered_at"] = row["decision"] = None
        if row["stream"] == "s2" and row is not next(r for r in rows if r["stream"] == "s2"):
            row["reference"] = None
    log = _log(tmp_path / "log.parquet", rows)
    done = sdb("logs", "import", log, "--out", tmp_path / "run", "--quiet")
    assert done.returncode == 0, done.stderr
    for said in (
        "left out: 1 session with states that were never answered",
        "left out: 1 session with states that have no reference",
        "not in this log: states; no other component can be asked",
        "not taken over: weight",
    ):
        assert said in done.stdout
    assert read_recording(tmp_path / "run", read_suite(tmp_path / "run" / "suite")).simulated
    again = sdb("logs", "import", log, "--out", tmp_path / "run")
    assert again.returncode == 2
    for row in rows:
        row["component"] = "a" if int(row["stream"][1:]) % 2 else "b"
    two = sdb("logs", "import", _log(tmp_path / "two.parquet", rows), "--out", tmp_path / "other")
    assert two.returncode == 2
    assert "holds answers of 2 components: a, b" in two.stderr
    assert not (tmp_path / "other").exists()
