"""`sdb choose`: which setting or pair to use at your own pace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("choose")(choose)


def choose(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Recording folders.")],
    interval: Annotated[float, typer.Option(help="Your pace: seconds between states.")],
    budget: Annotated[
        float | None,
        typer.Option(metavar="MONEY", help="At most this per hour of stream at that pace."),
    ] = None,
    budget_per_1000: Annotated[
        float | None, typer.Option(metavar="MONEY", help="At most this per 1000 decisions.")
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(help="Your own price table (JSON); the dated list otherwise.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Suite folder; the built-in suite or one beside the recording otherwise."
        ),
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs/--no-pairs", help="Consider fast and slow pairs as well.")
    ] = True,
    rule: Annotated[
        str, typer.Option(help="Arbitration of pairs: freshest, lag-one, late-override or all.")
    ] = "freshest",
    block: Annotated[int, typer.Option(help="Consecutive steps per resampled block.")] = 10,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples.")] = 5000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resamples.")] = 0,
    top: Annotated[int, typer.Option(help="How many candidates the table shows.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-analysis/1.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print every candidate.")] = False,
) -> None:
    """Say which setting or pair keeps the right decision in force longest at your pace.

    By how much, how sure that is, what it costs, and whether judgment or latency limits it.
    """
    from streamdecisionbench.cli import choosing

    choosing.run(
        runs, data, interval=interval, budget=budget, budget_per_1000=budget_per_1000,
        prices=prices, pairs=pairs, rule=rule, block=block, resamples=resamples, seed=seed,
        top=top, as_json=as_json, as_csv=as_csv,
    )  # fmt: skip
