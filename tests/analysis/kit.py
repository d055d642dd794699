"""Timelines and recordings for the analyses' tests."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from streamdecisionbench.components.contract import Usage
from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.recording.recording import Episode, Recording

REPOSITORY = Path(__file__).parents[2]


def timeline(
    reference: list[int],
    predicted: list[int] | None = None,
    latency: float | list[float] = 0.0,
    *,
    name: str = "s",
    family: str = "f",
    tick: float = 2.0,
) -> Timeline:
    n = len(reference)
    return Timeline(
        name,
        family,
        tick,
        np.arange(n, dtype=np.float64) * tick,
        np.broadcast_to(np.asarray(latency, dtype=np.float64), (n,)).copy(),
        np.array(reference),
        np.array(reference if predicted is None else predicted),
    )


def with_usage(recording: Recording, usage: list[Usage], config: dict[str, Any]) -> Recording:
    """The same recording with token counts and a config of its own."""
    import msgspec

    episode = next(iter(recording.episodes.values()))
    responses = tuple(
        msgspec.structs.replace(r, usage=u) for r, u in zip(episode.responses, usage, strict=True)
    )
    own = Episode(episode.episode_id, episode.releases, episode.attempts, responses)
    run = {**recording.run, "config": config}
    return Recording(recording.name, run, {episode.episode_id: own})


def bench(name: str) -> ModuleType:
    """A script of bench/ as a module."""
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "bench" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
