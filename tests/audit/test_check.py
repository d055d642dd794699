"""Comparing answers with references: every disagreement is found and explained."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from streamdecisionbench.analysis.agreement import (
    check,
    read_answers,
)
from streamdecisionbench.audit.probe import SHORTCUTS, shortcuts
from streamdecisionbench.errors import InputError
from streamdecisionbench.examples import example_suite
from streamdecisionbench.suite.scenario import Scenario, Suite
from streamdecisionbench.suite.suite_files import write_suite
from tests.cli.command import sdb

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scenario(sdb_v1: Suite) -> Scenario:
    return sdb_v1.scenarios["support_a"]


def _sheet(of: Scenario, path: Path, **changed: Any) -> Path:
    steps = [{"t": s.t, "answers": dict(s.gold)} for s in of.steps]
    path.write_text(json.dumps({"scenario": of.episode_id, "steps": steps, **changed}))
    return path


def test_full_agreement(scenario: Scenario, tmp_path: Path) -> None:
    path = _sheet(scenario, tmp_path / "a.json")
    result = check(scenario, read_answers(path, scenario))
    assert result.consumed == result.states == 60
    assert result.disagreements == ()
    done = sdb("audit", "check", "support_a", path)
    assert done.returncode == 0
    assert "60 of 60" in done.stdout


def test_labels_count_as_well_as_values(scenario: Scenario, tmp_path: Path) -> None:
    steps = [{"t": s.t, "answers": scenario.encode(s.gold)} for s in scenario.steps]
    path = _sheet(scenario, tmp_path / "a.json", steps=steps)
    assert check(scenario, read_answers(path, scenario)).consumed == 60


def test_a_disagreement_shows_both_sides(scenario: Scenario, tmp_path: Path) -> None:
    steps = [{"t": s.t, "answers": dict(s.gold)} for s in scenario.steps]
    steps[33]["answers"]["hold_action"] = "wait"  # type: ignore[index]
    steps[0]["answers"]["hold_action"] = "wait"  # type: ignore[index]
    path = _sheet(scenario, tmp_path / "a.json", steps=steps)
    result = check(scenario, read_answers(path, scenario))
    assert (result.consumed, result.per_question["hold_action"]) == (59, 58)
    ignored, consumed = result.disagreements
    assert (ignored.t, ignored.consumed) == (0, False)
    assert (consumed.t, consumed.consumed) == (33, True)
    assert consumed.reference["hold_action"] == "return_customer"
    assert consumed.answered["hold_action"] == "wait"
    assert consumed.evidence
    done = sdb("audit", "check", "support_a", path, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["consumed"] == 59


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"steps": "x"}, "no list"),
        ({"scenario": "support_b"}, "answers 'support_b'"),
        ({"steps": []}, "60 steps are not answered"),
        ({"steps": [{"t": 0}]}, "has no answers"),
        ({"steps": [{"t": 99, "answers": {}}]}, "steps[0].t is 99"),
        ({"steps": [{"t": 0, "answers": {"route": "moon"}}]}, "steps[0].answers.route is 'moon'"),
        ({"steps": [{"t": 0, "answers": {"route": ["moon"]}}]}, "steps[0].answers.route is"),
        ({"steps": [{"t": 0, "answers": ["moon"]}]}, "steps[0]"),
        ({"steps": [["moon"]]}, "steps[0]"),
    ],
)
def test_bad_sheets(scenario: Scenario, tmp_path: Path, change: dict[str, Any], words: str) -> None:
    path = _sheet(scenario, tmp_path / "a.json", **change)
    with pytest.raises(InputError) as caught:
        read_answers(path, scenario)
    assert words in str(caught.value)
    done = sdb("audit", "check", "support_a", path)
    assert done.returncode == 2
    assert words in done.stderr


def test_shortcuts_by_hand(scenario: Scenario) -> None:
    found = shortcuts(scenario)
    assert set(found) == set(SHORTCUTS)
    decisions = [tuple(d.items()) for d in scenario.reference()]
    assert found["best_constant"] == max(map(decisions.count, decisions)) / 60
    assert found["persistence"] == (59 - len(scenario.changes())) / 60
    first = msgspec.structs.replace(
        scenario,
        steps=tuple(
            msgspec.structs.replace(
                s,
                gold={
                    q: next(iter(scenario.option_semantics[q].values())) for q in scenario.questions
                },
            )
            for s in scenario.steps
        ),
    )
    assert shortcuts(first)["first_option"] == 1.0
    assert shortcuts(first)["position"] == 1.0


def test_shortcuts_stay_near_zero(sdb_v1: Suite) -> None:
    """All but the two bounds that know the references of the same timeline."""
    for scenario in sdb_v1:
        for name, value in shortcuts(scenario).items():
            limit = 0.70 if name == "persistence" else 0.25
            assert value <= limit, f"{scenario.episode_id} {name}"


def test_commands_print_tables() -> None:
    done = sdb("audit", "shortcuts")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "…" not in done.stdout
    assert (
        json.loads(sdb("audit", "shortcuts", "--json").stdout)["schema"] == "sdb-audit-shortcuts/1"
    )


def test_the_table_of_shortcuts_names_its_columns(tmp_path: Path) -> None:
    """A scenario called by words keeps them; more scenarios than fit are means by family."""
    write_suite(example_suite(), tmp_path / "own")
    done = sdb("audit", "shortcuts", "--data", tmp_path / "own")
    assert re.search(r"^shortcut +tiny +mean$", done.stdout, re.MULTILINE), done.stdout
    fresh = ("--seed", "7", "--families", "live_debugging", "--per-family", "9", "--steps", "30")
    sdb("suite", "generate", *fresh, "--changes", "10", "--out", tmp_path / "fresh")
    done = sdb("audit", "shortcuts", "--data", tmp_path / "fresh")
    assert "means of 9 scenarios by family" in " ".join(done.stdout.split())
    assert re.search(r"^shortcut +IDE debugging +mean$", done.stdout, re.MULTILINE), done.stdout
