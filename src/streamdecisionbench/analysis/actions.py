"""One-time acts as a table: done in time, late, missed, wrongly, twice."""

from __future__ import annotations

from collections.abc import Mapping

from streamdecisionbench.analysis.result_table import Cell, Table, count, number, text
from streamdecisionbench.scoring.costs.charge import ALL_ACTS, ActMeasures
from streamdecisionbench.scoring.costs.course import ByLevel

__all__ = ["action_tables"]


def action_tables(
    results: Mapping[str, Mapping[str, ByLevel[ActMeasures]]], interval: float, costs: str
) -> list[Table]:
    """Every act over all scenarios, at the interval."""
    rows: list[tuple[Cell, ...]] = []
    for name, acts in results.items():
        for act in (ALL_ACTS, *(act for act in acts if act != ALL_ACTS)):
            found = acts[act].overall
            rows.append(
                (name if act == ALL_ACTS else "", act, found.calls, found.in_time, found.late,
                 found.missed, found.wrongly, found.twice, found.cost)
            )  # fmt: skip
    return [
        Table(
            f"One-time acts at {interval:g} s a tick, costs: {costs}",
            (text("", "recording"), text("act"), count("calls"), count("in time", "in_time"),
             count("late"), count("missed"), count("wrongly"), count("twice"), number("cost s", 0, "cost")),
            tuple(rows),
            notes=("wrongly: done though nothing called for it. cost: in seconds of an ordinary wrong"
                   " decision.",),
        )
    ]  # fmt: skip
