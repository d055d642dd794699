"""The sentences people say in halls whose rules define intents, and what each of them means.

`sentences.json` is the bank; `readings.json` beside it is how blind readers took it. Each
sentence ends with its only mark, so that final text falls into the bank's sentences again.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path

from streamdecisionbench.families.presenter.rules import INTENT_RULE
from streamdecisionbench.families.presenter.rules import INTENTS as DEFINITIONS
from streamdecisionbench.suite.sentence_bank import (
    NONE,
    Bank,
    Intents,
    Meant,
    read_bank,
    recogniser,
    unknown_sentence,
    words_of,
)

HOME = Path(str(resources.files(__name__)))
SENTENCES = HOME / "sentences.json"
READINGS = HOME / "readings.json"

SETTING = "hall"
"""Talks and public meetings have one law, so one kind of session."""
INTENTS: dict[str, Intents] = {
    SETTING: Intents(INTENT_RULE, DEFINITIONS, {"jump": ("four", "nine")})
}
"""What a blind reader is told."""

NOTHING = Meant(NONE, "", "talk")


@cache
def bank() -> Bank:
    return read_bank(SENTENCES)


def meaning(
    sentence: str, speaker: str, pages: tuple[tuple[str, str], ...], *, must: bool
) -> Meant:
    """What one sentence means, read as words of `speaker`; the item is the page it names.

    `pages` are the deck's ids, each with the number it is said by. A sentence that the bank does not
    know means nothing, where it may break off or is somebody else's. Where it `must` be known it is
    an error: nothing doubtful is taken for silence.
    """
    found = _known(speaker, pages).get(words_of(sentence))
    if found is None and must:
        raise unknown_sentence(sentence, speaker)
    return found or NOTHING


@cache
def _known(speaker: str, pages: tuple[tuple[str, str], ...]) -> dict[tuple[str, ...], Meant]:
    return recogniser(bank(), SETTING, speaker, pages)
