"""Timestamps of every unit, zone and size, in every command: right figures or a refusal, no traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import streamdecisionbench as sdb
from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.stream_arrays import PER_SECOND
from tests.cli.command import sdb as command

ZONES = (None, "UTC", "America/New_York", "+05:30")
INFINITE = 2**63 - 1
YEAR_10000 = 253_402_300_800
BEGINS = {"1960": -315_619_200, "now": 1_790_000_000, "2200": 7_258_118_400, "10000": YEAR_10000}
SPECIAL = {
    "infinity": INFINITE, "-infinity": -INFINITE, "least": -(2**63), "far": INFINITE - 1, "far ago": 2 - 2**63,
    "null": None, "2^62": 2**62, "-2^62": -(2**62),
}  # fmt: skip
COMMANDS = (
    ("check",),
    ("score", "--by", "day"),
    ("show", "--worst", "2"),
    ("score", "--page", "page.html"),
)
STATES = 5


def stamps(values: list[int | None], unit: str, zone: str | None) -> pa.Array:
    return pa.array(values, pa.timestamp(unit, zone))


def table(
    unit: str,
    zone: str | None,
    begin: int,
    *,
    digits: int = 0,
    changed: dict[tuple[str, int], int | None] | None = None,
    ends: bool = True,
    latency: bool = False,
) -> pa.Table:
    """A state a second, answered after 250 ms (at once in seconds), the last of five answers wrong."""
    size = PER_SECOND[unit]
    at = [begin * size + k * size + digits for k in range(STATES)]
    columns: dict[str, list[int | None]] = {
        "published_at": [*at],
        "answered_at": [one + size // 4 for one in at],
        "ended_at": [at[-1] + size] * STATES,
    }
    for (name, row), value in (changed or {}).items():
        if name in columns:
            columns[name][row] = value
    if not ends:
        del columns["ended_at"]
    arrays: dict[str, Any] = {n: stamps(v, unit, zone) for n, v in columns.items()}
    if latency:
        del arrays["answered_at"]
        arrays["latency_ms"] = [250.0 if size > 1 else 0.0] * STATES
    return pa.table({
        "stream": ["s"] * STATES, "decision": [*"aaaab"], "reference": ["a"] * STATES, **arrays,
    })  # fmt: skip


RIGHT = 4 / STATES
"""Nothing is in force during the first wait; the last answer is wrong after its own."""


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    unit, zone = draw(st.sampled_from([*PER_SECOND])), draw(st.sampled_from(ZONES))
    begin = draw(st.sampled_from([*BEGINS]))
    if unit == "ns" and begin == "10000":
        begin = "now"
    digits = draw(st.sampled_from([0, 1, 123_456_789])) if unit == "ns" else 0
    changed = {}
    if draw(st.booleans()):
        name = draw(st.sampled_from(["published_at", "answered_at", "ended_at"]))
        value = SPECIAL[draw(st.sampled_from([*SPECIAL]))]
        rows = range(STATES) if draw(st.booleans()) else [draw(st.integers(0, STATES - 1))]
        changed = {(name, row): value for row in rows}
    return {"unit": unit, "zone": zone, "begin": BEGINS[begin], "digits": digits, "changed": changed,
            "ends": draw(st.booleans()), "latency": draw(st.booleans())}  # fmt: skip


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cases(), st.sampled_from(COMMANDS), st.booleans())
def test_no_timestamp_ends_in_a_traceback(
    tmp_path_factory: pytest.TempPathFactory,
    case: dict[str, Any],
    words: tuple[str, ...],
    repeated: bool,
) -> None:
    folder = tmp_path_factory.mktemp("times")
    made = table(**case)
    if repeated:
        made = pa.concat_tables([made, made.slice(1, 1)])
    path = folder / "log.parquet"
    try:
        pq.write_table(made, path)
    except pa.ArrowInvalid:  # Parquet has no seconds: milliseconds of such a time overflow
        return
    options = [str(folder / word) if word.endswith(".html") else word for word in words]
    done = command("logs", options[0], path, *options[1:])
    assert done.returncode in (0, 2), done.stderr
    assert "Traceback" not in done.stderr
    infinite = {v for (n, _), v in case["changed"].items()} <= {INFINITE, -INFINITE, None}
    unchanged = not case["changed"] or (
        {n for n, _ in case["changed"]} == {"ended_at"} and not case["ends"]
    )
    late = case["unit"] == "ns" and case["begin"] == BEGINS["2200"]
    if late and words[0] == "score":
        assert done.returncode == 2, "nanoseconds are computed with until the year 2116"
    if unchanged and not repeated and not late:
        assert done.returncode == 0, done.stderr
        score = sdb.score_log(path, resamples=0)
        assert score.groups[0].in_force == pytest.approx(RIGHT)
        assert score.groups[0].seconds == STATES
    whole = len(case["changed"]) == STATES and {n for n, _ in case["changed"]} == {"ended_at"}
    if whole and infinite and case["ends"] and not late and case["unit"] != "s":
        same = sdb.score_log(table(**{**case, "ends": False, "changed": {}}), resamples=0)
        found = sdb.score_log(path, resamples=0, allow_unusable=9)
        assert found.groups[0].seconds == same.groups[0].seconds == STATES
        assert found.groups[0].assumed_end == 1


@pytest.mark.parametrize("unit", PER_SECOND)
@pytest.mark.parametrize("zone", ZONES)
def test_latencies_keep_the_unit_and_the_zone(unit: str, zone: str | None) -> None:
    made = table(unit, zone, BEGINS["now"], digits=5 if unit == "ns" else 0, latency=True)
    assert sdb.score_log(made, resamples=0).groups[0].in_force == pytest.approx(RIGHT)


def test_an_infinite_end_is_an_unknown_end(tmp_path: Path) -> None:
    """As a number, as text and as a timestamp."""
    made = table(
        "us", "UTC", BEGINS["now"], changed={("ended_at", k): INFINITE for k in range(STATES)}
    )
    rows = made.drop_columns(["ended_at"]).to_pylist()
    csv = tmp_path / "log.csv"
    for end in ("infinity", "inf", "-Infinity"):
        lines = [
            f"s,{r['published_at'].isoformat()},{r['answered_at'].isoformat()},{r['decision']},a,{end}"
            for r in rows
        ]
        csv.write_text(
            "\n".join(["stream,published_at,answered_at,decision,reference,ended_at", *lines])
        )
        for source in (made, csv):
            (group,) = sdb.score_log(source, resamples=0).groups
            assert (group.seconds, group.assumed_end) == (STATES, 1)


def test_times_that_cannot_be_computed_with_are_refused() -> None:
    for name, value, why in (
        ("ended_at", INFINITE - 1, "lasts longer, or less, than any clock shows"),
        ("published_at", INFINITE - 1, "has no time of its state, or one no clock shows"),
        ("published_at", INFINITE, "has no time of its state, or one no clock shows"),
    ):
        rows = range(STATES) if name == "ended_at" else [2]
        made = table("us", None, BEGINS["now"], changed={(name, row): value for row in rows})
        with pytest.raises(InputError, match=why):
            sdb.score_log(made)


def test_digits_that_text_loses_are_mentioned(tmp_path: Path) -> None:
    head = "stream,published_at,answered_at,decision,reference"
    for digits, told in (
        ("123456", False),
        ("1234560", False),
        ("1234567", True),
        ("000000001", True),
    ):
        lines = [
            f"s,2026-03-01T00:00:0{k}.{digits}Z,2026-03-01T00:00:0{k}.5Z,a,a" for k in range(3)
        ]
        path = tmp_path / "log.csv"
        path.write_text("\n".join([head, *lines]))
        notes = [n for n in sdb.score_log(path).notes if "beyond microseconds" in n]
        assert [n.startswith("column 'published_at'") for n in notes] == [True] * told
        done = command("logs", "check", path)
        assert ("beyond microseconds" in " ".join(done.stdout.split())) == told
        assert json.loads(command("logs", "check", path, "--json").stdout)["notes"] == notes
