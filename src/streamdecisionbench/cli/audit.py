"""`sdb audit`: let others read the rules and compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_Data = Annotated[
    Path | None, typer.Option("--data", help="A suite folder; the built-in suite otherwise.")
]
_Json = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Audit references: blind export, comparison, record, shortcuts.", no_args_is_help=True
    )
    group.command("export")(export)
    group.command("check")(check)
    group.command("record")(record)
    group.command("shortcuts")(shortcuts)
    app.add_typer(group, name="audit")


def export(
    scenario: Annotated[str, typer.Argument(help="A scenario id.")],
    out: Annotated[Path, typer.Option(help="A fresh folder.")],
    data: _Data = None,
) -> None:
    """Write what a blind reader may see: states and questions, nothing else."""
    from streamdecisionbench.cli import audits

    audits.export_(scenario, out, data)


def check(
    scenario: Annotated[str, typer.Argument(help="A scenario id.")],
    answers: Annotated[Path, typer.Argument(help="A filled answer sheet.")],
    data: _Data = None,
    as_json: _Json = False,
) -> None:
    """Compare a reader's answers with the references; exit code 1 when a decision differs."""
    from streamdecisionbench.cli import audits

    if not audits.check_(scenario, answers, data, as_json):
        raise typer.Exit(1)


def record(
    path: Annotated[
        Path | None, typer.Argument(help="A record; the built-in suite's otherwise.")
    ] = None,
    data: _Data = None,
    as_json: _Json = False,
) -> None:
    """Validate an audit record and print it in figures."""
    from streamdecisionbench.cli import audits

    audits.record_(path, data, as_json)


def shortcuts(data: _Data = None, as_json: _Json = False) -> None:
    """How far guessing gets without reading the rules, per scenario."""
    from streamdecisionbench.cli import audits

    audits.shortcuts_(data, as_json)
