"""A log's score against the plain definition, whatever the table looks like and where it lies."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

import streamdecisionbench as sdb
from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.log_score import LogScore
from streamdecisionbench.scoring.intervals import (
    poisson_weights,
    stream_keys,
)
from tests.kernel.plain_streams import CLASSES, Stream, in_force_accuracy
from tests.kernel.test_streams import streams
from tests.logs.made_logs import covered, pooled, pooled_over, rows_of, table_of

EXACT = 1e-12
SOME = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
FEW = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

judged = st.lists(streams(most=6), min_size=1, max_size=5).filter(
    lambda found: any(y for s in found for y in s.references)
)


def drawn(count: int = 40, states: int = 12, seed: int = 3) -> list[Stream]:
    """Ordinary sessions: some answers lost, some references unknown."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        gaps = [rng.uniform(0.5, 4) for _ in range(states)]
        times = [round(sum(gaps[:k]), 4) for k in range(states)]
        waits = [None if rng.random() < 0.05 else round(rng.expovariate(0.8), 4) for _ in times]
        right = [rng.choice("abc") if rng.random() < 0.85 else None for _ in times]
        said = [
            None if w is None else (y if y and rng.random() < 0.8 else rng.choice("abcd"))
            for w, y in zip(waits, right, strict=True)
        ]
        found.append(Stream(times, waits, right, said, round(times[-1] + gaps[-1], 4)))
    return found


@SOME
@given(judged, st.sampled_from([None, 0.5, 2.0]))
def test_a_log_is_worth_what_the_definition_says(
    found: list[Stream], interval: float | None
) -> None:
    group = sdb.score_log(table_of(rows_of(found)), interval=interval, resamples=0).groups[0]
    want = pooled(found, interval)
    assert group.classes == pytest.approx(want, abs=EXACT)
    assert sum(group.classes.values()) == pytest.approx(1, abs=EXACT)
    assert group.in_force == pytest.approx(in_force_accuracy(want), abs=1e-10)
    assert group.judged_share == pytest.approx(1 - want["unjudged"], abs=EXACT)


@FEW
@given(judged)
def test_integrated_it_is_worth_what_the_definition_says(found: list[Stream]) -> None:
    group = sdb.score_log(table_of(rows_of(found)), bounds=(0.5, 8), resamples=0).groups[0]
    want = pooled_over(found, 0.5, 8.0)
    assert group.over is not None
    assert group.over.classes() == pytest.approx(want, abs=1e-11)
    assert group.log_auc == pytest.approx(in_force_accuracy(want), abs=1e-9)


def alike(one: LogScore, two: LogScore, exact: float = EXACT) -> None:
    for a, b in zip(one.groups, two.groups, strict=True):
        assert a.at_pace.seconds == pytest.approx(b.at_pace.seconds, rel=exact, abs=exact)
        assert (a.streams, a.decisions) == (b.streams, b.decisions)
        assert a.latency == pytest.approx(b.latency, rel=1e-9)


@FEW
@given(st.randoms(use_true_random=False), st.integers(1, 4))
def test_order_files_and_names_change_no_digit(
    tmp_path_factory: pytest.TempPathFactory, rng: random.Random, files: int
) -> None:
    rows = rows_of(drawn(15, 8))
    whole = sdb.score_log(table_of(rows), bounds=(0.5, 8))
    folder = tmp_path_factory.mktemp("split")
    shuffled = rng.sample(rows, len(rows))
    for k in range(files):
        part = shuffled[k::files]
        pq.write_table(table_of(part), folder / f"part-{k}.parquet")
    split = sdb.score_log(folder, bounds=(0.5, 8))
    alike(whole, split)
    assert split.signature == whole.signature
    assert split.groups[0].interval_95 == pytest.approx(whole.groups[0].interval_95, abs=EXACT)
    names = {f"s{k}": f"call {n}" for k, n in enumerate(rng.sample(range(1000), 15))}
    renamed = sdb.score_log(table_of([{**row, "stream": names[row["stream"]]} for row in rows]))
    alike(whole, renamed)


def test_portions_of_any_size_give_the_same_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    from streamdecisionbench.kernel import shares as kernel
    from streamdecisionbench.logs import stream_arrays as whole_streams
    from streamdecisionbench.logs.log_sums import (
        LogSettings,
        LogSums,
    )

    table = table_of(rows_of(drawn(30, 9)))
    whole = LogSums(LogSettings())
    whole.add(table.sort_by([("stream", "ascending"), ("published_at", "ascending")]))
    for rows, decisions in ((1, 1), (7, 20), (50, 8192)):
        monkeypatch.setattr(kernel, "_DECISIONS", decisions)
        ordered = table.sort_by([("stream", "ascending"), ("published_at", "ascending")])
        parts = [LogSums(LogSettings()), LogSums(LogSettings())]
        cut = whole_streams.whole_streams(ordered.to_batches(max_chunksize=5), ["stream"], rows)
        for k, part in enumerate(cut):
            parts[k % 2].add(part)
        parts[0].merge(parts[1])
        one, two = whole.groups[()], parts[0].groups[()]
        for name in ("pace", "pace_replicates", "counts"):
            assert two.get(name) == pytest.approx(one.get(name), rel=EXACT, abs=EXACT)
        assert parts[0].fingerprint == whole.fingerprint


def test_any_form_of_the_table_gives_the_same(tmp_path: Path) -> None:
    table = table_of(rows_of(drawn(6, 5)))
    want = sdb.score_log(table).to_json()
    pq.write_table(table, tmp_path / "log.parquet")
    polars.from_arrow(table).write_csv(tmp_path / "log.csv")  # type: ignore[union-attr]
    (tmp_path / "log.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in table.to_pylist())
    )
    forms: dict[str, Any] = {
        "parquet": tmp_path / "log.parquet",
        "text": str(tmp_path / "log.parquet"),
        "pattern": str(tmp_path / "*.parquet"),
        "csv": tmp_path / "log.csv",
        "jsonl": tmp_path / "log.jsonl",
        "reader": table.to_reader(),
        "polars": polars.from_arrow(table),
        "pandas": table.to_pandas(),
        "duckdb": duckdb.from_arrow(table),
    }
    for name, form in forms.items():
        assert sdb.score_log(form).to_json() == want, name


def test_groups_pool_time_and_weights_count(tmp_path: Path) -> None:
    found = drawn(20, 6)
    rows = rows_of(found)
    for row in rows:
        k = int(row["stream"][1:])
        row |= {"model": "old" if k % 2 else "new", "weight": 3.0 if k < 4 else 1.0}
    score = sdb.score_log(table_of(rows), by="model")
    assert [group.by for group in score.groups] == [{"model": "new"}, {"model": "old"}]
    for group, odd in zip(score.groups, (0, 1), strict=True):
        mine = [s for k, s in enumerate(found) if k % 2 == odd for _ in range(3 if k < 4 else 1)]
        assert group.classes == pytest.approx(pooled(mine), abs=EXACT)
        assert group.streams == 10
    whole = sdb.score_log(table_of(rows)).groups[0]
    assert whole.classes != pytest.approx(pooled(found), abs=1e-6)


def test_the_same_stream_in_two_groups_is_paired() -> None:
    """A component and its shadow on the same sessions differ by less than two on different ones."""
    found = drawn(60, 10)
    rows = []
    for row in rows_of(found):
        rows.append({**row, "component": "applied"})
        worse = row["decision"] if row["published_at"] < 18 else None
        rows.append(
            {
                **row,
                "component": "shadow",
                "decision": worse,
                "answered_at": row["answered_at"] if worse else None,
            }
        )
    with pytest.raises(InputError, match="tells them apart with --by"):
        sdb.score_log(table_of(rows))
    paired = sdb.score_log(table_of(rows), by="component")
    apart = [
        {**row, "stream": row["stream"] + ("" if row["component"] == "applied" else "-other")}
        for row in rows
    ]
    unpaired = sdb.score_log(table_of(apart), by="component")
    (one,), (two,) = paired.differences, unpaired.differences
    assert one.in_force[0] == pytest.approx(two.in_force[0], abs=EXACT)
    assert one.in_force[1] is not None
    assert two.in_force[1] is not None
    assert np.ptp(one.in_force[1]) < 0.7 * np.ptp(two.in_force[1])
    assert sum(change for change, _ in one.causes.values()) == pytest.approx(
        one.in_force[0], abs=EXACT
    )


def test_timestamps_are_exact_to_their_last_digit() -> None:
    """Seconds since 1970 hold no microsecond; timestamps do, in any unit and zone."""
    found = drawn(5, 6)
    rows = rows_of(found)
    want = sdb.score_log(table_of(rows), by="stream").to_json()["groups"]
    base = datetime(2026, 3, 1, 12, tzinfo=UTC)
    for unit, zone in (("us", "UTC"), ("ns", "UTC"), ("us", "Asia/Tokyo"), ("ns", None)):
        dtype = pa.timestamp(unit, zone)
        columns: dict[str, Any] = {}
        for name in table_of(rows).schema.names:
            values = [row[name] for row in rows]
            if name.endswith("_at"):
                moments = [
                    None if v is None else base + timedelta(microseconds=round(v * 1e6))
                    for v in values
                ]
                plain = [m if zone or m is None else m.replace(tzinfo=None) for m in moments]
                columns[name] = pa.array(plain, dtype)
            else:
                columns[name] = pa.array(values, pa.string())
        got = sdb.score_log(pa.table(columns), by=["stream", "day"]).to_json()["groups"]
        assert {g["by"]["day"] for g in got} == {"2026-03-01"}
        for a, b in zip(got, want, strict=True):
            assert a["classes"] == pytest.approx(b["classes"], abs=EXACT)


def test_an_end_that_nobody_wrote_down_is_assumed_out_loud() -> None:
    rows = rows_of([Stream([0.0, 1.0, 3.0, 4.0], [0.0] * 4, ["a"] * 4, ["a"] * 4, 5.0)])
    table = table_of(rows).drop_columns(["ended_at"])
    score = sdb.score_log(table)
    assert score.groups[0].seconds == 5.0  # gaps 1, 2, 1: the median is 1
    assert any("no ended_at" in note for note in score.notes)


def test_the_physical_trace_is_what_the_application_did() -> None:
    """It applied the older answer after the newer one: replay would not have."""
    rows = [
        {
            "stream": "s",
            "published_at": 0.0,
            "answered_at": 3.0,
            "applied_at": 3.0,
            "decision": "a",
        },
        {
            "stream": "s",
            "published_at": 1.0,
            "answered_at": 2.0,
            "applied_at": 2.0,
            "decision": "b",
        },
    ]
    for row, reference in zip(rows, "ab", strict=True):
        row |= {"reference": reference, "ended_at": 4.0}
    group = sdb.score_log(pa.Table.from_pylist(rows)).groups[0]
    assert group.classes["current_correct"] == 0.5
    assert group.physical is not None
    assert group.physical.classes()["current_correct"] == 0.25
    assert group.physical.classes()["stale"] == 0.25


def test_decisions_are_compared_in_canonical_form() -> None:
    pairs = [
        ('{"b": 1, "a": "x"}', '{"a":"x","b":1.0}'),
        ('"hold"', "hold"),
        (" hold ", "hold"),
        ("[1, 2]", "[1,2]"),
        ('{"a": "\\u00e9"}', '{"a": "é"}'),
    ]
    for decision, reference in pairs:
        row = {
            "stream": "s", "published_at": 0.0, "answered_at": 0.0, "decision": decision,
            "reference": reference, "ended_at": 1.0,
        }  # fmt: skip
        assert sdb.score_log(table_of([row])).groups[0].in_force == 1.0
        assert sdb.score_log(table_of([{**row, "decision": "other"}])).groups[0].in_force == 0.0


def test_nested_decisions_and_states_of_json_lines_stay_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    row = {"stream": 7, "published_at": 0, "answered_at": 0, "ended_at": 2}
    path.write_text(
        json.dumps({**row, "decision": {"a": 1, "b": {"c": None}}, "reference": {"b": {"c": None}, "a": 1.0}})
        + "\n"
        + json.dumps({**row, "published_at": 1, "answered_at": 1, "decision": {"a": 1}, "reference": {"a": 1, "b": None}})
        + "\n"
    )  # fmt: skip
    assert sdb.score_log(path).groups[0].in_force == 0.5


def test_intervals_are_those_of_resampled_streams() -> None:
    """The hash's draws are Poisson, and the interval is as wide as resampling streams makes it."""
    keys = stream_keys([f"stream-{k}" for k in range(4000)], seed=1)
    weights = poisson_weights(keys, 64)
    shares = [(weights == k).mean() for k in range(5)]
    assert shares == pytest.approx([0.3679, 0.3679, 0.1839, 0.0613, 0.0153], abs=0.004)
    assert abs(np.corrcoef(weights[:, :2].T)[0, 1]) < 0.05
    assert not np.array_equal(weights, poisson_weights(stream_keys(["x"] * 4000), 64))

    # A second computation of the interval, stream by stream: the draws weigh each one's seconds.
    found = drawn(80, 6)
    (group,) = sdb.score_log(table_of(rows_of(found)), seed=5).groups
    length = np.array([s.end - s.times[0] for s in found])
    per_stream = [pooled([s]) for s in found]
    good = np.array([p["current_correct"] + p["outdated_correct"] for p in per_stream]) * length
    known = np.array([1 - p["unjudged"] for p in per_stream]) * length
    weights = poisson_weights(stream_keys([f"s{k}" for k in range(80)], seed=5))
    value = good.sum() / known.sum()
    again = weights.T @ (good - value * known) / known.sum()
    share = known / known.sum()
    degrees = round(1 / (share**2).sum()) - 1
    # Residuals x − Σ w·x of values with variance one, and the variance of Σ w·x.
    seen = ((share[:, None] * (np.eye(80) - share)) ** 2).sum()
    error = again.std() * np.sqrt((share**2).sum() / seen)
    half = student.ppf(0.975, degrees) * error / (value * (1 - value))
    odds = np.log(value / (1 - value))
    ends = [1 / (1 + np.exp(-(odds + sign * half))) for sign in (-1, 1)]
    assert group.interval_95 == pytest.approx(ends, abs=1e-10)


@pytest.mark.parametrize("count", [5, 10, 40])
def test_intervals_hold_the_process_s_value(count: int) -> None:
    """Of 400 logs at least 93 % should, give or take what chance does to so few."""
    share, width = covered(400, count, seed=7)
    assert share >= 0.92
    assert width < 0.65


def test_fewer_than_five_judged_streams_say_nothing_about_others() -> None:
    for count in (1, 2, 4):
        score = sdb.score_log(table_of(rows_of(drawn(count))), by="stream")
        assert all(group.interval_95 is None for group in score.groups)
        score = sdb.score_log(table_of(rows_of(drawn(count))))
        assert score.groups[0].interval_95 is None
        assert any("fewer than 5 streams are judged" in note for note in score.notes)
    rows = rows_of(drawn(8))
    some = [
        {**row, "reference": row["reference"] if row["stream"] < "s4" else None} for row in rows
    ]
    group = sdb.score_log(table_of(some)).groups[0]
    assert (group.streams, group.judged_streams, group.interval_95) == (8, 4, None)
    score = sdb.score_log(table_of(rows))
    assert score.groups[0].interval_95 is not None
    assert not any("fewer than" in note for note in score.notes)


def test_a_share_that_is_all_or_nothing_has_an_interval_that_is_not_a_point() -> None:
    for decision, value in (("a", 1.0), ("b", 0.0)):
        found = [Stream([0.0, 1.0], [0.0, 0.0], ["a", "a"], [decision] * 2, 2.0) for _ in range(10)]
        group = sdb.score_log(table_of(rows_of(found))).groups[0]
        low, high = group.interval_95 or (0.5, 0.5)
        assert group.in_force == value
        assert high - low == pytest.approx(1 - 0.025**0.1)
        assert low <= value <= high


def test_the_json_has_the_keys_that_others_build_on() -> None:
    document = sdb.score_log(table_of(rows_of(drawn(4))), bounds=(0.5, 8)).to_json()
    assert document["schema"] == "sdb-logs/1"
    assert {"schema", "groups", "signature"} <= set(document)
    group = document["groups"][0]
    assert set(group["classes"]) == set(CLASSES)
    assert {
        "by", "streams", "decisions", "judged_share", "in_force", "classes", "interval_95",
        "log_auc", "latency", "mean_interval_s",
    } <= set(group)  # fmt: skip
    json.dumps(document, allow_nan=False)


def test_pandas_timestamps_work_as_they_come() -> None:
    frame = pandas.DataFrame(
        {
            "stream": ["a", "a"],
            "published_at": pandas.to_datetime(["2026-01-01 10:00:00", "2026-01-01 10:00:02"]),
            "answered_at": pandas.to_datetime(["2026-01-01 10:00:01", None]),
            "decision": ["x", None],
            "reference": ["x", "x"],
        }
    )
    assert sdb.score_log(frame).groups[0].in_force == 0.75
