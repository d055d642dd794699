"""What people say in a call: words that count for a purpose, and words that only sound like it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from streamdecisionbench.families.support.generator.phrases import SLIPS, Phrase
from streamdecisionbench.families.support.generator.talk import LEAVE, LINES, NUMBER, TALK
from streamdecisionbench.suite.generation.draws import Draws

CUSTOMER, AGENT, BACKGROUND = "customer", "agent", "background"

_SHOUTED = ("Tell them: {words}!", "Just say: {words}!", "Say it: {words}!")
_SORRY = ("no, sorry,", "no, wait,", "hm, no,", "oh no,")


class Voice(Protocol):
    """Everything the people of one call can say. A purpose is what words can count for."""

    def says(self, purpose: str) -> str:
        """A sentence that counts for the purpose, from whoever it counts from."""

    def unsaid(self, purpose: str) -> str:
        """A sentence of the same speaker that sounds like it and counts for nothing."""

    def slip(self, purpose: str) -> tuple[str, str] | None:
        """A partial that reads like the purpose, and the final it goes on into, which does not."""

    def both(self, first: str, second: str) -> str:
        """Both in one breath; the second stands."""

    def by_others(self, purpose: str, speaker: str) -> str:
        """The words of the purpose from somebody from whom they do not count."""

    def bystanders(self) -> tuple[str, ...]:
        """Who can have the words of a purpose without counting."""

    def talk(self, speaker: str) -> str:
        """Small talk."""

    def leave(self, content: bool) -> tuple[str, bool]:
        """How a customer takes leave, content or in haste, and whether he says it aloud."""

    def number(self) -> tuple[str, ...]:
        """How a customer says the card number, as it is kept."""

    def line(self, line: str, **words: str) -> tuple[str, bool]:
        """A line of the desk's script, and whether the agent says it aloud."""


class ListedVoice:
    """Speech for policies that list phrases: what holds one counts, all other words do not."""

    def __init__(
        self,
        listed: Mapping[str, Sequence[Phrase]],
        unlisted: Mapping[str, Sequence[Phrase]],
        sorts: Mapping[str, str],
        draws: Draws,
    ) -> None:
        self._listed = listed
        self._unlisted = unlisted
        self._sorts = sorts
        self._draws = draws

    def says(self, purpose: str) -> str:
        return self._draws.choose(self._draws.choose(self._listed[purpose]).sentences)

    def unsaid(self, purpose: str) -> str:
        return self._draws.choose(self._draws.choose(self._unlisted[purpose]).sentences)

    def slip(self, purpose: str) -> tuple[str, str]:
        """The speaker breaks off within the phrase, whose last word was only expected."""
        phrase = self._draws.choose(self._listed[purpose])
        begun = broken_off(self._draws.choose(phrase.sentences), phrase.words)
        heard = f"{plain(begun)} {phrase.words.split()[-1]}"
        return heard, f"{begun}... {self._draws.choose(SLIPS[self._sorts[purpose]])}"

    def both(self, first: str, second: str) -> str:
        start = self.says(first).rstrip(".?!")
        end = self.says(second)
        if end.split()[0] not in ("I", "I'd", "I'll", "I'm", "I've"):
            end = end[0].lower() + end[1:]
        return f"{start}... {self._draws.choose(_SORRY)} {end}"

    def by_others(self, purpose: str, speaker: str) -> str:
        phrase = self._draws.choose(self._listed[purpose])
        if speaker != BACKGROUND:
            return phrase.by_others
        return self._draws.choose(_SHOUTED).format(words=re.sub(r"\bi\b", "I", phrase.words))

    def bystanders(self) -> tuple[str, ...]:
        return AGENT, BACKGROUND

    def leave(self, content: bool) -> tuple[str, bool]:
        return self._draws.choose(LEAVE[content]), True

    def talk(self, speaker: str) -> str:
        return self._draws.choose(TALK[speaker])

    def number(self) -> tuple[str, ...]:
        return NUMBER

    def line(self, line: str, **words: str) -> tuple[str, bool]:
        return self._draws.choose(LINES[line]).format(**words), True


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
