"""Logged sessions as a suite: the same states at the same times, for any component to answer."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.decision_questions import Asked, asked_by_decisions
from streamdecisionbench.logs.engines.engine import Engine
from streamdecisionbench.logs.references import References
from streamdecisionbench.logs.score_log import SCORED, check_by
from streamdecisionbench.logs.sessions import LEFT_OUT, Session, Sessions
from streamdecisionbench.logs.usable import Allowed
from streamdecisionbench.suite.authoring import label_questions
from streamdecisionbench.suite.digest import digest
from streamdecisionbench.suite.ids import is_id
from streamdecisionbench.suite.scenario import SCHEMA_VERSION, Scenario, State, Step, Suite
from streamdecisionbench.suite.suite_files import make_suite

__all__ = ["LogSuite", "suite_of_log"]

FAMILY = "logged"
_LONGEST_TITLE = 120


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
        lines += [
            f"left out: {self.left_out[reason]} sessions {words}"
            for reason, words in LEFT_OUT.items()
            if self.left_out.get(reason)
        ]
        return lines


def suite_of_log(
    opened: Engine,
    references: References,
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
    check_by(schema, [by] if by else [], opened.name)
    columns = [name for name in (*SCORED, "state") if name in schema.names]
    columns += [by] if by and by not in columns else []
    found = opened.reduce(columns, Sessions(streams, by, seed))
    if found.unusable.rows:
        found.unusable.find_files(opened.file_of)
    allowed.check(found.unusable, found.rows, opened.name)
    if not found.drawn:
        why = [
            f"{found.left_out[reason]} {words}"
            for reason, words in LEFT_OUT.items()
            if found.left_out.get(reason)
        ]
        raise InputError(
            f"holds no session that could be asked again: of {found.streams} sessions"
            f" {'; '.join(why) or 'none can be used'}",
            where=opened.name,
            fix="every state needs a reference; a function gives them all: --reference"
            " python:module:function",
        )
    asked = asked or asked_by_decisions(found.decisions)
    sessions = sorted(found.drawn, key=lambda session: session.stream)
    ids = _ids(sessions)
    suite = make_suite(
        [_scenario(session, asked, ids[session.stream, session.group]) for session in sessions],
        name=name,
        generator={
            "log": digest([_facts(session) for session in sessions]),
            "reference": references.text(),
        },
    )
    return LogSuite(suite, asked, found.streams, found.left_out)


def _scenario(session: Session, asked: Asked, name: str) -> Scenario:
    n = len(session.published_s)
    tick = session.end_s / n
    questions, semantics = label_questions(asked.questions, f"log/{name}")
    regular = all(abs(at - i * tick) < 1e-9 for i, at in enumerate(session.published_s))
    return Scenario(
        schema_version=SCHEMA_VERSION,
        episode_id=name,
        task_family=session.group or FAMILY,
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
    try:
        value: Any = json.loads(text)
    except ValueError:
        raise InputError(
            f"column 'state' is no JSON, for example {text[:60]!r} in stream {stream[:60]!r}",
            fix="write states as JSON",
        ) from None
    return value if isinstance(value, dict) else {"state": value}


def _ids(sessions: Sequence[Session]) -> dict[tuple[str, str | None], str]:
    """Streams may be called anything; ids name files. Those that are no ids get one by hash."""
    found: dict[tuple[str, str | None], str] = {}
    taken: set[str] = {session.group for session in sessions if session.group} | {FAMILY}
    for session in sessions:
        name = session.stream
        if not is_id(name) or name.lower() in taken:
            plain = re.sub(r"[^A-Za-z0-9]+", "-", name)[:40].strip("-") or "stream"
            mark = hashlib.sha256(f"{name}/{session.group}".encode()).hexdigest()[:10]
            name = f"{plain}-{mark}"
        taken.add(name.lower())
        found[session.stream, session.group] = name
    return found


def _facts(session: Session) -> list[Any]:
    return [
        session.stream,
        list(session.published_s),
        session.end_s,
        list(session.states),
        list(session.references),
    ]
