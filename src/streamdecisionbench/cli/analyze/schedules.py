"""`sdb analyze schedules`: references that change more, less or otherwise."""

from __future__ import annotations

from typing import Annotated

import typer

from streamdecisionbench.cli.options import Csv, Data, Interval, Json, Runs, Seed


def register(app: typer.Typer) -> None:
    app.command("schedules")(schedules)


def schedules(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    draws: Annotated[
        int, typer.Option("--resamples", "--draws", help="Latency resamples per schedule.")
    ] = 300,
    seed: Seed = 0,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Project onto references that change more, less or otherwise."""
    from streamdecisionbench.analysis.schedules import project, schedules_table
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.cli.working import working

    subjects = open_runs(runs, data)
    with working(f"drawing latencies {draws} times for every schedule"):
        found = {
            s.name: project(s.parts, interval=interval, draws=draws, seed=seed) for s in subjects
        }
    options = {"interval": interval, "draws": draws, "seed": seed}
    show(
        "schedules",
        found,
        [schedules_table(found, draws)],
        subjects,
        Form(as_json, as_csv),
        options,
    )
