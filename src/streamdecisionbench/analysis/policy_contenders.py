"""Policies as contenders: numbers chosen on half of the scenarios, worth what they get on the other.

A kind of policy (a gate, an expiry, asking the next one when unsure) is one contender for the same
components. Its numbers are chosen on one half of the scenarios and judged on the other, both ways;
that is what it is worth in a choice. The numbers to use are the best over all scenarios.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from streamdecisionbench.analysis.contenders import Contender
from streamdecisionbench.analysis.contenders import Field as Everybody
from streamdecisionbench.analysis.halves import EQUAL, Halves, Table
from streamdecisionbench.analysis.policy_candidates import PLAIN, Candidate, Field, Kind
from streamdecisionbench.analysis.token_cost import Cost, request_costs
from streamdecisionbench.in_force import spelled
from streamdecisionbench.recording.prices import PriceTable
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.pairs.nominal_clock import Stage
from streamdecisionbench.scoring.policies.read_answers import answers_of
from streamdecisionbench.scoring.policies.scene import Answers
from streamdecisionbench.scoring.score import Shares, macro_shares
from streamdecisionbench.scoring.timeline import Floats, Timeline
from streamdecisionbench.suite.scenario import Suite

__all__ = ["THRESHOLDS", "Policies", "Team", "everybody", "priced_answers"]

THRESHOLDS = 20
"""Confidences tried for each gate."""

Allows = Callable[[float | None], bool]
"""Whether so much money per published state is within the budget."""


@dataclass(frozen=True, slots=True)
class Team:
    """One component, or a fast and a slow one under a rule, with what asking both always costs."""

    members: tuple[str, ...]
    rule: str | None
    per_state: float | None
    simulated: bool

    @property
    def name(self) -> str:
        whose = " + ".join(self.members)
        return whose if self.rule is None else f"{whose} ({spelled(self.rule)})"


def everybody(
    recordings: Mapping[str, Sequence[Timeline]],
    costs: Mapping[str, Cost | None] | None,
    simulated: Collection[str],
    answers: Sequence[Answers],
) -> Everybody:
    """All that can be chosen from these recordings: singles, pairs, and policies of both.

    One scenario cannot be split into halves: then there are no policies.
    """
    field = Everybody(recordings, costs, simulated)
    if len(field.parts) > 1 and answers:
        field.policies = Policies(field.stage, answers)
    return field


def priced_answers(recording: Recording, suite: Suite, prices: PriceTable) -> Answers:
    """What policies read of a recording, with what each request cost."""
    held = [e for e in suite.scenarios if e in recording.episodes]
    return answers_of(recording, suite, cost=request_costs(recording, prices, held))


class Policies:
    """Recorded answers on one stage, ready to be used in every way at any interval."""

    def __init__(self, where: Stage, answers: Sequence[Answers]) -> None:
        self._field = Field(answers, 1.0, thresholds=THRESHOLDS, rules=(), where=where)
        self._halves = Halves(where.parts)
        self._where = where

    @property
    def names(self) -> list[str]:
        return list(self._field.answers)

    @property
    def answers(self) -> dict[str, Answers]:
        """By name, on the nominal clock."""
        return self._field.answers

    def look_ahead(self, intervals: Iterable[float]) -> None:
        """Intervals that will be asked about; contenders are the same without, but slower."""
        self._field.look_ahead(intervals)

    def contenders(self, interval: float, teams: Sequence[Team], allows: Allows) -> list[Contender]:
        """Every kind of policy of every team, without those that change nothing here."""
        found = []
        for team in teams:
            field = self._field.at(interval)
            kinds = field.kinds(team.members, team.rule or "freshest")
            (plain,) = next(k for k in kinds if k.name == PLAIN).candidates
            for kind in kinds:
                if kind.name != PLAIN:
                    found += self._contender(field, team, kind, plain, allows)
        return found

    def _contender(
        self, field: Field, team: Team, kind: Kind, plain: Candidate, allows: Allows
    ) -> list[Contender]:
        spent = [_per_state(team, c, plain) for c in kind.candidates]
        able = [c for c, money in zip(kind.candidates, spent, strict=True) if allows(money)]
        table = Table(able or kind.candidates)
        best = table.best(self._halves.whole)
        one, two = (table.best(half) for half in self._halves.weights)
        accuracy = self._halves.crossed(one.in_force, two.in_force)
        money = _per_state(team, best, plain)
        saves = money is not None and team.per_state is not None and money < team.per_state
        if not saves and np.abs(accuracy - plain.in_force).max() < EQUAL:
            return []

        def by_step(_: float) -> Floats:
            own = field.by_step(one)
            other = own if two is one else field.by_step(two)
            return self._halves.crossed_steps(own, other)

        def shares(_: float) -> Shares:
            own = field.shares(one)
            other = own if two is one else field.shares(two)
            crossed = self._halves.crossed(own, other)
            slowest = self._field.answers[team.members[-1]].parts
            untimed = np.array([p.untimed for p in slowest])
            return macro_shares(crossed, untimed, self._halves.whole)

        value = float(self._halves.whole @ accuracy)
        return [
            Contender(
                name=f"{team.name}, {kind.name}",
                members=team.members,
                rule=None,
                by_step=by_step,
                shares=shares,
                per_state=lambda _: money,
                value=lambda _: value,
                policy=best.policy,
                chosen=len(kind.candidates) > 1,
                simulated_pair=team.simulated,
            )
        ]


def _per_state(team: Team, candidate: Candidate, plain: Candidate) -> float | None:
    """What is sent of it, as a share of what asking always costs."""
    policy = candidate.policy
    if policy.dispatch.mode == "every" and not policy.when_unsure:
        return team.per_state
    if team.per_state is None or candidate.per_hour is None or not plain.per_hour:
        return 0.0 if team.per_state == 0 else None
    return team.per_state * (candidate.per_hour / plain.per_hour)
