"""What people in a hall can say: words that command, and words that only sound as if they did."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from streamdecisionbench.families.presenter.generator.hall import Hall
from streamdecisionbench.families.presenter.generator.lines import (
    AFTERTHOUGHTS,
    ANSWERS,
    ASKED,
    ASKED_FORMALLY,
    CHAIR_ABOUT_CAPTIONS,
    GOES_ON,
    INTERJECTIONS,
    LEADS,
    LEAVING,
    LINES,
    OF_WHAT_ONE_CARRIES,
    REMARKS,
    TAKES_OVER,
)
from streamdecisionbench.suite.generation.draws import Draws

_AROUND = (
    "Nobody should have to say {phrase} twice.", "{Phrase}, please.", "Please {phrase}.",
    "{Phrase}, and you will see {a}.", "In rehearsal I said {phrase} far too early.",
    "You will hear me say {phrase} a lot.", "{Phrase} when you are ready.",
)  # fmt: skip
_AROUND_HAND_OVER = ("I should say {phrase} any minute now.", "Soon enough I will say {phrase}.",
                     "Last time I forgot to say {phrase}.")  # fmt: skip
_ONLY_BEGINS = (
    "{Phrase} anywhere and {a} looks the same.",
    "{Phrase} too late and you miss {a}.",
    "{Phrase} is what the children always shout.",
)
_THANKS = ("Thank you, that one comes every year.", "Good point.", "Oh, I like that one.",
           "Thank you for bringing up {a}.", "It is simple, {a} needs {b}.")  # fmt: skip
_NOT_QUITE = ("I think {restate} about {a}.", "So {restate} about {a}, more or less.",
              "If {restate} about {a} then yes.")  # fmt: skip
_WISHES = ("Somebody would like that one again.", "A wish from the stream.")
_SO_FAR = ("That is all from me.", "So far {a}.", "No more on {a} today.")


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
    def beside(self) -> str:
        """The page that the next one leads to, or else the previous one."""

    def fits(self, text: str, channel: str, intent: str = "none") -> bool:
        """Whether somebody could say so now."""

    def about(self, text: str) -> str:
        """Something that the sentence can be about."""


class Words(Protocol):
    """Everything that can be said in one hall. A purpose is a command's name in the rules."""

    here: Here

    @property
    def impostors(self) -> Sequence[str]:
        """Channels that may say what only the host can command."""

    @property
    def questions(self) -> Mapping[str, str]:
        """What the audience asks, and how it is restated."""

    def says(self, purpose: str, page: str = "") -> Said:
        """A sentence that commands, from whoever may."""

    def ordered(self, purpose: str, page: str = "") -> Said:
        """The same, where the speaker may also begin with something else and correct himself."""

    def called(self, purpose: str, page: str = "") -> Said:
        """The same as somebody could call it who may not: nothing that only its speaker would say."""

    def back(self, mode: str) -> Said:
        """A sentence that leads from this mode back to the talk, and mentions no other."""

    def corrected(self, first: str, then: str) -> tuple[str, Said]:
        """Words that ask for one page, and the sentence they turn into, which asks for another."""

    def around(self, purpose: str) -> str:
        """A sentence of the same speaker that sounds like the command and is none."""

    def drift(self, purpose: str) -> tuple[Said, str]:
        """A command while it is provisional, and the final without one that it turns into."""

    def revision(self, said: Said, text: str) -> str:
        """What the one is revised to before the other is final."""

    def begins(self, purpose: str) -> tuple[str, str]:
        """Provisional words that begin with a command and go on, and their final without one."""

    def restatement(self, asked: str) -> str:
        """A sentence that restates what was asked."""

    def asked_formally(self, asked: str) -> str:
        """The asker in words that would restate the question."""

    def not_restated(self, thing: str) -> str:
        """The presenter about asking, without restating anything."""

    def thanks(self, thing: str) -> str:
        """The presenter about a question, without restating it."""

    def answer(self, asked: str) -> str:
        """What the presenter says once that question is restated."""

    def wish(self, page: str) -> str:
        """The host passes on that somebody would like to see a page again."""

    def declined(self, page: str) -> str:
        """The presenter would rather not."""

    def so_far(self) -> str:
        """A sentence before the presenter hands over."""

    def remark(self) -> str:
        """A sentence about the page that is up, before the presenter leaves it."""

    def takes_over(self) -> str:
        """What the chair says first who was handed over to."""

    def goes_on(self) -> str:
        """What the presenter says who has handed over and goes on."""

    def about_captions(self) -> str:
        """What the chair says because somebody cannot follow the captions."""

    def leaving(self, channel: str) -> Sequence[str]:
        """Sentences of people who are about to leave, to be filled in."""

    def lead(self, channel: str) -> str:
        """A short sentence before a command."""

    def afterthought(self, channel: str) -> str:
        """A short sentence after a command."""

    def interjection(self, channel: str) -> str:
        """A word in between."""

    def lines(self, channel: str) -> Sequence[str]:
        """Sentences of no consequence, to be filled in."""

    def fill(self, line: str, a: str, b: str) -> str:
        """Such a sentence about two things."""

    def part(self, channel: str, text: str, words: int | None = None) -> str:
        """What shows of a text while it is provisional: about so many words, or what comes first."""

    def side_words(self, page: str) -> dict[str, str]:
        """Commands as lines of the side log mention them."""


class ListedWords:
    """Speech where phrases are listed: what is one commands, all other words do not."""

    impostors = ("presenter", "audience")

    here: Here

    def __init__(self, hall: Hall, draws: Draws) -> None:
        self.questions = {question: ASKED[question] for question in fitting(hall, ASKED)}
        self._hall = hall
        self._draws = draws

    def says(self, purpose: str, page: str = "") -> Said:
        phrase = self._hall.jump(page) if purpose == "jump" else self._hall.phrase(purpose)
        return Said(phrase, capital(phrase) + ".")

    def ordered(self, purpose: str, page: str = "") -> Said:
        return self.says(purpose, page)

    def called(self, purpose: str, page: str = "") -> Said:
        return self.says(purpose, page)

    def back(self, mode: str) -> Said:
        return self.says("back")

    def corrected(self, first: str, then: str) -> tuple[str, Said]:
        """A hypothesis that is put right: within one phrase nobody can correct himself."""
        return self._hall.jump(first), self.says("jump", then)

    def around(self, purpose: str) -> str:
        frames = _AROUND_HAND_OVER if purpose == "hand_over" else _AROUND
        frame = self._draws.choose(frames)
        thing = "" if purpose == "hand_over" else self._hall.about[self.here.beside]
        return self._framed(frame, purpose, thing)

    def drift(self, purpose: str) -> tuple[Said, str]:
        said, hall = self.says(purpose), self._hall
        finals = {
            "pause": hall.sounds_like_pause,
            "hand_over": hall.sounds_like_hand_over,
            "close": f"{capital(said.words)} as soon as the coffee is ready.",
        }
        return said, finals[purpose]

    def revision(self, said: Said, text: str) -> str:
        return heard(text, self._draws.between(4, 6))

    def begins(self, purpose: str) -> tuple[str, str]:
        text = self._framed(self._draws.choose(_ONLY_BEGINS), purpose, self._thing())
        words = len(self._hall.phrase(purpose).split()) + self._draws.between(1, 2)
        return heard(text, words), text

    def restatement(self, asked: str) -> str:
        return f"{capital(self._hall.restate)} {asked}."

    def asked_formally(self, asked: str) -> str:
        return ASKED_FORMALLY[self._hall.restate].format(asked=of_the_asker(asked))

    def not_restated(self, thing: str) -> str:
        frame = self._draws.choose(_NOT_QUITE)
        return capital(frame.format(restate=self._hall.restate, a=thing))

    def thanks(self, thing: str) -> str:
        return self.fill(self._draws.choose(_THANKS), thing, self._another(thing))

    def answer(self, asked: str) -> str:
        thing = self._thing()
        answers = ANSWERS[asked.split(maxsplit=1)[0]]
        return self.fill(self._draws.choose(answers), thing, self._another(thing))

    def wish(self, page: str) -> str:
        return f"{self._draws.choose(_WISHES)} {capital(self._hall.jump(page))}."

    def declined(self, page: str) -> str:
        return f"I would rather not {self._hall.jump(page)} today."

    def so_far(self) -> str:
        return self._filled(_SO_FAR)

    def remark(self) -> str:
        return self._filled(REMARKS)

    def takes_over(self) -> str:
        return self._filled(TAKES_OVER)

    def goes_on(self) -> str:
        return self._filled(GOES_ON)

    def about_captions(self) -> str:
        return self._draws.choose(CHAIR_ABOUT_CAPTIONS)

    def leaving(self, channel: str) -> Sequence[str]:
        return fitting(self._hall, LEAVING[channel])

    def lead(self, channel: str) -> str:
        return self._draws.choose(LEADS)

    def afterthought(self, channel: str) -> str:
        return self._draws.choose(AFTERTHOUGHTS[channel])

    def interjection(self, channel: str) -> str:
        return self._draws.choose(INTERJECTIONS)

    def lines(self, channel: str) -> Sequence[str]:
        return fitting(self._hall, LINES[channel])

    def fill(self, line: str, a: str, b: str) -> str:
        noun = b.removeprefix("the ")
        return capital(line.format(a=a, b=b, n=noun, name=self._hall.first_name))

    def part(self, channel: str, text: str, words: int | None = None) -> str:
        return heard(text, words)

    def side_words(self, page: str) -> dict[str, str]:
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
    return [x for x in lines if not (hall.silent and x in OF_WHAT_ONE_CARRIES)]


def of_the_asker(asked: str) -> str:
    """What the presenter says of an own doing, as somebody else says it to the presenter."""
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
