"""What happens to the pages of the deck, and words that only sound as if something did."""

from __future__ import annotations

from streamdecisionbench.families.presenter.generator.bystanders import levels_now, side_line
from streamdecisionbench.families.presenter.generator.modes import (
    happens_in,
    into,
    settle,
    stay,
    to_page,
)
from streamdecisionbench.families.presenter.generator.room import Room
from streamdecisionbench.families.presenter.generator.speech import plain, speak
from streamdecisionbench.families.presenter.generator.words import Said
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation


def _turns(room: Room) -> Ticks[None]:
    yield from to_page(room, room.target())


def _another_number(room: Room) -> Ticks[None]:
    """First one number, and then the final asks for another: finals rule."""
    yield from _finish_with_the_page(room)
    yield from settle(room, 1, 3)
    page = room.target()
    meant = room.draws.choose([p for p in room.hall.pages if p not in (room.slide, page)])
    first, said = room.words.corrected(meant, page)
    voice = room.begin("presenter", first, "trap: the number that was meant")
    room.show("the presenter starts to speak")
    yield from room.script.wait(room.a_while())
    room.finish(voice, said.text, "cause: the final ends on another page, and finals rule")
    room.go(page)
    room.show(f"the final says '{said.words}', whatever was meant")


def _two_commands(room: Room) -> Ticks[None]:
    """Two commands in one final, one after the other."""
    yield from _finish_with_the_page(room)
    yield from settle(room, 1, 3)
    pages = room.hall.pages
    page = room.target(of=pages[1:])
    before = pages[pages.index(page) - 1]
    first, then = room.words.says("jump", before).text, room.words.says("next").text
    text = f"{first} {room.words.lead('presenter')} {then}"
    shown = room.words.part("presenter", text)
    voice = room.begin("presenter", shown, "trap: two commands, both provisional")
    room.show("the presenter starts to speak")
    yield from room.script.wait(room.a_while())
    room.finish(voice, text, "cause: both commands of the final count, in their order")
    room.go(page)
    room.show("two commands of one final, one after the other")


def _finish_with_the_page(room: Room) -> Ticks[None]:
    """Who has not said anything about a page does so before another is up."""
    yield from stay(room)
    if not room.remarked:
        yield from settle(room, 1, 2)
        yield from plain(room, "presenter", room.words.remark())


def _beyond_the_end(room: Room) -> Ticks[None]:
    """Past the last page, or before the first, there is nothing."""
    yield from into(room, "talk", "questions")
    pages = room.hall.pages
    last = room.draws.chance(0.5)
    yield from to_page(room, pages[-1] if last else pages[0])
    yield from settle(room, 1, 2)
    said = room.words.says("next" if last else "previous")
    yield from speak(room, "presenter", said.text, "there is no page beyond the end")


def _words_around(room: Room) -> Ticks[None]:
    """The phrase with a word or a comma more, and then the phrase itself."""
    yield from into(room, "talk", "questions")
    yield from _say_around(room)
    if room.draws.chance(0.5):
        yield from to_page(room, room.target())


def _say_around(room: Room) -> Ticks[None]:
    yield from settle(room, 1, 3)
    pages = room.hall.pages
    name = "next" if room.slide != pages[-1] else "previous"
    yield from speak(
        room, "presenter", room.words.around(name), "sounds like a command and is none"
    )


def _next_within(room: Room) -> Ticks[None]:
    """'next' inside a sentence on a page that has a next one."""
    yield from into(room, "talk", "questions")
    if room.slide == room.hall.pages[-1]:
        yield from to_page(room, room.target(of=room.hall.pages[:-1]))
    yield from _say_around(room)


def _heckler(room: Room) -> Ticks[None]:
    """Somebody in the audience utters a command that would work, in perfect form."""
    yield from into(room, "talk", "clip")
    yield from settle(room, 1, 3)
    text = _loud(_would_work(room))
    room.urged = room.now
    yield from speak(room, "audience", text, "the audience commands nothing")
    yield from settle(room, 1, 2)
    yield from plain(room, "presenter")


def _wish_passed_on(room: Room) -> Ticks[None]:
    """The chair passes on that a page is wanted again, in perfect form; only the presenter moves pages."""
    yield from into(room, "talk", "questions")
    yield from settle(room, 1, 3)
    if not room.seen_before:
        yield from to_page(room, room.target())
    page = room.wanted = room.draws.choose(room.seen_before)
    yield from speak(room, "host", room.words.wish(page), "a wish that the host passes on")
    yield from settle(room, 1, 2)
    if room.draws.chance(0.7):
        yield from speak(
            room, "presenter", room.words.declined(page), "declined, in words of a command"
        )
    else:
        yield from to_page(room, page)


def _not_the_host(room: Room) -> Ticks[None]:
    """The host's phrases from somebody who is not the host."""
    yield from into(room, "talk")
    yield from settle(room, 1, 3)
    name = room.draws.choose(("open", "close"))
    who = room.draws.choose(room.words.impostors)
    said = room.words.called(name)
    text = room.draws.choose((said.text, _loud(said)))
    yield from speak(room, who, text, f"only the host may say so, not the {who}")


def _insistent_desk(room: Room) -> Ticks[None]:
    """Levels and the side log at their most certain; then somebody really starts to speak."""
    yield from into(room, "talk", "clip")
    yield from settle(room, 1, 2)
    others = [c for c in ("host", "audience", "presenter") if c != room.captions]
    channel = room.draws.choose(others)
    room.script.trap(levels_now(room, channel))
    room.script.trap(side_line(room))
    yield from settle(room, 1, 2)
    yield from plain(room, channel)


def _would_work(room: Room) -> Said:
    """A command that would change something, were it the presenter's."""
    pages, words = room.hall.pages, room.words
    found = [words.called("next" if room.slide != pages[-1] else "previous")]
    found.append(words.called("jump", room.draws.choose([p for p in pages if p != room.slide])))
    if room.on_screen == "play":
        found.append(words.called("pause"))
    return room.draws.choose(found)


def _loud(said: Said) -> str:
    return said.text[:-1] + "!" if said.text.endswith(".") else said.text


_TURN = ("tiers", "slide", "whole_sentence", "intents", "transcript")

PAGES: tuple[Situation[Room], ...] = (
    Situation("page", "a page is turned", _TURN, happens_in("talk", "questions", "clip", ticks=1), _turns, 5, dealt=False),
    Situation("page", "another number than meant", _TURN, happens_in("talk", "questions"), _another_number),
    Situation("page", "two commands in one final", (*_TURN, "order"), happens_in("talk", "questions"), _two_commands),
    Situation("page", "beyond the end of the deck", ("slide", "order"), happens_in("talk", ticks=11), _beyond_the_end),
    Situation("words", "words around the phrase", ("whole_sentence", "intents"), happens_in("talk", "questions"), _words_around),
    Situation("words", "a command within a sentence", ("whole_sentence", "intents"), happens_in("talk", ticks=11), _next_within),
    Situation("others", "a heckler commands", ("authority",), happens_in("talk", "clip"), _heckler),
    Situation("others", "a wish is passed on", ("authority", "slide"), happens_in("talk", "questions"), _wish_passed_on),
    Situation("side", "the desk insists", ("side", "captions"), happens_in("talk", "clip"), _insistent_desk),
    Situation("others", "not the host's to say", ("authority", "mode"), happens_in("talk"), _not_the_host),
)  # fmt: skip
