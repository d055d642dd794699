"""Two components, one decision: what a fast and a slow one are worth together.

Both are asked at every step. The fast one's answers take effect while they are newest; the slow
one's as far as the rule lets older ones in. Replay keeps every recorded latency and puts both on one
nominal clock, so nothing is measured anew and nothing is sampled.

>>> import streamdecisionbench as sdb
>>> from streamdecisionbench.scoring.pairs.compose import compose_recordings
>>> alone = sdb.example_recording()
>>> pair = compose_recordings(alone, alone, sdb.example_suite(), rule="freshest")[0]
>>> round(pair.in_force, 3), pair.counts.corrections
(0.6, 0)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from streamdecisionbench._version import __version__
from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import RULES, pair_rule
from streamdecisionbench.recording.conditions import conditions
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.bounds import DEFAULT_BOUNDS, Bounds, check_interval
from streamdecisionbench.scoring.curves import METRICS, Curve, curves_of
from streamdecisionbench.scoring.pairs.crossings import cells, scales
from streamdecisionbench.scoring.pairs.integrals import (
    Terms,
    integrate_in_force,
    integrate_terms,
    own,
    pieces_of,
    terms,
)
from streamdecisionbench.scoring.pairs.nominal_clock import Duo, Lane, Stage, lane, on_stage, stage
from streamdecisionbench.scoring.pairs.replay import (
    SLOW_SHARE,
    Counts,
    StaleLoss,
    count,
    longest_stale_loss,
    path_at,
    shares_along,
)
from streamdecisionbench.scoring.score import Shares, level_weights, macro_shares
from streamdecisionbench.scoring.timeline import Floats, Timeline, timelines
from streamdecisionbench.suite.find_suite import find_suite
from streamdecisionbench.suite.scenario import Suite

__all__ = [
    "PAIR_METRICS",
    "PairLevel",
    "PairScore",
    "all_pairs",
    "chosen_rules",
    "compose",
    "compose_recordings",
]

PAIR_METRICS: dict[str, tuple[int, ...]] = {**METRICS, "slow_share": (SLOW_SHARE,)}
"""What can be drawn of a pair."""


@dataclass(frozen=True, slots=True)
class PairLevel:
    """A scenario, a family (mean of scenarios) or the whole (mean of families).

    `product` of the shares is the proxy U_slow·O: a pair has no untimed answer of its own.
    """

    name: str
    at_interval: Shares
    integrated: Shares
    slow_share: float
    """Share of observed time with a slow answer in force, at the interval."""
    slow_share_integrated: float
    by_range: tuple[float, ...] = ()
    """In-force accuracy over each of the ranges asked for."""

    @property
    def in_force(self) -> float:
        """A at the interval."""
        return self.at_interval.in_force

    @property
    def log_auc(self) -> float:
        """S: in-force accuracy over the bounds."""
        return self.integrated.in_force


@dataclass(frozen=True, slots=True)
class PairScore:
    """Everything `sdb compose` says about one pair under one rule."""

    fast: str
    slow: str
    rule: str
    interval: float
    bounds: Bounds
    overall: PairLevel
    by_family: Mapping[str, PairLevel]
    by_scenario: Mapping[str, PairLevel]
    family_of: Mapping[str, str]
    counts: Counts
    longest_stale_loss: StaleLoss | None
    fast_parts: Sequence[Timeline]
    slow_parts: Sequence[Timeline]
    signature: str = ""
    simulated: bool = False
    virtual_clock: bool = False

    @property
    def in_force(self) -> float:
        return self.overall.in_force

    @property
    def log_auc(self) -> float:
        return self.overall.log_auc

    @property
    def slow_share(self) -> float:
        return self.overall.slow_share

    def curve(
        self,
        level: str = "overall",
        metrics: tuple[str, ...] = ("in_force",),
        bounds: Bounds | None = None,
    ) -> dict[str, Curve]:
        """Exact curves c0 + c1/Δ over the bounds, jumps included: names from `PAIR_METRICS`."""
        bounds = bounds or self.bounds
        where = stage(self.fast_parts)
        over = _Over(where, _duo(where, self.fast_parts, self.slow_parts, bounds), bounds)
        chosen = {name: PAIR_METRICS[name] for name in metrics}
        return curves_of(
            pieces_of(over.terms((self.rule,))[self.rule]),
            where.flat.tick,
            level_weights(where.parts, level),
            bounds,
            chosen,
        )


def compose(
    fast: Sequence[Timeline],
    slow: Sequence[Timeline],
    rule: str,
    interval: float = 2.0,
    bounds: Bounds | None = None,
    *,
    ranges: Sequence[Bounds] = (),
    names: tuple[str, str] = ("fast", "slow"),
) -> PairScore:
    """One pair under one rule, from arrays. Releases become i · tick of the fast component's clock."""
    bounds = bounds or Bounds()
    check_interval(interval)
    where = stage(fast)
    over = _Over(where, _duo(where, fast, slow, _hull(bounds, ranges), names), bounds, ranges)
    return _scores(over, (pair_rule(rule),), interval, names, fast, slow)[0]


def compose_recordings(
    fast: Recording,
    slow: Recording,
    suite: Suite | None = None,
    *,
    rule: str = "all",
    interval: float = 2.0,
    bounds: tuple[float, float] = DEFAULT_BOUNDS,
    weighting: str = "log",
    ranges: Sequence[Bounds] = (),
) -> list[PairScore]:
    """Two recordings of one suite, composed in replay under one rule or all of them."""
    limits = Bounds(bounds[0], bounds[1], weighting)
    return list(
        _compose_each([fast, slow], [(0, 1)], suite, chosen_rules(rule), interval, limits, ranges)
    )


def all_pairs(
    recordings: Sequence[Recording],
    suite: Suite | None = None,
    *,
    rule: str = "all",
    interval: float = 2.0,
    bounds: tuple[float, float] = DEFAULT_BOUNDS,
    weighting: str = "log",
    ranges: Sequence[Bounds] = (),
) -> list[PairScore]:
    """Every ordered pair of different recordings, each as fast and as slow, under the rules asked for."""
    limits = Bounds(bounds[0], bounds[1], weighting)
    every = range(len(recordings))
    ordered = [(f, s) for f in every for s in every if f != s]
    return list(
        _compose_each(recordings, ordered, suite, chosen_rules(rule), interval, limits, ranges)
    )


def chosen_rules(name: str) -> tuple[str, ...]:
    """`all`, or one rule by either spelling.

    >>> chosen_rules("lag-one"), len(chosen_rules("all"))
    (('lag_one',), 3)
    """
    return RULES if name == "all" else (pair_rule(name),)


class _Over:
    """A duo over a range of intervals: what `compose` and the curves both need."""

    def __init__(
        self, where: Stage, duo: Duo, bounds: Bounds, ranges: Sequence[Bounds] = ()
    ) -> None:
        self.where, self.duo, self.bounds, self.ranges = where, duo, bounds, ranges

    def terms(self, rules: Sequence[str], bounds: Bounds | None = None) -> dict[str, list[Terms]]:
        bounds = bounds or self.bounds
        tick = self.where.flat.tick
        at = scales(self.duo, tick / bounds.high, tick / bounds.low, rules)
        fast = terms(self.duo, own(self.duo, False, at.fast, at), -1.0)
        return {
            rule: [
                terms(self.duo, found),
                fast,
                terms(self.duo, own(self.duo, True, at.slow[rule], at), -1.0),
            ]
            for rule, found in cells(at).items()
        }

    def integrated(self, rules: Sequence[str]) -> dict[str, tuple[Floats, Floats]]:
        """Tables over the bounds and, per range, in-force accuracy; rows are scenarios."""
        parts = self.terms(rules)
        hull = _hull(self.bounds, self.ranges)
        wide = parts if hull == self.bounds or not self.ranges else self.terms(rules, hull)
        return {
            rule: (
                integrate_terms(self.where, parts[rule], self.bounds),
                integrate_in_force(self.where, wide[rule], self.ranges),
            )
            for rule in rules
        }


def _compose_each(
    recordings: Sequence[Recording],
    ordered: Sequence[tuple[int, int]],
    suite: Suite | None,
    rules: tuple[str, ...],
    interval: float,
    bounds: Bounds,
    ranges: Sequence[Bounds],
) -> Iterator[PairScore]:
    """What is computed per component is computed once, however many pairs it is in."""
    check_interval(interval)
    if len(recordings) < 2:
        raise InputError("a pair needs two recordings", fix="give at least two")
    if suite is None:
        suite = find_suite(recordings[0].dataset_hash, near=recordings[0].path)
    for one in recordings:
        if one.dataset_hash != suite.dataset_hash:
            raise InputError(
                f"was recorded on suite {one.dataset_hash[:12] or '(unnamed)'}, "
                f"not on {suite.dataset_hash[:12]}",
                where=one.path or one.name,
                fix="pair recordings of the same suite",
            )
    where = stage(timelines(recordings[0], suite))
    c_max = where.flat.tick / _hull(bounds, ranges).low
    parts = [on_stage(where, timelines(one, suite), one.name) for one in recordings]
    lanes: list[Lane] = [lane(where, part, c_max) for part in parts]
    for f, s in ordered:
        over = _Over(where, Duo(where, lanes[f], lanes[s]), bounds, ranges)
        fast, slow = recordings[f], recordings[s]
        found = _scores(over, rules, interval, (fast.name, slow.name), parts[f], parts[s])
        for score in found:
            yield replace(
                score,
                signature=_signature(fast, slow, suite, score),
                simulated=fast.simulated or slow.simulated,
                virtual_clock=fast.virtual_clock or slow.virtual_clock,
            )


def _scores(
    over: _Over,
    rules: tuple[str, ...],
    interval: float,
    names: tuple[str, str],
    fast: Sequence[Timeline],
    slow: Sequence[Timeline],
) -> list[PairScore]:
    where, duo = over.where, over.duo
    c = where.flat.tick / interval
    integrated = over.integrated(rules)
    families = list(dict.fromkeys(p.family for p in where.parts))
    by_level = {"overall": level_weights(where.parts, "overall")}
    by_level |= {family: level_weights(where.parts, family) for family in families}
    rows = np.eye(len(where.parts))
    found = []
    for rule in rules:
        path = path_at(duo, c, rule)
        now = shares_along(duo, path, where.flat, where.time, where.segment)
        area, in_ranges = integrated[rule]

        def level(
            name: str,
            weights: Floats,
            now: Floats = now,
            area: Floats = area,
            in_ranges: Floats = in_ranges,
        ) -> PairLevel:
            return PairLevel(
                name=name,
                at_interval=macro_shares(now[:, :SLOW_SHARE], duo.slow.untimed, weights),
                integrated=macro_shares(area[:, :SLOW_SHARE], duo.slow.untimed, weights),
                slow_share=float(weights @ now[:, SLOW_SHARE]),
                slow_share_integrated=float(weights @ area[:, SLOW_SHARE]),
                by_range=tuple(map(float, weights @ in_ranges)),
            )

        found.append(
            PairScore(
                fast=names[0],
                slow=names[1],
                rule=rule,
                interval=interval,
                bounds=over.bounds,
                overall=level("overall", by_level["overall"]),
                by_family={f: level(f, by_level[f]) for f in families},
                by_scenario={
                    p.episode_id: level(p.episode_id, row)
                    for p, row in zip(where.parts, rows, strict=True)
                },
                family_of={p.episode_id: p.family for p in where.parts},
                counts=count(duo, path),
                longest_stale_loss=longest_stale_loss(duo, path, c),
                fast_parts=fast,
                slow_parts=slow,
            )
        )
    return found


def _duo(
    where: Stage,
    fast: Sequence[Timeline],
    slow: Sequence[Timeline],
    bounds: Bounds,
    names: tuple[str, str] = ("fast", "slow"),
) -> Duo:
    c_max = where.flat.tick / bounds.low
    lanes = (
        lane(where, on_stage(where, part, name), c_max)
        for part, name in zip((fast, slow), names, strict=True)
    )
    return Duo(where, *lanes)


def _hull(bounds: Bounds, ranges: Sequence[Bounds]) -> Bounds:
    """The bounds and all ranges in one."""
    every = [bounds, *ranges]
    return Bounds(min(b.low for b in every), max(b.high for b in every), bounds.weighting)


def _signature(fast: Recording, slow: Recording, suite: Suite, score: PairScore) -> str:
    """How this pair's numbers were made, in one line."""
    simulated = [name for name, one in (("fast", fast), ("slow", slow)) if one.simulated]
    parts = {
        "suite": suite.dataset_hash[:12],
        "fast": fast.events_sha256[:12],
        "slow": slow.events_sha256[:12],
        "rule": score.rule,
        "scenarios": f"{len(score.by_scenario)}/{len(suite.scenarios)}",
        "protocol": "step-anchored",
        "interval": f"{score.interval:g}",
        "bounds": f"{score.bounds.low:g}-{score.bounds.high:g}",
        "weighting": score.bounds.weighting,
        "clock": "nominal",
        "time": "virtual" if fast.virtual_clock or slow.virtual_clock else "real",
        "simulated": "+".join(simulated) or "no",
        **{f"fast_{word}": value for word, value in conditions(fast.config).items()},
        **{f"slow_{word}": value for word, value in conditions(slow.config).items()},
        "sdb": __version__,
    }
    return " ".join(f"{key}:{value}" for key, value in parts.items())
