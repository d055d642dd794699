"""A small room for hand-written presenter states: four slides, the clip on the second."""

from __future__ import annotations

from typing import Any

from streamdecisionbench.families.presenter.state import CHANNELS
from tests.families.cases import Case

DECK = [
    {"id": "s1", "said": "one", "title": "Opening"},
    {"id": "s2", "said": "two", "title": "Film"},
    {"id": "s3", "said": "three", "title": "Figures"},
    {"id": "s4", "said": "four", "title": "End"},
]

PREPARED: dict[str, Any] = {
    "event": "a rehearsal",
    "people": {"presenter": "P", "host": "H", "audience": "A"},
    "deck": DECK,
    "clip": {"name": "film", "slide": "s2"},
    "start": {"tick": 0, "mode": "talk", "slide": "s2"},
    "commands": {
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
    },
    "caption_order": ["host", "presenter", "audience", "clip"],
}


def said(who: str, onset: int, text: str, final_at: int | None = None) -> dict[str, Any]:
    """One transcript entry; `who` is the first letter of its channel."""
    return {
        "id": f"{who}{onset}",
        "channel": CHANNELS[who],
        "onset": onset,
        "final_at": final_at,
        "text": text,
    }


def room(*entries: dict[str, Any], now: int = 40, **prepared: Any) -> dict[str, Any]:
    """A state with these entries after an opening word of the presenter at tick 0."""
    return {
        "rules": [],
        "prepared": PREPARED | prepared,
        "clock": {"now": now},
        "desk": {"levels_db": {"presenter": -20, "host": -60, "audience": -60, "clip": -90}},
        "transcript": [said("p", 0, "Hello.", 0), *entries],
        "side_log": [],
    }


def starting(mode: str = "talk", slide: str = "s2", tick: int = 0) -> dict[str, Any]:
    """A `prepared.start`, to be passed to `room(start=…)`."""
    return {"tick": tick, "mode": mode, "slide": slide}


def case(name: str, rules: str, state: dict[str, Any], **expected: str) -> Case:
    return Case(name, state, expected, tuple(rules.split()))


def one_final(who: str, text: str) -> dict[str, Any]:
    return room(said(who, 1, text, 2))


PLAY = said("p", 1, "Play the clip.", 2)
OPEN = said("h", 3, "Questions are open.", 4)
CLOSE = said("h", 5, "The session is closed.", 6)
ASKED = said("a", 5, "How long does it last?", 7)
HAND_OVER = said("p", 8, "Back to the chair.", 9)
