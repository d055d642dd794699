"""What one subject had in force, ready to be charged: at an interval, and over bounds.

A *course* is made once from a recording, a pair or a policy; spells, delays, changes, acts and costs
all read the same cuts of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from streamdecisionbench.policy_file import Policy
from streamdecisionbench.scoring.bounds import Bounds, check_interval
from streamdecisionbench.scoring.costs.calm import Calm, calm_of
from streamdecisionbench.scoring.costs.moving_spells import MovingSpells, moving_spells
from streamdecisionbench.scoring.costs.spells import Spells, spells_of
from streamdecisionbench.scoring.costs.stretches import (
    MovingStretches,
    Stretches,
    moving_stretches,
    stretches,
)
from streamdecisionbench.scoring.pairs.pair_trajectory import pair_sweep, pair_trajectory
from streamdecisionbench.scoring.policies.policy_trajectory import policy_sweep, policy_trajectory
from streamdecisionbench.scoring.policies.read_answers import Setting
from streamdecisionbench.scoring.policies.scene import Answers
from streamdecisionbench.scoring.score import family_weights
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints, Timeline
from streamdecisionbench.scoring.trajectory import Sweep, Trajectory, sweep_of, trajectory_at

__all__ = ["ByLevel", "Course", "by_level", "course_of", "course_of_pair", "course_of_policy"]

T = TypeVar("T")


@dataclass(frozen=True)
class Course:
    """A trajectory at an interval and the sweep over bounds, with the names of its scenarios."""

    path: Trajectory
    sweep: Sweep
    episodes: Sequence[str]
    families: Sequence[str]
    interval: float
    bounds: Bounds

    @cached_property
    def cut(self) -> Stretches:
        return stretches(self.path)

    @cached_property
    def moving_cut(self) -> MovingStretches:
        return moving_stretches(self.sweep)

    @cached_property
    def spells(self) -> Spells:
        return spells_of(self.path, self.cut)

    @cached_property
    def calm(self) -> Calm:
        return calm_of(self.sweep, self.moving_cut)

    @cached_property
    def moving_spells(self) -> MovingSpells:
        return moving_spells(self.calm)

    @property
    def judged(self) -> Floats:
        """T on the recording clock."""
        return self.calm.judged


@dataclass(frozen=True, slots=True)
class ByLevel(Generic[T]):
    """The whole, every family, every scenario."""

    overall: T
    by_family: Mapping[str, T]
    by_scenario: Mapping[str, T]

    def at(self, level: str) -> T:
        """By name, as in a score."""
        if level == "overall":
            return self.overall
        return self.by_family[level] if level in self.by_family else self.by_scenario[level]


def course_of(parts: Sequence[Timeline], interval: float, bounds: Bounds) -> Course:
    """One component in replay."""
    check_interval(interval)
    flat = Flat(parts)
    return Course(
        trajectory_at(flat, interval),
        sweep_of(flat, flat.tick / bounds.high, flat.tick / bounds.low),
        [p.episode_id for p in parts],
        [p.family for p in parts],
        interval,
        bounds,
    )


def course_of_pair(
    fast: Sequence[Timeline], slow: Sequence[Timeline], rule: str, interval: float, bounds: Bounds
) -> Course:
    """Two components under a rule, in replay on the nominal clock."""
    check_interval(interval)
    return Course(
        pair_trajectory(fast, slow, rule, interval),
        pair_sweep(fast, slow, rule, bounds),
        [p.episode_id for p in fast],
        [p.family for p in fast],
        interval,
        bounds,
    )


def course_of_policy(
    policy: Policy,
    components: Sequence[Answers],
    interval: float,
    bounds: Bounds,
    setting: Setting | None = None,
) -> Course:
    """Components under a policy, in replay; several on the nominal clock."""
    check_interval(interval)
    parts = components[0].parts
    return Course(
        policy_trajectory(policy, components, interval, setting),
        policy_sweep(policy, components, bounds, setting),
        [p.episode_id for p in parts],
        [p.family for p in parts],
        interval,
        bounds,
    )


def by_level(course: Course, measure: Callable[[Ints, Floats], T]) -> ByLevel[T]:
    """`measure(scenarios, weights)` for the whole, families and scenarios; weights sum to one."""
    families = list(dict.fromkeys(course.families))
    every = np.arange(len(course.episodes))
    of_family = np.array([families.index(f) for f in course.families])

    def family(k: int) -> T:
        mine = every[of_family == k]
        return measure(mine, np.full(len(mine), 1.0 / len(mine)))

    return ByLevel(
        overall=measure(every, family_weights(list(course.families))),
        by_family={name: family(k) for k, name in enumerate(families)},
        by_scenario={
            name: measure(every[k : k + 1], np.ones(1)) for k, name in enumerate(course.episodes)
        },
    )
