"""`sdb analyze sensitivity`: the integrated score under other bounds and weightings."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.options import Csv, Data, Interval, Json, Runs


def register(app: typer.Typer) -> None:
    app.command("sensitivity")(sensitivity)


def sensitivity(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Show the integrated score for other bounds and weightings."""
    from streamdecisionbench.analysis.pace import sensitivity as analyse
    from streamdecisionbench.analysis.pace import sensitivity_table
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show

    subjects = open_runs(runs, data)
    found = {s.name: analyse(s.parts, interval=interval) for s in subjects}
    options = {"interval": interval}
    show("sensitivity", found, [sensitivity_table(found)], subjects, Form(as_json, as_csv), options)
