"""How sure a score is: Student's quantile, resampled blocks of steps, intervals of scores and differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    Floats,
    Timeline,
    joined_timelines,
)
from streamdecisionbench.kernel.levels import family_weights
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.shares import (
    shares_by_step_at,
    shares_by_step_over,
)
from streamdecisionbench.render.sentences import resampled, smallest_shown
from streamdecisionbench.render.table import (
    Cell,
    Table,
    percentage,
    text,
)
from streamdecisionbench.scoring.score import Score
from streamdecisionbench.scoring.score_json import scores_to_json

_STEPS_AT_ONCE = 1 << 20
"""Of all resamples together: some megabytes."""


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
        if self.block < 1:
            raise InputError(f"block {self.block} is not a number of steps", fix="give 1 or more")
        least = ceil(2 / (1 - self.level) - 1e-9)  # fewer put no resample into the tails
        if not least <= self.resamples <= 1_000_000:
            raise InputError(
                f"{self.resamples} resamples give no interval of {100 * self.level:g} %",
                fix=f"give {least} to 1000000",
            )
        if not 0 <= self.seed < 2**63:
            raise InputError(f"seed {self.seed} cannot be used", fix="give 0 to 2^63 − 1")


# Block resampling: circular blocks of consecutive steps, drawn within each scenario.
#
# Consecutive steps share evidence, reference segments and service conditions, so single steps are not
# independent draws; blocks of them nearly are. A resample of a scenario of n steps is ⌈n/b⌉ blocks of
# b steps, each starting anywhere (the end is followed by the beginning), the last cut to fit.


def resampled_counts(lengths: Sequence[int], sampling: Sampling) -> Iterator[Floats]:
    """How often each step (scenarios end to end) is drawn: rows are resamples, some at a time."""
    rng, resamples = np.random.default_rng(sampling.seed), sampling.resamples
    blocks = [block_length(n, sampling.block) for n in lengths]
    sizes = [
        np.minimum(b, n - b * np.arange(-(-n // b))) for n, b in zip(lengths, blocks, strict=True)
    ]
    size = np.concatenate(sizes)
    n_of, first = (
        np.repeat(x, [len(own) for own in sizes]) for x in (lengths, np.cumsum(lengths) - lengths)
    )
    within = np.arange(sum(lengths)) - np.repeat(np.cumsum(size) - size, size)
    around, before = np.repeat(n_of, size), np.repeat(first, size)
    at_once = max(1, _STEPS_AT_ONCE // len(within))
    for done in range(0, resamples, at_once):
        starts = rng.integers(0, n_of, (min(at_once, resamples - done), len(size)))
        steps = (np.repeat(starts, size, axis=1) + within) % around + before
        steps += np.arange(len(starts))[:, None] * len(within)
        counts = np.bincount(steps.ravel(), minlength=steps.size)
        yield counts.reshape(steps.shape).astype(np.float64)


def resampled_sums(values: Sequence[Floats], weights: Floats, sampling: Sampling) -> Floats:
    """Σ_e weight_e · Σ_g value of step g, over resampled steps: one row per resample.

    `values` holds an array (steps, columns) per scenario. All columns of a row come from the same
    blocks, so differences of columns are differences paired by state.
    """
    rng = np.random.default_rng(sampling.seed)
    total: Floats = np.zeros((sampling.resamples, values[0].shape[1]))
    for table, weight in zip(values, weights, strict=True):
        total += weight * _drawn_blocks(table, sampling.block, sampling.resamples, rng)
    return total


def resampled_scenarios(
    values: Sequence[Floats], weights: Floats, families: Sequence[str], sampling: Sampling
) -> Floats:
    """The same sums with scenarios drawn first, with replacement within their family, then blocks.

    Every place of a family is filled anew in every resample, so a scenario drawn twice brings two
    different sets of blocks.
    """
    rng = np.random.default_rng(sampling.seed)
    total: Floats = np.zeros((sampling.resamples, values[0].shape[1]))
    for family in dict.fromkeys(families):
        members = [k for k, name in enumerate(families) if name == family]
        for place in members:
            drawn = rng.integers(0, len(members), sampling.resamples)
            for nth, k in enumerate(members):
                rows = np.flatnonzero(drawn == nth)
                blocks = _drawn_blocks(values[k], sampling.block, rows.size, rng)
                total[rows] += weights[place] * blocks
    return total


def block_variance(values: Sequence[Floats], weights: Floats, block: int) -> Floats:
    """The variance of Σ_e weight_e · Σ_g value per column, as blocks of this length show it.

    Exact over all starts, and corrected for the scenario's mean being that of the blocks.
    """
    total: Floats = np.zeros(values[0].shape[1])
    for table, weight in zip(values, weights, strict=True):
        n = len(table)
        b = block_length(n, block)
        if n > b:
            total += weight**2 * (n / b) * (n / (n - b)) * _circular_sums(table, b).var(axis=0)
    return total


def block_length(n: int, block: int) -> int:
    """At most half a scenario, so that a resample is never the scenario itself.

    >>> block_length(60, 10), block_length(8, 10), block_length(1, 10)
    (10, 4, 1)
    """
    return min(block, max(1, n // 2))


def _drawn_blocks(table: Floats, block: int, resamples: int, rng: np.random.Generator) -> Floats:
    """Sums over one scenario's resampled steps: one row per resample."""
    n = len(table)
    b = block_length(n, block)
    whole, rest = divmod(n, b)
    sums = _circular_sums(table, b)
    total: Floats = np.zeros((resamples, table.shape[1]))
    for starts in rng.integers(0, n, (whole, resamples)):  # one by one: memory stays small
        total += sums.take(starts, axis=0)
    if rest:
        total += _circular_sums(table, rest).take(rng.integers(0, n, resamples), axis=0)
    return total


def _circular_sums(table: Floats, length: int) -> Floats:
    """Sums of `length` consecutive rows from every start."""
    wrapped = np.concatenate((table, table[: length - 1]))
    prefix = np.concatenate((np.zeros((1, table.shape[1])), np.cumsum(wrapped, axis=0)))
    sums: Floats = prefix[length:] - prefix[:-length]
    return sums


# Bootstrap intervals for a recording's scores and for differences between recordings.
#
# The score is a weighted sum of what each step contributes (`steps`). Blocks of consecutive steps are
# drawn with replacement within every scenario (`blocks`), for all recordings the same ones, so a
# difference is paired by state. Deviations of the resampled scores from the score are widened by
#
#     √(n / (n − b)) · κ · t / z.
#
# Blocks scatter about their own scenario's mean, which takes b of n steps' variance away. Cutting at
# block edges loses dependence that reaches across them: a variance from blocks of b steps falls short
# by an amount proportional to 1/b, so κ² = (2·V(b) − V(b/2)) / V(b), at least 1, puts it back. And few
# blocks fit: t is Student's quantile with as many degrees of freedom as there are blocks less
# scenarios, z the normal one. bench/bootstrap.py measures how often such intervals hold the truth.
#
# Where every family has at least five scenarios, scenarios are drawn first, within their family, then
# blocks within each (`over_scenarios`): the interval then speaks of other scenarios of the same kind.
# With fewer, the scenarios at hand are taken as they are.
#
# What blocks alone generalise over: other stretches of stream of the same scenarios' kind, with new answers
# and latencies of the same component. On the very same timelines a second pass moves less, since hard
# states stay hard; repeated passes (`repeats`) measure that. Neither says anything about another
# place, another hour, another version of a model, or other scenarios.


METRICS = ("log_auc", "in_force", "untimed")
ENOUGH_SCENARIOS = 5
"""Per family. Fewer say too little about how scenarios differ."""
POWER = 0.8
"""How often a detectable difference would be shown."""


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
    columns: list[Floats] = []
    for flat in map(joined_timelines, recordings.values()):
        untimed = flat.right / flat.n[flat.scenario]
        columns += shares_by_step_over(flat, bounds), shares_by_step_at(flat, interval), untimed
    estimates = bootstrap(parts, np.stack(columns, axis=1), sampling)
    each = {
        name: dict(zip(METRICS, estimates[3 * k : 3 * k + 3], strict=True))
        for k, name in enumerate(names)
    }
    differences = []
    for i, j in combinations(range(len(names)), 2):
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
    values: Floats = np.repeat(weights, lengths) @ columns
    if min(lengths) < 2:
        # Of one step no block shows how it scatters: scenarios are the steps of one stream.
        tables = [np.stack([table.sum(axis=0) for table in tables]) * weights[:, None]]
        lengths, weights, sampling = [len(parts)], np.ones(1), replace(sampling, block=1)
    elif over_scenarios(parts):
        return values, resampled_scenarios(tables, weights, families, sampling) - values
    wider = []
    for n, table in zip(lengths, tables, strict=True):
        b = block_length(n, sampling.block)
        # Widening is per scenario, so it is done to the contributions about their mean.
        mean = table.mean(axis=0)
        wider.append(mean + (table - mean) * np.sqrt(n / (n - b)) if n > b else table)
    sums = resampled_sums(wider, weights, sampling)
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
            percentage(name, key),
            percentage("low", f"{key}_low"),
            percentage("high", f"{key}_high"),
        ]
    s = result.sampling
    scenarios = result.drawn != "blocks"
    how = resampled(result.drawn, s.block, s.resamples, s.seed)
    return Table(
        f"Bootstrap intervals, {level}, AUC {result.bounds.text()} (%, differences in points)",
        tuple(columns),
        tuple(rows),
        (
            f"{how[0].upper()}{how[1:]}; differences are paired by state.",
            *(
                f"{d.first} − {d.second}: the {smallest_shown('difference these scenarios')} is"
                f" {100 * d.detectable['log_auc']:.1f} points (AUC) and"
                f" {100 * d.detectable['in_force']:.1f} ({at})."
                for d in result.differences[:3]
            ),
            f"Generalises over {'other scenarios of these kinds' if scenarios else 'other stretches of streams like these'},"
            " not over places, hours or model versions.",
        ),
    )


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
    """t / z, by the first term of the expansion of Student's quantile about the normal one.

    Degrees of freedom: blocks that fit, less one per scenario, whose mean they are compared with.
    """
    z = NormalDist().inv_cdf((1 + sampling.level) / 2)
    degrees = max(1.0, sum(n / block_length(n, sampling.block) - 1 for n in lengths))
    return 1 + (z * z + 1) / (4 * degrees)


# How sure one recording's score is, for every output that prints it.
#
# `detectable` is the smallest true difference between this recording and another of the same scatter, erring
# independently, whose interval would exclude zero in 80 of 100 trials. Paired differences have their own
# (`intervals`), mostly smaller: hard states are hard for both.


@dataclass(frozen=True, slots=True)
class ScoreIntervals:
    """Of log-AUC, of in force at the interval and of untimed accuracy."""

    metrics: Mapping[str, Estimate]
    sampling: Sampling
    drawn: str
    """What was resampled: `blocks`, or `scenarios, then blocks`."""

    @property
    def interval_95(self) -> tuple[float, float]:
        """Of the integrated score."""
        found = self.metrics["log_auc"]
        return found.low, found.high

    @property
    def signature(self) -> str:
        """How they were drawn, to stand beside a score's own signature."""
        drawn = "blocks" if self.drawn == "blocks" else "scenarios+blocks"
        s = self.sampling
        return f"interval:{100 * s.level:g}% bootstrap:{drawn} block:{s.block} resamples:{s.resamples} seed:{s.seed}"

    def detectable(self, metric: str) -> float:
        return sqrt(2) * self.metrics[metric].detectable(self.sampling.level)


def score_intervals(score: Score, sampling: Sampling | None = None) -> ScoreIntervals:
    found = intervals(
        {score.name: score.parts}, interval=score.interval, bounds=score.bounds, sampling=sampling
    )
    return ScoreIntervals(found.recordings[score.name], found.sampling, found.drawn)


def sure_scores_to_json(
    scores: Sequence[Score], sure: Sequence[ScoreIntervals], *, with_curves: bool = False
) -> dict[str, Any]:
    """Schema sdb-score/1 with every recording's intervals beside its scores."""
    document = scores_to_json(scores, with_curves=with_curves)
    for entry, found in zip(document["recordings"], sure, strict=True):
        entry["interval_95"] = {m: [found.metrics[m].low, found.metrics[m].high] for m in METRICS}
        entry["detectable"] = {m: found.detectable(m) for m in METRICS}
        entry["interval_signature"] = found.signature
    return document
