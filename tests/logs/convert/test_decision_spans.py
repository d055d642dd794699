"""Spans of decision APIs: correct traffic scores 100 %, whatever API and instrumentation made it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openinference.semconv.trace import OpenInferenceSpanKindValues, SpanAttributes
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import streamdecisionbench as sdb_api
from streamdecisionbench.logs.decision_responses import NO_FIELD, SCORE_LEVEL, YES_NO
from streamdecisionbench.logs.trace_convert import (
    Converted,
    convert,
)
from tests.cli.command import sdb
from tests.components.servers import Reply, ScriptedServer
from tests.logs.convert.test_convert import DECISION, converted
from tests.logs.convert.traces import START_NS, Asked, write_spans, write_traces

Value = str | bool | int


def answer_of(value: Value, system: str, name: str) -> dict[str, Any]:
    """What an API answers that decides so: a choice for text, yes/no for truth, else a level."""
    named = {"name": name} if system == "openai" else {}
    if isinstance(value, bool):
        kind, held = ("predicate", "probability") if system == "openai" else ("noul", "noul")
        return {**named, "type": kind, held: 0.9 if value else 0.2}
    if isinstance(value, str):
        shares: Any = {value: 0.7, "other": 0.3}
        answer: dict[str, Any] = {"type": "choice", "choice": value, "confidence": 0.6}
    else:
        shares = {str(k): 0.7 if k == value else 0.1 for k in range(4)}
        answer = {"type": "score", "score": value + 0.3, "confidence": 0.6}
        if system != "openai":
            answer["legend"] = {str(k): "level" for k in range(4)}
    if system == "openai":
        shares = [
            {"value": o if isinstance(value, str) else int(o), "probability": p}
            | ({} if isinstance(value, str) else {"label": "level"})
            for o, p in shares.items()
        ]
    return {**named, **answer, "probabilities": shares}


def question_of(value: Value, system: str, name: str) -> dict[str, Any]:
    openai = system == "openai"
    named = {"name": name, "instructions": "?"} if openai else {"instructions": "?"}
    if isinstance(value, bool):
        return {**named, "type": "predicate" if openai else "noul"}
    if isinstance(value, str):
        options = (value, "other")
        held: Any = [{"value": o} for o in options] if openai else dict.fromkeys(options, "it")
        return {**named, "type": "choice", ("choices" if openai else "criteria"): held}
    return {**named, "type": "score", ("levels" if openai else "criteria"): ["level"] * 4}


def request_of(decision: Mapping[str, Value], system: str, state: Any) -> dict[str, Any]:
    asked = {name: question_of(value, system, name) for name, value in decision.items()}
    if system == "openai":
        part = {"type": "input_json", "data": state}
        message = [{"role": "user", "content": [part]}]
        return {"model": "asked", "input": message, "questions": list(asked.values())}
    return {"model": "asked", "state": state, "questions": asked}


def response_of(decision: Mapping[str, Value], system: str) -> dict[str, Any]:
    answers = {name: answer_of(value, system, name) for name, value in decision.items()}
    used = {"input_tokens": 3, "output_tokens": 1}
    if system != "openai":
        return {"model": "answered", "answers": answers, "usage": used}
    used |= {
        "total_tokens": 4, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }  # type: ignore[dict-item] # fmt: skip
    return {"model": "answered", "answers": list(answers.values()), "usage": used}


def decision_span(k: float, system: str | None, request: Any, response: Any, **own: Any) -> Asked:
    """A span that took no time, with the attributes of the convention."""
    given = {
        **DECISION,
        SpanAttributes.SESSION_ID: "call",
        SpanAttributes.INPUT_VALUE: json.dumps(request),
        SpanAttributes.OUTPUT_VALUE: json.dumps(response),
        SpanAttributes.DECISION_MODEL_NAME: "answered",
        **({} if system is None else {SpanAttributes.DECISION_SYSTEM: system}),
        **{f"sdb.{name}": value for name, value in own.items()},
    }
    return Asked(k, k, given)


def scored(path: Path) -> float | None:
    return sdb_api.score_log(path).groups[0].in_force


values = st.one_of(
    st.booleans(), st.integers(0, 3), st.sampled_from(["on", "off", "1", "true", "é"])
)
decisions = st.dictionaries(st.sampled_from("abcd"), values, min_size=1)


@pytest.mark.parametrize("system", ["typesafe", "openai"])
@settings(max_examples=25, deadline=None)
@given(st.lists(decisions, min_size=2, max_size=4), st.booleans())
def test_right_answers_score_100_and_wrong_ones_0(
    tmp_path_factory: pytest.TempPathFactory,
    system: str,
    played: list[dict[str, Value]],
    right: bool,
) -> None:
    folder = tmp_path_factory.mktemp("spans")
    spans = [
        decision_span(
            k, system, request_of(decision, system, {"t": k}), response_of(decision, system),
            reference=json.dumps(decision if right else {**decision, "a": "another"}), step=k,
        )
        for k, decision in enumerate(played)
    ]  # fmt: skip
    log = folder / "log.parquet"
    convert("openinference", [write_traces(folder / "traces.jsonl", spans)], log)
    assert scored(log) == (1.0 if right else 0.0)


@pytest.mark.parametrize("system", ["typesafe", "openai"])
def test_answers_probabilities_model_state_and_questions(tmp_path: Path, system: str) -> None:
    decision: dict[str, Value] = {"route": "human", "spam": False, "urgency": 2}
    request, response = request_of(decision, system, {"t": 0}), response_of(decision, system)
    source = write_traces(tmp_path / "t.jsonl", [decision_span(0, system, request, response)])
    ((row,), said) = converted("openinference", source, tmp_path / "log.jsonl")
    assert json.loads(row["decision"]) == decision
    assert json.loads(row["probabilities"]) == {
        "route": {"human": 0.7, "other": 0.3},
        "spam": {"true": 0.2, "false": 0.8},
        "urgency": {"0": 0.1, "1": 0.1, "2": 0.7, "3": 0.1},
    }
    assert row["confidence"] == 0.6
    assert row["model"] == "answered"
    assert json.loads(row["state"]) == {"t": 0}
    assert json.loads(row["questions"]) == request["questions"]
    assert said["assumed"][YES_NO] == said["assumed"][SCORE_LEVEL] == 1


@pytest.mark.parametrize(
    ("value", "reference"),
    [("pause", "pause"), ("pause", '"pause"'), ("1", "1"), (True, "true"), (2, "2")],
)
@pytest.mark.parametrize("system", ["typesafe", "openai"])
def test_the_reference_of_an_only_question_may_be_its_value(
    tmp_path: Path, system: str, value: Value, reference: str
) -> None:
    request, response = request_of({"q": value}, system, "s"), response_of({"q": value}, system)
    span = decision_span(0, system, request, response, reference=reference)
    later = decision_span(1, system, request, response, reference=json.dumps({"q": value}))
    log = tmp_path / "log.parquet"
    told = convert("openinference", [write_traces(tmp_path / "t.jsonl", [span, later])], log)
    assert scored(log) == 1.0
    assert told.assumed["a reference without a field is that of the only question"] == 1


def test_systems_that_are_not_known(tmp_path: Path) -> None:
    """Read by the form of their answers, or taken as they are, or left out: never in silence."""

    def done(system: str | None, response: Any) -> Converted:
        log = tmp_path / "log.parquet"
        log.unlink(missing_ok=True)
        right = decision_span(0, "typesafe", {}, response_of({"q": "on"}, "typesafe"))
        span = decision_span(1, system, {}, response, reference='{"q": "on"}')
        told = convert("openinference", [write_traces(tmp_path / "t.jsonl", [right, span])], log)
        if told.rows == 2:
            assert scored(log) == 1.0
        return told

    for system, name in (("vllm", "vllm"), (None, "not given")):
        for form in ("typesafe", "openai"):
            told = done(system, response_of({"q": "on"}, form))
            note = f"decision.system {name} is not known: answers are read by their form"
            assert told.assumed[note] == 1
    told = done("mine", {"q": "on"})
    assert told.assumed["decision.system mine is not known: the whole output is the decision"] == 1
    assert not done(None, {"q": "on"}).left_out
    for system, response, why in (
        ("mine", {"q": {"label": "on"}},
         "decision.system mine is not known, and output.value is not a plain decision"),
        ("typesafe", {"q": "on"},
         "decision.system typesafe: output.value is not a response with answers"),
        ("openai", response_of({"q": "on"}, "typesafe"),
         "decision.system openai: output.value is not a response with answers"),
        ("typesafe", {"answers": {"q": {"type": "poem", "verse": "on"}}},
         "an answer of the type poem, which is not known"),
        ("openai", {"answers": [answer_of("on", "openai", "q")] * 2},
         "two answers to one question in output.value"),
    ):  # fmt: skip
        told = done(system, response)
        assert (told.rows, dict(told.left_out)) == (1, {why: 1})


def test_traces_without_one_readable_response_are_refused(tmp_path: Path) -> None:
    span = decision_span(0, "mine", {}, {"q": {"label": "on"}})
    source = write_traces(tmp_path / "t.jsonl", [span])
    out = tmp_path / "log.parquet"
    done = sdb("logs", "convert", "--from", "openinference", source, "--out", out)
    assert (done.returncode, out.exists()) == (2, False)
    assert "holds no decision (1 decision.system mine is not known" in " ".join(done.stderr.split())


def test_refused_hidden_and_unnamed(tmp_path: Path) -> None:
    refused = {"type": "refusal", "name": "b"}
    unnamed = {**answer_of("on", "openai", ""), "name": None}
    spans = [
        decision_span(0, "openai", {}, {"answers": [answer_of("on", "openai", "a"), refused]}),
        decision_span(1, "openai", {}, {"answers": [refused]}),
        decision_span(2, "openai", {}, {"answers": [refused, unnamed]}),
        decision_span(3, "openai", {}, {}),
        Asked(4, 4, {**DECISION, "decision.system": "openai", "output.value": "__REDACTED__"}),
        Asked(5, 6, {**DECISION, "session.id": "call", "decision.system": "openai"}, failed=True),
    ]
    rows, said = converted(
        "openinference", write_traces(tmp_path / "t.jsonl", spans), tmp_path / "log.jsonl"
    )
    assert [row.get("decision") for row in rows] == ['{"a": "on"}', None, '{"question_2": "on"}', None]  # fmt: skip
    assert said["assumed"][NO_FIELD] == 3
    assert said["left_out"] == {
        "decision.system openai: output.value is not a response with answers": 1,
        "output.value is hidden: __REDACTED__": 1,
    }


def test_system_one_spans_from_before_the_decision_attributes(tmp_path: Path) -> None:
    """The convention asks readers to accept them: kind LLM, llm.system, llm.model_name."""
    span = decision_span(0, None, {}, response_of({"q": "on"}, "typesafe"))
    old = {
        **{k: v for k, v in span.attributes.items() if not k.startswith("decision.")},
        SpanAttributes.OPENINFERENCE_SPAN_KIND: OpenInferenceSpanKindValues.LLM.value,
        SpanAttributes.LLM_SYSTEM: "typesafe",
        SpanAttributes.LLM_MODEL_NAME: "jev",
    }
    source = write_traces(tmp_path / "t.jsonl", [Asked(0, 0, old)])
    ((row,), _) = converted("openinference", source, tmp_path / "log.jsonl")
    assert (json.loads(row["decision"]), row["model"]) == ({"q": "on"}, "jev")


@pytest.mark.parametrize("as_event", [False, True])
def test_decisions_of_strands(tmp_path: Path, as_event: bool) -> None:
    def asked(k: int, answers: Any, **own: Any) -> Asked:
        name, text = "gen_ai.decision.answers", json.dumps(answers)
        given = {"gen_ai.operation.name": "decision", "session.id": "call", **own}
        if as_event:
            return Asked(k, k, given, name="decision", events={name: {"answers": text}})
        return Asked(k, k, {**given, name: text}, name="decision")

    spans = [
        asked(0, {"route": "human", "spam": False}, **{"sdb.reference": '{"spam": false, "route": "human"}'}),
        asked(1, {"route": {"uncertain": True, "reason": "?"}, "spam": True}, **{"sdb.reference": '{"spam": true}'}),
        asked(2, [1]),
        Asked(3, 3, {"gen_ai.operation.name": "decision", "gen_ai.request.model": "m"}),
        Asked(4, 5, {"gen_ai.operation.name": "decision", "session.id": "other"}, failed=True),
    ]  # fmt: skip
    source = write_traces(tmp_path / "t.jsonl", spans)
    rows, said = converted("otel", source, tmp_path / "log.jsonl")
    assert [(row["stream"], row.get("decision")) for row in rows] == [
        ("call", '{"route": "human", "spam": false}'), ("call", '{"spam": true}'), ("other", None),
    ]  # fmt: skip
    assert said["left_out"] == {"a decision without gen_ai.decision.answers as a JSON object": 2}
    assert said["assumed"][NO_FIELD] == 1
    log = tmp_path / "log.parquet"
    convert("otel", [write_traces(tmp_path / "two.jsonl", spans[:2])], log)
    assert scored(log) == 1.0


def typesafe_call(url: str, request: Mapping[str, Any]) -> None:
    from typesafe_sdk import TypeSafeClient

    client = TypeSafeClient(api_key="k", base_url=url)
    client.system_one(**{**request, "model": "asked"})


def openai_call(url: str, request: Mapping[str, Any]) -> None:
    from openai import OpenAI

    OpenAI(api_key="k", base_url=f"{url}/v1").decisions.create(**request)


@pytest.fixture
def instrumented() -> Iterator[InMemorySpanExporter]:
    """The SDKs of both APIs under OpenInference's own instrumentation."""
    name = "openinference.instrumentation."
    typesafe = pytest.importorskip(f"{name}typesafe", reason="needs the dev dependencies")
    openai = pytest.importorskip(f"{name}openai", reason="needs the dev dependencies")
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with ExitStack() as stack:
        for instrumentor in (typesafe.TypeSafeAIInstrumentor(), openai.OpenAIInstrumentor()):
            instrumentor.instrument(tracer_provider=provider)
            stack.callback(instrumentor.uninstrument)
        yield exporter


@pytest.mark.parametrize(("system", "call"), [("typesafe", typesafe_call), ("openai", openai_call)])
def test_traffic_under_the_real_instrumentation_scores_100(
    instrumented: InMemorySpanExporter, tmp_path: Path, system: str, call: Any
) -> None:
    from openinference.instrumentation import using_attributes

    played: list[dict[str, Value]] = [
        {"route": route, "spam": spam, "urgency": level}
        for route, spam, level in (("human", False, 2), ("bot", True, 0), ("human", True, 3))
    ]
    server = ScriptedServer([Reply(json.dumps(response_of(d, system)).encode()) for d in played])
    server.start()
    try:
        for k, decision in enumerate(played):
            own = {"sdb.reference": json.dumps(decision), "sdb.step": k}
            with using_attributes(session_id="call-1", metadata=own):
                call(server.url, request_of(decision, system, {"t": k}))
    finally:
        server.stop()
    source = write_spans(tmp_path / "real.jsonl", instrumented.get_finished_spans())
    _set_times(source)
    rows, _ = converted("openinference", source, tmp_path / "log.jsonl")
    assert [json.loads(row["decision"]) for row in rows] == played
    assert [json.loads(row["state"]) for row in rows] == [{"t": k} for k in range(3)]
    assert [row["step"] for row in rows] == [0, 1, 2]
    assert {(row["stream"], row["model"], row["confidence"]) for row in rows} == {
        ("call-1", "answered", 0.6)
    }
    assert scored(tmp_path / "log.jsonl") == 1.0


def _set_times(path: Path) -> None:
    """One span a second, answered at once: the score must not depend on this machine's speed."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    spans = [
        span
        for document in lines
        for group in document["resourceSpans"]
        for scope in group["scopeSpans"]
        for span in scope["spans"]
    ]
    for k, span in enumerate(spans):
        span["startTimeUnixNano"] = span["endTimeUnixNano"] = str(START_NS + k * 10**9)
    path.write_text("".join(json.dumps(document) + "\n" for document in lines))
