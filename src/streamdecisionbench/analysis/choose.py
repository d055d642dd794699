"""The scale of a choice: what everything that could be chosen earns at one interval, what it costs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from streamdecisionbench.analysis.bootstrap import Estimate, Sampling, bootstrap
from streamdecisionbench.analysis.candidates import PAIRED, Contender, Field, Team, policy_name
from streamdecisionbench.analysis.table import Cell, Table, count, fixed, number, percentage, text
from streamdecisionbench.analysis.table import percent as shown
from streamdecisionbench.analysis.token_cost import Cost
from streamdecisionbench.analysis.wrong_time import disagreement
from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import RULES
from streamdecisionbench.rules.costs import Costs
from streamdecisionbench.rules.policy_file import policy_of
from streamdecisionbench.scoring.bounds import check_interval
from streamdecisionbench.scoring.cost import CostRates, cost_at
from streamdecisionbench.scoring.pair_sweep import pair_trajectory
from streamdecisionbench.scoring.policy_answers import Answers
from streamdecisionbench.scoring.policy_replay import policy_trajectory
from streamdecisionbench.scoring.score import Shares
from streamdecisionbench.scoring.sweep import Trajectory, trajectory_at
from streamdecisionbench.scoring.timeline import Flat, Floats, Timeline, nominal

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


# What to choose at a given pace: the one function that decides, for terminal, text and page.
#
# At one interval Δ, on the nominal clock, with differences paired by state:
#
# 1. The *leader* is right longest of all that may be chosen: within the budget, and no pair or policy
#    of simulations.
# 2. As good as the leader is whoever lies behind it by less than the minimum gain, or by a difference
#    whose interval holds zero.
# 3. Of those the cheapest is recommended; of equally cheap ones the simpler, which asks fewer
#    components and simply takes their newest answer; then the one that is right longer. A price that is
#    not known counts as the highest. A policy that saves less than a tenth is not worth having: then
#    the simpler one is recommended.


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


# The candidates of a choice by what being wrong costs, beside their order by time.


@dataclass(frozen=True, slots=True)
class ByCost:
    """One candidate at the interval: its place by time and by cost, and what makes the cost."""

    name: str
    in_force: float
    place_by_time: int
    place_by_cost: int
    rates: CostRates


def by_cost(
    choice: Choice,
    parts: Mapping[str, Sequence[Timeline]],
    costs: Costs,
    top: int,
    answers: Mapping[str, Answers] | None = None,
) -> list[ByCost]:
    """The `top` candidates by time, cheapest first; `parts` are the recordings' timelines by name.

    A policy is charged with the numbers it would be used with, on its `answers` (nominal clock).
    """
    chosen = list(choice.candidates[: max(top, 1)])
    if choice.best not in chosen:
        chosen.append(choice.best)
    families = [part.family for part in parts[chosen[0].members[0]]]
    rates = {
        c.name: cost_at(_path(c, parts, choice.interval, answers or {}), families, costs)
        for c in chosen
    }
    totals = {name: found.total for name, found in rates.items()}
    by_time = sorted(chosen, key=lambda c: (-c.in_force.value, c.name))
    cheap = sorted(chosen, key=lambda c: (totals[c.name], c.name))
    return [
        ByCost(
            c.name,
            c.in_force.value,
            by_time.index(c) + 1,
            place,
            rates[c.name],
        )
        for place, c in enumerate(cheap, start=1)
    ]


def by_cost_table(found: Sequence[ByCost], costs: Costs) -> Table:
    """Cheapest first, with the sentence that says whether the two orders differ."""
    rows: list[tuple[Cell, ...]] = [
        (c.name, c.place_by_time, c.in_force, c.place_by_cost, c.rates.wrong, c.rates.age,
         c.rates.acts, c.rates.total)
        for c in found
    ]  # fmt: skip
    return Table(
        f"By what being wrong costs ({costs.name} {costs.dated}".rstrip() + ")",
        (text("", "candidate"), count("#time", "place_by_time"), percentage("in force", "in_force"),
         count("#cost", "place_by_cost"), number("wrong", 3), number("age", 3), number("acts", 3),
         number("cost", 3, "cost_per_second")),
        tuple(rows),
        notes=("Seconds of an ordinary wrong decision, per second; docs/costs.md.",
               *disagreement({c.name: (c.in_force, c.rates.total) for c in found})),
    )  # fmt: skip


def _path(
    candidate: Candidate,
    parts: Mapping[str, Sequence[Timeline]],
    interval: float,
    answers: Mapping[str, Answers],
) -> Trajectory:
    """On the nominal clock, on which all candidates are compared."""
    if candidate.policy is not None:
        policy = policy_of(candidate.policy, name=candidate.name)
        return policy_trajectory(policy, [answers[m] for m in candidate.members], interval)
    first = [nominal(part, part.tick) for part in parts[candidate.members[0]]]
    if candidate.rule is None:
        return trajectory_at(Flat(first), interval)
    return pair_trajectory(first, parts[candidate.members[1]], candidate.rule, interval)


# The words in which a choice is recommended: the one author for terminal, Markdown and page.


def choice_lines(choice: Choice) -> list[str]:
    """The recommendation in plain words: what, how sure, against what, what limits it, the cost."""
    best = choice.best
    lines = [
        f"At {choice.interval:g} s between states, use {best.name}: it keeps the right decision in"
        f" force {shown(best.in_force.value)} % of the time"
        f" (95 %: {shown(best.in_force.low)}–{shown(best.in_force.high)})."
    ]
    lines += _policy(best)
    lines += _weighed(choice)
    if choice.idle:
        names = ", ".join(choice.idle[:3]) + (", …" if len(choice.idle) > 3 else "")
        lines.append(f"{names} would be right at the very same times, so nothing is gained by it.")
    lines.append(
        f"What limits it: {best.limit}. Judgment costs {shown(best.lost_to_judgment)} % of the"
        f" time, latency {shown(best.lost_to_latency)} %, both at once"
        f" {shown(best.shares.compound)} %."
    )
    if best.per_hour is None:
        lines.append("Cost: not known; name prices with --prices.")
    else:
        lines.append(
            f"Cost at list prices: {money(best.per_hour)} {choice.terms.currency} an hour at this"
            f" pace, {money(best.per_1000)} per 1000 decisions."
        )
    lines += _left_out(choice)
    return lines


def holds_line(choice: Choice, holds: tuple[float, float]) -> str:
    """Over which paces the same would be recommended."""
    low, high = (fixed(x, 2) for x in holds)
    tried = (fixed(choice.interval * factor, 2) for factor in (0.25, 4))
    return f"It stays the choice from about {low} to {high} s (tried from {' to '.join(tried)} s)."


def choice_table(choice: Choice, top: int | None = None) -> Table:
    """The candidates, best first; without `top` all of them, with every column."""
    listed = choice.candidates if top is None else choice.candidates[: max(top, 1)]
    columns = [
        text("", "candidate"), percentage("in force", "in_force"), percentage("low", "in_force_low"),
        percentage("high", "in_force_high"), percentage("behind", "behind_leader"),
        percentage("judgm.", "lost_to_judgment"), percentage("latency", "lost_to_latency"),
        number("/hour", 2, "per_hour"),
    ]  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            c.name, c.in_force.value, c.in_force.low,
            c.in_force.high, None if c.name == choice.leader.name else c.behind_leader.value,
            c.lost_to_judgment, c.lost_to_latency, c.per_hour,
        )
        for c in listed
    ]  # fmt: skip
    if top is not None:
        columns.insert(0, text("", "mark"))
        rows = [(_mark(choice, c), *row) for row, c in zip(rows, listed, strict=True)]
    else:
        columns += [
            number("/1000", 2, "per_1000"), text("limit"), text("within budget"),
            text("recommended"),
        ]  # fmt: skip
        rows = [
            (
                *row, c.per_1000, c.limit, "yes" if c.within_budget else "no",
                "yes" if c.name == choice.best.name else "no",
            )
            for row, c in zip(rows, listed, strict=True)
        ]  # fmt: skip
    notes = [
        f"behind: points behind {choice.leader.name}, right longest of all that may be chosen."
        " judgm., latency: time lost to each. Costs count every state asked of every component,"
        " those of policies what they send."
    ]
    if any(c.policy is not None for c in listed):
        notes.append(
            "Numbers of policies are chosen on half of the scenarios and judged on the other;"
            f" policies of two components are tried for the {CASCADES} best pairs."
        )
    if any(c.name == choice.best.name for c in listed):
        notes.append("> recommended")
    if any(not c.within_budget for c in listed):
        notes.append("* beyond the budget, or its cost is not known")
    if any(c.simulated_pair for c in listed):
        notes.append("~ a pair or policy with a simulation in it: never recommended")
    hidden = len(choice.candidates) - len(rows)
    if hidden > 0:
        notes.append(f"{hidden} more not shown; --top {len(choice.candidates)} shows all")
    return Table(
        f"In force at {choice.interval:g} s (%), what is lost, {choice.terms.currency} an hour",
        tuple(columns),
        tuple(rows),
        tuple(notes),
    )


def money(amount: float | None) -> str:
    """An amount with the digits that matter.

    >>> money(39.012), money(0.0741), money(None)
    ('39.01', '0.074', '–')
    """
    if amount is None:
        return "–"
    return fixed(amount, 2 if amount >= 1 else 3)


def _policy(best: Candidate) -> list[str]:
    """What is done with the answers, and how its numbers were found."""
    if best.policy is None:
        return []
    how = (
        " Its numbers were chosen on one half of the scenarios and judged on the other, both ways;"
        " over all of them these are the best."
    )
    return [f"As a policy: {best.policy_words}.{how if best.chosen else ''}"]


def _weighed(choice: Choice) -> list[str]:
    """Against the one that is right longer, or against the next best and the best single one."""
    best, leader = choice.best, choice.leader
    if leader.name != best.name:
        gap = best.behind_leader
        small = gap.value < choice.terms.min_gain
        why = (
            f"less than the minimum gain of {_points(choice.terms.min_gain)}"
            if small
            else "these recordings cannot tell the two apart"
        )
        return [
            f"{leader.name} reaches {shown(leader.in_force.value)} %, {_points(gap.value)}"
            f" more (95 %: {_signed(gap)}){_at_cost(leader, choice)}: {why}, so"
            f" {_virtue(best, leader)} is recommended."
        ]
    lines = []
    second, single = choice.runner_up, choice.best_single
    if second is not None:
        lines.append(_behind(second, "The next best", choice))
    if single is not None and single.name not in (best.name, second.name if second else ""):
        lines.append(_behind(single, "The best single one", choice))
    return lines


def _behind(other: Candidate, what: str, choice: Choice) -> str:
    gap = other.behind_leader
    told = "" if gap.excludes_zero else "; these recordings cannot tell the two apart"
    return (
        f"{what}, {other.name}, is {_points(gap.value)} behind (95 %: {_signed(gap)})"
        f"{_at_cost(other, choice)}{told}."
    )


def _left_out(choice: Choice) -> list[str]:
    lines = []
    if choice.simulated_pairs:
        lines.append(
            "Pairs of simulations prove nothing, since simulated answers are drawn independently of"
            " each other: no such pair is recommended."
        )
    if choice.simulated_policies:
        either = " either" if choice.simulated_pairs else ""
        lines.append(
            f"Policies of simulations prove nothing{either}, since their confidences are declared:"
            " none is recommended."
        )
    if choice.paired and choice.paired < choice.recordings:
        lines.append(
            f"Pairs were made of {choice.paired} of the {choice.recordings} recordings: the"
            f" {PAIRED} best in force at this pace and the {PAIRED} best untimed."
        )
    if choice.unpriced:
        lines.append(f"Left out for want of a price: {', '.join(choice.unpriced)}.")
    return lines


def _virtue(best: Candidate, leader: Candidate) -> str:
    """Why the one is preferred to the other."""
    if best.per_hour is None or best.per_hour == leader.per_hour:
        return "the simpler one"
    if leader.per_hour is not None and best.per_hour > leader.per_hour:
        return "the simpler one"  # the policy saves too little
    return "the one whose price is known" if leader.per_hour is None else "the cheaper one"


def _points(share: float) -> str:
    """
    >>> _points(0.01), _points(0.0234)
    ('1 point', '2.3 points')
    """
    text = shown(share).removesuffix(".0")
    return f"{text} point" if text == "1" else f"{text} points"


def _mark(choice: Choice, candidate: Candidate) -> str:
    marks = (
        (candidate.name == choice.best.name, ">"),
        (not candidate.within_budget, "*"),
        (candidate.simulated_pair, "~"),
    )
    return "".join(mark for holds, mark in marks if holds)


def _at_cost(other: Candidate, choice: Choice) -> str:
    if other.per_hour is None:
        return ", at a price that is not known" if choice.best.per_hour is not None else ""
    return f", for {money(other.per_hour)} {choice.terms.currency} an hour"


def _signed(gap: Estimate) -> str:
    return f"{100 * gap.low:+.1f} to {100 * gap.high:+.1f}"
