"""Confidence intervals over streams: replicates that merge anywhere, and Student's t for unequal streams.

In replicate b a stream counts k times, k ~ Poisson(1), read from a hash of (seed, stream, b). No draw
depends on another stream, so parts can be summed on any machine and in any order. A stream that is in
two groups counts equally in both, which pairs their difference.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import Floats

RESAMPLES = 500


FEWEST = 5
"""Judged streams from which on there is an interval."""


_MOST_DEGREES = 1000
"""Beyond them Student's t is the normal distribution's to a thousandth."""


STREAMS_AT_ONCE = 128
"""Streams whose draws lie near the processor together."""


_LANES = 4
"""Sixteen bits decide one draw: a 64-bit hash holds four, each share right to 1/65536."""


def stream_keys(streams: Sequence[str], seed: int = 0) -> NDArray[np.uint64]:
    """64 bits per stream id, the same on every machine.

    >>> stream_keys(["call-7"]).tolist() == stream_keys(["call-7"]).tolist()
    True
    """
    if not -(2**63) <= seed < 2**63:
        raise InputError(f"seed {seed} is too large", fix="seeds are below 2^63")
    salt = seed.to_bytes(8, "little", signed=True)
    digests = (
        hashlib.blake2b(stream.encode(), digest_size=8, key=salt).digest() for stream in streams
    )
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def poisson_weights(keys: NDArray[np.uint64], resamples: int = RESAMPLES) -> Floats:
    """How often each stream (row) counts in each replicate (column).

    >>> weights = poisson_weights(stream_keys([str(k) for k in range(2000)]), 8)
    >>> weights.shape, bool(0.9 < weights.mean() < 1.1), bool(0.9 < weights.var() < 1.1)
    ((2000, 8), True, True)
    """
    blocks = -(-resamples // _LANES)
    with np.errstate(over="ignore"):
        x = keys[:, None] + np.arange(1, blocks + 1, dtype=np.uint64) * np.uint64(
            0x9E3779B97F4A7C15
        )
        x ^= x >> np.uint64(30)
        x *= np.uint64(0xBF58476D1CE4E5B9)
        x ^= x >> np.uint64(27)
        x *= np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    draws = _COUNT[x.astype("<u8", copy=False).view("<u2")]
    weights: Floats = draws[:, :resamples].astype(np.float64)
    return weights


def drawn_sums(keys: NDArray[np.uint64], columns: Floats, resamples: int) -> Floats:
    """Sums of columns over streams (rows) in each replicate (row)."""
    total = np.zeros((resamples, columns.shape[1]))
    for begin in range(0, len(keys), STREAMS_AT_ONCE):
        part = slice(begin, begin + STREAMS_AT_ONCE)
        total += poisson_weights(keys[part], resamples).T @ columns[part]
    return total


@dataclass(frozen=True, slots=True)
class Spread:
    """How judged time is spread over streams, w their shares of it."""

    streams: int
    squares: float
    """Σ w²."""
    cubes: float
    """Σ w³."""

    @classmethod
    def of(cls, judged: Floats) -> Spread:
        """From the judged time of every stream."""
        judged = judged[judged > 1e-12]
        shares = judged / judged.sum()
        return cls(len(judged), float((shares**2).sum()), float((shares**3).sum()))

    @property
    def degrees(self) -> int:
        """Degrees of freedom: the number of equally long streams that would be as sure, less one."""
        return min(max(round(1 / self.squares) - 1, 1), _MOST_DEGREES)

    @property
    def inflation(self) -> float:
        """What the sum of squared residuals must be multiplied with to estimate the variance.

        A long stream pulls the mean towards itself, so its residual is too small. Where streams scatter
        equally, E[Σ w²(a − A)²] = σ²·(Σw² − 2·Σw³ + (Σw²)²), and the variance of A is σ²·Σw². For n
        equally long streams this is n/(n − 1). Infinite if one stream is as good as all the time.

        >>> round(Spread.of(np.ones(5)).inflation, 9), round(Spread.of(np.array([4.0, 1])).inflation, 9)
        (1.25, 6.640625)
        """
        seen = 1 - 2 * self.cubes / self.squares + self.squares
        return 1 / seen if self.streams > 1 and seen > 1e-9 else math.inf

    def narrower(self, other: Spread) -> Spread:
        """The one that is less sure, with the smaller number of streams."""
        least = min(self, other, key=lambda one: (one.degrees, -one.inflation))
        return replace(least, streams=min(self.streams, other.streams))


def linear_ratio(
    part: Floats | float, whole: Floats | float, drawn_part: Floats, drawn_whole: Floats
) -> Floats:
    """Replicates of part/whole to first order, so that their variance is the sum of squared residuals.

    The ratio of the replicates themselves would scatter more or less than that, depending on how unequal
    the streams are.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = part / whole
        found: Floats = share + (drawn_part - share * drawn_whole) / whole
    return found


def interval_95(
    value: float, drawn: Floats, spread: Spread, *, share: bool = False
) -> tuple[float, float] | None:
    """`student_interval` from replicates (`linear_ratio`); None with fewer than five judged streams."""
    found = drawn[np.isfinite(drawn)]
    if spread.streams < FEWEST or len(found) < 2 or not np.isfinite(value):
        return None
    return student_interval(value, (float(found.var()), spread), share=share)


def student_interval(
    value: float, *samples: tuple[float, Spread], share: bool = False
) -> tuple[float, float] | None:
    """The 95 % interval of a value of streams like these, by Student's t.

    A sample is the sum of its streams' squared residuals and their spread. Variances of several samples
    add up, with degrees of freedom by Welch and Satterthwaite. A share is measured on the scale of
    log(v/(1−v)), so that an interval near 0 or 1 leans towards the middle and stays inside. If a share is
    0 or 1 in all of n streams, the interval is that of n throws of a coin. None where one stream is as
    good as all the time: it shows no scatter.
    """
    if not all(math.isfinite(spread.inflation) for _, spread in samples):
        return None
    if share and not 1e-12 < value < 1 - 1e-12:
        least = 0.025 ** (1 / samples[0][1].streams)
        return (least, 1.0) if value > 0.5 else (0.0, 1 - least)
    parts = [(squares * spread.inflation, spread.degrees) for squares, spread in samples]
    total = sum(variance for variance, _ in parts)
    scatter = sum(variance**2 / degrees for variance, degrees in parts)
    degrees = min(int(total**2 / scatter * (1 + 1e-9)), _MOST_DEGREES) if scatter else 1
    half = student_quantile(0.975, max(degrees, 1)) * math.sqrt(total)
    if not share:
        return value - half, value + half
    odds, half = math.log(value / (1 - value)), half / (value * (1 - value))
    low, high = (1 / (1 + math.exp(min(-v, 700.0))) for v in (odds - half, odds + half))
    return low, high


@cache
def student_quantile(p: float, degrees: int) -> float:
    """t with P(T ≤ t) = p for `degrees` of freedom, to about twelve digits.

    >>> round(student_quantile(0.975, 7), 6), round(student_quantile(0.975, 1), 6)
    (2.364624, 12.706205)
    """
    if not 0.5 <= p < 1 or degrees < 1:
        raise ValueError("p lies in [0.5, 1) and there is at least one degree of freedom")
    low, high = 0.0, 1.0
    while _below(high, degrees) < p:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if _below(middle, degrees) < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _below(t: float, degrees: int) -> float:
    """P(T ≤ t), t ≥ 0: the finite sums for whole degrees of freedom in θ = atan(t/√ν)."""
    angle = math.atan(t / math.sqrt(degrees))
    cosine, sine = math.cos(angle), math.sin(angle)
    term, total = 1.0, 0.0
    if degrees % 2:
        term = cosine
        for k in range(1, (degrees - 1) // 2 + 1):
            total += term
            term *= cosine * cosine * (2 * k) / (2 * k + 1)
        return 0.5 + (angle + sine * total) / math.pi
    for k in range(degrees // 2):
        total += term
        term *= cosine * cosine * (2 * k + 1) / (2 * k + 2)
    return 0.5 + sine * total / 2


def _counts() -> NDArray[np.uint8]:
    """Poisson(1) by inversion, for every value of sixteen bits."""
    reached = np.cumsum([math.exp(-1) / math.factorial(k) for k in range(12)])
    middle = (np.arange(1 << 16) + 0.5) / (1 << 16)
    return np.searchsorted(reached, middle).astype(np.uint8)


_COUNT = _counts()
