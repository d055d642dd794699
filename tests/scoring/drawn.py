"""Lists of numbers, each list in one draw: most of a law's time would go into drawing one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

T = TypeVar("T")

GRID = (0.0, 0.5, 1.0, 2.0, 2.5, 4.0, 6.0)
"""Latencies that tie with each other and with the releases."""


def whole(draw: DrawFn, n: int, most: int) -> list[int]:
    """n whole numbers between 0 and `most`, any of them as likely as another."""
    width = 1 if most < 256 else 4
    drawn = draw(st.binary(min_size=n * width, max_size=n * width))
    pieces = (drawn[i : i + width] for i in range(0, n * width, width))
    return [int.from_bytes(piece, "big") % (most + 1) for piece in pieces]


def any_of(draw: DrawFn, n: int, values: Sequence[T]) -> list[T]:
    """n of these values."""
    return [values[k] for k in whole(draw, n, len(values) - 1)]


def decimals(draw: DrawFn, n: int, low: int, high: int, places: int) -> list[float]:
    """n numbers with so many decimals; now and then with few of them, so that some are equal."""
    parts = 10 ** draw(st.sampled_from((places, places, places, 1, 0)))
    return [low + k / parts for k in whole(draw, n, (high - low) * parts)]


def latencies(draw: DrawFn, n: int, most: int, far: tuple[int, int], places: int) -> list[float]:
    """Ordinary values up to `most`, ties, zeros, equal ones, and some far beyond the horizon."""
    kind = draw(st.sampled_from(("ordinary", "grid", "zero", "far", "mixed", "equal")))
    if kind == "zero":
        return [0.0] * n
    if kind == "equal":
        return decimals(draw, 1, 0, most, places) * n
    if kind == "grid":
        return any_of(draw, n, GRID)
    if kind == "ordinary":
        return decimals(draw, n, 0, most, places)
    if kind == "far":
        return decimals(draw, n, *far, 3)
    three = (
        decimals(draw, n, 0, most, places),
        any_of(draw, n, GRID),
        decimals(draw, n, *far, 3),
    )
    return [three[which][i] for i, which in enumerate(whole(draw, n, 2))]
