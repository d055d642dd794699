"""Comparing a blind reader's answers with the stored references."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.suite.suite_files import read_json

__all__ = ["Agreement", "Disagreement", "check", "read_answers"]

Answers = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One state read otherwise: both answers, and the author's notes on its evidence."""

    t: int
    questions: tuple[str, ...]
    consumed: bool
    """Whether the composed decision differs, not only an answer the application ignores."""
    reference: dict[str, str]
    answered: dict[str, str]
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a re-derivation of one scenario agrees."""

    scenario: str
    states: int
    consumed: int
    """States whose composed decision agrees."""
    per_question: dict[str, int]
    disagreements: tuple[Disagreement, ...]

    def to_json(self) -> dict[str, Any]:
        return {"schema": "sdb-audit-check/1", **asdict(self)}


def read_answers(path: str | Path, scenario: Scenario) -> Answers:
    """An answer sheet as values per step; labels are accepted too. Every complaint names the cell."""
    path = Path(path)
    sheet = read_json(path)
    steps = sheet.get("steps") if isinstance(sheet, dict) else None
    if not isinstance(steps, list):
        raise InputError("has no list `steps`", where=path, fix="start from answers.template.json")
    named = sheet.get("scenario")
    if named not in (None, scenario.episode_id):
        raise InputError(f"answers {named!r}, not {scenario.episode_id!r}", where=path)
    found: dict[int, dict[str, str]] = {}
    for index, entry in enumerate(steps):
        if not isinstance(entry, dict) or not isinstance(entry.get("answers"), dict):
            raise InputError(f"steps[{index}] has no answers", where=path)
        t = entry.get("t")
        if type(t) is not int or not 0 <= t < scenario.n or t in found:
            raise InputError(
                f"steps[{index}].t is {t!r:.80}", where=path, fix="number every step once"
            )
        found[t] = _values(entry["answers"], scenario, f"steps[{index}]", path)
    missing = [t for t in range(scenario.n) if t not in found]
    if missing:
        raise InputError(
            f"{len(missing)} steps are not answered, the first is {missing[0]}", where=path
        )
    return [found[t] for t in range(scenario.n)]


def check(scenario: Scenario, answers: Answers) -> Agreement:
    """Agreement per question and per consumed decision, with every disagreement."""
    spec = scenario.decision_spec
    per_question = dict.fromkeys(scenario.questions, 0)
    consumed, disagreements = 0, []
    for step, given in zip(scenario.steps, answers, strict=True):
        wrong = tuple(q for q in scenario.questions if given[q] != step.gold[q])
        for q in scenario.questions:
            per_question[q] += q not in wrong
        reference, answered = spec.compose(step.gold), spec.compose(given)
        consumed += reference == answered
        if wrong:
            evidence = scenario.evidence(step.t)
            disagreements.append(
                Disagreement(step.t, wrong, reference != answered, reference, answered, evidence)
            )
    return Agreement(scenario.episode_id, scenario.n, consumed, per_question, tuple(disagreements))


def _values(given: Mapping[str, Any], scenario: Scenario, where: str, path: Path) -> dict[str, str]:
    values = {}
    for q in scenario.questions:
        answer = given.get(q)
        labels = scenario.option_semantics[q]
        if isinstance(answer, str) and answer in labels.values():
            values[q] = answer
        elif isinstance(answer, str) and answer in labels:
            values[q] = labels[answer]
        else:
            raise InputError(
                f"{where}.answers.{q} is {answer!r:.80}",
                where=path,
                fix="give one of the question's values or labels",
            )
    unknown = [q for q in given if q not in scenario.questions]
    if unknown:
        raise InputError(f"{where}.answers.{unknown[0]} answers no question", where=path)
    return values
