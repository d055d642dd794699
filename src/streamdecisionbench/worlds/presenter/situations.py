"""Situations of a presenter session: pages, the clip, questions, the chair."""

from __future__ import annotations

from streamdecisionbench.worlds.generation.world import Situation
from streamdecisionbench.worlds.generation.world_simulator import Ticks
from streamdecisionbench.worlds.presenter import phrases
from streamdecisionbench.worlds.presenter.bystanders import (
    levels_now,
    side_line,
)
from streamdecisionbench.worlds.presenter.room import (
    Room,
    Voice,
)
from streamdecisionbench.worlds.presenter.speech import (
    command,
    happens_in,
    into,
    line,
    open_floor,
    plain,
    play_on,
    question,
    reach,
    settle,
    speak,
    stay,
    to_page,
)
from streamdecisionbench.worlds.presenter.words import (
    Said,
    heard,
)

# Pages of the deck, and words that only sound like a command.


def _turns(room: Room) -> Ticks[None]:
    yield from to_page(room, room.target())


def _another_number(room: Room) -> Ticks[None]:
    """First one number, and then the final asks for another: finals rule."""
    yield from _finish_with_the_page(room)
    yield from settle(room, 1, 3)
    page = room.target()
    meant = room.draws.choose([p for p in room.hall.pages if p not in (room.slide, page)])
    first, said = room.words.corrected(meant, page)
    voice = room.start("presenter", first, "trap: the number that was meant")
    yield from room.finish_soon(
        voice, said.text, "cause: the final ends on another page, and finals rule"
    )
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
    text = f"{first} {room.words.short_line('leads', 'presenter')} {then}"
    shown = room.words.part("presenter", text)
    voice = room.start("presenter", shown, "trap: two commands, both provisional")
    yield from room.finish_soon(
        voice, text, "cause: both commands of the final count, in their order"
    )
    room.go(page)
    room.show("two commands of one final, one after the other")


def _finish_with_the_page(room: Room) -> Ticks[None]:
    """Who has not said anything about a page does so before another is up."""
    yield from stay(room)
    if not room.remarked:
        yield from settle(room, 1, 2)
        yield from plain(room, "presenter", room.words.short_line("remarks", "presenter"))


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
    yield from reach(room, "talk", "clip")
    text = _loud(_would_work(room))
    room.urged = room.now
    yield from speak(room, "audience", text, "the audience commands nothing")
    yield from settle(room, 1, 2)
    yield from plain(room, "presenter")


def _request_passed_on(room: Room) -> Ticks[None]:
    """The chair passes on that a page is wanted again, in perfect form; only the presenter moves pages."""
    yield from reach(room, "talk", "questions")
    if not room.seen_before:
        yield from to_page(room, room.target())
    page = room.wanted = room.draws.choose(room.seen_before)
    yield from speak(room, "host", room.words.request_for(page), "a wish that the host passes on")
    yield from settle(room, 1, 2)
    if room.draws.chance(0.7):
        yield from speak(
            room, "presenter", room.words.declined(page), "declined, in words of a command"
        )
    else:
        yield from to_page(room, page)


def _not_the_host(room: Room) -> Ticks[None]:
    """The host's phrases from somebody who is not the host."""
    yield from reach(room, "talk")
    name = room.draws.choose(("open", "close"))
    who = room.draws.choose(room.words.impostors)
    said = room.words.called(name)
    text = room.draws.choose((said.text, _loud(said)))
    yield from speak(room, who, text, f"only the host may say so, not the {who}")


def _insistent_desk(room: Room) -> Ticks[None]:
    """Levels and the side log at their most certain; then somebody really starts to speak."""
    yield from reach(room, "talk", "clip", most=2)
    others = [c for c in ("host", "audience", "presenter") if c != room.captions]
    channel = room.draws.choose(others)
    room.trap(levels_now(room, channel))
    room.trap(side_line(room))
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
    Situation("others", "a wish is passed on", ("authority", "slide"), happens_in("talk", "questions"), _request_passed_on),
    Situation("side", "the desk insists", ("side", "captions"), happens_in("talk", "clip"), _insistent_desk),
    Situation("others", "not the host's to say", ("authority", "mode"), happens_in("talk"), _not_the_host),
)  # fmt: skip


# The clip: playing, pausing early and for good, putting it away.


def _started(room: Room) -> Ticks[None]:
    yield from into(room, "clip")


def _another_page(room: Room) -> Ticks[None]:
    """Playing works on the clip's page alone, is not kept until that page is up, and is asked for again."""
    yield from into(room, "talk")
    if room.slide == room.hall.clip_page:
        yield from to_page(room, room.target())
    yield from settle(room, 1, 3)
    yield from speak(
        room,
        "presenter",
        room.words.says("play").text,
        "this page has no clip, so the command is lost",
    )
    yield from into(room, "clip")


def _pause_at_once(room: Room, said: Said) -> Ticks[Voice]:
    """A provisional pause, in force as it stands."""
    yield from settle(room, 1, 3)
    voice = room.begin("presenter", said.words, "cause: the early pause")
    room.early_pause = True
    room.show("the current text is a pause command")
    return voice


def _paused_for_good(room: Room) -> Ticks[None]:
    yield from into(room, "clip")
    said = room.words.says("pause")
    voice = yield from _pause_at_once(room, said)
    yield from room.finish_soon(voice, said.text, "the final confirms a pause already in force")
    room.early_pause, room.clip = False, "pause"
    room.show("the pause is final")
    yield from settle(room, 1, 3)
    yield from play_on(room)


def _paused_and_talks_on(room: Room) -> Ticks[None]:
    """The pause is still provisional when newer words begin: any entry may hold the clip."""
    yield from into(room, "clip")
    yield from _resume(room)
    said, text = room.words.says("pause"), line(room, "presenter")
    voice = yield from _pause_at_once(room, said)
    yield from room.wait(room.a_while())
    shown = room.words.part("presenter", text, room.draws.between(2, 4))
    newer = room.start(
        "presenter",
        shown,
        "trap: newer words, but the pause stands",
        "the presenter talks on, and the pause stands",
        trap=True,
    )
    yield from room.finish_soon(voice, said.text, "the final confirms a pause already in force")
    room.early_pause, room.clip = False, "pause"
    room.busy.add("presenter")
    yield from room.finish_soon(newer, text, "trap: final text without a command", trap=True)
    yield from settle(room, 1, 3)
    yield from play_on(room)


def _pause_taken_back(room: Room) -> Ticks[None]:
    """The first hypothesis was a pause command, the sentence is another."""
    yield from into(room, "clip")
    yield from _resume(room)
    said, text = room.words.drift("pause")
    voice = yield from _pause_at_once(room, said)
    yield from room.wait(room.a_while())
    room.revise(voice, room.words.revision(said, text), "cause: the revision takes it back")
    room.early_pause = False
    room.show("the revision is no pause, so the early pause went with it")
    yield from room.finish_soon(voice, text, "trap: final text without a command", trap=True)


def _only_begins_so(room: Room) -> Ticks[None]:
    """A sentence that begins like a pause; its provisional text is longer than a command."""
    yield from into(room, "clip")
    yield from _resume(room)
    yield from settle(room, 1, 3)
    shown, text = room.words.begins("pause")
    voice = room.start("presenter", shown, "trap: longer than the command", trap=True)
    yield from room.finish_soon(voice, text, "trap: final text without a command", trap=True)


def _resume(room: Room) -> Ticks[None]:
    if room.clip == "pause":
        yield from settle(room, 1, 2)
        yield from play_on(room)


def _floor_in_vain(room: Room) -> Ticks[None]:
    """The host opens the floor while the clip is on: lost, not kept for later."""
    yield from reach(room, "clip")
    yield from speak(
        room,
        "host",
        room.words.says("open").text,
        "the floor cannot be opened while the clip is on",
    )


def _put_away(room: Room) -> Ticks[None]:
    """A page is asked for, perhaps the one already showing: the clip goes away with it."""
    yield from into(room, "clip")
    yield from stay(room)
    yield from settle(room, 1, 3)
    same = room.draws.chance(0.3)
    page = room.slide if same else room.target()
    said = room.words.ordered("jump", page)
    because = f"'{said.words}' became final in clip mode and puts the clip away"
    yield from command(room, "presenter", said, lambda: room.go(page), because)


def _paused_beforehand(room: Room) -> Ticks[None]:
    """A pause in talk is lost, even on the clip's page: entering the mode plays."""
    yield from into(room, "talk")
    yield from to_page(room, room.hall.clip_page)
    yield from settle(room, 1, 2)
    yield from speak(room, "presenter", room.words.says("pause").text, "there is no clip to pause")
    yield from into(room, "clip")


def _back(room: Room) -> Ticks[None]:
    yield from into(room, "talk")


def _sound_of_the_clip(room: Room) -> Ticks[None]:
    """The clip's own sound takes the captions, and may hold commands for other machines."""
    yield from into(room, "clip")
    yield from _resume(room)
    yield from settle(room, 1, 3)
    words = line(room, "clip")
    if room.draws.chance(0.6):
        orders = (room.words.says("next"), room.words.back("clip"), room.words.says("pause"))
        words += f" {room.draws.choose(orders).text}"
    voice = room.start(
        "clip",
        "",
        "cause: an onset on the clip channel, no words yet",
        "the sound of the clip starts",
    )
    yield from room.finish_soon(voice, words, "trap: the clip commands nothing", trap=True)


_PAUSES = ("clip", "tiers")

CLIPS: tuple[Situation[Room], ...] = (
    Situation("clip", "the clip is started", ("mode", "clip"), happens_in("clip", ticks=14), _started, 2, dealt=False),
    Situation("play", "play on another page", ("mode", "order"), happens_in("talk", ticks=12), _another_page),
    Situation("clip", "paused for good", _PAUSES, happens_in("clip", ticks=12), _paused_for_good, 3),
    Situation("clip", "a pause taken back", _PAUSES, happens_in("clip", ticks=12), _pause_taken_back, 3),
    Situation("clip", "paused and talks on", _PAUSES, happens_in("clip", ticks=14), _paused_and_talks_on),
    Situation("clip", "only begins like a pause", (*_PAUSES, "whole_sentence", "intents"), happens_in("clip", ticks=12), _only_begins_so),
    Situation("clip", "the floor opened in vain", ("mode", "order"), happens_in("clip", ticks=12), _floor_in_vain),
    Situation("play", "the clip is put away", ("slide", "mode"), happens_in("clip", ticks=12), _put_away),
    Situation("play", "paused beforehand", ("clip", "order"), happens_in("talk", ticks=13), _paused_beforehand),
    Situation("play", "back to the talk", ("mode",), lambda room: room.mode == "clip" and room.now < room.end, _back, 2, dealt=False),
)  # fmt: skip

THE_CLIP_SPEAKS: Situation[Room] = Situation(
    "clip", "the clip speaks", ("captions", "authority"), happens_in("clip", ticks=12), _sound_of_the_clip, 5
)  # fmt: skip


# Questions: how the floor is opened, who asks, what counts as a restatement.

_AWAITED = 4
"""So many ticks an asker waits for the presenter to take up the question."""


def _ask(room: Room, text: str = "") -> Ticks[None]:
    """A question from its onset, often without words, to its last word."""
    text = text or question(room)
    voice = _start_asking(room, text, "cause: an onset in the audience")
    yield from room.wait(room.a_while())
    if room.draws.chance(0.3):
        shown = room.words.part("audience", text, room.draws.between(3, 5))
        room.revise(voice, shown, "a question in progress")
        yield from room.wait(1)
    _end_asking(room, voice, text)


def _start_asking(room: Room, text: str, note: str) -> Voice:
    words = room.draws.choose((0, 0, 2, 3))
    return room.start(
        "audience",
        room.words.part("audience", text, words),
        note,
        "somebody in the audience starts",
    )


def _end_asking(room: Room, voice: Voice, text: str) -> None:
    room.finish(voice, text, "the words of somebody in the audience are final")
    room.show("the question became final")


def _restatement(room: Room) -> str:
    lead = room.draws.choose(phrases.BEFORE_A_RESTATEMENT)
    return f"{lead}{room.words.restatement(room.asked)}"


def _restate(room: Room, answer: str = "") -> Ticks[None]:
    """A provisional restatement changes nothing; the final one does."""
    text = f"{_restatement(room)} {answer}".rstrip()
    note = "trap: a provisional restatement"
    shown = room.words.part("presenter", text, room.draws.between(4, 6))
    voice = room.start("presenter", shown, note)
    yield from room.finish_soon(voice, text, "cause: the restatement is final")
    room.restate()
    room.show("the restatement became final")


def _take_up(room: Room) -> Ticks[None]:
    """The presenter restates the question when the card says so; who sees no card misses it."""
    yield from settle(room, 1, 3)
    yield from room.until(lambda: room.card_seen in ("repeat", "answer"), _AWAITED)
    if room.card_seen == "repeat":
        at_once = room.draws.chance(0.7)
        yield from _restate(room, room.words.answer(room.asked) if at_once else "")
        if not at_once:
            yield from settle(room, 1, 2)
            yield from plain(room, "presenter", room.words.answer(room.asked), trap=True)
        return
    room.count("questions_missed")
    if room.card_seen == "answer":
        yield from plain(room, "presenter", room.words.answer(room.asked))


def _asked_and_restated(room: Room) -> Ticks[None]:
    yield from reach(room, "questions")
    yield from _ask(room)
    yield from _take_up(room)


def _thanked_first(room: Room) -> Ticks[None]:
    """Thanks, praise and answers leave the card where it is."""
    yield from reach(room, "questions", most=2)
    yield from _ask(room)
    yield from settle(room, 1, 2)
    yield from speak(
        room, "presenter", room.words.thanks(room.asked_about), "thanks are no restatement"
    )
    yield from _take_up(room)


def _not_quite(room: Room) -> Ticks[None]:
    """The words of a restatement from the asker, or in a sentence that restates nothing."""
    yield from reach(room, "questions", most=2)
    question(room)  # which the asker puts in words that would restate it
    yield from _ask(room, room.words.asked_formally(room.asked))
    yield from settle(room, 1, 2)
    text = room.words.not_restated(room.asked_about)
    yield from speak(room, "presenter", text, "words that do not restate")
    yield from _take_up(room)


def _two_ask(room: Room) -> Ticks[None]:
    """Two people start; the card follows the one who started last, whoever is done first."""
    yield from reach(room, "questions")
    one, two = question(room), question(room)
    first = _start_asking(room, one, "cause: an onset in the audience")
    yield from room.wait(room.a_while())
    second = _start_asking(room, two, "the newer of two, which the card follows")
    yield from room.wait(1)
    room.finish(first, one, "trap: the older of two is final first", trap=True)
    room.busy.add("audience")
    yield from room.wait(room.a_while())
    _end_asking(room, second, two)
    yield from _take_up(room)


def _ahead(room: Room, note: str) -> Ticks[tuple[tuple[Voice, str], tuple[Voice, str]]]:
    """Somebody asks, and the presenter begins to restate it meanwhile: both voices with their words."""
    yield from reach(room, "questions")
    text, restated = question(room), _restatement(room)
    asker = _start_asking(room, text, "cause: an onset in the audience")
    yield from room.wait(room.a_while())
    room.revise(asker, heard(text), "all of the question, but provisional")
    voice = room.start("presenter", room.words.part("presenter", restated, 5), note)
    return (asker, text), (voice, restated)


def _too_early(room: Room) -> Ticks[None]:
    """A restatement that is final at the very tick of the question does not count."""
    asked, restated = yield from _ahead(room, "the presenter is ahead of the question")
    yield from room.wait(1)
    room.finish(*restated, "trap: final at the tick of the question", trap=True)
    _end_asking(room, *asked)
    yield from _take_up(room)


def _begun_early(room: Room) -> Ticks[None]:
    """A restatement may begin while the question is spoken: it counts if it is final later."""
    asked, (voice, restated) = yield from _ahead(room, "the presenter knows what is being asked")
    restated += f" {room.words.answer(room.asked)}"
    yield from room.wait(room.a_while())
    _end_asking(room, *asked)
    yield from room.finish_soon(
        voice, restated, "cause: begun before the question was final, but final after it"
    )
    room.restate()
    room.show("the restatement became final, whenever it began")


def _before_the_opening(room: Room) -> Ticks[None]:
    """Who started before the floor was open asks nothing, however late the words are final, and asks again."""
    yield from reach(room, "talk", most=2)
    text = question(room)
    shown = room.words.part("audience", text, 3)
    early = room.start(
        "audience", shown, "trap: before the floor is open", "somebody in the audience starts"
    )
    yield from room.wait(1)
    yield from open_floor(room)
    yield from room.finish_soon(
        early, text, "trap: it started before the floor was open", trap=True
    )
    if room.end - room.now >= _AWAITED + _AWAITED:
        yield from settle(room, 1, 3)
        yield from _ask(room, text)
        yield from _take_up(room)


def _at_the_opening(room: Room) -> Ticks[None]:
    """Who starts at the tick of the opening does ask a question."""
    yield from reach(room, "talk")
    text, opening = question(room), room.words.says("open")
    host = room.start("host", opening.words, "provisional, so the floor is not open yet")
    yield from room.finish_soon(host, opening.text, "cause: the floor is open")
    room.open_floor()
    shown = room.words.part("audience", text, 2)
    asker = room.start(
        "audience",
        shown,
        "cause: an onset at the tick of the opening",
        "the floor opened as somebody started",
    )
    yield from room.wait(room.a_while())
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
    voice = room.start("presenter", play.words, "begun before the opening")
    yield from room.wait(1)
    host = room.start("host", opening.words, "begun after the play command")
    yield from room.finish_soon(host, opening.text, "cause: final before the play command")
    room.open_floor()
    room.show(f"'{opening.words}' became final first")
    yield from room.finish_soon(voice, play.text, "trap: the floor is open by now", trap=True)
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


def _back_from_the_floor(room: Room) -> Ticks[None]:
    yield from into(room, "talk")


def _aside(room: Room) -> Ticks[None]:
    """Somebody calls out while nobody asked for questions."""
    yield from reach(room, "talk", "clip")
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
    Situation("floor", "back from the floor", ("mode",), lambda room: room.mode == "questions" and room.now < room.end, _back_from_the_floor, 1, dealt=False),
    Situation("aside", "somebody calls out", ("captions",), happens_in("talk", "clip"), _aside, 2, dealt=False),
)  # fmt: skip


# Presenter and chair: handing over, captions of several voices, the close.

_IN_THE_DARK = 4
"""So many ticks a chair who sees no light waits before somebody helps."""


def _begin_hand_over(room: Room, said: Said) -> Ticks[Voice]:
    yield from settle(room, 1, 3)
    if "host" in room.halves:
        room.complete_half("host")
    if "host" in room.newest and room.newest["host"].onset == room.now:
        yield from room.wait(1)  # otherwise the host would count as having started
    voice = room.begin("presenter", said.words, "cause: the current text hands over")
    room.hand_over()
    room.show("the current text hands over")
    return voice


def _hand_over(room: Room) -> Ticks[None]:
    said = room.words.says("hand_over")
    voice = yield from _begin_hand_over(room, said)
    yield from room.finish_soon(
        voice, said.text, "the final confirms, and neither opens nor closes anything"
    )
    room.show("the hand-over is final")


def _light(room: Room) -> Ticks[None]:
    """The chair waits for the light; where it stays off, the presenter hands over once more."""
    yield from settle(room, 1, 3)
    shown = room.until(lambda: room.panel.get("host_cue") == "stand_by", _IN_THE_DARK)
    if not (yield from shown):
        yield from _hand_over(room)
        yield from room.wait(1)


def _chair_starts(room: Room) -> Ticks[None]:
    yield from into(room, "talk", "questions")
    yield from _hand_over(room)
    yield from _take_the_word(room)


def _take_the_word(room: Room) -> Ticks[None]:
    """The chair, at the light."""
    yield from _light(room)
    yield from plain(
        room, "host", f"{room.words.short_line('takes_over', 'host')} {line(room, 'host')}"
    )


def _taken_back(room: Room) -> Ticks[None]:
    """The first hypothesis hands over, the sentence does not."""
    yield from into(room, "talk", "questions")
    said, text = room.words.drift("hand_over")
    voice = yield from _begin_hand_over(room, said)
    yield from room.wait(room.a_while())
    room.revise(voice, room.words.revision(said, text), "cause: the revision takes it back")
    room.cue = "listen"
    room.show("the revision does not hand over")
    yield from room.finish_soon(voice, text, "trap: final text that hands nothing over", trap=True)


def _within_a_sentence(room: Room) -> Ticks[None]:
    yield from reach(room, "talk", "questions")
    text = room.words.around("hand_over")
    yield from speak(room, "presenter", text, "sounds like a hand-over and is none")


def _both_start(room: Room) -> Ticks[None]:
    """The host starts at the tick of the hand-over, which counts as having started."""
    yield from reach(room, "talk", "questions")
    said, text = room.words.says("hand_over"), line(room, "host")
    voice = room.begin("presenter", said.words, "trap: the host starts at the same tick")
    host = room.start(
        "host",
        room.words.part("host", text, 2),
        "the host starts at the tick of the hand-over",
        "presenter and host start at one tick",
    )
    yield from room.finish_soon(voice, said.text, "trap: the host has started", trap=True)
    yield from room.wait(1)
    room.finish(host, text, "distractor: plain speech")


def _second_sentence(room: Room) -> Ticks[None]:
    """Provisional text is one sentence; only the final shows that the second stands alone."""
    yield from reach(room, "talk", "questions")
    text = f"{room.words.short_line('so_far', 'presenter')} {room.words.says('hand_over').text}"
    shown = room.words.part("presenter", text)
    voice = room.start("presenter", shown, "trap: provisional, so a longer sentence")
    yield from room.finish_soon(voice, text, "cause: a sentence of the final hands over")
    room.hand_over()
    room.show("the second sentence of the final hands over")
    yield from _take_the_word(room)


def _again(room: Room) -> Ticks[None]:
    """The host was heard before; a new hand-over needs a new start. Then the presenter goes on."""
    yield from into(room, "talk", "questions")
    if "host" not in room.newest:
        yield from settle(room, 1, 2)
        yield from plain(room, "host")
    yield from _hand_over(room)
    yield from settle(room, 1, 2)
    yield from plain(room, "presenter", room.words.short_line("goes_on", "presenter"))


def _at_once(room: Room) -> Ticks[None]:
    """Two voices start at one tick: the order of captions decides."""
    yield from reach(room, "talk", "clip")
    order = [c for c in room.hall.order if c != "clip"]
    pair = room.draws.shuffled(room.draws.choose((order[:2], order[1:], [order[0], order[2]])))
    texts = [line(room, channel) for channel in pair]
    voices = [
        room.begin(channel, room.words.part(channel, text, 2), "two voices start at one tick")
        for channel, text in zip(pair, texts, strict=True)
    ]
    room.show(f"{pair[0]} and {pair[1]} start at one tick")
    for voice, text in zip(voices, texts, strict=True):
        yield from room.finish_soon(voice, text, "distractor: plain speech")


def _without_words(room: Room) -> Ticks[None]:
    """An onset without any text, for a while."""
    yield from reach(room, "talk", "clip")
    others = [c for c in ("host", "audience", "presenter") if c != room.captions]
    channel = room.draws.choose(others)
    text = line(room, channel)
    voice = room.start(channel, "", "cause: an onset, no words yet")
    yield from room.finish_soon(voice, text, "distractor: plain speech")


def _may_close(room: Room) -> bool:
    return room.mode != "closed" and room.now >= room.end


def _close(room: Room) -> Ticks[None]:
    yield from settle(room, 1, 3)
    said = room.words.ordered("close")
    because = f"'{said.words}' became final on the host's channel"
    yield from command(room, "host", said, room.close, because)


def _in_vain(room: Room) -> Ticks[None]:
    """A command that would have worked a moment ago."""
    yield from settle(room, 1, 2)
    pages = room.hall.pages
    page = room.draws.choose([p for p in pages if p != room.slide])
    yield from speak(
        room, "presenter", room.words.says("jump", page).text, "no command counts after the close"
    )


def _closed_for_good(room: Room) -> Ticks[None]:
    yield from _close(room)
    yield from _in_vain(room)


def _closed_after_hand_over(room: Room) -> Ticks[None]:
    if room.mode != "clip":
        yield from _hand_over(room)
        yield from _light(room)
    yield from _close(room)


def _closed_after_all(room: Room) -> Ticks[None]:
    """A close that is revised into something else, and then a real one."""
    yield from settle(room, 1, 2)
    said, text = room.words.drift("close")
    voice = room.start("host", said.words, "trap: a provisional close closes nothing")
    yield from room.finish_soon(voice, text, "trap: a longer sentence, so no close", trap=True)
    yield from _close(room)


def _voice_after(room: Room) -> Ticks[None]:
    """Captions go on after the close, and nothing else does."""
    yield from settle(room, 1, 3)
    others = [c for c in ("host", "audience", "presenter") if c != room.captions]
    channel = room.draws.choose(others)
    if channel == "presenter" and room.draws.chance(0.3):
        yield from _in_vain(room)
    elif channel == "host" and room.draws.chance(0.5):
        yield from plain(room, "audience", room.draws.choose(phrases.ONE_MORE))
        yield from settle(room, 1, 2)
        yield from speak(
            room, "host", room.words.says("open").text, "no command counts after the close"
        )
    else:
        yield from plain(room, channel)


_CUE = ("cue", "tiers")

CHAIR: tuple[Situation[Room], ...] = (
    Situation("chair", "the chair starts", _CUE, happens_in("talk", "questions"), _chair_starts, 2, dealt=False),
    Situation("chair", "a hand-over taken back", _CUE, happens_in("talk", "questions"), _taken_back),
    Situation("chair", "the phrase within a sentence", ("cue", "whole_sentence", "intents"), happens_in("talk", "questions"), _within_a_sentence),
    Situation("chair", "both start at once", ("cue", "captions"), happens_in("talk", "questions"), _both_start),
    Situation("chair", "a second sentence hands over", _CUE, happens_in("talk", "questions"), _second_sentence),
    Situation("chair", "handed over again", _CUE, happens_in("talk", "questions", ticks=11), _again),
    Situation("voices", "two voices at once", ("captions",), happens_in("talk", "clip"), _at_once),
    Situation("voices", "a voice without words", ("captions", "tiers"), happens_in("talk", "clip"), _without_words),
)  # fmt: skip

CLOSINGS: tuple[Situation[Room], ...] = (
    Situation("close", "closed for good", ("mode", "order"), _may_close, _closed_for_good),
    Situation("close", "closed after a hand-over", ("mode", "cue"), _may_close, _closed_after_hand_over),
    Situation("close", "closed after all", ("mode", "whole_sentence", "intents", "tiers"), _may_close, _closed_after_all),
)  # fmt: skip

CLOSING_NAMES = frozenset(s.name for s in CLOSINGS)

AFTER: tuple[Situation[Room], ...] = (
    Situation("after", "a voice after the close", ("captions", "mode"), lambda room: room.mode == "closed", _voice_after, dealt=False),
)  # fmt: skip
