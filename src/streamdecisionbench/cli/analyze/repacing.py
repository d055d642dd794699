"""`sdb analyze repacing`: does one pace predict the others?"""

from __future__ import annotations

import typer

from streamdecisionbench.cli.options import Csv, Data, Json, Runs


def register(app: typer.Typer) -> None:
    app.command("repacing")(repacing)


def repacing(runs: Runs, data: Data = None, as_json: Json = False, as_csv: Csv = False) -> None:
    """Compare what one pace predicts with what was measured at other paces and loads.

    Give the folder that `sdb run --intervals … --streams …` made, or recordings of one setting.
    """
    from streamdecisionbench.analysis.repacing import repacing as analyse
    from streamdecisionbench.analysis.repacing import repacing_tables
    from streamdecisionbench.cli.loading import open_runs, require_one_suite, with_sweeps
    from streamdecisionbench.cli.printing import Form, show

    subjects = open_runs(with_sweeps(runs), data)
    require_one_suite(subjects)
    found = analyse([(s.recording, s.suite) for s in subjects])
    show("repacing", found, repacing_tables(found), subjects, Form(as_json, as_csv), {})
