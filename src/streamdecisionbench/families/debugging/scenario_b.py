"""Debugging B, "Settlement integration debug session": a paused test, a silent run, two owners.

Python tracebacks: the innermost frame stands last. The session is driven by one developer with a
debugger attached, beside a colleague who guesses aloud.
"""

from __future__ import annotations

from streamdecisionbench.families.debugging.events import (
    chat,
    cursor,
    debugger,
    edit,
    failure,
    run_end,
    run_output,
    run_start,
    save,
    terminal,
    voice,
)
from streamdecisionbench.families.debugging.questions import SPEC, questions
from streamdecisionbench.families.debugging.reference import reference
from streamdecisionbench.families.debugging.state import Material, projector
from streamdecisionbench.suite.authoring import Change, Draft, Event

__all__ = ["DRAFT_B", "MATERIAL_B"]

CUTOFF = "clearing/netting/cutoff.py"
LADDER = "clearing/netting/ladder.py"
HOLIDAYS = "clearing/dates/holidays.py"
SPOT = "clearing/adapters/feeds/rates/spot.py"
STORE = "clearing/adapters/store/session.py"
MIGRATION = "clearing/adapters/store/migrations/0042_hold.py"
TEST_CUTOFF = "tests/integration/netting/test_cutoff.py"

PINNED = "test_cutoff::rolls_over_long_weekend"
CUTOFF_TESTS = ("test_cutoff::same_day_before_noon", "test_cutoff::late_file_waits")
LADDER_TEST = "test_ladder::nets_to_zero"
REPLAY = "test_store::replay_books_once"
HOLD = "test_store::hold_survives_restart"
FALLBACK = "test_rates::falls_back_to_fixing"
OTHER_TESTS = ("test_report::daily_totals", "test_cli::dry_run")

ORIGINAL = "AssertionError: assert '2031-05-02' == '2031-05-05'"

SANNE = ("Sanne", "@clearing")
BOJAN = ("Bojan", "@clearing")
LEILA = ("Leila", "@rates-data")
OTTO = ("Otto", "@store-core")
FARAH = ("Farah", "@store-core")

MATERIAL_B = Material(
    session={
        "project": "nightclear (Python)",
        "team": "@clearing",
        "pinned_test": PINNED,
        "original_error": ORIGINAL,
        "frame_order": "innermost_last",
        "project_paths": ["clearing/*", "tests/*"],
        "scopes": [
            {"pattern": "clearing/*", "scope": "module"},
            {"pattern": "clearing/netting/*", "scope": "target"},
            {"pattern": "tests/integration/*", "scope": "module"},
            {"pattern": "tests/*/test_cutoff.py", "scope": "target"},
            {"pattern": "*/migrations/*", "scope": "full"},
            {"pattern": "*.toml", "scope": "full"},
        ],
        "owners": [
            {"pattern": "*", "team": "@clearing"},
            {"pattern": "clearing/adapters/*", "team": "@store-core"},
            {"pattern": "clearing/*/rates/*", "team": "@rates-data"},
            {"pattern": "clearing/adapters/*.yaml", "team": "@ops-tooling"},
            {"pattern": "deploy/*", "team": "@ops-tooling"},
        ],
    },
    earlier_run={
        "id": "r1",
        "scope": "target",
        "started": -8,
        "ended": -3,
        "end": "complete",
        "output": [{"at": -4, "text": "1 failed, 2 passed, 6 skipped"}],
        "passed": list(CUTOFF_TESTS),
        "failed": [
            failure(
                PINNED,
                ORIGINAL,
                f"{TEST_CUTOFF}:48",
                f"{LADDER}:112",
                f"{CUTOFF}:77",
                "site-packages/dateutil/rrule.py:861",
            )
        ],
        "skipped": 6,
        "compiler": [],
    },
    cursor=f"{CUTOFF}:77",
)

_FIRST_HALF: tuple[Event, ...] = (
    chat(0, "m1", SANNE, "Attaching the debugger to the cutoff test.", "distractor: chat"),
    run_start(1, "r2", "target", "cause: r2 starts"),
    debugger(2, "r2", "pause", "breakpoint cutoff.py:77", "cause: the run is paused"),
    debugger(3, "r2", "evaluate", "window.closes_on", "resets the pause age to 0"),
    debugger(4, "r2", "watch_refresh", "3 watches", "trap: automatic, resets nothing"),
    edit(4, CUTOFF, "unsaved edit; the card waits for the paused run anyway"),
    save(5, CUTOFF, "Sanne", "trap: a save does not reset the pause age"),
    voice(6, "m2", BOJAN, "just let it", "distractor: partial speech", final=False),
    debugger(6, "r2", "breakpoint", "removed cutoff.py:91", "trap: resets nothing"),
    voice(
        7,
        "m2",
        BOJAN,
        "Just let it sit there, she is reading.",
        "cause: 4 ticks since the evaluation; trap: speech asks to leave it paused",
    ),
    edit(7, CUTOFF, "trap: an unsaved edit does not postpone control"),
    save(8, CUTOFF, "Sanne", "trap: neither does a fresh save"),
    debugger(9, "r2", "resume", "continue", "cause: the run goes on"),
    run_output(10, "test_cutoff.py F..", "distractor: printed by an active run"),
    run_end(
        11,
        "cause: r2 ends, but cutoff.py was saved after it started",
        passed=CUTOFF_TESTS,
        failed=[
            failure(
                PINNED,
                ORIGINAL,
                f"{TEST_CUTOFF}:48",
                f"{LADDER}:112",
                f"{CUTOFF}:77",
                "site-packages/dateutil/rrule.py:861",
            )
        ],
        skipped=6,
    ),
    chat(12, "m3", BOJAN, "Same failure. Open cutoff.py again?", "trap: result predates a save"),
    run_start(13, "r3", "target", "cause: r3 starts"),
    run_output(14, "waiting for broker on :9092", "the run's last sign of life"),
    terminal(15, "docker", "broker | rebalancing group netting", "trap: other pane"),
    chat(16, "m4", BOJAN, "Broker is alive, I see lines coming.", "trap: claim about activity"),
    terminal(17, "docker", "broker | group netting stable", "trap: other pane"),
    edit(18, CUTOFF, "cause: 4 ticks of silence; the edit has nothing to do with it"),
    save(19, CUTOFF, "Sanne", "trap: a save does not end the silence"),
    terminal(20, "docker", "broker | heartbeat ok", "cause: 6 ticks of silence; trap: other pane"),
    edit(21, HOLIDAYS, "unsaved edit while the stop is due"),
    run_end(
        22,
        "cause: r3 is stopped before any test; holidays.py is unsaved",
        passed=[],
        skipped=9,
        end="stopped",
    ),
    cursor(23, f"{HOLIDAYS}:30"),
    save(24, HOLIDAYS, "Sanne", "save grace starts"),
    voice(25, "m5", BOJAN, "Only the pinned one, it's faster.", "trap: advice about the scope"),
    cursor(26, f"{CUTOFF}:80", "cause: exactly 2 ticks; module is the widest of two changed files"),
    terminal(27, "docker", "broker | heartbeat ok", "distractor: other pane"),
    run_start(28, "r4", "module", "cause: r4 starts"),
    run_output(29, "collected 9 items", "distractor: runner line"),
)

_SECOND_HALF: tuple[Event, ...] = (
    run_output(30, "test_rates.py F", "distractor: printed by an active run"),
    run_end(
        31,
        "cause: r4 ends; the pinned test passed, a failure in the rates feed is left",
        passed=[PINNED, *CUTOFF_TESTS, LADDER_TEST, REPLAY, HOLD],
        failed=[
            failure(
                FALLBACK,
                "KeyError: 'CHF/NOK'",
                "tests/integration/test_rates.py:26",
                f"{LADDER}:58",
                f"{SPOT}:103",
                "site-packages/cachetools/keys.py:64",
            )
        ],
        skipped=2,
    ),
    chat(32, "m6", OTTO, "Adapters are ours. We take r4.", "trap: the team of an earlier pattern"),
    chat(33, "m7", LEILA, "Hm, maybe we'll take r4 after lunch.", "trap: tentative"),
    voice(34, "m8", LEILA, "okay r4 is ours", "trap: partial, and one word too many", final=False),
    voice(35, "m8", LEILA, "Okay. r4 is ours.", "cause: the final text holds the whole form"),
    terminal(36, "git", "rates-data/fixing-pairs pushed", "distractor: other pane"),
    save(37, SPOT, "git pull", "save grace starts"),
    chat(38, "m9", BOJAN, "Leila's fix is in, that's it then.", "distractor: claim"),
    cursor(39, f"{SPOT}:103", "cause: the save is exactly 2 ticks old"),
    voice(40, "m10", SANNE, "Module again.", "distractor: speech"),
    run_start(41, "r5", "module", "cause: r5 starts"),
    run_output(42, "collected 9 items", "distractor: runner line"),
    cursor(43, f"{LADDER}:58"),
    run_end(
        44,
        "cause: r5 ends; both failures are new, so the list decides, not the pin",
        passed=[*CUTOFF_TESTS, LADDER_TEST, HOLD, FALLBACK],
        failed=[
            failure(
                REPLAY,
                "IntegrityError: duplicate key hold_id=311",
                "tests/integration/test_store.py:70",
                f"{LADDER}:131",
                f"{STORE}:45",
                "site-packages/psycopg/cursor.py:97",
            ),
            failure(
                PINNED,
                "AssertionError: assert '2031-05-06' == '2031-05-05'",
                f"{TEST_CUTOFF}:48",
                f"{LADDER}:112",
                f"{CUTOFF}:80",
            ),
        ],
        skipped=2,
    ),
    chat(44, "m11", OTTO, "Duplicate holds, left over from r4. r4 is ours.", "trap: wrong run"),
    chat(45, "m12", FARAH, "We'll take r5 except the cutoff test.", "trap: only a part"),
    chat(45, "m13", LEILA, "We take r5 if it's a rate.", "trap: wrong team, with a condition"),
    chat(
        46,
        "m14",
        FARAH,
        "Never mind, the leftover hold shifts the date too. We'll take r5!",
        "cause: commitment",
    ),
    terminal(47, "docker", "db | checkpoint complete", "distractor: other pane"),
    save(48, MIGRATION, "git pull", "save grace starts; the file asks for full"),
    chat(49, "m15", OTTO, "Hold ids are unique per batch now.", "distractor: chat"),
    cursor(50, f"{MIGRATION}:12", "cause: exactly 2 ticks; * crosses / in the scope pattern"),
    voice(51, "m16", BOJAN, "the module is", "distractor: partial", final=False),
    run_start(52, "r6", "full", "cause: r6 starts"),
    voice(52, "m16", BOJAN, "The module is enough, surely.", "distractor: final speech"),
    run_output(53, "collected 11 items", "distractor: runner line"),
    run_output(54, "......s..s. [100%]", "trap: printed by an active run"),
    run_end(
        55,
        "cause: r6 ends green with exactly 2 skipped",
        passed=[PINNED, *CUTOFF_TESTS, LADDER_TEST, REPLAY, HOLD, FALLBACK, *OTHER_TESTS],
        skipped=2,
    ),
    save(56, "docs/runbook.md", "Sanne", "trap: save of a file nobody watches"),
    edit(57, CUTOFF, "cause: unsaved edit of a watched file"),
    chat(58, "m17", BOJAN, "Just a comment, it's still ready.", "trap: claim about the edit"),
    cursor(59, f"{CUTOFF}:81"),
)

_CHANGES = (
    Change(1, ("route", "process", "inspect_file"), "r2 starts"),
    Change(2, ("process",), "r2 is paused"),
    Change(7, ("route", "control_action"), "the pause age reaches 4"),
    Change(9, ("route", "process", "control_action"), "r2 is resumed"),
    Change(11, ("route", "process", "rerun_scope"), "r2 ends, older than the saves"),
    Change(13, ("route", "process", "rerun_scope"), "r3 starts"),
    Change(18, ("process",), "the silence reaches 4"),
    Change(20, ("route", "control_action"), "the silence reaches 6"),
    Change(22, ("route", "process", "target_result", "control_action"), "r3 is stopped"),
    Change(26, ("route", "rerun_scope"), "holidays.py's save reaches the end of its grace"),
    Change(28, ("route", "process", "rerun_scope"), "r4 starts"),
    Change(31, ("route", "process", "target_result", "owner"), "r4 ends, a rates failure"),
    Change(35, ("route", "owner"), "rates-data commits to r4"),
    Change(39, ("route", "rerun_scope"), "spot.py's save reaches the end of its grace"),
    Change(41, ("route", "process", "rerun_scope"), "r5 starts"),
    Change(44, ("route", "process", "target_result", "owner"), "r5 ends, a new store failure"),
    Change(46, ("route", "owner"), "store-core commits to r5"),
    Change(50, ("route", "rerun_scope"), "the migration's save reaches the end of its grace"),
    Change(52, ("route", "process", "rerun_scope"), "r6 starts"),
    Change(55, ("route", "process", "target_result"), "r6 ends green and complete"),
    Change(57, ("route",), "cutoff.py has unsaved edits"),
)

_FILES = {
    CUTOFF: "Where a late file moves to the next settlement day",
    LADDER: "Where positions are netted, the caller in every traceback",
    HOLIDAYS: "Where bank holidays are listed",
    SPOT: "Where spot prices are read from the rates feeds",
    STORE: "Where the adapters open a session to the store",
}

_TEAMS = {
    "@rates-data": "The team of prices and their sources",
    "@store-core": "The team of the database layer",
    "@ops-tooling": "The team of deploy and of yaml in the adapters",
}

DRAFT_B = Draft(
    scenario_id="debugging_b",
    task_family="live_debugging",
    title="Settlement integration debug session",
    questions=questions(_FILES, _TEAMS),
    decision_spec=SPEC,
    events=_FIRST_HALF + _SECOND_HALF,
    changes=_CHANGES,
    project=projector(MATERIAL_B),
    reference=reference,
)
