"""Evidence that must change nothing in a hall: levels, the side log, and voices that go on."""

from __future__ import annotations

from collections.abc import Callable

from streamdecisionbench.families.presenter.events import desk, log
from streamdecisionbench.families.presenter.generator.room import Room
from streamdecisionbench.families.presenter.generator.speech import line
from streamdecisionbench.suite.authoring import Event

_LOG: dict[str, dict[str, tuple[str, ...]]] = {
    "talk": {
        "operator": (
            "I would go to {page} now.", "She must mean {page}.", "Sounded like {page} to me.",
            "Page {number} is next on my list.", "Are we in questions now?", "Clip window up now?",
            "Looks like the end, lights in a minute.", "Chair, please get ready.",
        ),
        "player": ("Play request from the lectern, not armed.", "First frame up.", "Rolling in {n}."),
        "chat": ("{Jump}, please.", "{Next}!", "Can {play}?", "Is it over?", "Questions at last?"),
        "floor": (
            "Microphone on its way to row {n}.", "Somebody in row {n} has a hand up.",
            "A child wants to ask something.", "They are asking already, at the back.",
        ),
    },
    "questions": {
        "operator": (
            "I would go to {page} now.", "She must mean {page}.", "Questions look done.",
            "Back to the pages, I think.", "Chair, please get ready.", "Chair is taking over?",
        ),
        "player": ("Play request from the lectern, not armed.", "Clip armed for the answer."),
        "chat": ("{Jump}, please.", "Can {play}?", "Is it over?", "Are questions closed again?"),
        "floor": ("Row {n} gives the microphone back.", "People at the back are leaving."),
    },
    "clip": {
        "operator": (
            "Clip looks done, back to the pages?", "I would go to {page} now.",
            "Floor opens in a moment.", "Looks like the end, lights in a minute.",
        ),
        "player": ("Window closed by the desk.", "End of file in {n} ticks."),
        "chat": ("{Next}!", "{Jump}, please.", "Questions at last?", "Did the clip go away?"),
        "floor": ("Somebody in row {n} has a hand up.", "The chair is standing up."),
    },
    "closed": {
        "operator": ("Stage still live here.", "Shall I go to {page}?", "They go on, I think."),
        "player": ("Play request from the lectern, not armed.", "Rolling in {n}."),
        "chat": ("{Jump}, please.", "One more question!", "Can {play}?", "Is it still going on?"),
        "floor": ("Somebody in row {n} has a hand up.", "Microphone back in row {n}."),
    },
}  # fmt: skip
"""Mode → who writes what there. Every line would have the stage show what it should not."""
_PRESSES = ("Forward pressed, ignored.", "Back pressed, ignored.", "Play pressed, ignored.")
_UNLESS = {
    "play": ("player", "{n} ticks shown, running on."),
    "pause": ("chat", "Picture froze here."),
    "waiting": ("floor", "No hands up."),
    "listening": ("floor", "Row {n} is talking."),
    "repeat": ("chat", "Please repeat the question."),
    "answer": ("operator", "They have the question, card to answer."),
}
"""What somebody claims of clip and card, as long as it is not so."""

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
    """Mostly somebody is loud who could be speaking, and has not got the captions."""
    others = [c for c in _CALM if c != room.captions and (c != "clip" or room.mode == "clip")]
    room.script.emit(levels_now(room, room.draws.choose((*others, *others, room.captions))))


def levels_now(room: Room, loud: str) -> Event:
    """A reading in which this channel is loud, whoever has the captions."""
    level = {c: calm + room.draws.between(-3, 3) for c, calm in _CALM.items()}
    level[loud] = -room.draws.between(12, 24)
    return desk(room.now, **level)


def _side_log(room: Room) -> None:
    room.script.emit(side_line(room))


def side_line(room: Room) -> Event:
    """A line of the side log that would have the stage show something else than it should."""
    lines = [(source, text) for source, texts in _LOG[room.mode].items() for text in texts]
    if room.hall.fields["clicker"].startswith("paired"):
        lines += [("clicker", text) for text in _PRESSES]
    claims = {"clip": ("play", "pause"), "questions": ("waiting", "listening", "repeat", "answer")}
    now = room.on_screen if room.mode == "clip" else room.card
    lines += [_UNLESS[claim] for claim in claims.get(room.mode, ()) if claim != now] * 3
    if room.cue == "stand_by":
        lines = [entry for entry in lines if not entry[1].startswith("Chair")]
    source, line_ = room.draws.choose([x for x in lines if x[1] not in room.said] or lines)
    room.said.add(line_)
    page = room.hint()
    text = line_.format(
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
