"""Which policy to use at a pace, chosen on some scenarios and judged on others.

Hundreds of thresholds tried on eight scenarios find one that looks good by chance. So scenarios are
split into two halves; the best policy of one half is reported on the other, and the other way round.
Three steps are compared, each chosen that way: the best component by itself, the best components
asked together, and the best policy of all. A gain is paired by state and comes with an interval; a
step that does not beat the one before beyond its interval is not taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.analysis.bootstrap import Estimate, Sampling, bootstrap
from streamdecisionbench.analysis.halves import EQUAL, Halves, Table
from streamdecisionbench.analysis.policy_candidates import Candidate, Field
from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.bounds import check_interval
from streamdecisionbench.scoring.pairs.compose import chosen_rules
from streamdecisionbench.scoring.policies.scene import Answers
from streamdecisionbench.scoring.score import family_weights
from streamdecisionbench.scoring.timeline import Floats, Timeline

__all__ = ["FrontierPoint", "PolicySearch", "Step", "search"]

_EXTENDED = 10
"""How many of a half's best pairs are tried with a third component."""


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """The most accurate policy for its money or less.

    `seen` is its accuracy on all scenarios, which flatters whatever was chosen by looking at them;
    `held_out` is what choosing with this budget on one half got on the other, both ways.
    """

    candidate: Candidate
    seen: float
    held_out: float | None


@dataclass(frozen=True, slots=True)
class Step:
    """The best of some candidates: over all scenarios, by half, and what that choice is worth."""

    candidate: Candidate
    by_half: tuple[Candidate, Candidate]
    """Chosen on the first and on the second half."""
    held_out: Estimate
    """In-force accuracy on each half of what was chosen on the other."""

    @property
    def agreed(self) -> bool:
        """Whether both halves chose the same, thresholds included."""
        one, two = self.by_half
        return (one.members, one.policy) == (two.members, two.policy)


@dataclass(frozen=True, slots=True)
class PolicySearch:
    """What was tried, what was chosen, and whether that is any better than the plain policy."""

    interval: float
    budget: float | None
    currency: str
    tried: int
    within_budget: int
    halves: tuple[tuple[str, ...], tuple[str, ...]]
    plain: Step
    """The best single component that simply takes the newest answer."""
    together: Step
    """The best of these and of components that are all asked at every state."""
    best: Step
    """The best of everything that was tried."""
    together_gain: Estimate
    """Of `together` over `plain`."""
    gain: Estimate
    """Of `best` over `plain`."""
    policy_gain: Estimate
    """Of `best` over `together`: what looking at confidence, time and load adds."""
    frontier: tuple[FrontierPoint, ...]
    without_confidence: tuple[str, ...]
    sampling: Sampling

    @property
    def winner(self) -> Candidate | None:
        """What to use instead of the plain policy; None where nothing beats it beyond its interval."""
        if self.policy_gain.low > 0 and self.gain.low > 0:
            return self.best.candidate
        return self.together.candidate if self.together_gain.low > 0 else None


def search(
    components: Sequence[Answers],
    interval: float,
    *,
    budget: float | None = None,
    rule: str = "freshest",
    thresholds: int = 20,
    currency: str = "USD",
    sampling: Sampling | None = None,
) -> PolicySearch:
    """Tries singles, pairs and cascades of up to three, with gates and expiries."""
    check_interval(interval)
    sampling = sampling or Sampling()
    if not components:
        raise InputError("there is no recording to search")
    field = Field(components, interval, thresholds=thresholds, rules=chosen_rules(rule))
    parts = field.stage.parts
    halves = Halves(parts)
    first, weights = halves.first, halves.weights
    found = [*field.singles(), *field.pairs()]
    found += field.triples(_best_pairs(found, weights))
    allowed = [c for c in found if _affordable(c, budget)]
    plains = [c for c in allowed if c.plain]
    if not plains:
        raise InputError(
            "no component by itself is within the budget, or no cost is known",
            fix="raise --budget, or give prices with --prices",
        )
    whole = family_weights([p.family for p in parts])
    tables = [Table(plains), Table([c for c in allowed if c.together]), Table(allowed)]
    by_half = [(table.best(weights[0]), table.best(weights[1])) for table in tables]
    columns = np.stack(
        [halves.crossed_steps(field.by_step(a), field.by_step(b)) for a, b in by_half], axis=1
    )
    held = bootstrap(parts, columns, sampling)
    gaps = columns[:, [1, 2, 2]] - columns[:, [0, 0, 1]]
    gains = bootstrap(parts, gaps, sampling, share=False)
    steps = [
        Step(table.best(whole), pair, estimate)
        for table, pair, estimate in zip(tables, by_half, held, strict=True)
    ]
    return PolicySearch(
        interval=interval,
        budget=budget,
        currency=currency,
        tried=len(found),
        within_budget=len(allowed),
        halves=(_names(parts, first), _names(parts, ~first)),
        plain=steps[0],
        together=steps[1],
        best=steps[2],
        together_gain=gains[0],
        gain=gains[1],
        policy_gain=gains[2],
        frontier=_frontier(field, allowed, whole, weights, first),
        without_confidence=tuple(
            name for name, one in field.answers.items() if one.confidence is None
        ),
        sampling=sampling,
    )


def _affordable(candidate: Candidate, budget: float | None) -> bool:
    return budget is None or (candidate.per_hour is not None and candidate.per_hour <= budget)


def _best_pairs(found: Sequence[Candidate], weights: Sequence[Floats]) -> list[tuple[str, ...]]:
    """Each half names its own: what the other half would have said plays no part in it."""
    pairs = [c for c in found if len(c.members) == 2]
    out: dict[tuple[str, ...], None] = {}
    for half in weights:
        best: dict[tuple[str, ...], float] = {}
        for c in pairs:
            best[c.members] = max(best.get(c.members, 0.0), float(c.in_force @ half))
        for members in sorted(best, key=lambda m: -best[m])[:_EXTENDED]:
            out[members] = None
    return list(out)


def _frontier(
    field: Field,
    allowed: Sequence[Candidate],
    whole: Floats,
    weights: Sequence[Floats],
    first: NDArray[np.bool_],
) -> tuple[FrontierPoint, ...]:
    """From the cheapest on, every candidate that is more accurate than all that cost as much or less."""
    priced = [c for c in allowed if c.per_hour is not None]
    if not priced:
        return ()
    scores = np.stack([c.in_force for c in priced]) @ whole
    order = sorted(
        range(len(priced)), key=lambda k: (priced[k].per_hour or 0.0, -scores[k], priced[k].parts)
    )
    out: list[FrontierPoint] = []
    top = -1.0
    for k in order:
        if scores[k] <= top + EQUAL:
            continue
        top = float(scores[k])
        cheap = Table([c for c in priced if (c.per_hour or 0.0) <= (priced[k].per_hour or 0.0)])
        one, two = cheap.best(weights[0]), cheap.best(weights[1])
        held_out = float(np.where(first, two.in_force, one.in_force) @ whole)
        out.append(FrontierPoint(priced[k], top, held_out))
    return tuple(out)


def _names(parts: Sequence[Timeline], half: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(p.episode_id for p, mine in zip(parts, half, strict=True) if mine)
