"""Tables of what recordings scored: integrated, at one interval, by family and by scenario."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from streamdecisionbench.report.material import Material, family_name, scenario_name
from streamdecisionbench.report.tables.table import Number, Row, Table, pct, sec, turned
from streamdecisionbench.scoring.score import Level

__all__ = ["decomposition", "integrated_decomposition", "main", "scenario"]


def main(material: Material, ranges: dict[str, tuple[float, float]] | None = None) -> Table:
    """The integrated score by family, its equal mean, and accuracy with latency ignored."""
    bounds = material.bounds.text()
    ranges = ranges or {}
    rows = []
    for entry in material.entries:
        score = entry.score
        cells = [_auc(score.by_family.get(family)) for family in material.families]
        found = ranges.get(entry.name)
        interval = f"{pct(found[0])}–{pct(found[1])}" if found else "–"
        rows.append(Row((entry.label, *cells, _auc(score.overall), pct(score.untimed), interval)))
    short = [family_name(f).split()[0] for f in material.families]
    columns = ("Setting", *short, "Macro", "Untimed", "Macro interval")
    if not ranges:
        columns, rows = columns[:-1], [Row(row.cells[:-1]) for row in rows]
    return Table(
        "main",
        f"In-force accuracy integrated over intervals, {bounds} (%)",
        columns,
        tuple(rows),
        material.notes(
            "Macro averages the families equally. Untimed is decision accuracy with latency ignored."
        ),
    )


def scenario(material: Material) -> Table:
    """Every scenario and setting: integrated, at the interval, error time in seconds, latency."""
    rows = []
    for each in material.scenarios:
        name = scenario_name(material.suite, each)
        length = each.n * material.interval
        first = True
        for entry in material.entries:
            level = entry.score.by_scenario.get(each.episode_id)
            if level is None:
                continue
            at, known = level.at_interval, entry.score.latency_by_scenario or {}
            latency = known.get(each.episode_id)
            rows.append(
                Row(
                    (
                        name if first else "",
                        entry.label,
                        pct(level.untimed),
                        pct(level.log_auc),
                        pct(level.in_force),
                        pct(level.segment_in_force),
                        sec(length * at.no_decision, 1),
                        sec(length * at.stale, 1),
                        sec(length * at.judgment, 1),
                        sec(length * at.compound, 1),
                        sec(latency.p50 if latency else None),
                    ),
                    rule_above=first,
                )
            )
            first = False
    return Table(
        "scenario",
        f"Scenario by scenario, at {material.interval:g} s",
        (
            "Scenario", "Setting", "Untimed", "Log-AUC", "In force", "Seg.-bal.",
            "None (s)", "Stale (s)", "Judg. (s)", "Comp. (s)", "p50 (s)",
        ),
        tuple(rows),
        material.notes(
            f"Log-AUC over {material.bounds.low:g}–{material.bounds.high:g} s; in-force and"
            f" segment-balanced accuracy (%) and error time (seconds of the scenario) at"
            f" {material.interval:g} s; p50: median latency."
        ),
        text_columns=2,
    )  # fmt: skip


def decomposition(material: Material) -> Table:
    """Error classes and factors at the fixed interval: A = O·U_cur + λ."""
    time = "Share of observed time (%)"
    factors = "Factors (%)"
    lines: list[tuple[str, str, Callable[[Level], float | None]]] = [
        (time, "Judgment", lambda v: v.at_interval.judgment),
        (time, "Stale", lambda v: v.at_interval.stale),
        (time, "Compound", lambda v: v.at_interval.compound),
        (time, "No decision", lambda v: v.at_interval.no_decision),
        (time, "Lucky", lambda v: v.at_interval.outdated_correct),
        (factors, "Untimed U", lambda v: v.untimed),
        (factors, "Current U_cur", lambda v: v.at_interval.u_current),
        (factors, "Oracle O", lambda v: v.at_interval.oracle),
        (factors, "U O", lambda v: v.at_interval.product),
        (factors, "In force A", lambda v: v.at_interval.in_force),
    ]
    table = Table(
        "decomposition",
        f"Judgment and latency at {material.interval:g} s",
        ("", *material.labels),
        by_setting(lines, [e.score.overall for e in material.entries], pct),
        material.notes(
            "Equal-family means. O·U_cur + λ is A; U O averages the scenarios' own products, so it"
            " differs from the product of the rows above."
        ),
    )
    return turned(table)


def integrated_decomposition(material: Material) -> Table:
    """The same identity carried through the integral: O_log·U_cur,log + λ_log = S."""
    rows = []
    for entry in material.entries:
        over = entry.score.overall.integrated
        rows.append(
            Row(
                (
                    entry.label,
                    pct(over.oracle),
                    pct(over.u_current),
                    pct(over.outdated_correct),
                    pct(over.product),
                    pct(over.in_force),
                )
            )
        )
    return Table(
        "integrated_decomposition",
        f"The decomposition integrated, {material.bounds.text()} (%)",
        ("Setting", "O_log", "U_cur,log", "λ_log", "P", "S"),
        tuple(rows),
        material.notes("P averages the scenarios' U·O; S is the integrated score."),
    )


def by_setting(
    lines: Sequence[tuple[str, str, Callable[[Level], float | None]]],
    levels: Sequence[Level],
    form: Callable[[float | None], Number],
) -> tuple[Row, ...]:
    """Quantities as rows, settings as columns; a rule above every section."""
    rows, before = [], ""
    for section, label, value in lines:
        rows.append(
            Row((label, *(form(value(v)) for v in levels)), section, rule_above=section != before)
        )
        before = section
    return tuple(rows)


def _auc(level: Level | None) -> Number:
    return pct(level.log_auc if level else None)
