"""Closed banks of sentences: what people may say where rules define intents instead of phrases.

Every sentence has one intent, or none. It may hold `{name}` for the item it is about and `{other}` for
the item it corrects; both are filled with names that the state publishes. Other slots are filled with
any of the words that the bank lists for them, none of which changes what the sentence means.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import permutations, product
from pathlib import Path
from string import Formatter

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.file_io import read_json_as

SCHEMA = "sdb-bank/1"
NONE = "none"
_ROW = re.compile(
    r"\b(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
    r"(?: (?:zero|oh|one|two|three|four|five|six|seven|eight|nine))+\b"
)
MANNERS = ("plain", "condition", "question", "reported", "negation", "correction", "talk")


class Sentence(msgspec.Struct, frozen=True):
    """One sentence. `setting` is the kind of session, `before` the sentence that it corrects.

    A sentence with a `scene` belongs to the story of that authored scenario; generators leave it there.
    """

    id: str
    setting: str
    speaker: str
    intent: str
    manner: str
    text: str
    before: str = ""
    scene: str = ""

    def filled(self, name: str, other: str, **words: str) -> str:
        """The sentence about an item, with words for its other slots."""
        return self.text.format(name=name, other=other, **words)

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots to fill in.

        >>> Sentence("", "hall", "presenter", "jump", "plain", "Slide {name}, please.").slots
        ('name',)
        """
        return _slots(self.text)


class Bank(msgspec.Struct, frozen=True):
    """Every sentence of a family that has a meaning, and those that sound as if they had one."""

    schema: str
    family: str
    sentences: tuple[Sentence, ...]
    fillers: dict[str, tuple[str, ...]] = {}
    """Slot other than name and other → the words that may stand there."""

    def of(self, setting: str, speaker: str) -> Iterator[Sentence]:
        return (s for s in self.sentences if s.setting == setting and s.speaker == speaker)

    def fillings(self, sentence: Sentence) -> Iterator[dict[str, str]]:
        """Every way to fill the slots that the bank itself has words for."""
        slots = [slot for slot in sentence.slots if slot in self.fillers]
        for words in product(*(self.fillers[slot] for slot in slots)):
            yield dict(zip(slots, words, strict=True))


class Intents(msgspec.Struct, frozen=True):
    """The instruction for a reader of one setting: the rule, and each speaker's intents.

    `named` are intents that are about an item; `examples` are two items to show each of them with.
    """

    rule: str
    definitions: dict[str, dict[str, str]]
    named: dict[str, tuple[str, str]]


class Meant(msgspec.Struct, frozen=True):
    """The meaning of a sentence: an intent, perhaps about an item, in some manner."""

    intent: str
    item: str
    manner: str
    before: str = ""


def read_bank(path: str | Path) -> Bank:
    """The bank in a file, or an `InputError` that names what is wrong with it."""
    bank = read_json_as(path, Bank, fix="see docs/how-to/generate-suites.md")
    for sentence in bank.sentences:
        if sentence.id != sentence_id(sentence.setting, sentence.speaker, sentence.text):
            raise InputError(
                f"{sentence.id!r} is not the id of {sentence.text!r}",
                where=path,
                fix="a changed sentence is a new one, and has to be read again",
            )
        if sentence.manner not in MANNERS:
            raise InputError(f"{sentence.manner!r} is no manner", where=path, fix=str(MANNERS))
        for slot in sentence.slots:
            if slot not in ("name", "other", *bank.fillers):
                raise InputError(
                    f"{sentence.text!r} has a slot {slot!r} that nothing fills",
                    where=path,
                    fix=f"list words for it under fillers.{slot}",
                )
    return bank


def sentence_id(setting: str, speaker: str, text: str) -> str:
    """An id that says nothing about the intent.

    >>> sentence_id("payment", "customer", "Oh, I see.")
    's89d14cbc'
    """
    return "s" + hashlib.sha256(f"{setting}/{speaker}/{text}".encode()).hexdigest()[:8]


@cache
def words_of(text: str) -> tuple[str, ...]:
    """Words without capitals and punctuation: what is compared. Digits in a row are left out.

    >>> words_of("It ends in four, oh, two.") == words_of("It ends in [digits removed].")
    True
    """
    words = " ".join(re.findall(r"[a-z0-9]+(?:'[a-z0-9]+)*", text.lower()))
    return tuple(_ROW.sub("digits removed", words).split())


def recogniser(
    bank: Bank, setting: str, speaker: str, items: Sequence[tuple[str, str]]
) -> dict[tuple[str, ...], Meant]:
    """Words → what they mean, for every sentence about these (item, spoken name) pairs."""
    found = {}
    for sentence in bank.of(setting, speaker):
        named = sentence.intent != NONE and "name" in sentence.slots
        for item, name, other in _pairs(sentence, items):
            meant = Meant(sentence.intent, item if named else "", sentence.manner, sentence.before)
            for words in bank.fillings(sentence):
                found[words_of(sentence.filled(name, other, **words))] = meant
    return found


def unknown_sentence(text: str, speaker: str) -> InputError:
    """The error for a sentence that no bank holds: it does not count as silence."""
    return InputError(
        f"the bank has no sentence {text!r} of the {speaker}",
        fix="rules that define intents go with sentences of the family's bank;"
        " `sdb suite generate --wording free` makes such a suite",
    )


def _pairs(sentence: Sentence, items: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """(item, its name, another's name), as far as the sentence names any."""
    if "other" in sentence.slots and len(items) > 1:
        yield from ((item, name, other) for (item, name), (_, other) in permutations(items, 2))
    elif "name" in sentence.slots:
        yield from ((item, name, name) for item, name in items)
    else:
        yield "", "", ""


@cache
def _slots(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(slot for _, slot, _, _ in Formatter().parse(text) if slot))
