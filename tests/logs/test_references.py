"""References that come later: a second table, a function of the state, another log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamdecisionbench as sdb_api
from streamdecisionbench.errors import InputError
from streamdecisionbench.meter import DecisionLog, Meter
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


def _marked_states() -> pa.Table:
    """Nine states a second apart; which of the four sources knows each is in the name of its state."""
    known = ["tcsf", "csf", "sf", "f", "", "tf", "cf", "tsf", "t"]
    return pa.Table.from_pylist(
        [
            {"stream": "s", "published_at": float(k), "answered_at": float(k), "decision": "x",
             "ended_at": 9.0, "state": who, "reference": "column" if "c" in who else None}
            for k, who in enumerate(known)
        ]
    )  # fmt: skip


def test_gold_over_silver_over_function_counted_by_origin() -> None:
    """A table, the log's own column, another log's decisions, a function: the first that knows."""
    log = _marked_states()

    def only(mark: str, name: str, value: str) -> pa.Table:
        rows = [r for r in log.to_pylist() if mark in r["state"]]
        return pa.Table.from_pylist(
            [{"stream": "s", "published_at": r["published_at"], name: value} for r in rows]
        )

    def rule(state: str) -> str | None:
        return "function" if "f" in state else None

    table, other = only("t", "reference", "table"), only("s", "decision", "silver")
    for given in ([table, other], [other, table]):
        score = sdb_api.score_log(log, references=given, reference=rule)
        order = ["function", "table", "silver", "column"]
        said = [next((w for w in ("table", "column", "silver", "function") if w[0] in who), None)
                for who in log["state"].to_pylist()]  # fmt: skip
        counts = {name: said.count(name) for name in order}
        origins = score.to_json()["references"]["origins"]
        assert {o["kind"]: o["states"] for o in origins} == counts
        direct = log.drop_columns(["reference"]).append_column("reference", pa.array(said))
        assert score.groups[0].classes == sdb_api.score_log(direct).groups[0].classes
        (note,) = (n for n in score.notes if n.startswith("references, the first"))
        assert (
            "4 of the table of references, 2 of the log's own column, 1 silver (decisions" in note
        )
        assert note.index("of the log's own") < note.index("silver") < note.index("function rule")
        assert "where they are silver the figures are agreement" in note


def test_of_two_tables_the_first_counts() -> None:
    log = _marked_states().drop_columns(["reference"])
    keys = log.select(["stream", "published_at"])
    one = keys.slice(0, 3).append_column("reference", pa.array(["x"] * 3))
    two = keys.append_column("reference", pa.array(["y"] * 9))
    assert sdb_api.score_log(log, references=[one, two]).groups[0].in_force == pytest.approx(3 / 9)
    assert sdb_api.score_log(log, references=[two, one]).groups[0].in_force == 0.0
    assert sdb_api.score_log(log, references=[one, two]).origins == (0, 3, 6)


def test_a_mapping_for_the_references(tmp_path: Path) -> None:
    """`--references-sql` is a query over the references; the log's own query stays what it was."""
    pq.write_table(_without(_log()), tmp_path / "log.parquet")
    given = _log().select(["stream", "published_at", "reference"])
    pq.write_table(
        given.rename_columns(["call", "heard_at", "expected"]), tmp_path / "reviews.parquet"
    )
    (tmp_path / "log.sql").write_text("SELECT *, 'all' AS release FROM source")
    (tmp_path / "reviews.sql").write_text(
        "WITH once AS (SELECT DISTINCT * FROM source)\n"
        "SELECT call AS stream, heard_at AS published_at, expected AS reference FROM once -- the words"
    )
    command = [
        "logs",
        "score",
        "log.parquet",
        "--sql",
        "log.sql",
        "--references",
        "reviews.parquet",
    ]
    done = sdb(
        *command, "--references-sql", "reviews.sql", "--by", "release", "--json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    (group,) = json.loads(done.stdout)["groups"]
    assert group["classes"] == sdb_api.score_log(_log()).groups[0].classes
    without = sdb(*command, cwd=tmp_path)
    assert without.returncode == 2
    assert "its columns are call, heard_at, expected" in without.stderr
    assert "--references-sql" in without.stderr
    (tmp_path / "reviews.sql").write_text("SELECT call + 1 AS stream FROM source")
    broken = sdb(*command, "--references-sql", "reviews.sql", cwd=tmp_path)
    assert "reviews.sql: the query fails" in broken.stderr


def test_a_meters_log_is_joined_by_session_and_step(tmp_path: Path) -> None:
    meter = Meter("recorder", clock=iter(range(1000)).__next__, shadows=["slow"])
    log = DecisionLog(meter, tmp_path / "decisions", flush_s=60)
    for name in ("a", "b"):
        call = meter.stream(name)
        for k in range(4):
            step = call.publish({"n": k})
            call.answer(step, "hold")
            call.shadow("slow", step, "stop")
        call.end()
    log.close()
    given = pa.table(
        {"session": ["a"] * 4 + ["b"] * 4, "step": [str(k) for k in range(4)] * 2,
         "reference": ["hold"] * 4 + ["stop"] * 4}
    )  # fmt: skip
    score = sdb_api.score_log(tmp_path / "decisions", references=given, by="component")
    assert [g.judged_decisions for g in score.groups] == [8, 8]
    assert [g.untimed for g in score.groups] == [0.5, 0.5]


def test_sessions_that_come_again_are_not_joined_by_step() -> None:
    log = pa.table({"stream": ["x", "y"], "session": ["a", "a"], "step": [1, 1],
                    "published_at": [0.0, 5.0], "answered_at": [1.0, 6.0], "decision": ["p", "p"],
                    "ended_at": [2.0, 7.0]})  # fmt: skip
    given = pa.table({"session": ["a"], "step": [1.0], "reference": ["p"]})
    with pytest.raises(
        InputError, match="session a, step 1, and the log has that at several times"
    ):
        sdb_api.score_log(log, references=given)
    assert sdb_api.score_log(log.slice(0, 1), references=given).groups[0].untimed == 1.0


def test_values_that_only_one_side_has_are_named() -> None:
    rows = [
        {"stream": f"s{k % 3}", "published_at": float(k), "answered_at": float(k),
         "decision": "handoff" if k % 2 else "answer",
         "reference": "hand_off" if k < 824 and k % 2 else "answer"}
        for k in range(900)
    ]  # fmt: skip
    notes = sdb_api.score_log(pa.Table.from_pylist(rows)).notes
    assert (
        "`hand_off` is a reference in 412 rows and never a decision: spelled differently?" in notes
    )
    assert (
        "`handoff` is a decision in 450 judged rows and right in none, nor a reference anywhere:"
        " spelled differently?"
    ) in notes
    for row in rows:
        for name in ("decision", "reference"):
            row[name] = json.dumps({"do": row[name], "room": 4})
    notes = sdb_api.score_log(pa.Table.from_pylist(rows)).notes
    assert any(note.startswith("`do = hand_off` is a reference in 412 rows") for note in notes)
    assert not any("room" in note for note in notes)


def _one_sided(decided: str, right: str) -> list[str]:
    """Notes about spelling of a log with these decisions and references, one letter a row."""
    words = {"a": "answer", "h": "hand_off", "H": "Hand-Off", "p": "pause", "o": "odd"}
    rows = [
        {"stream": f"s{k % 3}", "published_at": float(k), "answered_at": float(k),
         "decision": words[said], "reference": words[y]}
        for k, (said, y) in enumerate(zip(decided, right, strict=True))
    ]  # fmt: skip
    notes = sdb_api.score_log(pa.Table.from_pylist(rows)).notes
    return [note for note in notes if "spelled differently" in note]


def test_an_option_that_was_never_decided_is_no_spelling() -> None:
    """An ordinary mistake: all that was decided is right somewhere, or only one side has more."""
    assert _one_sided("a" * 40, "a" * 20 + "h" * 10 + "p" * 10) == []
    assert _one_sided("a" * 30 + "o" * 10, "a" * 40) == []
    assert _one_sided("a" * 39 + "o", "a" * 30 + "h" * 10) == []
    # Both sides have values of their own in several rows, or one value in two spellings.
    assert len(_one_sided("a" * 30 + "o" * 10, "a" * 30 + "h" * 10)) == 2
    assert len(_one_sided("a" * 39 + "H", "a" * 39 + "h")) == 2


def test_a_correct_log_of_a_meter_raises_no_doubt_about_spelling(tmp_path: Path) -> None:
    options = ["pause", "record", "stop", "transfer", "hold", "resume", "announce", "wait"]
    meter = Meter("recorder")
    DecisionLog(meter, tmp_path / "decisions")
    for k in range(6):
        with meter.stream(f"call-{k}") as call:
            for right in (options[k], options[k + 2], "wait"):
                step = call.publish({}, reference={"recorder": right})
                call.answer(step, {"recorder": right if right in options[:2] else "wait"})
    meter.close()
    notes = sdb_api.score_log(tmp_path / "decisions").notes
    assert not [note for note in notes if "spelled differently" in note]
