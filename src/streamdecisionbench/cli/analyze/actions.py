"""`sdb analyze actions`: what became of acts that are done once."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.options import (
    DEFAULT_BOUNDS,
    CostFile,
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
    app.command("actions")(actions)


def actions(
    runs: Runs,
    data: Data = None,
    costs: CostFile = None,
    interval: FixedInterval = 2.0,
    bounds: IntegrateBounds = DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    pair: Pair = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Count one-time acts: done in time, late, missed, wrongly, twice."""
    from streamdecisionbench.analysis.actions import action_tables
    from streamdecisionbench.cli.courses import costs_for, courses
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.scoring.bounds import Bounds
    from streamdecisionbench.scoring.costs.charge import act_measures

    within = Bounds(*bounds, weighting)
    subjects = open_runs(runs, data)
    rules = costs_for(costs, subjects)
    made = courses(subjects, interval, within, pair)
    found = {name: act_measures(course, rules) for name, course in made.items()}
    if not any(found.values()):
        raise InputError(
            "no act is declared for these scenarios",
            where=costs,
            fix="declare acts in a cost file: docs/costs.md shows how",
        )
    show(
        "actions",
        found,
        action_tables(found, interval, rules.name),
        subjects,
        Form(as_json, as_csv),
        {"interval": interval, "bounds": bounds, "weighting": weighting, "costs": rules.name,
         "costs_sha256": rules.digest},
    )  # fmt: skip
