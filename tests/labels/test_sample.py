"""Which moments are drawn, and that nothing people see tells what was decided."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    class_of,
)
from streamdecisionbench.labels.label_files import AuditFolder
from streamdecisionbench.labels.sample import (
    FLOOR,
    AuditSample,
    MomentSums,
    allocate,
    draw_sample,
    state_value,
    write_audit,
)
from tests.kernel.plain_streams import Stream, class_at, in_force
from tests.kernel.test_streams import streams
from tests.labels.made_audits import answer, audited_rows, audited_table, draw
from tests.logs.made_logs import table_of

SOME = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
decided = st.lists(streams(most=6), min_size=1, max_size=4).filter(
    lambda found: (
        len({d for s in found for d in s.decisions if d is not None}) > 1
        and any(
            s.times[i] + (w or 0) < s.end
            for s in found
            for i, w in enumerate(s.latencies)
            if w is not None
        )
    )
)
TWO = [
    Stream([0.0, 1.0, 3.0], [0.5, 0.5, 2.0], ["a", "b", "a"], ["a", "a", "a"], 8.0),
    Stream([0.0, 2.0], [0.0, 1.0], ["b", "b"], ["b", "a"], 4.0),
]


def silver(k: int, i: int) -> str | None:
    return ("a", "b", None)[(k + i) % 3]


@SOME
@given(decided, st.booleans())
def test_a_moment_is_what_the_plain_definition_says_of_its_instant(
    found: list[Stream], helped: bool
) -> None:
    sample, items = draw(found, silver if helped else None, moments=40)
    state = {item.item: item.state for item in items}
    truth = answer(found, items)
    assert len(sample.moments) == 40
    for moment in sample.moments:
        k = int(moment.stream[1:])
        here = found[k]
        instant = here.times[0] + moment.at
        source = in_force(here, instant)
        now = state[moment.item]
        assert now["stream"] == k
        assert here.times[now["step"]] == moment.published_at
        assert moment.decision == (None if source is None else here.decisions[source])
        own = now if moment.source is None else state[moment.source]
        assert source is None or own == {"stream": k, "step": source}
        column = class_of(moment.decision, truth[moment.source or moment.item], truth[moment.item])
        assert ALL_CLASSES[column] == class_at(here, instant)
        says = sample.strata[moment.stratum].says
        if source is None:
            assert says == "none"
        elif not helped:
            assert says == "decided"
        elif silver(k, now["step"]) is None:
            assert says == "unknown"
        else:
            assert says == ("right" if moment.decision == silver(k, now["step"]) else "wrong")


@SOME
@given(decided)
def test_strata_are_all_of_a_groups_time_and_every_one_is_drawn_from(found: list[Stream]) -> None:
    sample, _ = draw(found, silver, moments=30)
    assert sum(one.share for one in sample.strata) == pytest.approx(1, abs=1e-12)
    seconds = sum(s.end - s.times[0] for s in found)
    assert sum(one.seconds for one in sample.strata) == pytest.approx(seconds, abs=1e-9)
    counted = Counter(m.stratum for m in sample.moments)
    for k, one in enumerate(sample.strata):
        assert counted[k] == one.moments >= FLOOR
        assert all(
            m.share == pytest.approx(one.share / one.moments)
            for m in sample.moments
            if m.stratum == k
        )


def test_every_second_is_drawn_alike_times_its_weight() -> None:
    """The stream that weighs three times as much has three times as many moments a second."""
    rows = audited_rows(TWO)
    for row in rows:
        row["weight"] = 1.0 if row["stream"] == "s0" else 3.0
    sums = MomentSums((), False, 20_000)
    sums.add(table_of(rows))
    at = [(d.stream, d.at) for one in sums.strata.values() for d in one.drawn.values()]
    decided = [(s, t) for s, t in at if s == "s0" and t >= 0.5]
    assert len(at) == 40_000  # 20,000 with a decision in force, 20,000 without one
    # s0: 7.5 s decided at weight 1; s1: 4 s decided at weight 3.
    share = len(decided) / 20_000
    assert share == pytest.approx(7.5 / 19.5, abs=0.012)
    found, _ = np.histogram([t for _, t in decided], bins=15, range=(0.5, 8.0))
    expected = len(decided) / 15
    assert ((found - expected) ** 2 / expected).sum() < 36  # χ² with 14 degrees of freedom, 0.1 %


def test_draws_do_not_depend_on_the_order_or_the_parts_of_a_log() -> None:
    table = audited_table(TWO, silver)
    whole, one, two = (MomentSums((), True, 50) for _ in range(3))
    whole.add(table)
    two.add(table.slice(3))
    one.add(table.slice(0, 3))
    two.merge(pickle.loads(pickle.dumps(one)))  # noqa: S301 - as a cluster hands parts on
    for place, stratum in whole.strata.items():
        assert two.strata[place].drawn == stratum.drawn
        assert two.strata[place].seconds == pytest.approx(stratum.seconds, abs=1e-12)
        assert two.strata[place].replicates == pytest.approx(stratum.replicates, abs=1e-9)
    backwards = draw_sample(table.take(list(range(table.num_rows))[::-1]), silver="column")
    assert backwards == draw_sample(table, silver="column")


def test_wrong_time_is_drawn_more_often_than_its_share_and_every_stratum_has_its_floor() -> None:
    found = allocate({"right": 0.9, "wrong": 0.09, "unknown": 0.009, "none": 0.001}, 300)
    assert sum(found.values()) == 300
    assert found["wrong"] > 2 * 0.09 * 300
    assert min(found.values()) == found["none"] == FLOOR
    assert allocate({"decided": 1.0}, 7) == {"decided": 7}
    assert allocate({"none": 1.0}, 7) == {"none": 7}
    assert allocate({"right": 0.5, "wrong": 0.5}, 2) == {"right": 1, "wrong": 1}
    with pytest.raises(InputError, match="too few"):
        allocate({"right": 0.5, "wrong": 0.5}, 1)


def test_more_moments_of_the_same_seed_contain_those_of_fewer() -> None:
    few, _ = draw(MANY, silver, moments=60)
    many, _ = draw(MANY, silver, moments=90)

    def where(sample: AuditSample) -> Counter[tuple[str, float]]:
        return Counter((m.stream, m.at) for m in sample.moments)

    assert where(few) <= where(many)


def test_groups_share_the_moments_alike() -> None:
    rows = audited_rows(TWO * 20)
    for row in rows:
        row["release"] = "new" if row["stream"] == "s1" else "old"
    sample, _ = draw_sample(table_of(rows), by="release", moments=41)
    counted = Counter(sample.strata[m.stratum].group for m in sample.moments)
    assert dict(counted) == {0: 21, 1: 20}
    assert [g.by for g in sample.groups] == [{"release": "new"}, {"release": "old"}]


# What people see


def _items(folder: Path, rows: list[dict[str, Any]], **how: Any) -> bytes:
    sample, items = draw_sample(table_of(rows), **how)
    write_audit(folder, sample, items)
    return (folder / "items.jsonl").read_bytes()


MANY = [replace(TWO[k % 2], end=TWO[k % 2].end + k / 10) for k in range(60)]


def test_decisions_components_and_confidence_leave_no_trace_in_what_people_see(
    tmp_path: Path,
) -> None:
    """Without silver what is asked hangs on times alone."""
    rows = audited_rows(MANY)
    other = [
        {
            **row,
            "decision": row["decision"] and ("b" if row["decision"] == "a" else "a"),
            "component": "slow" if k % 3 else "fast",
            "confidence": k / len(rows),
            "cost": float(k),
        }
        for k, row in enumerate(rows)
    ]
    constant = [{**row, "decision": "a" if k else "b"} for k, row in enumerate(rows)]
    found = {
        _items(tmp_path / str(k), one, moments=50, seed=4)
        for k, one in enumerate((rows, other, constant))
    }
    assert len(found) == 1


def test_silver_decides_which_states_are_asked_and_nothing_else_that_people_see(
    tmp_path: Path,
) -> None:
    """Two logs of whose seconds silver says the same, though decisions and silver are others."""
    rows = audited_rows(MANY, silver)
    swapped = [
        {
            **row,
            **{
                name: row[name] and {"a": "b", "b": "a"}[row[name]]
                for name in ("decision", "reference")
            },
        }
        for row in rows
    ]
    one = _items(tmp_path / "one", rows, moments=50, silver="column")
    assert one == _items(tmp_path / "two", swapped, moments=50, silver="column")
    # Another silver asks about other states; those that both ask about look the same and are in the
    # same order.
    third = _items(
        tmp_path / "three", audited_rows(MANY, lambda k, i: "a"), moments=50, silver="column"
    )
    assert third != one
    lines = [
        [{**json.loads(line), "item": ""} for line in text.splitlines()] for text in (one, third)
    ]
    shared = [[line for line in own if line in lines[1 - k]] for k, own in enumerate(lines)]
    assert shared[0] == shared[1]
    assert len(shared[0]) > 10


def test_the_order_of_items_is_a_matter_of_the_seed(tmp_path: Path) -> None:
    """Neither strata, streams nor instants can be read off it."""
    sample, items = draw(MANY, silver, moments=100)
    again, others = draw(MANY, silver, moments=100, seed=1)
    assert [i.state for i in items] != [i.state for i in others]
    assert sample != again
    place = {item.item: k for k, item in enumerate(items)}
    wrong = [place[m.item] for m in sample.moments if sample.strata[m.stratum].says == "wrong"]
    assert np.mean(wrong) == pytest.approx(len(items) / 2, rel=0.15)


def test_what_people_see_names_nothing_but_states_and_options(tmp_path: Path) -> None:
    rows = audited_rows(MANY, silver)
    for k, row in enumerate(rows):
        row |= {
            "component": "modelX",
            "confidence": 0.123,
            "stream": f"customer-{row['stream']}",
            "k": k,
        }
    text = _items(tmp_path / "audit", rows, moments=50, silver="column").decode()
    assert not any(word in text for word in ("modelX", "0.123", "customer", "silver", "wrong"))
    for item in AuditFolder.open(tmp_path / "audit").items.values():
        assert set(item.questions) == {"decision"}
        assert set(item.questions["decision"].options) == {"a", "b"}
        step = item.state["step"]
        assert item.before == (None if step == 0 else {**item.state, "step": step - 1})


def test_a_state_is_asked_once_however_many_moments_need_it() -> None:
    rows = [{**row, "state": f"said {k % 3}"} for k, row in enumerate(audited_rows(MANY))]
    sample, items = draw_sample(table_of(rows), moments=80)
    assert sorted(item.state for item in items) == ["said 0", "said 1", "said 2"]
    assert {m.item for m in sample.moments} <= {item.item for item in items}


def test_decisions_that_are_objects_are_asked_field_by_field(tmp_path: Path) -> None:
    rows = audited_rows(MANY)
    said = ['{"do": "say", "word": "go", "n": 1}', '{"n": 1, "do": "wait"}']
    for k, row in enumerate(rows):
        row["decision"] = row["decision"] and said[k % 2]
    sample, items = draw_sample(table_of(rows), moments=30)
    assert {n: list(q.options) for n, q in items[0].questions.items()} == {
        "do": ["say", "wait"],
        "word": ["go", "none"],
    }
    assert sample.asked.decision({"do": "wait", "word": "none"}) == '{"do":"wait","n":1}'
    assert {m.decision for m in sample.moments} <= {
        None, '{"do":"wait","n":1}', '{"do":"say","n":1,"word":"go"}'
    }  # fmt: skip


def test_states_are_json_or_text() -> None:
    assert state_value('{"a": 1.0}') == ('{"a":1}', {"a": 1})
    assert state_value("[broken") == ("[broken", "[broken")
    assert state_value('"\\ud800"') == ("?", "?")


# Files, times and what cannot be sampled


def test_states_of_streams_with_unusable_rows_are_still_their_own() -> None:
    rows = audited_rows(MANY)
    broken = [
        {**row, "decision": None, "published_at": row["published_at"] + 0.25, "state": "broken"}
        for row in rows
        if row["stream"] in ("s3", "s8") and row["decision"] is not None
    ]
    sample, items = draw_sample(table_of([*rows, *broken]), moments=300, allow_unusable=len(broken))
    assert "broken" not in [item.state for item in items]
    state = {item.item: item.state for item in items}
    for moment in sample.moments:
        assert f"s{state[moment.item]['stream']}" == moment.stream
        times = MANY[state[moment.item]["stream"]].times
        assert times[state[moment.item]["step"]] == moment.published_at
    assert "left out" in sample.notes[0]


def test_timestamps_come_back_as_they_were(tmp_path: Path) -> None:
    table = audited_table(MANY)
    for name in ("published_at", "answered_at", "ended_at"):
        micro = pa.array(
            [None if v is None else round(v * 1e6) for v in table[name].to_pylist()],
            pa.timestamp("us", "UTC"),
        )
        table = table.set_column(table.schema.get_field_index(name), name, micro)
    pq.write_table(table, tmp_path / "log.parquet")
    sample, _ = draw_sample(tmp_path / "log.parquet", moments=20, by="day")
    assert sample.source.clock == ("timestamp", "us", "UTC")
    assert sample.groups[0].by == {"day": "1970-01-01"}
    known = {v.value for v in table["published_at"]}
    assert all(m.published_at in known for m in sample.moments)


@pytest.mark.parametrize(
    ("change", "how", "message"),
    [
        (lambda rows: [{k: v for k, v in r.items() if k != "state"} for r in rows], {}, "no column 'state'"),
        (lambda rows: [{**r, "state": r["state"] if k else None} for k, r in enumerate(rows)], {},
         "rows without a state"),
        (lambda rows: [{**r, "decision": None, "answered_at": None} for r in rows], {}, "no decision"),
        (lambda rows: [{**r, "decision": r["decision"] and "a"} for r in rows], {}, "nothing to decide"),
        (lambda rows: rows, {"by": "release"}, "no column 'release'"),
        (lambda rows: rows, {"moments": 0}, "--moments is 0"),
        (lambda rows: rows, {"moments": 1}, "too few"),
        (lambda rows: rows, {"silver": "column"}, "silver says nothing"),
        (lambda rows: [{k: v for k, v in r.items() if k != "reference"} for r in rows],
         {"silver": "column"}, "no column 'reference'"),
        (lambda rows: [{**r, "decision": r["decision"] and f'{{"other":"{r["decision"]}"}}'} for r in rows],
         {}, "called 'other'"),
    ],
)  # fmt: skip
def test_what_cannot_be_sampled_is_refused_with_the_reason(
    change: Any, how: dict[str, Any], message: str
) -> None:
    rows = change(audited_rows(MANY))
    schema = table_of(audited_rows(MANY)).schema
    table = pa.Table.from_pylist(rows, schema=pa.schema([f for f in schema if f.name in rows[0]]))
    with pytest.raises(InputError, match=message):
        draw_sample(table, **{"moments": 20, **how})


def test_an_audit_goes_into_a_fresh_folder(tmp_path: Path) -> None:
    sample, items = draw(MANY, moments=20)
    write_audit(tmp_path / "audit", sample, items)
    with pytest.raises(InputError, match="is not empty"):
        write_audit(tmp_path / "audit", sample, items)
