"""A pair's shares over a range of intervals: closed forms on cells, as for one component.

At scale c the time in force of every class is a sum over boundaries b (acceptances and the horizon)

    Σ_b  F_holder(b)(u_b(c)) − F_b(u_b(c)),

F_a(t) being the share of [r_0, t) that falls into the class if a were in force: the holder's time
ends where b's begins. Each term is piecewise α + β·c with knots where u_b(c) passes a release, and
an acceptance that comes or goes as c grows is an end of its cells: the jumps of the pace curve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench._version import __version__
from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import RULES, pair_rule
from streamdecisionbench.recording.conditions import conditions
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.bounds import DEFAULT_BOUNDS, Bounds, check_interval
from streamdecisionbench.scoring.classes import CLASSES, N_METRICS, classify
from streamdecisionbench.scoring.integrals import METRICS, Curve, Pieces, curves_of
from streamdecisionbench.scoring.pair_sweep import (
    SLOW_SHARE,
    Cells,
    Duo,
    PairCounts,
    PairLane,
    Scales,
    Stage,
    StaleLoss,
    cells,
    count,
    lane,
    longest_stale_loss,
    on_stage,
    path_at,
    scales,
    shares_along,
    stage,
)
from streamdecisionbench.scoring.score import (
    Level,
    Score,
    Shares,
    level_weights,
    macro_shares,
    score_timelines,
)
from streamdecisionbench.scoring.timeline import Floats, Ints, Timeline, timelines
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import find_suite

_CURRENT, _CORRECT, _TOTAL, _SEGMENT = range(4)
_WAITING = 4
"""Kinds of holder: wrong fast, right fast, wrong slow, right slow, nothing yet."""


@dataclass(frozen=True, slots=True)
class Terms:
    """On [low, high] a term adds `alpha` + `beta`·c of four measures to what its holder is worth.

    The measures: time its source is current, time its decision is correct, all time, and correct
    time weighted for segment balance.
    """

    scenario: Ints
    kind: Ints
    low: Floats
    high: Floats
    alpha: tuple[Floats, Floats, Floats, Floats]
    beta: tuple[Floats, Floats, Floats, Floats]


def terms(duo: Duo, cells: Cells, sign: float = 1.0) -> Terms:
    """sign · F_holder(u_until(c)) over each cell, split where u_until(c) passes a release."""
    flat, stage = duo.stage.flat, duo.stage
    at_horizon = cells.until < 0
    r = np.where(at_horizon, flat.H[cells.scenario], duo.r[cells.until])
    L = np.where(at_horizon, 0.0, duo.latency[cells.until])
    first = _step(stage, r + cells.low * L, cells.scenario)
    last = np.maximum(_step(stage, r + cells.high * L, cells.scenario), first)
    # Before the first acceptance only time passes, whatever the reference.
    count = np.where(cells.holder < 0, 1, last - first + 1)
    row = np.repeat(np.arange(len(count)), count)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    step = first[row] + nth
    r, L, low, high = r[row], L[row], cells.low[row], cells.high[row]
    with np.errstate(divide="ignore", invalid="ignore"):
        enters = np.where(nth > 0, (flat.r[step] - r) / L, low)
        leaves = np.where(nth < count[row] - 1, (flat.step_end[step] - r) / L, high)
    enters, leaves = np.clip(enters, low, high), np.clip(leaves, low, high)

    holder, scenario = cells.holder[row], cells.scenario[row]
    waiting = holder < 0
    never = stage.never[step]
    y, p = (np.where(waiting, never, decision[holder]) for decision in (duo.y, duo.p))
    kind = np.where(waiting, _WAITING, 2 * (holder >= duo.n) + duo.right[holder])
    weight, balance = flat.time_weight[step] * sign, flat.segment_weight[step] * sign
    since = r - flat.r[step]
    here_y = np.where(flat.y[step] == y, weight, 0.0)
    here_p = flat.y[step] == p
    here_s, here_p = np.where(here_p, balance, 0.0), np.where(here_p, weight, 0.0)
    before_y = sign * stage.time.before(y, step)
    position = stage.time.position(p, step)
    before_p = sign * stage.time.before(p, step, position)
    before_s = sign * stage.segment.before(p, step, position)
    return Terms(
        scenario,
        kind,
        enters,
        leaves,
        alpha=(
            before_y + since * here_y,
            before_p + since * here_p,
            r * weight,
            before_s + since * here_s,
        ),
        beta=(L * here_y, L * here_p, L * weight, L * here_s),
    )


def own(duo: Duo, slow: bool, accepted_below: Floats, at: Scales) -> Cells:
    """Each accepted answer at its own arrival: where its time in force begins."""
    scenario = duo.stage.flat.scenario
    step = np.flatnonzero(at.low[scenario] < np.minimum(accepted_below, at.high[scenario]))
    node = step + duo.n if slow else step
    scenario = scenario[step]
    return Cells(
        scenario,
        node,
        node,
        np.full(len(node), -1),
        at.low[scenario],
        np.minimum(accepted_below[step], at.high[scenario]),
    )


def integrate_terms(stage: Stage, parts: Sequence[Terms], bounds: Bounds) -> Floats:
    """Six classes, segment-balanced accuracy and slow share per scenario, over the bounds."""
    flat = stage.flat
    sums = np.zeros((4, flat.count * 5))
    for part in parts:
        on_alpha, on_beta = _areas(part.low, part.high, bounds)
        key = part.scenario * 5 + part.kind
        for measure in range(4):
            values = part.alpha[measure] * on_alpha + part.beta[measure] * on_beta
            sums[measure] += np.bincount(key, weights=values, minlength=flat.count * 5)
    sums = sums.reshape(4, flat.count, 5) * _norm(stage, bounds)[:, None]
    current, correct, total, segment = sums
    out = np.zeros((flat.count, SLOW_SHARE + 1))
    for kind in range(_WAITING):
        right = np.full(flat.count, kind % 2 == 1)
        shares = classify(right, current[:, kind], correct[:, kind], total[:, kind])
        out[:, : len(CLASSES)] += np.stack(shares, axis=1)
    out[:, CLASSES.index("no_decision")] = total[:, _WAITING]
    out[:, len(CLASSES)] = segment.sum(axis=1)
    out[:, SLOW_SHARE] = total[:, 2] + total[:, 3]
    return out


def integrate_in_force(stage: Stage, parts: Sequence[Terms], ranges: Sequence[Bounds]) -> Floats:
    """In-force accuracy per scenario (rows) over several ranges of intervals (columns)."""
    flat = stage.flat
    out = np.zeros((flat.count, len(ranges)))
    for column, bounds in enumerate(ranges):
        for part in parts:
            tick = flat.tick[part.scenario]
            low = np.maximum(part.low, tick / bounds.high)
            high = np.minimum(part.high, tick / bounds.low)
            inside = low < high
            on_alpha, on_beta = _areas(low[inside], high[inside], bounds)
            values = part.alpha[_CORRECT][inside] * on_alpha + part.beta[_CORRECT][inside] * on_beta
            out[:, column] += flat.sum_by_scenario(values, part.scenario[inside])
        out[:, column] *= _norm(stage, bounds)
    return out


def pieces_of(parts: Sequence[Terms]) -> Pieces:
    """The terms as pieces of the six classes, segment-balanced accuracy and slow share."""

    def columns(part: Terms, measures: tuple[Floats, ...]) -> Floats:
        waiting, right = part.kind == _WAITING, part.kind % 2 == 1
        current, correct, total, segment = measures
        out = np.zeros((len(part.low), SLOW_SHARE + 1))
        out[:, : len(CLASSES)] = np.stack(classify(right, current, correct, total), axis=1)
        out[waiting] = 0.0
        out[waiting, CLASSES.index("no_decision")] = total[waiting]
        out[:, N_METRICS - 1] = segment
        slow: NDArray[np.bool_] = (part.kind == 2) | (part.kind == 3)
        out[:, SLOW_SHARE] = np.where(slow, total, 0.0)
        return out

    return Pieces(
        np.concatenate([part.scenario for part in parts]),
        np.concatenate([part.low for part in parts]),
        np.concatenate([part.high for part in parts]),
        np.concatenate([columns(part, part.alpha) for part in parts]),
        np.concatenate([columns(part, part.beta) for part in parts]),
    )


def _step(stage: Stage, time: Floats, scenario: Ints) -> Ints:
    """The step whose evidence holds at a time: where releases are i · tick, a division finds it."""
    flat = stage.flat
    if not stage.regular:
        return flat.locate(time, scenario)
    step = (time / flat.tick[scenario]).astype(np.int64)
    found: Ints = flat.first[scenario] + np.clip(step, 0, flat.n[scenario] - 1)
    return found


def _areas(low: Floats, high: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
    """∫ dΔ of 1 and of c, with the weighting's measure, up to `_norm`."""
    ratio = np.log(high / low)
    if bounds.weighting == "log":
        return ratio, high - low
    return (high - low) / (low * high), ratio


def _norm(stage: Stage, bounds: Bounds) -> Floats:
    if bounds.weighting == "log":
        return np.full(stage.flat.count, 1.0 / np.log(bounds.high / bounds.low))
    norm: Floats = stage.flat.tick / (bounds.high - bounds.low)
    return norm


# Two components, one decision: what a fast and a slow one are worth together.
#
# Both are asked at every step. The fast one's answers take effect while they are newest; the slow
# one's as far as the rule lets older ones in. Replay keeps every recorded latency and puts both on one
# nominal clock, so nothing is measured anew and nothing is sampled.
#
# >>> import streamdecisionbench as sdb
# >>> from streamdecisionbench.scoring.pairs import compose_recordings
# >>> alone = sdb.example_recording()
# >>> pair = compose_recordings(alone, alone, sdb.example_suite(), rule="freshest")[0]
# >>> round(pair.in_force, 3), pair.counts.corrections
# (0.6, 0)


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
    lanes: list[PairLane] = [lane(where, part, c_max) for part in parts]
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
