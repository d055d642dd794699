"""The audit of the built-in suite: complete, consistent, and able to notice a broken reference."""

from __future__ import annotations

import ast
import json
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from streamdecisionbench.audit.agreement import (
    AuditRecord,
    builtin_record_path,
    check,
    read_answers,
    read_record,
    summarise,
    violations,
)
from streamdecisionbench.families.assembly import reference as assembly
from streamdecisionbench.families.registry import drafts
from streamdecisionbench.suite.scenario import Scenario, Suite
from tests.cli.command import sdb


@pytest.fixture(scope="module")
def record() -> AuditRecord:
    return read_record(builtin_record_path())


def test_it_is_valid_and_covers_every_scenario_twice(sdb_v1: Suite, record: AuditRecord) -> None:
    assert violations(record, sdb_v1) == []
    for scenario in sdb_v1.scenarios:
        roles = {c.role for c in record.checks if c.scenario == scenario}
        assert {"program", "hand"} <= roles


def test_the_recorded_agreement_is_that_of_the_sheets(sdb_v1: Suite, record: AuditRecord) -> None:
    folder = builtin_record_path().parent
    for entry in record.checks:
        scenario = sdb_v1.scenarios[entry.scenario]
        result = check(scenario, read_answers(folder / entry.answers, scenario))
        assert result.consumed == entry.consumed == 60, entry.answers


def test_every_finding_has_three_votes_and_a_resolution(record: AuditRecord) -> None:
    for finding in record.findings:
        if finding.about == "reference":
            assert set(finding.votes) == {"literal", "trace", "alternative"}
            assert set(finding.vote_reasons) == set(finding.votes)
        if "ambiguous" in finding.votes.values():
            assert finding.status == "clarified", finding.id
        assert finding.resolution


def test_figures(record: AuditRecord) -> None:
    figures = summarise(record)
    assert figures["scenarios"] == 8
    assert figures["rederivations_in_full_agreement"] == figures["rederivations"] >= 16
    assert figures["reference_answers_wrong"] == 0
    done = sdb("audit", "record", "--json")
    assert json.loads(done.stdout) == figures


def _rederived(scenario: Scenario, reference: Callable[[Any], dict[str, str]]) -> Scenario:
    steps = tuple(
        msgspec.structs.replace(s, gold=reference(json.loads(json.dumps(s.state))))
        for s in scenario.steps
    )
    return msgspec.structs.replace(scenario, steps=steps)


def _flipped() -> types.ModuleType:
    """The assembly reference with its first two precedences (ticket, specialist) swapped."""
    tree = ast.parse(Path(str(assembly.__file__)).read_text())
    routed = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "_routed")
    assert isinstance(routed.body[1], ast.If)
    assert isinstance(routed.body[2], ast.For)
    routed.body[1], routed.body[2] = routed.body[2], routed.body[1]
    module = types.ModuleType(assembly.__name__)
    module.__dict__.update(__name__=assembly.__name__, __package__=assembly.__package__)
    exec(compile(ast.fix_missing_locations(tree), "flipped.py", "exec"), module.__dict__)  # noqa: S102
    return module


def test_a_flipped_precedence_is_caught(sdb_v1: Suite, record: AuditRecord) -> None:
    """Every committed sheet of the scenario notices that a ticket no longer outranks a specialist."""
    scenario = _rederived(sdb_v1.scenarios["assembly_a"], _flipped().reference)
    folder = builtin_record_path().parent
    sheets = [c.answers for c in record.checks if c.scenario == "assembly_a"]
    assert len(sheets) >= 4
    for sheet in sheets:
        result = check(scenario, read_answers(folder / sheet, scenario))
        assert result.consumed < 60
        assert any(
            d.reference["route"] == "handoff" and d.answered["route"] == "hold"
            for d in result.disagreements
        )


def test_an_unbroken_reference_passes_the_same_way(sdb_v1: Suite, record: AuditRecord) -> None:
    scenario = _rederived(sdb_v1.scenarios["assembly_a"], drafts()["assembly_a"].reference)
    folder = builtin_record_path().parent
    for entry in record.checks:
        if entry.scenario == "assembly_a":
            assert check(scenario, read_answers(folder / entry.answers, scenario)).consumed == 60


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"checks": []}, "no re-derivation by program"),
        ({"current_hash": "x"}, "current_hash is not the suite's"),
        ({"schema": "x"}, "schema is"),
    ],
)
def test_incomplete_records_are_named(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    record = json.loads(builtin_record_path().read_text())
    path = tmp_path / "record.json"
    path.write_text(json.dumps({**record, **change}))
    done = sdb("audit", "record", path)
    assert done.returncode == 2
    assert words in done.stderr


def test_broken_findings_are_named(tmp_path: Path) -> None:
    record = json.loads(builtin_record_path().read_text())
    first = next(f for f in record["findings"] if f["about"] == "reference")
    first["votes"] = {"literal": "maybe"}
    first["steps"] = {"support_a": [99], "nowhere": [1]}
    first["resolution"] = ""
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record))
    done = sdb("audit", "record", path)
    assert done.returncode == 2
    for words in (
        "no vote by trace",
        "'maybe'",
        "outside the scenario",
        "'nowhere'",
        "no resolution",
    ):
        assert words in done.stderr
