"""Spark: the same rows, sorted by its executors and added up where they lie.

`repartition(stream)`, `sortWithinPartitions(stream, published_at)`, then one `LogSums` per partition
through `mapInArrow`; the driver merges what comes back. A stream lies in one partition, so it never
spans two calls of the kernel. Works against any master and inside a session that is already there.
"""

from __future__ import annotations

import copy
import io
import os
import pickle
import re
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamdecisionbench
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
    header_of,
    packing_of,
    torn_lines,
)
from streamdecisionbench.logs.log_schema import (
    COLUMNS,
    check_names,
    column_called,
    duration_unit,
    first_of_each_case,
    trimmed,
)
from streamdecisionbench.logs.stream_arrays import (
    PER_SECOND,
    whole_streams,
)
from streamdecisionbench.text import decision_text

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_CASE = "spark.sql.caseSensitive"
_SETTINGS = {"spark.sql.session.timeZone": "UTC", _CASE: "true"}
"""What a session must hold to while it reads a log."""
_SENT: set[str] = set()
"""Applications whose executors have the package already."""


def is_spark(table: Any) -> bool:
    """Whether it is a Spark DataFrame, asked without importing Spark."""
    return type(table).__module__.startswith("pyspark.sql")


class SparkEngine(Engine):
    """A log on a cluster, or in the session of a notebook."""

    types: Mapping[str, str] = {
        "zoned": "TIMESTAMP",
        "zoneless": "TIMESTAMP_NTZ",
        "whole": "DECIMAL(38, 0)",
    }

    def __init__(self, *, master: str | None = None, told: ProgressReported = untold) -> None:
        super().__init__(told)
        self._session, self._owned = _session(master)
        self._before = {name: self._session.conf.get(name) for name in _SETTINGS}
        for name, value in _SETTINGS.items():
            self._session.conf.set(name, value)
        self._frames: dict[str, Any] = {}
        """The data frames that queries call `log`, `given` and `files`."""

    def close(self) -> None:
        """Ends a session of our own; one that was there before goes on as it was."""
        if self._owned:
            self._session.stop()
            return
        for name, value in self._before.items():
            if value is not None:
                self._session.conf.set(name, value)

    def open_files(self, files: LogFiles, *, mapped: bool = False) -> None:
        """Driver and executors must reach the files under the same names."""
        self.name, self._files = files.label, files
        rows = self._read(files, fitting=not mapped)
        self._frames |= {"log": rows, "files": rows}
        self._of_files = "stream" in rows.columns
        self._several = len(files.formats) > 1

    def open_table(self, table: Any) -> None:
        """A DataFrame as it is; an Arrow table is sent to the cluster."""
        self.name = "the table"
        self._frames["log"] = table if is_spark(table) else self._session.createDataFrame(table)

    def give(
        self, other: pa.Table | LogFiles, query: str | None = None, where: str = ""
    ) -> pa.Schema:
        files = isinstance(other, LogFiles)
        given = self._read(other, fitting=False) if files else self._session.createDataFrame(other)
        self._frames["given"] = given
        if query is not None:
            self._frames["given"] = self._mapped(query, where, "given")
        return self._ask("SELECT * FROM {given} LIMIT 0").schema

    def reduce(self, columns: Sequence[str], into: S) -> S:
        keys = into.keys(self.schema())
        chosen = self._frames["log"].selectExpr(
            *map(self.quoted, columns), *self._file_mark("xxhash64")
        )
        sorted_rows = chosen.repartition(self.quoted(keys[0])).sortWithinPartitions(
            *map(self.quoted, [*keys, "published_at"])
        )
        empty = pickle.dumps(copy.deepcopy(into))

        def add_up(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import pyarrow as pa

            part = pickle.loads(empty)  # noqa: S301 - our own, from the driver
            for table in whole_streams(batches, keys[:1]):
                part.add(table)
            yield pa.RecordBatch.from_pydict({"part": [pickle.dumps(part)]})

        self._told("sorting and scoring on Spark", None)
        with self._running(self.name):
            parts = sorted_rows.mapInArrow(add_up, "part binary").toArrow().column("part")
            for merged, part in enumerate(parts, start=1):
                into.merge(pickle.loads(part.as_py()))  # noqa: S301 - from our executors
                self._told("merging", merged / len(parts))
        return into

    def quoted(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def literal(self, text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def _matches(self, value: str, pattern: str) -> str:
        return f"regexp_like({value}, {self._braced(self.literal(pattern))})"

    def later(self, time: str, dtype: pa.DataType, seconds: str) -> str:
        return f"{time} + {self.duration(seconds)}"

    def duration(self, seconds: str) -> str:
        return f"make_dt_interval(0, 0, 0, CAST(round({seconds}, 6) AS DECIMAL(18, 6)))"

    def seconds(self, duration: str) -> str:
        return f"CAST(CAST({duration} AS INTERVAL SECOND) AS DECIMAL(18, 6))"

    def json_of(self, names: Sequence[str]) -> str:
        fields = ", ".join(f"{self.literal(name)}, {self.shown_name(name)}" for name in names)
        return f"to_json(named_struct({fields}))"

    def _become(self, query: str) -> None:
        self._frames["log"] = self._session.sql(query, **self._frames)

    def _map(self, query: str, where: str) -> None:
        self._frames["log"] = self._mapped(query, where, "log")

    def _mapped(self, query: str, where: str, rows: str) -> DataFrame:
        self._frames[rows].createOrReplaceTempView("source")
        self._session.conf.set(_CASE, "false")
        try:
            mapped = self._session.sql(query)
            mapped.limit(1).collect()
        except Exception as error:
            casts = ""
            with suppress(InputError):  # a hint that cannot be had must not replace the error
                if "MISMATCH" in str(error):
                    casts = self._likely_casts(f"{{{rows}}}", query)
            raise InputError(
                f"the query fails: {first_line(error)}",
                where=where,
                fix=f"columns of CSV and JSON Lines are text; cast what you compute with: {casts}"
                if casts
                else "try it in your own Spark session; the table is called source",
            ) from None
        finally:
            self._session.conf.set(_CASE, "true")
        if not mapped.columns:
            raise InputError("must hold one query", where=where, fix="write one SELECT over source")
        check_names(mapped.columns, where, "leave the old one out: SELECT * EXCEPT (reference), …")
        return mapped

    def _ask(self, query: str, where: str | None = None) -> pa.Table:
        with self._running(where or self.name):
            return self._session.sql(query, **self._frames).toArrow()

    @contextmanager
    def _running(self, where: str) -> Iterator[None]:
        """What an executor refused comes back inside a long report; its own words are what counts."""
        try:
            yield
        except InputError:
            raise
        except Exception as error:
            _, refused, own = str(error).partition("InputError: ")
            said = own.splitlines()[0] if refused else f"the Spark job failed: {first_line(error)}"
            raise InputError(said, where=where) from None

    def _read(self, files: LogFiles, *, fitting: bool) -> DataFrame:
        """All files as one frame. Nothing is guessed but what a header or the keys of a line say."""
        for path in [*files.of_format("csv"), *files.of_format("json")]:
            _check_packing(path)
        torn = torn_lines(files)
        self.torn += len(torn)
        try:
            frames = self._parts(files, set(torn.values()))
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"Spark cannot read it: {first_line(error)}",
                where=files.label,
                fix="executors must reach the files under the same names as the driver",
            ) from None
        names = {where: f"part{k}" for k, where in enumerate(frames)}
        self._frames |= {name: frames[where] for where, name in names.items()}
        queries = self.combined({w: f"{{{name}}}" for w, name in names.items()}, fitting=fitting)
        rows = [self._session.sql(query, **self._frames) for query in queries]
        return reduce(lambda one, two: one.unionByName(two, allowMissingColumns=True), rows)

    def _parts(self, files: LogFiles, torn: set[bytes]) -> dict[str, DataFrame]:
        """Frames of files that are read alike, by what messages call them."""
        from pyspark.sql import functions as f

        reader = self._session.read.option("recursiveFileLookup", "true")
        found: dict[str, DataFrame] = {}
        json = [*map(_exact, files.of_format("json"))]
        for paths in _one_case(files.of_format("parquet")):
            frame = reader.option("mergeSchema", "true").parquet(*map(_exact, paths))
            for name, unit in _durations(paths).items():
                length = f.expr(self.duration(f"{self.quoted(name)} / {PER_SECOND[unit]}"))
                frame = frame.withColumn(name, length)
            found[paths[0]] = _with_file(frame)
        alike: dict[tuple[str, ...], list[str]] = {}
        for path in files.of_format("csv"):
            first = reader.text(_exact(path)).head()
            alike.setdefault(header_of(path, first[0] if first else None), []).append(path)
        for (sign, *names), paths in alike.items():
            check_names(names, paths[0], "name every column once")
            own = [f"c{k}" for k in range(len(names))]
            frame = reader.csv(
                [*map(_exact, paths)], ", ".join(f"{one} STRING" for one in own), sep=sign, header=True,
                escape='"', multiLine=True, mode="FAILFAST", enforceSchema=True,
            )  # fmt: skip
            chosen = [f.nullif(c, f.lit("")).alias(n) for n, c in zip(names, own, strict=True) if n]
            found[paths[0]] = _with_file(frame).select(*chosen, *([] if FILE in names else [FILE]))
        if json:
            lines = _with_file(reader.text(json, lineSep="\n"))
            found[files.label if len(json) > 1 else files.of_format("json")[0]] = _of_lines(
                lines, torn
            )
        written = list(dict.fromkeys(n for frame in found.values() for n in frame.columns))
        kept = list(first_of_each_case(trimmed(written, files.label)))
        named = {}
        for where, frame in found.items():
            called = {column_called(name, frame.columns, where): name for name in kept}
            named[where] = frame.toDF(*(called.get(n, n.strip()) for n in frame.columns))
        return named


def _one_case(paths: Sequence[str]) -> list[list[str]]:
    """Files to be read together: none of them spells a column in another case than the others."""
    import pyarrow.parquet as pq

    names = {path: pq.read_schema(path).names for path in paths if "://" not in path}
    every = {name for one in names.values() for name in one}
    lower = Counter(map(str.lower, every))
    alike: dict[tuple[str, ...], list[str]] = {}
    for path in paths:
        own = tuple(sorted(n for n in names.get(path, ()) if lower[n.lower()] > 1))
        alike.setdefault(own, []).append(path)
    return list(alike.values())


def _with_file(frame: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    return frame if FILE in frame.columns else frame.withColumn(FILE, f.input_file_name())


def _durations(paths: Iterable[str]) -> dict[str, str]:
    """Columns that Arrow wrote as durations, which Parquet keeps as whole numbers, with their units."""
    import pyarrow.parquet as pq

    found: dict[str, str] = {}
    for path in paths:
        for one in pq.read_schema(path) if "://" not in path else ():
            unit = duration_unit(one.type)
            if unit is not None and found.setdefault(one.name, unit) != unit:
                raise InputError(
                    f"column {one.name!r} holds durations in {unit}, other files in"
                    f" {found[one.name]}",
                    where=path,
                    fix="write them alike",
                )
    return found


def _check_packing(path: str) -> None:
    """Spark unpacks by the end of a name, in lower case."""
    if "://" not in path and packing_of(path) != PACKED.get(Path(path).suffix):
        ends = {packing: end for end, packing in PACKED.items()}
        end = ends.get(packing_of(path) or "")
        raise InputError(
            f"is compressed with {packing_of(path)}" if end else "is not compressed",
            where=path,
            fix=f"Spark goes by the name: it must end in {end}"
            if end
            else f"Spark goes by the name: leave {Path(path).suffix} out",
        )


def _exact(path: str) -> str:
    """A file by its exact name: what a pattern would be made of stands for itself."""
    return path if "://" in path else re.sub(r"[*?\[\]{}\\]", r"\\\g<0>", path)


def _of_lines(lines: DataFrame, torn: set[bytes]) -> DataFrame:
    """Lines of JSON as columns of text; `torn` are half lines that killed processes left."""
    import pyarrow as pa

    def objects(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, dict[str, str | None]]]:
        for batch in batches:
            for line, file in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if line.strip() and line.encode() not in torn:
                    yield file, texts_of(line, file)

    def keys(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict(
            {"name": sorted({name for _, row in objects(batches) for name in row})},
            pa.schema([("name", pa.string())]),
        )

    found = lines.mapInArrow(keys, "name string").distinct().collect()
    spelled = sorted(row.name for row in found if row.name) or ["stream"]
    first = {name.lower(): name for name in reversed([*first_of_each_case(spelled)])}
    # Keys in different cases are one column, unless one of them is the schema's.
    meant = {n: k if (k := first[n.lower()]) not in COLUMNS else n for n in spelled}
    names = sorted(set(meant.values()))
    everything = [*names, *([] if FILE in names else [FILE])]
    schema = pa.schema([(name, pa.string()) for name in everything])

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            texts = [
                {
                    FILE: file,
                    **{meant[n]: v for n, v in row.items() if n in meant},
                    **{n: v for n, v in row.items() if n in names},
                }
                for file, row in objects([batch])
            ]
            yield pa.RecordBatch.from_pylist(texts, schema)

    quoted = ", ".join("`" + name.replace("`", "``") + "` string" for name in everything)
    return lines.mapInArrow(rows, quoted)


def texts_of(line: str, file: str) -> dict[str, str | None]:
    """The values of a line of JSON as text: numbers spelled one way, nested ones as the JSON they are.

    >>> texts_of('{"a": 1.0, "b": "1.0", "c": {"d": 1.0}, "e": null}', "log.jsonl")
    {'a': '1', 'b': '1.0', 'c': '{"d": 1.0}', 'e': None}
    """
    import msgspec

    def text(raw: bytes) -> str | None:
        if raw[:1] in b'"nN':
            return msgspec.json.decode(raw)  # type: ignore[no-any-return]
        whole = raw[:1] in b"{[tf" or not re.search(rb"[.eE]", raw)
        return raw.decode() if whole else decision_text(float(raw))

    try:
        found = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        return {name: text(bytes(value)) for name, value in found.items()}
    except (msgspec.DecodeError, ValueError) as error:
        raise InputError(f"{file}: cannot be read: a line is no JSON ({error})") from None


def _session(master: str | None) -> tuple[SparkSession, bool]:
    """The active session where it serves, or one of our own with the package at its executors."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError(
            "the engine spark needs pyspark", fix="pip install 'streamdecisionbench[spark]'"
        ) from None
    active = SparkSession.getActiveSession()
    if active is not None and master in (None, active.sparkContext.master):
        _send_package(active)
        return active, False
    if master is None or master.startswith("local"):
        # Executors of this machine: the very interpreter that has the package.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        session = (
            SparkSession.builder.master(master or "local[*]")
            .appName("sdb logs")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.execution.arrow.pyspark.enabled", "true")
            .getOrCreate()
        )
    except Exception as error:
        raise InputError(
            f"no Spark session could be had from {master or 'local[*]'}: {first_line(error)}",
            fix="check the master's address, and that Java 17 or newer is installed",
        ) from None
    session.sparkContext.setLogLevel("OFF")  # what fails is said once, by us
    _send_package(session)
    return session, True


def _send_package(session: SparkSession) -> None:
    """This package as a zip, for executors that do not have it; they need numpy, pyarrow, msgspec."""
    context = session.sparkContext
    application = str(context.applicationId)
    if str(context.master).startswith("local") or application in _SENT:
        return
    _SENT.add(application)
    home = Path(streamdecisionbench.__file__).parent
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(home.rglob("*.py")):
            archive.write(path, f"{home.name}/{path.relative_to(home).as_posix()}")
    target = Path(tempfile.mkdtemp(prefix="sdb-spark-")) / "streamdecisionbench.zip"
    target.write_bytes(buffer.getvalue())
    context.addPyFile(str(target))
