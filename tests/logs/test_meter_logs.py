"""Logs as meters leave them: many files, some closed as Parquet, labels that somebody chose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import streamdecisionbench as sdb
from streamdecisionbench.errors import InputError
from streamdecisionbench.meter.decision_log import to_parquet


def lines(
    stream: str, states: int = 4, ended: float | None = None, **labels: Any
) -> list[dict[str, Any]]:
    """Rows of a stream as a meter writes them: half of the decisions are right."""
    found: list[dict[str, Any]] = []
    for k in range(states):
        row = {"stream": stream, "published_at": float(k), "component": "applied", "partial": True}
        found += [
            {
                **labels,
                **row,
                "session": "call",
                "step": k,
                "wall_time": "2026-03-01T00:00:00.000000Z",
            },
            {**row, "answered_at": float(k), "decision": "ab"[k % 2]},
            {**row, "reference": "a"},
        ]
    found.append({**row, "ended_at": float(states) if ended is None else ended})
    return found


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("cut", [1, 5, 9])
def test_closed_and_open_files_are_one_log(tmp_path: Path, cut: int) -> None:
    rows = [*lines("one@run.1", tier="gold"), *lines("two@run.2", tier="7")]
    to_parquet(str(write(tmp_path / "log" / "1.jsonl", rows[:cut])))
    write(tmp_path / "log" / "2.jsonl", rows[cut:])
    score = sdb.score_log(tmp_path / "log", by="tier")
    assert {g.by["tier"]: (g.streams, g.in_force) for g in score.groups} == {
        "gold": (1, 0.5), "7": (1, 0.5),
    }  # fmt: skip


@pytest.mark.parametrize("parquet", [False, True])
@pytest.mark.parametrize(
    "name", ["", "tick_s", "weight", "requested_at", "state_id", "_until", "_known", "Reference", "Stream"]
)  # fmt: skip
def test_labels_may_be_called_anything(tmp_path: Path, name: str, parquet: bool) -> None:
    for k, value in enumerate(("2026-03-01", "gold", "7", "")):
        path = write(tmp_path / "log" / f"{k}.jsonl", lines(f"s@run.{k}", **{name: value}))
        if parquet and k % 2:
            to_parquet(str(path))
    group = sdb.score_log(tmp_path / "log").groups[0]
    assert (group.streams, group.seconds, group.in_force) == (4, 16.0, 0.5)


def test_labels_that_look_like_a_date_in_one_file_only(tmp_path: Path) -> None:
    for k, value in enumerate(("2026-03-01", "gold", "12:30", "1e3")):
        write(tmp_path / "log" / f"{k}.jsonl", lines(f"s@run.{k}", plan=value))
    groups = sdb.score_log(tmp_path / "log", by="plan").groups
    assert {g.by["plan"] for g in groups} == {"2026-03-01", "gold", "12:30", "1e3"}


def test_a_stream_may_end_at_the_reading_of_its_last_publish(tmp_path: Path) -> None:
    write(
        tmp_path / "log" / "1.jsonl",
        [*lines("a@run.1", 5, ended=4.0), *lines("b@run.2", 1, ended=0.0)],
    )
    score = sdb.score_log(tmp_path / "log")
    assert (score.groups[0].streams, score.groups[0].seconds, score.groups[0].in_force) == (
        1,
        4.0,
        0.5,
    )
    write(tmp_path / "log" / "2.jsonl", lines("c@run.3", 5, ended=3.0))
    with pytest.raises(InputError, match="ended at or before its last state"):
        sdb.score_log(tmp_path / "log")


def test_two_thousand_files_are_scored_at_the_memory_there_is_by_default(tmp_path: Path) -> None:
    for k in range(2000):
        write(tmp_path / "log" / f"{k:04}.jsonl", lines(f"s@run.{k}", hour=str(k % 24)))
    score = sdb.score_log(tmp_path / "log", by="hour", resamples=0)
    assert sum(g.streams for g in score.groups) == 2000
    assert {g.in_force for g in score.groups} == {0.5}
