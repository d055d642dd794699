"""Two halves of the scenarios: what is chosen on one is judged on the other, both ways."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.analysis.policy_candidates import Candidate
from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.score import family_weights
from streamdecisionbench.scoring.timeline import Floats, Timeline

__all__ = ["EQUAL", "Halves", "Table", "halve"]

EQUAL = 1e-12
"""Accuracies that differ by less are the same."""


class Halves:
    """The split of some scenarios, with what each half weighs."""

    def __init__(self, parts: Sequence[Timeline]) -> None:
        self.parts = parts
        self.first = halve(parts)

    @cached_property
    def whole(self) -> Floats:
        """Mean over families of the mean over their scenarios."""
        return family_weights([p.family for p in self.parts])

    @cached_property
    def weights(self) -> tuple[Floats, Floats]:
        """The same within each half."""
        return self._within(self.first), self._within(~self.first)

    def crossed(self, one: Floats, two: Floats) -> Floats:
        """By scenario (rows): on each half the values of what the other half chose."""
        first = self.first.reshape(-1, *(1,) * (one.ndim - 1))
        crossed: Floats = np.where(first, two, one)
        return crossed

    def crossed_steps(self, one: Floats, two: Floats) -> Floats:
        """The same by step, scenarios end to end."""
        steps = np.repeat(self.first, [p.n for p in self.parts])
        crossed: Floats = np.where(steps, two, one)
        return crossed

    def _within(self, half: NDArray[np.bool_]) -> Floats:
        out = np.zeros(len(self.parts))
        mine = [p.family for p, own in zip(self.parts, half, strict=True) if own]
        out[half] = family_weights(mine)
        return out


class Table:
    """Candidates with their accuracies as one array."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.candidates = candidates
        self.values = np.stack([c.in_force for c in candidates])
        self.order = np.array([c.parts for c in candidates])

    def best(self, weights: Floats) -> Candidate:
        """The most accurate; of equals the simplest, then the first."""
        score = self.values @ weights
        level = np.flatnonzero(score >= score.max() - EQUAL)
        return self.candidates[int(level[np.argmin(self.order[level])])]


def halve(parts: Sequence[Timeline]) -> NDArray[np.bool_]:
    """Every other scenario of every family; families take turns in which half begins.

    With fewer than two scenarios nothing can be held out.
    """
    if len(parts) < 2:
        raise InputError(
            "one scenario cannot be split into a half to choose on and a half to report on",
            fix="search over recordings of two scenarios or more",
        )
    seen: dict[str, int] = {}
    out = np.zeros(len(parts), dtype=bool)
    for s, part in enumerate(parts):
        order = list(dict.fromkeys(p.family for p in parts)).index(part.family)
        nth = seen[part.family] = seen.get(part.family, -1) + 1
        out[s] = (nth + order) % 2 == 0
    if out.all() or not out.any():
        out = np.arange(len(parts)) % 2 == 0
    return out
