"""How sure a pooled share is: a bootstrap over streams that any number of machines draw alike.

In replicate b a stream counts k times, k ~ Poisson(1), read off a hash of (seed, stream, b). No
stream's draw depends on another's, so parts can be summed anywhere and in any order; and a stream
that appears in two groups counts alike in both, which pairs their difference.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.timeline import Floats

__all__ = ["RESAMPLES", "interval_95", "poisson_weights", "stream_keys"]

RESAMPLES = 500

_LANES = 4
"""Sixteen bits decide one draw: a 64-bit hash holds four, each share right to 1/65536."""


def stream_keys(streams: Sequence[str], seed: int = 0) -> NDArray[np.uint64]:
    """64 bits per stream id, the same on every machine.

    >>> stream_keys(["call-7"]).tolist() == stream_keys(["call-7"]).tolist()
    True
    """
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


def interval_95(values: Floats) -> tuple[float, float] | None:
    """The middle 95 % of replicates, those without a value left out; None where there is nothing."""
    found = np.sort(values[np.isfinite(values)])
    if not len(found):
        return None
    ranks = np.array([0.025, 0.975]) * (len(found) - 1)
    low, high = np.interp(ranks, np.arange(len(found)), found)
    return float(low), float(high)


def _counts() -> NDArray[np.uint8]:
    """Poisson(1) by inversion, for every value of sixteen bits."""
    reached = np.cumsum([math.exp(-1) / math.factorial(k) for k in range(12)])
    middle = (np.arange(1 << 16) + 0.5) / (1 << 16)
    return np.searchsorted(reached, middle).astype(np.uint8)


_COUNT = _counts()
