"""Which policies a search tries, and what each is worth at one interval, scenario by scenario.

Everything is on the nominal clock, singles too, so that differences are paired by state. Policies that
differ in one threshold only are replayed together, and so are intervals known to be asked about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np

from streamdecisionbench.analysis.policy_words import policy_name
from streamdecisionbench.analysis.steps import shares_by_step, stretches
from streamdecisionbench.policy_file import (
    COMPOSES,
    Cascade,
    Debounce,
    Dispatch,
    Expire,
    Gate,
    Policy,
)
from streamdecisionbench.scoring.classes import N_METRICS
from streamdecisionbench.scoring.pairs.nominal_clock import Stage, stage
from streamdecisionbench.scoring.policies.read_answers import on_stage_of
from streamdecisionbench.scoring.policies.requests import MissingAnswersError
from streamdecisionbench.scoring.policies.scene import Answers, Rows, Scene, Variant, scenes
from streamdecisionbench.scoring.policies.shares import correct_share, held_of, replay
from streamdecisionbench.scoring.timeline import Floats

__all__ = ["PLAIN", "Candidate", "Field", "Kind"]

EXPIRIES = (1.0, 2.0, 4.0)
"""In intervals."""
LIMITS = (1, 2)
"""Requests in flight, with `latest`."""
PLAIN = ""
"""The kind of what simply takes the newest answer."""
_AT_ONCE = 100_000
"""Steps replayed together: enough to be quick with short recordings, some megabytes with long ones."""
_NEAR = 16
"""Intervals at which a policy chosen at one of them is likely chosen again."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One policy on named components: accuracy by scenario, money per hour where it is known."""

    members: tuple[str, ...]
    policy: Policy
    in_force: Floats
    per_hour: float | None

    @property
    def name(self) -> str:
        return f"{' + '.join(self.members)}: {policy_name(self.policy)}"

    @property
    def plain(self) -> bool:
        return self.policy.plain and len(self.members) == 1

    @property
    def together(self) -> bool:
        """Whether all its components are asked at every state and the newest answer counts."""
        return not self.policy.when_unsure and replace(self.policy, cascade=None).plain

    @property
    def parts(self) -> int:
        """How much there is to it: of two that are worth the same, the simpler is chosen."""
        return len(self.members) + (not self.together)


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to use some components; its candidates differ in numbers only."""

    name: str
    """`PLAIN` where nothing is done but taking the newest answer."""
    members: tuple[str, ...]
    rule: str
    candidates: Sequence[Candidate]


class Field:
    """Recorded components on one stage, and their policies at one interval."""

    def __init__(
        self,
        components: Sequence[Answers],
        interval: float,
        *,
        thresholds: int,
        rules: Sequence[str],
        where: Stage | None = None,
    ) -> None:
        self.interval, self.thresholds, self.rules = interval, thresholds, rules
        self.stage: Stage = where or stage(components[0].parts)
        self.answers: dict[str, Answers] = {
            one.name: on_stage_of(self.stage, one) for one in components
        }
        medians = {
            name: float(np.median(np.concatenate([p.latency for p in one.parts])))
            for name, one in self.answers.items()
        }
        self.by_speed = sorted(medians, key=lambda name: medians[name])
        flat = self.stage.flat
        self._offset = flat.y[flat.first] - np.array([p.reference[0] for p in self.stage.parts])
        self._never = self.stage.never[flat.first]
        self._ahead: list[float] = []
        self._known: dict[tuple[tuple[str, ...], str, float], list[Kind]] = {}
        self._levels: dict[tuple[str, str], list[float]] = {}
        self._found: dict[tuple[str, tuple[str, ...], Policy], dict[float, Floats]] = {}

    def look_ahead(self, intervals: Iterable[float]) -> None:
        """Intervals that will be asked about: neighbours among them are replayed together."""
        self._ahead = sorted({*intervals})

    def at(self, interval: float) -> Field:
        """The same components at another interval."""
        other = copy(self)
        other.interval = interval
        return other

    def singles(self) -> Iterator[Candidate]:
        """Every component by itself, in every way it can be used."""
        for name in self.by_speed:
            for kind in self.kinds((name,)):
                yield from kind.candidates

    def pairs(self) -> Iterator[Candidate]:
        """Every two of different speed, the faster first."""
        for members in combinations(self.by_speed, 2):
            yield from self.cascades(members)

    def triples(self, pairs: Sequence[tuple[str, ...]]) -> Iterator[Candidate]:
        """The given pairs with every third component, fastest first."""
        found: dict[tuple[str, ...], None] = {}
        for pair in pairs:
            for third in self.by_speed:
                if third not in pair:
                    found[tuple(n for n in self.by_speed if n in (*pair, third))] = None
        for members in found:
            yield from self.cascades(members)

    def cascades(self, members: tuple[str, ...]) -> Iterator[Candidate]:
        """The components together, in every way, under every rule."""
        for rule in self.rules:
            for kind in self.kinds(members, rule):
                yield from kind.candidates

    def kinds(self, members: tuple[str, ...], rule: str = "freshest") -> list[Kind]:
        """The ways to use one component or several, each with all its numbers."""
        asked = members, rule, self.interval
        if self.interval not in self._ahead:
            return self._kinds(members, rule, [self.interval])[0]
        if asked not in self._known:
            near = self._neighbours(members, self.thresholds)
            try:
                found = self._kinds(members, rule, near)
            except MissingAnswersError:  # perhaps at a neighbour alone
                near = [self.interval]
                found = self._kinds(members, rule, near)
            for interval, kinds in zip(near, found, strict=True):
                self._known[members, rule, interval] = kinds
        return self._known[asked]

    def _neighbours(self, members: tuple[str, ...], policies: int) -> list[float]:
        """The intervals ahead in groups of fixed size; the group that holds this one."""
        rows = policies * len(members) * sum(part.n for part in self.stage.parts)
        size = max(1, _AT_ONCE // rows)
        first = self._ahead.index(self.interval) // size * size
        return self._ahead[first : first + size]

    def _kinds(
        self, members: tuple[str, ...], rule: str, intervals: Sequence[float]
    ) -> list[list[Kind]]:
        """By interval."""
        ways = []
        for interval in intervals:
            here = self.at(interval)
            own = here._single(members[0]) if len(members) == 1 else here._cascade(members, rule)
            ways.append([(name, policies) for name, policies in own if policies])
        tried = [
            self._tried(members, intervals, [policies for _, policies in same])
            for same in zip(*ways, strict=True)
        ]
        return [
            [
                Kind(name, members, rule, candidates[place])
                for (name, _), candidates in zip(own, tried, strict=True)
            ]
            for place, own in enumerate(ways)
        ]

    def _single(self, name: str) -> Iterator[tuple[str, list[Policy]]]:
        yield PLAIN, [Policy()]
        yield "one at a time", [Policy(dispatch=Dispatch("one-at-a-time"))]
        yield "latest", [Policy(dispatch=Dispatch("latest", limit)) for limit in LIMITS]
        yield "expiring", [Policy(expire=Expire(after * self.interval)) for after in EXPIRIES]
        yield "debounced", [Policy(debounce=Debounce(2))]
        yield (
            "gated",
            [
                Policy(gate=Gate(level, compose))
                for compose in COMPOSES
                for level in self.levels(name, compose)
            ],
        )

    def _cascade(self, members: tuple[str, ...], rule: str) -> Iterator[tuple[str, list[Policy]]]:
        """All asked; all asked and gated; the next asked when unsure, whose answer stays or waits."""
        together = Policy(cascade=Cascade(members, rule=rule))
        yield PLAIN, [together]
        yield "one at a time", [replace(together, dispatch=Dispatch("one-at-a-time"))]
        sure = tuple(name for name in members if self.answers[name].confidence is not None)
        levels = self.levels(members[0], "min")
        yield "gated", [replace(together, gate=Gate(x, components=sure)) for x in levels]
        if sure[: len(members) - 1] != members[:-1]:
            return
        asking = [
            replace(together, cascade=Cascade(members, "when-unsure", x, rule)) for x in levels
        ]
        yield "when unsure", asking
        yield (
            "when unsure and gated",
            [
                replace(one, gate=Gate(x, components=members[:-1]))
                for one, x in zip(asking, levels, strict=True)
            ],
        )

    def levels(self, name: str, compose: str) -> list[float]:
        """Thresholds: quantiles of the component's own confidences, to two decimals."""
        confidence = self.answers[name].confidence
        if confidence is None:
            return []
        if (name, compose) in self._levels:
            return self._levels[name, compose]
        every = np.concatenate(list(confidence[compose]))
        ranks = (np.arange(self.thresholds) + 1) / (self.thresholds + 1)
        found = np.unique(np.ceil(np.quantile(every, ranks) * 100 - 1e-9) / 100)
        self._levels[name, compose] = [float(x) for x in found if 0 < x <= 1]
        return self._levels[name, compose]

    def by_step(self, candidate: Candidate) -> Floats:
        """What each step of all scenarios contributes to a candidate's accuracy."""
        return self._with_neighbours(candidate, self._steps)

    def shares(self, candidate: Candidate) -> Floats:
        """The six classes and segment-balanced accuracy, scenario by scenario."""
        return self._with_neighbours(candidate, self._shares)

    def _with_neighbours(
        self, candidate: Candidate, find: Callable[[Candidate, Sequence[float]], list[Floats]]
    ) -> Floats:
        """What is found here; the same of intervals ahead, where it may be chosen too, is kept."""
        if self.interval not in self._ahead or math.isfinite(candidate.policy.expire.after_s):
            return find(candidate, [self.interval])[0]
        known = self._found.setdefault((find.__name__, candidate.members, candidate.policy), {})
        if self.interval not in known:
            near = [x for x in self._neighbours(candidate.members, 1) if x >= self.interval][:_NEAR]
            try:
                known.update(zip(near, find(candidate, near), strict=True))
            except MissingAnswersError:  # perhaps at a neighbour alone
                known[self.interval] = find(candidate, [self.interval])[0]
        return known.pop(self.interval)

    def _steps(self, candidate: Candidate, intervals: Sequence[float]) -> list[Floats]:
        flat = self.stage.flat
        components = [self.answers[name] for name in candidate.members]
        totals = [np.zeros(len(flat.r)) for _ in intervals]
        for scene in scenes(candidate.policy, components):
            held, _ = held_of(scene, _rows(scene, intervals, [[0]] * len(intervals)))
            every = scene.index[held.row % scene.count]
            said = np.where(held.decision < 0, self._never[every], held.decision)
            said = np.minimum(said + self._offset[every], self._never[every])
            ends = np.searchsorted(held.row, scene.count * np.arange(len(intervals) + 1))
            for total, (first, last) in zip(totals, pairwise(ends.tolist()), strict=True):
                at = slice(first, last)
                found = stretches(flat, every[at], held.begin[at], held.yields[at], said[at])
                total += shares_by_step(flat, found)
        return totals

    def _shares(self, candidate: Candidate, intervals: Sequence[float]) -> list[Floats]:
        tables = np.zeros((len(intervals), len(self.stage.parts), N_METRICS))
        components = [self.answers[name] for name in candidate.members]
        for scene in scenes(candidate.policy, components):
            rows = _rows(scene, intervals, [[0]] * len(intervals))
            done = replay(scene, rows)
            found = done.alpha + done.beta * rows.c[:, None]
            tables[:, scene.index] = found.reshape(len(intervals), scene.count, N_METRICS)
        return list(tables)

    def _tried(
        self,
        members: tuple[str, ...],
        intervals: Sequence[float],
        policies: Sequence[Sequence[Policy]],
    ) -> list[list[Candidate]]:
        """By interval. Policies that differ in thresholds or expiry alone are replayed at once."""
        alike: list[dict[Policy, list[Policy]]] = []
        for own in policies:
            alike.append({})
            for policy in own:
                alike[-1].setdefault(_shape(policy), []).append(policy)
        found: list[list[Candidate]] = [[] for _ in intervals]
        for groups in zip(*(own.values() for own in alike), strict=True):
            replayed = self._replay(members, intervals, groups)
            for out, group, values, money in zip(found, groups, *replayed, strict=True):
                out += [Candidate(members, *row) for row in zip(group, values, money, strict=True)]
        return found

    def _replay(
        self,
        members: tuple[str, ...],
        intervals: Sequence[float],
        policies: Sequence[Sequence[Policy]],
    ) -> tuple[Floats, list[list[float | None]]]:
        """By interval, as many policies each: accuracy by scenario, money per hour."""
        components = [self.answers[name] for name in members]
        count = len(policies[0])
        numbers = [[_variant(policy) for policy in own] for own in policies]
        variants = list(dict.fromkeys(one for own in numbers for one in own))
        place = {one: k for k, one in enumerate(variants)}
        places = [[place[one] for one in own] for own in numbers]
        values = np.zeros((len(intervals), count, len(self.stage.parts)))
        spent = np.zeros((len(intervals), count))
        priced = all(one.cost is not None for one in components)
        for scene in scenes(policies[0][0], components, variants=variants):
            rows = _rows(scene, intervals, places)
            right, flights = correct_share(scene, rows)
            values[..., scene.index] = right.reshape(len(intervals), count, scene.count)
            if priced:
                paid = np.stack(
                    [
                        np.stack([one.cost[s] for s in scene.index])
                        for one in components
                        if one.cost
                    ],
                    axis=1,
                )
                money = np.where(flights.sent, paid[rows.scenario], 0.0).sum(axis=(1, 2))
                spent += money.reshape(len(intervals), count, scene.count).sum(axis=2)
        steps = sum(p.n for p in self.stage.parts)
        hours = [steps * interval / 3600 for interval in intervals]
        return values, [
            [float(x) / lasts if priced and np.isfinite(x) else None for x in own]
            for own, lasts in zip(spent, hours, strict=True)
        ]


def _rows(scene: Scene, intervals: Sequence[float], variants: Sequence[Sequence[int]]) -> Rows:
    """Every scenario at every interval under the variants named for it, variant by variant."""
    every = np.arange(scene.count)
    return Rows(
        np.tile(every, sum(len(own) for own in variants)),
        np.repeat(np.concatenate([np.array(own) for own in variants]), scene.count),
        np.concatenate(
            [
                np.tile(scene.tick / interval, len(own))
                for interval, own in zip(intervals, variants, strict=True)
            ]
        ),
    )


def _shape(policy: Policy) -> Policy:
    """The policy without its numbers."""
    cascade = policy.cascade
    return replace(
        policy,
        gate=replace(policy.gate, confidence=0.0),
        expire=replace(policy.expire, after_s=math.inf),
        cascade=None if cascade is None else replace(cascade, below=0.0),
    )


def _variant(policy: Policy) -> Variant:
    below = policy.cascade.below if policy.when_unsure and policy.cascade else 0.0
    return Variant(policy.gate.confidence, below, policy.expire.after_s)
