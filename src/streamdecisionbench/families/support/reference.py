"""The executable reference of both calls: one public state → the answer to every question.

It reads nothing but the state, thresholds and wordings included, so that it can be checked line by
line against the rule text the state carries. Every function names its rule: A… for the payment call,
B… for the intercom call.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from streamdecisionbench.families.support.bank import meaning
from streamdecisionbench.suite.sentence_bank import Meant

_State = dict[str, Any]

_SUBJECTS = {
    "subject_payment": "payment",
    "subject_connection": "connection",
    "subject_router": "router",
}
_DIGIT_WORDS = frozenset(
    {"zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
)
_PAYMENT_INACTIVE = {
    "payment_stage": "none",
    "instrument": "none",
    "service_target": "none",
    "service_action": "none",
    "hold_action": "none",
}
_INTERCOM_INACTIVE = {
    "delivery_target": "none",
    "delivery_action": "none",
    "cancellation_action": "none",
    "repair_target": "none",
    "repair_action": "none",
}


class _Said(NamedTuple):
    purpose: str
    at: int


class _Work(NamedTuple):
    kind: str
    item: str


def reference(state: _State) -> dict[str, str]:
    """The answers of whichever call the state shows."""
    return payment_reference(state) if "payment" in state else intercom_reference(state)


def payment_reference(state: _State) -> dict[str, str]:
    """The payment call: answers to all seven questions."""
    subject = _subject(state)
    route = _payment_route(state, subject)
    answers = {"route": route, "recorder": _recorder(state, route), **_PAYMENT_INACTIVE}
    if route == "payment":
        answers["payment_stage"] = _stage(state)
        answers["instrument"] = _card(state)
    if route == "service":
        answers["service_target"] = subject
        answers["service_action"] = _service_action(state["service"], subject)
    if route == "hold":
        answers["hold_action"] = _hold_action(state)
    return answers


def intercom_reference(state: _State) -> dict[str, str]:
    """The intercom call: answers to all seven questions."""
    work = _work(state)
    route = _intercom_route(state, work)
    answers = {"route": route, "contact_channel": _channel(state), **_INTERCOM_INACTIVE}
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


def _subject(state: _State) -> str:
    """A05: the subject the customer named last, or else the menu choice."""
    said = _said(state, "customer", *_SUBJECTS)
    return _SUBJECTS[said[-1].purpose] if said else str(state["telephony"]["menu_choice"])


def _payment_route(state: _State, subject: str) -> str:
    """A05."""
    status = state["telephony"]["status"]
    if status == "after_call":
        return "wrap"
    if status == "hold":
        return "hold"
    return "payment" if subject == "payment" else "service"


def _hold_action(state: _State) -> str:
    """A06: equal is enough."""
    held = state["clock"]["now"] - state["telephony"]["since"]
    return "return_customer" if held >= state["policy"]["hold_check_ticks"] else "wait"


def _service_action(service: _State, target: str) -> str:
    """A08 and A09."""
    if target == "router":
        return "confirm_online" if service["router"]["status"] == "online" else "check_power"
    test = service["line_test"]
    if test["status"] == "not_run":
        return "run_test"
    if test["status"] == "running":
        return "wait_test"
    return "escalate_line" if test["result"] == "down" else "confirm_online"


def _stage(state: _State) -> str:
    """A10, in order."""
    payment = state["payment"]
    if payment["status"] == "processing":
        return "wait"
    if payment["status"] in ("approved", "declined"):
        return "result"
    if not _consented(state):
        return "ask_consent"
    card = _card(state)
    if card == "unknown":
        return "choose_card"
    form = payment["captured"]
    if form["card"] == card and form["number"] and form["expiry"] and form["code"]:
        return "submit"
    return "collect"


def _consented(state: _State) -> bool:
    """A11: the last word on consent, not older than the amount."""
    said = _said(state, "customer", "consent", "withdrawal")
    since = state["payment"]["amount_since"]
    return bool(said) and said[-1].purpose == "consent" and said[-1].at >= since


def _card(state: _State) -> str:
    """A12: choices from the tick the payment left draft no longer count."""
    left = state["payment"]["left_draft_at"]
    said = _said(state, "customer", *(f"card_{name}" for name in state["account"]["card_names"]))
    chosen = [s.purpose.removeprefix("card_") for s in said if left is None or s.at < left]
    return chosen[-1] if chosen else "unknown"


def _recorder(state: _State, route: str) -> str:
    """A14."""
    if route == "wrap":
        return "stop"
    return "pause" if _capturing(state) or _live_digits(state) else "record"


def _capturing(state: _State) -> bool:
    """A15: opened in this draft, not stopped since."""
    payment = state["payment"]
    said = _said(state, "agent", "capture_request", "capture_stop")
    if payment["status"] != "draft" or not said:
        return False
    return said[-1].purpose == "capture_request" and said[-1].at >= payment["draft_since"]


def _live_digits(state: _State) -> bool:
    """A16: only partials, and only the two people on the call."""
    return any(
        _digit_row(u["text"]) >= state["policy"]["digits_in_a_row"]
        for u in state["transcript"]
        if not u["final"] and u["speaker"] in ("customer", "agent")
    )


def _digit_row(text: str) -> int:
    """Length of the longest row of digits, spoken or in figures."""
    longest = row = 0
    for word in _words(text):
        digits = len(word) if word.isdigit() else int(word in _DIGIT_WORDS)
        row = row + digits if digits else 0
        longest = max(longest, row)
    return longest


def _said(state: _State, speaker: str, *purposes: str) -> list[_Said]:
    """Per final utterance of `speaker`, in order (A02), what it counts for (A03)."""
    finals = [u for u in state["transcript"] if u["final"] and u["speaker"] == speaker]
    said = []
    for utterance in sorted(finals, key=lambda u: int(u["at"])):
        found = _purposes(state, utterance, speaker, purposes)
        if found:
            said.append(_Said(max(found)[-1], utterance["at"]))
    return said


def _purposes(
    state: _State, utterance: _State, speaker: str, purposes: tuple[str, ...]
) -> list[tuple[int, str]]:
    """A03: the phrases in an utterance with their places, or else its one intent."""
    if "intents" in state["policy"]:
        cards = state["account"]["card_names"]
        meant = _meant(utterance, "payment", speaker, dict(zip(cards, cards, strict=True)))
        purpose = f"{meant.intent}_{meant.item}" if meant.item else meant.intent
        return list(enumerate(p for p in purposes if p == purpose))
    phrases = state["policy"]["phrases"]
    words = _words(utterance["text"])
    return [(i, p) for p in purposes for text in phrases[p] for i in _places(words, text)]


def _meant(utterance: _State, call: str, speaker: str, names: dict[str, str]) -> Meant:
    """What somebody means who may use any words of the bank."""
    return meaning(utterance, call, speaker, names)


def _work(state: _State) -> _Work:
    """B05: requests replace the work, fitting corrections replace its item."""
    menu = state["call"]["menu_choice"]
    work = _Work(menu["kind"], menu["item"])
    for said in _customer_finals(state):
        for _, kind, item in sorted(_requests(state, said) + _corrections(state, said)):
            if kind:
                work = _Work(kind, item)
            elif (item in state["devices"]) == (work.kind == "repair"):
                work = _Work(work.kind, item)
    return work


def _requests(state: _State, said: _State) -> list[tuple[int, str, str]]:
    if "intents" in state["policy"]:
        meant = _meant(said, "intercom", "customer", state["policy"]["names"])
        kinds = [kind for kind in ("delivery", "cancel", "repair") if kind == meant.intent]
        return [(place, kind, meant.item) for place, kind in enumerate(kinds)]
    words = _words(said["text"])
    return [
        (place, kind, item)
        for kind, items in state["policy"]["requests"].items()
        for item, wordings in items.items()
        for wording in wordings
        for place in _places(words, wording)
    ]


def _corrections(state: _State, said: _State) -> list[tuple[int, str, str]]:
    """A correction has no kind of its own."""
    if "intents" in state["policy"]:
        meant = _meant(said, "intercom", "customer", state["policy"]["names"])
        items = [meant.item] if meant.intent == "correction" else []
        return [(place, "", item) for place, item in enumerate(items)]
    words = _words(said["text"])
    return [
        (place, "", item)
        for opener in state["policy"]["corrections"]
        for item, name in state["policy"]["names"].items()
        for place in _places(words, f"{opener} {name}")
    ]


def _intercom_route(state: _State, work: _Work) -> str:
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
    for said in _customer_finals(state):
        for _, channel in sorted(_preferences(state, said)):
            preferred = channel
    return preferred if _permitted(state, preferred) else "none"


def _preferences(state: _State, said: _State) -> list[tuple[int, str]]:
    if "intents" in state["policy"]:
        meant = _meant(said, "intercom", "customer", state["policy"]["names"])
        return list(enumerate(c for c in ("email", "sms", "phone") if c == meant.intent))
    words = _words(said["text"])
    return [
        (place, channel)
        for channel, wordings in state["policy"]["preferences"].items()
        for wording in wordings
        for place in _places(words, wording)
    ]


def _permitted(state: _State, permission: str) -> bool:
    """B13: the customer's own last entry for this permission."""
    standing = False
    for entry in state["permission_log"]:
        if entry["for"] == permission and entry["by"] == "customer":
            standing = entry["says"] == "given"
    return standing


def _customer_finals(state: _State) -> list[_State]:
    """B02 and B04: each of them, in order."""
    finals = [u for u in state["transcript"] if u["final"] and u["speaker"] == "customer"]
    return sorted(finals, key=lambda u: int(u["at"]))


def _places(words: tuple[str, ...], wording: str) -> list[int]:
    """A03 and B03: where the wording's words stand side by side."""
    wanted = _words(wording)
    return [i for i in range(len(words)) if words[i : i + len(wanted)] == wanted]


@cache
def _words(text: str) -> tuple[str, ...]:
    """Words without punctuation; an apostrophe belongs to a word only inside it."""
    return tuple(re.findall(r"[a-z0-9]+(?:'[a-z0-9]+)*", text.lower()))
