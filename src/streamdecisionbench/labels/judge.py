"""What a slow, strong component says is right for the states of a log: silver references.

The log's states, each once, become a suite that is recorded without pace: the same contract, keys,
retries, estimate of cost, resume and redaction as `sdb run`. Its answers come back as a log of the same
streams and times. Nothing here says how good anybody is: whoever is held against silver agrees with it or
does not.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from streamdecisionbench.components import registry
from streamdecisionbench.components.contract import Options
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import Ints
from streamdecisionbench.labels.label_files import (
    AnswerForm,
    AuditFolder,
)
from streamdecisionbench.labels.sample import (
    answer_form,
    rows_of,
    state_value,
)
from streamdecisionbench.logs.engines.engine import Engine, StreamSums
from streamdecisionbench.logs.log_export import write_log
from streamdecisionbench.logs.log_schema import kind_of
from streamdecisionbench.logs.log_score import SCORED
from streamdecisionbench.logs.stream_arrays import (
    StreamArrays,
    plain_array,
    text_column,
)
from streamdecisionbench.logs.suite_of_log import Asked, asked_by_decisions
from streamdecisionbench.logs.unusable_rows import Allowed
from streamdecisionbench.recording.progress import Progress
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    Confirm,
    launch,
)
from streamdecisionbench.suite.authoring import QuestionDraft, label_questions
from streamdecisionbench.suite.file_io import make_folder
from streamdecisionbench.suite.scenario import SCHEMA_VERSION, Scenario, Step, Suite
from streamdecisionbench.suite.suite_files import make_suite, write_suite
from streamdecisionbench.text import (
    compact_json,
    plural,
)

if TYPE_CHECKING:
    import pyarrow as pa

_AT_ONCE = 50
"""States of one scenario: what an interruption may cost is asked again."""
_APART_S = 0.01
"""States are handed over this fast; how many are under way at once is limited elsewhere."""
_TICK_S = 1.0
"""Far from the horizon a state is never late."""
_UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


@dataclass(frozen=True, slots=True)
class JudgedLog:
    """What came of it."""

    component: str
    states: int
    rows: int
    complete: bool
    folder: Path
    """What was recorded on the way."""
    reason: str = ""
    without_state: int = 0
    """Rows of which nothing could be asked."""
    agreed: int = 0
    compared: int = 0
    """Items of the audit that people answered and it was asked about; how many it agrees on."""


@dataclass
class StateRows(StreamSums):
    """The rows of a log by their state, each distinct state once."""

    wanted: frozenset[str] | None = None
    """States to take, in canonical form; all without."""
    number: dict[str, int] = field(default_factory=dict)
    """Of every distinct state, in canonical form."""
    states: list[Any] = field(default_factory=list)
    parts: list[tuple[pa.Table, Ints]] = field(default_factory=list)
    """Whose stream, when, and which state."""
    decisions: set[str] = field(default_factory=set)
    without_state: int = 0

    @property
    def grouping(self) -> Sequence[str]:
        return ()

    def take(self, found: StreamArrays, table: pa.Table) -> None:
        rows = rows_of(found, table, self.keys(table.schema))
        texts = found.texts if isinstance(found.texts, list) else found.texts.to_pylist()
        self.decisions |= {texts[k] for k in np.unique(found.p[found.p >= 0]).tolist()}
        kept, numbers = [], []
        states = text_column(plain_array(table.column("state"))).take(rows).to_pylist()
        for row, state in zip(rows.tolist(), states, strict=True):
            if state is None:
                self.without_state += 1
                continue
            key, value = state_value(state)
            if self.wanted is not None and key not in self.wanted:
                continue
            if key not in self.number:
                self.number[key] = len(self.states)
                self.states.append(value)
            kept.append(row)
            numbers.append(self.number[key])
        columns = [n for n in ("stream", "published_at", "ended_at") if n in table.schema.names]
        own = table.select(columns).take(np.array(kept, dtype=np.int64))
        self.parts.append((own, np.array(numbers, dtype=np.int64)))

    def merge(self, other: Self) -> None:
        super().merge(other)
        own = list(other.number)
        for key, value in zip(own, other.states, strict=True):
            if key not in self.number:
                self.number[key] = len(self.states)
                self.states.append(value)
        renumbered = np.array([self.number[key] for key in own], dtype=np.int64)
        self.parts += [(table, renumbered[numbers]) for table, numbers in other.parts]
        self.decisions |= other.decisions
        self.without_state += other.without_state


def judge_log(
    opened: Engine,
    request: RunOptions,
    out: Path,
    confirm: Confirm,
    *,
    audit: Path | None = None,
    asked: Asked | None = None,
    allowed: Allowed | None = None,
    progress: Progress | None = None,
) -> JudgedLog:
    """Asks a component what is right for every state of a log, or for those that people are asked about.

    `request` says who and how; what is recorded lies beside `out` until it is complete, and
    `request.output.resume` continues it.
    """
    called = request.components
    (component,) = called.components.values()
    if component.partition(":")[0] == "simulated":
        raise InputError(
            f"{component} draws its answers around references, and there are none here",
            fix="ask a component that reads the state: openai:, anthropic:, chat:, gguf:, python:",
        )
    options = Options(
        effort=called.efforts.get(None), base_url=called.base_urls.get(None), extra=called.extra
    )
    here = registry.create(component, options).info.in_process
    folder = AuditFolder.open(audit) if audit is not None else None
    found = _states(opened, folder, allowed or Allowed())
    if folder is not None:
        asked, form = _asked_by(folder), folder.form
    else:
        asked = asked or asked_by_decisions(sorted(found.decisions))
        form = answer_form(asked, sorted(found.decisions))
    suite = _suite(found.states, asked)
    work = out.with_name(f"{out.name}.recording")
    data = work.with_name(f"{out.name}.states")
    if data.exists():
        shutil.rmtree(data)
    make_folder(data)
    try:
        write_suite(suite, data)
        outcome = launch(
            request.changed(
                out=work,
                data=data,
                clock="virtual" if here else "real",
                warmup=0,  # nothing is timed
            ),
            confirm,
            progress,
        )[-1]
    finally:
        # Its references are none: without it nobody can score the recording by mistake.
        shutil.rmtree(data, ignore_errors=True)
    judged = JudgedLog(component, len(found.states), 0, False, work, outcome.reason or "")
    if outcome.status != "complete" or outcome.recording is None:
        return judged
    said = _answers(outcome.recording, suite, form)
    table = _table(found.parts, said, component, outcome.recording)
    write_log(table, out)
    agreed, compared = _agreement(folder, found, said)
    return replace(
        judged,
        rows=table.num_rows,
        complete=True,
        without_state=found.without_state,
        agreed=agreed,
        compared=compared,
    )


def _states(opened: Engine, audit: AuditFolder | None, allowed: Allowed) -> StateRows:
    if "state" not in opened.schema().names:
        raise InputError(
            "has no column 'state': there is nothing to judge",
            where=opened.name,
            fix="write what was known when it was decided into the log, as JSON or text",
        )
    wanted = None
    if audit is not None:
        wanted = frozenset(_key(item.state) for item in audit.items.values())
    columns = [name for name in (*SCORED, "state") if name != "reference"]
    found = opened.usable(StateRows(wanted=wanted), columns, allowed)
    if not found.states:
        raise InputError(
            "holds no state" if audit is None else f"holds no state of {audit.path}",
            where=opened.name,
            fix="name the log that the audit was drawn from" if audit else "sdb logs check",
        )
    return found


def _key(state: Any) -> str:
    return state_value(state if isinstance(state, str) else compact_json(state))[0]


def _asked_by(audit: AuditFolder) -> Asked:
    """What people are asked."""
    questions = next(iter(audit.items.values())).questions
    return Asked(
        {name: QuestionDraft(q.text, q.options) for name, q in questions.items()},
        audit.form.decision_spec,
        audit.form.always,
    )


def _suite(states: Sequence[Any], asked: Asked) -> Suite:
    """The states in scenarios of some at a time; what stands for references is none."""
    questions, semantics = label_questions(asked.questions, "judge")
    anything = {name: next(iter(q.options)) for name, q in asked.questions.items()}
    scenarios = []
    for begin in range(0, len(states), _AT_ONCE):
        own = states[begin : begin + _AT_ONCE]
        name = f"states-{begin // _AT_ONCE + 1}"
        scenarios.append(
            Scenario(
                schema_version=SCHEMA_VERSION,
                episode_id=name,
                task_family="states",
                scenario_id=name,
                title=f"{plural(len(own), 'state')} of a log, to be judged",
                tick_seconds=_TICK_S,
                questions=questions,
                option_semantics=semantics,
                decision_spec=asked.decision_spec,
                steps=tuple(
                    Step(t, state if isinstance(state, dict) else {"state": state}, anything)
                    for t, state in enumerate(own)
                ),
                published_s=tuple(round(t * _APART_S, 6) for t in range(len(own))),
            )
        )
    return make_suite(scenarios, name="states of a log")


def _answers(
    recording: Recording, suite: Suite, form: AnswerForm
) -> list[tuple[str | None, float, str | None]]:
    """Of every state in order: the decision in the log's own form, its latency, the model."""
    return [
        (form.decision(response.pred), max(response.latency_s, 0.0), response.model)
        for name in suite.scenarios
        for response in recording.episodes[name].responses
    ]


def _table(
    parts: Iterable[tuple[pa.Table, Ints]],
    said: Sequence[tuple[str | None, float, str | None]],
    component: str,
    recording: Recording,
) -> pa.Table:
    """The log's rows, answered by the component as if it had been asked when each state came."""
    import pyarrow as pa

    tables, numbers = zip(*parts, strict=True)
    rows = pa.concat_tables(tables)
    of_row = [said[k] for k in np.concatenate(numbers).tolist()]
    published = plain_array(rows.column("published_at"))
    waited = np.array([latency for _, latency, _ in of_row])
    if kind_of(published.type) == "timestamp":
        units = np.round(waited * _UNITS[published.type.unit]).astype(np.int64)
        answered = pa.array(np.asarray(published.cast(pa.int64())) + units).cast(published.type)
    else:
        answered = pa.array(np.asarray(published.cast(pa.float64())) + waited)
    added: Mapping[str, Any] = {
        "answered_at": answered,
        "decision": pa.array([decision for decision, _, _ in of_row], pa.string()),
        "component": pa.array([component] * len(of_row), pa.string()),
        "model": pa.array([model for _, _, model in of_row], pa.string()),
        "virtual_clock": pa.array([recording.virtual_clock] * len(of_row), pa.bool_()),
    }
    for name, column in added.items():
        rows = rows.append_column(name, column)
    return rows


def _agreement(
    audit: AuditFolder | None,
    found: StateRows,
    said: Sequence[tuple[str | None, float, str | None]],
) -> tuple[int, int]:
    """On how many of the items that people answered it says what they say."""
    if audit is None:
        return 0, 0
    pairs = [
        (said[found.number[key]][0], told.decision)
        for name, told in audit.said(audit.read_labels()).items()
        if told.decision is not None
        if (key := _key(audit.items[name].state)) in found.number
    ]
    return sum(one == two for one, two in pairs), len(pairs)
