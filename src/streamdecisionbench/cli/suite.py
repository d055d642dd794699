"""`sdb suite`: look at the scenarios, build them, check them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_Data = Annotated[
    Path | None, typer.Option("--data", help="A suite folder; the built-in suite otherwise.")
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="List, show, build, export, check and describe suites.", no_args_is_help=True
    )
    group.command("list")(list_)
    group.command("show")(show)
    group.command("build")(build)
    group.command("export")(export)
    group.command("check")(check)
    group.command("stats")(stats)
    app.add_typer(group, name="suite")


def list_(data: _Data = None) -> None:
    """List the scenarios of a suite."""
    from streamdecisionbench.cli import suites

    suites.list_(data)


def show(
    scenario: Annotated[str, typer.Argument(help="A scenario id, for example support_a.")],
    step: Annotated[
        int | None, typer.Option(help="One step in full; all steps in short otherwise.")
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Print the public rules too.")] = False,
    data: _Data = None,
) -> None:
    """Show a scenario: what happens at every step, what changes in the reference, and why."""
    from streamdecisionbench.cli import suites

    suites.show(scenario, step, rules, data)


def build(
    out: Annotated[
        Path, typer.Option(help="Folder to write to. Building twice gives the same bytes.")
    ],
) -> None:
    """Build the suite from its sources: timelines, rules and references."""
    from streamdecisionbench.cli import suites

    suites.build(out)


def export(
    out: Annotated[Path, typer.Option(help="A fresh folder for the copy.")], data: _Data = None
) -> None:
    """Write the built-in suite to a folder, file by file as it ships."""
    from streamdecisionbench.cli import suites

    suites.export(out, data)


def check(data: _Data = None) -> None:
    """Re-run the references over every stored state and rebuild the suite to compare digests."""
    from streamdecisionbench.cli import suites

    suites.check(data)


def stats(
    data: _Data = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """The benchmark table: questions, routes, options, changes, baselines, segments, sizes."""
    from streamdecisionbench.cli import suites

    suites.stats(data, as_json)
