"""Files as DuckDB reads them: which types their columns have, whether they fit together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.engines.partial_rows import completed
from streamdecisionbench.logs.log_files import LogFiles, format_of
from streamdecisionbench.logs.schema import COLUMNS, check_columns, kind_of

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

__all__ = ["DuckFiles", "first_line", "parquet_rows", "quoted", "reading"]

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
