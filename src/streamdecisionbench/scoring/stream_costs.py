"""Spells, delays, changes, acts and costs of many streams: rows of them, and sums that anybody may merge.

The streams of a log share their decisions, and each has its own tick and its own section of the cost
file. All that is said of a stream is plain numbers, so parts of a log may be measured anywhere.

A group pools time, as for its classes: rates and shares are sums of seconds over sums of seconds,
each stream's times its weight. Numbers of things are sums, the longest spell is the longest of all,
and quantiles of delays are taken over all changes together; of more than some thousand delays they
are within the error that `LatencySums` states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.kernel.arrays import (
    Floats,
    Ints,
    JoinedTimelines,
    joined,
)
from streamdecisionbench.kernel.paces import (
    AtPace,
    Bounds,
)
from streamdecisionbench.kernel.trajectory import (
    trajectory_at,
    trajectory_over,
)
from streamdecisionbench.policies.cost_rules import (
    Costs,
    Section,
)
from streamdecisionbench.scoring.change_delays import Delays, survival
from streamdecisionbench.scoring.error_costs import (
    ACTS,
    ActMeasures,
    ChangeMeasures,
    CostRates,
    Done,
    Figures,
    SpellMeans,
    SpellMeasures,
    act_tables,
    with_all_acts,
)
from streamdecisionbench.scoring.intervals import (
    Spread,
    drawn_sums,
    interval_95,
    linear_ratio,
)
from streamdecisionbench.scoring.stream_sums import (
    RELATIVE_ERROR,
    LatencySums,
    Sums,
)

_COSTS = ("wrong", "age", "acts")
_SPELLS = ("mean_age_s", "beyond_share", "wrong_share", "long_share")
AMOUNTS = ("time", *_COSTS, *_SPELLS)
"""Judged time, and what is said per time times that, to be weighted: of costs, then of spells. Time is
seconds at a pace, ticks over bounds."""
NUMBERS = (
    "count", "length_s", "changes", "never_right", "waited_s", "edits", "needed", "useless",
    "reversed_in_a_tick",
)  # fmt: skip
"""Numbers of things, and sums that are divided by them: never weighted."""
COLUMNS = (*AMOUNTS, *NUMBERS)


@dataclass(frozen=True, slots=True)
class StreamCosts:
    """One row per stream, at a pace and over bounds where these are asked for."""

    at: Floats
    """In columns `COLUMNS`."""
    over: Floats | None
    longest: Floats
    delays: Delays
    acts: Mapping[str, Floats]
    """By name in columns `ACTS`; streams that may not do an act have zeros."""

    def take(self, streams: Ints) -> StreamCosts:
        """Those of some streams. Delays keep the streams' numbers."""
        return StreamCosts(
            self.at[streams],
            None if self.over is None else self.over[streams],
            self.longest[streams],
            self.delays.of(streams),
            {name: table[streams] for name, table in self.acts.items()},
        )


def stream_costs(
    flat: JoinedTimelines,
    families: Sequence[str],
    *,
    costs: Costs | None,
    theta: float,
    interval: float | None,
    bounds: Bounds | None,
) -> StreamCosts:
    """Measures whole streams at one pace (as recorded without `interval`) and over the bounds.

    `flat.values` say the fields of decisions, `families` pick each stream's section of the costs.
    """
    sections = [] if costs is None else [costs.section(family) for family in families]
    path = trajectory_at(flat, interval)
    at, over = Figures(path, AtPace(path.scale)), None
    if bounds is not None:
        sweep = trajectory_over(flat, bounds)
        over = Figures(sweep, sweep.weights(bounds))
    done = at.acts(sections)
    mean_done = None if over is None else over.acts(sections)
    return StreamCosts(
        _measured(at, path.scale, sections, theta, done),
        None if over is None else _measured(over, flat.tick, sections, theta, mean_done or ()),
        at.spells.longest,
        at.waits.delays(),
        act_tables(done, mean_done),
    )


def joined_costs(parts: Sequence[StreamCosts]) -> StreamCosts:
    """Batches of streams, one after another."""
    if len(parts) == 1:
        return parts[0]
    sizes = [len(part.longest) for part in parts]
    first = np.cumsum(sizes) - sizes
    delays = [
        replace(part.delays, scenario=part.delays.scenario + k)
        for part, k in zip(parts, first.tolist(), strict=True)
    ]
    names = dict.fromkeys(name for part in parts for name in part.acts)
    none = [np.zeros((size, len(ACTS))) for size in sizes]
    return StreamCosts(
        np.concatenate([part.at for part in parts]),
        joined([part.over for part in parts]),
        np.concatenate([part.longest for part in parts]),
        delays[0].followed_by(delays[1:]),
        {
            name: np.concatenate(
                [p.acts.get(name, zero) for p, zero in zip(parts, none, strict=True)]
            )
            for name in names
        },
    )


def _measured(
    found: Figures, clock: Floats, sections: Sequence[Section], theta: float, acts: Sequence[Done]
) -> Floats:
    """All that is said of streams; `clock` turns time of the recording clock into theirs."""
    time = found.cut.judged / clock
    rates = found.rates(sections, acts) if sections else dict.fromkeys(_COSTS, np.zeros(len(time)))
    shares = {**rates, **found.spell_shares(theta)}
    numbers = {**found.spell_numbers, **found.change_numbers}
    amounts = (shares[name] * time for name in AMOUNTS[1:])
    return np.stack([time, *amounts, *(numbers[name] for name in NUMBERS)], axis=1)


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

    sums: Sums = field(default_factory=Sums)
    acts: Sums = field(default_factory=Sums)
    longest: float = 0.0
    answered: LatencySums = field(default_factory=LatencySums)
    """Delays until the decision in force was right."""
    waiting: LatencySums = field(default_factory=LatencySums)
    """Times after which the next change came first."""

    def add(
        self, rows: StreamCosts, weight: Floats, keys: NDArray[np.uint64], resamples: int = 0
    ) -> None:
        """Adds measured streams, each with its weight; `keys` draw their replicates."""
        weights = np.ones((len(weight), len(COLUMNS)))
        weights[:, : len(AMOUNTS)] = weight[:, None]
        for name, table in (("at", rows.at), ("over", rows.over)):
            if table is not None:
                self.sums.add(name, (table * weights).sum(axis=0))
        for name, done in rows.acts.items():
            if done[:, 0].any():  # some of these streams may do it
                self.acts.add(name, done.sum(axis=0))
        if resamples:
            # T and what it cost: all that the interval of a rate needs.
            drawn = np.stack((rows.at[:, 0], rows.at[:, 1:4].sum(axis=1)), axis=1) * weight[:, None]
            self.sums.add("replicates", drawn_sums(keys, drawn, resamples))
        self.longest = max(self.longest, float(rows.longest.max(initial=0.0)))
        never = rows.delays.never
        self.answered.add(rows.delays.delay[~never])
        self.waiting.add(rows.delays.limit[never])

    def merge(self, other: CostSums) -> None:
        self.sums.merge(other.sums)
        self.acts.merge(other.acts)
        self.longest = max(self.longest, other.longest)
        self.answered.merge(other.answered)
        self.waiting.merge(other.waiting)

    def get(self, spread: Spread, *, priced: bool) -> GroupCosts:
        """The measures; costs and acts only where streams were priced."""
        shares, numbers = self._shares("at")
        mean_shares, mean_numbers = self._shares("over") if "over" in self.sums else ({}, None)
        values, counts = zip(self.answered.values(), self.waiting.values(), strict=True)
        seen = np.repeat([True, False], [len(v) for v in values])
        curve = survival(np.concatenate(values), seen, np.concatenate(counts))
        exact = self.answered.bins is None and self.waiting.bins is None
        acts = with_all_acts({name: one.get() for name, one in self.acts.items()}) if priced else {}
        rates = CostRates(*(shares[name] for name in _COSTS))
        return GroupCosts(
            SpellMeasures.of(
                {name: shares[name] for name in _SPELLS},
                numbers,
                self.longest,
                SpellMeans.of(mean_shares, mean_numbers) if mean_numbers else None,
            ),
            ChangeMeasures.of(numbers, curve, mean_numbers),
            0.0 if exact else RELATIVE_ERROR,
            {
                name: ActMeasures.of(row, over=mean_numbers is not None)
                for name, row in acts.items()
            },
            rates if priced else None,
            CostRates(*(mean_shares[name] for name in _COSTS)) if priced and mean_shares else None,
            self._interval(rates.total, spread) if priced else None,
        )

    def _interval(self, value: float, spread: Spread) -> tuple[float, float] | None:
        if "replicates" not in self.sums:
            return None
        drawn = self.sums["replicates"].get()
        time = self.sums["at"].get()[COLUMNS.index("time")]
        found = interval_95(
            value, linear_ratio(value * time, time, drawn[:, 1], drawn[:, 0]), spread
        )
        return found and (max(found[0], 0.0), found[1])

    def _shares(self, name: str) -> tuple[dict[str, float], dict[str, float]]:
        """Amounts per time, and numbers."""
        found = dict(zip(COLUMNS, self.sums[name].get().tolist(), strict=True))
        time = found["time"]
        shares = {name: found[name] / time if time > 0 else 0.0 for name in AMOUNTS[1:]}
        return shares, {name: found[name] for name in NUMBERS}
