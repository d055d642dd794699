"""The cost of being wrong: what the wrong seconds cost, by what they show and by their age.

    being wrong   (1/T) ∫ C(y(t), d(t)) dt
    age           (1/T) Σ Φ(ℓ_k),   Φ(ℓ) = ∫ from 0 to ℓ of the age penalty

with y(t) what is right, d(t) what is in force, ℓ_k the wrong spells and T the observed time. Both
are rates: seconds of an ordinary wrong decision, per second. The penalty's integral is

    linear     per_s · ℓ²/2
    threshold  add · max(0, ℓ − after_s)
    capped     per_s · (ℓ² − max(0, ℓ − cap/per_s)²)/2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.rules.cost_file import Values, Vocabulary, read_cost_file
from streamdecisionbench.rules.costs import AgePenalty, Costs, Section
from streamdecisionbench.rules.policy_file import Policy
from streamdecisionbench.scoring.acts import ActCounts, act_slots, acts_of, instances, mean_acts
from streamdecisionbench.scoring.bounds import Bounds, check_interval
from streamdecisionbench.scoring.changes import Edits, delays_of, edits_of, mean_delays, mean_edits
from streamdecisionbench.scoring.cut import (
    Calm,
    Cut,
    Stretches,
    calm_of,
    cut_of,
    mean_by_scenario,
    powers,
    stretches,
)
from streamdecisionbench.scoring.pair_sweep import pair_sweep, pair_trajectory
from streamdecisionbench.scoring.policy_answers import Answers, Setting
from streamdecisionbench.scoring.policy_replay import policy_sweep, policy_trajectory
from streamdecisionbench.scoring.score import Score, family_weights
from streamdecisionbench.scoring.spells import MovingSpells, Spells, moving_spells, spells_of
from streamdecisionbench.scoring.sweep import (
    NOTHING,
    References,
    Sweep,
    Trajectory,
    sweep_of,
    trajectory_at,
)
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints, Timeline
from streamdecisionbench.suite.scenario import FAMILIES, Scenario, Suite

NO_DECISION = "no decision"


def wrong_rate(
    path: Trajectory, cut: Stretches, judged: Floats, sections: Sequence[Section]
) -> Floats:
    """(1/T) ∫ C dt per scenario; `judged` is T on the recording clock, sections are by scenario."""
    wrong = np.flatnonzero(cut.wrong)
    scenario = cut.scenario[wrong]
    cost = _costs(path.references, cut.segment[wrong], path.decision[cut.piece[wrong]], sections)
    amount = np.bincount(
        scenario, weights=cost * cut.length[wrong], minlength=path.references.count
    )
    return _per(amount.astype(np.float64), judged)


def contributions(
    path: Trajectory, cut: Stretches, judged: Floats, sections: Sequence[Section], weights: Floats
) -> dict[str, float]:
    """What the cost per second is made of, largest first: which field showed what instead of what.

    `weights` are those of the scenarios in the level asked for.
    """
    refs = path.references
    wrong = np.flatnonzero(cut.wrong)
    scenario, segment = cut.scenario[wrong], cut.segment[wrong]
    share = _per(np.ones(len(judged)), judged)[scenario] * weights[scenario] * cut.length[wrong]
    found: dict[str, float] = {}
    rows = zip(
        scenario.tolist(),
        refs.decision[segment].tolist(),
        path.decision[cut.piece[wrong]].tolist(),
        share.tolist(),
        strict=True,
    )
    for owner, y, d, amount in rows:
        label, cost = NO_DECISION, sections[owner].no_decision
        if d != NOTHING:
            right, shown = refs.values[y], refs.values[d]
            cost, field = sections[owner].blame(right, shown)
            label = f"{field}: {right[field]} → {shown[field]}" if field else "another decision"
        found[label] = found.get(label, 0.0) + amount * cost
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def mean_wrong_rate(
    sweep: Sweep, cut: Cut, judged: Floats, sections: Sequence[Section], bounds: Bounds
) -> Floats:
    """The same over the bounds: every wrong stretch's length is a + b·c."""
    refs = sweep.references
    wrong = cut.where(cut.wrong)
    cost = _costs(refs, wrong.segment, sweep.decision[wrong.piece], sections)
    on = powers(wrong.low, wrong.high, bounds)
    amount = (wrong.end_at - wrong.begin_at) * on.one
    amount += (wrong.end_delay - wrong.begin_delay) * on.scale
    return _per(mean_by_scenario(cost * amount, wrong.scenario, refs.tick, bounds), judged)


def age_rate(found: Spells, sections: Sequence[Section]) -> Floats:
    """(1/T) Σ Φ(ℓ) per scenario, in seconds at the interval."""
    amount = np.zeros(len(found.length))
    penalties = [s.age for s in sections]
    for penalty in dict.fromkeys(p for p in penalties if p is not None):
        mine = np.array([p == penalty for p in penalties])[found.scenario]
        amount[mine] = _penalty(penalty, found.length[mine])
    total = np.bincount(found.scenario, weights=amount, minlength=len(found.observed))
    return _per(total.astype(np.float64), found.observed)


def mean_age_rate(found: MovingSpells, sections: Sequence[Section], bounds: Bounds) -> Floats:
    """The same over the bounds."""
    out = np.zeros(len(sections))
    for penalty in {s.age for s in sections if s.age is not None}:
        mine = np.array([s.age == penalty for s in sections])
        if penalty.kind == "linear":
            rate = penalty.per_s * found.mean_age(bounds)
        elif penalty.kind == "threshold":
            rate = penalty.add * found.beyond_share(penalty.after_s, bounds)
        else:
            full = penalty.cap / penalty.per_s
            rate = penalty.per_s * (found.mean_age(bounds) - found.mean_age(bounds, beyond=full))
        out = np.where(mine, rate, out)
    return out


def _penalty(penalty: AgePenalty, length: Floats) -> Floats:
    """Φ(ℓ)."""
    if penalty.kind == "threshold":
        return penalty.add * np.maximum(0.0, length - penalty.after_s)
    full = np.inf if penalty.kind == "linear" else penalty.cap / penalty.per_s
    beyond: Floats = np.maximum(0.0, length - full)
    return penalty.per_s * (length**2 - beyond**2) / 2


def _costs(refs: References, segment: Ints, decision: Ints, sections: Sequence[Section]) -> Floats:
    """C(y, d) of each wrong stretch. Every pair of decisions that occurs is looked up once."""
    flat = all(not s.fields and not s.pairs for s in sections)
    scenario = refs.scenario[segment]
    none = np.array([s.no_decision for s in sections])[scenario]
    if flat:
        return np.where(decision == NOTHING, none, np.array([s.wrong for s in sections])[scenario])
    if not refs.values:
        raise InputError(
            "costs of fields and values need decisions that say their fields",
            fix="give recordings of a suite, or a cost file without fields and pairs",
        )
    # Streams of one log share their decisions, so a pair is looked up once per section.
    place: dict[int, int] = {}
    number = np.array([place.setdefault(id(s), len(place)) for s in sections])[scenario]
    width = len(refs.values) + 1
    pair = refs.decision[segment] * width + decision + 1
    _, first, where = np.unique(
        number * width * width + pair, return_index=True, return_inverse=True
    )
    found = [
        sections[s].cost(refs.values[p // width], refs.values[p % width - 1] if p % width else None)
        for s, p in zip(scenario[first].tolist(), pair[first].tolist(), strict=True)
    ]
    return np.array(found, dtype=np.float64)[where]


def _per(amount: Floats, observed: Floats) -> Floats:
    return np.divide(amount, observed, out=np.zeros(len(observed)), where=observed > 0)


# What one subject had in force, ready to be charged: at an interval, and over bounds.
#
# A *course* is made once from a recording, a pair or a policy; spells, delays, changes, acts and costs
# all read the same cuts of it.


T = TypeVar("T")


@dataclass(frozen=True)
class Course:
    """A trajectory at an interval and the sweep over bounds, with the names of its scenarios."""

    path: Trajectory
    sweep: Sweep
    episodes: Sequence[str]
    families: Sequence[str]
    interval: float
    bounds: Bounds

    @cached_property
    def cut(self) -> Stretches:
        return stretches(self.path)

    @cached_property
    def moving_cut(self) -> Cut:
        return cut_of(self.sweep)

    @cached_property
    def spells(self) -> Spells:
        return spells_of(self.path, self.cut)

    @cached_property
    def calm(self) -> Calm:
        return calm_of(self.sweep, self.moving_cut)

    @cached_property
    def moving_spells(self) -> MovingSpells:
        return moving_spells(self.calm)

    @property
    def judged(self) -> Floats:
        """T on the recording clock."""
        return self.calm.judged


@dataclass(frozen=True, slots=True)
class ByLevel(Generic[T]):
    """The whole, every family, every scenario."""

    overall: T
    by_family: Mapping[str, T]
    by_scenario: Mapping[str, T]

    def at(self, level: str) -> T:
        """By name, as in a score."""
        if level == "overall":
            return self.overall
        return self.by_family[level] if level in self.by_family else self.by_scenario[level]


def course_of(parts: Sequence[Timeline], interval: float, bounds: Bounds) -> Course:
    """One component in replay."""
    check_interval(interval)
    flat = Flat(parts)
    return Course(
        trajectory_at(flat, interval),
        sweep_of(flat, flat.tick / bounds.high, flat.tick / bounds.low),
        [p.episode_id for p in parts],
        [p.family for p in parts],
        interval,
        bounds,
    )


def course_of_pair(
    fast: Sequence[Timeline], slow: Sequence[Timeline], rule: str, interval: float, bounds: Bounds
) -> Course:
    """Two components under a rule, in replay on the nominal clock."""
    check_interval(interval)
    return Course(
        pair_trajectory(fast, slow, rule, interval),
        pair_sweep(fast, slow, rule, bounds),
        [p.episode_id for p in fast],
        [p.family for p in fast],
        interval,
        bounds,
    )


def course_of_policy(
    policy: Policy,
    components: Sequence[Answers],
    interval: float,
    bounds: Bounds,
    setting: Setting | None = None,
) -> Course:
    """Components under a policy, in replay; several on the nominal clock."""
    check_interval(interval)
    parts = components[0].parts
    return Course(
        policy_trajectory(policy, components, interval, setting),
        policy_sweep(policy, components, bounds, setting),
        [p.episode_id for p in parts],
        [p.family for p in parts],
        interval,
        bounds,
    )


def by_level(course: Course, measure: Callable[[Ints, Floats], T]) -> ByLevel[T]:
    """`measure(scenarios, weights)` for the whole, families and scenarios; weights sum to one."""
    families = list(dict.fromkeys(course.families))
    every = np.arange(len(course.episodes))
    of_family = np.array([families.index(f) for f in course.families])

    def family(k: int) -> T:
        mine = every[of_family == k]
        return measure(mine, np.full(len(mine), 1.0 / len(mine)))

    return ByLevel(
        overall=measure(every, family_weights(list(course.families))),
        by_family={name: family(k) for k, name in enumerate(families)},
        by_scenario={
            name: measure(every[k : k + 1], np.ones(1)) for k, name in enumerate(course.episodes)
        },
    )


# Spells, delays and decision changes of a course, level by level, as plain numbers.
#
# Shares and mean ages of a family are means of its scenarios, those of the whole are means of
# families, as for the score. Numbers of things are sums; the longest spell is the longest of all;
# quantiles of delays are taken over all changes together.


THETA_S = 4.0
"""Seconds from which a wrong spell counts as long, where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class SpellMeans:
    """Over the bounds: means of the same."""

    mean_age_s: float
    beyond_share: float
    longest_s: None
    """Given at one pace only."""
    count: float
    long_share: float


@dataclass(frozen=True, slots=True)
class SpellMeasures:
    """Wrong spells at the interval; seconds are those of the re-paced timeline."""

    mean_age_s: float
    """Σ ℓ²/2 / T."""
    beyond_share: float
    """Σ max(0, ℓ − θ) / T."""
    longest_s: float
    count: int
    wrong_share: float
    """Σ ℓ / T = 1 − A."""
    long_share: float
    """Of that, the time in spells longer than θ."""
    mean_length_s: float
    """Σ ℓ / count."""
    integrated: SpellMeans | None
    """None where nothing was integrated."""

    @property
    def short_share(self) -> float:
        """Time in spells of at most θ."""
        return self.wrong_share - self.long_share


@dataclass(frozen=True, slots=True)
class EditMeans:
    """Over the bounds."""

    changes: float
    needed: float
    useless: float
    reversed_in_a_tick: float


@dataclass(frozen=True, slots=True)
class EditMeasures:
    """Changes of the decision in force at the interval."""

    changes: int
    needed: int
    useless: int
    reversed_in_a_tick: int
    integrated: EditMeans | None

    @property
    def edit_overhead(self) -> float | None:
        """The share of changes that were useless."""
        return self.useless / self.changes if self.changes else None

    @property
    def flicker(self) -> float | None:
        """The share of changes that were taken back within a tick."""
        return self.reversed_in_a_tick / self.changes if self.changes else None


@dataclass(frozen=True, slots=True)
class ChangeMeans:
    """Over the bounds."""

    never_right: float
    waited_s: float


@dataclass(frozen=True, slots=True)
class ChangeMeasures:
    """Delays after reference changes at the interval, in seconds."""

    changes: int
    never_right: int
    """Changes after which the next one, or the end, came before a right decision was in force."""
    median_delay_s: float | None
    """Kaplan and Meier's; None where fewer than half are ever seen to be answered."""
    p95_delay_s: float | None
    waited_s: float | None
    """Mean wait, at most until the next change."""
    integrated: ChangeMeans | None
    decision_changes: EditMeasures
    """Changes of the decision in force, which answer them or do not."""

    @property
    def never_right_share(self) -> float | None:
        return self.never_right / self.changes if self.changes else None


def check_theta(theta: float | None) -> float | None:
    """Refuses what is no number of seconds."""
    if theta is not None and not (theta >= 0 and np.isfinite(theta)):
        raise InputError(f"theta {theta:g} is not a number of seconds", fix="for example --theta 4")
    return theta


def spell_measures(course: Course, theta: float) -> ByLevel[SpellMeasures]:
    """Wrong spells, with θ in seconds of the re-paced timeline."""
    check_theta(theta)
    at, over, bounds = course.spells, course.moving_spells, course.bounds
    age, beyond, longest, count = at.mean_age, at.beyond_share(theta), at.longest, at.count
    wrong = np.divide(at.wrong, at.observed, out=np.zeros_like(at.wrong), where=at.observed > 0)
    total = np.bincount(at.scenario, weights=at.length, minlength=len(age))
    mean_age, mean_beyond = over.mean_age(bounds), over.beyond_share(theta, bounds)
    long_, mean_long = at.long_share(theta), over.long_share(theta, bounds)
    mean_count = over.count(bounds)

    def measure(scenarios: Ints, weights: Floats) -> SpellMeasures:
        number = int(count[scenarios].sum())
        return SpellMeasures(
            mean_age_s=float(weights @ age[scenarios]),
            beyond_share=float(weights @ beyond[scenarios]),
            longest_s=float(longest[scenarios].max()),
            count=number,
            wrong_share=float(weights @ wrong[scenarios]),
            long_share=float(weights @ long_[scenarios]),
            mean_length_s=float(total[scenarios].sum()) / number if number else 0.0,
            integrated=SpellMeans(
                mean_age_s=float(weights @ mean_age[scenarios]),
                beyond_share=float(weights @ mean_beyond[scenarios]),
                longest_s=None,
                count=float(mean_count[scenarios].sum()),
                long_share=float(weights @ mean_long[scenarios]),
            ),
        )

    return by_level(course, measure)


def change_measures(course: Course) -> ByLevel[ChangeMeasures]:
    """Delays after reference changes, and the changes of the decision in force."""
    found = delays_of(course.path, course.cut)
    mean = mean_delays(course.calm, course.bounds)
    at, over = edits_of(course.path, course.cut), mean_edits(course.sweep, course.bounds)

    def measure(scenarios: Ints, weights: Floats) -> ChangeMeasures:
        mine = found.of(scenarios)
        curve = mine.survival()
        waits = np.minimum(mine.delay, mine.limit)
        changes = mean.changes[scenarios]
        waited = float(mean.waited[scenarios] @ changes)
        return ChangeMeasures(
            changes=len(mine.delay),
            never_right=int(mine.never.sum()),
            median_delay_s=curve.quantile(0.5),
            p95_delay_s=curve.quantile(0.95),
            waited_s=float(waits.mean()) if len(waits) else None,
            integrated=ChangeMeans(
                never_right=float(mean.never_right[scenarios].sum()),
                waited_s=waited / max(int(changes.sum()), 1),
            ),
            decision_changes=_edits(at, over, scenarios),
        )

    return by_level(course, measure)


def _edits(at: Edits, over: Edits, scenarios: Ints) -> EditMeasures:
    names = ("changes", "needed", "useless", "reversed_in_a_tick")
    now = {name: int(getattr(at, name)[scenarios].sum()) for name in names}
    mean = {name: float(getattr(over, name)[scenarios].sum()) for name in names}
    return EditMeasures(**now, integrated=EditMeans(**mean))


# What a course costs: being wrong, staying wrong and acting wrongly, level by level.
#
# Everything is a rate in seconds of an ordinary wrong decision per second of observed time, so that
# with equal costs the total is 1 − A, and one-time costs of acts add to it divided by T.


ALL_ACTS = "all acts"


@dataclass(frozen=True, slots=True)
class CostRates:
    """Seconds of an ordinary wrong decision, per second."""

    wrong: float
    """(1/T) ∫ C dt."""
    age: float
    """What staying wrong adds."""
    acts: float
    """What acts done late, wrongly, twice or not at all add."""

    @property
    def total(self) -> float:
        return self.wrong + self.age + self.acts


@dataclass(frozen=True, slots=True)
class CostLevel:
    """The cost of a scenario, a family or the whole."""

    at_interval: CostRates
    integrated: CostRates


@dataclass(frozen=True, slots=True)
class CostScore:
    """A course under a cost file."""

    costs: str
    dated: str
    digest: str
    levels: ByLevel[CostLevel]
    made_of: Mapping[str, float]
    """What the cost per second of being wrong is made of at the interval, largest first."""

    @property
    def overall(self) -> CostLevel:
        return self.levels.overall


@dataclass(frozen=True, slots=True)
class ActMeans:
    """Over the bounds."""

    in_time: float
    late: float
    missed: float
    wrongly: float
    twice: float


@dataclass(frozen=True, slots=True)
class ActMeasures:
    """What became of the calls for acts, and of doings nobody called for."""

    calls: int
    in_time: int
    late: int
    missed: int
    wrongly: int
    twice: int
    cost: float
    """In seconds of an ordinary wrong decision."""
    integrated: ActMeans | None


def charge(course: Course, costs: Costs) -> CostScore:
    """The cost of a course at its interval and over its bounds."""
    sections = [costs.section(family) for family in course.families]
    judged, bounds = course.judged, course.bounds
    c = course.path.scale
    now = [
        wrong_rate(course.path, course.cut, judged, sections),
        age_rate(course.spells, sections),
        np.zeros(len(sections)),
    ]
    over = [
        mean_wrong_rate(course.sweep, course.moving_cut, judged, sections, bounds),
        mean_age_rate(course.moving_spells, sections, bounds),
        np.zeros(len(sections)),
    ]
    for acts in act_slots(sections):
        instance = instances(course.path.references, acts)
        at = acts_of(course.path, course.cut, instance, acts)
        mean = mean_acts(course.sweep, instance, acts, bounds)
        # Outcomes per second: T/c seconds are observed at the interval.
        now[2] += _per(at.cost(acts) * c, judged)
        over[2] += _per(mean.rates.cost(acts), judged)

    def measure(scenarios: Ints, weights: Floats) -> CostLevel:
        return CostLevel(
            CostRates(*(float(weights @ x[scenarios]) for x in now)),
            CostRates(*(float(weights @ x[scenarios]) for x in over)),
        )

    made_of: Mapping[str, float] = {}
    if course.path.references.values:
        weights = family_weights(list(course.families))
        made_of = contributions(course.path, course.cut, judged, sections, weights)
    return CostScore(costs.name, costs.dated, costs.digest, by_level(course, measure), made_of)


def cost_at(path: Trajectory, families: Sequence[str], costs: Costs) -> CostRates:
    """The cost of the whole at one interval, where nothing is integrated."""
    sections = [costs.section(family) for family in families]
    cut = stretches(path)
    spells = spells_of(path, cut)
    acts = np.zeros(len(sections))
    for slot in act_slots(sections):
        acts += acts_of(path, cut, instances(path.references, slot), slot).cost(slot)
    weights = family_weights(list(families))
    return CostRates(
        float(weights @ wrong_rate(path, cut, spells.observed * path.scale, sections)),
        float(weights @ age_rate(spells, sections)),
        float(weights @ _per(acts, spells.observed)),
    )


def act_measures(course: Course, costs: Costs) -> Mapping[str, ByLevel[ActMeasures]]:
    """Every declared act by name, and `ALL_ACTS` together; only acts some scenario may call for."""
    found: dict[str, list[tuple[ActCounts, ActCounts, Floats]]] = {}
    for acts in act_slots([costs.section(family) for family in course.families]):
        instance = instances(course.path.references, acts)
        at = acts_of(course.path, course.cut, instance, acts)
        mean = mean_acts(course.sweep, instance, acts, course.bounds).counts
        for name in dict.fromkeys(act.name for act in acts if act is not None):
            mine = [act if act is not None and act.name == name else None for act in acts]
            keep = np.array([act is not None for act in mine])
            one = (_only(at, keep), _only(mean, keep), at.cost(mine))
            found.setdefault(name, []).append(one)
    if not found:
        return {}
    found[ALL_ACTS] = [one for parts in found.values() for one in parts]

    def of(parts: Sequence[tuple[ActCounts, ActCounts, Floats]]) -> ByLevel[ActMeasures]:
        outcomes = ("in_time", "late", "missed", "wrongly", "twice")

        def measure(scenarios: Ints, weights: Floats) -> ActMeasures:
            del weights  # numbers of things are sums
            now = {
                name: round(sum(float(getattr(a, name)[scenarios].sum()) for a, _, _ in parts))
                for name in ("calls", *outcomes)
            }
            mean = {
                name: sum(float(getattr(m, name)[scenarios].sum()) for _, m, _ in parts)
                for name in outcomes
            }
            cost = sum(float(x[scenarios].sum()) for _, _, x in parts)
            return ActMeasures(**now, cost=cost, integrated=ActMeans(**mean))

        return by_level(course, measure)

    return {name: of(parts) for name, parts in found.items()}


def _only(counts: ActCounts, keep: Floats) -> ActCounts:
    return ActCounts(
        *(np.where(keep, getattr(counts, name), 0.0) for name in ActCounts.__dataclass_fields__)
    )


# A score with what it costs beside it.


def charged(score: Score, costs: Costs) -> Score:
    """The same score, charged at its interval and over its bounds; the signature says by what."""
    found = charge(course_of(score.parts, score.interval, score.bounds), costs)
    mark = f"costs:{costs.digest[:12] or costs.name}"
    signature = f"{score.signature} {mark}" if score.signature else mark
    return replace(score, cost=found, signature=signature)


# A policy's wrong time: what it costs, how long it lasts, how soon changes are answered.


@dataclass(frozen=True, slots=True)
class WrongTime:
    """What being wrong costs under a policy, with its spells and its delays, level by level."""

    cost: CostScore
    spells: ByLevel[SpellMeasures]
    changes: ByLevel[ChangeMeasures]
    theta: float


def wrong_time(
    policy: Policy,
    components: Sequence[Answers],
    costs: Costs,
    *,
    interval: float,
    bounds: Bounds,
    setting: Setting | None = None,
    theta: float = THETA_S,
) -> WrongTime:
    """Charges what the policy had in force, at the interval and over the bounds."""
    course = course_of_policy(policy, components, interval, bounds, setting)
    return WrongTime(
        charge(course, costs), spell_measures(course, theta), change_measures(course), theta
    )


# A cost file held to a suite: whatever it names must be something a question has.


def read_costs(path: str | Path, suite: Suite | None = None) -> Costs:
    """A user's cost file; with a suite, nothing in it may name what no question has."""
    return read_cost_file(path, None if suite is None else _vocabulary(suite))


def _vocabulary(suite: Suite) -> Vocabulary:
    scenarios = list(suite)
    families = list(dict.fromkeys(s.task_family for s in scenarios))
    return Vocabulary(
        names=tuple(dict.fromkeys([*families, *FAMILIES])),
        families={
            family: _values(s for s in scenarios if s.task_family == family) for family in families
        },
        every=_values(scenarios),
    )


def _values(scenarios: Iterable[Scenario]) -> Values:
    found: dict[str, dict[str, None]] = {}
    for scenario in scenarios:
        for name, labels in scenario.option_semantics.items():
            found.setdefault(name, {}).update(dict.fromkeys(labels.values()))
    return {name: tuple(values) for name, values in found.items()}
