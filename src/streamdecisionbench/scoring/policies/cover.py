"""A policy over a range of intervals: the range cut where a replay changes, each part in closed form.

A replay at one scale also says for which scales around it nothing changes (`window`). So the range is
covered: replay somewhere in every gap, keep the range that replay holds for, go on with what is left.
Nothing is sampled and nothing is fitted; every part is an exact α + β·c.
"""

from __future__ import annotations

import numpy as np

from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.classes import N_METRICS
from streamdecisionbench.scoring.integrals import Pieces
from streamdecisionbench.scoring.policies.scene import Rows, Scene
from streamdecisionbench.scoring.policies.shares import replay
from streamdecisionbench.scoring.timeline import Floats, Ints

__all__ = ["cover"]

_FIRST = 48
"""Gaps to begin with, per scenario."""
_INSIDE = 0.4142135
"""Where in a gap to look: nowhere special, so that no two times coincide there by design."""
_NARROW = 4e-14
"""Relative width of a gap that rounding of the crossings leaves; its neighbour covers it."""
_CELLS = 4_000_000
"""Answers replayed at once: what memory holds comfortably."""
_MOST = 6
"""Into how many parts one round may cut a gap."""


def cover(scene: Scene, bounds: Bounds) -> Pieces:
    """All pieces of every scenario of a scene over the bounds; scenarios numbered as in the whole."""
    low, high = scene.tick / bounds.high, scene.tick / bounds.low
    every = np.arange(scene.count)
    gaps = _cut(every, low, high, np.full(scene.count, _FIRST))
    found: list[tuple[Ints, Floats, Floats, Floats, Floats]] = []
    pieces = 0
    while len(gaps[0]):
        s, begin, end = gaps
        at = begin * (end / begin) ** _INSIDE
        rows = Rows(s, np.zeros(len(s), dtype=np.int64), at)
        alpha, beta, lower, upper = _replay(scene, rows)
        lower, upper = np.clip(lower, begin, at), np.clip(upper, at, end)
        lower = np.where(lower - begin <= _NARROW * end, begin, lower)
        upper = np.where(end - upper <= _NARROW * end, end, upper)
        found.append((s, lower, upper, alpha, beta))
        pieces += len(s)
        left, right = begin < lower, upper < end
        s = np.concatenate((s[left], s[right]))
        begin, end = (
            np.concatenate((begin[left], upper[right])),
            np.concatenate((lower[left], end[right])),
        )
        width = float(np.sum(np.log(high / low))) / max(pieces, 1)
        parts = np.clip((np.log(end / begin) / width / 2).astype(np.int64), 1, _MOST)
        gaps = _cut(s, begin, end, parts)
    s, lower, upper, alpha, beta = (np.concatenate(x) for x in zip(*found, strict=True))
    return Pieces(scene.index[s], lower, upper, alpha, beta)


def _cut(s: Ints, begin: Floats, end: Floats, parts: Ints) -> tuple[Ints, Floats, Floats]:
    """Every gap in equal parts of ln c."""
    owner = np.repeat(np.arange(len(s)), parts)
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(parts) - parts, parts)
    ratio = (end / begin)[owner]
    lower = begin[owner] * ratio ** (nth / parts[owner])
    upper = begin[owner] * ratio ** ((nth + 1) / parts[owner])
    upper = np.where(nth + 1 == parts[owner], end[owner], upper)
    return s[owner], lower, upper


def _replay(scene: Scene, rows: Rows) -> tuple[Floats, Floats, Floats, Floats]:
    size = max(1, _CELLS // (scene.components * scene.n))
    out: tuple[list[Floats], ...] = ([], [], [], [])
    for begin in range(0, len(rows), size):
        part = replay(scene, rows.slice(begin, begin + size), ranges=True)
        for column, values in zip(out, (part.alpha, part.beta, part.low, part.high), strict=True):
            column.append(values)
    if not out[0]:
        nothing = np.zeros((0, N_METRICS))
        return nothing, nothing, np.zeros(0), np.zeros(0)
    alpha, beta, low, high = (np.concatenate(column) for column in out)
    return alpha, beta, low, high
