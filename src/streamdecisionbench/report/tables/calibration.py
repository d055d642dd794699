"""Table of calibration in force: what confidence says, what the time says."""

from __future__ import annotations

from collections.abc import Mapping

from streamdecisionbench.analysis.calibration import Calibration
from streamdecisionbench.report.material import Material
from streamdecisionbench.report.tables.table import Row, Table, pct

__all__ = ["calibration_table"]


def calibration_table(material: Material, found: Mapping[str, Calibration]) -> Table:
    """One row per recording whose answers carry confidences, at the report's interval."""
    rows = []
    for entry in material.entries:
        c = found.get(entry.name)
        if c is not None:
            rows.append(
                Row(
                    (
                        entry.label, pct(c.brier), pct(c.confidence), pct(c.right),
                        pct(c.confidence - c.right), pct(c.risk_at(0.8)), pct(c.risk_at(0.5)),
                        pct(c.decided),
                    )
                )
            )  # fmt: skip
    without = [e.name for e in material.entries if e.name not in found]
    left_out = [f"No confidences: {', '.join(without)}."] if without else []
    return Table(
        "calibration",
        f"Calibration in force at {material.interval:g} s",
        (
            "Setting", "Brier %", "Confidence %", "Right %", "Overconfident", "Risk at 80 %",
            "Risk at 50 %", "Decided %",
        ),
        tuple(rows),
        material.notes(
            "Weighted by time in force; confidence: the least sure of the answers a decision consumes;"
            " right: of the decision now, not when it was asked. Risk at 80 %: how much of the time is"
            " wrong among the surest decisions that cover at least 80 % of the decided time.",
            *left_out,
        ),
    )  # fmt: skip
