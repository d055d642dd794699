"""Events so far → the public state of a call.

Nothing here interprets anything: what an event means is left to the reader of the state.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.suite.scenario import State


def projector(initial: State, telephone: str) -> Callable[[Sequence[Event], int], State]:
    """The projection of a call that starts as `initial`; `telephone` names its status field."""

    def project(events: Sequence[Event], now: int) -> State:
        state = copy.deepcopy(initial)
        state["clock"] = {"now": now}
        for event in events:
            _apply(state, event, telephone)
        return state

    return project


def _apply(state: State, event: Event, telephone: str) -> None:
    data = event.data
    if event.kind == "say":
        _hear(state["transcript"], event.at, data)
    elif event.kind == "phone":
        state[telephone].update(status=data["status"], since=event.at)
        state["log"].append({"at": event.at, "text": f"telephony: {data['status']}"})
    elif event.kind == "set":
        for path, value in data["fields"].items():
            _put(state, path, value)
        state["log"].append({"at": event.at, "text": data["text"]})
    elif event.kind == "feed":
        state[data["list"]].append({"at": event.at, **copy.deepcopy(data["entry"])})
    elif event.kind == "log":
        state["log"].append({"at": event.at, "text": data["text"]})
    else:
        raise ValueError(f"unknown event kind {event.kind!r} at tick {event.at}")


def _hear(transcript: list[dict[str, Any]], at: int, data: Mapping[str, Any]) -> None:
    """Append an utterance, or replace a partial in place. A final is never replaced."""
    heard = {"at": at, **data}
    for place, known in enumerate(transcript):
        if known["id"] == data["id"]:
            if known["final"] or known["speaker"] != data["speaker"]:
                raise ValueError(f"utterance {data['id']} may not change at tick {at}")
            transcript[place] = heard
            return
    transcript.append(heard)


def _put(state: State, path: str, value: Any) -> None:
    *folders, name = path.split(".")
    place = state
    for folder in folders:
        place = place[folder]
    if name not in place:
        raise ValueError(f"no field {path} to set")
    place[name] = copy.deepcopy(value)  # later events write into it; the event must stay as it is
