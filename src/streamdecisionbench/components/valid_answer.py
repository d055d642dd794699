"""When an answer is valid: every question once, with a defined label, and honest probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streamdecisionbench.components.contract import Answer, Fatal

__all__ = ["REPORTING_STEP", "check_answer"]

REPORTING_STEP = 0.01
"""Probabilities are reported to two decimals, so a tie may be off by one step."""

_ASK = "check that the model or server follows the question contract"


def check_answer(answer: Answer, questions: Mapping[str, Any]) -> None:
    """Raises `Fatal` when the answer breaks the contract; a wrong but valid answer passes."""
    labels = answer.labels
    missing = [q for q in questions if q not in labels]
    if missing:
        raise Fatal(
            "missing_answer", f"the response leaves {', '.join(missing)} unanswered", fix=_ASK
        )
    extra = [q for q in labels if q not in questions]
    if extra:
        raise Fatal(
            "unknown_question",
            f"the response has {_too_many(extra)}",
            fix=_ASK,
        )
    for name, question in questions.items():
        if labels[name] not in question["criteria"]:
            raise Fatal("unknown_label", f"the answer to {name} is not one of its labels", fix=_ASK)
    for name, distribution in (answer.probabilities or {}).items():
        if name in questions:
            _check_distribution(name, labels[name], distribution, questions[name]["criteria"])


def _too_many(extra: Sequence[str]) -> str:
    """Answers to questions nobody asked, by name, as far as a name is fit to be shown."""
    names = ", ".join(ascii(name[:40]) for name in extra[:3]) + (", …" if len(extra) > 3 else "")
    return f"{'one answer' if len(extra) == 1 else f'{len(extra)} answers'} too many: {names}"


def _check_distribution(
    name: str, choice: str, distribution: Mapping[str, float], criteria: Mapping[str, str]
) -> None:
    if set(distribution) != set(criteria):
        raise Fatal(
            "bad_distribution", f"the distribution of {name} is not over its labels", fix=_ASK
        )
    values = list(distribution.values())
    if not all(isinstance(p, int | float) and 0 <= p <= 1 + 1e-9 for p in values):
        raise Fatal(
            "bad_distribution", f"the distribution of {name} has values outside 0–1", fix=_ASK
        )
    # Each value may be off by half a reporting step.
    rounding = REPORTING_STEP / 2 * len(values) + 1e-9
    if abs(sum(values) - 1) > rounding:
        raise Fatal(
            "bad_distribution",
            f"the distribution of {name} sums to {sum(values):.3f}, not 1",
            fix=_ASK,
        )
    if distribution[choice] < max(values) - REPORTING_STEP - 1e-9:
        raise Fatal(
            "not_most_probable", f"the choice for {name} is not its most probable label", fix=_ASK
        )
