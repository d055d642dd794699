"""Functions that worlds offer to the rest of the package: see `features.HOOKS`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamdecisionbench.analysis.analyses import Analysis
    from streamdecisionbench.suite.scenario import Suite


def analyses() -> Mapping[str, Analysis]:
    from streamdecisionbench.worlds.world_analyses import ANALYSES

    return ANALYSES


def generate_suite(**parameters: Any) -> Suite:
    from streamdecisionbench.worlds.generate import generate
    from streamdecisionbench.worlds.generation.parameters import Parameters

    return generate(Parameters(**parameters), tell=lambda _: None)


def regenerate_suite(suite: Suite) -> list[str]:
    from streamdecisionbench.worlds.generate import regenerate

    return regenerate(suite)
