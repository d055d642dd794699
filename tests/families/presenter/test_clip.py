"""What onsets and current text do to the clip and the captions."""

from __future__ import annotations

import pytest

from streamdecisionbench.families.presenter.reference import reference
from tests.families.cases import Case
from tests.families.presenter.room import CLOSE, OPEN, PLAY, case, room, said

pytestmark = pytest.mark.slow

CLIP = [
    case("final pause", "clip", room(PLAY, said("p", 3, "Pause the clip.", 4)), clip_state="pause"),
    case(
        "early pause", "clip tiers", room(PLAY, said("p", 3, "pause the clip")), clip_state="pause"
    ),
    case("half the phrase", "clip", room(PLAY, said("p", 3, "pause the")), clip_state="play"),
    case(
        "the sentence goes on",
        "clip tiers",
        room(PLAY, said("p", 3, "pause the clip at home")),
        clip_state="play",
    ),
    case(
        "a misheard word",
        "clip tiers",
        room(PLAY, said("p", 3, "cause the clip")),
        clip_state="play",
    ),
    case(
        "finalised as something else",
        "clip",
        room(PLAY, said("p", 3, "Pause the clip art.", 4)),
        clip_state="play",
    ),
    case(
        "a provisional sentence is one whole",
        "whole_sentence clip",
        room(PLAY, said("p", 3, "okay pause the clip")),
        clip_state="play",
    ),
    case(
        "play again: a final pause is no early pause",
        "clip tiers mode",
        room(PLAY, said("p", 3, "Pause the clip.", 4), said("p", 5, "Play the clip.", 6)),
        clip_state="play",
        mode="clip",
    ),
    case(
        "playing again has no early form",
        "clip tiers",
        room(PLAY, said("p", 3, "Pause the clip.", 4), said("p", 5, "play the clip")),
        clip_state="pause",
    ),
    case(
        "an early pause outranks a later final play",
        "clip",
        room(PLAY, said("p", 3, "pause the clip"), said("p", 4, "Play the clip.", 5)),
        clip_state="pause",
    ),
    case(
        "an early pause holds although the presenter goes on",
        "clip",
        room(PLAY, said("p", 3, "pause the clip"), said("p", 4, "look at this")),
        clip_state="pause",
    ),
    case(
        "a pause before the clip is lost",
        "clip order",
        room(said("p", 1, "Pause the clip.", 2), said("p", 3, "Play the clip.", 4)),
        clip_state="play",
    ),
    case(
        "entering again starts anew",
        "clip",
        room(
            PLAY,
            said("p", 3, "Pause the clip.", 4),
            said("p", 5, "Back to the talk.", 6),
            said("p", 7, "Play the clip.", 8),
        ),
        clip_state="play",
    ),
    case(
        "an early pause in talk",
        "clip none",
        room(said("p", 3, "pause the clip")),
        clip_state="none",
    ),
    case(
        "an early pause in questions",
        "none",
        room(OPEN, said("p", 5, "pause the clip")),
        clip_state="none",
    ),
    case(
        "no cue in clip", "none cue", room(PLAY, said("p", 3, "back to the chair")), host_cue="none"
    ),
    case(
        "no card in clip",
        "none card",
        room(PLAY, said("a", 3, "what is that")),
        question_card="none",
    ),
]

CAPTIONS = [
    case("an empty onset", "captions tiers", room(said("a", 1, "")), captions="audience"),
    case(
        "an older final does not win back",
        "captions",
        room(said("c", 1, "Hm.", 9), said("a", 3, "")),
        captions="audience",
    ),
    case(
        "listing does not decide",
        "captions",
        room(said("a", 5, ""), said("p", 3, "so")),
        captions="audience",
    ),
    case(
        "they stay after the voice stops",
        "captions",
        room(said("h", 3, "Fine.", 4)),
        captions="host",
    ),
    case("in clip the presenter may have them", "captions", room(PLAY), captions="presenter"),
    case(
        "after closing they still move",
        "captions",
        room(CLOSE, said("c", 7, "")),
        captions="clip",
        mode="closed",
    ),
    case(
        "one tick earlier",
        "captions",
        room(said("p", 4, ""), said("h", 3, "")),
        captions="presenter",
    ),
    *(
        case(
            f"one onset: {both} gives {first}",
            "captions",
            room(*(said(who, 5, "") for who in both)),
            captions=first,
        )
        for both, first in {
            "ph": "host",
            "hp": "host",
            "ah": "host",
            "ap": "presenter",
            "pc": "presenter",
            "ca": "audience",
            "caph": "host",
        }.items()
    ),
    case(
        "the order is read from the state",
        "captions",
        room(
            said("p", 5, ""),
            said("h", 5, ""),
            caption_order=["clip", "presenter", "host", "audience"],
        ),
        captions="presenter",
    ),
]

CASES = [*CLIP, *CAPTIONS]


@pytest.mark.parametrize("example", CASES, ids=lambda example: example.name)
def test_case(example: Case) -> None:
    got = reference(example.state)
    assert {question: got[question] for question in example.expected} == example.expected
