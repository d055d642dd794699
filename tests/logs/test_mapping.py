"""From a table as people have it to a log: latencies instead of times, a drafted query, readable errors."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import streamdecisionbench as sdb_api
from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.log_source import LogSource
from streamdecisionbench.logs.mapping import draft_mapping
from tests.cli.command import sdb
from tests.logs.test_formats import FORMATS, Row, plain_rows, write

START = datetime(2026, 3, 1, 10, tzinfo=UTC)
WRITTEN = {
    "clock": lambda ms: str(timedelta(milliseconds=ms)),
    "days": lambda ms: f"0 days {timedelta(milliseconds=ms)}",
    "iso": lambda ms: f"P0DT0H0M{ms / 1000}S",
    "counted": lambda ms: f"{ms} ms",
    "seconds": lambda ms: f"{ms / 1000}s",
}


def waiting(streams: list[list[tuple[int, int | None, int]]]) -> list[Row]:
    """States with a gap in front, a latency, or none where no answer came, and what was decided."""
    rows = []
    for k, states in enumerate(streams):
        at = 0
        for gap, waited, said in states:
            at += gap
            rows.append(
                {"stream": f"s{k}", "at": at, "waited": waited, "ended": None,
                 "decision": None if waited is None else f"d{said}", "reference": "d0"}
            )  # fmt: skip
        for row in rows[-len(states) :]:
            row["ended"] = at + 700
    return rows


def as_log(rows: list[Row], clock: str, latency: str) -> list[Row]:
    """In one of the forms a log may have; the first with `answered_at` itself."""

    def moment(ms: int | None) -> Any:
        if ms is None:
            return None
        return START + timedelta(milliseconds=ms) if clock == "stamps" else ms / 1000

    def told(row: Row) -> Row:
        waited = row["waited"]
        if latency == "answered_at":
            if waited is None or clock == "stamps":
                late = None if waited is None else row["at"] + waited
                return {latency: moment(late)}
            return {latency: moment(row["at"]) + waited / 1000}
        if latency == "latency_ms":
            return {latency: waited}
        if latency == "latency_s":
            return {latency: None if waited is None else waited / 1000}
        return {"latency": None if waited is None else WRITTEN[latency](waited)}

    return [
        {"stream": row["stream"], "published_at": moment(row["at"]), "decision": row["decision"],
         "reference": row["reference"], "ended_at": moment(row["ended"]), **told(row)}
        for row in rows
    ]  # fmt: skip


_STATES = st.lists(
    st.tuples(st.integers(1, 4000), st.one_of(st.none(), st.integers(0, 6000)), st.integers(0, 1)),
    min_size=2,
    max_size=6,
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    streams=st.lists(_STATES, min_size=1, max_size=3),
    clock=st.sampled_from(["seconds", "stamps"]),
    form=st.sampled_from(FORMATS),
)
def test_a_latency_says_when_an_answer_came(
    tmp_path: Path, streams: list[list[tuple[int, int | None, int]]], clock: str, form: str
) -> None:
    """Whatever its unit, its spelling and the log's format: the figures of `answered_at` itself."""
    rows = waiting(streams)
    rows[0].update(waited=0, decision="d1")  # of nothing but null no format keeps a type
    want = sdb_api.score_log(
        write(tmp_path / f"want.{form}", as_log(rows, clock, "answered_at")), resamples=0
    )
    for latency in ("latency_ms", "latency_s", *WRITTEN):
        log = write(tmp_path / f"log.{form}", as_log(rows, clock, latency))
        got = sdb_api.score_log(log, resamples=0)
        assert got.groups[0].classes == pytest.approx(want.groups[0].classes, abs=1e-12)
        assert got.groups[0].latency == pytest.approx(want.groups[0].latency, abs=1e-9)


def with_latency(**more: Any) -> list[Row]:
    return [
        {**{k: v for k, v in row.items() if k != "answered_at"}, **more} for row in plain_rows()
    ]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_of_arrow_in_memory_and_in_parquet(tmp_path: Path, unit: str) -> None:
    waited = pa.array([timedelta(seconds=2)] * 9).cast(pa.duration(unit))
    table = pa.Table.from_pylist(with_latency()).append_column("latency", waited)
    pq.write_table(table, tmp_path / "log.parquet")
    want = sdb_api.score_log(pa.Table.from_pylist(with_latency(latency_s=2.0))).groups[0].classes
    assert want["no_decision"] == pytest.approx(2 / 9)
    for source in (table, tmp_path / "log.parquet"):
        assert sdb_api.score_log(source).groups[0].classes == want


def test_nanoseconds_stay_nanoseconds() -> None:
    rows = pa.Table.from_pylist(with_latency(latency_ms=0.000001))
    for name in ("published_at", "ended_at"):
        moments = [int(v * 1e9) + 7 for v in rows[name].to_pylist()]
        column = pa.array(moments, pa.timestamp("ns"))
        rows = rows.set_column(rows.schema.names.index(name), name, column)
    group = sdb_api.score_log(rows).groups[0]
    assert group.latency["p50"] == pytest.approx(1e-9, abs=1e-12)


def test_the_request_counts_where_there_is_one() -> None:
    rows = [
        {**row, "requested_at": row["published_at"] + 0.25} for row in with_latency(latency_s=0.5)
    ]
    rows[0]["requested_at"] = None
    group = sdb_api.score_log(pa.Table.from_pylist(rows)).groups[0]
    assert group.classes["no_decision"] == pytest.approx(0.5 / 9)
    assert group.latency["p50"] == pytest.approx(0.5)


def test_beside_answered_at_a_latency_is_a_label(tmp_path: Path) -> None:
    rows = plain_rows(latency="slow", latency_ms="–")
    path = write(tmp_path / "log.csv", rows)
    score = sdb_api.score_log(path, by="latency")
    assert score.groups[0].by == {"latency": "slow"}
    parts = [
        write(tmp_path / "one.parquet", plain_rows()),
        write(tmp_path / "two.parquet", [{**r, "stream": "t"} for r in plain_rows(latency_ms=5)]),
    ]
    assert sdb_api.score_log(parts).groups[0].streams == 2


@pytest.mark.parametrize("form", FORMATS)
def test_a_latency_without_a_unit_is_refused(tmp_path: Path, form: str) -> None:
    path = write(tmp_path / f"log.{form}", with_latency(latency=350))
    with pytest.raises(InputError, match="not durations") as refused:
        sdb_api.score_log(path)
    assert "name it latency_ms or latency_s" in str(refused.value)


def test_two_latencies_are_refused() -> None:
    with pytest.raises(InputError, match=r"latency_ms and latency_s.* which of them"):
        sdb_api.score_log(pa.Table.from_pylist(with_latency(latency_s=2.0, latency_ms=2.0)))


def test_a_latency_without_a_decision_cannot_be_used() -> None:
    rows = with_latency(latency_ms=100.0)
    rows[3]["decision"] = None
    with pytest.raises(InputError, match="has an answer's time and no decision"):
        sdb_api.score_log(pa.Table.from_pylist(rows))


CALLS = [
    {"session_id": "c1", "ts": "2026-03-01T10:00:00Z", "latency_ms": 350, "tool_chosen": "smalltalk",
     "utterance": "hello, there", "release": "1.9"},
    {"session_id": "c1", "ts": "2026-03-01T10:00:02Z", "latency_ms": 400, "tool_chosen": "hand_off",
     "utterance": "a person; DROP TABLE source", "release": "1.9"},
    {"session_id": "c1", "ts": "2026-03-01T10:00:05Z", "latency_ms": None, "tool_chosen": None,
     "utterance": "bye", "release": "1.9"},
]  # fmt: skip
"""A voice agent's own table."""


def test_everything_missing_is_named_at_once_and_a_mapping_is_drafted(tmp_path: Path) -> None:
    write(tmp_path / "calls.csv", CALLS)
    done = sdb("logs", "check", "calls.csv", cwd=tmp_path)
    assert done.returncode == 2
    for name in ("stream", "published_at", "decision"):
        assert f"no column '{name}'" in done.stderr
    assert "its columns are session_id, ts, latency_ms, tool_chosen, utterance, release\n" in (
        done.stderr
    )
    # The draft is printed: what helps now is how to use it.
    assert "then use it: sdb logs score calls.csv --sql mapping.sql" in done.stderr
    assert "--write-mapping FILE" not in done.stderr
    for line in (
        "session_id AS stream,  -- ",
        "CAST(ts AS TIMESTAMPTZ) AS published_at,  -- times with a time zone",
        "CAST(ts AS TIMESTAMPTZ) + to_seconds(latency_ms / 1000) AS answered_at,  -- ts plus latency_ms,"
        " in milliseconds",
        "tool_chosen AS decision,  -- ",
        "json_object('utterance', utterance) AS state,  -- text, as the field 'utterance'",
        "release  -- as they are: to group by",
    ):
        assert f"\n  {line}" in done.stdout
    assert all(
        "  -- " in line for line in done.stdout.strip().splitlines() if line.startswith("  ")
    )


@pytest.mark.parametrize("form", FORMATS)
def test_a_drafted_mapping_is_written_and_used(tmp_path: Path, form: str) -> None:
    path = write(tmp_path / f"calls.{form}", CALLS)
    command = ("logs", "check", path.name, "--write-mapping", "mapping.sql")
    done = sdb(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"correct it, then use it: sdb logs score {path.name} --sql mapping.sql" in " ".join(
        done.stdout.replace("Correct", "correct").split()
    )
    assert "3 rows, 3 of them usable, in 1 stream" in " ".join(done.stdout.split())
    again = sdb(*command, cwd=tmp_path)
    assert (again.returncode, "is there already" in again.stderr) == (2, True)

    def right(state: dict[str, str]) -> str:
        return "hand_off" if "person" in state["utterance"] else "smalltalk"

    group = sdb_api.score_log(
        path, sql=(tmp_path / "mapping.sql").read_text(), reference=right
    ).groups[0]
    assert group.classes["no_decision"] == pytest.approx(0.35 / 7.5)
    assert group.classes["stale"] == pytest.approx((0.4 + 2.5) / 7.5)


def test_a_draft_says_what_no_column_looks_like(tmp_path: Path) -> None:
    write(tmp_path / "log.csv", [{"session": 1, "when_it_was": 2}])
    done = sdb("logs", "check", "log.csv", "--write-mapping", "mapping.sql", cwd=tmp_path)
    assert done.returncode == 2
    assert "no column looks like published_at, decision, answered_at" in done.stderr
    text = (tmp_path / "mapping.sql").read_text()
    assert "NULL AS decision,  -- MISSING: what was answered" in text
    assert "NULL AS published_at,  -- MISSING" in text


def drafted(rows: list[Row], tmp_path: Path, form: str = "parquet") -> dict[str, str]:
    with LogSource(write(tmp_path / f"draft.{form}", rows)).open(checked=False) as opened:
        return {line.column: line.sql for line in draft_mapping(opened).lines}


@pytest.mark.parametrize(
    ("given", "column", "sql"),
    [
        ({"timestamp": 1_790_000_000_123}, "published_at", "timestamp / 1e3"),
        ({"ts": 1_790_000_000.5}, "published_at", "ts"),
        ({"ts": 5.0, "took_s": 0.5}, "answered_at", "ts + took_s"),
        ({"ts": 5.0, "responseTimeMs": 9}, "answered_at", "ts + responseTimeMs / 1000"),
        ({"ts": START, "latency": 350}, "answered_at", "ts + to_seconds(latency / 1000)"),
        ({"ts": START, "answered_at": START}, "answered_at", "answered_at"),
        ({"expected_tool": "a", "tool": "b"}, "reference", "expected_tool"),
        ({"expected_tool": "a", "tool": "b"}, "decision", "tool"),
        ({"Call Id": "a"}, "stream", '"Call Id"'),
        ({"state": '{"a": 1}'}, "state", "state"),
        ({"message": "hi", "context": "x"}, "state", "json_object('message', message, 'context', context)"),
        ({"ts": 5.0, "group": "x"}, "", '"group"'),
    ],
)  # fmt: skip
def test_what_columns_are_called_and_hold(
    tmp_path: Path, given: Row, column: str, sql: str
) -> None:
    assert drafted([given], tmp_path)[column] == sql


NAMES = {
    "stream": ("session_id", "sessionId", "room_uuid", "room_id", "ticket_id", "case_no", "chat_key", "call",
               "conversation_id", "ThreadID", "meeting_uuid", "user_id", "wagon_id", "unit_nr"),
    "published_at": ("ts", "msg_ts", "message_ts", "timestamp", "event_time", "created_at", "eventTimestamp",
                     "turn_at", "ts_ms", "time", "datetime", "utterance_ts", "start_time", "date", "heard_at"),
    "answered_at": ("infer_ms", "inference_ms", "latency_ms", "latency", "took_s", "responseTimeMs", "model_ms",
                    "inference_time", "processing_seconds", "rtt_us", "e2e_ms", "llm_latency", "delay_ms",
                    "responded_at", "decided_at", "answer_ts", "prediction_time", "completed_at"),
    "reference": ("moderator_action", "moderator_label", "expected", "gold_label", "ground_truth", "y_true",
                  "human_label", "correct_tool", "annotator_choice", "reviewer_verdict", "target", "trueIntent",
                  "expert_action", "actual_class", "tool_expected"),
    "decision": ("label_pred", "action", "tool", "intent", "prediction", "predicted_label", "chosen_tool",
                 "route", "modelOutput", "decision", "label", "verdict", "next_action", "y_pred", "class"),
    "ended_at": ("ended_at", "call_ended_at", "session_end_ts", "hangup_at", "end_time", "closed_at"),
    "requested_at": ("requested_at", "request_ts", "asked_at", "sentAt"),
}  # fmt: skip
"""Ordinary names, by what they are in a log."""
ORDINARY = {"session_id": "a", "ts": 5.0, "latency_ms": 9.0, "action": "go", "release": "1"}
PLACES = {
    "stream": "session_id",
    "published_at": "ts",
    "answered_at": "latency_ms",
    "decision": "action",
}


@pytest.mark.parametrize(("column", "name"), [(c, n) for c, names in NAMES.items() for n in names])
def test_ordinary_names_are_found_next_to_others(tmp_path: Path, column: str, name: str) -> None:
    """In a table with one column of every other sort, and nothing of it is taken for something else."""
    rest = {n: value for n, value in ORDINARY.items() if n != PLACES.get(column)}
    value = 5.0 if column.endswith("_at") else "x"
    lines = drafted([{**rest, name: value}], tmp_path)
    assert re.search(rf"\b{name}\b", lines[column]), lines
    since = {"answered_at"} if column in ("published_at", "requested_at") else set()
    took = {c for c, sql in lines.items() if re.search(rf"\b{name}\b", sql)}
    assert took - since == {column}
    for other, held in PLACES.items():
        if other != column:
            assert re.search(rf"\b{held}\b", lines[other]), lines


@pytest.mark.parametrize(
    ("name", "value"),
    [("label", "y"), ("qa_result", "y"), ("final_action", "y"), ("what_ben_says", "go"), ("moderator_says", "y"),
     ("resolution", "y"), ("feedback", "y"), ("override", "y"), ("second_opinion", "stay")],
)  # fmt: skip
def test_what_could_be_the_reference_is_never_only_grouped_by(
    tmp_path: Path, name: str, value: str
) -> None:
    """By its name, or because it holds values that the decision has."""
    rows = [
        {**ORDINARY, name: value},
        {**ORDINARY, "ts": 6.0, "action": "stay", name: "go" if value in ("go", "stay") else value},
    ]
    with LogSource(write(tmp_path / "log.csv", rows)).open(checked=False) as opened:
        draft = draft_mapping(opened)
    (line,) = [line for line in draft.lines if name in line.sql]
    assert line.column == "reference" or f"write {name} AS reference" in line.why
    assert [line.sql for line in draft.lines if "group by" in line.why] == ["release"]


@pytest.mark.parametrize(
    ("name", "column"),
    [("moderator_id", "stream"), ("reviewed_at", "published_at"), ("moderator_ts", "published_at"),
     ("call_duration_s", "answered_at"), ("timeout_ms", "answered_at"), ("message_id", "stream"),
     ("updated_at", "published_at")],
)  # fmt: skip
def test_names_that_only_resemble_one_are_not_taken(tmp_path: Path, name: str, column: str) -> None:
    rest = {n: value for n, value in ORDINARY.items() if n != PLACES[column]}
    assert drafted([{**rest, name: 5.0}], tmp_path)[column] == "NULL"


def test_a_draft_is_inert(tmp_path: Path) -> None:
    """Names and values of a table end no comment and run nothing."""
    rows = [{'session"\nDROP': "a", "ts": "now\n; DROP TABLE source --", "x\ny": 1}]
    with LogSource(write(tmp_path / "log.jsonl", rows)).open(checked=False) as opened:
        text = draft_mapping(opened).text()
    comments = [line.partition("-- ")[2] for line in text.splitlines()]
    assert any("; DROP TABLE source --" in comment for comment in comments)
    assert not any(line.startswith((";", "DROP TABLE")) for line in text.splitlines())


def test_a_failed_query_is_told_readably_with_the_likely_cast(tmp_path: Path) -> None:
    write(tmp_path / "calls.csv", CALLS)
    query = (
        "SELECT session_id AS stream, ts AS published_at,\n"
        "  ts + to_milliseconds(latency_ms) AS answered_at, tool_chosen AS decision FROM source"
    )
    (tmp_path / "mapping.sql").write_text(query)
    done = sdb("logs", "score", "calls.csv", "--sql", "mapping.sql", cwd=tmp_path)
    assert done.returncode == 2
    assert "No function matches the given name and argument types '+(VARCHAR, INTERVAL)'" in (
        done.stderr
    )
    assert "LINE 2:   ts + to_milliseconds(latency_ms)" in done.stderr
    assert "cast what you compute with: CAST(ts AS TIMESTAMPTZ)" in done.stderr
    assert "HUGEINT" not in done.stderr
    assert len(done.stderr.splitlines()) == 4


def test_a_value_that_cannot_be_cast_is_told_even_in_the_last_row(tmp_path: Path) -> None:
    rows = [*plain_rows(ms="5"), {**plain_rows(ms="–")[0], "stream": "t"}]
    write(tmp_path / "log.csv", rows)
    (tmp_path / "mapping.sql").write_text(
        "SELECT * REPLACE (published_at + CAST(ms AS DOUBLE) / 1000 AS answered_at) FROM source"
    )
    done = sdb("logs", "score", "log.csv", "--sql", "mapping.sql", cwd=tmp_path)
    assert done.returncode == 2
    assert "mapping.sql: the query fails: Conversion Error: Could not convert string '–'" in (
        done.stderr
    )
    assert "TRY_CAST" in done.stderr


@pytest.mark.parametrize("failing", ["_schema_of", "_sorts", "_ask"])
def test_a_hint_that_fails_does_not_replace_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """What a handler asks of the same connection may fail too; the first error is the one to read."""
    path = write(tmp_path / "calls.csv", CALLS)

    def fails(*_: object, **__: object) -> None:
        raise InputError("the second error")

    with LogSource(path).open(checked=False) as opened:
        monkeypatch.setattr(type(opened), failing, fails)
        with pytest.raises(InputError, match="No function matches") as refused:
            opened._map("SELECT ts + to_milliseconds(latency_ms) AS a FROM source", "mapping.sql")
    assert "the second error" not in str(refused.value)


def test_a_draft_that_fails_does_not_replace_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "calls.csv", CALLS)

    def fails(*_: object) -> None:
        raise InputError("the second error")

    monkeypatch.setattr("streamdecisionbench.logs.mapping.draft_mapping", fails)
    done = sdb("logs", "check", "calls.csv", cwd=tmp_path)
    assert (done.returncode, "no column 'stream'" in done.stderr) == (2, True)
    assert "the second error" not in done.stderr
