"""`sdb policy`: what an application does with answers, one module per subcommand."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.group import add_commands

MODULES = ("show", "score", "search")


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Policies: gates, expiry, debounce, dispatch, cascades.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    add_commands(group, __name__, MODULES)
    app.add_typer(group, name="policy")
