"""Situations: what can happen in a session, and how a session is made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from streamdecisionbench.suite.generation.draws import Draws
from streamdecisionbench.suite.generation.script import Script, Ticks

_W = TypeVar("_W")

_TICKS_PER_SITUATION = 10
"""About how long one takes, for a guess at how much time the agenda still needs."""


@dataclass(frozen=True, slots=True)
class Situation(Generic[_W]):
    """One thing that happens in a family's sessions, over some ticks.

    `rules` are the ids of the rules it puts to the test. `possible` says whether it can happen in
    the world as it is; `play` makes it happen: events, the passing of time, and after every event
    that matters the decision it should lead to. `weight` is how often it is chosen beside others;
    `group` gathers those that take turns, so that no session is dealt all of one group; what every
    session is full of anyway need not be dealt.
    """

    group: str
    name: str
    rules: tuple[str, ...]
    possible: Callable[[_W], bool]
    play: Callable[[_W], Ticks[None]]
    weight: int = 2
    dealt: bool = True


def deal(
    situations: Sequence[Situation[_W]], sessions: int, most: int, draws: Draws
) -> list[list[str]]:
    """Every situation's name to one of the sessions, so that together they show each one once.

    A session is dealt at most `most`; where there are too few sessions, some situations stay out,
    of every group about as many.
    """
    groups: dict[str, list[str]] = {}
    for situation in draws.shuffled([s for s in situations if s.dealt]):
        groups.setdefault(situation.group, []).append(situation.name)
    names = [name for group in sorted(groups) for name in groups[group]]
    hands = [names[seat::sessions] for seat in draws.shuffled(range(sessions))]
    return [_spread(hand, most) for hand in hands]


def _spread(hand: list[str], most: int) -> list[str]:
    """At most so many, evenly from the whole hand."""
    kept = min(most, len(hand))
    return [hand[i * len(hand) // kept] for i in range(kept)]


def story(
    world: _W,
    script: Script,
    situations: Sequence[Situation[_W]],
    agenda: Sequence[str],
    draws: Draws,
    played: list[Situation[_W]],
) -> Ticks[None]:
    """Situation after situation without an end, and all of the agenda on the way.

    The less time is left for the agenda, the more likely one of it comes next; a situation of the
    group that was played last waits while there is another choice. Those that came to their end are
    added to `played`.
    """
    due = list(agenda)
    while True:
        possible = [s for s in situations if s.possible(world)]
        if not possible:
            raise AssertionError(f"nothing can follow {played[-1:]}: a situation is missing")
        urgency = len(due) * _TICKS_PER_SITUATION / (script.steps - script.now)
        wanted = [s for s in possible if s.name in due]
        choice = wanted if wanted and draws.chance(urgency) else possible
        chosen = _choose(
            _in_turn(choice, played) or _in_turn(possible, played) or choice, played, draws
        )
        with script.apart("situation", len(played)):
            yield from chosen.play(world)
        played.append(chosen)
        if chosen.name in due:
            due.remove(chosen.name)


def _in_turn(
    situations: Sequence[Situation[_W]], played: Sequence[Situation[_W]]
) -> list[Situation[_W]]:
    """Those of another group than the last, and those no session can do without."""
    return [s for s in situations if not played or not s.dealt or s.group != played[-1].group]


def _choose(
    situations: Sequence[Situation[_W]], played: Sequence[Situation[_W]], draws: Draws
) -> Situation[_W]:
    """By weight; what was played before is less likely with every time."""
    by_name = {s.name: s for s in situations}
    weights: Mapping[str, int] = {
        s.name: max(12 * s.weight // (1 + 3 * played.count(s)), 1) for s in situations
    }
    return by_name[draws.weighted(weights)]
