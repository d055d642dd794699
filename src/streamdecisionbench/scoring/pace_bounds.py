"""Which intervals a score covers, and how it weighs them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from streamdecisionbench.errors import InputError

DEFAULT_BOUNDS = (0.5, 8.0)
"""Seconds per tick, from two updates a second to one in eight seconds, as published."""

WEIGHTINGS = ("log", "linear")
_SHORTEST_S, _LONGEST_S = 1e-6, 1e6
"""Beyond these no pace of events lies, and sums of times in double precision lose the shares."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The intervals a score covers, in seconds per tick, and how it weighs them.

    >>> Bounds(0.5, 8).text()
    'log 0.5–8 s'
    """

    low: float = DEFAULT_BOUNDS[0]
    high: float = DEFAULT_BOUNDS[1]
    weighting: str = "log"
    alone: bool = False
    """Whether what stands in their place holds for its own pace alone, as in a world."""

    def __post_init__(self) -> None:
        if not (0 < self.low < self.high < float("inf")):
            raise InputError(
                f"bounds {self.low:g} {self.high:g} are not an interval range",
                fix="give two increasing positive numbers of seconds, for example --bounds 0.5 8",
            )
        for bound in (self.low, self.high):
            check_interval(bound)
        if self.weighting not in WEIGHTINGS:
            raise InputError(
                f"weighting {self.weighting!r} is not known", fix=f"use {' or '.join(WEIGHTINGS)}"
            )

    def text(self) -> str:
        return (
            "its own pace alone" if self.alone else f"{self.weighting} {self.low:g}–{self.high:g} s"
        )


def check_interval(interval: float) -> None:
    """Refuses what is no number of seconds, or none that events could come at."""
    if not (interval > 0 and math.isfinite(interval)):
        raise InputError(
            f"interval {interval:g} is not a number of seconds above 0", fix="for example 2"
        )
    if not _SHORTEST_S <= interval <= _LONGEST_S:
        raise InputError(
            f"interval {interval:g} is not between {_SHORTEST_S:g} and {_LONGEST_S:g} seconds",
            fix="give the seconds between two states, for example 2",
        )
