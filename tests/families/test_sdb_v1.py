"""The suite as a whole: its structural facts, its freeze, and that timing results carry over."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamdecisionbench.analysis.paper_analyses import facts
from streamdecisionbench.families.sdb_v1 import build, recheck
from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.render.table import fixed
from streamdecisionbench.scoring.score import score_timelines
from streamdecisionbench.suite.scenario import FAMILIES, Scenario, Suite
from streamdecisionbench.suite.suite_check import validate_suite
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite, write_suite

pytestmark = pytest.mark.slow

# scenario: questions, routes, fewest and most options, segment lengths in ticks
TABLE: dict[str, tuple[int, int, int, int, list[int]]] = {
    "debugging_a": (7, 6, 2, 6, [3, 2, 4, 2, 3, 2, 4, 3, 2, 4, 2, 3, 2, 3, 4, 2, 2, 3, 3, 5, 2]),
    "debugging_b": (7, 6, 2, 6, [1, 1, 5, 2, 2, 2, 5, 2, 2, 4, 2, 3, 4, 4, 2, 3, 2, 4, 2, 3, 2, 3]),
    "assembly_a": (6, 7, 5, 7, [2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 4, 6, 2, 4, 2, 2, 4, 2, 2, 2, 2, 7]),
    "assembly_b": (6, 7, 5, 9, [2, 2, 2, 2, 2, 2, 4, 6, 2, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 8, 1, 1]),
    "support_a": (7, 4, 3, 7, [4, 4, 4, 8, 2, 3, 2, 2, 4, 1, 2, 4, 2, 2, 2, 2, 2, 1, 1, 2, 2, 2, 2]),
    "support_b": (7, 6, 3, 8, [2, 4, 2, 4, 4, 2, 2, 2, 2, 4, 4, 2, 2, 2, 2, 2, 2, 4, 1, 2, 2, 1, 2, 2, 2]),
    "presenter_a": (6, 4, 3, 12, [4, 5, 6, 2, 2, 3, 2, 2, 1, 1, 1, 1, 3, 3, 1, 3, 2, 3, 1, 2, 2, 2, 1, 4, 3]),
    "presenter_b": (6, 4, 3, 12, [7, 2, 2, 1, 3, 5, 2, 2, 2, 2, 2, 3, 3, 2, 1, 3, 2, 2, 2, 4, 3, 1, 4]),
}  # fmt: skip

TITLES = {
    "debugging_a": "Refund watch loop",
    "debugging_b": "Settlement integration debug session",
    "assembly_a": "Gearbox cover: mismatched part, joint rework and quality hold",
    "assembly_b": "Cable module: orientation, crimp repair and stale electrical checks",
    "support_a": "Payment, reconnection and recorder control",
    "support_b": "Intercom delivery, cancellation and repair guidance",
    "presenter_a": "Conference talk with a demo clip and floor questions",
    "presenter_b": "Flood-barrier briefing with a clip and a mid-talk question",
}


@pytest.fixture(scope="module")
def suite() -> Suite:
    return read_suite(builtin_suite_path())


@pytest.fixture(scope="module")
def rows(suite: Suite) -> dict[str, dict[str, Any]]:
    return {s.episode_id: facts(s) for s in suite}


def test_it_is_all_there(suite: Suite) -> None:
    assert list(suite.scenarios) == list(TABLE)
    assert {s.episode_id: s.title for s in suite} == TITLES
    assert list(suite.families()) == list(FAMILIES)
    assert all(len(scenarios) == 2 for scenarios in suite.families().values())
    assert all(s.scenario_id == s.episode_id and s.tick_seconds == 2.0 for s in suite)


@pytest.mark.parametrize("name", TABLE)
def test_structural_facts(suite: Suite, rows: dict[str, dict[str, Any]], name: str) -> None:
    questions, routes, fewest, most, segments = TABLE[name]
    row = rows[name]
    assert (row["questions"], row["routes"]) == (questions, routes)
    assert (row["options_min"], row["options_max"]) == (fewest, most)
    assert row["steps"] == 60
    assert suite.scenarios[name].changes() == np.cumsum(segments)[:-1].tolist()
    assert 2 <= row["consumed_min"] <= row["consumed_max"] <= 5
    assert row["tokens_min"] >= 2000
    assert row["tokens_max"] <= 4000
    scenario = suite.scenarios[name]
    assert scenario.decision_spec.questions() == set(scenario.questions)


def test_totals(rows: dict[str, dict[str, Any]]) -> None:
    assert sum(r["steps"] for r in rows.values()) == 480
    assert sum(r["steps"] * r["questions"] for r in rows.values()) == 3120
    assert sum(r["changes"] for r in rows.values()) == 177
    assert sum(r["near_states"] for r in rows.values()) == 400
    assert sum(r["steps"] - r["near_states"] for r in rows.values()) == 80


def test_trivial_baselines_stay_trivial(rows: dict[str, dict[str, Any]]) -> None:
    assert sum(r["first_option_states"] for r in rows.values()) <= 0.01 * 480
    assert sum(r["lexical_overlap_states"] for r in rows.values()) <= 0.02 * 480
    assert all(r["best_constant"] <= 0.25 for r in rows.values())
    assert sum(r["best_constant"] for r in rows.values()) / 8 <= 0.15


def test_the_freeze_is_what_the_sources_build(suite: Suite, tmp_path: Path) -> None:
    assert validate_suite(builtin_suite_path()) == []
    assert recheck(suite) == []
    fresh = build()
    assert fresh.manifest == suite.manifest
    write_suite(fresh, tmp_path)
    for path in sorted(builtin_suite_path().iterdir()):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_recheck_notices_a_changed_answer(suite: Suite) -> None:
    scenario = suite.scenarios["support_a"]
    step = scenario.steps[33]
    import msgspec

    gold = {**step.gold, "hold_action": "wait"}
    steps = (*scenario.steps[:33], msgspec.structs.replace(step, gold=gold), *scenario.steps[34:])
    broken = msgspec.structs.replace(scenario, steps=steps)
    found = recheck(msgspec.structs.replace(suite, scenarios={"support_a": broken}))
    assert found == [
        "support_a tick 33: stored hold_action = wait, the reference says return_customer"
    ]


def test_no_state_shows_a_label_or_a_later_tick(suite: Suite) -> None:
    for scenario in suite:
        for step in scenario.steps:
            assert step.state["clock"]["now"] == step.t
            label = re.search(r"\bK\d\d\b", json.dumps(step.state))
            assert label is None, f"{scenario.episode_id} t={step.t}: {label}"
            for path, value in _ticks(step.state):
                assert value <= step.t, f"{scenario.episode_id} t={step.t}: {path} = {value}"


def _ticks(value: Any, path: str = "") -> list[tuple[str, int]]:
    """Every field that says when something happened."""
    found: list[tuple[str, int]] = []
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("at", "since", "started_at", "finished_at", "onset") and isinstance(
                inner, int
            ):
                found.append((f"{path}.{key}", inner))
            found += _ticks(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            found += _ticks(inner, f"{path}[{i}]")
    return found


def test_equality_pattern_is_the_published_one(suite: Suite, published_folder: Path) -> None:
    """Recurring decisions recur where the published ones do, so that timing shares carry over."""
    schedules = json.loads((published_folder / "schedules.json").read_text())["segments"]
    for name, decisions in _published_decisions(published_folder).items():
        assert TABLE[name][4] == schedules[name]
        ours = [tuple(d.items()) for d in suite.scenarios[name].reference()]
        assert _pattern(ours) == _pattern(decisions), name


def test_oracle_of_published_latencies_over_our_references(
    suite: Suite, published_folder: Path, figures: dict[str, Any]
) -> None:
    """Astra's latencies with reference answers over our suite give the paper's oracle figures."""
    parts = _replayed(suite, published_folder / "recordings" / "astra-low.csv")
    ours = score_timelines(parts)
    theirs = score_timelines(_replayed(None, published_folder / "recordings" / "astra-low.csv"))
    assert fixed(100 * ours.in_force) == fixed(figures["AstraTimingCeiling"])
    assert fixed(100 * ours.log_auc) == fixed(figures["AstraAucOracle"])
    for name in TABLE:
        one, two = ours.by_scenario[name], theirs.by_scenario[name]
        assert one.in_force == pytest.approx(two.oracle, abs=1e-12)
        assert one.log_auc == pytest.approx(two.integrated.oracle, abs=1e-12)


def _published_decisions(folder: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    with (folder / "recordings" / "astra-low.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["episode"], []).append(row["decision"])
    found["assembly_a"][32] = found["assembly_a"][31]
    return found


def _pattern(decisions: list[Any]) -> list[int]:
    return [decisions.index(d) for d in decisions]


def _replayed(suite: Suite | None, table: Path) -> list[Timeline]:
    """The table's latencies with our references as answers, or (None) with its own references."""
    rows: dict[str, list[dict[str, str]]] = {}
    with table.open(newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["episode"], []).append(row)
    references = _published_decisions(table.parents[1])
    parts = []
    for name, lines in rows.items():
        decisions: list[Any] = (
            references[name]
            if suite is None
            else [tuple(d.items()) for d in suite.scenarios[name].reference()]
        )
        reference = np.array(_pattern(decisions))
        parts.append(
            Timeline(
                name,
                _family(name),
                2.0,
                np.array([float(r["release_s"]) for r in lines]),
                np.array([float(r["recorded_s"]) - float(r["started_s"]) for r in lines]),
                reference,
                reference,
            )
        )
    return parts


def _family(name: str) -> str:
    return name.rpartition("_")[0]


def test_scenarios_ask_only_choices_with_opaque_labels(suite: Suite) -> None:
    for scenario in suite:
        for name, question in scenario.questions.items():
            labels = list(question.criteria)
            assert sorted(labels) == [f"K{i:02d}" for i in range(1, len(labels) + 1)], name
            _values_differ(scenario, name)


def _values_differ(scenario: Scenario, question: str) -> None:
    values = list(scenario.option_semantics[question].values())
    assert len(set(values)) == len(values)
