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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, permutations, repeat

from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import CORRECT, FAST, RULES, SLOW, pair_rule
from streamdecisionbench.recording.notes import unusual_settings
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.classes import LATER, shares_over
from streamdecisionbench.scoring.measure import Levels, family_weights, measure_over
from streamdecisionbench.scoring.pace_bounds import DEFAULT_BOUNDS, Bounds, check_interval
from streamdecisionbench.scoring.pair_sweep import (
    PairCounts,
    PairNodes,
    StaleLoss,
    count,
    longest_stale_loss,
    pair_members,
    pair_stretches,
    pair_sweeps,
    pair_table,
    path_at,
)
from streamdecisionbench.scoring.score import (
    ReplayLevel,
    Score,
    Scored,
    level_shares,
    score_timelines,
    signature_of,
    suite_of,
)
from streamdecisionbench.scoring.sweep import Sweep
from streamdecisionbench.scoring.timeline import Timeline, timelines
from streamdecisionbench.suite.scenario import Suite


@dataclass(frozen=True, slots=True)
class PairLevel(ReplayLevel):
    """A pair. `product` of the shares is the proxy U_slow·O: it has no untimed answer of its own."""

    slow_share: float
    """Share of observed time with a slow answer in force, at the interval."""
    slow_share_integrated: float
    by_range: tuple[float, ...] = ()
    """In-force accuracy over each of the ranges asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairScore(Scored[PairLevel]):
    """Everything `sdb compose` says about one pair under one rule."""

    fast: str
    slow: str
    rule: str
    counts: PairCounts
    longest_stale_loss: StaleLoss | None
    slow_parts: Sequence[Timeline]

    @property
    def log_auc(self) -> float:
        return self.overall.log_auc

    @property
    def slow_share(self) -> float:
        return self.overall.slow_share

    def swept(self, bounds: Bounds) -> Sweep:
        parts = self.parts, self.slow_parts
        pair = PairNodes(*pair_members(parts, (self.fast, self.slow), bounds.low))
        return pair_sweeps(pair, bounds, (self.rule,))[self.rule]

    def in_force_at(self, interval: float) -> float:
        """A at another interval."""
        if interval == self.interval:
            return self.in_force
        parts = self.parts, self.slow_parts
        pair = PairNodes(*pair_members(parts, (self.fast, self.slow), interval))
        table = pair_table(pair, path_at(pair, pair.flat.scale(interval), self.rule))
        return float(
            family_weights([p.family for p in pair.flat.parts]) @ table[:, CORRECT].sum(axis=1)
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
    return composed([fast, slow], suite, chosen_rules(rule), interval, limits, ranges, [(0, 1)])


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
    ordered = list(combinations(range(len(recordings)), 2)) if given_order else None
    return composed(recordings, suite, chosen_rules(rule), interval, limits, ranges, ordered)


def chosen_rules(name: str) -> tuple[str, ...]:
    """`all`, or one rule by either spelling.

    >>> chosen_rules("lag-one"), len(chosen_rules("all"))
    (('lag_one',), 3)
    """
    return RULES if name == "all" else (pair_rule(name),)


def composed(
    recordings: Sequence[Recording],
    suite: Suite | None,
    rules: tuple[str, ...],
    interval: float,
    bounds: Bounds,
    ranges: Sequence[Bounds] = (),
    ordered: Iterable[tuple[int, int]] | None = None,
) -> list[PairScore]:
    """All pairs or those named, (fast, slow), under each rule.

    What is computed per component is computed once, however many pairs it is in.
    """
    check_interval(interval)
    if len(recordings) < 2:
        raise InputError("a pair needs two recordings", fix="give at least two")
    suite = suite_of(recordings, suite)
    names = [one.name for one in recordings]
    parts = [timelines(one, suite) for one in recordings]
    members = pair_members(parts, names, _hull(bounds, ranges).low)
    found = []
    for f, s in permutations(range(len(recordings)), 2) if ordered is None else ordered:
        pair, both = PairNodes(members[f], members[s]), (recordings[f], recordings[s])
        for score in _scores(pair, rules, interval, bounds, ranges, (names[f], names[s])):
            found.append(_made_of(score, both, suite))
    return found


def _made_of(score: PairScore, both: tuple[Recording, Recording], suite: Suite) -> PairScore:
    """The score with what is to be said of its recordings."""
    roles = dict(zip((FAST, SLOW), both, strict=True))
    virtual = any(one.virtual_clock for one in both)
    simulated = [role for role, one in roles.items() if one.simulated]
    who = {**{role: one.events_sha256[:12] for role, one in roles.items()}, "rule": score.rule}
    made = {
        "time": "virtual" if virtual else "real",
        "simulated": "+".join(simulated) or "no",
        **{
            f"{role}_{word}": value
            for role, one in roles.items()
            for word, value in unusual_settings(one.config, one.failures).items()
        },
    }
    signature = signature_of(suite, score, who, made)
    return replace(score, signature=signature, simulated=bool(simulated), virtual_clock=virtual)


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
    measures = [measure_over(one, tick, pair.flat.alone) for one in (bounds, *ranges)]
    scale = pair.flat.scale(interval)
    levels = Levels(parts)
    found = []
    for rule, sweep in pair_sweeps(pair, hull, rules).items():
        path = path_at(pair, scale, rule)
        held = pair_stretches(pair, path)
        now, (over, *narrower) = pair_table(pair, path, held=held), shares_over(sweep, measures)
        by_range = [levels.means(one[:, CORRECT].sum(axis=1)).tolist() for one in narrower]
        rows = zip(
            levels.names,
            level_shares(levels, now, untimed),
            level_shares(levels, over, untimed, own_pace=pair.flat.alone),
            levels.means(now[:, LATER]).tolist(),
            levels.means(over[:, LATER]).tolist(),
            zip(*by_range, strict=True) if by_range else repeat((), len(levels.names)),
            strict=True,
        )
        found.append(
            PairScore(
                *levels.split([PairLevel(*row) for row in rows]),
                fast=names[0],
                slow=names[1],
                rule=rule,
                interval=interval,
                bounds=bounds,
                clock="nominal",
                family_of=levels.family_of,
                counts=count(pair, path),
                longest_stale_loss=longest_stale_loss(pair, path, scale, held),
                parts=parts,
                slow_parts=pair.slow.flat.parts,
            )
        )
    return found


def _hull(bounds: Bounds, ranges: Sequence[Bounds]) -> Bounds:
    """The bounds and all ranges in one."""
    every = [bounds, *ranges]
    return Bounds(min(b.low for b in every), max(b.high for b in every), bounds.weighting)


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
    limits = Bounds(bounds[0], bounds[1], weighting)
    ranges = octaves(limits)
    pairs = composed(recordings, suite, chosen_rules(rule), interval, limits, ranges)
    suite = suite_of(recordings, suite)
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
        best=_best(pairs, whole),
        by_family={family: _best(pairs, whole, family) for family in whole[0].by_family},
        by_range=[_best(pairs, alone(over), nth=k) for k, over in enumerate(ranges)],
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
    level: str = "overall",
    nth: int | None = None,
) -> Best:
    """At a level over the bounds, or over the nth of the ranges, for which `alone` was scored."""

    def value(pair: PairScore) -> float:
        found = pair.at(level)
        return found.log_auc if nth is None else found.by_range[nth]

    pair, single = max(pairs, key=value), max(alone, key=lambda one: one.at(level).log_auc)
    return Best(pair, value(pair), single.name, single.at(level).log_auc)
