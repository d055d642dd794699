"""Edges of a log, each computed by hand: equal times, slack, weights, costs, packed files, alike names."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

import streamdecisionbench as sdb
from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.event_rate import (
    log_pace,
    suggested_bounds,
)
from streamdecisionbench.logs.log_source import LogSource
from streamdecisionbench.logs.suite_of_log import ReferenceSource, suite_of_log
from streamdecisionbench.logs.unusable_rows import Allowed
from streamdecisionbench.scoring.intervals import stream_keys
from streamdecisionbench.scoring.stream_sums import LatencySums
from streamdecisionbench.suite.suite_files import read_suite
from tests.cli.command import sdb as command
from tests.kernel.plain_streams import Stream
from tests.logs.made_logs import rows_of, table_of
from tests.logs.test_formats import write
from tests.logs.test_score_log import drawn, judged

MICROSECOND = 1e-6
Row = dict[str, Any]


def row(stream: str, published_at: float, **more: Any) -> Row:
    """A state that lasts until 4, answered at once with what is right."""
    return {
        "stream": stream, "published_at": published_at, "answered_at": published_at,
        "decision": "a", "reference": "a", "ended_at": 4.0, **more,
    }  # fmt: skip


def test_a_cost_an_hour_is_an_hours() -> None:
    """Three streams of 4 s, each answer 0.002: six answers cost 0.012 in 12 s, so 3.60 an hour."""
    rows = [row(s, at, cost=0.002) for s in "xyz" for at in (0.0, 2.0)]
    (group,) = sdb.score_log(table_of(rows)).to_json()["groups"]
    assert group["cost"] == pytest.approx({"total": 0.012, "per_hour": 3.6}, rel=1e-12)
    assert (group["seconds"], group["mean_interval_s"]) == (12.0, 2.0)
    rows[0]["cost"] = None
    (group,) = sdb.score_log(table_of(rows)).to_json()["groups"]
    assert group["cost"]["total"] == pytest.approx(0.010, rel=1e-12)


@settings(max_examples=20, deadline=None)
@given(judged, st.lists(st.integers(1, 4), min_size=5, max_size=5))
def test_a_stream_of_weight_three_counts_as_three(found: list[Stream], weights: list[int]) -> None:
    """In every figure that weighs: shares, untimed, integrated, and what the application did."""

    def scored(streams: list[Stream], weigh: list[int] | None) -> Any:
        rows = rows_of(streams)
        for one in rows:
            one["applied_at"] = one["answered_at"]
            if weigh:
                one["weight"] = float(weigh[int(one["stream"][1:])])
        table = table_of([{**one, "applied_at": 0.0} for one in rows])
        applied = pa.array([one["applied_at"] for one in rows], pa.float64())
        index = table.schema.names.index("applied_at")
        table = table.set_column(index, "applied_at", applied)
        (group,) = sdb.score_log(table, bounds=(0.5, 8), resamples=0).groups
        return group

    one = scored(found, weights)
    many = scored([s for s, w in zip(found, weights, strict=False) for _ in range(w)], None)
    assert one.classes == pytest.approx(many.classes, abs=1e-12)
    assert one.over.classes() == pytest.approx(many.over.classes(), abs=1e-12)
    assert one.physical.classes() == pytest.approx(many.physical.classes(), abs=1e-12)
    assert one.untimed == pytest.approx(many.untimed, abs=1e-12)
    right = [
        (w, y == p)
        for s, w in zip(found, weights, strict=False)
        for y, p in zip(s.references, s.decisions, strict=True)
        if y is not None
    ]
    assert one.untimed == pytest.approx(
        sum(w for w, hit in right if hit) / sum(w for w, _ in right), abs=1e-12
    )
    assert one.streams == len(found)


START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def zoned(table: pa.Table, zone: str | None) -> pa.Table:
    """Its seconds as timestamps since a moment that a clock on the wall of that zone shows as 12:00."""
    base = START if zone else START.replace(tzinfo=None)
    for name in (n for n in table.schema.names if n.endswith("_at")):
        moments = [
            None if v is None else base + timedelta(microseconds=round(v * 1e6))
            for v in table[name].to_pylist()
        ]
        index = table.schema.names.index(name)
        table = table.set_column(index, name, pa.array(moments, pa.timestamp("us", zone)))
    return table


def test_references_of_another_clock_are_refused() -> None:
    """Zoneless times and those of a zone show the same digits, and do not mean the same moment."""
    log = table_of([row(s, at) for s in "xyz" for at in (0.0, 2.0)])
    given = log.select(["stream", "published_at", "reference"])
    log = log.drop_columns(["reference"])
    forms: dict[str, Callable[[pa.Table], pa.Table]] = {
        "seconds": lambda table: table,
        "timestamps with a time zone": lambda table: zoned(table, "UTC"),
        "timestamps without a time zone": lambda table: zoned(table, None),
    }
    for held, of_log in forms.items():
        for other, of_references in forms.items():
            if held == other:
                score = sdb.score_log(of_log(log), references=of_references(given))
                assert score.groups[0].in_force == 1.0
                continue
            with pytest.raises(InputError) as caught:
                sdb.score_log(of_log(log), references=of_references(given))
            assert f"'published_at' holds {other}, and the log {held}" in str(caught.value)
    elsewhere = sdb.score_log(zoned(log, "UTC"), references=zoned(given, "Asia/Tokyo"))
    assert elsewhere.groups[0].in_force == 1.0  # an instant is one whatever zone it is told in


@pytest.mark.parametrize(
    ("column", "other", "reason"),
    [
        ("answered_at", "published_at", "answered_before_asked"),
        ("requested_at", "published_at", "asked_before_published"),
        ("applied_at", "answered_at", "applied_before_answered"),
    ],
)
def test_two_microseconds_are_rounding_and_three_are_not(
    column: str, other: str, reason: str
) -> None:
    """With rows that the one before would not be told from by a slack a thousand times larger."""
    for early, refused in ((1, False), (2, False), (3, True), (1000, True)):
        for stamps in (False, True):
            rows = [
                row("x", at, requested_at=at, answered_at=at + 0.5, applied_at=at + 0.5)
                for at in (0.0, 2.0)
            ]
            rows[1][column] = rows[1][other] - early * MICROSECOND
            table = table_of(rows)
            if stamps:
                table = zoned(table, "UTC")
            elif early == 2:
                continue  # seconds as floats are no exact microseconds
            score = sdb.score_log(table, allow_unusable="100%")
            assert score.unusable.counts == ({reason: 1} if refused else {}), (early, stamps)


def test_an_answer_a_rounding_early_took_no_time() -> None:
    rows = [row("x", 0.0), row("x", 2.0, answered_at=2.0 - MICROSECOND)]
    (group,) = sdb.score_log(table_of(rows)).groups
    assert group.latency["min"] == 0.0
    assert group.in_force == 1.0


def test_a_stream_lasts_longer_than_until_its_last_state() -> None:
    """At the very moment of its last state that state was never in force: something is wrong."""
    for stamps in (False, True):
        for end, refused in ((2.0, True), (2.0 + MICROSECOND, False), (2.0 - MICROSECOND, True)):
            table = table_of([row("x", at, ended_at=end) for at in (0.0, 2.0)])
            table = zoned(table, None) if stamps else table
            if refused:
                with pytest.raises(InputError, match="ended at or before its last state"):
                    sdb.score_log(table)
            else:
                assert sdb.score_log(table).groups[0].seconds == pytest.approx(end, abs=1e-9)


@pytest.mark.parametrize("shuffled", [False, True])
def test_of_two_applied_at_once_the_newer_source_is_in_force(shuffled: bool) -> None:
    """States at 0, 1 and 2 until 4. Both of the later answers are applied at 3: that of 2 counts."""
    rows = [
        row("x", at, answered_at=max(at, 1.0), applied_at=when, decision=said, reference=said)
        for at, when, said in ((0.0, 1.0, "a"), (1.0, 3.0, "b"), (2.0, 3.0, "c"))
    ]
    rows = rows[::-1] if shuffled else rows
    physical = sdb.score_log(table_of(rows)).groups[0].physical
    assert physical is not None
    # 0–1 nothing, 1–2 "a" while "b" is right, 2–3 "a" while "c" is, 3–4 "c".
    assert physical.classes() == pytest.approx(
        dict.fromkeys(physical.classes(), 0.0)
        | {"no_decision": 0.25, "stale": 0.5, "current_correct": 0.25}
    )


def test_what_is_applied_at_the_end_never_was() -> None:
    for when, right in ((9.0, 0.0), (4.0, 0.0), (4.0 - 2**-40, 0.0), (3.0, 0.25)):
        rows = [row("x", 0.0, answered_at=2.0, applied_at=when)]
        physical = sdb.score_log(table_of(rows)).groups[0].physical
        assert physical is not None
        assert physical.classes()["current_correct"] == pytest.approx(right, abs=1e-9)
        assert sum(physical.classes().values()) == pytest.approx(1.0, abs=1e-12)


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


PACK = {".gz": gzip.compress, ".zst": zstd}


@pytest.mark.parametrize("packed", PACK)
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "ndjson", "json"])
def test_a_packed_log_is_the_log(tmp_path: Path, form: str, packed: str) -> None:
    rows = [row(s, at) for s in "xyz" for at in (0.0, 2.0)]
    rows[1]["decision"] = "b, c"
    plain = write(tmp_path / ("log.csv" if form in ("csv", "tsv") else "log.jsonl"), rows)
    want = sdb.score_log(plain)
    assert want.groups[0].in_force == pytest.approx(10 / 12)
    folder = tmp_path / "packed"
    folder.mkdir()
    data = plain.read_bytes()
    if form == "tsv":
        data = data.replace(b",", b"\t").replace(b'"b\t c"', b'"b, c"')
    path = folder / f"Log.{form}{packed.upper() if form == 'json' else packed}"
    path.write_bytes(PACK[packed](data))
    for source in (path, folder):
        assert sdb.score_log(source).to_json() == want.to_json()
    done = command("logs", "check", path, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["usable"] == 6


@pytest.mark.parametrize("packed", PACK)
def test_a_packed_log_that_is_cut_off_is_refused(tmp_path: Path, packed: str) -> None:
    """A killed process leaves half a line of text; half of a packed file is nobody's log."""
    rows = [row(f"s{k}", at) for k in range(200) for at in (0.0, 2.0)]
    plain = write(tmp_path / "log.jsonl", rows)
    path = tmp_path / f"log.jsonl{packed}"
    whole = PACK[packed](plain.read_bytes())
    path.write_bytes(whole[: len(whole) // 2])
    done = command("logs", "score", path)
    assert done.returncode == 2, done.stdout
    assert str(path) in done.stderr
    assert "Traceback" not in done.stderr


def test_a_new_log_is_not_packed(tmp_path: Path) -> None:
    traces = tmp_path / "traces.jsonl"
    traces.write_text('{"resourceSpans": []}\n')
    for name in ("x.jsonl.gz", "x.csv.zst", "x.txt"):
        done = command("logs", "convert", "--from", "otel", traces, "--out", tmp_path / name)
        assert done.returncode == 2
        assert "end it in .parquet, .csv or .jsonl" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["traces.jsonl"]


def suite_log(names: list[str], **groups: str) -> pa.Table:
    return table_of(
        [
            row(name, at, state=json.dumps({"of": name, "at": at}), reference=said, decision=said,
                **({"family": groups[name]} if groups else {}))
            for name in names
            for at, said in ((0.0, "a"), (2.0, "b"))
        ]
    )  # fmt: skip


def test_streams_that_differ_in_case_are_two_scenarios(tmp_path: Path) -> None:
    """Also on a disk that does not tell A from a: their files have names that differ otherwise."""
    names = ["A", "a", "call-1", "CALL-1", "Call-1", "é", "É", "logged", "Logged"]
    pq.write_table(suite_log(names), tmp_path / "log.parquet")
    done = command("logs", "suite", tmp_path / "log.parquet", "--out", tmp_path / "suite")
    assert done.returncode == 0, done.stderr
    suite = read_suite(tmp_path / "suite")
    assert sorted(s.title for s in suite) == sorted(names)
    assert len({s.episode_id.lower() for s in suite}) == len(names)
    for scenario in suite:
        assert {step.state["of"] for step in scenario.steps} == {scenario.title}
    files = [p.name.lower() for p in (tmp_path / "suite").iterdir()]
    assert len(files) == len(set(files)) == len(names) + 1
    assert command("validate", tmp_path / "suite").returncode == 0


def test_a_stream_is_not_called_like_a_family() -> None:
    """A score by family and by scenario would show one of them under the other's name."""
    for groups in (
        {"North": "North", "x": "North"},
        {"North": "North", "north": "North", "south": "South", "x": "north"},
    ):
        with LogSource(suite_log(list(groups), **groups)).open() as opened:
            found = suite_of_log(opened, ReferenceSource(), Allowed(), name="s", by="family")
        ids = {scenario.episode_id.lower() for scenario in found.suite}
        assert len(ids) == len(groups)
        assert not ids & {family.lower() for family in groups.values()}


def test_sessions_are_drawn_by_the_hash_and_no_more_than_asked() -> None:
    names = [f"c{k}" for k in range(12)]
    taken = []
    for most in (1, 5, 11, 12, 13):
        with LogSource(suite_log(names)).open() as opened:
            found = suite_of_log(opened, ReferenceSource(), Allowed(), name="s", streams=most)
        assert len(list(found.suite)) == min(most, 12)
        assert found.left_out == ({"not_drawn": 12 - most} if most < 12 else {})
        taken.append({s.title for s in found.suite})
    by_hash = [name for _, name in sorted(zip(stream_keys(names).tolist(), names, strict=True))]
    assert taken == [set(by_hash[:most]) for most in (1, 5, 11, 12, 13)]


def test_a_difference_of_groups_is_made_of_the_same_draws() -> None:
    """Two groups of the same streams, of which one errs in every third state besides."""
    old_rows = [{**one, "model": "old"} for one in rows_of(drawn(30, 6))]
    new_rows = [
        {
            **one,
            "model": "new",
            "decision": one["decision"] and ("z" if k % 3 == 0 else one["decision"]),
        }
        for k, one in enumerate(old_rows)
    ]
    score = sdb.score_log(table_of(old_rows + new_rows), by="model")
    (gap,) = score.differences
    new, old = score.groups
    assert gap.group is old
    assert gap.against is new
    assert gap.in_force[0] == pytest.approx(old.in_force - new.in_force, abs=1e-12)  # type: ignore[operator]
    drawn_by = []
    for found in (old, new):
        seconds, replicates = found.at_pace.seconds, found.at_pace.replicates
        assert replicates is not None
        assert found.in_force is not None
        (right, judged), (_, whole) = (
            (x[..., [0, 4]].sum(axis=-1), x.sum(axis=-1) - x[..., 6]) for x in (replicates, seconds)
        )
        drawn_by.append((right - found.in_force * judged) / whole)
    spread = new.at_pace.spread
    error = (drawn_by[0] - drawn_by[1]).std() * np.sqrt(spread.inflation)
    half = student.ppf(0.975, spread.degrees) * error
    low, high = gap.in_force[1] or (0, 0)
    assert (low, high) == pytest.approx((gap.in_force[0] - half, gap.in_force[0] + half), abs=1e-9)


def test_a_pause_of_ten_gaps_is_still_one_session(tmp_path: Path) -> None:
    """Where its file changes, and nobody says when a session ended."""
    for pause, refused in ((10.0, False), (10.5, True)):
        times = [[0.0, 1.0, 2.0], [2.0 + pause, 3.0 + pause]]
        for k, part in enumerate(times):
            rows = [{n: v for n, v in row("x", at).items() if n != "ended_at"} for at in part]
            write(tmp_path / f"{k}.jsonl", rows)
        found = sdb.score_log(tmp_path, allow_unusable="100%") if not refused else None
        if found is not None:
            assert found.groups[0].streams == 1
            assert any("in more than one file" in note for note in found.notes)
            continue
        with pytest.raises(InputError, match="5 rows: belongs to a stream that goes on in another"):
            sdb.score_log(tmp_path)


def test_a_stream_may_come_back_in_another_group_when_it_has_ended() -> None:
    for begins, refused in ((4.0, False), (4.0 - MICROSECOND, True)):
        rows = [row("x", at, model="old") for at in (0.0, 2.0)]
        rows += [row("x", begins + at, model="new", ended_at=9.0) for at in (0.0, 1.0)]
        score = sdb.score_log(table_of([*rows, row("y", 0.0, model="old")]), by="model",
                              allow_unusable="100%")  # fmt: skip
        assert score.unusable.counts == ({"group_changes": 4} if refused else {})


def test_groups_stand_in_the_order_people_count_in() -> None:
    names = ["10", "9", None, "b", "-1.5", "a", "1e2"]
    rows = [row(f"s{k}", 0.0, model=name) for k, name in enumerate(names)]
    found = [group.by["model"] for group in sdb.score_log(table_of(rows), by="model").groups]
    assert found == [None, "-1.5", "9", "10", "1e2", "a", "b"]


def test_as_many_groups_as_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    from streamdecisionbench.logs import log_sums as sums

    monkeypatch.setattr(sums, "MOST_GROUPS", 3)
    rows = [row(name, 0.0) for name in "abcd"]
    assert len(sdb.score_log(table_of(rows[:3]), by="stream").groups) == 3
    with pytest.raises(InputError, match="makes more than 3 groups"):
        sdb.score_log(table_of(rows), by="stream")


def test_markers_and_half_written_files_are_no_part_of_a_table(tmp_path: Path) -> None:
    rows = [row("x", at) for at in (0.0, 2.0)]
    write(tmp_path / "part.jsonl", rows)
    for name in ("_metadata.parquet", "_SUCCESS.csv", ".part.jsonl"):
        (tmp_path / name).write_text("no table")
    (tmp_path / "day=1").mkdir()
    write(tmp_path / "day=1" / "more.jsonl", [row("y", 0.0)])
    assert sdb.score_log(tmp_path).groups[0].streams == 2
    assert sdb.score_log(str(tmp_path / "**" / "[!_.]*.jsonl")).groups[0].streams == 2


@pytest.mark.parametrize("length", [10, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 200_000])
def test_a_line_cut_off_is_left_out_however_long(tmp_path: Path, length: int) -> None:
    whole = "".join(json.dumps(row("x", at)) + "\n" for at in (0.0, 2.0))
    half = json.dumps(row("x", 3.0, state="s" * 300_000))[:length]
    (tmp_path / "log.jsonl").write_text(whole + half)
    score = sdb.score_log(tmp_path / "log.jsonl")
    assert score.rows == 2
    assert any("1 file ends in a line that was cut off" in note for note in score.notes)
    (tmp_path / "log.jsonl").write_text((whole + json.dumps(row("x", 3.0)))[:])
    assert sdb.score_log(tmp_path / "log.jsonl").rows == 3  # only its line break is missing


def test_the_signature_tells_logs_apart() -> None:
    """By every time and every verdict of every state, in their order."""
    rows = [
        row("x", at, answered_at=at + wait) for at, wait in ((0.0, 0.1), (1.0, 0.2), (2.0, 0.3))
    ]

    def data(*changed: Row) -> str:
        return sdb.score_log(table_of([*changed])).signature.split()[0]

    a, b, c = rows
    others = [
        (a, {**b, "answered_at": 1.3}, {**c, "answered_at": 2.2}),
        ({**a, "decision": "b"}, b, c),
        (a, {**b, "decision": "b"}, c),
        (a, {**b, "reference": None}, c),
        (a, {**b, "published_at": 0.9, "answered_at": 1.1}, c),
        tuple({**one, "stream": "y"} for one in rows),
    ]
    assert data(*rows) == data(*rows[::-1])
    assert len({data(*rows), *(data(*other) for other in others)}) == 1 + len(others)


def test_a_suite_keeps_times_that_are_nearly_regular() -> None:
    times = {"regular": (0.0, 2.0), "nearly": (0.0, 2.0004), "hardly": (0.0, 2.000001)}
    rows = [
        row(name, at, state="{}", reference=said, decision=said)
        for name, when in times.items()
        for at, said in zip(when, "ab", strict=True)
    ]
    with LogSource(table_of(rows)).open() as opened:
        found = suite_of_log(opened, ReferenceSource(), Allowed(), name="s")
    assert {s.title: s.published_s for s in found.suite} == {**times, "regular": None}


def test_a_question_offers_a_hundred_options() -> None:
    from streamdecisionbench.logs.suite_of_log import asked_by_decisions

    asked = asked_by_decisions(f"d{k}" for k in range(100))
    assert len(asked.questions["decision"].options) == 100
    with pytest.raises(InputError, match="more than the 100 a question may offer"):
        asked_by_decisions(f"d{k}" for k in range(101))


def test_latency_counts_from_when_it_was_asked() -> None:
    """Where that is not said, from when its state was published; a stream begins with its first state."""
    start = 1000.0
    rows = [
        row("x", start + at, requested_at=asked, answered_at=start + at + 1.0, ended_at=start + 6)
        for at, asked in ((0.0, start + 0.75), (2.0, None), (4.0, start + 4.5))
    ]
    (group,) = sdb.score_log(table_of(rows)).groups
    assert group.latency["mean"] == pytest.approx((0.25 + 1.0 + 0.5) / 3, abs=1e-9)
    assert (group.latency["min"], group.latency["max"]) == pytest.approx((0.25, 1.0), abs=1e-9)
    # Answers are in force from their state on, after as long as they took: 0.25, 3 and 4.5.
    assert group.classes["no_decision"] == pytest.approx(0.25 / 6, abs=1e-9)


def test_units_of_time_may_differ() -> None:
    """Whole seconds beside nanoseconds: all are compared in the finest unit."""
    table = zoned(table_of([row("x", at, answered_at=at + 0.25) for at in (0.0, 2.0)]), "UTC")
    want = sdb.score_log(table)
    for name, unit in (("published_at", "s"), ("answered_at", "ns"), ("ended_at", "ms")):
        index = table.schema.names.index(name)
        table = table.set_column(index, name, table[name].cast(pa.timestamp(unit, "UTC")))
    found = sdb.score_log(table)
    assert found.groups[0].classes == want.groups[0].classes
    assert found.groups[0].latency["mean"] == pytest.approx(0.25, abs=1e-12)


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf"), None])
@pytest.mark.parametrize("name", ["weight", "tick_s"])
def test_a_weight_is_above_nothing(name: str, weight: float | None) -> None:
    rows = [row(s, at, **{name: weight if s == "x" else 1.0}) for s in "xy" for at in (0.0, 2.0)]
    score = sdb.score_log(table_of(rows), allow_unusable=2)
    assert score.unusable.counts == {"bad_weight" if name == "weight" else "bad_tick": 2}
    assert score.groups[0].streams == 1


def test_gaps_are_those_within_a_stream() -> None:
    """Between states, between changes of what is known to be right, and what a stream has on average."""
    rows = [
        {**row(name, at), "reference": right, "ended_at": end}
        for name, end, states in (
            ("x", 7.0, ((0.0, "a"), (1.0, None), (3.0, "a"), (6.0, "b"))),
            ("y", 105.0, ((100.0, "b"), (104.0, "c"))),
        )
        for at, right in states
    ]
    with LogSource(table_of(rows)).open() as opened:
        (group,) = log_pace(opened, (), Allowed()).to_json()["groups"]
    assert group["streams"] == 2
    for of, gaps in (
        ("seconds_between_states", [1.0, 2.0, 3.0, 4.0]),
        ("seconds_between_reference_changes", [6.0, 4.0]),
        ("mean_interval_s", [7 / 4, 5 / 2]),
    ):
        want = np.quantile(gaps, [0.05, 0.25, 0.5, 0.75, 0.95])
        assert list(group[of].values()) == pytest.approx(want.tolist(), abs=1e-12), of


def test_bounds_are_rounded_outwards_to_one_digit() -> None:
    for ticks, bounds in (
        ([1.2, 8.3], (1.0, 9.0)),
        ([0.031, 0.5], (0.03, 0.5)),
        ([2.0, 2.0], (1.0, 4.0)),
        (
            [1.0, 3.9],
            (0.9, 4.0),
        ),  # less than a factor of four: a factor of four around their middle
    ):
        intervals = LatencySums()
        intervals.add(np.repeat(np.array(ticks), 100))
        assert suggested_bounds(intervals) == bounds
