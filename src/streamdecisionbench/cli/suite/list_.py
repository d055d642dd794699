"""`sdb suite list`: the scenarios of a suite."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.options import SuiteData


def register(app: typer.Typer) -> None:
    app.command("list")(list_)


def list_(data: SuiteData = None) -> None:
    """List the scenarios of a suite."""
    from streamdecisionbench.cli.loading import load_suite
    from streamdecisionbench.suite.scenario import FAMILIES

    suite = load_suite(data)
    print(f"{suite.name}  {suite.dataset_hash[:12]}")
    for family, scenarios in suite.families().items():
        print(f"\n{FAMILIES.get(family, family)} ({family})")
        for s in scenarios:
            print(f"  {s.episode_id:<13}{len(s.questions)} questions, {len(s.changes())} changes")
            print(f"    {s.title}")
