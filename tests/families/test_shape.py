"""One shape for every family: the same files, and one folder per scenario, named for its story."""

from __future__ import annotations

from pathlib import Path

import pytest

import streamdecisionbench.families
from streamdecisionbench.families.registry import FAMILY_MODULES
from streamdecisionbench.families.sdb_v1 import source_digests

pytestmark = pytest.mark.slow

HOME = Path(streamdecisionbench.families.__file__).parent
FAMILY_FILES = {
    "__init__.py", "rules.py", "questions.py", "reference.py", "state.py", "events.py",
    "misreadings.py",
}  # fmt: skip
MAY_FOLLOW = {"generator", "bank"}
SCENARIO_FILES = {"__init__.py", "setting.py", "timeline.py"}
SCENARIOS = {
    "debugging": {"refund_loop", "settlement_session"},
    "assembly": {"gearbox_cover", "cable_module"},
    "support": {"payment_call", "intercom_call"},
    "presenter": {"conference_talk", "flood_briefing"},
}


def contents(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.name != "__pycache__"}


@pytest.mark.parametrize("family", FAMILY_MODULES.values())
def test_every_family_has_the_same_files(family: str) -> None:
    assert contents(HOME / family) - MAY_FOLLOW == FAMILY_FILES | SCENARIOS[family]
    for story in SCENARIOS[family]:
        assert contents(HOME / family / story) == SCENARIO_FILES


def test_the_manifest_names_every_source_of_the_suite() -> None:
    digests = source_digests()
    assert not [name for name in digests if "generator" in name or "misreadings" in name]
    for family, stories in SCENARIOS.items():
        law = FAMILY_FILES - {"misreadings.py"}
        assert {f"families/{family}/{name}" for name in law} <= set(digests)
        for story in stories:
            assert {f"families/{family}/{story}/{name}" for name in SCENARIO_FILES} <= set(digests)
