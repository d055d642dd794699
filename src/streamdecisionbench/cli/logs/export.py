"""`sdb logs export`: recordings as a decision log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamdecisionbench.cli.options import Data, Runs


def register(app: typer.Typer) -> None:
    app.command("export")(export)


def export(
    runs: Runs,
    out: Annotated[Path, typer.Option(metavar="FILE", help="A .parquet, .csv or .jsonl file.")],
    data: Data = None,
    states: Annotated[bool, typer.Option(help="With the states themselves.")] = True,
) -> None:
    """Write recordings as a table of decisions, one row per state.

    Scored `--by scenario`, it gives what `sdb score` gives by scenario.
    """
    from streamdecisionbench.logs.export import check_name, log_of, write_log

    check_name(out)
    table = log_of(runs, states=states, data=data)
    write_log(table, out)
    typer.echo(f"{out}: {table.num_rows} states of {len(set(table['stream'].to_pylist()))} streams")
