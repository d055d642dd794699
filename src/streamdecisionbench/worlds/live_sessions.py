"""Opens the sessions of a world for a run, and opens those of a recording again."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.recorder import Sessions
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.run_file import RUN_FILE
from streamdecisionbench.recording.run_options import OpenWorld
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import make_suite
from streamdecisionbench.worlds.generate import open_seeds
from streamdecisionbench.worlds.world_options import FRAMES, SEEDS, STEPS, WORDING


def open_world(
    name: str,
    seeds: Sequence[int] = SEEDS,
    steps: int = STEPS,
    wording: str = WORDING,
    reference: str | None = None,
    frames: int = FRAMES,
) -> OpenWorld:
    """The sessions of a family's world (`support`, …) or of an environment (`gym:ID`), one per seed."""
    gym = name.startswith("gym:")
    for wrong, what, fix in (
        (not gym and (reference or frames != FRAMES),
         "--reference and --frames belong to an environment of Gymnasium", "use the world gym:ID"),
        (len(set(seeds)) < len(seeds), "--seeds names one twice", "name every seed once"),
        (steps < 1, f"--steps is {steps}", "give a number above 0"),
        (frames < 1, f"--frames is {frames}", "give a number above 0"),
    ):  # fmt: skip
        if wrong:
            raise InputError(what, fix=fix)
    which: dict[str, Any] = {"name": name, "seeds": list(seeds), "steps": steps}
    which |= {"reference": reference, "frames": frames} if gym else {"wording": wording}
    suite, sessions = _sessions(which)
    return OpenWorld(suite, sessions, which | {"right": suite.dataset_hash})


def _sessions(which: Mapping[str, Any]) -> tuple[Suite, Sessions]:
    name, seeds, steps = which["name"], which["seeds"], which["steps"]
    opened: list[Any]
    if name.startswith("gym:"):
        if which["reference"] is None:
            raise InputError(
                "an environment does not define which decision is right",
                fix="add --reference python:module:function",
            )
        try:
            from streamdecisionbench.worlds.environments import gym_sessions
        except ModuleNotFoundError:
            raise InputError(
                "gym: needs the package 'gymnasium'",
                fix="pip install 'streamdecisionbench[worlds]'",
            ) from None
        name, frames = name.removeprefix("gym:"), which["frames"]
        opened = [*gym_sessions(name, seeds, which["reference"], steps=steps, frames=frames)]
    else:
        opened = [*open_seeds(name, seeds, which["wording"], steps)]
    suite = make_suite([session.right for session in opened], name=f"world {which['name']}")
    return suite, {session.right.episode_id: session.again for session in opened}


def _code_of(which: Mapping[str, Any]) -> list[str]:
    """The code that a world imports: the reference of an environment, and its module if it names one.

    >>> _code_of({"name": "gym:mine:Env-v0", "reference": "python:mine:right"})
    ['gym:mine:Env-v0', 'python:mine:right']
    >>> _code_of({"name": "gym:CartPole-v1", "reference": "python:mine:right"})
    ['python:mine:right']
    """
    kind, _, environment = which["name"].partition(":")
    if kind != "gym":
        return []
    return [*([which["name"]] if ":" in environment else []), which["reference"]]


def reopened(recording: Recording, allowed: Collection[str] = ()) -> Sessions:
    """The sessions of a recording, at their start.

    A recording may come from anywhere: code that it names is imported only if `allowed` names it too.
    """
    which = recording.config.get("world")
    if not isinstance(which, Mapping):
        raise InputError(
            "was not recorded in a world",
            where=recording.path or recording.name,
            fix="give a recording of `sdb world run`",
        )
    where = recording.path / RUN_FILE if recording.path else recording.name
    if foreign := [name for name in _code_of(which) if name not in allowed]:
        raise InputError(
            f"config.world names code of others ({', '.join(foreign)}), which sdb does not import"
            " because a recording says so",
            where=where,
            fix="if you trust this code, add "
            + " ".join(f"--allow-import {shlex.quote(name)}" for name in foreign),
        )
    recorded = {name: len(episode.releases) for name, episode in recording.episodes.items()}
    if len(which["seeds"]) != len(recorded) or set(recorded.values()) != {which["steps"]}:
        raise InputError(
            "config.world.seeds and .steps are not those of the recorded sessions",
            where=where,
            fix=f"restore {RUN_FILE} as it was recorded",
        )
    suite, sessions = _sessions(which)
    if suite.dataset_hash != which["right"] or set(suite.scenarios) != set(recorded):
        raise InputError(
            "was recorded in other worlds than this version has",
            where=recording.path or recording.name,
            fix="use the version it was recorded with",
        )
    return sessions
