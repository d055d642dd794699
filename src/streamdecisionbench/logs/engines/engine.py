"""A table of decisions in an engine: what DuckDB and Spark are asked alike, in SQL that both read.

Queries name the log `{log}`, a second table `{given}`, and the log as its files hold it `{files}`. An
engine says how it opens, asks and adds up; the rest is written once, here.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.log_files import (
    LogFiles,
    find_text,
    torn_note,
)
from streamdecisionbench.logs.log_schema import (
    COLUMNS,
    LATENCIES,
    NO_UNIT,
    check_columns,
    kind_of,
    kind_shown,
    latencies_of,
    plain_type,
    time_columns,
)
from streamdecisionbench.logs.stream_arrays import (
    FILE_MARK,
    MARKS,
    ORIGIN,
    UNREADABLE,
    StreamArrays,
    stream_arrays,
)
from streamdecisionbench.logs.unusable_rows import (
    Allowed,
    Unusable,
)
from streamdecisionbench.text import (
    decision_text,
    printable,
)

if TYPE_CHECKING:
    import pyarrow as pa

FILE = "filename"
"""The column that says which file a row lies in."""
_CONVERTED = {
    **{n: c.kind for n, c in COLUMNS.items() if c.kind in ("time", "number", "truth")},
    **dict.fromkeys(MARKS, "mark"),
}
"""Columns whose text is read as something else. Any other column is text whatever it looks like."""
_KEPT = {name for name, kind in _CONVERTED.items() if kind != "mark"}
_LABELS = ("requested_at", "weight", "tick_s", "state_id")
"""Columns that no meter writes: in its log they are somebody's labels."""
_NUMBER = r"^([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(?i:inf(inity)?)|(?i:nan))$"
_INSTANT = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?"
    r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)?$"
)
_ZONED = r":[0-9.]+(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
_FINER = r":[0-9]{2}[.][0-9]{6}[0-9]*[1-9]"
"""Digits beyond microseconds, which text loses where it becomes a timestamp."""
_INFINITE = r"^[+-]?(?i:inf(inity)?)$"
_CLOCKED = r"^(?:([0-9]+) days?,? )?([0-9]+):([0-9]{2}):([0-9]{2}(?:[.][0-9]+)?)$"
_ISO = r"^P(?:([0-9]+)D)?T(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:[.][0-9]+)?)S)?$"
_COUNTED = r"^([0-9]+(?:[.][0-9]+)?) ?(us|ms|s|min)$"
"""How durations are written: with days, hours, minutes and seconds as parts, or in one unit."""
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
_FOUND = {
    "n": "numbers",
    "z": "times with a time zone",
    "l": "times without a time zone",
    "t": "true and false",
    "d": "durations",
    "x": "text",
}
"""What text may turn out to be."""
_KEYWORDS = frozenset((
    "all", "and", "as", "asc", "at", "by", "case", "cast", "column", "desc", "distinct", "else", "end", "false",
    "from", "group", "having", "in", "is", "limit", "not", "null", "of", "offset", "on", "or", "order",
    "select", "table", "then", "to", "true", "union", "user", "when", "where", "window", "with",
))  # fmt: skip


@dataclass(kw_only=True)
class StreamSums(ABC):
    """What the streams of a log are added up into: parts of it anywhere, merged in any order."""

    rows: int = 0
    unusable: Unusable = field(default_factory=Unusable)
    _spellings: dict[str, str | None] = field(default_factory=dict, repr=False)

    @property
    @abstractmethod
    def grouping(self) -> Sequence[str]:
        """The columns that streams are grouped by: an id may come back in another group."""

    @abstractmethod
    def take(self, found: StreamArrays, table: pa.Table) -> None:
        """Adds the usable streams of a table."""

    def keys(self, schema: pa.Schema) -> list[str]:
        """The columns that tell streams apart."""
        return ["stream", *(name for name in self.grouping if name in schema.names)]

    def add(self, table: pa.Table) -> None:
        """Adds whole streams, sorted by stream and published_at."""
        self.rows += table.num_rows
        found = stream_arrays(table, self.keys(table.schema), self.unusable, self._spellings)
        if found is not None:
            self.take(found, table)

    def merge(self, other: Self) -> None:
        """Adds what another part came to."""
        self.rows += other.rows
        self.unusable.merge(other.unusable)


S = TypeVar("S", bound=StreamSums)


class ProgressReported(Protocol):
    """Hears how far a long piece of work is: a share of what it is about, where that is known."""

    def __call__(self, doing: str, share: float | None) -> None: ...


def untold(doing: str, share: float | None) -> None:
    """Tells nobody."""


class Engine(ABC):
    """A table of decisions, somewhere."""

    types: Mapping[str, str]
    """What SQL calls `zoned` and `zoneless` timestamps, and `whole` numbers of any size."""

    def __init__(self, told: ProgressReported) -> None:
        self.name = "the log"
        """What messages call it."""
        self.torn = 0
        """Files that ended in a line that was cut off; the line is left out."""
        self.cut: dict[str, str] = {}
        """Columns of text whose times have digits beyond microseconds, with an example."""
        self._infinite: set[str] = set()
        """Columns of text with times that are infinite: such a time is not known."""
        self.timed_by = ""
        """The column of latencies that `answered_at` was made of, where it was."""
        self._told = told
        self._of_files = False
        """Whether rows still are what files hold."""
        self._files: LogFiles | None = None
        self._several = False
        """Whether there is more than one file."""
        self._schema: pa.Schema | None = None

    @abstractmethod
    def open_files(self, files: LogFiles, *, mapped: bool = False) -> None:
        """The log's rows from files; without a query to come, they must fit the schema."""

    @abstractmethod
    def open_table(self, table: Any) -> None:
        """The log's rows from a table in memory or of the engine's own kind."""

    @abstractmethod
    def give(
        self, other: pa.Table | LogFiles, query: str | None = None, where: str = ""
    ) -> pa.Schema:
        """A second table to join with, or what the user's query makes of it: its columns."""

    @abstractmethod
    def reduce(self, columns: Sequence[str], into: S) -> S:
        """Adds up the whole log, every stream whole and in order in one call of `add`."""

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def quoted(self, name: str) -> str:
        """A column's name in a query."""

    @abstractmethod
    def literal(self, text: str) -> str:
        """A text's value in a query."""

    @abstractmethod
    def _matches(self, value: str, pattern: str) -> str:
        """Whether a text has a pattern, in SQL."""

    @abstractmethod
    def later(self, time: str, dtype: pa.DataType, seconds: str) -> str:
        """A timestamp of a type so many seconds later, in SQL."""

    @abstractmethod
    def duration(self, seconds: str) -> str:
        """So many seconds as a duration, in SQL."""

    @abstractmethod
    def json_of(self, names: Sequence[str]) -> str:
        """Columns as the fields of a JSON object, in SQL as people write it."""

    @abstractmethod
    def seconds(self, duration: str) -> str:
        """A duration in seconds, in SQL."""

    @abstractmethod
    def _ask(self, query: str, where: str | None = None) -> pa.Table: ...

    @abstractmethod
    def _become(self, query: str) -> None:
        """The log is what this query says from now on."""

    @abstractmethod
    def _map(self, query: str, where: str) -> None:
        """The log is what the user's query over `source` says; refused where that fails."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def map(self, sql: str, where: str) -> None:
        """The user's query over `source` becomes the log."""
        query = sql.strip().rstrip(";").strip()
        if not query:
            raise InputError("holds no query", where=where, fix="SELECT … FROM source")
        self.settle(forced=False)
        self._map(query, where)
        self._of_files = False
        self._schema = None
        self.name = f"{where} over {self.name}"

    def notes(self) -> list[str]:
        """What every reader of the log's numbers must know about how it was read."""
        cut = [
            f"column {name!r} is text with digits beyond microseconds, for example {text[:40]}: they are"
            " cut off; timestamps in nanoseconds, as Parquet has them, keep them"
            for name, text in sorted(self.cut.items())
            if name in self.schema().names
        ]
        return [*cut, *torn_note(self.torn)]

    def schema(self) -> pa.Schema:
        if self._schema is None:
            self._schema = self._ask("SELECT * FROM {log} LIMIT 0").schema
        return self._schema

    def settle(self, *, forced: bool = True) -> None:
        """Text in columns of times, numbers and truths is read as such; partial rows are made whole."""
        schema = self.schema()
        query = self.typed("{log}", schema, self.name, forced=forced)
        if "partial" in schema.names:
            query = completed(query or "SELECT * FROM {log}", schema.names, self._q)
        if query is not None:
            self._change(query)
        if forced:
            self._time_answers()

    def _time_answers(self) -> None:
        """Where answers have a latency and no time: it came so long after it was asked for."""
        schema = self.schema()
        found = list(latencies_of(schema.names))
        if not found or not {"published_at", "decision"} <= set(schema.names):
            return
        if len(found) > 1:
            raise InputError(
                f"has {' and '.join(found)}, and no column 'answered_at': which of them is it?",
                where=self.name,
                fix="keep one of them in a query given with --sql",
            )
        (name,) = found
        given = [n for n in ("requested_at", "published_at") if n in schema.names]
        times = {kind_of(schema.field(n).type) for n in given} - {"nothing"}
        wanted = "duration" if name == "latency" else "seconds"
        if len(times) > 1 or kind_of(schema.field(name).type) != wanted:
            return  # what is wrong with them is told by whoever checks the columns
        column, since = self._q(name), f"coalesce({', '.join(map(self._q, given))})"
        if name == "latency":
            waited = self.seconds(column)
        else:
            waited = f"CAST({column} AS DOUBLE)" + (" / 1000" if name == "latency_ms" else "")
        answered = (
            self.later(since, plain_type(schema.field("published_at").type), waited)
            if times == {"timestamp"}
            else f"CAST({since} AS DOUBLE) + {waited}"
        )
        self._change(f"SELECT *, {answered} AS answered_at FROM {{log}}")
        self.timed_by = name

    def typed(self, table: str, schema: pa.Schema, where: str, *, forced: bool) -> str | None:
        """A query for the rows of `table` with the text of some columns read as what it stands for;
        None where there is no such text.

        One column holds one kind of value. Where it holds several, or text that stands for nothing of
        the column's kind, it is refused, or stays text if that is not `forced`.
        """
        labels = _LABELS if "partial" in schema.names else ()
        waits = {name: column.kind for name, column in latencies_of(schema.names).items()}
        texts = {
            name: kind
            for name, kind in {**_CONVERTED, **waits}.items()
            if name in schema.names and kind_of(schema.field(name).type) == "text"
            if name not in labels
        }
        if not texts and not set(labels) & set(schema.names):
            return None
        found = self._sorts(table, texts, where) if texts else {}
        reads: dict[str, str] = {}
        unreadable: list[str] = []
        for name, kind in texts.items():
            sorts = found[name]
            if kind == "time" and forced and "partial" not in schema.names and _readable(sorts):
                unreadable.append(name)
            elif len(sorts) > 1 or "x" in sorts:
                if forced and kind != "mark":
                    raise _misread(name, kind, sorts, where)
                continue
            reads[name] = next((sort for sort in sorts if sort != "x"), "")
        times = [sort for name, sort in reads.items() if sort and texts[name] == "time"]
        stamps = (plain_type(schema.field(name).type) for name in time_columns(schema))
        times += ["z" if one.tz else "l" for one in stamps if kind_of(one) == "timestamp"]
        types = {
            "n": "DOUBLE",
            "z": self.types["zoned"],
            "l": self.types["zoneless"],
            "t": "BOOLEAN",
        }
        chosen, told = [], []
        for name in schema.names:
            column = self._q(name)
            if name in reads:
                empty = {"time": (*times, "n")[0], "number": "n"}.get(texts[name], "t")
                text = f"nullif(trim({column}), '')"
                if name in self._infinite:
                    text = f"CASE WHEN NOT {self._matches(text, _INFINITE)} THEN {text} END"
                if texts[name] == "duration":
                    column = f"{self.duration(self._length_of(text))} AS {column}"
                else:
                    target = types[reads[name] or empty]
                    if name in unreadable:
                        bad = f"{self._class('time', text)} = 'x'"
                        told.append(f"WHEN {bad} THEN concat('{name} ', trim({column}))")
                        text = f"CASE WHEN {bad} THEN NULL ELSE {text} END"
                    column = f"CAST({text} AS {target}) AS {column}"
            if name not in labels:
                chosen.append(column)
        if told:
            chosen.append(f"CASE {' '.join(told)} END AS {UNREADABLE}")
        return f"SELECT {', '.join(chosen)} FROM {table}"

    def sorts_of(self, name: str, kind: str = "time") -> dict[str, str]:
        """What a column of text turns out to be when read as a kind: by sort of `_FOUND`, an example."""
        return self._sorts("{log}", {name: kind}, self.name)[name]

    def largest(self, name: str) -> float | None:
        """Of a column that holds numbers, or text that stands for them."""
        query = f"SELECT max(TRY_CAST({self._q(name)} AS DOUBLE)) AS most FROM {{log}}"
        found = self._ask(query).column("most")[0].as_py()
        return None if found is None else float(found)

    def shares_values(self, one: str, other: str, rows: int) -> bool:
        """Whether two columns have two values in common, or all of one column's, in the first rows."""
        few = f"(SELECT * FROM {{log}} LIMIT {rows}) _few"
        texts = [
            f"(SELECT DISTINCT {self._text_of(n)} AS v FROM {few}) _{k}"
            for k, n in enumerate((one, other))
        ]
        query = (
            f"SELECT (SELECT count(*) FROM {texts[0]} WHERE v IS NOT NULL) AS own, (SELECT count(*) FROM"
            f" {texts[0]} WHERE v IN (SELECT v FROM {texts[1]})) AS shared"
        )
        row = self._ask(query).to_pylist()[0]
        return bool(row["shared"]) and row["shared"] >= min(2, row["own"])

    def shown_name(self, name: str) -> str:
        """A column as people write it in a query: in quotation marks only where it must be."""
        plain = re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) and name.lower() not in _KEYWORDS
        return name if plain else self.quoted(name)

    def _likely_casts(self, table: str, query: str) -> str:
        """Casts that a query may lack: of its columns that are text and stand for something else."""
        words = set(re.findall(r"\w+", re.sub(r"(?i)cast\([^()]*\)", "", query)))
        schema = self._schema_of(table, self.name)
        texts = {
            name: "time"
            for name in schema.names
            if name in words and kind_of(schema.field(name).type) == "text"
        }
        types = {"n": "DOUBLE", "z": self.types["zoned"], "l": self.types["zoneless"]}
        found = self._sorts(table, texts, self.name) if texts else {}
        return ", ".join(
            f"CAST({name} AS {types[next(iter(sorts))]})"
            for name, sorts in found.items()
            if len(sorts) == 1 and next(iter(sorts)) in types
        )

    def _sorts(self, table: str, texts: Mapping[str, str], where: str) -> dict[str, dict[str, str]]:
        """What the text of each column turns out to be, of `_FOUND`, with an example of each sort."""
        of = {name: f"v{k}" for k, name in enumerate(texts)}
        plain = [f"nullif(trim({self._q(name)}), '') AS {v}" for name, v in of.items()]
        classed = [f"{v}, {self._class(texts[name], v)} AS {v}c" for name, v in of.items()]
        examples = [
            f"min(CASE WHEN {v}c = '{sort}' THEN {v} END) AS {v}{sort}"
            for v in of.values()
            for sort in _FOUND
        ]
        for name, v in of.items():
            if texts[name] == "time":
                # The length is a cheap test that spares most values the pattern.
                finer = f"length({v}) > 26 AND {self._matches(v, _FINER)}"
                examples.append(f"min(CASE WHEN {finer} THEN {v} END) AS {v}_finer")
                examples.append(f"count(CASE WHEN {v}c = 'i' THEN 1 END) AS {v}_infinite")
        (row,) = self._ask(
            f"SELECT {', '.join(examples)} FROM (SELECT {', '.join(classed)} FROM"
            f" (SELECT {', '.join(plain)} FROM {table}) _plain) _classed",
            where,
        ).to_pylist()
        for name, v in of.items():
            if row.get(f"{v}_finer") is not None:
                self.cut.setdefault(name, row[f"{v}_finer"])
            if row.get(f"{v}_infinite"):
                self._infinite.add(name)
        return {
            name: {sort: row[f"{v}{sort}"] for sort in _FOUND if row[f"{v}{sort}"] is not None}
            for name, v in of.items()
        }

    def combined(self, parts: Mapping[str, str], *, fitting: bool) -> list[str]:
        """Queries whose rows make one log, from tables in SQL by what messages call them.

        `fitting` ones have the columns of the schema as they are. Columns of different types meet as
        text, unless they are times or numbers.
        """
        tables, schemas = dict(parts), {}
        for where, table in parts.items():
            schema = self._schema_of(table, where)
            typed = self.typed(table, schema, where, forced=fitting)
            if typed is not None:
                tables[where] = f"({typed})"
                schema = self._schema_of(tables[where], where)
            if fitting:
                check_columns(schema, where)
            schemas[where] = schema
        names = {name for schema in schemas.values() for name in schema.names}
        _check_agreement(schemas, every=fitting and "partial" not in names)
        mixed = {
            name
            for name in names - _KEPT
            if len({str(s.field(name).type) for s in schemas.values() if name in s.names}) > 1
        }
        return [
            "SELECT "
            + ", ".join(
                f"{self.spelled(f.name, f.type)} AS {self._q(f.name)}"
                if f.name in mixed
                else self._q(f.name)
                for f in schemas[where]
            )
            + f" FROM {table} _part"
            for where, table in tables.items()
        ]

    def _schema_of(self, table: str, where: str) -> pa.Schema:
        return self._ask(f"SELECT * FROM {table} _part LIMIT 0", where).schema

    def _file_mark(self, hashed: str) -> list[str]:
        """Which file a row lies in, as a number, where streams may lie in several."""
        if not self._several or not self._of_files or FILE not in self.schema().names:
            return []
        return [f"{hashed}({FILE}) AS {FILE_MARK}"]

    def _class(self, kind: str, value: str) -> str:
        """Which of `_FOUND` a text is, in SQL."""
        number = f"WHEN {self._matches(value, _NUMBER)} THEN 'n'"
        zoned = f"TRY_CAST({value} AS {self.types['zoned']})"
        # Comparing is cheaper than matching: only what begins with a letter can be infinite.
        letter = " OR ".join(f"{value} BETWEEN '{sign}A' AND '{sign}z'" for sign in ("", "+", "-"))
        infinite = f"CASE WHEN {self._matches(value, _INFINITE)} THEN 'i' ELSE 'n' END"
        timed = number.replace("'n'", f"CASE WHEN {letter} THEN {infinite} ELSE 'n' END")
        cases = {
            "time": f"{timed} WHEN NOT {self._matches(value, _INSTANT)} OR {zoned} IS NULL THEN 'x'"
            f" WHEN {self._matches(value, _ZONED)} THEN 'z' ELSE 'l' END",
            "number": f"{number} ELSE 'x' END",
            "duration": f"WHEN {self._length_of(value)} IS NULL THEN 'x' ELSE 'd' END",
        }
        truth = f"WHEN lower({value}) IN ('true', 'false') THEN 't' ELSE 'x' END"
        return f"CASE WHEN {value} IS NULL THEN NULL {cases.get(kind, truth)}"

    def _length_of(self, value: str) -> str:
        """The seconds of a duration that is written out, in SQL; null where it is none."""

        def part(pattern: str, k: int) -> str:
            found = f"regexp_extract({value}, {self._braced(self.literal(pattern))}, {k})"
            return (
                found if pattern == _COUNTED and k == 2 else f"CAST(nullif({found}, '') AS DOUBLE)"
            )

        parts = [
            (pattern, " + ".join(f"coalesce({part(pattern, k)} * {unit}, 0)" for k, unit in places))
            for pattern, places in (
                (p, ((1, 86400), (2, 3600), (3, 60), (4, 1))) for p in (_CLOCKED, _ISO)
            )
        ]
        units = " ".join(f"WHEN '{unit}' THEN {size}" for unit, size in _UNITS.items())
        parts.append((_COUNTED, f"{part(_COUNTED, 1)} * CASE {part(_COUNTED, 2)} {units} END"))
        cases = " ".join(f"WHEN {self._matches(value, p)} THEN {s}" for p, s in parts)
        return f"CASE {cases} END"

    def spelled(self, name: str, dtype: pa.DataType) -> str:
        """A column as text, in SQL: decisions, ids and labels that are equal are spelled alike."""
        import pyarrow.types as t

        column, plain = self._q(name), plain_type(dtype)
        text = f"CAST({column} AS STRING)"
        if t.is_nested(plain):
            return f"CAST(to_json({column}) AS STRING)"
        if t.is_floating(plain):
            whole = f"CAST(CAST({column} AS {self.types['whole']}) AS STRING)"
            return (
                f"CASE WHEN {column} % 1 = 0 AND abs({column}) < 1e37 THEN {whole} ELSE {text} END"
            )
        if t.is_decimal(plain) and plain.scale > 0:
            return f"regexp_replace({text}, '[.]?0+$', '')"
        return column if kind_of(plain) == "text" else text

    def distinct(self, column: str) -> Iterable[pa.RecordBatch]:
        """Every value of a column once, as text."""
        return self._stream(
            f"SELECT DISTINCT {self._text_of(column)} AS value FROM {{log}}"
            f" WHERE {self._q(column)} IS NOT NULL ORDER BY value",
            f"reading {column}s",
        )

    def contradiction(self, on: Sequence[str], take: str) -> tuple[str, ...] | None:
        """Keys under which the second table has different decisions, as text, where there are any."""
        keys = ", ".join(map(self._q, on))
        shown = [f"{self._text_of(k)} AS _key{n}" for n, k in enumerate(on)]
        given = self._schema_of("{given}", "the references")
        value = self.spelled(take, given.field(take).type)
        several = (
            f"SELECT 1 FROM {{given}} GROUP BY {keys} HAVING min({value}) < max({value}) LIMIT 1"
        )
        if not len(self._ask(several, "the references")):
            return None
        own = ", ".join(f"_key{n}" for n in range(len(on)))
        found = self._ask(
            f"SELECT {own}, _value FROM (SELECT *, count(*) OVER (PARTITION BY {own}) AS _ways FROM"
            f" (SELECT DISTINCT {', '.join(shown)}, {value} AS _value FROM {{given}}) _said"
            f" WHERE _value IS NOT NULL) _counted WHERE _ways > 1 ORDER BY {own}, _value",
            "the references",
        )
        first: tuple[list[str], str] | None = None
        for row in zip(*(column.to_pylist() for column in found.columns), strict=True):
            at, text = [str(key) for key in row[:-1]], row[-1]
            if first is None or at != first[0]:
                first = at, text
            elif (decision_text(text) or text) != (decision_text(first[1]) or first[1]):
                return (*at, first[1], text)
        return None

    def several_times(self, on: Sequence[str]) -> tuple[str, ...] | None:
        """Keys that stand for states of different times in the log, as text, where there are any."""
        keys = ", ".join(map(self._q, on))
        shown = [f"{self._text_of(k)} AS _key{n}" for n, k in enumerate(on)]
        found = self._ask(
            f"SELECT {', '.join(shown)} FROM {{log}} GROUP BY {keys}"
            " HAVING count(DISTINCT published_at) > 1 LIMIT 1"
        )
        return tuple(str(column[0]) for column in found.columns) if len(found) else None

    def join(self, on: Sequence[str], take: str, *, origin: int, how: str) -> None:
        """Gives every row as reference what `take` is in the second table under the same `on`.

        `over` the log's own where that says something, `under` it where the log says nothing, or `alone`.
        `origin` is the number it is counted by.
        """
        keys = ", ".join(map(self._q, on))
        schema, given = self.schema(), self._schema_of("{given}", "the references")
        kept = [f"a.{self._q(n)}" for n in schema.names if n not in ("reference", ORIGIN)]

        def own(name: str, table: str, of: pa.Schema) -> str:
            column = self.spelled(name, of.field(name).type)
            return column.replace(self._q(name), f"{table}.{self._q(name)}")

        held, before = "NULL", "NULL"
        if how != "alone" and "reference" in schema.names:
            held = own("reference", "a", schema)
            before = f"a.{ORIGIN}" if ORIGIN in schema.names else "0"
        first, then = ("b._taken", held) if how == "over" else (held, "b._taken")
        took = "b._taken IS NOT NULL" + (f" AND {held} IS NULL" if how == "under" else "")
        value = self.spelled(take, given.field(take).type)

        def key(name: str, table: str, of: pa.Schema) -> str:
            number = kind_of(of.field(name).type) == "seconds"
            return (
                f"CAST({own(name, table, of) if number else f'{table}.{self._q(name)}'} AS STRING)"
            )

        agree = [
            f"a.{self._q(k)} = b.{self._q(k)}"
            if k in COLUMNS and COLUMNS[k].kind == "time"
            else f"{key(k, 'a', schema)} = {key(k, 'b', given)}"
            for k in on
        ]
        self._change(
            f"SELECT {', '.join(kept)}, CAST(coalesce({first}, {then}) AS STRING) AS reference,"
            f" CAST(CASE WHEN {took} THEN {origin} ELSE {before} END AS INTEGER) AS {ORIGIN}"
            f" FROM {{log}} a LEFT JOIN (SELECT {keys}, min({value}) AS _taken FROM {{given}}"
            f" GROUP BY {keys}) b"
            f" ON {' AND '.join(agree)}"
        )

    def file_of(self, stream: str, published_at: str) -> str | None:
        """The file a row lies in, where rows still are what files hold."""
        wanted = "NULL" if stream == "null" else self._braced(self.literal(stream))
        found = self._asked_of_files(
            f"SELECT file FROM (SELECT CAST(stream AS STRING) AS stream, {FILE} AS file,"
            " CAST(published_at AS STRING) AS moment FROM {files}) _rows"
            f" WHERE stream IS NOT DISTINCT FROM {wanted}"
            f" ORDER BY moment IS DISTINCT FROM {self._braced(self.literal(published_at))}, file LIMIT 1"
        )
        return None if found is None else str(found[0])

    def _row_of(self, told: str) -> tuple[str, int] | None:
        """The file and row of an unreadable time, told as in the column `UNREADABLE`."""
        if not self._of_files or self._files is None:
            return None
        name, _, text = told.partition(" ")
        room = 80 - len(name) - 1
        with suppress(InputError, OSError, ValueError):  # a hint that cannot be had
            return find_text(self._files, name, lambda one: printable(one.strip()[:room]) == text)
        return None

    def scattered(self) -> tuple[int, str] | None:
        """How many streams lie in more than one file, and one of them."""
        found = self._asked_of_files(
            "SELECT count(*) AS streams, min(stream) AS one FROM (SELECT stream FROM (SELECT"
            f" CAST(stream AS STRING) AS stream, {FILE} AS file FROM {{files}}) _rows"
            " GROUP BY stream HAVING count(DISTINCT file) > 1) _streams"
        )
        return (int(found[0]), str(found[1])) if found and found[0] else None

    def usable(self, into: S, columns: Iterable[str], allowed: Allowed | None = None) -> S:
        """Adds up those of the columns that are there; refused where more rows than allowed cannot be."""
        there = set(self.schema().names)
        asked = dict.fromkeys((*columns, UNREADABLE))
        found = self.reduce([name for name in asked if name in there], into)
        if found.unusable.rows:
            found.unusable.find_files(self.file_of)
            found.unusable.find_row(self._row_of)
        if allowed is not None:
            allowed.check(found.unusable, found.rows, self.name)
        return found

    def _change(self, query: str) -> None:
        self._become(query)
        self._schema = None

    def _asked_of_files(self, query: str) -> tuple[Any, ...] | None:
        if self._of_files:
            with suppress(InputError):  # a table that never was in files has no such column
                found = self._ask(query)
                if len(found):
                    return tuple(column[0].as_py() for column in found.columns)
        return None

    def _stream(self, query: str, doing: str) -> Iterable[pa.RecordBatch]:
        batches: list[pa.RecordBatch] = self._ask(query).to_batches()
        return batches

    def _text_of(self, column: str) -> str:
        return f"CAST({self._q(column)} AS STRING)"

    def _q(self, name: str) -> str:
        return self._braced(self.quoted(name))

    @staticmethod
    def _braced(text: str) -> str:
        return text.replace("{", "{{").replace("}", "}}")


_TIMES = tuple(name for name, column in COLUMNS.items() if column.kind == "time")


def completed(query: str, names: Collection[str], quoted: Callable[[str], str]) -> str:
    """A query for the whole rows behind `query`, whose columns are `names`.

    A meter writes of a state when it is published, answered and judged: rows of one stream and
    `published_at` are one state. What is said of it is said once, so the largest value of a column is
    its only one. When a stream ended stands on one of its rows. A stream that a kill left open is known
    to have lasted as long as its process is: up to the last time that the process wrote.
    """
    key = ("stream", "published_at")
    others = sorted(set(names) - {*key, "partial", "ended_at", FILE, *_LABELS})
    times = [name for name in _TIMES if name in names and name not in _LABELS]
    latest = f"greatest({', '.join(times)})" if len(times) > 1 else times[0]
    # Inside, labels have numbers: whatever they are called, they do not meet ours.
    label = {name: f"_label{k}" for k, name in enumerate(others)}
    states = [
        *key,
        *(f"{_only(name, quoted(name))} AS {own}" for name, own in label.items()),
        *([f"min({FILE}) AS {FILE}"] if FILE in names else []),
        f"{'max(ended_at)' if 'ended_at' in names else 'NULL'} AS _ended",
        f"max({latest}) AS _latest",
        f"{_process(names)} AS _process",
    ]
    shown = [
        *key,
        *(f"{own} AS {quoted(name)}" for name, own in label.items()),
        *([FILE] if FILE in names else []),
        "_until AS ended_at",
    ]
    return (
        f"SELECT {', '.join(shown)} FROM ("
        f"SELECT *, coalesce(_known, CASE WHEN _process <> '' THEN _alive END) AS _until FROM ("
        f"SELECT *, max(_ended) OVER (PARTITION BY stream) AS _known,"
        f" max(_latest) OVER (PARTITION BY _process) AS _alive FROM ("
        f"SELECT {', '.join(states)} FROM ({query}) _given GROUP BY stream, published_at)"
        " _states) _lasted) _whole"
        # A state was current for no time we know of if it is the newest of a stream that a kill left
        # open, or came at the very reading of the clock that its stream ended at.
        " WHERE _until IS NULL OR published_at < _until OR published_at > _known"
    )


def _only(name: str, column: str) -> str:
    """What rows say of a state: once, but for what took effect and who answered, which grow."""
    grows = name in ("effects", "member_latency_s")
    return f"max_by({column}, length({column}))" if grows else f"max({column})"


def _process(names: Collection[str]) -> str:
    """Which run of a meter wrote a row: its streams are called name@run.number, shadows ~component."""
    stream = "max(CAST(stream AS STRING))"
    if "component" in names:
        stream = (
            f"CASE WHEN max(component) <> 'applied' THEN"
            f" substr({stream}, 1, length({stream}) - length(max(component)) - 1) ELSE {stream} END"
        )
    return f"coalesce(regexp_extract({stream}, '@([0-9A-Za-z-]+)[.][0-9]+$', 1), '')"


def _check_agreement(schemas: Mapping[str, pa.Schema], *, every: bool) -> None:
    """Files of one log mean the same by the same column."""
    seen: dict[str, tuple[str, str]] = {}
    for path, schema in schemas.items():
        for one in schema:
            kind = kind_shown(one.type)
            if kind == "nothing" or one.name not in _KEPT:
                continue
            other, where = seen.setdefault(one.name, (kind, path))
            if other != kind:
                zones = "timestamps" in kind and "timestamps" in other
                raise InputError(
                    f"column {one.name!r} {'has two time zones: ' if zones else ''}holds {kind}"
                    f" here and {other} in {where}",
                    where=path,
                    fix="write both alike, or score them one after the other",
                )
    if not every:
        return
    timed = any("answered_at" in schema.names for schema in schemas.values())
    for name in (*COLUMNS, *(() if timed else LATENCIES)):
        there = [path for path, schema in schemas.items() if name in schema.names]
        for path in schemas:
            if there and path not in there:
                raise InputError(
                    f"has no column {name!r}, and {there[0]} has one",
                    where=path,
                    fix="give every file of a log the same columns, or say with --sql what is missing",
                )


def _readable(sorts: Collection[str]) -> bool:
    """Whether text is of one sort but for some that cannot be read: those rows are counted as unusable."""
    return "x" in sorts and len(sorts) == 2


def _misread(name: str, kind: str, sorts: Mapping[str, str], where: str) -> InputError:
    """Why the text of a column cannot be read."""
    if kind == "time" and set(sorts) == {"x"}:
        return InputError(
            f"column {name!r} holds times as text, for example {sorts['x'][:80]!r}",
            where=where,
            fix=f"cast it in a query: --sql with SELECT CAST({name} AS TIMESTAMPTZ) AS {name}",
        )
    told = [f"{_FOUND[sort]}, for example {text[:80]!r}" for sort, text in sorts.items()]
    if len(told) == 1 or kind == "duration":
        wanted = {"number": "numbers", "duration": "durations"}.get(kind, "true and false")
        what, fix = f"holds {told[-1]}, not {wanted}", "cast it in a query given with --sql"
        if kind == "duration":
            fix = f"write for example 350 ms, 00:00:00.35 or PT0.35S; {NO_UNIT}"
    else:
        zones = "has two time zones: it " if {"z", "l"} <= set(sorts) else ""
        what = f"{zones}holds {' and '.join(told)}"
        fix = "write all values of a column alike, or bring them to one form with --sql"
    return InputError(f"column {name!r} {what}", where=where, fix=fix)


def first_line(error: BaseException) -> str:
    """What an engine says of an error, short enough to pass on."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:300]
