"""What people say: lines that command nothing, and the ways in which a command is spoken."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from streamdecisionbench.families.presenter.generator.room import Room, Voice
from streamdecisionbench.families.presenter.generator.words import Said
from streamdecisionbench.suite.generation.script import Ticks


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
    voice = room.begin(channel, shown, note)
    room.show(f"the {channel} starts to speak")
    yield from room.script.wait(room.a_while())
    room.finish(voice, text, note, trap=trap)


def speak(room: Room, channel: str, text: str, note: str) -> Ticks[None]:
    """A sentence that sounds like something and is nothing."""
    if room.captions == channel and room.script.pace(1, 9) == 1:
        yield from _interject(room, channel)
    shown = room.words.part(channel, text, room.draws.between(2, 5))
    voice = room.begin(channel, shown, note)
    room.show(f"the {channel} starts to speak")
    yield from room.script.wait(room.a_while())
    room.finish(voice, text, f"trap: {note}", trap=True)


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
        yield from room.script.wait(room.a_while())
        room.finish(voice, text, "cause: the command is final")
    obey()
    room.show(because)
    return voice


def _interject(room: Room, channel: str) -> Ticks[None]:
    """Somebody else says a word in between, where a session would otherwise drag."""
    others = ["host"] if room.mode == "questions" else ["host", "audience"]
    other = room.draws.choose([c for c in others if c != channel] or ["presenter"])
    text = room.words.interjection(other)
    room.utter(other, text, "a word in between takes the captions")
    room.show(f"the {other} says a word in between")
    yield from room.script.wait(1)


def _sentence(room: Room, said: Said) -> str:
    """Some say it louder."""
    mark = room.draws.choose((".", ".", "!"))
    return said.text[:-1] + mark if said.text.endswith(".") else said.text


def _begin(room: Room, channel: str, text: str) -> Voice:
    voice = room.begin(channel, text, "provisional, so nothing lasting follows yet")
    room.show(f"the {channel} starts to speak")
    return voice


def _plainly(room: Room, channel: str, said: Said) -> Ticks[tuple[Voice, str]]:
    yield from ()
    return _begin(room, channel, said.words), _sentence(room, said)


def _growing(room: Room, channel: str, said: Said) -> Ticks[tuple[Voice, str]]:
    """Word by word, or after a breath without any."""
    words = room.draws.below(len(said.words.split()))
    voice = _begin(room, channel, room.words.part(channel, said.text, words))
    yield from room.script.wait(1)
    room.revise(voice, said.words, "the words are complete, but provisional")
    return voice, _sentence(room, said)


def _after_a_word(room: Room, channel: str, said: Said, lead: str = "") -> Ticks[tuple[Voice, str]]:
    yield from ()
    lead = lead or room.words.lead(channel)
    text = f"{lead} {_sentence(room, said)}"
    return _begin(room, channel, room.words.part(channel, text)), text


def _with_an_afterthought(room: Room, channel: str, said: Said) -> Ticks[tuple[Voice, str]]:
    yield from ()
    after = room.words.afterthought(channel)
    return _begin(room, channel, said.words), f"{_sentence(room, said)} {after}".rstrip()
