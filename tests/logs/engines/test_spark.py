"""DuckDB and a real Spark cluster: the same figures, intervals included, also when a worker dies."""

from __future__ import annotations

import json
import math
import os
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from packaging.requirements import Requirement

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

from pyspark.sql import SparkSession

import streamdecisionbench as sdb
from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.log_check import check_log
from streamdecisionbench.logs.log_references import ReferenceSource
from streamdecisionbench.logs.log_source import LogSource
from streamdecisionbench.logs.mapping import draft_mapping
from streamdecisionbench.logs.suite_of_log import suite_of_log
from streamdecisionbench.logs.unusable_rows import Allowed
from tests.logs.engines.cluster import BRIEF, NO_JAVA, Cluster, java
from tests.logs.test_formats import FORMATS, write
from tests.logs.test_mapping import CALLS, WRITTEN, as_log, waiting
from tests.meter.test_log_score import left_by_a_kill

pytestmark = [pytest.mark.slow, pytest.mark.skipif(java() is None, reason=NO_JAVA)]

SQL = """
SELECT stream, published_at, published_at + 0.25 AS requested_at, answered_at + 0.5 AS answered_at,
       upper(decision) AS decision, upper(reference) AS reference, ended_at, model
FROM source WHERE model <> 'c'
"""


def made_log(streams: int, steps: int, seed: int = 0) -> pa.Table:
    """Irregular times, lost answers, unknown references, three models."""
    rng = np.random.default_rng(seed)
    rows = streams * steps
    gaps = rng.exponential(2.0, (streams, steps)) + 0.01
    published = np.cumsum(gaps, axis=1)
    reference = np.char.add("d", rng.integers(0, 4, rows).astype(str)).astype(object)
    decision = np.where(rng.random(rows) < 0.7, reference, "other")
    lost = rng.random(rows) < 0.05
    arrived = published.ravel() + rng.exponential(1.0, rows)
    reference[rng.random(rows) < 0.1] = None
    return pa.table(
        {
            "stream": np.repeat([f"s{k:06}" for k in range(streams)], steps),
            "published_at": published.ravel(),
            "answered_at": pa.array(np.where(lost, np.nan, arrived), from_pandas=True),
            "decision": pa.array(np.where(lost, None, decision), pa.string()),
            "reference": pa.array(reference, pa.string()),
            "ended_at": np.repeat(published[:, -1] + 1.5, steps),
            "model": np.repeat(np.array(["a", "b", "c"])[np.arange(streams) % 3], steps),
        }
    ).take(rng.permutation(rows))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files, rows in no order, streams in both."""
    folder = tmp_path_factory.mktemp("log")
    table = made_log(300, 40)
    pq.write_table(table.slice(0, 5000), folder / "one.parquet")
    pq.write_table(table.slice(5000), folder / "two.parquet")
    return folder


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="module")
def session(cluster: Cluster) -> Iterator[SparkSession]:
    """A session that is already there, as in a notebook."""
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    made = (
        SparkSession.builder.master(cluster.master)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", BRIEF)
        .config("spark.executor.extraJavaOptions", BRIEF)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.sql.adaptive.coalescePartitions.enabled", "false")
        .config("spark.task.maxFailures", "8")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


def same(one: Any, other: Any, place: str = "") -> None:
    """Equal JSON, numbers to 1e-9."""
    if isinstance(one, dict):
        assert set(one) == set(other), place
        for key in one:
            same(one[key], other[key], f"{place}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), place
        for k, pair in enumerate(zip(one, other, strict=True)):
            same(*pair, f"{place}[{k}]")
    elif isinstance(one, float) and isinstance(other, float):
        assert math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9), (place, one, other)
    else:
        assert one == other, place


def document(score: Any) -> Any:
    return json.loads(json.dumps(score.to_json()))


OPTIONS: list[dict[str, Any]] = [
    {"by": "model", "bounds": (0.5, 8.0), "costs": "default", "theta": 2.0},
    {"interval": 1.0},
    {"by": "model", "sql": SQL},
]


@pytest.mark.parametrize("options", OPTIONS, ids=["groups", "pace", "query"])
def test_the_same_figures(session: SparkSession, log: Path, options: dict[str, Any]) -> None:
    same(
        document(sdb.score_log(log, **options)),
        document(sdb.score_log(log, engine="spark", **options)),
    )


def test_a_data_frame_of_the_session(session: SparkSession, log: Path) -> None:
    frame = session.read.parquet(str(log)).repartition(5)
    one = sdb.score_log(frame, by="model")
    other = sdb.score_log(log, by="model")
    assert [g.in_force for g in one.groups] == pytest.approx([g.in_force for g in other.groups])
    assert session.range(3).count() == 3  # the session goes on


def test_the_log_of_a_killed_meter(session: SparkSession, tmp_path: Path) -> None:
    """Partial rows, streams left open, half a line at the end: the same JSON, notes included."""
    left_by_a_kill(tmp_path / "log")
    duck = sdb.score_log(tmp_path / "log", by="component", bounds=(0.5, 8))
    spark = sdb.score_log(tmp_path / "log", by="component", bounds=(0.5, 8), engine="spark")
    same(document(duck), document(spark))
    assert len(duck.notes) == 1


def test_the_same_suite_of_the_same_sessions(session: SparkSession, tmp_path: Path) -> None:
    table = made_log(40, 12)
    known = table.filter(pc.field("reference").is_valid())
    states = [json.dumps({"at": at}) for at in known["published_at"].to_pylist()]
    pq.write_table(known.append_column("state", pa.array(states)), tmp_path / "log.parquet")
    made = []
    for engine in ("duckdb", "spark"):
        opened = LogSource(tmp_path / "log.parquet", engine=engine).open()
        made.append(
            suite_of_log(
                opened, ReferenceSource(), Allowed(), name="sessions", streams=7, by="model"
            )
        )
        opened.close()
    one, other = made
    assert one.suite == other.suite
    assert (one.streams, one.left_out) == (other.streams, other.left_out)
    assert one.suite.scenarios.keys() == other.suite.scenarios.keys()


def test_the_same_check_and_the_same_references(
    session: SparkSession, log: Path, tmp_path: Path
) -> None:
    """Which file a bad row lies in, streams in two files, references of another table."""
    bad = pq.read_table(log / "two.parquet").slice(0, 3)
    bad = bad.set_column(1, "published_at", pa.array([None] * 3, pa.float64()))
    folder = tmp_path / "log"
    folder.mkdir()
    for name, table in (("one", None), ("two", None), ("bad", bad)):
        pq.write_table(table or pq.read_table(log / f"{name}.parquet"), folder / f"{name}.parquet")
    checked = []
    for engine in ("duckdb", "spark"):
        with LogSource(folder, engine=engine).open() as opened:
            found = check_log(opened).to_json()
        example = found["unusable"][0]["example"]
        example["file"] = Path(example["file"]).name
        found["group_by"] = sorted(found["group_by"])
        checked.append(found)
    assert checked[0]["unusable"][0]["example"]["file"] == "bad.parquet"
    assert checked[0]["streams_in_several_files"] > 100
    same(checked[0], checked[1])

    right = pq.read_table(log).select(["stream", "published_at", "decision"])
    right = right.rename_columns(["stream", "published_at", "reference"])
    pq.write_table(right, tmp_path / "right.parquet")
    given = {"references": tmp_path / "right.parquet", "by": "model"}
    same(
        document(sdb.score_log(log, **given)), document(sdb.score_log(log, engine="spark", **given))
    )
    twice = pa.concat_tables(
        [right, right.set_column(2, "reference", pa.array(["?"] * len(right)))]
    )
    for engine in ("duckdb", "spark"):
        with pytest.raises(InputError, match=r"'reference' says both '\?' and '"):
            sdb.score_log(log, references=twice, engine=engine)


def test_a_query_that_fails_and_a_missing_column(session: SparkSession, log: Path) -> None:
    with pytest.raises(InputError, match="the query fails"):
        sdb.score_log(log, engine="spark", sql="SELECT nothing FROM source")
    with pytest.raises(InputError, match="has no column 'stream'"):
        sdb.score_log(log, engine="spark", sql="SELECT published_at FROM source")


def test_a_worker_killed_in_mid_job(
    session: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    """The job finishes on the worker that is left, with the same figures. Last: it ends a worker."""
    pq.write_table(made_log(12_000, 50, seed=1), tmp_path / "long.parquet")
    expected = sdb.score_log(tmp_path / "long.parquet", by="model", resamples=50)
    found: list[Any] = []
    job = threading.Thread(
        target=lambda: found.append(
            sdb.score_log(tmp_path / "long.parquet", by="model", resamples=50, engine="spark")
        )
    )
    job.start()
    tracker = session.sparkContext.statusTracker()
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        stages = [tracker.getStageInfo(s) for s in tracker.getActiveStageIds()]
        if any(s and s.numActiveTasks and s.numTasks >= 8 for s in stages):
            break
        time.sleep(0.01)
    else:
        raise AssertionError("the job never ran")
    assert job.is_alive()
    cluster.kill_worker()
    job.join(300)
    assert found, "the job did not finish"
    same(document(expected), document(found[0]))


def test_latencies_and_drafts_are_alike(session: SparkSession, tmp_path: Path) -> None:
    """Every form of a latency in every format, and a drafted query that each engine runs."""
    rows = waiting([[(500, 700, 0), (900, None, 0), (400, 1250, 1)], [(1, 5, 1), (2000, 12, 0)]])
    for clock in ("seconds", "stamps"):
        want = sdb.score_log(pa.Table.from_pylist(as_log(rows, clock, "answered_at"))).groups[0]
        for latency, form in zip(
            ("latency_ms", "latency_s", *WRITTEN), (*FORMATS, *FORMATS, "csv"), strict=True
        ):
            log = write(tmp_path / f"log.{form}", as_log(rows, clock, latency))
            got = sdb.score_log(log, engine="spark").groups[0]
            assert got.classes == pytest.approx(want.classes, abs=1e-9)
    table = pa.Table.from_pylist(as_log(rows, "stamps", "latency_ms"))
    waited = pa.array(table["latency_ms"].to_pylist(), pa.duration("ms"))
    table = table.drop_columns(["latency_ms"]).append_column("latency", waited)
    pq.write_table(table, tmp_path / "durations.parquet")
    got = sdb.score_log(tmp_path / "durations.parquet", engine="spark").groups[0]
    assert got.classes == pytest.approx(want.classes, abs=1e-9)

    calls = write(tmp_path / "calls.csv", CALLS)
    found = []
    for engine in ("duckdb", "spark"):
        with LogSource(calls, engine=engine).open(checked=False) as opened:
            text = draft_mapping(opened).text()
        with LogSource(calls, engine=engine, sql=text).open() as opened:
            found.append(check_log(opened).to_json())
    assert found[0]["answered"] == 2
    same(*found)
    with pytest.raises(InputError, match=r"cast what you compute with: CAST\(ts AS TIMESTAMP\)"):
        sdb.score_log(calls, engine="spark", sql="SELECT ts + array(1) AS x FROM source")


def test_formats_are_read_alike(session: SparkSession, tmp_path: Path) -> None:
    """Hostile names and values, three formats, both engines: one answer."""
    start = datetime(2026, 3, 1, tzinfo=UTC)
    labels = {"#1": "1.1", 'a"b': "1.10", "c,d": "2026-01-01", "e\nf": "=1+1"}
    rows: list[dict[str, Any]] = [
        {
            "Weight": 9,
            "stream": stream,
            "published_at": start + timedelta(seconds=k),
            "answered_at": start + timedelta(seconds=k + 0.25),
            "decision": 2**60 + (k == 2),
            "reference": 2**60,
            "ended_at": start + timedelta(seconds=4),
            "weight": 1.0,
            " release": label,
        }
        for stream, label in labels.items()
        for k in range(4)
    ]
    found = []
    for form in FORMATS:
        paths = [str(write(tmp_path / f"part [{k}].{form}", rows[k::2])) for k in range(2)]
        for engine in ("duckdb", "spark"):
            score = document(sdb.score_log(paths, by="release", engine=engine))
            found.append((score["groups"], score["signature"]))
    assert [g["by"]["release"] for g in found[0][0]] == ["1.1", "1.10", "2026-01-01", "=1+1"]
    assert found[0][0][0]["in_force"] == pytest.approx((4 - 1 - 0.25) / 4)
    for other in found[1:]:
        same(found[0], other)


def test_numbers_and_cases_of_names_are_read_alike(session: SparkSession, tmp_path: Path) -> None:
    """Decisions are equal by value; a column in another case is the same column."""
    found = []
    for form, other, ways in (
        ("parquet", "csv", ["1.0", "1.50", "2", "3e0"]),
        ("jsonl", "parquet", [1.0, 1.5, 2.0, 3.0]),
        ("csv", "jsonl", ["1.00", 1.5, "2.0", 3]),
    ):
        folder = tmp_path / form
        folder.mkdir()
        rows = [
            {"stream": f"s{k}", "published_at": 0.0, "answered_at": 0.0, "ended_at": 1.0, "decision": value}
            for k, value in enumerate([1.0, 1.5, 2.5, 3.0])
        ]  # fmt: skip
        write(folder / f"a.{form}", [{**row, "Release": "x"} for row in rows[:2]])
        write(folder / f"b.{form}", [{**row, "release": "y"} for row in rows[2:]])
        table = write(
            tmp_path / f"references.{other}",
            [
                {"stream": f"s{k}", "published_at": 0.0, "reference": way}
                for k, way in enumerate([*ways, *ways[:1]])
            ],
        )
        for engine in ("duckdb", "spark"):
            score = sdb.score_log(
                folder, references=table, by="Release", engine=engine, resamples=0
            )
            found.append([(group.by["Release"], group.in_force) for group in score.groups])
    assert found == [[("x", 1.0), ("y", 0.5)]] * 6


def test_the_extra_asks_for_a_pandas_that_spark_supports() -> None:
    """PySpark 4 warns at every call beside a newer one."""
    (asked,) = (
        requirement
        for requirement in map(Requirement, distribution("streamdecisionbench").requires or ())
        if requirement.name == "pandas"
        and requirement.marker is not None
        and requirement.marker.evaluate({"extra": "spark"})
    )
    assert not asked.specifier.contains("3.0.0")
    assert asked.specifier.contains("2.3.3")
