"""The second solver of the debugging family: written from the published rules alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

State = dict[str, Any]
Entry = dict[str, Any]

NONE = "none"
SCOPES_WIDENING = ("target", "module", "full")


@dataclass(frozen=True)
class Card:
    """The card of one case: its route and whatever that route uses."""

    route: str
    rerun_scope: str = NONE
    inspect_file: str = NONE
    control_action: str | None = None
    owner: str = NONE


def age(state: State, tick: int) -> int:
    """ticks: clock.now minus the tick."""
    now: int = state["clock"]["now"]
    return now - tick


def newest(entries: list[Entry]) -> Entry | None:
    """ticks: the entry with the greatest tick; of equal ticks the one listed later."""
    found: Entry | None = None
    for entry in entries:
        if found is None or entry["at"] >= found["at"]:
            found = entry
    return found


def matches(pattern: str, path: str) -> bool:
    """patterns: the whole path, * for any characters, everything else for itself."""
    expression = ".*".join(re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(expression, path, flags=re.DOTALL) is not None


def last_matching(entries: list[Entry], path: str) -> Entry | None:
    """patterns: the last entry of the list that matches applies."""
    for entry in reversed(entries):
        if matches(entry["pattern"], path):
            return entry
    return None


def scope_of(state: State, path: str) -> str | None:
    """watched: the scope session.scopes gives for the path, None if it is not watched."""
    entry = last_matching(state["session"]["scopes"], path)
    return None if entry is None else str(entry["scope"])


def is_watched(state: State, path: str) -> bool:
    """watched: an entry of session.scopes matches the path."""
    return scope_of(state, path) is not None


def active_run(state: State) -> Entry | None:
    """runs: the run without an ended tick."""
    for run in state["runs"]:
        if run.get("ended") is None:
            found: Entry = run
            return found
    return None


def finished_runs(state: State) -> list[Entry]:
    """runs: the finished runs, the most recently ended last (ticks decides between equals)."""
    finished = [run for run in state["runs"] if run.get("ended") is not None]
    return sorted(finished, key=lambda run: int(run["ended"]))


def last_run(state: State) -> Entry | None:
    """runs: the finished run with the greatest ended."""
    finished = finished_runs(state)
    return finished[-1] if finished else None


def passed_tests(run: Entry) -> list[str]:
    """runs: the names in the passed list."""
    return list(run.get("passed") or [])


def failures(run: Entry) -> list[Entry]:
    """runs: the entries of the failed list."""
    return list(run.get("failed") or [])


def failed_tests(run: Entry) -> list[str]:
    """runs: the names in the failed list."""
    return [failure["test"] for failure in failures(run)]


def debugger_entries(state: State, run: Entry, kinds: tuple[str, ...]) -> list[Entry]:
    """The debugger entries of one run of the given kinds."""
    return [
        entry for entry in state["debugger"] if entry["run"] == run["id"] and entry["kind"] in kinds
    ]


def silence(state: State, run: Entry) -> int:
    """silence: the age of the newest of start, output line and resume."""
    signs: list[int] = [run["started"]]
    signs += [line["at"] for line in run["output"]]
    signs += [entry["at"] for entry in debugger_entries(state, run, ("resume",))]
    return age(state, max(signs))


def pause_age(state: State, run: Entry) -> int:
    """pause_age: the age of the newest pause, evaluate or step; asked of paused runs only."""
    entries = debugger_entries(state, run, ("pause", "evaluate", "step"))
    return age(state, max(entry["at"] for entry in entries))


def is_paused(state: State, run: Entry) -> bool:
    """process: the newest pause or resume entry of the run is a pause."""
    entry = newest(debugger_entries(state, run, ("pause", "resume")))
    if entry is None:
        return False
    kind: str = entry["kind"]
    return kind == "pause"


def process(state: State) -> str:
    """process: idle, paused, stalled or running."""
    run = active_run(state)
    if run is None:
        return "idle"
    if is_paused(state, run):
        return "paused"
    if silence(state, run) >= state["policy"]["stall_ticks"]:
        return "stalled"
    return "running"


def target_result(state: State) -> str:
    """target_result: what the last run alone says about the pinned test."""
    run = last_run(state)
    if run is None:
        return "not_run"
    pinned = state["session"]["pinned_test"]
    if pinned in passed_tests(run):
        return "passed"
    for failure in failures(run):
        if failure["test"] == pinned:
            same = failure["error"] == state["session"]["original_error"]
            return "original_error" if same else "different_error"
    return "not_run"


def overdue_control(state: State) -> Card | None:
    """control: the active run stands or is silent for too long."""
    run = active_run(state)
    if run is None:
        return None
    policy = state["policy"]
    if is_paused(state, run):
        if pause_age(state, run) >= policy["pause_ticks"]:
            return Card("control", control_action="continue")
    elif silence(state, run) >= policy["stop_ticks"]:
        return Card("control", control_action="stop")
    return None


def has_unsaved_watched_file(state: State) -> bool:
    """wait: a watched file is listed in editor.unsaved."""
    return any(is_watched(state, entry["path"]) for entry in state["editor"]["unsaved"])


def has_fresh_save(state: State) -> bool:
    """wait: a save of a watched file is younger than the grace."""
    grace = state["policy"]["save_grace_ticks"]
    return any(
        age(state, save["at"]) < grace and is_watched(state, save["path"])
        for save in state["saves"]
    )


def wait(state: State) -> Card | None:
    """wait: a run is active, a watched file is unsaved, or a save is fresh."""
    active = active_run(state) is not None
    if active or has_unsaved_watched_file(state) or has_fresh_save(state):
        return Card("wait")
    return None


def changed_scopes(state: State) -> set[str]:
    """changed: the scopes of the watched files saved later than the last run's start."""
    run = last_run(state)
    if run is None:
        return set()
    scopes = {
        scope_of(state, save["path"]) for save in state["saves"] if save["at"] > run["started"]
    }
    return {scope for scope in scopes if scope is not None}


def rerun_after_change(state: State) -> Card | None:
    """changed: rerun with the widest scope of all changed files."""
    scopes = changed_scopes(state)
    if not scopes:
        return None
    return Card("rerun", rerun_scope=max(scopes, key=SCOPES_WIDENING.index))


def compiler_error(state: State) -> Card | None:
    """compiler: inspect the file of the last run's first entry of severity error."""
    run = last_run(state)
    if run is None:
        return None
    for entry in run["compiler"]:
        if entry["severity"] == "error":
            return Card("inspect", inspect_file=entry["file"])
    return None


def pinned_test_not_executed(state: State) -> Card | None:
    """not_executed: rerun the target if target_result is not_run."""
    if target_result(state) == "not_run":
        return Card("rerun", rerun_scope="target")
    return None


def is_newly_failing(state: State, test: str) -> bool:
    """selection: the most recently ended earlier run that executed the test has it in passed."""
    for run in reversed(finished_runs(state)[:-1]):
        if test in passed_tests(run):
            return True
        if test in failed_tests(run):
            return False
    return False


def select_failure(state: State) -> Entry | None:
    """selection: the first newly failing test, else the pinned one, else the first."""
    run = last_run(state)
    if run is None or not failures(run):
        return None
    for failure in failures(run):
        if is_newly_failing(state, failure["test"]):
            return failure
    for failure in failures(run):
        if failure["test"] == state["session"]["pinned_test"]:
            return failure
    return failures(run)[0]


def file_of_failure(state: State, failure: Entry) -> str:
    """frame: the path of the innermost frame whose path matches session.project_paths."""
    frames: list[str] = list(failure["frames"])
    if state["session"]["frame_order"] == "innermost_last":
        frames.reverse()
    for frame in frames:
        path = frame.rsplit(":", 1)[0]
        if any(matches(pattern, path) for pattern in state["session"]["project_paths"]):
            return path
    raise ValueError(f"no project frame in the failure of {failure['test']}")


def team_of_file(state: State, path: str) -> str:
    """owner: the team session.owners gives for the file."""
    entry = last_matching(state["session"]["owners"], path)
    if entry is None:
        raise ValueError(f"session.owners gives no team for {path}")
    return str(entry["team"])


def committing_sentences(text: str) -> list[str]:
    """commitment: the sentences without their end mark, leaving out those that end at ?."""
    sentences = []
    for piece in re.split(r"(?<=[.!?]) +", text.strip()):
        if piece.endswith("?"):
            continue
        sentences.append(piece[:-1] if piece.endswith((".", "!")) else piece)
    return sentences


def has_committed(state: State, team: str, run_id: str) -> bool:
    """commitment: a final message of the team has a sentence that reads like a form."""
    forms = {form.replace("RUN", run_id).lower() for form in state["policy"]["commitment_forms"]}
    for message in state["messages"]:
        if message["final"] is not True or message["team"] != team:
            continue
        if any(sentence.lower() in forms for sentence in committing_sentences(message["text"])):
            return True
    return False


def selected_failure(state: State) -> Card | None:
    """owner: inspect the own file, delegate another team's, wait once that team committed."""
    run = last_run(state)
    failure = select_failure(state)
    if run is None or failure is None:
        return None
    path = file_of_failure(state, failure)
    team = team_of_file(state, path)
    if team == state["session"]["team"]:
        return Card("inspect", inspect_file=path)
    if has_committed(state, team, run["id"]):
        return Card("wait")
    return Card("delegate", owner=team)


def incomplete_coverage(state: State) -> Card | None:
    """coverage: rerun with the next wider scope if the last run skipped too many."""
    run = last_run(state)
    if run is None or run["skipped"] <= state["policy"]["max_skipped"]:
        return None
    return Card("rerun", rerun_scope="module" if run["scope"] == "target" else "full")


def card(state: State) -> Card:
    """order: the first of the eight cases that applies."""
    cases = (
        overdue_control,
        wait,
        rerun_after_change,
        compiler_error,
        pinned_test_not_executed,
        selected_failure,
        incomplete_coverage,
    )
    for case in cases:
        found = case(state)
        if found is not None:
            return found
    return Card("ready")


def unused_control_action(state: State) -> str:
    """unused: stop while process is running or stalled, else continue."""
    return "stop" if process(state) in ("running", "stalled") else "continue"


def answers(state: State) -> dict[str, str]:
    """The value of every question, from the state alone."""
    shown = card(state)
    return {
        "route": shown.route,
        "process": process(state),
        "target_result": target_result(state),
        "rerun_scope": shown.rerun_scope,
        "inspect_file": shown.inspect_file,
        "control_action": shown.control_action or unused_control_action(state),
        "owner": shown.owner,
    }
