"""Tables of pairs: what two components are worth together, and where one is right alone."""

from __future__ import annotations

from collections.abc import Sequence

from streamdecisionbench.in_force import spelled
from streamdecisionbench.report.figures.pairs import pair_label
from streamdecisionbench.report.material import Material
from streamdecisionbench.report.tables.table import Cell, Row, Table, count, pct
from streamdecisionbench.scoring.pairs.compose import PairScore

__all__ = ["composition", "composition_details"]


def composition(material: Material, pairs: Sequence[PairScore], note: str = "") -> Table:
    """Every pair and rule at 1 s, at the interval, and integrated."""
    at = sorted(
        {1.0, material.interval} & {x for x in (1.0, material.interval) if _inside(material, x)}
    )
    rows = []
    before = ""
    for pair in pairs:
        curve = pair.curve(bounds=material.bounds)["in_force"]
        label = pair_label(pair)
        cells: list[Cell] = [pair.fast, _marked(pair), spelled(pair.rule)]
        for interval in at:
            exact = pair.in_force if interval == pair.interval else float(curve(interval))
            cells.append(pct(exact))
        rows.append(Row((*cells, pct(pair.log_auc)), rule_above=label != before))
        before = label
    return Table(
        "composition",
        f"Fast and slow together, integrated {material.bounds.text()} (%)",
        ("Fast", "Slow", "Arbitration", *(f"{x:g} s" for x in at), "AUC"),
        tuple(rows),
        material.notes(
            "In-force accuracy at fixed intervals and integrated; replay of separate recordings on"
            " one nominal clock, so contention between the two is not measured.",
            *([note] if note else []),
        ),
        text_columns=3,
    )


def composition_details(material: Material, pairs: Sequence[PairScore]) -> Table:
    """What arbitration did at the interval: exposure, corrections, regressions, the worst loss."""
    rows = []
    for pair in pairs:
        loss, done = pair.longest_stale_loss, pair.counts
        cells: tuple[Cell, ...] = (
            pair.fast,
            _marked(pair),
            spelled(pair.rule),
            pct(pair.slow_share),
            count(done.slow_accepted),
            count(done.corrections),
            count(done.regressions),
            count(done.refusals),
            f"{loss.seconds:.3f} ({loss.episode_id}, step {loss.slow_source})" if loss else "–",
        )
        rows.append(Row(cells))
    return Table(
        "composition_details",
        f"What arbitration did at {material.interval:g} s",
        (
            "Fast", "Slow", "Arbitration", "Slow share (%)", "Slow accepted", "Corrections",
            "Regressions", "Refused", "Longest stale loss (s)",
        ),
        tuple(rows),
        material.notes(
            "Corrections: slow answers for the step whose fast answer was active; regressions: slow"
            " answers of an older source; the loss is the longest stretch one override made stale."
        ),
        text_columns=3,
    )  # fmt: skip


def _inside(material: Material, interval: float) -> bool:
    return material.bounds.low <= interval <= material.bounds.high


def _marked(pair: PairScore) -> str:
    return f"{pair.slow} (sim.)" if pair.simulated else pair.slow
