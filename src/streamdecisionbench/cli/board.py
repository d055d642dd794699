"""`sdb board`: a static leaderboard from verified bundles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("board")(board)


def board(
    bundles: Annotated[list[Path], typer.Argument(metavar="BUNDLE", help="Bundles.")],
    out: Annotated[Path, typer.Option(help="Folder for the page.")],
    dataset: Annotated[
        str | None, typer.Option(help="Data set id on a model hub, for .eval_results entries.")
    ] = None,
) -> None:
    """Write a leaderboard; a bundle that does not verify stops it."""
    from streamdecisionbench.report.board.eval_results import DEFAULT_DATASET
    from streamdecisionbench.report.board.write_board import write_board
    from streamdecisionbench.report.terminal.scores import console

    def say(text: str) -> None:
        typer.echo(text, err=True)

    boards = write_board(bundles, out, dataset=dataset or DEFAULT_DATASET, say=say)
    rows = sum(len(one.rows) for one in boards)
    line = f"{out / 'index.html'}: {rows} row(s), {len(boards)} suite(s)"
    console().print(line, markup=False, highlight=False, soft_wrap=True)
