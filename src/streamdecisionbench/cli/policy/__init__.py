"""`sdb policy`: what an application does with answers, one module per subcommand."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.group import add_group

MODULES = ("show", "score", "search")


def register(app: typer.Typer) -> None:
    add_group(app, __name__, MODULES, text="Policies: gates, expiry, debounce, dispatch, cascades.")
