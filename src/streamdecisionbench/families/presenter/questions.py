"""What the desk is asked at every tick, and which answers it consumes in which mode."""

from __future__ import annotations

from collections.abc import Mapping

from streamdecisionbench.suite.authoring import QuestionDraft
from streamdecisionbench.suite.scenario import DecisionSpec

SPEC = DecisionSpec(
    route_question="mode",
    always=("slide", "captions"),
    branches={
        "talk": ("host_cue",),
        "questions": ("question_card", "host_cue"),
        "clip": ("clip_state",),
        "closed": (),
    },
)


def questions(deck: Mapping[str, str]) -> dict[str, QuestionDraft]:
    """The six questions; the slide options are the pages of `deck`, id → title."""
    return {
        "mode": QuestionDraft(
            "Which mode is the stage in now? Apply the final commands of the presenter and the host in"
            " order, starting from prepared.start, as rules order, mode and slide say.",
            {
                "talk": "Deck on the screen, presenter has the floor",
                "questions": "Floor open, question card shown beside the deck",
                "clip": "Clip window over the deck, playing or paused",
                "closed": "Session over, controls locked",
            },
        ),
        "slide": QuestionDraft(
            "Which page of the deck is selected now? In clip mode, name the page under the clip window;"
            " after closing, the page left standing. Only final commands of the presenter count.",
            dict(deck),
        ),
        "captions": QuestionDraft(
            "Which channel do the live captions carry now? Decide by onset as rule captions says.",
            {
                "presenter": "Captions from the lapel microphone",
                "host": "Captions from the session chair's microphone",
                "audience": "Captions from the room and roving microphones",
                "clip": "Captions from the sound of the clip player",
            },
        ),
        "clip_state": QuestionDraft(
            "Should the clip run or stand still now? Take the early pause into account (rule clip); none"
            " outside clip mode.",
            {
                "play": "Clip running",
                "pause": "Clip standing still on a frame",
                "none": "No clip window on the screen",
            },
        ),
        "question_card": QuestionDraft(
            "Which card does the presenter see now? Follow the newest audience entry that counts (rule"
            " card); none outside questions mode.",
            {
                "waiting": "Nobody has started a question",
                "listening": "A question is being spoken",
                "repeat": "Say the question again for the room",
                "answer": "Question restated, go ahead and answer",
                "none": "No card on the screen",
            },
        ),
        "host_cue": QuestionDraft(
            "Which light does the session chair see now? Read the current text of the newest presenter"
            " entry (rule cue); none in clip and closed mode.",
            {
                "listen": "Light off, the chair listens",
                "stand_by": "Light on, the presenter is handing over",
                "none": "Cue light not in use",
            },
        ),
    }
