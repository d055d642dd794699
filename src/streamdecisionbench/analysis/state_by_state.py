"""Two recordings, state by state: both right, only one, neither. Latency is ignored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streamdecisionbench.analysis.bootstrap import same_states
from streamdecisionbench.analysis.result_table import Table, count, percent, readable, text
from streamdecisionbench.scoring.timeline import Timeline

__all__ = ["Paired", "PairedCount", "paired_counts", "paired_table"]


@dataclass(frozen=True, slots=True)
class PairedCount:
    level: str
    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def states(self) -> int:
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def either(self) -> float:
        """The untimed accuracy of a perfect arbiter between the two."""
        return 1 - self.neither / self.states


@dataclass(frozen=True, slots=True)
class Paired:
    """Families first, then all."""

    first: str
    second: str
    counts: tuple[PairedCount, ...]


def paired_counts(
    first: Sequence[Timeline],
    second: Sequence[Timeline],
    names: tuple[str, str] = ("first", "second"),
) -> Paired:
    """Counts by family and over all states of two recordings of the same scenarios."""
    same_states({names[0]: first, names[1]: second})
    families = list(dict.fromkeys(p.family for p in first))
    found = []
    for level in (*families, "all"):
        chosen = [k for k, p in enumerate(first) if level in ("all", p.family)]
        a = np.concatenate([first[k].right for k in chosen])
        b = np.concatenate([second[k].right for k in chosen])
        counts = (a & b, a & ~b, ~a & b, ~a & ~b)
        found.append(PairedCount(level, *(int(x.sum()) for x in counts)))
    return Paired(*names, tuple(found))


def paired_table(result: Paired) -> Table:
    names = readable(c.level for c in result.counts)
    return Table(
        f"States decided correctly by {result.first} and {result.second}, ignoring latency",
        (text("", "level"), count("both"), count(f"only {result.first}"), count(f"only {result.second}"),
         count("neither"), percent("either %", "either")),
        tuple(
            (names[c.level], c.both, c.only_first, c.only_second, c.neither, c.either)
            for c in result.counts
        ),
    )  # fmt: skip
