"""Nothing beside the rules gives an answer away: one test for every way readers found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from streamdecisionbench.families.support import DRAFTS
from streamdecisionbench.families.support.bank import bank, meaning
from streamdecisionbench.suite.authoring import Draft, Event, expand
from streamdecisionbench.suite.sentence_bank import NONE, Sentence, words_of
from streamdecisionbench.worlds.generation.draws import Pool

pytestmark = pytest.mark.slow

DRAFT = {draft.scenario_id: draft for draft in DRAFTS}
SCENARIO = {name: expand(draft) for name, draft in DRAFT.items()}
BOTH = pytest.mark.parametrize("name", ["support_a", "support_b"])
SETTING = {"support_a": "payment", "support_b": "intercom"}


def texts(draft: Draft) -> Iterator[str]:
    """Everything that is said or logged in a call."""
    for event in draft.events:
        yield str(event.data.get("text") or event.data.get("entry", {}).get("text", ""))


def published(draft: Draft) -> list[str]:
    """Rules, definitions, instructions and option texts, each by itself."""
    state = draft.project((), 0)
    law = list(state["rules"].values())
    for intents in state["policy"]["intents"].values():
        law += list(intents.values())
    for question in draft.questions.values():
        law += [question.instructions, *question.options.values()]
    return law


def runs(text: str, length: int) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9]+(?:'[a-z]+)*", text.lower())
    return {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}


@BOTH
def test_no_rule_question_or_option_quotes_what_is_said_or_logged(name: str) -> None:
    said = {run for text in texts(DRAFT[name]) for run in runs(text, 4)}
    for text in published(DRAFT[name]):
        assert not runs(text, 4) & said, text


@BOTH
def test_no_rule_lists_what_has_no_effect_by_example(name: str) -> None:
    """Rules say what counts; they do not name the traps of the timeline."""
    law = " ".join(DRAFT[name].project((), 0)["rules"].values()).lower()
    for trap in ("order_line", "goodbye", "announc", "driver", "tone", "case.status", "eta,"):
        assert trap not in law


def test_nobody_says_what_the_recorder_does() -> None:
    told = re.compile(r"record|paus|captur", re.IGNORECASE)
    assert not [text for text in texts(DRAFT["support_a"]) if told.search(text)]


@BOTH
def test_no_log_line_names_an_answer(name: str) -> None:
    """No option id stands in the log, but for words that are a status of a tool as well."""
    known = {value for question in DRAFT[name].questions.values() for value in question.options}
    ids = {value for value in known if "_" in value}
    assert not [text for text in texts(DRAFT[name]) if any(i in text for i in ids)]


@BOTH
def test_partials_come_as_often_where_nothing_is_decided(name: str) -> None:
    heard: dict[str, list[Event]] = {}
    for event in DRAFT[name].events:
        if event.kind == "say":
            heard.setdefault(event.data["id"], []).append(event)
    grown = [events for events in heard.values() if not events[0].data["final"]]
    idle = [events for events in grown if not events[-1].note.startswith("cause: ")]
    assert 0.4 <= len(idle) / len(grown) <= 0.6
    assert sum(events[-1].at - events[0].at >= 2 for events in grown) >= 3


@BOTH
def test_no_cadence(name: str) -> None:
    draft = DRAFT[name]
    ticks = [event.at for event in draft.events]
    assert len({b - a for a, b in pairwise(ticks)}) >= 2
    busy = [t for t in range(60) if ticks.count(t) >= 2]
    changes = set(SCENARIO[name].changes())
    assert len(busy) >= 15
    assert len([t for t in busy if t not in changes]) >= 6


@BOTH
def test_remarks_are_right_as_often_as_wrong(name: str) -> None:
    """Who takes every remark for false, or for true, errs about half the time (by the notes)."""
    notes = [event.note for event in DRAFT[name].events]
    right = sum(note.endswith("; true") for note in notes)
    wrong = sum(note.endswith("; not so") for note in notes)
    assert min(right, wrong) >= 4
    assert abs(right - wrong) <= 3


def test_the_recorder_pauses_while_a_code_is_keyed_in() -> None:
    scenario = SCENARIO["support_a"]
    keyed = [
        t
        for t in range(1, 60)
        if scenario.steps[t].state["payment"]["captured"]["code"]
        and not scenario.steps[t - 1].state["payment"]["captured"]["code"]
        and "keyed in" in scenario.steps[t].state["log"][-1]["text"]
    ]
    assert keyed
    for tick in keyed:
        assert scenario.steps[tick].gold["recorder"] == "pause"
        assert scenario.steps[tick - 1].gold["recorder"] == "pause"


def train_half() -> set[tuple[str, ...]]:
    """What generated training suites may say that has an intent (see `FreeVoice`)."""
    found: set[tuple[str, ...]] = set()
    known = [s for s in bank().sentences if not s.scene and s.intent != NONE]
    groups: dict[tuple[str, ...], list[Sentence]] = {}
    for s in known:
        groups.setdefault((s.setting, s.speaker, s.intent, s.manner, s.before), []).append(s)
    for group in groups.values():
        for s in Pool(group).of("train"):
            for name, other in NAMES:
                found.add(words_of(s.filled(name, other)))
    return found


NAMES = [
    (a, b)
    for group in (("household", "company"), ("door plate", "keypad", "gate unit", "hall screen"))
    for a in group
    for b in group
    if a != b
]


@BOTH
def test_no_sentence_that_counts_is_one_of_the_training_half(name: str) -> None:
    trained = train_half()
    said = [e.data for e in DRAFT[name].events if e.kind == "say" and e.data["final"]]
    assert not [line["text"] for line in said if words_of(line["text"]) in trained]


@BOTH
def test_every_line_of_the_bank_that_belongs_to_a_story_is_said_in_it(name: str) -> None:
    said = {words_of(e.data["text"]) for e in DRAFT[name].events if e.kind == "say"}
    mine = [s for s in bank().sentences if s.scene == name]
    assert mine
    assert all(words_of(s.text) in said for s in mine)
    assert all(s.setting == SETTING[name] and s.intent == NONE for s in mine)


def test_what_counts_is_said_by_the_bank_and_nothing_is_said_twice() -> None:
    for name, scenario in SCENARIO.items():
        state: dict[str, Any] = scenario.steps[-1].state
        names = state["policy"].get("names") or {c: c for c in state["account"]["card_names"]}
        customer = [u for u in state["transcript"] if u["speaker"] == "customer"]
        meant = [meaning(u, SETTING[name], "customer", names) for u in customer]
        assert len({m.manner for m in meant}) >= 4
        finals = [words_of(u["text"]) for u in customer if "[" not in u["text"]]
        assert len(set(finals)) == len(finals)
