"""The payment call's reference: one public state to all answers, rule by rule of `rules_a`.

It reads nothing but the state, thresholds and wordings included, so that it can be checked line by
line against the rule text the state carries.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

__all__ = ["reference"]

_State = dict[str, Any]

_SUBJECTS = {
    "subject_payment": "payment",
    "subject_connection": "connection",
    "subject_router": "router",
}
_CARDS = {"card_household": "household", "card_company": "company"}
_DIGIT_WORDS = frozenset(
    {"zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
)
_INACTIVE = {
    "payment_stage": "none",
    "instrument": "none",
    "service_target": "none",
    "service_action": "none",
    "hold_action": "none",
}


class _Said(NamedTuple):
    purpose: str
    at: int


def reference(state: _State) -> dict[str, str]:
    """Answers to all seven questions."""
    subject = _subject(state)
    route = _route(state, subject)
    answers = {"route": route, "recorder": _recorder(state, route), **_INACTIVE}
    if route == "payment":
        answers["payment_stage"] = _stage(state)
        answers["instrument"] = _card(state)
    if route == "service":
        answers["service_target"] = subject
        answers["service_action"] = _service_action(state["service"], subject)
    if route == "hold":
        answers["hold_action"] = _hold_action(state)
    return answers


def _subject(state: _State) -> str:
    """A05: the subject the customer named last, or else the menu choice."""
    said = _said(state, "customer", *_SUBJECTS)
    return _SUBJECTS[said[-1].purpose] if said else str(state["telephony"]["menu_choice"])


def _route(state: _State, subject: str) -> str:
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
    said = _said(state, "customer", *_CARDS)
    chosen = [_CARDS[s.purpose] for s in said if left is None or s.at < left]
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
    """Per final utterance of `speaker`, in order (A02), the phrase standing last in it (A03)."""
    phrases = state["policy"]["phrases"]
    finals = [u for u in state["transcript"] if u["final"] and u["speaker"] == speaker]
    said = []
    for utterance in sorted(finals, key=lambda u: int(u["at"])):
        words = _words(utterance["text"])
        found = [(i, p) for p in purposes for text in phrases[p] for i in _places(words, text)]
        if found:
            said.append(_Said(max(found)[-1], utterance["at"]))
    return said


def _places(words: list[str], phrase: str) -> list[int]:
    """Where the phrase's words stand side by side."""
    wanted = _words(phrase)
    return [i for i in range(len(words)) if words[i : i + len(wanted)] == wanted]


def _words(text: str) -> list[str]:
    """Words without punctuation; an apostrophe belongs to a word only inside it."""
    return re.findall(r"[a-z0-9]+(?:'[a-z0-9]+)*", text.lower())
