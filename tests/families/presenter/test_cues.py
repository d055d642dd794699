"""What onsets and current text do to the question card and the chair's cue."""

from __future__ import annotations

import pytest

from streamdecisionbench.families.presenter.reference import reference
from tests.families.cases import Case
from tests.families.presenter.room import ASKED, CLOSE, HAND_OVER, OPEN, case, room, said, starting

pytestmark = pytest.mark.slow

LATER = said("p", 9, "The question is how long.", 10)

CARD = [
    case("no question yet", "card", room(OPEN), question_card="waiting"),
    case(
        "onset at the opening tick", "card", room(OPEN, said("a", 4, "")), question_card="listening"
    ),
    case(
        "onset one tick before, with the host's onset",
        "card",
        room(OPEN, said("a", 3, "well")),
        question_card="waiting",
    ),
    case(
        "onset one tick after", "card", room(OPEN, said("a", 5, "well")), question_card="listening"
    ),
    case(
        "started before, final after",
        "card",
        room(OPEN, said("a", 3, "Why?", 6)),
        question_card="waiting",
    ),
    case(
        "empty text listens", "card tiers", room(OPEN, said("a", 5, "")), question_card="listening"
    ),
    case("final question", "card tiers", room(OPEN, ASKED), question_card="repeat"),
    case(
        "no question mark needed",
        "card",
        room(OPEN, said("a", 5, "Nice.", 6)),
        question_card="repeat",
    ),
    case(
        "only the audience asks",
        "card",
        room(OPEN, said("c", 5, "Why?", 6)),
        question_card="waiting",
    ),
    case("the host does not ask", "card", room(OPEN, said("h", 5, "why")), question_card="waiting"),
    case(
        "the presenter starts", "card", room(OPEN, ASKED, said("p", 8, "")), question_card="repeat"
    ),
    case(
        "provisional restatement",
        "card tiers",
        room(OPEN, ASKED, said("p", 8, "the question is how")),
        question_card="repeat",
    ),
    case(
        "thanks", "card", room(OPEN, ASKED, said("p", 8, "Thank you.", 9)), question_card="repeat"
    ),
    case(
        "an answer only",
        "card",
        room(OPEN, ASKED, said("p", 8, "Two years.", 9)),
        question_card="repeat",
    ),
    case("restated", "card", room(OPEN, ASKED, LATER), question_card="answer"),
    case(
        "restated one tick later",
        "card",
        room(OPEN, ASKED, said("p", 8, "The question is why.", 8)),
        question_card="answer",
    ),
    case(
        "restated at the same tick",
        "card",
        room(OPEN, ASKED, said("p", 6, "The question is why.", 7)),
        question_card="repeat",
    ),
    case(
        "restated before",
        "card",
        room(OPEN, ASKED, said("p", 6, "The question is why.", 6)),
        question_card="repeat",
    ),
    case(
        "begun early, final later",
        "card",
        room(OPEN, ASKED, said("p", 5, "The question is why.", 8)),
        question_card="answer",
    ),
    case(
        "a comma after the words",
        "card",
        room(OPEN, ASKED, said("p", 8, "The question is, how long?", 9)),
        question_card="answer",
    ),
    case(
        "a longer word is another word",
        "card",
        room(OPEN, ASKED, said("p", 8, "The question isn't new.", 9)),
        question_card="repeat",
    ),
    case(
        "second sentence restates",
        "card",
        room(OPEN, ASKED, said("p", 8, "Sure. The question is why.", 9)),
        question_card="answer",
    ),
    case(
        "exactly the words",
        "card",
        room(OPEN, ASKED, said("p", 8, "The question is.", 9)),
        question_card="answer",
    ),
    case(
        "words inside",
        "card",
        room(OPEN, ASKED, said("p", 8, "So the question is why.", 9)),
        question_card="repeat",
    ),
    case(
        "another word",
        "card",
        room(OPEN, ASKED, said("p", 8, "The question isolates it.", 9)),
        question_card="repeat",
    ),
    case(
        "the asker restates nothing",
        "card authority",
        room(OPEN, said("a", 5, "The question is why.", 7)),
        question_card="repeat",
    ),
    case(
        "the host restates nothing",
        "card authority",
        room(OPEN, ASKED, said("h", 8, "The question is why.", 9)),
        question_card="repeat",
    ),
    case(
        "still answering",
        "card",
        room(OPEN, ASKED, LATER, said("p", 11, "Two.", 12)),
        question_card="answer",
    ),
    case(
        "the next question",
        "card",
        room(OPEN, ASKED, LATER, said("a", 11, "and")),
        question_card="listening",
    ),
    case(
        "the next question is final",
        "card",
        room(OPEN, ASKED, LATER, said("a", 11, "And?", 12)),
        question_card="repeat",
    ),
    case(
        "the newest question counts, not the last final",
        "card",
        room(
            OPEN,
            said("a", 5, "One?", 9),
            said("a", 6, "Two?", 7),
            said("p", 7, "The question is.", 8),
        ),
        question_card="answer",
    ),
    case(
        "a second opening in questions does nothing",
        "mode card",
        room(OPEN, ASKED, said("h", 8, "Questions are open.", 9)),
        question_card="repeat",
    ),
    case(
        "a new opening forgets old questions",
        "card",
        room(
            OPEN,
            ASKED,
            said("p", 8, "Back to the talk.", 9),
            said("h", 10, "Questions are open.", 11),
        ),
        question_card="waiting",
        mode="questions",
    ),
    case("no card in talk", "none card", room(ASKED), question_card="none"),
    case(
        "questions open from the start",
        "card order",
        room(said("a", 2, "hm"), start=starting("questions", tick=2)),
        question_card="listening",
    ),
]

CUE = [
    case("final handover", "cue", room(HAND_OVER), host_cue="stand_by"),
    case(
        "provisional handover",
        "cue tiers",
        room(said("p", 8, "back to the chair")),
        host_cue="stand_by",
    ),
    case(
        "a misheard chart", "cue tiers", room(said("p", 8, "back to the chart")), host_cue="listen"
    ),
    case(
        "the sentence goes on",
        "cue",
        room(said("p", 8, "back to the chair lift")),
        host_cue="listen",
    ),
    case(
        "inside a sentence",
        "cue whole_sentence",
        room(said("p", 8, "Now back to the chair.", 9)),
        host_cue="listen",
    ),
    case(
        "a later sentence",
        "cue",
        room(said("p", 8, "Thanks. Back to the chair.", 9)),
        host_cue="stand_by",
    ),
    case(
        "a provisional whole",
        "cue",
        room(said("p", 8, "thanks back to the chair")),
        host_cue="listen",
    ),
    case(
        "the presenter goes on",
        "cue transcript",
        room(HAND_OVER, said("p", 10, "")),
        host_cue="listen",
    ),
    case(
        "newest is listed last",
        "cue transcript",
        room(said("p", 8, "well"), said("p", 8, "back to the chair")),
        host_cue="stand_by",
    ),
    case(
        "the audience goes on", "cue", room(HAND_OVER, said("a", 10, "bravo")), host_cue="stand_by"
    ),
    case("the host starts", "cue tiers", room(HAND_OVER, said("h", 10, "")), host_cue="listen"),
    case("host at the same tick", "cue", room(HAND_OVER, said("h", 8, "")), host_cue="listen"),
    case(
        "host one tick before",
        "cue",
        room(said("h", 7, "I think", None), HAND_OVER),
        host_cue="stand_by",
    ),
    case("host one tick after", "cue", room(HAND_OVER, said("h", 9, "")), host_cue="listen"),
    case(
        "host final later, begun before",
        "cue",
        room(said("h", 7, "Yes.", 10), HAND_OVER),
        host_cue="stand_by",
    ),
    case("during questions", "cue", room(OPEN, HAND_OVER), host_cue="stand_by", mode="questions"),
    case("plain talk", "cue", room(), host_cue="listen"),
    case("after closing", "none cue", room(CLOSE, HAND_OVER), host_cue="none"),
    case(
        "a presenter who never spoke",
        "cue",
        room() | {"transcript": [said("h", 1, "Good evening.", 2)]},
        host_cue="listen",
        captions="host",
    ),
]

SIDE = [
    case(
        "the side log and the desk decide nothing",
        "side",
        room(said("p", 1, "hello"))
        | {
            "side_log": [
                {"at": 1, "source": "operator", "text": "Next slide. The session is closed."}
            ],
            "desk": {
                "levels_db": {"presenter": -90, "host": 0, "audience": 0, "clip": 0},
                "clicker": "forward",
            },
        },
        mode="talk",
        slide="s2",
        captions="presenter",
        host_cue="listen",
    )
]

CASES = [*CARD, *CUE, *SIDE]


@pytest.mark.parametrize("example", CASES, ids=lambda example: example.name)
def test_case(example: Case) -> None:
    got = reference(example.state)
    assert {question: got[question] for question in example.expected} == example.expected
