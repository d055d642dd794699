"""Names beside points: each takes the first free place around its point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Placed", "place_labels"]

_CHARACTER, _LINE = 6.2, 13.0
"""Pixels of a letter and of a line at 11 points."""

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Placed:
    """The left end of a label in pixels from the top left, at half its height."""

    x: float
    y: float


def place_labels(
    points: Sequence[tuple[float, float, str]],
    *,
    width: float,
    height: float,
    obstacles: Sequence[tuple[float, float]] = (),
) -> list[Placed]:
    """Greedy, in the order given: right, left, above, below, then farther out.

    >>> place_labels([(50.0, 50.0, "a"), (52.0, 50.0, "b")], width=200, height=100)
    [Placed(x=58.0, y=50.0), Placed(x=37.8, y=50.0)]
    """
    taken: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y, _ in points]
    taken += [(x - 3, y - 3, x + 3, y + 3) for x, y in obstacles]
    found = []
    for x, y, label in points:
        wide = _CHARACTER * len(label)
        choices = [
            (x + dx, y + dy)
            for reach in range(8)
            for dx, dy in _around(wide, reach)
            if x + dx >= 0 and x + dx + wide <= width + 4 and 6 <= y + dy <= height - 6
        ] or [(x + 8, y)]
        best = min(choices, key=lambda c: _overlap((c[0], c[1] - 6, c[0] + wide, c[1] + 6), taken))
        taken.append((best[0], best[1] - _LINE / 2, best[0] + wide, best[1] + _LINE / 2))
        found.append(Placed(*best))
    return found


def _around(wide: float, reach: int) -> list[tuple[float, float]]:
    up = 13.0 + 7 * reach
    side = 7.0 * reach
    return [
        (8, -side), (8, side), (-8 - wide, -side), (-8 - wide, side),
        (-wide / 2, -up), (-wide / 2, up),
    ]  # fmt: skip


def _overlap(box: Box, taken: Sequence[Box]) -> float:
    """Area shared with what is there already; the first place without any wins."""
    total = 0.0
    for other in taken:
        across = min(box[2], other[2]) - max(box[0], other[0])
        down = min(box[3], other[3]) - max(box[1], other[1])
        total += max(across, 0.0) * max(down, 0.0)
    return total
