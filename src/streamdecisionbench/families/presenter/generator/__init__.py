"""New presenter sessions from a seed: stage talks with a clip that speaks, and public meetings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from streamdecisionbench.families.presenter.generator import names
from streamdecisionbench.families.presenter.generator.bystanders import distract, murmur
from streamdecisionbench.families.presenter.generator.chair import (
    AFTER,
    CHAIR,
    CLOSING_NAMES,
    CLOSINGS,
)
from streamdecisionbench.families.presenter.generator.clips import CLIPS, THE_CLIP_SPEAKS
from streamdecisionbench.families.presenter.generator.floor import FLOOR
from streamdecisionbench.families.presenter.generator.free_words import FreeWords
from streamdecisionbench.families.presenter.generator.hall import Hall, draw_hall
from streamdecisionbench.families.presenter.generator.names import Subject
from streamdecisionbench.families.presenter.generator.pages import PAGES
from streamdecisionbench.families.presenter.generator.room import OUTCOMES, Room
from streamdecisionbench.families.presenter.generator.speech import line
from streamdecisionbench.families.presenter.generator.words import ListedWords, Words
from streamdecisionbench.families.presenter.questions import SPEC, questions
from streamdecisionbench.families.presenter.reference import reference
from streamdecisionbench.families.presenter.state import projector
from streamdecisionbench.suite.authoring import Draft, Event
from streamdecisionbench.suite.generation.draws import Draws, Pool, Seat
from streamdecisionbench.suite.generation.script import Script
from streamdecisionbench.suite.generation.situations import Situation
from streamdecisionbench.suite.generation.world import Kind, Opened
from streamdecisionbench.suite.scenario import State

WORDINGS = ("listed", "free")

_ANYWHERE = (*PAGES, *CLIPS, *FLOOR, *CHAIR, *CLOSINGS, *AFTER)

_DEALT_TO_TALKS = frozenset(
    (
        "another number than meant", "words around the phrase", "a wish is passed on",
        "not the host's to say", "play on another page", "paused for good",
        "only begins like a pause", "the clip is put away", "the clip speaks", "thanked first",
        "restated while it is asked", "two ask at once", "a voice before the opening",
        "a race for the stage", "a hand-over taken back", "handed over again", "two voices at once",
        "closed for good", "closed after a hand-over", "the desk insists",
    )
)  # fmt: skip
_DEALT_TO_MEETINGS = frozenset(
    (
        "two commands in one final", "beyond the end of the deck", "a command within a sentence",
        "a heckler commands", "not the host's to say", "a pause taken back", "paused and talks on",
        "the floor opened in vain", "paused beforehand", "not quite a restatement",
        "restated too early", "a voice at the opening", "opened twice", "no clip for the floor",
        "the phrase within a sentence", "both start at once", "a second sentence hands over",
        "a voice without words", "two voices at once", "closed for good", "closed after all",
    )
)  # fmt: skip
"""Each kind has to show its share; whatever it is not dealt may still happen."""


def _open(subjects: Pool[Subject], script: Script, draws: Draws, seat: Seat) -> Opened[Room]:
    """A hall at tick 0: the presenter is speaking, some page is up."""
    hall = draw_hall(draws.fork("hall"), seat, subjects)
    told = draws.fork("room")
    free = seat.wording == "free"
    start = hall.prepared["start"]["slide"]
    words: Words = FreeWords(hall, seat.split, told) if free else ListedWords(hall, told)
    room = Room(script, told, hall, words, start, _end(script, draws, seat), shown=[start])
    room.murmur = partial(murmur, room)
    script.distract, script.stream = partial(distract, room), told
    text = line(room, "presenter")
    shown = words.part("presenter", text, 3)
    voice = room.begin("presenter", shown, "the presenter is speaking")
    room.busy.discard("presenter")
    room.halves["presenter"] = (voice, text)
    room.show("")
    must = {("slide", page) for page in hall.due}
    if THE_CLIP_SPEAKS.name in seat.agenda:
        must.add(("captions", "clip"))
    return Opened(room, partial(_draft, hall, script), frozenset(must))


def _end(script: Script, draws: Draws, seat: Seat) -> int:
    """When the session draws to its close; some sessions are still going on at the last tick."""
    if not CLOSING_NAMES & set(seat.agenda) and draws.chance(0.3):
        return script.steps
    return script.steps - draws.between(script.steps // 6, script.steps // 4)


def _draft(hall: Hall, script: Script, scenario_id: str) -> Draft:
    return Draft(
        scenario_id=scenario_id,
        task_family="presenter_voice_control",
        title=f"{hall.prepared['event']}: {hall.prepared['people']['presenter']}",
        questions=questions(hall.deck),
        decision_spec=SPEC,
        events=tuple(script.events),
        changes=script.changes(),
        project=_projector(hall),
        reference=reference,
        steps=script.steps,
    )


def _projector(hall: Hall) -> Callable[[Sequence[Event], int], State]:
    """The family's projection, with the rules in the words of this hall."""
    project = projector(hall.prepared, hall.fields)

    def worded(events: Sequence[Event], now: int) -> State:
        return {**project(events, now), "rules": hall.rules}

    return worded


def _dealt(
    situations: tuple[Situation[Room], ...], names_: frozenset[str]
) -> tuple[Situation[Room], ...]:
    return tuple(replace(s, dealt=s.name in names_) for s in situations)


KINDS: tuple[Kind[Room], ...] = (
    Kind(
        "stage_talk",
        _dealt((*_ANYWHERE, THE_CLIP_SPEAKS), _DEALT_TO_TALKS),
        partial(_open, names.TALKS),
        ordered=True,
        outcomes=OUTCOMES,
    ),
    Kind(
        "public_meeting",
        _dealt(_ANYWHERE, _DEALT_TO_MEETINGS),
        partial(_open, names.MEETINGS),
        ordered=True,
        outcomes=OUTCOMES,
    ),
)
