"""The sentences people say in calls whose rules define intents, and what each of them means.

`sentences.json` is the bank; `readings.json` beside it is how blind readers took it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from streamdecisionbench.families.support.rules import (
    INTENT_RULE,
    INTERCOM_INTENTS,
    PAYMENT_INTENTS,
)
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

_PARCELS = ("keypad", "door plate")
_DEVICES = ("gate unit", "hall screen")
INTENTS: dict[str, Intents] = {
    "payment": Intents(INTENT_RULE, PAYMENT_INTENTS, {"card": ("travel", "company")}),
    "intercom": Intents(
        INTENT_RULE,
        INTERCOM_INTENTS,
        {"delivery": _PARCELS, "cancel": _PARCELS, "repair": _DEVICES, "correction": _PARCELS},
    ),
}
"""What a blind reader is told, by kind of call."""


_NOTHING = Meant(NONE, "", "talk")


@cache
def bank() -> Bank:
    return read_bank(SENTENCES)


def meaning(
    utterance: Mapping[str, Any], setting: str, speaker: str, names: Mapping[str, str]
) -> Meant:
    """What an utterance means, read as words of `speaker`.

    `names` are the items it may be about, each with its spoken name. A final utterance of the speaker
    that the bank does not know is an error: nothing doubtful is taken for silence.
    """
    known = _known(setting, speaker, tuple(names.items()))
    found = known.get(words_of(utterance["text"]))
    if found is None and utterance["final"] and utterance["speaker"] == speaker:
        raise unknown_sentence(utterance["text"], speaker)
    return found or _NOTHING


@cache
def _known(
    setting: str, speaker: str, names: tuple[tuple[str, str], ...]
) -> dict[tuple[str, ...], Meant]:
    return recogniser(bank(), setting, speaker, names)
