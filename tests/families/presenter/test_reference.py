"""The presenter reference as a whole: every rule pinned, no mutant alive, phrases read from the state."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamdecisionbench.families.presenter import DRAFTS, RULES, reference
from streamdecisionbench.suite.authoring import expand
from tests.families.cases import Case, holds, survivors
from tests.families.presenter.room import room, said
from tests.families.presenter.test_clip import CASES as CLIP_CASES
from tests.families.presenter.test_commands import CASES as COMMAND_CASES
from tests.families.presenter.test_cues import CASES as CUE_CASES
from tests.families.presenter.test_free_words import CASES as FREE_CASES

pytestmark = pytest.mark.slow

CASES = [*COMMAND_CASES, *CLIP_CASES, *CUE_CASES, *FREE_CASES]


def test_every_rule_is_pinned() -> None:
    pinned = {rule for example in CASES for rule in example.rules}
    assert pinned == set(RULES)


def test_the_page_maps_every_rule_and_tells_every_change() -> None:
    root = Path(__file__).parents[3]
    page = (root / "docs" / "families" / "presenter.md").read_text(encoding="utf-8")
    assert [rule for rule in RULES if f"| `{rule}` |" not in page] == []
    told = [change.because for draft in DRAFTS for change in draft.changes]
    assert [because for because in told if because not in page] == []


def test_case_names_are_unique_per_rule() -> None:
    named = [(example.name, example.rules) for example in CASES]
    assert len(named) == len(set(named))


def test_phrases_are_read_from_the_state() -> None:
    state = room(said("p", 1, "Forward.", 2))
    commands = state["prepared"]["commands"]
    state["prepared"]["commands"] = commands | {
        "presenter": commands["presenter"] | {"next": "forward"}
    }
    assert reference.reference(state)["slide"] == "s3"


def test_no_mutant_survives() -> None:
    stored = [
        Case(f"{draft.scenario_id} tick {step.t}", step.state, step.gold)
        for draft in DRAFTS
        for step in expand(draft).steps
    ]
    assert all(holds(example, reference.reference) for example in stored)
    assert survivors(reference, "reference", [*CASES, *stored]) == []
