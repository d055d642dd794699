"""`sdb analyze`: the rows of `analysis/analyses.py` as commands, each with its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any

import typer

from streamdecisionbench.cli.loading import (
    LivedSubject,
    Subject,
    costs_for,
    load,
    load_suite,
    open_runs,
    require_one_suite,
    require_open_loop,
    with_sweeps,
)
from streamdecisionbench.cli.options import (
    Block,
    Bounds,
    CostFile,
    Csv,
    Data,
    FixedInterval,
    IntegrateBounds,
    Interval,
    Json,
    Pair,
    Prices,
    Resamples,
    Runs,
    Seed,
    Weighting,
)
from streamdecisionbench.cli.printing import show
from streamdecisionbench.cli.progress_bar import working
from streamdecisionbench.kernel.paces import DEFAULT_BOUNDS

Options = dict[str, tuple[Any, Any]]
"""By name in Python, with type and default."""

_AT: Options = {"interval": (Interval, 2.0)}
_OVER: Options = {**_AT, "bounds": (Bounds, DEFAULT_BOUNDS), "weighting": (Weighting, "log")}
_WRONG: Options = {
    "interval": (FixedInterval, 2.0),
    "bounds": (IntegrateBounds, DEFAULT_BOUNDS),
    "weighting": (Weighting, "log"),
    "pair": (Pair, None),
}
_SUITE = Annotated[Path | None, typer.Option(help="Suite folder; the built-in suite if none.")]
_DECODE = Annotated[
    bool | None,
    typer.Option(
        "--decode/--no-decode", help="Whether output tokens take time; by the provider if not said."
    ),
]
_QUANTILE = Annotated[float, typer.Option(help="Which quantile is the fast envelope.")]
_INTERVALS = Annotated[
    list[float] | None,
    typer.Option(metavar="SECONDS", help="Intervals instead of the usual scales; repeatable."),
]
_DRAWS = Annotated[
    int, typer.Option("--resamples", "--draws", help="Latency resamples per schedule.")
]
_LEVEL = Annotated[float, typer.Option(help="Level of the intervals.")]
_SCENARIO = Annotated[str | None, typer.Option(help="Only windows of this scenario.")]
_SECONDS = Annotated[float, typer.Option(help="Length of the window.")]
_COMPOSE = Annotated[str, typer.Option(help="Of a decision's answers: min or product.")]
_THETA = Annotated[float, typer.Option(help="Seconds from which a wrong spell counts as long.")]

_ROWS: Mapping[str, tuple[str, Options]] = {
    "network": (
        "Estimate the delay no token accounts for, and score without it.",
        {**_AT, "decode": (_DECODE, None), "quantile": (_QUANTILE, 0.1), "block": (Block, 10),
         "resamples": (Resamples, 500), "seed": (Seed, 0)},
    ),
    "transitions": ("Count untimed errors by distance to the nearest reference change.", {}),
    "paired": ("Count states that both, one or neither of two recordings decides right.", {}),
    "pace": ("Show in-force accuracy at several time-step intervals.", {"at": (_INTERVALS, None)}),
    "clocks": (
        "Compare scores with releases as they happened and as they were planned.", _OVER,
    ),
    "sensitivity": ("Show the integrated score for other bounds and weightings.", _AT),
    "schedules": (
        "Project onto references that change more, less or otherwise.",
        {**_AT, "draws": (_DRAWS, 300), "seed": (Seed, 0)},
    ),
    "separability": (
        "Compare untimed accuracy times oracle with in-force accuracy, by scenario.", _OVER,
    ),
    "baselines": (
        "Score policies that read no rules: first option, lexical overlap, best constant.", {},
    ),
    "cost": ("Count tokens and what they cost at list prices.", {"prices": (Prices, None)}),
    "repeats": (
        "Give mean and range of every headline number over passes of one setting.", _OVER,
    ),
    "repacing": (
        "Compare what one pace predicts with what was measured at other paces and loads.\n\n"
        "Give the folder that `sdb sweep … --intervals … --streams …` made, or recordings of one"
        " setting.",
        {},
    ),
    "intervals": (
        "Bootstrap intervals of scores and of differences between recordings.",
        {**_OVER, "block": (Block, 10), "resamples": (Resamples, 5000), "seed": (Seed, 0),
         "level": (_LEVEL, 0.95)},
    ),
    "window": (
        "Find the most representative stretch to show.",
        {"scenario": (_SCENARIO, None), "seconds": (_SECONDS, 20.0), **_AT},
    ),
    "calibration": (
        "Compare the confidence of the decision in force with how long it is right.",
        {**_AT, "compose": (_COMPOSE, "min")},
    ),
    "spells": (
        "Measure wrong spells: their age, their number, the longest, the time beyond theta.",
        {"theta": (_THETA, 4.0), **_WRONG},
    ),
    "changes": (
        "Measure delays after reference changes, and changes of the decision in force.", _WRONG,
    ),
    "actions": (
        "Count one-time acts: done in time, late, missed, wrongly, twice.",
        {"costs": (CostFile, None), **_WRONG},
    ),
    "cost-of-error": (
        "Charge wrong time by what it shows, how long it lasts and what it does.",
        {"costs": (CostFile, None), **_WRONG},
    ),
}  # fmt: skip
"""Help and options of every analysis, in the order they are listed."""

_WORKING = {
    "network": "resampling {n} recording(s) {resamples} times",
    "schedules": "drawing latencies {draws} times for every schedule",
}
"""What is said of analyses that take more than a moment."""


def _run(
    name: str,
    data: Path | None,
    as_json: bool,
    as_csv: bool,
    runs: list[Path] | None = None,
    **given: Any,
) -> None:
    from streamdecisionbench.analysis.analyses import all_analyses

    row = all_analyses()[name]
    told = {option: given[option] for option in row.told}
    subjects: list[Subject] = []
    if runs is None:
        given = {"suite": load_suite(data)}
    elif row.whole:
        subjects += [LivedSubject(recording, suite) for recording, suite in load(runs, data)]
    else:
        subjects = open_runs(with_sweeps(runs) if name == "repacing" else runs, data)
        if otherwise := "as a pair" if given.get("pair") else row.otherwise:
            require_open_loop((s.recording for s in subjects), otherwise)
        if row.one_suite or given.get("pair"):
            require_one_suite(subjects)
    if given.get("unhurried"):
        ((given["unhurried"], _),) = load([given["unhurried"]], data)
    if "costs" in given:
        given["costs"] = costs_for(given["costs"], subjects)
    doing = _WORKING.get(name, "").format(n=len(subjects), **given)
    with working(doing) if doing else nullcontext():
        found = row.run(subjects, **given)
    options = {**told, **found.options}
    show(name, found, subjects, options, as_json=as_json, as_csv=as_csv)


def analysis_command(name: str, help_: str, options: Options) -> Callable[..., None]:
    """A function as typer reads it: its signature is the row's options."""

    def command(**given: Any) -> None:
        _run(name, **given)

    every: Options = {
        **({"data": (_SUITE, None)} if name == "baselines" else {"runs": (Runs, Parameter.empty), "data": (Data, None)}),
        **options,
        "as_json": (Json, False),
        "as_csv": (Csv, False),
    }  # fmt: skip
    kind = Parameter.POSITIONAL_OR_KEYWORD
    command.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            Parameter(key, kind, default=default, annotation=how)
            for key, (how, default) in every.items()
        ]
    )
    command.__annotations__ = {key: how for key, (how, _) in every.items()}
    command.__doc__ = help_
    return command


HELP = "Analyses of recordings: latency, errors, pace, cost, uncertainty."
COMMANDS = {name: analysis_command(name, *row) for name, row in _ROWS.items()}
