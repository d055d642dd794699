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
import sys
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamdecisionbench
from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.arrays import whole_streams
from streamdecisionbench.logs.engines.engine import (
    AS_TEXT,
    Engine,
    ProgressTold,
    S,
    completed,
    first_line,
    untold,
)
from streamdecisionbench.logs.sources import LogFiles, torn_lines

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_BROKEN = "_corrupt_record"
"""What Spark calls the column of lines that are no JSON."""
_SENT: set[str] = set()
"""Applications whose executors have the package already."""


def is_spark(table: Any) -> bool:
    """Whether it is a Spark DataFrame, asked without importing Spark."""
    return type(table).__module__.startswith("pyspark.sql")


class SparkEngine(Engine):
    """A log on a cluster, or in the session of a notebook."""

    file_column = "input_file_name()"

    def __init__(self, *, master: str | None = None, told: ProgressTold = untold) -> None:
        super().__init__(told)
        self._session, self._owned = _session(master)
        self._zone = self._session.conf.get("spark.sql.session.timeZone")
        self._session.conf.set("spark.sql.session.timeZone", "UTC")
        self._frames: dict[str, Any] = {}
        """The data frames that queries call `log`, `given` and `files`."""

    def close(self) -> None:
        """Ends a session of our own; one that was there before goes on as it was."""
        if self._owned:
            self._session.stop()
        elif self._zone is not None:
            self._session.conf.set("spark.sql.session.timeZone", self._zone)

    def open_files(self, files: LogFiles, *, mapped: bool = False) -> None:
        """Driver and executors must reach the files under the same names."""
        self.name = files.label
        rows = self._complete(self._read(files))
        self._frames |= {"log": rows, "files": rows}
        self._of_files = "stream" in rows.columns

    def open_table(self, table: Any) -> None:
        """A DataFrame as it is; an Arrow table is sent to the cluster."""
        self.name = "the table"
        rows = table if is_spark(table) else self._session.createDataFrame(table)
        self._frames["log"] = self._complete(rows)

    def give(self, other: pa.Table | LogFiles) -> pa.Schema:
        files = isinstance(other, LogFiles)
        given = self._read(other) if files else self._session.createDataFrame(other)
        self._frames["given"] = given
        return self._ask("SELECT * FROM {given} LIMIT 0").schema

    def reduce(self, columns: Sequence[str], into: S) -> S:
        keys = into.keys(self.schema())
        chosen = self._frames["log"].select(*map(self.quoted, columns))
        sorted_rows = chosen.repartition(*map(self.quoted, keys)).sortWithinPartitions(
            *map(self.quoted, [*keys, "published_at"])
        )
        empty = pickle.dumps(copy.deepcopy(into))

        def add_up(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import pyarrow as pa

            part = pickle.loads(empty)  # noqa: S301 - our own, from the driver
            for table in whole_streams(batches, keys):
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

    def _become(self, query: str) -> None:
        self._frames["log"] = self._session.sql(query, **self._frames)

    def _map(self, query: str, where: str) -> None:
        self._frames["log"].createOrReplaceTempView("source")
        try:
            mapped = self._session.sql(query)
            mapped.limit(1).collect()
        except Exception as error:
            raise InputError(
                f"the query fails: {first_line(error)}",
                where=where,
                fix="try it in your own Spark session; the table is called source",
            ) from None
        if not mapped.columns:
            raise InputError("must hold one query", where=where, fix="write one SELECT over source")
        self._frames["log"] = mapped

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

    def _complete(self, rows: DataFrame) -> DataFrame:
        """Partial rows, as a meter writes them, made whole."""
        if "partial" not in rows.columns:
            return rows
        return self._session.sql(
            completed("SELECT * FROM {rows}", rows.columns, self._q), rows=rows
        )

    def _read(self, files: LogFiles) -> DataFrame:
        torn = torn_lines(files)
        self.torn += len(torn)
        reader = self._session.read
        frames = []
        try:
            for form in dict.fromkeys(files.formats.values()):
                paths = files.of_format(form)
                if form == "parquet":
                    frames.append(reader.option("mergeSchema", "true").parquet(*paths))
                elif form == "csv":
                    frames.append(_as_text(reader.csv(paths, header=True, inferSchema=True)))
                else:
                    frames.append(_as_text(_without(reader.json(paths), torn.values())))
        except Exception as error:
            raise InputError(
                f"Spark cannot read it: {first_line(error)}",
                where=files.label,
                fix="executors must reach the files under the same names as the driver",
            ) from None
        return reduce(lambda one, two: one.unionByName(two, allowMissingColumns=True), frames)


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


def _without(frame: DataFrame, torn: Collection[bytes]) -> DataFrame:
    """Rows without the half lines that killed processes left; any other broken line stays a row."""
    from pyspark.sql import functions as f

    if _BROKEN not in frame.columns:
        return frame
    lines = [line.decode(errors="replace").strip() for line in torn]
    half = f.coalesce(f.trim(f.col(_BROKEN)).isin(lines), f.lit(False))
    if "stream" in frame.columns:  # Spark wants another column beside the broken one to be read
        half = half & f.col("stream").isNull()
    return frame.where(~half).drop(_BROKEN)


def _as_text(frame: DataFrame) -> DataFrame:
    """Ids, decisions and states as text whatever they look like; nested values as their JSON."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import ArrayType, MapType, StringType, StructType

    columns = []
    for field in frame.schema.fields:
        column = frame["`" + field.name.replace("`", "``") + "`"]
        if isinstance(field.dataType, StructType | ArrayType | MapType):
            column = f.to_json(column)
        elif field.name in AS_TEXT and not isinstance(field.dataType, StringType):
            column = column.cast("string")
        columns.append(column.alias(field.name))
    return frame.select(*columns)
