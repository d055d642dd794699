"""`sdb suite`: look at scenarios, build them, check them; one module per command."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.group import add_commands

MODULES = ("list_", "show", "build", "generate", "export", "check", "coverage", "stats")


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="List, show, build, generate, export, check and describe suites.", no_args_is_help=True
    )
    add_commands(group, __name__, MODULES)
    app.add_typer(group, name="suite")
