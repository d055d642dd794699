"""Table of what being wrong costs: spells, delays after changes, cost a second."""

from __future__ import annotations

from streamdecisionbench.report.error_costs import THETA_S, ErrorCosts
from streamdecisionbench.report.material import Material
from streamdecisionbench.report.tables.table import Number, Row, Table, count, pct, sec

__all__ = ["costs_of_error"]


def costs_of_error(material: Material, found: ErrorCosts) -> Table:
    """One row per recording, at the report's interval."""
    rows = []
    names = [e.name for e in material.entries]
    cost = {name: found.scores[name].overall.at_interval.total for name in names}
    by_time = sorted(names, key=lambda n: (found.spells[n].wrong_share, n))
    by_cost = sorted(names, key=lambda n: (cost[n], n))
    for entry in material.entries:
        spells, changes = found.spells[entry.name], found.changes[entry.name]
        rates = found.scores[entry.name].overall.at_interval
        rows.append(
            Row(
                (
                    entry.label, count(by_time.index(entry.name) + 1),
                    count(by_cost.index(entry.name) + 1), pct(spells.wrong_share), count(spells.count),
                    sec(spells.mean_length_s), sec(spells.longest_s, 1), sec(spells.mean_age_s),
                    pct(spells.beyond_share), sec(changes.median_delay_s),
                    pct(changes.never_right_share), Number(rates.wrong, 3), Number(rates.age, 3),
                    Number(rates.acts, 3), Number(rates.total, 3),
                )
            )
        )  # fmt: skip
    first = next(iter(found.scores.values()))
    return Table(
        "costs_of_error",
        f"What being wrong costs at {material.interval:g} s",
        (
            "Setting", "# time", "# cost", "Wrong %", "Spells", "Mean s", "Longest s", "Age s", f"> {THETA_S:g} s %",
            "Median delay s", "Never right %", "Wrong", "Age", "Acts", "Cost",
        ),
        tuple(rows),
        material.notes(
            "# time, # cost: places by in-force accuracy and by cost. Age s: mean over time of how long it has been wrong. Median delay after a reference"
            " change by Kaplan and Meier; never right: the next change came first. Cost: seconds of an"
            f" ordinary wrong decision per second ({first.costs}, {first.dated}).",
            *found.words,
        ),
    )  # fmt: skip
