"""`sdb import`: recordings published as CSV tables become recordings like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("import")(import_tables)


def import_tables(
    tables: Annotated[
        list[Path], typer.Argument(metavar="TABLE...", help="CSV files, one per recording.")
    ],
    reference: Annotated[Path, typer.Option(help="The table whose decisions are the reference.")],
    out: Annotated[Path, typer.Option(help="A fresh folder for the suite and the recordings.")],
    correct: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCENARIO:STEP=STEP", help="Where the reference is that of another step."
        ),
    ] = None,
) -> None:
    """Turn published tables (one row per response) into a suite and recordings."""
    from streamdecisionbench.recording.published_csv import Correction
    from streamdecisionbench.recording.published_csv import import_tables as run

    corrections = [Correction.parse(text) for text in correct or []]
    suite, folders = run(reference, tables, out, corrections=corrections)
    typer.echo(
        f"{out / 'suite'}: {len(suite.scenarios)} scenarios, references from {reference.name}"
    )
    for folder in folders:
        typer.echo(f"{folder}: recording")
