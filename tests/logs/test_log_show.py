"""Single streams of a log: what is shown of them adds up to its score, and nothing in their text acts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamdecisionbench as sdb_api
from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    CORRECT,
    UNJUDGED,
)
from streamdecisionbench.logs.lanes import (
    lane_lines,
    logged_stream,
    view_of,
)
from streamdecisionbench.logs.worst_streams import StreamsAsked
from tests.cli.command import sdb
from tests.kernel import plain_streams
from tests.kernel.plain_streams import Stream
from tests.logs.made_logs import rows_of, table_of
from tests.logs.test_score_log import SOME, drawn, judged

EXACT = 1e-9


def _paced(streams: list[Stream], interval: float | None) -> list[Stream]:
    return streams if interval is None else [one.paced(interval) for one in streams]


@SOME
@given(judged, st.sampled_from([None, 0.5, 2.0]), st.lists(st.sampled_from([1.0, 2.5]), min_size=5))
def test_streams_and_mix_ups_add_up_to_the_score(
    found: list[Stream], interval: float | None, weights: list[float]
) -> None:
    rows = [{**row, "weight": weights[int(row["stream"][1:])]} for row in rows_of(found)]
    score = sdb_api.score_log(
        table_of(rows), interval=interval, resamples=0, show=StreamsAsked(most=10)
    )
    (group,), shown = score.groups, score.shown
    seconds = group.at_pace.seconds
    judged_s = float(seconds.sum() - seconds[UNJUDGED])
    wrong_s = judged_s - float(seconds[list(CORRECT)].sum())
    assert sum(one.wrong_s for one in shown.kept) == pytest.approx(wrong_s, abs=EXACT)
    assert float(np.concatenate(shown.wrong).sum()) == pytest.approx(wrong_s, abs=EXACT)
    mixes = shown.mixes_of()
    assert sum(mixes.values()) == pytest.approx(judged_s, abs=EXACT)
    right = sum(one for mix, one in mixes.items() if mix[0] == mix[1])
    assert judged_s - right == pytest.approx(wrong_s, abs=EXACT)
    assert [one.rank for one in shown.kept] == sorted((o.rank for o in shown.kept), reverse=True)


@SOME
@given(judged, st.sampled_from([None, 0.5, 2.0]))
def test_lanes_are_the_plain_definition_s(found: list[Stream], interval: float | None) -> None:
    """The seconds of a stream's lanes by class, and what was in force while what was right."""
    score = sdb_api.score_log(
        table_of(rows_of(found)), interval=interval, resamples=0, show=StreamsAsked(most=10)
    )
    for one in score.shown.kept:
        plain = _paced(found, interval)[int(one.name[1:])]
        view = view_of(logged_stream(one))
        assert view is not None
        want = plain_streams.seconds(plain)
        for name, drawn_s, scored_s in zip(
            ALL_CLASSES, view.seconds["in force"], one.seconds, strict=True
        ):
            assert drawn_s == pytest.approx(want[name], abs=EXACT)
            assert scored_s == pytest.approx(want[name], abs=EXACT)


def test_the_worst_of_many_batches_are_the_worst(tmp_path: Path) -> None:
    """Only so many are kept while the log goes by; they are those of all."""
    rows = rows_of(drawn(300, 5))
    table = table_of(rows)
    every = sdb_api.score_log(table, resamples=0, show=StreamsAsked(most=1000)).shown
    few = sdb_api.score_log(table, resamples=0, show=StreamsAsked(most=7)).shown
    assert [one.name for one in few.kept] == [one.name for one in every.kept[:7]]
    # Parts that were added up elsewhere, as Spark does it.
    from streamdecisionbench.logs.worst_streams import StreamsShown

    halves = []
    for part in (0, 1):
        some = table_of([row for row in rows if int(row["stream"][1:]) % 2 == part])
        shown = sdb_api.score_log(some, resamples=0, show=StreamsAsked(most=7)).shown
        halves.append(shown)
    together = StreamsShown(StreamsAsked(most=7))
    for half in halves:
        together.merge(half)
    assert [one.name for one in together.kept] == [one.name for one in few.kept]
    assert together.mixes_of() == pytest.approx(few.mixes_of(), abs=EXACT)


def _log(path: Path) -> Path:
    rows = rows_of(drawn(30, 6))
    for row in rows:
        row["state"] = json.dumps({"said": f"\x1b[31m{row['published_at']}"})
        row["model"] = "v1" if int(row["stream"][1:]) % 2 else "v2"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_the_command_shows_lanes_that_fit_a_terminal(tmp_path: Path) -> None:
    log = _log(tmp_path / "log.parquet")
    done = sdb("logs", "show", log, "--by", "model", "--worst", "3", "--states", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    told = json.loads(sdb("logs", "show", log, "--by", "model", "--worst", "3", "--json").stdout)
    assert told["schema"] == "sdb-logs-show/1"
    for one in told["streams_shown"]:
        assert f"{one['stream']}: wrong {one['wrong_s']:.1f}" in done.stdout
    score = json.loads(sdb("logs", "score", log, "--by", "model", "--json").stdout)
    for group in score["groups"]:
        mixes = [m for m in told["in_force_against_right"] if m["by"] == group["by"]]
        judged_s = group["seconds"] * group["judged_share"]
        assert sum(m["seconds"] for m in mixes) == pytest.approx(judged_s, abs=EXACT)
        wrong = sum(m["seconds"] for m in mixes if m["in_force"] != m["right"])
        assert wrong == pytest.approx(judged_s * (1 - group["in_force"]), abs=EXACT)


def test_one_stream_one_mix_up_and_what_is_not_there(tmp_path: Path) -> None:
    log = _log(tmp_path / "log.parquet")
    one = json.loads(sdb("logs", "show", log, "--stream", "s3", "--json").stdout)
    assert [s["stream"] for s in one["streams_shown"]] == ["s3"]
    assert "state" not in one["streams_shown"][0]["states"][0]
    mixed = json.loads(sdb("logs", "show", log, "--confusion", "a", "b", "--json").stdout)
    assert 0 < len(mixed["streams_shown"]) <= 5
    printed = sdb("logs", "show", log, "--confusion", "a", "b").stdout
    assert "a in force while b was right for" in printed
    for arguments, said in (
        (("--stream", "s99"), "has no stream 's99'"),
        (("--confusion", "a", "zzz"), "a in force while zzz was right never happened"),
        (("--stream", "s3", "--worst", "2"), "--stream names one stream"),
        (("--confusion", "{", "a"), "begins like JSON and is none"),
    ):
        done = sdb("logs", "show", log, *arguments)
        assert done.returncode == 2
        assert said in done.stderr
    assert (
        "fix: the most time went to" in sdb("logs", "show", log, "--confusion", "a", "zzz").stderr
    )
    bare = tmp_path / "bare.parquet"
    pq.write_table(pq.read_table(log).drop_columns(["state"]), bare)
    assert "has no column 'state'" in sdb("logs", "show", bare, "--states").stderr


def test_hostile_text_fills_no_line(tmp_path: Path) -> None:
    stream = Stream([0.0, 1.0], [0.2, 0.1], ["\x1b[2J" * 30, "b"], ["c\n" * 50, "a"], 3.0)
    shown = sdb_api.score_log(table_of(rows_of([stream])), resamples=0, show=StreamsAsked()).shown
    lines = lane_lines(shown.kept[0])
    assert lines
    assert all(line.isprintable() for line in lines)
    assert all(len(line) <= 80 for line in lines[:4])
