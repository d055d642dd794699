"""Events so far → the public state of the debugging panel.

The projection only files events under the tool that reports them. It derives nothing a rule asks
for: no ages, no badges, no owners.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamdecisionbench.families.debugging.rules import POLICY, rule_lines
from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.suite.scenario import State


@dataclass(frozen=True, slots=True)
class Material:
    """What is known before tick 0: the session's settings and the run that went before."""

    session: dict[str, Any]
    earlier_run: dict[str, Any]
    cursor: str
    policy: Mapping[str, object] = field(default_factory=lambda: POLICY)


def projector(material: Material) -> Callable[[Sequence[Event], int], State]:
    """The projection of one scenario, closed over its material."""

    def project(events: Sequence[Event], now: int) -> State:
        state: State = {
            "rules": rule_lines(),
            "policy": copy.deepcopy(dict(material.policy)),
            "clock": {"now": now},
            "session": copy.deepcopy(material.session),
            "runs": [copy.deepcopy(material.earlier_run)],
            "editor": {"cursor": material.cursor, "unsaved": []},
            "saves": [],
            "debugger": [],
            "terminal": [],
            "messages": [],
        }
        for event in events:
            _FILE[event.kind](state, event)
        return state

    return project


def _run_start(state: State, event: Event) -> None:
    data = event.data
    state["runs"].append(
        {
            "id": data["id"],
            "scope": data["scope"],
            "started": event.at,
            "ended": None,
            "end": None,
            "output": [],
        }
    )


def _run_output(state: State, event: Event) -> None:
    state["runs"][-1]["output"].append({"at": event.at, "text": event.data["text"]})


def _run_end(state: State, event: Event) -> None:
    state["runs"][-1].update({"ended": event.at, **event.data})


def _edit(state: State, event: Event) -> None:
    unsaved = state["editor"]["unsaved"]
    path = event.data["path"]
    if path not in [entry["path"] for entry in unsaved]:
        unsaved.append({"path": path, "since": event.at})


def _save(state: State, event: Event) -> None:
    path = event.data["path"]
    editor = state["editor"]
    editor["unsaved"] = [entry for entry in editor["unsaved"] if entry["path"] != path]
    state["saves"].append({"at": event.at, **event.data})


def _cursor(state: State, event: Event) -> None:
    state["editor"]["cursor"] = event.data["at"]


def _debugger(state: State, event: Event) -> None:
    state["debugger"].append({"at": event.at, **event.data})


def _terminal(state: State, event: Event) -> None:
    state["terminal"].append({"at": event.at, **event.data})


def _message(state: State, event: Event) -> None:
    """A later version of the same utterance replaces the partial one where it stands."""
    messages = state["messages"]
    for entry in messages:
        if entry["id"] == event.data["id"]:
            entry.update(event.data)
            return
    messages.append({"at": event.at, **event.data})


_FILE: dict[str, Callable[[State, Event], None]] = {
    "run_start": _run_start,
    "run_output": _run_output,
    "run_end": _run_end,
    "edit": _edit,
    "save": _save,
    "cursor": _cursor,
    "debugger": _debugger,
    "terminal": _terminal,
    "message": _message,
}
