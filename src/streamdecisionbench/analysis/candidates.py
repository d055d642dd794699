"""The one field of candidates: recordings alone, as fast and slow pairs, and under policies.

All stand on one nominal clock r_i = i · tick, singles, pairs and policies alike, so that differences
between them are paired by state. A kind of policy (a gate, an expiry, asking the next one when unsure)
is one candidate for the same components: its numbers are chosen on one half of the scenarios and
judged on the other, both ways, and that is what it is worth. The numbers to use are the best over all
scenarios. `sdb choose`, `sdb choose --frontier` and the report weigh this field by the rule in
`analysis.choose`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.analysis.bootstrap import same_states
from streamdecisionbench.analysis.token_cost import Cost, provisioned, request_costs
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    Floats,
    JoinedTimelines,
    Timeline,
)
from streamdecisionbench.kernel.classes import CORRECT
from streamdecisionbench.kernel.levels import family_weights
from streamdecisionbench.kernel.pair_trajectory import (
    PairMember,
    PairNodes,
    PairPath,
    pair_members,
    pair_stretches,
    pair_table,
    path_at,
)
from streamdecisionbench.kernel.rule import spelled
from streamdecisionbench.kernel.shares import (
    LATER,
    ClassifiedTime,
    Shares,
    classify_at,
    classify_trajectory,
    macro_shares,
    shares_by_step,
    shares_by_step_at,
    table_of,
)
from streamdecisionbench.policies.policy_file import (
    COMPOSES,
    Cascade,
    ConfidenceGate,
    Debounce,
    Dispatch,
    Expire,
    Policy,
)
from streamdecisionbench.recording.prices import PriceTable
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.counterfactual import Counterfactual
from streamdecisionbench.scoring.pairs import pair_counterfactuals
from streamdecisionbench.scoring.policy_answers import (
    Answers,
    PolicyArrays,
    Rows,
    Variant,
    answers_like,
    answers_of,
    policy_arrays,
)
from streamdecisionbench.scoring.policy_replay import (
    MissingAnswersError,
    PolicyReplay,
    correct_share,
)
from streamdecisionbench.scoring.policy_score import policy_counterfactuals
from streamdecisionbench.scoring.policy_tables import policy_name
from streamdecisionbench.suite.scenario import Suite

EQUAL = 1e-12
"""Accuracies that differ by less are the same."""
THRESHOLDS = 20
"""Confidences tried for each gate."""
EXPIRIES = (1.0, 2.0, 4.0)
"""In intervals."""
LIMITS = (1, 2)
"""Requests in flight, with `latest`."""
PLAIN = ""
"""The kind of what simply takes the newest answer."""
PAIRED = 4
"""With more than twice as many recordings, pairs are made of so many best in force at the interval
and so many best untimed."""
CASCADES = 6
"""Policies of two components are tried for so many best pairs, each under its best rule."""
TRIPLES = 3
"""Policies of three components: the best of those pairs with a third."""
_AT_ONCE = 100_000
"""Steps replayed together: enough to be quick with short recordings, some megabytes with long ones."""


class Halves:
    """Two halves of the scenarios, with what each weighs: what one chooses is judged on the other."""

    def __init__(self, parts: Sequence[Timeline]) -> None:
        self.parts = parts
        self.first = halve(parts)

    @cached_property
    def whole(self) -> Floats:
        """Mean over families of the mean over their scenarios."""
        return family_weights([p.family for p in self.parts])

    @cached_property
    def weights(self) -> tuple[Floats, Floats]:
        """The same within each half."""
        return self._within(self.first), self._within(~self.first)

    def crossed(self, one: Floats, two: Floats) -> Floats:
        """By scenario (rows): on each half the values of what the other half chose."""
        first = self.first.reshape(-1, *(1,) * (one.ndim - 1))
        crossed: Floats = np.where(first, two, one)
        return crossed

    def crossed_steps(self, one: Floats, two: Floats) -> Floats:
        """The same by step, scenarios end to end."""
        steps = np.repeat(self.first, [p.n for p in self.parts])
        crossed: Floats = np.where(steps, two, one)
        return crossed

    def _within(self, half: NDArray[np.bool_]) -> Floats:
        out = np.zeros(len(self.parts))
        out[half] = family_weights(
            [p.family for p, own in zip(self.parts, half, strict=True) if own]
        )
        return out


def halve(parts: Sequence[Timeline]) -> NDArray[np.bool_]:
    """Every other scenario of every family; families take turns in which half begins.

    With fewer than two scenarios nothing can be held out.
    """
    if len(parts) < 2:
        raise InputError(
            "one scenario cannot be split into a half to choose on and a half to report on",
            fix="search over recordings of two scenarios or more",
        )
    families = list(dict.fromkeys(p.family for p in parts))
    seen: dict[str, int] = {}
    out = np.zeros(len(parts), dtype=bool)
    for s, part in enumerate(parts):
        nth = seen[part.family] = seen.get(part.family, -1) + 1
        out[s] = (nth + families.index(part.family)) % 2 == 0
    if out.all() or not out.any():
        out = np.arange(len(parts)) % 2 == 0
    return out


@dataclass(frozen=True, slots=True)
class Trial:
    """One policy, with its numbers: accuracy by scenario, money per hour where it is known."""

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


def best_of(tried: Sequence[Trial], *weights: Floats) -> list[Trial]:
    """The most accurate under each of the weights; of equals the simplest, then the first."""
    values = np.stack([one.in_force for one in tried])
    parts = np.array([one.parts for one in tried])
    found = []
    for own in weights:
        score = values @ own
        level = np.flatnonzero(score >= score.max() - EQUAL)
        found.append(tried[int(level[np.argmin(parts[level])])])
    return found


class Trials:
    """Recorded answers on one clock, tried under policies at any interval.

    Policies that differ in one threshold only are replayed together, and so are intervals known to be
    asked about.
    """

    def __init__(
        self, parts: Sequence[Timeline], components: Sequence[Answers], thresholds: int
    ) -> None:
        self.parts, self.thresholds = parts, thresholds
        self.answers = {one.name: answers_like(parts, one) for one in components}
        medians = {
            name: float(np.median(np.concatenate([p.latency for p in one.parts])))
            for name, one in self.answers.items()
        }
        self.by_speed = sorted(medians, key=medians.__getitem__)
        self._ahead: list[float] = []
        self._known: dict[tuple[tuple[str, ...], str, float], dict[str, list[Trial]]] = {}
        self._levels: dict[tuple[str, str], list[float]] = {}

    def look_ahead(self, intervals: Iterable[float]) -> None:
        """Intervals that will be asked about: neighbours among them are replayed together."""
        self._ahead = sorted({*intervals})

    def kinds(
        self, members: tuple[str, ...], interval: float, rule: str = "freshest"
    ) -> dict[str, list[Trial]]:
        """The ways to use one component or several, by name, each with all its numbers."""
        asked = members, rule, interval
        if asked in self._known:
            return self._known[asked]
        if interval not in self._ahead:
            return self._kinds(members, rule, [interval])[0]
        rows = self.thresholds * len(members) * sum(part.n for part in self.parts)
        size = max(1, _AT_ONCE // rows)  # intervals ahead are replayed in groups of this size
        first = self._ahead.index(interval) // size * size
        near = self._ahead[first : first + size]
        try:
            found = self._kinds(members, rule, near)
        except MissingAnswersError:  # perhaps at a neighbour alone
            near = [interval]
            found = self._kinds(members, rule, near)
        for there, kinds in zip(near, found, strict=True):
            self._known[members, rule, there] = kinds
        return self._known[asked]

    def _kinds(
        self, members: tuple[str, ...], rule: str, intervals: Sequence[float]
    ) -> list[dict[str, list[Trial]]]:
        """By interval."""
        ways = []
        for interval in intervals:
            every = (
                self._single(members[0], interval)
                if len(members) == 1
                else self._cascade(members, rule)
            )
            ways.append({name: policies for name, policies in every if policies})
        found: list[dict[str, list[Trial]]] = [{} for _ in intervals]
        for name in ways[0]:
            tried = self._tried(members, intervals, [own[name] for own in ways])
            for kinds, own in zip(found, tried, strict=True):
                kinds[name] = own
        return found

    def _single(self, name: str, interval: float) -> Iterator[tuple[str, list[Policy]]]:
        yield PLAIN, [Policy()]
        yield "one at a time", [Policy(dispatch=Dispatch("one-at-a-time"))]
        yield "latest", [Policy(dispatch=Dispatch("latest", limit)) for limit in LIMITS]
        yield "expiring", [Policy(expire=Expire(after * interval)) for after in EXPIRIES]
        yield "debounced", [Policy(debounce=Debounce(2))]
        gates = [
            Policy(gate=ConfidenceGate(level, compose))
            for compose in COMPOSES
            for level in self.levels(name, compose)
        ]
        yield "gated", gates

    def _cascade(self, members: tuple[str, ...], rule: str) -> Iterator[tuple[str, list[Policy]]]:
        """All asked; all asked and gated; the next asked when unsure, whose answer stays or waits."""
        together = Policy(cascade=Cascade(members, rule=rule))
        yield PLAIN, [together]
        yield "one at a time", [replace(together, dispatch=Dispatch("one-at-a-time"))]
        sure = tuple(name for name in members if self.answers[name].confidence is not None)
        levels = self.levels(members[0], "min")
        yield "gated", [replace(together, gate=ConfidenceGate(x, components=sure)) for x in levels]
        if sure[: len(members) - 1] != members[:-1]:
            return
        asking = [
            replace(together, cascade=Cascade(members, "when-unsure", x, rule)) for x in levels
        ]
        yield "when unsure", asking
        withheld = [
            replace(one, gate=ConfidenceGate(x, components=members[:-1]))
            for one, x in zip(asking, levels, strict=True)
        ]
        yield "when unsure and gated", withheld

    def levels(self, name: str, compose: str) -> list[float]:
        """Thresholds: quantiles of the component's own confidences, to two decimals."""
        confidence = self.answers[name].confidence
        if confidence is None:
            return []
        if (name, compose) not in self._levels:
            every = np.concatenate(list(confidence[compose]))
            ranks = (np.arange(self.thresholds) + 1) / (self.thresholds + 1)
            found = np.unique(np.ceil(np.quantile(every, ranks) * 100 - 1e-9) / 100)
            self._levels[name, compose] = [float(x) for x in found if 0 < x <= 1]
        return self._levels[name, compose]

    def by_step(self, tried: Trial, interval: float) -> Floats:
        """What each step of all scenarios contributes to its accuracy."""
        return shares_by_step(*self._stretches(tried, interval))

    def shares(self, tried: Trial, interval: float) -> Floats:
        """The six classes and segment-balanced accuracy, scenario by scenario."""
        return table_of(*self._stretches(tried, interval))

    def _stretches(self, tried: Trial, interval: float) -> tuple[JoinedTimelines, ClassifiedTime]:
        played = PolicyReplay(tried.policy, [self.answers[m] for m in tried.members])
        return played.flat, classify_trajectory(played.flat, played.trajectory(interval))

    def _tried(
        self,
        members: tuple[str, ...],
        intervals: Sequence[float],
        policies: Sequence[Sequence[Policy]],
    ) -> list[list[Trial]]:
        """By interval. Policies that differ in thresholds or expiry alone are replayed at once."""
        alike: list[dict[Policy, list[Policy]]] = [{} for _ in intervals]
        for groups, own in zip(alike, policies, strict=True):
            for policy in own:
                groups.setdefault(_shape(policy), []).append(policy)
        found: list[list[Trial]] = [[] for _ in intervals]
        for same in zip(*(groups.values() for groups in alike), strict=True):
            replayed = self._replay(members, intervals, same)
            for out, group, values, money in zip(found, same, *replayed, strict=True):
                out += [Trial(members, *row) for row in zip(group, values, money, strict=True)]
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
        values = np.zeros((len(intervals), count, len(self.parts)))
        spent = np.zeros((len(intervals), count))
        prices = [one.cost for one in components if one.cost is not None]
        priced = len(prices) == len(components)
        for arrays in policy_arrays(policies[0][0], components, variants=variants):
            rows = _rows(arrays, intervals, places)
            right, flights = correct_share(arrays, rows)
            values[..., arrays.index] = right.reshape(len(intervals), count, arrays.count)
            if priced:
                each = [np.stack([price[s] for s in arrays.index]) for price in prices]
                paid = np.where(flights.sent, np.stack(each, axis=1)[rows.scenario], 0.0)
                money = paid.sum(axis=(1, 2)).reshape(len(intervals), count, arrays.count)
                spent += money.sum(axis=2)
        steps = sum(p.n for p in self.parts)
        hours = [steps * interval / 3600 for interval in intervals]
        return values, [
            [float(x) / lasts if priced and np.isfinite(x) else None for x in own]
            for own, lasts in zip(spent, hours, strict=True)
        ]


def _rows(
    arrays: PolicyArrays, intervals: Sequence[float], variants: Sequence[Sequence[int]]
) -> Rows:
    """Every scenario at every interval under the variants named for it, variant by variant."""
    every = np.arange(arrays.count)
    scales = [
        np.tile(arrays.tick / interval, len(own))
        for interval, own in zip(intervals, variants, strict=True)
    ]
    return Rows(
        np.tile(every, sum(len(own) for own in variants)),
        np.repeat(np.concatenate([np.array(own) for own in variants]), arrays.count),
        np.concatenate(scales),
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


Allows = Callable[[float | None], bool]
"""Whether so much money per published state is within the budget."""


@dataclass(frozen=True, eq=False)
class ScoredCandidate:
    """Something an application could use, at an interval of so many seconds between states."""

    name: str
    members: tuple[str, ...]
    """The components it asks; fewer are simpler."""
    rule: str | None
    interval: float
    per_state: float | None
    """Money per published state; None where a price is not known."""
    by_step: Callable[[], Floats]
    """What every step (scenarios end to end) earns, as a share of its scenario's time."""
    shares: Callable[[], Shares]
    in_force: Callable[[Floats], float] | float
    """Its accuracy, or how that follows from its steps."""
    slow_share: Callable[[], float] | None = None
    simulated_pair: bool = False
    """A pair or a policy with a simulation in it. Simulated answers are drawn independently of each
    other, and their confidences as declared: what is gained says nothing about the components they
    imitate."""
    policy: Policy | None = None
    """What is done with the answers; None: the newest simply takes effect."""
    chosen: bool = False
    """Whether the policy has numbers that were chosen."""
    would_help: Callable[[], list[Counterfactual]] = list
    """What it would reach with a changed member; nothing for a component alone."""

    @cached_property
    def column(self) -> Floats:
        return self.by_step()

    @cached_property
    def value(self) -> float:
        return self.in_force(self.column) if callable(self.in_force) else self.in_force

    @property
    def per_hour(self) -> float | None:
        return None if self.per_state is None else self.per_state * 3600 / self.interval

    @property
    def per_1000(self) -> float | None:
        return None if self.per_state is None else self.per_state * 1000

    @property
    def size(self) -> tuple[int, bool]:
        """How much there is to it: components, then whether their answers go through a policy."""
        return len(self.members), self.policy is not None


@dataclass(frozen=True, slots=True)
class Combination:
    """One component, or several under a rule, with what asking all of them always costs."""

    members: tuple[str, ...]
    rule: str | None
    per_state: float | None
    simulated: bool
    provisioned: float = 0.0
    """Of it, what hardware costs whether it is asked or not."""

    @property
    def name(self) -> str:
        whose = " + ".join(self.members)
        return whose if self.rule is None else f"{whose} ({spelled(self.rule)})"


def priced_answers(recording: Recording, suite: Suite, prices: PriceTable) -> Answers:
    """What policies read of a recording, with what each request cost."""
    held = [e for e in suite.scenarios if e in recording.episodes]
    if provisioned(recording) is not None:  # a request less saves nothing
        free = [np.zeros(len(recording.episodes[e].releases)) for e in held]
        return answers_of(recording, suite, cost=free)
    return answers_of(recording, suite, cost=request_costs(recording, prices, held))


class CandidatePool:
    """Recordings of the same states on one clock, with all that is made of them once.

    Without `answers` there are no policies, nor with one scenario, which cannot be split into halves.
    `hourly` is what hardware of one's own costs for a stream, by recording: it goes before a list price.
    """

    def __init__(
        self,
        recordings: Mapping[str, Sequence[Timeline]],
        costs: Mapping[str, Cost | None] | None = None,
        simulated: Collection[str] = (),
        answers: Sequence[Answers] = (),
        thresholds: int = THRESHOLDS,
        hourly: Mapping[str, float] | None = None,
    ) -> None:
        same_states(recordings)
        self.hourly = dict(hourly or {})
        # Paths at one scale need no critical scales: none is known for any interval.
        members = pair_members(list(recordings.values()), list(recordings), math.inf)
        self._members: dict[str, PairMember] = dict(zip(recordings, members, strict=True))
        self.parts = members[0].flat.parts
        self.simulated = frozenset(simulated)
        self.costs = _per_decision(answers) if costs is None else {
            name: None if one is None else one.per_decision for name, one in costs.items()
        }  # fmt: skip
        self.weights = family_weights([p.family for p in self.parts])
        able = answers if len(self.parts) > 1 else ()
        self.trials = Trials(self.parts, able, thresholds)
        self._pairs: dict[tuple[str, str], PairNodes] = {}
        self._paired: dict[float, list[str]] = {}
        self._steps: tuple[float, dict[str, Floats]] = (0.0, {})

    @cached_property
    def halves(self) -> Halves:
        return Halves(self.parts)

    def singles(self, interval: float) -> list[ScoredCandidate]:
        return [self._single(name, interval) for name in self._members]

    def pairs(self, interval: float, rules: Sequence[str]) -> list[ScoredCandidate]:
        """Every fast and slow two of those worth pairing: the fast one's median latency is lower."""
        names = self.paired(interval)
        speed = {
            name: (float(np.median(self._members[name].flat.L)), k) for k, name in enumerate(names)
        }
        return [
            self._pair(fast, slow, rule, interval)
            for fast, slow in permutations(names, 2)
            if speed[fast] < speed[slow]
            for rule in rules
        ]

    def policies(
        self, interval: float, pairs: Sequence[ScoredCandidate], allows: Allows, *, listed: bool
    ) -> tuple[list[ScoredCandidate], bool]:
        """Every kind of policy of the recordings worth pairing and of the best of `pairs`, which come
        best first; and whether simulations are among them, which are left out unless `listed`."""
        teams = self._teams(interval, pairs)
        found: list[ScoredCandidate] = []
        for team in teams:
            # Those of simulations are never recommended: worth the work only where all is listed.
            if listed or not team.simulated:
                kinds = self.trials.kinds(team.members, interval, team.rule or "freshest")
                (plain,) = kinds[PLAIN]
                for name, tried in kinds.items():
                    found += self._policy(interval, team, name, tried, plain, allows)
        return found, any(team.simulated for team in teams)

    def paired(self, interval: float) -> list[str]:
        """Whom to pair: everybody, or of many the best in force at the interval and untimed."""
        names = list(self._members)
        if len(names) <= 2 * PAIRED:
            return names
        if interval not in self._paired:
            timed = {n: -self.in_force(self._steps_of(n, interval)) for n in names}
            untimed = {n: -float(self.weights @ self._members[n].untimed) for n in names}
            ranked = [sorted(names, key=by.__getitem__)[:PAIRED] for by in (timed, untimed)]
            self._paired[interval] = [n for n in names if n in ranked[0] or n in ranked[1]]
        return self._paired[interval]

    def in_force(self, by_step: Floats) -> float:
        """A(Δ): what the steps earn, scenarios averaged family by family."""
        return float((np.repeat(self.weights, [p.n for p in self.parts]) * by_step).sum())

    def per_state(self, interval: float, *members: str) -> float | None:
        """Every state is asked of every component."""
        each = [self.costs.get(member) for member in members if member not in self.hourly]
        if any(x is None for x in each):
            return None
        return sum(x for x in each if x is not None) + self.provisioned(interval, *members)

    def provisioned(self, interval: float, *members: str) -> float:
        """What the hardware of these costs from one state to the next."""
        return sum(self.hourly.get(member, 0.0) for member in members) * interval / 3600

    def _steps_of(self, name: str, interval: float) -> Floats:
        """What every step of a recording earns; known while the interval stays."""
        if self._steps[0] != interval:
            self._steps = interval, {}
        known = self._steps[1]
        if name not in known:
            known[name] = shares_by_step_at(self._members[name].flat, interval)
        return known[name]

    def _single(self, name: str, interval: float) -> ScoredCandidate:
        member = self._members[name]

        def shares() -> Shares:
            table = table_of(member.flat, classify_at(member.flat, interval))
            return macro_shares(table, member.untimed, self.weights)

        return ScoredCandidate(
            name=name,
            members=(name,),
            rule=None,
            interval=interval,
            per_state=self.per_state(interval, name),
            by_step=lambda: self._steps_of(name, interval),
            shares=shares,
            in_force=self.in_force,
        )

    def _pair(self, fast: str, slow: str, rule: str, interval: float) -> ScoredCandidate:
        pair = self._pairs.setdefault(
            (fast, slow), PairNodes(self._members[fast], self._members[slow])
        )
        team = self._team((fast, slow), rule, interval)

        def path() -> PairPath:
            return path_at(pair, pair.flat.tick / interval, rule)

        def table() -> Floats:
            return pair_table(pair, path())

        return ScoredCandidate(
            name=team.name,
            members=team.members,
            rule=rule,
            interval=interval,
            per_state=team.per_state,
            by_step=lambda: shares_by_step(pair.flat, pair_stretches(pair, path())),
            shares=lambda: macro_shares(table(), pair.slow.untimed, self.weights),
            in_force=self.in_force,
            slow_share=lambda: float(self.weights @ table()[:, LATER]),
            simulated_pair=team.simulated,
            would_help=lambda: pair_counterfactuals(
                (pair.fast.flat.parts, pair.slow.flat.parts),
                team.members,
                rule,
                interval,
                float(self.weights @ table()[:, CORRECT].sum(axis=1)),
            ),
        )

    def _team(self, members: tuple[str, ...], rule: str | None, interval: float) -> Combination:
        simulated = not self.simulated.isdisjoint(members)
        fixed = self.provisioned(interval, *members)
        return Combination(members, rule, self.per_state(interval, *members), simulated, fixed)

    def _teams(self, interval: float, pairs: Sequence[ScoredCandidate]) -> list[Combination]:
        """Whose policies are tried: singles; the best pairs with and as many without a simulation in
        them, each under its best rule; the best pairs of measured recordings with a third one."""
        worth = [n for n in self.paired(interval) if n in self.trials.answers]
        best: dict[bool, dict[tuple[str, ...], Combination]] = {False: {}, True: {}}
        for pair in pairs:
            mine = best[pair.simulated_pair]
            if {*worth}.issuperset(pair.members) and len({*mine, pair.members}) <= CASCADES:
                mine.setdefault(pair.members, self._team(pair.members, pair.rule, interval))
        triples: dict[tuple[str, ...], Combination] = {}
        for team in best[False].values():
            for third in worth:
                if third not in team.members and third not in self.simulated:
                    three = {*team.members, third}
                    members = tuple(name for name in self.trials.by_speed if name in three)
                    triples.setdefault(members, self._team(members, team.rule, interval))
        return [
            *(self._team((name,), None, interval) for name in worth),
            *best[False].values(),
            *best[True].values(),
            *list(triples.values())[:TRIPLES],
        ]

    def _policy(
        self,
        interval: float,
        team: Combination,
        kind: str,
        tried: Sequence[Trial],
        plain: Trial,
        allows: Allows,
    ) -> list[ScoredCandidate]:
        """One kind of policy, unless it changes nothing here."""
        if (
            kind == PLAIN and len(team.members) < 3
        ):  # a recording or a pair, of which the field has all
            return []
        able = [one for one in tried if allows(_per_state(team, one, plain))]
        halves, trials = self.halves, self.trials
        best, one, two = best_of(able or tried, halves.whole, *halves.weights)
        accuracy = halves.crossed(one.in_force, two.in_force)
        money = _per_state(team, best, plain)
        saves = money is not None and team.per_state is not None and money < team.per_state
        if kind != PLAIN and not saves and np.abs(accuracy - plain.in_force).max() < EQUAL:
            return []

        def by_step() -> Floats:
            own = trials.by_step(one, interval)
            return halves.crossed_steps(own, own if two is one else trials.by_step(two, interval))

        def shares() -> Shares:
            own = trials.shares(one, interval)
            crossed = halves.crossed(own, own if two is one else trials.shares(two, interval))
            untimed = np.array([p.untimed for p in trials.answers[team.members[-1]].parts])
            return macro_shares(crossed, untimed, halves.whole)

        def right(tables: list[Floats]) -> Floats:
            first, *others = (table[:, CORRECT].sum(axis=1) for table in tables)
            return halves.crossed(first, *others) if others else first

        value = float(halves.whole @ accuracy)
        contender = ScoredCandidate(
            name=f"{team.name}, {kind}" if kind else team.name,
            members=team.members,
            rule=None,
            interval=interval,
            per_state=money,
            by_step=by_step,
            shares=shares,
            in_force=value,
            policy=best.policy,
            chosen=len(tried) > 1,
            simulated_pair=team.simulated,
            would_help=lambda: policy_counterfactuals(
                [one.policy] if two is one else [one.policy, two.policy],
                [trials.answers[m] for m in team.members],
                right,
                interval,
                value,
            ),
        )
        return [contender]


def _per_decision(answers: Sequence[Answers]) -> dict[str, float | None]:
    """Money per state by what the requests cost, where nobody said it otherwise."""
    found: dict[str, float | None] = {}
    for one in answers:
        mean = math.nan if one.cost is None else float(np.concatenate(list(one.cost)).mean())
        found[one.name] = mean if math.isfinite(mean) else None
    return found


def _per_state(team: Combination, tried: Trial, plain: Trial) -> float | None:
    """What is sent of it, as a share of what asking always costs."""
    policy = tried.policy
    if policy.dispatch.mode == "every" and not policy.when_unsure:
        return team.per_state
    if team.per_state is None or tried.per_hour is None or not plain.per_hour:
        return team.provisioned if team.per_state == team.provisioned else None
    asked = team.per_state - team.provisioned
    return team.provisioned + asked * (tried.per_hour / plain.per_hour)
