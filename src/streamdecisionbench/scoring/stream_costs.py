"""Spells, delays, changes, acts and costs of many streams, row by row: what a group adds up.

The streams of a log share their decisions, and each has its own tick and its own section of the cost
file. All that is said of a stream is plain numbers, so parts of a log may be measured anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from streamdecisionbench.rules.costs import Act, Costs, Section
from streamdecisionbench.scoring.acts import (
    ActCounts,
    MeanActs,
    act_slots,
    acts_of,
    instances,
    mean_acts,
)
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.changes import (
    Delays,
    Edits,
    delays_of,
    edits_of,
    mean_delays,
    mean_edits,
)
from streamdecisionbench.scoring.cost import age_rate, mean_age_rate, mean_wrong_rate, wrong_rate
from streamdecisionbench.scoring.cut import calm_of, cut_of, stretches
from streamdecisionbench.scoring.spells import moving_spells, spells_of
from streamdecisionbench.scoring.sweep import sweep_of, trajectory_at
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints

AMOUNTS = ("judged", "wrong", "age", "acts", "half_squares", "beyond", "long", "wrong_s")
"""Seconds at the pace, to be weighted: T; what being wrong, staying wrong and acts cost; Σ ℓ²/2,
Σ max(0, ℓ − θ), Σ ℓ of spells longer than θ, Σ ℓ."""
NUMBERS = (
    "count", "length_s", "changes", "never_right", "waited_s", "needed", "useless", "unjudged",
    "reversed_in_a_tick",
)  # fmt: skip
"""Numbers of things, and sums that are divided by them: never weighted."""
MEANS = ("ticks", "wrong", "age", "acts", "mean_age_s", "beyond", "long")
"""Over bounds: judged ticks, then means times these ticks, to be weighted."""
MEAN_NUMBERS = ("count", "never_right", "waited_s", "needed", "useless", "unjudged", "reversed_in_a_tick")  # fmt: skip
_OUTCOMES = ("in_time", "late", "missed", "wrongly", "twice")
ACTS = ("streams", "calls", *_OUTCOMES, "cost", *(f"mean_{name}" for name in _OUTCOMES))


@dataclass(frozen=True, slots=True)
class StreamCosts:
    """One row per stream; columns as the tuples above name them."""

    amounts: Floats
    numbers: Floats
    longest: Floats
    delays: Delays
    acts: Mapping[str, Floats]
    """By name; streams that may not do an act have zeros."""
    means: Floats | None = None
    mean_numbers: Floats | None = None

    def take(self, streams: Ints) -> StreamCosts:
        """Those of some streams. Delays keep the streams' numbers."""
        return StreamCosts(
            self.amounts[streams],
            self.numbers[streams],
            self.longest[streams],
            self.delays.of(streams),
            {name: table[streams] for name, table in self.acts.items()},
            None if self.means is None else self.means[streams],
            None if self.mean_numbers is None else self.mean_numbers[streams],
        )


def stream_costs(
    flat: Flat,
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
    path = trajectory_at(flat, interval)
    cut = stretches(path)
    found, waits = spells_of(path, cut), delays_of(path, cut)
    T = found.observed
    sections = [] if costs is None else [costs.section(family) for family in families]
    price = np.zeros((3, flat.count))
    means = mean_numbers = None
    over = None if bounds is None else _Over(flat, sections, theta, bounds)
    acts: dict[str, Floats] = {}
    if sections:
        price[0] = wrong_rate(path, cut, T * path.scale, sections) * T
        price[1] = age_rate(found, sections) * T
        for slot in act_slots(sections):
            which = instances(path.references, slot)
            counts = acts_of(path, cut, which, slot)
            price[2] += counts.cost(slot)
            mean = None if over is None else over.add_acts(slot)
            _add_acts(acts, slot, counts, mean)
    amounts = [
        T, *price, found.mean_age * T, found.beyond_share(theta) * T, found.long_share(theta) * T,
        found.wrong,
    ]  # fmt: skip
    waited = np.minimum(waits.delay, waits.limit)
    numbers = [
        found.count,
        np.bincount(found.scenario, weights=found.length, minlength=flat.count),
        np.bincount(waits.scenario, minlength=flat.count),
        np.bincount(waits.scenario[waits.never], minlength=flat.count),
        np.bincount(waits.scenario, weights=waited, minlength=flat.count),
        *_edit_columns(edits_of(path, cut)),
    ]
    if over is not None:
        means, mean_numbers = over.tables()
    return StreamCosts(
        np.stack(amounts, axis=1),
        np.stack(numbers, axis=1).astype(np.float64),
        found.longest,
        waits,
        acts,
        means,
        mean_numbers,
    )


def joined_costs(parts: Sequence[StreamCosts]) -> StreamCosts:
    """Batches of streams, one after another."""
    if len(parts) == 1:
        return parts[0]
    sizes = [len(part.longest) for part in parts]
    first = np.cumsum(sizes) - sizes
    delays = [part.delays for part in parts]
    return StreamCosts(
        np.concatenate([part.amounts for part in parts]),
        np.concatenate([part.numbers for part in parts]),
        np.concatenate([part.longest for part in parts]),
        Delays(
            np.concatenate([d.scenario + k for d, k in zip(delays, first, strict=True)]),
            np.concatenate([d.at for d in delays]),
            np.concatenate([d.delay for d in delays]),
            np.concatenate([d.limit for d in delays]),
        ),
        {
            name: np.concatenate(
                [
                    part.acts.get(name, np.zeros((size, len(ACTS))))
                    for part, size in zip(parts, sizes, strict=True)
                ]
            )
            for name in dict.fromkeys(name for part in parts for name in part.acts)
        },
        _joined([part.means for part in parts]),
        _joined([part.mean_numbers for part in parts]),
    )


class _Over:
    """The same streams over bounds."""

    def __init__(
        self, flat: Flat, sections: Sequence[Section], theta: float, bounds: Bounds
    ) -> None:
        self.sections, self.theta, self.bounds = sections, theta, bounds
        self.sweep = sweep_of(flat, flat.tick / bounds.high, flat.tick / bounds.low)
        self.cut = cut_of(self.sweep)
        self.calm = calm_of(self.sweep, self.cut)
        self.act_cost = np.zeros(flat.count)

    def add_acts(self, slot: Sequence[Act | None]) -> MeanActs:
        found = mean_acts(self.sweep, instances(self.sweep.references, slot), slot, self.bounds)
        self.act_cost += found.rates.cost(slot)
        return found

    def tables(self) -> tuple[Floats, Floats]:
        """In columns `MEANS` and `MEAN_NUMBERS`."""
        bounds, judged = self.bounds, self.calm.judged
        tick = self.sweep.references.tick
        found, waits = moving_spells(self.calm), mean_delays(self.calm, bounds)
        ticks = judged / tick
        price = [np.zeros(len(tick))] * 3
        if self.sections:
            price = [
                mean_wrong_rate(self.sweep, self.cut, judged, self.sections, bounds) * ticks,
                mean_age_rate(found, self.sections, bounds) * ticks,
                self.act_cost / tick,
            ]
        means = [
            ticks, *price, found.mean_age(bounds) * ticks,
            found.beyond_share(self.theta, bounds) * ticks,
            found.long_share(self.theta, bounds) * ticks,
        ]  # fmt: skip
        numbers = [
            found.count(bounds), waits.never_right, waits.waited * waits.changes,
            *_edit_columns(mean_edits(self.sweep, bounds)),
        ]  # fmt: skip
        return np.stack(means, axis=1), np.stack(numbers, axis=1)


def _add_acts(
    acts: dict[str, Floats], slot: Sequence[Act | None], at: ActCounts, over: MeanActs | None
) -> None:
    """Counts of one act per stream, under its name."""
    columns = [np.ones(len(slot))]
    columns += [getattr(at, name) for name in ("calls", *_OUTCOMES)]
    columns.append(at.cost(slot))
    columns += [
        np.zeros(len(slot)) if over is None else getattr(over.counts, name) for name in _OUTCOMES
    ]
    table = np.stack(columns, axis=1)
    names = np.array(["" if act is None else act.name for act in slot])
    for name in dict.fromkeys(act.name for act in slot if act is not None):
        mine = np.where((names == name)[:, None], table, 0.0)
        acts[name] = acts[name] + mine if name in acts else mine


def _edit_columns(found: Edits) -> list[Floats]:
    return [found.needed, found.useless, found.unjudged, found.reversed_in_a_tick]


def _joined(tables: Sequence[Floats | None]) -> Floats | None:
    known = [table for table in tables if table is not None]
    return np.concatenate(known) if len(known) == len(tables) else None
