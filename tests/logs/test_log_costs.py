"""Spells, changes, acts and costs of a log: the recording's own, and pooled as the definition says."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamdecisionbench as sdb_api
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    NO_ANSWER,
    UNKNOWN,
    Timeline,
)
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.logs.log_sums import (
    LogSettings,
    LogSums,
)
from streamdecisionbench.policies.cost_file import default_costs
from streamdecisionbench.policies.cost_rules import (
    Costs,
    Section,
)
from streamdecisionbench.scoring.error_costs import (
    ALL_ACTS,
    act_measures,
    change_measures,
    path_measures,
    spell_measures,
)
from streamdecisionbench.scoring.score_json import cost_to_json
from streamdecisionbench.scoring.stream_sums import LatencySums
from tests.cli.command import sdb
from tests.kernel.plain_streams import Stream
from tests.logs.made_logs import rows_of, table_of
from tests.logs.test_score_log import drawn, judged
from tests.scoring.costs import plain_costs
from tests.scoring.costs.test_costs import VALUES, plainly, sections

EXACT = 1e-12
SOME = settings(max_examples=60, deadline=None)
WORDS = dict(zip("abcd", [json.dumps(value) for value in VALUES], strict=False))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A recording and the log it was written as."""
    folder = tmp_path_factory.mktemp("recorded")
    run, log = folder / "run", folder / "log.parquet"
    done = sdb("run", "simulated:astra-low", "--clock", "virtual", "--quiet", "--out", run)
    assert done.returncode == 0, done.stderr
    assert sdb("logs", "export", run, "--no-states", "--out", log).returncode == 0
    return run, log


def close(found: Any, want: Any, place: str = "", exact: float = EXACT) -> None:
    if isinstance(want, dict):
        assert set(want) <= set(found), place
        for key, value in want.items():
            close(found[key], value, f"{place}.{key}", exact)
    elif isinstance(want, tuple):
        assert found == pytest.approx(want, rel=exact), place
    elif isinstance(want, float):
        assert found == pytest.approx(want, rel=exact, abs=exact), place
    else:
        assert found == want, place


@pytest.mark.parametrize("interval", [1.0, 2.0])
def test_an_exported_recording_costs_what_the_recording_costs(
    recorded: tuple[Path, Path], interval: float
) -> None:
    run, log = recorded
    done = sdb(
        "logs", "score", log, "--by", "scenario", "--interval", interval, "--bounds", "0.5", "8",
        "--costs", "default", "--theta", "4", "--json",
    )  # fmt: skip
    document = json.loads(done.stdout)
    costs = default_costs()
    assert document["costs"]["sha256"] == costs.digest
    assert document["theta"] == 4
    scored = json.loads(
        sdb("score", run, "--interval", interval, "--costs", "default", "--json").stdout
    )["recordings"][0]
    score = sdb_api.score(run, interval=interval, costs=costs)
    assert score.cost is not None
    course = path_measures(score.parts, interval, Bounds())
    spells, changes = spell_measures(course, 4.0), change_measures(course)
    acts = act_measures(course, costs)
    groups = {group["by"]["scenario"]: group for group in document["groups"]}
    assert set(groups) == set(score.by_scenario)
    for name, group in groups.items():
        close(group["cost_of_error"], cost_to_json(score.cost.levels.by_scenario[name]), name)
        close(group["cost_of_error"], scored["by_scenario"][name]["cost"], name)
        close(group["spells"], asdict(spells.by_scenario[name]), name)
        close(group["changes"], asdict(changes.by_scenario[name]), name)
        mine = {act.name for act in costs.section(score.family_of[name]).acts}
        assert set(group["actions"]) == {*mine, ALL_ACTS}
        for act in group["actions"]:
            close(group["actions"][act], asdict(acts[act].by_scenario[name]), f"{name} {act}")


def timeline_of(stream: Stream) -> Timeline:
    start = stream.times[0]
    return Timeline(
        "s",
        "f",
        stream.tick,
        np.array([t - start for t in stream.times]),
        np.array([np.inf if w is None else w for w in stream.latencies]),
        np.array([UNKNOWN if y is None else "abcd".index(y) for y in stream.references]),
        np.array([NO_ANSWER if p is None else "abcd".index(p) for p in stream.decisions]),
        end=stream.end - start,
    )


def worded(streams: list[Stream]) -> list[dict[str, Any]]:
    """Rows with decisions of several fields; every other stream is of another family."""
    rows = rows_of(streams)
    for row in rows:
        for name in ("decision", "reference"):
            row[name] = row[name] and WORDS[row[name]]
        row["family"] = "even" if int(row["stream"][1:]) % 2 == 0 else "odd"
    return rows


@SOME
@given(judged, sections(), sections(), st.sampled_from([None, 0.5, 2.0]))
def test_a_group_pools_what_its_streams_cost(
    streams: list[Stream], even: Section, odd: Section, interval: float | None
) -> None:
    costs = Costs("drawn", families={"even": even}, default=odd)
    found = sdb_api.score_log(
        table_of(worded(streams)), costs=costs, theta=1.5, interval=interval, resamples=0
    ).groups[0]
    want: dict[str, float] = {}
    delays: list[tuple[float, float]] = []
    for k, stream in enumerate(streams):
        part, section = timeline_of(stream), odd if k % 2 else even
        pace = part.tick if interval is None else interval
        walked = plain_costs.walk(part, pace)
        T = plain_costs.observed(walked)
        sums = {**plain_costs.measures(walked, 1.5), "T": 1.0}
        if T:
            sums |= plainly(lambda x, p=part: plain_costs.walk(p, x), part, section)(pace)  # type: ignore[misc]
        count = sums.pop("count")
        longest = sums.pop("longest")
        acts = {name: sums.pop(name, 0.0) for name in ("calls", "in_time", "late", "missed", "wrongly", "twice")}  # fmt: skip
        wrong_s = plain_costs.measures(walked, 0.0)["beyond"]
        rates = {**sums, "wrong_s": wrong_s}
        for name, value in rates.items():
            want[name] = want.get(name, 0.0) + value * T
        for name, value in {**acts, "count": count, **plain_costs.edits(walked, pace)}.items():
            want[name] = want.get(name, 0.0) + value
        want["longest"] = max(want.get("longest", 0.0), longest)
        delays += plain_costs.delays(walked)
    T = want["T"]
    assert found.costs is not None
    spells, changes, cost = found.costs.spells, found.costs.changes, found.costs.cost
    assert cost is not None
    close(
        {
            **asdict(spells),
            **asdict(cost),
            "never": changes.never_right,
            "changes": changes.changes,
            "needed": changes.decision_changes.needed,
            "useless": changes.decision_changes.useless,
            "reversed": changes.decision_changes.reversed_in_a_tick,
        },
        {
            "mean_age_s": want["mean_age"] / T,
            "beyond_share": want["beyond"] / T,
            "long_share": want["long"] / T,
            "wrong_share": want["wrong_s"] / T,
            "longest_s": want["longest"],
            "count": round(want["count"]),
            "wrong": want["wrong"] / T,
            "age": want["age"] / T,
            "acts": want["act_rate"] / T,
            "never": sum(np.isinf(d) for d, _ in delays),
            "changes": len(delays),
            "needed": round(want["needed"]),
            "useless": round(want["useless"]),
            "reversed": round(want["reversed"]),
        },
    )
    acts_found = asdict(found.costs.acts[ALL_ACTS])
    names = ("calls", "in_time", "late", "missed", "wrongly", "twice")
    close(acts_found, {name: round(want[name]) for name in names})


def test_parts_merge_to_the_whole() -> None:
    table = table_of(worded(drawn(60, 9))).sort_by(
        [("stream", "ascending"), ("published_at", "ascending")]
    )
    asked = LogSettings(costs=default_costs(), theta=2.0, bounds=Bounds(), resamples=20)
    whole = LogSums(asked)
    whole.add(table)
    streams = table["stream"].to_pylist()
    cuts = [0, streams.index("s3"), streams.index("s40"), len(streams)]
    parts = [LogSums(asked) for _ in cuts[1:]]
    for part, begin, end in zip(parts, cuts, cuts[1:], strict=False):
        part.add(table.slice(begin, end - begin))
    one, *others = reversed(parts)
    for other in others:
        one.merge(other)
    found, want = (
        asdict(sums.charged[()].get(sums.groups[()].spread("pace"), priced=True))
        for sums in (one, whole)
    )
    assert want["spells"]["count"] > 100
    close(found, want)


def test_many_delays_keep_their_quantiles(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(worded(drawn(150, 12)))
    exact = sdb_api.score_log(table, theta=4, resamples=0).groups[0].costs
    monkeypatch.setattr("streamdecisionbench.scoring.stream_sums._KEPT", 10)
    binned = sdb_api.score_log(table, theta=4, resamples=0).groups[0].costs
    assert exact is not None
    assert binned is not None
    assert (exact.delay_error, binned.delay_error) == (0.0, 0.006)
    assert exact.changes.median_delay_s is not None
    assert binned.changes.median_delay_s == pytest.approx(exact.changes.median_delay_s, rel=0.006)
    assert LatencySums().values()[0].size == 0


def test_what_the_costs_do_not_fit_is_said(tmp_path: Path) -> None:
    rows = worded(drawn(4, 6))
    costs = tmp_path / "mine.toml"
    costs.write_text(
        'schema = "sdb-costs/1"\n[default.fields]\ndo = 2.0\n[family.odd.fields]\ndoo = 3.0\n'
    )
    notes = sdb_api.score_log(table_of(rows), costs=costs).notes
    assert "costs: no section for family 'even'; `default` was used" in notes
    assert "costs: no decision of family 'odd' in this log has doo" in notes
    for row in rows:
        del row["family"]
    notes = sdb_api.score_log(table_of(rows), costs=costs).notes
    assert "costs: the log has no column 'family', so the section `default` was used" in notes


def test_a_decision_without_fields_is_one_field(tmp_path: Path) -> None:
    costs = tmp_path / "mine.toml"
    costs.write_text(
        'schema = "sdb-costs/1"\n[default]\nno_decision = 0.5\n[[default.pairs]]\n'
        'field = "decision"\nreference = "pause"\ndecision = "record"\ncost = 20.0\n'
    )
    rows = [
        {"stream": "s", "published_at": 0.0, "answered_at": 1.0, "decision": "record",
         "reference": "record", "ended_at": 8.0},
        {"stream": "s", "published_at": 4.0, "answered_at": 6.0, "decision": "pause",
         "reference": "pause", "ended_at": 8.0},
    ]  # fmt: skip
    group = sdb_api.score_log(table_of(rows), costs=costs).groups[0]
    assert group.costs is not None
    assert group.costs.cost is not None
    assert group.costs.cost.total == pytest.approx((1 * 0.5 + 2 * 20) / 8)
    assert group.costs.spells.mean_age_s == pytest.approx((1 / 2 + 4 / 2) / 8)


def test_refusals(tmp_path: Path) -> None:
    log = tmp_path / "log.parquet"
    pq.write_table(table_of(rows_of(drawn(3, 5))), log)
    costs = tmp_path / "mine.toml"
    costs.write_text('schema = "sdb-costs/1"\n[default]\nwrong = -1\n')
    done = sdb("logs", "score", log, "--costs", costs)
    assert done.returncode == 2
    assert "default.wrong = -1 is not allowed" in done.stderr
    with pytest.raises(InputError, match="theta"):
        sdb_api.score_log(log, theta=-1)
    with pytest.raises(InputError, match="no such file"):
        sdb_api.score_log(log, costs=tmp_path / "none.toml")


def test_tables_and_columns(tmp_path: Path) -> None:
    log = tmp_path / "log.parquet"
    pq.write_table(table_of(worded(drawn(12, 8))), log)
    asked = ("logs", "score", log, "--by", "family", "--costs", "default")
    shown = sdb(*asked).stdout
    assert "Wrong spells" in shown
    assert "What being wrong costs" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
    head, *rows = sdb(*asked, "--csv").stdout.splitlines()
    assert "mean_age_s" in head
    assert head.endswith("cost_per_second")
    assert len(rows) == 2
    assert "Wrong spells" not in sdb("logs", "score", log).stdout
    assert sdb(*asked, "--page", tmp_path / "page.html").returncode == 0
    page = (tmp_path / "page.html").read_text()
    assert "Wrong spells, and delays after a change of what is right" in page
    assert "What being wrong costs (SDB v1 defaults" in page
