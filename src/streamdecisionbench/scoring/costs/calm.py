"""Stretches that are not wrong, over a range of scales, each with the one that comes before it.

What lies between two neighbours is a wrong spell; the first right one of a reference segment ends
the wait for it. Time in which it is not known what is right counts as calm: nothing is charged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from streamdecisionbench.scoring.costs.neighbours import Neighbours, neighbours
from streamdecisionbench.scoring.costs.stretches import MovingStretches
from streamdecisionbench.scoring.timeline import Floats
from streamdecisionbench.scoring.trajectory import NOTHING, References, Sweep

__all__ = ["Calm", "calm_of"]


@dataclass(frozen=True, slots=True)
class Calm:
    """Right and unjudged stretches of a sweep, and which of them follow each other."""

    references: References
    lowest: Floats
    highest: Floats
    stretches: MovingStretches
    pairs: Neighbours

    @property
    def judged(self) -> Floats:
        """T of each scenario on the recording clock: the time in which it is known what is right."""
        refs = self.references
        known = refs.decision != NOTHING
        if known.all():
            return refs.observed
        length = np.where(known, refs.end - refs.begin, 0.0)
        return np.bincount(refs.scenario, weights=length, minlength=refs.count).astype(np.float64)


def calm_of(sweep: Sweep, cut: MovingStretches) -> Calm:
    """The calm stretches of a sweep that is cut where the reference changes."""
    calm = cut.where(~cut.wrong)
    pairs = neighbours(calm.scenario, calm.low, calm.high, sweep.lowest, sweep.highest)
    return Calm(sweep.references, sweep.lowest, sweep.highest, calm, pairs)
