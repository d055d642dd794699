"""Bad input: one clear message with file, column, value and fix; exit 2; nothing written."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.command import sdb
from tests.logs.made_logs import rows_of, table_of
from tests.logs.test_score_log import drawn

ROWS = rows_of(drawn(3, 5))


def refused(folder: Path, *arguments: str | Path) -> str:
    """The command's message; it wrote nothing and shows no traceback."""
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    done = sdb("logs", "score", *arguments, cwd=folder)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "fix:" in done.stderr
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before
    return done.stderr


def write(path: Path, rows: list[dict[str, Any]], **types: pa.DataType) -> Path:
    table = table_of([{k: v for k, v in row.items() if k not in types} for row in rows])
    for name, dtype in types.items():
        table = table.append_column(name, pa.array([row[name] for row in rows], dtype))
    pq.write_table(table, path)
    return path


def test_a_missing_column(tmp_path: Path) -> None:
    pq.write_table(table_of(ROWS).drop_columns(["published_at"]), tmp_path / "log.parquet")
    message = refused(tmp_path, "log.parquet")
    assert "log.parquet: has no column 'published_at'" in message
    assert "SELECT … AS published_at FROM source" in message


def test_decisions_without_times_of_their_answers(tmp_path: Path) -> None:
    pq.write_table(table_of(ROWS).drop_columns(["answered_at"]), tmp_path / "log.parquet")
    assert "no column 'answered_at'" in refused(tmp_path, "log.parquet")


def test_times_as_text(tmp_path: Path) -> None:
    table = table_of(ROWS)
    text = pa.array([f"at {v}" for v in table["published_at"].to_pylist()])
    index = table.schema.names.index("published_at")
    pq.write_table(table.set_column(index, "published_at", text), tmp_path / "log.parquet")
    message = refused(tmp_path, "log.parquet")
    assert "log.parquet: column 'published_at' holds times as text, for example 'at 0.0'" in message
    assert "CAST(published_at AS TIMESTAMPTZ)" in message


def test_two_time_zones(tmp_path: Path) -> None:
    rows = [{**row, "requested_at": None} for row in ROWS]
    table = table_of([{k: v for k, v in row.items() if k != "requested_at"} for row in rows])

    def moved(name: str, zone: str | None) -> pa.Array:
        return pa.array(
            [None if v is None else int(v * 1e6) for v in table[name].to_pylist()],
            pa.timestamp("us", zone),
        )

    for zone, word in (("Europe/Berlin", "Europe/Berlin"), (None, "without a time zone")):
        mixed = table
        for name, one in (("published_at", "UTC"), ("answered_at", zone), ("ended_at", "UTC")):
            mixed = mixed.set_column(table.schema.names.index(name), name, moved(name, one))
        pq.write_table(mixed, tmp_path / "log.parquet")
        message = refused(tmp_path, "log.parquet")
        assert "two time zones: 'published_at' holds timestamps of the time zone UTC" in message
        assert word in message
    one_file = mixed.set_column(2, "answered_at", moved("answered_at", "UTC"))
    other = table
    for name in ("published_at", "answered_at", "ended_at"):
        other = other.set_column(table.schema.names.index(name), name, moved(name, None))
    pq.write_table(one_file, tmp_path / "log.parquet")
    pq.write_table(other, tmp_path / "other.parquet")
    message = refused(tmp_path, "log.parquet", "other.parquet")
    assert "other.parquet: column 'published_at' has two time zones" in message


def test_answers_before_questions(tmp_path: Path) -> None:
    rows = [dict(row) for row in ROWS]
    k = next(k for k, row in enumerate(rows) if row["answered_at"] is not None)
    rows[k]["answered_at"] = rows[k]["published_at"] - 3
    write(tmp_path / "log.parquet", rows)
    message = refused(tmp_path, "log.parquet")
    assert f"1 of {len(rows)} rows cannot be used" in message
    assert "was answered before it was asked" in message
    assert f"answered_at {rows[k]['answered_at']}" in message
    assert "log.parquet" in message
    allowed = sdb("logs", "score", "log.parquet", "--allow-unusable", "1", cwd=tmp_path)
    assert allowed.returncode == 0
    assert "1 row left out: was answered before it was asked" in allowed.stdout


def test_duplicate_rows(tmp_path: Path) -> None:
    write(tmp_path / "log.parquet", [*ROWS, ROWS[3]])
    message = refused(tmp_path, "log.parquet")
    assert "1 row: is there more than once, word for word" in message
    write(tmp_path / "log.parquet", [*ROWS, {**ROWS[3], "reference": "other"}])
    message = refused(tmp_path, "log.parquet")
    assert "2 rows: is one of several different rows for the same stream and moment" in message
    assert f"published_at {ROWS[3]['published_at']}" in message


def test_a_stream_in_two_files_that_do_not_fit(tmp_path: Path) -> None:
    write(tmp_path / "one.parquet", ROWS)
    later = [{**row, "published_at": row["published_at"] + 100, "ended_at": row["ended_at"] + 100,
              "answered_at": None, "decision": None} for row in ROWS]  # fmt: skip
    write(tmp_path / "two.parquet", later)
    message = refused(tmp_path, "one.parquet", "two.parquet")
    assert "belongs to a stream with more than one end" in message
    assert ".parquet" in message
    assert "filename || stream" in message
    (tmp_path / "unique.sql").write_text(
        "SELECT * REPLACE (filename || stream AS stream) FROM source"
    )
    fixed = sdb(
        "logs", "score", "one.parquet", "two.parquet", "--sql", "unique.sql", "--json", cwd=tmp_path
    )
    assert fixed.returncode == 0, fixed.stderr
    assert json.loads(fixed.stdout)["groups"][0]["streams"] == 6


def test_a_decision_that_is_neither_text_nor_json(tmp_path: Path) -> None:
    rows = [dict(row) for row in ROWS]
    k = next(k for k, row in enumerate(rows) if row["decision"] is not None)
    rows[k]["decision"] = '{"route": "hold"'
    write(tmp_path / "log.parquet", rows)
    message = refused(tmp_path, "log.parquet")
    assert "has a decision that is neither text nor JSON" in message
    assert '{"route": "hold"' in message
    table = table_of(ROWS)
    blobs = pa.array([None if v is None else b"\xff\x00" for v in table["decision"].to_pylist()])
    pq.write_table(table.set_column(3, "decision", blobs), tmp_path / "log.parquet")
    message = refused(tmp_path, "log.parquet")
    assert "log.parquet: column 'decision' is neither text nor JSON, it is binary" in message


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("SELECT nosuch FROM source", "nosuch"),
        ("SELEC stream FROM source", "SELEC"),
        ("DROP TABLE source", "must hold one query"),
        ("SELECT 1; SELECT 2", "must hold one query"),
        ("COPY source TO 'stolen.csv'", "must hold one query"),
        ("", "holds no query"),
        ("SELECT stream FROM source", "has no column 'published_at'"),
        ("SELECT *, CAST(stream AS INTEGER) AS n FROM source", "s0"),
    ],
)
def test_a_query_that_fails(tmp_path: Path, query: str, says: str) -> None:
    write(tmp_path / "log.parquet", ROWS)
    (tmp_path / "map.sql").write_text(query)
    message = refused(tmp_path, "log.parquet", "--sql", "map.sql")
    assert "map.sql" in message
    assert says in message


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"stream": None}, "has no stream"),
        ({"published_at": None}, "has no time of its state"),
        ({"decision": None}, "has an answer's time and no decision"),
        ({"answered_at": None}, "has a decision and no time of its answer"),
        ({"ended_at": 1.0}, "more than one end"),
        ({"requested_at": -9.0}, "was asked before its state became current"),
        ({"applied_at": 0.001}, "took effect before its answer came"),
        ({"weight": 2.0}, "whose weight is out of range, or not the same"),
        ({"cost": -1.0}, "has a cost that is no amount"),
    ],
)
def test_rows_that_cannot_be_used_are_counted_and_shown(
    tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    extra: dict[str, Any] = {"requested_at": None, "applied_at": None, "weight": 1.0, "cost": 0.1}
    rows = [{**row, **{k: v for k, v in extra.items() if k in change}} for row in ROWS]
    k = next(k for k, row in enumerate(rows) if row["published_at"] > 1 and row["decision"])
    rows[k] |= change
    types = {name: pa.float64() for name in change if name in extra}
    write(tmp_path / "log.parquet", rows, **types)
    message = refused(tmp_path, "log.parquet")
    assert says in message
    checked = sdb("logs", "check", "log.parquet", cwd=tmp_path)
    assert checked.returncode == 2
    assert says.split(",", maxsplit=1)[0] in " ".join(checked.stdout.split())
    document = json.loads(sdb("logs", "check", "log.parquet", "--json", cwd=tmp_path).stdout)
    (entry,) = document["unusable"]
    assert entry["rows"] == document["rows"] - document["usable"] >= 1
    assert entry["example"]["file"] == "log.parquet"
    assert all(entry[key] for key in ("reason", "what", "column", "fix"))


@pytest.mark.parametrize("far", [1e300, -1e300, 1e308, 1e-300, 5e-324])
@pytest.mark.parametrize(
    "column", ["published_at", "answered_at", "ended_at", "weight", "tick_s", "cost", "every time"]
)
def test_numbers_no_clock_shows_are_used_or_refused(
    tmp_path: Path, column: str, far: float
) -> None:
    """By every command that reads a log: no traceback, no warning, and one word for all formats."""
    rows = [{**row, "weight": 1.0, "tick_s": 1.0, "cost": 1.0} for row in rows_of(drawn(6, 5))]
    for row in rows:
        if column in ("ended_at", "weight", "tick_s") and row["stream"] == "s0":
            row[column] = far
        elif column == "every time":
            times = ("published_at", "answered_at", "ended_at")
            row |= {name: None if row[name] is None else row[name] * far for name in times}
    if column in ("published_at", "answered_at", "cost"):
        rows[2][column] = far
        rows[2]["decision"] = "x"
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write(
        tmp_path / "log.parquet", rows, weight=pa.float64(), tick_s=pa.float64(), cost=pa.float64()
    )
    ends = []
    for log in ("log.jsonl", "log.parquet"):
        for words in (
            ("check",),
            ("score",),
            ("score", "--json"),
            ("score", "--interval", "2"),
            ("pace",),
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                done = sdb("logs", words[0], log, *words[1:], cwd=tmp_path)
            refused = done.returncode == 2 and done.stderr.startswith("error: ")
            assert done.returncode == 0 or refused, done.stdout + done.stderr
            ends.append(done.returncode)
    assert ends[:5] == ends[5:]


def test_streams_of_one_state_need_an_end(tmp_path: Path) -> None:
    table = table_of([ROWS[0], *ROWS[5:]]).drop_columns(["ended_at"])
    pq.write_table(table, tmp_path / "log.parquet")
    assert "nobody knows when the stream ended" in refused(tmp_path, "log.parquet")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nosuch.parquet"], "no such file"),
        (["*.nothing"], "matches no file"),
        (["notes.txt"], "no Parquet, CSV or JSON Lines"),
        (["torn.parquet"], "no readable Parquet file"),
        (["torn.jsonl"], "cannot be read"),
        (["log.parquet", "--by", "region"], "no column 'region' to group by"),
        (["log.parquet", "--by", "day"], "no column 'day' to group by"),
        (["log.parquet", "--interval", "-1"], "not a number of seconds"),
        (["log.parquet", "--bounds", "8", "1"], "not an interval range"),
        (["log.parquet", "--allow-unusable", "some"], "neither a number of rows nor a share"),
        (["log.parquet", "--engine", "hadoop"], "engine 'hadoop' is not known"),
        (["log.parquet", "--memory", "lots"], "--memory lots"),
        (["log.parquet", "--reference", "rules:f"], "names no function"),
        (["log.parquet", "--references", "log.parquet", "--reference", "python:a:b"], "twice"),
        (["log.parquet", "extra.parquet"], "extra.parquet: has no column 'reference', and"),
    ],
)
def test_other_mistakes(tmp_path: Path, arguments: list[str], says: str) -> None:
    write(tmp_path / "log.parquet", ROWS)
    (tmp_path / "notes.txt").write_text("no table")
    (tmp_path / "torn.parquet").write_bytes((tmp_path / "log.parquet").read_bytes()[:200])
    (tmp_path / "torn.jsonl").write_text('{"stream": "a", \n{"stream": "a", "published_at": 1.0}\n')
    more = [{**row, "stream": "x" + row["stream"]} for row in ROWS]
    pq.write_table(table_of(more).drop_columns(["reference"]), tmp_path / "extra.parquet")
    assert says in refused(tmp_path, *arguments)


def test_nothing_is_judged_in_silence(tmp_path: Path) -> None:
    pq.write_table(table_of(ROWS).drop_columns(["reference"]), tmp_path / "log.parquet")
    assert "no reference is known" in refused(tmp_path, "log.parquet")


def test_text_of_logs_is_data(tmp_path: Path) -> None:
    rows = [{**row, "model": "[red]x[/red]\x1b[31m=1+1"} for row in ROWS]
    write(tmp_path / "log.parquet", rows)
    shown = sdb("logs", "score", "log.parquet", "--by", "model", cwd=tmp_path)
    assert shown.returncode == 0
    assert "[red]x[/red]" in shown.stdout.replace("\n", "")
    assert "\x1b[31m" not in shown.stdout


@pytest.mark.parametrize("last", ["", '{"stream": "a", "publ'], ids=["empty", "half a line"])
def test_a_file_begun_just_before_a_kill_spoils_nothing(tmp_path: Path, last: str) -> None:
    log = tmp_path / "log"
    log.mkdir()
    (log / "1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    alone = sdb("logs", "score", "log", "--json", cwd=tmp_path)
    (log / "2.jsonl").write_text(last)
    with_it = sdb("logs", "score", "log", "--json", cwd=tmp_path)
    assert (alone.returncode, with_it.returncode) == (0, 0), with_it.stderr
    assert json.loads(with_it.stdout)["groups"] == json.loads(alone.stdout)["groups"]
