"""Where the second solver of a family is; a family without one fails its tests.

`tests/families/<family>/second_solver.py` defines `answers(state) -> {question: value}`. It is written
from the published rules alone, by somebody who has seen neither the reference nor the situations. For
free wording `second_solver_free.py` defines `solver(readings, sentences)`, which makes such a function:
what a sentence means it takes from a blind reader, not from the bank. `sentences` has the reader's
sentence once for each thing it can be about, under one id.
"""

from __future__ import annotations

import importlib

from streamdecisionbench.audit.readings import read_readings, shown_sentences
from streamdecisionbench.families.registry import FAMILY_MODULES, bank_of
from streamdecisionbench.worlds.generation.compose import Solver


def second_solver(family: str, wording: str = "listed") -> Solver:
    room = FAMILY_MODULES[family]
    if wording == "listed":
        listed: Solver = importlib.import_module(f"tests.families.{room}.second_solver").answers
        return listed
    readings = importlib.import_module(f"streamdecisionbench.families.{room}.bank").READINGS
    reader = read_readings(readings).readings[0]
    made = importlib.import_module(f"tests.families.{room}.second_solver_free").solver
    free: Solver = made(reader.answers, shown_sentences(*bank_of(family), every=True))
    return free
