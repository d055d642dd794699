"""`sdb merge`: recordings of one setting become one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def register(app: typer.Typer) -> None:
    app.command("merge")(merge)


def merge(
    recordings: Annotated[list[Path], typer.Argument(help="Recordings of one setting.")],
    out: Annotated[Path, typer.Option(help="Fresh folder for the joined recording.")],
    data: Annotated[
        Path | None, typer.Option(help="Suite folder, to check meanings as well.")
    ] = None,
) -> None:
    """Join recordings of one setting that cover different scenarios; sweeps condition by condition."""
    from streamdecisionbench.recording.merge import merge as join
    from streamdecisionbench.recording.merge import merge_sweeps
    from streamdecisionbench.recording.sweep import conditions_in
    from streamdecisionbench.suite.suite_files import read_suite

    suite = read_suite(data) if data else None
    if recordings and all(conditions_in(folder) for folder in recordings):
        for name, joined in merge_sweeps(recordings, out, suite).items():
            _tell(out / name, joined)
    else:
        _tell(out, join(recordings, out, suite))


def _tell(out: Path, joined: dict[str, Any]) -> None:
    covered = joined["config"]["scenarios"]
    typer.echo(f"{out}: {len(covered)} scenarios, {joined['summary']['responses']} responses")
    served = {model for part in joined["parts"] for model in part["served_models"]}
    if any(set(part["served_models"]) != served for part in joined["parts"]):
        typer.echo(f"note: the parts were served by different models: {', '.join(sorted(served))}")
    missing = len(joined["dataset_manifest"]["episodes"]) - len(covered)
    if missing:
        typer.echo(f"note: {missing} scenarios of the suite are in none of the parts")
