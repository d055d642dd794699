"""Several passes of one setting: how far the headline numbers move between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.render.table import (
    Cell,
    Table,
    number,
    text,
)
from streamdecisionbench.scoring.score import Score

HEADLINES: dict[str, Callable[[Score], float | None]] = {
    "log_auc": lambda s: s.log_auc,
    "in_force": lambda s: s.in_force,
    "segment_in_force": lambda s: s.overall.segment_in_force,
    "untimed": lambda s: s.untimed,
    "oracle": lambda s: s.oracle,
    "u_current": lambda s: s.overall.at_interval.u_current,
    "outdated_correct": lambda s: s.overall.outdated_correct,
    "judgment": lambda s: s.overall.at_interval.judgment,
    "stale": lambda s: s.overall.at_interval.stale,
    "compound": lambda s: s.overall.at_interval.compound,
    "no_decision": lambda s: s.overall.at_interval.no_decision,
    "latency_p50_s": lambda s: s.latency.p50 if s.latency else None,
    "latency_p95_s": lambda s: s.latency.p95 if s.latency else None,
}
"""What is compared between passes. Shares are at the interval, except log_auc and untimed."""


@dataclass(frozen=True, slots=True)
class Repeated:
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    @property
    def sd(self) -> float | None:
        """Standard deviation between passes (n − 1)."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else None


@dataclass(frozen=True, slots=True)
class Repeats:
    passes: tuple[str, ...]
    interval: float
    headlines: Mapping[str, Repeated]
    always_right: float
    """Share of states decided right in every pass; the rest is sometimes or never."""
    never_right: float


def repeats(scores: Sequence[Score]) -> Repeats:
    """Mean and range over passes of one setting on the same scenarios."""
    if len(scores) < 2:
        raise InputError("one pass has no range", fix="give two or more passes of one setting")
    first = scores[0]
    for other in scores[1:]:
        same = list(other.by_scenario) == list(first.by_scenario) and all(
            np.array_equal(a.reference, b.reference)
            for a, b in zip(first.parts, other.parts, strict=True)
        )
        if not same:
            raise InputError(
                f"does not cover the same scenarios as {first.name}",
                where=other.name,
                fix="repeat passes over one suite",
            )
    headlines = {}
    for name, value in HEADLINES.items():
        values = [value(s) for s in scores]
        known = tuple(float(v) for v in values if v is not None)
        if len(known) == len(scores):
            headlines[name] = Repeated(known)
    right = np.stack([np.concatenate([p.right for p in s.parts]) for s in scores])
    return Repeats(
        passes=tuple(s.name for s in scores),
        interval=first.interval,
        headlines=headlines,
        always_right=float(np.mean(right.all(axis=0))),
        never_right=float(np.mean(~right.any(axis=0))),
    )


def repeats_table(result: Repeats) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, r in result.headlines.items():
        scale = 1.0 if name.endswith("_s") else 100.0
        spread = None if r.sd is None else scale * r.sd
        rows.append(
            (name, scale * r.mean, scale * r.low, scale * r.high, scale * (r.high - r.low), spread)
        )
    return Table(
        f"{len(result.passes)} passes at {result.interval:g} s (%, latencies in s)",
        (
            text("", "headline"),
            number("mean"),
            number("low"),
            number("high"),
            number("range"),
            number("sd"),
        ),
        tuple(rows),
        (
            f"passes: {', '.join(result.passes)}",
            f"always right {100 * result.always_right:.1f} % of states, never"
            f" {100 * result.never_right:.1f} %, sometimes"
            f" {100 * (1 - result.always_right - result.never_right):.1f} %",
        ),
    )
