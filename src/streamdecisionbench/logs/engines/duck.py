"""DuckDB, embedded: reads, joins and sorts (on disk where memory ends) and streams Arrow batches."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.engines.engine import S, Told, untold
from streamdecisionbench.logs.log_files import LogFiles
from streamdecisionbench.logs.schema import COLUMNS, check_columns, kind_of
from streamdecisionbench.logs.whole_streams import whole_streams

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

__all__ = ["DuckEngine"]

_BATCH = 1 << 17
_AS_TEXT = tuple(n for n, c in COLUMNS.items() if c.kind in ("id", "decision", "json"))


class DuckEngine:
    """A log in an embedded database that lives as long as the call."""

    def __init__(self, *, memory: str = "1GB", told: Told = untold) -> None:
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
                f"--memory {memory}: {_first_line(error)}", fix="for example 2GB"
            ) from None
        self._con.execute("SET TimeZone = 'UTC'")
        self._con.execute("SET preserve_insertion_order = false")
        self._table = "source"
        self._known_rows: int | None = None

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
            self._known_rows = _parquet_rows(files)

    def _create_view(self, view: str, files: LogFiles, *, mapped: bool) -> None:
        schemas = {
            path: self._file_schema(path, form)
            for path, form in zip(files.paths, files.formats, strict=True)
        }
        if not mapped:
            for path, schema in schemas.items():
                check_columns(schema, path, example=self._examples(path, schema))
        _check_agreement(schemas, every=not mapped)
        readers = [
            f"SELECT * FROM {self._reader(form, chosen, [schemas[p] for p in chosen])}"
            for form in dict.fromkeys(files.formats)
            if (chosen := files.of_format(form))
        ]
        self._execute(
            f"CREATE TEMP VIEW {view} AS {' UNION ALL BY NAME '.join(readers)}", files.label
        )

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
            self._execute("CREATE TEMP TABLE source AS SELECT * FROM _once", name)
            self._con.unregister("_once")
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
            self._con.sql("SELECT * FROM mapped LIMIT 1").fetchall()
        except self._duck.Error as error:
            raise _sql_error(error, where) from None
        self._table = "mapped"
        self.name = f"{where} over {self.name}"

    # Asking

    def schema(self) -> pa.Schema:
        return self._arrow(f"SELECT * FROM {self._table} LIMIT 0").schema

    def example(self, column: str) -> str | None:
        found = self._one(
            f"SELECT {_q(column)}::VARCHAR FROM {self._table} WHERE {_q(column)} IS NOT NULL LIMIT 1"
        )
        return None if found is None else str(found[0])[:80]

    def rows(self) -> int:
        found = self._one(f"SELECT count(*) FROM {self._table}")
        return int(found[0]) if found else 0

    def distinct(self, column: str) -> Iterable[pa.RecordBatch]:
        name = _q(column)
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
        keys = ", ".join(map(_q, on))
        with self._guarded("the references"):
            found = self._one(
                f"SELECT {', '.join(f'{_q(k)}::VARCHAR' for k in on)}, min({_q(take)}::VARCHAR),"
                f" max({_q(take)}::VARCHAR) FROM given GROUP BY {keys}"
                f" HAVING count(DISTINCT {_q(take)}::VARCHAR) > 1 LIMIT 1"
            )
        return None if found is None else tuple(map(str, found))

    def join(self, on: Sequence[str], take: str, name: str) -> None:
        keys = ", ".join(map(_q, on))
        kept = [f"a.{_q(n)}" for n in self.schema().names if n != name]
        agree = " AND ".join(
            f"a.{_q(k)}::VARCHAR = b.{_q(k)}::VARCHAR"
            if COLUMNS[k].kind != "time"
            else f"a.{_q(k)} = b.{_q(k)}"
            for k in on
        )
        self._execute(
            f"CREATE TEMP VIEW judged AS SELECT {', '.join(kept)}, b.taken AS {_q(name)}"
            f" FROM {self._table} a LEFT JOIN"
            f" (SELECT {keys}, min({_q(take)}) AS taken FROM given GROUP BY {keys}) b ON {agree}",
            self.name,
        )
        self._table = "judged"

    def table(self, columns: Sequence[str], limit: int | None = None) -> pa.Table:
        chosen = ", ".join(map(_q, columns))
        cut = f" LIMIT {limit}" if limit is not None else ""
        order = ", ".join(_q(n) for n in ("stream", "published_at") if n in columns)
        by = f" ORDER BY {order}" if order else ""
        return self._arrow(f"SELECT {chosen} FROM {self._table}{by}{cut}")

    def reduce(self, columns: Sequence[str], into: S) -> S:
        keys = into.keys(self.schema())
        order = ", ".join(map(_q, [*keys, "published_at"]))
        query = f"SELECT {', '.join(map(_q, columns))} FROM {self._table} ORDER BY {order}"
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

    # Reading files

    def _file_schema(self, path: str, form: str) -> pa.Schema:
        if form == "parquet" and "://" not in path:
            import pyarrow.parquet as pq

            try:
                return pq.read_schema(path).remove_metadata()
            except Exception as error:
                raise InputError(
                    f"is no readable Parquet file: {_first_line(error)}",
                    where=path,
                    fix="was it written to its end? write or fetch it again",
                ) from None
        return self._arrow(f"SELECT * FROM {self._reader(form, [path], None)} LIMIT 0", path).schema

    def _reader(self, form: str, paths: Sequence[str], schemas: Sequence[pa.Schema] | None) -> str:
        files = "[" + ", ".join(_s(p) for p in paths) + "]"
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
                query = f"SELECT {_q(name)} FROM read_csv({files}, union_by_name = true, all_varchar = true) WHERE {_q(name)} IS NOT NULL LIMIT 1"
                if not self._con.sql(query).fetchall():
                    like = (
                        found.get("published_at", "DOUBLE") if column.kind == "time" else "DOUBLE"
                    )
                    types[name] = like
        if not types:
            return ""
        listed = ", ".join(f"{_s(name)}: {_s(kind)}" for name, kind in types.items())
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
            listed.append(f"{_s(name)}: {_s('JSON' if nested else 'VARCHAR' if text else kind)}")
        return "{" + ", ".join(listed) + "}"

    def _describe(self, reader: str, where: str) -> list[tuple[str, str]]:
        with self._guarded(where.strip("[]'")):
            return [
                (str(r[0]), str(r[1]))
                for r in self._con.sql(f"DESCRIBE SELECT * FROM {reader}").fetchall()
            ]

    def _examples(self, path: str, schema: pa.Schema) -> dict[str, str]:
        """A value of every column that may have to be shown: those that are no times and should be."""
        from streamdecisionbench.logs.log_files import format_of

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
            with suppress(self._duck.Error):
                row = self._one(
                    f"SELECT {_q(name)}::VARCHAR FROM {self._reader(form or 'parquet', [path], None)}"
                    f" WHERE {_q(name)} IS NOT NULL LIMIT 1"
                )
                if row:
                    found[name] = str(row[0])[:80]
        return found

    # Running queries

    def _execute(self, query: str, where: str) -> None:
        with self._guarded(where):
            self._con.execute(query)

    def _one(self, query: str) -> tuple[Any, ...] | None:
        rows: list[tuple[Any, ...]] = self._con.execute(query).fetchmany(1)
        return rows[0] if rows else None

    def _arrow(self, query: str, where: str | None = None) -> pa.Table:
        with self._guarded(where or self.name):
            return self._con.sql(query).to_arrow_table()

    def _stream(self, query: str, doing: str) -> Iterator[pa.RecordBatch]:
        with self._watched(doing):
            batches = self._batches(query)
            first = next(batches, None)
        if first is not None:
            yield first
        yield from batches

    def _batches(self, query: str) -> Iterator[pa.RecordBatch]:
        with self._guarded(self.name):
            yield from self._con.sql(query).to_arrow_reader(_BATCH)

    @contextmanager
    def _guarded(self, where: str) -> Iterator[None]:
        try:
            yield
        except self._duck.Error as error:
            raise InputError(
                f"cannot be read: {_first_line(error)}",
                where=where,
                fix="check the file; `sdb logs check` says what can be used",
            ) from None

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


def _parquet_rows(files: LogFiles) -> int | None:
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


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:300]


def _q(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _s(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
