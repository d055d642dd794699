"""`sdb audit bank`: a bank of sentences as a blind reader may see it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("bank")(bank)


def bank(
    family: Annotated[str, typer.Argument(help="A family that has a bank of sentences.")],
    out: Annotated[Path, typer.Option(help="A fresh folder.")],
) -> None:
    """Write a family's sentences without their intents, in no order, with the definitions."""
    from streamdecisionbench.audit.bank_readings import export_bank
    from streamdecisionbench.families.registry import bank_of

    found, intents = bank_of(family)
    export_bank(found, intents, out)
    print(f"{out}: {len(found.sentences)} sentences; read README.md there first")
