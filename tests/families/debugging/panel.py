"""The small panel that hand-written debugging cases are built on.

`panel` builds a small session around one finished run; every case changes as little as it can. The
session's innermost frames stand first unless a case says otherwise.
"""

from __future__ import annotations

from typing import Any

from streamdecisionbench.families.debugging.reference import reference
from tests.families.cases import Case

PIN = "spec/pin"
ORIGINAL = "Error: 3 is not 4"
OURS, KIT, DATA = "@ours", "@kit", "@data"


def fail(test: str, *frames: str, error: str = "Error: other") -> dict[str, Any]:
    return {"test": test, "error": error, "frames": list(frames or ("app/core.py:1",))}


def run(ident: str, started: int, ended: int | None, **results: Any) -> dict[str, Any]:
    """A run; without further words a finished one is a green, complete module run."""
    base: dict[str, Any] = {
        "id": ident,
        "scope": "module",
        "started": started,
        "ended": ended,
        "end": None if ended is None else "complete",
        "output": [],
    }
    if ended is not None:
        base |= {"passed": [PIN], "failed": [], "skipped": 0, "compiler": []}
    return base | results


def panel(now: int = 20, *runs: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """A public state. `parts` replace saves, unsaved paths, debugger, messages or session fields."""
    session = {
        "team": OURS,
        "pinned_test": PIN,
        "original_error": ORIGINAL,
        "frame_order": "innermost_first",
        "project_paths": ["app/*", "spec/*"],
        "scopes": [
            {"pattern": "app/*", "scope": "module"},
            {"pattern": "app/core*", "scope": "target"},
            {"pattern": "*/settings.py", "scope": "full"},
        ],
        "owners": [
            {"pattern": "*", "team": OURS},
            {"pattern": "app/kit/*", "team": KIT},
            {"pattern": "app/*/data/*", "team": DATA},
        ],
    }
    session |= parts.get("session", {})
    return {
        "policy": {
            "stall_ticks": 4,
            "stop_ticks": 6,
            "pause_ticks": 4,
            "save_grace_ticks": 2,
            "max_skipped": 2,
            "commitment_forms": ["we take RUN", "we'll take RUN", "RUN is ours"],
        }
        | parts.get("policy", {}),
        "clock": {"now": now},
        "session": session,
        "runs": list(runs) or [run("r1", 10, 12)],
        "editor": {
            "cursor": "app/core.py:1",
            "unsaved": [{"path": path, "since": now} for path in parts.get("unsaved", ())],
        },
        "saves": [{"at": at, "path": path, "by": "x"} for at, path in parts.get("saves", ())],
        "debugger": [
            {"at": at, "run": ident, "kind": kind, "detail": ""}
            for at, ident, kind in parts.get("debugger", ())
        ],
        "terminal": [{"at": at, "pane": "p", "text": "busy"} for at in parts.get("terminal", ())],
        "messages": [
            {
                "id": f"m{i}",
                "at": parts.get("said_at", now),
                "speaker": "x",
                "team": team,
                "final": final,
                "text": text,
            }
            for i, (team, final, text) in enumerate(parts.get("messages", ()))
        ],
    }


DONE = run("r1", 1, 3)
"""An earlier green run, so that there always is a last run."""


def active(now: int, **parts: Any) -> dict[str, Any]:
    """The green r1 and an active r2 that started at tick 10; `output` lists its output ticks."""
    lines = [{"at": at, "text": "."} for at in parts.pop("output", ())]
    return panel(now, DONE, run("r2", 10, None, output=lines), **parts)


def owned(
    *messages: tuple[str, bool, str], path: str = "app/kit/a.py", **parts: Any
) -> dict[str, Any]:
    """Last run r2 (12 to 15) failed in one test outside the pin; innermost project file `path`."""
    failed = [fail("spec/x", f"{path}:7", "spec/x.py:1")]
    last = run("r2", 12, 15, failed=failed)
    return panel(20, DONE, last, messages=messages, **parts)


def wait(process: str = "idle", target: str = "passed") -> dict[str, str]:
    return answers("wait", process, target)


def answers(
    route: str, process: str = "idle", target: str = "passed", **branch: str
) -> dict[str, str]:
    """All seven answers: unused ones as the rule unused fixes them."""
    under_way = process in ("running", "stalled")
    return {
        "route": route,
        "process": process,
        "target_result": target,
        "rerun_scope": "none",
        "inspect_file": "none",
        "control_action": "stop" if under_way else "continue",
        "owner": "none",
    } | branch


READY = answers("ready")
RUNNING = wait("running")
PAUSED = wait("paused")
STALLED = wait("stalled")
STOP = answers("control", "stalled", control_action="stop")
CONTINUE = answers("control", "paused", control_action="continue")
DELEGATE = answers("delegate", owner=KIT)


def rerun(scope: str, target: str = "passed") -> dict[str, str]:
    return answers("rerun", "idle", target, rerun_scope=scope)


def inspect(path: str, target: str = "passed") -> dict[str, str]:
    return answers("inspect", "idle", target, inspect_file=path)


def check(case: Case) -> None:
    got = reference(case.state)
    assert {q: got[q] for q in case.expected} == dict(case.expected)
