"""Worlds and Gymnasium: the four families as environments, and any environment of finite actions on a clock.

    import gymnasium, streamdecisionbench.worlds
    env = gymnasium.make("streamdecisionbench/SupportCall-v0")
    state, info = env.reset(seed=7)
    state, reward, terminated, truncated, info = env.step(info["reference"])

One step is one tick, with the decision in force for all of it. The observation is the public state, the
reward is minus what the tick cost by the world's outcomes, and `info` has the reference, the outcomes so
far and the questions. `reset(seed=n)` opens the world of seed n, the session that `sdb run --world` opens.

The other way round, `GymSession` puts an environment on a clock: the action in force is held until a newer
one arrives, however long the component takes. It needs a function that says what is right for an
observation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import gymnasium
import msgspec
import numpy as np
from gymnasium import spaces

from streamdecisionbench.components.local.python_class import find_target
from streamdecisionbench.errors import InputError
from streamdecisionbench.families.generate import open_seeds
from streamdecisionbench.suite.authoring import QuestionDraft, label_questions
from streamdecisionbench.suite.generation.world import Held, World
from streamdecisionbench.suite.scenario import SCHEMA_VERSION, DecisionSpec, Scenario, State, Step

ENVIRONMENTS = {
    "SupportCall": "support",
    "PresenterControl": "presenter",
    "LiveDebugging": "debugging",
    "AssemblyStation": "assembly",
}
"""Name of the environment → short name of the family."""

_MOST_OPTIONS = 32
"""Of one question, in any session of any family."""


class StateSpace(spaces.Space[State]):
    """Public states: JSON objects."""

    def __init__(self) -> None:
        super().__init__(shape=None, dtype=None)

    def sample(self, mask: Any = None, probability: Any = None) -> State:
        """The smallest of them."""
        return {}

    def contains(self, x: Any) -> bool:
        try:
            return isinstance(x, dict) and bool(json.dumps(x, allow_nan=False))
        except (TypeError, ValueError):
            return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StateSpace)

    def __hash__(self) -> int:
        return hash(StateSpace)

    @property
    def is_np_flattenable(self) -> bool:
        return False


@lru_cache(maxsize=64)
def _world(name: str, seed: int, wording: str) -> World[Any]:
    (found,) = open_seeds(name, (seed,), wording)
    return found


@lru_cache(maxsize=8)
def _questions(name: str) -> tuple[str, ...]:
    """Every question of a family's kinds: sessions with consecutive seeds take turns between them."""
    both = (_world(name, seed, "listed").right.questions for seed in (0, 1))
    return tuple(dict.fromkeys(q for questions in both for q in questions))


class WorldEnv(gymnasium.Env[State, Any]):
    """One family's world. An action is a decision {field: value}, None for no decision, or for every
    question the number of an option in the order it is listed; numbers beyond the list choose the last."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, name: str, wording: str = "listed") -> None:
        self._name, self._wording = name, wording
        self.observation_space = StateSpace()
        choice: dict[str, spaces.Space[Any]] = {
            q: spaces.Discrete(_MOST_OPTIONS) for q in _questions(name)
        }
        self.action_space = spaces.Dict(choice)
        self._live: World[Any] | None = None

    @property
    def world(self) -> World[Any]:
        """The session under way."""
        if self._live is None:
            raise InputError("the environment has not begun", fix="call reset() first")
        return self._live

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[State, dict[str, Any]]:
        """Opens the world of a seed; without one, of a seed drawn from the last."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(2**31)) if seed is None else seed
        self._live = _world(self._name, drawn, self._wording).again()
        return self.world.state(), self._info()

    def step(self, action: Any) -> tuple[State, float, bool, bool, dict[str, Any]]:
        """One tick with the decision in force from its beginning."""
        world, tick = self.world, self.world.right.tick_seconds
        before = world.cost()
        world.advance((world.t + 1) * tick, [(world.t * tick, self._decision(action))])
        return world.state(), before - world.cost(), world.done, False, self._info()

    def _info(self) -> dict[str, Any]:
        world = self.world
        return {
            "reference": world.reference(),
            "outcomes": world.outcomes(),
            "questions": world.right.wire_questions(),
            "t": world.t,
        }

    def _decision(self, action: Any) -> Mapping[str, str] | None:
        if action is None or (
            isinstance(action, Mapping) and all(isinstance(v, str) for v in action.values())
        ):
            return action
        right = self.world.right
        answers = {}
        for question, meaning in right.option_semantics.items():
            values = list(meaning.values())
            answers[question] = values[min(int(action[question]), len(values) - 1)]
        return right.decision_spec.compose(answers)


class GymSession:
    """An environment on a clock: one session of `steps` ticks, `frames` steps of the environment in each.

    While no action is in force, the first one is taken. Where an episode of the environment ends, the
    next begins.
    """

    def __init__(
        self,
        name: str,
        seed: int,
        reference: Callable[[Any], Any],
        *,
        steps: int = 60,
        frames: int = 1,
        right: Scenario | None = None,
    ) -> None:
        self._made_of = name, seed, reference
        self._steps, self._frames, self._reference = steps, frames, reference
        self._env = _make(name)
        if not isinstance(self._env.action_space, spaces.Discrete):
            raise InputError(
                f"{name} has no finite list of actions",
                fix="choose one with a Discrete action space",
            )
        self._first, self._count = int(self._env.action_space.start), int(self._env.action_space.n)
        self._seen, _ = self._env.reset(seed=seed)
        self._t, self._now_s, self._action = 0, 0.0, self._first
        self._spent = {"reward": 0.0, "episodes_ended": 0.0}
        self.done = False
        self.right = right or self._played_right()

    def again(self) -> GymSession:
        """The same session at its start."""
        name, seed, reference = self._made_of
        more = {"steps": self._steps, "frames": self._frames}
        return GymSession(name, seed, reference, right=self.right, **more)

    def step(self) -> Step:
        """The observation, the time, and the action that is right by the reference function."""
        told = self._reference(self._seen)
        try:
            action = int(told)
        except (TypeError, ValueError):
            action = self._first - 1
        if not 0 <= action - self._first < self._count:
            raise InputError(
                f"the reference function says {told!r:.60}, which is no action",
                fix=f"return a whole number from {self._first} to {self._first + self._count - 1}",
            )
        state = {"t": self._t, "observation": _plain(self._seen)}
        return Step(t=self._t, state=state, gold={"action": str(action)})

    def advance(self, until_s: float, held: Held) -> None:
        """The environment's steps of one tick, each with the action that was in force in most of it."""
        if self.done:
            raise ValueError("the session is over")
        begins = [self._now_s, *(max(from_s, self._now_s) for from_s, _ in held)]
        actions = [self._action, *(self._meant(decision) for _, decision in held)]
        ends = [*begins[1:], until_s]
        length = (until_s - self._now_s) / self._frames
        for frame in range(self._frames):
            low, high = self._now_s + frame * length, self._now_s + (frame + 1) * length
            shares: dict[int, float] = {}
            for action, begin, end in zip(actions, begins, ends, strict=True):
                shares[action] = shares.get(action, 0.0) + max(
                    min(end, high) - max(begin, low), 0.0
                )
            self._seen, reward, ended, cut, _ = self._env.step(max(shares, key=shares.__getitem__))
            self._spent["reward"] += float(reward)
            if ended or cut:
                self._spent["episodes_ended"] += 1
                self._seen, _ = self._env.reset()
        self._action = actions[-1]
        self._now_s = until_s
        self.done = self._t == self._steps - 1
        self._t += not self.done

    def outcomes(self) -> dict[str, float]:
        """Reward, which is better the more there is, and how often an episode ended."""
        return dict(self._spent)

    def _meant(self, decision: Mapping[str, str] | None) -> int:
        """The action of a decision; without one, the first."""
        action = (decision or {}).get("action", "")
        known = action.isdecimal() and 0 <= int(action) - self._first < self._count
        return int(action) if known else self._first

    def _played_right(self) -> Scenario:
        """The session with every action right at once."""
        name, seed, reference = self._made_of
        actions = [str(self._first + i) for i in range(self._count)]
        draft = QuestionDraft("Which action is to be in force now?", dict.fromkeys(actions, ""))
        ident = f"gym_{re.sub(r'[^A-Za-z0-9.-]', '-', name)[:60]}_{seed}"
        questions, semantics = label_questions({"action": draft}, ident)
        plain = Scenario(
            schema_version=SCHEMA_VERSION,
            episode_id=ident,
            task_family=f"gym:{name}",
            scenario_id=ident,
            title=f"{name}, seed {seed}",
            tick_seconds=_TICK_S,
            questions=questions,
            option_semantics=semantics,
            decision_spec=DecisionSpec("action", (), dict.fromkeys(actions, ())),
            steps=(),
        )
        twin = GymSession(
            name, seed, reference, steps=self._steps, frames=self._frames, right=plain
        )
        found = []
        for t in range(self._steps):
            step = twin.step()
            found.append(step)
            twin.advance((t + 1) * _TICK_S, [(t * _TICK_S, {"action": step.gold["action"]})])
        return msgspec.structs.replace(plain, steps=tuple(found))


_TICK_S = 2.0


def gym_sessions(
    name: str, seeds: Sequence[int], reference: str, *, steps: int, frames: int
) -> list[GymSession]:
    """Sessions of an environment, with the reference function that `python:module:function` names."""
    if not reference.startswith("python:"):
        raise InputError(
            f"--reference {reference!r:.60} names no function", fix="write python:module:function"
        )
    function = find_target(reference.removeprefix("python:"))
    if not callable(function):
        raise InputError(f"{reference} is no function", fix="name one that takes an observation")
    return [GymSession(name, seed, function, steps=steps, frames=frames) for seed in seeds]


def _make(name: str) -> gymnasium.Env[Any, Any]:
    try:
        return gymnasium.make(name)
    except gymnasium.error.Error as error:
        what = str(error).split(".")[0]
        raise InputError(f"there is no environment {name!r:.60}: {what:.120}") from None


def _plain(value: Any) -> Any:
    """An observation as JSON."""
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    found = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    return found if isinstance(found, str | int | float | bool | list) else str(found)


def register() -> None:
    """Makes the four environments known to Gymnasium."""
    for title, name in ENVIRONMENTS.items():
        ident = f"streamdecisionbench/{title}-v0"
        if ident not in gymnasium.registry:
            gymnasium.register(
                id=ident, entry_point="streamdecisionbench.worlds:WorldEnv", kwargs={"name": name}
            )


register()
