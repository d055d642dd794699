"""What a sweep costs: being wrong, staying wrong and acting wrongly; its spells, delays and changes.

    being wrong   (1/T) ∫ C(y(t), d(t)) dt
    age           (1/T) Σ Φ(ℓ_k),   Φ(ℓ) = ∫ from 0 to ℓ of the age penalty
    acts          (1/T) Σ of what acts done late, wrongly, twice or not at all cost

with y(t) what is right, d(t) what is in force, ℓ_k the wrong spells and T the observed time. All are
rates: seconds of an ordinary wrong decision, per second. With equal costs their sum is 1 − A. The
penalty's integral is

    linear     per_s · ℓ²/2
    threshold  add · max(0, ℓ − after_s)
    capped     per_s · (ℓ² − max(0, ℓ − cap/per_s)²)/2

Shares, ages and rates of a family are means of its scenarios, those of the whole are means of
families, as for the score. Numbers of things are sums; the longest spell is the longest of all;
quantiles of delays are taken over all changes together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    NOTHING,
    Floats,
    Ints,
    Timeline,
    by_scenario,
    joined_timelines,
)
from streamdecisionbench.kernel.levels import (
    ByLevel,
    Levels,
    Members,
    family_weights,
)
from streamdecisionbench.kernel.overlaps import (
    NotWrongRuns,
    Stretches,
    not_wrong_runs,
    stretches_of,
)
from streamdecisionbench.kernel.paces import (
    AtPace,
    Bounds,
    PaceWeights,
    check_interval,
    per_time,
)
from streamdecisionbench.kernel.trajectory import (
    References,
    Trajectory,
    trajectory_at,
    trajectory_over,
)
from streamdecisionbench.policies.cost_file import (
    Values,
    Vocabulary,
    read_cost_file,
)
from streamdecisionbench.policies.cost_rules import (
    Act,
    Costs,
    Section,
)
from streamdecisionbench.scoring.change_delays import (
    Edits,
    Survival,
    Waits,
    edits_of,
    waits_of,
)
from streamdecisionbench.scoring.error_episodes import (
    Spells,
    spells_of,
)
from streamdecisionbench.scoring.one_time_actions import (
    OUTCOMES,
    act_slots,
    cost_of_acts,
    outcomes_of,
)
from streamdecisionbench.suite.scenario import FAMILIES, Scenario, Suite

NO_DECISION = "no decision"
ALL_ACTS = "all acts"
ACTS = ("scenarios", *OUTCOMES, "cost", *(f"mean_{name}" for name in OUTCOMES))
THETA_S = 4.0
"""Seconds from which a wrong spell counts as long, where nobody says otherwise."""


class Done(NamedTuple):
    """What became of one act per scenario: numbers of `OUTCOMES`, and the same times c."""

    acts: Sequence[Act | None]
    numbers: Floats
    rates: Floats


@dataclass(frozen=True)
class Figures:
    """A sweep under a measure: at one pace or over a range. All figures are by scenario.

    >>> from streamdecisionbench import example_recording, example_suite
    >>> from streamdecisionbench.scoring.timelines import timelines
    >>> path = trajectory_at(joined_timelines(timelines(example_recording(), example_suite())), 2.0)
    >>> found = Figures(path, AtPace(path.scale))
    >>> found.spells.begin.round(3).tolist(), found.spells.length.round(3).tolist()
    ([0.0, 4.0, 6.0], [0.4, 0.8, 2.0])
    >>> found.spells.mean_age().round(3).tolist(), found.spells.beyond_share(1.0).round(3).tolist()
    ([0.3], [0.125])
    >>> found.waits.delays().at.tolist(), found.waits.delays().delay.round(3).tolist()
    ([4.0, 6.0], [0.8, inf])
    >>> found.edits.needed.tolist(), found.edits.useless.tolist()
    ([2.0], [0.0])
    """

    sweep: Trajectory
    measure: PaceWeights

    @cached_property
    def cut(self) -> Stretches:
        return stretches_of(self.sweep)

    @cached_property
    def calm(self) -> NotWrongRuns:
        return not_wrong_runs(self.cut)

    @cached_property
    def spells(self) -> Spells:
        return spells_of(self.calm, self.measure)

    @cached_property
    def waits(self) -> Waits:
        return waits_of(self.calm, self.measure)

    @cached_property
    def edits(self) -> Edits:
        return edits_of(self.cut, self.measure)

    def spell_shares(self, theta: float) -> dict[str, Floats]:
        """What is said of spells as shares of time, or seconds in the mean over time."""
        found = self.spells
        return {
            "mean_age_s": found.mean_age(),
            "beyond_share": found.beyond_share(theta),
            "wrong_share": found.wrong_share,
            "long_share": found.long_share(theta),
        }

    @property
    def spell_numbers(self) -> dict[str, Floats]:
        return {"count": self.spells.count, "length_s": self.spells.total}

    @property
    def change_numbers(self) -> dict[str, Floats]:
        """Of reference changes, then of changes of the decision in force."""
        waits, edits = self.waits, self.edits
        return {
            "changes": waits.changes,
            "never_right": waits.never_right,
            "waited_s": waits.waited,
            "edits": edits.changes,
            "needed": edits.needed,
            "useless": edits.useless,
            "reversed_in_a_tick": edits.reversed_in_a_tick,
        }

    def acts(self, sections: Sequence[Section]) -> list[Done]:
        """What became of acts: of the first one of every scenario's section, of the second ones …"""
        return [
            Done(slot, *outcomes_of(self.cut, slot).numbers(self.measure))
            for slot in act_slots(sections)
        ]

    def rates(
        self, sections: Sequence[Section], acts: Sequence[Done] | None = None
    ) -> dict[str, Floats]:
        """What each scenario costs under its section of a cost file; `acts` if they are at hand."""
        cost = np.zeros(len(sections))
        for done in self.acts(sections) if acts is None else acts:
            cost += cost_of_acts(done.rates, done.acts)
        return {
            "wrong": self.wrong_rate(sections),
            "age": self.age_rate(sections),
            "acts": per_time(cost, self.cut.judged),
        }

    def wrong_rate(self, sections: Sequence[Section]) -> Floats:
        """(1/T) ∫ C dt."""
        cut, wrong = self.cut, np.flatnonzero(self.cut.wrong)
        decision = cut.sweep.decision[cut.piece[wrong]]
        cost = _costs(cut.sweep.references, cut.segment[wrong], decision, sections)
        amount = cost * cut.time(self.measure)[wrong]
        return per_time(by_scenario(cut.scenario[wrong], amount, len(sections)), cut.judged)

    def age_rate(self, sections: Sequence[Section]) -> Floats:
        """(1/T) Σ Φ(ℓ)."""
        found, out = self.spells, np.zeros(len(sections))
        for penalty in {s.age for s in sections if s.age is not None}:
            if penalty.kind == "linear":
                rate = penalty.per_s * found.mean_age()
            elif penalty.kind == "threshold":
                rate = penalty.add * found.beyond_share(penalty.after_s)
            else:
                full = penalty.cap / penalty.per_s
                rate = penalty.per_s * (found.mean_age() - found.mean_age(beyond=full))
            out = np.where([s.age == penalty for s in sections], rate, out)
        return out

    def contributions(self, sections: Sequence[Section], weights: Floats) -> dict[str, float]:
        """What (1/T) ∫ C dt is made of, largest first: which field showed what instead of what.

        `weights` are those of the scenarios in the level asked for.
        """
        cut, wrong, refs = self.cut, self.cut.wrong, self.cut.sweep.references
        share = per_time(weights, cut.judged)[cut.scenario] * cut.time(self.measure)
        shown = cut.sweep.decision[cut.piece]
        columns = (cut.scenario, refs.decision[cut.segment], shown, share)
        rows = zip(*(column[wrong].tolist() for column in columns), strict=True)
        found: dict[str, float] = {}
        for owner, y, d, amount in rows:
            label, cost = NO_DECISION, sections[owner].no_decision
            if d != NOTHING:
                right, wrongly = refs.values[y], refs.values[d]
                cost, field = sections[owner].blame(right, wrongly)
                label = (
                    f"{field}: {right[field]} → {wrongly[field]}" if field else "another decision"
                )
            found[label] = found.get(label, 0.0) + amount * cost
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


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


# What one subject had in force, ready to be charged: at an interval, and over bounds.


@dataclass(frozen=True, slots=True)
class PathMeasures:
    """One subject at a pace and over bounds, and the levels its scenarios make up."""

    at: Figures
    over: Figures
    families: Sequence[str]
    """Of every scenario."""
    levels: Levels


def path_measures(parts: Sequence[Timeline], interval: float, bounds: Bounds) -> PathMeasures:
    """One component in replay."""
    check_interval(interval)
    flat = joined_timelines(parts)
    return path_measures_along(
        trajectory_at(flat, interval), trajectory_over(flat, bounds), parts, bounds
    )


def path_measures_along(
    path: Trajectory, sweep: Trajectory, parts: Sequence[Timeline], bounds: Bounds
) -> PathMeasures:
    """Whatever had decisions in force: what it did at an interval, and over the bounds."""
    return PathMeasures(
        Figures(path, AtPace(path.scale)),
        Figures(sweep, sweep.weights(bounds)),
        [p.family for p in parts],
        Levels(parts),
    )


# Spells, delays and decision changes as plain numbers.


@dataclass(frozen=True, slots=True)
class SpellMeans:
    """Over the bounds: means of the same."""

    mean_age_s: float
    beyond_share: float
    longest_s: None
    """Given at one pace only."""
    count: float
    long_share: float

    @classmethod
    def of(cls, shares: Mapping[str, float], numbers: Mapping[str, float]) -> SpellMeans:
        own = {name: shares[name] for name in ("mean_age_s", "beyond_share", "long_share")}
        return cls(**own, longest_s=None, count=numbers["count"])


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

    @classmethod
    def of(
        cls,
        shares: Mapping[str, float],
        numbers: Mapping[str, float],
        longest: float,
        integrated: SpellMeans | None,
    ) -> SpellMeasures:
        count = round(numbers["count"])
        mean_length = numbers["length_s"] / count if count else 0.0
        return cls(
            **shares,
            longest_s=longest,
            count=count,
            mean_length_s=mean_length,
            integrated=integrated,
        )

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
class EditMeasures(EditMeans):
    """Changes of the decision in force at the interval."""

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

    @classmethod
    def of(
        cls, numbers: Mapping[str, float], curve: Survival, over: Mapping[str, float] | None
    ) -> ChangeMeasures:
        """From what `Figures.change_numbers` sum up to, at the interval and over bounds."""
        changes, edits = round(numbers["changes"]), ("needed", "useless", "reversed_in_a_tick")
        means = edit_means = None
        if over is not None:
            means = ChangeMeans(over["never_right"], over["waited_s"] / max(changes, 1))
            edit_means = EditMeans(over["edits"], *(over[name] for name in edits))
        return cls(
            changes=changes,
            never_right=round(numbers["never_right"]),
            median_delay_s=curve.quantile(0.5),
            p95_delay_s=curve.quantile(0.95),
            waited_s=numbers["waited_s"] / changes if changes else None,
            integrated=means,
            decision_changes=EditMeasures(
                changes=round(numbers["edits"]),
                **{name: round(numbers[name]) for name in edits},
                integrated=edit_means,
            ),
        )

    @property
    def never_right_share(self) -> float | None:
        return self.never_right / self.changes if self.changes else None


def check_theta(theta: float | None) -> float | None:
    """Refuses what is no number of seconds."""
    if theta is not None and not (theta >= 0 and np.isfinite(theta)):
        raise InputError(f"theta {theta:g} is not a number of seconds", fix="for example --theta 4")
    return theta


def spell_measures(course: PathMeasures, theta: float) -> ByLevel[SpellMeasures]:
    """Wrong spells, with θ in seconds of the re-paced timeline."""
    check_theta(theta)
    at, over = course.at.spell_shares(theta), course.over.spell_shares(theta)
    number, mean_number = course.at.spell_numbers, course.over.spell_numbers
    longest = course.at.spells.longest

    def figure(of: Members) -> SpellMeasures:
        means = SpellMeans.of(of.means(over), of.sums(mean_number))
        most = float(longest[of.scenarios].max())
        return SpellMeasures.of(of.means(at), of.sums(number), most, means)

    return course.levels.each(figure)


def change_measures(course: PathMeasures) -> ByLevel[ChangeMeasures]:
    """Delays after reference changes, and the changes of the decision in force."""
    delays = course.at.waits.delays()
    at, over = course.at.change_numbers, course.over.change_numbers

    def figure(of: Members) -> ChangeMeasures:
        curve = delays.of(of.scenarios).survival()
        return ChangeMeasures.of(of.sums(at), curve, of.sums(over))

    return course.levels.each(figure)


# What it costs.


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

    @classmethod
    def of(cls, row: Floats, *, over: bool) -> ActMeasures:
        """From columns `ACTS`, summed up."""
        value = dict(zip(ACTS, row.tolist(), strict=True))
        means = (value[f"mean_{name}"] for name in OUTCOMES[1:])
        return cls(
            **{name: round(value[name]) for name in OUTCOMES},
            cost=value["cost"],
            integrated=ActMeans(*means) if over else None,
        )


def charge(course: PathMeasures, costs: Costs) -> CostScore:
    """The cost of a course at its interval and over its bounds."""
    sections = [costs.section(family) for family in course.families]
    at, over = course.at.rates(sections), course.over.rates(sections)
    levels = course.levels.each(
        lambda of: CostLevel(CostRates(**of.means(at)), CostRates(**of.means(over)))
    )
    made_of: Mapping[str, float] = {}
    if course.at.sweep.references.values:
        made_of = course.at.contributions(sections, course.levels.weights)
    return CostScore(costs.name, costs.dated, costs.digest, levels, made_of)


def cost_at(path: Trajectory, families: Sequence[str], costs: Costs) -> CostRates:
    """The cost of the whole at one interval, where nothing is integrated."""
    rates = Figures(path, AtPace(path.scale)).rates([costs.section(family) for family in families])
    whole = Members(np.arange(len(families)), family_weights(families))
    return CostRates(**whole.means(rates))


def act_measures(course: PathMeasures, costs: Costs) -> Mapping[str, ByLevel[ActMeasures]]:
    """Every declared act by name, and `ALL_ACTS` together; only acts some scenario may call for."""
    sections = [costs.section(family) for family in course.families]
    tables = act_tables(course.at.acts(sections), course.over.acts(sections))

    def level(table: Floats) -> ByLevel[ActMeasures]:
        return course.levels.each(
            lambda of: ActMeasures.of(table[of.scenarios].sum(axis=0), over=True)
        )

    return {name: level(table) for name, table in with_all_acts(tables).items()}


def act_tables(at: Sequence[Done], over: Sequence[Done] | None) -> dict[str, Floats]:
    """By name of the act one row per scenario, columns `ACTS`; zeros where it may not be done."""
    found: dict[str, Floats] = {}
    for k, (acts, numbers, _) in enumerate(at):
        mean = np.zeros_like(numbers) if over is None else over[k].numbers
        one, cost = np.ones(len(acts)), cost_of_acts(numbers, acts)
        table = np.column_stack((one, numbers, cost, mean))
        names = np.array(["" if act is None else act.name for act in acts])
        for name in dict.fromkeys(act.name for act in acts if act is not None):
            mine = np.where((names == name)[:, None], table, 0.0)
            found[name] = found[name] + mine if name in found else mine
    return found


def with_all_acts(tables: Mapping[str, Floats]) -> dict[str, Floats]:
    """Whatever there is by act, and its sum."""
    return {**tables, ALL_ACTS: np.sum(list(tables.values()), axis=0)} if tables else {}


@dataclass(frozen=True, slots=True)
class WrongTime:
    """What being wrong costs, with spells and delays, level by level."""

    cost: CostScore
    spells: ByLevel[SpellMeasures]
    changes: ByLevel[ChangeMeasures]
    theta: float


def wrong_time(course: PathMeasures, costs: Costs, theta: float = THETA_S) -> WrongTime:
    """All of it, at the interval and over the bounds."""
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
