"""What a session was expected to show and does not is told, never passed over in silence."""

from __future__ import annotations

import msgspec
import pytest

from streamdecisionbench.worlds.generate import generate
from streamdecisionbench.worlds.generation import compose
from streamdecisionbench.worlds.generation.draws import Draws
from streamdecisionbench.worlds.generation.parameters import Parameters
from streamdecisionbench.worlds.generation.world import (
    Situation,
    deal,
)

WANTED = Parameters(seed=3, families=("live_debugging",), per_family=2)


def test_a_session_that_shows_everything_is_no_news() -> None:
    told: list[str] = []
    generate(WANTED, tell=told.append)
    assert told == []


def test_what_is_given_up_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compose, "_COMPLETE_ATTEMPTS", 0)
    told: list[str] = []
    wanted = msgspec.structs.replace(WANTED, seed=1)
    generate(wanted, tell=told.append)
    assert told
    assert all("does not show" in line and "sdb suite coverage" in line for line in told)
    assert told[0].startswith("debugging_")
    with pytest.warns(UserWarning, match="does not show"):
        generate(wanted)


def test_a_hand_too_large_is_cut_evenly() -> None:
    cards: list[Situation[None]] = [
        Situation(group, f"{group}{i}", (), lambda _: True, lambda _: None)
        for group in "abc"
        for i in range(4)
    ]
    (hand,) = deal(cards, 1, 3, Draws("deal"))
    assert {name[0] for name in hand} == set("abc")
