"""`sdb analyze changes`: how soon the application is right again after a change."""

from __future__ import annotations

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
    app.command("changes")(changes)


def changes(
    runs: Runs,
    data: Data = None,
    interval: FixedInterval = 2.0,
    bounds: IntegrateBounds = DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    pair: Pair = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Measure delays after reference changes, and changes of the decision in force."""
    from streamdecisionbench.analysis.changes import change_tables
    from streamdecisionbench.cli.courses import courses
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.scoring.bounds import Bounds
    from streamdecisionbench.scoring.costs.measures import change_measures

    within = Bounds(*bounds, weighting)
    subjects = open_runs(runs, data)
    made = courses(subjects, interval, within, pair)
    found = {name: change_measures(course) for name, course in made.items()}
    show(
        "changes",
        found,
        change_tables(found, interval),
        subjects,
        Form(as_json, as_csv),
        {"interval": interval, "bounds": bounds, "weighting": weighting},
    )
