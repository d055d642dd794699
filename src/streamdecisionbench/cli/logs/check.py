"""`sdb logs check`: what of a log can be used, and what cannot."""

from __future__ import annotations

from typing import Annotated

import typer

from streamdecisionbench.cli.logs.options import By, EngineName, Master, Memory, Quiet, Sources, Sql


def register(app: typer.Typer) -> None:
    app.command("check")(check)


def check(
    sources: Sources,
    sql: Sql = None,
    by: By = None,
    engine: EngineName = "duckdb",
    master: Master = None,
    memory: Memory = "1GB",
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-logs-check/1.")] = False,
) -> None:
    """Look through a log: columns, streams, references, and rows that cannot be used, by reason."""
    from streamdecisionbench.cli.logs.opening import opening
    from streamdecisionbench.cli.printing import dump, print_tables
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.logs.check import check_log
    from streamdecisionbench.report.terminal.log_check import check_lines, check_tables

    with opening(sources, sql=sql, engine=engine, master=master, memory=memory, quiet=quiet) as (
        opened,
        _,
    ):
        found = check_log(opened, tuple(by or ()))
    if as_json:
        dump(found.to_json())
    else:
        print_tables(check_tables(found), lines=check_lines(found))
    if found.unusable.rows:
        raise InputError(
            f"{found.unusable.rows} of {found.rows} rows cannot be used", where=found.source
        )
