"""Worlds: sessions that answer back. One simulator makes generated scenarios and closed loops.

A world is one session of a family, opened at tick 0 and moved on tick by tick by whoever plays it:

    world.step()                  the state that is public now, with its reference answers
    world.advance(until_s, held)  time passes to until_s with these decisions in force, then the next
                                  tick is written; after the last tick the world is done
    world.outcomes()              what its owner counts, so far

At tick t people and tools act; they see the panel as it is at that instant: `script.panel`, the
decision in force when the tick begins, empty where there is none. Then state t is public, and nothing
happens until the next tick but that decisions come into force. What that costs is counted by the second
(`Outcome.rate`), or once, by the situation in which it happens (`script.count`).

Played by its own right decisions, each in force as soon as its state is public, a world is a generated
scenario (`play_right`; `compose` looks for one that keeps every bound). So during generation the panel
shows the session's own account as the tick before has left it, and a component that is right and takes
no time sees the same session, byte for byte.

Whatever is held, nonsense and nothing included, a world goes on: situations may wait for the panel, but
not for ever; what people do by a wrong panel enters the session's own account, which declares the
decision that follows; and the reference of every state equals that account. The same seed and the same
held decisions give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from streamdecisionbench.suite.authoring import Draft, evidence_at
from streamdecisionbench.suite.generation.draws import Draws, Seat
from streamdecisionbench.suite.generation.parameters import Parameters
from streamdecisionbench.suite.generation.script import Script
from streamdecisionbench.suite.generation.situations import Situation, story
from streamdecisionbench.suite.scenario import Scenario, State, Step

_W = TypeVar("_W")

Decision = Mapping[str, str]
Held = Sequence[tuple[float, Decision | None]]
"""From when on which decision was in force, in order; None: no decision."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[_W]):
    """Something the owner of a session cares about, counted in a unit of its own.

    `fields` are the fields of a decision that cause it. With a `rate` it grows by the second: the rate
    is asked with the world as a tick has left it and the decision held (empty where none is), and says
    how many units a second are; True is one. Without, situations count it: `script.count(name)`.
    `cost` is what a unit costs; below zero where more is better.
    """

    name: str
    unit: str
    about: str
    fields: tuple[str, ...]
    rate: Callable[[_W, Decision], float] | None = None
    cost: float = 1.0


@dataclass(frozen=True, slots=True)
class Opened(Generic[_W]):
    """A session at tick 0, and how to make a draft of it once it is played.

    `must_name` are answers that exist in this session only, or are its turn to show (its files,
    say): as (question, value), each should be part of some decision.
    """

    world: _W
    draft: Callable[[str], Draft]
    must_name: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Kind(Generic[_W]):
    """One kind of session of a family: what can happen in it, how it opens, what it counts."""

    name: str
    situations: tuple[Situation[_W], ...]
    open: Callable[[Script, Draws, Seat], Opened[_W]]
    ordered: bool = False
    """Whether the rules say how events of one tick follow each other."""
    outcomes: tuple[Outcome[_W], ...] = ()


class World(Generic[_W]):
    """A session that is under way; see above."""

    right: Scenario
    """The same session played by its own right decisions, of a world that was composed."""

    def __init__(
        self, kind: Kind[_W], scenario_id: str, parameters: Parameters, seat: Seat, draws: Draws
    ) -> None:
        self.kind, self.scenario_id = kind, scenario_id
        self._made_of = kind, scenario_id, parameters, seat, draws
        self.script = Script(
            draws.fork("script"),
            steps=parameters.steps,
            changes=parameters.changes,
            noise=parameters.noise,
        )
        self.opened = kind.open(self.script, draws.fork("session"), seat)
        self.played: list[Situation[_W]] = []
        """Situations that came to their end."""
        self.done = False
        """Whether the time of the last tick has passed, too."""
        self.now_s = 0.0
        self._seed = f"{parameters.split} {parameters.seed}"
        self._spent = {outcome.name: 0.0 for outcome in kind.outcomes}
        self._draft = self.draft()
        self._steps: dict[int, Step] = {}
        self._story = story(
            self.opened.world,
            self.script,
            kind.situations,
            seat.agenda,
            draws.fork("situations"),
            self.played,
        )
        next(self._story)

    def again(self) -> World[_W]:
        """The same world at tick 0."""
        fresh = World(*self._made_of)
        fresh.right = self.right
        return fresh

    @property
    def t(self) -> int:
        """The tick whose state is public now."""
        return self.script.now

    def draft(self) -> Draft:
        """Of the session as far as it is written."""
        return replace(self.opened.draft(self.scenario_id), seed=self._seed)

    def account(self) -> dict[str, str]:
        """The decision that is right now, as the situations have declared it."""
        return self.script.decisions()[-1]

    def state(self) -> State:
        """What is public now, as JSON has it."""
        return self.step().state

    def reference(self) -> dict[str, str]:
        """The decision that is right now, by the rules."""
        return self._draft.decision_spec.compose(self.step().gold)

    def step(self) -> Step:
        """State, reference answers and notes of this tick."""
        t = self.t
        if t not in self._steps:
            shown = self._draft.project(tuple(self.script.events), t)
            state: State = json.loads(json.dumps(shown, ensure_ascii=False))
            gold = self._draft.reference(state)
            notes = evidence_at(self.script.events, self.script.changes(), t)
            self._steps[t] = Step(t=t, state=state, gold=gold, evidence=notes)
        return self._steps[t]

    def outcomes(self) -> dict[str, float]:
        """Every outcome of the kind so far, by name."""
        strange = sorted(set(self.script.counts) - set(self._spent))
        if strange:
            raise AssertionError(f"{self.kind.name} counts {strange}, which it does not declare")
        return {name: spent + self.script.counts[name] for name, spent in self._spent.items()}

    def cost(self) -> float:
        """What all of them cost together."""
        found = self.outcomes()
        return sum(outcome.cost * found[outcome.name] for outcome in self.kind.outcomes)

    def advance(self, until_s: float, held: Held) -> None:
        """Time passes to `until_s` (seconds since the session began), then the next tick is written.

        `held` are the decisions that came into force since the last call, each from its instant on;
        the one that was in force then goes on until the first of them. The last is on the panel that
        people see at the next tick, also when it came into force at `until_s` itself.
        """
        if self.done:
            raise ValueError("the session is over")
        pieces = [(self.now_s, self.script.panel), *((at, d or {}) for at, d in held)]
        ends = [*(at for at, _ in pieces[1:]), until_s]
        for (from_s, decision), end_s in zip(pieces, ends, strict=True):
            if not from_s <= end_s <= until_s:
                raise ValueError(f"the decision held from {from_s} s is out of order")
            self._spend(decision, end_s - from_s)
        self.now_s, self.script.panel = until_s, dict(pieces[-1][1])
        if self.t + 1 < self.script.steps:
            next(self._story)
        else:
            self._story.close()
            self.done = True

    def _spend(self, decision: Decision, seconds: float) -> None:
        for outcome in self.kind.outcomes:
            if outcome.rate is not None and seconds > 0:
                self._spent[outcome.name] += outcome.rate(self.opened.world, decision) * seconds

    def play_right(self) -> None:
        """To the end, by its own right decisions, each in force as soon as its state is public."""
        tick = self._draft.tick_seconds
        while not self.done:
            self.advance((self.t + 1) * tick, [(self.t * tick, self.account())])
