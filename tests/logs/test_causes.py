"""Causes of wrong time on partly labelled logs, against the plain definition and the full labels."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamdecisionbench as sdb
from streamdecisionbench.kernel.classes import CAUSES
from streamdecisionbench.logs.log_score import LogGroup
from streamdecisionbench.logs.log_tables import difference_line
from tests.cli.command import sdb as run
from tests.kernel.plain_streams import Stream, class_at, in_force
from tests.logs.made_logs import causes_found, rows_of, service_logs, table_of
from tests.logs.test_score_log import EXACT, SOME, drawn, judged


def plain_causes(streams: list[Stream]) -> dict[str, float]:
    """Shares of judged time by cause: unknown wrong time is divided like known wrong time of the same kind."""
    seconds = dict.fromkeys(CAUSES, 0.0)
    compared = dict.fromkeys(CAUSES, 0.0)
    observed = 0.0
    for stream in streams:
        waits = zip(stream.times, stream.latencies, strict=True)
        arrivals = {t + w for t, w in waits if w is not None and t + w < stream.end}
        for begin, end in pairwise(sorted({*stream.times, *arrivals, stream.end})):
            middle = (begin + end) / 2
            found = class_at(stream, middle)
            observed += (end - begin) * (found != "unjudged")
            current = max(k for k, t in enumerate(stream.times) if t <= middle)
            for cause, names in CAUSES.items():
                if found in names:
                    seconds[cause] += end - begin
                    if found != "no_decision" and in_force(stream, middle) != current:
                        compared[cause] += end - begin
    unknown = compared.pop("unknown")
    if sum(compared.values()) > 0:
        scale = unknown / sum(compared.values())
        seconds = {c: s + scale * compared.get(c, 0.0) for c, s in seconds.items()} | {
            "unknown": 0.0
        }
    return {cause: s / observed for cause, s in seconds.items()} if observed else {}


def values(group: LogGroup) -> dict[str, float]:
    return {cause: share for cause, (share, _) in group.causes.items()}


@SOME
@given(judged, st.sampled_from([None, 0.5, 2.0]))
def test_causes_are_what_the_definition_says(found: list[Stream], interval: float | None) -> None:
    group = sdb.score_log(table_of(rows_of(found)), interval=interval, resamples=0).groups[0]
    paced = found if interval is None else [stream.paced(interval) for stream in found]
    assert values(group) == pytest.approx(plain_causes(paced), abs=1e-9)
    if group.in_force is not None:
        assert sum(values(group).values()) + group.in_force == pytest.approx(1, abs=1e-9)


@SOME
@given(judged)
def test_under_full_labels_the_estimate_is_the_exact_split(found: list[Stream]) -> None:
    full = [
        Stream(s.times, s.latencies, [y or "a" for y in s.references], s.decisions, s.end)
        for s in found
    ]
    group = sdb.score_log(table_of(rows_of(full)), resamples=0).groups[0]
    want = {c: sum(group.classes[name] for name in names) for c, names in CAUSES.items()}
    assert values(group) == pytest.approx(want, abs=EXACT)
    assert want["unknown"] == 0


@pytest.mark.parametrize(
    ("labels", "by_stream", "seed"),
    [(0.2, False, 1), (0.5, False, 2), (0.3, True, 3), (0.6, True, 4)],
)
def test_missing_labels_do_not_move_the_causes(labels: float, by_stream: bool, seed: int) -> None:
    """The same log, its references missing at random 150 times: the mean is the value under full labels."""
    log = service_logs(1, 150, seed, labels=1.0)
    (full,) = sdb.score_log(log, resamples=0).groups
    rng = np.random.default_rng(seed)
    stream = log["stream"].combine_chunks().dictionary_encode().indices.to_numpy()
    copies = []
    for k in range(150):
        kept = rng.random(stream.max() + 1)[stream] if by_stream else rng.random(len(stream))
        reference = pa.array(log["reference"].to_numpy(), mask=kept >= labels)
        copy = log.set_column(log.schema.get_field_index("reference"), "reference", reference)
        names = pa.array([f"{k}-{name}" for name in log["stream"].to_pylist()])
        copy = copy.set_column(log.schema.get_field_index("stream"), "stream", names)
        copies.append(copy.set_column(0, "log", pa.array([k] * len(stream))))
    groups = sdb.score_log(pa.concat_tables(copies), by="log", resamples=0).groups
    for cause, want in values(full).items():
        found = np.array([values(group)[cause] for group in groups])
        error = found.std(ddof=1) / np.sqrt(len(found))
        assert found.mean() == pytest.approx(want, abs=4 * error + 1e-12), cause


def test_intervals_of_causes_hold() -> None:
    found = causes_found(150, 60, 0.3, seed=5)
    for cause in ("latency", "judgment", "both"):
        one = found[cause]
        assert one.mean == pytest.approx(one.truth, abs=4 * one.error)
        assert one.held >= 0.9
        assert one.given == 1


def test_what_cannot_be_divided_is_unknown_and_never_both() -> None:
    """No state whose decision is in force later has a reference: nothing tells stale from compound."""
    rows = rows_of([Stream([0.0, 2.0], [1.0, None], [None, "b"], ["a", None], 4.0)] * 6)
    for k, row in enumerate(rows):
        row["stream"] = f"s{k // 2}"
    (group,) = sdb.score_log(table_of(rows)).groups
    assert values(group) == {"latency": 0.0, "judgment": 0.0, "both": 0.0, "unknown": 1.0}
    (document,) = sdb.score_log(table_of(rows)).to_json()["groups"]
    assert document["causes"]["unknown"] == {"value": 1.0, "interval_95": None}


def slower_release(labels: float) -> pa.Table:
    """Two releases with the same judgment, the second slower; a share of the states has references."""
    rng = random.Random(7)
    rows = []
    for release, factor in (("1", 0.5), ("2", 2.0)):
        for k, row in enumerate(rows_of(drawn(300, 20, seed=5))):
            wanted = row["reference"]
            row["answered_at"] = row["published_at"] + factor * (0.5 + (k * 7919 % 100) / 100)
            row["decision"] = wanted if wanted and k * 104729 % 10 else "z"
            row["reference"] = wanted if rng.random() < labels else None
            rows.append({**row, "stream": f"{release}-{row['stream']}", "release": release})
    return table_of(rows)


def test_a_slower_release_is_latency_at_any_share_of_labels() -> None:
    full, some = (
        sdb.score_log(slower_release(labels), by="release").differences[0] for labels in (1.0, 0.2)
    )
    for cause, (value, _) in full.causes.items():
        found, interval = some.causes[cause]
        assert found == pytest.approx(value, abs=0.025), cause
        if cause != "unknown":
            assert interval is not None
            assert interval[0] <= value <= interval[1]
    assert full.causes["latency"][0] < -0.1
    assert sum(value for value, _ in some.causes.values()) == pytest.approx(some.in_force[0])
    assert "It is latency." in difference_line(some)


def test_the_gate_gives_the_same_causes(tmp_path: Path) -> None:
    """Of the whole log, and as a sum over its streams."""
    table = slower_release(0.2)
    names = pa.array([name.split("-")[1] for name in table["stream"].to_pylist()])
    for release in ("1", "2"):
        kept = table.set_column(0, "stream", names).filter(pc.equal(table["release"], release))
        pq.write_table(kept.drop(["release"]), tmp_path / f"{release}.parquet")
    done = run(
        "gate", tmp_path / "2.parquet", "--baseline", tmp_path / "1.parquet", "--json"
    )  # fmt: skip
    found = json.loads(done.stdout)
    (want,) = sdb.score_log(table, by="release").differences
    assert found["causes"] == pytest.approx({c: value for c, (value, _) in want.causes.items()})
    for cause, value in found["causes"].items():
        # Streams that only one side judges are in the whole and in no pair.
        places = [place["causes"][cause] for place in found["losses"]["scenarios"]]
        assert sum(places) == pytest.approx(value, abs=0.02), cause
