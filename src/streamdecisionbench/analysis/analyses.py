"""The analyses, a row each: what is computed of recordings, and which tables show it.

`sdb analyze` runs a row on what it was given and prints it; a report runs the same rows on its
recordings and collects the tables. Options are those of the command line, by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from streamdecisionbench.analysis import network as networks
from streamdecisionbench.analysis import (
    paper_analyses as paper,
)
from streamdecisionbench.analysis import (
    token_cost,
)
from streamdecisionbench.analysis.bootstrap import Sampling, intervals, intervals_table
from streamdecisionbench.analysis.calibration import Calibration, calibration, calibration_tables
from streamdecisionbench.analysis.repacing import repacing, repacing_tables
from streamdecisionbench.analysis.repeated_runs import (
    repeats,
    repeats_table,
)
from streamdecisionbench.errors import InputError
from streamdecisionbench.features import hooks
from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.kernel.paces import (
    Bounds,
    bounds_for,
    check_interval,
)
from streamdecisionbench.kernel.pair_trajectory import (
    pair_trajectory,
    pair_trajectory_over,
)
from streamdecisionbench.kernel.rule import pair_rule
from streamdecisionbench.policies.cost_rules import Costs
from streamdecisionbench.policies.policy_file import COMPOSES
from streamdecisionbench.recording.prices import read_prices
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.render.table import Table
from streamdecisionbench.scoring import error_tables as wrong_time
from streamdecisionbench.scoring.error_costs import (
    PathMeasures,
    act_measures,
    change_measures,
    charge,
    path_measures,
    path_measures_along,
    spell_measures,
)
from streamdecisionbench.scoring.policy_answers import answers_of
from streamdecisionbench.scoring.score import score
from streamdecisionbench.suite.scenario import Suite


class Recorded(Protocol):
    """A recording with its suite, under the name it goes by."""

    @property
    def name(self) -> str: ...
    @property
    def recording(self) -> Recording: ...
    @property
    def suite(self) -> Suite: ...
    @property
    def parts(self) -> Sequence[Timeline]: ...


@dataclass(frozen=True, slots=True)
class Found:
    """What an analysis gave: for programs, and as tables."""

    result: Any
    tables: Sequence[Table]
    notes: Mapping[str, str] = field(default_factory=dict)
    """What must be known of a recording beside what its score says, by name."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What was used beside the options given."""
    together: Any = None
    """What the recordings come to as one, where the result is by recording."""


@dataclass(frozen=True, slots=True)
class Each:
    """An analysis of recordings one by one: `compute` looks at one, `tables` shows all by name."""

    compute: Callable[..., Any]
    tables: Callable[..., Sequence[Table]]

    def __call__(self, recorded: Sequence[Recorded], **options: Any) -> Found:
        found = {r.name: self.compute(r, **options) for r in recorded}
        return Found(found, self.tables(found, **options))


@dataclass(frozen=True, slots=True)
class Analysis:
    run: Callable[..., Found]
    told: tuple[str, ...] = ()
    """Options that a result repeats."""
    one_suite: bool = False
    """Step by step comparisons mean something only where the steps are the same states."""
    whole: bool = False
    """Whether a live pair is one thing here, and not its components one by one."""
    otherwise: str = ""
    """How it replays a recording, which a session in a world would not have borne."""


def _pace(
    recorded: Recorded, at: Sequence[float] | None = None, own: float | None = None
) -> list[paper.Pace]:
    """At the usual scales of its own interval (or of another one), or at intervals named."""
    parts = recorded.parts
    for interval in at or ():
        check_interval(interval)
    if not at:
        return paper.pace(parts, tick=own)
    tick = parts[0].tick
    alike = all(part.tick == tick for part in parts)  # sessions of a log have each their own
    scales = [(f"×{tick / x:.3g}" if alike else "–", tick / x) for x in at]
    return paper.pace(parts, scales=scales, tick=tick)


def _calibration(recorded: Recorded, interval: float, compose: str = "min") -> Calibration:
    check_interval(interval)
    if compose not in COMPOSES:
        raise InputError(f"--compose {compose!r} is not known", fix=f"use {' or '.join(COMPOSES)}")
    if recorded.recording.policy_applied:
        raise InputError(
            "not its answers alone decided what was in force",
            where=recorded.name,
            fix="calibration is of one component without a policy",
        )
    return calibration(answers_of(recorded.recording, recorded.suite), interval, compose)


def courses(
    recorded: Sequence[Recorded], interval: float, bounds: Bounds, pair: str | None = None
) -> dict[str, PathMeasures]:
    """By name; with a rule, two recordings also as fast and slow component of a pair."""
    found = {r.name: path_measures(r.parts, interval, bounds) for r in recorded}
    if pair is not None:
        rule = pair_rule(pair)
        if len(recorded) != 2:
            raise InputError(
                f"a pair is two components, not {len(recorded)}",
                fix="name the fast recording, then the slow one",
            )
        fast, slow = recorded
        path = pair_trajectory(fast.parts, slow.parts, rule, interval)
        sweep = pair_trajectory_over(fast.parts, slow.parts, rule, bounds)
        found[f"pair {rule}"] = path_measures_along(path, sweep, fast.parts, bounds)
    return found


def _spells(
    recorded: Sequence[Recorded], *, theta: float, pair: str | None = None, **over: Any
) -> Found:
    interval, bounds = _over(recorded, **over)
    made = courses(recorded, interval, bounds, pair)
    found = {name: spell_measures(course, theta) for name, course in made.items()}
    return Found(found, wrong_time.spell_tables(found, theta, interval, bounds))


def _changes(recorded: Sequence[Recorded], *, pair: str | None = None, **over: Any) -> Found:
    interval, bounds = _over(recorded, **over)
    made = courses(recorded, interval, bounds, pair)
    found = {name: change_measures(course) for name, course in made.items()}
    return Found(found, wrong_time.change_tables(found, interval))


def _actions(
    recorded: Sequence[Recorded], *, costs: Costs, pair: str | None = None, **over: Any
) -> Found:
    interval, bounds = _over(recorded, **over)
    made = courses(recorded, interval, bounds, pair)
    found = {name: act_measures(course, costs) for name, course in made.items()}
    if not any(found.values()):
        raise InputError(
            "no act is declared for these scenarios",
            where=costs.name,
            fix="declare acts in a cost file: docs/reference/costs.md shows how",
        )
    tables = wrong_time.action_tables(found, interval, costs.name)
    return Found(found, tables, options=_named(costs))


def _cost_of_error(
    recorded: Sequence[Recorded], *, costs: Costs, pair: str | None = None, **over: Any
) -> Found:
    interval, bounds = _over(recorded, **over)
    made = courses(recorded, interval, bounds, pair)
    found = {name: charge(course, costs) for name, course in made.items()}
    right = {}
    for name, course in made.items():
        levels = spell_measures(course, 0.0)
        every = {"overall": levels.overall, **levels.by_family}
        right[name] = {level: 1 - x.wrong_share for level, x in every.items()}
    tables = wrong_time.cost_tables(found, right, interval, bounds)
    return Found(found, tables, options=_named(costs))


def _bounds(recorded: Sequence[Recorded], limits: tuple[float, float], weighting: str) -> Bounds:
    return bounds_for((part for r in recorded for part in r.parts), limits, weighting)


def _over(
    recorded: Sequence[Recorded], interval: float, bounds: tuple[float, float], weighting: str
) -> tuple[float, Bounds]:
    return interval, _bounds(recorded, bounds, weighting)


def _named(costs: Costs) -> dict[str, str]:
    return {"costs": costs.name, "costs_sha256": costs.digest}


def _paired(recorded: Sequence[Recorded]) -> Found:
    if len(recorded) < 2:
        raise InputError("paired counts need two recordings", fix="give two or more")
    found = [
        paper.paired_counts(a.parts, b.parts, (a.name, b.name))
        for k, a in enumerate(recorded)
        for b in recorded[k + 1 :]
    ]
    return Found(found, [paper.paired_table(pair) for pair in found])


def _separability(
    recorded: Recorded, interval: float, bounds: tuple[float, float], weighting: str
) -> paper.Separability:
    limits = _bounds([recorded], bounds, weighting)
    return paper.separability(recorded.parts, interval=interval, bounds=limits)


def _clocks(
    recorded: Sequence[Recorded], *, interval: float, bounds: tuple[float, float], weighting: str
) -> Found:
    limits = Bounds(*bounds, weighting)
    found = paper.Clocks(
        interval,
        limits,
        {r.name: paper.clock_gap(r.recording, r.suite, interval, limits) for r in recorded},
    )
    return Found(found, [paper.clocks_table(found)])


def _baselines(recorded: Sequence[Recorded], *, suite: Suite) -> Found:
    found = paper.baselines(suite)
    title = f"Trivial baselines on {suite.name}, untimed (%)"
    options = {"suite": suite.name, "dataset_hash": suite.dataset_hash}
    return Found(found, [paper.baselines_table(found, title)], options=options)


def _cost(recorded: Sequence[Recorded], *, prices: Path | None) -> Found:
    table = read_prices(prices)
    found: dict[str, Any] = {r.name: token_cost.cost(r.recording, table) for r in recorded}
    together = token_cost.passes_cost(found)
    own = {r.name: p for r in recorded if (p := token_cost.provisioned(r.recording))}
    # Own hardware is paid for whether or not anybody counts tokens.
    tables = token_cost.cost_tables(found) if any(found.values()) or not own else []
    tables += [token_cost.provisioned_table(own)] if own else []
    result = {**found, **({"provisioned": own} if own else {})}
    return Found(result, tables, together=together)


def _intervals(
    recorded: Sequence[Recorded],
    *,
    interval: float,
    bounds: tuple[float, float],
    weighting: str,
    **sampling: Any,
) -> Found:
    found = intervals(
        {r.name: r.parts for r in recorded},
        interval=interval,
        bounds=_bounds(recorded, bounds, weighting),
        sampling=Sampling(**sampling),
    )
    return Found(found, [intervals_table(found)])


def _repeats(recorded: Sequence[Recorded], **options: Any) -> Found:
    """Passes of one component and effort; others are refused. Imported ones do not say theirs."""
    asked = {}
    for r in recorded:
        config = r.recording.config
        if config.get("provider"):
            effort = f" with effort {config['effort']}" if config.get("effort") else ""
            asked[r.name] = f"{config['provider']}:{config.get('model')}{effort}"
    first = next(iter(asked), "")
    for name, setting in asked.items():
        if setting != asked[first]:
            raise InputError(
                f"is a pass of {setting}, and {first} is one of {asked[first]}: a mean over both"
                " would be neither's",
                where=name,
                fix="give passes of one component; `sdb score` ranks different ones",
            )
    found = repeats([score(r.recording, r.suite, **options) for r in recorded])
    return Found(found, [repeats_table(found)])


def _repacing(recorded: Sequence[Recorded]) -> Found:
    found = repacing([(r.recording, r.suite) for r in recorded])
    return Found(found, repacing_tables(found))


def _window(recorded: Sequence[Recorded], **options: Any) -> Found:
    found = paper.choose_window({r.name: r.parts for r in recorded}, **options)
    return Found(found, [paper.window_table(found)])


EACH: Mapping[str, Each] = {
    "network": Each(
        lambda r, **options: networks.network_estimate(r.recording, r.suite, **options),
        lambda found, **_: networks.network_tables(found),
    ),
    "transitions": Each(lambda r: paper.transition_errors(r.parts), paper.transition_tables),
    "pace": Each(_pace, lambda found, **_: [paper.pace_table(found)]),
    "sensitivity": Each(
        lambda r, interval: paper.sensitivity(r.parts, interval=interval),
        lambda found, **_: [paper.sensitivity_table(found)],
    ),
    "schedules": Each(
        lambda r, **options: paper.project(r.parts, **options),
        lambda found, draws, **_: [paper.schedules_table(found, draws)],
    ),
    "separability": Each(
        _separability,
        lambda found, **_: [paper.separability_table(name, one) for name, one in found.items()],
    ),
    "calibration": Each(_calibration, lambda found, **_: calibration_tables(found)),
}
"""Analyses of recordings one by one, which a report spreads over processors."""

_RANGE, _OTHER_PACE = ("interval", "bounds", "weighting"), "at another pace"
ANALYSES: Mapping[str, Analysis] = {
    "network": Analysis(
        EACH["network"],
        ("decode", "quantile", "block", "resamples", "seed", "interval"),
        otherwise="without its network delay",
    ),
    "transitions": Analysis(EACH["transitions"]),
    "paired": Analysis(_paired, one_suite=True),
    "pace": Analysis(EACH["pace"], otherwise=_OTHER_PACE),
    "clocks": Analysis(_clocks, _RANGE, otherwise="with states published as planned"),
    "sensitivity": Analysis(EACH["sensitivity"], ("interval",), otherwise=_OTHER_PACE),
    "schedules": Analysis(
        EACH["schedules"], ("interval", "draws", "seed"), otherwise="on another schedule"
    ),
    "separability": Analysis(EACH["separability"], _RANGE),
    "baselines": Analysis(_baselines),
    "cost": Analysis(_cost),
    "repeats": Analysis(_repeats, _RANGE, one_suite=True),
    "repacing": Analysis(_repacing, one_suite=True, otherwise=_OTHER_PACE),
    "intervals": Analysis(_intervals, _RANGE, one_suite=True),
    "window": Analysis(_window, ("scenario", "seconds", "interval"), one_suite=True),
    "calibration": Analysis(EACH["calibration"], ("interval", "compose")),
    "spells": Analysis(_spells, ("theta", *_RANGE)),
    "changes": Analysis(_changes, _RANGE),
    "actions": Analysis(_actions, _RANGE),
    "cost-of-error": Analysis(_cost_of_error, _RANGE),
}
"""The analyses of the core, in the order `sdb analyze --help` lists them."""


def all_analyses() -> dict[str, Analysis]:
    """Those of the core, then those of installed features."""
    return {**ANALYSES, **{k: v for found in hooks("analyses") for k, v in found().items()}}
