"""What used to end in a traceback or a wrong word: a figure, or one clear message."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamdecisionbench as sdb_api
from streamdecisionbench.errors import InputError
from tests.cli.command import sdb
from tests.logs.convert.traces import START_NS
from tests.logs.test_formats import FORMATS, plain_rows, write

TIMES = ("published_at", "answered_at", "ended_at")


def at(dtype: pa.DataType, rows: list[dict[str, Any]] | None = None) -> pa.Table:
    """The plain log in September 2026, in nanoseconds of a type."""
    table = pa.Table.from_pylist(rows or plain_rows())
    for name in TIMES:
        moments = [START_NS + 1 + int(v * 1e9) for v in table[name].to_pylist()]
        table = table.set_column(table.schema.names.index(name), name, pa.array(moments, dtype))
    return table


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_nanoseconds_have_days_and_a_page(tmp_path: Path, zone: str | None) -> None:
    pq.write_table(at(pa.timestamp("ns", zone)), tmp_path / "log.parquet")
    found = sdb(
        "logs", "score", "log.parquet", "--by", "day", "--page", "page.html", "--json", cwd=tmp_path
    )
    assert found.returncode == 0, found.stderr
    (group,) = json.loads(found.stdout)["groups"]
    assert group["by"] == {"day": "2026-09-21"}
    assert group["in_force"] == pytest.approx(2 / 3)
    assert (tmp_path / "page.html").exists()


def test_whole_nanoseconds_are_numbers_and_remarked_upon(tmp_path: Path) -> None:
    pq.write_table(at(pa.int64()), tmp_path / "log.parquet")
    page = sdb("logs", "score", "log.parquet", "--page", "page.html", "--json", cwd=tmp_path)
    assert page.returncode == 0, page.stderr
    assert any("times are taken for seconds" in note for note in json.loads(page.stdout)["notes"])
    day = sdb("logs", "score", "log.parquet", "--by", "day", cwd=tmp_path)
    assert day.returncode == 2
    assert "days need timestamps" in day.stderr


def test_milliseconds_are_remarked_upon() -> None:
    rows = [{**row, **{name: 1.79e12 + row[name] * 1e3 for name in TIMES}} for row in plain_rows()]
    score = sdb_api.score_log(pa.Table.from_pylist(rows))
    assert any("would be in the year" in note for note in score.notes)
    plain = [{**row, **{name: 1.79e9 + row[name] for name in TIMES}} for row in plain_rows()]
    assert not any("seconds" in n for n in sdb_api.score_log(pa.Table.from_pylist(plain)).notes)


@pytest.mark.parametrize("command", ["score", "check", "pace"])
def test_a_column_to_group_by_that_is_empty_or_missing(tmp_path: Path, command: str) -> None:
    table = pa.Table.from_pylist(plain_rows()).append_column("n", pa.nulls(9))
    pq.write_table(table, tmp_path / "log.parquet")
    empty = sdb("logs", command, "log.parquet", "--by", "n", cwd=tmp_path)
    assert empty.returncode == 0, empty.stderr
    missing = sdb("logs", command, "log.parquet", "--by", "nosuch", cwd=tmp_path)
    assert missing.returncode == 2
    assert "no column 'nosuch' to group by" in missing.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["--resamples", "-1"], "'--resamples': -1 is not"), (["--seed", str(2**64)], "'--seed': 18446744073709551616")],
)  # fmt: skip
def test_numbers_out_of_range(tmp_path: Path, arguments: list[str], says: str) -> None:
    pq.write_table(pa.Table.from_pylist(plain_rows()), tmp_path / "log.parquet")
    done = sdb("logs", "score", "log.parquet", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("form", FORMATS)
def test_the_year_9999_is_later_than_any_stream(tmp_path: Path, form: str) -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    rows = [
        {**row, **{name: start + timedelta(seconds=row[name]) for name in TIMES}}
        for row in plain_rows()
    ]
    rows[0]["answered_at"] = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    group = sdb_api.score_log(write(tmp_path / f"log.{form}", rows)).groups[0]
    assert group.classes["no_decision"] == pytest.approx(1 / 9)
    assert group.in_force == pytest.approx(5 / 9)
    fine = pa.Table.from_pylist(rows)
    ended = pa.array(fine["ended_at"].to_pylist(), pa.timestamp("ns", "UTC"))
    mixed = fine.set_column(fine.schema.names.index("ended_at"), "ended_at", ended)
    assert sdb_api.score_log(mixed).groups[0].in_force == pytest.approx(5 / 9)


def test_json_over_several_lines_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "pretty.json").write_text(json.dumps(plain_rows()[0], indent=2))
    done = sdb("logs", "score", "pretty.json", cwd=tmp_path)
    assert done.returncode == 2
    assert 'in file "pretty.json"' in done.stderr
    assert "sdb-logs-" not in done.stderr


def test_json_has_no_nan(tmp_path: Path) -> None:
    rows = [
        {**row, "stream": f"{label}", "label": label, "reference": "a" if label == 1.0 else None}
        for label in (float("nan"), 1.0)
        for row in plain_rows()
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "log.parquet")
    done = sdb("logs", "score", "log.parquet", "--by", "label", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout, parse_constant=pytest.fail)
    assert sorted(group["by"]["label"] for group in found["groups"]) == ["1", "NaN"]


def test_csv_holds_no_formula(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(plain_rows(label="=1+1")), tmp_path / "log.parquet")
    done = sdb("logs", "score", "log.parquet", "--by", "label", "--csv", cwd=tmp_path)
    _, row = csv.reader(io.StringIO(done.stdout))
    assert row[0] == "'=1+1"


def test_part_of_the_references_fills_up_the_logs_own() -> None:
    rows = plain_rows()
    log = pa.Table.from_pylist(
        [{**r, "reference": "a" if k < 6 else None} for k, r in enumerate(rows)]
    )
    given = pa.table(
        {"stream": ["s"] * 3, "published_at": [6.0, 7.0, 0.0], "reference": ["b", "b", "x"]}
    )
    score = sdb_api.score_log(log, references=given)
    assert score.groups[0].judged_decisions == 8
    assert score.groups[0].in_force == pytest.approx(7 / 8)
    assert any("3 references are those of" in n and "5 the log's own" in n for n in score.notes)
    with pytest.raises(InputError, match="says both"):
        sdb_api.score_log(log, references=pa.concat_tables([given, given.set_column(
            2, "reference", pa.array(["a"] * 3))]))  # fmt: skip


def span(start: Any, end: Any, **attributes: Any) -> dict[str, Any]:
    given = {
        "openinference.span.kind": "DECISION",
        "session.id": "s",
        "output.value": "a",
        **attributes,
    }
    return {
        "traceId": "t", "name": "decide", "startTimeUnixNano": start, "endTimeUnixNano": end,
        "attributes": [
            {"key": key, "value": value if isinstance(value, dict) else {"stringValue": str(value)}}
            for key, value in given.items()
        ],
    }  # fmt: skip


def test_conversion_survives_times_and_steps_that_cannot_be(tmp_path: Path) -> None:
    good = str(START_NS)
    spans = [
        span(good, str(START_NS + 10**9)),
        span("0", good), span(0, good), span("", good),
        span(str(10**30), good), span(good, str(10**30)), span("9" * 400, good),
        span(str(START_NS + 2 * 10**9), None, **{"sdb.step": "²"}),
        span(str(START_NS + 3 * 10**9), None, **{"sdb.step": str(10**30)}),
        span(str(START_NS + 4 * 10**9), None, **{"sdb.step": "7"}),
        span(good, None, **{"sdb.applied_at": {"intValue": str(10**30)}}),
    ]  # fmt: skip
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}) + "\n")
    found = sdb(
        "logs", "convert", "--from", "openinference", path, "--out", tmp_path / "o.jsonl", "--json"
    )
    assert found.returncode == 0, found.stderr
    told = json.loads(found.stdout)
    assert told["left_out"] == {"no start time": 3, "a time that no calendar has": 4}
    rows = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert len(rows) == told["rows"] == 4
    assert told["spans"] == len(spans)
    assert [row.get("step") for row in rows] == [None, None, None, 7]
    assert all(row["published_at"].startswith("2026-09-") for row in rows)


def test_how_much_is_judged_stands_wherever_an_interval_does(tmp_path: Path) -> None:
    """References of some streams and states alone may have been chosen: every reader hears how many."""
    rows = [
        {**row, "reference": "a" if j < 6 and row["published_at"] > 1 else None, "stream": f"s{j}"}
        for j in range(8)
        for row in plain_rows(decision="b" if j % 2 else "a")
    ]
    log = write(tmp_path / "log.parquet", rows)
    screen = sdb("logs", "score", log, "--page", tmp_path / "page.html").stdout
    assert ["all", "6/8", "42/72"] in [line.split()[:3] for line in screen.splitlines()]
    assert "Streams and states: how many are judged, of how many." in " ".join(screen.split())
    (group,) = json.loads(sdb("logs", "score", log, "--json").stdout)["groups"]
    assert group["interval_95"] is not None
    counts = [group[key] for key in ("streams", "judged_streams", "decisions", "judged_decisions")]
    assert counts == [8, 6, 72, 42]
    page = (tmp_path / "page.html").read_text()
    assert page.index("judged streams") < page.index("judged states") < page.index("95 %")
    assert ">42<" in page
