"""Answers to states that no suite holds, drawn from the request alone.

A simulation knows the references of its suites and nothing else. For trying out a client, or for
running a conformance suite against `sdb serve`, any state will do: each question gets a distribution
that depends on the state and on the question, and on nothing else in the request.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

from streamdecisionbench.suite.digest import canonical

__all__ = ["BadQuestionError", "answer_blindly"]

_MOST_OPTIONS = 255
_MOST_LEVELS = 10


class BadQuestionError(Exception):
    """A question that System One does not have; `where` is the path to it in the request's body."""

    def __init__(self, message: str, *where: str) -> None:
        super().__init__(message)
        self.where = where


def answer_blindly(seed: int, state: Any, questions: Any) -> dict[str, dict[str, Any]]:
    """One System One answer per question: noul, choice or score.

    >>> question = {"type": "choice", "criteria": {"K01": "yes", "K02": "no"}}
    >>> answer = answer_blindly(0, "anything", {"q": question})["q"]
    >>> answer["choice"] == max(answer["probabilities"], key=answer["probabilities"].get)
    True
    """
    if not isinstance(state, str | dict | list):
        raise BadQuestionError("state is not a text, an object or an array", "state")
    if not isinstance(questions, dict) or not questions:
        raise BadQuestionError("questions is not an object with at least one question", "questions")
    return {name: _answer(seed, state, name, question) for name, question in questions.items()}


def _answer(seed: int, state: Any, name: str, question: Any) -> dict[str, Any]:
    kind = question.get("type") if isinstance(question, dict) else None
    where = ("questions", name)
    if kind not in ("noul", "choice", "score"):
        raise BadQuestionError("type is none of noul, choice and score", *where)
    asked = {"instructions": question.get("instructions"), "criteria": question.get("criteria")}
    criteria = asked["criteria"]
    if kind == "noul":
        if criteria is not None and not isinstance(criteria, dict):
            raise BadQuestionError("criteria of a noul is an object or null", *where, "criteria")
        return {"type": "noul", "noul": _spread(seed, [state, asked], ["true", "false"])[0]}
    if kind == "choice":
        if not isinstance(criteria, dict) or not 1 <= len(criteria) <= _MOST_OPTIONS:
            raise BadQuestionError(
                f"criteria of a choice is an object of up to {_MOST_OPTIONS} options",
                *where,
                "criteria",
            )
        labels = list(criteria)
        shares = _spread(seed, [state, asked["instructions"], criteria], labels)
        best = max(range(len(labels)), key=shares.__getitem__)
        return {
            "type": "choice",
            "choice": labels[best],
            "probabilities": dict(zip(labels, shares, strict=True)),
            "confidence": _sureness(shares),
        }
    if not isinstance(criteria, list) or not 1 <= len(criteria) <= _MOST_LEVELS or None in criteria:
        raise BadQuestionError(
            f"criteria of a score is a list of up to {_MOST_LEVELS} levels", *where, "criteria"
        )
    shares = _spread(seed, [state, asked], list(map(str, range(len(criteria)))))
    return {
        "type": "score",
        "score": sum(level * share for level, share in enumerate(shares)),
        "legend": {str(level): text for level, text in enumerate(criteria)},
        "probabilities": {str(level): share for level, share in enumerate(shares)},
        "confidence": _closeness(shares),
    }


def _spread(seed: int, about: Any, options: Sequence[str]) -> list[float]:
    """A softmax over logits hashed from what is asked about and the option."""
    logits = []
    for option in options:
        drawn = hashlib.sha256(canonical([seed, option, about])).digest()
        logits.append(6 * int.from_bytes(drawn[:8], "big") / 2**64)
    weights = [math.exp(x) for x in logits]
    return [w / sum(weights) for w in weights]


def _sureness(shares: Sequence[float]) -> float:
    """How far the highest share lies above an even draw: 0 to 1."""
    n = len(shares)
    return 1.0 if n == 1 else (max(shares) - 1 / n) / (1 - 1 / n)


def _closeness(shares: Sequence[float]) -> float:
    """How close the levels lie to the likeliest one, against an even draw around the middle."""
    n = len(shares)
    if n == 1:
        return 1.0
    mode = max(range(n), key=shares.__getitem__)
    even = sum(abs(i - (n - 1) / 2) for i in range(n)) / n
    return max(0.0, 1 - sum(p * abs(i - mode) for i, p in enumerate(shares)) / even)
