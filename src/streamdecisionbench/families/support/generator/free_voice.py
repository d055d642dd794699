"""Speech for policies that define intents: every sentence comes from the bank."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from streamdecisionbench.families.support.bank import bank
from streamdecisionbench.families.support.generator.talk import (
    LEAVE,
    LEFT,
    LINES,
    NOTES,
    NUMBER,
    TALK,
)
from streamdecisionbench.families.support.generator.voice import AGENT, BACKGROUND, CUSTOMER, plain
from streamdecisionbench.suite.generation.draws import Draws, Pool
from streamdecisionbench.suite.sentence_bank import Sentence

_SOUNDS_LIKE = ("condition", "question", "reported", "negation")
_RESERVE = re.compile(r",? (?:if|unless|once|when|provided)\b")
"""Where a sentence that began like a plain one makes it depend on something."""
_TOPICS = {
    "payment": r"bill|pay|amount|\bfee",
    "connection": r"\bline\b|internet|connection",
    "router": r"router",
    "card": r"\bcard",
    "consent": r"agree|\byes\b|charge|consent|okay|allow",
    "withdrawal": r"refuse|\bno\b|\bnot\b|n't|back",
    "request": r"card|number|digits|stop",
    "stop": r"stop",
    "delivery": r"(where|asking|hurry|weigh|pay for|made).*{name}"
    r"|{name}.*(late|here|probably|way|depot|days|longer|weigh|made|screws)",
    "cancel": r"([Cc]ancel|return|send|order).*{name}|{name}.*(cancel|return|back)",
    "repair": r"(repair|fix|fault|wrong|test).*{name}"
    r"|{name}.*(repair|fail|hum|broken|break|faulty|play up|odd|reset|looked at|stays|frost)",
    "correct": r"(mean|meant|mind|said|say|wasn't|decide).*{name}",
    "email": r"e?mail",
    "sms": r"text",
    "phone": r"call (me|us|people|then)|calls|a call|could call|phone|my number",
}
"""What a sentence has to speak of to sound like a purpose."""
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
    "greeting": (
        "How are you today?",
        "Thanks for your patience.",
        "Is the sound all right?",
        "We've had a lot of calls this morning.",
    ),
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
        known = self._all(CUSTOMER, lambda s: s.text in LEAVE[content])
        return (
            (known[0].text, True) if known and self._draws.chance(0.5) else (LEFT[content], False)
        )

    def talk(self, speaker: str) -> str:
        if speaker == BACKGROUND or (speaker == AGENT and self._setting == "intercom"):
            return self._draws.choose(TALK[speaker])
        return self._choose(speaker, lambda s: s.text in TALK[speaker]).text

    def _sounding(self, speaker: str, purpose: str) -> str:
        """A sentence of no intent that sounds as if it had that of the purpose."""
        _, _, item = purpose.partition(" ")
        return self._fill(self._draws.choose(self._about(speaker, purpose)), item)

    def _about(self, speaker: str, purpose: str) -> list[Sentence]:
        """Sentences of no intent that speak of a purpose."""
        known = self._all(speaker, lambda s: s.manner in _SOUNDS_LIKE)
        return [s for s in known if re.search(_TOPICS[purpose.partition(" ")[0]], s.text)]

    def number(self) -> tuple[str, ...]:
        return NUMBER[:1]

    def line(self, line: str, **words: str) -> tuple[str, bool]:
        """What only payment calls read, the agent's words, has to be in the bank."""
        if self._setting == "intercom":
            return self._draws.choose(LINES[line]).format(**words), True
        aloud = [(text, True) for text in _IN_THE_BANK.get(line, ())]
        noted = [(NOTES[line].format(**words), False)] if line in NOTES else []
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
    return _INTENTS.get(kind, kind), item


def _speaker(purpose: str) -> str:
    return AGENT if purpose in ("request", "stop") else CUSTOMER
