"""Short names for the events both timelines are written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streamdecisionbench.suite.authoring import Event


def run_start(at: int, run: str, scope: str, note: str) -> Event:
    return Event(at, "run_start", {"id": run, "scope": scope}, note)


def run_output(at: int, text: str, note: str) -> Event:
    return Event(at, "run_output", {"text": text}, note)


def run_end(
    at: int,
    note: str,
    *,
    passed: Sequence[str],
    failed: Sequence[Mapping[str, Any]] = (),
    skipped: int,
    compiler: Sequence[Mapping[str, Any]] = (),
    end: str = "complete",
) -> Event:
    """The runner's report. Until this event a run has no results."""
    results = {
        "end": end,
        "passed": list(passed),
        "failed": [dict(entry) for entry in failed],
        "skipped": skipped,
        "compiler": [dict(entry) for entry in compiler],
    }
    return Event(at, "run_end", results, note)


def quick_run(at: int, run: str, scope: str, note: str, **results: Any) -> tuple[Event, Event]:
    """A run that is over within the tick of its start, as small ones are."""
    return run_start(at, run, scope, "the run takes less than a tick"), run_end(at, note, **results)


def failure(test: str, error: str, *frames: str) -> dict[str, Any]:
    return {"test": test, "error": error, "frames": list(frames)}


def diagnostic(severity: str, file: str, text: str) -> dict[str, Any]:
    return {"severity": severity, "file": file, "text": text}


def edit(at: int, path: str, note: str) -> Event:
    return Event(at, "edit", {"path": path}, note)


def save(at: int, path: str, by: str, note: str) -> Event:
    return Event(at, "save", {"path": path, "by": by}, note)


def cursor(at: int, place: str, note: str = "distractor: cursor move") -> Event:
    return Event(at, "cursor", {"at": place}, note)


def debugger(at: int, run: str, kind: str, detail: str, note: str) -> Event:
    return Event(at, "debugger", {"run": run, "kind": kind, "detail": detail}, note)


def terminal(at: int, pane: str, text: str, note: str) -> Event:
    return Event(at, "terminal", {"pane": pane, "text": text}, note)


def chat(at: int, ident: str, who: tuple[str, str], text: str, note: str) -> Event:
    """A written message: final as soon as it is sent. `who` is (name, team)."""
    return _message(at, ident, who, text, True, note)


def voice(
    at: int, ident: str, who: tuple[str, str], text: str, note: str, *, final: bool = True
) -> Event:
    """An utterance in the huddle. A partial and its final share one id."""
    return _message(at, ident, who, text, final, note)


def _message(at: int, ident: str, who: tuple[str, str], text: str, final: bool, note: str) -> Event:
    speaker, team = who
    data = {
        "id": ident,
        "speaker": speaker,
        "team": team,
        "final": final,
        "text": text,
    }
    return Event(at, "message", data, note)
