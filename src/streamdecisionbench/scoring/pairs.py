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

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, pairwise, permutations, repeat

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import Timeline, fixed_pace
from streamdecisionbench.kernel.classes import CORRECT
from streamdecisionbench.kernel.levels import (
    Levels,
    family_weights,
)
from streamdecisionbench.kernel.paces import (
    DEFAULT_BOUNDS,
    Bounds,
    check_interval,
)
from streamdecisionbench.kernel.pair_trajectory import (
    PairNodes,
    count,
    longest_stale_loss,
    pair_members,
    pair_stretches,
    pair_table,
    pair_trajectories,
    pair_trajectory,
    pair_trajectory_over,
    path_at,
)
from streamdecisionbench.kernel.rule import (
    FAST,
    RULES,
    SLOW,
    pair_rule,
)
from streamdecisionbench.kernel.shares import level_shares, shares_over
from streamdecisionbench.kernel.trajectory import Trajectory
from streamdecisionbench.policies.policy_file import Cascade, Policy
from streamdecisionbench.recording.provenance_notes import unusual_settings
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.counterfactual import (
    Counterfactual,
    changed_parts,
    counterfactuals,
)
from streamdecisionbench.scoring.result import PAIR, Level, Result
from streamdecisionbench.scoring.score import score_timelines, signature_of, suite_of
from streamdecisionbench.scoring.timelines import timelines
from streamdecisionbench.suite.scenario import Suite

Members = Sequence[Sequence[Timeline]]
"""A fast and a slow component's timelines."""


def pair_in_force(members: Members, rule: str, interval: float) -> float:
    """A(Δ) of a pair; `members` fit each other, on one nominal clock."""
    pair = PairNodes(*pair_members(members, (FAST, SLOW), math.inf))
    table = pair_table(pair, path_at(pair, pair.flat.scale(interval), rule))
    weights = family_weights([p.family for p in pair.flat.parts])
    return float(weights @ table[:, CORRECT].sum(axis=1))


def pair_counterfactuals(
    members: Members, names: Sequence[str], rule: str, interval: float, recorded: float
) -> list[Counterfactual]:
    """The pair with changed members. A session in a world would have gone another way: none there."""
    if fixed_pace(members[0]):
        return []
    return counterfactuals(
        names,
        members,
        changed_parts,
        lambda changed: pair_in_force(changed, rule, interval),
        recorded,
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
) -> Result:
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
) -> list[Result]:
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
) -> list[Result]:
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
) -> list[Result]:
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


def _made_of(score: Result, both: tuple[Recording, Recording], suite: Suite) -> Result:
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
) -> list[Result]:
    both, hull = (pair.fast.flat.parts, pair.slow.flat.parts), _hull(bounds, ranges)
    scale, untimed = pair.flat.scale(interval), pair.slow.untimed
    levels = Levels(both[0])
    shown = names if names[0] != names[1] else (f"{names[0]} ({FAST})", f"{names[1]} ({SLOW})")
    found = []
    for rule, sweep in pair_trajectories(pair, hull, rules).items():
        path = path_at(pair, scale, rule)
        held = pair_stretches(pair, path)
        now = pair_table(pair, path, held=held)
        measures = [sweep.weights(one) for one in (bounds, *ranges)]
        over, *narrower = shares_over(sweep, measures)
        by_range = [levels.means(one[:, CORRECT].sum(axis=1)).tolist() for one in narrower]
        rows = zip(
            levels.names,
            level_shares(levels, now, untimed),
            level_shares(levels, over, untimed, fixed_pace=sweep.fixed_pace),
            zip(*by_range, strict=True) if by_range else repeat((), len(levels.names)),
            strict=True,
        )
        whole, by_family, by_scenario = levels.split(
            [Level(name, at, mean, by_range=narrow) for name, at, mean, narrow in rows]
        )
        found.append(
            Result(
                whole,
                by_family,
                by_scenario,
                kind=PAIR,
                name=f"{names[0]} + {names[1]}",
                members=names,
                policy=Policy(rule, cascade=Cascade(names, rule=rule)),
                interval=interval,
                bounds=bounds,
                clock="nominal",
                family_of=levels.family_of,
                counts=count(pair, path),
                longest_stale_loss=longest_stale_loss(pair, path, scale, held),
                parts=both[0],
                replay=partial(_replay, both, rule),
                would_help=partial(
                    pair_counterfactuals, both, shown, rule, interval, whole.in_force
                ),
            )
        )
    return found


def _replay(members: Members, rule: str, over: float | Bounds) -> Trajectory:
    if isinstance(over, Bounds):
        return pair_trajectory_over(members[0], members[1], rule, over)
    return pair_trajectory(members[0], members[1], rule, over)


def _hull(bounds: Bounds, ranges: Sequence[Bounds]) -> Bounds:
    """The bounds and all ranges in one."""
    every = [bounds, *ranges]
    return Bounds(min(b.low for b in every), max(b.high for b in every), bounds.weighting)


# All pairs of a set of recordings: which is best, for which family, at which pace, and by how much.


@dataclass(frozen=True, slots=True)
class Best:
    """The best pair under one heading, and the best of the components alone."""

    pair: Result
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

    alone: Sequence[Result]
    pairs: Sequence[Result]
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

    def alone(over: Bounds) -> list[Result]:
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
    pairs: Sequence[Result],
    alone: Sequence[Result],
    level: str = "overall",
    nth: int | None = None,
) -> Best:
    """At a level over the bounds, or over the nth of the ranges, for which `alone` was scored."""

    def value(pair: Result) -> float:
        found = pair.at(level)
        return found.log_auc if nth is None else found.by_range[nth]

    pair, single = max(pairs, key=value), max(alone, key=lambda one: one.at(level).log_auc)
    return Best(pair, value(pair), single.name, single.at(level).log_auc)
