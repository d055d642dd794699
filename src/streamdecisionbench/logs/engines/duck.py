"""Partial rows made whole: a meter writes of a state when it is published, answered and judged.

Rows of one stream and `published_at` are one state. What is said of it is said once, so the largest
value of a column is its only one. When a stream ended stands on one of its rows. A stream that a kill
left open is known to have lasted as long as its process is: up to the last time that the process wrote.
The query is the same for DuckDB and Spark.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.arrays import whole_streams
from streamdecisionbench.logs.engines.engine import ProgressTold, S, untold
from streamdecisionbench.logs.schema import COLUMNS, check_columns, kind_of
from streamdecisionbench.logs.sources import LogFiles, format_of, without_torn_lines

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


_TIMES = ("published_at", "requested_at", "answered_at", "applied_at", "ended_at")


def completed(
    query: str,
    names: Collection[str],
    quoted: Callable[[str], str] = lambda name: '"' + name.replace('"', '""') + '"',
) -> str:
    """A query for the whole rows behind `query`, whose columns are `names`."""
    others = sorted(set(names) - {"stream", "published_at", "partial", "ended_at", "filename"})
    times = [name for name in _TIMES if name in names]
    latest = f"greatest({', '.join(times)})" if len(times) > 1 else times[0]
    ended = "max(ended_at)" if "ended_at" in names else "NULL"
    shown = [*map(quoted, others), *(["filename"] if "filename" in names else [])]
    states = ", ".join(
        [
            "stream",
            "published_at",
            *(f"max({quoted(name)}) AS {quoted(name)}" for name in others),
            *(["min(filename) AS filename"] if "filename" in names else []),
            f"{ended} AS _ended",
            f"max({latest}) AS _latest",
            f"{_process(names)} AS _process",
        ]
    )
    return (
        f"SELECT {', '.join(['stream', 'published_at', *shown, '_until AS ended_at'])} FROM ("
        f"SELECT *, coalesce(_known, CASE WHEN _process <> '' THEN _alive END) AS _until FROM ("
        f"SELECT *, max(_ended) OVER (PARTITION BY stream) AS _known,"
        f" max(_latest) OVER (PARTITION BY _process) AS _alive FROM ("
        f"SELECT {states} FROM ({query}) _given GROUP BY stream, published_at) _states) _lasted) _whole"
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


# Files as DuckDB reads them: which types their columns have, whether they fit together.


_AS_TEXT = tuple(n for n, c in COLUMNS.items() if c.kind in ("id", "decision", "json"))


class DuckFiles:
    """The files of a log, seen through a connection."""

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        files: LogFiles,
        originals: Mapping[str, str] | None = None,
    ) -> None:
        self._con = con
        self._files = files
        self._originals = originals or {}
        """Files that are read in place of others, with what those are called."""

    def query(self, *, fitting: bool) -> str:
        """A query over all files; `fitting` ones have the columns of the schema as they are."""
        files = self._files
        schemas = {
            path: self._file_schema(path, form)
            for path, form in zip(files.paths, files.formats, strict=True)
        }
        if fitting:
            for path, schema in schemas.items():
                check_columns(schema, path, example=self._examples(path, schema))
        names = {name for schema in schemas.values() for name in schema.names}
        partial = "partial" in names
        _check_agreement(schemas, every=fitting and not partial)
        readers = [
            f"SELECT * FROM {self._reader(form, chosen, [schemas[p] for p in chosen])}"
            for form in dict.fromkeys(files.formats)
            if (chosen := files.of_format(form))
        ]
        query = " UNION ALL BY NAME ".join(readers)
        if self._originals and "filename" not in names:
            cases = " ".join(
                f"WHEN {_text(copy)} THEN {_text(path)}" for copy, path in self._originals.items()
            )
            query = f"SELECT * REPLACE (CASE filename {cases} ELSE filename END AS filename) FROM ({query})"
        return completed(query, names) if partial else query

    def _schema_of(self, reader: str, where: str) -> pa.Schema:
        with reading(where):
            return self._con.sql(f"SELECT * FROM {reader} LIMIT 0").to_arrow_table().schema

    def _file_schema(self, path: str, form: str) -> pa.Schema:
        if form == "parquet" and "://" not in path:
            import pyarrow.parquet as pq

            try:
                return pq.read_schema(path).remove_metadata()
            except Exception as error:
                raise InputError(
                    f"is no readable Parquet file: {first_line(error)}",
                    where=path,
                    fix="was it written to its end? write or fetch it again",
                ) from None
        return self._schema_of(self._reader(form, [path], None), path)

    def _reader(self, form: str, paths: Sequence[str], schemas: Sequence[pa.Schema] | None) -> str:
        files = "[" + ", ".join(_text(p) for p in paths) + "]"
        file_column = (
            "" if schemas and any("filename" in s.names for s in schemas) else ", filename = true"
        )
        if schemas is None:
            file_column = ""
        if form == "parquet":
            return f"read_parquet({files}, union_by_name = true{file_column})"
        if form == "csv":
            return f"read_csv({files}, union_by_name = true, sample_size = -1{self._csv_types(files)}{file_column})"
        return f"read_json({files}, format = 'newline_delimited', columns = {self._json_columns(files)}{file_column})"

    def _csv_types(self, files: str) -> str:
        """Ids, decisions and states are text whatever they look like; empty columns are what they are."""
        found = dict(
            self._describe(f"read_csv({files}, union_by_name = true, sample_size = -1)", files)
        )
        types = {name: "VARCHAR" for name in _AS_TEXT if name in found}
        for name, column in COLUMNS.items():
            if column.kind in ("time", "number") and found.get(name) == "VARCHAR":
                query = f"SELECT {quoted(name)} FROM read_csv({files}, union_by_name = true, all_varchar = true) WHERE {quoted(name)} IS NOT NULL LIMIT 1"
                if not self._con.sql(query).fetchall():
                    like = (
                        found.get("published_at", "DOUBLE") if column.kind == "time" else "DOUBLE"
                    )
                    types[name] = like
        if not types:
            return ""
        listed = ", ".join(f"{_text(name)}: {_text(kind)}" for name, kind in types.items())
        return f", types = {{{listed}}}"

    def _json_columns(self, files: str) -> str:
        """Nested values stay the JSON they are: a key that is missing is not the same as null."""
        found = self._describe(
            f"read_json({files}, format = 'newline_delimited', maximum_depth = 2, sample_size = -1,"
            " union_by_name = true)",
            files,
        )
        listed = []
        for name, kind in found:
            nested = kind.startswith(("STRUCT", "MAP")) or kind.endswith("[]") or kind == "JSON"
            text = name in _AS_TEXT and not nested
            listed.append(
                f"{_text(name)}: {_text('JSON' if nested else 'VARCHAR' if text else kind)}"
            )
        return "{" + ", ".join(listed) + "}"

    def _describe(self, reader: str, where: str) -> list[tuple[str, str]]:
        with reading(where.strip("[]'")):
            return [
                (str(r[0]), str(r[1]))
                for r in self._con.sql(f"DESCRIBE SELECT * FROM {reader}").fetchall()
            ]

    def _examples(self, path: str, schema: pa.Schema) -> dict[str, str]:
        """A value of every column that may have to be shown: those that are no times and should be."""
        form = format_of(path)
        wanted = [
            name
            for name, column in COLUMNS.items()
            if name in schema.names
            and (
                (column.kind in ("time", "number") and kind_of(schema.field(name).type) == "text")
                or "binary" in str(schema.field(name).type)
            )
        ]
        found = {}
        for name in wanted:
            with suppress(_error()):
                row = self._con.execute(
                    f"SELECT {quoted(name)}::VARCHAR FROM {self._reader(form or 'parquet', [path], None)}"
                    f" WHERE {quoted(name)} IS NOT NULL LIMIT 1"
                ).fetchall()
                if row:
                    found[name] = str(row[0][0])[:80]
        return found


@contextmanager
def reading(where: str) -> Iterator[None]:
    """What DuckDB says against a file, in one message."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise InputError(
            f"cannot be read: {first_line(error)}",
            where=where,
            fix="check the file; `sdb logs check` says what can be used",
        ) from None


def parquet_rows(files: LogFiles) -> int | None:
    """How many rows there are, where the files say so without being read."""
    if set(files.formats) != {"parquet"} or any("://" in path for path in files.paths):
        return None
    import pyarrow.parquet as pq

    return sum(int(pq.read_metadata(path).num_rows) for path in files.paths)


def _check_agreement(schemas: dict[str, pa.Schema], *, every: bool) -> None:
    """Files of one log mean the same by the same column."""
    seen: dict[str, tuple[str, str]] = {}
    for path, schema in schemas.items():
        for field in schema:
            kind = kind_of(field.type)
            if kind == "timestamp":
                tz = getattr(field.type, "tz", None)
                kind = f"timestamps {'in the time zone ' + tz if tz else 'without a time zone'}"
            elif kind == "seconds":
                kind = "numbers"
            if kind == "nothing":
                continue
            other, where = seen.setdefault(field.name, (kind, path))
            if other != kind:
                zones = (
                    "has two time zones: " if "timestamps" in kind and "timestamps" in other else ""
                )
                raise InputError(
                    f"column {field.name!r} {zones}holds {kind} here and {other} in {where}",
                    where=path,
                    fix="write both alike, or score them one after the other",
                )
    if not every:
        return
    known = [n for n in COLUMNS if any(n in s.names for s in schemas.values())]
    for path, schema in schemas.items():
        for name in known:
            if name not in schema.names:
                there = next(p for p, s in schemas.items() if name in s.names)
                raise InputError(
                    f"has no column {name!r}, and {there} has one",
                    where=path,
                    fix="give every file of a log the same columns, or say with --sql what is missing",
                )


def _error() -> type[Exception]:
    import duckdb

    return duckdb.Error


def first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:300]


def quoted(name: str) -> str:
    """A column's name in a query."""
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# DuckDB, embedded: reads, joins and sorts (on disk where memory ends) and streams Arrow batches.


_BATCH = 1 << 17


class DuckEngine:
    """A log in an embedded database that lives as long as the call."""

    def __init__(self, *, memory: str = "1GB", told: ProgressTold = untold) -> None:
        duck = _import()
        self._duck = duck
        self._told = told
        self._spill = Path(tempfile.mkdtemp(prefix="sdb-logs-"))
        self.name = "the log"
        try:
            self._con: duckdb.DuckDBPyConnection = duck.connect(
                config={"memory_limit": memory, "temp_directory": str(self._spill)}
            )
        except duck.Error as error:
            shutil.rmtree(self._spill, ignore_errors=True)
            raise InputError(
                f"--memory {memory}: {first_line(error)}", fix="for example 2GB"
            ) from None
        self._con.execute("SET TimeZone = 'UTC'")
        self._con.execute("SET preserve_insertion_order = false")
        # Progress is asked for (`_watched`), never printed: standard output belongs to the result.
        self._con.execute("SET enable_progress_bar = true")
        self._con.execute("SET enable_progress_bar_print = false")
        self._table = "source"
        self._known_rows: int | None = None
        self.torn = 0

    def __enter__(self) -> DuckEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._con.close()
        shutil.rmtree(self._spill, ignore_errors=True)

    # Opening

    def open_files(self, files: LogFiles, *, mapped: bool = False) -> None:
        """Makes the table `source` of files; without a query to come, they must fit the schema."""
        self.name = files.label
        self._create_view("source", files, mapped=mapped)
        if not mapped:
            self._known_rows = parquet_rows(files)

    def _create_view(self, view: str, files: LogFiles, *, mapped: bool) -> None:
        whole = without_torn_lines(files, self._spill)
        self.torn += len(whole.originals)
        query = DuckFiles(self._con, whole.files, whole.originals).query(fitting=not mapped)
        self._execute(f"CREATE TEMP VIEW {view} AS {query}", files.label)

    def open_table(self, table: Any, name: str = "the table") -> None:
        """Makes the table `source` of an Arrow table, reader or anything that streams Arrow."""
        import pyarrow as pa

        self.name = name
        if not isinstance(table, pa.Table | pa.RecordBatchReader):
            table = pa.RecordBatchReader.from_stream(table)
        check = table.schema
        if isinstance(table, pa.RecordBatchReader):
            # A reader can be read once; several passes are needed, and the copy may lie on disk.
            self._con.register("_once", table)
            query = "SELECT * FROM _once"
            if "partial" in table.schema.names:
                query = completed(query, set(table.schema.names))
            self._execute(f"CREATE TEMP TABLE source AS {query}", name)
            self._con.unregister("_once")
        elif "partial" in table.schema.names:
            self._con.register("_rows", table)
            query = completed("SELECT * FROM _rows", set(table.schema.names))
            self._execute(f"CREATE TEMP VIEW source AS {query}", name)
        else:
            self._con.register("source", table)
        self._source_schema = check

    def map(self, sql: str, where: str) -> None:
        """The user's query over `source` becomes the log."""
        query = sql.strip().rstrip(";").strip()
        if not query:
            raise InputError("holds no query", where=where, fix="SELECT … FROM source")
        try:
            statements = self._duck.extract_statements(query)
        except self._duck.Error as error:
            raise _sql_error(error, where) from None
        kinds = [str(s.type).rpartition(".")[2] for s in statements]
        if kinds != ["SELECT"]:
            raise InputError(
                f"must hold one query, it holds {' and '.join(kinds).lower() or 'nothing'}",
                where=where,
                fix="write one SELECT over the table source",
            )
        try:
            self._con.execute(f"CREATE TEMP VIEW mapped AS {query}")
            self._con.sql("SELECT * FROM mapped LIMIT 1").to_arrow_table()
        except self._duck.Error as error:
            raise _sql_error(error, where) from None
        self._table = "mapped"
        self.name = f"{where} over {self.name}"

    # Asking

    def schema(self) -> pa.Schema:
        return self._arrow(f"SELECT * FROM {self._table} LIMIT 0").schema

    def example(self, column: str) -> str | None:
        found = self._one(
            f"SELECT {quoted(column)}::VARCHAR FROM {self._table} WHERE {quoted(column)} IS NOT NULL LIMIT 1"
        )
        return None if found is None else str(found[0])[:80]

    def rows(self) -> int:
        found = self._one(f"SELECT count(*) FROM {self._table}")
        return int(found[0]) if found else 0

    def distinct(self, column: str) -> Iterable[pa.RecordBatch]:
        name = quoted(column)
        query = (
            f"SELECT DISTINCT {name}::VARCHAR AS value FROM {self._table} WHERE {name} IS NOT NULL"
        )
        return self._stream(f"{query} ORDER BY value", f"reading {column}s")

    def give(self, other: pa.Table | LogFiles) -> pa.Schema:
        self._con.execute("DROP VIEW IF EXISTS given")
        if isinstance(other, LogFiles):
            self._create_view("given", other, mapped=True)
        else:
            self._con.register("_given", other)
            self._execute("CREATE TEMP VIEW given AS SELECT * FROM _given", self.name)
        return self._arrow("SELECT * FROM given LIMIT 0").schema

    def contradiction(self, on: Sequence[str], take: str) -> tuple[str, ...] | None:
        keys = ", ".join(map(quoted, on))
        with reading("the references"):
            found = self._one(
                f"SELECT {', '.join(f'{quoted(k)}::VARCHAR' for k in on)}, min({quoted(take)}::VARCHAR),"
                f" max({quoted(take)}::VARCHAR) FROM given GROUP BY {keys}"
                f" HAVING count(DISTINCT {quoted(take)}::VARCHAR) > 1 LIMIT 1"
            )
        return None if found is None else tuple(map(str, found))

    def join(self, on: Sequence[str], take: str, name: str) -> None:
        keys = ", ".join(map(quoted, on))
        kept = [f"a.{quoted(n)}" for n in self.schema().names if n != name]
        agree = " AND ".join(
            f"a.{quoted(k)}::VARCHAR = b.{quoted(k)}::VARCHAR"
            if COLUMNS[k].kind != "time"
            else f"a.{quoted(k)} = b.{quoted(k)}"
            for k in on
        )
        self._execute(
            f"CREATE TEMP VIEW judged AS SELECT {', '.join(kept)}, b.taken AS {quoted(name)}"
            f" FROM {self._table} a LEFT JOIN"
            f" (SELECT {keys}, min({quoted(take)}) AS taken FROM given GROUP BY {keys}) b ON {agree}",
            self.name,
        )
        self._table = "judged"

    def table(self, columns: Sequence[str], limit: int | None = None) -> pa.Table:
        chosen = ", ".join(map(quoted, columns))
        cut = f" LIMIT {limit}" if limit is not None else ""
        order = ", ".join(quoted(n) for n in ("stream", "published_at") if n in columns)
        by = f" ORDER BY {order}" if order else ""
        return self._arrow(f"SELECT {chosen} FROM {self._table}{by}{cut}")

    def reduce(self, columns: Sequence[str], into: S) -> S:
        keys = into.keys(self.schema())
        order = ", ".join(map(quoted, [*keys, "published_at"]))
        query = f"SELECT {', '.join(map(quoted, columns))} FROM {self._table} ORDER BY {order}"
        known = self._known_rows if self._table in ("source", "judged") else None
        seen = 0
        for table in whole_streams(self._stream(query, "sorting"), keys):
            into.add(table)
            seen += table.num_rows
            self._told("scoring", seen / known if known else None)
        return into

    def file_of(self, stream: str, published_at: str) -> str | None:
        if self._table == "mapped":
            return None
        with suppress(self._duck.Error):
            rows = self._con.execute(
                "SELECT filename FROM source WHERE stream::VARCHAR IS NOT DISTINCT FROM ?"
                " ORDER BY published_at::VARCHAR IS DISTINCT FROM ?, filename LIMIT 1",
                [None if stream == "null" else stream, published_at],
            ).fetchall()
            return str(rows[0][0]) if rows else None
        return None

    def scattered(self) -> tuple[int, str] | None:
        if self._table == "mapped":
            return None
        with suppress(self._duck.Error):
            rows = self._con.execute(
                "SELECT count(*), min(stream) FROM (SELECT stream::VARCHAR AS stream FROM source"
                " GROUP BY ALL HAVING count(DISTINCT filename) > 1)"
            ).fetchall()
            return (int(rows[0][0]), str(rows[0][1])) if rows[0][0] else None
        return None

    # Running queries

    def _execute(self, query: str, where: str) -> None:
        with reading(where):
            self._con.execute(query)

    def _one(self, query: str) -> tuple[Any, ...] | None:
        rows: list[tuple[Any, ...]] = self._con.execute(query).fetchmany(1)
        return rows[0] if rows else None

    def _arrow(self, query: str, where: str | None = None) -> pa.Table:
        with reading(where or self.name):
            return self._con.sql(query).to_arrow_table()

    def _stream(self, query: str, doing: str) -> Iterator[pa.RecordBatch]:
        with self._watched(doing):
            batches = self._batches(query)
            first = next(batches, None)
        if first is not None:
            yield first
        yield from batches

    def _batches(self, query: str) -> Iterator[pa.RecordBatch]:
        with reading(self.name):
            yield from self._con.sql(query).to_arrow_reader(_BATCH)

    @contextmanager
    def _watched(self, doing: str) -> Iterator[None]:
        """Tells how far a query is while it runs in this thread."""
        done = threading.Event()

        def watch() -> None:
            while not done.wait(0.5):
                share = self._con.query_progress()
                self._told(doing, share / 100 if share and share > 0 else None)

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def _import() -> Any:
    try:
        import duckdb
        import pyarrow  # noqa: F401 - what the engine hands over
    except ModuleNotFoundError as error:
        raise InputError(
            f"decision logs need the package {error.name}",
            fix="pip install 'streamdecisionbench[logs]'",
        ) from None
    return duckdb


def _sql_error(error: Exception, where: str) -> InputError:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return InputError(
        f"the query fails: {' '.join(lines[:2])[:300]}",
        where=where,
        fix="try it on the file with any DuckDB client; the table is called source",
    )
