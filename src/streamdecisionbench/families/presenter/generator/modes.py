"""From mode to mode: the commands that lead there, and when there is time for them."""

from __future__ import annotations

from collections.abc import Callable

from streamdecisionbench.families.presenter.generator.room import Room
from streamdecisionbench.families.presenter.generator.speech import command, toward
from streamdecisionbench.suite.generation.script import Ticks

_STAY = 5
"""A mode lasts at least this long before a situation of another mode may come next."""


def happens_in(*modes: str, ticks: int = 8) -> Callable[[Room], bool]:
    """Whether something of these modes can happen: there already, or with time to get there."""

    def possible(room: Room) -> bool:
        if room.mode == "closed" or room.now >= room.end:
            return False
        time = min(room.end, room.script.steps) - room.now
        if room.mode in modes:
            return time >= min(ticks, 6)
        return room.now - room.mode_since >= _STAY and time >= ticks

    return possible


def into(room: Room, *modes: str) -> Ticks[None]:
    """Lead to one of these modes, the way the rules demand."""
    if room.mode in modes:
        return
    if room.mode != "talk":
        yield from room.script.hold(1, 3)
        back = room.words.back(room.mode)
        yield from command(room, "presenter", back, room.talk_on, f"'{back.words}' became final")
    wanted = modes[0]
    if wanted == "clip":
        yield from to_page(room, room.hall.clip_page)
        yield from room.script.hold(1, 3)
        play = room.words.ordered("play")
        because = f"'{play.words}' became final on its page"
        yield from command(room, "presenter", play, room.play_clip, because)
    elif wanted == "questions":
        yield from room.script.hold(1, 3)
        yield from open_floor(room)


def to_page(room: Room, page: str) -> Ticks[None]:
    if room.slide == page:
        return
    yield from room.script.hold(1, 3)
    said = toward(room, page)
    yield from command(
        room, "presenter", said, lambda: room.go(page), f"'{said.words}' became final"
    )


def open_floor(room: Room) -> Ticks[None]:
    said = room.words.ordered("open")
    because = f"'{said.words}' became final on the host's channel"
    yield from command(room, "host", said, room.open_floor, because)
