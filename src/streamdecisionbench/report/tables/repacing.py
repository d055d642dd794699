"""Table of measured conditions beside what the lowest rate predicts for them."""

from __future__ import annotations

from streamdecisionbench.analysis.repacing import Repacing
from streamdecisionbench.report.material import Material
from streamdecisionbench.report.tables.table import Number, Row, Table, count, pct, sec

__all__ = ["repacing_table"]


def repacing_table(material: Material, found: Repacing) -> Table:
    """One row per pace and load, from the lowest rate to the highest."""
    predicted = {(p.target, p.target_streams): p for p in found.from_base}
    rows = []
    for c in found.conditions:
        p = predicted.get((c.interval, c.streams))
        verdict = (
            "left out" if not c.held else "base" if p is None else "fails" if p.fails else "holds"
        )
        rows.append(
            Row(
                (
                    verdict, sec(c.interval), count(c.streams), Number(c.rate, 2), pct(c.in_force),
                    pct(p.predicted if p else None), Number(100 * p.low if p else None),
                    Number(100 * p.high if p else None), pct(c.oracle), sec(c.latency_p50_s, 3),
                    sec(c.latency_p95_s, 3), sec(c.latency_p99_s, 3),
                )
            )
        )  # fmt: skip
    return Table(
        "repacing",
        "Measured at each pace and load, and predicted from the lowest rate",
        (
            "Prediction", "Interval s", "Streams", "Requests/s", "In force %", "Predicted %", "Low",
            "High", "Oracle %", "p50 s", "p95 s", "p99 s",
        ),
        tuple(rows),
        material.notes(
            found.sentence,
            "In force as it ran. Low and high: 95 % interval of measured minus predicted, in points,"
            " simultaneous. A prediction fails when that excludes zero and is off by more than a point.",
        ),
    )  # fmt: skip
