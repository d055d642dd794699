"""`sdb logs convert`: spans of the real SDKs become rows, and what is assumed is said."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openinference.semconv.trace import OpenInferenceSpanKindValues, SpanAttributes
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as gen_ai

from tests.cli.command import sdb
from tests.logs.convert.traces import START_NS, Asked, write_traces

KIND = SpanAttributes.OPENINFERENCE_SPAN_KIND
DECISION = {KIND: OpenInferenceSpanKindValues.DECISION.value}


def seconds(text: str | None) -> float | None:
    """Seconds after the start of the traces."""
    if text is None:
        return None
    return round(datetime.fromisoformat(text).timestamp() - START_NS / 1e9, 6)


def converted(kind: str, source: Path, out: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    done = sdb("logs", "convert", "--from", kind, source, "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in out.read_text().splitlines()], json.loads(done.stdout)


def openinference(session: str, state: object, decision: object, **own: Any) -> dict[str, Any]:
    return {
        **DECISION,
        SpanAttributes.SESSION_ID: session,
        SpanAttributes.INPUT_VALUE: json.dumps(state),
        SpanAttributes.OUTPUT_VALUE: json.dumps(decision),
        **{f"sdb.{name}": value for name, value in own.items()},
    }


def test_openinference_decisions(tmp_path: Path) -> None:
    spans = [
        Asked(0.0, 0.4, openinference("call-1", {"t": 0}, {"recorder": "on"})),
        Asked(2.0, 2.25, openinference("call-1", {"t": 1}, {"recorder": "off"}, step=1,
              reference='{"recorder": "off"}', applied_at=START_NS / 1e9 + 2.5)),
        Asked(4.0, 5.0, openinference("call-1", {"t": 2}, "lost"), failed=True),
        Asked(1.0, 1.5, openinference("call-2", "free text", {"recorder": "on"}, stream="unit-9")),
        Asked(1.0, 1.2, {KIND: OpenInferenceSpanKindValues.LLM.value}),
    ]  # fmt: skip
    rows, said = converted(
        "openinference", write_traces(tmp_path / "traces.jsonl", spans), tmp_path / "log.jsonl"
    )
    assert [row["stream"] for row in rows] == ["call-1", "call-1", "call-1", "unit-9"]
    assert [seconds(row["published_at"]) for row in rows] == [0.0, 2.0, 4.0, 1.0]
    assert [seconds(row.get("answered_at")) for row in rows] == [0.4, 2.25, None, 1.5]
    assert [seconds(row.get("applied_at")) for row in rows] == [None, 2.5, None, None]
    assert json.loads(rows[1]["reference"]) == {"recorder": "off"}
    assert "decision" not in rows[2]
    assert rows[0]["service"] == "recorder"
    assert said["left_out"] == {"span kind LLM, not DECISION": 1}
    assert said["assumed"]["a state became current when its span began"] == 4
    assert said["assumed"]["a span that failed got no answer"] == 1
    assert (said["rows"], said["streams"], said["spans"]) == (4, 2, 5)


def test_otel_generative_ai(tmp_path: Path) -> None:
    message = [{"role": "assistant", "parts": [{"type": "text", "content": "pause"}]}]
    asked = [{"role": "user", "parts": [{"type": "text", "content": '{"t": 0}'}]}]
    spans = [
        Asked(0.0, 0.5, {
            gen_ai.GEN_AI_OPERATION_NAME: "chat", gen_ai.GEN_AI_CONVERSATION_ID: "c-1",
            gen_ai.GEN_AI_OUTPUT_MESSAGES: json.dumps(message),
            gen_ai.GEN_AI_INPUT_MESSAGES: json.dumps(asked),
            gen_ai.GEN_AI_RESPONSE_MODEL: "m-2",
        }),
        Asked(1.0, 1.5, {gen_ai.GEN_AI_OPERATION_NAME: "chat"}),
        Asked(1.0, 1.1, {gen_ai.GEN_AI_OPERATION_NAME: "execute_tool"}),
    ]  # fmt: skip
    rows, said = converted(
        "otel", write_traces(tmp_path / "t.jsonl", spans), tmp_path / "log.jsonl"
    )
    told = {row["stream"]: row for row in rows}
    assert told["c-1"]["decision"] == "pause"
    assert json.loads(told["c-1"]["state"]) == {"t": 0}
    assert told["c-1"]["model"] == "m-2"
    (other,) = set(told) - {"c-1"}
    assert len(other) == 32  # the trace's id, in hex
    assert said["assumed"]["no session is named: every trace is a stream of its own"] == 1
    assert said["assumed"]["a span without an output got no answer"] == 1


def test_langfuse_observations(tmp_path: Path) -> None:
    at = datetime.fromtimestamp(START_NS / 1e9, UTC)
    table = pa.Table.from_pylist(
        [
            {
                "type": "GENERATION", "session_id": "s-1", "trace_id": "t", "name": "decide",
                "start_time": at, "end_time": at, "input": '{"t": 0}', "output": '"on"',
                "metadata": json.dumps({"sdb.reference": "on", "sdb.step": 4}),
                "provided_model_name": "m-1", "level": "DEFAULT",
            },
            {
                "type": "SPAN", "session_id": "s-1", "trace_id": "t", "name": "tool",
                "start_time": at, "end_time": at, "input": None, "output": None,
                "metadata": None, "provided_model_name": None, "level": "DEFAULT",
            },
        ]
    )  # fmt: skip
    pq.write_table(table, tmp_path / "observations.parquet")
    rows, said = converted("langfuse", tmp_path / "observations.parquet", tmp_path / "log.jsonl")
    assert [(r["stream"], r["step"], r["reference"], r["model"]) for r in rows] == [
        ("s-1", 4, "on", "m-1")
    ]
    assert said["left_out"] == {"observation of type SPAN, not GENERATION": 1}


@pytest.mark.parametrize("name", ["log.parquet", "log.csv"])
def test_every_form_holds_the_same(tmp_path: Path, name: str) -> None:
    spans = [Asked(k, k + 0.1, openinference(f"s-{k % 3}", {"t": k}, k % 2)) for k in range(7)]
    source = write_traces(tmp_path / "traces.jsonl", spans)
    rows, _ = converted("openinference", source, tmp_path / "log.jsonl")
    done = sdb("logs", "convert", "--from", "openinference", source, "--out", tmp_path / name)
    assert done.returncode == 0, done.stderr
    assert "7 decisions of 3 streams, from 7 spans" in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 80
    if name.endswith("parquet"):
        table = pq.read_table(tmp_path / name)
        assert table.column("stream").to_pylist() == [row["stream"] for row in rows]
        assert str(table.schema.field("published_at").type) == "timestamp[us, tz=UTC]"


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "log.parquet"
    (tmp_path / "bad.jsonl").write_text('{"resourceSpans": []}\n{oops\n')
    (tmp_path / "other.jsonl").write_text('{"spans": []}\n')
    (tmp_path / "empty.jsonl").write_text('{"resourceSpans": []}\n')
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    pq.write_table(pa.table({"start_time": [1]}), tmp_path / "thin.parquet")
    for kind, name, why in (
        ("otel", "bad.jsonl", "line 2 is not JSON"),
        ("otel", "other.jsonl", "line 1 holds no OTLP spans"),
        ("otel", "empty.jsonl", "holds no decision"),
        ("langfuse", "table.csv", "is no Parquet file"),
        ("langfuse", "thin.parquet", "has no column end_time, output"),
        ("otel", "missing.jsonl", "is no file and no folder"),
        ("zipkin", "empty.jsonl", "--from zipkin is not known"),
    ):
        done = sdb("logs", "convert", "--from", kind, tmp_path / name, "--out", out)
        assert done.returncode == 2
        assert why in done.stderr.replace("\n", " ")
        assert not out.exists()
    spans = [Asked(0, 1, openinference("s", {}, 1))]
    source = write_traces(tmp_path / "t.jsonl", spans)
    (tmp_path / "there.jsonl").write_text("mine")
    done = sdb(
        "logs", "convert", "--from", "openinference", source, "--out", tmp_path / "there.jsonl"
    )
    assert (done.returncode, (tmp_path / "there.jsonl").read_text()) == (2, "mine")
