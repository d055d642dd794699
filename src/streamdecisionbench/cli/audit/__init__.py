"""`sdb audit`: whether the references can be trusted, one module per command."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.group import add_commands

MODULES = ("export", "check", "record", "shortcuts")


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Audit references: blind export, comparison, record, shortcuts.", no_args_is_help=True
    )
    add_commands(group, __name__, MODULES)
    app.add_typer(group, name="audit")
