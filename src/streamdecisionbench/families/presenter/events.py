"""Short words for writing a room's timeline.

Event kinds: `say` (a hypothesis or, with `final`, a final text for one transcript entry), `log` (a
line of the side log) and `desk` (new readings of the desk's own fields).
"""

from __future__ import annotations

import hashlib

from streamdecisionbench.suite.authoring import Event

TRUE = "distractor: true, but the side log decides nothing"
MISTAKEN = "distractor: mistaken, and the side log decides nothing"


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


def recognised(*events: Event) -> tuple[Event, ...]:
    """The events, each text with the recogniser's confidence in it.

    The figure comes from a digest of the text, so it says nothing about what follows.

    >>> recognised(partial(3, "p1", "next", "distractor: speech"))[0].data["confidence"]
    0.88
    """
    return tuple(
        Event(e.at, e.kind, {**e.data, "confidence": _confidence(e.data["text"])}, e.note)
        if e.kind == "say"
        else e
        for e in events
    )


def _confidence(text: str) -> float:
    share = hashlib.sha256(text.encode()).digest()[0] / 255
    return round(0.55 + 0.43 * share, 2)
