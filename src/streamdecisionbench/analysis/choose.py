"""Which setting or pair to use at a given pace, how sure that is, what it costs, what limits it.

Everything is compared at one interval Δ on the nominal clock r_i = i · tick, singles and pairs
alike, so that differences between them are paired by state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from streamdecisionbench.analysis.bootstrap import Estimate, Sampling, bootstrap, same_states
from streamdecisionbench.analysis.steps import in_force_at, shares_by_step, stretches
from streamdecisionbench.analysis.token_cost import Cost
from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.bounds import check_interval
from streamdecisionbench.scoring.pairs.compose import chosen_rules
from streamdecisionbench.scoring.pairs.nominal_clock import Duo, Lane, Stage, lane, on_stage, stage
from streamdecisionbench.scoring.pairs.replay import SLOW_SHARE, path_at, shares_along
from streamdecisionbench.scoring.score import Shares, family_weights, macro_shares, score_timelines
from streamdecisionbench.scoring.timeline import Flat, Floats, Timeline

__all__ = ["Budget", "Candidate", "Choice", "choose"]

_GRID = 8
"""Intervals per doubling at which the choice is tried again, two doublings either way."""
_RIVALS = 24
"""How many of the best candidates are tried again there."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The most money: per hour of stream at the interval, or per 1000 decisions. None: no limit."""

    per_hour: float | None = None
    per_1000: float | None = None

    def allows(self, per_hour: float | None, per_1000: float | None) -> bool:
        """Whether a cost is known and within the budget.

        >>> Budget(per_1000=2.0).allows(None, None), Budget().allows(None, None)
        (False, True)
        """
        limits = ((self.per_hour, per_hour), (self.per_1000, per_1000))
        return all(
            limit is None or (spent is not None and spent <= limit) for limit, spent in limits
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A setting, or a fast and a slow one under a rule, at the interval."""

    members: tuple[str, ...]
    rule: str | None
    in_force: Estimate
    behind_best: Estimate
    """Best minus this one, paired by state; zero for the best itself."""
    shares: Shares
    per_hour: float | None
    per_1000: float | None
    within_budget: bool = True
    slow_share: float | None = None

    @property
    def name(self) -> str:
        return " + ".join(self.members) + (f" ({self.rule})" if self.rule else "")

    @property
    def lost_to_latency(self) -> float:
        """Stale and no decision yet: right answers that were too late."""
        return self.shares.stale + self.shares.no_decision

    @property
    def lost_to_judgment(self) -> float:
        return self.shares.judgment

    @property
    def same_as_best(self) -> bool:
        """Right at the very same instants: whatever it adds changes nothing at this pace."""
        gap = self.behind_best
        return max(abs(gap.low), abs(gap.high), abs(gap.value)) < 1e-9

    @property
    def limit(self) -> str:
        """What costs most: `judgment` or `latency`; compound time is neither's alone."""
        return "latency" if self.lost_to_latency > self.lost_to_judgment else "judgment"


@dataclass(frozen=True, slots=True)
class Choice:
    """The recommendation. Candidates come best first; those beyond the budget are still listed."""

    interval: float
    budget: Budget
    currency: str
    sampling: Sampling
    candidates: Sequence[Candidate]
    best: Candidate
    runner_up: Candidate | None
    """The next one that differs at all."""
    best_single: Candidate | None
    level_with_best: Sequence[Candidate]
    """Within budget, and no difference to the best can be told."""
    cheapest_level: Candidate | None
    """The cheapest of these and the best, where costs are known."""
    holds: tuple[float, float]
    """Intervals around the one asked for at which the best stays best, tried on a grid."""


@dataclass(frozen=True, slots=True)
class _Entry:
    members: tuple[str, ...]
    rule: str | None


def choose(
    recordings: Mapping[str, Sequence[Timeline]],
    interval: float,
    *,
    costs: Mapping[str, Cost | None] | None = None,
    budget: Budget | None = None,
    rule: str = "freshest",
    pairs: bool = True,
    sampling: Sampling | None = None,
) -> Choice:
    """Ranks every recording and, with `pairs`, every fast and slow two of them.

    A pair is tried when the fast one's median latency is the lower of the two.
    """
    check_interval(interval)
    same_states(recordings)
    budget, sampling, costs = budget or Budget(), sampling or Sampling(), costs or {}
    field = _Field(recordings, interval)
    entries = [_Entry((name,), None) for name in recordings]
    if pairs:
        entries += field.pairs(chosen_rules(rule))
    columns, shares, slow = zip(*(field.play(e, interval) for e in entries), strict=True)
    table = np.stack(columns, axis=1)
    values = field.step_weights @ table
    spent = [_spent(e, costs, interval) for e in entries]
    allowed = [budget.allows(*s) for s in spent]
    if not any(allowed):
        raise InputError(
            "nothing is within the budget, or no cost is known",
            fix="raise --budget, or give prices with --prices",
        )
    # Of equals the simpler one comes first; sums of the same steps may differ in a last bit.
    order = sorted(
        range(len(entries)), key=lambda k: (-round(values[k], 12), len(entries[k].members), k)
    )
    top = next(k for k in order if allowed[k])
    parts = field.stage.parts
    own = bootstrap(parts, table, sampling)
    behind = bootstrap(parts, table[:, [top]] - table, sampling, share=False)
    ranked = [
        Candidate(
            members=entries[k].members,
            rule=entries[k].rule,
            in_force=own[k],
            behind_best=behind[k],
            shares=shares[k],
            per_hour=spent[k][0],
            per_1000=spent[k][1],
            within_budget=allowed[k],
            slow_share=slow[k],
        )
        for k in order
    ]
    eligible = [c for c in ranked if c.within_budget]
    best = eligible[0]
    level = [c for c in eligible[1:] if not c.behind_best.excludes_zero]
    priced = [c for c in (best, *level) if c.per_1000 is not None]
    rivals = [entries[k] for k in order if allowed[k]][:_RIVALS]
    return Choice(
        interval=interval,
        budget=budget,
        currency=next((c.currency for c in costs.values() if c is not None), "USD"),
        sampling=sampling,
        candidates=ranked,
        best=best,
        runner_up=next((c for c in eligible[1:] if not c.same_as_best), None),
        best_single=next((c for c in eligible if c.rule is None), None),
        level_with_best=level,
        cheapest_level=min(priced, key=lambda c: c.per_1000 or 0.0) if priced else None,
        holds=_holds(field, entries[top], rivals, interval),
    )


class _Field:
    """All components on one stage."""

    def __init__(self, recordings: Mapping[str, Sequence[Timeline]], interval: float) -> None:
        first = next(iter(recordings.values()))
        self.stage: Stage = stage(first)
        self.parts = {name: on_stage(self.stage, parts, name) for name, parts in recordings.items()}
        self.flats = {name: Flat(parts) for name, parts in self.parts.items()}
        c_max = self.stage.flat.tick / (interval / 4)
        self.lanes: dict[str, Lane] = {
            name: lane(self.stage, parts, c_max) for name, parts in self.parts.items()
        }
        self.weights = family_weights([p.family for p in self.stage.parts])
        self.step_weights: Floats = np.repeat(self.weights, [p.n for p in self.stage.parts])

    def pairs(self, rules: Sequence[str]) -> Iterator[_Entry]:
        medians = {name: float(np.median(own.L)) for name, own in self.lanes.items()}
        for (fast, one), (slow, other) in permutations(medians.items(), 2):
            if one < other:
                yield from (_Entry((fast, slow), rule) for rule in rules)

    def play(self, entry: _Entry, interval: float) -> tuple[Floats, Shares, float | None]:
        """What each step contributes, the six classes, and the slow one's share of time."""
        if entry.rule is None:
            name = entry.members[0]
            by_step = shares_by_step(self.flats[name], in_force_at(self.flats[name], interval))
            scored = score_timelines(self.parts[name], interval=interval)
            return by_step, scored.overall.at_interval, None
        fast, slow = (self.lanes[m] for m in entry.members)
        duo = Duo(self.stage, fast, slow)
        path = path_at(duo, self.stage.flat.tick / interval, entry.rule)
        flat = self.stage.flat
        held = stretches(flat, path.scenario, path.begin, path.end, duo.p[path.node])
        table = shares_along(duo, path, flat, self.stage.time, self.stage.segment)
        shares = macro_shares(table[:, :SLOW_SHARE], slow.untimed, self.weights)
        return shares_by_step(flat, held), shares, float(self.weights @ table[:, SLOW_SHARE])

    def in_force(self, entry: _Entry, interval: float) -> float:
        return float(self.step_weights @ self.play(entry, interval)[0])


def _holds(
    field: _Field, best: _Entry, rivals: Sequence[_Entry], interval: float
) -> tuple[float, float]:
    ends = []
    for direction in (-1, 1):
        reached = interval
        for k in range(1, 2 * _GRID + 1):
            there = interval * 2 ** (direction * k / _GRID)
            own = field.in_force(best, there)
            if any(_beats(field.in_force(r, there), r, own, best) for r in rivals if r != best):
                break
            reached = there
        ends.append(reached)
    return ends[0], ends[1]


def _beats(value: float, rival: _Entry, own: float, best: _Entry) -> bool:
    """More is better; of equals, the simpler."""
    simpler = len(rival.members) < len(best.members)
    return value > own + 1e-12 or (simpler and value > own - 1e-12)


def _spent(
    entry: _Entry, costs: Mapping[str, Cost | None], interval: float
) -> tuple[float | None, float | None]:
    """Per hour and per 1000 decisions; a pair asks both components at every step."""
    known = [costs.get(member) for member in entry.members]
    each = [c.per_decision if c is not None else None for c in known]
    if any(x is None for x in each):
        return None, None
    total = sum(x for x in each if x is not None)
    return total * 3600 / interval, total * 1000
