"""Worlds as environments of Gymnasium, and environments of Gymnasium on a clock."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from streamdecisionbench.errors import InputError
from streamdecisionbench.families.generate import open_seeds
from streamdecisionbench.recording.request import RunRequest, launch
from streamdecisionbench.suite.suite_files import read_suite
from streamdecisionbench.worlds import ENVIRONMENTS, GymSession
from tests.analysis.kit import bench

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
        gold = world.world.step().gold
        numbers = {q: values[q].index(gold[q]) for q in values}
        assert world._decision(numbers) == info["reference"]
        _, _, _, _, info = env.step(numbers)


@pytest.fixture
def cart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "cart_in_worlds.py").write_text(CART)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "cart_in_worlds", raising=False)
    return "python:cart_in_worlds"


def test_an_environment_on_a_clock(cart: str, tmp_path: Path) -> None:
    common: dict[str, Any] = {
        "world": "gym:CartPole-v1", "reference": f"{cart}:right", "steps": 120, "seeds": (1, 2),
    }  # fmt: skip
    player = {None: f"{cart}:Player"}
    (outcome,) = launch(
        RunRequest(player, tmp_path / "paused", clock="paused", **common), lambda _: True
    )
    assert all(o["reward"] == 120 for o in outcome.summary["outcomes"].values())
    assert len(read_suite(tmp_path / "paused" / "suite").scenarios) == 2
    blind = RunRequest({None: "baseline:constant"}, tmp_path / "blind", clock="virtual", **common)
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
        given = {"world": "gym:CartPole-v1", "reference": f"{cart}:right", **options}
        launch(RunRequest({None: "baseline:constant"}, tmp_path / "run", **given), lambda _: True)

    with pytest.raises(InputError, match="which is no action"):
        run(reference=f"{cart}:nonsense")
    with pytest.raises(InputError, match="no environment 'Nowhere-v0'"):
        run(world="gym:Nowhere-v0")
    with pytest.raises(InputError, match="no finite list of actions"):
        run(world="gym:Pendulum-v1")
    with pytest.raises(InputError, match="nobody knows what is right"):
        run(reference=None)


def test_a_right_action_that_comes_too_late_lets_the_pole_fall(cart: str, tmp_path: Path) -> None:
    """At the cart's own 20 ms: within a margin lateness costs nothing, beyond it everything."""
    fallen = {}
    for latency in ("0.005", "0.04", "0.14"):
        request = RunRequest(
            {None: f"{cart}:Player"}, tmp_path / latency, world="gym:CartPole-v1",
            reference=f"{cart}:right", steps=200, seeds=(1, 2), interval_s=0.02, clock="virtual",
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
