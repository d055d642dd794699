"""One stream is one session: ids that are used again, groups that change, columns in another case."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamdecisionbench as sdb
from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.log_source import LogSource
from tests.logs.test_formats import FORMATS, write

HOURS = 3600.0


def states(
    times: Sequence[float], *, end: float | None = None, **more: Any
) -> list[dict[str, Any]]:
    """A stream with a state at each of the times, answered at once and right."""
    ends = {} if end is None else {"ended_at": end}
    base = {"stream": "s", "decision": "a", "reference": "a"}
    return [{**base, "published_at": at, "answered_at": at, **ends, **more} for at in times]


def counts(rows: list[dict[str, Any]], **options: Any) -> dict[str, int]:
    found = sdb.score_log(pa.Table.from_pylist(rows), resamples=0, allow_unusable="100%", **options)
    return dict(found.unusable.counts)


def test_an_id_used_again_in_one_file_is_refused(tmp_path: Path) -> None:
    """Ten right states, five hours' pause, ten wrong ones: not 99.9 % right."""
    early, late = range(10), [5 * HOURS + k for k in range(10)]
    wrong = [{**row, "decision": "b"} for row in states(late)]
    for form in FORMATS:
        path = write(tmp_path / f"log.{form}", states([float(k) for k in early]) + wrong)
        with pytest.raises(
            InputError, match=r"20 rows: .*pauses for more than 30 minutes(.|\n)*ended_at"
        ):
            sdb.score_log(path)
        with pytest.raises(InputError, match="pauses for more than 30 minutes"):
            sdb.score_log(path, sql="SELECT * FROM source")
    split = "SELECT * REPLACE (stream || CAST(published_at >= 3600 AS INT) AS stream) FROM source"
    (group,) = sdb.score_log(
        write(tmp_path / "log.parquet", states([*early]) + wrong), sql=split
    ).groups
    assert (group.streams, group.in_force) == (2, 0.5)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from([0.5, 1.0, 60.0, 179.0, 181.0, 1800.0, 1801.0, 5 * HOURS, 20 * HOURS]), min_size=2,
             max_size=6),
    st.booleans(),
)  # fmt: skip
def test_which_pauses_are_long(gaps: list[float], ended: bool) -> None:
    times = [0.0]
    for gap in gaps:
        times.append(times[-1] + gap)
    short = [gap for gap in gaps if gap <= 1800]
    long = [gap for gap in gaps if gap > 1800]
    refused = bool(short and long) and min(long) > 10 * max(short) and not ended
    rows = states(times, end=times[-1] + 1 if ended else None)
    assert counts(
        [*rows, *({**row, "stream": "other"} for row in states([0.0, 1.0]))] if not ended else rows
    ) == ({"long_pause": len(times)} if refused else {})


def test_times_in_milliseconds_are_no_pauses() -> None:
    at = 1_790_000_000_000.0
    assert counts(states([at, at + 100.0, at + 5000.0])) == {}


@pytest.mark.parametrize("ended", [False, True])
@pytest.mark.parametrize("alternates", [False, True])
def test_a_group_that_changes_during_a_stream_is_refused(ended: bool, alternates: bool) -> None:
    """With and without `ended_at`, as docs/logs.md says."""
    rows = states([float(k) for k in range(8)], end=8.0 if ended else None)
    for k, row in enumerate(rows):
        row["release"] = "12"[k % 2 if alternates else k // 4]
    rows += [
        {**row, "stream": "t"}
        for row in states([0.0, 1.0], end=2.0 if ended else None, release="1")
    ]
    assert counts(rows, by="release") == {"group_changes": 8}
    with pytest.raises(InputError, match="several groups of --by while it runs"):
        sdb.score_log(pa.Table.from_pylist(rows), by="release")


def test_an_id_that_comes_back_in_another_group_after_a_long_pause() -> None:
    for pause, refused in ((1800.0, True), (1801.0, False)):
        rows = states([0.0, 1.0], release="1") + states([1.0 + pause, 2.0 + pause], release="2")
        assert counts(
            [*rows, *({**r, "stream": "t"} for r in states([0.0, 1.0], release="1"))], by="release"
        ) == ({"group_changes": 4} if refused else {})
    # Two components that answered the same states.
    rows = [row for name in "xy" for row in states([0.0, 1.0], component=name)]
    assert counts(rows, by="component") == {}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("other", FORMATS)
def test_a_column_in_another_case_is_the_same_column(tmp_path: Path, form: str, other: str) -> None:
    write(tmp_path / f"a.{form}", states([0.0, 1.0], Release="1.9"))
    write(
        tmp_path / f"b.{other}", [{**r, "stream": "t"} for r in states([0.0, 1.0], release="2.0")]
    )
    with LogSource([str(tmp_path)]).open() as opened:
        (by,) = (name for name in opened.schema().names if name.lower() == "release")
    found = sdb.score_log(tmp_path, by=by)
    assert [group.by[by] for group in found.groups] == ["1.9", "2.0"]


def test_lines_with_a_key_in_another_case(tmp_path: Path) -> None:
    rows = states([0.0, 1.0], Release="1.9") + [
        {**r, "stream": "t"} for r in states([0.0, 1.0], release="2.0")
    ]
    path = write(tmp_path / "log.jsonl", rows)
    found = sdb.score_log(path, by="Release")
    assert [group.by["Release"] for group in found.groups] == ["1.9", "2.0"]
    named = [{**row, "Reference": "b"} for row in rows]
    assert sdb.score_log(write(path, named)).groups[0].in_force == 1.0, "a label, not the reference"


def test_a_file_with_two_such_columns_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", states([0.0, 1.0], RELEASE="1"))
    write(
        tmp_path / "b.csv",
        [{**r, "stream": "t"} for r in states([0.0, 1.0], Release="2", release="3")],
    )
    with pytest.raises(
        InputError, match="has columns 'Release' and 'release', and another file has"
    ):
        sdb.score_log(tmp_path)
