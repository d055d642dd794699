"""Speech where the rules define intents: every sentence of presenter and host comes from the bank.

While it is provisional, such a sentence is either complete or breaks off at a word after which more has
to follow, so that nobody can take a piece of it for a sentence of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from streamdecisionbench.families.presenter.bank import SETTING, bank
from streamdecisionbench.families.presenter.generator.hall import Hall
from streamdecisionbench.families.presenter.generator.lines import (
    FREE_ABOUT_CAPTIONS,
    FREE_AFTERTHOUGHTS,
    FREE_ANSWERS,
    FREE_ASKED,
    FREE_GOES_ON,
    FREE_LEADS,
    FREE_LEAVING,
    FREE_REMARKS,
    FREE_TAKES_OVER,
    INTERJECTIONS,
    LEAVING,
    LINES,
    NOWHERE,
    OF_A_QUESTION,
    OF_A_WISH,
    WITH_SOUND,
)
from streamdecisionbench.families.presenter.generator.words import (
    Here,
    Said,
    fitting,
    heard,
    of_the_asker,
)
from streamdecisionbench.suite.generation.draws import Draws, Pool
from streamdecisionbench.suite.sentence_bank import Sentence

HANGING = frozenset(
    ("a", "an", "and", "as", "at", "because", "by", "can", "could", "for", "from", "has", "have", "i",
     "i'd", "i'll", "i'm", "i've", "if", "into", "let", "let's", "may", "my", "of", "or", "our", "than",
     "that's", "the", "to", "unless", "was", "we", "we'll", "we're", "when", "who", "with", "would",
     "you'd", "you're", "your")
)  # fmt: skip
"""Words that end no sentence of the bank."""

_BY_HOST = ("open", "close")
_SOUNDS_LIKE = ("condition", "question", "reported", "negation")
_READ = ("presenter", "host")
_ABOUT_ASKING = re.compile(r"\b(?:ask|asks|asked|asking|question)\b")
_ELSEWHERE = {
    "clip": re.compile(r"\bquestions?\b", re.IGNORECASE),
    "questions": re.compile(r"\b(?:clip|film|footage|recording|video)\b", re.IGNORECASE),
}
"""Mode → what nobody would mention who leaves it for the talk."""
_BACK = re.compile(
    r"\b(?:was|wanted|again|already|remembers?|readable|crowded|back to|once more|wrote|shown)\b"
)
"""Of a page that was up before."""
_FIRST_PERSON = re.compile(
    r"\b(?:i|i'\w+|me|my|we'll|dear|our speaker|your?|audience|thank|thanks|goodbye|see you)\b",
    re.IGNORECASE,
)
"""What only presenter and chair would say."""
_SHORT = 3
_CORRECTED = 0.25
"""How often somebody begins with something else; half as often each time, as nobody always does."""


class FreeWords:
    """Speech of one hall in one split; the sentences of every sort are halved between the splits."""

    impostors = ("audience",)

    here: Here

    def __init__(self, hall: Hall, split: str, draws: Draws) -> None:
        self.questions = {question: FREE_ASKED[question] for question in fitting(hall, FREE_ASKED)}
        self._hall = hall
        self._split = split
        self._corrections = 0
        self._draws = draws

    def says(self, purpose: str, page: str = "") -> Said:
        return self._said(self._draws.choose(self._now(self._sort(purpose, "plain"))), page)

    def ordered(self, purpose: str, page: str = "") -> Said:
        corrections = self._now(self._sort(purpose, "correction"))
        if not corrections or not self._draws.chance(_CORRECTED / 2**self._corrections):
            return self.says(purpose, page)
        self._corrections += 1
        return self._said(self._draws.choose(corrections), page)

    def called(self, purpose: str, page: str = "") -> Said:
        found = [s for s in self._sort(purpose, "plain") if not _FIRST_PERSON.search(s.text)]
        return self._said(self._draws.choose(found), page)

    def back(self, mode: str) -> Said:
        fitting = [s for s in self._sort("back", "plain") if not _ELSEWHERE[mode].search(s.text)]
        return self._said(self._draws.choose(fitting))

    def corrected(self, first: str, then: str) -> tuple[str, Said]:
        """The words up to the first number are a sentence of their own while nothing follows."""
        found = [s for s in self._sort("jump", "correction") if s.before == "jump"]
        said = self._said(self._draws.choose(found), then, first)
        start, number, _ = said.words.partition(self._hall.number(first))
        return start + number, said

    def around(self, purpose: str) -> str:
        return self._sounding(_speaker(purpose))

    def drift(self, purpose: str) -> tuple[Said, str]:
        """A sentence that goes on after what could have been all of it, or one misheard at first."""
        grown = self._grown(purpose)
        if grown:
            short, long = self._draws.choose(grown)
            return self._said(short), self._said(long).text
        return self.says(purpose), self._sounding(_speaker(purpose))

    def revision(self, said: Said, text: str) -> str:
        return self._beyond(said.words, text)

    def begins(self, purpose: str) -> tuple[str, str]:
        short, long = self._draws.choose(self._grown(purpose))
        return self._beyond(heard(short.text), long.text), long.text

    def restatement(self, asked: str) -> str:
        sentence = self._draws.choose(self._sort("restate", "plain"))
        return sentence.filled("", "", asked=asked)

    def asked_formally(self, asked: str) -> str:
        return f"The question is {of_the_asker(asked)}."

    def not_restated(self, thing: str) -> str:
        return self._any(
            "presenter", lambda s: s.manner in _SOUNDS_LIKE and bool(_ABOUT_ASKING.search(s.text))
        )

    def thanks(self, thing: str) -> str:
        answers = frozenset().union(*FREE_ANSWERS.values())
        return self._any("presenter", lambda s: _is_talk(s) and s.text in OF_A_QUESTION - answers)

    def answer(self, asked: str) -> str:
        answers = FREE_ANSWERS[asked.split(maxsplit=1)[0]]
        return self._any("presenter", lambda s: s.text in answers)

    def wish(self, page: str) -> str:
        found = self._of("host", lambda s: s.manner == "reported" and "name" in s.slots)
        return self._said(self._draws.choose(found), page).text

    def declined(self, page: str) -> str:
        found = self._of("presenter", lambda s: s.text in OF_A_WISH)
        return self._said(self._draws.choose(found), page).text

    def so_far(self) -> str:
        return self._any("presenter", _is_talk)

    def remark(self) -> str:
        return self._any("presenter", lambda s: s.text in FREE_REMARKS)

    def takes_over(self) -> str:
        return self._any("host", lambda s: s.text in FREE_TAKES_OVER)

    def goes_on(self) -> str:
        return self._any("presenter", lambda s: s.text in FREE_GOES_ON)

    def about_captions(self) -> str:
        return self._any("host", lambda s: s.text in FREE_ABOUT_CAPTIONS)

    def leaving(self, channel: str) -> Sequence[str]:
        if channel not in _READ:
            return fitting(self._hall, LEAVING[channel])
        return [s.text for s in self._of(channel, lambda s: s.text in FREE_LEAVING)]

    def lead(self, channel: str) -> str:
        return self._any(channel, lambda s: s.text in FREE_LEADS)

    def afterthought(self, channel: str) -> str:
        found = self._of(channel, lambda s: s.text in FREE_AFTERTHOUGHTS[channel])
        return self._draws.choose(found).text if found else ""

    def interjection(self, channel: str) -> str:
        if channel not in _READ:
            return self._draws.choose(INTERJECTIONS)
        return self._any(channel, lambda s: s.text in INTERJECTIONS)

    def lines(self, channel: str) -> Sequence[str]:
        if channel not in _READ:
            return fitting(self._hall, LINES[channel])
        talk = self._now(self._of(channel, _is_talk))
        if self._draws.chance(0.65):
            return [s.text for s in talk]
        manner = self._draws.choose(_SOUNDS_LIKE)
        sounding = self._now(self._of(channel, lambda s: s.manner == manner))
        return [s.text for s in sounding or talk]

    def fill(self, line: str, a: str, b: str) -> str:
        page = self._page(line) if "{name}" in line else ""
        text = self._about(line, page).format(a=a, b=b)
        return text[:1].upper() + text[1:]

    def part(self, channel: str, text: str, words: int | None = None) -> str:
        if channel not in _READ:
            return heard(text, words)
        if words is None:
            return heard(re.split(r"[.?!]", text)[0])
        spoken = heard(text, words + 1 if words else 0).split()
        ends = [k for k, word in enumerate(spoken, start=1) if word in HANGING]
        return " ".join(spoken[: ends[-1]]) if ends else ""

    def side_words(self, page: str) -> dict[str, str]:
        return {
            "pause": f"'{_bare(self.says('pause').text)}'",
            "play": "somebody start the clip",
            "Next": _bare(self.called("next").text),
            "Jump": _bare(self.called("jump", page).text) + ", please",
        }

    def _grown(self, purpose: str) -> list[tuple[Sentence, Sentence]]:
        """Commands of the split, each with a sentence of none that begins with its words."""
        longer = self._of(_speaker(purpose), _only_sounds)
        return [
            (short, long)
            for short in self._sort(purpose, "plain")
            for long in longer
            if heard(long.text).startswith(heard(short.text) + " ")
        ]

    def _beyond(self, words: str, text: str) -> str:
        """A piece of the text that is longer than these words and breaks off, or else all of it."""
        spoken = heard(text).split()
        least = len(words.split()) + 1
        ends = [k for k in range(least, len(spoken)) if spoken[k - 1] in HANGING]
        return " ".join(spoken[: ends[0] if ends else None])

    def _sort(self, purpose: str, manner: str) -> list[Sentence]:
        return self._of(_speaker(purpose), lambda s: (s.intent, s.manner) == (purpose, manner))

    def _of(self, speaker: str, wanted: Callable[[Sentence], bool]) -> list[Sentence]:
        """Halved sort by sort, so that no sentence is in both splits whoever asks for it."""
        sorts: dict[tuple[str, str], list[Sentence]] = {}
        for sentence in bank().of(SETTING, speaker):
            sorts.setdefault((sentence.intent, sentence.manner), []).append(sentence)
        unfit = NOWHERE | WITH_SOUND if self._hall.silent else NOWHERE
        return [
            s
            for sort in sorts.values()
            for s in Pool(sort).of(self._split)
            if wanted(s) and s.text not in unfit
        ]

    def _any(self, speaker: str, wanted: Callable[[Sentence], bool]) -> str:
        """One that somebody could say now, if there is one."""
        found = self._of(speaker, wanted)
        return self._said(self._draws.choose(self._now(found) or found)).text

    def _now(self, found: Sequence[Sentence]) -> list[Sentence]:
        return [s for s in found if self.here.fits(s.text, s.speaker, s.intent)]

    def _sounding(self, speaker: str) -> str:
        return self._any(speaker, _only_sounds)

    def _page(self, text: str) -> str:
        """A page that the sentence can speak of: one that was up where it looks back."""
        pages = self._hall.pages
        seen = [page for page in pages if page in self.here.shown]
        if _BACK.search(text):
            return self._draws.choose(seen or pages)
        return self._draws.choose([page for page in pages if page not in seen] or pages)

    def _said(self, sentence: Sentence, page: str = "", other: str = "") -> Said:
        """Without a page of its own a sentence names any, and what it is about is on that page."""
        text = sentence.text
        if "name" in sentence.slots:
            page = page or self._page(text)
            others = [p for p in self._hall.pages if p not in (page, self.here.slide)]
            other = other or self._draws.choose(others)
            text = text.replace("{other}", self._hall.number(other))
        asked = self._draws.choose(bank().fillers["asked"])
        text = self._about(text.replace("{asked}", asked), page)
        return Said(heard(text), text)

    def _about(self, text: str, page: str) -> str:
        if "{thing}" in text:
            thing = self._hall.about[page] if page else self.here.about(text)
            text = text.replace("{thing}", thing)
        return text.replace("{name}", self._hall.number(page)) if page else text


def _speaker(purpose: str) -> str:
    return "host" if purpose in _BY_HOST else "presenter"


def _only_sounds(sentence: Sentence) -> bool:
    return sentence.manner in _SOUNDS_LIKE


def _is_talk(sentence: Sentence) -> bool:
    return sentence.manner == "talk" and len(sentence.text.split()) > _SHORT


def _bare(text: str) -> str:
    return re.sub(r"(?:, please)?[.?!]$", "", re.sub(r"^Please (\w)", lambda m: m[1].upper(), text))
