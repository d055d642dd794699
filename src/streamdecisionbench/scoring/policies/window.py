"""For which scales a replay stays the same: every comparison it made, turned into a range of c.

All times of a replay are lines a + b·c. Two of them change order where they meet, at
(a₂ − a₁)/(b₁ − b₂); as long as none of the pairs that were compared meets, every request, every
acceptance and every class keeps its place, and each share is one α + β·c.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.timeline import Floats, Ints

__all__ = ["Window"]


class Window:
    """The range (low, high) around each row's c in which nothing it compared changes order."""

    def __init__(self, c: Floats) -> None:
        self.c = c
        self.low = np.zeros(len(c))
        self.high = np.full(len(c), np.inf)

    def meet(
        self,
        row: Ints | None,
        a: Floats,
        b: Floats,
        other_a: Floats,
        other_b: Floats | float,
        where: NDArray[np.bool_] | bool = True,
    ) -> None:
        """Takes note that these lines were compared. `row` None: the first axis is the rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            drop = np.asarray(b - other_b)
            at = np.asarray((other_a - a) / drop)
        c = self.c if row is None else self.c[row]
        c = c.reshape(c.shape + (1,) * (at.ndim - c.ndim))
        # Parallel lines never meet, and what is compared with "never" has no place to meet.
        real = np.isfinite(at) & (drop != 0) & where
        above = np.where(real & (at > c), at, np.inf)
        below = np.where(real & (at < c), at, 0.0)
        if row is None:
            axes = tuple(range(1, at.ndim))
            self.high = np.minimum(self.high, above.min(axis=axes, initial=np.inf))
            self.low = np.maximum(self.low, below.max(axis=axes, initial=0.0))
        else:
            np.minimum.at(self.high, row, above)
            np.maximum.at(self.low, row, below)
