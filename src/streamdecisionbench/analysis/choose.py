"""What to choose at a given pace: the one function that decides, for terminal, text and page.

At one interval Δ, on the nominal clock, with differences paired by state:

1. The *leader* is right longest of all that may be chosen: within the budget, and no pair of
   simulations.
2. As good as the leader is whoever lies behind it by less than the minimum gain, or by a difference
   whose interval holds zero.
3. Of those the cheapest is recommended; of equally cheap ones the simpler, which asks fewer
   components; then the one that is right longer. A price that is not known counts as the highest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from streamdecisionbench.analysis.bootstrap import Estimate, Sampling, bootstrap
from streamdecisionbench.analysis.contenders import Contender, Field
from streamdecisionbench.analysis.token_cost import Cost
from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import RULES
from streamdecisionbench.scoring.bounds import check_interval
from streamdecisionbench.scoring.score import Shares
from streamdecisionbench.scoring.timeline import Floats, Timeline

__all__ = ["Budget", "Candidate", "Choice", "Terms", "choose", "decide", "holds"]

MIN_GAIN = 0.01
"""A point: below that no gain is worth money or a second component."""

_GRID = 8
"""Intervals per doubling at which a choice is tried again, two doublings either way."""

_SAME = 1e-12
"""What sums of the same steps may differ by."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The most money: per hour of stream at the interval, or per 1000 decisions. None: no limit."""

    per_hour: float | None = None
    per_1000: float | None = None

    def allows(self, per_hour: float | None, per_1000: float | None) -> bool:
        """Whether a cost is known and within the budget.

        >>> Budget(per_1000=2.0).allows(None, None), Budget().allows(None, None)
        (False, True)
        """
        limits = ((self.per_hour, per_hour), (self.per_1000, per_1000))
        return all(
            limit is None or (spent is not None and spent <= limit) for limit, spent in limits
        )


@dataclass(frozen=True, slots=True)
class Terms:
    """What is asked of a choice, whoever asks."""

    budget: Budget = field(default_factory=Budget)
    min_gain: float = MIN_GAIN
    """The least a dearer or less simple one must gain, as a share of time."""
    rules: tuple[str, ...] = RULES
    pairs: bool = True
    sampling: Sampling = field(default_factory=Sampling)
    currency: str = "USD"

    def __post_init__(self) -> None:
        if not 0 <= self.min_gain < 1:
            raise InputError(
                f"a minimum gain of {100 * self.min_gain:g} points cannot be met",
                fix="give points from 0 up to 100, for example --min-gain 1",
            )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A contender at the interval."""

    name: str
    members: tuple[str, ...]
    rule: str | None
    in_force: Estimate
    behind_leader: Estimate
    """Leader minus this one, paired by state; zero for the leader itself."""
    shares: Shares
    per_hour: float | None
    per_1000: float | None
    within_budget: bool = True
    simulated_pair: bool = False
    slow_share: float | None = None

    @property
    def lost_to_latency(self) -> float:
        """Stale and no decision yet: right answers that were too late."""
        return self.shares.stale + self.shares.no_decision

    @property
    def lost_to_judgment(self) -> float:
        return self.shares.judgment

    @property
    def limit(self) -> str:
        """What costs most: `judgment` or `latency`; compound time is neither's alone."""
        return "latency" if self.lost_to_latency > self.lost_to_judgment else "judgment"


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
    scale = _Scale(everybody, interval, terms, more)
    able = scale.able
    if not able:
        raise InputError(
            "nothing is within the budget, or no cost is known",
            fix="raise --budget, or give prices with --prices",
        )
    leader = able[0]
    best = scale.recommended(leader)
    other = next((k for k in able[1:] if not scale.same(k, leader)), None)
    single = next((k for k in able if len(scale.contenders[k].members) == 1), None)
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
        idle=[names[k] for k in able if k != best and scale.same(k, best)],
        simulated_pairs=sum(c.simulated_pair for c in scale.contenders),
        unpriced=[
            c.name
            for c, (per_hour, _) in zip(scale.contenders, scale.spent, strict=True)
            if not priced and per_hour is None and len(c.members) == 1
        ],
        recordings=len(everybody.singles()),
        paired=len(everybody.paired(interval)) if terms.pairs else 0,
        candidates=list(everything.values()),
    )


def holds(everybody: Field, choice: Choice, more: Sequence[Contender] = ()) -> tuple[float, float]:
    """Intervals around the one asked for at which the same is recommended, tried on a grid."""
    ends = []
    for direction in (-1, 1):
        reached = choice.interval
        for k in range(1, 2 * _GRID + 1):
            there = choice.interval * 2 ** (direction * k / _GRID)
            if decide(everybody, there, choice.terms, more).best.name != choice.best.name:
                break
            reached = there
        ends.append(reached)
    return ends[0], ends[1]


class _Scale:
    """Everything on the scale at one interval: what it earns by step, what it costs."""

    def __init__(
        self, everybody: Field, interval: float, terms: Terms, more: Sequence[Contender]
    ) -> None:
        self.parts, self.interval, self.terms = everybody.parts, interval, terms
        self.contenders = everybody.singles()
        if terms.pairs:
            self.contenders += everybody.pairs(interval, terms.rules)
        self.contenders += more
        self.table: Floats = np.stack([c.by_step(interval) for c in self.contenders], axis=1)
        self.values = [everybody.in_force(column) for column in self.table.T]
        self.spent = [_spent(c, interval) for c in self.contenders]
        # Sums of the same steps may differ in a last bit: equals stay in the order given.
        self.order = sorted(
            range(len(self.contenders)), key=lambda k: (-round(self.values[k], 12), k)
        )
        self.able = [
            k
            for k in self.order
            if terms.budget.allows(*self.spent[k]) and not self.contenders[k].simulated_pair
        ]

    def recommended(self, leader: int) -> int:
        """Of all that are as good as the leader, the one to be preferred."""
        gaps = {k: self.values[leader] - self.values[k] for k in self.able}
        near = [k for k, gap in gaps.items() if gap < max(self.terms.min_gain, _SAME)]
        best = min(near, key=self.preference)
        # Only who would be preferred to it needs the interval of its difference drawn.
        mark = self.preference(best)
        doubtful = [k for k in self.able if k not in near and self.preference(k) < mark]
        behind = zip(doubtful, self.behind(leader, doubtful), strict=True)
        level = [k for k, gap in behind if not gap.excludes_zero]
        return min((best, *level), key=self.preference)

    def preference(self, k: int) -> tuple[bool, float, int, float, int]:
        """Cheaper, then simpler, then right longer, then as given."""
        per_hour, _ = self.spent[k]
        return (
            per_hour is None,
            0.0 if per_hour is None else round(per_hour, 12),
            len(self.contenders[k].members),
            -round(self.values[k], 12),
            k,
        )

    def same(self, k: int, other: int) -> bool:
        """Whether two are right at the very same times."""
        return bool(np.abs(self.table[:, k] - self.table[:, other]).max() < _SAME)

    def behind(self, leader: int, ks: Sequence[int]) -> list[Estimate]:
        if not ks:
            return []
        gaps = self.table[:, [leader]] - self.table[:, list(ks)]
        return bootstrap(self.parts, gaps, self.terms.sampling, share=False)

    def candidates(self, ks: Sequence[int], leader: int) -> dict[int, Candidate]:
        own = self.table[:, list(ks)]
        both = np.hstack((own, self.table[:, [leader]] - own))
        estimates = bootstrap(self.parts, both, self.terms.sampling, share=False)
        found = {}
        for k, in_force, gap in zip(ks, estimates, estimates[len(ks) :], strict=False):
            c, (per_hour, per_1000) = self.contenders[k], self.spent[k]
            found[k] = Candidate(
                name=c.name,
                members=c.members,
                rule=c.rule,
                in_force=Estimate(self.values[k], max(in_force.low, 0.0), min(in_force.high, 1.0)),
                behind_leader=gap,
                shares=c.shares(self.interval),
                per_hour=per_hour,
                per_1000=per_1000,
                within_budget=self.terms.budget.allows(per_hour, per_1000),
                simulated_pair=c.simulated_pair,
                slow_share=c.slow_share(self.interval) if c.slow_share else None,
            )
        return found


def _spent(contender: Contender, interval: float) -> tuple[float | None, float | None]:
    """Money per hour of stream and per 1000 decisions."""
    each = contender.per_state(interval)
    return (None, None) if each is None else (each * 3600 / interval, each * 1000)
