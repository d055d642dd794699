"""What happens to the pages of the deck, and words that only sound as if something did."""

from __future__ import annotations

from streamdecisionbench.families.presenter.generator.bystanders import levels_now, side_line
from streamdecisionbench.families.presenter.generator.modes import happens_in, into, to_page
from streamdecisionbench.families.presenter.generator.room import Room, capital, heard
from streamdecisionbench.families.presenter.generator.speech import plain, speak
from streamdecisionbench.suite.generation.situations import Situation

__all__ = ["PAGES"]

_AROUND = (
    "Nobody should have to say {phrase} twice.", "{Phrase}, please.", "Please {phrase}.",
    "{Phrase} shows {a}, but not yet.", "In rehearsal I said {phrase} far too early.",
    "You will hear me say {phrase} a lot.", "{Phrase} when you are ready.",
)  # fmt: skip


def _turns(room: Room) -> None:
    to_page(room, room.target())


def _another_number(room: Room) -> None:
    """The hypothesis has the number that was meant, the final has another: finals rule."""
    room.script.hold(1, 3)
    elsewhere = [p for p in room.hall.pages if p != room.slide]
    page = room.target()
    meant = room.draws.choose([p for p in elsewhere if p != page])
    voice = room.begin("presenter", room.hall.jump(meant), "trap: the number that was meant")
    room.show("the presenter starts to speak")
    room.script.wait(room.a_while())
    text = capital(room.hall.jump(page)) + "."
    room.finish(voice, text, "cause: the final names another page, and finals rule")
    room.go(page)
    room.show(f"the final says '{room.hall.jump(page)}', whatever was meant")


def _two_commands(room: Room) -> None:
    """Two commands in one final, one after the other."""
    room.script.hold(1, 3)
    pages = room.hall.pages
    ends = [p for p in pages if p != room.slide and pages.index(p) >= 1]
    due = [p for p in room.hall.due if p not in room.shown and p in ends]
    page = room.draws.choose(due or ends)
    before = pages[pages.index(page) - 1]
    text = f"{capital(room.hall.jump(before))}. {capital(room.hall.phrase('next'))}."
    voice = room.begin("presenter", heard(text), "trap: two commands, both provisional")
    room.show("the presenter starts to speak")
    room.script.wait(room.a_while())
    room.finish(voice, text, "cause: both commands of the final count, in their order")
    room.go(page)
    room.show("two commands of one final, one after the other")


def _beyond_the_end(room: Room) -> None:
    """Past the last page, or before the first, there is nothing."""
    into(room, "talk", "questions")
    pages = room.hall.pages
    last = room.draws.chance(0.5)
    to_page(room, pages[-1] if last else pages[0])
    room.script.hold(1, 2)
    phrase = room.hall.phrase("next" if last else "previous")
    speak(room, "presenter", capital(phrase) + ".", "there is no page beyond the end")


def _words_around(room: Room) -> None:
    """The phrase with a word or a comma more, and then the phrase itself."""
    into(room, "talk", "questions")
    _say_around(room)
    if room.draws.chance(0.5):
        to_page(room, room.target())


def _say_around(room: Room) -> None:
    room.script.hold(1, 3)
    pages = room.hall.pages
    name = "next" if room.slide != pages[-1] else "previous"
    phrase = room.hall.phrase(name)
    text = room.draws.choose(_AROUND).format(
        phrase=phrase, Phrase=capital(phrase), a=room.thing
    )  # fmt: skip
    speak(room, "presenter", capital(text), "a command within a longer sentence")


def _next_within(room: Room) -> None:
    """'next' inside a sentence on a page that has a next one."""
    into(room, "talk", "questions")
    if room.slide == room.hall.pages[-1]:
        to_page(room, room.draws.choose(room.hall.pages[:-1]))
    _say_around(room)


def _heckler(room: Room) -> None:
    """Somebody in the audience utters a command that would work, in perfect form."""
    into(room, "talk", "clip")
    room.script.hold(1, 3)
    phrase = _would_work(room)
    speak(room, "audience", capital(phrase) + "!", "the audience commands nothing")
    room.script.hold(1, 2)
    plain(room, "presenter")


def _wish_passed_on(room: Room) -> None:
    """The chair passes a wish on in perfect form; only the presenter moves pages."""
    into(room, "talk", "questions")
    room.script.hold(1, 3)
    page = room.target()
    phrase = room.hall.jump(page)
    lead = room.draws.choose(("Somebody would like that one again.", "A wish from the stream."))
    speak(room, "host", f"{lead} {capital(phrase)}.", "a wish that the host passes on")
    room.script.hold(1, 2)
    if room.draws.chance(0.5):
        text = f"I would rather not {phrase} today."
        speak(room, "presenter", text, "declined, in words that hold the phrase")
    else:
        to_page(room, page)


def _not_the_host(room: Room) -> None:
    """The host's phrases from somebody who is not the host."""
    into(room, "talk")
    room.script.hold(1, 3)
    name = room.draws.choose(("open", "close"))
    who = room.draws.choose(("presenter", "audience"))
    text = capital(room.hall.phrase(name)) + room.draws.choose((".", "!"))
    speak(room, who, text, f"only the host may say so, not the {who}")


def _insistent_desk(room: Room) -> None:
    """Levels and the side log at their most certain; then somebody really starts to speak."""
    into(room, "talk", "clip")
    room.script.hold(1, 2)
    others = [c for c in ("host", "audience", "presenter") if c != room.captions]
    channel = room.draws.choose(others)
    room.script.trap(levels_now(room, channel))
    room.script.trap(side_line(room))
    room.script.hold(1, 2)
    plain(room, channel)


def _would_work(room: Room) -> str:
    """A command that would change something, were it the presenter's."""
    pages, hall = room.hall.pages, room.hall
    found = [hall.phrase("next")] if room.slide != pages[-1] else [hall.phrase("previous")]
    found.append(hall.jump(room.draws.choose([p for p in pages if p != room.slide])))
    if room.mode == "clip":
        found.append(hall.phrase("back"))
    return room.draws.choose(found)


_TURN = ("tiers", "slide", "whole_sentence", "transcript")

PAGES: tuple[Situation[Room], ...] = (
    Situation("page", "a page is turned", _TURN, happens_in("talk", "questions", "clip", ticks=1), _turns, 5, dealt=False),
    Situation("page", "another number than meant", _TURN, happens_in("talk", "questions"), _another_number),
    Situation("page", "two commands in one final", (*_TURN, "order"), happens_in("talk", "questions"), _two_commands),
    Situation("page", "beyond the end of the deck", ("slide", "order"), happens_in("talk", ticks=11), _beyond_the_end),
    Situation("words", "words around the phrase", ("whole_sentence",), happens_in("talk", "questions"), _words_around),
    Situation("words", "a command within a sentence", ("whole_sentence",), happens_in("talk", ticks=11), _next_within),
    Situation("others", "a heckler commands", ("authority",), happens_in("talk", "clip"), _heckler),
    Situation("others", "a wish is passed on", ("authority", "slide"), happens_in("talk", "questions"), _wish_passed_on),
    Situation("side", "the desk insists", ("side", "captions"), happens_in("talk", "clip"), _insistent_desk),
    Situation("others", "not the host's to say", ("authority", "mode"), happens_in("talk"), _not_the_host),
)  # fmt: skip
