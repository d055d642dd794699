"""Block resampling: circular blocks of consecutive steps, drawn within each scenario.

Consecutive steps share evidence, reference segments and service conditions, so single steps are not
independent draws; blocks of them nearly are. A resample of a scenario of n steps is ⌈n/b⌉ blocks of
b steps, each starting anywhere (the end is followed by the beginning), the last cut to fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.errors import InputError

__all__ = [
    "block_length",
    "block_variance",
    "check_draws",
    "degrees_of_freedom",
    "resampled_counts",
    "resampled_scenarios",
    "resampled_sums",
]

Floats = NDArray[np.float64]


def resampled_counts(
    lengths: Sequence[int], block: int, resamples: int, seed: int
) -> Iterator[Floats]:
    """How often each step (scenarios end to end) is drawn, resample by resample."""
    check_draws(block, resamples)
    rng = np.random.default_rng(seed)
    for _ in range(resamples):
        yield np.concatenate([_counts(n, block, rng) for n in lengths])


def resampled_sums(
    values: Sequence[Floats], weights: Floats, block: int, resamples: int, seed: int
) -> Floats:
    """Σ_e weight_e · Σ_g value of step g, over resampled steps: one row per resample.

    `values` holds an array (steps, columns) per scenario. All columns of a row come from the same
    blocks, so differences of columns are differences paired by state.
    """
    check_draws(block, resamples)
    rng = np.random.default_rng(seed)
    total: Floats = np.zeros((resamples, values[0].shape[1]))
    for table, weight in zip(values, weights, strict=True):
        total += weight * _drawn_blocks(table, block, resamples, rng)
    return total


def resampled_scenarios(
    values: Sequence[Floats],
    weights: Floats,
    families: Sequence[str],
    block: int,
    resamples: int,
    seed: int,
) -> Floats:
    """The same sums with scenarios drawn first, with replacement within their family, then blocks.

    Every place of a family is filled anew in every resample, so a scenario drawn twice brings two
    different sets of blocks.
    """
    check_draws(block, resamples)
    rng = np.random.default_rng(seed)
    total: Floats = np.zeros((resamples, values[0].shape[1]))
    for family in dict.fromkeys(families):
        members = [k for k, name in enumerate(families) if name == family]
        for place in members:
            drawn = rng.integers(0, len(members), resamples)
            for nth, k in enumerate(members):
                rows = np.flatnonzero(drawn == nth)
                total[rows] += weights[place] * _drawn_blocks(values[k], block, rows.size, rng)
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


def degrees_of_freedom(lengths: Sequence[int], block: int) -> float:
    """Blocks that fit, less one per scenario, whose mean they are compared with."""
    return max(1.0, sum(n / block_length(n, block) - 1 for n in lengths))


def check_draws(block: int, resamples: int) -> None:
    if block < 1:
        raise InputError(f"block {block} is not a number of steps", fix="give 1 or more")
    if not 2 <= resamples <= 1_000_000:
        raise InputError(f"{resamples} resamples cannot be drawn", fix="give 2 to 1000000")


def _counts(n: int, block: int, rng: np.random.Generator) -> Floats:
    b = block_length(n, block)
    sizes = np.full(-(-n // b), b)
    sizes[-1] = n - b * (len(sizes) - 1)
    steps = np.arange(n) % b + np.repeat(rng.integers(0, n, len(sizes)), sizes)
    return np.bincount(steps % n, minlength=n).astype(np.float64)


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
