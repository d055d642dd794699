"""What every generated suite keeps, whatever its wording."""

from __future__ import annotations

from pathlib import Path

from streamdecisionbench.suite.constant_baselines import best_constant
from streamdecisionbench.suite.scenario import Suite, estimate_tokens
from streamdecisionbench.suite.suite_check import validate_suite
from streamdecisionbench.suite.suite_files import read_suite, write_suite
from streamdecisionbench.worlds.generation.parameters import CHANGES_TOLERANCE


def keeps_its_bounds(suite: Suite, folder: Path, wording: str) -> None:
    write_suite(suite, folder)
    assert validate_suite(folder) == []
    assert read_suite(folder).manifest.generation["wording"] == wording
    for scenario in suite:
        assert abs(len(scenario.changes()) - 22) <= CHANGES_TOLERANCE
        assert estimate_tokens(scenario.request(0)) >= 2000
        assert estimate_tokens(scenario.request(scenario.n - 1)) <= 4000
        assert best_constant(scenario) <= 0.30 * scenario.n
