"""`sdb compose`: fast provisional answers with slow corrections."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("compose")(compose)


def compose(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN", help="A joint recording, or with --all any recordings."),
    ] = None,
    fast: Annotated[Path | None, typer.Option(help="Recording of the fast component.")] = None,
    slow: Annotated[Path | None, typer.Option(help="Recording of the slow component.")] = None,
    rule: Annotated[
        str, typer.Option(help="freshest, lag-one, late-override, or all of them.")
    ] = "all",
    every: Annotated[
        bool, typer.Option("--all", help="Every ordered pair of the recordings given.")
    ] = False,
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
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-compose/1.")] = False,
) -> None:
    """Compose a fast and a slow component: what they are worth together, by arbitration rule.

    Two recordings are replayed together; a joint recording of a live pair is scored as it happened
    and replayed, and compared with --fast and --slow, recorded alone, where these are given.
    """
    from streamdecisionbench.cli import composing

    composing.run(
        runs or [], fast, slow, rule=rule, every=every, data=data, interval=interval,
        bounds=bounds, weighting=weighting, as_json=as_json,
    )  # fmt: skip
