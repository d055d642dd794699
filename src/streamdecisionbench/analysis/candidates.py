"""A policy in plain words: what it does, for people who have not read its file."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.analysis.bootstrap import same_states
from streamdecisionbench.analysis.token_cost import Cost, request_costs
from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import spelled
from streamdecisionbench.recording.prices import PriceTable
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.rules.policy_file import (
    COMPOSES,
    Cascade,
    ConfidenceGate,
    Debounce,
    Dispatch,
    Expire,
    Policy,
)
from streamdecisionbench.scoring.classes import (
    LATER,
    path_stretches,
    shares_by_step,
    shares_by_step_at,
    stretches_at,
    table_of,
)
from streamdecisionbench.scoring.measure import family_weights
from streamdecisionbench.scoring.pair_sweep import (
    PairMember,
    PairNodes,
    PairPath,
    pair_members,
    pair_stretches,
    pair_table,
    path_at,
)
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
from streamdecisionbench.scoring.score import Shares, macro_shares
from streamdecisionbench.scoring.timeline import Floats, Timeline, nominal
from streamdecisionbench.suite.scenario import Suite

if TYPE_CHECKING:
    from streamdecisionbench.scoring.policy_answers import Answers


_RULES = {
    "freshest": "a later one's replaces an earlier one's for the same state",
    "lag_one": "a later one's may also be one state older than the one in force",
    "late_override": "a later one's always replaces an earlier one's, however old it is",
}


def policy_lines(policy: Policy) -> list[str]:
    """One sentence per part, in the order an answer meets them.

    >>> from streamdecisionbench.rules.policy_file import parse_policy
    >>> for line in policy_lines(parse_policy("[dispatch]\\nmode = 'latest'\\nlimit = 2")):
    ...     print(line)
    Every state is sent as it comes; with 2 requests in flight the oldest is cancelled.
    The newest answer takes effect at once and stays until the next one.
    """
    lines = [*_cascade(policy), _dispatch(policy)]
    if policy.gate.confidence > 0:
        lines.append(_gate(policy))
    if policy.debounce.agree > 1:
        lines.append(
            f"A decision takes effect once {policy.debounce.agree} answers in a row gave it"
            f"{' (per component)' if policy.count > 1 else ''}."
        )
    if policy.gate.confidence <= 0 and policy.debounce.agree == 1 and policy.count == 1:
        lines.append("The newest answer takes effect at once and stays until the next one.")
    if math.isfinite(policy.expire.after_s):
        fallback = policy.expire.fallback
        instead = "no decision is in force" if fallback is None else "the fallback is in force"
        lines.append(
            f"{policy.expire.after_s:g} s after the state it was made for, a decision lapses;"
            f" from then until the next one {instead}."
        )
    return lines


def policy_name(policy: Policy) -> str:
    """A few words for a row of a table.

    >>> from streamdecisionbench.rules.policy_file import parse_policy
    >>> policy_name(parse_policy("[gate]\\nconfidence = 0.8\\n[expire]\\nafter_s = 6"))
    'gate 0.8, expire 6 s'
    """
    parts = []
    if policy.count > 1 and policy.cascade is not None:
        asks = f"when unsure below {policy.cascade.below:g}" if policy.when_unsure else "always"
        parts.append(asks)
        if policy.cascade.rule != "freshest":
            parts.append(spelled(policy.cascade.rule))
    if policy.dispatch.mode != "every":
        limit = f" {policy.dispatch.limit}" if policy.dispatch.mode == "latest" else ""
        parts.append(policy.dispatch.mode.replace("-", " ") + limit)
    if policy.gate.confidence > 0:
        product = " product" if policy.gate.compose == "product" else ""
        parts.append(f"gate{product} {policy.gate.confidence:g}")
    if policy.debounce.agree > 1:
        parts.append(f"debounce {policy.debounce.agree}")
    if math.isfinite(policy.expire.after_s):
        parts.append(f"expire {policy.expire.after_s:g} s")
    return ", ".join(parts) or "plain"


def _cascade(policy: Policy) -> list[str]:
    cascade = policy.cascade
    if cascade is None:
        return []
    names = cascade.components
    if len(names) == 1:
        return [f"One component: {names[0]}."]
    if policy.when_unsure:
        asks = f"{names[0]} is asked first; each next one about a state on which the one before"
        asked = f"{asks} was below {cascade.below:g} sure."
    else:
        asked = "All of them are asked at once."
    return [
        f"Components in order: {', '.join(names)}. {asked}",
        f"The newest answer takes effect; {_RULES[cascade.rule]}.",
    ]


def _dispatch(policy: Policy) -> str:
    mode = policy.dispatch.mode
    if mode == "one-at-a-time":
        return "One request at a time; when it is answered, the newest state waiting is sent."
    if mode == "latest":
        return (
            f"Every state is sent as it comes; with {policy.dispatch.limit} requests in flight the"
            " oldest is cancelled."
        )
    if mode == "changed":
        fields = ", ".join(policy.dispatch.fields) or "anything in it"
        return f"A state is sent when {fields} changed."
    return "Every state is sent as it comes."


def _gate(policy: Policy) -> str:
    gate = policy.gate
    if gate.confidence > 1:
        return "No answer can be sure enough: nothing ever takes effect."
    whose = f" of {', '.join(gate.components)}" if gate.components else ""
    how = "the least sure of its answers" if gate.compose == "min" else "its answers together"
    return (
        f"An answer{whose} takes effect only if {how} reach{'es' if gate.compose == 'min' else ''}"
        f" a confidence of {gate.confidence:g}."
    )


# Two halves of the scenarios: what is chosen on one is judged on the other, both ways.


EQUAL = 1e-12
"""Accuracies that differ by less are the same."""


class Halves:
    """The split of some scenarios, with what each half weighs."""

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
        mine = [p.family for p, own in zip(self.parts, half, strict=True) if own]
        out[half] = family_weights(mine)
        return out


class HalfTable:
    """Candidates with their accuracies as one array."""

    def __init__(self, candidates: Sequence[PolicyCandidate]) -> None:
        self.candidates = candidates
        self.values = np.stack([c.in_force for c in candidates])
        self.order = np.array([c.parts for c in candidates])

    def best(self, weights: Floats) -> PolicyCandidate:
        """The most accurate; of equals the simplest, then the first."""
        score = self.values @ weights
        level = np.flatnonzero(score >= score.max() - EQUAL)
        return self.candidates[int(level[np.argmin(self.order[level])])]


def halve(parts: Sequence[Timeline]) -> NDArray[np.bool_]:
    """Every other scenario of every family; families take turns in which half begins.

    With fewer than two scenarios nothing can be held out.
    """
    if len(parts) < 2:
        raise InputError(
            "one scenario cannot be split into a half to choose on and a half to report on",
            fix="search over recordings of two scenarios or more",
        )
    seen: dict[str, int] = {}
    out = np.zeros(len(parts), dtype=bool)
    for s, part in enumerate(parts):
        order = list(dict.fromkeys(p.family for p in parts)).index(part.family)
        nth = seen[part.family] = seen.get(part.family, -1) + 1
        out[s] = (nth + order) % 2 == 0
    if out.all() or not out.any():
        out = np.arange(len(parts)) % 2 == 0
    return out


# Which policies a search tries, and what each is worth at one interval, scenario by scenario.
#
# Everything is on the nominal clock, singles too, so that differences are paired by state. Policies that
# differ in one threshold only are replayed together, and so are intervals known to be asked about.


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
class PolicyCandidate:
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
class PolicyKind:
    """One way to use some components; its candidates differ in numbers only."""

    name: str
    """`PLAIN` where nothing is done but taking the newest answer."""
    members: tuple[str, ...]
    rule: str
    candidates: Sequence[PolicyCandidate]


class PolicyField:
    """Recorded components on one clock, and their policies at one interval."""

    def __init__(
        self,
        components: Sequence[Answers],
        interval: float,
        *,
        thresholds: int,
        rules: Sequence[str],
        where: Sequence[Timeline] | None = None,
    ) -> None:
        self.interval, self.thresholds, self.rules = interval, thresholds, rules
        self.parts = where or [nominal(part) for part in components[0].parts]
        self.answers: dict[str, Answers] = {
            one.name: answers_like(self.parts, one) for one in components
        }
        medians = {
            name: float(np.median(np.concatenate([p.latency for p in one.parts])))
            for name, one in self.answers.items()
        }
        self.by_speed = sorted(medians, key=lambda name: medians[name])
        self._ahead: list[float] = []
        self._known: dict[tuple[tuple[str, ...], str, float], list[PolicyKind]] = {}
        self._levels: dict[tuple[str, str], list[float]] = {}
        self._found: dict[tuple[str, tuple[str, ...], Policy], dict[float, Floats]] = {}

    def look_ahead(self, intervals: Iterable[float]) -> None:
        """Intervals that will be asked about: neighbours among them are replayed together."""
        self._ahead = sorted({*intervals})

    def at(self, interval: float) -> PolicyField:
        """The same components at another interval."""
        other = copy(self)
        other.interval = interval
        return other

    def singles(self) -> Iterator[PolicyCandidate]:
        """Every component by itself, in every way it can be used."""
        for name in self.by_speed:
            for kind in self.kinds((name,)):
                yield from kind.candidates

    def pairs(self) -> Iterator[PolicyCandidate]:
        """Every two of different speed, the faster first."""
        for members in combinations(self.by_speed, 2):
            yield from self.cascades(members)

    def triples(self, pairs: Sequence[tuple[str, ...]]) -> Iterator[PolicyCandidate]:
        """The given pairs with every third component, fastest first."""
        found: dict[tuple[str, ...], None] = {}
        for pair in pairs:
            for third in self.by_speed:
                if third not in pair:
                    found[tuple(n for n in self.by_speed if n in (*pair, third))] = None
        for members in found:
            yield from self.cascades(members)

    def cascades(self, members: tuple[str, ...]) -> Iterator[PolicyCandidate]:
        """The components together, in every way, under every rule."""
        for rule in self.rules:
            for kind in self.kinds(members, rule):
                yield from kind.candidates

    def kinds(self, members: tuple[str, ...], rule: str = "freshest") -> list[PolicyKind]:
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
        rows = policies * len(members) * sum(part.n for part in self.parts)
        size = max(1, _AT_ONCE // rows)
        first = self._ahead.index(self.interval) // size * size
        return self._ahead[first : first + size]

    def _kinds(
        self, members: tuple[str, ...], rule: str, intervals: Sequence[float]
    ) -> list[list[PolicyKind]]:
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
                PolicyKind(name, members, rule, candidates[place])
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
                Policy(gate=ConfidenceGate(level, compose))
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
        yield "gated", [replace(together, gate=ConfidenceGate(x, components=sure)) for x in levels]
        if sure[: len(members) - 1] != members[:-1]:
            return
        asking = [
            replace(together, cascade=Cascade(members, "when-unsure", x, rule)) for x in levels
        ]
        yield "when unsure", asking
        yield (
            "when unsure and gated",
            [
                replace(one, gate=ConfidenceGate(x, components=members[:-1]))
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

    def by_step(self, candidate: PolicyCandidate) -> Floats:
        """What each step of all scenarios contributes to a candidate's accuracy."""
        return self._with_neighbours(candidate, self._steps)

    def shares(self, candidate: PolicyCandidate) -> Floats:
        """The six classes and segment-balanced accuracy, scenario by scenario."""
        return self._with_neighbours(candidate, self._shares)

    def _with_neighbours(
        self,
        candidate: PolicyCandidate,
        find: Callable[[PolicyCandidate, Sequence[float]], list[Floats]],
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

    def _steps(self, candidate: PolicyCandidate, intervals: Sequence[float]) -> list[Floats]:
        played = PolicyReplay(candidate.policy, [self.answers[m] for m in candidate.members])
        return [
            shares_by_step(played.flat, path_stretches(played.flat, path))
            for path in played.trajectories(intervals)
        ]

    def _shares(self, candidate: PolicyCandidate, intervals: Sequence[float]) -> list[Floats]:
        played = PolicyReplay(candidate.policy, [self.answers[m] for m in candidate.members])
        return [
            table_of(played.flat, path_stretches(played.flat, path))
            for path in played.trajectories(intervals)
        ]

    def _tried(
        self,
        members: tuple[str, ...],
        intervals: Sequence[float],
        policies: Sequence[Sequence[Policy]],
    ) -> list[list[PolicyCandidate]]:
        """By interval. Policies that differ in thresholds or expiry alone are replayed at once."""
        alike: list[dict[Policy, list[Policy]]] = []
        for own in policies:
            alike.append({})
            for policy in own:
                alike[-1].setdefault(_shape(policy), []).append(policy)
        found: list[list[PolicyCandidate]] = [[] for _ in intervals]
        for groups in zip(*(own.values() for own in alike), strict=True):
            replayed = self._replay(members, intervals, groups)
            for out, group, values, money in zip(found, groups, *replayed, strict=True):
                out += [
                    PolicyCandidate(members, *row) for row in zip(group, values, money, strict=True)
                ]
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
        priced = all(one.cost is not None for one in components)
        for arrays in policy_arrays(policies[0][0], components, variants=variants):
            rows = _rows(arrays, intervals, places)
            right, flights = correct_share(arrays, rows)
            values[..., arrays.index] = right.reshape(len(intervals), count, arrays.count)
            if priced:
                paid = np.stack(
                    [
                        np.stack([one.cost[s] for s in arrays.index])
                        for one in components
                        if one.cost
                    ],
                    axis=1,
                )
                money = np.where(flights.sent, paid[rows.scenario], 0.0).sum(axis=(1, 2))
                spent += money.reshape(len(intervals), count, arrays.count).sum(axis=2)
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
    return Rows(
        np.tile(every, sum(len(own) for own in variants)),
        np.repeat(np.concatenate([np.array(own) for own in variants]), arrays.count),
        np.concatenate(
            [
                np.tile(arrays.tick / interval, len(own))
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


# What could be chosen: recordings alone and as fast and slow pairs, ready for any interval.
#
# All stand on one nominal clock r_i = i · tick, singles and pairs alike, so that differences between
# them are paired by state. Whatever else applies decisions becomes a `Contender` of its own and goes
# through the same choice.


PAIRED = 4
"""With more than twice as many recordings, pairs are made of so many best in force at the interval
and so many best untimed."""


@dataclass(frozen=True, slots=True)
class Contender:
    """Something an application could use, as functions of the interval Δ in seconds."""

    name: str
    members: tuple[str, ...]
    """The components it asks; fewer are simpler."""
    rule: str | None
    by_step: Callable[[float], Floats]
    """a_g(Δ): what every step (scenarios end to end) earns, as a share of its scenario's time."""
    shares: Callable[[float], Shares]
    per_state: Callable[[float], float | None]
    """Money per published state; None where a price is not known."""
    slow_share: Callable[[float], float] | None = None
    simulated_pair: bool = False
    """A pair or a policy with a simulation in it. Simulated answers are drawn independently of each
    other, and their confidences as declared: what is gained says nothing about the components they
    imitate."""
    value: Callable[[float], float] | None = None
    """A(Δ), where it is known without its steps."""
    policy: Policy | None = None
    """What is done with the answers; None: the newest simply takes effect."""
    chosen: bool = False
    """Whether the policy has numbers that were chosen."""


class Field:
    """Recordings of the same states on one clock, with all that is made of them once."""

    def __init__(
        self,
        recordings: Mapping[str, Sequence[Timeline]],
        costs: Mapping[str, Cost | None] | None = None,
        simulated: Collection[str] = (),
    ) -> None:
        same_states(recordings)
        # Paths at one scale need no critical scales: none is known for any interval.
        members = pair_members(list(recordings.values()), list(recordings), math.inf)
        self._members: dict[str, PairMember] = dict(zip(recordings, members, strict=True))
        self.parts = members[0].flat.parts
        self.costs = costs or {}
        self.simulated = frozenset(simulated)
        self.weights = family_weights([p.family for p in self.parts])
        self.policies: Policies | None = None
        self._pairs: dict[tuple[str, str], PairNodes] = {}
        self._paired: dict[float, list[str]] = {}
        self._steps: tuple[float, dict[str, Floats]] = (0.0, {})

    @property
    def answers(self) -> Mapping[str, Answers]:
        """What policies are made of, on the nominal clock; empty where none are weighed."""
        return {} if self.policies is None else self.policies.answers

    def singles(self) -> list[Contender]:
        return [self._single(name) for name in self._members]

    def pairs(self, interval: float, rules: Sequence[str]) -> list[Contender]:
        """Every fast and slow two of those worth pairing: the fast one's median latency is lower."""
        names = self.paired(interval)
        speed = {
            name: (float(np.median(self._members[name].flat.L)), k) for k, name in enumerate(names)
        }
        return [
            self._pair(fast, slow, rule)
            for fast, slow in permutations(names, 2)
            if speed[fast] < speed[slow]
            for rule in rules
        ]

    def paired(self, interval: float) -> list[str]:
        """Whom to pair: everybody, or of many the best in force at the interval and untimed."""
        names = list(self._members)
        if len(names) <= 2 * PAIRED:
            return names
        if interval in self._paired:
            return self._paired[interval]
        timed = {n: -self.in_force(self._steps_of(n, interval)) for n in names}
        untimed = {n: -float(self.weights @ self._members[n].untimed) for n in names}
        chosen = {n for by in (timed, untimed) for n in sorted(names, key=by.__getitem__)[:PAIRED]}
        self._paired[interval] = [name for name in names if name in chosen]
        return self._paired[interval]

    def _steps_of(self, name: str, interval: float) -> Floats:
        """What every step of a recording earns; known while the interval stays."""
        if self._steps[0] != interval:
            self._steps = interval, {}
        known = self._steps[1]
        if name not in known:
            known[name] = shares_by_step_at(self._members[name].flat, interval)
        return known[name]

    def in_force(self, by_step: Floats) -> float:
        """A(Δ): what the steps earn, scenarios averaged family by family."""
        return float((np.repeat(self.weights, [p.n for p in self.parts]) * by_step).sum())

    def per_state(self, *members: str) -> float | None:
        """Every state is asked of every component."""
        known = [self.costs.get(member) for member in members]
        each = [c.per_decision if c is not None else None for c in known]
        return None if any(x is None for x in each) else sum(x for x in each if x is not None)

    def _single(self, name: str) -> Contender:
        member = self._members[name]

        def shares(interval: float) -> Shares:
            table = table_of(member.flat, stretches_at(member.flat, interval))
            return macro_shares(table, member.untimed, self.weights)

        return Contender(
            name=name,
            members=(name,),
            rule=None,
            by_step=lambda interval: self._steps_of(name, interval),
            shares=shares,
            per_state=lambda _: self.per_state(name),
        )

    def _pair(self, fast: str, slow: str, rule: str) -> Contender:
        members = self._members[fast], self._members[slow]
        pair = self._pairs.setdefault((fast, slow), PairNodes(*members))

        def path(interval: float) -> PairPath:
            return path_at(pair, pair.flat.tick / interval, rule)

        def table(interval: float) -> Floats:
            return pair_table(pair, path(interval))

        return Contender(
            name=f"{fast} + {slow} ({spelled(rule)})",
            members=(fast, slow),
            rule=rule,
            by_step=lambda interval: shares_by_step(
                pair.flat, pair_stretches(pair, path(interval))
            ),
            shares=lambda interval: macro_shares(table(interval), pair.slow.untimed, self.weights),
            per_state=lambda _: self.per_state(fast, slow),
            slow_share=lambda interval: float(self.weights @ table(interval)[:, LATER]),
            simulated_pair=not self.simulated.isdisjoint((fast, slow)),
        )


# Policies as contenders: numbers chosen on half of the scenarios, worth what they get on the other.
#
# A kind of policy (a gate, an expiry, asking the next one when unsure) is one contender for the same
# components. Its numbers are chosen on one half of the scenarios and judged on the other, both ways;
# that is what it is worth in a choice. The numbers to use are the best over all scenarios.


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
) -> Field:
    """All that can be chosen from these recordings: singles, pairs, and policies of both.

    One scenario cannot be split into halves: then there are no policies.
    """
    field = Field(recordings, costs, simulated)
    if len(field.parts) > 1 and answers:
        field.policies = Policies(field.parts, answers)
    return field


def priced_answers(recording: Recording, suite: Suite, prices: PriceTable) -> Answers:
    """What policies read of a recording, with what each request cost."""
    held = [e for e in suite.scenarios if e in recording.episodes]
    return answers_of(recording, suite, cost=request_costs(recording, prices, held))


class Policies:
    """Recorded answers on one clock, ready to be used in every way at any interval."""

    def __init__(self, where: Sequence[Timeline], answers: Sequence[Answers]) -> None:
        self._field = PolicyField(answers, 1.0, thresholds=THRESHOLDS, rules=(), where=where)
        self._halves = Halves(where)
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
        self,
        field: PolicyField,
        team: Team,
        kind: PolicyKind,
        plain: PolicyCandidate,
        allows: Allows,
    ) -> list[Contender]:
        spent = [_per_state(team, c, plain) for c in kind.candidates]
        able = [c for c, money in zip(kind.candidates, spent, strict=True) if allows(money)]
        table = HalfTable(able or kind.candidates)
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


def _per_state(team: Team, candidate: PolicyCandidate, plain: PolicyCandidate) -> float | None:
    """What is sent of it, as a share of what asking always costs."""
    policy = candidate.policy
    if policy.dispatch.mode == "every" and not policy.when_unsure:
        return team.per_state
    if team.per_state is None or candidate.per_hour is None or not plain.per_hour:
        return 0.0 if team.per_state == 0 else None
    return team.per_state * (candidate.per_hour / plain.per_hour)
