"""What clears a delegation, and each kind of commitment that does not."""

from __future__ import annotations

import pytest

from tests.families.cases import Case
from tests.families.debugging.panel import (
    DATA,
    DELEGATE,
    KIT,
    OURS,
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

KIT_FAILURE = fail("spec/x", "app/kit/a.py:7")

COMMITMENT_CASES = [
    Case("first form", owned((KIT, True, "We take r2.")), wait(), ("commitment", "owner")),
    Case("second form", owned((KIT, True, "we'll take r2")), wait(), ("commitment",)),
    Case("third form", owned((KIT, True, "R2 is ours!")), wait(), ("commitment",)),
    Case(
        "a sentence among others",
        owned((KIT, True, "Saw it. We take r2. Later!")),
        wait(),
        ("commitment",),
    ),
    Case(
        "the form last, no full stop",
        owned((KIT, True, "All right. We take r2")),
        wait(),
        ("commitment",),
    ),
    Case(
        "a question mark ends a sentence too, so the form stands alone",
        owned((KIT, True, "Why us? We take r2")),
        wait(),
        ("commitment",),
    ),
    Case(
        "the form as a question, before another sentence",
        owned((KIT, True, "We take r2? No idea.")),
        DELEGATE,
        ("commitment",),
    ),
    Case(
        "a dot inside a name ends no sentence",
        owned((KIT, True, "It broke in core.we take r2")),
        DELEGATE,
        ("commitment",),
    ),
    Case(
        "a name with a dot leaves the sentence after it whole",
        owned((KIT, True, "It is core.py. We take r2.")),
        wait(),
        ("commitment",),
    ),
    Case(
        "a question mark inside an address ends no sentence",
        owned((KIT, True, "See /log?we take r2")),
        DELEGATE,
        ("commitment",),
    ),
    Case(
        "said while the run was active",
        owned((KIT, True, "We take r2."), said_at=13),
        wait(),
        ("commitment",),
    ),
    Case(
        "said before the run had started",
        owned((KIT, True, "We take r2."), said_at=9),
        wait(),
        ("commitment",),
    ),
    Case("no message", owned(), DELEGATE, ("commitment",)),
    Case("wrong run", owned((KIT, True, "We take r1.")), DELEGATE, ("commitment",)),
    Case(
        "a run whose id only starts alike",
        owned((KIT, True, "We take r21.")),
        DELEGATE,
        ("commitment",),
    ),
    Case("wrong team", owned((DATA, True, "We take r2.")), DELEGATE, ("commitment",)),
    Case("our own team", owned((OURS, True, "r2 is ours.")), DELEGATE, ("commitment",)),
    Case("hearsay", owned((OURS, True, "They said: we take r2.")), DELEGATE, ("commitment",)),
    Case("partial utterance", owned((KIT, False, "we take r2")), DELEGATE, ("commitment",)),
    Case(
        "partial revised to a condition",
        owned((KIT, True, "We take r2 if it is quiet.")),
        DELEGATE,
        ("commitment",),
    ),
    Case(
        "condition in front",
        owned((KIT, True, "If it is quiet, we take r2.")),
        DELEGATE,
        ("commitment",),
    ),
    Case("tentative", owned((KIT, True, "Maybe we take r2.")), DELEGATE, ("commitment",)),
    Case(
        "only a part", owned((KIT, True, "We take r2 except the spec.")), DELEGATE, ("commitment",)
    ),
    Case("a time added", owned((KIT, True, "We'll take r2 tomorrow.")), DELEGATE, ("commitment",)),
    Case("a question", owned((KIT, True, "We take r2?")), DELEGATE, ("commitment",)),
    Case(
        "interest without a form",
        owned((KIT, True, "Looking at r2 now.")),
        DELEGATE,
        ("commitment", "no_effect"),
    ),
    Case(
        "a later retreat does not undo it",
        owned((KIT, True, "We take r2."), (KIT, True, "We do not have time for r2.")),
        wait(),
        ("commitment",),
    ),
    Case(
        "an insufficient one before the good one",
        owned((DATA, True, "We take r2."), (KIT, False, "we take"), (KIT, True, "We take r2.")),
        wait(),
        ("commitment",),
    ),
    Case(
        "a commitment clears no failure of ours",
        owned((KIT, True, "We take r2."), path="app/core.py"),
        inspect("app/core.py"),
        ("owner", "commitment"),
    ),
    Case(
        "no other failure is selected after a commitment",
        panel(
            20,
            run(
                "r2",
                12,
                15,
                failed=[fail("spec/x", "app/kit/a.py:1"), fail("spec/y", "app/aa.py:1")],
            ),
            messages=[(KIT, True, "We take r2.")],
        ),
        wait(),
        ("owner",),
    ),
    Case(
        "a change after the run outranks a commitment",
        owned((KIT, True, "We take r2."), saves=[(16, "app/core.py")]),
        rerun("target"),
        ("order", "changed"),
    ),
    Case(
        "a compiler error outranks a commitment",
        panel(
            20,
            run(
                "r2",
                12,
                15,
                failed=[KIT_FAILURE],
                compiler=[{"severity": "error", "file": "app/core.py", "text": ""}],
            ),
            messages=[(KIT, True, "We take r2.")],
        ),
        inspect("app/core.py"),
        ("order", "compiler"),
    ),
    Case(
        "a pin not executed outranks a commitment",
        panel(
            20,
            run("r2", 12, 15, passed=[], failed=[KIT_FAILURE]),
            messages=[(KIT, True, "We take r2.")],
        ),
        rerun("target", "not_run"),
        ("order", "not_executed"),
    ),
    Case(
        "a commitment to an earlier run of the same failure does not carry over",
        panel(
            20,
            run("r1", 8, 10, failed=[KIT_FAILURE]),
            run("r2", 12, 15, failed=[KIT_FAILURE]),
            messages=[(KIT, True, "We take r1.")],
        ),
        DELEGATE,
        ("commitment",),
    ),
]


@pytest.mark.parametrize("case", COMMITMENT_CASES, ids=[case.name for case in COMMITMENT_CASES])
def test_case(case: Case) -> None:
    check(case)
