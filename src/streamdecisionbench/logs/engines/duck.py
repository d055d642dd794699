"""DuckDB, embedded: reads files, joins and sorts (on disk where memory ends) and streams Arrow batches."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.arrays import ROWS, whole_streams
from streamdecisionbench.logs.engines.engine import (
    AS_TEXT,
    Engine,
    ProgressTold,
    S,
    completed,
    first_line,
    untold,
)
from streamdecisionbench.logs.schema import COLUMNS, check_columns, kind_of, kind_shown
from streamdecisionbench.logs.sources import LogFiles, without_torn_lines

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


class DuckEngine(Engine):
    """A log in an embedded database that lives as long as the call."""

    file_column = "filename"

    def __init__(self, *, memory: str = "1GB", told: ProgressTold = untold) -> None:
        super().__init__(told)
        self._duck = duck = _import()
        self._spill = Path(tempfile.mkdtemp(prefix="sdb-logs-"))
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
        self._of_files = True

    def close(self) -> None:
        self._con.close()
        shutil.rmtree(self._spill, ignore_errors=True)

    def open_files(self, files: LogFiles, *, mapped: bool = False) -> None:
        self.name = files.label
        self._create_view("source", files, mapped=mapped)
        if not mapped:
            self._known_rows = _parquet_rows(files)

    def open_table(self, table: Any) -> None:
        """Of an Arrow table, reader or anything that streams Arrow."""
        import pyarrow as pa

        self.name = "the table"
        if not isinstance(table, pa.Table | pa.RecordBatchReader):
            table = pa.RecordBatchReader.from_stream(table)
        self._con.register("_rows", table)
        query = "SELECT * FROM _rows"
        if "partial" in table.schema.names:
            query = completed(query, table.schema.names, self.quoted)
        # A reader can be read once; several passes are needed, and the copy may lie on disk.
        kind = "TABLE" if isinstance(table, pa.RecordBatchReader) else "VIEW"
        self._execute(f"CREATE TEMP {kind} source AS {query}", self.name)
        if kind == "TABLE":
            self._con.unregister("_rows")

    def give(self, other: pa.Table | LogFiles) -> pa.Schema:
        self._con.execute("DROP VIEW IF EXISTS given")
        if isinstance(other, LogFiles):
            self._create_view("given", other, mapped=True)
        else:
            self._con.register("_given", other)
            self._execute("CREATE TEMP VIEW given AS SELECT * FROM _given", self.name)
        return self._ask("SELECT * FROM {given} LIMIT 0").schema

    def reduce(self, columns: Sequence[str], into: S) -> S:
        keys = into.keys(self.schema())
        order = ", ".join(map(self._q, [*keys, "published_at"]))
        query = f"SELECT {', '.join(map(self._q, columns))} FROM {{log}} ORDER BY {order}"
        known = self._known_rows if self._of_files else None
        seen = 0
        for table in whole_streams(self._stream(query, "sorting"), keys):
            into.add(table)
            seen += table.num_rows
            self._told("scoring", seen / known if known else None)
        return into

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def literal(self, text: str) -> str:
        return _text(text)

    def _create_view(self, view: str, files: LogFiles, *, mapped: bool) -> None:
        whole, originals = without_torn_lines(files, self._spill)
        self.torn += len(originals)
        query = self._files_query(whole, originals, fitting=not mapped)
        self._execute(f"CREATE TEMP VIEW {view} AS {query}", files.label)

    def _become(self, query: str) -> None:
        self._execute(f"CREATE TEMP VIEW judged AS {self._named(query)}", self.name)
        self._table = "judged"

    def _map(self, query: str, where: str) -> None:
        try:
            statements = self._duck.extract_statements(query)
            kinds = [str(s.type).rpartition(".")[2] for s in statements]
            if kinds != ["SELECT"]:
                raise InputError(
                    f"must hold one query, it holds {' and '.join(kinds).lower() or 'nothing'}",
                    where=where,
                    fix="write one SELECT over the table source",
                )
            self._con.execute(f"CREATE TEMP VIEW mapped AS {query}")
            self._con.sql("SELECT * FROM mapped LIMIT 1").to_arrow_table()
        except self._duck.Error as error:
            lines = [line for line in str(error).splitlines() if line.strip()]
            raise InputError(
                f"the query fails: {' '.join(lines[:2])[:300]}",
                where=where,
                fix="try it on the file with any DuckDB client; the table is called source",
            ) from None
        self._table = "mapped"

    # Running queries

    def _named(self, query: str) -> str:
        return query.format(log=self._table, given="given", files="source")

    def _execute(self, query: str, where: str) -> None:
        with _reading(where):
            self._con.execute(query)

    def _ask(self, query: str, where: str | None = None) -> pa.Table:
        with _reading(where or self.name):
            return self._con.sql(self._named(query)).to_arrow_table()

    def _stream(self, query: str, doing: str) -> Iterator[pa.RecordBatch]:
        with self._watched(doing):
            batches = self._batches(self._named(query))
            first = next(batches, None)
        if first is not None:
            yield first
        yield from batches

    def _batches(self, query: str) -> Iterator[pa.RecordBatch]:
        with _reading(self.name):
            yield from self._con.sql(query).to_arrow_reader(ROWS)

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

    # Reading files: which types their columns have, whether they fit together

    def _files_query(self, files: LogFiles, originals: Mapping[str, str], *, fitting: bool) -> str:
        """A query over all files; `fitting` ones have the columns of the schema as they are.

        `originals` are the names of those that are read through a copy.
        """
        schemas = {path: self._file_schema(path, form) for path, form in files.formats.items()}
        if fitting:
            for path, schema in schemas.items():
                example = self._examples(path, files.formats[path], schema)
                check_columns(schema, path, example=example)
        names = {name for schema in schemas.values() for name in schema.names}
        partial = "partial" in names
        _check_agreement(schemas, every=fitting and not partial)
        readers = []
        for form in dict.fromkeys(files.formats.values()):
            chosen = files.of_format(form)
            named = any("filename" in schemas[path].names for path in chosen)
            readers.append(f"SELECT * FROM {self._reader(form, chosen, file_column=not named)}")
        query = " UNION ALL BY NAME ".join(readers)
        if originals and "filename" not in names:
            cases = " ".join(
                f"WHEN {_text(copy)} THEN {_text(path)}" for copy, path in originals.items()
            )
            query = f"SELECT * REPLACE (CASE filename {cases} ELSE filename END AS filename) FROM ({query})"
        return completed(query, names, self.quoted) if partial else query

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
        reader = self._reader(form, [path])
        with _reading(path):
            return self._con.sql(f"SELECT * FROM {reader} LIMIT 0").to_arrow_table().schema

    def _reader(self, form: str, paths: Sequence[str], *, file_column: bool = False) -> str:
        files = "[" + ", ".join(map(_text, paths)) + "]"
        how = ["filename = true"] if file_column else []
        if form == "json":
            columns = self._json_columns(files)
            how = ["format = 'newline_delimited'", f"columns = {columns}", *how]
        else:
            how = ["union_by_name = true", *how]
        if form == "csv":
            how += ["sample_size = -1", *self._csv_types(files)]
        return f"read_{form}({files}, {', '.join(how)})"

    def _csv_types(self, files: str) -> list[str]:
        """Ids, decisions and states are text whatever they look like; empty columns are what they are."""
        found = dict(
            self._describe(f"read_csv({files}, union_by_name = true, sample_size = -1)", files)
        )
        types = {name: "VARCHAR" for name in AS_TEXT if name in found}
        texts = f"read_csv({files}, union_by_name = true, all_varchar = true)"
        for name, column in COLUMNS.items():
            if column.kind in ("time", "number") and found.get(name) == "VARCHAR":
                one = f"SELECT {name} FROM {texts} WHERE {name} IS NOT NULL LIMIT 1"
                if not self._con.sql(one).fetchall():
                    time = column.kind == "time"
                    types[name] = found.get("published_at", "DOUBLE") if time else "DOUBLE"
        return [f"types = {_struct(types)}"] if types else []

    def _json_columns(self, files: str) -> str:
        """Nested values stay the JSON they are: a key that is missing is not the same as null."""
        types = {}
        reader = (
            f"read_json({files}, format = 'newline_delimited', maximum_depth = 2, sample_size = -1,"
            " union_by_name = true)"
        )
        for name, kind in self._describe(reader, files):
            nested = kind.startswith(("STRUCT", "MAP")) or kind.endswith("[]") or kind == "JSON"
            types[name] = "JSON" if nested else "VARCHAR" if name in AS_TEXT else kind
        return _struct(types)

    def _describe(self, reader: str, where: str) -> list[tuple[str, str]]:
        with _reading(where.strip("[]'")):
            rows = self._con.sql(f"DESCRIBE SELECT * FROM {reader}").fetchall()
        return [(str(row[0]), str(row[1])) for row in rows]

    def _examples(self, path: str, form: str, schema: pa.Schema) -> dict[str, str]:
        """A value of every column that may have to be shown: those that are no times and should be."""
        found = {}
        for name, column in COLUMNS.items():
            if name not in schema.names:
                continue
            dtype = schema.field(name).type
            text = column.kind in ("time", "number") and kind_of(dtype) == "text"
            if text or "binary" in str(dtype):
                with suppress(self._duck.Error):
                    rows = self._con.execute(
                        f"SELECT {name}::VARCHAR FROM {self._reader(form, [path])}"
                        f" WHERE {name} IS NOT NULL LIMIT 1"
                    ).fetchall()
                    if rows:
                        found[name] = str(rows[0][0])[:80]
        return found


def _check_agreement(schemas: Mapping[str, pa.Schema], *, every: bool) -> None:
    """Files of one log mean the same by the same column."""
    seen: dict[str, tuple[str, str]] = {}
    for path, schema in schemas.items():
        for field in schema:
            kind = kind_shown(field.type)
            if kind == "nothing":
                continue
            other, where = seen.setdefault(field.name, (kind, path))
            if other != kind:
                zones = "timestamps" in kind and "timestamps" in other
                raise InputError(
                    f"column {field.name!r} {'has two time zones: ' if zones else ''}holds {kind}"
                    f" here and {other} in {where}",
                    where=path,
                    fix="write both alike, or score them one after the other",
                )
    if not every:
        return
    for name in COLUMNS:
        there = [path for path, schema in schemas.items() if name in schema.names]
        for path in schemas:
            if there and path not in there:
                raise InputError(
                    f"has no column {name!r}, and {there[0]} has one",
                    where=path,
                    fix="give every file of a log the same columns, or say with --sql what is missing",
                )


def _parquet_rows(files: LogFiles) -> int | None:
    """How many rows there are, where the files say so without being read."""
    if any(form != "parquet" or "://" in path for path, form in files.formats.items()):
        return None
    import pyarrow.parquet as pq

    return sum(int(pq.read_metadata(path).num_rows) for path in files.formats)


@contextmanager
def _reading(where: str) -> Iterator[None]:
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


def _struct(types: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{_text(name)}: {_text(kind)}" for name, kind in types.items()) + "}"


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
