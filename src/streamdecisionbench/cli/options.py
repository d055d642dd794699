"""Options that several commands share: one name, one help text."""

from pathlib import Path
from typing import Annotated

import typer

Runs = Annotated[list[Path], typer.Argument(metavar="RUN", help="Recording folders.")]
Data = Annotated[
    Path | None,
    typer.Option(
        help="Suite folder; otherwise where it lay when recorded on, or the built-in suite."
    ),
]
SuiteData = Annotated[
    Path | None, typer.Option("--data", help="A suite folder; the built-in suite otherwise.")
]
AllowImport = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Code that the recording's world may import, as in its run: python:module:function or"
        " gym:module:ID. Repeat for several; nothing is imported otherwise.",
    ),
]
Interval = Annotated[float, typer.Option(help="Seconds per tick.")]
FixedInterval = Annotated[
    float, typer.Option(help="Seconds per tick for the fixed-interval figures.")
]
Bounds = Annotated[
    tuple[float, float], typer.Option(metavar="LOW HIGH", help="Range of intervals to integrate.")
]
IntegrateBounds = Annotated[
    tuple[float, float],
    typer.Option(metavar="LOW HIGH", help="Range of intervals to integrate over."),
]
Weighting = Annotated[str, typer.Option(help="Weight of intervals: log or linear.")]
Block = Annotated[int, typer.Option(help="Consecutive steps per resampled block.")]
Resamples = Annotated[int, typer.Option(min=40, max=1_000_000, help="Bootstrap resamples.")]
Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the resamples.")]
Prices = Annotated[
    Path | None, typer.Option(help="Your own price table (JSON); the dated list otherwise.")
]
CostFile = Annotated[
    str | None,
    typer.Option(
        "--costs", metavar="FILE", help="Your own cost file (TOML); dated defaults otherwise."
    ),
]
Pair = Annotated[
    str | None,
    typer.Option(
        metavar="RULE", help="Also the pair of two RUNs, fast then slow, under this rule."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print schema sdb-analysis/1.")]
PlainJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print raw values.")]
Sql = Annotated[
    Path | None,
    typer.Option(
        help="A query over the table `source` that yields the columns of sdb-decisions/1."
    ),
]
ReferenceTables = Annotated[
    list[str] | None,
    typer.Option(
        "--references",
        metavar="FILE",
        help="What was right, in another table; or another log or recording to agree with. Repeat it.",
    ),
]
ReferencesSql = Annotated[
    Path | None,
    typer.Option(
        "--references-sql",
        metavar="FILE",
        help="A query over the table `source`, which is --references, that yields its columns.",
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(
        metavar="python:module:function|column",
        help="What is right, as a function of the state; or the log's column `reference`.",
    ),
]
