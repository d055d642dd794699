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

from streamdecisionbench.analysis.agreement import (
    check,
    read_answers,
)
from streamdecisionbench.audit.audit_record import (
    CODE_LENSES,
    LAWS,
    LENSES,
    OTHER_LENSES,
    AuditRecord,
    builtin_record_path,
    law_digest,
    read_record,
    summarise,
    violations,
)
from streamdecisionbench.families.assembly import reference as assembly
from streamdecisionbench.families.registry import drafts
from streamdecisionbench.suite.scenario import Scenario, Suite
from streamdecisionbench.suite.suite_files import builtin_suite_path
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
        lenses = LENSES if finding.about == "reference" else OTHER_LENSES
        assert set(finding.votes) == set(lenses), finding.id
        assert set(finding.vote_reasons) == set(finding.votes)
        assert all(finding.vote_reasons.values())
        if "ambiguous" in finding.votes.values():
            assert finding.status == "clarified", finding.id
        assert finding.resolution


def test_every_law_was_read_against_its_code_with_three_lenses(record: AuditRecord) -> None:
    read = {(c.family, c.lens): c for c in record.code_text}
    assert set(read) == {(family, lens) for family in LAWS for lens in CODE_LENSES}
    found = {name for c in record.code_text for name in c.findings}
    assert found == {f.id for f in record.findings if f.round == 3}
    for family in LAWS:
        assert read[family, "edges"].read_digest == law_digest(family), (
            f"{family}: rules.py or reference.py changed; read them against each other again"
        )


def test_structure_and_regeneration_are_what_the_record_says(
    sdb_v1: Suite, record: AuditRecord, tmp_path: Path
) -> None:
    """What the record says of the suite as a whole is done again here."""
    checks = {c.name: c for c in record.structure}
    assert sdb_v1.dataset_hash.startswith("0a0d78a898cf")
    references = {d.scenario_id: d.reference for d in drafts().values()}
    same = sum(
        step.gold == references[scenario.episode_id](json.loads(json.dumps(step.state)))
        for scenario in sdb_v1
        for step in scenario.steps
    )
    assert (same, checks["structure"].checked) == (checks["structure"].agreeing, 480)
    assert sdb("suite", "build", "--out", tmp_path / "built").returncode == 0
    stored = sorted(builtin_suite_path().glob("*.json"))
    alike = sum(p.read_bytes() == (tmp_path / "built" / p.name).read_bytes() for p in stored)
    assert (alike, len(stored)) == (
        checks["regeneration"].agreeing,
        checks["regeneration"].checked,
    )


def test_the_command_shows_all_of_it(record: AuditRecord) -> None:
    shown = " ".join(sdb("audit", "record").stdout.split())
    for finding in record.findings:
        assert finding.id in shown
        for lens, vote in finding.votes.items():
            assert f"{lens.replace('_', '-')}: {vote}. {finding.vote_reasons[lens]}" in shown
    for audit in record.code_text:
        assert f"{audit.family}, {audit.lens}" in shown
    assert "sdb suite build" in shown
    assert "changed since" not in shown
    assert "automated" in shown


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
        ({"code_text": []}, "live_debugging was not read with the lens edges"),
        ({"structure": []}, "no check is called 'regeneration'"),
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
