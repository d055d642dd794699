"""One table of decisions, one score: by the same definition as a recording.

>>> import pyarrow as pa
>>> import streamdecisionbench as sdb
>>> table = pa.table({
...     "stream": ["call-7"] * 3,
...     "published_at": [0.0, 2.0, 4.0],
...     "answered_at": [1.0, 2.5, None],
...     "decision": ["hold", "resume", None],
...     "reference": ["hold", "resume", "resume"],
...     "ended_at": [6.0] * 3,
... })
>>> score = sdb.score_log(table)
>>> round(score.groups[0].in_force, 3), round(score.groups[0].classes["no_decision"], 3)
(0.75, 0.167)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamdecisionbench.cost_file.read import DEFAULT, default_costs, read_cost_file
from streamdecisionbench.cost_file.rules import Costs
from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.engines.engine import Engine, Told, untold
from streamdecisionbench.logs.log_files import find_files
from streamdecisionbench.logs.log_score import LogScore, log_score
from streamdecisionbench.logs.log_sums import DAY, LogSums, Settings
from streamdecisionbench.logs.references import (
    References,
    from_function,
    from_table,
    load_function,
)
from streamdecisionbench.logs.schema import COLUMNS, check_columns, kind_of
from streamdecisionbench.logs.stream_arrays import MARKS
from streamdecisionbench.logs.torn_lines import torn_note
from streamdecisionbench.logs.usable import Allowed
from streamdecisionbench.scoring.bounds import Bounds, check_interval
from streamdecisionbench.scoring.costs.measures import THETA_S, check_theta
from streamdecisionbench.scoring.poisson_bootstrap import RESAMPLES

if TYPE_CHECKING:
    import pyarrow as pa

    from streamdecisionbench.logs.engines.duck import DuckEngine
    from streamdecisionbench.logs.engines.spark import SparkEngine

__all__ = [
    "ENGINES",
    "SCORED",
    "attach_references",
    "check_by",
    "open_log",
    "score_log",
    "score_opened",
]

ENGINES = ("duckdb", "spark")

SCORED = (
    "stream", "published_at", "requested_at", "answered_at", "applied_at", "decision", "reference",
    "ended_at", "cost", "weight", "tick_s", *MARKS,
)  # fmt: skip
"""What the kernel reads; nothing else is sorted or moved."""


def score_log(
    table: Any,
    *,
    by: str | Sequence[str] = (),
    interval: float | None = None,
    bounds: tuple[float, float] | None = None,
    references: Any = None,
    reference: str | Callable[[Any], Any] | None = None,
    sql: str | None = None,
    sql_name: str = "the query",
    allow_unusable: str | int = 0,
    seed: int = 0,
    resamples: int = RESAMPLES,
    engine: str | None = None,
    master: str | None = None,
    memory: str = "1GB",
    costs: str | Path | Costs | None = None,
    theta: float | None = None,
    told: Told = untold,
) -> LogScore:
    """Scores decisions that somebody recorded, in schema `sdb-decisions/1`.

    `table` is a path or several (files, folders, patterns), an Arrow table or reader, anything that
    streams Arrow (polars, pandas, DuckDB), or a Spark DataFrame. `sql` is a query over the table
    `source` that yields the schema's columns. `references` is a second table, another log or a
    recording; `reference` a function of the state, or its name `python:module:function`. `theta` also
    measures wrong spells and changes, with θ in seconds; `costs`, a cost file or `default`, also what
    they cost.
    """
    settings = Settings(
        by=(by,) if isinstance(by, str) else tuple(by),
        interval=interval,
        bounds=Bounds(*bounds) if bounds else None,
        seed=seed,
        resamples=resamples,
        costs=_costs(costs),
        theta=check_theta(THETA_S if theta is None and costs is not None else theta),
    )
    if interval is not None:
        check_interval(interval)
    allowed = Allowed.read(allow_unusable)
    opened = open_log(
        table, sql=sql, sql_name=sql_name, engine=engine, master=master, memory=memory, told=told
    )
    try:
        held = attach_references(opened, references, reference, told=told)
        return score_opened(opened, settings, held, allowed)
    finally:
        opened.close()


def open_log(
    table: Any,
    *,
    sql: str | None = None,
    sql_name: str = "the query",
    engine: str | None = None,
    master: str | None = None,
    memory: str = "1GB",
    told: Told = untold,
) -> Engine:
    """A log in the engine that fits it, mapped and with its columns checked."""
    if engine not in (None, *ENGINES):
        raise InputError(f"engine {engine!r} is not known", fix=f"use {' or '.join(ENGINES)}")
    opened = _engine(table, engine, master, memory, told)
    try:
        if isinstance(table, str | Path):
            opened.open_files(find_files([table]), mapped=sql is not None)
        elif isinstance(table, list | tuple) and all(isinstance(t, str | Path) for t in table):
            opened.open_files(find_files(table), mapped=sql is not None)
        else:
            opened.open_table(table)
        if sql is not None:
            opened.map(sql, sql_name)
        schema = opened.schema()
        texts = [
            name
            for name, column in COLUMNS.items()
            if column.kind == "time"
            and name in schema.names
            and kind_of(schema.field(name).type) == "text"
        ]
        check_columns(
            schema, opened.name, example={n: e for n in texts if (e := opened.example(n))}
        )
    except BaseException:
        opened.close()
        raise
    return opened


def _engine(
    table: Any, engine: str | None, master: str | None, memory: str, told: Told
) -> DuckEngine | SparkEngine:
    """Spark where it is asked for or the table is its own, DuckDB otherwise."""
    from streamdecisionbench.logs.engines.spark import SparkEngine, is_spark

    if engine == "spark" or is_spark(table):
        return SparkEngine(master=master, told=told)
    if master is not None:
        raise InputError("--master belongs to Spark", fix="add --engine spark")
    from streamdecisionbench.logs.engines.duck import DuckEngine

    return DuckEngine(memory=memory, told=told)


def attach_references(
    opened: Engine,
    references: Any,
    reference: str | Callable[[Any], Any] | None,
    *,
    told: Told = untold,
) -> References:
    """Gives the log the references that were asked for."""
    if references is not None and reference is not None:
        raise InputError("references were given twice", fix="give a table or a function, not both")
    if references is not None:
        return from_table(opened, references)
    if reference is not None:
        name = (
            reference if isinstance(reference, str) else getattr(reference, "__name__", "function")
        )
        judge = load_function(reference) if isinstance(reference, str) else reference
        return from_function(opened, judge, name, told)
    return References()


def score_opened(
    opened: Engine, settings: Settings, references: References, allowed: Allowed
) -> LogScore:
    """Scores a log that is open, and refuses what cannot be trusted."""
    schema = opened.schema()
    check_by(schema, settings.by, opened.name)
    columns = [name for name in SCORED if name in schema.names]
    columns += [
        name
        for name in dict.fromkeys((*settings.by, *settings.measures))
        if name in schema.names and name not in columns
    ]
    sums = opened.reduce(columns, LogSums(settings))
    if sums.unusable.rows:
        sums.unusable.find_files(opened.file_of)
    allowed.check(sums.unusable, sums.rows, opened.name)
    if not sums.rows:
        raise InputError("holds no row", where=opened.name)
    if not sums.groups:
        raise InputError(
            "holds no stream that can be used", where=opened.name, fix="sdb logs check"
        )
    if not any(group.counts()["judged"] for group in sums.groups.values()):
        raise InputError(
            "no reference is known for any of its rows: nothing can be judged",
            where=opened.name,
            fix="add a column 'reference', or give --references FILE or --reference"
            " python:module:function"
            if references.kind == "column"
            else f"check that {references.source} is about the same states",
        )
    return log_score(sums, references, opened.name, torn_note(opened.torn))


def _costs(costs: str | Path | Costs | None) -> Costs | None:
    if costs is None or isinstance(costs, Costs):
        return costs
    return default_costs() if costs == DEFAULT else read_cost_file(costs)


def check_by(schema: pa.Schema, by: Sequence[str], where: str) -> None:
    """Refuses to group by what is not there."""
    for name in by:
        if name in schema.names:
            if kind_of(schema.field(name).type) == "nested":
                raise InputError(
                    f"--by {name} is nested", where=where, fix="take a field of it with --sql"
                )
            continue
        if name == DAY and kind_of(schema.field("published_at").type) == "timestamp":
            continue
        others = [n for n in schema.names if n not in COLUMNS]
        raise InputError(
            f"has no column {name!r} to group by",
            where=where,
            fix=f"its further columns are {', '.join(others)}"
            if others
            else "it has none but the schema's",
        )
