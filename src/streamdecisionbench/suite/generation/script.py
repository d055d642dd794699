"""The script of one generated session: events as they happen, and the decision each should lead to.

Situations write into it. It keeps the pace, so that the session has the wanted number of changes at
its end, and calls for evidence that changes nothing, so that it has the wanted noise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias, TypeVar

from streamdecisionbench.suite.authoring import Change, Event
from streamdecisionbench.suite.generation.draws import Draws
from streamdecisionbench.suite.generation.parameters import NOISE_TOLERANCE

_USUAL_SPACING = 3.0
"""Ticks between changes that situations have in mind; where fewer changes are wanted, pauses stretch."""


_T = TypeVar("_T")

Ticks: TypeAlias = Generator[None, None, _T]
"""What takes time: it yields wherever a tick is written and the next one has to come, and returns a value."""


class Script:
    """A session being written, tick by tick from 0 to steps − 1."""

    def __init__(self, draws: Draws, *, steps: int, changes: int, noise: float) -> None:
        self.steps = steps
        self.now = 0
        self.events: list[Event] = []
        self.distract: Callable[[], bool] = lambda: False
        """The family's own: emits one event that changes nothing now, and says whether it could."""
        self.stream: Draws | None = None
        """The stream the family draws from, if each situation and each distraction is to draw apart."""
        self.panel: Mapping[str, str] = {}
        """The decision in force as this tick begins: what people in the session can see of it."""
        self.counts: Counter[str] = Counter()
        """Outcome → how often it has happened."""
        self._draws = draws
        self._wanted = changes
        self._stretch = max(1.0, steps / (changes + 1) / _USUAL_SPACING)
        self._noise = noise
        self._decisions: dict[int, tuple[dict[str, str], str]] = {}
        self._noisy: set[int] = set()

    @property
    def noise(self) -> float:
        """Share of ticks so far with at least one event that changes nothing."""
        return len(self._noisy) / (self.now + 1)

    @property
    def has_room_for_traps(self) -> bool:
        """Whether one more noisy tick leaves the session as quiet as it is wanted."""
        return len(self._noisy) < (self._noise + NOISE_TOLERANCE / 2) * self.steps

    @property
    def behind(self) -> bool:
        """Whether changes come more slowly than they are wanted."""
        return len(self.changes()) < self._wanted * (self.now + 1) / self.steps

    def emit(self, event: Event) -> None:
        """Something happens now."""
        if event.at != self.now:
            raise ValueError(f"{event.kind} at tick {event.at} is written at tick {self.now}")
        self.events.append(event)

    def trap(self, event: Event) -> None:
        """Something happens now that must change nothing."""
        self.emit(event)
        self._noisy.add(self.now)

    def decide(self, decision: Mapping[str, str], because: str) -> None:
        """From now on this is the composed decision: the promise the reference is checked against.

        The last word of a tick stands, since a state shows what all of the tick's events have left.
        """
        self._decisions[self.now] = (dict(decision), because)

    def decisions(self) -> list[dict[str, str]]:
        """The decisions declared so far, in order."""
        return [decision for _, (decision, _) in sorted(self._decisions.items())]

    def changes(self) -> tuple[Change, ...]:
        """The promises, as an author would write them: where the decision changes, in which fields."""
        found = []
        before: dict[str, str] | None = None
        for tick, (decision, because) in sorted(self._decisions.items()):
            if before is not None and decision != before:
                moved = {q for q in (*before, *decision) if before.get(q) != decision.get(q)}
                found.append(Change(tick, tuple(sorted(moved)), because))
            before = decision
        return tuple(found)

    def wait(self, ticks: int) -> Ticks[None]:
        """Exactly this many ticks pass."""
        for _ in range(ticks):
            yield
            self.now += 1
            if self._wants_noise():
                self._make_noise()

    def hold(self, least: int, most: int) -> Ticks[None]:
        """Some ticks pass, as many as the pace allows within these bounds."""
        yield from self.wait(self.pace(least, most))

    def until(self, condition: Callable[[], bool], most: int) -> Ticks[bool]:
        """Ticks pass until the condition holds, at most so many; whether it came to hold."""
        for _ in range(most):
            if condition():
                break
            yield from self.wait(1)
        return condition()

    def count(self, outcome: str, times: int = 1) -> None:
        """Something that the session's owner counts has happened."""
        self.counts[outcome] += times

    def pace(self, least: int, most: int) -> int:
        """How many ticks until the next change would keep the pace, within these bounds.

        Where few changes are wanted, the upper bound stretches with their spacing.
        """
        left = max(self._wanted - len(self.changes()), 0)
        room = self.steps - self.now
        ideal = room / (left + 1)
        drawn = int(ideal) + self._draws.chance(ideal - int(ideal)) + self._draws.between(-1, 1)
        return min(max(drawn, least), max(round(most * self._stretch), least))

    def _wants_noise(self) -> bool:
        owed = self._noise * (self.now + 1) - len(self._noisy)
        return self._draws.chance(min(max(self._noise + (owed - 0.5) / 3, 0.0), 1.0))

    def _make_noise(self) -> None:
        with self.apart("noise", self.now):
            if self.distract():
                self._noisy.add(self.now)
                if self._draws.chance(self._noise / 5):
                    self.distract()

    def apart(self, *purposes: str | int) -> AbstractContextManager[None]:
        """While it lasts the family's stream depends on the purposes alone, if it is given away."""
        return nullcontext() if self.stream is None else self.stream.apart(*purposes)
