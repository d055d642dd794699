"""`sdb analyze window`: the most representative stretch to show."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from streamdecisionbench.cli.options import Csv, Data, Interval, Json, Runs


def register(app: typer.Typer) -> None:
    app.command("window")(window)


def window(
    runs: Runs,
    data: Data = None,
    scenario: Annotated[str | None, typer.Option(help="Only windows of this scenario.")] = None,
    seconds: Annotated[float, typer.Option(help="Length of the window.")] = 20.0,
    interval: Interval = 2.0,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Find the most representative stretch to show."""
    from streamdecisionbench.analysis.window import choose_window, window_table
    from streamdecisionbench.cli.loading import open_runs, require_one_suite
    from streamdecisionbench.cli.printing import Form, show

    options: dict[str, Any] = {"scenario": scenario, "seconds": seconds, "interval": interval}
    subjects = open_runs(runs, data)
    require_one_suite(subjects)
    found = choose_window({s.name: s.parts for s in subjects}, **options)
    show("window", found, [window_table(found)], subjects, Form(as_json, as_csv), options)
