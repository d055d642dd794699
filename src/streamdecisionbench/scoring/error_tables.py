"""Time spent wrong as tables: spells, delays after changes, acts, costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from streamdecisionbench.kernel.levels import ByLevel
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.render.sentences import COST_UNIT, age_and_long
from streamdecisionbench.render.table import (
    Cell,
    Column,
    Table,
    count,
    number,
    percentage,
    readable,
    text,
)
from streamdecisionbench.render.table import percent as as_percent
from streamdecisionbench.scoring.error_costs import (
    ALL_ACTS,
    ActMeasures,
    ChangeMeasures,
    CostLevel,
    CostScore,
    SpellMeasures,
)
from streamdecisionbench.scoring.score import Score

T = TypeVar("T")

_NAMES = (text("", "recording"), text("level"))


def _by_level(results: Mapping[str, ByLevel[T]]) -> Iterator[tuple[tuple[str, str], T]]:
    """The whole and every family of every recording, under its name and the level's."""
    for name, result in results.items():
        levels: dict[str, T] = {"overall": result.overall, **result.by_family}
        for level, label in readable(levels).items():
            yield (name if level == "overall" else "", label), levels[level]


def spell_tables(
    results: Mapping[str, ByLevel[SpellMeasures]], theta: float, interval: float, bounds: Bounds
) -> list[Table]:
    """Every level at the interval, and the whole over the bounds."""
    first = Table(
        f"Wrong spells at {interval:g} s a tick",
        (*_NAMES, percentage("wrong %", "wrong_share"), count("spells", "count"),
         number("mean s", 2, "mean_length_s"), number("max s", 1, "longest_s"),
         number("age s", 2, "mean_age_s"), percentage(f"> {theta:g} s %", "beyond_share")),
        tuple(
            (*names, x.wrong_share, x.count, x.mean_length_s, x.longest_s, x.mean_age_s,
             x.beyond_share)
            for names, x in _by_level(results)
        ),
        notes=(
            f"{age_and_long(theta)}, and what makes a spell long.",
            *long_or_many(results),
        ),
    )  # fmt: skip
    over = Table(
        f"The same, on average over {bounds.text()}",
        (text("", "recording"), number("spells", 1, "integrated_count"),
         number("age s", 2, "integrated_mean_age_s"),
         percentage(f"> {theta:g} s %", "integrated_beyond_share")),
        tuple(
            (name, x.count, x.mean_age_s, x.beyond_share)
            for name, x in ((name, r.overall.integrated) for name, r in results.items())
            if x is not None
        ),
    )  # fmt: skip
    return [first, over]


def long_or_many(results: Mapping[str, ByLevel[SpellMeasures]]) -> tuple[str, ...]:
    """Of two and more recordings, which loses to long spells and which to many short ones."""
    if len(results) < 2:
        return ()
    found = {name: result.overall for name, result in results.items()}
    most_long = max(found, key=lambda name: found[name].long_share)
    most_short = max(found, key=lambda name: found[name].short_share)

    def lost(name: str) -> str:
        mine = found[name]
        return (
            f"{as_percent(mine.long_share)} % of time in long spells,"
            f" {as_percent(mine.short_share)} % in short ones"
        )

    if most_long == most_short:
        return (f"{most_long} loses most to long spells and to short ones: {lost(most_long)}.",)
    return (
        f"{most_long} loses more to long spells ({lost(most_long)}), {most_short} more to many short"
        f" ones ({lost(most_short)}).",
    )


def change_tables(results: Mapping[str, ByLevel[ChangeMeasures]], interval: float) -> list[Table]:
    """Delays, then decision changes, of every level at the interval."""
    found = list(_by_level(results))
    return [
        Table(
            f"Delay after reference changes at {interval:g} s a tick",
            (*_NAMES, count("changes"), count("never", "never_right"),
             percentage("%", "never_right_share"), number("median s", 2, "median_delay_s"),
             number("p95 s", 2, "p95_delay_s"), number("waited s", 2, "waited_s")),
            tuple(
                (*names, x.changes, x.never_right, x.never_right_share, x.median_delay_s,
                 x.p95_delay_s, x.waited_s)
                for names, x in found
            ),
            notes=("never: the next change, or the end, came first. Quantiles are Kaplan and"
                   " Meier's; – where too few are ever answered. waited: at most until the next"
                   " change.",),
        ),
        Table(
            "Changes of the decision in force",
            (*_NAMES, count("changes", "decision_changes"), count("needed"), count("useless"),
             percentage("%", "edit_overhead"), count("reversed", "reversed_in_a_tick")),
            tuple(
                (*names, x.changes, x.needed, x.useless, x.edit_overhead, x.reversed_in_a_tick)
                for names, x in ((names, x.decision_changes) for names, x in found)
            ),
            notes=("needed: right at that moment; %: useless ones, the edit overhead; reversed: taken back"
                   " within a tick.",),
        ),
    ]  # fmt: skip


def action_tables(
    results: Mapping[str, Mapping[str, ByLevel[ActMeasures]]], interval: float, costs: str
) -> list[Table]:
    """Every act over all scenarios, at the interval."""
    found = {
        name: {act: levels.overall for act, levels in acts.items()}
        for name, acts in results.items()
    }
    table = acts_table(
        found, text("", "recording"), f"One-time acts at {interval:g} s a tick, costs: {costs}"
    )
    note = "wrongly: done though nothing called for it. cost: in seconds of an ordinary wrong decision."
    return [replace(table, notes=(note,))]


def acts_table(found: Mapping[str, Mapping[str, ActMeasures]], by: Column, title: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, acts in found.items():
        for act in sorted(acts, key=lambda act: act != ALL_ACTS):
            x = acts[act]
            rows.append(
                (name if act == ALL_ACTS else "", act, x.calls, x.in_time, x.late, x.missed,
                 x.wrongly, x.twice, x.cost)
            )  # fmt: skip
    return Table(
        title,
        (by, text("act"), count("calls"), count("in time", "in_time"), count("late"),
         count("missed"), count("wrongly"), count("twice"), number("cost s", 0, "cost")),
        tuple(rows),
    )  # fmt: skip


_LARGEST = 8
COST_COLUMNS = (percentage("right %", "in_force"), number("wrong", 3), number("age", 3), number("acts", 3),
          number("cost", 3, "cost_per_second"))  # fmt: skip


def cost_table(scores: Sequence[Score], *, by_scenario: bool = False) -> Table:
    """Charged scores: what each level costs beside the share of time it is right."""
    found = {s.name: s.cost for s in scores if s.cost is not None}
    right = {
        s.name: {level.name: level.in_force for level in (s.overall, *s.by_family.values(), *s.by_scenario.values())}
        for s in scores
    }  # fmt: skip
    return _table(found, right, scores[0].interval, scores[0].bounds, by_scenario=by_scenario)


def cost_tables(
    results: Mapping[str, CostScore],
    in_force: Mapping[str, Mapping[str, float]],
    interval: float,
    bounds: Bounds,
) -> list[Table]:
    """Costs of every level, and what each recording's are made of; `in_force` is A by level."""
    tables = [_table(results, in_force, interval, bounds)]
    for name, result in results.items():
        total = result.overall.at_interval.wrong
        top = list(result.made_of.items())[:_LARGEST]
        if top and total > 0:
            tables.append(
                Table(
                    f"{name}: what being wrong is made of (right → shown)",
                    (text("error"), number("cost", 3, "cost_per_second"), percentage("%", "share")),
                    tuple((label, rate, rate / total) for label, rate in top),
                )
            )
    return tables


def _table(
    results: Mapping[str, CostScore],
    in_force: Mapping[str, Mapping[str, float]],
    interval: float,
    bounds: Bounds,
    *,
    by_scenario: bool = False,
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, result in results.items():
        levels: dict[str, CostLevel] = {"overall": result.overall, **result.levels.by_family}
        if by_scenario:
            levels |= result.levels.by_scenario
        for level, label in readable(levels).items():
            at, over = levels[level].at_interval, levels[level].integrated
            rows.append(
                (name if level == "overall" else "", label, in_force[name].get(level), at.wrong,
                 at.age, at.acts, at.total, over.total)
            )  # fmt: skip
    first = next(iter(results.values()))
    totals = {n: (in_force[n]["overall"], r.overall.at_interval.total) for n, r in results.items()}
    return Table(
        f"What being wrong costs at {interval:g} s a tick ({first.costs} {first.dated}".rstrip() + ")",
        (*_NAMES, *COST_COLUMNS, number("over", 3, "integrated_cost_per_second")),
        tuple(rows),
        notes=(f"{COST_UNIT}; over: on average over {bounds.text()}.", *disagreement(totals)),
    )  # fmt: skip


def disagreement(found: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """Where the order by cost is not the order by time; `found` has (A, cost) by name.

    >>> disagreement({"a": (0.6, 0.9), "b": (0.5, 0.7)})[0]
    'By time a is best (60.0 % right), by cost b (0.700 a second): they differ.'
    """
    if len(found) < 2:
        return ()
    by_time = sorted(found, key=lambda n: (-found[n][0], n))
    by_cost = sorted(found, key=lambda n: (found[n][1], n))
    if by_time == by_cost:
        return ("Ranking by cost and ranking by time agree.",)
    best, cheapest = by_time[0], by_cost[0]
    if best != cheapest:
        return (
            f"By time {best} is best ({as_percent(found[best][0])} % right), by cost {cheapest}"
            f" ({found[cheapest][1]:.3f} a second): they differ.",
        )
    one, two = next((a, b) for a, b in zip(by_time, by_cost, strict=True) if a != b)
    return (f"{best} is best by time and by cost; {one} and {two} change places.",)
