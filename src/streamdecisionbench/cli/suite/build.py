"""`sdb suite build`: the suite from its sources."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("build")(build)


def build(
    out: Annotated[
        Path, typer.Option(help="Folder to write to. Building twice gives the same bytes.")
    ],
) -> None:
    """Build the suite from its sources: timelines, rules and references."""
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.families.sdb_v1 import build as build_suite
    from streamdecisionbench.suite.suite_files import write_suite

    if out.exists() and any(
        p.name != "manifest.json" and p.suffix != ".json" for p in out.iterdir()
    ):
        raise InputError(
            "holds files that are no suite", where=out, fix="choose another --out folder"
        )
    suite = build_suite()
    write_suite(suite, out)
    print(
        f"{out}: {suite.name}, {len(suite.scenarios)} scenarios, dataset hash {suite.dataset_hash}"
    )
