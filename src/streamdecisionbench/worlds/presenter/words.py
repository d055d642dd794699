"""What people in a hall can say: words that command, and words that only sound as if they did."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from streamdecisionbench.families.presenter.bank import SETTING, bank
from streamdecisionbench.suite.sentence_bank import Sentence
from streamdecisionbench.worlds.generation.draws import (
    Draws,
    Pool,
)
from streamdecisionbench.worlds.presenter import phrases
from streamdecisionbench.worlds.presenter.hall import Hall

_ABOUT_A_THING = ("remarks", "so_far", "takes_over", "goes_on")
"""Kinds of short lines that speak of a thing."""


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence: as a recogniser shows all of it before it is final, and the final text."""

    words: str
    text: str


class Here(Protocol):
    """What words may depend on besides the hall."""

    @property
    def slide(self) -> str:
        """The page that is up."""

    @property
    def shown(self) -> Sequence[str]:
        """The pages that were up, in the order of their first time."""

    @property
    def next_to(self) -> str:
        """The page that the next one leads to, or else the previous one."""

    def fits(self, text: str, channel: str, intent: str = "none") -> bool:
        """Whether somebody could say so now."""

    def about(self, text: str) -> str:
        """Something that the sentence can be about."""


class ListedWords:
    """Speech where phrases are listed: what is one commands, all other words do not."""

    impostors: Sequence[str] = ("presenter", "audience")
    """Channels that may say what only the host can command."""

    here: Here

    def __init__(self, hall: Hall, draws: Draws) -> None:
        self.questions = {
            question: phrases.ASKED[question] for question in fitting(hall, phrases.ASKED)
        }
        self._hall = hall
        self._draws = draws

    def says(self, purpose: str, page: str = "") -> Said:
        """A sentence that commands, from whoever may."""
        phrase = self._hall.jump(page) if purpose == "jump" else self._hall.phrase(purpose)
        return Said(phrase, capital(phrase) + ".")

    def ordered(self, purpose: str, page: str = "") -> Said:
        """The same, where the speaker may also begin with something else and correct himself."""
        return self.says(purpose, page)

    def called(self, purpose: str, page: str = "") -> Said:
        """The same as somebody could call it who may not: nothing that only its speaker would say."""
        return self.says(purpose, page)

    def back(self, mode: str) -> Said:
        """A sentence that leads from this mode back to the talk, and mentions no other."""
        return self.says("back")

    def corrected(self, first: str, then: str) -> tuple[str, Said]:
        """A hypothesis that is put right: within one phrase nobody can correct himself."""
        return self._hall.jump(first), self.says("jump", then)

    def around(self, purpose: str) -> str:
        """A sentence of the same speaker that sounds like the command and is none."""
        frames = phrases.AROUND_HAND_OVER if purpose == "hand_over" else phrases.AROUND
        frame = self._draws.choose(frames)
        thing = "" if purpose == "hand_over" else self._hall.about[self.here.next_to]
        return self._framed(frame, purpose, thing)

    def drift(self, purpose: str) -> tuple[Said, str]:
        """A command while it is provisional, and the final without one that it turns into."""
        said, hall = self.says(purpose), self._hall
        finals = {
            "pause": hall.sounds_like_pause,
            "hand_over": hall.sounds_like_hand_over,
            "close": phrases.CLOSE_AND_MORE.format(Phrase=capital(said.words)),
        }
        return said, finals[purpose]

    def revision(self, said: Said, text: str) -> str:
        """What the one is revised to before the other is final."""
        return heard(text, self._draws.between(4, 6))

    def begins(self, purpose: str) -> tuple[str, str]:
        """Provisional words that begin with a command and go on, and their final without one."""
        text = self._framed(self._draws.choose(phrases.ONLY_BEGINS), purpose, self._thing())
        words = len(self._hall.phrase(purpose).split()) + self._draws.between(1, 2)
        return heard(text, words), text

    def restatement(self, asked: str) -> str:
        """A sentence that restates what was asked."""
        return f"{capital(self._hall.restate)} {asked}."

    def asked_formally(self, asked: str) -> str:
        """The asker in words that would restate the question."""
        return phrases.ASKED_FORMALLY[self._hall.restate].format(asked=of_the_asker(asked))

    def not_restated(self, thing: str) -> str:
        """The presenter about asking, without restating anything."""
        frame = self._draws.choose(phrases.NOT_QUITE)
        return capital(frame.format(restate=self._hall.restate, a=thing))

    def thanks(self, thing: str) -> str:
        """The presenter about a question, without restating it."""
        return self.fill(self._draws.choose(phrases.THANKS), thing, self._another(thing))

    def answer(self, asked: str) -> str:
        """What the presenter says once that question is restated."""
        thing = self._thing()
        answers = phrases.ANSWERS[asked.split(maxsplit=1)[0]]
        return self.fill(self._draws.choose(answers), thing, self._another(thing))

    def request_for(self, page: str) -> str:
        """The host passes on that somebody would like to see a page again."""
        return f"{self._draws.choose(phrases.REQUESTS)} {capital(self._hall.jump(page))}."

    def declined(self, page: str) -> str:
        """The presenter would rather not."""
        return f"I would rather not {self._hall.jump(page)} today."

    def short_line(self, kind: str, channel: str) -> str:
        """A short sentence: a lead before a command, a remark before the next page, and the like."""
        lines = phrases.SHORT_LINES[kind]
        return self._filled(lines) if kind in _ABOUT_A_THING else self._draws.choose(lines)

    def leaving(self, channel: str) -> Sequence[str]:
        """Sentences of people who are about to leave, to be filled in."""
        return fitting(self._hall, phrases.LEAVING[channel])

    def afterthought(self, channel: str) -> str:
        """A short sentence after a command."""
        return self._draws.choose(phrases.AFTERTHOUGHTS[channel])

    def lines(self, channel: str) -> Sequence[str]:
        """Sentences of no consequence, to be filled in."""
        return fitting(self._hall, phrases.LINES[channel])

    def fill(self, line: str, a: str, b: str) -> str:
        """Such a sentence about two things."""
        noun = b.removeprefix("the ")
        return capital(line.format(a=a, b=b, n=noun, name=self._hall.first_name))

    def part(self, channel: str, text: str, words: int | None = None) -> str:
        """What shows of a text while it is provisional: about so many words, or what comes first."""
        return heard(text, words)

    def side_words(self, page: str) -> dict[str, str]:
        """Commands as lines of the side log mention them."""
        hall = self._hall
        return {
            "pause": hall.phrase("pause"),
            "play": f"somebody {hall.phrase('play')}",
            "Next": hall.phrase("next").capitalize(),
            "Jump": hall.jump(page).capitalize() + ", please",
        }

    def _framed(self, frame: str, purpose: str, thing: str) -> str:
        phrase = self._hall.phrase(purpose)
        return capital(frame.format(phrase=phrase, Phrase=capital(phrase), a=thing))

    def _filled(self, frames: Sequence[str]) -> str:
        frame = self._draws.choose(frames)
        return self.fill(frame, self.here.about(frame), "")

    def _thing(self) -> str:
        return self._draws.choose(self._hall.subject.singles)

    def _another(self, thing: str) -> str:
        return self._draws.choose([x for x in self._hall.subject.singles if x != thing])


def fitting(hall: Hall, lines: Iterable[str]) -> list[str]:
    """Those that can be said in the hall."""
    return [x for x in lines if not (hall.silent and x in phrases.OF_WHAT_ONE_CARRIES)]


def of_the_asker(asked: str) -> str:
    """What the presenter says of an action, as somebody else says it to the presenter."""
    return asked.replace("we tried", "you tried")


def capital(text: str) -> str:
    """As a sentence is written.

    >>> capital("now i hand back.")
    'Now I hand back.'
    """
    return re.sub(r"\bi\b", "I", text[:1].upper() + text[1:])


def heard(text: str, words: int | None = None) -> str:
    """The first words of a sentence as a recogniser shows them while it is spoken.

    >>> heard("Back to the chart, on the left.", 4)
    'back to the chart'
    """
    return " ".join(re.sub(r"[.,?!:;]", "", text.lower()).split()[:words])


# Speech where the rules define intents.

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

    impostors: Sequence[str] = ("audience",)

    here: Here

    def __init__(self, hall: Hall, split: str, draws: Draws) -> None:
        self.questions = {
            question: phrases.FREE_ASKED[question] for question in fitting(hall, phrases.FREE_ASKED)
        }
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
        answers = frozenset().union(*phrases.FREE_ANSWERS.values())
        return self._any(
            "presenter", lambda s: _is_talk(s) and s.text in phrases.OF_A_QUESTION - answers
        )

    def answer(self, asked: str) -> str:
        answers = phrases.FREE_ANSWERS[asked.split(maxsplit=1)[0]]
        return self._any("presenter", lambda s: s.text in answers)

    def request_for(self, page: str) -> str:
        found = self._of("host", lambda s: s.manner == "reported" and "name" in s.slots)
        return self._said(self._draws.choose(found), page).text

    def declined(self, page: str) -> str:
        found = self._of("presenter", lambda s: s.text in phrases.OF_A_REQUEST)
        return self._said(self._draws.choose(found), page).text

    def short_line(self, kind: str, channel: str) -> str:
        if kind == "so_far":
            return self._any(channel, _is_talk)
        if channel not in _READ:
            return self._draws.choose(phrases.SHORT_LINES[kind])
        lines = phrases.FREE_SHORT_LINES.get(kind) or phrases.SHORT_LINES[kind]
        return self._any(channel, lambda s: s.text in lines)

    def leaving(self, channel: str) -> Sequence[str]:
        if channel not in _READ:
            return fitting(self._hall, phrases.LEAVING[channel])
        return [s.text for s in self._of(channel, lambda s: s.text in phrases.FREE_LEAVING)]

    def afterthought(self, channel: str) -> str:
        found = self._of(channel, lambda s: s.text in phrases.FREE_AFTERTHOUGHTS[channel])
        return self._draws.choose(found).text if found else ""

    def lines(self, channel: str) -> Sequence[str]:
        if channel not in _READ:
            return fitting(self._hall, phrases.LINES[channel])
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
        ends = [k for k, word in enumerate(spoken, start=1) if word in phrases.HANGING]
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
        ends = [k for k in range(least, len(spoken)) if spoken[k - 1] in phrases.HANGING]
        return " ".join(spoken[: ends[0] if ends else None])

    def _sort(self, purpose: str, manner: str) -> list[Sentence]:
        return self._of(_speaker(purpose), lambda s: (s.intent, s.manner) == (purpose, manner))

    def _of(self, speaker: str, wanted: Callable[[Sentence], bool]) -> list[Sentence]:
        """Halved sort by sort, so that no sentence is in both splits whoever asks for it."""
        sorts: dict[tuple[str, str], list[Sentence]] = {}
        for sentence in bank().of(SETTING, speaker):
            sorts.setdefault((sentence.intent, sentence.manner), []).append(sentence)
        unfit = phrases.NOWHERE | phrases.WITH_SOUND if self._hall.silent else phrases.NOWHERE
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


Words = ListedWords | FreeWords
