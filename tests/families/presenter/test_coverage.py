"""The two authored halls put every rule, every option and every misreading to the test."""

from __future__ import annotations

import msgspec
import pytest

from streamdecisionbench.families.coverage import coverage
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

pytestmark = pytest.mark.slow


def test_nothing_in_the_authored_halls_goes_unused() -> None:
    whole = read_suite(builtin_suite_path())
    halls = {name: s for name, s in whole.scenarios.items() if name.startswith("presenter")}
    (found,) = coverage(msgspec.structs.replace(whole, scenarios=halls)).values()
    assert "intents" in found.rules
    assert found.undecided() == []
    assert found.unanswered() == []
    assert [(m.rule, m.what) for m in found.unnoticed()] == []
    for scenario in halls.values():
        channels = {step.gold["captions"] for step in scenario.steps}
        assert channels == {"presenter", "host", "audience", "clip"}
