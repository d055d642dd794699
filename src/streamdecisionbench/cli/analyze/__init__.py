"""`sdb analyze`: the paper's analyses, one module each."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.group import add_group

MODULES = (
    "network", "transitions", "paired", "pace", "sensitivity", "schedules", "separability",
    "baselines", "cost", "repeats", "repacing", "intervals", "window", "calibration",
    "spells", "changes", "actions", "cost_of_error",
)  # fmt: skip


def register(app: typer.Typer) -> None:
    add_group(
        app,
        __name__,
        MODULES,
        text="Analyses of recordings: latency, errors, pace, cost, uncertainty.",
    )
