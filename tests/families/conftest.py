"""Suites, made once for all tests that read them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from streamdecisionbench.families.sdb_v1 import build
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.worlds.generate import generate
from streamdecisionbench.worlds.generation.parameters import Parameters


@pytest.fixture(scope="session")
def generated() -> Callable[[str], Suite]:
    """Family → ten scenarios of it, five of each kind."""

    @cache
    def make(family: str) -> Suite:
        return generate(Parameters(seed=1, families=(family,)))

    return make


@pytest.fixture(scope="session")
def sdb_v1() -> Suite:
    """The authored scenarios, as their sources make them."""
    return build()
