"""A pair recorded live: what really was in force, beside its replay, and what sharing cost.

The joint log holds both components' answers and which of them took effect when. Its two halves, put
on the nominal clock like any two recordings, replay the recorded rule (a check of the replay) and
the others (what they would have been worth). Two recordings made alone show what running together
cost: longer latencies, and the score they take with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import FAST, RULES, SLOW, pair_rule
from streamdecisionbench.recording.event_log import Response
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.classes import LATER
from streamdecisionbench.scoring.latency import Latency, latency
from streamdecisionbench.scoring.measure import Levels
from streamdecisionbench.scoring.pace_bounds import DEFAULT_BOUNDS, Bounds
from streamdecisionbench.scoring.pair_sweep import (
    PairCounts,
    PairNodes,
    PairPath,
    count,
    pair_members,
    pair_table,
    path_at,
)
from streamdecisionbench.scoring.pairs import PairScore, composed
from streamdecisionbench.scoring.score import (
    Lived,
    Shares,
    level_shares,
    score_timelines,
    suite_of,
    took_effect,
)
from streamdecisionbench.scoring.sweep import in_force_until
from streamdecisionbench.scoring.timeline import Flat, Timeline, timelines
from streamdecisionbench.suite.scenario import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePair(Lived):
    """A pair, and the replays of its halves at the recorded pace."""

    fast: str
    slow: str
    rule: str
    slow_share: float
    counts: PairCounts
    replayed: Mapping[str, Shares]
    """By rule, overall, at the pace of the recording."""
    pairs: Sequence[PairScore]
    """The halves composed under every rule at the interval and bounds asked for."""

    @property
    def gap(self) -> float:
        """In-force accuracy as recorded minus its replay under the same rule."""
        return self.recorded.in_force - self.replayed[self.rule].in_force


@dataclass(frozen=True, slots=True)
class PartCost:
    """One component alone and in company; scores are its own, on the nominal clock."""

    name: str
    alone: Latency
    joint: Latency
    alone_in_force: float
    joint_in_force: float
    alone_auc: float
    joint_auc: float


@dataclass(frozen=True, slots=True)
class Contention:
    """What running together cost. The pair is composed under the recorded rule both times."""

    fast: PartCost
    slow: PartCost
    pair_alone: PairScore
    pair_joint: PairScore

    @property
    def in_force_cost(self) -> float:
        return self.pair_alone.in_force - self.pair_joint.in_force

    @property
    def auc_cost(self) -> float:
        return self.pair_alone.log_auc - self.pair_joint.log_auc


def halves_of(joint: Recording) -> tuple[Recording, Recording]:
    """The fast and the slow component's recordings within a joint one, named after the components."""
    if not {FAST, SLOW} <= set(joint.halves):
        raise InputError(
            "is the recording of one component, not of a pair",
            where=joint.path or joint.name,
            fix="give two recordings with --fast and --slow, or one made by `sdb run --fast … --slow …`",
        )

    def half(role: str) -> Recording:
        described = joint.config.get(role)
        name = described.get("component") if isinstance(described, Mapping) else None
        return replace(joint.halves[role], name=str(name) if name else joint.halves[role].name)

    return half(FAST), half(SLOW)


def live_pair(
    joint: Recording,
    suite: Suite | None = None,
    *,
    interval: float = 2.0,
    bounds: tuple[float, float] = DEFAULT_BOUNDS,
    weighting: str = "log",
) -> LivePair:
    """Scores a joint recording: as it happened, and replayed under every rule."""
    fast, slow = halves_of(joint)
    suite, rule = suite_of([joint], suite), _rule(joint)
    recorded = timelines(fast, suite, clock="published")
    both = recorded, timelines(slow, suite, clock="published")
    pair = PairNodes(*pair_members(both, (fast.name, slow.name), np.inf))
    path = _recorded_path(pair, recorded, fast, slow)
    table = pair_table(pair, path, Flat(recorded, both))
    levels, untimed = Levels(recorded), pair.slow.untimed
    as_recorded = np.ones(pair.flat.count)
    replayed = {name: pair_table(pair, path_at(pair, as_recorded, name)) for name in RULES}
    limits = Bounds(*bounds, weighting, alone=joint.lived_at_s is not None)
    return LivePair(
        *levels.split(level_shares(levels, table, untimed)),
        name=joint.name,
        fast=fast.name,
        slow=slow.name,
        rule=rule,
        slow_share=float(levels.means(table[:, LATER])[0]),
        counts=count(pair, path),
        replayed={r: level_shares(levels, found, untimed)[0] for r, found in replayed.items()},
        pairs=composed([fast, slow], suite, RULES, interval, limits, ordered=[(0, 1)]),
    )


def contention(
    joint: Recording,
    fast_alone: Recording,
    slow_alone: Recording,
    suite: Suite | None = None,
    *,
    interval: float = 2.0,
    bounds: tuple[float, float] = DEFAULT_BOUNDS,
    weighting: str = "log",
) -> Contention:
    """A joint recording against two of the same components made alone."""
    fast, slow = halves_of(joint)
    suite, rules = suite_of([joint], suite), (_rule(joint),)
    limits = Bounds(bounds[0], bounds[1], weighting)

    def part(alone: Recording, half: Recording) -> PartCost:
        one, two = (
            score_timelines(
                timelines(recording, suite, clock="nominal"), interval=interval, bounds=limits
            )
            for recording in (alone, half)
        )
        alone_s, joint_s = (latency(list(x.episodes.values())) for x in (alone, half))
        figures = one.in_force, two.in_force, one.log_auc, two.log_auc
        return PartCost(half.name, alone_s, joint_s, *figures)

    pair_alone, pair_joint = (
        composed(two, suite, rules, interval, limits, ordered=[(0, 1)])[0]
        for two in ([fast_alone, slow_alone], [fast, slow])
    )
    return Contention(part(fast_alone, fast), part(slow_alone, slow), pair_alone, pair_joint)


def _rule(joint: Recording) -> str:
    return pair_rule(str(joint.config.get("rule") or RULES[0]))


def _recorded_path(
    pair: PairNodes, recorded: Sequence[Timeline], fast: Recording, slow: Recording
) -> PairPath:
    """The answers that took effect, when they did. At equal times the slow one stays."""
    flat, episodes = pair.flat, [part.episode_id for part in recorded]
    scenario, component, step, begin = took_effect((fast, slow), episodes, flat.H)
    node = component * pair.n + flat.first[scenario] + step
    until = in_force_until(begin, scenario, flat.H)
    refused = sum(_refused(slow.episodes[p.episode_id].responses, p.horizon) for p in recorded)
    return PairPath(node, scenario, begin, until, refused)


def _refused(responses: Sequence[Response], horizon: float) -> int:
    """Answers that were their component's newest when they arrived and were still turned away."""
    newest, refused = -1, 0
    for response in sorted(responses, key=lambda r: (r.actual_recorded_s, -r.t)):
        if response.actual_recorded_s < horizon and response.t > newest:
            newest = response.t
            refused += not response.accepted
    return refused
