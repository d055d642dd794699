"""Drafts the mapping of a table: the query for `--sql` that names the columns of a decision log.

The draft is a guess from the names and the values of the columns, with a comment on every line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from streamdecisionbench.logs.engines.engine import FILE, Engine
from streamdecisionbench.logs.log_schema import (
    COLUMNS,
    kind_of,
    kind_shown,
)
from streamdecisionbench.text import printable

_WORDS: Mapping[str, tuple[str, ...]] = {
    "ended_at": ("ended", "end", "ends", "hangup", "closed", "close", "stopped", "stop", "terminated",
                 "disconnected"),
    "requested_at": ("requested", "request", "asked", "sent", "submitted", "queried", "dispatched"),
    "answered_at": ("answered", "answer", "response", "responded", "reply", "replied", "decided", "decision",
                    "predicted", "prediction", "inferred", "completed", "finished", "output", "result",
                    "acted", "action", "applied"),
    "reference": ("reference", "expected", "gold", "golden", "truth", "groundtruth", "correct", "corrected",
                  "correction", "target", "true", "actual", "ideal", "desired", "adjudicated", "human",
                  "moderator", "reviewer", "annotator", "annotation", "annotated", "rater", "auditor",
                  "expert", "judge"),
    "state_id": ("state", "message", "msg", "turn", "event", "request", "utterance", "item", "span", "step"),
    "confidence": ("confidence", "probability", "prob", "score", "conf"),
    "cost": ("cost", "price"),
    "stream": ("stream", "session", "call", "conversation", "convo", "thread", "chat", "dialog", "dialogue",
               "room", "channel", "ticket", "case", "meeting", "match", "game", "episode", "trip", "visit",
               "interaction", "contact", "trace", "run", "job", "order", "device", "unit", "machine",
               "sensor", "vehicle", "patient", "user", "customer", "client", "account"),
    "published_at": ("published", "event", "message", "msg", "state", "turn", "utterance", "created",
                     "occurred", "received", "started", "start"),
    "decision": ("decision", "decided", "chosen", "choice", "selected", "predicted", "prediction", "pred",
                 "tool", "action", "intent", "route", "verdict", "classification", "label", "class",
                 "output", "response", "answer", "result", "command"),
    "state": ("state", "utterance", "transcript", "text", "message", "msg", "input", "query", "prompt",
              "context", "payload", "content", "body", "observation", "user"),
}  # fmt: skip
"""Words in the name of a column, likeliest first; a column that comes first in this table chooses first."""
_TIMES = frozenset(("ts", "at", "time", "timestamp", "datetime", "date", "utc", "on"))
_IDS = frozenset(("id", "ids", "uuid", "guid", "key", "sid", "no", "nr", "number"))
_NUMBERS = frozenset(
    (*_WORDS["confidence"], *_WORDS["cost"], "count", "usd", "eur", "tokens", "version")
)
_LATER = frozenset((
    *_WORDS["reference"], "review", "reviewed", "labeled", "labelled", "label", "updated", "modified",
    "deleted", "ingested", "inserted", "loaded", "exported", "expires", "due",
))  # fmt: skip
"""Words of times that are about something done to the row later."""
_MAYBE_REFERENCE = frozenset((
    *_WORDS["reference"], "label", "labels", "labeled", "labelled", "review", "reviewed", "feedback", "verdict",
    "rating", "grade", "outcome", "resolution", "disposition", "override", "overridden", "qa", "final",
))  # fmt: skip
_WAITS = ("latency", "rtt", "elapsed", "took", "delay", "lag", "duration")
_WORK = frozenset((
    "infer", "inference", "processing", "process", "response", "roundtrip", "compute", "generation", "execution",
    "exec", "predict", "prediction", "decision", "model", "llm", "e2e", "wait", "waited", "answer", "request",
    "reply", "runtime",
))  # fmt: skip
_NOT_WAITS = frozenset(("call", "session", "audio", "speech", "silence", "window", "interval",
                        "timeout", "budget", "ttl", "max", "conversation"))  # fmt: skip
_WAIT_UNITS = {
    **dict.fromkeys(("ms", "millis", "milliseconds", "msec"), (" / 1000", "milliseconds")),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), ("", "seconds")),
    **dict.fromkeys(("us", "micros", "microseconds"), (" / 1000000", "microseconds")),
    **dict.fromkeys(("ns", "nanos", "nanoseconds"), (" / 1000000000", "nanoseconds")),
}
_SHARED_ROWS = 10_000
"""So many rows are looked at for values that a column shares with the decision."""
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
    timed = [name for name in names if kind_of(schema.field(name).type) == "timestamp"]
    waits = min(
        (name for name in names if _is_wait(name) and name not in timed),
        key=_wait_rank,
        default=None,
    )
    chosen = _chosen([name for name in names if name not in timed and not _is_wait(name)], timed)
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
    others = [n for n in names if n not in used and n not in found]
    maybe = _maybe_references(engine, others, chosen)
    for name, why in maybe.items():
        shown = engine.shown_name(name)
        told = f"CHECK: is it what was right ({why})? Then write {shown} AS reference"
        lines.append(DraftLine("", shown, told))
    others = [engine.shown_name(n) for n in others if n not in maybe]
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


def _tokens(name: str) -> list[str]:
    """
    >>> _tokens("moderatorAction"), _tokens("msg_ts_ms")
    (['moderator', 'action'], ['msg', 'ts', 'ms'])
    """
    return _plain(name).split("_")


def _sort_of(name: str) -> str:
    """What the end of a name says the column holds: `time`, `id`, `number` or `value`.

    >>> [_sort_of(name) for name in ("msg_ts", "room_uuid", "cost_usd", "moderator_action", "sessionId")]
    ['time', 'id', 'number', 'value', 'id']
    """
    tokens = _tokens(name)
    while len(tokens) > 1 and tokens[-1] in _WAIT_UNITS:
        tokens.pop()
    if tokens[-1] in _TIMES or tokens[0] in ("ts", "timestamp", "datetime", "date"):
        return "time"
    if tokens[-1] in _IDS:
        return "id"
    return "number" if _NUMBERS & set(tokens) else "value"


def _is_wait(name: str) -> bool:
    """Whether a column says how long an answer took.

    >>> [name for name in ("infer_ms", "latency", "call_duration_s", "ts_ms", "inference_time") if _is_wait(name)]
    ['infer_ms', 'latency', 'inference_time']
    """
    tokens = _tokens(name)
    if "latency" not in tokens and _NOT_WAITS & set(tokens):
        return False
    named = bool(set(_WAITS) & set(tokens))
    measured = tokens[-1] in _WAIT_UNITS or tokens[-1] == "time"
    return named or (measured and bool(_WORK & set(tokens)))


def _wait_rank(name: str) -> int:
    return min(
        (_WAITS.index(token) for token in _tokens(name) if token in _WAITS), default=len(_WAITS)
    )


def _chosen(names: Sequence[str], timed: Collection[str]) -> dict[str, str]:
    """Which column seems to be which; a column that has a name of the schema is that.

    `timed` hold timestamps, whatever they are called; `names` are all others.
    """
    found = {name: name for name in (*names, *timed) if name in _WORDS}
    for column in _WORDS:
        if column not in found:
            kind = COLUMNS[column].kind
            free = [n for n in (timed if kind == "time" else ()) if n not in found.values()]
            free += [n for n in names if n not in found.values()]
            likely = _matching(free, column, timed)
            if likely:
                found[column] = likely[0]
    return found


def _matching(names: Sequence[str], column: str, timed: Collection[str] = ()) -> list[str]:
    """Columns that may be the one of the schema by their names, likeliest first."""
    ranked = [
        (rank, k, n) for k, n in enumerate(names) if (rank := _rank(n, column, timed)) is not None
    ]
    return [name for _, _, name in sorted(ranked)]


def _rank(name: str, column: str, timed: Collection[str]) -> tuple[int, int] | None:
    """How likely a column is one of the schema by its name, smaller is likelier; None: it is not."""
    tokens, words = _tokens(name), _WORDS[column]
    sort = "time" if name in timed else _sort_of(name)
    wanted = {"time": "time", "number": "number"}.get(COLUMNS[column].kind, "value")
    if column in ("stream", "state_id"):
        wanted = "id"
        if column == "stream" and len(tokens) == 1 and tokens[0] in words:
            sort = "id"
    place = min((words.index(token) for token in tokens if token in words), default=None)
    if sort != wanted:
        return None
    if place is None:
        # Any time may be the state's, and any id the stream's, if no other name is likelier.
        general = (column == "published_at" and not _LATER & set(tokens)) or (
            column == "stream" and not {*_LATER, *_WORDS["state_id"]} & set(tokens)
        )
        if not general:
            return None
        plain = column == "published_at" and len(tokens) == 1
        return (-1 if plain else len(words), len(tokens))
    return None if wanted == "time" and _LATER & set(tokens) else (place, len(tokens))


def _maybe_references(
    engine: Engine, names: Sequence[str], chosen: Mapping[str, str]
) -> dict[str, str]:
    """Columns that could be the reference, with the reason: their names, or values of the decision."""
    found: dict[str, str] = {}
    if "reference" in chosen.values():
        return found
    decision = chosen.get("decision")
    for name in names:
        if _MAYBE_REFERENCE & set(_tokens(name)) and _sort_of(name) == "value":
            found[name] = "by its name"
        elif decision is not None and engine.shares_values(name, decision, _SHARED_ROWS):
            found[name] = f"it has values of {decision}"
    return found


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
    unit = _tokens(name)[-1]
    if kind_of(dtype) == "duration":
        sql = f"{since} + {shown}" if kind == "timestamp" else f"{since} + {engine.seconds(shown)}"
        return sql, "a duration"
    if kind_of(dtype) == "text":
        shown = f"CAST({shown} AS DOUBLE)"
    factor, told = _WAIT_UNITS.get(unit, ("", ""))
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
