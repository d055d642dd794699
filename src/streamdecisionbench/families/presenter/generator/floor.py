"""Questions from the floor: how it is opened, who asks, what counts as a restatement."""

from __future__ import annotations

from streamdecisionbench.families.presenter.generator.modes import (
    happens_in,
    into,
    open_floor,
    settle,
    to_page,
)
from streamdecisionbench.families.presenter.generator.room import Room, Voice
from streamdecisionbench.families.presenter.generator.speech import line, plain, question, speak
from streamdecisionbench.families.presenter.generator.words import heard
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation

_AWAITED = 4
"""So many ticks an asker waits for the presenter to take up the question."""


def _ask(room: Room, text: str = "") -> Ticks[None]:
    """A question from its onset, often without words, to its last word."""
    text = text or question(room)
    voice = _start_asking(room, text, "cause: an onset in the audience")
    yield from room.script.wait(room.a_while())
    if room.draws.chance(0.3):
        shown = room.words.part("audience", text, room.draws.between(3, 5))
        room.revise(voice, shown, "a question in progress")
        yield from room.script.wait(1)
    _end_asking(room, voice, text)


def _start_asking(room: Room, text: str, note: str) -> Voice:
    words = room.draws.choose((0, 0, 2, 3))
    voice = room.begin("audience", room.words.part("audience", text, words), note)
    room.show("somebody in the audience starts")
    return voice


def _end_asking(room: Room, voice: Voice, text: str) -> None:
    room.finish(voice, text, "the words of somebody in the audience are final")
    room.show("the question became final")


def _restatement(room: Room) -> str:
    lead = room.draws.choose(("", "", "Good. ", "Thank you! "))
    return f"{lead}{room.words.restatement(room.asked)}"


def _restate(room: Room, answer: str = "") -> Ticks[None]:
    """A provisional restatement changes nothing; the final one does."""
    text = f"{_restatement(room)} {answer}".rstrip()
    note = "trap: a provisional restatement"
    shown = room.words.part("presenter", text, room.draws.between(4, 6))
    voice = room.begin("presenter", shown, note)
    room.show("the presenter starts to speak")
    yield from room.script.wait(room.a_while())
    room.finish(voice, text, "cause: the restatement is final")
    room.restate()
    room.show("the restatement became final")


def _take_up(room: Room) -> Ticks[None]:
    """The presenter restates the question when the card says so; who sees no card misses it."""
    yield from settle(room, 1, 3)
    yield from room.script.until(lambda: room.card_seen in ("repeat", "answer"), _AWAITED)
    if room.card_seen == "repeat":
        at_once = room.draws.chance(0.7)
        yield from _restate(room, room.words.answer(room.asked) if at_once else "")
        if not at_once:
            yield from settle(room, 1, 2)
            yield from plain(room, "presenter", room.words.answer(room.asked), trap=True)
        return
    room.script.count("questions_missed")
    if room.card_seen == "answer":
        yield from plain(room, "presenter", room.words.answer(room.asked))


def _asked_and_restated(room: Room) -> Ticks[None]:
    yield from into(room, "questions")
    yield from settle(room, 1, 3)
    yield from _ask(room)
    yield from _take_up(room)


def _thanked_first(room: Room) -> Ticks[None]:
    """Thanks, praise and answers leave the card where it is."""
    yield from into(room, "questions")
    yield from settle(room, 1, 2)
    yield from _ask(room)
    yield from settle(room, 1, 2)
    yield from speak(
        room, "presenter", room.words.thanks(room.asked_about), "thanks are no restatement"
    )
    yield from _take_up(room)


def _not_quite(room: Room) -> Ticks[None]:
    """The words of a restatement from the asker, or in a sentence that restates nothing."""
    yield from into(room, "questions")
    yield from settle(room, 1, 2)
    question(room)  # which the asker puts in words that would restate it
    yield from _ask(room, room.words.asked_formally(room.asked))
    yield from settle(room, 1, 2)
    text = room.words.not_restated(room.asked_about)
    yield from speak(room, "presenter", text, "words that do not restate")
    yield from _take_up(room)


def _two_ask(room: Room) -> Ticks[None]:
    """Two people start; the card follows the one who started last, whoever is done first."""
    yield from into(room, "questions")
    yield from settle(room, 1, 3)
    one, two = question(room), question(room)
    first = _start_asking(room, one, "cause: an onset in the audience")
    yield from room.script.wait(room.a_while())
    second = _start_asking(room, two, "the newer of two, which the card follows")
    yield from room.script.wait(1)
    room.finish(first, one, "trap: the older of two is final first", trap=True)
    room.busy.add("audience")
    yield from room.script.wait(room.a_while())
    _end_asking(room, second, two)
    yield from _take_up(room)


def _ahead(room: Room, note: str) -> Ticks[tuple[tuple[Voice, str], tuple[Voice, str]]]:
    """Somebody asks, and the presenter begins to restate it meanwhile: both voices with their words."""
    yield from into(room, "questions")
    yield from settle(room, 1, 3)
    text, restated = question(room), _restatement(room)
    asker = _start_asking(room, text, "cause: an onset in the audience")
    yield from room.script.wait(room.a_while())
    room.revise(asker, heard(text), "all of the question, but provisional")
    voice = room.begin("presenter", room.words.part("presenter", restated, 5), note)
    room.show("the presenter starts to speak")
    return (asker, text), (voice, restated)


def _too_early(room: Room) -> Ticks[None]:
    """A restatement that is final at the very tick of the question does not count."""
    asked, restated = yield from _ahead(room, "the presenter is ahead of the question")
    yield from room.script.wait(1)
    room.finish(*restated, "trap: final at the tick of the question", trap=True)
    _end_asking(room, *asked)
    yield from _take_up(room)


def _begun_early(room: Room) -> Ticks[None]:
    """A restatement may begin while the question is spoken: it counts if it is final later."""
    asked, (voice, restated) = yield from _ahead(room, "the presenter knows what is being asked")
    restated += f" {room.words.answer(room.asked)}"
    yield from room.script.wait(room.a_while())
    _end_asking(room, *asked)
    yield from room.script.wait(room.a_while())
    room.finish(voice, restated, "cause: begun before the question was final, but final after it")
    room.restate()
    room.show("the restatement became final, whenever it began")


def _before_the_opening(room: Room) -> Ticks[None]:
    """Who started before the floor was open asks nothing, however late the words are final, and asks again."""
    yield from into(room, "talk")
    yield from settle(room, 1, 2)
    text = question(room)
    shown = room.words.part("audience", text, 3)
    early = room.begin("audience", shown, "trap: before the floor is open")
    room.show("somebody in the audience starts")
    yield from room.script.wait(1)
    yield from open_floor(room)
    yield from room.script.wait(room.a_while())
    room.finish(early, text, "trap: it started before the floor was open", trap=True)
    if room.end - room.now >= _AWAITED + _AWAITED:
        yield from settle(room, 1, 3)
        yield from _ask(room, text)
        yield from _take_up(room)


def _at_the_opening(room: Room) -> Ticks[None]:
    """Who starts at the tick of the opening does ask a question."""
    yield from into(room, "talk")
    yield from settle(room, 1, 3)
    text, opening = question(room), room.words.says("open")
    host = room.begin("host", opening.words, "provisional, so the floor is not open yet")
    room.show("the host starts to speak")
    yield from room.script.wait(room.a_while())
    room.finish(host, opening.text, "cause: the floor is open")
    room.open_floor()
    shown = room.words.part("audience", text, 2)
    asker = room.begin("audience", shown, "cause: an onset at the tick of the opening")
    room.show("the floor opened as somebody started")
    yield from room.script.wait(room.a_while())
    _end_asking(room, asker, text)
    yield from _take_up(room)


def _opened_again(room: Room) -> Ticks[None]:
    """Opening what is open does nothing: the card stays with the question that was answered."""
    yield from into(room, "questions")
    if room.card == "waiting":
        yield from settle(room, 1, 2)
        yield from _ask(room)
    if room.card == "repeat":
        yield from _take_up(room)
    yield from settle(room, 1, 3)
    yield from speak(room, "host", room.words.says("open").text, "the floor is open already")


def _race(room: Room) -> Ticks[None]:
    """A play command begun before the opening, but final after it, is lost."""
    yield from into(room, "talk")
    yield from to_page(room, room.hall.clip_page)
    yield from settle(room, 1, 3)
    play, opening = room.words.says("play"), room.words.says("open")
    voice = room.begin("presenter", play.words, "begun before the opening")
    room.show("the presenter starts to speak")
    yield from room.script.wait(1)
    host = room.begin("host", opening.words, "begun after the play command")
    room.show("the host starts to speak")
    yield from room.script.wait(room.a_while())
    room.finish(host, opening.text, "cause: final before the play command")
    room.open_floor()
    room.show(f"'{opening.words}' became final first")
    yield from room.script.wait(room.a_while())
    room.finish(voice, play.text, "trap: the floor is open by now", trap=True)
    yield from into(room, "clip")


def _play_in_vain(room: Room) -> Ticks[None]:
    """Even on the clip's page there is no playing while the floor is open, not even as an answer."""
    yield from into(room, "questions")
    if room.question is None:
        yield from settle(room, 1, 2)
        yield from _ask(room)
    yield from to_page(room, room.hall.clip_page)
    yield from settle(room, 1, 2)
    yield from speak(
        room, "presenter", room.words.says("play").text, "no clip while the floor is open"
    )
    yield from into(room, "clip")


def _back(room: Room) -> Ticks[None]:
    yield from into(room, "talk")


def _aside(room: Room) -> Ticks[None]:
    """Somebody calls out while nobody asked for questions."""
    yield from into(room, "talk", "clip")
    yield from settle(room, 1, 3)
    yield from speak(room, "audience", line(room, "audience"), "a call from the audience")


_CARD = ("card", "tiers", "transcript")

FLOOR: tuple[Situation[Room], ...] = (
    Situation("asked", "asked and restated", _CARD, happens_in("questions", ticks=12), _asked_and_restated, 3, dealt=False),
    Situation("asked", "thanked first", _CARD, happens_in("questions", ticks=13), _thanked_first),
    Situation("asked", "not quite a restatement", _CARD, happens_in("questions", ticks=13), _not_quite),
    Situation("asked", "two ask at once", _CARD, happens_in("questions", ticks=12), _two_ask),
    Situation("asked", "restated too early", _CARD, happens_in("questions", ticks=13), _too_early),
    Situation("asked", "restated while it is asked", _CARD, happens_in("questions", ticks=12), _begun_early),
    Situation("floor", "a voice before the opening", ("card", "mode"), happens_in("talk"), _before_the_opening),
    Situation("floor", "a voice at the opening", ("card", "mode"), happens_in("talk"), _at_the_opening),
    Situation("floor", "opened twice", ("mode", "card"), happens_in("questions", ticks=13), _opened_again),
    Situation("floor", "a race for the stage", ("order", "mode"), happens_in("talk", ticks=12), _race),
    Situation("floor", "no clip for the floor", ("mode", "order"), happens_in("questions", ticks=13), _play_in_vain),
    Situation("floor", "back from the floor", ("mode",), lambda room: room.mode == "questions" and room.now < room.end, _back, 1, dealt=False),
    Situation("aside", "somebody calls out", ("captions",), happens_in("talk", "clip"), _aside, 2, dealt=False),
)  # fmt: skip
