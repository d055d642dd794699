"""Are wrong answers near reference changes? Untimed errors by distance to the nearest change.

Every state belongs to the nearest actual change of the composed reference, ties to the earlier one;
the beginning of a scenario is no change. The signed offset is −1 on the last state before a change,
0 at it, +1 after it. Near: at most one tick away. Every state counts once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from streamdecisionbench.analysis.result_table import Cell, Table, count, percent, readable, text
from streamdecisionbench.scoring.timeline import Ints, Timeline

__all__ = ["ErrorCount", "Transitions", "offsets", "transition_errors", "transition_tables"]

NEAR = 1


@dataclass(frozen=True, slots=True)
class ErrorCount:
    states: int
    errors: int

    @property
    def rate(self) -> float | None:
        return self.errors / self.states if self.states else None


@dataclass(frozen=True, slots=True)
class Transitions:
    """Near and far errors, and every signed offset, of the whole and of each family."""

    near: Mapping[str, ErrorCount]
    far: Mapping[str, ErrorCount]
    by_offset: Mapping[str, Mapping[int, ErrorCount]]
    without_change: int
    """States of scenarios whose reference never changes: far, with no offset."""


def transition_errors(parts: Sequence[Timeline]) -> Transitions:
    """Counts of one recording. Levels are `overall` and the families."""
    families = list(dict.fromkeys(p.family for p in parts))
    near, far, by_offset = {}, {}, {}
    for level in ("overall", *families):
        chosen = [p for p in parts if level in ("overall", p.family)]
        wrong = np.concatenate([~p.right for p in chosen])
        with_offset = [offsets(p.reference) for p in chosen]
        known = np.concatenate(
            [np.full(p.n, o is not None) for p, o in zip(chosen, with_offset, strict=True)]
        )
        offset = np.concatenate(
            [np.zeros(p.n, dtype=np.int64) if o is None else o
             for p, o in zip(chosen, with_offset, strict=True)]
        )  # fmt: skip
        close = known & (np.abs(offset) <= NEAR)
        near[level] = ErrorCount(int(close.sum()), int((wrong & close).sum()))
        far[level] = ErrorCount(int((~close).sum()), int((wrong & ~close).sum()))
        by_offset[level] = {
            int(k): ErrorCount(
                int((known & (offset == k)).sum()), int((wrong & known & (offset == k)).sum())
            )
            for k in np.unique(offset[known])
        }
    lonely = sum(p.n for p in parts if offsets(p.reference) is None)
    return Transitions(near, far, by_offset, lonely)


def offsets(reference: Ints) -> Ints | None:
    """Signed distance of every step to its nearest change; None when there is no change.

    >>> offsets(np.array([0, 0, 0, 1, 1, 1, 2])).tolist()
    [-3, -2, -1, 0, 1, -1, 0]
    """
    changes = np.flatnonzero(reference[1:] != reference[:-1]) + 1
    if not changes.size:
        return None
    steps = np.arange(len(reference))
    after = np.searchsorted(changes, steps, side="right")
    earlier = changes[np.maximum(after - 1, 0)]
    later = changes[np.minimum(after, len(changes) - 1)]
    from_earlier = np.where(after > 0, steps - earlier, len(reference) + 1)
    to_later = np.where(after < len(changes), later - steps, len(reference) + 1)
    found: Ints = np.where(from_earlier <= to_later, steps - earlier, steps - later)
    return found


def transition_tables(results: Mapping[str, Transitions]) -> list[Table]:
    rows: list[tuple[Cell, ...]] = []
    for name, result in results.items():
        for level, label in readable(result.near).items():
            near, far = result.near[level], result.far[level]
            rows.append(
                (name if level == "overall" else "", label, near.rate, near.errors, near.states,
                 far.rate, far.errors, far.states)
            )  # fmt: skip
    first = Table(
        "Untimed errors near (at most one tick) and far from reference changes",
        (text("", "recording"), text("level"), percent("near %", "near"),
         count("errors", "near_errors"), count("states", "near_states"), percent("far %", "far"),
         count("errors", "far_errors"), count("states", "far_states")),
        tuple(rows),
    )  # fmt: skip
    every = sorted({k for r in results.values() for k in r.by_offset["overall"]})
    return [first, *(_offset_table(name, r, every) for name, r in results.items())]


def _offset_table(name: str, result: Transitions, every: list[int]) -> Table:
    levels = readable(result.by_offset)
    rows: list[tuple[Cell, ...]] = []
    for k in every:
        row: list[Cell] = [f"{k:+d}" if k else "0"]
        for level in levels:
            found = result.by_offset[level].get(k, ErrorCount(0, 0))
            row.append(f"{found.errors}/{found.states}")
        rows.append(tuple(row))
    return Table(
        f"{name}: errors / states by signed offset to the nearest change (ticks)",
        (text("offset"), *(text(label) for label in levels.values())),
        tuple(rows),
    )
