"""Between presenter and chair: handing over, captions of several voices, the close."""

from __future__ import annotations

from streamdecisionbench.families.presenter.generator.lines import ONE_MORE
from streamdecisionbench.families.presenter.generator.modes import happens_in, into, settle
from streamdecisionbench.families.presenter.generator.room import Room, Voice
from streamdecisionbench.families.presenter.generator.speech import command, line, plain, speak
from streamdecisionbench.families.presenter.generator.words import Said
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation

_IN_THE_DARK = 4
"""So many ticks a chair who sees no light waits before somebody helps."""


def _begin_hand_over(room: Room, said: Said) -> Ticks[Voice]:
    yield from settle(room, 1, 3)
    if "host" in room.halves:
        room.complete_half("host")
    if "host" in room.newest and room.newest["host"].onset == room.now:
        yield from room.script.wait(1)  # otherwise the host would count as having started
    voice = room.begin("presenter", said.words, "cause: the current text hands over")
    room.hand_over()
    room.show("the current text hands over")
    return voice


def _hand_over(room: Room) -> Ticks[None]:
    said = room.words.says("hand_over")
    voice = yield from _begin_hand_over(room, said)
    yield from room.script.wait(room.a_while())
    room.finish(voice, said.text, "the final confirms, and neither opens nor closes anything")
    room.show("the hand-over is final")


def _light(room: Room) -> Ticks[None]:
    """The chair waits for the light; where it stays off, the presenter hands over once more."""
    yield from settle(room, 1, 3)
    shown = room.script.until(lambda: room.script.panel.get("host_cue") == "stand_by", _IN_THE_DARK)
    if not (yield from shown):
        yield from _hand_over(room)
        yield from room.script.wait(1)


def _chair_starts(room: Room) -> Ticks[None]:
    yield from into(room, "talk", "questions")
    yield from _hand_over(room)
    yield from _take_the_word(room)


def _take_the_word(room: Room) -> Ticks[None]:
    """The chair, at the light."""
    yield from _light(room)
    yield from plain(room, "host", f"{room.words.takes_over()} {line(room, 'host')}")


def _taken_back(room: Room) -> Ticks[None]:
    """The first hypothesis hands over, the sentence does not."""
    yield from into(room, "talk", "questions")
    said, text = room.words.drift("hand_over")
    voice = yield from _begin_hand_over(room, said)
    yield from room.script.wait(room.a_while())
    room.revise(voice, room.words.revision(said, text), "cause: the revision takes it back")
    room.cue = "listen"
    room.show("the revision does not hand over")
    yield from room.script.wait(room.a_while())
    room.finish(voice, text, "trap: final text that hands nothing over", trap=True)


def _within_a_sentence(room: Room) -> Ticks[None]:
    yield from into(room, "talk", "questions")
    yield from settle(room, 1, 3)
    text = room.words.around("hand_over")
    yield from speak(room, "presenter", text, "sounds like a hand-over and is none")


def _both_start(room: Room) -> Ticks[None]:
    """The host starts at the tick of the hand-over, which counts as having started."""
    yield from into(room, "talk", "questions")
    yield from settle(room, 1, 3)
    said, text = room.words.says("hand_over"), line(room, "host")
    voice = room.begin("presenter", said.words, "trap: the host starts at the same tick")
    host = room.begin(
        "host", room.words.part("host", text, 2), "the host starts at the tick of the hand-over"
    )
    room.show("presenter and host start at one tick")
    yield from room.script.wait(room.a_while())
    room.finish(voice, said.text, "trap: the host has started", trap=True)
    yield from room.script.wait(1)
    room.finish(host, text, "distractor: plain speech")


def _second_sentence(room: Room) -> Ticks[None]:
    """Provisional text is one sentence; only the final shows that the second stands alone."""
    yield from into(room, "talk", "questions")
    yield from settle(room, 1, 3)
    text = f"{room.words.so_far()} {room.words.says('hand_over').text}"
    shown = room.words.part("presenter", text)
    voice = room.begin("presenter", shown, "trap: provisional, so a longer sentence")
    room.show("the presenter starts to speak")
    yield from room.script.wait(room.a_while())
    room.finish(voice, text, "cause: a sentence of the final hands over")
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
    yield from plain(room, "presenter", room.words.goes_on())


def _at_once(room: Room) -> Ticks[None]:
    """Two voices start at one tick: the order of captions decides."""
    yield from into(room, "talk", "clip")
    yield from settle(room, 1, 3)
    order = [c for c in room.hall.order if c != "clip"]
    pair = room.draws.shuffled(room.draws.choose((order[:2], order[1:], [order[0], order[2]])))
    texts = [line(room, channel) for channel in pair]
    voices = [
        room.begin(channel, room.words.part(channel, text, 2), "two voices start at one tick")
        for channel, text in zip(pair, texts, strict=True)
    ]
    room.show(f"{pair[0]} and {pair[1]} start at one tick")
    for voice, text in zip(voices, texts, strict=True):
        yield from room.script.wait(room.a_while())
        room.finish(voice, text, "distractor: plain speech")


def _without_words(room: Room) -> Ticks[None]:
    """An onset without any text, for a while."""
    yield from into(room, "talk", "clip")
    yield from settle(room, 1, 3)
    others = [c for c in ("host", "audience", "presenter") if c != room.captions]
    channel = room.draws.choose(others)
    text = line(room, channel)
    voice = room.begin(channel, "", "cause: an onset, no words yet")
    room.show(f"the {channel} starts to speak")
    yield from room.script.wait(room.a_while())
    room.finish(voice, text, "distractor: plain speech")


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
    voice = room.begin("host", said.words, "trap: a provisional close closes nothing")
    room.show("the host starts to speak")
    yield from room.script.wait(room.a_while())
    room.finish(voice, text, "trap: a longer sentence, so no close", trap=True)
    yield from _close(room)


def _voice_after(room: Room) -> Ticks[None]:
    """Captions go on after the close, and nothing else does."""
    yield from settle(room, 1, 3)
    others = [c for c in ("host", "audience", "presenter") if c != room.captions]
    channel = room.draws.choose(others)
    if channel == "presenter" and room.draws.chance(0.3):
        yield from _in_vain(room)
    elif channel == "host" and room.draws.chance(0.5):
        yield from plain(room, "audience", room.draws.choose(ONE_MORE))
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
