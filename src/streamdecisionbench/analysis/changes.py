"""What follows reference changes, as tables: delays until right again, changes of the decision."""

from __future__ import annotations

from collections.abc import Mapping

from streamdecisionbench.analysis.result_table import (
    Cell,
    Table,
    count,
    number,
    percent,
    readable,
    text,
)
from streamdecisionbench.scoring.costs.course import ByLevel
from streamdecisionbench.scoring.costs.measures import ChangeMeasures

__all__ = ["change_tables"]


def change_tables(results: Mapping[str, ByLevel[ChangeMeasures]], interval: float) -> list[Table]:
    """Delays, then decision changes, of every level at the interval."""
    delays: list[tuple[Cell, ...]] = []
    edits: list[tuple[Cell, ...]] = []
    for name, result in results.items():
        levels: dict[str, ChangeMeasures] = {"overall": result.overall, **result.by_family}
        for level, label in readable(levels).items():
            found = levels[level]
            shown = found.decision_changes
            head: tuple[Cell, Cell] = (name if level == "overall" else "", label)
            delays.append(
                (*head, found.changes, found.never_right, found.never_right_share,
                 found.median_delay_s, found.p95_delay_s, found.waited_s)
            )  # fmt: skip
            edits.append(
                (*head, shown.changes, shown.needed, shown.useless, shown.edit_overhead,
                 shown.reversed_in_a_tick)
            )  # fmt: skip
    names = (text("", "recording"), text("level"))
    return [
        Table(
            f"Delay after reference changes at {interval:g} s a tick",
            (*names, count("changes"), count("never", "never_right"),
             percent("%", "never_right_share"), number("median s", 2, "median_delay_s"),
             number("p95 s", 2, "p95_delay_s"), number("waited s", 2, "waited_s")),
            tuple(delays),
            notes=("never: the next change, or the end, came first. Quantiles are Kaplan and"
                   " Meier's; – where too few are ever answered. waited: at most until the next"
                   " change.",),
        ),
        Table(
            "Changes of the decision in force",
            (*names, count("changes", "decision_changes"), count("needed"), count("useless"),
             percent("%", "edit_overhead"), count("reversed", "reversed_in_a_tick")),
            tuple(edits),
            notes=("needed: right at that moment; %: useless ones, the edit overhead; reversed: taken back"
                   " within a tick.",),
        ),
    ]  # fmt: skip
