"""`sdb audit record`: an audit record in figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamdecisionbench.cli.options import PlainJson, SuiteData


def register(app: typer.Typer) -> None:
    app.command("record")(record)


def record(
    path: Annotated[
        Path | None, typer.Argument(help="A record; the built-in suite's otherwise.")
    ] = None,
    data: SuiteData = None,
    as_json: PlainJson = False,
) -> None:
    """Validate an audit record and print it in figures."""
    from streamdecisionbench.audit.audit_record import (
        builtin_record_path,
        read_record,
        summarise,
        violations,
    )
    from streamdecisionbench.cli.loading import load_suite
    from streamdecisionbench.cli.printing import dump
    from streamdecisionbench.errors import InputError

    path = path or builtin_record_path()
    suite = load_suite(data)
    audited = read_record(path)
    problems = violations(audited, suite)
    if problems:
        raise InputError(
            "\n  ".join([f"{len(problems)} problem(s)", *problems]),
            where=path,
            fix="complete the record",
        )
    figures = summarise(audited)
    if as_json:
        dump(figures)
        return
    print(
        f"Audit of {audited.suite} ({audited.current_hash[:12]}; read as {audited.audited_hash[:12]})\n"
    )
    for name, value in figures.items():
        print(f"  {name.replace('_', ' '):<33}{value:>5}")
    print()
    from streamdecisionbench.report.terminal.scores import console

    out = console()
    for finding in audited.findings:
        out.print(f"{finding.id}  [{finding.status}] {finding.title}")
