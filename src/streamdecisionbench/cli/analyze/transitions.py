"""`sdb analyze transitions`: errors by distance to a reference change."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.options import Csv, Data, Json, Runs


def register(app: typer.Typer) -> None:
    app.command("transitions")(transitions)


def transitions(runs: Runs, data: Data = None, as_json: Json = False, as_csv: Csv = False) -> None:
    """Count untimed errors by distance to the nearest reference change."""
    from streamdecisionbench.analysis.transitions import transition_errors, transition_tables
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show

    subjects = open_runs(runs, data)
    found = {s.name: transition_errors(s.parts) for s in subjects}
    show("transitions", found, transition_tables(found), subjects, Form(as_json, as_csv))
