"""The second solver of the debugging family: written from the published rules alone."""

from __future__ import annotations

import re
from typing import Any

Entry = dict[str, Any]
State = dict[str, Any]

NONE = "none"
SCOPES_BY_WIDTH = ("target", "module", "full")
NEXT_WIDER = {"target": "module", "module": "full", "full": "full"}
UNUSED = {"rerun_scope": NONE, "inspect_file": NONE, "owner": NONE}
UNDER_WAY = ("running", "stalled")


# patterns, watched


def matches(pattern: str, path: str) -> bool:
    """A pattern has to match the whole path; only * is special."""
    expression = ".*".join(re.escape(piece) for piece in pattern.split("*"))
    return re.fullmatch(expression, path, re.DOTALL) is not None


def last_matching(entries: list[Entry], path: str) -> Entry | None:
    """In session.scopes and session.owners the last matching entry applies."""
    found = None
    for entry in entries:
        if matches(entry["pattern"], path):
            found = entry
    return found


def scope_of(state: State, path: str) -> str | None:
    """The scope of a watched file, or nothing for a file that is not watched."""
    entry = last_matching(state["session"]["scopes"], path)
    return None if entry is None else str(entry["scope"])


def watched_saves(state: State) -> list[Entry]:
    return [save for save in state["saves"] if scope_of(state, save["path"]) is not None]


# ticks, runs


def age(state: State, tick: int) -> int:
    return int(state["clock"]["now"]) - tick


def active_run(state: State) -> Entry | None:
    for run in state["runs"]:
        if run.get("ended") is None:
            return dict(run)
    return None


def finished_runs(state: State) -> list[Entry]:
    """Finished runs, the most recently ended one last."""
    ended = [run for run in state["runs"] if run.get("ended") is not None]
    return sorted(ended, key=lambda run: int(run["ended"]))


def last_run(state: State) -> Entry:
    return finished_runs(state)[-1]


# process, silence, pause_age


def debugger_entries(state: State, run: Entry, kinds: tuple[str, ...]) -> list[Entry]:
    """The run's debugger entries of these kinds, the newest last."""
    own = [e for e in state["debugger"] if e["run"] == run["id"] and e["kind"] in kinds]
    return sorted(own, key=lambda entry: int(entry["at"]))


def is_paused(state: State, run: Entry) -> bool:
    switches = debugger_entries(state, run, ("pause", "resume"))
    return bool(switches) and switches[-1]["kind"] == "pause"


def silence(state: State, run: Entry) -> int:
    ticks = [int(run["started"])]
    ticks += [int(line["at"]) for line in run.get("output", [])]
    ticks += [int(entry["at"]) for entry in debugger_entries(state, run, ("resume",))]
    return age(state, max(ticks))


def pause_age(state: State, run: Entry) -> int:
    return age(state, int(debugger_entries(state, run, ("pause", "evaluate", "step"))[-1]["at"]))


def process(state: State) -> str:
    run = active_run(state)
    if run is None:
        return "idle"
    if is_paused(state, run):
        return "paused"
    return "stalled" if silence(state, run) >= state["policy"]["stall_ticks"] else "running"


# target_result


def failure_of(run: Entry, test: str) -> Entry | None:
    for failure in run.get("failed", []):
        if failure["test"] == test:
            return dict(failure)
    return None


def target_result(state: State) -> str:
    session, run = state["session"], last_run(state)
    if session["pinned_test"] in run.get("passed", []):
        return "passed"
    failure = failure_of(run, session["pinned_test"])
    if failure is None:
        return "not_run"
    same = failure["error"] == session["original_error"]
    return "original_error" if same else "different_error"


# the eight cases: each gives the route with its fields, or nothing if it does not apply


def case_control(state: State) -> Entry | None:
    run = active_run(state)
    if run is None:
        return None
    if is_paused(state, run):
        if pause_age(state, run) >= state["policy"]["pause_ticks"]:
            return {"route": "control", "control_action": "continue"}
    elif silence(state, run) >= state["policy"]["stop_ticks"]:
        return {"route": "control", "control_action": "stop"}
    return None


def case_wait(state: State) -> Entry | None:
    grace = state["policy"]["save_grace_ticks"]
    unsaved = [edit["path"] for edit in state["editor"]["unsaved"]]
    if (
        active_run(state) is not None
        or any(scope_of(state, path) is not None for path in unsaved)
        or any(age(state, save["at"]) < grace for save in watched_saves(state))
    ):
        return {"route": "wait"}
    return None


def case_changed(state: State) -> Entry | None:
    started = last_run(state)["started"]
    changed = [save["path"] for save in watched_saves(state) if save["at"] > started]
    scopes = [scope for scope in (scope_of(state, path) for path in changed) if scope]
    if not scopes:
        return None
    return {"route": "rerun", "rerun_scope": max(scopes, key=SCOPES_BY_WIDTH.index)}


def case_compiler(state: State) -> Entry | None:
    for entry in last_run(state).get("compiler", []):
        if entry["severity"] == "error":
            return {"route": "inspect", "inspect_file": entry["file"]}
    return None


def case_not_executed(state: State) -> Entry | None:
    if target_result(state) == "not_run":
        return {"route": "rerun", "rerun_scope": "target"}
    return None


def case_failure(state: State) -> Entry | None:
    failure = selected_failure(state)
    if failure is None:
        return None
    file = file_of(state, failure)
    entry = last_matching(state["session"]["owners"], file)
    team = NONE if entry is None else str(entry["team"])
    if team == state["session"]["team"]:
        return {"route": "inspect", "inspect_file": file}
    if has_committed(state, team):
        return {"route": "wait"}
    return {"route": "delegate", "owner": team}


def case_coverage(state: State) -> Entry | None:
    run = last_run(state)
    if run.get("skipped", 0) > state["policy"]["max_skipped"]:
        return {"route": "rerun", "rerun_scope": NEXT_WIDER[run["scope"]]}
    return None


# selection, frame


def newly_failing(state: State, test: str) -> bool:
    """Whether the most recently ended earlier run that executed the test passed it."""
    for run in reversed(finished_runs(state)[:-1]):
        if test in run.get("passed", []):
            return True
        if failure_of(run, test) is not None:
            return False
    return False


def selected_failure(state: State) -> Entry | None:
    run = last_run(state)
    failed: list[Entry] = run.get("failed", [])
    if not failed:
        return None
    for failure in failed:
        if newly_failing(state, failure["test"]):
            return failure
    return failure_of(run, state["session"]["pinned_test"]) or failed[0]


def file_of(state: State, failure: Entry) -> str:
    """The path of the innermost project frame."""
    session = state["session"]
    paths = [str(frame).rpartition(":")[0] for frame in failure["frames"]]
    if session["frame_order"] == "innermost_last":
        paths.reverse()
    for path in paths:
        if any(matches(pattern, path) for pattern in session["project_paths"]):
            return path
    return NONE


# commitment


def sentences(text: str) -> list[str]:
    """A sentence ends at . or ! or ? before a space or the end of the text.

    One that ends at ? keeps its mark, so that it reads like no form.
    """
    found, start = [], 0
    for i, character in enumerate(text):
        followed = text[i + 1 : i + 2]
        if character in ".!?" and (followed == "" or followed.isspace()):
            found.append(text[start : i + (character == "?")].strip())
            start = i + 1
    return [*found, text[start:].strip()]


def has_committed(state: State, team: str) -> bool:
    run_id = str(last_run(state)["id"])
    forms = [str(form).replace("RUN", run_id) for form in state["policy"]["commitment_forms"]]
    wanted = {form.lower() for form in forms}
    return any(
        sentence.lower() in wanted
        for message in state["messages"]
        if message["final"] is True and message["team"] == team
        for sentence in sentences(message["text"])
    )


# order, ready, unused


def order(state: State) -> Entry:
    cases = (
        case_control,
        case_wait,
        case_changed,
        case_compiler,
        case_not_executed,
        case_failure,
        case_coverage,
    )
    for case in cases:
        card = case(state)
        if card is not None:
            return card
    return {"route": "ready"}


def answers(state: dict[str, Any]) -> dict[str, str]:
    badge = process(state)
    unused = {**UNUSED, "control_action": "stop" if badge in UNDER_WAY else "continue"}
    card = {**unused, **order(state)}
    card["process"] = badge
    card["target_result"] = target_result(state)
    return {question: str(value) for question, value in card.items()}
