"""Logged sessions as a suite: the same states at the same times, for any component to answer.

Questions are those behind the decisions. One that is text is one question; of a JSON object every field
is one, its values the options; where fields come and go, one of the fields that are always there must
say which: the route. Whole sessions are drawn by a hash of their names; one can be asked again where
every one of its states is there and has a reference.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec
import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.arrays import (
    StreamArrays,
    plain_array,
    stream_begins,
    text_column,
)
from streamdecisionbench.logs.engines.engine import Engine, StreamSums
from streamdecisionbench.logs.references import ReferenceSource, read_state
from streamdecisionbench.logs.score import SCORED, check_by
from streamdecisionbench.logs.unusable import Allowed
from streamdecisionbench.rules.costs import DECISION, fields_of
from streamdecisionbench.scoring.pooled import stream_keys
from streamdecisionbench.suite.authoring import QuestionDraft, label_questions
from streamdecisionbench.suite.digest import digest
from streamdecisionbench.suite.disk import read_json
from streamdecisionbench.suite.scenario import (
    INACTIVE,
    LONGEST_TICK_S,
    SCHEMA_VERSION,
    SHORTEST_TICK_S,
    DecisionSpec,
    Scenario,
    State,
    Step,
    Suite,
    is_id,
)
from streamdecisionbench.suite.suite_files import make_suite
from streamdecisionbench.text import decision_text

if TYPE_CHECKING:
    import pyarrow as pa


LEFT_OUT: Mapping[str, str] = {
    "unjudged": "have states without a reference",
    "no_state": "have rows without a state",
    "broken": "have rows that cannot be used",
    "pace": "have states less than a microsecond apart, or more than eleven days",
    "not_drawn": "were not drawn",
}
"""Why a session is not among those that are asked again, in words."""
LOGGED = "logged"
"""The family of sessions that no column puts into another."""
MOST_OPTIONS = 100
_MOST_DECISIONS = 100_000
_LONGEST_TITLE = 120
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
        given = fields_of(decision)
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
    given = [fields_of(decision) for decision in seen]
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
            name: q if name in consumed else replace(q, options={INACTIVE: _NOT_USED, **q.options})
            for name, q in found.questions.items()
        },
        spec,
    )


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    questions: dict[str, QuestionDraft]
    decision_spec: DecisionSpec | None = None


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
    what = "decision" if name == DECISION else f"value of {name}"
    return f"Which {what} is right for this state?"


def _unfit(decision: str, why: str) -> InputError:
    return InputError(
        f"the decision {_shown(decision)} does not fit the questions: {why}",
        fix="make --questions and decisions agree",
    )


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


@dataclass(frozen=True, slots=True, order=True)
class LogSession:
    """One stream of a log. Sorted by the hash that draws it."""

    key: int
    stream: str
    group: str | None = field(compare=False)
    published_s: tuple[float, ...] = field(compare=False)
    """Since its first state, to the microsecond."""
    end_s: float = field(compare=False)
    states: tuple[str, ...] = field(compare=False)
    references: tuple[str, ...] = field(compare=False)
    """In canonical form."""


@dataclass
class Sessions(StreamSums):
    """The sessions of a log that were drawn, with all decisions that were ever taken in it."""

    most: int
    by: str | None = None
    seed: int = 0
    drawn: list[LogSession] = field(default_factory=list)
    streams: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    decisions: set[str] = field(default_factory=set)

    @property
    def grouping(self) -> Sequence[str]:
        return (self.by,) if self.by else ()

    def take(self, found: StreamArrays, table: pa.Table) -> None:
        for name in ("decision", "reference"):
            if name in table.schema.names and len(self.decisions) < _MOST_DECISIONS:
                texts = text_column(plain_array(table.column(name))).unique().to_pylist()
                self.decisions |= {
                    form for text in texts if (form := decision_text(text)) is not None
                }
        names = [
            str(name) for name in plain_array(table.column("stream").take(found.row)).to_pylist()
        ]
        keys = stream_keys(names, self.seed).tolist()
        begins = (np.cumsum(found.n) - found.n).tolist()
        whole = _whole(table, found, self.keys(table.schema))
        self.streams += len(names)
        for k, (name, key, begin) in enumerate(zip(names, keys, begins, strict=True)):
            reason = _reason(found, k, begin) if whole[k] else "broken"
            if reason is None and len(self.drawn) == self.most:
                last = self.drawn[-1]
                reason = "not_drawn" if (last.key, last.stream) <= (key, name) else None
            if reason is None:
                rows = table.slice(int(found.row[k]), int(found.n[k]))
                self._draw(_session(rows, found, k, begin, name, key, self.by))
            else:
                self.left_out[reason] += 1

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.left_out.update(other.left_out)
        for session in other.drawn:
            self._draw(session)
        self.streams += other.streams
        self.decisions |= other.decisions

    def reasons(self) -> dict[str, int]:
        """How many sessions are not among those drawn, by reason, in the order of `LEFT_OUT`."""
        return {reason: n for reason in LEFT_OUT if (n := self.left_out[reason])}

    def _draw(self, session: LogSession | None) -> None:
        if session is None:
            self.left_out["no_state"] += 1
            return
        self.drawn.append(session)
        self.drawn.sort()
        if len(self.drawn) > self.most:
            self.drawn.pop()
            self.left_out["not_drawn"] += 1


def _reason(found: StreamArrays, k: int, begin: int) -> str | None:
    """Why stream k cannot be asked again."""
    span = slice(begin, begin + int(found.n[k]))
    if (found.y[span] < 0).any():
        return "unjudged"
    edges = np.round(np.append(found.r[span], found.H[k]), 6)
    shortest, mean = np.diff(edges).min(), edges[-1] / found.n[k]
    strange = shortest < SHORTEST_TICK_S * (1 - 1e-3) or mean > LONGEST_TICK_S
    return "pace" if strange else None


def _whole(table: pa.Table, found: StreamArrays, keys: list[str]) -> list[bool]:
    """Whether all rows of each usable stream can be used: they lie together then."""
    begins = stream_begins(table, keys)
    of = np.cumsum(begins) - 1
    size = np.bincount(of)[of[found.row]]
    return ((size == found.n) & begins[found.row]).tolist()  # type: ignore[no-any-return]


def _session(
    rows: pa.Table,
    found: StreamArrays,
    k: int,
    begin: int,
    name: str,
    key: int,
    by: str | None,
) -> LogSession | None:
    states, references = (
        text_column(plain_array(rows.column(column))).to_pylist()
        for column in ("state", "reference")
    )
    if None in states:
        return None
    group = None if by is None else rows.column(by)[0].as_py()
    return LogSession(
        key=key,
        stream=name,
        group=None if group is None else str(group),
        published_s=tuple(round(at, 6) for at in found.r[begin : begin + int(found.n[k])].tolist()),
        end_s=round(float(found.H[k]), 6),
        states=tuple(states),
        references=tuple(decision_text(text) or "" for text in references),
    )


@dataclass(frozen=True, slots=True)
class LogSuite:
    """The suite, and what became of the log's other sessions."""

    suite: Suite
    asked: Asked
    streams: int
    left_out: dict[str, int]

    def told(self) -> list[str]:
        """For people: what was taken, what was not, and why."""
        taken = self.suite.scenarios.values()
        lines = [
            f"{len(taken)} of {self.streams} sessions, {sum(s.n for s in taken)} states,"
            f" {sum(s.horizon_s for s in taken):.0f} s in all"
        ]
        lines += [
            f"asks {name}: {', '.join(list(q.options)[:6])}{', …' if len(q.options) > 6 else ''}"
            for name, q in self.asked.questions.items()
        ]
        lines += [
            f"does not ask {name}: it is always {value}"
            for name, value in self.asked.always.items()
        ]
        return [
            *lines,
            *(f"left out: {n} sessions {LEFT_OUT[r]}" for r, n in self.left_out.items()),
        ]


def suite_of_log(
    opened: Engine,
    references: ReferenceSource,
    allowed: Allowed,
    *,
    name: str,
    streams: int = 50,
    by: str | None = None,
    asked: Asked | None = None,
    seed: int = 0,
) -> LogSuite:
    """Sessions whose every state has a reference, at most `streams` of them, drawn by a hash.

    Questions are those of the log's decisions unless `asked` is given; `by` names the column of
    families.
    """
    schema = opened.schema()
    for column, needed in (("state", "the states themselves"), ("reference", "what was right")):
        if column not in schema.names:
            raise InputError(
                f"has no column {column!r}: a suite needs {needed}",
                where=opened.name,
                fix="write states as JSON into the log"
                if column == "state"
                else "give --reference python:module:function or --references FILE",
            )
    sessions = Sessions(streams, by, seed)
    check_by(schema, sessions.grouping, opened.name)
    found = opened.usable(sessions, (*SCORED, "state", *sessions.grouping), allowed)
    if not found.drawn:
        why = [f"{n} {LEFT_OUT[reason]}" for reason, n in found.reasons().items()]
        raise InputError(
            f"holds no session that could be asked again: of {found.streams} sessions"
            f" {'; '.join(why) or 'none can be used'}",
            where=opened.name,
            fix="every state needs a reference; a function gives them all: --reference"
            " python:module:function",
        )
    asked = asked or asked_by_decisions(found.decisions)
    drawn = sorted(found.drawn, key=lambda session: session.stream)
    facts = [
        [s.stream, list(s.published_s), s.end_s, list(s.states), list(s.references)] for s in drawn
    ]
    suite = make_suite(
        [_scenario(s, asked, name) for s, name in zip(drawn, _ids(drawn), strict=True)],
        name=name,
        generator={"log": digest(facts), "reference": references.text()},
    )
    return LogSuite(suite, asked, found.streams, found.reasons())


def _scenario(session: LogSession, asked: Asked, name: str) -> Scenario:
    n = len(session.published_s)
    tick = session.end_s / n
    questions, semantics = label_questions(asked.questions, f"log/{name}")
    regular = all(abs(at - i * tick) < 1e-9 for i, at in enumerate(session.published_s))
    return Scenario(
        schema_version=SCHEMA_VERSION,
        episode_id=name,
        task_family=session.group or LOGGED,
        scenario_id=name,
        title=session.stream[:_LONGEST_TITLE] or name,
        tick_seconds=tick,
        questions=questions,
        option_semantics=semantics,
        decision_spec=asked.decision_spec,
        steps=tuple(
            Step(t=t, state=_state(state, session.stream), gold=asked.answers(reference))
            for t, (state, reference) in enumerate(
                zip(session.states, session.references, strict=True)
            )
        ),
        published_s=None if regular else session.published_s,
    )


def _state(text: str, stream: str) -> State:
    """A state is an object; any other JSON becomes one."""
    value = read_state(text, f" in stream {stream[:60]!r}")
    return value if isinstance(value, dict) else {"state": value}


def _ids(sessions: Sequence[LogSession]) -> list[str]:
    """Streams may be called anything; ids name files. Those that are no ids get one by hash."""
    found = []
    taken = {session.group.lower() for session in sessions if session.group} | {LOGGED}
    for session in sessions:
        name = session.stream
        if not is_id(name) or name.lower() in taken:
            plain = re.sub(r"[^A-Za-z0-9]+", "-", name)[:40].strip("-") or "stream"
            mark = hashlib.sha256(f"{name}/{session.group}".encode()).hexdigest()[:10]
            name = f"{plain}-{mark}"
        taken.add(name.lower())
        found.append(name)
    return found
