"""Logged sessions as a suite, the same states at the same times, for any component to answer; and as a
recording on it, with the answers they were given.

Questions are those behind the decisions. One that is text is one question; of a JSON object every field
is one, its values the options; where fields come and go, one of the fields that are always there must
say which: the route. Whole sessions are drawn by a hash of their names; of each, what can be asked again
are the stretches whose every state is there and has a reference.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import msgspec
import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.engines.engine import Engine, StreamSums
from streamdecisionbench.logs.log_references import (
    ReferenceSource,
    read_state,
)
from streamdecisionbench.logs.log_score import (
    SCORED,
    check_by,
)
from streamdecisionbench.logs.stream_arrays import (
    StreamArrays,
    plain_array,
    shown_values,
    stream_begins,
    text_column,
    times,
)
from streamdecisionbench.logs.unusable_rows import Allowed
from streamdecisionbench.policies.cost_rules import (
    DECISION,
    fields_of,
)
from streamdecisionbench.recording.published_tables import (
    ImportedRecording,
    PublishedRow,
    PublishedTable,
)
from streamdecisionbench.scoring.intervals import stream_keys
from streamdecisionbench.suite.authoring import QuestionDraft, label_questions
from streamdecisionbench.suite.digest import digest
from streamdecisionbench.suite.file_io import read_json
from streamdecisionbench.suite.scenario import (
    INACTIVE,
    LONGEST_TICK_S,
    SCHEMA_VERSION,
    SHORTEST_TICK_S,
    DecisionSpec,
    Question,
    Scenario,
    State,
    Step,
    Suite,
    is_id,
    require_id,
)
from streamdecisionbench.suite.suite_files import make_suite, write_suite
from streamdecisionbench.text import (
    compact_json,
    decision_text,
    plural,
)

if TYPE_CHECKING:
    import pyarrow as pa


LEFT_OUT: Mapping[str, str] = {
    "unjudged": "without any reference",
    "partly": "with states that have no reference",
    "no_state": "with references only where the state is missing",
    "broken": "with rows that cannot be used",
    "unanswered": "with states that were never answered",
    "policy": "decided by a policy, not simply by the newest answer",
    "pace": "with states less than a microsecond apart, or more than eleven days",
    "not_drawn": "not drawn",
}
"""Why a session is not among those that are asked again, in words."""
LOGGED = "logged"
"""The family of sessions that no column puts into another."""
MOST_OPTIONS = 100
_MOST_DECISIONS = 100_000
_LONGEST_TITLE = 120
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,23}")
"""What can stand as a label in any request."""
_LONGEST_NOTE = 160
_MOST_NOTES = 6
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
                f"{name} has {plural(len(values[name]), 'value')}, for example {_shown(values[name][0])}, and"
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
    references: tuple[str | None, ...] = field(compare=False)
    """In canonical form; None where nothing is known or the state is missing. Empty text is a decision."""
    """In canonical form; empty where nothing can be asked: no state, or nobody knows what was right."""
    answers: tuple[LogAnswer, ...] = field(default=(), compare=False)
    """What was answered to each state, where that was asked for."""

    def parts(self) -> list[LogSession]:
        """Its stretches in which everything can be asked, each a session of its own; itself, if it is
        one. A stretch lasts until the first state that is no part of it."""
        known = [reference is not None for reference in self.references]
        edges = np.flatnonzero(np.diff(np.array([False, *known, False]).astype(np.int8)))
        ends = (*self.published_s, self.end_s)
        found = []
        for k, (first, stop) in enumerate(
            zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        ):
            if all(known):
                return [self]
            begun = ends[first]
            part = replace(
                self,
                stream=f"{self.stream}.{k + 1}",
                published_s=tuple(round(at - begun, 6) for at in ends[first:stop]),
                end_s=round(ends[stop] - begun, 6),
                states=self.states[first:stop],
                references=self.references[first:stop],
            )
            if part.end_s / (stop - first) <= LONGEST_TICK_S:
                found.append(part)
        return found


class LogAnswer(NamedTuple):
    """When a state was published, asked about and answered, and with what: seconds since the first state."""

    published_s: float
    asked_s: float
    latency_s: float
    decision: str


@dataclass
class Sessions(StreamSums):
    """The sessions of a log that were drawn, with all decisions that were ever taken in it."""

    most: int
    by: str | None = None
    seed: int = 0
    answers: bool = False
    """Sessions must be answered throughout, and are kept with their answers and exact times."""
    states: bool = True
    """The log has the states; otherwise their numbers stand for them."""
    marks: set[str] = field(default_factory=set)
    """Marks of streams that every reader of their numbers must hear of."""
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
            reason = _reason(found, k, begin, self.answers) if whole[k] else "broken"
            if reason is None and len(self.drawn) == self.most:
                last = self.drawn[-1]
                reason = "not_drawn" if (last.key, last.stream) <= (key, name) else None
            if reason is None:
                rows = table.slice(int(found.row[k]), int(found.n[k]))
                self.marks |= {mark for mark, streams in found.marks.items() if streams[k]}
                self._draw(_session(rows, found, k, begin, name, key, self))
            else:
                self.left_out[reason] += 1

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.left_out.update(other.left_out)
        for session in other.drawn:
            self._draw(session)
        self.streams += other.streams
        self.decisions |= other.decisions
        self.marks |= other.marks

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


def _reason(found: StreamArrays, k: int, begin: int, answers: bool) -> str | None:
    """Why stream k cannot be asked again."""
    span = slice(begin, begin + int(found.n[k]))
    known = found.y[span] >= 0
    if not known.any():
        return "unjudged"
    if answers and not known.all():
        return "partly"
    if answers and not np.isfinite(found.L[span]).all():
        return "unanswered"
    if answers and found.policy is not None and found.policy.decided[k]:
        return "policy"
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
    asked: Sessions,
) -> LogSession | None:
    columns = {
        column: text_column(plain_array(rows.column(column))).to_pylist()
        for column in ("state", "reference")
        if column in rows.schema.names
    }
    states = columns["state"] if asked.states else [f'{{"step":{t}}}' for t in range(rows.num_rows)]
    forms = [
        None if state is None else decision_text(text)
        for state, text in zip(states, columns["reference"], strict=True)
    ]
    unknown = forms.count(None)
    if unknown == len(forms) or (asked.answers and unknown):
        return None
    group = None
    if asked.by is not None:
        (group,) = shown_values(plain_array(rows.column(asked.by).slice(0, 1)))
    span = slice(begin, begin + int(found.n[k]))
    return LogSession(
        key=key,
        stream=name,
        group=None if group is None else str(group),
        published_s=tuple(round(at, 6) for at in found.r[span].tolist()),
        end_s=float(found.H[k]) if asked.answers else round(float(found.H[k]), 6),
        states=tuple(state or "" for state in states),
        references=tuple(forms),
        answers=_answers(rows, found, span) if asked.answers else (),
    )


def _answers(rows: pa.Table, found: StreamArrays, span: slice) -> tuple[LogAnswer, ...]:
    published = found.r[span]
    asked = published
    if "requested_at" in rows.schema.names:
        known = times({n: plain_array(rows.column(n)) for n in ("published_at", "requested_at")})
        since = known["requested_at"].since(known["published_at"].value[0])
        asked = np.where(np.isnan(since), published, np.maximum(since, published))
    decisions = text_column(plain_array(rows.column("decision"))).to_pylist()
    return tuple(
        LogAnswer(at, begun, waited, decision_text(said) or "")
        for at, begun, waited, said in zip(
            published.tolist(), asked.tolist(), found.L[span].tolist(), decisions, strict=True
        )
    )


@dataclass(frozen=True, slots=True)
class LogSuite:
    """The suite, and what became of the log's other sessions."""

    suite: Suite
    asked: Asked
    streams: int
    left_out: dict[str, int]
    cut: int = 0
    """Sessions of which only the stretches with references are asked."""
    unasked: int = 0
    """Their other states."""
    sessions: Mapping[str, LogSession] = field(default_factory=dict)
    """By scenario."""
    marks: frozenset[str] = frozenset()

    def told(self) -> list[str]:
        """For people: what was taken, what was not, and why."""
        taken = self.suite.scenarios.values()
        sessions = self.streams - sum(self.left_out.values())
        lines = [
            f"{sessions} of {plural(self.streams, 'session')}, {plural(sum(s.n for s in taken), 'state')},"
            f" {sum(s.horizon_s for s in taken):.0f} s in all"
        ]
        if self.cut:
            lines.append(
                f"of {plural(self.cut, 'session')} only the parts that have references, {plural(len(taken), 'scenario')} in"
                f" all: {plural(self.unasked, 'state has', 'states have')} none; a part begins with nothing in force"
            )
        lines += [
            f"asks {name}: {', '.join(one or 'empty text' for one in list(q.options)[:6])}{', …' if len(q.options) > 6 else ''}"
            for name, q in self.asked.questions.items()
        ]
        lines += [
            f"does not ask {name}: it is always {value}"
            for name, value in self.asked.always.items()
        ]
        return [
            *lines,
            *(f"left out: {plural(n, 'session')} {LEFT_OUT[r]}" for r, n in self.left_out.items()),
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
    answers: bool = False,
) -> LogSuite:
    """Sessions with references, at most `streams` of them, drawn by a hash; where only some states have
    one, their stretches that do.

    Questions are those of the log's decisions unless `asked` is given; `by` names the column of
    families. With `answers`, sessions that were answered throughout, with what was answered; such a suite
    may lack the states themselves.
    """
    schema = opened.schema()
    for column, needed in (("state", "the states themselves"), ("reference", "what was right")):
        if column not in schema.names and not (answers and column == "state"):
            raise InputError(
                f"has no column {column!r}: a suite needs {needed}",
                where=opened.name,
                fix="write states as JSON into the log"
                if column == "state"
                else "give --reference python:module:function or --references FILE",
            )
    sessions = Sessions(streams, by, seed, answers, "state" in schema.names)
    check_by(schema, sessions.grouping, opened.name)
    found = opened.usable(sessions, (*SCORED, "state", *sessions.grouping), allowed)
    if not found.drawn:
        why = [f"{n} {LEFT_OUT[reason]}" for reason, n in found.reasons().items()]
        raise InputError(
            f"holds no session that could be asked again: of {plural(found.streams, 'session')}"
            f" {'; '.join(why) or 'none can be used'}",
            where=opened.name,
            fix="give references with --references FILE, or for every state with --reference"
            " python:module:function",
        )
    asked = asked or asked_by_decisions(found.decisions)
    whole = sorted(found.drawn, key=lambda session: session.stream)
    drawn = [part for session in whole for part in session.parts()]
    cut = [session for session in whole if None in session.references]
    facts = [
        [s.stream, list(s.published_s), s.end_s, list(s.states), list(s.references)] for s in drawn
    ]
    names = _ids(drawn)
    suite = make_suite(
        [_scenario(s, asked, name) for s, name in zip(drawn, names, strict=True)],
        name=name,
        generator={"log": digest(facts), "reference": references.text()},
    )
    unasked = sum(session.references.count(None) for session in cut)
    kept, marks = dict(zip(names, drawn, strict=True)), frozenset(found.marks)
    return LogSuite(suite, asked, found.streams, found.reasons(), len(cut), unasked, kept, marks)


def recording_of_log(
    opened: Engine,
    references: ReferenceSource,
    allowed: Allowed,
    out: Path,
    *,
    streams: int,
    by: str | None = None,
    asked: Asked | None = None,
    seed: int = 0,
) -> LogSuite:
    """Writes the sessions of a log as a recording, with their suite in it."""
    name = require_id(out.resolve().name, str(out), "name of a recording")
    _require_one_component(opened)
    made = suite_of_log(
        opened, references, allowed, name=name, streams=streams, by=by, asked=asked, seed=seed,
        answers=True,
    )  # fmt: skip
    rows = {
        scenario.episode_id: [
            _published(
                t, answer, scenario.decision_spec.compose(made.asked.answers(answer.decision))
            )
            for t, answer in enumerate(made.sessions[scenario.episode_id].answers)
        ]
        for scenario in made.suite
    }
    config = {
        "imported_from": opened.name,
        **({"simulated": True} if "simulated" in made.marks else {}),
        **({"clock": "virtual"} if "virtual_clock" in made.marks else {}),
        **({"irregular": True} if any(s.published_s is not None for s in made.suite) else {}),
    }
    recording = ImportedRecording.of(PublishedTable(name, rows), made.suite, out, config)
    write_suite(made.suite, out / "suite")
    recording.write()
    return made


def not_in_a_log(opened: Engine) -> list[str]:
    """What a recording of a log cannot have, for people."""
    there = set(opened.schema().names)
    found = ["not in a log: attempts and retries, tokens, answers that no decision uses"]
    if "state" not in there:
        found.append(
            "not in this log: states; no other component can be asked, only these answers scored"
        )
    lost = [name for name in ("weight", "applied_at", "cost", "confidence") if name in there]
    if lost:
        found.append(f"not taken over: {', '.join(lost)}")
    found.append(
        "sdb score counts sessions of a family alike, and families; sdb logs score counts seconds alike"
    )
    return found


def _published(t: int, answer: LogAnswer, decision: dict[str, str]) -> PublishedRow:
    arrived = answer.asked_s + answer.latency_s
    at = dict.fromkeys(("received_s", "completed_s", "recorded_s"), arrived)
    times = {"release_s": answer.published_s, "started_s": answer.asked_s, **at}
    return PublishedRow(t, times, None, decision)


def _require_one_component(opened: Engine) -> None:
    """A recording is one component's; a log may hold several, beside each other."""
    if "component" not in opened.schema().names:
        return
    names = [
        str(name) for batch in opened.distinct("component") for name in batch.column(0).to_pylist()
    ]
    if len(names) > 1:
        raise InputError(
            f"holds answers of {plural(len(names), 'component')}: {', '.join(names[:5])}",
            where=opened.name,
            fix="choose one with --sql: SELECT * FROM source WHERE component = …",
        )


def _scenario(session: LogSession, asked: Asked, name: str) -> Scenario:
    n = len(session.published_s)
    tick = session.end_s / n
    questions, semantics = worded(*label_questions(asked.questions, f"log/{name}"))
    states = [_state(state, session.stream) for state in session.states]
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
            Step(
                t=t,
                state=state,
                gold=asked.answers(reference or ""),
                evidence=evidence_of(states[t - 1] if t else {}, state),
            )
            for t, (state, reference) in enumerate(zip(states, session.references, strict=True))
        ),
        published_s=None if regular else session.published_s,
    )


def worded(
    questions: dict[str, Question], semantics: dict[str, dict[str, str]]
) -> tuple[dict[str, Question], dict[str, dict[str, str]]]:
    """Options that are all short and plain are their own labels."""
    for name, values in semantics.items():
        if all(map(_WORD.fullmatch, values.values())):
            criteria = {values[label]: text for label, text in questions[name].criteria.items()}
            questions[name] = msgspec.structs.replace(questions[name], criteria=criteria)
            semantics[name] = {value: value for value in values.values()}
    return questions, semantics


def evidence_of(before: State, now: State) -> tuple[str, ...]:
    """What is new in a state, for whoever looks at a decision; no component is shown it.

    >>> evidence_of({"heard": ["hello"], "room": 4}, {"heard": ["hello", "bye"], "room": 4})
    ('heard: bye',)
    """
    found = []
    for name, value in now.items():
        old = before.get(name)
        if name in before and old == value:
            continue
        if isinstance(value, list) and isinstance(old, list) and value[: len(old)] == old:
            value = value[len(old) :]
        items = value if isinstance(value, list) else [value]
        said = ", ".join(one if isinstance(one, str) else compact_json(one) for one in items)
        if isinstance(old, str) and "\n" in said.strip():
            known = set(old.splitlines())
            said = " / ".join(line for line in said.splitlines() if line not in known) or said
        said = " ".join(said.split())
        found.append(
            f"{name}: {said if len(said) <= _LONGEST_NOTE else said[:_LONGEST_NOTE] + '…'}"
        )
    return tuple(found[:_MOST_NOTES])


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
