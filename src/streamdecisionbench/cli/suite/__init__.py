"""`sdb suite`: look at scenarios, build them, check them; one module per command."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.group import add_group

MODULES = ("list_", "show", "build", "generate", "export", "check", "coverage", "stats")


def register(app: typer.Typer) -> None:
    add_group(
        app,
        __name__,
        MODULES,
        text="List, show, build, generate, export, check and describe suites.",
    )
