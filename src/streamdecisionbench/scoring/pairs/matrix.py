"""All pairs of a set of recordings: which is best, for which family, at which pace, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.bounds import DEFAULT_BOUNDS, Bounds
from streamdecisionbench.scoring.pairs.compose import PairLevel, PairScore, all_pairs
from streamdecisionbench.scoring.score import Level, Score, score_timelines
from streamdecisionbench.scoring.timeline import timelines
from streamdecisionbench.suite.find_suite import find_suite
from streamdecisionbench.suite.scenario import Suite

__all__ = ["Best", "Matrix", "matrix", "octaves"]


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
