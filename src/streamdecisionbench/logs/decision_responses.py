"""Requests and responses of decision APIs, as spans of kind DECISION record them.

Two response formats are known, by the value of `decision.system`:

- `typesafe`, the System One API: `answers` is an object, one typed answer per question;
- `openai`, the Decisions API: `answers` is a list in the order of the questions.

An answer becomes one field of the decision:

>>> read_response("typesafe", {"answers": {"spam": {"type": "noul", "noul": 0.2}}}).decision
{'spam': False}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

YES_FROM = 0.5
YES_NO = f"a yes/no answer is yes from a probability of {YES_FROM} on"
SCORE_LEVEL = "a score is its most probable level"
NO_FIELD = "a question that was refused or left uncertain has no field in its decision"


class UnreadableResponseError(ValueError):
    """The response does not have the format of its API. The message is a reason to print."""


@dataclass
class UnpackedAnswers:
    """One decision, question by question."""

    decision: dict[str, Any] = field(default_factory=dict)
    probabilities: dict[str, dict[str, float]] = field(default_factory=dict)
    confidences: list[float] = field(default_factory=list)
    assumed: dict[str, None] = field(default_factory=dict)
    """Sentences, each once, in order."""

    @property
    def confidence(self) -> float | None:
        """The lowest of all questions."""
        return min(self.confidences, default=None)


def read_response(system: str, response: Any) -> UnpackedAnswers:
    """Unpacks a response by its API. Of an API that is not known, by the form of `answers`."""
    answers = response.get("answers") if isinstance(response, Mapping) else None
    readers = [READERS[system]] if system in READERS else list(READERS.values())
    found = next((pairs for r in readers if (pairs := r(answers)) is not None), None)
    if found is None:
        raise UnreadableResponseError(
            f"decision.system {system}: output.value is not a response with answers"
        )
    read = UnpackedAnswers()
    for name, answer in found:
        if name in read.decision:
            raise UnreadableResponseError("two answers to one question in output.value")
        _read_answer(name, answer, read)
    return read


def has_answers(response: Any) -> bool:
    """Whether this has the form of a response of some decision API, not of a plain decision."""
    answers = response.get("answers") if isinstance(response, Mapping) else None
    return any(reader(answers) is not None for reader in READERS.values())


def read_answers_by_id(answers: Any) -> UnpackedAnswers:
    """`gen_ai.decision.answers`: an object of plain values by question; an object is uncertain."""
    if not isinstance(answers, Mapping):
        raise UnreadableResponseError("a decision without gen_ai.decision.answers as a JSON object")
    read = UnpackedAnswers()
    for name, value in answers.items():
        if isinstance(value, Mapping) and "uncertain" in value:
            read.assumed[NO_FIELD] = None
        else:
            read.decision[str(name)] = value
    return read


def read_request(request: Any) -> tuple[Any, Any]:
    """State and questions of a request. Without them in it, the request itself is the state."""
    if not isinstance(request, Mapping) or "questions" not in request:
        return request, None
    if "state" in request:
        return request["state"], request["questions"]
    return _only_part(request.get("input")), request["questions"]


def question_types(questions: Any) -> dict[str, Any]:
    """The type of every question by its name, in the format of either API."""
    if isinstance(questions, Mapping):
        items = list(questions.items())
    elif isinstance(questions, Sequence) and not isinstance(questions, str):
        items = list(zip(_names(questions), questions, strict=True))
    else:
        return {}
    return {str(name): q.get("type") if isinstance(q, Mapping) else None for name, q in items}


def _only_part(messages: Any) -> Any:
    """The content of a single user message with a single part of JSON or text; else all of it."""
    if not isinstance(messages, list) or len(messages) != 1:
        return messages
    only = messages[0].get("content") if isinstance(messages[0], Mapping) else None
    if isinstance(only, str):
        return only
    if not isinstance(only, list) or len(only) != 1 or not isinstance(only[0], Mapping):
        return messages
    return only[0].get("data", only[0].get("text", messages))


Pairs = list[tuple[str, Mapping[str, Any]]]


def _system_one(answers: Any) -> Pairs | None:
    if not isinstance(answers, Mapping) or not answers:
        return None
    pairs = [(str(name), a) for name, a in answers.items() if isinstance(a, Mapping)]
    return pairs if len(pairs) == len(answers) else None


def _decisions(answers: Any) -> Pairs | None:
    if not isinstance(answers, list) or not answers:
        return None
    pairs = [a for a in answers if isinstance(a, Mapping)]
    if len(pairs) < len(answers):
        return None
    return list(zip(_names(pairs), pairs, strict=True))


READERS: Mapping[str, Callable[[Any], Pairs | None]] = {
    "typesafe": _system_one,
    "openai": _decisions,
}
"""By `decision.system`: (question, answer) of every answer; None if they have another form."""


def _names(listed: Sequence[Any]) -> list[str]:
    """Questions and answers without a name are numbered by their place, from 1."""
    given = [item.get("name") if isinstance(item, Mapping) else None for item in listed]
    return [name if isinstance(name, str) else f"question_{k}" for k, name in enumerate(given, 1)]


def _read_answer(name: str, answer: Mapping[str, Any], read: UnpackedAnswers) -> None:
    kind = answer.get("type")
    shares = _distribution(answer.get("probabilities"))
    yes = _share(answer.get("probability" if kind == "predicate" else "noul"))
    confidence = _share(answer.get("confidence"))
    if kind == "refusal":
        read.assumed[NO_FIELD] = None
        return
    if kind in ("noul", "predicate") and yes is not None:
        read.decision[name] = yes >= YES_FROM
        shares, confidence = {"true": yes, "false": 1 - yes}, max(yes, 1 - yes)
        read.assumed[YES_NO] = None
    elif kind == "score" and isinstance(answer.get("score"), int | float):
        read.decision[name] = _level(shares) if shares else answer["score"]
        if shares:
            read.assumed[SCORE_LEVEL] = None
    elif "choice" in answer:
        read.decision[name] = answer["choice"]
    elif isinstance(kind, str) and kind not in ("noul", "predicate", "score") and kind in answer:
        read.decision[name] = answer[kind]
    elif "answer" in answer:
        read.decision[name] = answer["answer"]
    else:
        raise UnreadableResponseError(f"an answer of the type {kind!s:.40}, which is not known")
    if shares:
        read.probabilities[name] = shares
    if confidence is not None:
        read.confidences.append(confidence)


def _distribution(given: Any) -> dict[str, float]:
    """By option: an object, or a list of {value, probability}. Empty unless all are shares."""
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif isinstance(given, list):
        pairs = [(p.get("value"), p.get("probability")) for p in given if isinstance(p, Mapping)]
    else:
        return {}
    found = {_option(option): _share(share) for option, share in pairs}
    shares = {option: share for option, share in found.items() if share is not None}
    return shares if len(shares) == len(pairs) else {}


def _option(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _share(value: Any) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value <= 1 else None


def _level(shares: Mapping[str, float]) -> Any:
    level = max(shares, key=shares.__getitem__)
    return int(level) if level.lstrip("-").isdecimal() else level
