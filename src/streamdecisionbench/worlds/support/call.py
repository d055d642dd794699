"""A call while it is being generated: who speaks, how time passes, what shows.

What each kind of call keeps account of stands in `payment.py` and `intercom.py`. A call looks at its
own account after every tick and declares what shows; it never asks the reference.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from streamdecisionbench.families.support import events as say
from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.worlds.generation.draws import Draws
from streamdecisionbench.worlds.generation.world_simulator import (
    Ticks,
    WorldSimulator,
)
from streamdecisionbench.worlds.support.phrases import AFTER_CALL
from streamdecisionbench.worlds.support.voice import (
    AGENT,
    BACKGROUND,
    CUSTOMER,
    Voice,
    plain,
)

CONNECTED, HOLD, ENDED = "connected", "hold", "ended"

_WORD_BY_WORD = 0.45
"""How often a sentence that matters is heard in parts before it is final."""
_UNANSWERED = 2
"""Utterances of a customer in a row after which the agent says something."""
_LATER = re.compile(
    r"\b(back|as well|again|any more|leaves|next|now|then|turn|carry on|return|finish|enough|instead)\b",
    re.IGNORECASE,
)
"""In sentences that nobody begins a call with."""
_REDRAWN = 5
"""How often another line is looked for in place of one that was said before."""
_PATIENCE = 9
"""Ticks after which an agent goes back to a customer on hold unasked."""


@dataclass(kw_only=True)
class Call(WorldSimulator, ABC):
    """The world of one session, as far as both kinds share it."""

    voice: Voice
    hold_limit: int
    """Ticks on hold after which the agent has to return."""
    status: str = CONNECTED
    since: int = 0
    open_speech: tuple[str, str, list[str]] | None = None
    """An utterance of no weight still to be completed: id, speaker, the texts to come."""
    heard_at: int = -1
    """When it was last heard: a text stands for at least a tick."""
    after: int = 0
    """What has been done at the desk since the call ended."""
    unanswered: int = 0
    """What the customer has said since the agent last spoke, in utterances."""
    speaking: set[str] = field(default_factory=set)
    """Whose words are not final yet."""
    spoke: dict[str, int] = field(default_factory=dict)
    """When each speaker was last heard."""
    lines: list[str] = field(default_factory=list)
    """What has been said of the desk's script and of small talk, in order."""
    next_up: str = ""
    """Who goes on at the next tick, and makes no small talk until then."""
    idle: bool = False
    """Whether nobody has anything to say before the next tick."""

    @abstractmethod
    def hear(self, purpose: str) -> None:
        """What words lead to that count for the purpose."""

    @abstractmethod
    def decision(self) -> dict[str, str]:
        """What shows now, by the call's own account."""

    def show(self, because: str) -> None:
        self.decide(self.decision(), because)

    @property
    def on_hold_too_long(self) -> bool:
        return self.status == HOLD and self.now - self.since >= self.hold_limit

    @property
    def kept_waiting(self) -> bool:
        """Longer than an agent needs who returns as soon as the limit shows."""
        return self.status == HOLD and self.now - self.since > self.hold_limit

    @property
    def left(self) -> int:
        """Ticks until the session is full."""
        return self.steps - 1 - self.now

    def wait(self, ticks: int) -> Ticks[None]:
        """Ticks pass; some limits are reached by the clock alone."""
        for tick in range(ticks):
            self.idle = tick < ticks - 1
            yield from super().wait(1)
            self.idle = False
            self.show("the clock reaches a limit")

    def pause(self, least: int = 1, most: int = 3) -> Ticks[None]:
        """Time until the next change, as the pace wants it."""
        yield from self.wait(least if self.behind else self.pace(least, most))

    def breathe(self) -> Ticks[None]:
        """A tick before something that changes nothing, if the pace allows."""
        yield from self.wait(0 if self.behind and self.now else 1)

    def utter(self, speaker: str, final: bool, text: str, note: str, ident: str = "") -> Event:
        """What is heard of somebody, who is the only one to speak with this voice."""
        (self.speaking.discard if final else self.speaking.add)(speaker)
        self.spoke[speaker] = self.now
        return say.say(self.now, ident or self.next_utterance(), speaker, final, text, note)

    def final(self, speaker: str, text: str, note: str, ident: str = "") -> Event:
        """What somebody has said; a customer who has said two things is answered first."""
        self.listen(speaker)
        if speaker != BACKGROUND:
            self.unanswered = self.unanswered + 1 if speaker == CUSTOMER else 0
        return self.utter(speaker, True, text, note, ident)

    def listen(self, speaker: str) -> None:
        """Before a customer goes on who has said enough, the agent says something."""
        enough = speaker == CUSTOMER and self.unanswered >= _UNANSWERED
        if enough and self.status == CONNECTED and self.silent(AGENT):
            self.say_line("ack")

    def silent(self, speaker: str) -> bool:
        """Whether somebody has said nothing at this tick, and is not speaking."""
        return speaker not in self.speaking and self.spoke.get(speaker) != self.now

    def turn(self, speaker: str) -> Ticks[None]:
        """Somebody who has just spoken goes on at the next tick."""
        yield from self.settle(speaker)
        if not self.silent(speaker):
            self.next_up = speaker
            yield from self.wait(1)
            self.next_up = ""

    def fresh(self, drawn: Callable[[], str]) -> str:
        """Something that has not been said in this call, as far as there is a choice."""
        text = drawn()
        for _ in range(_REDRAWN):
            if text not in self.lines:
                break
            text = drawn()
        self.lines.append(text)
        return text

    def words(self, purpose: str) -> str:
        """A sentence that counts for the purpose."""
        return self._in_turn(lambda: self.voice.says(purpose))

    def unsaid(self, purpose: str) -> str:
        """A sentence that only sounds like it."""
        return self._in_turn(lambda: self.voice.unsaid(purpose))

    def _in_turn(self, drawn: Callable[[], str]) -> str:
        """A sentence goes back to something only if there was something."""

        def fitting() -> str:
            for _ in range(_REDRAWN):
                text = drawn()
                if CUSTOMER in self.spoke or not _LATER.search(text):
                    break
            return text

        return self.fresh(fitting)

    def acknowledge(self) -> None:
        """An agent whom the panel tells nothing has at least heard."""
        if self.unanswered and self.status == CONNECTED and self.silent(AGENT):
            self.say_line("ack")

    def tell(self, line: str, **words: str) -> Ticks[None]:
        """The agent says a line of the desk's script, which changes nothing."""
        yield from self.turn(AGENT)
        self.say_line(line, **words)

    def say_line(self, line: str, **words: str) -> None:
        """Where agents may only use the words of a bank, the desk notes what was said instead."""
        note, aloud = self.mere("the agent's part"), {}

        def drawn() -> str:
            text, aloud[text] = self.voice.line(line, **words)
            return text

        text = self.fresh(drawn)
        said = self.final(AGENT, text, note) if aloud[text] else say.log(self.now, text, note)
        self.happen(said)
        self.spoke[AGENT] = self.now
        self.unanswered = 0

    def mere(self, what: str) -> str:
        """The note of something that changes nothing; it is noise while there is room for it."""
        return f"distractor: {what}" if self.has_room_for_traps else what

    def mislead(self, speaker: str, text: str, note: str) -> Ticks[None]:
        """Somebody says something that must change nothing, unless there is noise enough."""
        if self.has_room_for_traps:
            yield from self.turn(speaker)
            self.trap(self.final(speaker, text, f"trap: {note}"))

    def trap_log(self, text: str, note: str) -> None:
        if self.has_room_for_traps:
            self.trap(say.log(self.now, text, f"trap: {note}"))

    def speak(
        self, speaker: str, text: str, cause: str, because: str, effect: Callable[[], None]
    ) -> Ticks[None]:
        """Somebody says something that matters once it is final."""
        yield from self.turn(speaker)
        self.listen(speaker)
        ident = self.next_utterance()
        if self.draws.chance(_WORD_BY_WORD) and self.has_room_for_traps:
            for part in _growing(plain(text), self.draws):
                note = "trap: the words are not final yet"
                self.trap(self.utter(speaker, False, part, note, ident))
                yield from self.wait(1)
        self.emit(self.final(speaker, text, f"cause: {cause}", ident))
        effect()
        self.show(because)

    def conclude(self, purpose: str, text: str, cause: str, because: str, ident: str = "") -> None:
        """What the customer says is final now, and counts."""
        self.emit(self.final(CUSTOMER, text, f"cause: {cause}", ident))
        self.hear(purpose)
        self.show(because)

    def overtake(
        self, first: str, second: str, causes: tuple[str, str], because: tuple[str, str]
    ) -> Ticks[None]:
        """The sentence that begins first becomes final last, so it is the later one."""
        yield from self.pause(1, 2)
        yield from self.turn(CUSTOMER)
        self.listen(CUSTOMER)
        ident = self.next_utterance()
        text = self.words(first)
        note = "trap: said, but not final"
        self.trap(self.utter(CUSTOMER, False, plain(text), note, ident))
        yield from self.pause(1, 2)
        self.conclude(second, self.words(second), causes[0], because[0])
        yield from self.pause(1, 3)
        self.conclude(first, text, causes[1], because[1], ident)

    def slip(self, purpose: str, speaker: str = CUSTOMER) -> Ticks[None]:
        """A partial that reads like something, and a final that goes on into something else."""
        slipped = self.voice.slip(purpose)
        if slipped is None or not self.has_room_for_traps:
            return
        yield from self.turn(speaker)
        self.listen(speaker)
        heard, final = slipped
        ident = self.next_utterance()
        note = "trap: only a partial says so"
        self.trap(self.utter(speaker, False, heard, note, ident))
        yield from self.wait(1 if self.behind else self.draws.between(1, 2))
        note = "trap: the final says something else"
        self.trap(self.final(speaker, final, note, ident))

    def begin(self, speaker: str, texts: list[str]) -> None:
        """Small talk heard part by part: the last of `texts` is final."""
        self.open_speech = (self.next_utterance(), speaker, texts)
        self.go_on()

    def go_on(self) -> None:
        """The open utterance grows, or is completed."""
        if self.open_speech is None:
            raise ValueError("nobody is speaking")
        ident, speaker, texts = self.open_speech
        text, *later = texts
        self.open_speech = (ident, speaker, later) if later else None
        self.heard_at = self.now
        if later:
            note = "distractor: partial speech"
            self.emit(self.utter(speaker, False, text, note, ident))
        else:
            self.emit(self.final(speaker, text, "distractor: only talk", ident))

    def settle(self, speaker: str = "") -> Ticks[None]:
        """Small talk of this speaker, or of anybody, comes to its end."""
        while self.open_speech is not None and speaker in ("", self.open_speech[1]):
            if self.heard_at == self.now:
                yield from self.wait(1)
            if self.open_speech is not None and self.heard_at < self.now:
                ident, who, texts = self.open_speech
                self.open_speech = ident, who, texts[-1:]
                self.go_on()

    def next_utterance(self) -> str:
        return f"u{int(self.next_id('')):02d}"

    def customer_says(self, purpose: str, cause: str, because: str, text: str = "") -> Ticks[None]:
        """The customer says something that counts for the purpose."""
        text = text or self.words(purpose)
        yield from self.speak(CUSTOMER, text, cause, because, lambda: self.hear(purpose))

    def tool(self, fields: Mapping[str, Any], text: str, note: str) -> None:
        """A tool reports new values."""
        self.happen(say.put(self.now, fields, text, note))

    def happen(self, event: Event) -> None:
        """Something a tool reports; its note says whether it is there to mislead."""
        noise = event.note.startswith(("trap", "distractor"))
        (self.trap if noise else self.emit)(event)

    def announce_hold(self) -> Ticks[None]:
        """The agent says so, then puts the customer on hold."""
        yield from self.settle()
        yield from self.tell("hold")
        yield from self.wait(1)
        self.telephone(HOLD, "hold", "cause: hold begins", "the customer is put on hold")

    def stay_to_the_limit(self) -> Ticks[None]:
        """The hold lasts to the very tick of the limit, and then until somebody returns."""
        yield from self.wait(self.since + self.hold_limit - 1 - self.now)
        yield from self.mislead(AGENT, self.voice.line("soon")[0], "one tick short")
        yield from self.wait(1)
        yield from self.come_back()

    def speak_on_hold(self, purpose: Callable[[], str]) -> Ticks[None]:
        """The customer is put on hold and says something that shows once the hold is over."""
        yield from self.pause()
        yield from self.announce_hold()
        yield from self.wait(1)
        meant = purpose()
        self.trap(self.final(CUSTOMER, self.words(meant), "trap: shows once the hold is over"))
        self.hear(meant)
        yield from self.wait(1)

    def come_back(self) -> Ticks[None]:
        """The agent returns when the panel says so; without a word of it, long after the limit."""
        yield from self.until(self.return_shows, most=_PATIENCE)
        if not self.return_shows():
            line = self.voice.line("ages")[0]
            yield from self.mislead(AGENT, line, "impatience is no waiting time")
            yield from self.wait(1)
        yield from self.take_back()

    def take_back(self) -> Ticks[None]:
        """The telephone reports the customer back, and the agent says so."""
        self.telephone(CONNECTED, "connected", "cause: the hold ends", "the hold is over")
        yield from self.tell("back")

    def take_leave(self) -> Ticks[None]:
        """The customer says goodbye: content, or because there is no more time."""
        yield from self.settle()
        if not (self.silent(CUSTOMER) and self.silent(AGENT)):
            yield from self.wait(1)
        text, spoken = self.voice.leave(self.at_rest)
        note = self.mere("a goodbye ends no call")
        self.happen(self.final(CUSTOMER, text, note) if spoken else say.log(self.now, text, note))

    @property
    @abstractmethod
    def at_rest(self) -> bool:
        """Whether the customer knows the end of what he spoke of last."""

    def after_call(self) -> Ticks[None]:
        """What is left to do at the desk, a line at a time."""
        yield from self.wait(1)
        self.after += 1
        self.trap_log(AFTER_CALL[self.after % len(AFTER_CALL)], "the call is over")

    @abstractmethod
    def return_shows(self) -> bool:
        """Whether the panel sends the agent back to the customer."""

    def count_statement(self, right: bool) -> None:
        """The agent has made a statement to the customer, true or not."""
        if not right:
            self.count("told_wrong")

    def telephone(self, status: str, published: str, note: str, because: str) -> None:
        self.emit(say.phone(self.now, published, note))
        self.status, self.since = status, self.now
        self.show(because)


def on_the_line(call: Call) -> bool:
    """Whether there is time for another situation."""
    return call.status == CONNECTED and call.left >= 7


def has_time_for_a_hold(call: Call) -> bool:
    return call.status == CONNECTED and call.now > 3 and call.left >= call.hold_limit + 6


def draws_to_its_end(call: Call) -> bool:
    return call.status == CONNECTED and call.left < 7


def has_ended(call: Call) -> bool:
    return call.status == ENDED


def _growing(text: str, draws: Draws) -> list[str]:
    """One or two stages of a partial; the last one often has all the words already."""
    words = text.split()
    last = len(words) if draws.chance(0.7) else max(len(words) - 1, 1)
    first = draws.between(1, last)
    stages = [first, last] if first < last and draws.chance(0.5) else [last]
    return [" ".join(words[:stage]) for stage in stages]
