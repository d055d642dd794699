"""`sdb analyze cost-of-error`: what being wrong costs, and what of it most."""

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
    app.command("cost-of-error")(cost_of_error)


def cost_of_error(
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
    """Charge wrong time by what it shows, how long it lasts and what it does."""
    from streamdecisionbench.analysis.cost_of_error import cost_tables
    from streamdecisionbench.cli.courses import costs_for, courses
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.scoring.bounds import Bounds
    from streamdecisionbench.scoring.costs.charge import charge
    from streamdecisionbench.scoring.costs.measures import spell_measures

    within = Bounds(*bounds, weighting)
    subjects = open_runs(runs, data)
    rules = costs_for(costs, subjects)
    made = courses(subjects, interval, within, pair)
    found = {name: charge(course, rules) for name, course in made.items()}
    right = {}
    for name, course in made.items():
        levels = spell_measures(course, 0.0)
        every = {"overall": levels.overall, **levels.by_family}
        right[name] = {level: 1 - x.wrong_share for level, x in every.items()}
    show(
        "cost-of-error",
        found,
        cost_tables(found, right, interval, within),
        subjects,
        Form(as_json, as_csv),
        {"interval": interval, "bounds": bounds, "weighting": weighting, "costs": rules.name,
         "costs_sha256": rules.digest},
    )  # fmt: skip
