"""`sdb analyze spells`: how long the application stays wrong, and how often."""

from __future__ import annotations

from typing import Annotated

import typer

from streamdecisionbench.cli.options import (
    DEFAULT_BOUNDS,
    Csv,
    Data,
    FixedInterval,
    IntegrateBounds,
    Json,
    Pair,
    Runs,
    Weighting,
)


def register(app: typer.Typer) -> None:
    app.command("spells")(spells)


def spells(
    runs: Runs,
    data: Data = None,
    theta: Annotated[
        float, typer.Option(help="Seconds from which a wrong spell counts as long.")
    ] = 4.0,
    interval: FixedInterval = 2.0,
    bounds: IntegrateBounds = DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    pair: Pair = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Measure wrong spells: their age, their number, the longest, the time beyond theta."""
    from streamdecisionbench.analysis.spells import spell_tables
    from streamdecisionbench.cli.courses import courses
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.scoring.bounds import Bounds
    from streamdecisionbench.scoring.costs.measures import spell_measures

    within = Bounds(*bounds, weighting)
    subjects = open_runs(runs, data)
    made = courses(subjects, interval, within, pair)
    found = {name: spell_measures(course, theta) for name, course in made.items()}
    show(
        "spells",
        found,
        spell_tables(found, theta, interval, within),
        subjects,
        Form(as_json, as_csv),
        {"theta": theta, "interval": interval, "bounds": bounds, "weighting": weighting},
    )
