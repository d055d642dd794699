"""The public rules of the debugging card: every state carries them in full, as plain text.

A and B share them. Each id names one paragraph; tests and the documentation refer to these ids.
The numbers 1 to 8 inside the texts are the priority order of the card.
"""

from __future__ import annotations

POLICY: dict[str, object] = {
    "stall_ticks": 4,
    "stop_ticks": 6,
    "pause_ticks": 4,
    "save_grace_ticks": 2,
    "max_skipped": 2,
    "commitment_forms": ["we take RUN", "we'll take RUN", "RUN is ours"],
}
"""Thresholds and forms the rules refer to as `policy`. The reference reads them from the state."""

RULES: dict[str, str] = {
    "ticks": (
        "All times are ticks; the age of anything is clock.now minus its tick. Negative ticks lie "
        "before the card was opened. Of entries with the same tick the one listed later is newer."
    ),
    "patterns": (
        "A pattern has to match the whole path. * stands for any characters, also none and also /; "
        "every other character stands for itself. In session.scopes and session.owners the LAST "
        "matching entry of the list applies, however specific the others are."
    ),
    "watched": (
        "A file is watched if an entry of session.scopes matches its path. Unsaved edits and saves "
        "of any other file count for nothing."
    ),
    "runs": (
        "A run is active until it has an ended tick, which may be that of its start, and finished "
        "from then on, whether end says complete or stopped; at most one is active. Its results are "
        "passed, failed, skipped and compiler; what it prints is no result. It executed the tests in "
        "passed and failed; skipped counts those it left out, whatever it calls them. 'The last run' "
        "is the finished run with the greatest ended, also while a newer run is active."
    ),
    "process": (
        "process is idle when no run is active. For an active run it is paused if the run's newest "
        "pause or resume entry in debugger is a pause; if not, stalled when its silence is at least "
        "policy.stall_ticks; if not, running."
    ),
    "silence": (
        "The silence of a run is the age of the newest of these: its start, its newest output line, "
        "its newest resume. Nothing else shortens it: no save, edit or message, no line of "
        "another pane (terminal)."
    ),
    "pause_age": (
        "The pause age of a run is the age of its newest debugger entry of kind pause, evaluate or "
        "step. Nothing else resets it: no entry of another kind, no save, edit or message."
    ),
    "target_result": (
        "target_result comes from the last run alone. session.pinned_test in its passed list: "
        "passed. In its failed list with an error that equals session.original_error to the "
        "character: original_error; with any other error: different_error. In neither list: not_run."
    ),
    "order": (
        "The route is the first of these eight cases that applies: 1 overdue control, 2 wait, 3 rerun "
        "after a change, 4 compiler error, 5 pinned test not executed, 6 selected failure, "
        "7 incomplete coverage, 8 ready."
    ),
    "control": (
        "1: an active run is overdue if paused with a pause age of at least policy.pause_ticks "
        "(route control, control_action continue), or not paused with a silence of at least "
        "policy.stop_ticks (route control, control_action stop). Unsaved edits and fresh saves do "
        "not postpone this."
    ),
    "wait": (
        "2: route wait while a run is active and not overdue, while a watched file is listed in "
        "editor.unsaved, or while a save of a watched file, by any person or tool, has an age below "
        "policy.save_grace_ticks. At exactly policy.save_grace_ticks the grace is over."
    ),
    "changed": (
        "3: a watched file has changed if it has a save later than the last run's started tick, also "
        "while that run was going on. A save at the very tick of the start belongs to the run and is "
        "no change. If any watched file has changed: route rerun, and rerun_scope is the widest scope "
        "of all changed files (full, then module, then target)."
    ),
    "compiler": (
        "4: if the last run's compiler list has an entry of severity error: route inspect, and "
        "inspect_file is the file of the first such entry, whoever owns it. Warnings do not count."
    ),
    "not_executed": "5: if target_result is not_run: route rerun, rerun_scope target.",
    "selection": (
        "6: if the last run's failed list is not empty, one failure is selected: the first newly "
        "failing test in that list; if there is none, the pinned test if it is in the list; "
        "else the first in the list. A test is newly failing if the most recently ended earlier "
        "run that executed it has it in passed; one that no earlier run executed is not."
    ),
    "frame": (
        "The file of a failure is the path of its innermost project frame. A frame reads path:line; "
        "it is a project frame if its path matches one of session.project_paths. "
        "session.frame_order says whether the innermost frame stands first or last in frames."
    ),
    "owner": (
        "The owner of the selected failure is the team session.owners gives for its file. If that "
        "is session.team: route inspect, inspect_file is that file. If it is another team: route "
        "delegate, owner is that team, until that team has committed; then case 6 gives route wait, "
        "and no other failure is selected instead."
    ),
    "commitment": (
        "A team has committed if messages has an entry with final true by a member of that team "
        "(field team) in which one whole sentence reads exactly like one of "
        "policy.commitment_forms, with the last run's id for RUN and capitals ignored. It counts "
        "whenever it was said, also while that run was active. A sentence ends at . or ! or ? before "
        "a space or the end of the text, hence not inside a file name; one that ends at ? commits "
        "nobody. Any further word in the sentence makes it no commitment. Later talk withdraws "
        "none, but a new last run needs a new one."
    ),
    "coverage": (
        "7: if the last run's skipped is above policy.max_skipped: route rerun with the next wider "
        "scope than that run had (after target: module; after module or full: full). Exactly "
        "that many is enough."
    ),
    "ready": "8: if nothing above applies: route ready.",
    "no_effect": (
        "Messages count only as commitments, whatever else people say in them; terminal lines and "
        "the cursor never count."
    ),
    "unused": (
        "Where the route does not use them, rerun_scope, inspect_file and owner are none; "
        "control_action, which has no none, is stop while process is running or stalled, else "
        "continue."
    ),
}


def rule_lines() -> list[str]:
    """The rules as a state shows them: one line a rule, its id in front."""
    return [f"{name}: {text}" for name, text in RULES.items()]
