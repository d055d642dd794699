"""What to choose at a given pace: the one function that decides, for terminal, text and page.

At one interval Δ, on the nominal clock, with differences paired by state:

1. The *leader* is right longest of all that may be chosen: within the budget, and no pair or policy
   of simulations.
2. As good as the leader is whoever lies behind it by less than the minimum gain, or by a difference
   whose interval holds zero.
3. Of those the cheapest is recommended; of equally cheap ones the simpler, which asks fewer
   components and simply takes their newest answer; then the one that is right longer. A price that is
   not known counts as the highest. A policy that saves less than a tenth is not worth having: then
   the simpler one is recommended.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from streamdecisionbench.analysis.contenders import Contender, Field
from streamdecisionbench.analysis.token_cost import Cost
from streamdecisionbench.analysis.weighing import Budget, Candidate, Scale, Terms
from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.bounds import check_interval
from streamdecisionbench.scoring.timeline import Timeline

__all__ = ["Budget", "Candidate", "Choice", "Terms", "choose", "decide", "holds"]

_GRID = 8
"""Intervals per doubling at which a choice is tried again, two doublings either way; with policies
half as many."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The recommendation and what it was weighed against."""

    interval: float
    terms: Terms
    best: Candidate
    """What is recommended."""
    leader: Candidate
    """Who is right longest of those that may be chosen; often the same."""
    runner_up: Candidate | None
    """The next one behind the leader that differs from it and may be chosen."""
    best_single: Candidate | None
    idle: Sequence[str]
    """Right at the very same times as the recommended one: nothing is gained by it."""
    simulated_pairs: int
    """How many pairs were left out because a part of them is a simulation."""
    simulated_policies: bool
    """Whether policies were left out for the same reason."""
    policies: int
    """How many kinds of policy that do anything at this pace were weighed."""
    unpriced: Sequence[str]
    """Recordings a budget leaves out for want of a price."""
    recordings: int
    paired: int
    """How many of the recordings pairs were made of."""
    candidates: Sequence[Candidate] = ()
    """All of them, best first, those that may not be chosen as well; only where asked for."""


def choose(
    recordings: Mapping[str, Sequence[Timeline]],
    interval: float,
    *,
    costs: Mapping[str, Cost | None] | None = None,
    simulated: Collection[str] = (),
    terms: Terms | None = None,
    more: Sequence[Contender] = (),
) -> Choice:
    """Weighs every recording, every fast and slow two of them, and `more`; lists all of them."""
    check_interval(interval)
    everybody = Field(recordings, costs, simulated)
    return decide(everybody, interval, terms or Terms(), more, listed=True)


def decide(
    everybody: Field,
    interval: float,
    terms: Terms,
    more: Sequence[Contender] = (),
    *,
    listed: bool = False,
) -> Choice:
    """The choice at one interval. `listed` adds every candidate; it changes nothing else."""
    check_interval(interval)
    scale = Scale(everybody, interval, terms, more, listed=listed)
    able = scale.able
    if not able:
        raise InputError(
            "nothing is within the budget, or no cost is known",
            fix="raise --budget, or give prices with --prices",
        )
    leader = able[0]
    best = scale.recommended(leader)
    other = next((k for k in able[1:] if not scale.same(k, leader)), None)
    single = next((k for k in able if scale.plain(k)), None)
    wanted = [k for k in dict.fromkeys((best, leader, other, single)) if k is not None]
    found = scale.candidates(wanted, leader)
    everything = scale.candidates(scale.order, leader) if listed else {}
    names = [c.name for c in scale.contenders]
    priced = terms.budget == Budget()
    return Choice(
        interval=interval,
        terms=terms,
        best=found[best],
        leader=found[leader],
        runner_up=None if other is None else found[other],
        best_single=None if single is None else found[single],
        idle=[
            names[k]
            for k in able
            if k != best and scale.contenders[k].policy is None and scale.same(k, best)
        ],
        simulated_pairs=sum(c.simulated_pair and c.policy is None for c in scale.contenders),
        simulated_policies=scale.simulated_policies,
        policies=sum(c.policy is not None and not c.simulated_pair for c in scale.contenders),
        unpriced=[
            c.name
            for c, (per_hour, _) in zip(scale.contenders, scale.spent, strict=True)
            if not priced and per_hour is None and len(c.members) == 1 and c.policy is None
        ],
        recordings=len(everybody.singles()),
        paired=len(everybody.paired(interval)) if terms.pairs else 0,
        candidates=list(everything.values()),
    )


def holds(everybody: Field, choice: Choice, more: Sequence[Contender] = ()) -> tuple[float, float]:
    """Intervals around the one asked for at which the same is recommended, tried on a grid."""
    ends = []
    grid = _GRID if everybody.policies is None or not choice.terms.policies else _GRID // 2
    ways = [
        [choice.interval * 2 ** (direction * k / grid) for k in range(1, 2 * grid + 1)]
        for direction in (-1, 1)
    ]
    if everybody.policies is not None:
        everybody.policies.look_ahead([*ways[0], *ways[1]])
    for way in ways:
        reached = choice.interval
        for there in way:
            if decide(everybody, there, choice.terms, more).best.name != choice.best.name:
                break
            reached = there
        ends.append(reached)
    return ends[0], ends[1]
