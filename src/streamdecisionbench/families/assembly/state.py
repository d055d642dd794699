"""Events so far → the public state of a station."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streamdecisionbench.families.assembly.rules import RULES
from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.suite.scenario import State


def projector(station: Mapping[str, Any]) -> Callable[[Sequence[Event], int], State]:
    """The projection of a station: its rules and set-up in front, then all evidence by kind."""

    def project(seen: Sequence[Event], now: int) -> State:
        return {
            "prepared": {"rules": list(RULES.values()), "station": station},
            "clock": {"now": now},
            "station_log": _log(seen),
            "tickets": _tickets(seen),
            "badges": _badges(seen),
            "speech": _speech(seen),
            "tools": _tools(seen),
        }

    return project


def _log(seen: Sequence[Event]) -> list[dict[str, Any]]:
    return [{"tick": event.at, **event.data} for event in seen if event.kind == "log"]


def _tickets(seen: Sequence[Event]) -> list[dict[str, Any]]:
    tickets: dict[str, dict[str, Any]] = {}
    for event in seen:
        if event.kind == "ticket_opened":
            tickets[event.data["ticket"]] = {**event.data, "opened": event.at, "closed": None}
        elif event.kind == "ticket_closed":
            tickets[event.data["ticket"]]["closed"] = event.at
    return list(tickets.values())


def _badges(seen: Sequence[Event]) -> list[dict[str, Any]]:
    badges: list[dict[str, Any]] = []
    for event in seen:
        if event.kind == "badge_in":
            badges.append({**event.data, "in": event.at, "out": None})
        elif event.kind == "badge_out":
            for badge in badges:
                here = (badge["holder"], badge["station"]) == (
                    event.data["holder"],
                    event.data["station"],
                )
                if here and badge["out"] is None:
                    badge["out"] = event.at
    return badges


def _speech(seen: Sequence[Event]) -> list[dict[str, Any]]:
    """Utterances in the order they began; a later text of the same id replaces a partial."""
    utterances: dict[str, dict[str, Any]] = {}
    for event in seen:
        if event.kind == "speech":
            began = utterances.get(event.data["id"], {"at": event.at})["at"]
            utterances[event.data["id"]] = {**event.data, "at": began}
    return list(utterances.values())


def _tools(seen: Sequence[Event]) -> dict[str, dict[str, Any]]:
    tools: dict[str, dict[str, Any]] = {}
    for event in seen:
        if event.kind == "tool":
            tools.setdefault(event.data["name"], {}).update(event.data["fields"])
    return tools
