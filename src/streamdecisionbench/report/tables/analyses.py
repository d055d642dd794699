"""Tables of analyses: pace, sensitivity, schedules, transitions, states two settings decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamdecisionbench.analysis.baselines import Baselines
from streamdecisionbench.analysis.pace import Pace, Sensitivity
from streamdecisionbench.analysis.schedules import Projection
from streamdecisionbench.analysis.state_by_state import Paired
from streamdecisionbench.analysis.transitions import Transitions
from streamdecisionbench.report.material import Material, family_name, scenario_name
from streamdecisionbench.report.tables.table import Number, Row, Table, count, pct, turned

__all__ = ["baseline_table", "pace_table", "paired", "regime", "sensitivity", "transitions"]


def pace_table(material: Material, found: Mapping[str, Sequence[Pace]]) -> Table:
    """In-force accuracy with every latency scaled, equivalent to the interval shown."""
    first = next(iter(found.values()))
    rows = tuple(
        Row(
            (
                row.label,
                Number(row.interval, 2),
                *(pct(found[e.name][k].in_force) for e in material.entries),
            )
        )
        for k, row in enumerate(first)
    )
    return turned(
        Table(
            "pace",
            "In-force accuracy by time-step interval (%)",
            ("Scale", "Interval (s)", *material.labels),
            rows,
            material.notes(
                f"Every recorded latency scaled, equivalent to the interval shown; ×1 is"
                f" {material.interval:g} s."
            ),
            text_columns=2,
        )
    )


def sensitivity(material: Material, found: Mapping[str, Sensitivity]) -> Table:
    """The integrated score under other bounds and weightings."""
    first = next(iter(found.values()))
    rows = tuple(
        Row((e.label, *(pct(v) for v in found[e.name].aucs.values()), pct(found[e.name].in_force)))
        for e in material.entries
    )
    return Table(
        "sensitivity",
        "Normalised AUC by bounds and weighting (%)",
        (
            "Setting",
            *(text[0].upper() + text[1:] for text in first.aucs),
            f"At {first.interval:g} s",
        ),
        rows,
        material.notes("Log 0.5–8 s is the primary score; the last column is in-force accuracy."),
    )


def regime(material: Material, found: Mapping[str, Sequence[Projection]], draws: int) -> Table:
    """Untimed accuracy times the mean oracle on other reference schedules."""
    first = next(iter(found.values()))
    rows = tuple(
        Row(
            (
                row.schedule,
                count(row.changes),
                *(pct(found[e.name][k].projected) for e in material.entries),
            ),
            rule_above=k == 1,
        )
        for k, row in enumerate(first)
    )
    return turned(
        Table(
            "regime",
            "Projected in-force accuracy by reference schedule (%)",
            ("Reference schedule", "Changes", *material.labels),
            rows,
            material.notes(
                f"Untimed accuracy times the mean oracle over {draws} resamples of each setting's"
                f" latencies, 60 steps of {material.interval:g} s; the first row uses the suite's own"
                " schedules."
            ),
            text_columns=2,
        )
    )


def transitions(material: Material, found: Mapping[str, Transitions]) -> Table:
    """Untimed errors within one tick of a reference change, and farther away."""
    rows = []
    for entry in material.entries:
        near, far = found[entry.name].near["overall"], found[entry.name].far["overall"]
        rows.append(
            Row(
                (
                    entry.label, pct(near.rate), count(near.errors), count(near.states),
                    pct(far.rate), count(far.errors), count(far.states),
                )
            )
        )  # fmt: skip
    return Table(
        "transitions",
        "Judgment errors near and far from reference changes",
        (
            "Setting", "Near error (%)", "Near errors", "Near states",
            "Far error (%)", "Far errors", "Far states",
        ),
        tuple(rows),
        material.notes("Near: at most one tick from a change; every state counts once."),
    )  # fmt: skip


def paired(material: Material, found: Sequence[Paired]) -> Table:
    """States at which both, one or neither of two settings decided correctly."""
    labels = {e.name: e.label for e in material.entries}
    rows = []
    for pair in found:
        section = f"{labels[pair.first]} (first) vs. {labels[pair.second]} (second)"
        for k, each in enumerate(pair.counts):
            name = "All" if each.level == "all" else family_name(each.level)
            numbers = (each.both, each.only_first, each.only_second, each.neither)
            rows.append(Row((name, *(count(n) for n in numbers)), section, rule_above=k == 0))
    return Table(
        "paired",
        "States decided correctly by two settings, latency ignored",
        ("", "Both", "First only", "Second only", "Neither"),
        tuple(rows),
        material.notes(),
    )


def baseline_table(material: Material, found: Baselines) -> Table:
    """What policies that read no rules would score."""
    rows = []
    for key, each in found.by_scenario.items():
        shares = (
            None if n is None else n / each.states
            for n in (each.first_option, each.lexical_overlap, each.best_constant)
        )
        name = scenario_name(material.suite, material.suite.scenarios[key])
        rows.append(Row((name, count(each.states), *(pct(s) for s in shares))))
    whole = (found.first_option, found.lexical_overlap, found.best_constant)
    states = sum(each.states for each in found.by_scenario.values())
    rows.append(Row(("All", count(states), *(pct(s) for s in whole)), rule_above=True))
    return Table(
        "baselines",
        "Trivial baselines, latency ignored (%)",
        ("Scenario", "States", "First option", "Lexical overlap", "Best constant"),
        tuple(rows),
        ("Policies that read no rules. – : an imported suite carries no states to read.",),
    )
