"""Where the second solver of a family is; a family without one fails its tests.

`tests/families/<family>/second_solver.py` defines `answers(state) -> {question: value}`. It is written
from the published rules alone, by somebody who has seen neither the reference nor the situations.
"""

from __future__ import annotations

import importlib

from streamdecisionbench.families.registry import FAMILY_MODULES
from streamdecisionbench.suite.generation.compose import Solver


def second_solver(family: str) -> Solver:
    name = f"tests.families.{FAMILY_MODULES[family]}.second_solver"
    solver: Solver = importlib.import_module(name).answers
    return solver
