"""The questions behind a log's decisions: one per field of the decision, its values the options.

A decision that is text is one question. Of a decision that is a JSON object every field is one; where
fields come and go, one of the fields that are always there must say which: the route.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.authoring import QuestionDraft
from streamdecisionbench.suite.disk import read_json
from streamdecisionbench.suite.scenario import INACTIVE, DecisionSpec

__all__ = ["MOST_OPTIONS", "ONLY", "Asked", "asked_by_decisions", "asked_by_file"]

ONLY = "decision"
"""What the question is called where a decision has no fields."""
MOST_OPTIONS = 100
_NOT_USED = "this field is not part of the decision"
_FIX = "say with --questions FILE what is asked, or bring decisions to fewer values with --sql"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the sessions of a log ask, and how a logged decision answers it."""

    questions: Mapping[str, QuestionDraft]
    decision_spec: DecisionSpec
    always: Mapping[str, str] = field(default_factory=dict)
    """Fields that never varied: no question, since there is nothing to decide."""

    def answers(self, decision: str) -> dict[str, str]:
        """A decision in canonical form as an answer to every question.

        >>> asked = asked_by_decisions(['{"do":"say","word":"go"}', '{"do":"wait"}'])
        >>> asked.answers('{"do":"wait"}')
        {'do': 'wait', 'word': 'none'}
        """
        given = _fields(decision)
        route = given.get(self.decision_spec.route_question)
        used = set(self.decision_spec.consumed(route)) if route is not None else set()
        found = {}
        for name, question in self.questions.items():
            value = given.pop(name, None) if name in used else INACTIVE
            if value is None or value not in question.options:
                raise _unfit(decision, f"{name} is {'missing' if value is None else repr(value)}")
            found[name] = value
        for name, value in given.items():
            if self.always.get(name) != value:
                raise _unfit(decision, f"nothing asks for its field {name!r}")
        return found


def asked_by_decisions(decisions: Iterable[str]) -> Asked:
    """What decisions in canonical form answer between them.

    >>> asked = asked_by_decisions(["hold", "resume"])
    >>> asked.decision_spec.route_question, sorted(asked.questions["decision"].options)
    ('decision', ['hold', 'resume'])
    """
    seen = sorted(set(decisions))
    kinds = {decision.startswith("{") for decision in seen}
    if len(kinds) > 1:
        raise InputError(
            f"decisions are text, for example {_shown(next(d for d in seen if d[:1] != '{'))}, and"
            f" objects, for example {_shown(next(d for d in seen if d[:1] == '{'))}",
            fix="write them alike with --sql",
        )
    given = [_fields(decision) for decision in seen]
    _require_apart(seen, given)
    names = sorted({name for one in given for name in one})
    values = {name: sorted({one[name] for one in given if name in one}) for name in names}
    everywhere = [name for name in names if all(name in one for one in given)]
    constant = {name: values[name][0] for name in everywhere if len(values[name]) == 1}
    everywhere = [name for name in everywhere if name not in constant]
    if not everywhere:
        raise InputError(
            f"its decisions leave nothing to decide: {_shown(seen[0]) if seen else 'there is none'}"
            f"{' is the only one' if len(seen) == 1 else ''}",
            fix="say with --questions FILE what is asked",
        )
    for name in names:
        if len(values[name]) > MOST_OPTIONS:
            raise InputError(
                f"{name} has {len(values[name])} values, for example {_shown(values[name][0])}, and"
                f" {_shown(values[name][-1])}: more than the {MOST_OPTIONS} a question may offer",
                fix=_FIX,
            )
    sometimes = [name for name in names if name not in everywhere and name not in constant]
    route, branches = _route(given, everywhere, sometimes, values)
    options = {
        name: {
            **dict.fromkeys(values[name], ""),
            **({INACTIVE: _NOT_USED} if name in sometimes else {}),
        }
        for name in (*everywhere, *sometimes)
    }
    return Asked(
        {name: QuestionDraft(_instructions(name), offered) for name, offered in options.items()},
        DecisionSpec(route, tuple(n for n in everywhere if n != route), branches),
        constant,
    )


def asked_by_file(path: Path) -> Asked:
    """From a JSON file: questions with instructions and options, and which answers are consumed."""
    raw = read_json(path)
    try:
        found = msgspec.convert(raw, _File)
    except msgspec.ValidationError as error:
        raise InputError(
            f"is no file of questions: {error}",
            where=path,
            fix='write {"questions": {"name": {"instructions": "…", "options": {"value": "what it'
            ' means"}}}}',
        ) from None
    if not found.questions:
        raise InputError("asks nothing", where=path, fix="name at least one question")
    spec = found.decision_spec
    if spec is None:
        first, *others = found.questions
        branches: dict[str, tuple[str, ...]] = dict.fromkeys(found.questions[first].options, ())
        spec = DecisionSpec(first, tuple(others), branches)
    consumed = {spec.route_question, *spec.always}
    return Asked(
        {
            name: QuestionDraft(
                q.instructions,
                q.options if name in consumed else {INACTIVE: _NOT_USED, **q.options},
            )
            for name, q in found.questions.items()
        },
        spec,
    )


class _Question(msgspec.Struct, frozen=True):
    instructions: str
    options: dict[str, str]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    questions: dict[str, _Question]
    decision_spec: DecisionSpec | None = None


def _fields(decision: str) -> dict[str, str]:
    if not decision.startswith("{"):
        return {ONLY: decision}
    parsed: dict[str, Any] = json.loads(decision)
    return {name: _text(value) for name, value in parsed.items()}


def _require_apart(seen: Sequence[str], given: Sequence[Mapping[str, str]]) -> None:
    """As options, two decisions that differ must not become one."""
    first: dict[tuple[tuple[str, str], ...], str] = {}
    for decision, fields in zip(seen, given, strict=True):
        other = first.setdefault(tuple(sorted(fields.items())), decision)
        if other != decision:
            raise InputError(
                f"{_shown(other)} and {_shown(decision)} differ only in what is text and what is not",
                fix="write values alike with --sql",
            )


def _text(value: Any) -> str:
    """A field's value as an option: text as it is, the rest as JSON. Null is text too."""
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _route(
    given: Sequence[Mapping[str, str]],
    everywhere: Sequence[str],
    sometimes: Sequence[str],
    values: Mapping[str, Sequence[str]],
) -> tuple[str, dict[str, tuple[str, ...]]]:
    """A field whose value says which of the others are there."""
    for name in everywhere:
        branches: dict[str, set[tuple[str, ...]]] = {value: set() for value in values[name]}
        for one in given:
            branches[one[name]].add(tuple(other for other in sometimes if other in one))
        if all(len(found) == 1 for found in branches.values()):
            return name, {value: next(iter(found)) for value, found in branches.items()}
    raise InputError(
        f"{', '.join(sometimes[:5])} {'is' if len(sometimes) == 1 else 'are'} part of some decisions"
        " only, and no other field says of which",
        fix="say with --questions FILE which value makes which fields count",
    )


def _instructions(name: str) -> str:
    if name == ONLY:
        return "Which decision is right for this state?"
    return f"Which value of {name} is right for this state?"


def _unfit(decision: str, why: str) -> InputError:
    return InputError(
        f"the decision {_shown(decision)} does not fit the questions: {why}",
        fix="make --questions and decisions agree",
    )


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")
