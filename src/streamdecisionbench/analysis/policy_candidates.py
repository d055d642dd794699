"""Which policies a search tries, and what each is worth at one interval, scenario by scenario.

Everything is on the nominal clock, singles too, so that differences are paired by state. Policies that
differ in one threshold only are replayed together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from streamdecisionbench.analysis.policy_words import policy_name
from streamdecisionbench.analysis.steps import shares_by_step, stretches
from streamdecisionbench.policy_file import Cascade, Dispatch, Expire, Gate, Policy
from streamdecisionbench.scoring.pairs.nominal_clock import Stage, stage
from streamdecisionbench.scoring.policies.read_answers import on_stage_of
from streamdecisionbench.scoring.policies.scene import Answers, Variant, scenes
from streamdecisionbench.scoring.policies.shares import correct_share, replay
from streamdecisionbench.scoring.timeline import Floats

__all__ = ["Candidate", "Field"]

EXPIRIES = (1.0, 2.0, 4.0)
"""In intervals."""


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


class Field:
    """Recorded components on one stage, and their policies at one interval."""

    def __init__(
        self,
        components: Sequence[Answers],
        interval: float,
        *,
        thresholds: int,
        rules: Sequence[str],
    ) -> None:
        self.interval, self.thresholds, self.rules = interval, thresholds, rules
        self.stage: Stage = stage(components[0].parts)
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

    def singles(self) -> Iterator[Candidate]:
        """Plain, gated, expiring, one at a time."""
        for name in self.by_speed:
            yield from self.tried((name,), Policy())
            yield from self.tried((name,), Policy(dispatch=Dispatch("one-at-a-time")))
            for after in EXPIRIES:
                yield from self.tried((name,), Policy(expire=Expire(after * self.interval)))
            for compose in ("min", "product"):
                gates = self.levels(name, compose)
                yield from self.tried((name,), Policy(gate=Gate(0.0, compose)), gates=gates)

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
        """All asked, all asked and gated, or the next asked when unsure, whose answer stays or waits."""
        sure = tuple(name for name in members if self.answers[name].confidence is not None)
        for rule in self.rules:
            together = Policy(cascade=Cascade(members, rule=rule))
            yield from self.tried(members, together)
            gates = self.levels(members[0], "min")
            if not gates:
                continue
            gated = replace(together, gate=Gate(components=sure))
            yield from self.tried(members, gated, gates=gates)
            if len(sure) >= len(members) - 1 and sure[: len(members) - 1] == members[:-1]:
                asking = replace(together, cascade=Cascade(members, "when-unsure", rule=rule))
                yield from self.tried(members, asking, belows=gates)
                asking = replace(asking, gate=Gate(components=members[:-1]))
                yield from self.tried(members, asking, belows=gates, gates=gates)

    def levels(self, name: str, compose: str) -> list[float]:
        """Thresholds: quantiles of the component's own confidences, to two decimals."""
        confidence = self.answers[name].confidence
        if confidence is None:
            return []
        every = np.concatenate(list(confidence[compose]))
        ranks = (np.arange(self.thresholds) + 1) / (self.thresholds + 1)
        found = np.unique(np.ceil(np.quantile(every, ranks) * 100 - 1e-9) / 100)
        return [float(x) for x in found if 0 < x <= 1]

    def tried(
        self,
        members: tuple[str, ...],
        policy: Policy,
        *,
        gates: Sequence[float] | None = None,
        belows: Sequence[float] | None = None,
    ) -> Iterator[Candidate]:
        """The policy, or one for each of the thresholds; with both, the same for both."""
        policies = [policy] * len(gates if gates is not None else belows or [policy])
        if gates is not None:
            policies = [
                replace(one, gate=replace(one.gate, confidence=x))
                for one, x in zip(policies, gates, strict=True)
            ]
        if belows is not None:
            policies = [
                replace(one, cascade=replace(one.cascade, below=x))
                for one, x in zip(policies, belows, strict=True)
                if one.cascade is not None
            ]
        if not policies:
            return
        values, money = self._replay(members, policies)
        for one, accuracy, spent in zip(policies, values, money, strict=True):
            yield Candidate(members, one, accuracy, spent)

    def by_step(self, candidate: Candidate) -> Floats:
        """What each step of all scenarios contributes to a candidate's accuracy."""
        flat = self.stage.flat
        components = [self.answers[name] for name in candidate.members]
        total = np.zeros(len(flat.r))
        for scene in scenes(candidate.policy, components):
            held = replay(scene, scene.rows(self.interval)).held
            scenario = scene.index[held.row]
            decision = np.where(held.decision < 0, self._never[scenario], held.decision)
            decision = np.minimum(decision + self._offset[scenario], self._never[scenario])
            found = stretches(flat, scenario, held.begin, held.yields, decision)
            total += shares_by_step(flat, found)
        return total

    def _replay(
        self, members: tuple[str, ...], policies: Sequence[Policy]
    ) -> tuple[Floats, list[float | None]]:
        components = [self.answers[name] for name in members]
        variants = [_variant(policy) for policy in policies]
        values = np.zeros((len(policies), len(self.stage.parts)))
        spent = np.zeros(len(policies))
        priced = all(one.cost is not None for one in components)
        for scene in scenes(policies[0], components, variants=variants):
            rows = scene.rows(self.interval, len(policies))
            right, flights = correct_share(scene, rows)
            values[:, scene.index] = right.reshape(len(policies), scene.count)
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
                spent += money.reshape(len(policies), scene.count).sum(axis=1)
        hours = sum(p.n for p in self.stage.parts) * self.interval / 3600
        return values, [float(x) / hours if priced and np.isfinite(x) else None for x in spent]


def _variant(policy: Policy) -> Variant:
    below = policy.cascade.below if policy.when_unsure and policy.cascade else 0.0
    return Variant(policy.gate.confidence, below, policy.expire.after_s)
