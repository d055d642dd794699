"""What to choose at every interval a report offers, by the function that decides elsewhere too.

The page does not weigh anything itself: it shows the words made here for the nearest of these
intervals, and the words name the interval they are for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from streamdecisionbench.analysis.choose import Choice, Terms, decide
from streamdecisionbench.analysis.contenders import Field
from streamdecisionbench.analysis.token_cost import Cost
from streamdecisionbench.report.material import Entry

__all__ = ["Stretch", "choices", "paces", "stretches"]

_MOST = 160
_FEWEST = 9
_WORK = 4e6
"""Steps times contenders times intervals: long streams are weighed at fewer intervals."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring intervals at which the same is recommended."""

    low: float
    high: float
    name: str


def choices(
    entries: Sequence[Entry],
    costs: Mapping[str, Cost],
    bounds: tuple[float, float],
    interval: float,
    terms: Terms,
) -> list[Choice]:
    """The choice at every pace within the bounds and at the interval, shortest first."""
    everybody = Field(
        {e.name: e.score.parts for e in entries},
        costs,
        [e.name for e in entries if e.score.simulated],
    )
    weighed = len(everybody.singles())
    if terms.pairs:
        weighed += len(everybody.pairs(interval, terms.rules))
    steps = sum(part.n for part in everybody.parts)
    most = int(min(_MOST, max(_FEWEST, _WORK / (steps * weighed))))
    return [decide(everybody, d, terms) for d in paces(*bounds, interval, most)]


def stretches(found: Sequence[Choice]) -> list[Stretch]:
    """Where which one is recommended, from the first to the last interval of each stretch."""
    out: list[Stretch] = []
    for choice in found:
        if out and out[-1].name == choice.best.name:
            out[-1] = replace(out[-1], high=choice.interval)
        else:
            out.append(Stretch(choice.interval, choice.interval, choice.best.name))
    return out


def paces(low: float, high: float, interval: float, most: int = _MOST) -> list[float]:
    """The bounds, the interval asked for, and numbers of two digits between, about `most` of them.

    >>> paces(0.97, 1.3, 1.25)
    [0.97, 0.98, 0.99, 1.0, 1.1, 1.2, 1.25, 1.3]
    >>> len(paces(0.5, 8.0, 2.0)), len(paces(0.5, 8.0, 2.0, 20))
    (121, 21)
    """
    first, last = math.floor(math.log10(low)), math.floor(math.log10(high))
    round_ones = [
        value
        for power in range(first, last + 1)
        for tens in range(10, 100)
        if low < (value := float(f"{tens}e{power - 1}")) < high
    ]
    if len(round_ones) > most - 2:
        even = [low * (high / low) ** (k / (most - 1)) for k in range(1, most - 1)]
        round_ones = [min(round_ones, key=lambda x: abs(math.log(x / e))) for e in even]
    return sorted({low, high, *round_ones, interval})
