"""`sdb bundle`: recordings in one file that others can verify."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamdecisionbench.cli.options import Data, Prices, Runs


def bundle(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="New file, FILE.zip.")],
    data: Data = None,
    place: Annotated[str, typer.Option(help="Where the client ran, for example a region.")] = "",
    terms: Annotated[str, typer.Option(help="Terms of the service, for example its tier.")] = "",
    prices: Prices = None,
) -> None:
    """Pack recordings with suite, conditions, prices and scores."""
    from streamdecisionbench.analysis.bundles import write_bundle
    from streamdecisionbench.cli.loading import load
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.report.screens import console

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


# `sdb verify`: score a bundle again and see whether it holds what it says.


def verify(
    bundles: Annotated[list[Path], typer.Argument(metavar="FILE", help="Bundles.")],
) -> None:
    """Score every recording of a bundle again; refuse what does not match."""
    from streamdecisionbench.analysis.bundles import open_bundle
    from streamdecisionbench.report.screens import console

    out = console()
    for path in bundles:
        found = open_bundle(path)
        out.print(
            f"{path}: verified, {len(found.recordings)} recording(s) of suite"
            f" {found.suite.dataset_hash[:12]}, scored again and equal",
            markup=False, highlight=False, soft_wrap=True,
        )  # fmt: skip
        for entry in found.contents.recordings:
            marks = [
                name
                for name, on in (
                    ("simulation", entry.simulated),
                    ("virtual clock", entry.virtual_clock),
                )
                if on
            ]
            label = f" ({', '.join(marks)})" if marks else ""
            auc = 100 * float(entry.score["overall"]["log_auc"])
            out.print(f"  {auc:5.1f}  {entry.name}{label}", markup=False, highlight=False)


# `sdb board`: a static leaderboard from verified bundles.


def board(
    bundles: Annotated[list[Path], typer.Argument(metavar="BUNDLE", help="Bundles.")],
    out: Annotated[Path, typer.Option(help="Folder for the page.")],
    dataset: Annotated[
        str | None, typer.Option(help="Data set id on a model hub, for .eval_results entries.")
    ] = None,
) -> None:
    """Write a leaderboard; a bundle that does not verify stops it."""
    from streamdecisionbench.report.board.board import DEFAULT_DATASET, write_board
    from streamdecisionbench.report.screens import console

    def say(text: str) -> None:
        typer.echo(text, err=True)

    boards = write_board(bundles, out, dataset=dataset or DEFAULT_DATASET, say=say)
    rows = sum(len(one.rows) for one in boards)
    line = f"{out / 'index.html'}: {rows} row(s), {len(boards)} suite(s)"
    console().print(line, markup=False, highlight=False, soft_wrap=True)


COMMANDS = {
    "bundle": bundle,
    "verify": verify,
    "board": board,
}
