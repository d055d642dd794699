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
    [(["--resamples", "-1"], "--resamples: -1 is not"), (["--seed", str(2**64)], "--seed: 18446744073709551616")],
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
    assert (
        "references, the first that says something: 3 of the table of references, 5 of the log's own"
        " column"
    ) in score.notes
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
    assert '"6/8"' in page
    assert '"42/72"' in page


def partly(releases: int, streams: int = 8) -> pa.Table:
    """Groups of streams, every second of which is judged half the time."""
    return pa.Table.from_pylist(
        [
            {**row, "stream": f"{release}-{k}", "release": f"r{release}",
             "reference": row["reference"] if row["published_at"] % 2 else None,
             "decision": "c" if release == 1 and k else row["decision"]}
            for release in range(releases)
            for k in range(streams)
            for row in plain_rows()
        ]
    )  # fmt: skip


def test_shares_of_judged_time_beside_the_judged_share(tmp_path: Path) -> None:
    pq.write_table(partly(2), tmp_path / "log.parquet")
    done = sdb("logs", "score", "log.parquet", "--by", "release", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    table = done.stdout.partition("Where the judged time went (%)")[2].splitlines()
    assert table[1].split()[:3] == ["release", "judged", "right"]
    assert "unjud." not in done.stdout
    group = sdb_api.score_log(tmp_path / "log.parquet", by="release").groups[0]
    cells = [float(cell) for cell in table[2].split()[1:-2]]
    assert cells[0] == pytest.approx(100 * group.judged_share, abs=0.05)
    assert sum(cells[1:]) == pytest.approx(100, abs=0.3)
    assert cells[1] == pytest.approx(
        100 * group.classes["current_correct"] / group.judged_share, abs=0.05
    )
    assert "Shares of the judged time; judged: its share of all time." in done.stdout


def test_judged_streams_and_states_stand_with_every_interval(tmp_path: Path) -> None:
    pq.write_table(partly(2), tmp_path / "log.parquet")
    done = sdb("logs", "score", "log.parquet", "--by", "release", cwd=tmp_path)
    words = " ".join(done.stdout.split())
    assert "; 8 and 8 judged streams, 32 and 32 states)" in words
    assert "8/8 32/72" in words


def test_many_groups_get_one_line_of_advice(tmp_path: Path) -> None:
    pq.write_table(partly(9), tmp_path / "log.parquet")
    done = sdb("logs", "score", "log.parquet", "--by", "release", cwd=tmp_path)
    words = " ".join(done.stdout.split())
    assert "8 groups against r0: 1 worse, 7 not told apart by these streams. Furthest: r1" in words
    assert "--json has every difference with its causes" in words
    assert words.count(" against r0") == 2
    few = sdb("logs", "score", "log.parquet", "--by", "release", "--json", cwd=tmp_path)
    assert len(json.loads(few.stdout)["differences"]) == 8


def test_nothing_is_minus_zero(tmp_path: Path) -> None:
    pq.write_table(partly(3), tmp_path / "log.parquet")
    done = sdb("logs", "score", "log.parquet", "--by", "release", cwd=tmp_path)
    assert "r2 against r0: 0.0 points" in " ".join(done.stdout.split())
    assert "-0.0" not in done.stdout


@pytest.mark.parametrize(("slow", "widened"), [(2.0, True), (40.0, False)])
def test_the_sentence_of_pace_says_its_own_figures(
    tmp_path: Path, slow: float, widened: bool
) -> None:
    """Bounds come from the twentieths of mean intervals, or from their middle where those are close."""
    rows = [
        {
            **row,
            "stream": f"s{k}",
            **{name: row[name] * (1 + (slow - 1) * k / 39) for name in TIMES},
        }
        for k in range(40)
        for row in plain_rows()
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "log.parquet")
    done = sdb("logs", "pace", "log.parquet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(sdb("logs", "pace", "log.parquet", "--json", cwd=tmp_path).stdout)
    quick, most = found["bounds_from"]
    shown = found["groups"][0]["mean_interval_s"]
    assert (quick, most) == (shown["p05"], shown["p95"])
    words = " ".join(done.stdout.split())
    low, high = found["bounds"]
    assert (
        f"--bounds {low:g} {high:g}. Mean intervals go from {quick:.3g} s (p5) to {most:.3g} s (p95)"
        in words
    )
    assert ("less than a factor of four" in words) is widened is (most < 4 * quick)
    if widened:
        assert low <= (quick * most) ** 0.5 / 2
        assert 2 * (quick * most) ** 0.5 <= high
    else:
        assert low <= quick < most <= high
