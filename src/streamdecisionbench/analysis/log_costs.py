"""What being wrong comes to in a log, as tables: spells and delays, acts, costs."""

from __future__ import annotations

from streamdecisionbench.analysis.cost_of_error import disagreement
from streamdecisionbench.analysis.result_table import (
    Cell,
    Column,
    Table,
    count,
    number,
    percent,
    text,
)
from streamdecisionbench.logs.log_score import LogScore
from streamdecisionbench.scoring.costs.charge import ALL_ACTS

__all__ = ["log_cost_tables"]


def log_cost_tables(score: LogScore) -> list[Table]:
    """Nothing where neither `--theta` nor `--costs` was given."""
    theta = score.settings.theta
    if theta is None:
        return []
    tables = [_spells(score, theta)]
    if score.settings.costs is not None:
        tables.append(_costs(score))
        if any(group.costs and group.costs.acts for group in score.groups):
            tables.append(_acts(score))
    return tables


def _spells(score: LogScore, theta: float) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for group in score.groups:
        if group.costs is None:
            continue
        spells, changes = group.costs.spells, group.costs.changes
        rows.append(
            (group.name, spells.count, spells.longest_s, spells.mean_age_s, spells.beyond_share,
             changes.changes, changes.median_delay_s, changes.p95_delay_s,
             changes.never_right_share)
        )  # fmt: skip
    return Table(
        "Wrong spells, and delays after a change of what is right",
        (_by(score), count("spells", "count"), number("max s", 1, "longest_s"),
         number("age s", 2, "mean_age_s"), percent(f"> {theta:g} s %", "beyond_share"),
         count("changes"), number("p50 s", 2, "median_delay_s"), number("p95 s", 2, "p95_delay_s"),
         percent("never %", "never_right_share")),
        tuple(rows),
        notes=(f"age: mean over time of how long it has been wrong; > {theta:g} s: share of time wrong"
               " for longer than that; never: not right before the next change.",),
    )  # fmt: skip


def _costs(score: LogScore) -> Table:
    costs = score.settings.costs
    rows: list[tuple[Cell, ...]] = []
    found: dict[str, tuple[float, float]] = {}
    for group in score.groups:
        if group.costs is None or group.costs.cost is None:
            continue
        at, over, sure = group.costs.cost, group.costs.mean_cost, group.costs.interval_95
        if group.in_force is not None:
            found[group.name] = (group.in_force, at.total)
        shown = f"{sure[0]:.3f}–{sure[1]:.3f}" if sure and group.streams > 1 else "–"
        rows.append(
            (group.name, group.in_force, at.wrong, at.age, at.acts, at.total, shown,
             over.total if over else None)
        )  # fmt: skip
    title = f"What being wrong costs ({costs.name} {costs.dated}".rstrip() + ")" if costs else ""
    return Table(
        title,
        (_by(score), percent("right %", "in_force"), number("wrong", 3), number("age", 3),
         number("acts", 3), number("cost", 3, "cost_per_second"), text("95 %", "interval_95"),
         number("over", 3, "integrated_cost_per_second")),
        tuple(rows),
        notes=("Seconds of an ordinary wrong decision, per second"
               + ("; over: on average over the bounds." if score.settings.bounds else "."),
               *disagreement(found)),
    )  # fmt: skip


def _acts(score: LogScore) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for group in score.groups:
        acts = group.costs.acts if group.costs else {}
        for name in (ALL_ACTS, *(name for name in acts if name != ALL_ACTS)):
            if name in acts:
                act = acts[name]
                rows.append(
                    (group.name if name == ALL_ACTS else "", name, act.calls, act.in_time,
                     act.late, act.missed, act.wrongly, act.twice, act.cost)
                )  # fmt: skip
    return Table(
        "One-time acts",
        (_by(score), text("act"), count("calls"), count("in time", "in_time"), count("late"),
         count("missed"), count("wrongly"), count("twice"), number("cost s", 0, "cost")),
        tuple(rows),
    )  # fmt: skip


def _by(score: LogScore) -> Column:
    return text(" and ".join(score.settings.by) or "log", "group")
