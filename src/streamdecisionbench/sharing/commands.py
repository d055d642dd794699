"""`sdb share`: recordings in one file that others verify and compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamdecisionbench.cli.options import Data, Prices, Runs
from streamdecisionbench.text import visible


def bundle(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="New file, FILE.zip.")],
    data: Data = None,
    place: Annotated[str, typer.Option(help="Where the client ran, for example a region.")] = "",
    terms: Annotated[str, typer.Option(help="Terms of the service, for example its tier.")] = "",
    prices: Prices = None,
) -> None:
    """Pack recordings with suite, conditions, prices and scores."""
    from streamdecisionbench.cli.loading import load
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.render.sentences import DIFFERENT_SUITES
    from streamdecisionbench.sharing.bundles import write_bundle

    loaded = load(runs, data)
    suites = {suite.dataset_hash for _, suite in loaded}
    if len(suites) > 1:
        raise InputError(
            f"these recordings were {DIFFERENT_SUITES}", fix="make one bundle per suite"
        )
    told = {key: value for key, value in (("place", place), ("terms", terms)) if value}
    made = write_bundle([r for r, _ in loaded], loaded[0][1], out, told=told, prices=prices)
    _say(f"{out}: {len(made.recordings)} recording(s) of suite {made.suite[:12]}")


def verify(
    bundles: Annotated[list[Path], typer.Argument(metavar="FILE", help="Bundles.")],
) -> None:
    """Score every recording of a bundle again; refuse what does not match."""
    from streamdecisionbench.sharing.bundles import open_bundle

    for path in bundles:
        found = open_bundle(path)
        _say(
            f"{path}: verified, {len(found.recordings)} recording(s) of suite"
            f" {found.suite.dataset_hash[:12]}, scored again and equal"
        )
        for entry in found.contents.recordings:
            marks = f" ({', '.join(entry.labels)})" if entry.labels else ""
            whole = entry.score["overall"]
            auc = whole["log_auc"] if whole["log_auc"] is not None else whole["in_force"]
            _say(f"  {100 * float(auc):5.1f}  {entry.name}{marks}")


def board(
    bundles: Annotated[list[Path], typer.Argument(metavar="BUNDLE", help="Bundles.")],
    out: Annotated[Path, typer.Option(help="Folder for the page.")],
    dataset: Annotated[
        str | None, typer.Option(help="The suite's data set id on a model hub, for .eval_results.")
    ] = None,
) -> None:
    """Write a leaderboard; a bundle that does not verify stops it."""
    from streamdecisionbench.sharing.board import write_board

    def say(text: str) -> None:
        typer.echo(visible(text), err=True)

    boards = write_board(bundles, out, dataset=dataset, say=say)
    rows = sum(len(one.rows) for one in boards)
    _say(f"{out / 'index.html'}: {rows} row(s), {len(boards)} table(s)")


def _say(line: str) -> None:
    from streamdecisionbench.render.terminal import console

    console().print(visible(line), soft_wrap=True)


HELP = "Share recordings: pack them into one file, verify such files, make a leaderboard."
COMMANDS = {
    "bundle": bundle,
    "verify": verify,
    "board": board,
}
