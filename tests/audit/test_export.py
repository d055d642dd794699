"""A blind reader sees what a component sees, and nothing of the reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.audit.blind_export import export
from streamdecisionbench.suite.scenario import Scenario, Suite
from streamdecisionbench.suite.state_changes import state_changes
from tests.cli.command import sdb

pytestmark = pytest.mark.slow

PRIVATE = {"gold", "evidence", "decision", "reference", "option_semantics", "decision_spec", "note"}
"""Keys of a scenario file, or of an author's timeline, that no reader may see."""


@pytest.fixture(scope="module")
def folders(sdb_v1: Suite, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("audit")
    return {s.episode_id: export(s, root / s.episode_id) for s in sdb_v1}


def test_steps_are_exactly_the_requests(sdb_v1: Suite, folders: dict[str, Path]) -> None:
    for scenario in sdb_v1:
        files = sorted((folders[scenario.episode_id] / "steps").iterdir())
        assert [f.name for f in files] == [f"{t:02d}.json" for t in range(scenario.n)]
        for t, file in enumerate(files):
            assert json.loads(file.read_text()) == scenario.request(t)


def test_nothing_but_the_public_part_is_exported(sdb_v1: Suite, folders: dict[str, Path]) -> None:
    """No note of the author and no reference answer, in any file of any scenario."""
    for scenario in sdb_v1:
        folder = folders[scenario.episode_id]
        names = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
        steps = {f"steps/{t:02d}.json" for t in range(scenario.n)}
        assert names == steps | {"README.md", "answers.template.json", "timeline.md"}
        text = "\n".join(p.read_text() for p in folder.rglob("*") if p.is_file())
        for step in scenario.steps:
            for note in step.evidence:
                assert note not in text, f"{scenario.episode_id} t={step.t}: a note leaked"
        for step in steps:
            keys = {key for key, _ in _keys(json.loads((folder / step).read_text()))}
            assert not keys & PRIVATE, f"{scenario.episode_id} {step}"
        sheet = json.loads((folder / "answers.template.json").read_text())
        assert all(value is None for entry in sheet["steps"] for value in entry["answers"].values())


def test_no_gold_value_stands_alone_outside_option_texts(sdb_v1: Suite) -> None:
    """No field of a state holds a composed decision: nothing precomputed names the answer.

    A state may well name things that are also option values (a file, a card, a slide). What it may
    not hold is a field that equals the reference answer of one question at every single step, or an
    object that holds the decision of its step. (An answer that never varies tells nothing.)
    """
    for scenario in sdb_v1:
        spec = scenario.decision_spec
        for step in scenario.steps:
            decision = spec.compose(step.gold)
            for group in _groups(step.state):
                held = all(group.get(q) == value for q, value in decision.items())
                assert not held, f"{scenario.episode_id} t={step.t}: a state holds the decision"
        for question in scenario.questions:
            values = [step.gold[question] for step in scenario.steps]
            if len(set(values)) == 1:
                continue
            for path, seen in _columns(scenario).items():
                assert seen != values, (
                    f"{scenario.episode_id}: state.{path} is the answer to {question}"
                )


def test_timeline_replays_to_the_last_state(sdb_v1: Suite, folders: dict[str, Path]) -> None:
    """The compact view loses nothing: every change of every state is a line of it."""
    for scenario in sdb_v1:
        text = (folders[scenario.episode_id] / "timeline.md").read_text()
        for before, after in zip(scenario.steps, scenario.steps[1:], strict=False):
            for line in state_changes(before.state, after.state):
                assert f"- {line}\n" in text


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    done = sdb("audit", "export", "support_a", "--out", tmp_path)
    assert done.returncode == 2
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]
    done = sdb("audit", "export", "support_z", "--out", tmp_path / "x")
    assert done.returncode == 2
    assert "support_a" in done.stderr


def _keys(value: Any, path: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if isinstance(value, dict):
        for key, inner in value.items():
            found.append((key, path))
            found += _keys(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            found += _keys(inner, path)
    return found


def _groups(value: Any) -> list[dict[str, Any]]:
    """Every object within a state."""
    inner = list(value.values()) if isinstance(value, dict) else value
    found = [value] if isinstance(value, dict) else []
    if isinstance(inner, list):
        found += [group for item in inner for group in _groups(item)]
    return found


def _columns(scenario: Scenario) -> dict[str, list[Any]]:
    """Every scalar field that all states have, as its values over time (rules left out)."""
    rows = [dict(_scalars(step.state)) for step in scenario.steps]
    shared = set.intersection(*(set(row) for row in rows))
    return {path: [row[path] for row in rows] for path in shared if not path.startswith("rules")}


def _scalars(value: Any, path: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [
            pair
            for key, inner in value.items()
            for pair in _scalars(inner, f"{path}.{key}" if path else key)
        ]
    if isinstance(value, list):
        return [pair for i, inner in enumerate(value) for pair in _scalars(inner, f"{path}[{i}]")]
    return [(path, value)]
