"""`sdb analyze paired`: two recordings state by state."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.options import Csv, Data, Json, Runs


def register(app: typer.Typer) -> None:
    app.command("paired")(paired)


def paired(runs: Runs, data: Data = None, as_json: Json = False, as_csv: Csv = False) -> None:
    """Count states that both, one or neither of two recordings decides right."""
    from streamdecisionbench.analysis.state_by_state import paired_counts, paired_table
    from streamdecisionbench.cli.loading import open_runs, require_one_suite
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.errors import InputError

    subjects = open_runs(runs, data)
    if len(subjects) < 2:
        raise InputError("paired counts need two recordings", fix="give two or more")
    require_one_suite(subjects)
    found = [
        paired_counts(a.parts, b.parts, (a.name, b.name))
        for k, a in enumerate(subjects)
        for b in subjects[k + 1 :]
    ]
    show("paired", found, [paired_table(p) for p in found], subjects, Form(as_json, as_csv))
