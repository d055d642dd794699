"""Worlds and Gymnasium: the four families as environments, and any environment of finite actions on a clock.

    import gymnasium, streamdecisionbench.worlds.environments
    env = gymnasium.make("streamdecisionbench/SupportCall-v0")
    state, info = env.reset(seed=7)
    state, reward, terminated, truncated, info = env.step(info["reference"])

One step is one tick, with the decision in force for all of it. The observation is the public state, the
reward is minus what the tick cost by the world's outcomes, and `info` has the reference, the outcomes so
far and the questions. `reset(seed=n)` opens the world of seed n, the session that `sdb world run` opens.

The other way round, `GymSession` puts an environment on a clock: the action in force is held until a newer
one arrives, however long the component takes. It needs a function that says what is right for an
observation.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import gymnasium
import msgspec
import numpy as np
from gymnasium import spaces
from gymnasium.error import InvalidAction, ResetNeeded

from streamdecisionbench.components.local.python_class import find_target, user_error
from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.suite.authoring import QuestionDraft, label_questions
from streamdecisionbench.suite.file_io import too_deep
from streamdecisionbench.suite.scenario import SCHEMA_VERSION, DecisionSpec, Scenario, State, Step
from streamdecisionbench.worlds.generate import open_seeds
from streamdecisionbench.worlds.generation.world import (
    Held,
    World,
)

ENVIRONMENTS = {
    "SupportCall": "support",
    "PresenterControl": "presenter",
    "LiveDebugging": "debugging",
    "AssemblyStation": "assembly",
}
"""Name of the environment → short name of the family."""

_MOST_OPTIONS = {"slide": 12, "inspect_file": 4}
"""The most options of questions whose number differs between sessions of one kind."""


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
def _action_space_sizes(name: str, wording: str) -> dict[str, int]:
    """For every question of a family the most options that a session lists.

    Sessions with consecutive seeds take turns between the two kinds of a family.
    """
    found: dict[str, int] = {}
    for seed in (0, 1):
        for question, meaning in _world(name, seed, wording).right.option_semantics.items():
            most = max(len(meaning), _MOST_OPTIONS.get(question, 0))
            found[question] = max(most, found.get(question, 0))
    return found


class WorldEnv(gymnasium.Env[State, Any]):
    """The world of one family as an environment.

    An action is None for no decision, or a mapping from questions to options. An option is its value,
    or its number in the order in which the session lists the options, from 0. Only questions that the
    route uses count, as in `sdb world run`; the others may be left out.

    The action space holds for all sessions of the family: every question, with the most options that a
    session lists. Some sessions list fewer: `info["action_mask"]` shows which, in the form that
    `action_space.sample(mask=...)` takes. An action that uses a number beyond the session's list does
    not count: the decision in force stays, and `info["refused"]` gives the reason.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, name: str, wording: str = "listed") -> None:
        self._name, self._wording = name, wording
        self.observation_space = StateSpace()
        self._sizes = _action_space_sizes(name, wording)
        found: dict[str, spaces.Space[Any]] = {
            question: spaces.Discrete(size) for question, size in self._sizes.items()
        }
        self.action_space = spaces.Dict(found)
        self._live: World[Any] | None = None
        self._options: dict[str, list[str]] = {}
        """Of the session under way, as it lists them."""
        self._mask: dict[str, np.ndarray[Any, np.dtype[np.int8]]] = {}
        """1 for options the session lists; all are 1 where it does not ask the question."""

    @property
    def world(self) -> World[Any]:
        """The session under way."""
        if self._live is None:
            raise ResetNeeded("the environment has no session yet: call reset() before step()")
        return self._live

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[State, dict[str, Any]]:
        """Opens the world of a seed; without one, of a seed drawn from the last."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(2**31)) if seed is None else seed
        self._live = _world(self._name, drawn, self._wording).again()
        listed = self._live.right.option_semantics
        self._options = {question: list(meaning.values()) for question, meaning in listed.items()}
        self._mask = {
            question: (np.arange(size) < len(listed.get(question, range(size)))).astype(np.int8)
            for question, size in self._sizes.items()
        }
        return self.world.state(), self._info()

    def step(self, action: Any) -> tuple[State, float, bool, bool, dict[str, Any]]:
        """One tick with the decision in force from its beginning; raises InvalidAction."""
        world, tick = self.world, self.world.right.tick_seconds
        if world.done:
            raise ResetNeeded("the session is over: call reset() before the next step()")
        held, refused = self._held(action, world.t * tick)
        before = world.cost()
        world.advance((world.t + 1) * tick, held)
        info = {**self._info(), **({"refused": refused} if refused else {})}
        return world.state(), before - world.cost(), world.done, False, info

    def _info(self) -> dict[str, Any]:
        world = self.world
        return {
            "reference": world.reference(),
            "outcomes": world.outcomes(),
            "questions": world.right.wire_questions(),
            "action_mask": {question: mask.copy() for question, mask in self._mask.items()},
            "t": world.t,
        }

    def _held(self, action: Any, now_s: float) -> tuple[Held, str]:
        """What comes into force by an action, or nothing and the reason."""
        if action is None:
            return [(now_s, None)], ""
        if not isinstance(action, Mapping):
            raise InvalidAction(
                "an action is None or a mapping from questions to options,"
                f" and this is of type {type(action).__name__}"
            )
        options, spec = self._options, self.world.right.decision_spec
        numbers = {q: self._number(q, given) for q, given in action.items()}
        answers = {q: options[q][n] for q, n in numbers.items() if n < len(options.get(q, ()))}
        route = answers.get(spec.route_question)
        for question in [spec.route_question] if route is None else spec.consumed(route):
            if question not in numbers:
                raise InvalidAction(f"action has no field {question!r}, {_of(options[question])}")
            if question not in answers:
                return [], f"{question} is {numbers[question]}, {_of(options[question])}"
        return [(now_s, spec.compose(answers))], ""

    def _number(self, question: Any, given: Any) -> int:
        """The number of an option that is given by value or by number."""
        size = self._sizes.get(question) if isinstance(question, str) else None
        if size is None:
            raise InvalidAction(
                f"action has the field {question!r:.60}, which is not a question;"
                f" the questions are {', '.join(self._sizes)}"
            )
        options = self._options.get(question, [])
        if isinstance(given, str) and given in options:
            return options.index(given)
        number = -1
        if not isinstance(given, bool | np.bool_):
            with suppress(TypeError):
                number = operator.index(given)
        if not 0 <= number < size:
            allowed = _of(options) if options else f"which takes a number from 0 to {size - 1}"
            raise InvalidAction(f"action field {question!r} is {given!r:.60}, {allowed}")
        return number


def _of(options: Sequence[str]) -> str:
    return f"which takes a number from 0 to {len(options) - 1}, or one of {', '.join(options)}"


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
        with _foreign(f"{name} (reset)"):
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
        name = self._made_of[0]
        with _foreign("the reference function"):
            told = self._reference(self._seen)
            shown = f"{told!r:.60}"
            try:
                action = int(told)
            except (TypeError, ValueError, OverflowError):
                action = self._first - 1
        if not 0 <= action - self._first < self._count:
            raise InputError(
                f"the reference function says {shown}, which is no action",
                fix=f"return a whole number from {self._first} to {self._first + self._count - 1}",
            )
        with _foreign(f"{name} (observation)"):
            state = {"t": self._t, "observation": _plain(self._seen)}
        _require_json(state, name)
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
            self._take(max(shares, key=shares.__getitem__))
        self._action = actions[-1]
        self._now_s = until_s
        self.done = self._t == self._steps - 1
        self._t += not self.done

    def _take(self, action: int) -> None:
        """One step of the environment, and the next episode where one has ended."""
        name = self._made_of[0]
        with _foreign(f"{name} (step)"):
            self._seen, reward, ended, cut, _ = self._env.step(action)
            over, shown = bool(ended or cut), f"{reward!r:.60}"
            try:
                self._spent["reward"] += float(reward)
            except (TypeError, ValueError, OverflowError):
                self._spent["reward"] = math.nan
        if not math.isfinite(self._spent["reward"]):
            raise InputError(
                f"{name} gave the reward {shown} at t = {self._t}, and the sum must be a finite number",
                fix="correct the environment, then continue with --resume",
            )
        if over:
            self._spent["episodes_ended"] += 1
            with _foreign(f"{name} (reset)"):
                self._seen, _ = self._env.reset()

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
    with _foreign(name):
        try:
            return gymnasium.make(name)
        except gymnasium.error.Error as error:
            what = str(error).split(".")[0]
            raise InputError(
                f"there is no environment {name!r:.60}: {what:.120}",
                fix="name one that Gymnasium knows, or gym:module:ID",
            ) from None
        except ModuleNotFoundError as error:
            raise InputError(
                f"{name} needs the module {error.name!r}",
                fix="run sdb in the folder of the file, or install its package",
            ) from None


@contextmanager
def _foreign(what: str) -> Iterator[None]:
    """Code of an environment or of its reference: all it raises is one message with its place."""
    try:
        yield
    except SdbError:
        raise
    except (Exception, SystemExit) as error:
        raise user_error(error, what) from None


def _require_json(state: State, name: str) -> None:
    """Refuses a state that would not be read as it is written, before anything of it is written."""
    try:
        written = json.dumps(state, allow_nan=False, ensure_ascii=False).encode()
        same = not too_deep(state) and msgspec.json.decode(written) == state
        what = "" if same else "is nested too deeply, or has a number beyond 64 bits"
    except UnicodeEncodeError:
        what = "has text that is not valid Unicode (a lone surrogate)"
    except (TypeError, ValueError, RecursionError) as error:
        what = f"is not JSON ({type(error).__name__}: NaN, infinity or an object)"
    if what:
        raise InputError(
            f"the observation of {name} at t = {state['t']} {what}",
            fix="return finite numbers and valid text, then continue with --resume",
        )


def _plain(value: Any) -> Any:
    """An observation as JSON."""
    if isinstance(value, Mapping):
        found = {str(key): _plain(part) for key, part in value.items()}
        if len(found) < len(value):
            raise ValueError("two keys are spelled alike")
        return found
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
                id=ident,
                entry_point="streamdecisionbench.worlds.environments:WorldEnv",
                kwargs={"name": name},
            )


register()
