"""How a list of modules becomes commands."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

import typer

__all__ = ["add_commands"]


def add_commands(app: typer.Typer, package: str, modules: Iterable[str]) -> None:
    """Every module is named as its command is typed and has `register(app)`.

    Modules import nothing heavy at the top: `sdb --help` reads them all and stays fast.
    """
    for name in modules:
        importlib.import_module(f"{package}.{name}").register(app)
