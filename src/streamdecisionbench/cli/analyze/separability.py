"""`sdb analyze separability`: untimed accuracy times oracle against in-force accuracy."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.options import (
    DEFAULT_BOUNDS,
    Bounds,
    Csv,
    Data,
    Interval,
    Json,
    Runs,
    Weighting,
)


def register(app: typer.Typer) -> None:
    app.command("separability")(separability)


def separability(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    bounds: Bounds = DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Compare untimed accuracy times oracle with in-force accuracy, by scenario."""
    from streamdecisionbench.analysis.separability import separability as analyse
    from streamdecisionbench.analysis.separability import separability_table
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.scoring.bounds import Bounds

    subjects = open_runs(runs, data)
    limits = Bounds(*bounds, weighting)
    found = {s.name: analyse(s.parts, interval=interval, bounds=limits) for s in subjects}
    tables = [separability_table(name, result) for name, result in found.items()]
    options = {"interval": interval, "bounds": bounds, "weighting": weighting}
    show("separability", found, tables, subjects, Form(as_json, as_csv), options)
