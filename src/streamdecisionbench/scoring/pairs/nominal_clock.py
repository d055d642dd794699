"""What two components of a pair share, and what each brings: arrays on one nominal clock.

Releases are r_i = i · tick, or a scenario's own times at that mean distance. Latencies stay in seconds, so at Δ every delay is scaled by c = tick/Δ
whatever tick a component was recorded at. A *node* is an answer: fast answers are numbered
0 … N−1 over all scenarios laid end to end, slow ones N … 2N−1. −1 stands for "nothing yet" where an
answer in force is meant, and for the horizon where the end of its time in force is.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.classes import Cumulative
from streamdecisionbench.scoring.in_force_replay import critical_scale
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints, Timeline, check

__all__ = ["Duo", "Lane", "Stage", "lane", "on_stage", "stage"]


class Stage:
    """Scenarios, releases and references: the same for every component that plays on it.

    A decision that is never the reference is the scenario's `never` id, whoever answered it.
    """

    def __init__(self, parts: Sequence[Timeline]) -> None:
        self.parts = parts
        self.flat = Flat([_without_answers(part) for part in parts])
        self.never: Ints = self.flat.p
        self.time = Cumulative(self.flat, self.flat.time_weight)
        self.segment = Cumulative(self.flat, self.flat.segment_weight)
        self.regular = all(part.rhythm is None for part in parts)
        self.local = np.arange(len(self.flat.r)) - self.flat.first[self.flat.scenario]
        self._offset = self.flat.y - np.concatenate([p.reference for p in parts])

    def decisions(self, predicted: Ints) -> Ints:
        """Answered decisions in the reference's ids."""
        own = np.where(predicted < 0, self.never, predicted + self._offset)
        return np.minimum(own, self.never)


@dataclass(frozen=True, slots=True)
class Lane:
    """One component on a stage."""

    flat: Flat
    L: Floats
    p: Ints
    untimed: Floats
    """U of each scenario."""
    critical: Floats
    """c*_i against its own later answers and the horizon: below it the component delivers i."""


@dataclass(frozen=True)
class Duo:
    """A fast and a slow component on one stage, their answers numbered as nodes."""

    stage: Stage
    fast: Lane
    slow: Lane

    @cached_property
    def latency(self) -> Floats:
        return np.concatenate((self.fast.L, self.slow.L))

    @cached_property
    def y(self) -> Ints:
        return np.concatenate((self.stage.flat.y, self.stage.flat.y))

    @cached_property
    def p(self) -> Ints:
        return np.concatenate((self.fast.p, self.slow.p))

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        return np.equal(self.y, self.p)

    @cached_property
    def r(self) -> Floats:
        return np.concatenate((self.stage.flat.r, self.stage.flat.r))

    @cached_property
    def scenario(self) -> Ints:
        return np.concatenate((self.stage.flat.scenario, self.stage.flat.scenario))

    @cached_property
    def source(self) -> Ints:
        """The step an answer is for, counted within its scenario."""
        return np.concatenate((self.stage.local, self.stage.local))

    @property
    def n(self) -> int:
        """N: how many answers each component gives; nodes from N on are slow."""
        return len(self.stage.flat.r)


def stage(parts: Sequence[Timeline]) -> Stage:
    """The stage these timelines were recorded on, with nominal releases."""
    if not parts:
        raise InputError("there is no scenario to compose")
    return Stage([nominal(part, part.tick) for part in parts])


def on_stage(where: Stage, parts: Sequence[Timeline], who: str) -> list[Timeline]:
    """The component's timelines in the stage's order, on its clock; refused when they do not fit."""
    mine = {part.episode_id: part for part in parts}
    found = []
    for part in where.parts:
        own = mine.pop(part.episode_id, None)
        if own is None or own.n != part.n:
            what = "was not recorded" if own is None else f"has {own.n} steps, not {part.n}"
            raise InputError(
                f"{part.episode_id} {what}", where=who, fix="pair recordings of the same scenarios"
            )
        if not np.array_equal(own.reference, part.reference):
            raise InputError(
                f"{part.episode_id} has another reference",
                where=who,
                fix="pair recordings of the same suite",
            )
        found.append(nominal(own, part.tick))
    if mine:
        raise InputError(
            f"{', '.join(mine)} is in one recording only",
            where=who,
            fix="pair recordings of the same scenarios",
        )
    check(found)
    return found


def lane(where: Stage, parts: Sequence[Timeline], c_max: Floats) -> Lane:
    """A component whose timelines fit the stage (see `on_stage`), ready up to scale `c_max`."""
    flat = copy.copy(where.flat)
    flat.L = np.concatenate([np.asarray(p.latency, dtype=np.float64) for p in parts])
    return Lane(
        flat=flat,
        L=flat.L,
        p=where.decisions(np.concatenate([p.predicted for p in parts])),
        untimed=np.array([p.untimed for p in parts]),
        critical=critical_scale(flat, c_max),
    )


def nominal(part: Timeline, tick: float) -> Timeline:
    """The same answers with releases exactly as planned."""
    return replace(part, tick=tick, release=part.nominal(tick), arrival=None)


def _without_answers(part: Timeline) -> Timeline:
    if part.reference.min() < 0:
        raise InputError("decision ids of the reference start at 0", where=part.episode_id)
    never = int(part.reference.max()) + 1
    return replace(part, latency=np.zeros(part.n), predicted=np.full(part.n, never))
