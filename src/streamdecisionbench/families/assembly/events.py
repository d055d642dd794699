"""Short words for writing a station's timeline. Each returns one event; `note` is for auditors."""

from __future__ import annotations

from typing import Any

from streamdecisionbench.suite.authoring import Event


def record(
    at: int, unit: str, kind: str, target: str, value: Any = None, *, note: str, **more: Any
) -> Event:
    """A line of the station log about a target. A replacement carries no value."""
    fields: dict[str, Any] = {"unit": unit, "kind": kind, "target": target}
    if value is not None:
        fields["value"] = value
    return Event(at, "log", {**fields, **more}, note)


def heartbeat(at: int, source: str, note: str = "distractor: a heartbeat changes nothing") -> Event:
    """A line of the station log that only says a device is alive."""
    return Event(at, "log", {"kind": "heartbeat", "source": source}, note)


def ticket_opened(at: int, ticket: str, unit: str, subject: str, *, note: str) -> Event:
    return Event(at, "ticket_opened", {"ticket": ticket, "unit": unit, "subject": subject}, note)


def ticket_closed(at: int, ticket: str, *, note: str) -> Event:
    return Event(at, "ticket_closed", {"ticket": ticket}, note)


def badge_in(at: int, holder: str, role: str, station: str, *, note: str) -> Event:
    return Event(at, "badge_in", {"holder": holder, "role": role, "station": station}, note)


def badge_out(at: int, holder: str, station: str, *, note: str) -> Event:
    return Event(at, "badge_out", {"holder": holder, "station": station}, note)


def say(
    at: int, utterance: str, speaker: str, text: str, *, note: str, final: bool = True
) -> Event:
    """Speech at the bench. The same utterance id again replaces a partial in place."""
    data = {"id": utterance, "speaker": speaker, "text": text, "final": final}
    return Event(at, "speech", data, note)


def tool(
    at: int, name: str, *, note: str = "distractor: tool fields are housekeeping", **fields: Any
) -> Event:
    """New values of some fields of one device."""
    return Event(at, "tool", {"name": name, "fields": fields}, note)
