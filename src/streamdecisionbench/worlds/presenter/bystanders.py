"""Evidence that must change nothing in a hall: levels, the side log, and voices that go on."""

from __future__ import annotations

from streamdecisionbench.families.presenter.events import desk, log
from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.worlds.presenter import phrases
from streamdecisionbench.worlds.presenter.room import Room
from streamdecisionbench.worlds.presenter.speech import line

_JUST_NOW = 2
_CALM = {"presenter": -44, "host": -58, "audience": -45, "clip": -90}
_AMPLE = 5200
"""Characters that transcript and side log may grow to before talk gives way to levels."""


def distract(room: Room) -> bool:
    """One event that changes nothing. A half sentence is often completed before another begins."""
    halves = sorted(
        channel
        for channel, (voice, _) in room.halves.items()
        if voice is not room.question and voice.onset < room.now
    )
    if halves and room.draws.chance(0.7):
        room.complete_half(room.draws.choose(halves))
        return True
    ample = room.written < _AMPLE * (room.now + 12) / (room.steps + 12)
    if ample and _may_speak(room) and room.draws.chance(0.4):
        _voice(room)
    else:
        murmur(room, ample=ample)
    return True


def murmur(room: Room, *, ample: bool = True) -> None:
    """Levels, or a line of the side log."""
    (_side_log if ample and room.draws.chance(0.6) else _levels)(room)


def _levels(room: Room) -> None:
    """Mostly somebody is loud who has not got the captions: coughs, laughs or knocks on the lectern."""
    others = [c for c in _CALM if c not in (room.captions, "clip")]
    room.emit(levels_now(room, room.draws.choose((*others, *others, room.captions))))


def levels_now(room: Room, loud: str) -> Event:
    """A reading in which this channel is the loudest, whoever has the captions; who speaks is heard."""
    level = {c: calm + room.draws.between(-3, 3) for c, calm in _CALM.items()}
    heard = {voice.channel for voice in room.open}
    if room.on_screen == "play" and not room.hall.silent:
        heard.add("clip")
    level |= {channel: -room.draws.between(20, 28) for channel in sorted(heard)}
    if loud != "clip" or "clip" in heard:
        level[loud] = -room.draws.between(11, 17)
    return desk(room.now, **level)


def _side_log(room: Room) -> None:
    room.emit(side_line(room))


def side_line(room: Room) -> Event:
    """A line of the side log that would have the stage show something else than it should."""
    lines = [
        (source, text) for source, texts in phrases.SIDE_LOG[room.mode].items() for text in texts
    ]
    if room.hall.fields["clicker"].startswith("paired"):
        lines += [("clicker", text) for text in phrases.CLICKER_PRESSES]
    asked = ("repeat", "answer") if room.question is not None else ()
    claims = {"clip": ("play", "pause"), "questions": ("waiting", "listening", *asked)}
    now = room.on_screen if room.mode == "clip" else room.card
    lines += [phrases.SIDE_CLAIMS[claim] for claim in claims.get(room.mode, ()) if claim != now] * 3
    lines = [entry for entry in lines if _thinkable(room, entry[1])]
    source, line_ = room.draws.choose([x for x in lines if x[1] not in room.said] or lines)
    room.said.add(line_)
    if "{Next}" in line_:
        room.urged = room.now
    page = room.hint()
    text = line_.format(
        page=page,
        number=page[1:],
        n=room.draws.between(2, room.hall.rows),
        **room.words.side_words(page),
    )
    room.written += 40 + len(text)
    return log(room.now, source, text)


def _thinkable(room: Room, text: str) -> bool:
    """Whether somebody could take it for so."""
    if text in phrases.SIDE_OF_WORDS:
        spoken = room.newest["presenter"]
        return spoken.final_at is None or room.now - spoken.final_at <= _JUST_NOW
    if text in phrases.SIDE_OF_AN_END:
        return 2 * room.now > room.steps
    if "gives the microphone back" in text:
        return room.question is not None
    return not (room.cue == "stand_by" and text.startswith("Chair"))


def _may_speak(room: Room) -> bool:
    """Whether one more entry of whoever has the captions leaves everything as it is."""
    channel = room.captions
    if channel in room.halves or channel in room.busy or room.cue == "stand_by":
        return False
    if channel == "clip":
        return room.mode == "clip" and room.clip == "play" and not room.early_pause
    if room.mode == "questions":
        chats = {"waiting": ("presenter", "host"), "answer": ("host",)}
        return channel in chats.get(room.card, ())
    return True


def _voice(room: Room) -> None:
    """Whoever has the captions goes on, in words that command nothing."""
    channel = room.captions
    text = line(room, channel)
    note = "distractor: plain speech on the channel that has the captions"
    shown = room.words.part(channel, text, room.draws.between(0, 4))
    voice = room.begin(channel, shown, note)
    room.busy.discard(channel)
    room.halves[channel] = (voice, text)
