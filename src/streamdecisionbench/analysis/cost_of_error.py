"""The cost of being wrong as tables, and where ranking by cost differs from ranking by time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamdecisionbench.analysis.numbers import percent as as_percent
from streamdecisionbench.analysis.result_table import (
    Cell,
    Table,
    number,
    percent,
    readable,
    text,
)
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.costs.charge import CostLevel, CostScore
from streamdecisionbench.scoring.score import Score

__all__ = ["cost_table", "cost_tables", "disagreement"]

_LARGEST = 8


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
                    (text("error"), number("cost", 3, "cost_per_second"), percent("%", "share")),
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
        (text("", "recording"), text("level"), percent("right %", "in_force"), number("wrong", 3),
         number("age", 3), number("acts", 3), number("cost", 3, "cost_per_second"),
         number("over", 3, "integrated_cost_per_second")),
        tuple(rows),
        notes=("Seconds of an ordinary wrong decision, per second; over: on average over"
               f" {bounds.text()}.", *disagreement(totals)),
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
    one, two = _first_swap(by_time, by_cost)
    return (f"{best} is best by time and by cost; {one} and {two} change places.",)


def _first_swap(by_time: Sequence[str], by_cost: Sequence[str]) -> tuple[str, str]:
    place = next(k for k, (a, b) in enumerate(zip(by_time, by_cost, strict=True)) if a != b)
    return by_time[place], by_cost[place]
