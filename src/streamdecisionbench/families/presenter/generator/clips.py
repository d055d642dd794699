"""What happens around the clip: playing, pausing early and for good, putting it away."""

from __future__ import annotations

from streamdecisionbench.families.presenter.generator.modes import (
    happens_in,
    into,
    play_on,
    settle,
    stay,
    to_page,
)
from streamdecisionbench.families.presenter.generator.room import Room, Voice
from streamdecisionbench.families.presenter.generator.speech import command, line, speak
from streamdecisionbench.families.presenter.generator.words import Said
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation


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
    yield from room.script.wait(room.a_while())
    room.finish(voice, said.text, "the final confirms a pause already in force")
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
    yield from room.script.wait(room.a_while())
    shown = room.words.part("presenter", text, room.draws.between(2, 4))
    newer = room.begin("presenter", shown, "trap: newer words, but the pause stands", trap=True)
    room.show("the presenter talks on, and the pause stands")
    yield from room.script.wait(room.a_while())
    room.finish(voice, said.text, "the final confirms a pause already in force")
    room.early_pause, room.clip = False, "pause"
    room.busy.add("presenter")
    yield from room.script.wait(room.a_while())
    room.finish(newer, text, "trap: final text without a command", trap=True)
    yield from settle(room, 1, 3)
    yield from play_on(room)


def _pause_taken_back(room: Room) -> Ticks[None]:
    """The first hypothesis was a pause command, the sentence is another."""
    yield from into(room, "clip")
    yield from _resume(room)
    said, text = room.words.drift("pause")
    voice = yield from _pause_at_once(room, said)
    yield from room.script.wait(room.a_while())
    room.revise(voice, room.words.revision(said, text), "cause: the revision takes it back")
    room.early_pause = False
    room.show("the revision is no pause, so the early pause went with it")
    yield from room.script.wait(room.a_while())
    room.finish(voice, text, "trap: final text without a command", trap=True)


def _only_begins_so(room: Room) -> Ticks[None]:
    """A sentence that begins like a pause; its provisional text is longer than a command."""
    yield from into(room, "clip")
    yield from _resume(room)
    yield from settle(room, 1, 3)
    shown, text = room.words.begins("pause")
    voice = room.begin("presenter", shown, "trap: longer than the command", trap=True)
    room.show("the presenter starts to speak")
    yield from room.script.wait(room.a_while())
    room.finish(voice, text, "trap: final text without a command", trap=True)


def _resume(room: Room) -> Ticks[None]:
    if room.clip == "pause":
        yield from settle(room, 1, 2)
        yield from play_on(room)


def _floor_in_vain(room: Room) -> Ticks[None]:
    """The host opens the floor while the clip is on: lost, not kept for later."""
    yield from into(room, "clip")
    yield from settle(room, 1, 3)
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
    voice = room.begin("clip", "", "cause: an onset on the clip channel, no words yet")
    room.show("the sound of the clip starts")
    yield from room.script.wait(room.a_while())
    room.finish(voice, words, "trap: the clip commands nothing", trap=True)


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
