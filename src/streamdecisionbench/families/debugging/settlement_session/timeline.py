"""Debugging B, "Settlement integration debug session": a paused test, a silent run, many owners.

Python tracebacks: the innermost frame stands last. The session is driven by one developer with a
debugger attached, beside a colleague who guesses aloud and is right about as often as not.
"""

from __future__ import annotations

from streamdecisionbench.families.debugging.events import (
    chat,
    cursor,
    debugger,
    diagnostic,
    edit,
    failure,
    quick_run,
    run_end,
    run_output,
    run_start,
    save,
    terminal,
    voice,
)
from streamdecisionbench.families.debugging.questions import SPEC, questions
from streamdecisionbench.families.debugging.reference import reference
from streamdecisionbench.families.debugging.settlement_session.setting import (
    BOJAN,
    CUTOFF,
    DAILY,
    EASTER,
    FARAH,
    FILES,
    FIXING,
    FX,
    HOLDS,
    HOLIDAYS,
    LADDER,
    LATE,
    LEILA,
    MATERIAL,
    NETS,
    NOON,
    NOOR,
    ORIGINAL,
    OTTO,
    PINNED,
    POLL,
    REPLAY,
    SESSION,
    SPOT,
    TEAMS,
    TEST_CUTOFF,
)
from streamdecisionbench.families.debugging.state import projector
from streamdecisionbench.suite.authoring import Change, Draft, Event

SECOND_ERROR = "assert '05-06' == '05-05'"

PAUSED: tuple[Event, ...] = (
    run_start(1, "r2", "target", "cause: r2 starts"),
    debugger(2, "r2", "pause", "cutoff.py:77", "cause: the run is paused"),
    debugger(3, "r2", "evaluate", "closes_on", "resets the pause age to 0"),
    debugger(4, "r2", "watch_refresh", "3 watches", "trap: automatic, resets nothing"),
    save(4, HOLIDAYS, "Sanne", "trap: a save resets no pause age; the wider of two changes"),
    edit(5, CUTOFF, "unsaved edit; the card waits for the paused run anyway"),
    voice(5, "m1", BOJAN, "just let", "distractor: speech that grows", final=False),
    voice(6, "m1", BOJAN, "just let it sit", "distractor: it grows", final=False),
    debugger(6, "r2", "breakpoint", "cutoff.py:91", "trap: resets nothing"),
    save(
        8, CUTOFF, "Sanne", "trap: a fresh save postpones nothing; the narrower change comes last"
    ),
    voice(8, "m1", BOJAN, "Just let it sit there.", "false: continue is due"),
    debugger(9, "r2", "resume", "continue", "cause: the run goes on"),
    run_output(10, "F.. (6 deselected)", "true: printed by an active run, no result all the same"),
    run_end(
        11,
        "cause: r2 ends, but two files were saved after it started",
        passed=[NOON, LATE],
        failed=[
            failure(
                PINNED,
                ORIGINAL,
                f"{TEST_CUTOFF}:48",
                f"{LADDER}:112",
                f"{CUTOFF}:77",
            )
        ],
        skipped=6,
    ),
    cursor(11, f"{FX}:22"),
    chat(12, "m2", BOJAN, "The pin is enough.", "false: the widest change decides"),
)

SILENT: tuple[Event, ...] = (
    run_start(13, "r3", "module", "cause: r3 starts"),
    run_output(14, "waiting for broker", "the run's last sign of life"),
    terminal(15, "docker", "broker | rebalancing", "trap: other pane"),
    chat(16, "m3", BOJAN, "It hangs, I bet.", "true: but talk ends no silence"),
    save(
        17, "docs/runbook.md", "Sanne", "trap: a save ends no silence, and nobody watches this one"
    ),
    terminal(19, "docker", "broker | stable", "trap: other pane"),
    run_end(
        22,
        "cause: r3 is stopped; it counts all the same, and its first failure is new",
        passed=[NOON, LATE, NETS, EASTER],
        failed=[
            failure(
                FIXING,
                "Timeout: fixing",
                "tests/rates/test_rates.py:26",
                f"{HOLIDAYS}:30",
                f"{POLL}:61",
            ),
            failure(PINNED, SECOND_ERROR, f"{TEST_CUTOFF}:48", f"{LADDER}:112"),
        ],
        skipped=3,
        end="stopped",
    ),
    chat(22, "m4", LEILA, "Rates! We take r3.", "trap: the team of an earlier, longer pattern"),
    voice(23, "m5", NOOR, "we'll take r3", "trap: the right words, not final", final=False),
    cursor(24, f"{POLL}:61"),
    voice(25, "m5", NOOR, "We'll take r3 when the feed is up.", "trap: the final adds a condition"),
    *quick_run(
        26,
        "r4",
        "target",
        "cause: r4 ends; the target alone, so only the pinned failure is left",
        passed=[NOON, LATE],
        failed=[failure(PINNED, SECOND_ERROR, f"{TEST_CUTOFF}:48", f"{LADDER}:112")],
        skipped=6,
    ),
    chat(27, "m6", BOJAN, "So it's ladder.py.", "true: that is the file"),
    save(28, LADDER, "Sanne", "trap: at the very start of r5, so part of it"),
    run_start(28, "r5", "module", "cause: r5 starts"),
    run_output(29, "collected 9 items", "distractor: runner line"),
    cursor(30, f"{HOLIDAYS}:30"),
)

RATES: tuple[Event, ...] = (
    run_end(
        31,
        "cause: r5 ends; the pin passes, netting fails in a file that is not ours",
        passed=[PINNED, NOON, LATE, REPLAY, FIXING, EASTER],
        failed=[
            failure(
                NETS,
                "KeyError: 'CHF/NOK'",
                "tests/netting/test_ladder.py:19",
                f"{LADDER}:131",
                f"{FX}:22",
            )
        ],
        skipped=2,
    ),
    chat(31, "m7", OTTO, "r5 is ours.", "trap: right run, wrong team"),
    chat(32, "m8", LEILA, "Maybe we take r5.", "trap: a doubt"),
    voice(33, "m9", LEILA, "right r5", "distractor: speech that grows", final=False),
    voice(34, "m9", LEILA, "right r5 is ours", "trap: not final", final=False),
    voice(35, "m9", LEILA, "Right. r5 is ours.", "cause: the final text holds the whole form"),
    save(37, SPOT, "git pull", "rates-data's fix, part of r6; the save grace starts"),
    save(37, FX, "git pull", "the same pull, part of r6"),
    *quick_run(
        37,
        "r6",
        "target",
        "r6 ends within the grace; the type checker objects to what was pulled",
        passed=[PINNED, NOON, LATE],
        skipped=6,
        compiler=[
            diagnostic("warning", FX, "unused import"),
            diagnostic("error", SPOT, "str is not Decimal"),
        ],
    ),
    cursor(39, f"{SPOT}:40"),
    chat(40, "m10", BOJAN, "Give that one to Leila.", "false: whoever owns it, inspect"),
    save(41, HOLDS, "git pull", "store-core's new holds, part of r7"),
    save(41, SPOT, "git pull", "rates-data's second fix, part of r7"),
    run_start(41, "r7", "module", "cause: r7 starts"),
    run_output(42, "test_store.py F", "true: printed by an active run, no result all the same"),
)

HOLDING: tuple[Event, ...] = (
    run_end(
        44,
        "cause: r7 ends; both failures are new and lie in the holds just pulled",
        passed=[NOON, LATE, NETS, FIXING, EASTER],
        failed=[
            failure(REPLAY, "duplicate hold 311", "tests/store/test_store.py:70", f"{HOLDS}:45"),
            failure(PINNED, SECOND_ERROR, f"{TEST_CUTOFF}:48", f"{LADDER}:115", f"{HOLDS}:9"),
        ],
        skipped=2,
    ),
    chat(44, "m11", OTTO, "r6 is ours.", "trap: right team, wrong run"),
    chat(45, "m12", FARAH, "We'll take r7 but not the cutoff.", "trap: only a part"),
    chat(46, "m13", FARAH, "It's all holds.py. We'll take r7!", "cause: commitment"),
    cursor(47, f"{LADDER}:115"),
    save(48, HOLDS, "git pull", "save grace starts"),
    save(48, SESSION, "git pull", "the same pull"),
    *quick_run(
        50,
        "r8",
        "module",
        "cause: r8 cannot import what was pulled; the save grace is over at exactly 2",
        passed=[],
        skipped=9,
        compiler=[
            diagnostic("error", SESSION, "SyntaxError: '('"),
            diagnostic("error", HOLDS, "ImportError: 'open_session'"),
        ],
    ),
    chat(51, "m14", BOJAN, "Half a merge, that file.", "true: but talk is no evidence"),
    save(52, HOLIDAYS, "Sanne", "trap: at the very start of r9, so part of it"),
    save(52, SESSION, "git pull", "trap: so is this one"),
    run_start(52, "r9", "full", "cause: r9 starts"),
    run_end(
        55,
        "cause: r9 ends; the old store failure stands first, the new one is easter, which r8 never ran",
        passed=[PINNED, NOON, LATE, NETS, FIXING, DAILY],
        failed=[
            failure(REPLAY, "duplicate hold 311", "tests/store/test_store.py:70", f"{HOLDS}:47"),
            failure(EASTER, "assert 39 == 40", "tests/dates/test_dates.py:14", f"{HOLIDAYS}:33"),
        ],
        skipped=2,
    ),
    chat(56, "m15", BOJAN, "Store again, not us.", "false: the new failure is ours"),
    edit(57, HOLIDAYS, "cause: unsaved edit of a watched file"),
    cursor(59, f"{HOLIDAYS}:33"),
)

CHANGES: tuple[Change, ...] = (
    Change(1, ("route", "process", "inspect_file"), "r2 starts"),
    Change(2, ("process",), "r2 is paused"),
    Change(7, ("route", "control_action"), "the pause age reaches 4"),
    Change(9, ("route", "process", "control_action"), "r2 is resumed"),
    Change(11, ("route", "process", "rerun_scope"), "r2 ends, older than two saves"),
    Change(13, ("route", "process", "rerun_scope"), "r3 starts"),
    Change(18, ("process",), "the silence reaches 4"),
    Change(20, ("route", "control_action"), "the silence reaches 6"),
    Change(
        22,
        ("route", "process", "target_result", "control_action", "owner"),
        "r3 is stopped, a new failure in a feed",
    ),
    Change(26, ("route", "owner", "inspect_file"), "r4 ends, the pin alone"),
    Change(28, ("route", "process", "inspect_file"), "r5 starts"),
    Change(31, ("route", "process", "target_result", "owner"), "r5 ends, a new netting failure"),
    Change(35, ("route", "owner"), "rates-data commits to r5"),
    Change(39, ("route", "inspect_file"), "the pull's saves reach the end of their grace"),
    Change(41, ("route", "process", "inspect_file"), "r7 starts"),
    Change(44, ("route", "process", "target_result", "owner"), "r7 ends, new failures in holds.py"),
    Change(46, ("route", "owner"), "store-core commits to r7"),
    Change(50, ("route", "target_result", "inspect_file"), "r8 ends, compiler error"),
    Change(52, ("route", "process", "inspect_file"), "r9 starts"),
    Change(
        55,
        ("route", "process", "target_result", "inspect_file"),
        "r9 ends, a new failure of our own",
    ),
    Change(57, ("route", "inspect_file"), "holidays.py has unsaved edits"),
)

DRAFT = Draft(
    scenario_id="debugging_b",
    task_family="live_debugging",
    title="Settlement integration debug session",
    questions=questions(FILES, TEAMS),
    decision_spec=SPEC,
    events=PAUSED + SILENT + RATES + HOLDING,
    changes=CHANGES,
    project=projector(MATERIAL),
    reference=reference,
)
