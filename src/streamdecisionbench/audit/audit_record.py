"""The record of an audit: who checked what, what was found, how it was judged and what came of it.

A finding about a reference is judged from three sides: a *literal* reading of the rule text, a *trace* of
the reference on the state, and a search for an *alternative* reading a careful reader could adopt. Each
side votes `uphold` (the reference stands and the text says so), `ambiguous` (it stands, but the text allows
another reading) or `wrong` (the reference is wrong). Every other finding, about text, story or a code path, is
judged by *reproduction*, *impact* and *counter-argument*: `confirm`, `minor` or `reject`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from streamdecisionbench.suite.file_io import read_json_as
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import builtin_suite_path

SCHEMA = "sdb-audit/1"
LENSES = ("literal", "trace", "alternative")
"""Sides from which a finding about answers is judged."""
OTHER_LENSES = ("reproduction", "impact", "counter_argument")
"""Sides of every other finding: can it be shown, does it matter, what speaks against it."""
_VOTES = ("uphold", "ambiguous", "wrong")
_OTHER_VOTES = ("confirm", "minor", "reject")
CODE_LENSES = ("text_to_code", "code_to_text", "edges")
"""Every sentence looked for in the code, every branch in the text, and what happens at the edges of both."""
_ROLES = ("program", "hand")
_STATUS = ("rejected", "clarified", "story_mended", "reference_mended", "noted")


class Check(msgspec.Struct, frozen=True):
    """One reading of one scenario, with its agreement under the reader's default reading."""

    scenario: str
    role: str
    states: int
    consumed: int
    read_hash: str
    """Digest of the scenario file whose text was read."""
    answers: str = ""
    """The answer sheet, relative to the record; empty for checks that derive no answers."""
    note: str = ""


class CodeText(msgspec.Struct, frozen=True):
    """One family's rule text read against its reference code, with one lens."""

    family: str
    lens: str
    rules: int
    """Paragraphs of rule text that were read."""
    read_digest: str
    """Of `rules.py` and `reference.py` as they were read."""
    findings: list[str]
    note: str = ""


class Structural(msgspec.Struct, frozen=True):
    """A check of the suite as a whole that a command repeats."""

    name: str
    command: str
    checked: int
    agreeing: int
    dataset_hash: str
    note: str = ""


class Finding(msgspec.Struct, frozen=True):
    """One grouped finding. `steps` are the states it concerns, by scenario."""

    id: str
    title: str
    kind: str
    about: str
    """`reference` for findings about answers, `text` for wording and story, `code` for code paths."""
    rule: str
    steps: dict[str, list[int]]
    consumed: bool
    votes: dict[str, str]
    status: str
    resolution: str
    vote_reasons: dict[str, str] = {}
    round: int = 1
    """1: found in the audited text; 2: found when the mended text was read again."""


class AuditRecord(msgspec.Struct, frozen=True):
    schema: str
    suite: str
    audited_hash: str
    """The suite as the first readers saw it."""
    current_hash: str
    """The suite as it is now, with every resolution carried out and read again."""
    checks: list[Check]
    findings: list[Finding]
    scope: str = ""
    code_text: list[CodeText] = []
    structure: list[Structural] = []


LAWS = {
    "live_debugging": "debugging",
    "procedural_coaching": "assembly",
    "support_call_assist": "support",
    "presenter_voice_control": "presenter",
}
"""Families whose law stands in the package, with the folder that holds it."""


def law_digest(family: str) -> str:
    """Of a family's rule text and reference code, as readers of the two against each other see them."""
    folder = Path(__file__).parents[1] / "families" / LAWS[family]
    read = (folder / name for name in ("rules.py", "reference.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in read)).hexdigest()


def builtin_record_path() -> Path:
    """The audit of the built-in suite: the record, with the answer sheets beside it."""
    return builtin_suite_path().parent / "audit" / "record.json"


def read_record(path: str | Path) -> AuditRecord:
    return read_json_as(
        path, AuditRecord, fix="see docs/explanation/audit.md for the record's form"
    )


def violations(record: AuditRecord, suite: Suite) -> list[str]:
    """What is missing or contradictory in a record, in words."""
    found = []
    if record.schema != SCHEMA:
        found.append(f"schema is {record.schema!r}, not {SCHEMA!r}")
    if record.current_hash != suite.dataset_hash:
        found.append(f"current_hash is not the suite's ({suite.dataset_hash[:12]})")
    for index, check in enumerate(record.checks):
        where = f"checks[{index}]"
        if check.scenario not in suite.scenarios:
            found.append(f"{where}.scenario: {check.scenario!r} is no scenario")
        elif check.states != suite.scenarios[check.scenario].n:
            found.append(f"{where}.states: {check.states}, the scenario has another number")
        if check.role not in _ROLES:
            found.append(f"{where}.role: {check.role!r} is none of {', '.join(_ROLES)}")
        if not 0 <= check.consumed <= check.states:
            found.append(f"{where}.consumed: outside 0–{check.states}")
    read = {(c.scenario, c.role, c.read_hash) for c in record.checks}
    found += [
        f"checks: {scenario} has no re-derivation by {role} of its present text"
        for scenario in suite.scenarios
        for role in ("program", "hand")
        if (scenario, role, suite.manifest.hashes[scenario]) not in read
    ]
    ids = [f.id for f in record.findings]
    done = {(c.family, c.lens) for c in record.code_text}
    found += [
        f"code_text: {family} was not read with the lens {lens}"
        for family in suite.families()
        for lens in CODE_LENSES
        if family in LAWS and (family, lens) not in done
    ]
    found += [
        f"code_text[{k}].findings: {name!r} is no finding"
        for k, audit in enumerate(record.code_text)
        for name in audit.findings
        if name not in ids
    ]
    found += [
        f"structure: no check is called {name!r}"
        for name in ("structure", "regeneration")
        if set(suite.families()) <= set(LAWS) and name not in {c.name for c in record.structure}
    ]
    found += [
        f"structure.{c.name}: {words}"
        for c in record.structure
        for words, wrong in (
            ("is of another suite", c.dataset_hash != record.current_hash),
            ("agreeing is outside 0–checked", not 0 <= c.agreeing <= c.checked),
        )
        if wrong
    ]
    found += [f"findings: {i!r} is used twice" for i in sorted(set(ids)) if ids.count(i) > 1]
    for finding in record.findings:
        found += [f"findings.{finding.id}: {text}" for text in _finding(finding, suite)]
    return found


def summarise(record: AuditRecord) -> dict[str, Any]:
    """The audit in figures, as the paper reports its own.

    A finding about answers is *confirmed* when at least one of its three votes is not `uphold`, any
    other unless two of its three reject it.
    """
    derived = [c for c in record.checks if c.role in ("program", "hand")]
    about = [f for f in record.findings if f.about == "reference"]
    confirmed = [f for f in about if set(f.votes.values()) != {"uphold"}]
    ambiguous = [f for f in confirmed if "wrong" not in f.votes.values()]
    others = [f for f in record.findings if f.about != "reference"]
    refused = [f for f in others if list(f.votes.values()).count("reject") >= 2]
    affected = {
        (scenario, t)
        for f in ambiguous
        if f.consumed
        for scenario, steps in f.steps.items()
        for t in steps
    }
    return {
        "scenarios": len({c.scenario for c in derived}),
        "rederivations": len(derived),
        "rederivations_in_full_agreement": sum(c.consumed == c.states for c in derived),
        "consumed_decisions_agreeing": sum(c.consumed for c in derived),
        "consumed_decisions_read": sum(c.states for c in derived),
        "code_text_audits": len(record.code_text),
        "code_text_audits_without_a_finding": sum(not c.findings for c in record.code_text),
        "structural_checks": len(record.structure),
        "structural_checks_in_full_agreement": sum(
            c.agreeing == c.checked for c in record.structure
        ),
        "finding_groups": len(record.findings),
        "findings_judged_by_three": sum(len(f.votes) == 3 for f in record.findings),
        "reference_findings": len(about),
        "reference_findings_rejected": len(about) - len(confirmed),
        "reference_findings_confirmed": len(confirmed),
        "reference_answers_wrong": len(confirmed) - len(ambiguous),
        "rule_ambiguities": len(ambiguous),
        "states_they_affect": len(affected),
        "other_findings": len(others),
        "other_findings_confirmed": len(others) - len(refused),
        "other_findings_rejected": len(refused),
        "texts_clarified": sum(f.status == "clarified" for f in record.findings),
        "stories_mended": sum(f.status == "story_mended" for f in record.findings),
        "code_paths_mended": sum(f.status == "reference_mended" for f in record.findings),
        "left_as_noted": sum(f.status == "noted" for f in record.findings),
    }


def _finding(finding: Finding, suite: Suite) -> list[str]:
    found = []
    if finding.about not in ("reference", "text", "code"):
        found.append(f"about is {finding.about!r}")
    if finding.status not in _STATUS:
        found.append(f"status is {finding.status!r}, none of {', '.join(_STATUS)}")
    if not finding.resolution:
        found.append("has no resolution")
    found += _votes(finding)
    for scenario, steps in finding.steps.items():
        known = suite.scenarios.get(scenario)
        if known is None:
            found.append(f"steps names {scenario!r}, which is no scenario")
        elif any(not 0 <= t < known.n for t in steps):
            found.append(f"steps.{scenario} names a step outside the scenario")
    return found


def _votes(finding: Finding) -> list[str]:
    """Three lenses, each with a vote and its reason."""
    about = finding.about == "reference"
    lenses, votes = (LENSES, _VOTES) if about else (OTHER_LENSES, _OTHER_VOTES)
    found = [f"has no vote by {lens}" for lens in lenses if lens not in finding.votes]
    found += [f"has no reason for {lens}" for lens in lenses if not finding.vote_reasons.get(lens)]
    return found + [
        f"votes.{lens} is {vote!r}, none of {', '.join(votes)}"
        for lens, vote in finding.votes.items()
        if vote not in votes
    ]
