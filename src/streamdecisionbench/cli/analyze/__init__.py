"""`sdb analyze`: the paper's analyses, one module each."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.group import add_commands

MODULES = (
    "network", "transitions", "paired", "pace", "sensitivity", "schedules", "separability",
    "baselines", "cost", "repeats", "intervals", "window",
)  # fmt: skip


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Analyses of recordings: latency, errors, pace, cost, uncertainty.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    add_commands(group, __name__, MODULES)
    app.add_typer(group, name="analyze")
