"""`sdb bundle`: recordings in one file that others can verify."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamdecisionbench.cli.options import Data, Prices, Runs


def register(app: typer.Typer) -> None:
    app.command("bundle")(bundle)


def bundle(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="New file, FILE.zip.")],
    data: Data = None,
    place: Annotated[str, typer.Option(help="Where the client ran, for example a region.")] = "",
    terms: Annotated[str, typer.Option(help="Terms of the service, for example its tier.")] = "",
    prices: Prices = None,
) -> None:
    """Pack recordings with suite, conditions, prices and scores."""
    from streamdecisionbench.analysis.bundles.pack import write_bundle
    from streamdecisionbench.cli.loading import load
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.report.terminal.scores import console

    loaded = load(runs, data)
    suites = {suite.dataset_hash for _, suite in loaded}
    if len(suites) > 1:
        raise InputError(
            "these recordings are of different suites", fix="make one bundle per suite"
        )
    told = {key: value for key, value in (("place", place), ("terms", terms)) if value}
    made = write_bundle([r for r, _ in loaded], loaded[0][1], out, told=told, prices=prices)
    line = f"{out}: {len(made.recordings)} recording(s) of suite {made.suite[:12]}"
    console().print(line, markup=False, highlight=False, soft_wrap=True)
