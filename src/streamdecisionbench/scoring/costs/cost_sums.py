"""What the wrong time of a group of streams adds up to: sums that parts compute and anybody may merge.

A group pools time, as for its classes: rates and shares are sums of seconds over sums of seconds,
each stream's times its weight. Numbers of things are sums, the longest spell is the longest of all,
and quantiles of delays are taken over all changes together; of more than some thousand delays they
are within the error that `LatencySums` states.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.costs.changes import Survival, survival
from streamdecisionbench.scoring.costs.charge import (
    ALL_ACTS,
    ActMeans,
    ActMeasures,
    CostRates,
)
from streamdecisionbench.scoring.costs.measures import (
    ChangeMeans,
    ChangeMeasures,
    EditMeans,
    EditMeasures,
    SpellMeans,
    SpellMeasures,
)
from streamdecisionbench.scoring.costs.stream_costs import (
    ACTS,
    AMOUNTS,
    MEAN_NUMBERS,
    MEANS,
    NUMBERS,
    StreamCosts,
)
from streamdecisionbench.scoring.group_sums import STREAMS_AT_ONCE, Sum
from streamdecisionbench.scoring.latency_sums import RELATIVE_ERROR, LatencySums
from streamdecisionbench.scoring.poisson_bootstrap import interval_95, poisson_weights
from streamdecisionbench.scoring.timeline import Floats

__all__ = ["CostSums", "GroupCosts"]


@dataclass(frozen=True, slots=True)
class GroupCosts:
    """Spells, changes, acts and costs of a group; what is over bounds is None without them."""

    spells: SpellMeasures
    changes: ChangeMeasures
    delay_error: float
    """How far quantiles of delays may be off, as a share of them."""
    acts: dict[str, ActMeasures]
    cost: CostRates | None
    """None without a cost file."""
    mean_cost: CostRates | None
    interval_95: tuple[float, float] | None
    """Of the cost per second, over streams."""


@dataclass
class CostSums:
    """Sums of one group."""

    sums: dict[str, Sum] = field(default_factory=dict)
    acts: dict[str, Sum] = field(default_factory=dict)
    longest: float = 0.0
    answered: LatencySums = field(default_factory=LatencySums)
    """Delays until the decision in force was right."""
    waiting: LatencySums = field(default_factory=LatencySums)
    """Times after which the next change came first."""

    def add(
        self, rows: StreamCosts, weight: Floats, keys: NDArray[np.uint64], resamples: int = 0
    ) -> None:
        """Adds measured streams, each with its weight; `keys` draw their replicates."""
        tables = {
            "amounts": rows.amounts * weight[:, None],
            "numbers": rows.numbers,
            "means": None if rows.means is None else rows.means * weight[:, None],
            "mean_numbers": rows.mean_numbers,
        }
        for name, table in tables.items():
            if table is not None:
                _add(self.sums, name, table.sum(axis=0))
        for name, table in rows.acts.items():
            if table[:, 0].any():  # some of these streams may do it
                _add(self.acts, name, table.sum(axis=0))
        if resamples:
            # T and what it cost: all that the interval of a rate needs.
            drawn = np.stack((rows.amounts[:, 0], rows.amounts[:, 1:4].sum(axis=1)), axis=1)
            total = np.zeros((resamples, 2))
            for begin in range(0, len(keys), STREAMS_AT_ONCE):
                part = slice(begin, begin + STREAMS_AT_ONCE)
                amounts = drawn[part] * weight[part, None]
                total += poisson_weights(keys[part], resamples).T @ amounts
            _add(self.sums, "replicates", total)
        self.longest = max(self.longest, float(rows.longest.max(initial=0.0)))
        never = rows.delays.never
        self.answered.add(rows.delays.delay[~never])
        self.waiting.add(rows.delays.limit[never])

    def merge(self, other: CostSums) -> None:
        for mine, theirs in ((self.sums, other.sums), (self.acts, other.acts)):
            for name, one in theirs.items():
                if name in mine:
                    mine[name].merge(one)
                else:
                    mine[name] = Sum(one.value, one.lost)
        self.longest = max(self.longest, other.longest)
        self.answered.merge(other.answered)
        self.waiting.merge(other.waiting)

    def get(self, *, priced: bool) -> GroupCosts:
        """The measures; costs and acts only where streams were priced."""
        at, numbers = self._named("amounts", AMOUNTS), self._named("numbers", NUMBERS)
        means = self._named("means", MEANS) if "means" in self.sums else None
        mean_numbers = self._named("mean_numbers", MEAN_NUMBERS) if means else None
        return GroupCosts(
            self._spells(at, numbers, means, mean_numbers),
            self._changes(numbers, mean_numbers),
            0.0 if self._exact else RELATIVE_ERROR,
            self._acts(over=means is not None) if priced else {},
            _rates(at, at["judged"]) if priced else None,
            _rates(means, means["ticks"]) if priced and means else None,
            self._interval() if priced else None,
        )

    def _interval(self) -> tuple[float, float] | None:
        if "replicates" not in self.sums:
            return None
        drawn = self.sums["replicates"].get()
        with np.errstate(divide="ignore", invalid="ignore"):
            return interval_95(drawn[:, 1] / drawn[:, 0])

    @property
    def _exact(self) -> bool:
        return self.answered.bins is None and self.waiting.bins is None

    def _named(self, name: str, columns: tuple[str, ...]) -> dict[str, float]:
        return dict(zip(columns, self.sums[name].get().tolist(), strict=True))

    def _spells(
        self,
        at: dict[str, float],
        numbers: dict[str, float],
        means: dict[str, float] | None,
        mean_numbers: dict[str, float] | None,
    ) -> SpellMeasures:
        T, count = at["judged"], round(numbers["count"])
        over = None
        if means and mean_numbers:
            ticks = means["ticks"]
            over = SpellMeans(
                mean_age_s=_per(means["mean_age_s"], ticks),
                beyond_share=_per(means["beyond"], ticks),
                longest_s=_per(means["longest_s"], ticks),
                count=mean_numbers["count"],
                long_share=_per(means["long"], ticks),
            )
        return SpellMeasures(
            mean_age_s=_per(at["half_squares"], T),
            beyond_share=_per(at["beyond"], T),
            longest_s=self.longest,
            count=count,
            wrong_share=_per(at["wrong_s"], T),
            long_share=_per(at["long"], T),
            mean_length_s=_per(numbers["length_s"], count),
            integrated=over,
        )

    def _changes(
        self, numbers: dict[str, float], mean_numbers: dict[str, float] | None
    ) -> ChangeMeasures:
        changes = round(numbers["changes"])
        curve = self._survival()
        edits = ("needed", "useless", "unjudged")
        over = edit_means = None
        if mean_numbers:
            over = ChangeMeans(
                never_right=mean_numbers["never_right"],
                waited_s=mean_numbers["waited_s"] / max(changes, 1),
            )
            edit_means = EditMeans(
                changes=sum(mean_numbers[name] for name in edits),
                needed=mean_numbers["needed"],
                useless=mean_numbers["useless"],
                reversed_in_a_tick=mean_numbers["reversed_in_a_tick"],
            )
        return ChangeMeasures(
            changes=changes,
            never_right=round(numbers["never_right"]),
            median_delay_s=curve.quantile(0.5),
            p95_delay_s=curve.quantile(0.95),
            waited_s=numbers["waited_s"] / changes if changes else None,
            integrated=over,
            decision_changes=EditMeasures(
                changes=round(sum(numbers[name] for name in edits)),
                needed=round(numbers["needed"]),
                useless=round(numbers["useless"]),
                reversed_in_a_tick=round(numbers["reversed_in_a_tick"]),
                integrated=edit_means,
            ),
        )

    def _survival(self) -> Survival:
        values, counts = zip(self.answered.values(), self.waiting.values(), strict=True)
        seen = np.repeat([True, False], [len(v) for v in values])
        return survival(np.concatenate(values), seen, np.concatenate(counts))

    def _acts(self, *, over: bool) -> dict[str, ActMeasures]:
        rows = {name: one.get() for name, one in self.acts.items()}
        if rows:
            rows[ALL_ACTS] = np.sum(list(rows.values()), axis=0)
        return {name: _act_measures(row, over=over) for name, row in rows.items()}


def _act_measures(row: Floats, *, over: bool) -> ActMeasures:
    value = dict(zip(ACTS, row.tolist(), strict=True))
    outcomes = ("in_time", "late", "missed", "wrongly", "twice")
    return ActMeasures(
        **{name: round(value[name]) for name in ("calls", *outcomes)},
        cost=value["cost"],
        integrated=ActMeans(**{n: value[f"mean_{n}"] for n in outcomes}) if over else None,
    )


def _rates(found: dict[str, float], time: float) -> CostRates:
    return CostRates(*(_per(found[name], time) for name in ("wrong", "age", "acts")))


def _per(amount: float, time: float) -> float:
    return amount / time if time > 0 else 0.0


def _add(sums: dict[str, Sum], name: str, amount: Floats) -> None:
    if name in sums:
        sums[name].add(amount)
    else:
        sums[name] = Sum(np.array(amount, dtype=np.float64))
