"""Short words for writing a call's timeline.

A timeline speaks in five kinds of event:

* ``say``: an utterance, or a new text for one that already has this id;
* ``phone``: the telephone status changes, and its `since` with it;
* ``set``: tool fields, by dotted path, take new values;
* ``feed``: one entry is appended to a list of the state;
* ``log``: one line of information is appended to the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamdecisionbench.suite.authoring import Event


def say(at: int, uid: str, speaker: str, final: bool, text: str, note: str) -> Event:
    """An utterance's text as the recogniser shows it from tick `at`."""
    return Event(at, "say", {"id": uid, "speaker": speaker, "final": final, "text": text}, note)


def phone(at: int, status: str, note: str) -> Event:
    """The telephone system reports a new status."""
    return Event(at, "phone", {"status": status}, note)


def put(at: int, fields: Mapping[str, Any], text: str, note: str) -> Event:
    """Tool fields change; `text` is what the tool writes into the log about it."""
    return Event(at, "set", {"fields": dict(fields), "text": text}, note)


def feed(at: int, name: str, entry: Mapping[str, Any], note: str) -> Event:
    """An entry of a tool's own list, stamped with its tick."""
    return Event(at, "feed", {"list": name, "entry": dict(entry)}, note)


def log(at: int, text: str, note: str) -> Event:
    """A line of the log that concerns no field."""
    return Event(at, "log", {"text": text}, note)
