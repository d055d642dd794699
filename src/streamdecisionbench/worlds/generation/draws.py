"""Seeded draws that give the same values on any machine, in any version of Python.

Block k of a stream is SHA-256 of "purpose/…/purpose/k". Nothing depends on `random`, on the hash of
a string, on the locale or on the time zone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

_T = TypeVar("_T")
_BITS = 64


class Draws:
    """One stream of draws, named by what it is for. `fork` gives an independent one.

    >>> draws = Draws("seed 7", "eval", "names")
    >>> draws.between(1, 6), draws.choose("abc"), draws.shuffled([1, 2, 3])
    (2, 'c', [1, 2, 3])
    >>> Draws("seed 7", "eval", "names").between(1, 6)
    2
    """

    def __init__(self, *purposes: str | int) -> None:
        self._name = self._root = "/".join(str(p).replace("/", "//") for p in purposes)
        self._block = 0

    def fork(self, *purposes: str | int) -> Draws:
        """A stream of its own: what is drawn from it changes nothing in this one."""
        child = Draws(*purposes)
        child._name = child._root = f"{self._name}/{child._name}"
        return child

    @contextmanager
    def apart(self, *purposes: str | int) -> Iterator[None]:
        """While it lasts, everyone who has this stream draws as from a fork of its root.

        What is drawn then depends on nothing that was drawn before, and changes nothing afterwards.

        >>> draws = Draws("seed 7")
        >>> with draws.apart("situation", 3):
        ...     draws.below(1000) == Draws("seed 7").fork("situation", 3).below(1000)
        True
        """
        before = self._name, self._block
        self._name, self._block = f"{self._root}/{Draws(*purposes)._name}", 0
        try:
            yield
        finally:
            self._name, self._block = before

    def below(self, n: int) -> int:
        """A whole number from 0 to n−1, each equally likely."""
        if n < 1:
            raise ValueError(f"nothing lies below {n}")
        limit = (1 << _BITS) - (1 << _BITS) % n
        while (value := self._next()) >= limit:
            pass  # the last incomplete group of values would favour small results
        return value % n

    def between(self, least: int, most: int) -> int:
        """A whole number from `least` to `most`, both included."""
        return least + self.below(most - least + 1)

    def chance(self, share: float) -> bool:
        """True with probability `share`."""
        return self._next() >> 11 < share * (1 << 53)

    def choose(self, items: Sequence[_T]) -> _T:
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[_T]) -> list[_T]:
        """All items in a drawn order (Fisher and Yates)."""
        mixed = list(items)
        for i in range(len(mixed) - 1, 0, -1):
            j = self.below(i + 1)
            mixed[i], mixed[j] = mixed[j], mixed[i]
        return mixed

    def sample(self, items: Sequence[_T], k: int) -> list[_T]:
        """`k` different items in a drawn order."""
        if k > len(items):
            raise ValueError(f"{k} of {len(items)} items cannot be drawn")
        return self.shuffled(items)[:k]

    def weighted(self, weights: Mapping[_T, int]) -> _T:
        """A key, as likely as its whole-number weight says."""
        place = self.below(sum(weights.values()))
        for key, weight in weights.items():
            place -= weight
            if place < 0:
                return key
        raise AssertionError("weights add up to their sum")

    def _next(self) -> int:
        digest = hashlib.sha256(f"{self._name}/{self._block}".encode()).digest()
        self._block += 1
        return int.from_bytes(digest[: _BITS // 8], "big")


SPLITS = ("eval", "train")


class Pool(Generic[_T]):
    """Names that the train and the eval split never share: every second belongs to each split.

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


@dataclass(frozen=True, slots=True)
class Seat:
    """One scenario's place: `number` counts within its family.

    `suite` is a stream that all scenarios of the family share: names that have to go round (so that
    together the scenarios use every one of them) are shuffled with it and taken by number.
    """

    split: str
    wording: str
    number: int
    suite: Draws
    agenda: tuple[str, ...] = ()
    """Names of the situations this scenario has to show."""

    def some(self, lines: Sequence[_T]) -> list[_T]:
        """Two of three; the next seat leaves out others, so that nothing is said in every session.

        >>> [Seat("eval", "listed", number, Draws()).some("abcde") for number in (0, 1)]
        [['b', 'c', 'e'], ['a', 'c', 'd']]
        """
        return [line for i, line in enumerate(lines) if (i - self.number) % 3]

    def unsaid(self, lines: Sequence[str], said: set[str], draws: Draws) -> str:
        """A line that is not among the `said`, which it joins; of `some` while there are any; "" without one."""
        left = [line for line in lines if line not in said]
        if not left:
            return ""
        mine = [line for line in self.some(lines) if line not in said]
        found = draws.choose(mine or left)
        said.add(found)
        return found
