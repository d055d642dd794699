"""Events so far → the public state of the presenter desk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streamdecisionbench.families.presenter.rules import FREE_RULES, INTENTS, RULES
from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.suite.scenario import State

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


def prepare(
    event: str,
    people: Mapping[str, str],
    deck: Mapping[str, str],
    clip: Mapping[str, str],
    slide: str,
    caption_order: Sequence[str],
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
        "intents": INTENTS,
        "caption_order": list(caption_order),
    }


def projector(
    prepared: Mapping[str, Any], fields: Mapping[str, Any]
) -> Callable[[Sequence[Event], int], State]:
    """A projection for one room: `fields` are the desk's readings before the first event."""
    law = FREE_RULES if "intents" in prepared else RULES

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
            "rules": [f"{name}: {text}" for name, text in law.items()],
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
    if "confidence" in event.data:
        entry["confidence"] = event.data["confidence"]
    if event.data["final"]:
        entry["final_at"] = event.at
