"""What of a log can be used and what cannot, and why; and a mapping drafted for a table that is none yet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any

from streamdecisionbench.logs.engines.engine import FILE, Engine
from streamdecisionbench.logs.schema import COLUMNS, LATENCIES, kind_of, kind_shown
from streamdecisionbench.logs.score import SCORED, check_by
from streamdecisionbench.logs.sums import LogSettings, LogSums
from streamdecisionbench.logs.unusable import REASONS, Unusable
from streamdecisionbench.safe_text import printable
from streamdecisionbench.scoring.pooled import Group


@dataclass(frozen=True, slots=True)
class Checked:
    """A log, looked through."""

    source: str
    rows: int
    streams: int
    decisions: int
    judged: int
    answered: int
    assumed_end: int
    scattered: tuple[int, str] | None
    """Streams that lie in more than one file, and one of them."""
    columns: tuple[str, ...]
    missing: Mapping[str, str]
    """Columns that are not there, with what is taken instead."""
    others: tuple[str, ...]
    unusable: Unusable
    torn: int = 0
    """Files that end in a line that was cut off."""
    values: tuple[str, ...] = ()
    """Values that only references or only decisions have, in words."""
    timed_by: str = ""
    """The column of latencies that `answered_at` is made of, where it is."""

    def to_json(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "schema": "sdb-logs-check/1",
            "source": self.source,
            "rows": self.rows,
            "usable": self.rows - self.unusable.rows,
            "streams": self.streams,
            "decisions": self.decisions,
            "judged": self.judged,
            "answered": self.answered,
            "streams_without_end": self.assumed_end,
            "streams_in_several_files": self.scattered[0] if self.scattered else 0,
            "torn_lines": self.torn,
            "columns": list(self.columns),
            "answered_by": self.timed_by or None,
            "values": list(self.values),
            "missing": dict(self.missing),
            "group_by": list(self.others),
            "unusable": [
                {
                    "reason": reason,
                    "rows": count,
                    "what": REASONS[reason].what,
                    "column": REASONS[reason].column,
                    "fix": REASONS[reason].fix,
                    "example": asdict(example),
                }
                for reason, count, example in self.unusable.ordered()
            ],
        }


_INSTEAD = {
    "requested_at": "published_at is taken",
    "answered_at": "no answer ever came",
    "applied_at": "no physical trace",
    "decision": "no answer ever came",
    "reference": "nothing is judged without --references or --reference",
    "ended_at": "one median gap after the last state is taken",
    "state": "no references from a function, no suite",
    "state_id": "references are found by stream and published_at",
    "confidence": "–",
    "cost": "–",
    "weight": "every stream counts alike",
    "tick_s": "(end − start)/n is taken",
}


def check_log(engine: Engine, by: tuple[str, ...] = ()) -> Checked:
    """Looks through a whole log. Nothing is refused: everything is counted."""
    schema = engine.schema()
    check_by(schema, by, engine.name)
    sums = engine.usable(LogSums(LogSettings(by=by, resamples=0)), (*SCORED, *by))
    whole = Group()
    for group in sums.groups.values():
        whole.merge(group)
    counts = whole.counts()
    return Checked(
        source=engine.name,
        rows=sums.rows,
        streams=int(counts["streams"]),
        decisions=int(counts["decisions"]),
        judged=int(counts["judged"]),
        answered=whole.latency.count,
        assumed_end=int(counts["assumed_end"]),
        scattered=engine.scattered(),
        columns=tuple(name for name in COLUMNS if name in schema.names),
        missing={name: told for name, told in _INSTEAD.items() if name not in schema.names},
        others=tuple(n for n in schema.names if n not in {*COLUMNS, *LATENCIES, FILE}),
        unusable=sums.unusable,
        torn=engine.torn,
        values=tuple(sums.values.notes()),
        timed_by=engine.timed_by,
    )


# A mapping, drafted

_LIKE: Mapping[str, tuple[str, ...]] = {
    "ended_at": ("ended_at", "session_end", "session_ended_at", "call_ended_at", "end_ts", "hangup_at",
                 "closed_at"),
    "requested_at": ("requested_at", "request_ts", "asked_at", "sent_at"),
    "answered_at": ("answered_at", "response_ts", "responded_at", "answer_ts", "decided_at",
                    "completed_at", "finished_at", "applied_at"),
    "reference": ("reference", "expected", "gold", "ground_truth", "truth", "correct", "target",
                  "expected_*", "gold_*", "correct_*", "true_*", "human_*", "*_expected", "*_gold"),
    "state_id": ("state_id", "message_id", "turn_id", "event_id", "request_id"),
    "confidence": ("confidence", "probability", "score"),
    "cost": ("cost", "cost_usd", "cost_eur"),
    "stream": ("stream", "session_id", "session", "call_id", "call", "conversation_id", "conversation",
               "thread_id", "chat_id", "dialog_id", "stream_id", "*_session_id", "*_call_id",
               "session_*", "trace_id", "device_id", "unit_id", "user_id"),
    "published_at": ("published_at", "ts", "timestamp", "event_time", "event_ts", "time", "datetime",
                     "created_at", "occurred_at", "received_at", "started_at", "start_time", "ts_*",
                     "*_ts", "*_timestamp", "*_time", "*_at", "date"),
    "decision": ("decision", "tool_chosen", "tool", "chosen_tool", "action", "intent", "prediction",
                 "predicted", "choice", "chosen", "route", "next_action", "tool_*", "*_tool", "*_action",
                 "predicted_*", "chosen_*", "*_chosen", "*_decision", "label", "output", "response",
                 "answer"),
    "state": ("state", "utterance", "transcript", "text", "message", "input", "query", "prompt",
              "context", "payload", "user_*", "*_text", "*_utterance", "*_transcript"),
}  # fmt: skip
"""What people call a column, likeliest first; whoever comes first in this table chooses first."""
_WAITS = re.compile(r"(?:.*_)?(?:latency|duration|elapsed|took|delay|response_time|rtt)(?:_(\w+))?")
_WAIT_UNITS = {
    **dict.fromkeys(("ms", "millis", "milliseconds", "msec"), (" / 1000", "milliseconds")),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), ("", "seconds")),
    **dict.fromkeys(("us", "micros", "microseconds"), (" / 1000000", "microseconds")),
    **dict.fromkeys(("ns", "nanos", "nanoseconds"), (" / 1000000000", "nanoseconds")),
}
_EPOCHS = (
    (1e17, "1e9", "nanoseconds"),
    (1e14, "1e6", "microseconds"),
    (1e11, "1e3", "milliseconds"),
)
"""Times beyond these are no seconds since 1970, but so many times finer."""
_JSON_LIKE = ("{", "[")


@dataclass(frozen=True, slots=True)
class DraftLine:
    """One column of a drafted query: its SQL, and why."""

    column: str
    sql: str
    why: str


@dataclass(frozen=True, slots=True)
class MappingDraft:
    """A query for `--sql`, drafted from what a table's columns are called and hold."""

    source: str
    lines: tuple[DraftLine, ...]
    missing: tuple[str, ...]
    """Columns that no column of the table looks like, and no log can do without."""

    def text(self) -> str:
        """With a comment to every line; nothing in a comment can end it."""
        rows = [
            (line.sql if line.sql == line.column or not line.column else f"{line.sql} AS {line.column}",
             line.why)
            for line in self.lines
        ]  # fmt: skip
        shown = [
            f"  {sql}{',' if k < len(rows) else ''}  -- {printable(why)}"
            for k, (sql, why) in enumerate(rows, start=1)
        ]
        head = f"-- Drafted for {printable(self.source)}: correct it, then use it with --sql."
        return "\n".join((head, "SELECT", *shown, "FROM source", ""))


def draft_mapping(engine: Engine) -> MappingDraft:
    """Looks at the columns of a table that need not be a log yet."""
    schema = engine.schema()
    names = [name for name in schema.names if name != FILE]
    waits = next((name for name in names if _WAITS.fullmatch(_plain(name))), None)
    chosen = _chosen([name for name in names if name != waits])
    lines: list[DraftLine] = []
    times: dict[str, tuple[str, str]] = {}
    for column in ("stream", "published_at", "requested_at", "answered_at", "ended_at", "decision",
                   "reference", "state_id", "confidence", "cost"):  # fmt: skip
        name = chosen.get(column)
        if name is None:
            continue
        if COLUMNS[column].kind == "time":
            sql, kind, why = _time(engine, name)
            times[column] = sql, kind
        else:
            sql, why = _plain_column(engine, column, name)
        lines.append(DraftLine(column, sql, f"{why}: {COLUMNS[column].meaning}"))
    if waits is not None and "answered_at" not in chosen and "published_at" in times:
        since = "requested_at" if "requested_at" in times else "published_at"
        sql, why = _answered(engine, waits, *times[since])
        lines.append(DraftLine("answered_at", sql, f"{chosen[since]} plus {waits}, {why}"))
    states = [n for n in names if n in _matching(names, "state") and n not in chosen.values()]
    lines += _state(engine, chosen.get("state"), states)
    found = {line.column for line in lines}
    missing = tuple(
        name for name in ("stream", "published_at", "decision", "answered_at") if name not in found
    )
    lines += [
        DraftLine(name, "NULL", f"MISSING: {COLUMNS[name].meaning}. Which column says it?")
        for name in missing
    ]
    used = {*chosen.values(), waits, *(states if "state" in found else ())}
    others = [engine.shown_name(n) for n in names if n not in used and n not in found]
    if others:
        lines.append(DraftLine("", ", ".join(others), "as they are: to group by"))
    return MappingDraft(engine.name, tuple(lines), missing)


def _plain(name: str) -> str:
    """
    >>> _plain("toolChosen"), _plain("Latency (ms)")
    ('tool_chosen', 'latency_ms')
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


def _chosen(names: Sequence[str]) -> dict[str, str]:
    """Which column seems to be which; a column that has a name of the schema is that."""
    found = {name: name for name in names if name in _LIKE}
    for column in _LIKE:
        if column not in found:
            free = [name for name in _matching(names, column) if name not in found.values()]
            if free:
                found[column] = free[0]
    return found


def _matching(names: Sequence[str], column: str) -> list[str]:
    found = [n for like in _LIKE[column] for n in names if fnmatchcase(_plain(n), like)]
    return list(dict.fromkeys(found))


def _time(engine: Engine, name: str) -> tuple[str, str, str]:
    """A column as a time in SQL, whether that is seconds or a timestamp, and why."""
    dtype = engine.schema().field(name).type
    column = engine.shown_name(name)
    sorts = engine.sorts_of(name) if kind_of(dtype) == "text" else {}
    number = f"CAST({column} AS DOUBLE)" if sorts else column
    if kind_of(dtype) == "seconds" or set(sorts) == {"n"}:
        most = engine.largest(name) or 0.0
        for beyond, size, unit in _EPOCHS:
            if most >= beyond:
                return f"{number} / {size}", "seconds", f"{unit} since 1970, by their size"
        return number, "seconds", "numbers, taken for seconds"
    if not sorts:
        return column, kind_of(dtype), kind_shown(dtype)
    example = f"for example {next(iter(sorts.values()))[:40]}"
    if set(sorts) in ({"z"}, {"l"}):
        target, held = (
            ("zoned", "with a time zone") if "z" in sorts else ("zoneless", "without a time zone")
        )
        return f"CAST({column} AS {engine.types[target]})", "timestamp", f"times {held}, {example}"
    sql = f"CAST({column} AS {engine.types['zoned']})"
    return sql, "timestamp", f"CHECK: text of several forms or none that is known, {example}"


def _plain_column(engine: Engine, column: str, name: str) -> tuple[str, str]:
    shown, kind = engine.shown_name(name), COLUMNS[column].kind
    text = kind_of(engine.schema().field(name).type) == "text"
    if kind == "number" and text:
        return f"CAST({shown} AS DOUBLE)", "text that must be numbers"
    return shown, "has its name already" if name == column else f"{name} is named like one"


def _answered(engine: Engine, name: str, since: str, kind: str) -> tuple[str, str]:
    """When an answer came, by how long it took."""
    dtype, shown = engine.schema().field(name).type, engine.shown_name(name)
    unit = (_WAITS.fullmatch(_plain(name)) or [None, None])[1]
    if kind_of(dtype) == "duration":
        sql = f"{since} + {shown}" if kind == "timestamp" else f"{since} + {engine.seconds(shown)}"
        return sql, "a duration"
    if kind_of(dtype) == "text":
        shown = f"CAST({shown} AS DOUBLE)"
    factor, told = _WAIT_UNITS.get(unit or "", ("", ""))
    if not told:
        factor, told = (
            (" / 1000", "CHECK: in milliseconds, by their size; no unit is in its name")
            if (engine.largest(name) or 0.0) > 100
            else ("", "CHECK: in seconds, by their size; no unit is in its name")
        )
    else:
        told = f"in {told}"
    waited = f"{shown}{factor}"
    return f"{since} + {engine.duration(waited) if kind == 'timestamp' else waited}", told


def _state(engine: Engine, name: str | None, others: Sequence[str]) -> list[DraftLine]:
    if name is None:
        return []
    schema = engine.schema()
    if kind_of(schema.field(name).type) == "text" and not others:
        example = next(iter(engine.sorts_of(name).values()), "")
        if not example.startswith(_JSON_LIKE):
            told = f"text, as the field {name!r} of a JSON state"
            return [DraftLine("state", engine.json_of([name]), told)]
    elif others:
        told = "several columns that say what was known, as fields of a JSON state"
        return [DraftLine("state", engine.json_of([name, *others]), told)]
    return [DraftLine("state", engine.shown_name(name), "JSON already")]
