"""The authoring kit: from a timeline of events to a checked, labelled, frozen scenario.

An author writes four things:

* a **timeline**: events at ticks (`Event`), in the order they become public;
* a **projection**: the events so far → the public state a component sees at a tick;
* a **reference**: one public state → the answer to every question, and nothing else;
* the **changes** (`Change`): at which ticks the composed reference changes, in which fields, and why.

`expand` makes the states, runs the reference on a JSON copy of each, and verifies that the composed
reference changes exactly where the author says and nowhere else. Labels are opaque codes whose
assignment and listing order depend only on the seed, the scenario and the question.
"""

from __future__ import annotations

import hashlib
import json
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamdecisionbench.errors import SdbError
from streamdecisionbench.suite.scenario import (
    SCHEMA_VERSION,
    DecisionSpec,
    Question,
    Scenario,
    State,
    Step,
)


class AuthoringError(SdbError):
    """A scenario that does not do what its author declared. Lists every problem found."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(self.problems))


@dataclass(frozen=True, slots=True)
class Event:
    """Something that becomes public at tick `at`.

    `kind` and `data` are the family's own vocabulary. `note` is for people who audit the suite: why
    this event is here and what it should or should not change. It never reaches a component.
    """

    at: int
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """The author's promise: at tick `at` exactly these fields of the composed decision change.

    A field that enters or leaves the decision with its branch counts as changed.
    """

    at: int
    fields: tuple[str, ...]
    because: str


@dataclass(frozen=True, slots=True)
class QuestionDraft:
    """A question before its labels: options are value → description, in the author's order."""

    instructions: str
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Draft:
    """A scenario as its author writes it."""

    scenario_id: str
    task_family: str
    title: str
    questions: Mapping[str, QuestionDraft]
    decision_spec: DecisionSpec
    events: tuple[Event, ...]
    changes: tuple[Change, ...]
    project: Callable[[Sequence[Event], int], State]
    reference: Callable[[State], dict[str, str]]
    steps: int = 60
    tick_seconds: float = 2.0
    seed: str = "sdb-v1"


def expand(draft: Draft) -> Scenario:
    """The scenario a draft describes, or an `AuthoringError` that lists every broken promise."""
    problems = _check_ticks(draft) or _check_timeline(draft)
    if problems:
        raise AuthoringError(problems)  # what follows would only fail because of them
    states = [_state_at(draft, t) for t in range(draft.steps)]
    golds = []
    for t, state in enumerate(states):
        before = json.dumps(state, sort_keys=True)
        try:
            gold = draft.reference(state)
        except Exception as error:
            raise _raised(draft, t, "reference", error) from error
        if json.dumps(state, sort_keys=True) != before:
            problems.append(
                f"{draft.scenario_id} tick {t}: the reference changed the state it read"
            )
        problems += _check_gold(draft, t, gold)
        golds.append(gold)
    if problems:
        raise AuthoringError(problems)
    problems += _check_changes(draft, golds)
    problems += _check_spec(draft, golds)
    if problems:
        raise AuthoringError(problems)
    questions, semantics = label(draft)
    return Scenario(
        schema_version=SCHEMA_VERSION,
        episode_id=draft.scenario_id,
        task_family=draft.task_family,
        scenario_id=draft.scenario_id,
        title=draft.title,
        tick_seconds=draft.tick_seconds,
        questions=questions,
        option_semantics=semantics,
        decision_spec=draft.decision_spec,
        steps=tuple(
            Step(t=t, state=state, gold=gold, evidence=evidence_at(draft.events, draft.changes, t))
            for t, (state, gold) in enumerate(zip(states, golds, strict=True))
        ),
    )


def label(draft: Draft) -> tuple[dict[str, Question], dict[str, dict[str, str]]]:
    """Questions with opaque labels, and what the labels mean: by seed, scenario and question alone."""
    return label_questions(draft.questions, f"{draft.seed}/{draft.scenario_id}")


def label_questions(
    drafts: Mapping[str, QuestionDraft], seed: str
) -> tuple[dict[str, Question], dict[str, dict[str, str]]]:
    """The same for questions alone. An option without a description is its value."""
    questions, semantics = {}, {}
    for name, question in drafts.items():
        options = question.options
        coded = _shuffled(options, seed, name, "label")
        label_of = {value: f"K{i:02d}" for i, value in enumerate(coded, start=1)}
        listed = _shuffled(options, seed, name, "order")
        questions[name] = Question(
            type="choice",
            instructions=question.instructions,
            criteria={label_of[v]: f"{v}: {options[v]}" if options[v] else v for v in listed},
        )
        semantics[name] = {label_of[v]: v for v in listed}
    return questions, semantics


def _state_at(draft: Draft, t: int) -> State:
    """Project only what has happened by `t`, so that no state can show the future."""
    seen = tuple(event for event in draft.events if event.at <= t)
    try:
        projected = json.dumps(draft.project(seen, t), ensure_ascii=False)
    except Exception as error:
        raise _raised(draft, t, "projection", error) from error
    state: State = json.loads(projected)
    return state


def _raised(draft: Draft, t: int, part: str, error: Exception) -> AuthoringError:
    """An exception of the author's own code, with the tick it stopped at and its own traceback."""
    told = AuthoringError(
        [f"{draft.scenario_id} tick {t}: the {part} raises {type(error).__name__}: {error}"]
    )
    told.trace = "".join(traceback.format_exception(error)).rstrip("\n")
    return told


def evidence_at(events: Sequence[Event], changes: Sequence[Change], t: int) -> tuple[str, ...]:
    """The author's notes on what happens at tick `t`, and why the decision changes then."""
    notes = [event.note for event in events if event.at == t and event.note]
    return (*notes, *(f"change: {c.because}" for c in changes if c.at == t))


def _check_ticks(draft: Draft) -> list[str]:
    """Ticks are whole numbers; any other value is reported before it is compared."""
    name = draft.scenario_id
    problems = [
        f"{name}: event {event.kind!r} is at tick {event.at!r}, which is no whole number"
        for event in draft.events
        if type(event.at) is not int
    ]
    problems += [
        f"{name}: the change {change.because!r} is at tick {change.at!r}, which is no whole number"
        for change in draft.changes
        if type(change.at) is not int
    ]
    if type(draft.steps) is not int or draft.steps < 1:
        problems.append(f"{name}: steps is {draft.steps!r}, not a whole number above 0")
    seconds = draft.tick_seconds
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        problems.append(f"{name}: tick_seconds is {seconds!r}, not a number above 0")
    return problems


def _check_timeline(draft: Draft) -> list[str]:
    problems = []
    last = 0
    for event in draft.events:
        if not 0 <= event.at < draft.steps:
            problems.append(
                f"{draft.scenario_id}: event {event.kind!r} at tick {event.at} is outside 0–{draft.steps - 1}"
            )
        if event.at < last:
            problems.append(
                f"{draft.scenario_id}: event {event.kind!r} at tick {event.at} comes after one at tick {last};"
                " write events in the order they happen"
            )
        last = max(last, event.at)
    return problems


def _check_gold(draft: Draft, t: int, gold: Mapping[str, str]) -> list[str]:
    problems = []
    where = f"{draft.scenario_id} tick {t}"
    for name in draft.questions:
        if name not in gold:
            problems.append(f"{where}: the reference does not answer {name}")
        elif gold[name] not in draft.questions[name].options:
            problems.append(
                f"{where}: the reference answers {name} = {gold[name]!r}, which is no option"
            )
    problems += [
        f"{where}: the reference answers {q}, which is no question"
        for q in gold
        if q not in draft.questions
    ]
    return problems


def _check_changes(draft: Draft, golds: Sequence[Mapping[str, str]]) -> list[str]:
    problems = []
    declared = {change.at: change for change in draft.changes}
    if len(declared) != len(draft.changes):
        problems.append(f"{draft.scenario_id}: two changes are declared at one tick")
    decisions = [draft.decision_spec.compose(gold) for gold in golds]
    for t in range(1, draft.steps):
        old, new = decisions[t - 1], decisions[t]
        moved = {q for q in (*old, *new) if old.get(q) != new.get(q)}
        expected = set(declared[t].fields) if t in declared else set()
        where = f"{draft.scenario_id} tick {t}"
        for q in sorted(expected - moved):
            still = new.get(q, "(not part of the decision)")
            problems.append(f"{where}: expected {q} to change, reference still says {still}")
        for q in sorted(moved - expected):
            change = f"{q} changes from {old.get(q, '(absent)')} to {new.get(q, '(absent)')}"
            problems.append(f"{where}: {change}, which no declared change expects")
    problems += [
        f"{draft.scenario_id}: a change is declared at tick {t}, outside 1–{draft.steps - 1}"
        for t in declared
        if not 1 <= t < draft.steps
    ]
    return problems


def _check_spec(draft: Draft, golds: Sequence[Mapping[str, str]]) -> list[str]:
    spec, problems = draft.decision_spec, []
    route_options = set(draft.questions[spec.route_question].options)
    for route in route_options ^ set(spec.branches):
        problems.append(f"{draft.scenario_id}: route {route!r} is not both an option and a branch")
    unused = set(draft.questions) - spec.questions()
    problems += [f"{draft.scenario_id}: question {q} is used by no branch" for q in sorted(unused)]
    return problems


def _shuffled(options: Mapping[str, str], seed: str, name: str, purpose: str) -> list[str]:
    """A seeded shuffle that no library version can change: order by digest."""

    def key(value: str) -> str:
        text = f"{seed}/{name}/{purpose}/{value}"
        return hashlib.sha256(text.encode()).hexdigest()

    return sorted(options, key=key)
