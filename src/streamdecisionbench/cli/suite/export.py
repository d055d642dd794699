"""`sdb suite export`: the suite as files, or a train split as rows for fine-tuning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamdecisionbench.cli.options import SuiteData

if TYPE_CHECKING:
    from streamdecisionbench.suite.scenario import Suite

_FILES = "files"


def register(app: typer.Typer) -> None:
    app.command("export")(export)


def export(
    out: Annotated[
        Path, typer.Option(help="A fresh folder for the copy; a new file for rows (.jsonl).")
    ],
    data: SuiteData = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="files: as it ships; chat or systemone: rows for fine-tuning, train split only.",
        ),
    ] = _FILES,
) -> None:
    """Write a suite to a folder, file by file as it ships, or a train split as rows to learn from."""
    from streamdecisionbench.cli.loading import load_suite
    from streamdecisionbench.components.training_rows import FORMATS
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.suite.suite_files import write_suite

    if form != _FILES and form not in FORMATS:
        known = ", ".join((_FILES, *FORMATS))
        raise InputError(f"--format {form!r} is not known", fix=f"choose from {known}")
    if form != _FILES:
        _write_rows(load_suite(data), form, out)
        return
    if out.exists() and any(out.iterdir()):
        raise InputError("is not empty", where=out, fix="choose a fresh --out folder")
    suite = load_suite(data)
    write_suite(suite, out)
    print(f"{out}: {suite.name}, dataset hash {suite.dataset_hash}")


def _write_rows(suite: Suite, form: str, out: Path) -> None:
    import json

    from streamdecisionbench.components.training_rows import training_rows
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.suite.disk import write_text

    rows = [json.dumps(row, ensure_ascii=False) for row in training_rows(suite, form)]
    if out.exists():
        raise InputError("exists already", where=out, fix="choose a new --out file")
    write_text(out, "".join(f"{row}\n" for row in rows))
    print(f"{out}: {len(rows)} rows for {form}, from {suite.name}")
