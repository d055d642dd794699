"""`sdb logs suite`: logged sessions as a suite that any component can be recorded on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamdecisionbench.cli.logs.options import (
    AllowUnusable,
    EngineName,
    Master,
    Memory,
    Quiet,
    ReferenceTable,
    Sources,
    Sql,
)
from streamdecisionbench.cli.options import Seed


def register(app: typer.Typer) -> None:
    app.command("suite")(suite)


def suite(
    sources: Sources,
    out: Annotated[Path, typer.Option(help="A fresh folder for the suite.")],
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="python:module:function|column",
            help="What is right, as a function of the state; or the log's column `reference`.",
        ),
    ] = None,
    references: ReferenceTable = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Questions, options and decision spec as JSON; from the log otherwise.",
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="COLUMN", help="The families, from a column.")
    ] = None,
    streams: Annotated[
        int,
        typer.Option(min=1, max=10_000, help="Sessions to take, drawn by a hash of their names."),
    ] = 50,
    sql: Sql = None,
    engine: EngineName = "duckdb",
    master: Master = None,
    allow_unusable: AllowUnusable = "0",
    seed: Seed = 0,
    memory: Memory = "1GB",
    quiet: Quiet = False,
) -> None:
    """Make a suite of logged sessions: the same states at the same times, for any component.

    `sdb run --data DIR` publishes them as they came; everything else works on it as on any suite.
    """
    from streamdecisionbench.cli.logs.opening import opening
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.logs.decision_questions import asked_by_file
    from streamdecisionbench.logs.log_suite import suite_of_log
    from streamdecisionbench.logs.score_log import attach_references
    from streamdecisionbench.logs.usable import Allowed
    from streamdecisionbench.plain_text import visible
    from streamdecisionbench.suite.suite_files import write_suite

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("is not empty", where=out, fix="choose a fresh --out folder")
    allowed = Allowed.read(allow_unusable)
    asked = asked_by_file(questions) if questions is not None else None
    with opening(sources, sql=sql, engine=engine, master=master, memory=memory, quiet=quiet) as (
        opened,
        told,
    ):
        judge = None if reference == "column" else reference
        held = attach_references(opened, references, judge, told=told)
        made = suite_of_log(
            opened,
            held,
            allowed,
            name=out.resolve().name,
            streams=streams,
            by=by,
            asked=asked,
            seed=seed,
        )
    write_suite(made.suite, out)
    typer.echo(f"{out}: dataset hash {made.suite.dataset_hash}")
    for line in made.told():
        typer.echo(f"  {visible(line)}")
    if held.note is not None:
        typer.echo(f"  {held.note}")
