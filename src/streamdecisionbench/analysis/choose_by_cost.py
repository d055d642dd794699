"""The candidates of a choice by what being wrong costs, beside their order by time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamdecisionbench.analysis.choose import Candidate, Choice
from streamdecisionbench.analysis.cost_of_error import disagreement
from streamdecisionbench.analysis.result_table import Cell, Table, count, number, percent, text
from streamdecisionbench.cost_file.rules import Costs
from streamdecisionbench.policy_file import policy_of
from streamdecisionbench.scoring.costs.charge import CostRates, cost_at
from streamdecisionbench.scoring.pairs.nominal_clock import nominal
from streamdecisionbench.scoring.pairs.pair_trajectory import pair_trajectory
from streamdecisionbench.scoring.policies.policy_trajectory import policy_trajectory
from streamdecisionbench.scoring.policies.scene import Answers
from streamdecisionbench.scoring.timeline import Flat, Timeline
from streamdecisionbench.scoring.trajectory import Trajectory, trajectory_at

__all__ = ["ByCost", "by_cost", "by_cost_table"]


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
        (text("", "candidate"), count("#time", "place_by_time"), percent("in force", "in_force"),
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
