"""`sdb analyze repacing`: does one pace predict the others?"""

from __future__ import annotations

from pathlib import Path

import typer

from streamdecisionbench.cli.options import Csv, Data, Json, Runs


def register(app: typer.Typer) -> None:
    app.command("repacing")(repacing)


def repacing(runs: Runs, data: Data = None, as_json: Json = False, as_csv: Csv = False) -> None:
    """Compare what one pace predicts with what was measured at the others.

    Give the folder that `sdb run --intervals` made, or recordings of one setting one by one.
    """
    from streamdecisionbench.analysis.repacing import repacing as analyse
    from streamdecisionbench.analysis.repacing import repacing_tables
    from streamdecisionbench.cli.loading import open_runs, require_one_suite
    from streamdecisionbench.cli.printing import Form, show

    subjects = open_runs(_conditions(runs), data)
    require_one_suite(subjects)
    found = analyse([(s.recording, s.suite) for s in subjects])
    show("repacing", found, repacing_tables(found), subjects, Form(as_json, as_csv), {})


def _conditions(runs: list[Path]) -> list[Path]:
    """A sweep's folder stands for the recordings in it."""
    found: list[Path] = []
    for folder in runs:
        inside = sorted(folder.glob("interval-*/run.json")) if folder.is_dir() else []
        found += [path.parent for path in inside] or [folder]
    return found
