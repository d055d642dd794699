"""Final commands: form, channel, order, and what each does to mode and slide."""

from __future__ import annotations

import pytest

from streamdecisionbench.families.presenter.reference import reference
from tests.families.cases import Case
from tests.families.presenter.room import CLOSE, OPEN, PLAY, case, one_final, room, said, starting

pytestmark = pytest.mark.slow

SENTENCES = [
    case(
        "the phrase as a final",
        "whole_sentence slide tiers",
        one_final("p", "Next slide."),
        slide="s3",
    ),
    case("an exclamation", "whole_sentence", one_final("p", "Next slide!"), slide="s3"),
    case("a question mark", "whole_sentence", one_final("p", "Next slide?"), slide="s3"),
    case("no mark at all", "whole_sentence", one_final("p", "Next slide"), slide="s3"),
    case("capitals do not matter", "whole_sentence", one_final("p", "NEXT Slide."), slide="s3"),
    case("the second sentence", "whole_sentence", one_final("p", "Well. Next slide."), slide="s3"),
    case(
        "two commands",
        "whole_sentence order",
        one_final("p", "Next slide. Next slide."),
        slide="s4",
    ),
    case(
        "order within a text",
        "order",
        one_final("p", "Next slide. Go to slide one."),
        slide="s1",
    ),
    case("a word more", "whole_sentence", one_final("p", "Next slide please."), slide="s2"),
    case("a word before", "whole_sentence", one_final("p", "Okay next slide."), slide="s2"),
    case("a comma", "whole_sentence", one_final("p", "Next, slide."), slide="s2"),
    case(
        "a quotation",
        "whole_sentence",
        one_final("p", "You say next slide and it turns."),
        slide="s2",
    ),
    case("a paraphrase", "whole_sentence", one_final("p", "Slide three."), slide="s2"),
    case(
        "a number the deck lacks", "whole_sentence", one_final("p", "Go to slide nine."), slide="s2"
    ),
    case(
        "digits are not the said word",
        "whole_sentence",
        one_final("p", "Go to slide 4."),
        slide="s2",
    ),
]

SLIDES = [
    case(
        "provisional next", "tiers slide transcript", room(said("p", 1, "next slide")), slide="s2"
    ),
    case(
        "final at its onset tick",
        "transcript tiers",
        room(said("h", 1, "The session is closed.", 1)),
        mode="closed",
        captions="host",
    ),
    case("previous", "slide", one_final("p", "Previous slide."), slide="s1"),
    case("a number", "slide", one_final("p", "Go to slide four."), slide="s4"),
    case(
        "the final differs from what was meant",
        "slide",
        room(said("p", 1, "Go to slide three.", 2), said("p", 3, "No, two.", 4)),
        slide="s3",
    ),
    case(
        "a correction in command form",
        "slide",
        room(said("p", 1, "Go to slide three.", 2), said("p", 3, "Go to slide two.", 4)),
        slide="s2",
    ),
    case(
        "next on the last",
        "slide",
        room(said("p", 1, "Next slide.", 2), start=starting(slide="s4")),
        slide="s4",
    ),
    case(
        "previous on the first",
        "slide",
        room(said("p", 1, "Previous slide.", 2), start=starting(slide="s1")),
        slide="s1",
    ),
    case(
        "back from the last",
        "slide",
        room(said("p", 1, "Previous slide.", 2), start=starting(slide="s4")),
        slide="s3",
    ),
    case(
        "during questions",
        "slide",
        room(OPEN, said("p", 5, "Go to slide four.", 6)),
        slide="s4",
        mode="questions",
    ),
    case(
        "in clip it moves and puts the clip away",
        "slide mode",
        room(PLAY, said("p", 3, "Next slide.", 4)),
        slide="s3",
        mode="talk",
        clip_state="none",
    ),
    case(
        "in clip, naming the slide under it",
        "slide",
        room(PLAY, said("p", 3, "Go to slide two.", 4)),
        slide="s2",
        mode="talk",
    ),
    case(
        "in clip, a move off the deck does nothing at all",
        "slide",
        room(
            PLAY,
            said("p", 3, "Next slide.", 4),
            start=starting(slide="s4"),
            clip={"name": "film", "slide": "s4"},
        ),
        slide="s4",
        mode="clip",
    ),
    case(
        "after closing",
        "mode",
        room(CLOSE, said("p", 7, "Go to slide one.", 8)),
        slide="s2",
        mode="closed",
    ),
    case(
        "after closing in the same text",
        "mode order",
        room(said("p", 1, "Next slide.", 6), CLOSE, said("p", 5, "Next slide.", 6)),
        slide="s3",
    ),
]

AUTHORITY = [
    *(
        case(
            f"{who} says {phrase}",
            "authority",
            room(said(who, 3, phrase, 4)),
            mode="talk",
            slide="s2",
        )
        for who, phrases in {
            "h": ("Next slide.", "Previous slide.", "Go to slide four.", "Play the clip."),
            "a": ("Next slide.", "Play the clip.", "Questions are open.", "The session is closed."),
            "c": ("Next slide.", "Play the clip.", "Questions are open.", "The session is closed."),
            "p": ("Questions are open.", "The session is closed."),
        }.items()
        for phrase in phrases
    ),
    *(
        case(
            f"{who} cannot pause",
            "authority",
            room(PLAY, said(who, 3, "Pause the clip.", 4)),
            clip_state="play",
        )
        for who in "hac"
    ),
    *(
        case(
            f"{who} cannot pause early",
            "authority clip",
            room(PLAY, said(who, 3, "pause the clip")),
            clip_state="play",
        )
        for who in "hac"
    ),
    *(
        case(
            f"{who} cannot end the clip",
            "authority",
            room(PLAY, said(who, 3, "Back to the talk.", 4)),
            mode="clip",
        )
        for who in "hac"
    ),
    *(
        case(
            f"{who} cannot hand over",
            "authority cue",
            room(said(who, 3, "Back to the chair.", 4)),
            host_cue="listen",
        )
        for who in "hac"
    ),
    case(
        "a relayed wish that is declined",
        "authority",
        room(said("h", 1, "They ask for it. Go to slide four.", 2), said("p", 3, "Not now.", 4)),
        slide="s2",
    ),
    case(
        "a relayed wish that is granted",
        "authority",
        room(said("h", 1, "They ask for four.", 2), said("p", 3, "Go to slide four.", 4)),
        slide="s4",
    ),
]

MODES = [
    case(
        "play on the clip's slide",
        "mode tiers",
        room(PLAY),
        mode="clip",
        clip_state="play",
        slide="s2",
    ),
    case("provisional play", "mode tiers clip", room(said("p", 1, "play the clip")), mode="talk"),
    case(
        "play elsewhere",
        "mode",
        room(PLAY, start=starting(slide="s3")),
        mode="talk",
        clip_state="none",
    ),
    case(
        "play elsewhere is lost, not kept",
        "order mode",
        room(PLAY, said("p", 3, "Go to slide two.", 4), start=starting(slide="s3")),
        mode="talk",
        slide="s2",
    ),
    case(
        "play in questions", "mode", room(OPEN, said("p", 5, "Play the clip.", 6)), mode="questions"
    ),
    case(
        "where the clip sits is read from the state",
        "mode",
        room(PLAY, clip={"slide": "s4"}),
        mode="talk",
    ),
    case(
        "back from the clip", "mode", room(PLAY, said("p", 3, "Back to the talk.", 4)), mode="talk"
    ),
    case(
        "provisional back", "mode tiers", room(PLAY, said("p", 3, "back to the talk")), mode="clip"
    ),
    case(
        "back from questions", "mode", room(OPEN, said("p", 5, "Back to the talk.", 6)), mode="talk"
    ),
    case(
        "the host cannot go back",
        "authority",
        room(OPEN, said("h", 5, "Back to the talk.", 6)),
        mode="questions",
    ),
    case("opening", "mode", room(OPEN), mode="questions", question_card="waiting"),
    case(
        "provisional opening", "mode tiers", room(said("h", 3, "questions are open")), mode="talk"
    ),
    case("opening during the clip", "mode", room(PLAY, OPEN), mode="clip"),
    case(
        "opening during the clip is lost",
        "order",
        room(PLAY, OPEN, said("p", 5, "Back to the talk.", 6)),
        mode="talk",
    ),
    case(
        "provisional closing",
        "mode tiers",
        room(said("h", 5, "the session is closed")),
        mode="talk",
    ),
    case("closing from talk", "mode none", room(CLOSE), mode="closed", host_cue="none"),
    case("closing from the clip", "mode none", room(PLAY, CLOSE), mode="closed", clip_state="none"),
    case(
        "closing from questions",
        "mode none",
        room(OPEN, CLOSE),
        mode="closed",
        question_card="none",
    ),
    case(
        "nothing reopens",
        "mode",
        room(CLOSE, said("h", 7, "Questions are open.", 8)),
        mode="closed",
    ),
    case(
        "nothing returns", "mode", room(CLOSE, said("p", 7, "Back to the talk.", 8)), mode="closed"
    ),
    case("nothing plays", "mode", room(CLOSE, said("p", 7, "Play the clip.", 8)), mode="closed"),
    case(
        "a handover neither opens nor closes",
        "cue",
        room(said("p", 1, "Back to the chair.", 2)),
        mode="talk",
        question_card="none",
    ),
    case(
        "finals apply by final_at, not by onset",
        "order",
        room(said("p", 1, "Go to slide four.", 9), said("p", 3, "Go to slide one.", 5)),
        slide="s4",
    ),
    case(
        "equal final_at applies by listing",
        "order",
        room(said("p", 1, "Go to slide four.", 5), said("p", 3, "Go to slide one.", 5)),
        slide="s1",
    ),
    case(
        "opening and playing at one tick: the host was listed first",
        "order",
        room(said("h", 1, "Questions are open.", 4), said("p", 2, "Play the clip.", 4)),
        mode="questions",
    ),
]

CASES = [*SENTENCES, *SLIDES, *AUTHORITY, *MODES]


@pytest.mark.parametrize("example", CASES, ids=lambda example: example.name)
def test_case(example: Case) -> None:
    got = reference(example.state)
    assert {question: got[question] for question in example.expected} == example.expected
