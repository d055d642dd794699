"""Bootstrap intervals for a recording's scores and for differences between recordings.

The score is a weighted sum of what each step contributes (`steps`). Blocks of consecutive steps are
drawn with replacement within every scenario (`blocks`), for all recordings the same ones, so a
difference is paired by state. Deviations of the resampled scores from the score are widened by

    √(n / (n − b)) · κ · t / z.

Blocks scatter about their own scenario's mean, which takes b of n steps' variance away. Cutting at
block edges loses dependence that reaches across them: a variance from blocks of b steps falls short
by an amount proportional to 1/b, so κ² = (2·V(b) − V(b/2)) / V(b), at least 1, puts it back. And few
blocks fit: t is Student's quantile with as many degrees of freedom as there are blocks less
scenarios, z the normal one. bench/bootstrap.py measures how often such intervals hold the truth.

Where every family has at least five scenarios, scenarios are drawn first, within their family, then
blocks within each (`over_scenarios`): the interval then speaks of other scenarios of the same kind.
With fewer, the scenarios at hand are taken as they are.

What blocks alone generalise over: other stretches of stream of the same scenarios' kind, with new answers
and latencies of the same component. On the very same timelines a second pass moves less, since hard
states stay hard; repeated passes (`repeats`) measure that. Neither says anything about another
place, another hour, another version of a model, or other scenarios.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from streamdecisionbench.analysis.block_resampling import (
    block_length,
    block_variance,
    degrees_of_freedom,
    resampled_scenarios,
    resampled_sums,
)
from streamdecisionbench.analysis.result_table import Cell, Table, percent, text
from streamdecisionbench.analysis.steps import shares_by_step_at, shares_by_step_over
from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.score import family_weights
from streamdecisionbench.scoring.timeline import Flat, Floats, Timeline

__all__ = [
    "METRICS",
    "POWER",
    "Difference",
    "Estimate",
    "Intervals",
    "Sampling",
    "bootstrap",
    "bootstrap_columns",
    "intervals",
    "intervals_table",
    "over_scenarios",
    "same_states",
]

METRICS = ("log_auc", "in_force", "untimed")
ENOUGH_SCENARIOS = 5
"""Per family. Fewer say too little about how scenarios differ."""
POWER = 0.8
"""How often a detectable difference would be shown."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How resamples are drawn and how wide an interval is."""

    block: int = 10
    resamples: int = 5000
    seed: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        if not 0.5 <= self.level < 1:
            raise InputError(f"level {self.level:g} is not in 0.5–1", fix="for example 0.95")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share, or a difference of shares, with its interval."""

    value: float
    low: float
    high: float

    error: float = 0.0
    """The standard error behind the interval."""

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0

    def detectable(self, level: float = 0.95) -> float:
        """The smallest true difference such an interval would exclude zero for in 80 of 100 trials."""
        normal = NormalDist()
        return (normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(POWER)) * self.error


@dataclass(frozen=True, slots=True)
class Difference:
    """`first` minus `second`, paired by state."""

    first: str
    second: str
    metrics: Mapping[str, Estimate]
    detectable: Mapping[str, float]
    """The smallest true difference that would have been shown in 80 of 100 trials."""


@dataclass(frozen=True, slots=True)
class Intervals:
    """Per recording and per pair of recordings: log-AUC, in force at the interval, untimed."""

    interval: float
    bounds: Bounds
    sampling: Sampling
    recordings: Mapping[str, Mapping[str, Estimate]]
    differences: Sequence[Difference]
    drawn: str = "blocks"
    """What was resampled: `blocks`, or `scenarios, then blocks`."""


def intervals(
    recordings: Mapping[str, Sequence[Timeline]],
    *,
    interval: float = 2.0,
    bounds: Bounds | None = None,
    sampling: Sampling | None = None,
) -> Intervals:
    """Intervals for every recording and for every difference between two of them."""
    bounds, sampling = bounds or Bounds(), sampling or Sampling()
    names = list(recordings)
    parts = same_states(recordings)
    columns = [
        column
        for name in names
        for column in _contributions(Flat(recordings[name]), interval, bounds)
    ]
    estimates = bootstrap(parts, np.stack(columns, axis=1), sampling)
    each = {
        name: dict(zip(METRICS, estimates[3 * k : 3 * k + 3], strict=True))
        for k, name in enumerate(names)
    }
    differences = []
    for i in range(len(names)):
        for j in range(i + 1, len(names)):
            gaps = [columns[3 * i + m] - columns[3 * j + m] for m in range(3)]
            paired = bootstrap(parts, np.stack(gaps, axis=1), sampling, share=False)
            metrics = dict(zip(METRICS, paired, strict=True))
            shown = {name: found.detectable(sampling.level) for name, found in metrics.items()}
            differences.append(Difference(names[i], names[j], metrics, shown))
    drawn = "scenarios, then blocks" if over_scenarios(parts) else "blocks"
    return Intervals(interval, bounds, sampling, each, differences, drawn)


def bootstrap(
    parts: Sequence[Timeline], columns: Floats, sampling: Sampling, *, share: bool = True
) -> list[Estimate]:
    """An interval per column of contributions (steps of all scenarios end to end, columns).

    A scenario's contributions add up to its score; scenarios are averaged family by family.
    Intervals of shares stay within 0 and 1.
    """
    values, deviations = bootstrap_columns(parts, columns, sampling)
    tail = (1 - sampling.level) / 2
    low, high = np.quantile(deviations, [tail, 1 - tail], axis=0)
    bottom, top = (0.0, 1.0) if share else (-1.0, 1.0)
    return [
        Estimate(float(v), float(max(v + a, bottom)), float(min(v + b, top)), float(e))
        for v, a, b, e in zip(values, low, high, deviations.std(axis=0), strict=True)
    ]


def bootstrap_columns(
    parts: Sequence[Timeline], columns: Floats, sampling: Sampling
) -> tuple[Floats, Floats]:
    """The scores, and the widened deviations of every resample from them."""
    lengths = [p.n for p in parts]
    families = [p.family for p in parts]
    weights = family_weights(families)
    tables = np.split(columns, np.cumsum(lengths)[:-1])
    wider = []
    for n, table in zip(lengths, tables, strict=True):
        b = block_length(n, sampling.block)
        # Widening is per scenario, so it is done to the contributions about their mean.
        mean = table.mean(axis=0)
        wider.append(mean + (table - mean) * np.sqrt(n / (n - b)) if n > b else table)
    values: Floats = np.repeat(weights, lengths) @ columns
    draws = (sampling.block, sampling.resamples, sampling.seed)
    if over_scenarios(parts):
        return values, resampled_scenarios(tables, weights, families, *draws) - values
    sums = resampled_sums(wider, weights, *draws)
    across = _across_edges(tables, weights, sampling.block)
    return values, (sums - values) * across * _student(sampling, lengths)


def over_scenarios(parts: Sequence[Timeline]) -> bool:
    """Whether there are enough scenarios in every family to draw them too."""
    families = [p.family for p in parts]
    return all(families.count(family) >= ENOUGH_SCENARIOS for family in set(families))


def same_states(recordings: Mapping[str, Sequence[Timeline]]) -> Sequence[Timeline]:
    """The scenarios all recordings share; refused unless they are the same states."""
    names = list(recordings)
    if not names:
        raise InputError("there is no recording to compare")
    first = recordings[names[0]]
    for name in names[1:]:
        other = recordings[name]
        same = [p.episode_id for p in first] == [p.episode_id for p in other] and all(
            np.array_equal(a.reference, b.reference) for a, b in zip(first, other, strict=True)
        )
        if not same:
            raise InputError(
                f"does not answer the same states as {names[0]}",
                where=name,
                fix="compare recordings of the same scenarios of one suite",
            )
    return first


def intervals_table(result: Intervals) -> Table:
    level = f"{100 * result.sampling.level:g} %"
    at = f"{result.interval:g} s"
    rows: list[tuple[Cell, ...]] = [
        (name, *_flat(metrics)) for name, metrics in result.recordings.items()
    ]
    rows += [(f"{d.first} − {d.second}", *_flat(d.metrics)) for d in result.differences]
    columns = [text("", "recording")]
    for name, key in zip(("AUC", at, "untimed"), METRICS, strict=True):
        columns += [
            percent(name, key),
            percent("low", f"{key}_low"),
            percent("high", f"{key}_high"),
        ]
    s = result.sampling
    scenarios = result.drawn != "blocks"
    return Table(
        f"Bootstrap intervals, {level}, AUC {result.bounds.text()} (%, differences in points)",
        tuple(columns),
        tuple(rows),
        (
            f"{'Scenarios within families, then b' if scenarios else 'B'}locks of {s.block} consecutive"
            f" steps within scenarios, {s.resamples} resamples, seed {s.seed}; differences are"
            " paired by state.",
            *(
                f"{d.first} − {d.second}: the smallest difference these scenarios would show in 80 of"
                f" 100 trials is {100 * d.detectable['log_auc']:.1f} points (AUC) and"
                f" {100 * d.detectable['in_force']:.1f} ({at})."
                for d in result.differences[:3]
            ),
            f"Generalises over {'other scenarios of these kinds' if scenarios else 'other stretches of streams like these'},"
            " not over places, hours or model versions.",
        ),
    )


def _contributions(flat: Flat, interval: float, bounds: Bounds) -> tuple[Floats, Floats, Floats]:
    untimed = flat.right / flat.n[flat.scenario]
    return shares_by_step_over(flat, bounds), shares_by_step_at(flat, interval), untimed


def _flat(metrics: Mapping[str, Estimate]) -> list[Cell]:
    return [
        x for name in METRICS for x in (metrics[name].value, metrics[name].low, metrics[name].high)
    ]


def _across_edges(tables: Sequence[Floats], weights: Floats, block: int) -> Floats:
    """κ per column."""
    whole = block_variance(tables, weights, block)
    half = block_variance(tables, weights, max(1, block // 2))
    ratio = np.divide(half, whole, out=np.ones_like(whole), where=whole > 0)
    return np.sqrt(np.maximum(2.0 - ratio, 1.0))


def _student(sampling: Sampling, lengths: Sequence[int]) -> float:
    """t / z, by the first term of the expansion of Student's quantile about the normal one."""
    z = NormalDist().inv_cdf((1 + sampling.level) / 2)
    return 1 + (z * z + 1) / (4 * degrees_of_freedom(lengths, sampling.block))
