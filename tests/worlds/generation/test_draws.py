"""Draws: the same everywhere, fair, and independent of each other."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamdecisionbench.worlds.generation.draws import (
    SPLITS,
    Draws,
    Pool,
)

NAMES = st.lists(st.one_of(st.text(max_size=5), st.integers()), min_size=1, max_size=4)


def test_the_stream_is_sha_256_of_its_name_and_a_counter() -> None:
    draws = Draws("seed", 1)
    # sha256("seed/1/0") and sha256("seed/1/1"), first eight bytes, modulo 1000
    assert [draws.below(1000), draws.below(1000)] == [252, 88]


@given(NAMES, st.integers(1, 10**6))
def test_every_draw_stays_in_its_range(names: list[str | int], n: int) -> None:
    draws = Draws(*names)
    assert all(0 <= draws.below(n) < n for _ in range(5))
    assert all(3 <= draws.between(3, 3 + n) <= 3 + n for _ in range(5))


@given(NAMES, st.lists(st.integers(), max_size=12))
def test_a_shuffle_keeps_what_it_shuffles(names: list[str | int], items: list[int]) -> None:
    assert Counter(Draws(*names).shuffled(items)) == Counter(items)


def test_draws_are_fair() -> None:
    draws = Draws("fair")
    counts = Counter(draws.below(6) for _ in range(6000))
    assert all(900 < counts[i] < 1100 for i in range(6))
    assert 1700 < sum(draws.chance(0.3) for _ in range(6000)) < 1900
    weights = Counter(draws.weighted({"a": 1, "b": 3}) for _ in range(4000))
    assert 900 < weights["a"] < 1100


def test_a_fork_neither_follows_nor_disturbs_its_parent() -> None:
    alone, forking = Draws("x"), Draws("x")
    child = forking.fork("y")
    drawn = [child.below(100) for _ in range(20)]
    assert [alone.below(100) for _ in range(20)] == [forking.below(100) for _ in range(20)]
    assert drawn != [Draws("x").below(100) for _ in range(20)]
    assert drawn == [Draws("x", "y").below(100) if i == 0 else d for i, d in enumerate(drawn)]


def test_names_do_not_run_into_each_other() -> None:
    assert Draws("a/b").below(10**9) != Draws("a", "b").below(10**9)
    assert Draws("ab", "c").below(10**9) != Draws("a", "bc").below(10**9)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="below 0"):
        Draws("x").below(0)
    with pytest.raises(ValueError, match="4 of 3"):
        Draws("x").sample([1, 2, 3], 4)


@given(st.lists(st.integers(), unique=True, max_size=30))
def test_splits_share_nothing_and_lose_nothing(items: list[int]) -> None:
    pool = Pool(items)
    parts = [pool.of(split) for split in SPLITS]
    assert not set(parts[0]) & set(parts[1])
    assert sorted([*parts[0], *parts[1]]) == sorted(items)
