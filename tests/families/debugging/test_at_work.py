"""Every rule at work in the two authored sessions: states, options, misreadings, situations."""

from __future__ import annotations

import pytest

from streamdecisionbench.families.coverage import FamilyCoverage, coverage
from streamdecisionbench.families.debugging import reference as reference_module
from streamdecisionbench.suite.misreading import Misreading, misread
from streamdecisionbench.suite.scenario import State
from streamdecisionbench.suite.suite_files import make_suite
from tests.families.debugging.told import SCENARIOS, last_run

pytestmark = pytest.mark.slow

FURTHER = [
    Misreading("commitment", "lets no question mark end a sentence", (
        ('r"[.!]\\s|(?<=\\?)\\s"', 'r"[.!]\\s"'),
    )),
    Misreading("commitment", "wants the whole message to be the form", (
        ('re.split(r"[.!]\\s|(?<=\\?)\\s", message["text"].lower() + " ")',
         '[message["text"].lower().rstrip(".!")]'),
    )),
    Misreading("selection", "looks only at the run just before", (
        ("return bool(executed) and test in executed", "return bool(earlier) and test in earlier"),
    )),
    Misreading("compiler", "inspects only files of our own", ((
        'if entry["severity"] == "error"]',
        'if entry["severity"] == "error" and [e["team"] for e in state["session"]["owners"]'
        ' if _matches(e["pattern"], entry["file"])][-1] == state["session"]["team"]]',
    ),)),
    Misreading("wait", "gives no grace to a save that belongs to a run", ((
        "return bool(_watched_saves(state, earliest))",
        'return any(s["at"] > max(r["started"] for r in state["runs"])'
        " for s in _watched_saves(state, earliest))",
    ),)),
    Misreading("not_executed", "looks at failures before a missing pin", ((
        '    if target_result == "not_run":', '    if target_result == "not_run" and not last["failed"]:',
    ),)),
    Misreading("order", "looks at coverage before failures", (
        ('    if last["failed"]:', '    if last["failed"] and last["skipped"] <= 2:'),
    )),
    Misreading("order", "looks at compiler errors before changes and waits", ((
        "    if _unsaved(state) or _in_grace(state):\n",
        '    if [e for e in last["compiler"] if e["severity"] == "error"]:\n'
        '        return ("inspect", "inspect_file", [e["file"] for e in last["compiler"]'
        ' if e["severity"] == "error"][0])\n'
        "    if _unsaved(state) or _in_grace(state):\n",
    ),)),
]  # fmt: skip
"""Ways to misread that the family's table leaves out, because not every generated suite shows them."""


@pytest.fixture(scope="module")
def measured() -> FamilyCoverage:
    (found,) = coverage(make_suite(list(SCENARIOS.values()), name="debugging")).values()
    return found


def test_every_rule_decides_and_every_misreading_shows(measured: FamilyCoverage) -> None:
    assert measured.undecided() == []
    assert [(m.rule, m.what) for m in measured.unnoticed()] == []


def test_every_option_is_some_states_answer(measured: FamilyCoverage) -> None:
    assert measured.unanswered() == []


@pytest.mark.parametrize("wrong", FURTHER, ids=lambda m: m.what)
def test_further_misreadings_show(wrong: Misreading) -> None:
    reader = misread(reference_module, wrong)
    changed = [
        (scenario.episode_id, step.t)
        for scenario in SCENARIOS.values()
        for step in scenario.steps
        if scenario.decision_spec.compose(reader(step.state))
        != scenario.decision_spec.compose(step.gold)
    ]
    assert changed


def test_each_case_of_the_order_sets_a_route() -> None:
    """Where rerun is due to a change, a pin not executed, and incomplete coverage."""
    reasons = set()
    for scenario in SCENARIOS.values():
        for step in scenario.steps:
            run = last_run(step.state)
            if step.gold["route"] == "rerun":
                newer = [s for s in step.state["saves"] if s["at"] > run["started"]]
                missing = step.gold["target_result"] == "not_run"
                reasons.add("changed" if newer else "not executed" if missing else run["scope"])
    assert reasons == {"changed", "not executed", "module"}


def test_a_boundary_holds_for_one_two_and_three_ticks() -> None:
    """Exactly 2 skipped, a partial with the right words, a save at the start, a question."""
    a, b = SCENARIOS.values()
    assert [s.t for s in a.steps if s.gold["route"] == "ready"] == [50, 51, 52]
    partial = [
        s.t
        for s in b.steps
        if any(m["text"] == "we'll take r3" and not m["final"] for m in s.state["messages"])
    ]
    assert partial == [23, 24]
    asked = [s.t for s in a.steps if s.gold["route"] == "delegate" and _asked(s.state)]
    assert asked == [14, 15]


def _asked(state: State) -> bool:
    return any(m["text"].lower() == f"we take {last_run(state)['id']}?" for m in state["messages"])
