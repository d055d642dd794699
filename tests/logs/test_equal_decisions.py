"""Equality of decisions does not depend on the file format, the spelling of a number, the order of keys
or white space: every reader is compared with `same`, a plain definition over Python values."""

from __future__ import annotations

import csv
import itertools
import json
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
from streamdecisionbench.logs.log_check import check_log
from streamdecisionbench.logs.log_source import LogSource
from streamdecisionbench.logs.stream_arrays import text_column
from streamdecisionbench.logs.trace_convert import convert
from streamdecisionbench.meter import Meter
from streamdecisionbench.meter.decision_log import DecisionLog
from streamdecisionbench.meter.stream import text_of
from streamdecisionbench.text import decision_text
from tests.logs.convert.traces import Asked, write_traces

NUMBERS = (0, 1, -1, 2, 10, 100, 0.1, 1.5, 2.5, -0.25, 1e22, 1e-7, 2**53 + 1, 2**53)
WORDS = (
    "wait",
    "007",
    "01",
    "+1",
    ".5",
    "1.",
    "1.2.3",
    "v1.10",
    "nan",
    "1 000",
    "0x10",
    "é",
    "1e",
    "--1",
)
NESTED = ({"a": 1, "b": "x"}, {"a": 1.5, "b": "x"}, {"a": "1", "b": "x"}, {"a": True, "b": "x"})


def same(one: Any, other: Any) -> bool:
    """The definition. Text that is no number never equals a number; types inside an object count."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(v, other[k]) for k, v in one.items())
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """A JSON text or plain text of a value, in one of its spellings."""
    space = draw(st.sampled_from(["", " ", "  "]))
    if isinstance(value, dict):
        keys = draw(st.permutations(sorted(value)))
        parts = [f'"{k}"{space}:{space}{draw(literal(value[k]))}' for k in keys]
        return f"{{{space}{(',' + space).join(parts)}{space}}}"
    if isinstance(value, str):
        return value + space
    return draw(literal(value)) + space


@st.composite
def literal(draw: st.DrawFn, value: Any) -> str:
    """A JSON value that is no object."""
    if isinstance(value, bool | str):
        return json.dumps(value)
    ways = [json.dumps(value)]
    if abs(value) <= 2**53:
        ways += [f"{value:.17e}", f"{value:.17E}".replace("E+", "E"), repr(float(value))]
        ways += [way + "00" for way in ways if "." in way and "e" not in way.lower()]
    return draw(st.sampled_from([ways[0], *(w for w in ways[1:] if float(w) == value)]))


def whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@st.composite
def columns(draw: st.DrawFn, values: list[Any]) -> tuple[str, Any]:
    """Values in a format: Parquet of a type that holds them all, CSV, or JSON Lines."""
    numbers = all(not isinstance(v, str | dict | bool) for v in values)
    kinds = ["text", "large", "dictionary", "csv", "json", "json text"]
    if numbers and all(float(v) == v for v in values):
        kinds += ["double"]
    if numbers and all(abs(v) < 2**53 and round(v, 7) == v for v in values):
        kinds += ["decimal"]
    if numbers and all(v in (0, 1, -1, 2, 10, 100, 0.1, 1.5, 2.5, -0.25) for v in values):
        kinds += ["float"]
    if all(map(whole, values)):
        kinds += ["int", "uint"] if min(values) >= 0 else ["int"]
    if all(isinstance(v, bool) for v in values):
        kinds += ["bool"]
    kind = draw(st.sampled_from(kinds))
    typed = {
        "double": pa.float64(), "float": pa.float32(), "int": pa.int64(), "uint": pa.uint64(),
        "bool": pa.bool_(), "decimal": pa.decimal128(30, 9),
    }  # fmt: skip
    if kind == "decimal":
        return "parquet", pa.array([Decimal(repr(v)) for v in values], typed[kind])
    if kind in typed:
        return "parquet", pa.array(values).cast(typed[kind])
    texts = [draw(written(v)) for v in values]
    if kind in ("text", "large", "dictionary"):
        array = pa.array(texts, pa.large_string() if kind == "large" else pa.string())
        return "parquet", array.dictionary_encode() if kind == "dictionary" else array
    if kind == "json":
        return "jsonl", [
            t if not isinstance(v, str) else json.dumps(t)
            for v, t in zip(values, texts, strict=True)
        ]
    return ("csv", texts) if kind == "csv" else ("jsonl", [json.dumps(t) for t in texts])


def write(folder: Path, form: str, plain: dict[str, list[Any]], column: str, values: Any) -> Path:
    """Rows with `values` as a column, in a format."""
    path = folder / f"{column}.{form}"
    count = len(values)
    if form == "parquet":
        pq.write_table(pa.table({**plain, column: values}), path)
    elif form == "csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow([*plain, column])
            out.writerows([*(plain[n][k] for n in plain), values[k]] for k in range(count))
    else:
        path.write_text("".join(
            json.dumps({n: plain[n][k] for n in plain})[:-1] + f', "{column}": {values[k]}}}\n'
            for k in range(count)
        ), "utf-8")  # fmt: skip
    return path


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[Any], list[Any]]:
    """Decisions and references of a few rows; often equal by value."""
    kind = draw(st.sampled_from(["number", "whole", "any", "bool"]))
    pool = {
        "number": NUMBERS,
        "whole": tuple(filter(whole, NUMBERS)),
        "bool": (True, False),
        "any": (*NUMBERS, *WORDS, *NESTED, True, False),
    }[kind]
    decisions = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=5))
    references = [d if draw(st.booleans()) else draw(st.sampled_from(pool)) for d in decisions]
    return decisions, references


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(pairs(), st.data())
def test_equality_does_not_depend_on_format_or_spelling(
    tmp_path_factory: pytest.TempPathFactory, rows: tuple[list[Any], list[Any]], data: st.DataObject
) -> None:
    decisions, references = rows
    folder = tmp_path_factory.mktemp("equal")
    names = [f"s{k}" for k in range(len(decisions))]
    zeros = [0.0] * len(names)
    form, values = data.draw(columns(decisions))
    plain = {
        "stream": names,
        "published_at": zeros,
        "answered_at": zeros,
        "ended_at": [1.0] * len(names),
    }
    log = write(folder, form, plain, "decision", values)
    keys = {"stream": names, "published_at": zeros}
    other, given_values = data.draw(columns(references))
    table = write(folder, other, keys, "reference", given_values)
    expected = {
        n: float(same(d, r)) for n, d, r in zip(names, decisions, references, strict=True)
    }  # fmt: skip
    score = sdb.score_log(log, references=table, by="stream", resamples=0)
    assert {g.by["stream"]: g.in_force for g in score.groups} == expected, (form, other)
    texts = (
        text_column(pq.read_table(log)["decision"].combine_chunks()) if form == "parquet" else []
    )
    for text, decision, reference in zip(
        texts.to_pylist() if texts else [], decisions, references, strict=False
    ):
        assert (decision_text(text) == decision_text(reference)) == same(decision, reference)
        assert text_of(text) == text_of(decision), "a meter and a log have one canonical text"


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [("1", "1.0", True), ("1e0", "1.00", True), ("-0.0", "0", True), ("2.50", "2.5", True),
     ("01", "1", False), ("+1", "1", False), (".5", "0.5", False), ("1.", "1", False), ("1,0", "1", False),
     ("1.10.0", "1.1.0", False), ("v1.10", "v1.1", False), ("1e999", "1e998", False)],
)  # fmt: skip
def test_which_texts_are_numbers(one: str, other: str, equal: bool) -> None:
    assert (decision_text(one) == decision_text(other)) == equal


def test_names_that_look_like_one_number_are_mentioned() -> None:
    """Versions: `1.1` and `1.10` in one column count as one decision, and the score prints it."""
    base = {"published_at": 0.0, "answered_at": 0.0, "ended_at": 1.0}
    rows = [{"stream": v, "decision": v, "reference": v, **base} for v in ("1.1", "1.10", "1.9")]
    table = pa.Table.from_pylist(rows)
    score = sdb.score_log(table, resamples=0)
    (note,) = [n for n in score.notes if "one number" in n]
    assert "column 'decision' has `1.1` and `1.10`" in note
    with LogSource(table).open() as opened:
        assert note in check_log(opened).values
    named = (
        "SELECT * REPLACE ('v' || decision AS decision, 'v' || reference AS reference) FROM source"
    )
    assert not [n for n in sdb.score_log(table, sql=named).notes if "one number" in n]
    # Two programs, each with its own spelling: nothing to mention.
    told = sdb.score_log(pa.Table.from_pylist([
        {"stream": v, "decision": v, "reference": v + "0", **base} for v in ("1.1", "1.5", "1.9")
    ]))  # fmt: skip
    assert told.groups[0].in_force == 1.0
    assert not [n for n in told.notes if "one number" in n]


def test_references_that_are_spelled_twice_do_not_contradict_each_other(tmp_path: Path) -> None:
    base = {"stream": "s", "published_at": 0.0}
    log = pa.Table.from_pylist([{**base, "answered_at": 0.0, "ended_at": 1.0, "decision": 1.0}])
    for ways, agree in (
        (["1", "1.0", "1e0"], True), (['{"a":1,"b":2}', '{"b": 2.0, "a": 1}'], True), (["1", "1.0", "2"], False),
    ):  # fmt: skip
        table = pa.Table.from_pylist([{**base, "reference": way} for way in ways])
        if agree:
            assert sdb.score_log(log, references=table, resamples=0).groups[0].judged_decisions == 1
        else:
            with pytest.raises(InputError, match="says both '1' and '2' for stream s"):
                sdb.score_log(log, references=table)


def test_nested_decisions_and_a_repeated_row() -> None:
    """A5: a struct, and the same row twice, also with its keys in another order."""
    row = {
        "stream": "s", "published_at": 0.0, "answered_at": 0.0, "ended_at": 1.0,
        "decision": {"a": 1.0, "b": ["x"]}, "reference": {"a": 1.0, "b": ["x"]}, "state": {"seen": [1]},
    }  # fmt: skip
    other = {**row, "decision": {"a": 2.0, "b": ["x"]}}
    for rows, reason in (([row, row], "repeated"), ([row, other], "duplicate")):
        table = pa.Table.from_pylist(rows)
        with LogSource(table).open() as opened:
            assert list(check_log(opened).unusable.counts) == [reason]
        with pytest.raises(InputError, match="rows cannot be used"):
            sdb.score_log(table)
    (group,) = sdb.score_log(pa.Table.from_pylist([row, row]), allow_unusable=1).groups
    assert group.in_force == 1.0
    texts = ['{"a": 1, "b": ["x"]}', '{"b": ["x"], "a": 1.0}']
    table = pa.Table.from_pylist([{**row, "decision": text} for text in texts])
    with LogSource(table).open() as opened:
        assert opened.schema().field("decision").type == pa.string()
        assert list(check_log(opened).unusable.counts) == ["repeated"]


@pytest.mark.parametrize(
    ("decided", "right", "equal"),
    [(1.0, 1, 1.0), (1.5, "1.50", 1.0), (2, "2.0", 1.0), (2.0, 1, 0.0)],
)
def test_numbers_in_spans(tmp_path: Path, decided: Any, right: Any, equal: float) -> None:
    spans = [
        Asked(k, k, {"openinference.span.kind": "DECISION", "session.id": "s", "output.value": decided,
                     "sdb.reference": right})
        for k in range(3)
    ]  # fmt: skip
    out = tmp_path / "log.parquet"
    convert("openinference", [write_traces(tmp_path / "spans.jsonl", spans)], out)
    assert sdb.score_log(out, resamples=0).groups[0].in_force == equal


def test_numbers_in_a_meters_log(tmp_path: Path) -> None:
    """The meter and the score of its log agree, also with references in a CSV."""
    seconds = itertools.count()
    meter = Meter("test", clock=lambda: float(next(seconds)))
    log = DecisionLog(meter, tmp_path / "log", flush_s=3600)
    values = [
        (1.0, "1", True),
        ("1.50", 1.5, True),
        ("007", 7, False),
        ({"a": 1}, '{ "a": 1.0 }', True),
    ]
    for k, (decided, right, _) in enumerate(values):
        with meter.stream(f"call{k}") as call:
            call.answer(call.publish(reference=right), decided)
    log.close()
    score = sdb.score_log(tmp_path / "log", by="session", resamples=0)
    expected = {f"call{k}": equal for k, (_, _, equal) in enumerate(values)}
    assert {g.by["session"]: g.untimed == 1.0 for g in score.groups} == expected
    table = write(tmp_path, "csv", {"session": [f"call{k}" for k in range(4)], "step": [0] * 4}, "reference",
                  ["1.0", "1.5", "7", '{"a":1e0}'])  # fmt: skip
    score = sdb.score_log(tmp_path / "log", references=table, by="session", resamples=0)
    assert {g.by["session"]: g.untimed == 1.0 for g in score.groups} == expected
