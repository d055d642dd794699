"""Misreadings: every rule of every family has one, and each is a real change to its reference."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import pytest

from streamdecisionbench.errors import SdbError
from streamdecisionbench.families.registry import FAMILY_MODULES, reference_of
from streamdecisionbench.suite.misreading import Misreading, Reference, misread
from streamdecisionbench.suite.scenario import Suite

pytestmark = pytest.mark.slow

EVERY = pytest.mark.parametrize("family", FAMILY_MODULES)


def part(family: str, name: str) -> Any:
    return importlib.import_module(f"streamdecisionbench.families.{FAMILY_MODULES[family]}.{name}")


@cache
def alone(family: str) -> list[Reference]:
    table = part(family, "misreadings").MISREADINGS
    return [misread(part(family, "reference"), misreading) for misreading in table]


@EVERY
def test_every_rule_can_be_misread_and_every_misreading_fits(family: str) -> None:
    table = part(family, "misreadings").MISREADINGS
    rules = importlib.import_module(f"streamdecisionbench.families.{FAMILY_MODULES[family]}").RULES
    assert {m.rule for m in table} == set(rules)
    assert len({(m.rule, m.what) for m in table}) == len(table)
    for reading in alone(family):
        assert reading is not reference_of(family)


@EVERY
def test_nothing_misread_is_the_reference(family: str, sdb_v1: Suite) -> None:
    same = misread(part(family, "reference"), Misreading("nothing", "reads everything", ()))
    scenarios = [s for s in sdb_v1 if s.task_family == family]
    assert all(same(step.state) == step.gold for s in scenarios for step in s.steps)


def test_a_misreading_that_no_longer_fits_says_so() -> None:
    gone = Misreading("wait", "changes what is not there", (("no such text", ""),))
    with pytest.raises(SdbError, match=r"no longer fits .*: 'no such text' occurs 0 times"):
        misread(part("live_debugging", "reference"), gone)
