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

Edit = Callable[[State], None]

RESTOCK = "src/returns/restock.ts"
CUTOFF = "clearing/netting/cutoff.py"
WAIT_NOT_RERUN = {"route": "wait", "rerun_scope": "none"}
WAIT_NOT_DELEGATE = {"route": "wait", "owner": "none"}


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


def unsaved_elsewhere(state: State) -> None:
    (only,) = state["editor"]["unsaved"]
    only["path"] = "docs/runbook.md"


EDITS: list[tuple[str, int, str, Edit, dict[str, str]]] = [
    (
        "a",
        3,
        "day 30 was never run before",
        forget_pass("r1", "quote/day_30_open"),
        {"inspect_file": RESTOCK},
    ),
    (
        "a",
        3,
        "the pin's error is the original",
        failed("r2", "quote/restock_fee_once", error="AssertionError: expected 1180 to be 1430"),
        {"target_result": "original_error"},
    ),
    (
        "a",
        3,
        "the save at the start came one tick later",
        saved(0, "src/returns/window.ts", at=1),
        {"route": "rerun", "rerun_scope": "target", "inspect_file": "none"},
    ),
    ("a", 9, "save one tick later", saved(7, "src/returns/window.ts", at=8), WAIT_NOT_RERUN),
    (
        "a",
        8,
        "save one tick earlier",
        saved(7, "src/returns/window.ts", at=6),
        {"route": "rerun", "rerun_scope": "target"},
    ),
    ("a", 14, "list order turned round", reverse_failures("r3"), {}),
    ("a", 15, "the wrong commitment is gone", unsaid("m4"), {}),
    (
        "a",
        23,
        "first error gone",
        drop_error("r4", "src/returns/window.ts"),
        {"inspect_file": "src/returns/quote.ts"},
    ),
    (
        "a",
        23,
        "save in the run came after its start",
        saved(20, RESTOCK, at=21),
        {"route": "rerun", "rerun_scope": "target", "inspect_file": "none"},
    ),
    (
        "a",
        34,
        "only two skipped",
        in_run("r5", skipped=2),
        {"route": "ready", "rerun_scope": "none"},
    ),
    ("a", 39, "three skipped", in_run("r6", skipped=3), {"route": "rerun", "rerun_scope": "full"}),
    (
        "a",
        40,
        "the saved file is watched",
        saved(40, "docs/returns.md", path="src/returns/quote.ts"),
        {"route": "wait"},
    ),
    (
        "a",
        45,
        "the pull brought a source file",
        saved(43, "config/vitest.config.ts", path="src/returns/quote.ts"),
        {"rerun_scope": "target"},
    ),
    (
        "a",
        45,
        "the pull brought a document",
        saved(43, "config/vitest.config.ts", path="docs/x.md"),
        {"route": "ready", "rerun_scope": "none"},
    ),
    (
        "a",
        50,
        "no pattern for decimals, and the fallback team has committed",
        drop_owner("src/*/decimal/*"),
        WAIT_NOT_DELEGATE,
    ),
    (
        "a",
        50,
        "list order turned round",
        reverse_failures("r7"),
        {"route": "inspect", "owner": "none", "inspect_file": "src/returns/receipt.ts"},
    ),
    ("a", 50, "right team", said("m11", team="@money-core"), WAIT_NOT_DELEGATE),
    ("a", 51, "right run", said("m12", text="Seen it. We'll take r7."), WAIT_NOT_DELEGATE),
    ("a", 51, "the partial is final", said("m13", final=True), WAIT_NOT_DELEGATE),
    ("a", 52, "no condition", said("m13", text="We take r7."), WAIT_NOT_DELEGATE),
    ("a", 52, "hearsay in the exact form", said("m14", text="r7 is ours."), {}),
    ("a", 53, "no commitment", unsaid("m15"), {"route": "delegate", "owner": "@money-core"}),
    ("a", 58, "save one tick later", saved(56, "src/returns/receipt.ts", at=57), WAIT_NOT_RERUN),
    (
        "b",
        0,
        "frames the other way round",
        in_session(frame_order="innermost_first"),
        {"inspect_file": "tests/integration/netting/test_cutoff.py"},
    ),
    ("b", 6, "evaluated one tick earlier", debugged(3, "evaluate", at=2), {"route": "control"}),
    ("b", 7, "evaluated one tick later", debugged(3, "evaluate", at=4), {"route": "wait"}),
    (
        "b",
        7,
        "a step instead of a breakpoint",
        debugged(6, "breakpoint", kind="step"),
        {"route": "wait"},
    ),
    (
        "b",
        7,
        "a step instead of a refresh",
        debugged(4, "watch_refresh", kind="step"),
        {"route": "wait"},
    ),
    ("b", 8, "nothing was saved", no_saves, {}),
    (
        "b",
        11,
        "nothing was saved",
        no_saves,
        {"route": "inspect", "rerun_scope": "none", "inspect_file": CUTOFF},
    ),
    ("b", 17, "printed one tick earlier", printed("r3", 14, 13), {"process": "stalled"}),
    ("b", 18, "printed one tick later", printed("r3", 14, 15), {"process": "running"}),
    (
        "b",
        19,
        "printed one tick earlier",
        printed("r3", 14, 13),
        {"route": "control", "control_action": "stop"},
    ),
    (
        "b",
        20,
        "printed one tick later",
        printed("r3", 14, 15),
        {"route": "wait", "control_action": "continue"},
    ),
    ("b", 20, "nothing was saved", no_saves, {}),
    ("b", 22, "ended by itself", in_run("r3", end="complete"), {}),
    (
        "b",
        26,
        "the second change was as narrow",
        saved(24, "clearing/dates/holidays.py", path=CUTOFF),
        {"rerun_scope": "target"},
    ),
    ("b", 26, "nothing was saved", no_saves, {"rerun_scope": "target"}),
    ("b", 31, "no pattern for rates", drop_owner("clearing/*/rates/*"), {"owner": "@store-core"}),
    ("b", 32, "no pattern for rates", drop_owner("clearing/*/rates/*"), WAIT_NOT_DELEGATE),
    ("b", 33, "no doubt", said("m7", text="Hm. We'll take r4."), WAIT_NOT_DELEGATE),
    ("b", 34, "final, but one word too many", said("m8", final=True), {}),
    ("b", 34, "the whole form, but not final", said("m8", text="okay. r4 is ours"), {}),
    ("b", 35, "not final", said("m8", final=False), {"route": "delegate", "owner": "@rates-data"}),
    (
        "b",
        44,
        "list order turned round",
        reverse_failures("r5"),
        {"route": "inspect", "owner": "none", "inspect_file": CUTOFF},
    ),
    (
        "b",
        44,
        "replay did not pass before",
        forget_pass("r4", "test_store::replay_books_once"),
        {"route": "inspect", "owner": "none", "inspect_file": CUTOFF},
    ),
    ("b", 44, "right run", said("m11", text="I know those. r5 is ours."), WAIT_NOT_DELEGATE),
    ("b", 45, "all of it", said("m12", text="We'll take r5."), WAIT_NOT_DELEGATE),
    ("b", 45, "no condition, still the wrong team", said("m13", text="We take r5."), {}),
    (
        "b",
        46,
        "from another team",
        said("m14", team="@rates-data"),
        {"route": "delegate", "owner": "@store-core"},
    ),
    (
        "b",
        50,
        "not a migration",
        saved(
            48,
            "clearing/adapters/store/migrations/0042_hold.py",
            path="clearing/adapters/store/session.py",
        ),
        {"rerun_scope": "module"},
    ),
    ("b", 55, "three skipped", in_run("r6", skipped=3), {"route": "rerun", "rerun_scope": "full"}),
    ("b", 57, "unsaved, but unwatched", unsaved_elsewhere, {"route": "ready"}),
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
    assert different == {"a": [53, 54], "b": [35, 36, 46, 47]}[letter]


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
