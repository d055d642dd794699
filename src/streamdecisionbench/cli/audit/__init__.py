"""`sdb audit`: whether the references can be trusted, one module per command."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.group import add_group

MODULES = ("export", "check", "record", "shortcuts", "probe", "bank", "readings")


def register(app: typer.Typer) -> None:
    add_group(
        app,
        __name__,
        MODULES,
        text="Audit references: blind export, comparison, record, shortcuts, learned probe.",
    )
