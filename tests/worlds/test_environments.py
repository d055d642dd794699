"""Worlds as environments of Gymnasium, and environments of Gymnasium on a clock."""

from __future__ import annotations

import importlib
import re
import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils.env_checker import check_env

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
)
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.suite.suite_files import read_suite
from streamdecisionbench.worlds import generate
from streamdecisionbench.worlds.environments import (
    ENVIRONMENTS,
    GymSession,
)
from streamdecisionbench.worlds.generate import open_seeds
from streamdecisionbench.worlds.generation.world import World
from streamdecisionbench.worlds.live_sessions import open_world
from tests.analysis.kit import bench

pytestmark = pytest.mark.slow

EVERY = pytest.mark.parametrize("title", ENVIRONMENTS)

CART = """
def right(observation):
    x, v, angle, spin = observation
    return int(angle + 0.5 * spin + 0.05 * v + 0.01 * x > 0)

def nonsense(observation):
    return "left"

class Player:
    def answer(self, request):
        wanted = str(right(request.state["observation"]))
        options = request.questions["action"]["criteria"]
        return {"action": next(label for label, text in options.items() if text == wanted)}
"""


def made(title: str) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(f"streamdecisionbench/{title}-v0")


@EVERY
def test_the_environment_checker_has_nothing_to_say(title: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(made(title).unwrapped, skip_render_check=True)


@EVERY
def test_the_reference_as_a_player_lives_through_the_generated_session(title: str) -> None:
    env = made(title)
    (twin,) = open_seeds(ENVIRONMENTS[title], (3,))
    state, info = env.reset(seed=3)
    total, states, done = 0.0, [state], False
    while not done:
        state, reward, done, cut, info = env.step(info["reference"])
        assert not cut
        total += float(reward)
        states.append(state)
    assert states[:-1] == [step.state for step in twin.right.steps]
    twin.play_right()
    assert info["outcomes"] == twin.outcomes()
    assert total == pytest.approx(-twin.cost(), abs=1e-9)


def test_a_decision_by_number_is_the_one_of_its_values() -> None:
    env = made("LiveDebugging")
    _, info = env.reset(seed=1)
    world: Any = env.unwrapped
    for _ in range(20):
        values = {q: list(m.values()) for q, m in world.world.right.option_semantics.items()}
        gold, right = world.world.step().gold, info["reference"]
        _, _, _, _, info = env.step({q: values[q].index(gold[q]) for q in values})
        assert world.world.simulator.panel == right


PLAYER = """
import hashlib, json

def chosen(salt, state, questions):
    def draw(question):
        text = f"{salt} {question} {json.dumps(state, sort_keys=True)}"
        return hashlib.sha256(text.encode()).digest()[0]
    labels = {q: list(asked["criteria"]) for q, asked in questions.items()}
    return {q: found[draw(q) % len(found)] for q, found in labels.items()}
"""


def _chooser(folder: Path, monkeypatch: pytest.MonkeyPatch, salts: Iterable[int]) -> Any:
    classes = [
        f"class Player{salt}:\n"
        f"    def answer(self, request):\n"
        f"        return chosen({salt}, request.state, request.questions)\n"
        for salt in salts
    ]
    (folder / "answers_by_state.py").write_text(PLAYER + "\n\n".join(classes))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "answers_by_state", raising=False)
    return importlib.import_module("answers_by_state").chosen


@EVERY
def test_equal_answers_have_equal_outcomes_in_gymnasium_and_in_a_run(
    title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether an action names all questions or those its route uses, by number or by value."""
    salts = range(3)
    chosen = _chooser(tmp_path, monkeypatch, salts)

    def by_number(labels: Mapping[str, str], right: Scenario) -> Any:
        return {q: list(right.option_semantics[q]).index(label) for q, label in labels.items()}

    def by_value(labels: Mapping[str, str], right: Scenario) -> Any:
        return {q: right.option_semantics[q][label] for q, label in labels.items()}

    def used_alone(labels: Mapping[str, str], right: Scenario) -> Any:
        return right.decision_spec.compose(by_value(labels, right))

    env: Any = made(title).unwrapped
    for salt in salts:
        run = RunOptions.of(
            {None: f"python:answers_by_state:Player{salt}"}, tmp_path / str(salt),
            world=open_world(ENVIRONMENTS[title], (salt,)), clock="paused",
        )  # fmt: skip
        (outcome,) = launch(run, lambda _: True)
        (expected,) = outcome.summary["outcomes"].values()
        (lived,) = read_suite(tmp_path / str(salt) / "suite").scenarios.values()
        for action_of in (by_number, by_value, used_alone):
            state, info = env.reset(seed=salt)
            states, done = [state], False
            while not done:
                labels = chosen(salt, state, info["questions"])
                state, _, done, _, info = env.step(action_of(labels, env.world.right))
                assert "refused" not in info
                states.append(state)
            assert states[:-1] == [step.state for step in lived.steps]
            assert info["outcomes"] == pytest.approx(expected, abs=1e-6)


@EVERY
def test_the_action_space_has_the_options_of_every_session_and_no_more(
    title: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions are only opened, not played to their end: that leaves questions and options as they are."""
    space = made(title).action_space
    assert isinstance(space, gymnasium.spaces.Dict)

    def opened(kind: Any, name: Any, parameters: Any, seat: Any, draws: Any, *_: Any) -> Any:
        return World(kind, name, parameters, seat, draws)

    monkeypatch.setattr(generate, "compose", opened)
    most: dict[str, int] = {}
    for world in open_seeds(ENVIRONMENTS[title], range(200)):
        for question, draft in world.draft().questions.items():
            most[question] = max(most.get(question, 0), len(draft.options))
    assert {question: part.n for question, part in space.items()} == most


def test_actions_outside_the_space_are_refused() -> None:
    env: Any = made("LiveDebugging")
    _, info = env.reset(seed=1)
    right = env.unwrapped.world.right
    routes = list(right.option_semantics["route"].values())
    inspect = {**dict.fromkeys(env.action_space, 0), "route": routes.index("inspect")}
    for action, why in (
        (5, "of type int"),
        ([0] * 7, "of type list"),
        ({**inspect, "route": -1}, "field 'route' is -1, which takes a number from 0 to 5, or one of"),
        ({**inspect, "route": 6}, "field 'route' is 6"),
        ({**inspect, "route": np.int64(31)}, "'route'"),
        ({**inspect, "route": 1.0}, "field 'route' is 1.0"),
        ({**inspect, "route": True}, "field 'route' is True"),
        ({**inspect, "route": None}, "field 'route' is None"),
        ({**inspect, "route": "nowhere"}, "field 'route' is 'nowhere'"),
        ({**inspect, "owner": 99}, "field 'owner' is 99"),
        ({**inspect, "speed": 1}, "field 'speed', which is not a question; the questions are route"),
        ({**inspect, 3: 1}, "field 3, which is not a question"),
        ({"route": "inspect", "process": 0, "target_result": 0}, "no field 'inspect_file'"),
        ({}, "no field 'route'"),
    ):  # fmt: skip
        with pytest.raises(InvalidAction, match=re.escape(why)):
            env.step(action)
    _, _, _, _, after = env.step({**inspect, "process": np.array(1), "route": np.int32(0)})
    assert after["t"] == info["t"] + 1  # none of the refused actions moved the session


@EVERY
def test_numbers_beyond_the_list_of_a_session_do_not_count(title: str) -> None:
    env: Any = made(title)
    for seed in range(4):
        _, info = env.reset(seed=seed)
        world = env.unwrapped.world
        spec, options = world.right.decision_spec, world.right.option_semantics
        for question, part in env.action_space.items():
            listed = len(options.get(question, range(part.n)))
            assert info["action_mask"][question].tolist() == [1] * listed + [0] * (part.n - listed)
        env.step(info["reference"])
        held = dict(world.simulator.panel)
        short = [q for q in (spec.route_question, *spec.always) if len(options[q]) < env.action_space[q].n]  # fmt: skip
        for question in short:
            beyond = {**dict.fromkeys(env.action_space, 0), question: len(options[question])}
            _, _, _, _, info = env.step(beyond)
            assert f"{question} is {len(options[question])}" in info["refused"]
            assert world.simulator.panel == held
        for _ in range(10):
            _, _, _, _, info = env.step(env.action_space.sample(mask=info["action_mask"]))
            assert "refused" not in info
        env.step(None)
        assert world.simulator.panel == {}


def test_steps_out_of_order_are_refused() -> None:
    env = made("AssemblyStation")
    for early in (env, env.unwrapped):
        with pytest.raises(ResetNeeded, match="reset"):
            early.step(None)
    env.reset(seed=2)
    done = False
    while not done:
        _, _, done, _, _ = env.step(None)
    with pytest.raises(ResetNeeded, match="the session is over"):
        env.step(None)
    _, info = env.reset(seed=2)
    assert info["t"] == 0
    for seed in ("2", 2.0, -1):
        with pytest.raises(gymnasium.error.Error, match="Seed must be"):
            env.reset(seed=seed)  # type: ignore[arg-type]


@pytest.fixture
def cart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "cart_in_worlds.py").write_text(CART)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "cart_in_worlds", raising=False)
    return "python:cart_in_worlds"


def test_an_environment_on_a_clock(cart: str, tmp_path: Path) -> None:
    world = open_world("gym:CartPole-v1", (1, 2), 120, reference=f"{cart}:right")
    player = {None: f"{cart}:Player"}
    (outcome,) = launch(
        RunOptions.of(player, tmp_path / "paused", clock="paused", world=world), lambda _: True
    )
    assert all(o["reward"] == 120 for o in outcome.summary["outcomes"].values())
    assert len(read_suite(tmp_path / "paused" / "suite").scenarios) == 2
    blind = RunOptions.of(
        {None: "baseline:constant"}, tmp_path / "blind", clock="virtual", world=world
    )
    (outcome,) = launch(blind, lambda _: True)
    assert all(o["episodes_ended"] > 1 for o in outcome.summary["outcomes"].values())


def test_the_action_held_longest_in_a_frame_is_taken() -> None:
    def right(observation: Any) -> int:
        return 1

    def after(*held: tuple[float, int]) -> Any:
        session = GymSession("CartPole-v1", 1, right, steps=5)
        session.advance(2.0, [(at, {"action": str(action)}) for at, action in held])
        return session.step().state["observation"]

    assert after((0.0, 1)) == after((0.9, 1)) != after((1.1, 1))
    assert after((0.0, 1), (0.4, 0), (1.5, 1)) == after((0.0, 0))
    assert after() == after((0.0, 0))
    assert after((0.5, 1), (0.6, 7)) == after((0.0, 0))


def test_what_is_no_action_or_no_environment_is_refused(cart: str, tmp_path: Path) -> None:
    def run(**options: Any) -> None:
        given = {"name": "gym:CartPole-v1", "reference": f"{cart}:right", **options}
        world = open_world(**given)
        launch(
            RunOptions.of({None: "baseline:constant"}, tmp_path / "run", world=world),
            lambda _: True,
        )

    with pytest.raises(InputError, match="which is no action"):
        run(reference=f"{cart}:nonsense")
    with pytest.raises(InputError, match="no environment 'Nowhere-v0'"):
        run(name="gym:Nowhere-v0")
    with pytest.raises(InputError, match="no finite list of actions"):
        run(name="gym:Pendulum-v1")
    with pytest.raises(InputError, match="does not define which decision is right"):
        run(reference=None)


def test_a_right_action_that_comes_too_late_lets_the_pole_fall(cart: str, tmp_path: Path) -> None:
    """At the cart's own 20 ms: within a margin lateness costs nothing, beyond it everything."""
    fallen = {}
    for latency in ("0.005", "0.04", "0.14"):
        request = RunOptions.of(
            {None: f"{cart}:Player"}, tmp_path / latency,
            world=open_world("gym:CartPole-v1", (1, 2), 200, reference=f"{cart}:right"), interval_s=0.02, clock="virtual",
            latency=latency, workers=8,
        )  # fmt: skip
        (outcome,) = launch(request, lambda _: True)
        counted = outcome.summary["outcomes"].values()
        fallen[latency] = sum(o["episodes_ended"] for o in counted)
    assert fallen["0.005"] == fallen["0.04"] == 0
    assert fallen["0.14"] > 20


def test_rank_correlations_are_those_of_scipy() -> None:
    """Of means over seeds, and their mean over groups of settings; what is all alike tells nothing."""
    stats: Any = pytest.importorskip("scipy.stats")
    spearman = bench("worlds")._spearman
    drawn, seeds, groups = (
        np.random.default_rng(1),
        np.array([[0, 1], [2, 2]]),
        np.split(np.arange(12), 2),
    )
    for _ in range(50):
        one, other = drawn.integers(0, 6, (2, 12, 3)).astype(float)
        expected = [
            np.mean(
                [
                    stats.spearmanr(one[g][:, s].mean(1), other[g][:, s].mean(1)).statistic
                    for g in groups
                ]
            )
            for s in seeds
        ]
        assert spearman(one, other, seeds, groups) == pytest.approx(expected)
    flat, rising = np.ones((12, 1)), np.arange(12.0)[:, None]
    assert np.isnan(spearman(flat, rising, np.array([[0]]), groups)).all()
    flat[6:] = rising[6:]
    assert spearman(flat, rising, np.array([[0]]), groups) == pytest.approx([1.0])
