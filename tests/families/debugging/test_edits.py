"""Minimal counterfactual edits of stored states: exactly the named answers change, no others."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from streamdecisionbench.families.debugging import DRAFTS
from streamdecisionbench.families.debugging.reference import reference
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.scenario import Scenario, State

pytestmark = pytest.mark.slow

Edit = Callable[[State], None]

WINDOW, RESTOCK = "src/returns/window.ts", "src/returns/restock.ts"
RECEIPT, LABELS = "src/returns/receipt.ts", "src/returns/labels.ts"
FORMAT = "src/reports/export/decimal/format.ts"
QUOTE_SPEC, WINDOW_SPEC = "tests/quote.spec.ts", "tests/window.spec.ts"
SNAPSHOT = "tests/quote.spec.ts.snap"
CUTOFF, LADDER = "clearing/netting/cutoff.py", "clearing/netting/ladder.py"
HOLIDAYS, SPOT = "clearing/dates/holidays.py", "clearing/adapters/feeds/rates/spot.py"

HIDE = {"route": "wait", "inspect_file": "none"}
WAIT_NOT_RERUN = {"route": "wait", "rerun_scope": "none"}
WAIT_NOT_DELEGATE = {"route": "wait", "owner": "none"}
SHOW_WINDOW = {"route": "inspect", "inspect_file": WINDOW}
SHOW_ROUND = {"inspect_file": "src/shared/decimal/round.ts"}
SHOW_LADDER = {"route": "inspect", "owner": "none", "inspect_file": LADDER}
INSPECT_WINDOW = {**SHOW_WINDOW, "target_result": "passed", "rerun_scope": "none"}
RERUN_TARGET = {"route": "rerun", "rerun_scope": "target", "inspect_file": "none"}
NOT_RUN = {**RERUN_TARGET, "target_result": "not_run"}
TO_MONEY_CORE = {"route": "delegate", "inspect_file": "none", "owner": "@money-core"}
DELEGATE_MONEY_CORE = {"route": "delegate", "owner": "@money-core"}


@cache
def scenario(letter: str) -> Scenario:
    return expand(DRAFTS["ab".index(letter)])


def state_at(letter: str, tick: int) -> State:
    return copy.deepcopy(scenario(letter).steps[tick].state)


def entry(items: list[dict[str, Any]], /, **fields: Any) -> dict[str, Any]:
    """The only item with these fields, so that an edit cannot miss what it means to edit."""
    found = [item for item in items if all(item.get(k) == v for k, v in fields.items())]
    assert len(found) == 1, f"{len(found)} items with {fields}"
    return found[0]


def in_run(ident: str, /, **new: Any) -> Edit:
    return lambda state: entry(state["runs"], id=ident).update(new)


def saved(at: int, path: str, /, **new: Any) -> Edit:
    return lambda state: entry(state["saves"], at=at, path=path).update(new)


def said(ident: str, /, **new: Any) -> Edit:
    return lambda state: entry(state["messages"], id=ident).update(new)


def unsaid(ident: str) -> Edit:
    return lambda state: state["messages"].remove(entry(state["messages"], id=ident))


def debugged(at: int, kind: str, /, **new: Any) -> Edit:
    return lambda state: entry(state["debugger"], at=at, kind=kind).update(new)


def printed(ident: str, old: int, new: int) -> Edit:
    return lambda state: entry(entry(state["runs"], id=ident)["output"], at=old).update(at=new)


def failed(ident: str, test: str, /, **new: Any) -> Edit:
    return lambda state: entry(entry(state["runs"], id=ident)["failed"], test=test).update(new)


def reverse_failures(ident: str) -> Edit:
    return lambda state: entry(state["runs"], id=ident)["failed"].reverse()


def forget_pass(ident: str, test: str) -> Edit:
    return lambda state: entry(state["runs"], id=ident)["passed"].remove(test)


def drop_error(ident: str, file: str) -> Edit:
    def edit(state: State) -> None:
        compiler = entry(state["runs"], id=ident)["compiler"]
        compiler.remove(entry(compiler, file=file))

    return edit


def drop_owner(pattern: str) -> Edit:
    def edit(state: State) -> None:
        owners = state["session"]["owners"]
        owners.remove(entry(owners, pattern=pattern))

    return edit


def in_session(**new: Any) -> Edit:
    return lambda state: state["session"].update(new)


def no_saves(state: State) -> None:
    state["saves"].clear()


def unsaved_as(path: str) -> Edit:
    def edit(state: State) -> None:
        (only,) = state["editor"]["unsaved"]
        only["path"] = path

    return edit


def passes_too(ident: str, test: str) -> Edit:
    """The run has executed the test as well, and it passed."""

    def edit(state: State) -> None:
        run = entry(state["runs"], id=ident)
        run["failed"] = [f for f in run["failed"] if f["test"] != test]
        run["passed"].append(test)

    return edit


def fails_too(ident: str, test: str) -> Edit:
    """The run has executed the test as well, and it failed."""

    def edit(state: State) -> None:
        run = entry(state["runs"], id=ident)
        run["passed"].remove(test)
        run["failed"].append({"test": test, "error": "x", "frames": ["src/x.ts:1"]})

    return edit


def breaks(ident: str, path: str) -> Edit:
    """The run has a failure in this file."""

    def edit(state: State) -> None:
        failure = {"test": "x", "error": "x", "frames": [f"{path}:1"]}
        entry(state["runs"], id=ident)["failed"].append(failure)

    return edit


def green(ident: str, test: str) -> Edit:
    def edit(state: State) -> None:
        entry(state["runs"], id=ident)["failed"].clear()
        passes_too(ident, test)(state)

    return edit


def dropped(ident: str, test: str) -> Edit:
    def edit(state: State) -> None:
        failures = entry(state["runs"], id=ident)["failed"]
        failures.remove(entry(failures, test=test))

    return edit


def no_errors(ident: str) -> Edit:
    def edit(state: State) -> None:
        for diagnostic in entry(state["runs"], id=ident)["compiler"]:
            diagnostic["severity"] = "warning"

    return edit


def both_saved(old: int, new: int) -> Edit:
    def edit(state: State) -> None:
        for save in state["saves"]:
            if save["at"] == old:
                save["at"] = new

    return edit


def unrun(ident: str) -> Edit:
    return lambda state: state["runs"].remove(entry(state["runs"], id=ident))


EDITS: list[tuple[str, int, str, Edit, dict[str, str]]] = [
    ("a", 0, "the pin had passed", passes_too("r1", "quote/fee_once"), INSPECT_WINDOW),
    (
        "a",
        0,
        "the pin had passed and nothing failed",
        green("r1", "quote/fee_once"),
        {"target_result": "passed", "rerun_scope": "full"},
    ),
    ("a", 3, "voucher passed before", passes_too("r1", "quote/voucher"), TO_MONEY_CORE),
    ("a", 3, "list order turned round", reverse_failures("r2"), {}),
    (
        "a",
        3,
        "one character more in the error",
        failed("r2", "quote/fee_once", error="expected 1180 to be 14300"),
        {"target_result": "different_error"},
    ),
    ("a", 8, "save one tick earlier", saved(7, RESTOCK, at=6), SHOW_WINDOW),
    ("a", 9, "save one tick later", saved(7, RESTOCK, at=8), HIDE),
    ("a", 9, "day 30 failed before", fails_too("r2", "quote/day_30"), {"inspect_file": RESTOCK}),
    ("a", 9, "nothing but the snapshot's ending", saved(9, SNAPSHOT, path=SNAPSHOT[:-5]), HIDE),
    (
        "a",
        14,
        "the save at the start came one tick later",
        saved(11, WINDOW, at=12),
        {"route": "rerun", "rerun_scope": "target", "owner": "none"},
    ),
    ("a", 14, "the partial is final", said("m5", final=True), WAIT_NOT_DELEGATE),
    ("a", 14, "no question mark", said("m6", text="We take r4"), WAIT_NOT_DELEGATE),
    ("a", 15, "no condition", said("m5", text="We take r4."), WAIT_NOT_DELEGATE),
    ("a", 15, "right team", said("m7", team="@money-core"), WAIT_NOT_DELEGATE),
    ("a", 16, "not final", said("m8", final=False), DELEGATE_MONEY_CORE),
    (
        "a",
        16,
        "a comma for the question mark",
        said("m8", text="Still red, we take r4."),
        DELEGATE_MONEY_CORE,
    ),
    ("a", 18, "nobody has second thoughts", unsaid("m9"), {}),
    ("a", 23, "first error gone", drop_error("r5", FORMAT), SHOW_ROUND),
    ("a", 23, "only a warning", no_errors("r5"), RERUN_TARGET),
    (
        "a",
        23,
        "a pull came after the start",
        saved(20, FORMAT, at=21),
        {"route": "rerun", "rerun_scope": "module", "inspect_file": "none"},
    ),
    ("a", 29, "half_cent passed in r4", passes_too("r4", "quote/half_cent"), TO_MONEY_CORE),
    ("a", 29, "the pin is not in the list", dropped("r6", "quote/fee_once"), NOT_RUN),
    (
        "a",
        34,
        "labels are ours",
        drop_owner("src/*/label*"),
        {"route": "inspect", "owner": "none", "inspect_file": LABELS},
    ),
    ("a", 34, "right run", said("m12", text="Labels? r7 is ours."), WAIT_NOT_DELEGATE),
    ("a", 35, "hearsay in the exact form", said("m13", text="r7 is ours."), {}),
    (
        "a",
        39,
        "only two skipped",
        in_run("r8", skipped=2),
        {"route": "ready", "rerun_scope": "none"},
    ),
    ("a", 39, "a target run", in_run("r8", scope="target"), {"rerun_scope": "module"}),
    ("a", 40, "r8 is red, and its owner has committed", breaks("r8", LABELS), WAIT_NOT_RERUN),
    ("a", 45, "saved one tick later", saved(43, RECEIPT, at=44), HIDE),
    ("a", 45, "the spec is watched", saved(45, WINDOW_SPEC, path=QUOTE_SPEC), HIDE),
    ("a", 50, "three skipped", in_run("r10", skipped=3), {"route": "rerun", "rerun_scope": "full"}),
    ("a", 51, "the unsaved file is watched", unsaved_as(WINDOW), {"route": "wait"}),
    (
        "a",
        58,
        "no later pattern for the interface",
        drop_owner("*/ui/*.ts"),
        {"owner": "@design-kit"},
    ),
    ("a", 58, "the partial is final", said("m16", final=True), WAIT_NOT_DELEGATE),
    ("a", 59, "no time", said("m16", text="We'll take r11."), WAIT_NOT_DELEGATE),
    (
        "b",
        0,
        "frames the other way round",
        in_session(frame_order="innermost_first"),
        {"inspect_file": "tests/netting/test_cutoff.py"},
    ),
    ("b", 6, "evaluated one tick earlier", debugged(3, "evaluate", at=2), {"route": "control"}),
    ("b", 7, "evaluated one tick later", debugged(3, "evaluate", at=4), {"route": "wait"}),
    ("b", 7, "a step, not a breakpoint", debugged(6, "breakpoint", kind="step"), {"route": "wait"}),
    ("b", 7, "a step, not a refresh", debugged(4, "watch_refresh", kind="step"), {"route": "wait"}),
    ("b", 8, "nothing was saved", no_saves, {}),
    (
        "b",
        11,
        "nothing was saved",
        no_saves,
        {"route": "inspect", "rerun_scope": "none", "inspect_file": CUTOFF},
    ),
    ("b", 11, "both changes narrow", saved(4, HOLIDAYS, path=LADDER), {"rerun_scope": "target"}),
    ("b", 11, "the narrow change first", saved(8, CUTOFF, at=3), {}),
    (
        "b",
        11,
        "one change is a spec of another kind",
        saved(4, HOLIDAYS, path="tests/x.py"),
        {"rerun_scope": "full"},
    ),
    ("b", 17, "printed one tick earlier", printed("r3", 14, 13), {"process": "stalled"}),
    ("b", 18, "printed one tick later", printed("r3", 14, 15), {"process": "running"}),
    ("b", 19, "printed one tick earlier", printed("r3", 14, 13), {"route": "control"}),
    ("b", 20, "printed one tick later", printed("r3", 14, 15), {"route": "wait"}),
    ("b", 20, "nothing was saved", no_saves, {}),
    ("b", 22, "ended by itself", in_run("r3", end="complete"), {}),
    ("b", 22, "list order turned round", reverse_failures("r3"), {}),
    ("b", 22, "fixing never passed", forget_pass("r1", "test_rates::fixing"), SHOW_LADDER),
    ("b", 22, "no pattern for ops", drop_owner("*/rates/*"), WAIT_NOT_DELEGATE),
    ("b", 24, "the partial is final", said("m5", final=True), WAIT_NOT_DELEGATE),
    ("b", 32, "no doubt", said("m8", text="We take r5."), WAIT_NOT_DELEGATE),
    ("b", 34, "final, but one word too many", said("m9", final=True), {}),
    ("b", 35, "not final", said("m9", final=False), {"route": "delegate", "owner": "@rates-data"}),
    (
        "b",
        37,
        "the pull came two ticks earlier",
        both_saved(37, 35),
        {"route": "inspect", "inspect_file": SPOT},
    ),
    (
        "b",
        39,
        "only a warning",
        no_errors("r6"),
        {"route": "rerun", "rerun_scope": "module", "inspect_file": "none"},
    ),
    ("b", 44, "right run", said("m11", text="r7 is ours."), WAIT_NOT_DELEGATE),
    ("b", 45, "all of it", said("m12", text="We'll take r7."), WAIT_NOT_DELEGATE),
    (
        "b",
        46,
        "from another team",
        said("m13", team="@rates-data"),
        {"route": "delegate", "owner": "@store-core"},
    ),
    (
        "b",
        50,
        "nobody ran anything",
        unrun("r8"),
        {
            "route": "rerun",
            "target_result": "different_error",
            "rerun_scope": "module",
            "inspect_file": "none",
        },
    ),
    (
        "b",
        55,
        "easter failed in r7",
        fails_too("r7", "test_dates::easter"),
        {"route": "delegate", "inspect_file": "none", "owner": "@store-core"},
    ),
    (
        "b",
        57,
        "unsaved, but unwatched",
        unsaved_as("docs/runbook.md"),
        {"route": "inspect", "inspect_file": HOLIDAYS},
    ),
]


@pytest.mark.parametrize(
    ("letter", "tick", "what", "edit", "expected"),
    EDITS,
    ids=[f"{letter} tick {tick} {what}" for letter, tick, what, _, _ in EDITS],
)
def test_edit(letter: str, tick: int, what: str, edit: Edit, expected: dict[str, str]) -> None:
    state = state_at(letter, tick)
    before = reference(state)
    edit(state)
    assert state != state_at(letter, tick), f"{what}: the edit changed nothing in the state"
    after = reference(state)
    assert {q: after[q] for q in after if after[q] != before[q]} == expected


@pytest.mark.parametrize("letter", ["a", "b"])
def test_terminal_and_cursor_never_count(letter: str) -> None:
    for step in scenario(letter).steps:
        state = copy.deepcopy(step.state)
        state["terminal"] = [{"at": step.t, "pane": "x", "text": "FAILED spec, stalled"}]
        state["editor"]["cursor"] = "elsewhere.txt:1"
        assert reference(state) == step.gold


@pytest.mark.parametrize("letter", ["a", "b"])
def test_messages_count_only_as_commitments(letter: str) -> None:
    """Without any message, only ticks at which a committed team is waited for differ."""
    different = []
    for step in scenario(letter).steps:
        state = copy.deepcopy(step.state)
        state["messages"] = []
        if reference(state) != step.gold:
            different.append(step.t)
    assert different == {"a": [16, 17, 18, 19], "b": [35, 36, 46, 47]}[letter]


@pytest.mark.parametrize("letter", ["a", "b"])
def test_only_differences_of_ticks_matter(letter: str) -> None:
    for step in scenario(letter).steps:
        assert reference(_shifted(step.state)) == step.gold


def _shifted(value: Any, key: str = "", by: int = 1000) -> Any:
    """The state with every tick moved by the same amount."""
    if isinstance(value, dict):
        return {k: _shifted(v, k, by) for k, v in value.items()}
    if isinstance(value, list):
        return [_shifted(v, key, by) for v in value]
    if key in {"now", "at", "started", "ended", "since"} and isinstance(value, int):
        return value + by
    return value
