"""What people say in a call: words that count for a purpose, and words that only sound like it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from streamdecisionbench.families.support.bank import bank
from streamdecisionbench.suite.sentence_bank import Sentence
from streamdecisionbench.worlds.generation.draws import (
    Draws,
    Pool,
)
from streamdecisionbench.worlds.support import phrases
from streamdecisionbench.worlds.support.phrases import Phrase

CUSTOMER, AGENT, BACKGROUND = "customer", "agent", "background"


class ListedVoice:
    """Speech for policies that list phrases: what holds one counts, all other words do not."""

    def __init__(
        self,
        listed: Mapping[str, Sequence[Phrase]],
        unlisted: Mapping[str, Sequence[Phrase]],
        draws: Draws,
    ) -> None:
        self._listed = listed
        self._unlisted = unlisted
        self._draws = draws

    def says(self, purpose: str) -> str:
        """A sentence that counts for the purpose, from whoever it counts from."""
        return self._draws.choose(self._draws.choose(self._listed[purpose]).sentences)

    def unsaid(self, purpose: str) -> str:
        """A sentence of the same speaker that sounds like it and counts for nothing."""
        return self._draws.choose(self._draws.choose(self._unlisted[purpose]).sentences)

    def slip(self, purpose: str) -> tuple[str, str]:
        """The speaker breaks off within the phrase, whose last word was only expected."""
        phrase = self._draws.choose(self._listed[purpose])
        begun = broken_off(self._draws.choose(phrase.sentences), phrase.words)
        heard = f"{plain(begun)} {phrase.words.split()[-1]}"
        kind = phrases.SLIP_KINDS[purpose.partition(" ")[0]]
        return heard, f"{begun}... {self._draws.choose(phrases.SLIPS[kind])}"

    def both(self, first: str, second: str) -> str:
        """Both in one breath; the second stands."""
        start = self.says(first).rstrip(".?!")
        end = self.says(second)
        if end.split()[0] not in ("I", "I'd", "I'll", "I'm", "I've"):
            end = end[0].lower() + end[1:]
        return f"{start}... {self._draws.choose(phrases.CORRECTIONS)} {end}"

    def by_others(self, purpose: str, speaker: str) -> str:
        """The words of the purpose from somebody from whom they do not count."""
        phrase = self._draws.choose(self._listed[purpose])
        if speaker != BACKGROUND:
            return phrase.by_others
        return self._draws.choose(phrases.SHOUTED).format(words=re.sub(r"\bi\b", "I", phrase.words))

    def bystanders(self) -> tuple[str, ...]:
        """Who can have the words of a purpose without counting."""
        return AGENT, BACKGROUND

    def leave(self, content: bool) -> tuple[str, bool]:
        """How a customer takes leave, content or in haste, and whether he says it aloud."""
        return self._draws.choose(phrases.LEAVE[mood(content)]), True

    def talk(self, speaker: str) -> str:
        """Small talk."""
        return self._draws.choose(phrases.TALK[speaker])

    def number(self) -> tuple[str, ...]:
        """How a customer says the card number, as it is kept."""
        return phrases.NUMBER

    def line(self, line: str, **words: str) -> tuple[str, bool]:
        """A line of the desk's script, and whether the agent says it aloud."""
        return self._draws.choose(phrases.LINES[line]).format(**words), True


def mood(content: bool) -> str:
    return "content" if content else "in_haste"


def broken_off(sentence: str, words: str) -> str:
    """The sentence up to the last word of the phrase in it, which is missing.

    >>> broken_off("Yes, you may collect it now.", "you may collect it")
    'Yes, you may collect'
    """
    parts = sentence.split()
    wanted = words.split()
    bare = [plain(part) for part in parts]
    start = next(i for i in range(len(parts)) if bare[i : i + len(wanted)] == wanted)
    return " ".join(parts[: start + len(wanted) - 1]).rstrip(",.")


def plain(text: str) -> str:
    """As a recogniser shows it while it is still listening: lower case, no punctuation.

    >>> plain("No, I'd rather not!")
    "no i'd rather not"
    """
    return " ".join(re.findall(r"[a-z0-9]+(?:'[a-z0-9]+)*", text.lower()))


# Speech for policies that define intents: every sentence comes from the bank.

_SOUNDS_LIKE = ("condition", "question", "reported", "negation")
_RESERVE = re.compile(r",? (?:if|unless|once|when|provided)\b")
"""Where a sentence that began like a plain one makes it depend on something."""


class FreeVoice:
    """Speech of one call in one split; sentences are halved between the splits."""

    def __init__(self, setting: str, names: dict[str, str], split: str, draws: Draws) -> None:
        self._setting = setting
        self._names = names
        self._split = split
        self._draws = draws

    def says(self, purpose: str) -> str:
        intent, item = _meant(purpose)
        return self._fill(
            self._choose(_speaker(purpose), lambda s: (s.intent, s.manner) == (intent, "plain")),
            item,
        )

    def unsaid(self, purpose: str) -> str:
        return self._sounding(_speaker(purpose), purpose)

    def slip(self, purpose: str) -> tuple[str, str] | None:
        """A sentence as it is heard before its reserve; about some purposes there is none."""
        about = self._about(_speaker(purpose), purpose)
        reserved = [s for s in about if s.manner == "condition" and _before_reserve(s.text)]
        if not reserved:
            return None
        final = self._fill(self._draws.choose(reserved), purpose.partition(" ")[2])
        return plain(_before_reserve(final)), final

    def both(self, first: str, second: str) -> str:
        before, other = _meant(first)
        intent, item = _meant(second)
        if intent == "correction":
            intent = before  # a request and its correction are one sentence about the request
        found = self._choose(
            _speaker(second),
            lambda s: (s.intent, s.manner, s.before) == (intent, "correction", before),
        )
        return self._fill(found, item, other)

    def by_others(self, purpose: str, speaker: str) -> str:
        """Voices of the background say the very words, others something that sounds like it."""
        if speaker == BACKGROUND:
            return self.says(purpose)
        return self._sounding(speaker, "request" if speaker == AGENT else "card")

    def bystanders(self) -> tuple[str, ...]:
        return (BACKGROUND,)

    def leave(self, content: bool) -> tuple[str, bool]:
        known = self._all(CUSTOMER, lambda s: s.text in phrases.LEAVE[mood(content)])
        return (
            (known[0].text, True)
            if known and self._draws.chance(0.5)
            else (phrases.LEFT[mood(content)], False)
        )

    def talk(self, speaker: str) -> str:
        if speaker == BACKGROUND or (speaker == AGENT and self._setting == "intercom"):
            return self._draws.choose(phrases.TALK[speaker])
        return self._choose(speaker, lambda s: s.text in phrases.TALK[speaker]).text

    def _sounding(self, speaker: str, purpose: str) -> str:
        """A sentence of no intent that sounds as if it had that of the purpose."""
        _, _, item = purpose.partition(" ")
        return self._fill(self._draws.choose(self._about(speaker, purpose)), item)

    def _about(self, speaker: str, purpose: str) -> list[Sentence]:
        """Sentences of no intent that speak of a purpose."""
        known = self._all(speaker, lambda s: s.manner in _SOUNDS_LIKE)
        return [s for s in known if re.search(phrases.TOPICS[purpose.partition(" ")[0]], s.text)]

    def number(self) -> tuple[str, ...]:
        return phrases.NUMBER[:1]

    def line(self, line: str, **words: str) -> tuple[str, bool]:
        """What only payment calls read, the agent's words, has to be in the bank."""
        if self._setting == "intercom":
            return self._draws.choose(phrases.LINES[line]).format(**words), True
        aloud = [(text, True) for text in phrases.BANK_LINES.get(line, ())]
        noted = [(phrases.NOTES[line].format(**words), False)] if line in phrases.NOTES else []
        return self._draws.choose([*aloud, *noted])

    def _choose(self, speaker: str, wanted: Callable[[Sentence], bool]) -> Sentence:
        return self._draws.choose(self._all(speaker, wanted))

    def _all(self, speaker: str, wanted: Callable[[Sentence], bool]) -> Sequence[Sentence]:
        found = [s for s in bank().of(self._setting, speaker) if wanted(s) and not s.scene]
        return Pool(found).of(self._split)

    def _fill(self, sentence: Sentence, item: str = "", other: str = "") -> str:
        """Without an item of its own a sentence names any of the call's."""
        item = item or self._draws.choose(list(self._names))
        other = other or next(i for i in self._names if i != item)
        return sentence.filled(self._names[item], self._names[other])


def _before_reserve(text: str) -> str:
    """A sentence up to the reserve that follows its plain beginning, if there are both.

    >>> _before_reserve("I'd agree if it were ten less.")
    "I'd agree"
    >>> _before_reserve("If it were ten less, I'd agree.")
    ''
    """
    reserve = _RESERVE.search(text)
    begun = text[: reserve.start()] if reserve else ""
    return begun if len(begun.split()) > 1 else ""


def _meant(purpose: str) -> tuple[str, str]:
    kind, _, item = purpose.partition(" ")
    return phrases.INTENTS.get(kind, kind), item


def _speaker(purpose: str) -> str:
    return AGENT if purpose in ("request", "stop") else CUSTOMER


Voice = ListedVoice | FreeVoice
