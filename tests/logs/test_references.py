"""References that come later: a second table, a function of the state, another log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamdecisionbench as sdb_api
from streamdecisionbench.errors import InputError
from tests.cli.command import sdb
from tests.logs.made_logs import rows_of, table_of
from tests.logs.test_score_log import drawn


def _log() -> pa.Table:
    return table_of(rows_of(drawn(6, 6)))


def _without(table: pa.Table) -> pa.Table:
    return table.drop_columns(["reference"])


def test_a_second_table_joined_on_stream_and_time(tmp_path: Path) -> None:
    table = _log()
    want = sdb_api.score_log(table)
    given = table.select(["stream", "published_at", "reference"])
    shuffled = given.take(list(reversed(range(len(given)))))
    pq.write_table(shuffled, tmp_path / "references.parquet")
    got = sdb_api.score_log(_without(table), references=tmp_path / "references.parquet")
    assert got.groups[0].classes == want.groups[0].classes
    assert got.references.text() == f"table({tmp_path / 'references.parquet'})"
    twice = pa.concat_tables([given, given])
    again = sdb_api.score_log(_without(table), references=twice)
    assert again.groups[0].classes == want.groups[0].classes


def test_a_part_of_the_references_is_enough() -> None:
    table = _log()
    some = table.select(["stream", "published_at", "reference"]).slice(0, 9)
    group = sdb_api.score_log(_without(table), references=some).groups[0]
    assert 0 < group.judged_share < 1
    assert group.judged_decisions == sum(y is not None for y in some["reference"].to_pylist())


def test_by_state_id_where_both_have_one() -> None:
    table = _log()
    ids = pa.array([f"id{k}" for k in range(len(table))])
    log = _without(table).append_column("state_id", ids)
    given = pa.table({"state_id": ids, "reference": table["reference"]})
    assert (
        sdb_api.score_log(log, references=given).groups[0].classes
        == sdb_api.score_log(table).groups[0].classes
    )


def test_contradicting_references_are_refused() -> None:
    table = _log()
    given = pa.table({"stream": ["s0", "s0"], "published_at": [0.0, 0.0], "reference": ["a", "b"]})
    with pytest.raises(InputError, match="says both 'a' and 'b' for stream s0, published_at 0"):
        sdb_api.score_log(_without(table), references=given)


def test_references_of_other_states_are_refused() -> None:
    given = pa.table({"stream": ["x"], "published_at": [0.0], "reference": ["a"]})
    with pytest.raises(InputError, match="no reference is known"):
        sdb_api.score_log(_without(_log()), references=given)


def test_another_log_is_silver_and_says_so(tmp_path: Path) -> None:
    table = _log()
    other = table.select(["stream", "published_at", "decision"])
    pq.write_table(other, tmp_path / "slow.parquet")
    pq.write_table(_without(table), tmp_path / "fast.parquet")
    shown = sdb(
        "logs", "score", tmp_path / "fast.parquet", "--references", tmp_path / "slow.parquet"
    )
    assert shown.returncode == 0, shown.stderr
    words = " ".join(shown.stdout.split())
    assert "silver references: decisions of" in words
    csv = sdb(
        "logs",
        "score",
        tmp_path / "fast.parquet",
        "--references",
        tmp_path / "slow.parquet",
        "--csv",
    )
    assert "silver(" in csv.stdout


def _with_states(table: pa.Table) -> pa.Table:
    states = [f'{{"n": {k % 5}}}' for k in range(len(table))]
    return _without(table).append_column("state", pa.array(states))


def test_a_function_is_called_once_per_distinct_state() -> None:
    log = _with_states(_log())
    asked: list[Any] = []

    def rule(state: dict[str, int]) -> Any:
        asked.append(state["n"])
        return {0: "a", 1: {"x": 1}, 2: None}.get(state["n"], "b")

    score = sdb_api.score_log(log, reference=rule)
    assert sorted(asked) == [0, 1, 2, 3, 4]
    references = [{0: "a", 1: '{"x":1}', 2: None}.get(k % 5, "b") for k in range(len(log))]
    direct = log.append_column("reference", pa.array(references))
    assert score.groups[0].classes == sdb_api.score_log(direct).groups[0].classes
    assert score.references.kind == "function"


def test_a_named_function_from_the_folder_one_works_in(tmp_path: Path) -> None:
    pq.write_table(_with_states(_log()), tmp_path / "log.parquet")
    (tmp_path / "my_rules.py").write_text(
        "def right(state):\n    return 'a' if state['n'] else 'b'\n"
        "def broken(state):\n    return 1 / (state['n'] - 3)\n"
        "def odd(state):\n    return object()\n"
    )
    good = sdb("logs", "score", "log.parquet", "--reference", "python:my_rules:right", cwd=tmp_path)
    assert good.returncode == 0, good.stderr
    assert "references:function(python:my_rules:right)" in good.stdout.replace("\n", " ")
    for name, expected in (
        ("broken", "my_rules.py:4: python:my_rules:broken raises ZeroDivisionError for the state"),
        ("odd", "returns object, which is neither text nor JSON"),
        ("missing", "has no attribute 'missing'"),
    ):
        bad = sdb(
            "logs", "score", "log.parquet", "--reference", f"python:my_rules:{name}", cwd=tmp_path
        )
        assert bad.returncode == 2
        assert expected in bad.stderr
        assert "Traceback" not in bad.stderr


def test_a_function_needs_states() -> None:
    with pytest.raises(InputError, match="has no column 'state'"):
        sdb_api.score_log(_log(), reference=lambda state: "a")


def test_text_states_are_taken_as_they_are() -> None:
    """An utterance that looks like a number stays one; what begins like JSON must be JSON."""
    said = ["hello", "12", "true", "null", '{"a": 1}', '"quoted"']
    table = _without(_log()).slice(0, 6)
    log = table.append_column("state", pa.array(said)).append_column("k", pa.array(range(6)))
    seen: list[Any] = []
    sdb_api.score_log(log, reference=lambda state: seen.append(state) or "a")
    assert sorted(map(str, seen)) == ["12", "hello", "null", "quoted", "true", "{'a': 1}"]
    assert "12" in seen
    broken = table.append_column("state", pa.array(['{"a": ', *said[1:]]))
    with pytest.raises(InputError, match="column 'state' is no JSON"):
        sdb_api.score_log(broken, reference=lambda state: "a")
