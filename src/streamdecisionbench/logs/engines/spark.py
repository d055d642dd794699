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
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamdecisionbench
from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.arrays import whole_streams
from streamdecisionbench.logs.engines.duck import completed
from streamdecisionbench.logs.engines.engine import ProgressTold, S, untold
from streamdecisionbench.logs.schema import COLUMNS
from streamdecisionbench.logs.sources import LogFiles, torn_lines

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_TEXTS = tuple(n for n, c in COLUMNS.items() if c.kind in ("id", "decision", "json"))
_VIEW = "source"
_BROKEN = "_corrupt_record"
"""What Spark calls the column of lines that are no JSON."""
_SENT: set[str] = set()
"""Applications whose executors have the package already."""


def is_spark(table: Any) -> bool:
    """Whether it is a Spark DataFrame, asked without importing Spark."""
    return type(table).__module__.startswith("pyspark.sql")


class SparkEngine:
    """A log on a cluster, or in the session of a notebook."""

    def __init__(self, *, master: str | None = None, told: ProgressTold = untold) -> None:
        self._told = told
        self._session, self._owned = _session(master)
        self._zone = self._session.conf.get("spark.sql.session.timeZone")
        self._session.conf.set("spark.sql.session.timeZone", "UTC")
        self.name = "the log"
        self._frame: DataFrame | None = None
        self._given: DataFrame | None = None
        self.torn = 0
        self._files: DataFrame | None = None
        """The log while its rows are still what files hold."""

    def __enter__(self) -> SparkEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends a session of our own; one that was there before goes on as it was."""
        if self._owned:
            self._session.stop()
        elif self._zone is not None:
            self._session.conf.set("spark.sql.session.timeZone", self._zone)

    # Opening

    def open_files(self, files: LogFiles, *, mapped: bool = False) -> None:
        """The log's rows from files that driver and executors can reach under the same names."""
        self.name = files.label
        self._frame = self._complete(self._read(files))
        self._files = None if mapped or "stream" not in self._frame.columns else self._frame

    def open_table(self, table: Any, name: str = "the table") -> None:
        """A DataFrame as it is; an Arrow table is sent to the cluster."""
        self.name = name
        self._frame = self._complete(
            table if is_spark(table) else self._session.createDataFrame(table)
        )

    def map(self, sql: str, where: str) -> None:
        """The user's query over `source` becomes the log."""
        query = sql.strip().rstrip(";").strip()
        if not query:
            raise InputError("holds no query", where=where, fix="SELECT … FROM source")
        self._rows.createOrReplaceTempView(_VIEW)
        try:
            mapped = self._session.sql(query)
            mapped.limit(1).collect()
        except Exception as error:
            raise _sql_error(error, where) from None
        if not mapped.columns:
            raise InputError("must hold one query", where=where, fix="write one SELECT over source")
        self._frame = mapped
        self.name = f"{where} over {self.name}"

    # Asking

    @property
    def _rows(self) -> DataFrame:
        if self._frame is None:
            raise RuntimeError("no log is open")
        return self._frame

    @property
    def _second(self) -> DataFrame:
        if self._given is None:
            raise RuntimeError("no second table was given")
        return self._given

    def schema(self) -> pa.Schema:
        return self._arrow(self._rows.limit(0)).schema

    def example(self, column: str) -> str | None:
        name = _q(column)
        found = self._rows.selectExpr(f"CAST({name} AS STRING) AS v").where("v IS NOT NULL").first()
        return None if found is None else str(found[0])[:80]

    def rows(self) -> int:
        return int(self._rows.count())

    def distinct(self, column: str) -> Iterable[pa.RecordBatch]:
        name = _q(column)
        texts = self._rows.selectExpr(f"CAST({name} AS STRING) AS value").where("value IS NOT NULL")
        batches: list[pa.RecordBatch] = self._arrow(texts.distinct().orderBy("value")).to_batches()
        return batches

    def give(self, other: pa.Table | LogFiles) -> pa.Schema:
        if isinstance(other, LogFiles):
            self._given = self._read(other)
        else:
            self._given = self._session.createDataFrame(other)
        return self._arrow(self._given.limit(0)).schema

    def contradiction(self, on: Sequence[str], take: str) -> tuple[str, ...] | None:
        from pyspark.sql import functions as f

        value = f.col(_q(take)).cast("string")
        found = (
            self._second.groupBy(*map(_q, on))
            .agg(f.min(value).alias("_low"), f.max(value).alias("_high"))
            .where("_low < _high")
            .first()
        )
        return None if found is None else tuple(str(v) for v in found)

    def join(self, on: Sequence[str], take: str, name: str) -> None:
        from pyspark.sql import functions as f

        left, right = self._rows, self._second
        told = right.groupBy(*[f.col(_q(k)).alias(f"_{k}") for k in on]).agg(
            f.min(f.col(_q(take))).alias("_taken")
        )
        same = [
            left[_q(k)].cast("string") == told[f"_{k}"].cast("string")
            if COLUMNS[k].kind != "time"
            else left[_q(k)] == told[f"_{k}"]
            for k in on
        ]
        kept = [left[_q(n)] for n in left.columns if n != name]
        self._frame = left.join(told, same, "left").select(*kept, told["_taken"].alias(name))

    def table(self, columns: Sequence[str], limit: int | None = None) -> pa.Table:
        chosen = self._rows.select(*map(_q, columns))
        order = [_q(n) for n in ("stream", "published_at") if n in columns]
        if order:
            chosen = chosen.orderBy(*order)
        return self._arrow(chosen if limit is None else chosen.limit(limit))

    def reduce(self, columns: Sequence[str], into: S) -> S:
        keys = into.keys(self.schema())
        chosen = self._rows.select(*map(_q, columns))
        sorted_rows = chosen.repartition(*map(_q, keys)).sortWithinPartitions(
            *map(_q, [*keys, "published_at"])
        )
        empty = pickle.dumps(copy.deepcopy(into))

        def add_up(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import pyarrow as pa

            part = pickle.loads(empty)  # noqa: S301 - our own, from the driver
            for table in whole_streams(batches, keys):
                part.add(table)
            yield pa.RecordBatch.from_pydict({"part": [pickle.dumps(part)]})

        self._told("sorting and scoring on Spark", None)
        try:
            parts = sorted_rows.mapInArrow(add_up, "part binary").toArrow().column("part")
            for merged, part in enumerate(parts, start=1):
                into.merge(pickle.loads(part.as_py()))  # noqa: S301 - from our executors
                self._told("merging", merged / len(parts))
        except InputError:
            raise
        except Exception as error:
            raise _job_error(error, self.name) from None
        return into

    def file_of(self, stream: str, published_at: str) -> str | None:
        from pyspark.sql import functions as f

        if self._files is None:
            return None
        rows = self._files.where(f.col("stream").cast("string") == stream)
        found = rows.select(f.input_file_name()).first()
        return None if found is None else str(found[0])

    def scattered(self) -> tuple[int, str] | None:
        from pyspark.sql import functions as f

        if self._files is None:
            return None
        named = self._files.select(
            f.col("stream").cast("string"), f.input_file_name().alias("_file")
        )
        counted = named.groupBy("stream").agg(f.countDistinct("_file").alias("_files"))
        found = counted.where("_files > 1").agg(f.count("*"), f.min("stream")).first()
        return None if found is None or not found[0] else (int(found[0]), str(found[1]))

    # Inside

    def _complete(self, rows: DataFrame) -> DataFrame:
        """Partial rows, as a meter writes them, made whole."""
        if "partial" not in rows.columns:
            return rows
        return self._session.sql(completed("SELECT * FROM {rows}", rows.columns, _q), rows=rows)

    def _read(self, files: LogFiles) -> DataFrame:
        torn = torn_lines(files)
        self.torn += len(torn)
        reader = self._session.read
        frames = []
        try:
            for form in dict.fromkeys(files.formats):
                paths = files.of_format(form)
                if form == "parquet":
                    frames.append(reader.option("mergeSchema", "true").parquet(*paths))
                elif form == "csv":
                    found = reader.csv(paths, header=True, inferSchema=True)
                    frames.append(_as_text(found))
                else:
                    frames.append(_as_text(_without(reader.json(paths), torn.values())))
        except Exception as error:
            raise InputError(
                f"Spark cannot read it: {_first_line(error)}",
                where=files.label,
                fix="executors must reach the files under the same names as the driver",
            ) from None
        whole = frames[0]
        for frame in frames[1:]:
            whole = whole.unionByName(frame, allowMissingColumns=True)
        return whole

    def _arrow(self, frame: DataFrame) -> pa.Table:
        try:
            return frame.toArrow()
        except Exception as error:
            raise _job_error(error, self.name) from None


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
            f"no Spark session could be had from {master or 'local[*]'}: {_first_line(error)}",
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
        column = f.col(_q(field.name))
        if isinstance(field.dataType, StructType | ArrayType | MapType):
            column = f.to_json(column)
        elif field.name in _TEXTS and not isinstance(field.dataType, StringType):
            column = column.cast("string")
        columns.append(column.alias(field.name))
    return frame.select(*columns)


def _q(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:300]


def _sql_error(error: Exception, where: str) -> InputError:
    return InputError(
        f"the query fails: {_first_line(error)}",
        where=where,
        fix="try it in your own Spark session; the table is called source",
    )


def _job_error(error: Exception, where: str) -> InputError:
    """What an executor refused comes back inside a long report; its own words are what counts."""
    text = str(error)
    mark = "InputError: "
    if mark in text:
        return InputError(text.partition(mark)[2].splitlines()[0], where=where)
    return InputError(f"the Spark job failed: {_first_line(error)}", where=where)
