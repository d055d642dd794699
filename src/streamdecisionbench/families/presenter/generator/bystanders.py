"""Evidence that must change nothing in a hall: levels, the side log, and voices that go on."""

from __future__ import annotations

from collections.abc import Callable

from streamdecisionbench.families.presenter.events import desk, log
from streamdecisionbench.families.presenter.generator.room import Room
from streamdecisionbench.families.presenter.generator.speech import line
from streamdecisionbench.suite.authoring import Event

_LOG = {
    "operator": (
        "I would go to {page} now.", "Page {number} is ready.", "Heard {pause}, freeze it by hand?",
        "Looks like the end, lights in a minute.", "Chair, please get ready.", "Stream is stable.",
        "She must mean {page}.", "Is it open for questions now?",
    ),
    "player": (
        "{n} ticks shown, buffer full.", "Decoder idle.", "First frame loaded.",
        "Sound check passed.", "Play request from the lectern, not armed.",
    ),
    "clicker": ("Forward pressed, ignored.", "Back pressed, ignored.", "Battery low.",
                "Play pressed, ignored."),
    "chat": (
        "Please repeat the question.", "{Jump}, please.", "Is the session closed?", "{Next}!",
        "When are questions open?", "Picture froze here.", "Can {play}?",
    ),
    "floor": (
        "Microphone on its way to row {n}.", "Somebody has a hand up.", "Applause at the back.",
        "The chair is looking for notes.", "A child wants to ask something.",
    ),
}  # fmt: skip

_CALM = {"presenter": -44, "host": -58, "audience": -45, "clip": -90}
_AMPLE = 5200
"""Characters that transcript and side log may grow to before talk gives way to levels."""


def distract(room: Room) -> bool:
    """One event that changes nothing. A half sentence is often completed before another begins."""
    halves = sorted(c for c, (voice, _) in room.halves.items() if voice is not room.question)
    if halves and room.draws.chance(0.7):
        room.complete_half(room.draws.choose(halves))
        return True
    ample = room.written < _AMPLE * (room.now + 12) / (room.script.steps + 12)
    kinds: dict[Callable[[Room], None], int] = {_levels: 3}
    if ample:
        kinds[_side_log] = 5
        if _may_speak(room):
            kinds[_voice] = 5
    room.draws.weighted(kinds)(room)
    return True


def _levels(room: Room) -> None:
    room.script.emit(levels_now(room, room.draws.choose(list(_CALM))))


def levels_now(room: Room, loud: str) -> Event:
    """A reading in which this channel is loud, whoever has the captions."""
    level = {c: calm + room.draws.between(-3, 3) for c, calm in _CALM.items()}
    level[loud] = -room.draws.between(12, 24)
    return desk(room.now, **level)


def _side_log(room: Room) -> None:
    room.script.emit(side_line(room))


def side_line(room: Room) -> Event:
    """A line of the side log, whatever its source has to say."""
    source = room.draws.choose(list(_LOG))
    page = room.draws.choose(room.hall.pages)
    text = room.unsaid(_LOG[source]).format(
        page=page,
        number=page[1:],
        n=room.draws.between(2, 19),
        **room.words.side_words(page),
    )
    room.written += 40 + len(text)
    return log(room.now, source, text)


def _may_speak(room: Room) -> bool:
    """Whether one more entry of whoever has the captions leaves everything as it is."""
    channel = room.captions
    if channel in room.halves or channel in room.busy or room.cue == "stand_by":
        return False
    if channel == "clip":
        return room.mode == "clip" and room.clip == "play" and not room.early_pause
    return not (channel == "audience" and room.mode == "questions")


def _voice(room: Room) -> None:
    """Whoever has the captions goes on, in words that command nothing."""
    channel = room.captions
    text = line(room, channel)
    note = "distractor: plain speech on the channel that has the captions"
    shown = room.words.part(channel, text, room.draws.between(0, 4))
    voice = room.begin(channel, shown, note)
    room.busy.discard(channel)
    room.halves[channel] = (voice, text)
