"""Debugging A, "Refund watch loop": a TypeScript refund quote, its own regression and a hand-over.

The pinned test's runner lists the innermost frame first. Three teams beside our own appear in the
ownership list; one of them owns the only failure that leaves the team.
"""

from __future__ import annotations

from streamdecisionbench.families.debugging.events import (
    chat,
    cursor,
    diagnostic,
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

__all__ = ["DRAFT_A", "MATERIAL_A"]

WINDOW = "src/returns/window.ts"
RESTOCK = "src/returns/restock.ts"
ROUND = "src/shared/decimal/round.ts"
RECEIPT = "src/returns/receipt.ts"
CONFIG = "config/vitest.config.ts"
FORMAT = "src/reports/export/decimal/format.ts"

PINNED = "quote/restock_fee_once"
DAY_30 = "quote/day_30_open"
HALF_CENT = "quote/half_cents_up"
VOUCHER = "quote/voucher_share"
WINDOW_TESTS = ("window/gift_60_days", "window/midnight")
TIER_TESTS = ("tiers/outlet", "tiers/empty_basket")
CSV = "export/csv_totals"
RECEIPT_TEST = "receipt/line_once"
OTHER_TESTS = ("receipt/address", "export/header_row")

ORIGINAL = "AssertionError: expected 1180 to be 1430"
PINNED_NOW = "AssertionError: expected 1680 to be 1430"
HALF_CENT_ERROR = "AssertionError: expected 0.12 to be 0.13"

MIRA = ("Mira", "@returns")
TEUN = ("Teun", "@returns")
INES = ("Ines", "@money-core")
RAVI = ("Ravi", "@money-core")
JONAS = ("Jonas", "@web-platform")

MATERIAL_A = Material(
    session={
        "project": "till-web (TypeScript)",
        "team": "@returns",
        "pinned_test": PINNED,
        "original_error": ORIGINAL,
        "frame_order": "innermost_first",
        "project_paths": ["src/*", "tests/*"],
        "scopes": [
            {"pattern": "src/*", "scope": "module"},
            {"pattern": "src/returns/*", "scope": "target"},
            {"pattern": "tests/quote.spec.ts", "scope": "target"},
            {"pattern": "*.config.ts", "scope": "full"},
            {"pattern": "package.json", "scope": "full"},
        ],
        "owners": [
            {"pattern": "*", "team": "@web-platform"},
            {"pattern": "tests/*", "team": "@returns"},
            {"pattern": "src/returns/*", "team": "@returns"},
            {"pattern": "src/ui/*", "team": "@design-kit"},
            {"pattern": "src/*/decimal/*", "team": "@money-core"},
            {"pattern": "src/shared/*.css", "team": "@design-kit"},
        ],
    },
    earlier_run={
        "id": "r1",
        "scope": "module",
        "started": -9,
        "ended": -5,
        "end": "complete",
        "output": [{"at": -6, "text": "Tests 2 failed | 6 passed | 2 skipped (10)"}],
        "passed": [DAY_30, VOUCHER, *WINDOW_TESTS, *TIER_TESTS],
        "failed": [
            failure(HALF_CENT, HALF_CENT_ERROR, f"{ROUND}:17", "tests/quote.spec.ts:64"),
            failure(PINNED, ORIGINAL, f"{RESTOCK}:42", "tests/quote.spec.ts:21"),
        ],
        "skipped": 2,
        "compiler": [],
    },
    cursor=f"{WINDOW}:51",
)

_FIRST_HALF: tuple[Event, ...] = (
    save(0, RESTOCK, "Mira", "trap: saved at the very start of r2, so it is part of r2"),
    save(0, WINDOW, "Mira", "trap: saved together with it, so it is part of r2 too"),
    run_start(0, "r2", "module", "r2 starts; r1 still supplies the target badge"),
    run_output(1, "RUN v4.0.3 till-web", "distractor: runner line in an active run"),
    run_output(2, "x quote/day_30_open", "trap: printed by an active run, no result"),
    voice(2, "m1", TEUN, "that's the same error as", "distractor: partial speech", final=False),
    run_end(
        3,
        "cause: r2 ends; the new day-30 failure outranks the pinned one listed before it",
        passed=[VOUCHER, *WINDOW_TESTS, *TIER_TESTS],
        failed=[
            failure(HALF_CENT, HALF_CENT_ERROR, f"{ROUND}:17", "tests/quote.spec.ts:64"),
            failure(PINNED, PINNED_NOW, f"{RESTOCK}:44", "tests/quote.spec.ts:21"),
            failure(
                DAY_30,
                "AssertionError: expected 'closed' to be 'open'",
                "node_modules/chai/src/expect.js:88",
                f"{WINDOW}:53",
                "tests/quote.spec.ts:37",
            ),
        ],
        skipped=2,
    ),
    voice(
        3,
        "m1",
        TEUN,
        "That's the same error as before, look at restock.",
        "trap: final speech that is wrong about the error and names another file",
    ),
    terminal(4, "lint", "restock.ts 3:9 'tier' is never reassigned", "distractor: other pane"),
    edit(5, WINDOW, "cause: unsaved edit of a watched file"),
    cursor(6, f"{WINDOW}:54"),
    save(7, WINDOW, "Mira", "save grace starts"),
    terminal(8, "lint", "1 problem", "distractor: other pane during the grace"),
    chat(
        9,
        "m2",
        TEUN,
        "Don't rerun yet, I'm still reading the diff.",
        "cause: the save is exactly 2 ticks old; distractor: chat asking to hold on",
    ),
    cursor(10, f"{RESTOCK}:40"),
    run_start(11, "r3", "target", "cause: r3 starts"),
    run_output(12, "RUN v4.0.3 till-web", "distractor: runner line"),
    chat(13, "m3", INES, "The half-cent one looks like our helper.", "distractor: no form"),
    run_end(
        14,
        "cause: r3 ends; nothing new, so the pinned failure goes before the one listed first",
        passed=[DAY_30, VOUCHER],
        failed=[
            failure(HALF_CENT, HALF_CENT_ERROR, f"{ROUND}:17", "tests/quote.spec.ts:64"),
            failure(PINNED, PINNED_NOW, f"{RESTOCK}:44", "tests/quote.spec.ts:21"),
        ],
        skipped=6,
    ),
    chat(15, "m4", INES, "We take r3.", "trap: commitment of a team that owns another failure"),
    edit(16, RESTOCK, "cause: unsaved edit of a watched file"),
    voice(17, "m5", MIRA, "two arguments now, amount and", "distractor: partial", final=False),
    voice(18, "m5", MIRA, "Two arguments now, amount and tier.", "distractor: final speech"),
    save(18, ROUND, "git pull", "money-core's fix lands; restock.ts is still unsaved"),
    cursor(19, f"{RESTOCK}:47"),
    save(20, RESTOCK, "Mira", "trap: saved at the start of r4, so part of it"),
    run_start(20, "r4", "target", "cause: r4 starts"),
    run_output(21, "> tsc --noEmit", "distractor: runner line"),
    terminal(22, "tsc", "window.ts(56,12): error TS2554", "trap: compiler error in another pane"),
    run_end(
        23,
        "cause: r4 ends with compiler errors; the warning listed first is skipped over",
        passed=[],
        skipped=10,
        compiler=[
            diagnostic("warning", RESTOCK, "'fee' is declared but never read"),
            diagnostic("error", WINDOW, "TS2554: Expected 2 arguments, but got 1"),
            diagnostic(
                "error", "src/returns/quote.ts", "TS2305: './window' has no exported member 'Tier'"
            ),
        ],
    ),
    chat(24, "m6", TEUN, "quote.ts is the real problem, no?", "trap: chat names another file"),
    edit(25, WINDOW, "cause: unsaved edit of a watched file"),
    cursor(26, "src/returns/quote.ts:12"),
    save(27, WINDOW, "Mira", "save grace starts"),
    terminal(
        28,
        "tsc",
        "Found 0 errors. Watching for file changes.",
        "distractor: other pane during the grace",
    ),
    cursor(29, f"{WINDOW}:57", "cause: the save is exactly 2 ticks old; r4's error is outdated"),
)

_SECOND_HALF: tuple[Event, ...] = (
    cursor(30, f"{WINDOW}:12"),
    run_start(31, "r5", "target", "cause: r5 starts"),
    run_output(32, "ok quote/restock_fee_once", "trap: printed by an active run"),
    chat(33, "m7", TEUN, "Green! Ship it.", "trap: claim about a result"),
    run_end(
        34,
        "cause: r5 ends green, but it skipped 6 tests",
        passed=[PINNED, DAY_30, HALF_CENT, VOUCHER],
        skipped=6,
    ),
    cursor(35, "tests/quote.spec.ts:21"),
    run_start(36, "r6", "module", "cause: r6 starts"),
    run_output(37, "RUN v4.0.3 till-web", "distractor: runner line"),
    terminal(38, "dev", "GET /returns/quote 200 in 31 ms", "distractor: other pane"),
    run_end(
        39,
        "cause: r6 ends green with exactly 2 skipped, which is complete",
        passed=[PINNED, DAY_30, HALF_CENT, VOUCHER, *WINDOW_TESTS, *TIER_TESTS],
        skipped=2,
    ),
    save(40, "docs/returns.md", "Mira", "trap: save of a file nobody watches"),
    edit(41, "notes/refund-todo.txt", "trap: unsaved file nobody watches, until the end"),
    chat(42, "m8", TEUN, "I'd still rerun everything.", "distractor: advice"),
    save(43, CONFIG, "git pull", "cause: a watched file is saved, by a tool; * crosses /"),
    chat(44, "m9", JONAS, "New test pool settings on main, sorry.", "distractor: chat"),
    cursor(45, f"{CONFIG}:9", "cause: the save is exactly 2 ticks old; it asks for full"),
    terminal(46, "dev", "server restarted, ready in 212 ms", "distractor: other pane"),
    run_start(47, "r7", "full", "cause: r7 starts"),
    run_output(48, "x receipt/line_once", "trap: printed by an active run"),
    voice(49, "m10", TEUN, "Receipt is ours, open receipt.ts.", "trap: speech names a file"),
    run_end(
        50,
        "cause: r7 ends; neither failure was ever executed before, so list order decides, and * "
        "crosses / in the owner pattern",
        passed=[
            PINNED,
            DAY_30,
            HALF_CENT,
            VOUCHER,
            *WINDOW_TESTS,
            *TIER_TESTS,
            *OTHER_TESTS,
        ],
        failed=[
            failure(
                CSV,
                "RangeError: digits out of range",
                "node_modules/decimal-lite/src/decimal/core.js:310",
                f"{FORMAT}:28",
                "src/reports/export/csv.ts:74",
                "tests/export.spec.ts:19",
            ),
            failure(
                RECEIPT_TEST,
                "AssertionError: expected 2 to be 1",
                f"{RECEIPT}:33",
                "tests/receipt.spec.ts:12",
            ),
        ],
        skipped=2,
    ),
    chat(50, "m11", JONAS, "Bet it's my pool change. We take r7.", "trap: right run, wrong team"),
    chat(51, "m12", INES, "Seen it. We'll take r6.", "trap: right team, wrong run"),
    voice(51, "m13", RAVI, "we take r7", "trap: right words, not final", final=False),
    voice(
        52,
        "m13",
        RAVI,
        "We take r7 once the release branch is cut.",
        "trap: the final text adds a condition",
    ),
    chat(52, "m14", TEUN, "Money-core says r7 is theirs, great.", "trap: hearsay"),
    chat(53, "m15", INES, "Branch is cut, and I meant r7. We'll take r7.", "cause: commitment"),
    terminal(54, "git", "money-core/format-digits pushed", "distractor: other pane"),
    edit(55, RECEIPT, "unsaved edit; the card waits already"),
    save(56, RECEIPT, "Mira", "save grace starts"),
    chat(57, "m16", RAVI, "Fix for the digits is in review.", "distractor: chat"),
    cursor(58, f"{RECEIPT}:35", "cause: the save is exactly 2 ticks old; r7 predates it"),
    terminal(59, "lint", "0 problems", "distractor: other pane"),
)

_CHANGES = (
    Change(3, ("route", "process", "target_result", "inspect_file"), "r2 ends with a new failure"),
    Change(5, ("route", "inspect_file"), "window.ts has unsaved edits"),
    Change(9, ("route", "rerun_scope"), "window.ts's save reaches the end of its grace"),
    Change(11, ("route", "process", "rerun_scope"), "r3 starts"),
    Change(14, ("route", "process", "inspect_file"), "r3 ends, the pinned test is selected"),
    Change(16, ("route", "inspect_file"), "restock.ts has unsaved edits"),
    Change(20, ("process",), "r4 starts"),
    Change(23, ("route", "process", "target_result", "inspect_file"), "r4 ends, compiler error"),
    Change(25, ("route", "inspect_file"), "window.ts has unsaved edits"),
    Change(29, ("route", "rerun_scope"), "window.ts's save reaches the end of its grace"),
    Change(31, ("route", "process", "rerun_scope"), "r5 starts"),
    Change(34, ("route", "process", "target_result", "rerun_scope"), "r5 is green but too narrow"),
    Change(36, ("route", "process", "rerun_scope"), "r6 starts"),
    Change(39, ("route", "process"), "r6 is green and wide enough"),
    Change(43, ("route",), "the pull saves vitest.config.ts"),
    Change(45, ("route", "rerun_scope"), "the pull's save reaches the end of its grace"),
    Change(47, ("route", "process", "rerun_scope"), "r7 starts"),
    Change(50, ("route", "process", "owner"), "r7 ends with a failure of another team"),
    Change(53, ("route", "owner"), "the owning team commits to r7"),
    Change(58, ("route", "rerun_scope"), "receipt.ts's save reaches the end of its grace"),
)

_FILES = {
    WINDOW: "Where the days for a return are counted",
    RESTOCK: "Where the restocking fee is charged",
    "src/returns/quote.ts": "Where the refund quote is put together",
    RECEIPT: "Where the returned line of a receipt is printed",
    FORMAT: "Where decimal digits are formatted for reports",
}

_TEAMS = {
    "@web-platform": "The team of the build and of the rest",
    "@money-core": "The team of amounts and rounding",
    "@design-kit": "The team of styles and buttons",
}

DRAFT_A = Draft(
    scenario_id="debugging_a",
    task_family="live_debugging",
    title="Refund watch loop",
    questions=questions(_FILES, _TEAMS),
    decision_spec=SPEC,
    events=_FIRST_HALF + _SECOND_HALF,
    changes=_CHANGES,
    project=projector(MATERIAL_A),
    reference=reference,
)
