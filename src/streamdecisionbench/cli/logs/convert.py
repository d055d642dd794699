"""`sdb logs convert`: traces of other tools as a decision log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("convert")(convert)


def convert(
    sources: Annotated[list[Path], typer.Argument(metavar="SOURCE", help="Files or folders.")],
    kind: Annotated[str, typer.Option("--from", help="openinference, otel or langfuse.")],
    out: Annotated[Path, typer.Option(help="New file: .parquet, .jsonl or .csv.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Turn spans of decisions into a decision log, and say what had to be assumed."""
    from dataclasses import asdict

    from streamdecisionbench.cli.printing import dump
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.logs.convert.write import convert as write
    from streamdecisionbench.report.terminal.scores import console

    paths: list[Path] = []
    for source in sources:
        if source.is_dir():
            paths += sorted(p for p in source.rglob("*") if p.is_file())
        elif source.is_file():
            paths.append(source)
        else:
            raise InputError("is no file and no folder", where=source, fix="name exported traces")
    if not paths:
        raise InputError("holds no file", where=sources[0], fix="name exported traces")
    found = write(kind, paths, out)
    if as_json:
        dump({"schema": "sdb-convert/1", "out": str(out), **asdict(found)})
        return
    screen = console()

    def say(text: str) -> None:
        screen.print(text, markup=False, highlight=False)

    say(f"{out}: {found.rows} decisions of {found.streams} streams, from {found.spans} spans")
    if found.assumed:
        say("Assumed, because the traces do not say it:")
    for sentence, count in found.assumed.items():
        say(f"  {count:>8}  {sentence}")
    if found.left_out:
        say("Left out:")
    for reason, count in found.left_out.items():
        say(f"  {count:>8}  {reason}")
