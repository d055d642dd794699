"""Short words for writing a room's timeline.

Event kinds: `say` (a hypothesis or, with `final`, a final text for one transcript entry), `log` (a
line of the side log) and `desk` (new readings of the desk's own fields).
"""

from __future__ import annotations

from streamdecisionbench.suite.authoring import Event

__all__ = ["desk", "final", "levels", "log", "partial"]


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
