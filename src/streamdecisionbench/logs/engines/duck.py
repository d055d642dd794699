"""DuckDB, embedded: reads files, joins and sorts (on disk where memory ends) and streams Arrow batches."""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.engines.engine import (
    FILE,
    Engine,
    ProgressReported,
    S,
    first_line,
    untold,
)
from streamdecisionbench.logs.log_files import (
    PACKED,
    LogFiles,
    first_line_of,
    header_of,
    packing_of,
    without_torn_lines,
)
from streamdecisionbench.logs.log_schema import (
    COLUMNS,
    check_names,
    check_zones,
    column_called,
    duration_unit,
    first_of_each_case,
    trimmed,
)
from streamdecisionbench.logs.stream_arrays import (
    PER_SECOND,
    ROWS,
    whole_streams,
)
from streamdecisionbench.text import printable

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


class _OutOfMemoryError(InputError):
    """DuckDB reached the limit of `--memory`."""


class DuckEngine(Engine):
    """A log in an embedded database that lives as long as the call."""

    types: Mapping[str, str] = {"zoned": "TIMESTAMPTZ", "zoneless": "TIMESTAMP", "whole": "HUGEINT"}

    def __init__(self, *, memory: str = "1GB", told: ProgressReported = untold) -> None:
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
        self._table, self._given = "files", "given"
        self._views = 0
        self._originals: Mapping[str, str] = {}
        """Files that are read through a copy, by that copy's name."""
        self._known_rows: int | None = None
        self._queries: dict[str, tuple[str, str]] = {}
        """The user's own, with what messages call them, by the view that each became."""
        self._of_files = True

    def close(self) -> None:
        self._con.close()
        shutil.rmtree(self._spill, ignore_errors=True)

    def open_files(self, files: LogFiles, *, mapped: bool = False) -> None:
        self.name, self._files = files.label, files
        self._create_view("files", files, mapped=mapped)
        self._several = len(files.formats) > 1
        if not mapped:
            self._known_rows = _parquet_rows(files)

    def open_table(self, table: Any) -> None:
        """Of an Arrow table, reader or anything that streams Arrow."""
        import pyarrow as pa

        self.name = "the table"
        if not isinstance(table, pa.Table | pa.RecordBatchReader):
            table = pa.RecordBatchReader.from_stream(table)
        names = trimmed(table.schema.names, self.name)
        own = [f"c{k}" for k in range(len(names))]
        places = _by_name(names, own, self.name)
        chosen = [f"{places[n]} AS {self.quoted(n)}" for n in first_of_each_case(places)]
        query = f"SELECT {', '.join(chosen)} FROM _rows t({', '.join(own)})"
        self._con.register("_rows", table)
        # A reader can be read once; several passes are needed, and the copy may lie on disk.
        kind = "TABLE" if isinstance(table, pa.RecordBatchReader) else "VIEW"
        self._execute(f"CREATE TEMP {kind} files AS {query}", self.name)
        if kind == "TABLE":
            self._con.unregister("_rows")

    def give(
        self, other: pa.Table | LogFiles, query: str | None = None, where: str = ""
    ) -> pa.Schema:
        # What was joined already goes on reading the tables before.
        self._views += 1
        rows = f"given_{self._views}"
        if isinstance(other, LogFiles):
            self._create_view(rows, other, mapped=True)
        else:
            self._con.register(f"_{rows}", other)
            self._execute(f"CREATE TEMP VIEW {rows} AS SELECT * FROM _{rows}", self.name)
        self._given = rows if query is None else self._mapped(query, where, rows, f"{rows}_mapped")
        return self._ask("SELECT * FROM {given} LIMIT 0").schema

    def reduce(self, columns: Sequence[str], into: S) -> S:
        keys = into.keys(self.schema())
        order = ", ".join(map(self._q, [*keys, "published_at"]))
        chosen = ", ".join([*map(self._q, columns), *self._file_mark("hash")])
        known = self._known_rows if self._of_files else None
        seen = 0
        for table in whole_streams(self._sorted(chosen, order), keys[:1]):
            into.add(table)
            seen += table.num_rows
            self._told("scoring", seen / known if known else None)
        return into

    def _sorted(self, chosen: str, order: str) -> Iterator[pa.RecordBatch]:
        batches = self._stream(f"SELECT {chosen} FROM {{log}} ORDER BY {order}", "sorting")
        try:
            first = next(batches, None)
        except _OutOfMemoryError:
            # DuckDB 2.0 cannot sort the rows of several readers on disk; those of a table it can.
            with self._watched("copying"):
                self._execute(
                    self._named(
                        f"CREATE OR REPLACE TEMP TABLE unsorted AS SELECT {chosen} FROM {{log}}"
                    ),
                    self.name,
                )
            batches = self._stream(f"SELECT * FROM unsorted ORDER BY {order}", "sorting")
            first = next(batches, None)
        if first is not None:
            yield first
        yield from batches

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def literal(self, text: str) -> str:
        return _text(text)

    def _create_view(self, view: str, files: LogFiles, *, mapped: bool) -> None:
        whole, originals = without_torn_lines(files, self._spill)
        self.torn += len(originals)
        self._originals = {**self._originals, **originals}
        if set(files.formats.values()) != {"parquet"}:
            self._fit_threads()
        query = self._files_query(whole, fitting=not mapped)
        self._execute(f"CREATE TEMP VIEW {view} AS {self._named(query)}", files.label)

    def _fit_threads(self) -> None:
        """As many threads as have room for their buffers of text: DuckDB does not ask."""
        limit = f"parse_formatted_bytes(current_setting('memory_limit')) // {_PER_THREAD}"
        found = self._ask(f"SELECT least(current_setting('threads'), greatest(1, {limit})) AS n")
        self._con.execute(f"SET threads = {found.column('n')[0].as_py()}")

    def _become(self, query: str) -> None:
        self._views += 1
        view = f"log_{self._views}"
        self._execute(f"CREATE TEMP VIEW {view} AS {self._named(query)}", self.name)
        self._table = view

    def json_of(self, names: Sequence[str]) -> str:
        fields = ", ".join(f"{_text(name)}, {self.shown_name(name)}" for name in names)
        return f"json_object({fields})"

    def _matches(self, value: str, pattern: str) -> str:
        return f"regexp_matches({value}, {self._braced(self.literal(pattern))})"

    def later(self, time: str, dtype: pa.DataType, seconds: str) -> str:
        if dtype.unit != "ns":
            return f"{time} + {self.duration(seconds)}"
        at = f"make_timestamp_ns(epoch_ns({time}) + CAST(round(1e9 * ({seconds})) AS BIGINT))"
        return f"CAST({at} AS TIMESTAMPTZ_NS)" if dtype.tz else at

    def duration(self, seconds: str) -> str:
        return f"to_seconds({seconds})"

    def seconds(self, duration: str) -> str:
        return f"epoch({duration})"

    def _map(self, query: str, where: str) -> None:
        self._table = self._mapped(query, where, self._table, "mapped")

    def _mapped(self, query: str, where: str, rows: str, view: str) -> str:
        """The user's query over rows that it calls `source`, as a view."""
        self._con.execute(f"CREATE OR REPLACE TEMP VIEW {view}_from AS SELECT * FROM {rows}")
        self._con.execute(f"CREATE OR REPLACE TEMP VIEW source AS SELECT * FROM {view}_from")
        self._queries[view] = (query, where)
        try:
            statements = self._duck.extract_statements(query)
            kinds = [str(s.type).rpartition(".")[2] for s in statements]
            if kinds != ["SELECT"]:
                raise InputError(
                    f"must hold one query, it holds {' and '.join(kinds).lower() or 'nothing'}",
                    where=where,
                    fix="write one SELECT over the table source",
                )
            described = self._con.execute(f"DESCRIBE {query}").fetchall()
            check_names([row[0] for row in described], where, _REPLACE)
            # Another query may call other rows `source` later: this one keeps its own.
            self._con.execute(
                f"CREATE OR REPLACE TEMP VIEW {view} AS WITH source AS (SELECT * FROM {view}_from)"
                f" SELECT * FROM ({query}\n)"
            )
            # Values come through Arrow: as Python objects DuckDB hands over timestamps by way of pytz.
            self._con.sql(f"SELECT * FROM {view} LIMIT 1").to_arrow_table()
        except self._duck.Error as error:
            raise self._failed(str(error), where, view) from None
        return view

    def _failed(self, said: str, where: str, view: str) -> InputError:
        """What DuckDB says against a query: its words and the line, without its list of functions."""
        lines = [printable(line) for line in said.splitlines() if line[:1] != "\t" and line.strip()]
        marked = next((k for k, line in enumerate(lines) if line.startswith("LINE ")), len(lines))
        told = [line for line in lines[:marked] if "andidate functions" not in line]
        at = lines[marked : marked + 2]
        if at and at[0].startswith("LINE 1: DESCRIBE "):
            at = [at[0].replace("DESCRIBE ", "", 1), *(line[9:] for line in at[1:])]
        casts = ""
        with suppress(InputError):  # a hint that cannot be had must not replace the error
            casts = self._likely_casts(f"{view}_from", (at or [self._queries[view][0]])[0])
        fix = "try it on the file with any DuckDB client; the table is called source"
        if "onvert" in said or "could not be cast" in said:
            fix = "TRY_CAST instead of CAST gives null where a value is none; " + fix
        elif casts and re.search("No function matches|explicit.* cast|Cannot compare", said):
            fix = f"columns of CSV and JSON Lines are text; cast what you compute with: {casts}"
        shown = "".join(f"\n    {line[:160]}" for line in at)
        return InputError(f"the query fails: {' '.join(told)[:400]}{shown}", where=where, fix=fix)

    # Running queries

    def _named(self, query: str) -> str:
        return query.format(log=self._table, given=self._given, files="files")

    def _execute(self, query: str, where: str) -> None:
        with self._reading(where):
            self._con.execute(query)

    def _ask(self, query: str, where: str | None = None) -> pa.Table:
        with self._reading(where or self.name):
            return self._con.sql(self._named(query)).to_arrow_table()

    def _stream(self, query: str, doing: str) -> Iterator[pa.RecordBatch]:
        with self._watched(doing):
            batches = self._batches(self._named(query))
            first = next(batches, None)
        if first is not None:
            yield first
        yield from batches

    def _batches(self, query: str) -> Iterator[pa.RecordBatch]:
        with self._reading(self.name):
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

    @contextmanager
    def _reading(self, where: str) -> Iterator[None]:
        """What DuckDB says against a file, in one message."""
        try:
            yield
        except self._duck.Error as error:
            for view, (_, query_file) in self._queries.items():
                if re.match("Conversion|Invalid Input|Out of Range", str(error)):
                    raise self._failed(str(error), query_file, view) from None
            if isinstance(error, self._duck.OutOfMemoryException):
                raise _OutOfMemoryError(
                    f"needs more memory: {first_line(error)}",
                    where=self._originals.get(where, where),
                    fix="give DuckDB more with --memory, for example 4GB",
                ) from None
            told = first_line(error)
            for copy, path in self._originals.items():
                told = told.replace(copy, path)
            raise InputError(
                f"cannot be read: {told}",
                where=self._originals.get(where, where),
                fix="check the file; `sdb logs check` says what can be used",
            ) from None

    # Reading files: nothing is guessed but what a header or the keys of a line say

    def _files_query(self, files: LogFiles, *, fitting: bool) -> str:
        """A query over all files; `fitting` ones have the columns of the schema as they are."""
        parts = [
            *self._parquet_parts(files, fitting=fitting),
            *self._csv_parts(files),
            *self._json_parts(files),
        ]
        # Of all files together: whether they are one or several makes no difference.
        written = list(dict.fromkeys(name for part in parts for name in part.columns))
        names = [name for name in first_of_each_case(trimmed(written, files.label)) if name]
        file = [] if FILE in map(str.lower, names) else [f"{self._braced(self._path())} AS {FILE}"]
        rows = {}
        for part in parts:
            called = {name: column_called(name, part.columns, part.where) for name in names}
            chosen = [
                f"{part.columns[own]} AS {self._q(name)}" for name, own in called.items() if own
            ]
            rows[part.where] = f"(SELECT {', '.join(chosen + file)} FROM {part.rows})"
        return " UNION ALL BY NAME ".join(self.combined(rows, fitting=fitting))

    def _path(self) -> str:
        cases = [f"WHEN {_text(c)} THEN {_text(p)}" for c, p in self._originals.items()]
        return f"CASE {_FILE} {' '.join(cases)} ELSE {_FILE} END" if cases else _FILE

    def _parquet_parts(self, files: LogFiles, *, fitting: bool) -> Iterator[_Part]:
        """Files with one schema together: positions, not names, say which column is meant."""
        alike: dict[pa.Schema, list[str]] = {}
        for path in files.of_format("parquet"):
            alike.setdefault(self._parquet_schema(path), []).append(path)
        for schema, paths in alike.items():
            if fitting:
                check_zones(schema, paths[0])
            own = [f"c{k}" for k in range(len(schema.names))]
            rows = (
                f"read_parquet({_listed(paths)}, hive_partitioning = false, filename = '{_FILE}')"
            )
            # Parquet keeps the durations of Arrow as whole numbers.
            read = [
                self.duration(f"{one} / {PER_SECOND[unit]}.0")
                if (unit := duration_unit(dtype)) is not None
                else one
                for one, dtype in zip(own, schema.types, strict=True)
            ]
            yield _Part(
                paths[0],
                _by_name(schema.names, read, paths[0]),
                f"{self._braced(rows)} _rows({', '.join([*own, _FILE])})",
            )

    def _parquet_schema(self, path: str) -> pa.Schema:
        if "://" in path:
            with self._reading(path):
                query = f"SELECT * FROM read_parquet({_listed([path])}) LIMIT 0"
                return self._con.sql(query).to_arrow_table().schema
        import pyarrow.parquet as pq

        try:
            return pq.read_schema(path).remove_metadata()
        except Exception as error:
            raise InputError(
                f"is no readable Parquet file: {first_line(error)}",
                where=path,
                fix="was it written to its end? write or fetch it again",
            ) from None

    def _csv_parts(self, files: LogFiles) -> Iterator[_Part]:
        """Files with one header together, every field as text. Empty fields are null."""
        alike: dict[tuple[str, ...], list[str]] = {}
        for path in files.of_format("csv"):
            line = first_line_of(path) if "://" not in path else self._first_line_of(path)
            alike.setdefault(header_of(path, line), []).append(path)
        for (delimiter, *names), paths in alike.items():
            own = [f"c{k}" for k in range(len(names))]
            how = f"{_csv_how(delimiter, own)}, header = true, filename = '{_FILE}'"
            rows = self._braced(_read("read_csv", paths, how))
            yield _Part(paths[0], _by_name(names, own, paths[0]), rows)

    def _first_line_of(self, url: str) -> str | None:
        lines = _read("read_csv", [url], _csv_how(chr(1), ["line"], quote="")) + " LIMIT 1"
        first = self._ask(f"SELECT line FROM {self._braced(lines)}", url).to_pylist()
        return first[0]["line"] if first else None

    def _json_parts(self, files: LogFiles) -> Iterator[_Part]:
        """One part, every value as text: nested ones stay the JSON they are, since a key that is missing
        is not the same as null. Numbers are spelled one way."""
        paths = files.of_format("json")
        if not paths:
            return
        where = paths[0] if len(paths) == 1 else files.label
        keys = self._ask(
            "SELECT DISTINCT unnest(json_keys(json)) AS name FROM"
            f" {self._braced(_read('read_ndjson_objects', paths))}",
            where,
        )
        names = sorted(name for name in keys.column("name").to_pylist() if name)
        kept = list(first_of_each_case(names)) or ["stream"]
        own = [f"c{k}" for k in range(len(kept))]
        ways = {name: [n for n in names if n.lower() == name.lower()] for name in kept}
        if any(len(found) > 1 for name, found in ways.items() if name not in COLUMNS):
            # Lines that spell a key in different cases: each line has its own.
            keys_in = [
                ", ".join(
                    f"json_extract(json, {_text(_pointer(n))})"
                    for n in ([name] if name in COLUMNS else [name, *found])
                )
                for name, found in ways.items()
            ]
            read = f"filename = '{_FILE}'"
            chosen = [f"coalesce({keys}) AS {one}" for keys, one in zip(keys_in, own, strict=True)]
            rows = (
                f"(SELECT {', '.join(chosen)}, {_FILE} FROM"
                f" {_read('read_ndjson_objects', paths, read)})"
            )
        else:
            types = ", ".join(f"{_text(name)}: 'JSON'" for name in kept)
            how = (
                "format = 'newline_delimited', records = true, hive_partitioning = false,"
                f" columns = {{{types}}}, filename = '{_FILE}'"
            )
            rows = f"{_read('read_json', paths, how)} _rows({', '.join([*own, _FILE])})"
        number = "CAST({c} AS DOUBLE)"
        texts = {
            name: f"CASE WHEN json_type({c}) = 'DOUBLE' AND regexp_matches({c}->>'$', '[.eE]') THEN"
            f" CASE WHEN {(d := number.format(c=c))} = floor({d}) AND abs({d}) < 1e37"
            f" THEN {d}::HUGEINT::VARCHAR ELSE {d}::VARCHAR END ELSE {c}->>'$' END"
            for name, c in zip(kept, own, strict=True)
        }
        yield _Part(where, texts, self._braced(rows))


@dataclass(frozen=True, slots=True)
class _Part:
    """Files that are read alike: what messages call them, each column in SQL, and their rows in SQL."""

    where: str
    columns: Mapping[str, str]
    rows: str


_FILE = "_sdb_path"
_LINE = 32 << 20
"""Bytes that a line of a CSV file may have. Without `buffer_size` DuckDB takes buffers of 16 such lines."""
_PER_THREAD = 3 * _LINE
"""Memory that a thread needs to read text, measured: a buffer, the end of the one before, its rows."""
_REPLACE = "replace the old one: SELECT * REPLACE (x AS reference) FROM source"


def _by_name(names: Sequence[str], own: Sequence[str], where: str) -> dict[str, str]:
    """Each column's place by its name; one that has none cannot be meant."""
    check_names(names, where, "name every column once")
    return {name: one for name, one in zip(names, own, strict=True) if name}


def _parquet_rows(files: LogFiles) -> int | None:
    """How many rows there are, where the files say so without being read."""
    if any(form != "parquet" or "://" in path for path, form in files.formats.items()):
        return None
    import pyarrow.parquet as pq

    return sum(int(pq.read_metadata(path).num_rows) for path in files.formats)


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


def _listed(paths: Sequence[str]) -> str:
    """Files by their exact names: what a pattern would be made of stands for itself."""
    exact = (p if "://" in p else re.sub(r"[*?\[]", r"[\g<0>]", p) for p in paths)
    return "[" + ", ".join(map(_text, exact)) + "]"


def _read(function: str, paths: Sequence[str], how: str = "") -> str:
    """A reader of text over files, in SQL. DuckDB unpacks by the end of a name; the bytes overrule it."""
    packings: dict[str, list[str]] = {}
    for path in paths:
        packing = packing_of(path)
        known = packing == PACKED.get(Path(path).suffix.lower())
        packings.setdefault("auto" if known else packing or "none", []).append(path)
    calls = [
        f"{function}({', '.join(filter(None, (_listed(same), how)))}, compression = '{packing}')"
        for packing, same in packings.items()
    ]
    if len(calls) == 1:
        return calls[0]
    return "(" + " UNION ALL ".join(f"SELECT * FROM {call}" for call in calls) + ")"


def _csv_how(delimiter: str, names: Sequence[str], quote: str = '"') -> str:
    """All that DuckDB would find out by looking: it is not asked to."""
    columns = ", ".join(f"{name}: 'VARCHAR'" for name in names)
    return (
        f"auto_detect = false, columns = {{{columns}}}, delim = {_text(delimiter)},"
        f" quote = {_text(quote)}, escape = {_text(quote)}, comment = '', strict_mode = true,"
        f" hive_partitioning = false, max_line_size = {_LINE}, buffer_size = {_LINE}"
    )


def _pointer(key: str) -> str:
    """A key of an object as a JSON pointer."""
    return "/" + key.replace("~", "~0").replace("/", "~1")


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
