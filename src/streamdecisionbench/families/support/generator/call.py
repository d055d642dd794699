"""A call while it is being generated: who speaks, how time passes, what shows.

What each kind of call keeps account of stands in `payment.py` and `intercom.py`. A call looks at its
own account after every tick and declares what shows; it never asks the reference.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from streamdecisionbench.families.support import events as say
from streamdecisionbench.families.support.generator.voice import CUSTOMER, Voice, plain
from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.suite.generation.draws import Draws
from streamdecisionbench.suite.generation.script import Script, Ticks

CONNECTED, HOLD, ENDED = "connected", "hold", "ended"

_WORD_BY_WORD = 0.45
"""How often a sentence that matters is heard in parts before it is final."""


@dataclass
class Call(ABC):
    """The world of one session, as far as both kinds share it."""

    script: Script
    draws: Draws
    voice: Voice
    hold_limit: int
    """Ticks on hold after which the agent has to return."""
    status: str = CONNECTED
    since: int = 0
    utterances: int = 0
    open_speech: tuple[str, str, list[str]] | None = None
    """An utterance of no weight still to be completed: id, speaker, the texts to come."""
    heard_at: int = -1
    """When it was last heard: a text stands for at least a tick."""

    @abstractmethod
    def decision(self) -> dict[str, str]:
        """What shows now, by the call's own account."""

    def show(self, because: str) -> None:
        self.script.decide(self.decision(), because)

    @property
    def on_hold_too_long(self) -> bool:
        return self.status == HOLD and self.now - self.since >= self.hold_limit

    @property
    def now(self) -> int:
        return self.script.now

    @property
    def left(self) -> int:
        """Ticks until the session is full."""
        return self.script.steps - 1 - self.now

    def wait(self, ticks: int) -> Ticks[None]:
        """Ticks pass; some limits are reached by the clock alone."""
        for _ in range(ticks):
            yield from self.script.wait(1)
            self.show("the clock reaches a limit")

    def pause(self, least: int = 1, most: int = 3) -> Ticks[None]:
        """Time until the next change, as the pace wants it."""
        yield from self.wait(least if self.script.behind else self.script.pace(least, most))

    def breathe(self) -> Ticks[None]:
        """A tick before something that changes nothing, if the pace allows."""
        yield from self.wait(0 if self.script.behind else 1)

    def final(self, speaker: str, text: str, note: str) -> Event:
        return say.say(self.now, self.next_id(), speaker, True, text, note)

    def trap(self, speaker: str, text: str, note: str) -> None:
        """Somebody says something that must change nothing, unless there is noise enough."""
        if self.script.has_room_for_traps:
            self.script.trap(self.final(speaker, text, f"trap: {note}"))

    def trap_log(self, text: str, note: str) -> None:
        if self.script.has_room_for_traps:
            self.script.trap(say.log(self.now, text, f"trap: {note}"))

    def speak(
        self, speaker: str, text: str, cause: str, because: str, effect: Callable[[], None]
    ) -> Ticks[None]:
        """Somebody says something that matters once it is final."""
        ident = self.next_id()
        if self.draws.chance(_WORD_BY_WORD) and self.script.has_room_for_traps:
            for part in _growing(plain(text), self.draws):
                note = "trap: the words are not final yet"
                self.script.trap(say.say(self.now, ident, speaker, False, part, note))
                yield from self.wait(1)
        self.script.emit(say.say(self.now, ident, speaker, True, text, f"cause: {cause}"))
        effect()
        self.show(because)

    def slip(self, purpose: str, speaker: str = CUSTOMER) -> Ticks[None]:
        """A partial that reads like something, and a final that is not."""
        if not self.script.has_room_for_traps:
            return
        heard, final = self.voice.slip(purpose)
        ident = self.next_id()
        note = "trap: only a partial says so"
        self.script.trap(say.say(self.now, ident, speaker, False, heard, note))
        yield from self.wait(1 if self.script.behind else self.draws.between(1, 2))
        note = "trap: the final says something else"
        self.script.trap(say.say(self.now, ident, speaker, True, final, note))

    def begin(self, speaker: str, texts: list[str]) -> None:
        """Small talk heard part by part: the last of `texts` is final."""
        self.open_speech = (self.next_id(), speaker, texts)
        self.go_on()

    def go_on(self) -> None:
        """The open utterance grows, or is completed."""
        if self.open_speech is None:
            raise ValueError("nobody is speaking")
        ident, speaker, texts = self.open_speech
        text, *later = texts
        self.open_speech = (ident, speaker, later) if later else None
        self.heard_at = self.now
        note = "distractor: partial speech" if later else "distractor: only talk"
        self.script.emit(say.say(self.now, ident, speaker, not later, text, note))

    def next_id(self) -> str:
        self.utterances += 1
        return f"u{self.utterances:02d}"

    def happen(self, event: Event) -> None:
        """Something a tool reports; its note says whether it is there to mislead."""
        (self.script.trap if event.note.startswith("trap") else self.script.emit)(event)

    def telephone(self, status: str, published: str, note: str, because: str) -> None:
        self.script.emit(say.phone(self.now, published, note))
        self.status, self.since = status, self.now
        self.show(because)


def _growing(text: str, draws: Draws) -> list[str]:
    """One or two stages of a partial; the last one often has all the words already."""
    words = text.split()
    stages = [words[: draws.between(1, max(len(words) - 1, 1))]] if draws.chance(0.5) else []
    stages.append(words if draws.chance(0.7) else words[:-1] or words)
    return [" ".join(stage) for stage in stages]
