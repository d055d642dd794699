"""How far readings agree: a blind reader with the stored references, and people with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.file_io import read_json
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.text import plural

if TYPE_CHECKING:
    import numpy as np

Answers = list[dict[str, str]]
_RESAMPLES = 2000


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


def empty_sheet(scenario: Scenario) -> dict[str, Any]:
    """An answer sheet with every cell empty."""
    return {
        "scenario": scenario.episode_id,
        "steps": [
            {"t": t, "answers": dict.fromkeys(scenario.questions)} for t in range(scenario.n)
        ],
    }


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
            f"{plural(len(missing), 'step is', 'steps are')} not answered, the first is {missing[0]}",
            where=path,
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


# People with each other.


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """Agreement of people on the items that at least two of them decided."""

    items: int
    share: float | None = None
    """Of pairs of answers to one item, the mean over items."""
    alpha: float | None = None
    """Krippendorff's α for names: 1 is agreement, 0 is chance."""
    interval_95: tuple[float, float] | None = None
    """Of α, over items drawn again."""
    reason: str = ""
    """Why there is no α, where there is none."""


def agreement_of(rows: Sequence[Sequence[str]], seed: int = 0) -> LabelAgreement:
    """Share and α of answers, item by item; every item has at least two.

    α = 1 − D_o/D_e: within an item of m answers every ordered pair counts 1/(m − 1); D_o is the share
    of pairs that differ, D_e the share that would if all answers were dealt out anew.

    >>> found = agreement_of([["a", "a"], ["a", "b"], ["b", "b"], ["b", "b"]])
    >>> found.share, round(found.alpha, 4)
    (0.75, 0.5333)
    """
    import numpy as np

    if not rows:
        return LabelAgreement(0, reason="no item was answered by two people")
    names = {name: k for k, name in enumerate(sorted({name for row in rows for name in row}))}
    counts = np.zeros((len(rows), len(names)))
    for at, row in enumerate(rows):
        for name in row:
            counts[at, names[name]] += 1
    size = counts.sum(axis=1)
    differ = (size**2 - (counts**2).sum(axis=1)) / (size - 1)
    share = float(1.0 - (differ / size).mean())
    alpha = float(_alpha(counts, differ, np.ones((1, len(rows))))[0])
    if not np.isfinite(alpha):
        return LabelAgreement(len(rows), share, reason="everybody gave the same answer everywhere")
    drawn = np.random.default_rng([seed, 29]).multinomial(
        len(rows), np.full(len(rows), 1 / len(rows)), size=_RESAMPLES
    )
    found = _alpha(counts, differ, drawn.astype(float))
    found = found[np.isfinite(found)]
    low, high = np.quantile(found, [0.025, 0.975])
    return LabelAgreement(len(rows), share, alpha, (float(low), float(high)))


def _alpha(counts: np.ndarray, differ: np.ndarray, times: np.ndarray) -> np.ndarray:
    """α of every replicate, in which item k counts `times[…, k]` times."""
    import numpy as np

    by_value = times @ counts
    n = by_value.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = (n**2 - (by_value**2).sum(axis=1)) / (n - 1)
        alpha: np.ndarray = np.where(expected > 0, 1.0 - (times @ differ) / expected, np.nan)
    return alpha
