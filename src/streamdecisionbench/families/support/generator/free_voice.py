"""Speech for policies that define intents: every sentence comes from the bank."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from streamdecisionbench.families.support.bank import bank
from streamdecisionbench.families.support.generator.talk import LINES, NOTES, NUMBER, TALK
from streamdecisionbench.families.support.generator.voice import AGENT, BACKGROUND, CUSTOMER, plain
from streamdecisionbench.suite.generation.draws import Draws, Pool
from streamdecisionbench.suite.sentence_bank import Sentence

_SOUNDS_LIKE = ("condition", "question", "reported", "negation")
_REPEATED = ('You said, "{words}"?', 'So my note is, "{words}".', '"{words}", did you say?')
_INTENTS = {
    "payment": "subject_payment",
    "connection": "subject_connection",
    "router": "subject_router",
    "request": "capture_request",
    "stop": "capture_stop",
    "correct": "correction",
}
"""The bank's word for a purpose, where it is another one."""

_IN_THE_BANK = {
    "greeting": ("How are you today?", "I can see your file now.", "Is the sound all right?"),
    "ack": (
        "That's noted in your file.",
        "Bear with me, please.",
        "I'll be with you in a second.",
        "No rush at all.",
        "Thanks for your patience.",
    ),
    "claim": ("You have agreed already, so we're fine.",),
    "sent": ("There, it's on its way to the bank.",),
    "hold": ("I'm putting you on hold now.", "Bear with me, please."),
    "soon": ("That's long enough, I'm going back.",),
    "ages": ("She's been waiting for ages.",),
    "run_test": ("I've started the line test.",),
}
"""Lines of the desk's script in sentences of the bank."""


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
        return self._sounding(_speaker(purpose))

    def slip(self, purpose: str) -> tuple[str, str]:
        """Two sentences that begin alike: the first is what the recogniser expects."""
        speaker = _speaker(purpose)
        intent, item = _meant(purpose)
        item = item or self._draws.choose(list(self._names))
        plainly = self._all(speaker, lambda s: (s.intent, s.manner) == (intent, "plain"))
        harmless = self._all(speaker, lambda s: s.manner in _SOUNDS_LIKE or s.text in TALK[speaker])
        pairs = [(a, b) for a in plainly for b in harmless if _alike(a.text, b.text)]
        heard, final = self._draws.choose(pairs)
        return plain(self._fill(heard, item)), self._fill(final, item)

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
        """Voices of the background say the very words, agents whose words are never read repeat them."""
        if speaker == BACKGROUND:
            return self.says(purpose)
        if speaker == AGENT and self._setting == "intercom":
            return self._draws.choose(_REPEATED).format(words=self.says(purpose).rstrip(".!?"))
        return self._sounding(speaker)

    def talk(self, speaker: str) -> str:
        if speaker == BACKGROUND or (speaker == AGENT and self._setting == "intercom"):
            return self._draws.choose(TALK[speaker])
        return self._choose(speaker, lambda s: s.text in TALK[speaker]).text

    def _sounding(self, speaker: str) -> str:
        """A sentence of no intent that sounds as if it had one."""
        return self._fill(self._choose(speaker, lambda s: s.manner in _SOUNDS_LIKE))

    def number(self) -> tuple[str, ...]:
        return NUMBER[:1]

    def line(self, line: str, **words: str) -> tuple[str, bool]:
        """What only payment calls read, the agent's words, has to be in the bank."""
        if self._setting == "intercom":
            return self._draws.choose(LINES[line]).format(**words), True
        if line in NOTES:
            return NOTES[line].format(**words), False
        return self._draws.choose(_IN_THE_BANK[line]), True

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


def _alike(one: str, other: str) -> bool:
    """Whether two sentences begin with the same word."""
    return plain(one).split()[:1] == plain(other).split()[:1] and not one.startswith("{")


def _meant(purpose: str) -> tuple[str, str]:
    kind, _, item = purpose.partition(" ")
    return _INTENTS.get(kind, kind), item


def _speaker(purpose: str) -> str:
    return AGENT if purpose in ("request", "stop") else CUSTOMER
