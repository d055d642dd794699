"""Where a decision log comes from and how to read it: files, mapping, references, engine, limits.

Commands and functions pass one `LogSource`. Every default is defined here, once.

>>> import pyarrow as pa
>>> table = pa.table({"stream": ["call-7"], "published_at": [0.0], "ended_at": [6.0]})
>>> with LogSource(table).open() as log:
...     log.schema().names[:2]
['stream', 'published_at']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamdecisionbench.errors import InputError

if TYPE_CHECKING:
    from streamdecisionbench.logs.engines.engine import Engine, ProgressReported
    from streamdecisionbench.logs.log_references import Judge, ReferenceSource
    from streamdecisionbench.logs.unusable_rows import Allowed

ENGINES = ("duckdb", "spark")
MEMORY = "1GB"
ALLOW_UNUSABLE = "0"


def no_progress() -> AbstractContextManager[ProgressReported]:
    """Progress that is not shown."""
    from streamdecisionbench.logs.engines.engine import untold

    return nullcontext(untold)


@dataclass(frozen=True, slots=True)
class LogSource:
    """A decision log, its mapping, its references, and the limits for reading it."""

    table: Any
    """A path or several (files, folders, patterns), an Arrow table or reader, any object that streams
    Arrow (polars, pandas, DuckDB), or a Spark DataFrame."""
    sql: str | Path | None = None
    """The mapping: a query over the table `source` that returns the columns of `sdb-decisions/1`, as
    text or as the path of a file."""
    references: Any = None
    """A second table with references, another log or a recording; or several of them."""
    references_sql: str | Path | None = None
    """A query that maps the only table in `references`, as text or as the path of a file."""
    reference: str | Judge | None = None
    """A function of the state, or its name `python:module:function`, for states without a reference;
    or `column` to require the log's own column."""
    engine: str = ENGINES[0]
    master: str | None = None
    """The Spark cluster."""
    memory: str = MEMORY
    """Memory that DuckDB may use before it spills to disk."""
    allow_unusable: str | int = ALLOW_UNUSABLE
    """How many unusable rows may be skipped: a number, or a percentage such as `1%`."""
    progress: Callable[[], AbstractContextManager[ProgressReported]] = no_progress

    @classmethod
    def of(cls, table: Any, **given: Any) -> LogSource:
        """A table with these fields, or a `LogSource` with these fields replaced."""
        return replace(table, **given) if isinstance(table, LogSource) else cls(table, **given)

    @property
    def allowed(self) -> Allowed:
        """How many unusable rows may be skipped."""
        from streamdecisionbench.logs.unusable_rows import Allowed

        return Allowed.read(self.allow_unusable)

    @contextmanager
    def opened(self) -> Iterator[tuple[Engine, ReferenceSource]]:
        """The log with its references attached; it is closed at the end of the block."""
        from streamdecisionbench.logs.log_references import attach_references

        query, name = query_of(self.references_sql, "the query over the references")
        with self.progress() as told, self.open(told=told) as log:
            yield (
                log,
                attach_references(
                    log, self.references, self.reference, sql=query, sql_name=name, told=told
                ),
            )

    def open(self, *, checked: bool = True, told: ProgressReported | None = None) -> Engine:
        """The log in its engine, mapped, with its columns checked.

        Spark reads the log if `engine` is `spark` or the table is a Spark DataFrame; DuckDB reads all
        others. With `checked=False` the table may have any columns, so that a mapping can be drafted.
        """
        from streamdecisionbench.logs.engines.duck import DuckEngine
        from streamdecisionbench.logs.engines.engine import untold
        from streamdecisionbench.logs.engines.spark import SparkEngine, is_spark
        from streamdecisionbench.logs.log_files import find_files
        from streamdecisionbench.logs.log_schema import check_columns

        if self.engine not in ENGINES:
            raise InputError(
                f"engine {self.engine!r} is not known", fix=f"use {' or '.join(ENGINES)}"
            )
        spark = self.engine == "spark" or is_spark(self.table)
        if self.master is not None and not spark:
            raise InputError("--master belongs to Spark", fix="add --engine spark")
        query, name = query_of(self.sql, "the query")
        told = told or untold
        log: Engine = (
            SparkEngine(master=self.master, told=told)
            if spark
            else DuckEngine(memory=self.memory, told=told)
        )
        try:
            paths = self.table if isinstance(self.table, list | tuple) else [self.table]
            if all(isinstance(path, str | Path) for path in paths):
                log.open_files(find_files(paths), mapped=query is not None or not checked)
            else:
                log.open_table(self.table)
            if query is not None:
                log.map(query, name)
            log.settle(forced=checked)
            if checked:
                check_columns(log.schema(), log.name)
        except BaseException:
            log.close()
            raise
        return log


def query_of(sql: str | Path | None, name: str) -> tuple[str | None, str]:
    """The text of a query, and the name that error messages use for it."""
    from streamdecisionbench.suite.file_io import read_text

    return (read_text(sql), str(sql)) if isinstance(sql, Path) else (sql, name)
