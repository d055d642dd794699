"""The bank of sentences: enough of every sort, no two alike, and recognised whatever it is about."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.families.support.bank import INTENTS, bank, meaning
from streamdecisionbench.suite.sentence_bank import NONE
from streamdecisionbench.worlds.support import phrases

pytestmark = pytest.mark.slow

SETTINGS = [(s, speaker) for s, told in INTENTS.items() for speaker in told.definitions]
EVERY = pytest.mark.parametrize(("setting", "speaker"), SETTINGS)
ITEMS = {
    "payment": [{c: c for c in pair} for pair in phrases.CARDS.items],
    "intercom": [
        {item: name for item, name, *_ in group}
        for group in (phrases.PARCELS.items, phrases.DEVICES.items)
    ],
}


@EVERY
def test_every_intent_has_forty_sentences_and_so_has_what_only_sounds_like_one(
    setting: str, speaker: str
) -> None:
    sentences = list(bank().of(setting, speaker))
    intents = Counter(s.intent for s in sentences)
    manners = Counter(s.manner for s in sentences)
    assert set(intents) == {NONE, *INTENTS[setting].definitions[speaker]}
    assert min(intents.values()) >= 40
    for manner in ("condition", "question", "reported", "correction"):
        assert manners[manner] >= 40
    assert manners["negation"] >= 10
    assert all((s.intent == NONE) == (s.manner not in ("plain", "correction")) for s in sentences)


@EVERY
def test_a_sentence_is_about_an_item_where_its_intent_is(setting: str, speaker: str) -> None:
    for s in bank().of(setting, speaker):
        if s.intent != NONE:
            assert ("{name}" in s.text) == (s.intent in INTENTS[setting].named), s.text
        assert ("{other}" in s.text) <= (s.manner == "correction"), s.text


@EVERY
def test_no_name_makes_two_sentences_alike(setting: str, speaker: str) -> None:
    for group in ITEMS[setting]:
        for a, b in list(permutations(group, 2))[:6]:
            pair = {a: group[a], b: group[b]}
            for s in bank().of(setting, speaker):
                said = {"text": s.filled(pair[a], pair[b]), "final": True, "speaker": speaker}
                meant = meaning(said, setting, speaker, pair)
                named = s.intent in INTENTS[setting].named
                assert (meant.intent, meant.item) == (s.intent, a if named else ""), s.text
                assert meant.manner == s.manner


def test_an_unknown_sentence_is_no_silence() -> None:
    said = {"text": "Perhaps.", "final": True, "speaker": "customer"}
    cards = {"travel": "travel", "club": "club"}
    with pytest.raises(InputError, match=r"no sentence 'Perhaps\.' of the customer"):
        meaning(said, "payment", "customer", cards)
    for other in ({"final": False}, {"speaker": "background"}):
        assert meaning({**said, **other}, "payment", "customer", cards).intent == NONE
