"""`sdb analyze network`: the delay no token accounts for."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from streamdecisionbench.cli.options import Block, Csv, Data, Interval, Json, Resamples, Runs, Seed


def register(app: typer.Typer) -> None:
    app.command("network")(network)


def network(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    decode: Annotated[
        bool | None,
        typer.Option(
            "--decode/--no-decode",
            help="Whether output tokens take time; by the provider if not said.",
        ),
    ] = None,
    quantile: Annotated[float, typer.Option(help="Which quantile is the fast envelope.")] = 0.1,
    block: Block = 10,
    resamples: Resamples = 500,
    seed: Seed = 0,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Estimate the delay no token accounts for, and score without it."""
    from streamdecisionbench.analysis.network import network_estimate, network_tables
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.cli.working import working

    options: dict[str, Any] = {
        "decode": decode, "quantile": quantile, "block": block, "resamples": resamples,
        "seed": seed, "interval": interval,
    }  # fmt: skip
    subjects = open_runs(runs, data)
    with working(f"resampling {len(subjects)} recording(s) {resamples} times"):
        found = {s.name: network_estimate(s.recording, s.suite, **options) for s in subjects}
    show("network", found, network_tables(found), subjects, Form(as_json, as_csv), options)
