"""`sdb analyze`: the paper's analyses, one command each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Runs = Annotated[list[Path], typer.Argument(metavar="RUN", help="Recording folders.")]
Data = Annotated[
    Path | None,
    typer.Option(help="Suite folder; the built-in suite or one beside the recording otherwise."),
]
Interval = Annotated[float, typer.Option(help="Seconds per tick.")]
BoundsOption = Annotated[
    tuple[float, float], typer.Option(metavar="LOW HIGH", help="Range of intervals to integrate.")
]
Weighting = Annotated[str, typer.Option(help="Weight of intervals: log or linear.")]
Block = Annotated[int, typer.Option(help="Consecutive steps per resampled block.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the resamples.")]
Json = Annotated[bool, typer.Option("--json", help="Print schema sdb-analysis/1.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print raw values.")]

_DEFAULT_BOUNDS = (0.5, 8.0)


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Analyses of recordings: latency, errors, pace, cost, uncertainty.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    for command in (
        network, transitions, paired, pace, sensitivity, schedules, separability, baselines, cost,
        repeats, intervals, window,
    ):  # fmt: skip
        group.command(command.__name__)(command)
    app.add_typer(group, name="analyze")


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
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples.")] = 500,
    seed: Seed = 0,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Estimate the delay no token accounts for, and score without it."""
    from streamdecisionbench.cli import analyzing

    analyzing.network(
        runs, data, analyzing.Form(as_json, as_csv), decode=decode, quantile=quantile, block=block,
        resamples=resamples, seed=seed, interval=interval,
    )  # fmt: skip


def transitions(runs: Runs, data: Data = None, as_json: Json = False, as_csv: Csv = False) -> None:
    """Count untimed errors by distance to the nearest reference change."""
    from streamdecisionbench.cli import analyzing

    analyzing.transitions(runs, data, analyzing.Form(as_json, as_csv))


def paired(runs: Runs, data: Data = None, as_json: Json = False, as_csv: Csv = False) -> None:
    """Count states that both, one or neither of two recordings decides right."""
    from streamdecisionbench.cli import analyzing

    analyzing.paired(runs, data, analyzing.Form(as_json, as_csv))


def pace(
    runs: Runs,
    data: Data = None,
    at: Annotated[
        list[float] | None,
        typer.Option(metavar="SECONDS", help="Intervals instead of the usual scales; repeatable."),
    ] = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Show in-force accuracy at several time-step intervals."""
    from streamdecisionbench.cli import analyzing

    analyzing.pace(runs, data, analyzing.Form(as_json, as_csv), at=at)


def sensitivity(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Show the integrated score for other bounds and weightings."""
    from streamdecisionbench.cli import analyzing

    analyzing.sensitivity(runs, data, analyzing.Form(as_json, as_csv), interval=interval)


def schedules(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    draws: Annotated[int, typer.Option(help="Latency resamples per schedule.")] = 300,
    seed: Seed = 0,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Project onto references that change more, less or otherwise."""
    from streamdecisionbench.cli import analyzing

    analyzing.schedules(
        runs, data, analyzing.Form(as_json, as_csv), interval=interval, draws=draws, seed=seed
    )


def separability(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    bounds: BoundsOption = _DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Compare untimed accuracy times oracle with in-force accuracy, by scenario."""
    from streamdecisionbench.cli import analyzing

    analyzing.separability(
        runs, data, analyzing.Form(as_json, as_csv), interval=interval, bounds=bounds,
        weighting=weighting,
    )  # fmt: skip


def baselines(
    data: Annotated[
        Path | None, typer.Option(help="Suite folder; the built-in suite if none.")
    ] = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Score policies that read no rules: first option, lexical overlap, best constant."""
    from streamdecisionbench.cli import analyzing

    analyzing.baselines(data, analyzing.Form(as_json, as_csv))


def cost(
    runs: Runs,
    data: Data = None,
    prices: Annotated[
        Path | None, typer.Option(help="Your own price table (JSON); the dated list otherwise.")
    ] = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Count tokens and what they cost at list prices."""
    from streamdecisionbench.cli import analyzing

    analyzing.cost(runs, data, analyzing.Form(as_json, as_csv), prices=prices)


def repeats(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    bounds: BoundsOption = _DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Give mean and range of every headline number over passes of one setting."""
    from streamdecisionbench.cli import analyzing

    analyzing.repeats(
        runs, data, analyzing.Form(as_json, as_csv), interval=interval, bounds=bounds,
        weighting=weighting,
    )  # fmt: skip


def intervals(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    bounds: BoundsOption = _DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    block: Block = 10,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples.")] = 5000,
    seed: Seed = 0,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Bootstrap intervals of scores and of differences between recordings."""
    from streamdecisionbench.cli import analyzing

    analyzing.intervals(
        runs, data, analyzing.Form(as_json, as_csv), interval=interval, bounds=bounds,
        weighting=weighting, block=block, resamples=resamples, seed=seed, level=level,
    )  # fmt: skip


def window(
    runs: Runs,
    data: Data = None,
    scenario: Annotated[str | None, typer.Option(help="Only windows of this scenario.")] = None,
    seconds: Annotated[float, typer.Option(help="Length of the window.")] = 20.0,
    interval: Interval = 2.0,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Find the most representative stretch to show."""
    from streamdecisionbench.cli import analyzing

    analyzing.window(
        runs, data, analyzing.Form(as_json, as_csv), scenario=scenario, seconds=seconds,
        interval=interval,
    )  # fmt: skip
