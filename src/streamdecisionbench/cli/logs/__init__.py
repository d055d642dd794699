"""`sdb logs`: decisions that somebody else recorded, one module per subcommand."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.group import add_commands

MODULES = ("convert",)


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Decision logs: score, check, convert and export what others recorded.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    add_commands(group, __name__, MODULES)
    app.add_typer(group, name="logs")
