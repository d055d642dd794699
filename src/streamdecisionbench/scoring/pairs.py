"""Two components, one decision: what a fast and a slow one are worth together.

Both are asked at every step. The fast one's answers take effect while they are newest; the slow
one's as far as the rule lets older ones in. Replay keeps every recorded latency and puts both on one
nominal clock, so nothing is measured anew and nothing is sampled.

>>> import streamdecisionbench as sdb
>>> alone = sdb.example_recording()
>>> pair = compose_recordings(alone, alone, sdb.example_suite(), rule="freshest")[0]
>>> round(pair.in_force, 3), pair.counts.corrections
(0.6, 0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, permutations

import numpy as np

from streamdecisionbench._version import __version__
from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import CORRECT, RULES, pair_rule
from streamdecisionbench.recording.notes import unusual_settings
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.bounds import DEFAULT_BOUNDS, Bounds, check_interval
from streamdecisionbench.scoring.classes import LATER, shares_over
from streamdecisionbench.scoring.curves import Curve, curves
from streamdecisionbench.scoring.measure import Over
from streamdecisionbench.scoring.pair_sweep import (
    PairCounts,
    PairNodes,
    StaleLoss,
    count,
    longest_stale_loss,
    pair_members,
    pair_sweeps,
    pair_table,
    path_at,
)
from streamdecisionbench.scoring.score import (
    Level,
    Score,
    Shares,
    level_weights,
    macro_shares,
    score_timelines,
)
from streamdecisionbench.scoring.timeline import Floats, Timeline, timelines
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import find_suite


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
    counts: PairCounts
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
        parts = self.fast_parts, self.slow_parts
        pair = PairNodes(*pair_members(parts, (self.fast, self.slow), bounds.low))
        sweep = pair_sweeps(pair, bounds, (self.rule,))[self.rule]
        return curves(sweep, level_weights(pair.flat.parts, level), bounds, metrics)

    def in_force_at(self, interval: float) -> float:
        """A at another interval."""
        if interval == self.interval:
            return self.in_force
        parts = self.fast_parts, self.slow_parts
        pair = PairNodes(*pair_members(parts, (self.fast, self.slow), interval))
        table = pair_table(pair, path_at(pair, pair.flat.tick / interval, self.rule))
        return float(level_weights(pair.flat.parts, "overall") @ table[:, CORRECT].sum(axis=1))


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
    pair = PairNodes(*pair_members((fast, slow), names, _hull(bounds, ranges).low))
    return _scores(pair, (pair_rule(rule),), interval, bounds, ranges, names)[0]


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
    given_order: bool = False,
) -> list[PairScore]:
    """Every ordered pair of different recordings, each as fast and as slow, under the rules asked for.

    In the `given_order` of every two only the earlier one is the fast one.
    """
    limits = Bounds(bounds[0], bounds[1], weighting)
    every = range(len(recordings))
    ordered = list(combinations(every, 2) if given_order else permutations(every, 2))
    return list(
        _compose_each(recordings, ordered, suite, chosen_rules(rule), interval, limits, ranges)
    )


def chosen_rules(name: str) -> tuple[str, ...]:
    """`all`, or one rule by either spelling.

    >>> chosen_rules("lag-one"), len(chosen_rules("all"))
    (('lag_one',), 3)
    """
    return RULES if name == "all" else (pair_rule(name),)


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
    names = [one.name for one in recordings]
    parts = [timelines(one, suite) for one in recordings]
    members = pair_members(parts, names, _hull(bounds, ranges).low)
    for f, s in ordered:
        fast, slow = recordings[f], recordings[s]
        pair = PairNodes(members[f], members[s])
        for score in _scores(pair, rules, interval, bounds, ranges, (fast.name, slow.name)):
            yield replace(
                score,
                signature=_signature(fast, slow, suite, score),
                simulated=fast.simulated or slow.simulated,
                virtual_clock=fast.virtual_clock or slow.virtual_clock,
            )


def _scores(
    pair: PairNodes,
    rules: tuple[str, ...],
    interval: float,
    bounds: Bounds,
    ranges: Sequence[Bounds],
    names: tuple[str, str],
) -> list[PairScore]:
    parts, tick = pair.flat.parts, pair.flat.tick
    hull, untimed = _hull(bounds, ranges), pair.slow.untimed
    measures = [Over(one, tick) for one in (bounds, *ranges)]
    families = list(dict.fromkeys(p.family for p in parts))
    of_level = {name: level_weights(parts, name) for name in ("overall", *families)}
    alone = np.eye(len(parts))
    found = []
    for rule, sweep in pair_sweeps(pair, hull, rules).items():
        path = path_at(pair, tick / interval, rule)
        tables = pair_table(pair, path), *shares_over(sweep, measures)

        def level(name: str, weights: Floats, tables: Sequence[Floats] = tables) -> PairLevel:
            now, over, *narrower = tables
            return PairLevel(
                name=name,
                at_interval=macro_shares(now, untimed, weights),
                integrated=macro_shares(over, untimed, weights),
                slow_share=float(weights @ now[:, LATER]),
                slow_share_integrated=float(weights @ over[:, LATER]),
                by_range=tuple(float(weights @ one[:, CORRECT].sum(axis=1)) for one in narrower),
            )

        found.append(
            PairScore(
                fast=names[0],
                slow=names[1],
                rule=rule,
                interval=interval,
                bounds=bounds,
                overall=level("overall", of_level["overall"]),
                by_family={family: level(family, of_level[family]) for family in families},
                by_scenario={
                    p.episode_id: level(p.episode_id, row)
                    for p, row in zip(parts, alone, strict=True)
                },
                family_of={p.episode_id: p.family for p in parts},
                counts=count(pair, path),
                longest_stale_loss=longest_stale_loss(pair, path, tick / interval),
                fast_parts=parts,
                slow_parts=pair.slow.flat.parts,
            )
        )
    return found


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
        **{f"fast_{word}": value for word, value in unusual_settings(fast.config).items()},
        **{f"slow_{word}": value for word, value in unusual_settings(slow.config).items()},
        "sdb": __version__,
    }
    return " ".join(f"{key}:{value}" for key, value in parts.items())


# All pairs of a set of recordings: which is best, for which family, at which pace, and by how much.


@dataclass(frozen=True, slots=True)
class Best:
    """The best pair under one heading, and the best of the components alone."""

    pair: PairScore
    value: float
    alone: str
    alone_value: float

    @property
    def gain(self) -> float:
        """What the pair adds to the best single component; negative where no pair pays."""
        return self.value - self.alone_value


@dataclass(frozen=True, slots=True)
class Matrix:
    """Every recording alone and every ordered pair under every rule, on the nominal clock."""

    alone: Sequence[Score]
    pairs: Sequence[PairScore]
    ranges: Sequence[Bounds]
    best: Best
    by_family: Mapping[str, Best]
    by_range: Sequence[Best]
    """In the order of `ranges`."""

    def best_rule(self, fast: str, slow: str) -> PairScore:
        """The rule with the highest integrated score for one ordered pair."""
        found = [p for p in self.pairs if (p.fast, p.slow) == (fast, slow)]
        if not found:
            raise InputError(f"no pair of {fast!r} and {slow!r} was composed")
        return max(found, key=lambda p: p.log_auc)


def matrix(
    recordings: Sequence[Recording],
    suite: Suite | None = None,
    *,
    rule: str = "all",
    interval: float = 2.0,
    bounds: tuple[float, float] = DEFAULT_BOUNDS,
    weighting: str = "log",
) -> Matrix:
    """Composes all ordered pairs and finds the best by family and by octave of intervals."""
    if len(recordings) < 2:
        raise InputError("a pair needs two recordings", fix="give at least two")
    if suite is None:
        suite = find_suite(recordings[0].dataset_hash, near=recordings[0].path)
    limits = Bounds(bounds[0], bounds[1], weighting)
    ranges = octaves(limits)
    pairs = all_pairs(
        recordings, suite,
        rule=rule, interval=interval, bounds=bounds, weighting=weighting, ranges=ranges,
    )  # fmt: skip
    parts = [timelines(one, suite, clock="nominal") for one in recordings]

    def alone(over: Bounds) -> list[Score]:
        return [
            score_timelines(part, name=one.name, interval=interval, bounds=over, clock="nominal")
            for one, part in zip(recordings, parts, strict=True)
        ]

    whole = alone(limits)
    return Matrix(
        alone=whole,
        pairs=pairs,
        ranges=ranges,
        best=_best(pairs, whole, lambda p: p.log_auc, lambda s: s.log_auc),
        by_family={
            family: _best(pairs, whole, _family(family), _family(family))
            for family in whole[0].by_family
        },
        by_range=[
            _best(pairs, alone(over), _range(k), lambda s: s.log_auc)
            for k, over in enumerate(ranges)
        ],
    )


def octaves(bounds: Bounds) -> list[Bounds]:
    """The bounds cut at every doubling from the low end.

    >>> [b.text() for b in octaves(Bounds(0.5, 3))]
    ['log 0.5–1 s', 'log 1–2 s', 'log 2–3 s']
    """
    edges = [bounds.low]
    while edges[-1] * 2 < bounds.high * (1 - 1e-9):
        edges.append(edges[-1] * 2)
    edges.append(bounds.high)
    return [Bounds(a, b, bounds.weighting) for a, b in pairwise(edges)]


def _best(
    pairs: Sequence[PairScore],
    alone: Sequence[Score],
    of_pair: Callable[[PairScore], float],
    of_score: Callable[[Score], float],
) -> Best:
    pair = max(pairs, key=of_pair)
    single = max(alone, key=of_score)
    return Best(pair, of_pair(pair), single.name, of_score(single))


def _family(name: str) -> Callable[[PairScore | Score], float]:
    def value(score: PairScore | Score) -> float:
        level: PairLevel | Level = score.by_family[name]
        return level.log_auc

    return value


def _range(k: int) -> Callable[[PairScore], float]:
    return lambda pair: pair.overall.by_range[k]
