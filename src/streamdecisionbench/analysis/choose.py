"""What to use at a given pace: the one rule that decides, and the one author of its words.

At one interval Δ, over the field of candidates (`analysis.candidates`), with differences paired by
state:

1. The *leader* is right longest of all that may be chosen: within the budget, and no pair or policy
   of simulations.
2. As good as the leader is whoever lies behind it by less than the minimum gain, or by a difference
   whose interval holds zero.
3. Of those the cheapest is recommended; of equally cheap ones the simpler, which asks fewer
   components and simply takes their newest answer; then the one that is right longer. A price that is
   not known counts as the highest. A policy that saves less than a tenth is not worth having: then
   the simpler one is recommended.

`sdb choose`, `sdb choose --frontier`, the report and its page all say what `decide` and `choice_lines` say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import compress
from typing import Any

import numpy as np

from streamdecisionbench.analysis.bootstrap import Estimate, Sampling, bootstrap
from streamdecisionbench.analysis.candidates import (
    CASCADES,
    PAIRED,
    TRIPLES,
    CandidatePool,
    ScoredCandidate,
)
from streamdecisionbench.analysis.token_cost import Cost
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    JoinedTimelines,
    Timeline,
    nominal,
)
from streamdecisionbench.kernel.paces import check_interval
from streamdecisionbench.kernel.pair_trajectory import pair_trajectory
from streamdecisionbench.kernel.rule import RULES
from streamdecisionbench.kernel.shares import Shares
from streamdecisionbench.kernel.trajectory import (
    Trajectory,
    trajectory_at,
)
from streamdecisionbench.policies.cost_rules import Costs
from streamdecisionbench.policies.policy_file import (
    Cascade,
    Policy,
    policy_of,
)
from streamdecisionbench.render.sentences import CANNOT_TELL_APART, COST_UNIT, right_in_force
from streamdecisionbench.render.table import (
    Cell,
    Column,
    Table,
    count,
    fixed,
    number,
    percentage,
    text,
)
from streamdecisionbench.render.table import percent as shown
from streamdecisionbench.scoring.counterfactual import Counterfactual
from streamdecisionbench.scoring.error_costs import (
    CostRates,
    cost_at,
)
from streamdecisionbench.scoring.policy_answers import Answers
from streamdecisionbench.scoring.policy_replay import policy_trajectory
from streamdecisionbench.scoring.policy_tables import (
    policy_name,
    signed_points,
    would_help_line,
)
from streamdecisionbench.text import plural

METHOD = (
    "Of those as good as the one that is right longest, the cheapest, then the simplest; policies"
    " among them, their numbers chosen on half of the scenarios and judged on the other; compared on"
    " nominal releases, as pairs are. `sdb choose` answers for any interval, budget and minimum gain,"
    " and writes what it chose as a policy file."
)

MIN_GAIN = 0.01
"""A point: below that no gain is worth money or a second component."""

MIN_SAVING = 0.1
"""Of the money: below that no policy is worth the trouble."""

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

    def size(self) -> tuple[int, bool]:
        """How much there is to it: components, then whether their answers go through a policy."""
        return len(self.members), self.policy is not None

    def to_use(self) -> Policy:
        """It as a policy that names its components; a recording alone and a pair are policies too."""
        policy = policy_of(self.policy or {}, name=self.name)
        own = Cascade(self.members, rule=self.rule or "freshest")
        return replace(policy, cascade=policy.cascade or own)

    @property
    def lost_to_latency(self) -> float:
        """Stale and no decision yet: right answers that were too late."""
        return self.shares.stale + self.shares.no_decision

    @property
    def lost_to_judgment(self) -> float:
        return self.shares.judgment

    @property
    def limit(self) -> str:
        """What costs most: `judgment` or `latency`; compound time is neither's alone.

        Classes of time cannot tell that of a combination (`scoring.counterfactual`): empty there.
        """
        if self.size() != (1, False):
            return ""
        return "latency" if self.lost_to_latency > self.lost_to_judgment else "judgment"


class Scale:
    """Everything on the scale at one interval, best first."""

    def __init__(
        self, everybody: CandidatePool, interval: float, terms: Terms, *, listed: bool
    ) -> None:
        self.parts, self.terms = everybody.parts, terms
        contenders = everybody.singles(interval)
        if terms.pairs:
            contenders += everybody.pairs(interval, terms.rules)
        self.simulated_policies = False
        if terms.policies:

            def allows(each: float | None) -> bool:
                per_hour, per_1000 = (
                    (None, None) if each is None else (each * 3600 / interval, each * 1000)
                )
                return terms.budget.allows(per_hour, per_1000)

            pairs = [c for c in _ranked(contenders) if c.rule]
            found, self.simulated_policies = everybody.policies(
                interval, pairs, allows, listed=listed
            )
            contenders += found
        self.contenders = contenders
        self.order = _ranked(contenders)
        self.able = [c for c in self.order if self.affords(c) and not c.simulated_pair]

    def affords(self, one: ScoredCandidate) -> bool:
        return self.terms.budget.allows(one.per_hour, one.per_1000)

    def recommended(self, leader: ScoredCandidate) -> ScoredCandidate:
        """Of all that are as good as the leader, the one to be preferred."""
        least = max(self.terms.min_gain, _SAME)
        near = [c for c in self.able if leader.value - c.value < least]
        rest = [c for c in self.able if c not in near]
        best = min(near, key=_preference)
        # Only who would be preferred to it needs the interval of its difference drawn.
        mark = _preference(best)
        doubtful = [c for c in rest if _preference(c) < mark]
        best = min((best, *self.level(leader, doubtful)), key=_preference)
        if best.policy is None:
            return best
        simpler = [c for c in self.able if c.size < best.size and _spares(c, best)]
        good = [c for c in simpler if c in near]
        good += self.level(leader, [c for c in simpler if c in rest])
        return min(good, key=lambda c: (c.size, _preference(c)), default=best)

    def level(
        self, leader: ScoredCandidate, others: Sequence[ScoredCandidate]
    ) -> list[ScoredCandidate]:
        """Of these, who cannot be told apart from the leader."""
        if not others:
            return []
        gaps = leader.column[:, None] - np.stack([c.column for c in others], axis=1)
        behind = bootstrap(self.parts, gaps, self.terms.sampling, share=False)
        return [c for c, gap in zip(others, behind, strict=True) if not gap.excludes_zero]

    def candidates(
        self, contenders: Sequence[ScoredCandidate], leader: ScoredCandidate
    ) -> dict[ScoredCandidate, Candidate]:
        own = np.stack([c.column for c in contenders], axis=1)
        both = np.hstack((own, leader.column[:, None] - own))
        estimates = bootstrap(self.parts, both, self.terms.sampling, share=False)
        found = {}
        for c, in_force, gap in zip(
            contenders, estimates, estimates[len(contenders) :], strict=False
        ):
            found[c] = Candidate(
                name=c.name,
                members=c.members,
                rule=c.rule,
                in_force=Estimate(c.value, max(in_force.low, 0.0), min(in_force.high, 1.0)),
                behind_leader=gap,
                shares=c.shares(),
                per_hour=c.per_hour,
                per_1000=c.per_1000,
                within_budget=self.affords(c),
                simulated_pair=c.simulated_pair,
                slow_share=c.slow_share() if c.slow_share else None,
                policy=None if c.policy is None else c.policy.to_json(),
                policy_words=None if c.policy is None else policy_name(c.policy),
                chosen=c.chosen,
            )
        return found


def _ranked(contenders: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """Best first. Sums of the same steps may differ in a last bit: equals stay as given."""
    return sorted(contenders, key=lambda c: -round(c.value, 12))


def _preference(one: ScoredCandidate) -> tuple[bool, float, tuple[int, bool], float]:
    """Cheaper, then simpler, then right longer."""
    per_hour = 0.0 if one.per_hour is None else round(one.per_hour, 12)
    return one.per_hour is None, per_hour, one.size, -round(one.value, 12)


def _spares(one: ScoredCandidate, policy: ScoredCandidate) -> bool:
    """Whether the policy saves less than a tenth of what this one costs."""
    if one.per_hour is None or policy.per_hour is None:
        return one.per_hour is None and policy.per_hour is None
    return policy.per_hour > one.per_hour * (1 - MIN_SAVING)


def _same(one: ScoredCandidate, other: ScoredCandidate) -> bool:
    """Whether two are right at the very same times."""
    return bool(np.abs(one.column - other.column).max() < _SAME)


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
    hourly: Collection[str] = ()
    """Recordings whose hardware has a stated price by the hour."""
    candidates: Sequence[Candidate] = ()
    """All of them, best first, those that may not be chosen as well; only where asked for."""
    replays: Callable[[], list[Counterfactual]] = field(default=list, repr=False, compare=False)

    @property
    def would_help(self) -> list[Counterfactual]:
        """What a recommended pair or policy would reach with a changed member; computed once."""
        return self.replays()


def choose(
    recordings: Mapping[str, Sequence[Timeline]],
    interval: float,
    *,
    costs: Mapping[str, Cost | None] | None = None,
    simulated: Collection[str] = (),
    terms: Terms | None = None,
) -> Choice:
    """Weighs every recording and every fast and slow two of them; lists all of them."""
    everybody = CandidatePool(recordings, costs or {}, simulated)
    return decide(everybody, interval, terms or Terms(), listed=True)


def decide(
    everybody: CandidatePool, interval: float, terms: Terms, *, listed: bool = False
) -> Choice:
    """The choice at one interval. `listed` adds every candidate; it changes nothing else."""
    check_interval(interval)
    scale = Scale(everybody, interval, terms, listed=listed)
    able = scale.able
    if not able:
        raise InputError(
            "nothing is within the budget, or no cost is known",
            fix="raise --budget, or give prices with --prices",
        )
    leader = able[0]
    best = scale.recommended(leader)
    other = next((c for c in able[1:] if not _same(c, leader)), None)
    single = next((c for c in able if c.size == (1, False)), None)
    wanted = [c for c in dict.fromkeys((best, leader, other, single)) if c is not None]
    found = scale.candidates(wanted, leader)
    everything = scale.candidates(scale.order, leader) if listed else {}
    limited = terms.budget != Budget()
    return Choice(
        interval=interval,
        terms=terms,
        best=found[best],
        leader=found[leader],
        runner_up=None if other is None else found[other],
        best_single=None if single is None else found[single],
        idle=[c.name for c in able if c is not best and c.policy is None and _same(c, best)],
        simulated_pairs=sum(c.simulated_pair and c.policy is None for c in scale.contenders),
        simulated_policies=scale.simulated_policies,
        policies=sum(c.policy is not None and not c.simulated_pair for c in scale.contenders),
        unpriced=[
            c.name
            for c in scale.contenders
            if limited and c.per_state is None and c.size == (1, False)
        ],
        recordings=len(everybody.singles(interval)),
        paired=len(everybody.paired(interval)) if terms.pairs else 0,
        candidates=list(everything.values()),
        hourly=tuple(everybody.hourly),
        replays=cache(best.would_help),
    )


def holds(everybody: CandidatePool, choice: Choice) -> tuple[float, float]:
    """Intervals around the one asked for at which the same is recommended, tried on a grid."""
    ends = []
    grid = _GRID // 2 if everybody.trials.answers and choice.terms.policies else _GRID
    ways = [
        [choice.interval * 2 ** (direction * k / grid) for k in range(1, 2 * grid + 1)]
        for direction in (-1, 1)
    ]
    everybody.trials.look_ahead([*ways[0], *ways[1]])
    for way in ways:
        reached = choice.interval
        for there in way:
            if decide(everybody, there, choice.terms).best.name != choice.best.name:
                break
            reached = there
        ends.append(reached)
    return ends[0], ends[1]


def could_be_recommended(choice: Choice) -> list[Candidate]:
    """What another budget or minimum gain could recommend, best first, and every recording by itself.

    Whatever may be chosen, unless another is right as long for as little money and as simple.
    """
    able = [c for c in choice.candidates if c.within_budget and not c.simulated_pair]

    def beaten(c: Candidate) -> bool:
        mine = (-round(c.in_force.value, 12), _price(c), *c.size())
        for other in able:
            theirs = (-round(other.in_force.value, 12), _price(other), *other.size())
            as_good = theirs[0] <= mine[0] and theirs[1] <= mine[1] and other.size() <= c.size()
            if as_good and theirs != mine:
                return True
        return False

    named = {c.name for c in (choice.best, choice.leader, choice.runner_up) if c is not None}
    return [c for c in able if c.size() == (1, False) or c.name in named or not beaten(c)]


def _price(candidate: Candidate) -> float:
    return math.inf if candidate.per_hour is None else round(candidate.per_hour, 12)


@dataclass(frozen=True, slots=True)
class ByCost:
    """One candidate at the interval: its place by time and by cost, and what makes the cost."""

    name: str
    in_force: float
    place_by_time: int
    place_by_cost: int
    rates: CostRates


def by_cost(
    chosen: Sequence[Candidate],
    interval: float,
    parts: Mapping[str, Sequence[Timeline]],
    costs: Costs,
    answers: Mapping[str, Answers] | None = None,
) -> list[ByCost]:
    """Candidates by what being wrong costs, cheapest first; `parts` are timelines by recording.

    A policy is charged with the numbers it would be used with, on its `answers` (nominal clock).
    """
    families = [part.family for part in parts[chosen[0].members[0]]]
    rates = {
        c.name: cost_at(_path(c, parts, interval, answers or {}), families, costs) for c in chosen
    }
    by_time = sorted(chosen, key=lambda c: (-c.in_force.value, c.name))
    cheap = sorted(chosen, key=lambda c: (rates[c.name].total, c.name))
    return [
        ByCost(c.name, c.in_force.value, by_time.index(c) + 1, place, rates[c.name])
        for place, c in enumerate(cheap, start=1)
    ]


def by_cost_table(found: Sequence[ByCost], costs: Costs, best: str) -> Table:
    """Cheapest first, with what these costs say of the one that is recommended."""
    rows: list[tuple[Cell, ...]] = [
        (c.name, c.place_by_time, c.in_force, c.place_by_cost, c.rates.wrong, c.rates.age,
         c.rates.acts, c.rates.total)
        for c in found
    ]  # fmt: skip
    own = next(c for c in found if c.name == best)
    least = found[0]
    said = f"{best}, which is recommended, also costs least."
    if least.name != best:
        said = (
            f"{least.name} costs least ({fixed(least.rates.total, 3)} a second);"
            f" {best} ({fixed(own.rates.total, 3)}) is recommended for the time it is right."
        )
    return Table(
        f"By what being wrong costs ({costs.name} {costs.dated}".rstrip() + ")",
        (text("", "candidate"), count("#time", "place_by_time"), percentage("in force", "in_force"),
         count("#cost", "place_by_cost"), number("wrong", 3), number("age", 3), number("acts", 3),
         number("cost", 3, "cost_per_second")),
        tuple(rows),
        notes=(f"{COST_UNIT}; docs/reference/costs.md.", said),
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
        return trajectory_at(JoinedTimelines(first), interval)
    return pair_trajectory(first, parts[candidate.members[1]], candidate.rule, interval)


# The words in which a choice is recommended: the one author for terminal, Markdown and page.


def choice_lines(choice: Choice) -> list[str]:
    """The recommendation in plain words: what, how sure, against what, what limits it, the cost."""
    best = choice.best
    lines = [
        f"At {choice.interval:g} s between states, use {best.name}: it keeps"
        f" {right_in_force(best.in_force.value)}"
        f" (95 %: {shown(best.in_force.low)}–{shown(best.in_force.high)})."
    ]
    lines += _policy(best)
    lines += _weighed(choice)
    if choice.idle:
        names = ", ".join(choice.idle[:3]) + (", …" if len(choice.idle) > 3 else "")
        lines.append(f"{names} would be right at the very same times, so nothing is gained by it.")
    if best.limit:
        lines.append(
            f"What limits it: {best.limit}. Judgment costs {shown(best.lost_to_judgment)} % of the"
            f" time, latency {shown(best.lost_to_latency)} %, both at once"
            f" {shown(best.shares.compound)} %."
        )
    elif choice.would_help:
        lines.append(would_help_line(choice.would_help))
    if best.per_hour is None:
        lines.append("Cost: not known; name prices with --prices.")
    else:
        stated = not {*choice.hourly}.isdisjoint(best.members)
        lines.append(
            f"Cost {'by the stated price of an hour' if stated else 'at list prices'}: {money(best.per_hour)} {choice.terms.currency} an hour at this"
            f" pace, {money(best.per_1000)} per 1000 decisions."
        )
    lines += _left_out(choice)
    return lines


def holds_line(choice: Choice, holds: tuple[float, float]) -> str:
    """Over which paces the same would be recommended."""
    low, high = (fixed(x, 2) for x in holds)
    tried = (fixed(choice.interval * factor, 2) for factor in (0.25, 4))
    return f"It stays the choice from about {low} to {high} s (tried from {' to '.join(tried)} s)."


def choice_table(
    choice: Choice, top: int | None = None, *, every: bool = False, by_money: bool = False
) -> Table:
    """What could be recommended, or `every` candidate; without `top` all of them with every column.

    Best first, with what is lost to what; `by_money` cheapest first, with what policies do.
    """
    listed = list(choice.candidates)
    if top is not None and not every:
        could = could_be_recommended(choice)
        listed = [c for k, c in enumerate(could) if k < max(top, 1) or c.name == choice.best.name]
    if by_money:
        listed.sort(key=_price)
    columns: list[tuple[Column, Callable[[Candidate], Cell]]] = [
        (text("", "candidate"), lambda c: c.name),
        (percentage("in force", "in_force"), lambda c: c.in_force.value),
        (percentage("low", "in_force_low"), lambda c: c.in_force.low),
        (percentage("high", "in_force_high"), lambda c: c.in_force.high),
        (
            percentage("behind", "behind_leader"),
            lambda c: None if c.name == choice.leader.name else c.behind_leader.value,
        ),
    ]
    told = f"behind: points behind {choice.leader.name}, right longest of all that may be chosen."
    if by_money:
        columns.insert(1, (text("policy"), lambda c: c.policy_words or "plain"))
    else:
        told += " judgm., latency: time lost to each"
        told += ", of one component alone." if any(not c.limit for c in listed) else "."

        def lost(share: Callable[[Candidate], float]) -> Callable[[Candidate], Cell]:
            """The terminal leaves shares of combinations out: they do not say what would help."""
            return lambda c: share(c) if c.limit or top is None else None

        judgment = lost(lambda c: c.lost_to_judgment)
        columns.append((percentage("judgm.", "lost_to_judgment"), judgment))
        columns.append(
            (percentage("latency", "lost_to_latency"), lost(lambda c: c.lost_to_latency))
        )
    columns.append((number("/hour", 2, "per_hour"), lambda c: c.per_hour))
    if top is not None:
        columns.insert(0, (text("", "mark"), lambda c: _mark(choice, c)))
    else:
        columns += [
            (number("/1000", 2, "per_1000"), lambda c: c.per_1000),
            (text("limit"), lambda c: c.limit),
            (text("within budget"), lambda c: "yes" if c.within_budget else "no"),
            (text("recommended"), lambda c: "yes" if c.name == choice.best.name else "no"),
        ]
    return Table(
        f"In force at {choice.interval:g} s (%), {choice.terms.currency} an hour",
        tuple(column for column, _ in columns),
        tuple(tuple(value(c) for _, value in columns) for c in listed),
        (told, *_legend(choice, listed)),
    )


_MARKS = {
    ">": "recommended",
    "*": "beyond the budget, or its cost is not known",
    "~": "a pair or policy with a simulation in it: never recommended",
}


def _legend(choice: Choice, listed: Sequence[Candidate]) -> list[str]:
    """What figures and marks mean, as far as they are there, and what is not shown."""
    notes = ["/hour counts every state asked of every component, of policies what they send."]
    if any(c.policy is not None for c in listed):
        notes.append(
            "Numbers of policies are chosen on half of the scenarios and judged on the other;"
            f" policies of two components are tried for the {CASCADES} best pairs, of three for the"
            f" best {TRIPLES} of these with a third."
        )
    marks = "".join(_mark(choice, c) for c in listed)
    notes += [f"{mark} {words}" for mark, words in _MARKS.items() if mark in marks]
    hidden = len(choice.candidates) - len(listed)
    if hidden > 0:
        notes.append(
            f"{hidden} more that may not be chosen, or are neither better nor cheaper nor simpler:"
            " --all lists them."
        )
    return notes


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
    if {*best.policy} == {"cascade"} and best.policy["cascade"]["ask"] == "always":
        return ["All of its components are asked at every state; the newest answer takes effect."]
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
            else CANNOT_TELL_APART
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
    told = "" if gap.excludes_zero else f"; {CANNOT_TELL_APART}"
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
            f"Pairs were made of {choice.paired} of the {plural(choice.recordings, 'recording')}: the"
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
    own = (
        candidate.name == choice.best.name, not candidate.within_budget, candidate.simulated_pair,
    )  # fmt: skip
    return "".join(compress(_MARKS, own))


def _at_cost(other: Candidate, choice: Choice) -> str:
    if other.per_hour is None:
        return ", at a price that is not known" if choice.best.per_hour is not None else ""
    return f", for {money(other.per_hour)} {choice.terms.currency} an hour"


def _signed(gap: Estimate) -> str:
    return f"{signed_points(gap.low)} to {signed_points(gap.high)}"
