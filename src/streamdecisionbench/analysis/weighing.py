"""The scale of a choice: what everything that could be chosen earns at one interval, what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from streamdecisionbench.analysis.bootstrap import Estimate, Sampling, bootstrap
from streamdecisionbench.analysis.contenders import Contender, Field
from streamdecisionbench.analysis.policy_contenders import Team
from streamdecisionbench.analysis.policy_words import policy_name
from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import RULES
from streamdecisionbench.scoring.score import Shares
from streamdecisionbench.scoring.timeline import Floats

__all__ = ["CASCADES", "MIN_GAIN", "MIN_SAVING", "Budget", "Candidate", "Scale", "Terms"]

MIN_GAIN = 0.01
"""A point: below that no gain is worth money or a second component."""

MIN_SAVING = 0.1
"""Of the money: below that no policy is worth the trouble."""

CASCADES = 6
"""Policies of two components are tried for so many best pairs, each under its best rule."""

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
    policies: bool = True
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
    policy: Mapping[str, Any] | None = None
    """The policy to use, with the file's own keys; None: the newest answer simply takes effect."""
    policy_words: str | None = None
    chosen: bool = False
    """Whether the policy has numbers; they were chosen on half of the scenarios for the other."""

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


class Scale:
    """Everything on the scale at one interval: what it earns by step, what it costs."""

    def __init__(
        self,
        everybody: Field,
        interval: float,
        terms: Terms,
        more: Sequence[Contender],
        *,
        listed: bool,
    ) -> None:
        self.parts, self.interval, self.terms = everybody.parts, interval, terms
        self.everybody = everybody
        self.contenders = everybody.singles()
        if terms.pairs:
            self.contenders += everybody.pairs(interval, terms.rules)
        self.contenders += more
        self._columns: dict[int, Floats] = {}
        self.values = [self._value(k) for k in range(len(self.contenders))]
        self.simulated_policies = False
        self._add_policies(listed=listed)
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

    def column(self, k: int) -> Floats:
        """What every step earns."""
        if k not in self._columns:
            self._columns[k] = self.contenders[k].by_step(self.interval)
        return self._columns[k]

    def plain(self, k: int) -> bool:
        """One component whose newest answer takes effect."""
        return len(self.contenders[k].members) == 1 and self.contenders[k].policy is None

    def recommended(self, leader: int) -> int:
        """Of all that are as good as the leader, the one to be preferred."""
        gaps = {k: self.values[leader] - self.values[k] for k in self.able}
        near = [k for k, gap in gaps.items() if gap < max(self.terms.min_gain, _SAME)]
        best = min(near, key=self.preference)
        # Only who would be preferred to it needs the interval of its difference drawn.
        mark = self.preference(best)
        doubtful = [k for k in self.able if k not in near and self.preference(k) < mark]
        best = min((best, *self.level(leader, doubtful)), key=self.preference)
        if self.contenders[best].policy is None:
            return best
        simpler = [k for k in self.able if self.size(k) < self.size(best) and self.spares(k, best)]
        good = [k for k in simpler if k in near]
        good += self.level(leader, [k for k in simpler if k not in near])
        return min(good, key=lambda k: (self.size(k), *self.preference(k)), default=best)

    def level(self, leader: int, ks: Sequence[int]) -> list[int]:
        """Of these, who cannot be told apart from the leader."""
        behind = zip(ks, self.behind(leader, ks), strict=True)
        return [k for k, gap in behind if not gap.excludes_zero]

    def size(self, k: int) -> tuple[int, bool]:
        """How much there is to it: components, then whether their answers go through a policy."""
        return len(self.contenders[k].members), self.contenders[k].policy is not None

    def spares(self, k: int, policy: int) -> bool:
        """Whether the policy saves less than a tenth of what this one costs."""
        mine, theirs = self.spent[k][0], self.spent[policy][0]
        if mine is None or theirs is None:
            return mine is None and theirs is None
        return theirs > mine * (1 - MIN_SAVING)

    def preference(self, k: int) -> tuple[bool, float, tuple[int, bool], float, int]:
        """Cheaper, then simpler, then right longer, then as given."""
        per_hour, _ = self.spent[k]
        return (
            per_hour is None,
            0.0 if per_hour is None else round(per_hour, 12),
            self.size(k),
            -round(self.values[k], 12),
            k,
        )

    def same(self, k: int, other: int) -> bool:
        """Whether two are right at the very same times."""
        return bool(np.abs(self.column(k) - self.column(other)).max() < _SAME)

    def behind(self, leader: int, ks: Sequence[int]) -> list[Estimate]:
        if not ks:
            return []
        gaps = self.column(leader)[:, None] - self.columns(ks)
        return bootstrap(self.parts, gaps, self.terms.sampling, share=False)

    def candidates(self, ks: Sequence[int], leader: int) -> dict[int, Candidate]:
        own = self.columns(ks)
        both = np.hstack((own, self.column(leader)[:, None] - own))
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
                policy=None if c.policy is None else c.policy.to_json(),
                policy_words=None if c.policy is None else policy_name(c.policy),
                chosen=c.chosen,
            )
        return found

    def columns(self, ks: Sequence[int]) -> Floats:
        return np.stack([self.column(k) for k in ks], axis=1)

    def _value(self, k: int) -> float:
        known = self.contenders[k].value
        return self.everybody.in_force(self.column(k)) if known is None else known(self.interval)

    def _add_policies(self, *, listed: bool) -> None:
        """Of the recordings worth pairing, and of the best pairs each under its best rule."""
        weighs = self.everybody.policies
        if weighs is None or not self.terms.policies:
            return
        worth = [n for n in self.everybody.paired(self.interval) if n in weighs.answers]
        teams = [self._team((name,), None) for name in worth]
        teams += self._best_pairs(set(worth))
        self.simulated_policies = any(team.simulated for team in teams)
        # Those of simulations are never recommended: they are worth the work only where all is listed.
        teams = [team for team in teams if listed or not team.simulated]

        def allows(per_state: float | None) -> bool:
            return self.terms.budget.allows(*_per_time(per_state, self.interval))

        found = weighs.contenders(self.interval, teams, allows)
        first = len(self.contenders)
        self.contenders += found
        self.values += [self._value(first + k) for k in range(len(found))]

    def _best_pairs(self, worth: set[str]) -> list[Team]:
        """So many without a simulation in them, and so many others, each under its best rule."""
        found: dict[bool, dict[tuple[str, ...], Team]] = {False: {}, True: {}}
        for k in sorted(range(len(self.contenders)), key=lambda k: (-round(self.values[k], 12), k)):
            c = self.contenders[k]
            if c.rule is not None and worth.issuperset(c.members):
                mine = found[c.simulated_pair]
                if c.members in mine or len(mine) < CASCADES:
                    mine.setdefault(c.members, self._team(c.members, c.rule))
        return [team for teams in found.values() for team in teams.values()]

    def _team(self, members: tuple[str, ...], rule: str | None) -> Team:
        simulated = not self.everybody.simulated.isdisjoint(members)
        return Team(members, rule, self.everybody.per_state(*members), simulated)


def _spent(contender: Contender, interval: float) -> tuple[float | None, float | None]:
    """Money per hour of stream and per 1000 decisions."""
    return _per_time(contender.per_state(interval), interval)


def _per_time(each: float | None, interval: float) -> tuple[float | None, float | None]:
    return (None, None) if each is None else (each * 3600 / interval, each * 1000)
