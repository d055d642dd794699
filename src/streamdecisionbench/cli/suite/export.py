"""`sdb suite export`: the suite as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamdecisionbench.cli.options import SuiteData


def register(app: typer.Typer) -> None:
    app.command("export")(export)


def export(
    out: Annotated[Path, typer.Option(help="A fresh folder for the copy.")], data: SuiteData = None
) -> None:
    """Write the built-in suite to a folder, file by file as it ships."""
    from streamdecisionbench.cli.loading import load_suite
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.suite.suite_files import write_suite

    if out.exists() and any(out.iterdir()):
        raise InputError("is not empty", where=out, fix="choose a fresh --out folder")
    suite = load_suite(data)
    write_suite(suite, out)
    print(f"{out}: {suite.name}, dataset hash {suite.dataset_hash}")
