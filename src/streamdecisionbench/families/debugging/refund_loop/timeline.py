"""Debugging A, "Refund watch loop": a TypeScript refund quote whose failures wander from file to file.

The runner lists the innermost frame first and watches the quote tests, so that a small run is often
over within the tick of the save that set it off. What the sources say of each event begins with its
part: a cause, a trap, or a claim that is true or false.
"""

from __future__ import annotations

from streamdecisionbench.families.debugging.events import (
    chat,
    cursor,
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
from streamdecisionbench.families.debugging.refund_loop.setting import (
    CSV,
    DAY_30,
    FILES,
    FORMAT,
    GIFT,
    HALF_CENT,
    INES,
    JONAS,
    LABELS,
    LINE,
    MATERIAL,
    MIDNIGHT,
    MIRA,
    ORIGINAL,
    OUTLET,
    PIA,
    PINNED,
    PRICE,
    QUOTE,
    QUOTE_SPEC,
    RAVI,
    RECEIPT,
    RESTOCK,
    ROUND,
    TEAMS,
    TEUN,
    VOUCHER,
    WINDOW,
    WINDOW_SPEC,
)
from streamdecisionbench.families.debugging.state import projector
from streamdecisionbench.suite.authoring import Change, Draft, Event

OPENING: tuple[Event, ...] = (
    chat(0, "m1", TEUN, "Somebody left an only in a spec.", "true: so r1 left the pin out"),
    voice(1, "m2", MIRA, "so the quote", "distractor: speech that grows", final=False),
    voice(2, "m2", MIRA, "so the quote tests never", "distractor: it grows", final=False),
    cursor(2, f"{QUOTE}:12"),
    *quick_run(
        3,
        "r2",
        "target",
        "cause: r2 ends; the voucher test stands first but no run ever executed it, so the pin is next",
        passed=[DAY_30, HALF_CENT],
        failed=[
            failure(
                VOUCHER, "expected 5 to be 4", f"{ROUND}:17", f"{RESTOCK}:39", f"{QUOTE_SPEC}:70"
            ),
            failure(
                PINNED, ORIGINAL, "node_modules/chai.js:88", f"{RESTOCK}:42", f"{QUOTE_SPEC}:21"
            ),
        ],
        skipped=5,
    ),
    voice(3, "m2", MIRA, "So the quote tests never ran.", "true: final speech about r1"),
    chat(4, "m3", TEUN, "Start with the voucher.", "false: it was never executed before"),
    edit(5, RESTOCK, "cause: unsaved edit of a watched file"),
    cursor(6, f"{QUOTE_SPEC}:21"),
    save(7, RESTOCK, "Mira", "trap: at the very start of r3, so part of it; the save grace starts"),
    *quick_run(
        7,
        "r3",
        "target",
        "r3 ends within the grace; day 30 fails now, in a file that the one just saved calls",
        passed=[HALF_CENT, VOUCHER],
        failed=[
            failure(
                DAY_30,
                "expected 'closed' to be 'open'",
                f"{WINDOW}:53",
                f"{RESTOCK}:47",
                f"{QUOTE_SPEC}:37",
            ),
            failure(PINNED, ORIGINAL, f"{RESTOCK}:44", f"{QUOTE_SPEC}:21"),
        ],
        skipped=5,
    ),
    save(9, f"{QUOTE_SPEC}.snap", "vitest", "trap: watched only by somebody who reads prefixes"),
    chat(9, "m4", TEUN, "Day 30 is new, that goes first.", "true: a newly failing test"),
)

ROUNDING: tuple[Event, ...] = (
    save(11, WINDOW, "Mira", "trap: at the very start of r4, so part of it"),
    run_start(11, "r4", "module", "cause: r4 starts"),
    voice(12, "m5", RAVI, "we", "distractor: speech that grows", final=False),
    voice(13, "m5", RAVI, "we take", "distractor: it grows", final=False),
    run_end(
        14,
        "cause: r4 ends; both failures lie in round.ts",
        passed=[DAY_30, VOUCHER, MIDNIGHT, GIFT, OUTLET],
        failed=[
            failure(PINNED, ORIGINAL, f"{ROUND}:31", f"{RESTOCK}:44", f"{QUOTE_SPEC}:21"),
            failure(
                HALF_CENT, "expected 12 to be 13", f"{ROUND}:17", f"{WINDOW}:60", f"{QUOTE_SPEC}:64"
            ),
        ],
        skipped=2,
    ),
    voice(14, "m5", RAVI, "we take r4", "trap: the right words, not final", final=False),
    chat(14, "m6", INES, "We take r4?", "trap: a question"),
    voice(15, "m5", RAVI, "We take r4 once main is green.", "trap: the final adds a condition"),
    chat(15, "m7", JONAS, "We take r4.", "trap: right run, wrong team"),
    chat(
        16,
        "m8",
        INES,
        "Still red? We take r4.",
        "cause: commitment; the question is another sentence",
    ),
    cursor(17, f"{ROUND}:31"),
    chat(18, "m9", RAVI, "Hm, r4 is not ours.", "trap: later talk withdraws nothing"),
    save(20, FORMAT, "git pull", "money-core's fix, part of r5"),
    save(20, ROUND, "git pull", "the same pull, part of r5"),
    run_start(20, "r5", "module", "cause: r5 starts"),
    cursor(21, f"{RESTOCK}:44"),
    terminal(22, "tsc", "quote.ts(3,8): error TS2305", "trap: compiler error in another pane"),
    run_end(
        23,
        "cause: r5 ends with compiler errors in what was pulled; a warning stands first",
        passed=[],
        skipped=9,
        compiler=[
            diagnostic("warning", ROUND, "'half' unused"),
            diagnostic("error", FORMAT, "TS2305: no export 'digits'"),
            diagnostic("error", ROUND, "TS2554: 2 arguments"),
        ],
    ),
    chat(24, "m10", TEUN, "Not our file, hand it over.", "false: whoever owns it, inspect"),
)

QUOTING: tuple[Event, ...] = (
    save(25, FORMAT, "git pull", "trap: at the very start of r6, so part of it"),
    save(25, ROUND, "git pull", "trap: so is this one"),
    run_start(25, "r6", "module", "cause: r6 starts"),
    run_output(27, "x quote/half_cent", "true: printed by an active run, no result all the same"),
    cursor(28, f"{ROUND}:31"),
    run_end(
        29,
        "cause: r6 ends; half_cent stands first and passed once, but failed when last executed",
        passed=[DAY_30, VOUCHER, MIDNIGHT, GIFT, OUTLET],
        failed=[
            failure(
                HALF_CENT, "expected 12 to be 13", f"{ROUND}:19", f"{QUOTE}:40", f"{QUOTE_SPEC}:64"
            ),
            failure(
                PINNED,
                "expected 1680 to be 1430",
                f"{QUOTE}:33",
                f"{RESTOCK}:44",
                f"{QUOTE_SPEC}:21",
            ),
        ],
        skipped=2,
    ),
    chat(30, "m11", TEUN, "Open quote.ts, I'd say.", "true: that is the file"),
    save(31, QUOTE, "Mira", "trap: at the very start of r7, so part of it"),
    run_start(31, "r7", "module", "cause: r7 starts"),
    cursor(33, f"{WINDOW_SPEC}:12"),
    run_end(
        34,
        "cause: r7 ends; the pin passes, a label in our own folder belongs to another team",
        passed=[PINNED, DAY_30, HALF_CENT, VOUCHER, GIFT, OUTLET],
        failed=[
            failure(MIDNIGHT, "labels is null", f"{LABELS}:8", f"{QUOTE}:45", f"{WINDOW_SPEC}:12")
        ],
        skipped=2,
    ),
    chat(34, "m12", PIA, "Labels? r6 is ours.", "trap: right team, wrong run"),
    chat(35, "m13", TEUN, "Pia says r7 is ours.", "trap: hearsay of our own team"),
    cursor(35, f"{RECEIPT}:33"),
    save(36, LABELS, "git pull", "design-kit's fix, part of r8"),
    save(
        36, WINDOW_SPEC, "git pull", "a spec nobody watches; the gift test is skipped from now on"
    ),
    run_start(36, "r8", "module", "cause: r8 starts"),
    chat(
        37,
        "m14",
        PIA,
        "Blame me if it's red. We take r8.",
        "harmless: said while r8 is active; r8 ends green",
    ),
    run_end(
        39,
        "cause: r8 ends green, but a module run with 3 skipped is too narrow",
        passed=[PINNED, DAY_30, HALF_CENT, VOUCHER, MIDNIGHT, OUTLET],
        skipped=3,
    ),
    chat(40, "m15", TEUN, "All green, ship it.", "false: the coverage is incomplete"),
    terminal(41, "lint", "0 problems", "distractor: other pane"),
)

RECEIPTS: tuple[Event, ...] = (
    save(43, RECEIPT, "Mira", "cause: a watched file is saved, at the start of r9"),
    *quick_run(
        43,
        "r9",
        "target",
        "r9 ends within the grace; the voucher test fails now, in the file just saved",
        passed=[PINNED, DAY_30, HALF_CENT],
        failed=[
            failure(
                VOUCHER,
                "expected 2 to be 1",
                "node_modules/intl.js:4",
                f"{RECEIPT}:33",
                f"{QUOTE}:51",
            )
        ],
        skipped=5,
    ),
    save(45, WINDOW_SPEC, "Mira", "trap: a spec nobody watches; the gift test is back"),
    save(47, RECEIPT, "Mira", "trap: at the very start of r10, so part of it"),
    run_start(47, "r10", "full", "cause: r10 starts"),
    cursor(49, f"{QUOTE}:51"),
    run_end(
        50,
        "cause: r10 ends green with exactly 2 skipped, which is enough",
        passed=[PINNED, DAY_30, HALF_CENT, VOUCHER, MIDNIGHT, GIFT, OUTLET, LINE, CSV],
        skipped=2,
    ),
    edit(51, "docs/returns.md", "trap: an unsaved file nobody watches, until the end"),
    edit(53, QUOTE, "cause: unsaved edit of a watched file"),
    save(56, PRICE, "git pull", "a pull saves a file of the interface, part of r11"),
    save(56, QUOTE, "Mira", "the save grace starts; part of r11"),
    *quick_run(
        56,
        "r11",
        "target",
        "r11 ends within the grace; half_cent fails now, in the file just pulled",
        passed=[PINNED, DAY_30, VOUCHER],
        failed=[
            failure(HALF_CENT, "price is NaN", f"{PRICE}:14", f"{QUOTE}:40", f"{QUOTE_SPEC}:64")
        ],
        skipped=5,
    ),
    voice(57, "m16", JONAS, "we'll take", "distractor: speech that grows", final=False),
    voice(58, "m16", JONAS, "we'll take r11", "trap: the right words, not final", final=False),
    voice(59, "m16", JONAS, "We'll take r11 on Monday.", "trap: the final adds a time"),
)

CHANGES: tuple[Change, ...] = (
    Change(3, ("route", "target_result", "rerun_scope", "inspect_file"), "r2 ends, the pin fails"),
    Change(5, ("route", "inspect_file"), "restock.ts has unsaved edits"),
    Change(9, ("route", "inspect_file"), "restock.ts's save reaches the end of its grace"),
    Change(11, ("route", "process", "inspect_file"), "r4 starts"),
    Change(14, ("route", "process", "owner"), "r4 ends, failures of money-core"),
    Change(16, ("route", "owner"), "money-core commits to r4"),
    Change(20, ("process",), "r5 starts"),
    Change(23, ("route", "process", "target_result", "inspect_file"), "r5 ends, compiler error"),
    Change(25, ("route", "process", "inspect_file"), "r6 starts"),
    Change(
        29, ("route", "process", "target_result", "inspect_file"), "r6 ends, the pin is selected"
    ),
    Change(31, ("route", "process", "inspect_file"), "r7 starts"),
    Change(34, ("route", "process", "target_result", "owner"), "r7 ends, a label of design-kit"),
    Change(36, ("route", "process", "owner"), "r8 starts"),
    Change(39, ("route", "process", "rerun_scope"), "r8 is green but too narrow"),
    Change(43, ("route", "rerun_scope"), "receipt.ts is saved"),
    Change(45, ("route", "inspect_file"), "receipt.ts's save reaches the end of its grace"),
    Change(47, ("route", "process", "inspect_file"), "r10 starts"),
    Change(50, ("route", "process"), "r10 is green and wide enough"),
    Change(53, ("route",), "quote.ts has unsaved edits"),
    Change(58, ("route", "owner"), "both saves reach the end of their grace"),
)

DRAFT = Draft(
    scenario_id="debugging_a",
    task_family="live_debugging",
    title="Refund watch loop",
    questions=questions(FILES, TEAMS),
    decision_spec=SPEC,
    events=OPENING + ROUNDING + QUOTING + RECEIPTS,
    changes=CHANGES,
    project=projector(MATERIAL),
    reference=reference,
)
