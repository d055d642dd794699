"""The intercom call's reference: one public state to all answers, rule by rule of `rules_b`.

It reads nothing but the state, thresholds and wordings included, so that it can be checked line by
line against the rule text the state carries.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

__all__ = ["reference"]

_State = dict[str, Any]

_INACTIVE = {
    "delivery_target": "none",
    "delivery_action": "none",
    "cancellation_action": "none",
    "repair_target": "none",
    "repair_action": "none",
}


class _Work(NamedTuple):
    kind: str
    item: str


def reference(state: _State) -> dict[str, str]:
    """Answers to all seven questions."""
    work = _work(state)
    route = _route(state, work)
    answers = {"route": route, "contact_channel": _channel(state), **_INACTIVE}
    if route in ("delivery", "cancel"):
        answers["delivery_target"] = work.item
    if route == "delivery":
        answers["delivery_action"] = _delivery_action(state, work.item)
    if route == "cancel":
        answers["cancellation_action"] = _cancellation_action(state, work.item)
    if route == "repair":
        answers["repair_target"] = work.item
        answers["repair_action"] = _repair_action(state, work.item)
    return answers


def _work(state: _State) -> _Work:
    """B05: requests replace the work, fitting corrections replace its item."""
    menu = state["call"]["menu_choice"]
    work = _Work(menu["kind"], menu["item"])
    for words in _customer_finals(state):
        for _, kind, item in sorted(_requests(state, words) + _corrections(state, words)):
            if kind:
                work = _Work(kind, item)
            elif (item in state["devices"]) == (work.kind == "repair"):
                work = _Work(work.kind, item)
    return work


def _requests(state: _State, words: list[str]) -> list[tuple[int, str, str]]:
    return [
        (place, kind, item)
        for kind, items in state["policy"]["requests"].items()
        for item, wordings in items.items()
        for wording in wordings
        for place in _places(words, wording)
    ]


def _corrections(state: _State, words: list[str]) -> list[tuple[int, str, str]]:
    """A correction has no kind of its own."""
    return [
        (place, "", item)
        for opener in state["policy"]["corrections"]
        for item, name in state["policy"]["names"].items()
        for place in _places(words, f"{opener} {name}")
    ]


def _route(state: _State, work: _Work) -> str:
    """B06: exactly reached counts."""
    call = state["call"]
    if call["status"] == "ended":
        return "closed"
    if call["status"] == "hold":
        held = state["clock"]["now"] - call["since"]
        return "hold_return" if held >= state["policy"]["hold_limit_ticks"] else "hold_wait"
    return work.kind


def _delivery_action(state: _State, item: str) -> str:
    """B08, in order; late exactly at the deadline."""
    parcel = state["parcels"][item]
    if parcel["status"] == "delivered":
        return "confirm_delivery"
    if parcel["status"] == "address_query":
        return "correct_address"
    if state["clock"]["now"] >= parcel["deadline"]:
        return "open_case"
    return "check_tracking" if parcel["status"] == "label_only" else "wait"


def _cancellation_action(state: _State, item: str) -> str:
    """B09: the carrier's last decisive callback about this parcel."""
    outcomes = {"cancelled": "confirm_cancelled", "refused": "explain_refusal"}
    action = "cancel_request"
    for callback in state["carrier_callbacks"]:
        if callback["parcel"] == item:
            action = outcomes.get(callback["outcome"], action)
    return action


def _repair_action(state: _State, item: str) -> str:
    """B10 and B11."""
    device = state["devices"][item]
    test, remote = device["test"], device["remote"]
    if test["status"] == "none":
        return "diagnose"
    if test["status"] == "running":
        return "await_result"
    if test["result"] != "unclear":
        return _after_finding(device, test["result"])
    if remote["status"] == "running":
        return "await_result"
    if remote["status"] == "done":
        return _after_finding(device, remote["result"])
    return "remote_check" if _permitted(state, "remote_access") else "request_access"


def _after_finding(device: _State, finding: str) -> str:
    """B12."""
    if finding == "clear":
        return "explain_clear"
    spare = device["spare"]
    return "send_part" if spare["self_fit"] and spare["stock"] >= 1 else "book_visit"


def _channel(state: _State) -> str:
    """B14: the preferred channel or none, never another one."""
    preferred = "none"
    for words in _customer_finals(state):
        for _, channel in sorted(
            (place, channel)
            for channel, wordings in state["policy"]["preferences"].items()
            for wording in wordings
            for place in _places(words, wording)
        ):
            preferred = channel
    return preferred if _permitted(state, preferred) else "none"


def _permitted(state: _State, permission: str) -> bool:
    """B13: the customer's own last entry for this permission."""
    standing = False
    for entry in state["permission_log"]:
        if entry["for"] == permission and entry["by"] == "customer":
            standing = entry["says"] == "given"
    return standing


def _customer_finals(state: _State) -> list[list[str]]:
    """B02 and B04: the words of each, in order."""
    finals = [u for u in state["transcript"] if u["final"] and u["speaker"] == "customer"]
    return [_words(u["text"]) for u in sorted(finals, key=lambda u: int(u["at"]))]


def _places(words: list[str], wording: str) -> list[int]:
    """B03: where the wording's words stand side by side."""
    wanted = _words(wording)
    return [i for i in range(len(words)) if words[i : i + len(wanted)] == wanted]


def _words(text: str) -> list[str]:
    """Words without punctuation; an apostrophe belongs to a word only inside it."""
    return re.findall(r"[a-z0-9]+(?:'[a-z0-9]+)*", text.lower())
