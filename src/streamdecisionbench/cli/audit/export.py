"""`sdb audit export`: what a blind reader may see."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamdecisionbench.cli.options import SuiteData


def register(app: typer.Typer) -> None:
    app.command("export")(export)


def export(
    scenario: Annotated[str, typer.Argument(help="A scenario id.")],
    out: Annotated[Path, typer.Option(help="A fresh folder.")],
    data: SuiteData = None,
) -> None:
    """Write what a blind reader may see: states and questions, nothing else."""
    from streamdecisionbench.audit.blind_export import export as write
    from streamdecisionbench.cli.loading import find_scenario, load_suite

    found = find_scenario(load_suite(data), scenario)
    write(found, out)
    print(f"{out}: {found.n} steps; read README.md there first")
