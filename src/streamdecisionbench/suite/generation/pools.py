"""Pools of names that the train and the eval split never share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from streamdecisionbench.suite.generation.draws import Draws

__all__ = ["SPLITS", "Pool"]

SPLITS = ("eval", "train")

_T = TypeVar("_T")


class Pool(Generic[_T]):
    """Every second item belongs to each split, so that neither gets the odd ones.

    >>> people = Pool(["Ada", "Bo", "Cy", "Di"])
    >>> people.of("eval"), people.of("train")
    (['Ada', 'Cy'], ['Bo', 'Di'])
    """

    def __init__(self, items: Sequence[_T]) -> None:
        self.items = tuple(items)

    def of(self, split: str) -> list[_T]:
        """The items of one split, in the order they were written."""
        return list(self.items[SPLITS.index(split) :: len(SPLITS)])

    def draw(self, draws: Draws, split: str, k: int) -> list[_T]:
        """`k` different items of the split."""
        return draws.sample(self.of(split), k)
