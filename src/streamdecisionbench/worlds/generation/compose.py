"""From a kind of session and a seed to one scenario that keeps every promise.

A session is played, checked, and played again from other draws until it meets what was asked. The
reference must follow the situations' own account of what should show at every tick, and so must a
second solver where one is given; where they differ, nothing is generated at all.
"""

from __future__ import annotations

import json
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import TypeVar
from warnings import warn

import msgspec

from streamdecisionbench.errors import SdbError
from streamdecisionbench.suite.authoring import AuthoringError, Draft, Event, expand, label
from streamdecisionbench.suite.constant_baselines import (
    best_constant,
    lexical_overlap,
    states_right,
)
from streamdecisionbench.suite.scenario import Scenario, State, estimate_tokens
from streamdecisionbench.worlds.generation.draws import (
    Draws,
    Seat,
)
from streamdecisionbench.worlds.generation.parameters import (
    CHANGES_TOLERANCE,
    NOISE_TOLERANCE,
    Parameters,
)
from streamdecisionbench.worlds.generation.world import (
    Kind,
    World,
)
from streamdecisionbench.worlds.generation.world_simulator import WorldSimulator


def ambiguous_ticks(draft: Draft) -> list[int]:
    """Ticks whose events, in reversed order, lead to another decision then or at the end."""
    crowded = [tick for tick, n in Counter(e.at for e in draft.events).items() if n > 1]
    return [tick for tick in sorted(crowded) if _matters(draft, tick)]


def _matters(draft: Draft, tick: int) -> bool:
    before = [e for e in draft.events if e.at < tick]
    within = [e for e in draft.events if e.at == tick]
    after = [e for e in draft.events if e.at > tick]
    as_written = [*before, *within, *after]
    reversed_ = [*before, *reversed(within), *after]
    try:
        return any(
            _decision(draft, as_written, t) != _decision(draft, reversed_, t)
            for t in (tick, draft.steps - 1)
        )
    except (KeyError, IndexError, ValueError):
        return True  # the events make no sense in that order


def _decision(draft: Draft, events: list[Event], now: int) -> dict[str, str]:
    state = draft.project([e for e in events if e.at <= now], now)
    return draft.decision_spec.compose(draft.reference(state))


_S = TypeVar("_S", bound=WorldSimulator)

Solver = Callable[[State], dict[str, str]]
Tell = Callable[[str], None]
"""Takes a sentence that whoever asked for the suite must not miss."""

TOKENS = (2000, 4000)
BEST_CONSTANT = 0.30
ATTEMPTS = 660
_COMPLETE_ATTEMPTS = 600
"""Up to here a session must also name every option and play its whole agenda."""
_LABELLINGS = 40


class GenerationError(SdbError):
    """A scenario that could not be generated, or on which two solvers differ."""


def compose(
    kind: Kind[_S],
    scenario_id: str,
    parameters: Parameters,
    seat: Seat,
    draws: Draws,
    second: Solver | None = None,
    tell: Tell = warn,
) -> World[_S]:
    """The first session, in the order of attempts, that meets everything asked of it if played right.

    The world is at tick 0. Its `right` is the scenario that follows from right decisions.

    What its suite expects it to show (the agenda, options of its own) is given up only after many
    attempts, and `tell` hears of it. Everything else is never given up.
    """
    failures: Counter[str] = Counter()
    for attempt in range(ATTEMPTS):
        whole = attempt < _COMPLETE_ATTEMPTS
        world = World(kind, scenario_id, parameters, seat, draws.fork(f"attempt {attempt}"))
        world.play_right()
        played = {situation.name for situation in world.played}
        unplayed = [name for name in seat.agenda if name not in played]
        unnamed = sorted(world.simulator.must_show - _named(world.simulator))
        problem = _pace_problem(world.simulator, parameters)
        if not problem and whole and unplayed:
            problem = "not everything on the agenda was played"
        if not problem and whole and unnamed:
            problem = "an option of its own answers no state"
        if problem:
            failures[problem] += 1
            continue
        draft = world.draft()
        scenario = _expanded(draft)
        problem = _content_problem(scenario)
        if not problem and not kind.ordered and ambiguous_ticks(draft):
            problem = "the order of two events in one tick would matter"
        if problem:
            failures[problem] += 1
            continue
        labelled = _labelled(draft, scenario)
        if labelled is None:
            failures["a policy that reads nothing is right too often"] += 1
            continue
        if second is not None:
            _compare(labelled, second)
        if unplayed or unnamed:
            tell(_owed(scenario_id, unplayed, unnamed))
        world.right = labelled
        return world.again()
    reasons = "; ".join(f"{what} ({n}×)" for what, n in failures.most_common(3))
    raise GenerationError(
        f"{scenario_id}: none of {ATTEMPTS} sessions met what was asked: {reasons}."
        " Ask for fewer changes, more steps or less noise."
    )


def _owed(scenario_id: str, unplayed: list[str], unnamed: list[tuple[str, str]]) -> str:
    situations = [f"the situation {name!r}" for name in unplayed]
    options = [f"{question} = {value}" for question, value in unnamed]
    return (
        f"{scenario_id}: none of {_COMPLETE_ATTEMPTS} sessions had room for everything, and this one"
        f" does not show {', '.join([*situations, *options])}."
        " `sdb suite coverage` says what the suite lacks; more steps or more scenarios per family help"
    )


def _pace_problem(simulator: WorldSimulator, parameters: Parameters) -> str:
    if abs(len(simulator.changes()) - parameters.changes) > CHANGES_TOLERANCE:
        return "too many or too few changes"
    if abs(simulator.noise - parameters.noise) > NOISE_TOLERANCE:
        return "too much or too little noise"
    return ""


def _expanded(draft: Draft) -> Scenario:
    try:
        return expand(draft)
    except AuthoringError as error:
        raise GenerationError(
            "the reference does not follow the situations:\n  " + "\n  ".join(error.problems[:12])
        ) from None


def _content_problem(scenario: Scenario) -> str:
    smallest = estimate_tokens(scenario.request(0))
    largest = estimate_tokens(scenario.request(scenario.n - 1))
    if smallest < TOKENS[0] or largest > TOKENS[1]:
        return f"a request outside {TOKENS[0]}–{TOKENS[1]} tokens"
    if best_constant(scenario) > BEST_CONSTANT * scenario.n:
        return "one decision holds for too long"
    return ""


def _named(simulator: WorldSimulator) -> set[tuple[str, str]]:
    return {(q, value) for decision in simulator.decisions() for q, value in decision.items()}


def _labelled(draft: Draft, scenario: Scenario) -> Scenario | None:
    """Labels under which policies that read nothing stay near zero."""
    decisions = scenario.reference()
    for labelling in range(_LABELLINGS):
        questions, semantics = label(replace(draft, seed=f"{draft.seed} {labelling}"))
        first = {name: next(iter(labels.values())) for name, labels in semantics.items()}
        if scenario.decision_spec.compose(first) in decisions:
            continue
        labelled = msgspec.structs.replace(
            scenario, questions=questions, option_semantics=semantics
        )
        if states_right(labelled, lexical_overlap) <= scenario.n // 60:
            return labelled
    return None


def _asked(second: Solver, state: State, where: str) -> Mapping[str, str]:
    """What a solver of the user's own answers; its failure is one message, without the state."""
    try:
        answers: object = second(json.loads(json.dumps(state)))
    except (Exception, SystemExit) as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{PurePath(frame.filename).name}:{frame.lineno}"
        what = f"the second solver raises {type(error).__name__} at {place}"
        raise GenerationError(f"{where}: {what}\n  fix: correct the solver there") from None
    if not isinstance(answers, Mapping):
        what = "the second solver returns nothing that maps questions to values"
        raise GenerationError(f"{where}: {what}\n  fix: return {{question: value}}")
    return answers


def _compare(scenario: Scenario, second: Solver) -> None:
    for step in scenario.steps:
        answers = _asked(second, step.state, f"{scenario.episode_id} tick {step.t}")
        for question, value in step.gold.items():
            if answers.get(question) != value:
                raise GenerationError(
                    f"{scenario.episode_id} tick {step.t}: the two solvers differ on {question}:"
                    f" the reference says {value}, the other {answers.get(question)}"
                )
