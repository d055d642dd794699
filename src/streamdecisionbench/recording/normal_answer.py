"""An answer as it may be written down: plain types, finite numbers, text that is text.

What a score needs is refused by name when it is odd; what is only told beside it (model, tokens,
confidence) is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from streamdecisionbench.components.contract import Answer, Fatal
from streamdecisionbench.components.usage import Usage

__all__ = ["normalise"]

_LONGEST_SERVICE_S = 86_400.0
_LONGEST_MODEL_NAME = 200
_ASK = "correct the component or the server, then go on with --resume"


def normalise(answer: Any, questions: Mapping[str, Any]) -> Answer:
    """The same answer, safe to write. Raises `Fatal` where that cannot be.

    >>> odd = Answer({"q": "K01"}, model="a\\x1bb", confidence={"q": float("nan")})
    >>> plain = normalise(odd, {"q": {}})
    >>> plain.model, plain.confidence
    ('a\ufffdb', None)
    """
    if not isinstance(answer, Answer):
        raise Fatal(
            "bad_answer",
            f"the component returned a value of type {type(answer).__name__}",
            fix=_ASK,
        )
    return replace(
        answer,
        labels=_labels(answer.labels),
        model=_text(answer.model),
        usage=_usage(answer.usage),
        probabilities=_probabilities(answer.probabilities, questions),
        confidence=_confidence(answer.confidence, questions),
        received_at=_number(answer.received_at),
        service_s=_service(answer.service_s),
    )


def _labels(labels: Any) -> dict[str, str]:
    if isinstance(labels, Mapping) and all(
        type(part) is str for pair in labels.items() for part in pair
    ):
        return dict(labels)
    raise Fatal("bad_answer", "the answer's labels are not {question: label}", fix=_ASK)


def _text(value: Any) -> str | None:
    """Without what a terminal or a file would take for something else than text."""
    if not isinstance(value, str):
        return None
    plain = "".join(c if c.isprintable() else "\ufffd" for c in value[: 2 * _LONGEST_MODEL_NAME])
    return plain[:_LONGEST_MODEL_NAME] or None


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, Usage):
        return None
    counts = {name: getattr(usage, name) for name in usage.__struct_fields__}
    return Usage(**{k: v for k, v in counts.items() if type(v) is int and 0 <= v < 2**63})


def _probabilities(
    distributions: Any, questions: Mapping[str, Any]
) -> dict[str, dict[str, float]] | None:
    if not distributions:
        return None
    found: dict[str, dict[str, float]] = {}
    for question in questions:
        values = distributions.get(question) if isinstance(distributions, Mapping) else None
        if values is None:
            continue
        numbers = {k: _number(v) for k, v in values.items()} if isinstance(values, Mapping) else {}
        plain = {k: v for k, v in numbers.items() if isinstance(k, str) and v is not None}
        if len(plain) < len(numbers) or not plain:
            raise Fatal(
                "bad_distribution",
                f"the distribution of {question} is not {{label: finite number}}",
                fix=_ASK,
            )
        found[question] = plain
    return found or None


def _confidence(values: Any, questions: Mapping[str, Any]) -> dict[str, float] | None:
    if not isinstance(values, Mapping):
        return None
    numbers = {q: _number(values.get(q)) for q in questions}
    return {q: v for q, v in numbers.items() if v is not None} or None


def _service(value: Any) -> float | None:
    if value is None:
        return None
    seconds = _number(value)
    if seconds is None or not 0 <= seconds <= _LONGEST_SERVICE_S:
        raise Fatal(
            "bad_service_time",
            f"the component declares a service time of {value!r:.40}",
            fix=f"declare seconds between 0 and {_LONGEST_SERVICE_S:g}",
        )
    return seconds


def _number(value: Any) -> float | None:
    """A finite number of Python's or numpy's own; None for anything else."""
    if isinstance(value, bool) or value is None or isinstance(value, str | bytes):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
