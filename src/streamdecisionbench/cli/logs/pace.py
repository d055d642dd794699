"""`sdb logs pace`: how often states and references change, and which bounds that suggests."""

from __future__ import annotations

from typing import Annotated

import typer

from streamdecisionbench.cli.logs.options import (
    AllowUnusable,
    By,
    EngineName,
    Master,
    Memory,
    Quiet,
    Reference,
    ReferenceTable,
    Sources,
    Sql,
)
from streamdecisionbench.cli.options import Csv


def register(app: typer.Typer) -> None:
    app.command("pace")(pace)


def pace(
    sources: Sources,
    sql: Sql = None,
    references: ReferenceTable = None,
    reference: Reference = None,
    by: By = None,
    engine: EngineName = "duckdb",
    master: Master = None,
    allow_unusable: AllowUnusable = "0",
    memory: Memory = "1GB",
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-logs-pace/1.")] = False,
    as_csv: Csv = False,
) -> None:
    """How often states and references really change in your streams, with bounds to score over."""
    from streamdecisionbench.cli.logs.opening import opening
    from streamdecisionbench.cli.printing import dump, print_csv, print_tables, require_one_form
    from streamdecisionbench.logs.pace import log_pace
    from streamdecisionbench.logs.score_log import attach_references
    from streamdecisionbench.logs.usable import Allowed
    from streamdecisionbench.report.terminal.log_check import pace_tables

    require_one_form(as_json, as_csv)
    allowed = Allowed.read(allow_unusable)
    with opening(sources, sql=sql, engine=engine, master=master, memory=memory, quiet=quiet) as (
        opened,
        told,
    ):
        attach_references(opened, references, reference, told=told)
        found = log_pace(opened, by or (), allowed)
    if as_json:
        dump(found.to_json())
    elif as_csv:
        print_csv(pace_tables(found))
    else:
        print_tables(pace_tables(found))
