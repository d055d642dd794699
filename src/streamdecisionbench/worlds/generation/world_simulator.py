"""The base of every world: a session that is written tick by tick while situations play in it.

A simulator records events as they happen and, after every event that matters, the decision that is
right from then on. It keeps the pace, so that the session has the wanted number of changes at its end.
It calls for evidence that changes nothing, so that the session has the wanted noise. A family's own
simulator adds the account of its session and the verbs that situations are made of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

from streamdecisionbench.suite.authoring import Change, Draft, Event, QuestionDraft
from streamdecisionbench.suite.scenario import DecisionSpec, State
from streamdecisionbench.worlds.generation.draws import (
    Draws,
    Seat,
)
from streamdecisionbench.worlds.generation.parameters import NOISE_TOLERANCE

_USUAL_SPACING = 3.0
"""Ticks between changes that situations have in mind. Where fewer changes are wanted, pauses stretch."""

_T = TypeVar("_T")

Ticks: TypeAlias = Generator[None, None, _T]
"""A generator that takes time: it yields at the end of every tick, and returns a value."""

Answer = tuple[str, str]
"""A question and a value."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What every session starts from."""

    pace: Draws
    """The stream for pace and noise."""
    draws: Draws
    """The stream for everything that the family draws."""
    seat: Seat
    steps: int
    changes: int
    noise: float


@dataclass(kw_only=True)
class WorldSimulator:
    """A session being written, from tick 0 to steps − 1."""

    opening: Opening
    draws: Draws
    """Situations and distractions draw from it, each apart from the others."""
    now: int = 0
    events: list[Event] = field(default_factory=list)
    panel: Mapping[str, str] = field(default_factory=dict)
    """The decision in force as this tick begins: what people in the session can see of it."""
    counts: Counter[str] = field(default_factory=Counter)
    """Outcome → how often it has happened."""
    must_show: frozenset[Answer] = frozenset()
    """Answers that exist in this session only, or that it is its turn to show."""
    said: set[str] = field(default_factory=set)
    """Lines that were said, and are not said again."""
    numbers: dict[str, int] = field(default_factory=dict)
    """Prefix → the last number given out."""
    distract: Callable[[], bool] = lambda: False
    """Emits one event that changes nothing, and returns whether it could."""
    _decisions: dict[int, tuple[dict[str, str], str]] = field(default_factory=dict)
    _noisy: set[int] = field(default_factory=set)
    _template: Draft | None = None

    @property
    def steps(self) -> int:
        return self.opening.steps

    @property
    def seat(self) -> Seat:
        return self.opening.seat

    def publish(
        self,
        family: str,
        title: str,
        questions: Mapping[str, QuestionDraft],
        spec: DecisionSpec,
        project: Callable[[Sequence[Event], int], State],
        reference: Callable[[State], dict[str, str]],
    ) -> None:
        """What the scenario is made of, apart from events and changes."""
        self._template = Draft("", family, title, questions, spec, (), (), project, reference)

    def draft(self, scenario_id: str) -> Draft:
        """The scenario as far as it is written."""
        if self._template is None:
            raise AssertionError(f"{type(self).__name__} was opened without a template")
        return replace(
            self._template,
            scenario_id=scenario_id,
            events=tuple(self.events),
            changes=self.changes(),
            steps=self.steps,
        )

    @property
    def noise(self) -> float:
        """Share of ticks so far with at least one event that changes nothing."""
        return len(self._noisy) / (self.now + 1)

    @property
    def has_room_for_traps(self) -> bool:
        """Whether one more noisy tick leaves the session as quiet as it is wanted."""
        return len(self._noisy) < (self.opening.noise + NOISE_TOLERANCE / 2) * self.steps

    @property
    def behind(self) -> bool:
        """Whether changes come more slowly than they are wanted."""
        return len(self.changes()) < self.opening.changes * (self.now + 1) / self.steps

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
        """From now on this is the composed decision, against which the reference is checked.

        The last decision of a tick counts, since a state shows the result of all its events.
        """
        self._decisions[self.now] = (dict(decision), because)

    def decisions(self) -> list[dict[str, str]]:
        """The decisions declared so far, in order."""
        return [decision for _, (decision, _) in sorted(self._decisions.items())]

    def changes(self) -> tuple[Change, ...]:
        """Where the declared decision changes, in which fields, and why."""
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
        """Ticks pass until the condition holds, at most this many. Returns whether it holds."""
        for _ in range(most):
            if condition():
                break
            yield from self.wait(1)
        return condition()

    def shows(self, **fields: str) -> bool:
        """Whether the panel shows these values."""
        return all(self.panel.get(name) == value for name, value in fields.items())

    def see(self, most: int, **fields: str) -> Ticks[bool]:
        """People wait for the panel to show these values, at most so many ticks."""
        return (yield from self.until(lambda: self.shows(**fields), most))

    def count(self, outcome: str, times: int = 1) -> None:
        """An outcome of the session has happened."""
        self.counts[outcome] += times

    def new_line(self, lines: Sequence[str]) -> str:
        """A line that was not said yet; "" if there is none."""
        return self.seat.unsaid(lines, self.said, self.draws)

    def next_id(self, prefix: str, first: int = 1) -> str:
        self.numbers[prefix] = self.numbers.get(prefix, first - 1) + 1
        return f"{prefix}{self.numbers[prefix]}"

    def pace(self, least: int, most: int) -> int:
        """How many ticks until the next change would keep the pace, within these bounds.

        Where few changes are wanted, the upper bound stretches with their spacing.
        """
        wanted, draws = self.opening.changes, self.opening.pace
        ideal = (self.steps - self.now) / (max(wanted - len(self.changes()), 0) + 1)
        drawn = int(ideal) + draws.chance(ideal - int(ideal)) + draws.between(-1, 1)
        stretch = max(1.0, self.steps / (wanted + 1) / _USUAL_SPACING)
        return min(max(drawn, least), max(round(most * stretch), least))

    def _wants_noise(self) -> bool:
        noise = self.opening.noise
        owed = noise * (self.now + 1) - len(self._noisy)
        return self.opening.pace.chance(min(max(noise + (owed - 0.5) / 3, 0.0), 1.0))

    def _make_noise(self) -> None:
        with self.draws.apart("noise", self.now):
            if self.distract():
                self._noisy.add(self.now)
                if self.opening.pace.chance(self.opening.noise / 5):
                    self.distract()
