"""A pair recorded live: what really was in force, beside its replay, and what sharing cost.

The joint log holds both components' answers and which of them took effect when. Its two halves, put
on the nominal clock like any two recordings, replay the recorded rule (a check of the replay) and
the others (what they would have been worth). Two recordings made alone show what running together
cost: longer latencies, and the score they take with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    JoinedTimelines,
    Timeline,
)
from streamdecisionbench.kernel.levels import Levels
from streamdecisionbench.kernel.paces import (
    DEFAULT_BOUNDS,
    Bounds,
    bounds_for,
)
from streamdecisionbench.kernel.pair_trajectory import (
    PairNodes,
    PairPath,
    count,
    pair_members,
    pair_table,
    path_at,
    path_trajectory,
)
from streamdecisionbench.kernel.rule import (
    FAST,
    RULES,
    SLOW,
    pair_rule,
)
from streamdecisionbench.kernel.shares import level_shares
from streamdecisionbench.kernel.trajectory import in_force_until
from streamdecisionbench.policies.policy_file import Cascade, Policy
from streamdecisionbench.recording.event_log import Response
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.latency import latency
from streamdecisionbench.scoring.pairs import composed
from streamdecisionbench.scoring.result import LIVE_PAIR, Result, as_it_happened, live_levels
from streamdecisionbench.scoring.score import score_timelines, suite_of, took_effect
from streamdecisionbench.scoring.timelines import timelines
from streamdecisionbench.suite.scenario import Suite


class AloneAndJoint(NamedTuple):
    """The same component or pair, from recordings made separately and from the joint one."""

    alone: Result
    joint: Result

    @property
    def in_force_cost(self) -> float:
        """What running together cost."""
        return self.alone.in_force - self.joint.in_force

    @property
    def auc_cost(self) -> float:
        return self.alone.log_auc - self.joint.log_auc


def halves_of(joint: Recording) -> tuple[Recording, Recording]:
    """The fast and the slow component's recordings within a joint one, named after the components."""
    if not {FAST, SLOW} <= set(joint.halves):
        raise InputError(
            "is the recording of one component, not of a pair",
            where=joint.path or joint.name,
            fix="give two recordings with --fast and --slow, or one made by `sdb run --member fast=… --member slow=…`",
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
) -> Result:
    """Scores a joint recording: as it happened, and replayed under every rule."""
    fast, slow = halves_of(joint)
    suite, rule = suite_of([joint], suite), _rule(joint)
    recorded = timelines(fast, suite, clock="published")
    both = recorded, timelines(slow, suite, clock="published")
    pair = PairNodes(*pair_members(both, (fast.name, slow.name), np.inf))
    path = _recorded_path(pair, recorded, fast, slow)
    clock = JoinedTimelines(recorded, both)
    table = pair_table(pair, path, clock)
    levels, untimed = Levels(recorded), pair.slow.untimed
    as_recorded = np.ones(pair.flat.count)
    replayed = {name: pair_table(pair, path_at(pair, as_recorded, name)) for name in RULES}
    limits = bounds_for(recorded, bounds, weighting)
    names = fast.name, slow.name
    return Result(
        *live_levels(levels, table, untimed),
        kind=LIVE_PAIR,
        name=joint.name,
        members=names,
        policy=Policy(rule, cascade=Cascade(names, rule=rule)),
        interval=float(recorded[0].tick),
        bounds=limits,
        clock="published",
        family_of=levels.family_of,
        parts=recorded,
        replay=partial(as_it_happened, path_trajectory(pair, path, as_recorded, clock)),
        counts=count(pair, path),
        replayed={r: level_shares(levels, found, untimed)[0] for r, found in replayed.items()},
        replays=composed([fast, slow], suite, RULES, interval, limits, ordered=[(0, 1)]),
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
) -> dict[str, AloneAndJoint]:
    """A joint recording against two of the same components made alone: `fast`, `slow` and the `pair`.

    The pair is composed under the recorded rule both times; all scores are on the nominal clock.
    """
    fast, slow = halves_of(joint)
    suite, rules = suite_of([joint], suite), (_rule(joint),)
    limits = Bounds(bounds[0], bounds[1], weighting)

    def scored(recording: Recording, name: str) -> Result:
        parts = timelines(recording, suite, clock="nominal")
        found = score_timelines(parts, name=name, interval=interval, bounds=limits, clock="nominal")
        return replace(found, latency=latency(list(recording.episodes.values())))

    def pair(*both: Recording) -> Result:
        return composed(both, suite, rules, interval, limits, ordered=[(0, 1)])[0]

    return {
        FAST: AloneAndJoint(scored(fast_alone, fast.name), scored(fast, fast.name)),
        SLOW: AloneAndJoint(scored(slow_alone, slow.name), scored(slow, slow.name)),
        "pair": AloneAndJoint(pair(fast_alone, slow_alone), pair(fast, slow)),
    }


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
