"""A time that cannot be read makes its row unusable: counted, named with its row, left out where allowed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import streamdecisionbench as sdb_api
from streamdecisionbench.errors import InputError
from tests.cli.command import sdb
from tests.logs.test_formats import plain_rows, write

TIMES = ("published_at", "requested_at", "answered_at", "applied_at", "ended_at")
START = datetime(2026, 3, 1, 10, tzinfo=UTC)


def rows(clock: str) -> list[dict[str, Any]]:
    """Times as text, as seconds or as timestamps."""

    def written(at: float) -> str:
        return str(at) if clock == "seconds" else (START + timedelta(seconds=at)).isoformat()

    found = [
        {**row, "requested_at": row["published_at"], "applied_at": row["answered_at"]}
        for stream in range(3)
        for row in plain_rows(stream=f"s{stream}")
    ]
    return [{k: written(v) if k in TIMES else v for k, v in row.items()} for row in found]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("clock", ["seconds", "stamps"])
@pytest.mark.parametrize("column", TIMES)
def test_one_bad_time_is_one_unusable_row(
    tmp_path: Path, form: str, clock: str, column: str
) -> None:
    """The score is that of the log without the row."""
    made = rows(clock)
    without = write(tmp_path / f"without.{form}", made[:13] + made[14:])
    want = sdb_api.score_log(without).groups[0]
    made[13] = {**made[13], column: "soon"}
    path = write(tmp_path / f"log.{form}", made)
    with pytest.raises(InputError, match="1 of 27 rows cannot be used") as refused:
        sdb_api.score_log(path)
    assert f"time {column} soon" in str(refused.value)
    assert f"log.{form} row 14)" in str(refused.value)
    assert "--allow-unusable" in str(refused.value)
    got = sdb_api.score_log(path, allow_unusable=1).groups[0]
    assert (got.classes, got.decisions) == (want.classes, want.decisions)
    done = sdb("logs", "check", path, "--json")
    (reason,) = json.loads(done.stdout)["unusable"]
    assert (reason["reason"], reason["rows"], reason["example"]["row"]) == (
        "unreadable_time",
        1,
        14,
    )


def test_it_is_found_in_its_file_among_several(tmp_path: Path) -> None:
    for k in range(3):
        made = [{**row, "stream": f"{row['stream']}-{k}"} for row in rows("stamps")]
        if k == 1:
            made[4]["answered_at"] = made[8]["answered_at"] = "2026-13-01T00:00:00Z"
        write(tmp_path / f"day{k}.csv", made)
    done = sdb("logs", "score", tmp_path)
    assert (done.returncode, "2 of 81 rows cannot be used" in done.stderr) == (2, True)
    assert "day1.csv row 5)" in done.stderr
    assert sdb("logs", "score", tmp_path, "--allow-unusable", "3%").returncode == 0


def test_a_column_without_one_readable_time_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", [{**row, "ended_at": "soon"} for row in rows("stamps")])
    with pytest.raises(InputError, match="'ended_at' holds times as text"):
        sdb_api.score_log(path, allow_unusable="100%")
