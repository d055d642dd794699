"""Silence, pause, save grace and changes: every clock of the card, at and around equality."""

from __future__ import annotations

import pytest

from tests.families.cases import Case
from tests.families.debugging.panel import (
    CONTINUE,
    OURS,
    PAUSED,
    READY,
    RUNNING,
    STALLED,
    STOP,
    active,
    answers,
    check,
    fail,
    panel,
    rerun,
    run,
    wait,
)

pytestmark = pytest.mark.slow

PAUSE = (11, "r2", "pause")

CONTROL_CASES = [
    Case("nothing to do is ready", panel(), READY, ("ready", "process", "unused", "order")),
    Case("a fresh run is running", active(10), RUNNING, ("process", "wait", "unused")),
    Case("silence 3 after the start", active(13), RUNNING, ("silence", "process")),
    Case("silence exactly 4 is stalled", active(14), STALLED, ("silence", "process", "ticks")),
    Case("silence 5 is stalled, not overdue", active(15), STALLED, ("control", "silence")),
    Case("silence exactly 6 is overdue", active(16), STOP, ("control", "silence", "unused")),
    Case("silence 7 is overdue", active(17), STOP, ("control",)),
    Case("silence from the newest output, 3", active(16, output=[11, 13]), RUNNING, ("silence",)),
    Case("silence from the newest output, 4", active(17, output=[11, 13]), STALLED, ("silence",)),
    Case("silence from the newest output, 5", active(18, output=[11, 13]), STALLED, ("silence",)),
    Case("silence from the newest output, 6", active(19, output=[11, 13]), STOP, ("silence",)),
    Case(
        "a save, an edit, speech and another pane end no silence",
        active(
            16,
            saves=[(15, "app/core.py")],
            unsaved=["app/a.py"],
            messages=[(OURS, True, "It is printing.")],
            terminal=[14, 16],
        ),
        STOP,
        ("silence", "control", "no_effect"),
    ),
    Case(
        "a save at the stalled tick",
        active(14, saves=[(14, "app/core.py")], terminal=[14]),
        STALLED,
        ("silence",),
    ),
    Case("published thresholds rule", active(12, policy={"stall_ticks": 2}), STALLED, ("process",)),
    Case(
        "a published stop threshold",
        active(13, policy={"stop_ticks": 3}),
        answers("control", "running", control_action="stop"),
        ("control",),
    ),
    Case("a pause is paused at once", active(11, debugger=[PAUSE]), PAUSED, ("process",)),
    Case("pause age 3", active(14, debugger=[PAUSE]), PAUSED, ("pause_age", "control")),
    Case("pause age exactly 4", active(15, debugger=[PAUSE]), CONTINUE, ("pause_age", "control")),
    Case("pause age 5", active(16, debugger=[PAUSE]), CONTINUE, ("pause_age", "control")),
    Case(
        "a paused run is never stalled, however silent",
        active(19, debugger=[PAUSE, (18, "r2", "step")]),
        PAUSED,
        ("process", "pause_age"),
    ),
    Case(
        "an evaluation restarts the pause age: 3",
        active(16, debugger=[PAUSE, (13, "r2", "evaluate")]),
        PAUSED,
        ("pause_age",),
    ),
    Case(
        "an evaluation restarts the pause age: 4",
        active(17, debugger=[PAUSE, (13, "r2", "evaluate")]),
        CONTINUE,
        ("pause_age",),
    ),
    Case(
        "a step restarts the pause age",
        active(17, debugger=[PAUSE, (14, "r2", "step")]),
        PAUSED,
        ("pause_age",),
    ),
    Case(
        "breakpoints, refreshed watches, saves, edits and speech restart nothing",
        active(
            15,
            debugger=[PAUSE, (13, "r2", "breakpoint"), (14, "r2", "watch_refresh")],
            saves=[(14, "app/core.py")],
            unsaved=["app/core.py"],
            messages=[(OURS, True, "Leave it.")],
            terminal=[15],
        ),
        CONTINUE,
        ("pause_age", "control", "no_effect"),
    ),
    Case(
        "another run's debugger entries say nothing about this one",
        active(15, debugger=[(2, "r1", "pause"), (14, "r1", "evaluate")]),
        STALLED,
        ("process", "pause_age"),
    ),
    Case(
        "another run's evaluation does not restart this run's pause age",
        active(15, debugger=[PAUSE, (14, "r1", "evaluate")]),
        CONTINUE,
        ("pause_age",),
    ),
    Case(
        "a resume ends the pause and restarts the silence: 3",
        active(17, debugger=[PAUSE, (14, "r2", "resume")]),
        RUNNING,
        ("process", "silence"),
    ),
    Case(
        "a resume restarts the silence: 4",
        active(18, debugger=[PAUSE, (14, "r2", "resume")]),
        STALLED,
        ("silence",),
    ),
    Case(
        "an evaluation does not count as a sign of life after a resume",
        active(18, debugger=[PAUSE, (14, "r2", "resume"), (17, "r2", "evaluate")]),
        STALLED,
        ("silence",),
    ),
    Case(
        "of a pause and a resume in one tick the later in the list counts: resume",
        active(12, debugger=[(12, "r2", "pause"), (12, "r2", "resume")]),
        RUNNING,
        ("ticks", "process"),
    ),
    Case(
        "of a pause and a resume in one tick the later in the list counts: pause",
        active(12, debugger=[(11, "r2", "pause"), (12, "r2", "resume"), (12, "r2", "pause")]),
        PAUSED,
        ("ticks", "process"),
    ),
    Case(
        "what a stalled run would get is stop, what a paused one would get is continue",
        active(15, debugger=[PAUSE, (14, "r2", "step")]),
        answers("wait", "paused", control_action="continue"),
        ("unused",),
    ),
    Case(
        "a second pause counts from itself",
        active(18, debugger=[PAUSE, (13, "r2", "resume"), (15, "r2", "pause")]),
        PAUSED,
        ("process", "pause_age"),
    ),
]

CHANGE_CASES = [
    Case("an unsaved watched file waits", panel(unsaved=["app/a.py"]), wait(), ("wait",)),
    Case("an unsaved file nobody watches", panel(unsaved=["notes.md"]), READY, ("watched",)),
    Case(
        "unsaved: one watched among others",
        panel(unsaved=["notes.md", "app/a.py"]),
        wait(),
        ("watched", "wait"),
    ),
    Case("save age 0", panel(saves=[(20, "app/core.py")]), wait(), ("wait",)),
    Case("save age 1 is in the grace", panel(saves=[(19, "app/core.py")]), wait(), ("wait",)),
    Case(
        "save age exactly 2 permits",
        panel(saves=[(18, "app/core.py")]),
        rerun("target"),
        ("wait", "changed", "ticks"),
    ),
    Case(
        "save age 3 permits",
        panel(saves=[(17, "app/core.py")]),
        rerun("target"),
        ("wait", "changed"),
    ),
    Case(
        "the newest save has the grace",
        panel(saves=[(16, "app/core.py"), (19, "app/core.py")]),
        wait(),
        ("wait",),
    ),
    Case("a fresh save nobody watches", panel(saves=[(20, "docs/a.md")]), READY, ("watched",)),
    Case("an old save nobody watches", panel(saves=[(15, "docs/a.md")]), READY, ("watched",)),
    Case(
        "a save at the start is in the run", panel(saves=[(10, "app/core.py")]), READY, ("changed",)
    ),
    Case("a save before the start", panel(saves=[(9, "app/core.py")]), READY, ("changed",)),
    Case(
        "a save one tick after the start",
        panel(saves=[(11, "app/core.py")]),
        rerun("target"),
        ("changed",),
    ),
    Case(
        "a save while it ran, at its end",
        panel(saves=[(12, "app/core.py")]),
        rerun("target"),
        ("changed",),
    ),
    Case(
        "grace applies to a save that belongs to the run",
        panel(12, run("r1", 11, 12), saves=[(11, "app/core.py")]),
        wait(),
        ("wait", "order"),
    ),
    Case("only a module file", panel(saves=[(15, "app/a.py")]), rerun("module"), ("changed",)),
    Case(
        "the widest scope wins, wide first",
        panel(saves=[(14, "app/a.py"), (15, "app/core.py")]),
        rerun("module"),
        ("changed",),
    ),
    Case(
        "the widest scope wins, wide last",
        panel(saves=[(14, "app/core.py"), (15, "app/a.py")]),
        rerun("module"),
        ("changed",),
    ),
    Case(
        "full is widest",
        panel(saves=[(13, "app/settings.py"), (14, "app/a.py"), (15, "app/core.py")]),
        rerun("full"),
        ("changed",),
    ),
    Case(
        "a wide save before the run no longer counts",
        panel(saves=[(10, "app/settings.py"), (15, "app/core.py")]),
        rerun("target"),
        ("changed",),
    ),
    Case(
        "* crosses / in a scope",
        panel(saves=[(15, "app/x/y/settings.py")]),
        rerun("full"),
        ("patterns",),
    ),
    Case(
        "* may stand for nothing", panel(saves=[(15, "app/core")]), rerun("target"), ("patterns",)
    ),
    Case(
        "the whole path must match",
        panel(saves=[(15, "my/app/a.py")]),
        READY,
        ("patterns", "watched"),
    ),
    Case("the end must match too", panel(saves=[(15, "my/settings.pyc")]), READY, ("patterns",)),
    Case("a dot is a dot", panel(saves=[(15, "my/settingsXpy")]), READY, ("patterns",)),
    Case(
        "a change outranks a compiler error, a missing pin and failures",
        panel(
            20,
            run(
                "r1",
                10,
                12,
                passed=[],
                failed=[fail("spec/x")],
                compiler=[{"severity": "error", "file": "app/a.py", "text": ""}],
            ),
            saves=[(15, "app/core.py")],
        ),
        rerun("target", "not_run"),
        ("order", "changed"),
    ),
    Case(
        "an unsaved edit outranks a change",
        panel(saves=[(15, "app/core.py")], unsaved=["app/a.py"]),
        wait(),
        ("order", "wait"),
    ),
    Case(
        "speech about a save changes nothing",
        panel(messages=[(OURS, True, "I just saved core.py, rerun it.")], terminal=[20]),
        READY,
        ("no_effect",),
    ),
]


TIMER_CASES = [*CONTROL_CASES, *CHANGE_CASES]


@pytest.mark.parametrize("case", TIMER_CASES, ids=[case.name for case in TIMER_CASES])
def test_case(case: Case) -> None:
    check(case)
