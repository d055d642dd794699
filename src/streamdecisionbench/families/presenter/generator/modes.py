"""From mode to mode: the commands that lead there, and when there is time for them."""

from __future__ import annotations

from collections.abc import Callable

from streamdecisionbench.families.presenter.generator.room import Room
from streamdecisionbench.families.presenter.generator.speech import command, toward

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


def into(room: Room, *modes: str) -> None:
    """Lead to one of these modes, the way the rules demand."""
    if room.mode in modes:
        return
    if room.mode != "talk":
        room.script.hold(1, 3)
        back = room.words.back(room.mode)
        command(room, "presenter", back, room.talk_on, f"'{back.words}' became final")
    wanted = modes[0]
    if wanted == "clip":
        to_page(room, room.hall.clip_page)
        room.script.hold(1, 3)
        play = room.words.ordered("play")
        because = f"'{play.words}' became final on its page"
        command(room, "presenter", play, room.play_clip, because)
    elif wanted == "questions":
        room.script.hold(1, 3)
        open_floor(room)


def to_page(room: Room, page: str) -> None:
    if room.slide == page:
        return
    room.script.hold(1, 3)
    said = toward(room, page)
    command(room, "presenter", said, lambda: room.go(page), f"'{said.words}' became final")


def open_floor(room: Room) -> None:
    said = room.words.ordered("open")
    because = f"'{said.words}' became final on the host's channel"
    command(room, "host", said, room.open_floor, because)
