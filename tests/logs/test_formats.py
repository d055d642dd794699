"""A reader does not guess: one table gives the same figures and groups in every format, or is refused."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import streamdecisionbench as sdb
from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.log_score import LogScore
from streamdecisionbench.logs.stream_arrays import spelled

Row = dict[str, Any]
FORMATS = ("parquet", "csv", "jsonl")


def write(path: Path, rows: Sequence[Row]) -> Path:
    """Rows as the end of the name says. In CSV nothing is an empty field, an empty text its JSON."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if path.suffix == ".parquet":
        pq.write_table(pa.table({n: [row.get(n) for row in rows] for n in names}), path)
    elif path.suffix == ".jsonl":
        path.write_text(
            "".join(json.dumps(row, default=_iso, ensure_ascii=False) + "\n" for row in rows),
            "utf-8",
        )
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(names)
            out.writerows([_cell(row.get(n)) for n in names] for row in rows)
    return path


def _iso(moment: datetime) -> str:
    return moment.isoformat()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return _iso(value)
    return spelled(value) or '""'


def plain_rows(count: int = 9, **more: Any) -> list[Row]:
    """A stream of a state a second, every answer at once and right but the last third's."""
    return [
        {
            "stream": "s",
            "published_at": float(k),
            "answered_at": float(k),
            "decision": "a" if k < count * 2 / 3 else "b",
            "reference": "a",
            "ended_at": float(count),
            **more,
        }
        for k in range(count)
    ]


def in_force(path: Any, **options: Any) -> float | None:
    return sdb.score_log(path, resamples=0, **options).groups[0].in_force


# One table in every format, in one file or in many

_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=6)
_SPECIAL = st.sampled_from(
    ["#1", "1.1", "1.10", "01", "1e3", "nan", "NULL", "null", "true", "2026-01-01", "a,b", 'a"b', "=1+1",
     "a\nb", " a ", "{}", '{"a": 1}', '{"a":1.0}', "[1, 2]", "é", "\\N", "NA", "0x10", "1_000", "-",
     "6F9619FF-8B86-D011-B42D-00CF4FC964FF", "6f9619ff-8b86-d011-b42d-00cf4fc964ff"]
)  # fmt: skip
_WORD = _TEXT | _SPECIAL
_VALUES = st.one_of(
    st.just(_WORD),
    st.just(st.integers(-(2**63), 2**63 - 1)),
    st.just(st.sampled_from([2**53, 2**53 + 1, 2**53 + 2])),
    st.just(st.floats(allow_nan=False, allow_infinity=False)),
    st.just(st.sampled_from([1.0, 1.5, 1e22, -0.0, 0.1])),
    st.just(st.booleans()),
    st.just(st.sampled_from([{"a": 1, "b": "x"}, {"a": 1, "b": "y"}])),
)
_NAMES = st.sampled_from(
    [
        "label",
        "Reference",
        "select",
        'a"b',
        "a'b",
        "{x}",
        "#x",
        "é",
        "_until",
        "a.b",
        "a b",
        "1",
        "Weight",
        "reference ",
        " label",
    ]
)
_STARTS = st.sampled_from(
    [0.0, 1_790_000_000.0, datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 1)]
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Row], str]:
    """Rows of a log, and the column to group by."""
    name, start = draw(_NAMES), draw(_STARTS)
    values, labels = draw(_VALUES), draw(st.just(_WORD) | st.just(st.integers(-5, 5)))
    rows = []
    for stream in draw(st.lists(_WORD.filter(str.strip), min_size=1, max_size=3, unique=True)):
        label = draw(labels.filter(lambda v: v != ""))
        count = draw(st.integers(1, 4))
        at = [moment(start, second) for second in range(count + 1)]
        for k in range(count):
            reference = draw(st.none() | values) if k else draw(values)
            rows.append(
                {
                    "stream": stream,
                    "published_at": at[k],
                    "answered_at": moment(at[k], 0.25),
                    "decision": reference if reference is not None and draw(st.booleans()) else draw(values),
                    "reference": reference,
                    "ended_at": at[count],
                    name: label,
                }
            )  # fmt: skip
    return rows, name


def moment(start: Any, second: float) -> Any:
    return start + timedelta(seconds=second) if isinstance(start, datetime) else start + second


def outcome(sources: list[str], by: str) -> Any:
    """What the log comes to, or that it is refused."""
    try:
        return told(sdb.score_log(sources, by=by, resamples=8))
    except InputError as error:
        return str(error)[:20] and "refused"


def told(score: LogScore) -> Any:
    return [
        (dict(g.by), g.streams, g.judged_decisions, g.seconds, g.in_force, g.classes, g.at_pace.interval_95)
        for g in score.groups
    ]  # fmt: skip


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(tables(), st.integers(1, 3))
def test_every_format_gives_the_same_or_all_refuse(
    tmp_path_factory: pytest.TempPathFactory, table: tuple[list[Row], str], files: int
) -> None:
    rows, by = table
    folder = tmp_path_factory.mktemp("formats")
    found = {}
    for form in FORMATS:
        one = write(folder / f"all.{form}", rows)
        found[f"one {form}"] = outcome([str(one)], by)
        many = [
            str(write(folder / f"part [{k}].{form}", rows[k::files]))
            for k in range(files)
            if rows[k::files]
        ]
        found[f"many {form}"] = outcome(many, by)
    first = found["one parquet"]
    for name, other in found.items():
        assert other == first or (
            first != "refused" and other != "refused" and _close(other, first)
        ), (name, other, first)


def _close(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_close(v, other[k]) for k, v in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_close, one, other))
    return bool(one == other)


# Its instances


def test_rows_that_look_like_comments_count(tmp_path: Path) -> None:
    rows = [*plain_rows(), *({**row, "stream": "#2", "decision": "b"} for row in plain_rows())]
    path = write(tmp_path / "log.csv", rows)
    assert "\n#2," in path.read_text()
    assert in_force(path) == pytest.approx(1 / 3)
    without = [{k: v for k, v in row.items() if k != "reference"} for row in rows]
    references = write(tmp_path / "references.csv", [
        {"stream": row["stream"], "published_at": row["published_at"], "reference": "a"} for row in rows
    ])  # fmt: skip
    log = write(tmp_path / "without.parquet", without)
    assert in_force(log, references=references) == pytest.approx(1 / 3)


def test_nothing_before_the_header_is_skipped(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", plain_rows())
    path.write_text("exported on Monday\n" + path.read_text())
    with pytest.raises(InputError, match="has no column 'stream'"):
        in_force(path)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", plain_rows())
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([f"{header},reference", *(f"{line},b" for line in lines)]))
    with pytest.raises(InputError, match="two columns called 'reference'"):
        in_force(path)
    table = pa.Table.from_pylist(plain_rows())
    twice = table.append_column("reference", pa.array(["b"] * len(table)))
    with pytest.raises(InputError, match="two columns called 'reference'"):
        in_force(twice)
    pq.write_table(twice, tmp_path / "log.parquet")
    with pytest.raises(InputError, match="two columns called 'reference'"):
        in_force(tmp_path / "log.parquet")
    with pytest.raises(InputError, match="two columns called 'reference'") as refused:
        in_force(table, sql="SELECT *, 'b' AS reference FROM source")
    assert "REPLACE" in str(refused.value)
    assert in_force(table, sql="SELECT * REPLACE ('b' AS reference) FROM source") == pytest.approx(
        1 / 3
    )


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "labels",
    [("1.1", "1.10"), ("6F9619FF-8B86-D011-B42D-00CF4FC964FF", "6f9619ff-8b86-d011-b42d-00cf4fc964ff"),
     ("2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00"), ("01", "1"), ("TRUE", "true")],
)  # fmt: skip
def test_labels_are_what_is_written(tmp_path: Path, form: str, labels: tuple[str, str]) -> None:
    rows = [{**row, "stream": label, "release": label} for label in labels for row in plain_rows()]
    score = sdb.score_log(write(tmp_path / f"log.{form}", rows), by="release")
    assert {group.by["release"] for group in score.groups} == set(labels)


def test_large_whole_numbers_differ(tmp_path: Path) -> None:
    for dtype in (pa.int64(), pa.uint64(), pa.decimal128(38, 0)):
        table = pa.Table.from_pylist(plain_rows())
        for name, base in (("decision", 2**60), ("reference", 2**60 + 1)):
            values = pa.array([Decimal(base) if pa.types.is_decimal(dtype) else base] * 9, dtype)
            table = table.set_column(table.schema.names.index(name), name, values)
        assert in_force(table) == 0.0
        pq.write_table(table, tmp_path / "log.parquet")
        assert in_force(tmp_path / "log.parquet") == 0.0
    for form in ("csv", "jsonl"):
        rows = plain_rows(decision=2**60, reference=2**60 + 1)
        assert in_force(write(tmp_path / f"log.{form}", rows)) == 0.0


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("other", "value"), [("Weight", 9.0), ("Reference", "b"), ("STREAM", "x")])
def test_the_schemas_own_column_is_meant(tmp_path: Path, form: str, other: str, value: Any) -> None:
    rows = [
        {other: value if k % 2 else "a" if isinstance(value, str) else 1.0, **row}
        for k, row in enumerate(plain_rows())
    ]
    assert in_force(write(tmp_path / f"log.{form}", rows)) == pytest.approx(2 / 3)
    if form == "parquet":
        assert in_force(pq.read_table(tmp_path / "log.parquet")) == pytest.approx(2 / 3)


@pytest.mark.parametrize("form", FORMATS)
def test_spaces_around_a_name_do_not_count(tmp_path: Path, form: str) -> None:
    spaced = [{f" {name} ": value for name, value in row.items()} for row in plain_rows(kind="k")]
    path = write(tmp_path / f"log.{form}", spaced)
    assert in_force(path, by="kind") == pytest.approx(2 / 3)
    path = write(path, [{"Reference ": "b", **row} for row in plain_rows()])
    assert in_force(path) == pytest.approx(2 / 3), "another column, as it is without the space"
    path = write(path, [{"reference ": "b", **row} for row in plain_rows()])
    with pytest.raises(InputError, match="two columns called 'reference'"):
        in_force(path)
    if form == "parquet":
        with pytest.raises(InputError, match="two columns called 'reference'"):
            in_force(pq.read_table(path))
    parts = [write(tmp_path / f"{k}.{form}", one) for k, one in enumerate((plain_rows(), spaced))]
    with pytest.raises(InputError, match="two columns called"):
        in_force([str(part) for part in parts])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["day[1]", "a*", "x?", "it's", "{b}"])
def test_a_file_is_read_by_its_exact_name(tmp_path: Path, form: str, name: str) -> None:
    for other in ("day1", "ab", "xy"):
        write(tmp_path / f"{other}.{form}", plain_rows(decision="wrong"))
    assert in_force(write(tmp_path / f"{name}.{form}", plain_rows())) == pytest.approx(2 / 3)


@pytest.mark.parametrize("form", FORMATS)
def test_a_folders_name_is_no_column(tmp_path: Path, form: str) -> None:
    for name in ("reference=z", "weight=3", "stream=all", "ended_at=99"):
        folder = tmp_path / form / name
        folder.mkdir(parents=True)
        write(folder / f"log.{form}", plain_rows())
        assert in_force(folder) == pytest.approx(2 / 3)


@pytest.mark.parametrize("form", FORMATS)
def test_zoned_and_zoneless_times_do_not_mix(tmp_path: Path, form: str) -> None:
    rows = plain_rows()
    for k, row in enumerate(rows):
        zone = "+01:00" if k % 2 else ""
        row |= {
            name: f"2026-03-01T00:00:{int(row[name]):02}.250000{zone}"
            for name in ("published_at", "answered_at", "ended_at")
        }
    with pytest.raises(InputError, match=r"'published_at' has two time zones.*with a time zone"):
        in_force(write(tmp_path / f"log.{form}", rows))
    for zone in ("", "Z", "+05:30"):
        alike = [
            {k: v.replace("+01:00", "") + zone if "_at" in k else v for k, v in row.items()}
            for row in rows
        ]
        assert in_force(write(tmp_path / f"alike.{form}", alike)) == pytest.approx(2 / 3)


def test_numbers_are_equal_however_they_are_written(tmp_path: Path) -> None:
    pairs = [("1", "1.0"), ("100000", "1e5"), ("0.1", "0.10"), ('{"a":[1.0]}', '{"a": [1]}')]
    for one, other in pairs:
        lines = [json.dumps({**row, "decision": 0, "reference": 1}) for row in plain_rows()]
        text = "\n".join(lines).replace('"decision": 0', f'"decision": {one}')
        path = tmp_path / "log.jsonl"
        path.write_text(text.replace('"reference": 1', f'"reference": {other}') + "\n")
        assert in_force(path) == 1.0, (one, other)
    table = pa.Table.from_pylist(plain_rows()).drop_columns(["decision", "reference"])
    for one, other in [
        (pa.array([{"a": Decimal("1.10")}] * 9), pa.array([{"a": 1.1}] * 9)),
        (pa.array([Decimal("1.10")] * 9), pa.array([1.1] * 9)),
        (pa.array([1.0] * 9), pa.array([1] * 9)),
        (pa.array([[("x", 1), ("y", 2)]] * 9, pa.map_(pa.string(), pa.int64())),
         pa.array([[("y", 2), ("x", 1)]] * 9, pa.map_(pa.string(), pa.int64()))),
        (pa.array([[("x", 1)]] * 9, pa.map_(pa.string(), pa.int64())), pa.array(['{"x": 1}'] * 9)),
    ]:  # fmt: skip
        both = table.append_column("decision", one).append_column("reference", other)
        assert in_force(both) == 1.0
        pq.write_table(both, tmp_path / "log.parquet")
        assert in_force(tmp_path / "log.parquet") == 1.0


def test_a_column_that_changes_within_a_stream_is_refused(tmp_path: Path) -> None:
    rows = [{**row, "release": "1" if k < 5 else "2"} for k, row in enumerate(plain_rows())]
    for by in ("release", "speaker"):
        for k, row in enumerate(rows):
            row["speaker"] = "ab"[k % 2]
        with pytest.raises(InputError, match="several groups of --by while it runs"):
            sdb.score_log(pa.Table.from_pylist(rows), by=by)
    assert in_force(pa.Table.from_pylist(rows)) == pytest.approx(2 / 3)
    # Two components that answered the same states are two streams; so is an id that comes back later.
    both = [{**row, "component": c} for c in "ab" for row in plain_rows()]
    assert [
        g.seconds for g in sdb.score_log(pa.Table.from_pylist(both), by="component").groups
    ] == [9, 9]
    later = [
        {
            **row,
            "day": d,
            **{n: row[n] + 100 * d for n in ("published_at", "answered_at", "ended_at")},
        }
        for d in (0, 1)
        for row in plain_rows()
    ]
    assert [g.seconds for g in sdb.score_log(pa.Table.from_pylist(later), by="day").groups] == [
        9,
        9,
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_ids_that_start_anew_in_every_file_are_noticed(tmp_path: Path, form: str) -> None:
    for day in range(2):
        rows = [
            {
                k: v + 86_400 * day if k.endswith("_at") else v
                for k, v in row.items()
                if k != "ended_at"
            }
            for row in plain_rows(decision="b" if day else "a")
        ]
        write(tmp_path / f"{day}.{form}", rows)
    with pytest.raises(InputError, match=r"goes on in another file(.|\n)*filename \|\| stream"):
        in_force(tmp_path)
    score = sdb.score_log(
        tmp_path, sql="SELECT * REPLACE (filename || stream AS stream) FROM source"
    )
    assert (score.groups[0].streams, score.groups[0].in_force) == (2, 0.5)


@pytest.mark.parametrize("form", FORMATS)
def test_one_stream_may_lie_in_several_files(tmp_path: Path, form: str) -> None:
    rows = [{k: v for k, v in row.items() if k != "ended_at"} for row in plain_rows()]
    for k in range(2):
        write(tmp_path / f"part-{k}.{form}", rows[k::2])
    score = sdb.score_log(tmp_path)
    assert score.groups[0].in_force == pytest.approx(2 / 3)
    assert any("in more than one file" in note for note in score.notes)


def test_a_column_of_times_may_be_empty_text(tmp_path: Path) -> None:
    for start in (0.0, datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 1)):
        rows = [
            {k: moment(start, v) if k.endswith("_at") else v for k, v in row.items()}
            for row in plain_rows(applied_at=0.0)
        ]
        for form in FORMATS:
            path = write(tmp_path / f"log.{form}", [{**row, "applied_at": None} for row in rows])
            assert in_force(path) == pytest.approx(2 / 3)
        table = pa.Table.from_pylist([{**row, "applied_at": ""} for row in rows])
        assert in_force(table) == pytest.approx(2 / 3)


def test_text_columns_that_a_query_names_are_read(tmp_path: Path) -> None:
    rows = [{"call": r["stream"], "moment": f"2026-03-01 00:00:{int(r['published_at']):02}",
             "said": r["decision"], "truth": "a", "ms": 0} for r in plain_rows()]  # fmt: skip
    query = """SELECT call AS stream, moment AS published_at, moment AS answered_at, said AS decision,
        truth AS reference FROM source WHERE CAST(ms AS DOUBLE) < 1"""
    for form in FORMATS:
        assert in_force(write(tmp_path / f"log.{form}", rows), sql=query) == pytest.approx(2 / 3)
