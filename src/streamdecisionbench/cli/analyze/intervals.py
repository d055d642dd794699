"""`sdb analyze intervals`: how sure scores and differences are."""

from __future__ import annotations

from typing import Annotated

import typer

from streamdecisionbench.cli.options import (
    DEFAULT_BOUNDS,
    Block,
    Bounds,
    Csv,
    Data,
    Interval,
    Json,
    Resamples,
    Runs,
    Seed,
    Weighting,
)


def register(app: typer.Typer) -> None:
    app.command("intervals")(intervals)


def intervals(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    bounds: Bounds = DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    block: Block = 10,
    resamples: Resamples = 5000,
    seed: Seed = 0,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Bootstrap intervals of scores and of differences between recordings."""
    from streamdecisionbench.analysis.bootstrap import Sampling, intervals_table
    from streamdecisionbench.analysis.bootstrap import intervals as analyse
    from streamdecisionbench.cli.loading import open_runs, require_one_suite
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.scoring.bounds import Bounds

    subjects = open_runs(runs, data)
    require_one_suite(subjects)
    found = analyse(
        {s.name: s.parts for s in subjects},
        interval=interval,
        bounds=Bounds(*bounds, weighting),
        sampling=Sampling(block, resamples, seed, level),
    )
    options = {"interval": interval, "bounds": bounds, "weighting": weighting}
    show("intervals", found, [intervals_table(found)], subjects, Form(as_json, as_csv), options)
