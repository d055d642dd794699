"""`sdb logs`: decisions that somebody else recorded, one module per subcommand."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.group import add_group

MODULES = ("score", "check", "pace", "export", "convert", "suite")


def register(app: typer.Typer) -> None:
    text = "Decision logs: score what others recorded, check it, make a suite of it."
    add_group(app, __name__, MODULES, text=text)
