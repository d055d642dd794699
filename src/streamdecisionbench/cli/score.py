"""`sdb score`: what a recording is worth at any pace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("score")(score)


def score(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Recording folders.")],
    data: Annotated[
        Path | None,
        typer.Option(
            help="Suite folder; the built-in suite or one beside the recording otherwise."
        ),
    ] = None,
    interval: Annotated[
        float, typer.Option(help="Seconds per tick for the fixed-interval figures.")
    ] = 2.0,
    bounds: Annotated[
        tuple[float, float],
        typer.Option(metavar="LOW HIGH", help="Range of intervals to integrate over."),
    ] = (0.5, 8.0),
    weighting: Annotated[str, typer.Option(help="Weight of intervals: log or linear.")] = "log",
    clock: Annotated[
        str, typer.Option(help="Releases as recorded, or nominal i·tick.")
    ] = "recorded",
    by: Annotated[str, typer.Option(help="family, or scenario for more rows.")] = "family",
    mistakes: Annotated[
        bool, typer.Option("--mistakes", help="List wrong decisions with the evidence behind them.")
    ] = False,
    curves: Annotated[
        bool, typer.Option("--curves", help="With --json: coefficients of the exact pace curves.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-score/1.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print one row per level.")] = False,
) -> None:
    """Score recordings: the share of time the applied decision is right.

    One recording gives a screen, several give a ranking.
    """
    from streamdecisionbench.cli import scoring

    scoring.run(
        runs, data, interval=interval, bounds=bounds, weighting=weighting, clock=clock,
        by=by, mistakes=mistakes, curves=curves, as_json=as_json, as_csv=as_csv,
    )  # fmt: skip
