"""The simulator: it keeps pace and noise, and declares the changes that happened."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.worlds.generation.draws import (
    Draws,
    Seat,
)
from streamdecisionbench.worlds.generation.parameters import (
    CHANGES_TOLERANCE,
    NOISE_TOLERANCE,
    change_range,
)
from streamdecisionbench.worlds.generation.world import (
    Situation,
    deal,
    story,
)
from streamdecisionbench.worlds.generation.world_simulator import (
    Opening,
    Ticks,
    WorldSimulator,
)


def simulator(
    steps: int = 60, changes: int = 20, noise: float = 0.5, seed: int = 0
) -> WorldSimulator:
    draws, seat = Draws("session", seed), Seat("eval", "listed", 0, Draws("suite"))
    opening = Opening(Draws("test", seed), draws, seat, steps, changes, noise)
    made = WorldSimulator(opening=opening, draws=draws)
    made.distract = lambda: (made.emit(Event(made.now, "noise")), True)[1]
    return made


def pass_time(made: WorldSimulator, ticks: int) -> None:
    assert len(list(made.wait(ticks))) == ticks


def run(made: WorldSimulator, course: Ticks[None]) -> None:
    """To the last tick; what it still had in mind does not happen."""
    for _ in course:
        if made.now + 1 >= made.steps:
            return


def play(
    made: WorldSimulator, situations: Sequence[Situation[WorldSimulator]], agenda: Sequence[str]
) -> list[str]:
    played: list[Situation[WorldSimulator]] = []
    run(made, story(made, situations, agenda, Draws("play"), played))
    return [situation.name for situation in played]


def fill(made: WorldSimulator) -> None:
    """One change after another until nothing fits any more."""

    def course() -> Ticks[None]:
        for i in range(1000):
            yield from made.hold(1, 12)
            made.decide({"route": str(i + 1)}, f"change {i}")
        pytest.fail("a session has to end")

    run(made, course())


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(30, 72), st.floats(0, 1), st.floats(0, 0.8))
def test_pace_and_noise_are_met(seed: int, steps: int, share: float, noise: float) -> None:
    least, most = change_range(steps)
    changes = round(least + share * (most - least))
    made = simulator(steps, changes, noise, seed)
    made.decide({"route": "0"}, "")
    fill(made)
    assert abs(len(made.changes()) - changes) <= CHANGES_TOLERANCE
    assert abs(made.noise - noise) <= NOISE_TOLERANCE
    assert made.now == steps - 1
    assert all(0 <= event.at < steps for event in made.events)


def test_the_last_word_of_a_tick_stands_and_repeats_are_no_change() -> None:
    made = simulator(noise=0)
    made.decide({"route": "a"}, "start")
    pass_time(made, 2)
    made.decide({"route": "b", "x": "1"}, "overruled")
    made.decide({"route": "c", "x": "1"}, "because of c")
    pass_time(made, 1)
    made.decide({"route": "c", "x": "1"}, "nothing new")
    pass_time(made, 1)
    made.decide({"route": "c", "x": "2"}, "because of x")
    assert [(c.at, c.fields, c.because) for c in made.changes()] == [
        (2, ("route", "x"), "because of c"),
        (4, ("x",), "because of x"),
    ]
    assert made.decisions()[1] == {"route": "c", "x": "1"}


def test_an_event_happens_when_it_is_written() -> None:
    made = simulator()
    with pytest.raises(ValueError, match="tick 3 is written at tick 0"):
        made.emit(Event(3, "later"))


def test_a_trap_counts_as_noise() -> None:
    made = simulator(noise=0)
    made.trap(Event(0, "trap"))
    pass_time(made, 3)
    assert made.noise == pytest.approx(1 / 4)


def situations(*names: str, group: str = "") -> list[Situation[WorldSimulator]]:
    return [
        Situation(group, name, (), lambda world: True, lambda world: world.wait(5))
        for name in names
    ]


def test_dealing_gives_everything_once_and_mixes_groups() -> None:
    cards = [*situations(*"abcdef", group="1"), *situations(*"uvwxyz", group="2")]
    hands = deal(cards, 3, 9, Draws("deal"))
    assert sorted(name for hand in hands for name in hand) == sorted("abcdefuvwxyz")
    assert all(len(set(hand) & set("abcdef")) == 2 for hand in hands)
    assert all(len(hand) == 2 for hand in deal(cards, 3, 2, Draws("deal")))


def test_the_agenda_is_played_in_time_and_only_whole_situations_count() -> None:
    world = simulator(steps=20, noise=0)
    played = play(world, situations(*"abcdef"), ["c", "e", "b"])
    assert set(played) == {"b", "c", "e"}  # a fourth would have ended at tick 20, after the last


def test_groups_take_turns() -> None:
    world = simulator(steps=60, noise=0)
    cards = [*situations(*"ab", group="1"), *situations(*"uv", group="2")]
    played = play(world, cards, ["a", "b"])
    assert {"a", "b"} <= set(played)
    assert all((x in "ab") != (y in "ab") for x, y in pairwise(played))


def test_a_dead_end_is_an_error_of_the_family() -> None:
    never: Situation[WorldSimulator] = Situation(
        "", "never", (), lambda world: False, lambda world: world.wait(1)
    )
    with pytest.raises(AssertionError, match="a situation is missing"):
        play(simulator(), [never], [])
