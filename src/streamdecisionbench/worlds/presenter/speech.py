"""How sentences and commands are spoken, and how the session moves from mode to mode."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from streamdecisionbench.families.presenter.events import log
from streamdecisionbench.worlds.generation.world_simulator import Ticks
from streamdecisionbench.worlds.presenter import phrases
from streamdecisionbench.worlds.presenter.room import (
    CHANNELS,
    Room,
    Voice,
)
from streamdecisionbench.worlds.presenter.words import Said


def line(room: Room, channel: str) -> str:
    """A sentence or two of no consequence."""
    if room.mode == "closed":
        lines = room.words.leaving(channel)
    else:
        lines = [text for text in room.words.lines(channel) if room.fits(text, channel)]
    text = room.unsaid(lines)
    a = room.about(text)
    b = room.draws.choose([thing for thing in room.hall.subject.singles if thing != a])
    return room.words.fill(text, a, b)


def question(room: Room) -> str:
    """A question from the audience; what it asks is kept for whoever restates it."""
    a, b = room.draws.sample(room.hall.subject.singles, 2)
    text = room.unsaid(list(room.words.questions))
    room.asked = room.words.questions[text].format(a=a, b=b)
    room.asked_about = a if "{a}" in text else b
    return text.format(a=a, b=b)


def toward(room: Room, page: str) -> Said:
    """A command that leads to a page: by one step where it is a neighbour, or by its number."""
    pages = room.hall.pages
    step = pages.index(page) - pages.index(room.slide)
    if abs(step) == 1 and room.draws.chance(0.6):
        return room.words.ordered("next" if step == 1 else "previous")
    return room.words.ordered("jump", page)


def plain(room: Room, channel: str, text: str = "", *, trap: bool = False) -> Ticks[None]:
    """Somebody says something that commands nothing, over a tick or two."""
    text = text or line(room, channel)
    note = "distractor: plain speech"
    shown = room.words.part(channel, text, room.draws.between(2, 4))
    voice = room.start(channel, shown, note)
    yield from room.finish_soon(voice, text, note, trap=trap)


def speak(room: Room, channel: str, text: str, note: str) -> Ticks[None]:
    """A sentence that sounds like something and is nothing."""
    if room.captions == channel and room.pace(1, 9) == 1:
        yield from _interject(room, channel)
    shown = room.words.part(channel, text, room.draws.between(2, 5))
    voice = room.start(channel, shown, note)
    yield from room.finish_soon(voice, text, f"trap: {note}", trap=True)


def command(
    room: Room, channel: str, said: Said, obey: Callable[[], None], because: str, remark: str = ""
) -> Ticks[Voice]:
    """A command that counts: provisional for a while, then final, and only then obeyed."""
    ways: dict[Callable[[Room, str, Said], Ticks[tuple[Voice, str]]], int] = {
        _plainly: 4, _growing: 2, _after_a_word: 3, _with_an_afterthought: 1,
    }  # fmt: skip
    if remark:
        ways = {partial(_after_a_word, lead=remark): 1}
    if not remark and room.draws.chance(0.12):
        voice = room.utter(channel, _sentence(room, said), "cause: short, and final at once")
    else:
        voice, text = yield from room.draws.weighted(ways)(room, channel, said)
        yield from room.finish_soon(voice, text, "cause: the command is final")
    obey()
    room.show(because)
    return voice


def _interject(room: Room, channel: str) -> Ticks[None]:
    """Somebody else says a word in between, where a session would otherwise drag."""
    others = ["host"] if room.mode == "questions" else ["host", "audience"]
    other = room.draws.choose([c for c in others if c != channel] or ["presenter"])
    text = room.words.short_line("interjections", other)
    room.utter(other, text, "a word in between takes the captions")
    room.show(f"the {other} says a word in between")
    yield from room.wait(1)


def _sentence(room: Room, said: Said) -> str:
    """Some say it louder."""
    mark = room.draws.choose((".", ".", "!"))
    return said.text[:-1] + mark if said.text.endswith(".") else said.text


def _begin(room: Room, channel: str, text: str) -> Voice:
    return room.start(channel, text, "provisional, so nothing lasting follows yet")


def _plainly(room: Room, channel: str, said: Said) -> Ticks[tuple[Voice, str]]:
    yield from ()
    return _begin(room, channel, said.words), _sentence(room, said)


def _growing(room: Room, channel: str, said: Said) -> Ticks[tuple[Voice, str]]:
    """Word by word, or after a breath without any."""
    words = room.draws.below(len(said.words.split()))
    voice = _begin(room, channel, room.words.part(channel, said.text, words))
    yield from room.wait(1)
    room.revise(voice, said.words, "the words are complete, but provisional")
    return voice, _sentence(room, said)


def _after_a_word(room: Room, channel: str, said: Said, lead: str = "") -> Ticks[tuple[Voice, str]]:
    yield from ()
    lead = lead or room.words.short_line("leads", channel)
    text = f"{lead} {_sentence(room, said)}"
    return _begin(room, channel, room.words.part(channel, text)), text


def _with_an_afterthought(room: Room, channel: str, said: Said) -> Ticks[tuple[Voice, str]]:
    yield from ()
    after = room.words.afterthought(channel)
    return _begin(room, channel, said.words), f"{_sentence(room, said)} {after}".rstrip()


# From mode to mode, and objections to a wrong panel.

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
        time = min(room.end, room.steps) - room.now
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


def reach(room: Room, *modes: str, most: int = 3) -> Ticks[None]:
    """Lead to one of these modes, and let some ticks pass there."""
    yield from into(room, *modes)
    yield from settle(room, 1, most)


def settle(room: Room, least: int, most: int) -> Ticks[None]:
    """Some ticks pass. Whoever still sees something wrong on the panel a moment later, says so.

    They say again what they have said before, which changes nothing but the captions; only a clip that
    stood still and is not to be seen is started.
    """
    for _ in range(room.pace(least, most)):
        yield from room.wait(1)
        room.complete_old_halves()
    if _amiss(room) and not (yield from room.until(lambda: not _amiss(room), _A_MOMENT)):
        what = _amiss(room)
        if what:
            room.objected[what] += 1
            yield from _object(room, what[0])
            yield from room.wait(1)


def _amiss(room: Room) -> tuple[str, str] | None:
    """What somebody would object to on the panel, with what it should be; not for ever."""
    if room.mode == "closed":
        return None
    panel, found = room.panel, []
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
        room.count("interruptions")
        yield from plain(room, "host")
    elif what == "captions":
        room.count("complaints")
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
        yield from _again(room, "presenter", room.words.back(room.panel["mode"]))


def _complain(room: Room) -> Ticks[None]:
    """Who reads the captions calls out; while that would be a question, the side log reports it."""
    carried = room.panel.get("captions") in CHANNELS
    if room.mode != "questions":
        text = room.unsaid(phrases.ABOUT_CAPTIONS["other" if carried else "none"])
        yield from plain(room, "audience", text)
    else:
        row = room.draws.between(2, room.hall.rows)
        room.emit(log(room.now, "floor", f"Row {row} cannot follow, the captions are wrong."))
        yield from room.wait(1)
        yield from plain(room, "host", room.words.short_line("captions", "host"))


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
    remark = "" if room.remarked else room.words.short_line("remarks", "presenter")
    said = toward(room, page)
    because = f"'{said.words}' became final"
    yield from command(room, "presenter", said, lambda: room.go(page), because, remark)


def stay(room: Room) -> Ticks[None]:
    """Nobody asks for a clip to leave it at once."""
    if room.mode == "clip":
        yield from room.wait(max(_GLANCE - (room.now - room.mode_since), 0))


def open_floor(room: Room) -> Ticks[None]:
    said = room.words.ordered("open")
    because = f"'{said.words}' became final on the host's channel"
    yield from command(room, "host", said, room.open_floor, because)
