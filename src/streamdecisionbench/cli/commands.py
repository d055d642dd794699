"""Which commands there are. Modules here import nothing heavy at the top: `sdb --help` stays fast."""

from __future__ import annotations

import importlib

import typer

__all__ = ["MODULES", "register"]

MODULES: tuple[str, ...] = (
    "score",
    "validate",
    "importing",
    "suite",
    "run",
    "serve",
    "providers",
    "audit",
    "compose",
    "analyze",
    "choose",
    "report",
    "demo",
)
"""In the order `sdb --help` lists them. Each has `register(app)`."""


def register(app: typer.Typer) -> None:
    for name in MODULES:
        module = importlib.import_module(f"streamdecisionbench.cli.{name}")
        module.register(app)
