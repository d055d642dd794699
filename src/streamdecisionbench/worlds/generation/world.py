"""Worlds: sessions that react to the decisions in force. One simulator makes scenarios and closed loops.

A world is one session of a family. It starts at tick 0, and its player moves it from tick to tick:

    world.step()                  the public state of this tick, with its reference answers
    world.advance(until_s, held)  time passes to until_s with these decisions in force, then the next
                                  tick is written; after the last tick the world is done
    world.outcomes()              the outcomes so far

At tick t people and tools act. They see the panel: the decision in force when the tick begins, empty
if there is none. Then state t is public. Until the next tick only decisions come into force. Outcomes
grow with time (`Outcome.rate`), or situations count them (`simulator.count`).

`play_right` plays a world by its own right decisions, each in force as soon as its state is public. The
result is a generated scenario; `compose` looks for one that keeps every bound. A component that is
always right and takes no time sees the same session, byte for byte.

A world continues whatever is held, even if it is nonsense or nothing. Situations wait for the panel, but
not for ever. People who act on a wrong panel change the session, and the simulator declares the decision
that follows. The reference of every state equals the declared decision. The same seed and the same held
decisions give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.authoring import Draft, evidence_at
from streamdecisionbench.suite.scenario import Scenario, State, Step
from streamdecisionbench.worlds.generation.data_files import read_data
from streamdecisionbench.worlds.generation.draws import (
    Draws,
    Seat,
)
from streamdecisionbench.worlds.generation.parameters import Parameters
from streamdecisionbench.worlds.generation.world_simulator import (
    Opening,
    Ticks,
    WorldSimulator,
)

_S = TypeVar("_S", bound=WorldSimulator)

_TICKS_PER_SITUATION = 10
"""About how long one takes, for a guess at how much time the agenda still needs."""


@dataclass(frozen=True, slots=True)
class Situation(Generic[_S]):
    """One thing that happens in a family's sessions, over some ticks.

    `rules` are the ids of the rules it puts to the test. `possible` says whether it can happen in
    the world as it is; `play` makes it happen: events, the passing of time, and after every event
    that matters the decision it should lead to. `weight` is how often it is chosen compared with others;
    `group` gathers those that take turns, so that no session is dealt all of one group; what every
    session is full of anyway need not be dealt.
    """

    group: str
    name: str
    rules: tuple[str, ...]
    possible: Callable[[_S], bool]
    play: Callable[[_S], Ticks[None]]
    weight: int = 2
    dealt: bool = True


def deal(
    situations: Sequence[Situation[_S]], sessions: int, most: int, draws: Draws
) -> list[list[str]]:
    """Every situation's name to one of the sessions, so that together they show each one once.

    A session is dealt at most `most`; where there are too few sessions, some situations stay out,
    of every group about as many.
    """
    groups: dict[str, list[str]] = {}
    for situation in draws.shuffled([s for s in situations if s.dealt]):
        groups.setdefault(situation.group, []).append(situation.name)
    names = [name for group in sorted(groups) for name in groups[group]]
    hands = [names[seat::sessions] for seat in draws.shuffled(range(sessions))]
    return [_spread(hand, most) for hand in hands]


def _spread(hand: list[str], most: int) -> list[str]:
    """At most so many, evenly from the whole hand."""
    kept = min(most, len(hand))
    return [hand[i * len(hand) // kept] for i in range(kept)]


def story(
    simulator: _S,
    situations: Sequence[Situation[_S]],
    agenda: Sequence[str],
    draws: Draws,
    played: list[Situation[_S]],
) -> Ticks[None]:
    """Situation after situation without an end, and all of the agenda on the way.

    The less time is left for the agenda, the more likely one of it comes next; a situation of the
    group that was played last waits while there is another choice. Those that came to their end are
    added to `played`.
    """
    due = list(agenda)
    while True:
        possible = [s for s in situations if s.possible(simulator)]
        if not possible:
            raise AssertionError(f"nothing can follow {played[-1:]}: a situation is missing")
        urgency = len(due) * _TICKS_PER_SITUATION / (simulator.steps - simulator.now)
        wanted = [s for s in possible if s.name in due]
        choice = wanted if wanted and draws.chance(urgency) else possible
        chosen = _choose(
            _in_turn(choice, played) or _in_turn(possible, played) or choice, played, draws
        )
        with simulator.draws.apart("situation", len(played)):
            yield from chosen.play(simulator)
        played.append(chosen)
        if chosen.name in due:
            due.remove(chosen.name)


def _in_turn(
    situations: Sequence[Situation[_S]], played: Sequence[Situation[_S]]
) -> list[Situation[_S]]:
    """Those of another group than the last, and those no session can do without."""
    return [s for s in situations if not played or not s.dealt or s.group != played[-1].group]


def _choose(
    situations: Sequence[Situation[_S]], played: Sequence[Situation[_S]], draws: Draws
) -> Situation[_S]:
    """By weight; what was played before is less likely with every time."""
    by_name = {s.name: s for s in situations}
    weights: Mapping[str, int] = {
        s.name: max(12 * s.weight // (1 + 3 * played.count(s)), 1) for s in situations
    }
    return by_name[draws.weighted(weights)]


Decision = Mapping[str, str]
Held = Sequence[tuple[float, Decision | None]]
"""From when on which decision was in force, in order; None: no decision."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[_S]):
    """Something the owner of a session cares about, counted in a unit of its own.

    `fields` are the fields of a decision that cause it. With a `rate` it grows by the second: the rate
    is asked with the world as a tick has left it and the decision held (empty where none is), and says
    how many units a second are; True is one. Without, situations count it: `simulator.count(name)`.
    `cost` is what a unit costs; below zero where more is better.
    """

    name: str
    unit: str
    about: str
    fields: tuple[str, ...]
    rate: Callable[[_S, Decision], float] | None = None
    cost: float = 1.0


def read_outcomes(
    package: str, key: str = "outcomes", **rates: Callable[[Any, Decision], float]
) -> tuple[Outcome[Any], ...]:
    """The outcomes in `outcomes.toml` of a package, and the rates of those that grow by the second."""
    table = read_data(package, "outcomes.toml")
    entries = {entry["name"]: entry for entry in table[key]}
    unknown = sorted(set(rates) - set(entries))
    if unknown:
        raise InputError(f"{key} has no {', '.join(unknown)}", where=table.where, fix="add it")
    return tuple(Outcome(**entry, rate=rates.get(name)) for name, entry in entries.items())


@dataclass(frozen=True, slots=True)
class Kind(Generic[_S]):
    """One kind of session of a family: what can happen in it, how it opens, what it counts."""

    name: str
    situations: tuple[Situation[_S], ...]
    open: Callable[[Opening], _S]
    ordered: bool = False
    """Whether the rules say how events of one tick follow each other."""
    outcomes: tuple[Outcome[_S], ...] = ()


class World(Generic[_S]):
    """A session that is under way; see above."""

    right: Scenario
    """The same session played by its own right decisions, of a world that was composed."""

    def __init__(
        self, kind: Kind[_S], scenario_id: str, parameters: Parameters, seat: Seat, draws: Draws
    ) -> None:
        self.kind, self.scenario_id = kind, scenario_id
        self._made_of = kind, scenario_id, parameters, seat, draws
        self.simulator = kind.open(
            Opening(
                draws.fork("script"),
                draws.fork("session"),
                seat,
                steps=parameters.steps,
                changes=parameters.changes,
                noise=parameters.noise,
            )
        )
        self.played: list[Situation[_S]] = []
        """Situations that came to their end."""
        self.done = False
        """Whether the time of the last tick has passed, too."""
        self.now_s = 0.0
        self._seed = f"{parameters.split} {parameters.seed}"
        self._spent = {outcome.name: 0.0 for outcome in kind.outcomes}
        self._draft = self.draft()
        self._steps: dict[int, Step] = {}
        self._story = story(
            self.simulator,
            kind.situations,
            seat.agenda,
            draws.fork("situations"),
            self.played,
        )
        next(self._story)

    def again(self) -> World[_S]:
        """The same world at tick 0."""
        fresh = World(*self._made_of)
        fresh.right = self.right
        return fresh

    @property
    def t(self) -> int:
        """The tick whose state is public now."""
        return self.simulator.now

    def draft(self) -> Draft:
        """Of the session as far as it is written."""
        return replace(self.simulator.draft(self.scenario_id), seed=self._seed)

    def account(self) -> dict[str, str]:
        """The decision that is right now, as the situations have declared it."""
        return self.simulator.decisions()[-1]

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
            shown = self._draft.project(tuple(self.simulator.events), t)
            state: State = json.loads(json.dumps(shown, ensure_ascii=False))
            gold = self._draft.reference(state)
            notes = evidence_at(self.simulator.events, self.simulator.changes(), t)
            self._steps[t] = Step(t=t, state=state, gold=gold, evidence=notes)
        return self._steps[t]

    def outcomes(self) -> dict[str, float]:
        """Every outcome of the kind so far, by name."""
        strange = sorted(set(self.simulator.counts) - set(self._spent))
        if strange:
            raise AssertionError(f"{self.kind.name} counts {strange}, which it does not declare")
        return {name: spent + self.simulator.counts[name] for name, spent in self._spent.items()}

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
        pieces = [(self.now_s, self.simulator.panel), *((at, d or {}) for at, d in held)]
        ends = [*(at for at, _ in pieces[1:]), until_s]
        for (from_s, decision), end_s in zip(pieces, ends, strict=True):
            if not from_s <= end_s <= until_s:
                raise ValueError(f"the decision held from {from_s} s is out of order")
            self._spend(decision, end_s - from_s)
        self.now_s, self.simulator.panel = until_s, dict(pieces[-1][1])
        if self.t + 1 < self.simulator.steps:
            next(self._story)
        else:
            self._story.close()
            self.done = True

    def _spend(self, decision: Decision, seconds: float) -> None:
        for outcome in self.kind.outcomes:
            if outcome.rate is not None and seconds > 0:
                self._spent[outcome.name] += outcome.rate(self.simulator, decision) * seconds

    def play_right(self) -> None:
        """To the end, by its own right decisions, each in force as soon as its state is public."""
        tick = self._draft.tick_seconds
        while not self.done:
            self.advance((self.t + 1) * tick, [(self.t * tick, self.account())])
