"""Worlds: whatever is on the panel, the session goes on, and its references are total."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamdecisionbench.suite.authoring import Event, expand
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.worlds.generate import (
    generated_families,
    open_world,
)
from streamdecisionbench.worlds.generation.draws import Draws
from streamdecisionbench.worlds.generation.parameters import Parameters
from streamdecisionbench.worlds.generation.world import (
    Decision,
    Held,
    World,
)

pytestmark = pytest.mark.slow

FAMILIES = generated_families()
EVERY = pytest.mark.parametrize("family", FAMILIES)
Player = Callable[[World[Any], Draws], Held]
"""What comes into force between this tick and the next."""


@cache
def composed(family: str, seed: int = 1, number: int = 0, wording: str = "listed") -> World[Any]:
    parameters = Parameters(seed=seed, families=(family,), wording=wording)
    return open_world(family, parameters, number=number)


def drawn_decision(scenario: Scenario, draws: Draws) -> dict[str, str]:
    answers = {q: draws.choose(list(v.values())) for q, v in scenario.option_semantics.items()}
    return scenario.decision_spec.compose(answers)


def held_at(world: World[Any], decision: Decision | None, share: float = 0.0) -> Held:
    return [((world.t + share) * world.right.tick_seconds, decision)]


def right(world: World[Any], draws: Draws) -> Held:
    return held_at(world, world.reference())


def late(world: World[Any], draws: Draws) -> Held:
    """Right for a state of some ticks ago, or for one of some ticks ahead in the twin played right."""
    other = min(max(world.t + draws.between(-5, 2), 0), world.right.n - 1)
    return held_at(world, world.right.reference()[other], draws.below(10) / 10)


def anything(world: World[Any], draws: Draws) -> Held:
    """Several decisions within one tick, valid ones, none, and what no component could say."""
    held: list[tuple[float, Decision | None]] = []
    for share in sorted(draws.below(10) / 10 for _ in range(draws.below(4))):
        nonsense: Mapping[str, str] = {draws.choose(["route", "mode", "?"]): "\x00"}
        decision = draws.choose([None, {}, nonsense, drawn_decision(world.right, draws)])
        held += held_at(world, decision, share)
    return held


def stuck(world: World[Any], draws: Draws) -> Held:
    """One decision for ever."""
    return held_at(world, drawn_decision(world.right, Draws(*draws.sample("abc", 1)))) if not world.t else []  # fmt: skip


def nothing(world: World[Any], draws: Draws) -> Held:
    return []


def half_right(world: World[Any], draws: Draws) -> Held:
    """One field of the right decision is drawn."""
    decision = dict(world.reference())
    name = draws.choose(list(decision))
    return held_at(world, decision | {name: draws.choose(list(world.right.option_semantics[name].values()))})  # fmt: skip


PLAYERS = (right, late, anything, stuck, nothing, half_right)


def play(world: World[Any], player: Player, draws: Draws) -> bytes:
    """To the end, every state looked at; what became of it, as bytes."""
    tick = world.right.tick_seconds
    steps = []
    while not world.done:
        step = world.step()
        assert world.account() == world.reference(), (step.t, player.__name__)
        steps.append(step)
        world.advance((world.t + 1) * tick, player(world, draws))
    lived = expand(world.draft())  # every answer is an option, no reference without a cause
    assert list(lived.steps) == steps
    assert set(world.outcomes()) == {outcome.name for outcome in world.kind.outcomes}
    return msgspec.json.encode([steps, world.outcomes()])


Change = Callable[[World[Any], dict[str, str]], dict[str, str] | None]
"""What the panel shows instead of the right decision; None: it shows that."""


def wrong_until(outcome: str, change: Change) -> Player:
    """Wrong wherever the change is for, until it has told once; right from then on."""

    def player(world: World[Any], draws: Draws) -> Held:
        decision = world.reference()
        changed = None if world.outcomes()[outcome] else change(world, decision)
        return held_at(world, changed or decision)

    return player


def events(world: World[Any], kind: str) -> list[Event]:
    return [event for event in world.simulator.events if event.kind == kind]


@EVERY
@pytest.mark.parametrize("number", [0, 1])
def test_a_component_that_is_right_at_once_lives_through_the_generated_scenario(
    family: str, number: int
) -> None:
    world = composed(family, number=number)
    twin = world.again()
    twin.play_right()
    lived = play(world.again(), right, Draws(""))
    assert lived == msgspec.json.encode([world.right.steps, twin.outcomes()])


@EVERY
@settings(deadline=None, max_examples=12)
@given(st.integers(0, 10**6), st.integers(0, 5), st.sampled_from(PLAYERS))
def test_whatever_is_held_the_world_stays_sound_and_gives_the_same_bytes_again(
    family: str, seed: int, number: int, player: Player
) -> None:
    world = composed(family, number=number)
    first = play(world.again(), player, Draws(seed))
    assert play(world.again(), player, Draws(seed)) == first


@EVERY
def test_outcomes_name_fields_of_their_decisions(family: str) -> None:
    for number in (0, 1):
        world = composed(family, number=number)
        for outcome in world.kind.outcomes:
            assert outcome.fields
            assert set(outcome.fields) <= set(world.right.questions)


def test_a_run_started_by_a_wrong_card_is_wasted_once() -> None:
    """The panel always asks for a full run: whoever starts one obeys."""
    world = composed("live_debugging").again()

    def full(world: World[Any], draws: Draws) -> Held:
        decision = dict(world.reference())
        wide = decision | {"rerun_scope": "full"} if decision["route"] == "rerun" else decision
        return held_at(world, wide)

    _, outcomes = json.loads(play(world, full, Draws("")))
    scopes = [e.data["scope"] for e in world.simulator.events if e.kind == "run_start"]
    assert set(scopes) == {"full"}
    asked = [d for d in world.simulator.decisions() if d["route"] == "rerun"]
    assert outcomes["wasted_runs"] == sum(d["rerun_scope"] != "full" for d in asked[: len(scopes)])


def test_time_to_green_is_counted_by_the_second() -> None:
    world = composed("live_debugging").again()
    world.advance(3.5, [(1.25, None)])
    assert world.outcomes()["not_green_s"] == 3.5
