"""Situations that have to show a misreading: each is dealt to every ten sessions, and shows it alone."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from streamdecisionbench.families.presenter import reference as module
from streamdecisionbench.families.presenter.misreadings import MISREADINGS
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.misreading import misread
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.worlds.generation.draws import (
    SPLITS,
    Draws,
    Seat,
)
from streamdecisionbench.worlds.generation.world import (
    Kind,
    deal,
)
from streamdecisionbench.worlds.generation.world_simulator import Opening
from streamdecisionbench.worlds.presenter import (
    KINDS,
    WORDINGS,
    phrases,
)
from streamdecisionbench.worlds.presenter.hall import draw_hall
from streamdecisionbench.worlds.presenter.room import Room
from streamdecisionbench.worlds.presenter.situations import CLIPS
from streamdecisionbench.worlds.presenter.words import FreeWords

pytestmark = pytest.mark.slow

SHOWN_BY = {
    "play on another page": "keeps a play that the slide did not allow for later",
    "paused and talks on": "looks for the early pause in the newest words alone",
    "restated while it is asked": "wants a restatement that began after the question",
}
SESSIONS = 4


def seat(split: str, wording: str) -> Seat:
    return Seat(split=split, wording=wording, number=0, suite=Draws("suite"))


def alone(situation: str, wording: str, seed: int) -> Scenario:
    """A session of the kind that is dealt the situation, in which nothing else happens."""
    kind = next(k for k in KINDS for s in k.situations if s.dealt and s.name == situation)
    draws = Draws(seed, situation)
    room = kind.open(Opening(draws.fork("script"), draws, seat("eval", wording), 60, 22, 0.5))
    whole = next(s for s in kind.situations if s.name == situation)
    assert len(list(whole.play(room))) == room.now < room.steps
    return expand(replace(room.draft("alone"), seed="alone"))


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("situation", SHOWN_BY)
def test_whenever_it_is_played_the_misreading_decides_otherwise(
    situation: str, wording: str
) -> None:
    (misreading,) = (m for m in MISREADINGS if m.what == SHOWN_BY[situation])
    wrong = misread(module, misreading)
    for seed in range(SESSIONS):
        scenario = alone(situation, wording, seed)
        compose = scenario.decision_spec.compose
        assert any(compose(wrong(s.state)) != compose(s.gold) for s in scenario.steps), seed


@pytest.mark.parametrize("situation", [s.name for s in CLIPS if s.group == "clip" and s.dealt])
def test_captions_are_told_whoever_starts_with_the_clip(situation: str) -> None:
    """The clip is heard at every tick it runs, and stands first in the order of captions."""
    talk = KINDS[0]
    draws = Draws("heard", situation)
    room = talk.open(Opening(draws.fork("script"), draws, seat("eval", "listed"), 60, 22, 1.0))
    room.hall.prepared["caption_order"].sort(key="clip".__ne__)

    def heard() -> bool:
        running = room.mode == "clip" and room.clip == "play" and not room.early_pause
        if running:
            room.utter("clip", "There it goes.", "the sound of the clip")
            room.show("the clip is heard")
        return running

    room.distract = heard
    whole = next(s for s in talk.situations if s.name == situation)
    assert len(list(whole.play(room))) == room.now < room.steps
    expand(replace(room.draft("heard"), seed="heard"))
    assert "clip" in room.started


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_five_sessions_of_a_kind_are_dealt_everything(kind: Kind[Room]) -> None:
    hands = deal(kind.situations, 5, 5, Draws("any"))
    assert {name for hand in hands for name in hand} == {s.name for s in kind.situations if s.dealt}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(
    ("mode", "own", "other"),
    [("clip", r"clip|film", r"question"), ("questions", r"question", r"clip|film")],
)
def test_who_goes_back_speaks_of_what_is_on(split: str, mode: str, own: str, other: str) -> None:
    draws = Draws("back", split, mode)
    words = FreeWords(draw_hall(draws, seat(split, "free"), phrases.TALKS), split, draws)
    spoken = {words.back(mode).text for _ in range(200)}
    assert len(spoken) > 10
    assert any(re.search(own, text, re.IGNORECASE) for text in spoken)
    assert not [text for text in spoken if re.search(other, text, re.IGNORECASE)]
