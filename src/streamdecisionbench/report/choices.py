"""What to choose at every interval a report offers, by the function that decides elsewhere too.

The page does not weigh anything itself: it shows the words made here for the nearest of these
intervals, and the words name the interval they are for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from streamdecisionbench.analysis.choose import Choice, Terms, decide
from streamdecisionbench.analysis.contenders import PAIRED
from streamdecisionbench.analysis.policy_contenders import everybody, priced_answers
from streamdecisionbench.analysis.token_cost import Cost
from streamdecisionbench.analysis.weighing import CASCADES
from streamdecisionbench.recording.prices import PriceTable
from streamdecisionbench.report.material import Entry
from streamdecisionbench.suite.scenario import Suite

__all__ = ["Stretch", "choices", "paces", "stretches"]

_MOST = 160
_FEWEST = 9
_WORK = 4e6
"""Steps times contenders times intervals: long streams are weighed at fewer intervals."""
_TEAMS = 400
"""Components and pairs times intervals, where policies of them are weighed."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring intervals at which the same is recommended."""

    low: float
    high: float
    name: str


def choices(
    entries: Sequence[Entry],
    suite: Suite,
    costs: Mapping[str, Cost],
    prices: PriceTable,
    bounds: tuple[float, float],
    interval: float,
    terms: Terms,
) -> list[Choice]:
    """The choice at every pace within the bounds and at the interval, shortest first."""
    simulated = [e.name for e in entries if e.score.simulated]
    field = everybody(
        {e.name: e.score.parts for e in entries},
        costs,
        simulated,
        [priced_answers(e.recording, suite, prices) for e in entries],
    )
    singles = len(field.singles())
    pairs = len(field.pairs(interval, terms.rules)) if terms.pairs else 0
    steps = sum(part.n for part in field.parts)
    most = min(_MOST, max(_FEWEST, _WORK / (steps * (singles + pairs))))
    real = min(singles - len(simulated), 2 * PAIRED)  # policies of simulations are not weighed
    if terms.policies and real > 0:
        couples = min(CASCADES, real * (real - 1) // 2) if terms.pairs else 0
        most = min(most, max(_FEWEST, _TEAMS / (real + couples)))
    intervals = paces(*bounds, interval, int(most))
    if field.policies is not None:
        field.policies.look_ahead(intervals)
    return [decide(field, d, terms) for d in intervals]


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
