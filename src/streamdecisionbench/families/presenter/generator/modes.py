"""From mode to mode: the commands that lead there, when there is time for them, and what people do
when the panel shows something else."""

from __future__ import annotations

from collections.abc import Callable

from streamdecisionbench.families.presenter.events import log
from streamdecisionbench.families.presenter.generator.lines import ABOUT_CAPTIONS
from streamdecisionbench.families.presenter.generator.room import CHANNELS, Room
from streamdecisionbench.families.presenter.generator.speech import command, plain, toward
from streamdecisionbench.families.presenter.generator.words import Said
from streamdecisionbench.suite.generation.script import Ticks

_MODES = frozenset(("talk", "questions", "clip"))
_A_MOMENT = 2
_PATIENCE = 2
"""So often somebody says the same thing again before they put up with what the panel shows."""
_GLANCE = 3
"""So many ticks a clip is looked at, at least."""
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
        yield from stay(room)
        yield from settle(room, 1, 3)
        back = room.words.back(room.mode)
        yield from command(room, "presenter", back, room.talk_on, f"'{back.words}' became final")
    wanted = modes[0]
    if wanted == "clip":
        yield from to_page(room, room.hall.clip_page)
        yield from settle(room, 1, 3)
        play = room.words.ordered("play")
        because = f"'{play.words}' became final on its page"
        yield from command(room, "presenter", play, room.play_clip, because)
    elif wanted == "questions":
        yield from settle(room, 1, 3)
        yield from open_floor(room)


def settle(room: Room, least: int, most: int) -> Ticks[None]:
    """Some ticks pass. Whoever still sees something wrong on the panel a moment later, says so.

    They say again what they have said before, which changes nothing but the captions; only a clip that
    stood still and is not to be seen is started.
    """
    for _ in range(room.script.pace(least, most)):
        yield from room.script.wait(1)
        room.complete_old_halves()
    if _amiss(room) and not (yield from room.script.until(lambda: not _amiss(room), _A_MOMENT)):
        what = _amiss(room)
        if what:
            room.objected[what] += 1
            yield from _object(room, what[0])
            yield from room.script.wait(1)


def _amiss(room: Room) -> tuple[str, str] | None:
    """What somebody would object to on the panel, with what it should be; not for ever."""
    if room.mode == "closed":
        return None
    panel, found = room.script.panel, []
    if panel.get("mode") in _MODES - {room.mode}:
        found.append(("mode", room.mode))
    elif room.mode == "clip" and panel.get("clip_state") in {"play", "pause"} - {room.clip}:
        found.append(("clip_state", room.clip))
    if room.mode != "clip" and panel.get("slide") in set(room.hall.pages) - {room.slide}:
        found.append(("slide", room.slide))
    if room.mode != "clip" and panel.get("host_cue") == "stand_by" != room.cue:
        found.append(("host_cue", room.mode))
    if panel.get("captions") != room.captions:
        found.append(("captions", "of whoever speaks"))
    return next((what for what in found if room.objected[what] < _PATIENCE), None)


def _object(room: Room, what: str) -> Ticks[None]:
    if what == "host_cue":
        room.script.count("interruptions")
        yield from plain(room, "host")
    elif what == "captions":
        room.script.count("complaints")
        yield from _complain(room)
    elif what == "slide":
        yield from _again(room, "presenter", room.words.says("jump", room.slide))
    elif room.mode == "clip" and (what == "mode" or room.clip == "play"):
        yield from play_on(room)
    elif room.mode == "clip":
        yield from _again(room, "presenter", room.words.says("pause"))
    elif room.mode == "questions":
        yield from _again(room, "host", room.words.says("open"))
    else:
        yield from _again(room, "presenter", room.words.back(room.script.panel["mode"]))


def _complain(room: Room) -> Ticks[None]:
    """Who reads the captions calls out; while that would be a question, the chair is told."""
    carried = room.script.panel.get("captions") in CHANNELS
    if room.mode != "questions":
        text = room.unsaid(ABOUT_CAPTIONS["other" if carried else "none"])
        yield from plain(room, "audience", text)
    else:
        row = room.draws.between(2, room.hall.rows)
        room.script.emit(
            log(room.now, "floor", f"Row {row} cannot follow, the captions are wrong.")
        )
        yield from room.script.wait(1)
        yield from plain(room, "host", room.words.about_captions())


def play_on(room: Room) -> Ticks[None]:
    """The presenter has the clip run on."""
    play = room.words.ordered("play")

    def obey() -> None:
        room.clip = "play"

    because = f"'{play.words}' became final; playing has no early form"
    yield from command(room, "presenter", play, obey, because)


def _again(room: Room, channel: str, said: Said) -> Ticks[None]:
    yield from command(room, channel, said, lambda: None, "said again, and in force already")


def to_page(room: Room, page: str) -> Ticks[None]:
    if room.slide == page:
        return
    yield from stay(room)
    yield from settle(room, 1, 3)
    remark = "" if room.remarked else room.words.remark()
    said = toward(room, page)
    because = f"'{said.words}' became final"
    yield from command(room, "presenter", said, lambda: room.go(page), because, remark)


def stay(room: Room) -> Ticks[None]:
    """Nobody asks for a clip to leave it at once."""
    if room.mode == "clip":
        yield from room.script.wait(max(_GLANCE - (room.now - room.mode_since), 0))


def open_floor(room: Room) -> Ticks[None]:
    said = room.words.ordered("open")
    because = f"'{said.words}' became final on the host's channel"
    yield from command(room, "host", said, room.open_floor, because)
