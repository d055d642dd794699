"""A table of decisions in an engine: what DuckDB and Spark are asked alike, in SQL that both read.

Queries name the log `{log}`, a second table `{given}`, and the log as its files hold it `{files}`. An
engine says how it opens, asks and adds up; the rest is written once, here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.arrays import StreamArrays, stream_arrays
from streamdecisionbench.logs.schema import COLUMNS
from streamdecisionbench.logs.sources import LogFiles
from streamdecisionbench.logs.unusable import Allowed, Unusable

if TYPE_CHECKING:
    import pyarrow as pa

AS_TEXT = tuple(n for n, c in COLUMNS.items() if c.kind in ("id", "decision", "json"))
"""Columns that are text whatever their values look like."""


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


class ProgressTold(Protocol):
    """Hears how far a long piece of work is: a share of what it is about, where that is known."""

    def __call__(self, doing: str, share: float | None) -> None: ...


def untold(doing: str, share: float | None) -> None:
    """Tells nobody."""


class Engine(ABC):
    """A table of decisions, somewhere."""

    file_column: str
    """What SQL calls the file that a row lies in."""

    def __init__(self, told: ProgressTold) -> None:
        self.name = "the log"
        """What messages call it."""
        self.torn = 0
        """Files that ended in a line that was cut off; the line is left out."""
        self._told = told
        self._of_files = False
        """Whether rows still are what files hold."""

    @abstractmethod
    def open_files(self, files: LogFiles, *, mapped: bool = False) -> None:
        """The log's rows from files; without a query to come, they must fit the schema."""

    @abstractmethod
    def open_table(self, table: Any) -> None:
        """The log's rows from a table in memory or of the engine's own kind."""

    @abstractmethod
    def give(self, other: pa.Table | LogFiles) -> pa.Schema:
        """A second table to join with: its columns."""

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
        self._map(query, where)
        self._of_files = False
        self.name = f"{where} over {self.name}"

    def schema(self) -> pa.Schema:
        return self._ask("SELECT * FROM {log} LIMIT 0").schema

    def example(self, column: str) -> str | None:
        """Some value of a column, as text."""
        found = self._ask(
            f"SELECT {self._text_of(column)} AS value FROM {{log}}"
            f" WHERE {self._q(column)} IS NOT NULL LIMIT 1"
        )
        return str(found[0][0])[:80] if len(found) else None

    def distinct(self, column: str) -> Iterable[pa.RecordBatch]:
        """Every value of a column once, as text."""
        return self._stream(
            f"SELECT DISTINCT {self._text_of(column)} AS value FROM {{log}}"
            f" WHERE {self._q(column)} IS NOT NULL ORDER BY value",
            f"reading {column}s",
        )

    def contradiction(self, on: Sequence[str], take: str) -> tuple[str, ...] | None:
        """Keys under which the second table has different values, as text, where there are any."""
        keys = ", ".join(map(self._q, on))
        shown = [f"{self._text_of(k)} AS _key{n}" for n, k in enumerate(on)]
        value = self._text_of(take)
        found = self._ask(
            f"SELECT {', '.join(shown)}, min({value}) AS _low, max({value}) AS _high FROM {{given}}"
            f" GROUP BY {keys} HAVING min({value}) < max({value}) LIMIT 1",
            "the references",
        )
        return tuple(str(column[0]) for column in found.columns) if len(found) else None

    def join(self, on: Sequence[str], take: str, name: str) -> None:
        """Gives every row as `name` what `take` is in the second table under the same `on`, or null."""
        keys = ", ".join(map(self._q, on))
        kept = [f"a.{self._q(n)}" for n in self.schema().names if n != name]
        agree = [
            f"a.{self._q(k)} = b.{self._q(k)}"
            if COLUMNS[k].kind == "time"
            else f"CAST(a.{self._q(k)} AS STRING) = CAST(b.{self._q(k)} AS STRING)"
            for k in on
        ]
        self._become(
            f"SELECT {', '.join(kept)}, b._taken AS {self._q(name)} FROM {{log}} a LEFT JOIN"
            f" (SELECT {keys}, min({self._q(take)}) AS _taken FROM {{given}} GROUP BY {keys}) b"
            f" ON {' AND '.join(agree)}"
        )

    def file_of(self, stream: str, published_at: str) -> str | None:
        """The file a row lies in, where rows still are what files hold."""
        wanted = "NULL" if stream == "null" else self._braced(self.literal(stream))
        found = self._asked_of_files(
            f"SELECT file FROM (SELECT CAST(stream AS STRING) AS stream, {self.file_column} AS file,"
            " CAST(published_at AS STRING) AS moment FROM {files}) _rows"
            f" WHERE stream IS NOT DISTINCT FROM {wanted}"
            f" ORDER BY moment IS DISTINCT FROM {self._braced(self.literal(published_at))}, file LIMIT 1"
        )
        return None if found is None else str(found[0])

    def scattered(self) -> tuple[int, str] | None:
        """How many streams lie in more than one file, and one of them."""
        found = self._asked_of_files(
            "SELECT count(*) AS streams, min(stream) AS one FROM (SELECT stream FROM (SELECT"
            f" CAST(stream AS STRING) AS stream, {self.file_column} AS file FROM {{files}}) _rows"
            " GROUP BY stream HAVING count(DISTINCT file) > 1) _streams"
        )
        return (int(found[0]), str(found[1])) if found and found[0] else None

    def usable(self, into: S, columns: Iterable[str], allowed: Allowed | None = None) -> S:
        """Adds up those of the columns that are there; refused where more rows than allowed cannot be."""
        there = set(self.schema().names)
        found = self.reduce([name for name in dict.fromkeys(columns) if name in there], into)
        if found.unusable.rows:
            found.unusable.find_files(self.file_of)
        if allowed is not None:
            allowed.check(found.unusable, found.rows, self.name)
        return found

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
    others = sorted(set(names) - {"stream", "published_at", "partial", "ended_at", "filename"})
    times = [name for name in _TIMES if name in names]
    latest = f"greatest({', '.join(times)})" if len(times) > 1 else times[0]
    file = ["filename"] if "filename" in names else []
    states = [
        "stream",
        "published_at",
        *(f"max({quoted(name)}) AS {quoted(name)}" for name in others),
        *(f"min({name}) AS {name}" for name in file),
        f"{'max(ended_at)' if 'ended_at' in names else 'NULL'} AS _ended",
        f"max({latest}) AS _latest",
        f"{_process(names)} AS _process",
    ]
    shown = ["stream", "published_at", *map(quoted, others), *file, "_until AS ended_at"]
    return (
        f"SELECT {', '.join(shown)} FROM ("
        f"SELECT *, coalesce(_known, CASE WHEN _process <> '' THEN _alive END) AS _until FROM ("
        f"SELECT *, max(_ended) OVER (PARTITION BY stream) AS _known,"
        f" max(_latest) OVER (PARTITION BY _process) AS _alive FROM ("
        f"SELECT {', '.join(states)} FROM ({query}) _given GROUP BY stream, published_at)"
        " _states) _lasted) _whole"
        # The newest state of a stream that a kill left open was current for no time we know of.
        " WHERE _known IS NOT NULL OR _until IS NULL OR published_at < _until"
    )


def _process(names: Collection[str]) -> str:
    """Which run of a meter wrote a row: its streams are called name@run.number, shadows ~component."""
    stream = "max(CAST(stream AS STRING))"
    if "component" in names:
        stream = (
            f"CASE WHEN max(component) <> 'applied' THEN"
            f" substr({stream}, 1, length({stream}) - length(max(component)) - 1) ELSE {stream} END"
        )
    return f"coalesce(regexp_extract({stream}, '@([0-9A-Za-z-]+)[.][0-9]+$', 1), '')"


def first_line(error: BaseException) -> str:
    """What an engine says of an error, short enough to pass on."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:300]
