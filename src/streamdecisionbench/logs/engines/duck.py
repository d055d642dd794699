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
from streamdecisionbench.logs.engines.duck_files import (
    DuckFiles,
    first_line,
    parquet_rows,
    quoted,
    reading,
)
from streamdecisionbench.logs.engines.engine import S, Told, untold
from streamdecisionbench.logs.engines.partial_rows import completed
from streamdecisionbench.logs.log_files import LogFiles
from streamdecisionbench.logs.schema import COLUMNS
from streamdecisionbench.logs.torn_lines import without_torn_lines
from streamdecisionbench.logs.whole_streams import whole_streams

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

__all__ = ["DuckEngine"]

_BATCH = 1 << 17


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
