"""A presenter session while it is being generated: who speaks, and what the stage shows.

This is the situations' own account, kept step by step. It never asks the reference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from streamdecisionbench.families.presenter.events import final, partial
from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.worlds.generation.world import (
    Decision,
    Outcome,
    read_outcomes,
)
from streamdecisionbench.worlds.generation.world_simulator import (
    Ticks,
    WorldSimulator,
)
from streamdecisionbench.worlds.presenter import phrases
from streamdecisionbench.worlds.presenter.hall import Hall
from streamdecisionbench.worlds.presenter.words import Words

CHANNELS = ("presenter", "host", "audience", "clip")
_NEVER = -1
_BREATH = 3
"""So many ticks a sentence of no consequence takes."""
_STILL_HEARD = 6
"""So many ticks later somebody may answer what was called."""


@dataclass(slots=True)
class Voice:
    """One entry of the transcript."""

    ident: str
    channel: str
    onset: int
    final_at: int | None = None


@dataclass(kw_only=True)
class Room(WorldSimulator):
    """The stage and everybody in front of a microphone."""

    hall: Hall
    words: Words
    slide: str
    end: int
    """From this tick on the session is closed as soon as somebody gets round to it."""
    mode: str = "talk"
    mode_since: int = 0
    clip: str = "none"
    early_pause: bool = False
    card: str = "waiting"
    cue: str = "listen"
    captions: str = "presenter"
    question: Voice | None = None
    """The audience's entry that the card follows."""
    newest: dict[str, Voice] = field(default_factory=dict)
    """Channel → the entry listed last."""
    started: dict[str, int] = field(default_factory=dict)
    """Channel → entries so far."""
    halves: dict[str, tuple[Voice, str]] = field(default_factory=dict)
    """Channel → a sentence that anybody may complete, and how it ends."""
    busy: set[str] = field(default_factory=set)
    """Channels on which a situation has somebody speaking."""
    open: list[Voice] = field(default_factory=list)
    """Voices that have not come to their end."""
    shown: list[str] = field(default_factory=list)
    """Pages that were up, in the order of their first time."""
    hinted: str = ""
    """The page that the side log would like to see, until another is up; nobody goes there next."""
    wanted: str = ""
    """The page somebody has in mind."""
    remarked: bool = True
    """Whether the presenter has said anything since the page is up."""
    urged: int | None = None
    """When somebody last called for the next page."""
    clip_was_on: bool = False
    asked: str = ""
    """What the last question was, as one would restate it."""
    asked_about: str = ""
    """The thing it was about."""
    objected: Counter[tuple[str, str]] = field(default_factory=Counter)
    """A field and what it should be → how often somebody said so because the panel was wrong."""
    written: int = 0
    """Characters of transcript and side log so far, roughly."""
    murmur: Callable[[], None] = lambda: None
    """Something that nobody says and that changes nothing happens."""

    def __post_init__(self) -> None:
        self.words.here = self

    def show(self, because: str) -> None:
        """The composed decision from now on."""
        decision = {"mode": self.mode, "slide": self.slide, "captions": self.captions}
        if self.mode in ("talk", "questions"):
            decision["host_cue"] = self.cue
        if self.mode == "questions":
            decision["question_card"] = self.card
        if self.mode == "clip":
            decision["clip_state"] = self.on_screen
        if self.slide not in self.shown:
            self.shown.append(self.slide)
        self.decide(decision, because)

    @property
    def on_screen(self) -> str:
        """What should be seen of the clip."""
        if self.mode != "clip":
            return "none"
        return "pause" if self.early_pause else self.clip

    def go(self, page: str) -> None:
        """A slide command is obeyed, and puts the clip away."""
        self.slide, self.hinted, self.remarked = page, "", False
        if self.mode == "clip":
            self._enter("talk")

    def play_clip(self) -> None:
        self.clip_was_on = True
        self._enter("clip")
        self.clip = "play"

    def talk_on(self) -> None:
        self._enter("talk")

    def open_floor(self) -> None:
        """Only who starts now or later asks a question."""
        self._enter("questions")
        first = self.newest.get("audience")
        self.question = first if first is not None and first.onset == self.now else None
        self.card = "waiting"
        if self.question is not None:
            self.card = "listening" if self.question.final_at is None else "repeat"

    def close(self) -> None:
        self._enter("closed")

    def hand_over(self) -> None:
        """The newest words of the presenter hand over, unless the host has started already."""
        host = self.newest.get("host")
        if host is None or host.onset < self.newest["presenter"].onset:
            self.cue = "stand_by"

    def restate(self) -> None:
        """A restatement became final now; it answers only what was final before."""
        asked = self.now if self.question is None else self.question.final_at
        if asked is not None and asked < self.now:
            self.card = "answer"

    def _enter(self, mode: str) -> None:
        if mode != self.mode:
            self.mode, self.mode_since = mode, self.now
        self.early_pause = False

    def begin(self, channel: str, text: str, note: str, *, trap: bool = False) -> Voice:
        """Somebody starts to speak; whoever had not finished on that microphone has, now."""
        voice = self._start(channel)
        self._say(partial(self.now, voice.ident, text, note), trap)
        self.open.append(voice)
        self.busy.add(channel)
        return voice

    def start(
        self, channel: str, text: str, note: str, because: str = "", *, trap: bool = False
    ) -> Voice:
        """Somebody starts to speak, and it shows."""
        voice = self.begin(channel, text, note, trap=trap)
        self.show(because or f"the {channel} starts to speak")
        return voice

    def utter(self, channel: str, text: str, note: str, *, trap: bool = False) -> Voice:
        """A short utterance that is final as it starts."""
        voice = self._start(channel)
        voice.final_at = self.now
        self._say(final(self.now, voice.ident, text, note), trap)
        self.remarked = self.remarked or channel == "presenter"
        if voice is self.question:
            self.card = "repeat"
        return voice

    def revise(self, voice: Voice, text: str, note: str, *, trap: bool = False) -> None:
        self._say(partial(self.now, voice.ident, text, note), trap)

    def finish(self, voice: Voice, text: str, note: str, *, trap: bool = False) -> None:
        """The words become final. What they command, if anything, is the situation's to say."""
        voice.final_at = self.now
        self._say(final(self.now, voice.ident, text, note), trap)
        self.busy.discard(voice.channel)
        self.open.remove(voice)
        self.remarked = self.remarked or voice.channel == "presenter"
        self.written += len(text)
        if voice is self.question:
            self.card = "repeat"

    def finish_soon(self, voice: Voice, text: str, note: str, *, trap: bool = False) -> Ticks[None]:
        """After a while the words become final."""
        yield from self.wait(self.a_while())
        self.finish(voice, text, note, trap=trap)

    def complete_old_halves(self) -> None:
        """Nobody takes for ever over a sentence."""
        for channel, (voice, _) in sorted(self.halves.items()):
            if self.now - voice.onset >= _BREATH and voice is not self.question:
                self.complete_half(channel)

    def complete_half(self, channel: str) -> None:
        """Half a sentence of no consequence is completed."""
        voice, text = self.halves.pop(channel)
        self.finish(voice, text, "distractor: speech becomes final, and commands nothing")

    def _start(self, channel: str) -> Voice:
        if channel in self.halves and self.halves[channel][0].onset == self.now:
            self._unsay(channel)
        elif channel in self.halves:
            self.complete_half(channel)
        self.started[channel] = self.started.get(channel, 0) + 1
        voice = Voice(f"{channel[0]}{self.started[channel]}", channel, self.now)
        self.newest[channel] = voice
        starting = [c for c in CHANNELS if self._onset(c) == self.now]
        self.captions = min(starting, key=self.hall.order.index)
        if channel in ("presenter", "host"):
            self.cue = "listen"
        if channel == "audience" and self.mode == "questions":
            self.question, self.card = voice, "listening"
        self.written += 75
        return voice

    def _unsay(self, channel: str) -> None:
        """Nobody begins twice at one tick: what has to be said is said, and something else happens."""
        voice, _ = self.halves.pop(channel)
        self.open.remove(voice)
        self.started[channel] -= 1
        said = next(e for e in self.events[::-1] if e.data.get("id") == voice.ident)
        self.events.remove(said)
        self.murmur()

    def _onset(self, channel: str) -> int:
        return self.newest[channel].onset if channel in self.newest else _NEVER

    def _say(self, event: Event, trap: bool) -> None:
        self.complete_old_halves()
        (self.trap if trap else self.emit)(event)

    @property
    def card_seen(self) -> str:
        """The card on the panel in front of the presenter."""
        return self.panel.get("question_card", "")

    def a_while(self) -> int:
        """One, two or three ticks: how long something at a boundary holds, as the pace allows."""
        if self.pace(1, 9) > 2:
            return self.draws.weighted({1: 2, 2: 2, 3: 1})
        return self.draws.weighted({1: 8, 2: 1, 3: 1})

    def fits(self, text: str, channel: str, intent: str = "none") -> bool:
        """Whether somebody could say so here and now: nothing of a question nobody has asked."""
        pages, words = self.hall.pages, text.lower()
        if intent == "play":
            return self.clip_was_on or not phrases.OF_A_CLIP_BEGUN.search(words)
        if intent == "previous":
            before = pages[: pages.index(self.slide)][-1:]
            return any(p in self.shown for p in before) or not phrases.OF_A_PAGE_LEFT.search(words)
        if intent == "close":
            return self.mode != "questions" or "question" not in words
        if intent != "none":
            return True
        if text in phrases.OF_A_QUESTION:
            return self.mode == "questions" and self.card in ("repeat", "answer")
        if text in phrases.OF_THE_CLIP:
            return self.clip_was_on
        if text in phrases.BEFORE_THE_CLIP:
            return not self.clip_was_on
        if text in phrases.WHILE_IT_RUNS:
            return self.mode == "clip"
        if text in phrases.AWAY_FROM_THE_TALK | phrases.OF_THE_FLOOR:
            return self.mode == "questions" or (
                self.mode == "clip" and text not in phrases.OF_THE_FLOOR
            )
        if text in phrases.OF_A_REQUEST:
            return False  # only as an answer to a request
        if text in phrases.OF_URGING:
            return self.urged is not None and self.now - self.urged <= _STILL_HEARD
        if text == phrases.WITHOUT_NEXT or "next slide" in words:
            return (self.slide == pages[-1]) == (text == phrases.WITHOUT_NEXT)
        if "previous slide" in words or "one slide" in words:
            return self.slide != pages[0]
        return not (
            channel == "host" and self.mode == "questions" and phrases.FLOOR_TO_COME.search(words)
        )

    def about(self, text: str) -> str:
        """A thing that the sentence can be about: that of the page up, of another, or any."""
        before = [page for page in self.shown if page != self.slide]
        to_come = [page for page in self.hall.pages if page not in self.shown]
        found = {
            phrases.OF_THE_PAGE: [self.slide],
            phrases.OF_A_PAGE_BEFORE: before,
            phrases.OF_A_PAGE_TO_COME: to_come,
        }
        pages = next((pages for texts, pages in found.items() if text in texts), [])
        return self.draws.choose([self.hall.about[p] for p in pages] or self.hall.subject.singles)

    @property
    def next_to(self) -> str:
        pages = self.hall.pages
        here = pages.index(self.slide)
        return pages[here - 1 if self.slide == pages[-1] else here + 1]

    def unsaid(self, lines: Sequence[str]) -> str:
        """One of the lines, and not one that was chosen before while there are others."""
        text = self.draws.choose([x for x in lines if x not in self.said] or lines)
        self.said.add(text)
        return text

    def target(self, *, of: Sequence[str] = ()) -> str:
        """A page to go to: first those that have to be shown, and none the side log has asked for."""
        pages = [p for p in of or self.hall.pages if p != self.slide]
        owed = [p for p in self.hall.due if p not in self.shown and p in pages]
        self.wanted = self.draws.choose(owed or [p for p in pages if p != self.hinted])
        return self.wanted

    @property
    def seen_before(self) -> list[str]:
        """Pages that were up and that somebody may want again."""
        taken = (self.slide, self.hinted)
        return [p for p in self.hall.pages if p in self.shown and p not in taken]

    def hint(self) -> str:
        """A page for the side log: neither up nor about to be, and nobody will want it next."""
        if not self.hinted:
            taken = {self.slide, self.wanted, self.hall.clip_page, *self.hall.due}
            self.hinted = self.draws.choose([p for p in self.hall.pages[1:-1] if p not in taken])
        return self.hinted


def _clip_seen(panel: Decision) -> str:
    return panel.get("clip_state", "none") if panel.get("mode") == "clip" else "none"


OUTCOMES: tuple[Outcome[Room], ...] = read_outcomes(
    __package__,
    wrong_slide_s=lambda room, panel: panel.get("slide") != room.slide,
    wrong_clip_s=lambda room, panel: _clip_seen(panel) != room.on_screen,
    wrong_captions_s=lambda room, panel: panel.get("captions") != room.captions,
    over_time_s=lambda room, panel: room.mode != "closed" and room.now >= room.end,
)
