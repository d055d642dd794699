"""When an answer is valid: every question once, with a defined label, and honest probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streamdecisionbench.components.contract import Answer, Fatal

__all__ = ["REPORTING_STEP", "check_answer"]

REPORTING_STEP = 0.01
"""Probabilities are reported to two decimals, so a tie may be off by one step."""

_LONGEST = 40
"""Characters of an answer that a message shows."""

_ASK = "check that the model or server follows the question contract"


def check_answer(
    answer: Answer, questions: Mapping[str, Any], clean: Callable[[str], str] = str
) -> None:
    """Raises `Fatal` when the answer breaks the contract; a wrong but valid answer passes.

    `clean` hides secrets in what was answered before any of it is shown.
    """
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
            f"the response has {_too_many(extra, clean)}",
            fix=_ASK,
        )
    for name, question in questions.items():
        if labels[name] not in question["criteria"]:
            raise _unknown_label(name, clean(labels[name]), question["criteria"])
    for name, distribution in (answer.probabilities or {}).items():
        if name in questions:
            _check_distribution(name, labels[name], distribution, questions[name]["criteria"])


def _unknown_label(name: str, answered: str, criteria: Mapping[str, str]) -> Fatal:
    """What was answered, what may be, and the slip behind it where one is plain to see."""
    meant = [
        label for label, text in criteria.items() if text.partition(":")[0].strip() == answered
    ]
    listed = ", ".join(criteria)
    if meant:
        fix = f"that is what {meant[0]} means: answer with the label, {meant[0]!r}"
    else:
        fix = f"answer with one of: {listed}; criteria says what each means"
    return Fatal(
        "unknown_label",
        f"the answer to {name} is {_shown(answered)}, not one of its labels ({listed})",
        fix=fix,
    )


def _shown(text: str) -> str:
    return ascii(text[:_LONGEST]) + ("…" if len(text) > _LONGEST else "")


def _too_many(extra: Sequence[str], clean: Callable[[str], str]) -> str:
    """Answers to questions nobody asked, by name, as far as a name is fit to be shown."""
    names = ", ".join(_shown(clean(name)) for name in extra[:3])
    names += ", …" if len(extra) > 3 else ""
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
