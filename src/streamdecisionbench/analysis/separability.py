"""Is accuracy nearly judgment times timing? U_e·O_e against A_e, scenario by scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamdecisionbench.analysis.result_table import Cell, Table, percent, text
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.score import Level, Shares, score_timelines
from streamdecisionbench.scoring.timeline import Timeline

__all__ = ["Product", "Separability", "separability", "separability_table"]


@dataclass(frozen=True, slots=True)
class Product:
    """`product` is U·O (of a family or the whole: the mean of scenarios' products)."""

    untimed: float
    oracle: float
    product: float
    in_force: float

    @property
    def deviation(self) -> float:
        """A − U·O."""
        return self.in_force - self.product


@dataclass(frozen=True, slots=True)
class Separability:
    """At the interval and integrated over the bounds."""

    interval: float
    bounds: Bounds
    overall: Product
    by_scenario: Mapping[str, Product]
    integrated: Product
    integrated_by_scenario: Mapping[str, Product]

    @property
    def max_deviation(self) -> float:
        """The largest |A − U·O| of a scenario at the interval."""
        return max(abs(p.deviation) for p in self.by_scenario.values())

    @property
    def integrated_max_deviation(self) -> float:
        return max(abs(p.deviation) for p in self.integrated_by_scenario.values())


def separability(
    parts: Sequence[Timeline], *, interval: float = 2.0, bounds: Bounds | None = None
) -> Separability:
    """U·O beside A for one recording."""
    scored = score_timelines(parts, interval=interval, bounds=bounds)
    return Separability(
        interval,
        scored.bounds,
        _product(scored.overall, scored.overall.at_interval),
        {k: _product(v, v.at_interval) for k, v in scored.by_scenario.items()},
        _product(scored.overall, scored.overall.integrated),
        {k: _product(v, v.integrated) for k, v in scored.by_scenario.items()},
    )


def separability_table(name: str, result: Separability) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for key in (*result.by_scenario, "overall"):
        at = result.overall if key == "overall" else result.by_scenario[key]
        over = result.integrated if key == "overall" else result.integrated_by_scenario[key]
        rows.append(
            (key, at.untimed, at.oracle, at.product, at.in_force, at.deviation,
             over.product, over.in_force, over.deviation)
        )  # fmt: skip
    return Table(
        f"{name}: U·O against in-force accuracy (%)",
        (text("", "scenario"), percent("U", "untimed"), percent("O", "oracle"),
         percent("U·O", "product"), percent(f"A {result.interval:g} s", "in_force"),
         percent("A−U·O", "deviation"), percent("U·O AUC", "integrated_product"),
         percent("AUC", "log_auc"), percent("diff.", "integrated_deviation")),
        tuple(rows),
        (
            f"Largest deviation of a scenario: {100 * result.max_deviation:.1f} points at"
            f" {result.interval:g} s, {100 * result.integrated_max_deviation:.1f} over"
            f" {result.bounds.text()}.",
        ),
    )  # fmt: skip


def _product(level: Level, shares: Shares) -> Product:
    return Product(level.untimed, shares.oracle, shares.product, shares.in_force)
