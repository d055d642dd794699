"""`sdb analyze cost`: tokens and what they cost."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.options import Csv, Data, Json, Prices, Runs


def register(app: typer.Typer) -> None:
    app.command("cost")(cost)


def cost(
    runs: Runs,
    data: Data = None,
    prices: Prices = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Count tokens and what they cost at list prices."""
    from streamdecisionbench.analysis.token_cost import cost as analyse
    from streamdecisionbench.analysis.token_cost import cost_tables
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.recording.prices import read_prices

    table = read_prices(prices)
    subjects = open_runs(runs, data)
    found = {s.name: analyse(s.recording, table) for s in subjects}
    show("cost", found, cost_tables(found), subjects, Form(as_json, as_csv))
