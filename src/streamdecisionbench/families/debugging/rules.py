"""The public rules of the debugging card: every state carries them in full, as plain text.

A and B share them. Each id names one paragraph; tests and the documentation refer to these ids.
The numbers 1 to 8 inside the texts are the priority order of the card.
"""

from __future__ import annotations

__all__ = ["POLICY", "RULES", "rule_lines"]

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
        "before the card was opened."
    ),
    "patterns": (
        "A pattern has to match the whole path. * stands for any characters, including none and "
        "including /; every other character stands for itself. In session.scopes and in "
        "session.owners the LAST matching entry of the list applies, however specific the others are."
    ),
    "watched": (
        "A file is watched if an entry of session.scopes matches its path. Unsaved edits and saves "
        "of any other file (notes, documents) count for nothing."
    ),
    "runs": (
        "A run is active until it has an ended tick and finished from then on, whether end says "
        "complete or stopped; at most one is active. Its results (passed, failed, skipped, compiler) "
        "exist only once it has ended; what it prints is not a result. 'The last run' is the finished "
        "run with the greatest ended, also while a newer run is active. There always is one."
    ),
    "process": (
        "process is idle when no run is active. For an active run it is paused if the run's newest "
        "pause or resume entry in debugger is a pause; if not, stalled when its silence is at least "
        "policy.stall_ticks; if not, running."
    ),
    "silence": (
        "The silence of a run is the age of the newest of these: its start, its newest output line, "
        "its newest resume. Nothing else shortens it: not saves, edits, speech or chat, and not "
        "terminal, whose lines come from other panes."
    ),
    "pause_age": (
        "The pause age of a run is the age of its newest debugger entry of kind pause, evaluate or "
        "step. Entries of kind breakpoint or watch_refresh, cursor moves, edits, saves and speech "
        "do not reset it."
    ),
    "target_result": (
        "target_result comes from the last run alone. session.pinned_test in its passed list: "
        "passed. In its failed list with an error equal, character for character, to "
        "session.original_error: original_error; with any other error: different_error. In neither "
        "list: not_run."
    ),
    "order": (
        "The route is the first of these eight cases that applies: 1 overdue control, 2 wait, 3 rerun "
        "after a change, 4 compiler error, 5 pinned test not executed, 6 selected failure, "
        "7 incomplete coverage, 8 ready. process and target_result go with every route."
    ),
    "control": (
        "1: an active run is overdue if it is paused with a pause age of at least "
        "policy.pause_ticks (route control, control_action continue), or not paused with a silence of "
        "at least policy.stop_ticks (route control, control_action stop). Unsaved edits and fresh "
        "saves do not postpone this."
    ),
    "wait": (
        "2: route wait while a run is active and not overdue, while a watched file is listed in "
        "editor.unsaved, or while a save of a watched file, by any person or tool, has an age below "
        "policy.save_grace_ticks. At exactly policy.save_grace_ticks the grace is over."
    ),
    "changed": (
        "3: a watched file has changed if it has a save later than the last run's started tick, even "
        "one made while that run was going on. A save at the very tick of the start belongs to the run "
        "and is no change. If any watched file has changed: route rerun, and rerun_scope is the widest "
        "scope of all changed files (full, then module, then target)."
    ),
    "compiler": (
        "4: if the last run's compiler list has an entry of severity error: route inspect, and "
        "inspect_file is the file of the first such entry, whoever owns it. Warnings do not count."
    ),
    "not_executed": "5: if target_result is not_run: route rerun, rerun_scope target.",
    "selection": (
        "6: if the last run's failed list is not empty, one failure is selected: the first newly "
        "failing test in that list; if there is none, the pinned test if it is in the list; "
        "otherwise the first in the list. A test is newly failing if it is in the list and the most "
        "recently ended earlier run that executed it has it in passed. A test that no earlier run "
        "executed (in passed or failed) is not newly failing."
    ),
    "frame": (
        "The file of a failure is the path of its innermost project frame. A frame reads path:line; "
        "it is a project frame if its path matches one of session.project_paths. "
        "session.frame_order says whether the innermost frame stands first or last in frames."
    ),
    "owner": (
        "The owner of the selected failure is the team session.owners gives for its file. If that "
        "is session.team: route inspect, inspect_file is that file. If it is another team: route "
        "delegate, owner is that team, until that team has committed; then case 6 gives route wait "
        "(cases 1 to 5 still come first), and no other failure is selected instead."
    ),
    "commitment": (
        "A team has committed if messages has an entry with final true, spoken by a member of that "
        "team (field team), in which one whole sentence reads exactly like one of "
        "policy.commitment_forms, with the last run's id for RUN and capitals ignored. A sentence "
        "ends at . or ! or with the text; a question commits nobody. With one more word in the "
        "sentence (a doubt, a condition, a part of the run, a time) it is no commitment; nor is it "
        "one for another run, from another team, as hearsay, or with final false. Later talk "
        "withdraws no commitment, but a new last run needs a new one."
    ),
    "coverage": (
        "7: if the last run's skipped is above policy.max_skipped: route rerun with the next wider "
        "scope than that run had (after target: module; after module or full: full). Exactly "
        "policy.max_skipped is enough coverage."
    ),
    "ready": "8: if nothing above applies: route ready.",
    "no_effect": (
        "Messages count only as commitments; terminal lines and the cursor never count. What people "
        "say about results, hangs, owners or next steps is not evidence."
    ),
    "unused": (
        "Where the route does not use them, rerun_scope, inspect_file and owner are none; "
        "control_action, which has no none, is continue."
    ),
}


def rule_lines() -> list[str]:
    """The rules as a state shows them: one line a rule, its id in front."""
    return [f"{name}: {text}" for name, text in RULES.items()]
