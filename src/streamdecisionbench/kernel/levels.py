"""How scenarios weigh: a family is the mean of its scenarios, the whole is the mean of families."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import Floats, Ints, Timeline

T = TypeVar("T")


def family_weights(families: Sequence[str]) -> Floats:
    """How scenarios weigh in the whole: the mean over families of the mean over their scenarios."""
    size = Counter(families)
    return np.array([1.0 / (len(size) * size[family]) for family in families])


@dataclass(frozen=True, slots=True)
class ByLevel(Generic[T]):
    """The whole, every family, every scenario."""

    overall: T
    by_family: Mapping[str, T]
    by_scenario: Mapping[str, T]

    def at(self, level: str) -> T:
        """By name."""
        if level == "overall":
            return self.overall
        return self.by_family[level] if level in self.by_family else self.by_scenario[level]

    def rows(self) -> list[tuple[str, str, T]]:
        """Which kind of level, its name, and what it has."""
        return [
            ("overall", "overall", self.overall),
            *(("family", name, found) for name, found in self.by_family.items()),
            *(("scenario", name, found) for name, found in self.by_scenario.items()),
        ]


class Members(NamedTuple):
    """The scenarios of a level, and their weights in it, which sum to one."""

    scenarios: Ints
    weights: Floats

    def means(self, values: Mapping[str, Floats]) -> dict[str, float]:
        return {name: float(self.weights @ x[self.scenarios]) for name, x in values.items()}

    def sums(self, values: Mapping[str, Floats]) -> dict[str, float]:
        return {name: float(x[self.scenarios].sum()) for name, x in values.items()}


class Levels:
    """The whole, the families and the scenarios of timelines, in that order."""

    def __init__(self, parts: Sequence[Timeline]) -> None:
        self.families = list(dict.fromkeys(p.family for p in parts))
        self.weights = family_weights([p.family for p in parts])
        self.family_of = {p.episode_id: p.family for p in parts}
        self.names = ["overall", *self.families, *(p.episode_id for p in parts)]
        position = {name: index for index, name in enumerate(self.families)}
        self._family = np.array([position[p.family] for p in parts], dtype=np.int64)

    def means(self, values: Floats) -> Floats:
        """Rows for the whole, for every family, and for every scenario as it is: sums, not matrices.

        A scenario without a value (nothing is known of it) is left out of the means it belongs to.
        """
        rows = values.reshape(len(values), -1)
        known = ~np.isnan(rows)
        shape = len(self.families), rows.shape[1]
        place = (self._family[:, None] * shape[1] + np.arange(shape[1])).ravel()
        sums, counts = (
            np.bincount(place, each.ravel(), shape[0] * shape[1]).reshape(shape)
            for each in (np.where(known, rows, 0.0), known)
        )
        with np.errstate(invalid="ignore"):
            means = sums / counts
        heard = counts > 0
        whole = np.where(heard, means, 0.0).sum(axis=0) / np.maximum(heard.sum(axis=0), 1)
        whole[~heard.any(axis=0)] = np.nan
        return np.concatenate((whole[None, :], means, rows)).reshape(-1, *values.shape[1:])

    def each(self, figure: Callable[[Members], T]) -> ByLevel[T]:
        """What `figure` says of the scenarios of every level."""
        every = np.arange(len(self._family))
        groups = [every[self._family == k] for k, _ in enumerate(self.families)]
        groups += [every[k : k + 1] for k in every]
        members = [Members(mine, np.full(len(mine), 1.0 / len(mine))) for mine in groups]
        members = [Members(every, self.weights), *members]
        return ByLevel(*self.split([figure(one) for one in members]))

    def split(self, rows: Sequence[T]) -> tuple[T, dict[str, T], dict[str, T]]:
        """What there is for every level, as `ByLevel` holds it."""
        k = len(self.families) + 1
        named = [dict(zip(self.names[a:b], rows[a:b], strict=True)) for a, b in ((1, k), (k, None))]
        return rows[0], named[0], named[1]


def level_weights(parts: Sequence[Timeline], level: str) -> Floats:
    """Weights of the scenarios in the whole, in a family, or alone. They sum to one."""
    if level == "overall":
        return family_weights([p.family for p in parts])
    chosen = np.array([level in (p.family, p.episode_id) for p in parts], dtype=np.float64)
    if not chosen.any():
        raise InputError(f"{level!r} is no family and no scenario of this recording")
    weights: Floats = chosen / chosen.sum()
    return weights
