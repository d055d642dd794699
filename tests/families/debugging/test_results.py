"""What the last run says: badge, compiler, coverage, the selected failure and its owner."""

from __future__ import annotations

from typing import Any

import pytest

from tests.families.cases import Case
from tests.families.debugging.panel import (
    DATA,
    DELEGATE,
    DONE,
    KIT,
    ORIGINAL,
    PIN,
    READY,
    answers,
    check,
    fail,
    inspect,
    owned,
    panel,
    rerun,
    run,
    wait,
)

pytestmark = pytest.mark.slow


def compiled(*entries: tuple[str, str], **results: Any) -> dict[str, Any]:
    diagnostics = [{"severity": s, "file": f, "text": ""} for s, f in entries]
    return panel(20, run("r1", 10, 12, compiler=diagnostics, **results))


RESULT_CASES = [
    Case(
        "the first compiler error, past a warning",
        compiled(("warning", "app/w.py"), ("error", "app/e.py"), ("error", "app/f.py"), passed=[]),
        inspect("app/e.py", "not_run"),
        ("compiler", "order"),
    ),
    Case("warnings alone do not count", compiled(("warning", "app/w.py")), READY, ("compiler",)),
    Case(
        "a compiler error in another team's file is still inspected",
        compiled(("error", "app/kit/a.py"), passed=[]),
        inspect("app/kit/a.py", "not_run"),
        ("compiler",),
    ),
    Case(
        "a compiler error outranks failures",
        compiled(("error", "app/e.py"), failed=[fail("spec/x")]),
        inspect("app/e.py"),
        ("order", "compiler"),
    ),
    Case(
        "the original error, exactly",
        panel(20, run("r1", 10, 12, passed=[], failed=[fail(PIN, error=ORIGINAL)])),
        inspect("app/core.py", "original_error"),
        ("target_result",),
    ),
    Case(
        "one character more is a different error",
        panel(20, run("r1", 10, 12, passed=[], failed=[fail(PIN, error=ORIGINAL + "0")])),
        inspect("app/core.py", "different_error"),
        ("target_result",),
    ),
    Case(
        "another test with the original error says nothing about the pin",
        panel(20, run("r1", 10, 12, failed=[fail("spec/x", error=ORIGINAL)])),
        inspect("app/core.py"),
        ("target_result",),
    ),
    Case(
        "the pin among other failures",
        panel(20, run("r1", 10, 12, passed=[], failed=[fail("spec/x"), fail(PIN, error=ORIGINAL)])),
        inspect("app/core.py", "original_error"),
        ("target_result", "selection"),
    ),
    Case(
        "pin not executed: rerun target, whatever failed",
        panel(20, run("r1", 10, 12, passed=["spec/y"], failed=[fail("spec/x")], scope="full")),
        rerun("target", "not_run"),
        ("not_executed", "order", "target_result"),
    ),
    Case(
        "pin not executed outranks coverage",
        panel(20, run("r1", 10, 12, passed=["spec/y"], skipped=9)),
        rerun("target", "not_run"),
        ("not_executed", "order"),
    ),
    Case(
        "a stopped run is finished and supplies the badge",
        panel(20, DONE, run("r2", 10, 16, end="stopped", passed=[], skipped=9)),
        rerun("target", "not_run"),
        ("runs", "target_result"),
    ),
    Case(
        "an active run leaves the badge to the last finished one",
        panel(
            11,
            run("r1", 1, 3, passed=[], failed=[fail(PIN, error=ORIGINAL)]),
            run("r2", 10, None, output=[{"at": 11, "text": "ok spec/pin"}]),
        ),
        wait("running", "original_error"),
        ("runs", "target_result", "wait"),
    ),
    Case(
        "of two runs that end at one tick the one listed later is the last",
        panel(
            20, run("r1", 10, 12, passed=[], failed=[fail(PIN, error=ORIGINAL)]), run("r2", 12, 12)
        ),
        READY,
        ("runs", "ticks"),
    ),
    Case(
        "the other of the two is an earlier run",
        panel(
            20,
            run("r1", 12, 12, passed=[PIN, "spec/b"]),
            run("r2", 12, 12, failed=[fail("spec/a"), fail("spec/b", "app/new.py:3")]),
        ),
        inspect("app/new.py"),
        ("selection", "ticks"),
    ),
    Case(
        "the greatest ended is the last run, wherever it stands",
        panel(20, run("r2", 12, 15), run("r1", 4, 6, passed=[], skipped=9)),
        READY,
        ("runs",),
    ),
    Case(
        "a run that ended in the tick of its start is finished",
        panel(20, DONE, run("r2", 20, 20, passed=[], failed=[fail(PIN, error=ORIGINAL)])),
        inspect("app/core.py", "original_error"),
        ("runs", "process"),
    ),
    Case(
        "a test left out was not executed, whatever the output calls it",
        panel(
            20,
            run("r1", 10, 12, passed=[], skipped=1, output=[{"at": 11, "text": "1 deselected"}]),
        ),
        rerun("target", "not_run"),
        ("runs", "not_executed"),
    ),
    Case(
        "what is left out counts for the coverage, whatever the output calls it",
        panel(20, run("r1", 10, 12, skipped=3, output=[{"at": 11, "text": "3 deselected"}])),
        rerun("full"),
        ("runs", "coverage"),
    ),
    Case(
        "skipped exactly 2 is enough", panel(20, run("r1", 10, 12, skipped=2)), READY, ("coverage",)
    ),
    Case(
        "skipped 3 after a module run",
        panel(20, run("r1", 10, 12, skipped=3)),
        rerun("full"),
        ("coverage",),
    ),
    Case(
        "skipped 3 after a target run",
        panel(20, run("r1", 10, 12, skipped=3, scope="target")),
        rerun("module"),
        ("coverage",),
    ),
    Case(
        "skipped 3 after a full run",
        panel(20, run("r1", 10, 12, skipped=3, scope="full")),
        rerun("full"),
        ("coverage",),
    ),
    Case(
        "a narrow run with few skipped",
        panel(20, run("r1", 10, 12, skipped=1, scope="target")),
        READY,
        ("coverage", "ready"),
    ),
    Case(
        "a failure outranks coverage",
        panel(20, run("r1", 10, 12, skipped=9, failed=[fail("spec/x")])),
        inspect("app/core.py"),
        ("order", "coverage"),
    ),
]

A, B, C = "app/aa.py", "app/bb.py", "app/cc.py"


def chosen(
    *failed: dict[str, Any], earlier: tuple[dict[str, Any], ...] = (), **results: Any
) -> dict[str, Any]:
    return panel(20, *earlier, run("r9", 14, 16, failed=list(failed), **results))


SELECTION_CASES = [
    Case(
        "a new failure outranks the pin listed before it",
        chosen(
            fail(PIN, A + ":1"),
            fail("spec/n", B + ":1"),
            earlier=(run("r1", 1, 3, passed=["spec/n"], failed=[fail(PIN)]),),
            passed=[],
        ),
        inspect(B, "different_error"),
        ("selection",),
    ),
    Case(
        "the pin outranks an old failure listed before it",
        chosen(
            fail("spec/o", A + ":1"),
            fail(PIN, B + ":1"),
            earlier=(run("r1", 1, 3, passed=[], failed=[fail("spec/o"), fail(PIN)]),),
            passed=[],
        ),
        inspect(B, "different_error"),
        ("selection",),
    ),
    Case(
        "of two new failures the first listed, even before a new pin",
        chosen(
            fail("spec/n", A + ":1"),
            fail(PIN, B + ":1"),
            earlier=(run("r1", 1, 3, passed=["spec/n", PIN]),),
            passed=[],
        ),
        inspect(A, "different_error"),
        ("selection",),
    ),
    Case(
        "of two old failures outside the pin the first listed",
        chosen(fail("spec/b", A + ":1"), fail("spec/a", B + ":1")),
        inspect(A),
        ("selection",),
    ),
    Case(
        "a test never executed before is not new",
        chosen(
            fail("spec/unknown", A + ":1"),
            fail(PIN, B + ":1"),
            earlier=(run("r1", 1, 3, passed=[], failed=[fail(PIN)]),),
            passed=[],
        ),
        inspect(B, "different_error"),
        ("selection",),
    ),
    Case(
        "runs that did not execute the test are passed over",
        chosen(
            fail(PIN, A + ":1"),
            fail("spec/n", B + ":1"),
            earlier=(
                run("r1", 1, 3, passed=["spec/n"], failed=[fail(PIN)]),
                run("r2", 4, 6, passed=[], failed=[fail(PIN)]),
            ),
            passed=[],
        ),
        inspect(B, "different_error"),
        ("selection",),
    ),
    Case(
        "the most recent earlier execution decides: failed then",
        chosen(
            fail("spec/n", A + ":1"),
            fail(PIN, B + ":1"),
            earlier=(
                run("r1", 1, 3, passed=["spec/n"], failed=[fail(PIN)]),
                run("r2", 4, 6, passed=[], failed=[fail(PIN), fail("spec/n")]),
            ),
            passed=[],
        ),
        inspect(B, "different_error"),
        ("selection",),
    ),
    Case(
        "the most recent earlier execution decides: passed then",
        chosen(
            fail(PIN, A + ":1"),
            fail("spec/n", B + ":1"),
            earlier=(
                run("r1", 1, 3, passed=[], failed=[fail(PIN), fail("spec/n")]),
                run("r2", 4, 6, passed=["spec/n"], failed=[fail(PIN)]),
            ),
            passed=[],
        ),
        inspect(B, "different_error"),
        ("selection",),
    ),
    Case(
        "an earlier stopped run counts where it executed the test",
        chosen(
            fail(PIN, A + ":1"),
            fail("spec/n", B + ":1"),
            earlier=(run("r1", 1, 3, end="stopped", passed=["spec/n"], failed=[fail(PIN)]),),
            passed=[],
        ),
        inspect(B, "different_error"),
        ("selection", "runs"),
    ),
    Case(
        "frames outside the project are passed over",
        chosen(fail("spec/x", "lib/app/a.py:3", f"{A}:4", f"{B}:5", "spec/x.py:1")),
        inspect(A),
        ("frame", "patterns"),
    ),
    Case(
        "innermost last",
        panel(
            20,
            run(
                "r1",
                10,
                12,
                failed=[fail("spec/x", "spec/x.py:1", f"{A}:5", f"{B}:4", "lib/z.py:3")],
            ),
            session={"frame_order": "innermost_last"},
        ),
        inspect(B),
        ("frame",),
    ),
    Case(
        "only the last colon separates the line",
        chosen(fail("spec/x", "app/a:b.py:12")),
        inspect("app/a:b.py"),
        ("frame",),
    ),
    Case("a failure of another team is delegated", owned(), DELEGATE, ("owner", "unused")),
    Case(
        "owner patterns: * crosses / and the last match wins",
        owned(path="app/kit/x/y/data/z/a.py"),
        answers("delegate", owner=DATA),
        ("patterns", "owner"),
    ),
    Case(
        "the last match wins over a more specific one",
        owned(
            session={
                "owners": [
                    {"pattern": "app/kit/a.py", "team": DATA},
                    {"pattern": "app/*", "team": KIT},
                ]
            }
        ),
        DELEGATE,
        ("patterns", "owner"),
    ),
    Case(
        "a team's pattern that matches only part of the path is not its owner",
        owned(path="app/kitchen/a.py"),
        inspect("app/kitchen/a.py"),
        ("patterns", "owner"),
    ),
]


RUN_CASES = [*RESULT_CASES, *SELECTION_CASES]


@pytest.mark.parametrize("case", RUN_CASES, ids=[case.name for case in RUN_CASES])
def test_case(case: Case) -> None:
    check(case)
