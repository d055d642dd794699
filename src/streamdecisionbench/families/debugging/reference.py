"""The executable reference of both debugging scenarios: one public state → all seven answers.

Each function is one rule or a few neighbouring ones of `rules.py`, named in its docstring by id.
Thresholds, patterns and forms come from the state, never from here.
"""

from __future__ import annotations

import re
from typing import Any

from streamdecisionbench.suite.scenario import State

_WIDTHS = ["target", "module", "full"]
_NEXT_WIDER = {"target": "module", "module": "full", "full": "full"}

Run = dict[str, Any]
Card = tuple[str, str, str]
"""Route, the question its branch reads ("" if none), and that question's answer."""


def reference(state: State) -> dict[str, str]:
    """Rules order and unused: the two badges, the card, and fixed answers elsewhere."""
    active = [run for run in state["runs"] if run["ended"] is None]
    last = _finished(state)[-1]
    process = _process(state, active)
    target_result = _target_result(state, last)
    route, question, answer = _card(state, active, last, process, target_result)
    answers = {
        "route": route,
        "process": process,
        "target_result": target_result,
        "rerun_scope": "none",
        "inspect_file": "none",
        "control_action": "stop" if process in ("running", "stalled") else "continue",
        "owner": "none",
    }
    if question:
        answers[question] = answer
    return answers


def _card(state: State, active: list[Run], last: Run, process: str, target_result: str) -> Card:
    """Rule order: the first case that applies."""
    if active:
        return _overdue(state, active[0], process) or ("wait", "", "")
    if _unsaved(state) or _in_grace(state):
        return ("wait", "", "")
    changed = [_scope(state, save["path"]) for save in _watched_saves(state, last["started"])]
    if changed:
        return ("rerun", "rerun_scope", max(changed, key=_WIDTHS.index))
    errors = [entry["file"] for entry in last["compiler"] if entry["severity"] == "error"]
    if errors:
        return ("inspect", "inspect_file", errors[0])
    if target_result == "not_run":
        return ("rerun", "rerun_scope", "target")
    if last["failed"]:
        return _failure_card(state, last)
    if last["skipped"] > state["policy"]["max_skipped"]:
        return ("rerun", "rerun_scope", _NEXT_WIDER[last["scope"]])
    return ("ready", "", "")


def _finished(state: State) -> list[Run]:
    """Rules runs and ticks: complete and stopped alike, by their ends; of one tick the later listed is newer."""
    finished = [run for run in state["runs"] if run["ended"] is not None]
    return sorted(finished, key=_ended)


def _ended(run: Run) -> int:
    return int(run["ended"])


def _process(state: State, active: list[Run]) -> str:
    """Rule process."""
    if not active:
        return "idle"
    run = active[0]
    switches = [e["kind"] for e in _debugger(state, run, ("pause", "resume"))]
    if switches and switches[-1] == "pause":
        return "paused"
    if _silence(state, run) >= state["policy"]["stall_ticks"]:
        return "stalled"
    return "running"


def _silence(state: State, run: Run) -> int:
    """Rule silence: only the run's own start, output and resumes end one."""
    signs = [run["started"]]
    signs += [line["at"] for line in run["output"]]
    signs += [entry["at"] for entry in _debugger(state, run, ("resume",))]
    return int(state["clock"]["now"] - max(signs))


def _pause_age(state: State, run: Run) -> int:
    """Rule pause_age."""
    signs = [entry["at"] for entry in _debugger(state, run, ("pause", "evaluate", "step"))]
    return int(state["clock"]["now"] - max(signs))


def _debugger(state: State, run: Run, kinds: tuple[str, ...]) -> list[dict[str, Any]]:
    return [e for e in state["debugger"] if e["run"] == run["id"] and e["kind"] in kinds]


def _overdue(state: State, run: Run, process: str) -> Card | None:
    """Rule control."""
    policy = state["policy"]
    if process == "paused":
        late = _pause_age(state, run) >= policy["pause_ticks"]
        return ("control", "control_action", "continue") if late else None
    late = _silence(state, run) >= policy["stop_ticks"]
    return ("control", "control_action", "stop") if late else None


def _target_result(state: State, last: Run) -> str:
    """Rule target_result."""
    pinned = state["session"]["pinned_test"]
    if pinned in last["passed"]:
        return "passed"
    for entry in last["failed"]:
        if entry["test"] == pinned:
            same = entry["error"] == state["session"]["original_error"]
            return "original_error" if same else "different_error"
    return "not_run"


def _matches(pattern: str, path: str) -> bool:
    """Rule patterns: `*` is any characters, `/` included; the rest is literal."""
    literal = [re.escape(part) for part in pattern.split("*")]
    return re.fullmatch(".*".join(literal), path) is not None


def _scope(state: State, path: str) -> str:
    """Rules patterns and watched: the last matching entry, or "" for an unwatched file."""
    found = ""
    for entry in state["session"]["scopes"]:
        if _matches(entry["pattern"], path):
            found = entry["scope"]
    return found


def _unsaved(state: State) -> bool:
    """Rule wait, unsaved edits of watched files."""
    return any(_scope(state, entry["path"]) for entry in state["editor"]["unsaved"])


def _in_grace(state: State) -> bool:
    """Rule wait, save grace: over at exactly the published number of ticks."""
    earliest = state["clock"]["now"] - state["policy"]["save_grace_ticks"]
    return bool(_watched_saves(state, earliest))


def _watched_saves(state: State, after: int) -> list[dict[str, Any]]:
    """Saves of watched files at ticks strictly later than `after` (rules wait and changed)."""
    return [s for s in state["saves"] if s["at"] > after and _scope(state, s["path"])]


def _failure_card(state: State, last: Run) -> Card:
    """Rules owner and commitment for the selected failure."""
    session = state["session"]
    path = _failure_file(session, _selected(state, last))
    owner = [e["team"] for e in session["owners"] if _matches(e["pattern"], path)][-1]
    if owner == session["team"]:
        return ("inspect", "inspect_file", path)
    if _committed(state, owner, last["id"]):
        return ("wait", "", "")
    return ("delegate", "owner", owner)


def _selected(state: State, last: Run) -> dict[str, Any]:
    """Rule selection: newly failing, then pinned, then list order."""
    failed: list[dict[str, Any]] = last["failed"]
    new = [entry for entry in failed if _newly_failing(state, entry["test"])]
    pinned = [entry for entry in failed if entry["test"] == state["session"]["pinned_test"]]
    return (new + pinned + failed)[0]


def _newly_failing(state: State, test: str) -> bool:
    earlier = _finished(state)[:-1]
    executed = [r for r in earlier if test in r["passed"] + [f["test"] for f in r["failed"]]]
    return bool(executed) and test in executed[-1]["passed"]


def _failure_file(session: dict[str, Any], failure: dict[str, Any]) -> str:
    """Rule frame."""
    paths: list[str] = [frame.rpartition(":")[0] for frame in failure["frames"]]
    if session["frame_order"] == "innermost_last":
        paths.reverse()
    inside = [p for p in paths if any(_matches(root, p) for root in session["project_paths"])]
    return inside[0]


def _committed(state: State, team: str, run_id: str) -> bool:
    """Rule commitment: a whole sentence in a published form, final, from the owning team."""
    forms = [form.replace("RUN", run_id).lower() for form in state["policy"]["commitment_forms"]]
    for message in state["messages"]:
        if message["final"] and message["team"] == team:
            sentences = re.split(r"[.!]\s|(?<=\?)\s", message["text"].lower() + " ")
            if any(sentence.strip() in forms for sentence in sentences):
                return True
    return False
