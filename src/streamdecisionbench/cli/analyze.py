"""`sdb analyze`: the paper's analyses, one module each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
from streamdecisionbench.scoring.bounds import DEFAULT_BOUNDS

if TYPE_CHECKING:
    from streamdecisionbench.cli.loading import Subject


# `sdb analyze actions`: what became of acts that are done once.


def actions(
    runs: Runs,
    data: Data = None,
    costs: CostFile = None,
    interval: FixedInterval = 2.0,
    bounds: IntegrateBounds = DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    pair: Pair = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Count one-time acts: done in time, late, missed, wrongly, twice."""
    from streamdecisionbench.analysis.wrong_time import action_tables
    from streamdecisionbench.cli.loading import costs_for, courses, open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.scoring.bounds import Bounds
    from streamdecisionbench.scoring.cost import act_measures

    within = Bounds(*bounds, weighting)
    subjects = open_runs(runs, data)
    rules = costs_for(costs, subjects)
    made = courses(subjects, interval, within, pair)
    found = {name: act_measures(course, rules) for name, course in made.items()}
    if not any(found.values()):
        raise InputError(
            "no act is declared for these scenarios",
            where=costs,
            fix="declare acts in a cost file: docs/costs.md shows how",
        )
    show(
        "actions",
        found,
        action_tables(found, interval, rules.name),
        subjects,
        Form(as_json, as_csv),
        {"interval": interval, "bounds": bounds, "weighting": weighting, "costs": rules.name,
         "costs_sha256": rules.digest},
    )  # fmt: skip


# `sdb analyze baselines`: policies that read no rules.


def baselines(
    data: Annotated[
        Path | None, typer.Option(help="Suite folder; the built-in suite if none.")
    ] = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Score policies that read no rules: first option, lexical overlap, best constant."""
    from streamdecisionbench.analysis.paper import baselines as analyse
    from streamdecisionbench.analysis.paper import baselines_table
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

    suite = read_suite(data or builtin_suite_path())
    found = analyse(suite)
    options = {"suite": suite.name, "dataset_hash": suite.dataset_hash}
    show(
        "baselines", found, [baselines_table(found, suite.name)], [], Form(as_json, as_csv), options
    )


# `sdb analyze calibration`: how far confidence can be trusted while a decision is in force.


def calibration(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    compose: Annotated[str, typer.Option(help="Of a decision's answers: min or product.")] = "min",
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Compare the confidence of the decision in force with how long it is right."""
    from streamdecisionbench.analysis.calibration import calibration as analyse
    from streamdecisionbench.analysis.calibration import calibration_tables
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.rules.policy_file import COMPOSES
    from streamdecisionbench.scoring.bounds import check_interval
    from streamdecisionbench.scoring.policy_answers import answers_of

    check_interval(interval)
    if compose not in COMPOSES:
        raise InputError(f"--compose {compose!r} is not known", fix=f"use {' or '.join(COMPOSES)}")
    subjects = open_runs(runs, data)
    found = {s.name: analyse(answers_of(s.recording, s.suite), interval, compose) for s in subjects}
    options = {"interval": interval, "compose": compose}
    show("calibration", found, calibration_tables(found), subjects, Form(as_json, as_csv), options)


# `sdb analyze changes`: how soon the application is right again after a change.


def changes(
    runs: Runs,
    data: Data = None,
    interval: FixedInterval = 2.0,
    bounds: IntegrateBounds = DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    pair: Pair = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Measure delays after reference changes, and changes of the decision in force."""
    from streamdecisionbench.analysis.wrong_time import change_tables
    from streamdecisionbench.cli.loading import courses, open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.scoring.bounds import Bounds
    from streamdecisionbench.scoring.cost import change_measures

    within = Bounds(*bounds, weighting)
    subjects = open_runs(runs, data)
    made = courses(subjects, interval, within, pair)
    found = {name: change_measures(course) for name, course in made.items()}
    show(
        "changes",
        found,
        change_tables(found, interval),
        subjects,
        Form(as_json, as_csv),
        {"interval": interval, "bounds": bounds, "weighting": weighting},
    )


# `sdb analyze cost`: tokens and what they cost.


def cost(
    runs: Runs,
    data: Data = None,
    prices: Prices = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Count tokens and what they cost at list prices."""
    from streamdecisionbench.analysis.token_cost import cost as analyse
    from streamdecisionbench.analysis.token_cost import cost_tables
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.recording.prices import read_prices

    table = read_prices(prices)
    subjects = open_runs(runs, data)
    found = {s.name: analyse(s.recording, table) for s in subjects}
    show("cost", found, cost_tables(found), subjects, Form(as_json, as_csv))


# `sdb analyze cost-of-error`: what being wrong costs, and what of it most.


def cost_of_error(
    runs: Runs,
    data: Data = None,
    costs: CostFile = None,
    interval: FixedInterval = 2.0,
    bounds: IntegrateBounds = DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    pair: Pair = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Charge wrong time by what it shows, how long it lasts and what it does."""
    from streamdecisionbench.analysis.wrong_time import cost_tables
    from streamdecisionbench.cli.loading import costs_for, courses, open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.scoring.bounds import Bounds
    from streamdecisionbench.scoring.cost import charge, spell_measures

    within = Bounds(*bounds, weighting)
    subjects = open_runs(runs, data)
    rules = costs_for(costs, subjects)
    made = courses(subjects, interval, within, pair)
    found = {name: charge(course, rules) for name, course in made.items()}
    right = {}
    for name, course in made.items():
        levels = spell_measures(course, 0.0)
        every = {"overall": levels.overall, **levels.by_family}
        right[name] = {level: 1 - x.wrong_share for level, x in every.items()}
    show(
        "cost-of-error",
        found,
        cost_tables(found, right, interval, within),
        subjects,
        Form(as_json, as_csv),
        {"interval": interval, "bounds": bounds, "weighting": weighting, "costs": rules.name,
         "costs_sha256": rules.digest},
    )  # fmt: skip


# `sdb analyze intervals`: how sure scores and differences are.


def intervals(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    bounds: Bounds = DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    block: Block = 10,
    resamples: Resamples = 5000,
    seed: Seed = 0,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Bootstrap intervals of scores and of differences between recordings."""
    from streamdecisionbench.analysis.bootstrap import Sampling, intervals_table
    from streamdecisionbench.analysis.bootstrap import intervals as analyse
    from streamdecisionbench.cli.loading import open_runs, require_one_suite
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.scoring.bounds import Bounds

    subjects = open_runs(runs, data)
    require_one_suite(subjects)
    found = analyse(
        {s.name: s.parts for s in subjects},
        interval=interval,
        bounds=Bounds(*bounds, weighting),
        sampling=Sampling(block, resamples, seed, level),
    )
    options = {"interval": interval, "bounds": bounds, "weighting": weighting}
    show("intervals", found, [intervals_table(found)], subjects, Form(as_json, as_csv), options)


# `sdb analyze network`: the delay no token accounts for.


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
    from streamdecisionbench.cli.progress import working

    options: dict[str, Any] = {
        "decode": decode, "quantile": quantile, "block": block, "resamples": resamples,
        "seed": seed, "interval": interval,
    }  # fmt: skip
    subjects = open_runs(runs, data)
    with working(f"resampling {len(subjects)} recording(s) {resamples} times"):
        found = {s.name: network_estimate(s.recording, s.suite, **options) for s in subjects}
    show("network", found, network_tables(found), subjects, Form(as_json, as_csv), options)


# `sdb analyze pace`: in-force accuracy at several intervals.


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
    from streamdecisionbench.analysis.paper import pace as analyse
    from streamdecisionbench.analysis.paper import pace_table
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.scoring.bounds import check_interval

    subjects = open_runs(runs, data)
    found = {}
    for s in subjects:
        parts = s.parts
        for x in at or ():
            check_interval(x)
        if not at:
            found[s.name] = analyse(parts)
            continue
        tick = parts[0].tick
        alike = all(part.tick == tick for part in parts)  # sessions of a log have each their own
        scales = [(f"×{tick / x:.3g}" if alike else "–", tick / x) for x in at]
        found[s.name] = analyse(parts, scales=scales, tick=tick)
    show("pace", found, [pace_table(found)], subjects, Form(as_json, as_csv))


# `sdb analyze paired`: two recordings state by state.


def paired(runs: Runs, data: Data = None, as_json: Json = False, as_csv: Csv = False) -> None:
    """Count states that both, one or neither of two recordings decides right."""
    from streamdecisionbench.analysis.paper import paired_counts, paired_table
    from streamdecisionbench.cli.loading import open_runs, require_one_suite
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.errors import InputError

    subjects = open_runs(runs, data)
    if len(subjects) < 2:
        raise InputError("paired counts need two recordings", fix="give two or more")
    require_one_suite(subjects)
    found = [
        paired_counts(a.parts, b.parts, (a.name, b.name))
        for k, a in enumerate(subjects)
        for b in subjects[k + 1 :]
    ]
    show("paired", found, [paired_table(p) for p in found], subjects, Form(as_json, as_csv))


# `sdb analyze repacing`: does one pace predict the others?


def repacing(runs: Runs, data: Data = None, as_json: Json = False, as_csv: Csv = False) -> None:
    """Compare what one pace predicts with what was measured at other paces and loads.

    Give the folder that `sdb run --intervals … --streams …` made, or recordings of one setting.
    """
    from streamdecisionbench.analysis.repacing import repacing as analyse
    from streamdecisionbench.analysis.repacing import repacing_tables
    from streamdecisionbench.cli.loading import open_runs, require_one_suite, with_sweeps
    from streamdecisionbench.cli.printing import Form, show

    subjects = open_runs(with_sweeps(runs), data)
    require_one_suite(subjects)
    found = analyse([(s.recording, s.suite) for s in subjects])
    show("repacing", found, repacing_tables(found), subjects, Form(as_json, as_csv), {})


# `sdb analyze repeats`: passes of one setting.


def repeats(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    bounds: Bounds = DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Give mean and range of every headline number over passes of one setting."""
    from streamdecisionbench.analysis.repeats import repeats as analyse
    from streamdecisionbench.analysis.repeats import repeats_table
    from streamdecisionbench.cli.loading import open_runs, require_one_suite
    from streamdecisionbench.cli.printing import Form, show

    options = {"interval": interval, "bounds": bounds, "weighting": weighting}
    subjects = open_runs(runs, data)
    require_one_suite(subjects)
    found = analyse([s.score(**options) for s in subjects])
    notes = _other_settings(subjects)
    show("repeats", found, [repeats_table(found)], subjects, Form(as_json, as_csv), options, notes)


def _other_settings(subjects: Sequence[Subject]) -> dict[str, str]:
    """Passes repeat one setting; a note for each that does not. Imported ones do not say theirs."""
    asked = {
        s.name: f"{s.recording.config['provider']}:{s.recording.config.get('model')}"
        for s in subjects
        if s.recording.config.get("provider")
    }
    first = next(iter(asked.values()), None)
    return {
        name: f"not a pass of {first} but of {setting}: the range is not one setting's"
        for name, setting in asked.items()
        if setting != first
    }


# `sdb analyze schedules`: references that change more, less or otherwise.


def schedules(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    draws: Annotated[
        int, typer.Option("--resamples", "--draws", help="Latency resamples per schedule.")
    ] = 300,
    seed: Seed = 0,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Project onto references that change more, less or otherwise."""
    from streamdecisionbench.analysis.paper import project, schedules_table
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.cli.progress import working

    subjects = open_runs(runs, data)
    with working(f"drawing latencies {draws} times for every schedule"):
        found = {
            s.name: project(s.parts, interval=interval, draws=draws, seed=seed) for s in subjects
        }
    options = {"interval": interval, "draws": draws, "seed": seed}
    show(
        "schedules",
        found,
        [schedules_table(found, draws)],
        subjects,
        Form(as_json, as_csv),
        options,
    )


# `sdb analyze sensitivity`: the integrated score under other bounds and weightings.


def sensitivity(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Show the integrated score for other bounds and weightings."""
    from streamdecisionbench.analysis.paper import sensitivity as analyse
    from streamdecisionbench.analysis.paper import sensitivity_table
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show

    subjects = open_runs(runs, data)
    found = {s.name: analyse(s.parts, interval=interval) for s in subjects}
    options = {"interval": interval}
    show("sensitivity", found, [sensitivity_table(found)], subjects, Form(as_json, as_csv), options)


# `sdb analyze separability`: untimed accuracy times oracle against in-force accuracy.


def separability(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    bounds: Bounds = DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Compare untimed accuracy times oracle with in-force accuracy, by scenario."""
    from streamdecisionbench.analysis.paper import separability as analyse
    from streamdecisionbench.analysis.paper import separability_table
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.scoring.bounds import Bounds

    subjects = open_runs(runs, data)
    limits = Bounds(*bounds, weighting)
    found = {s.name: analyse(s.parts, interval=interval, bounds=limits) for s in subjects}
    tables = [separability_table(name, result) for name, result in found.items()]
    options = {"interval": interval, "bounds": bounds, "weighting": weighting}
    show("separability", found, tables, subjects, Form(as_json, as_csv), options)


# `sdb analyze spells`: how long the application stays wrong, and how often.


def spells(
    runs: Runs,
    data: Data = None,
    theta: Annotated[
        float, typer.Option(help="Seconds from which a wrong spell counts as long.")
    ] = 4.0,
    interval: FixedInterval = 2.0,
    bounds: IntegrateBounds = DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    pair: Pair = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Measure wrong spells: their age, their number, the longest, the time beyond theta."""
    from streamdecisionbench.analysis.wrong_time import spell_tables
    from streamdecisionbench.cli.loading import courses, open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.scoring.bounds import Bounds
    from streamdecisionbench.scoring.cost import spell_measures

    within = Bounds(*bounds, weighting)
    subjects = open_runs(runs, data)
    made = courses(subjects, interval, within, pair)
    found = {name: spell_measures(course, theta) for name, course in made.items()}
    show(
        "spells",
        found,
        spell_tables(found, theta, interval, within),
        subjects,
        Form(as_json, as_csv),
        {"theta": theta, "interval": interval, "bounds": bounds, "weighting": weighting},
    )


# `sdb analyze transitions`: errors by distance to a reference change.


def transitions(runs: Runs, data: Data = None, as_json: Json = False, as_csv: Csv = False) -> None:
    """Count untimed errors by distance to the nearest reference change."""
    from streamdecisionbench.analysis.paper import transition_errors, transition_tables
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show

    subjects = open_runs(runs, data)
    found = {s.name: transition_errors(s.parts) for s in subjects}
    show("transitions", found, transition_tables(found), subjects, Form(as_json, as_csv))


# `sdb analyze window`: the most representative stretch to show.


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
    from streamdecisionbench.analysis.paper import choose_window, window_table
    from streamdecisionbench.cli.loading import open_runs, require_one_suite
    from streamdecisionbench.cli.printing import Form, show

    options: dict[str, Any] = {"scenario": scenario, "seconds": seconds, "interval": interval}
    subjects = open_runs(runs, data)
    require_one_suite(subjects)
    found = choose_window({s.name: s.parts for s in subjects}, **options)
    show("window", found, [window_table(found)], subjects, Form(as_json, as_csv), options)


HELP = "Analyses of recordings: latency, errors, pace, cost, uncertainty."
COMMANDS = {
    "network": network,
    "transitions": transitions,
    "paired": paired,
    "pace": pace,
    "sensitivity": sensitivity,
    "schedules": schedules,
    "separability": separability,
    "baselines": baselines,
    "cost": cost,
    "repeats": repeats,
    "repacing": repacing,
    "intervals": intervals,
    "window": window,
    "calibration": calibration,
    "spells": spells,
    "changes": changes,
    "actions": actions,
    "cost-of-error": cost_of_error,
}
