"""Options that the log commands share: one name, one help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "AllowUnusable",
    "By",
    "EngineName",
    "Master",
    "Memory",
    "Quiet",
    "Reference",
    "ReferenceTable",
    "Sources",
    "Sql",
]

Sources = Annotated[
    list[str],
    typer.Argument(metavar="SOURCE...", help="Files, folders or patterns of a decision log."),
]
Sql = Annotated[
    Path | None,
    typer.Option(
        help="A query over the table `source` that yields the columns of sdb-decisions/1."
    ),
]
ReferenceTable = Annotated[
    str | None,
    typer.Option(
        "--references",
        metavar="FILE",
        help="What was right, in another table; or another log or recording to agree with.",
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(
        metavar="python:module:function", help="What is right, as a function of the state."
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by", metavar="COLUMN", help="Group by a column; `day` always works. Repeat it."
    ),
]
AllowUnusable = Annotated[
    str,
    typer.Option("--allow-unusable", metavar="N|%", help="Rows that may be left out: 12, or 1%."),
]
EngineName = Annotated[str, typer.Option("--engine", help="duckdb, or spark.")]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="With --engine spark: the cluster, for example spark://host:7077."
    ),
]
Memory = Annotated[
    str, typer.Option(help="Memory DuckDB may use before it goes on on disk, for example 4GB.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress.")]
