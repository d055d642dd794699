"""New presenter sessions from a seed: stage talks with a clip that speaks, and public meetings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from streamdecisionbench.families.presenter.questions import SPEC, questions
from streamdecisionbench.families.presenter.reference import reference
from streamdecisionbench.families.presenter.state import projector
from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.suite.scenario import State
from streamdecisionbench.worlds.generation.draws import Pool
from streamdecisionbench.worlds.generation.world import (
    Kind,
    Situation,
)
from streamdecisionbench.worlds.generation.world_simulator import Opening
from streamdecisionbench.worlds.presenter import phrases
from streamdecisionbench.worlds.presenter.bystanders import (
    distract,
    murmur,
)
from streamdecisionbench.worlds.presenter.hall import (
    Hall,
    draw_hall,
)
from streamdecisionbench.worlds.presenter.phrases import Subject
from streamdecisionbench.worlds.presenter.room import (
    OUTCOMES,
    Room,
)
from streamdecisionbench.worlds.presenter.situations import (
    AFTER,
    CHAIR,
    CLIPS,
    CLOSING_NAMES,
    CLOSINGS,
    FLOOR,
    PAGES,
    THE_CLIP_SPEAKS,
)
from streamdecisionbench.worlds.presenter.speech import line
from streamdecisionbench.worlds.presenter.words import (
    FreeWords,
    ListedWords,
    Words,
)

WORDINGS = ("listed", "free")

_ANYWHERE = (*PAGES, *CLIPS, *FLOOR, *CHAIR, *CLOSINGS, *AFTER)


def _open(subjects: Pool[Subject], opening: Opening) -> Room:
    """A hall at tick 0: the presenter is speaking, some page is up."""
    draws, seat = opening.draws, opening.seat
    hall = draw_hall(draws.fork("hall"), seat, subjects)
    stream = draws.fork("room")
    free = seat.wording == "free"
    start = hall.prepared["start"]["slide"]
    words: Words = FreeWords(hall, seat.split, stream) if free else ListedWords(hall, stream)
    room = Room(
        opening=opening,
        draws=stream,
        hall=hall,
        words=words,
        slide=start,
        end=_end(opening),
        shown=[start],
    )
    room.murmur = partial(murmur, room)
    room.distract = partial(distract, room)
    text = line(room, "presenter")
    shown = words.part("presenter", text, 3)
    voice = room.begin("presenter", shown, "the presenter is speaking")
    room.busy.discard("presenter")
    room.halves["presenter"] = (voice, text)
    room.show("")
    must = {("slide", page) for page in hall.due}
    if THE_CLIP_SPEAKS.name in seat.agenda:
        must.add(("captions", "clip"))
    room.must_show = frozenset(must)
    room.publish(
        family="presenter_voice_control",
        title=f"{hall.prepared['event']}: {hall.prepared['people']['presenter']}",
        questions=questions(hall.deck),
        spec=SPEC,
        project=_projector(hall),
        reference=reference,
    )
    return room


def _end(opening: Opening) -> int:
    """When the session draws to its close; some sessions are still going on at the last tick."""
    draws, steps = opening.draws, opening.steps
    if not CLOSING_NAMES & set(opening.seat.agenda) and draws.chance(0.3):
        return steps
    return steps - draws.between(steps // 6, steps // 4)


def _projector(hall: Hall) -> Callable[[Sequence[Event], int], State]:
    """The family's projection, with the rules in the words of this hall."""
    project = projector(hall.prepared, hall.fields)

    def worded(events: Sequence[Event], now: int) -> State:
        return {**project(events, now), "rules": hall.rules}

    return worded


def _dealt(situations: tuple[Situation[Room], ...], kind: str) -> tuple[Situation[Room], ...]:
    return tuple(replace(s, dealt=s.name in phrases.DEALT[kind]) for s in situations)


KINDS: tuple[Kind[Room], ...] = (
    Kind(
        "stage_talk",
        _dealt((*_ANYWHERE, THE_CLIP_SPEAKS), "stage_talk"),
        partial(_open, phrases.TALKS),
        ordered=True,
        outcomes=OUTCOMES,
    ),
    Kind(
        "public_meeting",
        _dealt(_ANYWHERE, "public_meeting"),
        partial(_open, phrases.MEETINGS),
        ordered=True,
        outcomes=OUTCOMES,
    ),
)
