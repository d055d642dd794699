"""The authored halls once more: what sentences mean by a blind reader, what follows by the second solver.

Each sentence of presenter and host becomes the listed phrase of what a reader of the bank took it for.
Then the second solver, which knows listed phrases only, has to agree with the reference at every state.
"""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import permutations
from typing import Any

import pytest

from streamdecisionbench.audit.readings import read_readings, shown_sentences
from streamdecisionbench.families.presenter import DRAFTS
from streamdecisionbench.families.presenter.bank import INTENTS, READINGS, SETTING, bank
from streamdecisionbench.families.presenter.rules import COMMANDS
from streamdecisionbench.families.presenter.state import NUMBERS
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.suite.sentence_bank import words_of
from tests.families.presenter.second_solver import answers

pytestmark = pytest.mark.slow

HOLDING = pytest.mark.parametrize(
    "scenario", [expand(draft) for draft in DRAFTS], ids=lambda scenario: scenario.scenario_id
)
NO_COMMAND = "well"


@cache
def readings(reader: int) -> dict[tuple[str, tuple[str, ...]], str]:
    """Speaker and words → what the reader answered, for whatever numbers the words name."""
    answered = read_readings(READINGS).readings[reader].answers
    shown_name, shown_other = INTENTS[SETTING].named["jump"]
    found = {}
    for row in shown_sentences(bank(), INTENTS, every=True):
        words, answer = words_of(row["text"]), answered[row["id"]]
        pairs = permutations(NUMBERS, 2) if shown_name in words else [(shown_name, shown_other)]
        for name, other in pairs:
            swap = {shown_name: name, shown_other: other}
            said = tuple(swap.get(word, word) for word in words)
            found[row["speaker"], said] = " ".join(swap.get(w, w) for w in answer.split())
    return found


def phrase(answer: str, speaker: str) -> str:
    """The listed phrase of an answer such as `pause` or `jump four`."""
    intent, _, number = answer.partition(" ")
    if intent == "none":
        return NO_COMMAND
    if intent == "restate":
        return f"{COMMANDS['restate']} this"
    return str(COMMANDS[speaker][intent]).replace("<number>", number)


def listed(state: dict[str, Any], reader: int) -> dict[str, Any]:
    """The same hall with phrases in the place of people's own words."""
    copy: dict[str, Any] = json.loads(json.dumps(state))
    copy["prepared"]["commands"] = COMMANDS
    del copy["prepared"]["intents"]
    known = readings(reader)
    for entry in copy["transcript"]:
        speaker = entry["channel"]
        if speaker not in INTENTS[SETTING].definitions:
            continue
        if entry["final_at"] is None:
            answer = known.get((speaker, words_of(entry["text"])), "none")
            entry["text"] = phrase(answer, speaker)
        else:
            pieces = [p for p in re.split(r"[.?!]", entry["text"]) if p.strip()]
            said = [phrase(known[speaker, words_of(piece)], speaker) for piece in pieces]
            entry["text"] = " ".join(f"{text}." for text in said)
    return copy


@pytest.mark.parametrize("reader", [0, 1])
@HOLDING
def test_a_reader_s_meanings_and_the_second_solver_give_the_same_answers(
    scenario: Scenario, reader: int
) -> None:
    for step in scenario.steps:
        assert answers(listed(step.state, reader)) == step.gold, step.t
