"""What blind readers could take in two ways: one case per question, on a state where the ways differ."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from streamdecisionbench.families.presenter import DRAFTS
from streamdecisionbench.families.presenter.bank import bank
from streamdecisionbench.families.presenter.reference import reference
from streamdecisionbench.families.presenter.rules import FREE_RULES, INTENTS, RULES
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.worlds.presenter import (
    phrases,
    words,
)
from tests.families.presenter.room import room, said

pytestmark = pytest.mark.slow

HOLDING = pytest.mark.parametrize(
    "scenario", [expand(draft) for draft in DRAFTS], ids=lambda scenario: scenario.scenario_id
)
LAWS = pytest.mark.parametrize("law", [RULES, FREE_RULES], ids=["listed", "free"])
ODD_MARK = re.compile(r"[\"“”‘’«»:;()–—\d]|\s[-']|[-']\s|[-']$")


def hall(*entries: dict[str, Any]) -> dict[str, Any]:
    """The small room where people use their own words."""
    state = room(*entries)
    prepared = {k: v for k, v in state["prepared"].items() if k != "commands"}
    state["prepared"] = prepared | {"intents": INTENTS}
    state["transcript"][0]["text"] = "Right."
    return state


LISTED = (
    said("h", 3, "Questions are open.", 4),
    said("p", 8, "The question is how long.", 9),
    said("p", 15, "Back to the talk.", 16),
)
FREE = (
    said("h", 3, "Who has the first question?", 4),
    said("p", 8, "Your question was how long it lasts.", 9),
    said("p", 15, "Right, back to my talk.", 16),
)
ASKED = said("a", 5, "How long does it last?", 7)


@pytest.mark.parametrize(("make", "words"), [(room, LISTED), (hall, FREE)], ids=["listed", "free"])
def test_the_opening_that_counts_is_the_one_that_led_to_the_present_questions_mode(
    make: Any, words: tuple[dict[str, Any], ...]
) -> None:
    opening, restated, back = words
    again = opening | {"id": "h11", "onset": 11, "final_at": 12}
    anew = opening | {"id": "h19", "onset": 19, "final_at": 20}
    asked = make(opening, ASKED, restated)
    assert reference(asked)["question_card"] == "answer"
    asked["transcript"].append(again)
    assert reference(asked)["question_card"] == "answer", "not the latest opening said"
    asked["transcript"] += [back, anew]
    assert reference(asked)["question_card"] == "waiting", "not the first one either"


@LAWS
def test_the_rules_say_which_opening(law: dict[str, str]) -> None:
    assert "the present questions mode began" in law["card"]
    assert "an opening said while questions are open is none" in law["card"]


@LAWS
def test_the_rules_say_which_marks_there_are(law: dict[str, str]) -> None:
    assert "numbers as words and knows no quotation marks, dashes or colons" in law["transcript"]


@HOLDING
def test_no_final_of_a_scenario_has_another_mark(scenario: Scenario) -> None:
    for entry in scenario.steps[-1].state["transcript"]:
        assert not ODD_MARK.search(entry["text"]), entry["text"]


def test_nothing_that_can_be_said_in_a_generated_hall_has_another_mark() -> None:
    sayable = [s.text for s in bank().sentences]
    sayable += [line for group in phrases.LINES.values() for line in group]
    sayable += [text for pair in phrases.FREE_ASKED.items() for text in pair]
    for name, value in vars(words).items():
        if name.startswith("_") and isinstance(value, tuple) and isinstance(value[0], str):
            sayable += value
    assert len(sayable) > 1000
    assert [text for text in sayable if ODD_MARK.search(text)] == []


@pytest.mark.parametrize("text", ["Next slide, next slide.", "Next slide; next slide."])
def test_only_full_stop_question_and_exclamation_mark_end_a_sentence(text: str) -> None:
    assert "and nowhere else" in RULES["whole_sentence"]
    assert reference(room(said("p", 1, text, 2)))["slide"] == "s2"
    assert reference(room(said("p", 1, "Next slide! Next slide?", 2)))["slide"] == "s4"


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("The question isn't new.", "repeat"),
        ("The question is, how long.", "answer"),
        ("The question is.", "answer"),
        ("So the question is how long.", "repeat"),
    ],
)
def test_a_listed_restatement_begins_with_the_words_as_whole_words(text: str, card: str) -> None:
    assert "begin with them, as whole words" in RULES["whole_sentence"]
    asked = room(LISTED[0], ASKED, said("p", 8, text, 9))
    assert reference(asked)["question_card"] == card


@HOLDING
def test_a_recogniser_s_confidence_decides_nothing(scenario: Scenario) -> None:
    assert "not the recogniser's confidence" in FREE_RULES["side"]
    for step in scenario.steps[::7]:
        for sure in (0.0, 1.0):
            state = json.loads(json.dumps(step.state))
            for entry in state["transcript"]:
                entry["confidence"] = sure
            assert reference(state) == step.gold


def test_the_channel_decides_whoever_speaks() -> None:
    """The chair in the room microphone is audience; on his own he opens."""
    words = said("h", 3, "Who has the first question?", 4)
    assert "whoever speaks them" in FREE_RULES["authority"]
    assert reference(hall(words))["mode"] == "questions"
    assert reference(hall(words | {"channel": "audience"}))["mode"] == "talk"
