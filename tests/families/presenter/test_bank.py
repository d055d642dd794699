"""The bank of sentences: enough of every sort, no two alike, and read as one sentence each."""

from __future__ import annotations

import re
from collections import Counter
from itertools import permutations

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.families.presenter.bank import INTENTS, NOTHING, SETTING, bank, meaning
from streamdecisionbench.families.presenter.rules import FREE_RULES, RULES
from streamdecisionbench.families.presenter.state import NUMBERS
from streamdecisionbench.suite.sentence_bank import NONE, Meant, words_of
from streamdecisionbench.worlds.presenter import phrases

pytestmark = pytest.mark.slow

TOLD = INTENTS[SETTING]
EVERY = pytest.mark.parametrize("speaker", TOLD.definitions)
PAGES = tuple((f"s{i}", said) for i, said in enumerate(NUMBERS, start=1))


@EVERY
def test_every_intent_has_forty_sentences_and_so_has_what_only_sounds_like_one(
    speaker: str,
) -> None:
    sentences = list(bank().of(SETTING, speaker))
    plain = Counter(s.intent for s in sentences if s.manner == "plain")
    manners = Counter(s.manner for s in sentences)
    assert set(plain) == set(TOLD.definitions[speaker])
    assert min(plain.values()) >= 40
    for manner in ("condition", "question", "reported", "correction"):
        assert manners[manner] >= 40
    assert manners["negation"] >= 15
    assert manners["talk"] >= 40
    assert all((s.intent == NONE) == (s.manner not in ("plain", "correction")) for s in sentences)


def test_every_sentence_is_one_sentence() -> None:
    for s in bank().sentences:
        assert re.fullmatch(r"[^.?!]+[.?!]", s.text), s.text


def test_fillers_are_the_things_sessions_are_about() -> None:
    things = {t for pool in (phrases.TALKS, phrases.MEETINGS) for s in pool.items for t in s.things}
    assert set(bank().fillers["thing"]) == things


@EVERY
def test_a_sentence_is_about_a_page_where_its_intent_is(speaker: str) -> None:
    for s in bank().of(SETTING, speaker):
        if s.intent != NONE:
            assert ("name" in s.slots) == (s.intent in TOLD.named), s.text
            assert ("asked" in s.slots) == (s.intent == "restate"), s.text
        assert ("other" in s.slots) <= (s.manner == "correction"), s.text
        assert (s.before in TOLD.definitions[speaker]) == (s.manner == "correction"), s.text


@EVERY
def test_no_number_and_no_filler_makes_two_sentences_alike(speaker: str) -> None:
    seen: dict[tuple[str, ...], tuple[str, Meant]] = {}
    for s in bank().of(SETTING, speaker):
        pairs = list(permutations(PAGES, 2)) if "name" in s.slots else [(PAGES[0], PAGES[1])]
        for (page, name), (_, other) in pairs:
            about = page if s.intent in TOLD.named else ""
            meant = Meant(s.intent, about, s.manner, s.before)
            for words in bank().fillings(s):
                text = s.filled(name, other, **words)
                assert seen.setdefault(words_of(text), (s.id, meant)) == (s.id, meant), text
    for words, (_, meant) in seen.items():
        assert meaning(" ".join(words), speaker, PAGES, must=True) == meant


def test_an_unknown_sentence_is_no_silence() -> None:
    with pytest.raises(InputError, match=r"no sentence 'Perhaps' of the host"):
        meaning("Perhaps", "host", PAGES, must=True)
    assert meaning("Perhaps", "host", PAGES, must=False) == NOTHING


def test_a_page_is_named_by_the_number_the_deck_says() -> None:
    assert meaning("slide four please", "presenter", PAGES, must=True).item == "s4"
    fewer = PAGES[:3]
    with pytest.raises(InputError, match="no sentence"):
        meaning("slide four please", "presenter", fewer, must=True)


def test_the_law_differs_only_where_phrases_were_listed() -> None:
    assert set(RULES) - set(FREE_RULES) == {"whole_sentence"}
    assert set(FREE_RULES) - set(RULES) == {"intents"}
    assert not [text for text in FREE_RULES.values() if "prepared.commands" in text]
    assert not [text for text in FREE_RULES.values() if "phrase" in text]
