"""From events so far to the public state of the presenter desk.

Event kinds: `say` (a hypothesis or, with `final`, a final text for one transcript entry), `log` (a
line of the side log) and `desk` (new readings of the desk's own fields).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streamdecisionbench.families.presenter.rules import RULES
from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.suite.scenario import State

__all__ = ["COMMANDS", "desk", "final", "levels", "log", "partial", "prepare", "projector"]

COMMANDS: dict[str, Any] = {
    "presenter": {
        "next": "next slide",
        "previous": "previous slide",
        "jump": "go to slide <number>",
        "play": "play the clip",
        "pause": "pause the clip",
        "back": "back to the talk",
        "hand_over": "back to the chair",
    },
    "host": {"open": "questions are open", "close": "the session is closed"},
    "restate": "the question is",
}

NUMBERS = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)

CHANNELS = {"p": "presenter", "h": "host", "a": "audience", "c": "clip"}


def partial(at: int, entry: str, text: str, note: str) -> Event:
    """A hypothesis for `entry`, whose first letter names its channel; the first one is its onset."""
    return Event(at, "say", {"id": entry, "text": text, "final": False}, note)


def final(at: int, entry: str, text: str, note: str) -> Event:
    """The text that `entry` keeps from tick `at` on."""
    return Event(at, "say", {"id": entry, "text": text, "final": True}, note)


def log(
    at: int, source: str, text: str, note: str = "distractor: the side log decides nothing"
) -> Event:
    """A line of the side log."""
    return Event(at, "log", {"source": source, "text": text}, note)


def desk(at: int, presenter: int, host: int, audience: int, clip: int) -> Event:
    """New level readings, in decibels. They move with the room and decide nothing."""
    return Event(
        at,
        "desk",
        {"levels_db": levels(at, presenter, host, audience, clip)},
        "distractor: levels decide nothing",
    )


def levels(at: int, presenter: int, host: int, audience: int, clip: int) -> dict[str, int]:
    """One reading of the four channels and its tick, so an old reading is seen to be old."""
    return {"at": at, "presenter": presenter, "host": host, "audience": audience, "clip": clip}


def prepare(
    event: str,
    people: Mapping[str, str],
    deck: Mapping[str, str],
    clip: Mapping[str, str],
    slide: str,
) -> dict[str, Any]:
    """The `prepared` section: what the crew typed in before the session."""
    return {
        "event": event,
        "people": dict(people),
        "deck": [
            {"id": page, "said": said, "title": title}
            for (page, title), said in zip(deck.items(), NUMBERS, strict=True)
        ],
        "clip": dict(clip),
        "start": {"tick": 0, "mode": "talk", "slide": slide},
        "commands": COMMANDS,
        "caption_order": ["host", "presenter", "audience", "clip"],
    }


def projector(
    prepared: Mapping[str, Any], fields: Mapping[str, Any]
) -> Callable[[Sequence[Event], int], State]:
    """A projection for one room: `fields` are the desk's readings before the first event."""

    def project(events: Sequence[Event], now: int) -> State:
        entries: dict[str, dict[str, Any]] = {}
        side_log = []
        readings = dict(fields)
        for event in events:
            if event.kind == "say":
                _say(entries, event)
            elif event.kind == "log":
                side_log.append({"at": event.at, **event.data})
            else:
                readings.update(event.data)
        return {
            "rules": [f"{name}: {text}" for name, text in RULES.items()],
            "prepared": prepared,
            "clock": {"now": now},
            "desk": readings,
            "transcript": list(entries.values()),
            "side_log": side_log,
        }

    return project


def _say(entries: dict[str, dict[str, Any]], event: Event) -> None:
    """Open an entry at its first hypothesis, then replace its text in place until it is final."""
    name = event.data["id"]
    entry = entries.setdefault(
        name, {"id": name, "channel": CHANNELS[name[0]], "onset": event.at, "final_at": None}
    )
    entry["text"] = event.data["text"]
    if event.data["final"]:
        entry["final_at"] = event.at
