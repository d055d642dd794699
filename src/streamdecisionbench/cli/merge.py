"""`sdb merge`: recordings of one setting become one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("merge")(merge)


def merge(
    recordings: Annotated[list[Path], typer.Argument(help="recordings of one setting")],
    out: Annotated[Path, typer.Option(help="fresh folder for the joined recording")],
    data: Annotated[
        Path | None, typer.Option(help="suite folder, to check meanings as well")
    ] = None,
) -> None:
    """Join recordings of one setting that cover different scenarios."""
    from streamdecisionbench.recording.merge import merge as join
    from streamdecisionbench.suite.suite_files import read_suite

    joined = join(recordings, out, read_suite(data) if data else None)
    covered = joined["config"]["scenarios"]
    typer.echo(f"{out}: {len(covered)} scenarios, {joined['summary']['responses']} responses")
    served = {model for part in joined["parts"] for model in part["served_models"]}
    if any(set(part["served_models"]) != served for part in joined["parts"]):
        typer.echo(f"note: the parts were served by different models: {', '.join(sorted(served))}")
    missing = len(joined["dataset_manifest"]["episodes"]) - len(covered)
    if missing:
        typer.echo(f"note: {missing} scenarios of the suite are in none of the parts")
