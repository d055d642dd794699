"""The second solver of the support family: written from the published rules alone."""

from __future__ import annotations

import re
from typing import Any

State = dict[str, Any]
Utterance = dict[str, Any]

NUMERALS = frozenset(
    ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "oh")
)


# Both kinds of call: words, wordings and the order of finals.


def words_of(text: str) -> list[str]:
    """A03 and B03: the words alone, whatever the capitals and the punctuation."""
    return re.findall(r"[^\W_]+", re.sub(r"['\u2019]", "", text.casefold()))


def places(words: list[str], wording: str) -> list[tuple[int, int]]:
    """A03 and B03: where the wording's whole words stand side by side (start and end)."""
    sought = words_of(wording)
    size = len(sought)
    if not size:
        return []
    starts = range(len(words) - size + 1)
    return [(start, start + size) for start in starts if words[start : start + size] == sought]


def finals(state: State, speaker: str) -> list[Utterance]:
    """A02 and B02: the speaker's final utterances by `at`, then by their place in the list."""
    said = [u for u in state["transcript"] if u["final"] and u["speaker"] == speaker]
    return sorted(said, key=lambda utterance: int(utterance["at"]))


# The payment call (rules A).


def standing_last(text: str, groups: dict[str, list[str]]) -> str | None:
    """A03: of the competing phrases that one utterance contains, the one standing last."""
    words = words_of(text)
    found = [
        (place, group)
        for group, wordings in groups.items()
        for wording in wordings
        for place in places(words, wording)
    ]
    return max(found)[1] if found else None


def group_of(state: State, *names: str) -> dict[str, list[str]]:
    """The named lists of policy.phrases."""
    return {name: state["policy"]["phrases"][name] for name in names}


def family_of(state: State, prefix: str) -> dict[str, list[str]]:
    """The lists of policy.phrases whose names begin with the prefix, under the rest of the name."""
    phrases = state["policy"]["phrases"]
    return {key[len(prefix) :]: value for key, value in phrases.items() if key.startswith(prefix)}


def said_in_order(
    state: State, speaker: str, groups: dict[str, list[str]]
) -> list[tuple[int, str]]:
    """A02 to A04: the tick and the group of every final of the speaker that contains one."""
    named = ((int(u["at"]), standing_last(u["text"], groups)) for u in finals(state, speaker))
    return [(tick, group) for tick, group in named if group is not None]


def subject(state: State) -> str:
    """A05: the subject the customer named last, before that the menu choice."""
    named = said_in_order(state, "customer", family_of(state, "subject_"))
    return named[-1][1] if named else str(state["telephony"]["menu_choice"])


def payment_route(state: State) -> str:
    """A05: telephony status first, then the subject."""
    status = state["telephony"]["status"]
    if status == "after_call":
        return "wrap"
    if status == "hold":
        return "hold"
    return "payment" if subject(state) == "payment" else "service"


def hold_action(state: State) -> str:
    """A06: return once the hold has lasted policy.hold_check_ticks."""
    lasted = state["clock"]["now"] - state["telephony"]["since"]
    return "return_customer" if lasted >= state["policy"]["hold_check_ticks"] else "wait"


def service_action(state: State, target: str) -> str:
    """A08 and A09: the line test for the connection, the status for the router."""
    service = state["service"]
    if target == "router":
        return "confirm_online" if service["router"]["status"] == "online" else "check_power"
    test = service["line_test"]
    if test["status"] == "not_run":
        return "run_test"
    if test["status"] == "running":
        return "wait_test"
    return "escalate_line" if test["result"] == "down" else "confirm_online"


def consent_is_valid(state: State) -> bool:
    """A11: the last consent or withdrawal is a consent, not from before the amount."""
    said = said_in_order(state, "customer", group_of(state, "consent", "withdrawal"))
    if not said:
        return False
    tick, group = said[-1]
    return group == "consent" and tick >= int(state["payment"]["amount_since"])


def instrument(state: State) -> str:
    """A12: the card chosen last, in or before the draft; unknown before any choice."""
    left = state["payment"]["left_draft_at"]
    chosen = said_in_order(state, "customer", family_of(state, "card_"))
    counting = [card for tick, card in chosen if left is None or tick < left]
    return counting[-1] if counting else "unknown"


def details_complete(state: State, card: str) -> bool:
    """A13: the form is for the chosen card and number, expiry and code are all true."""
    captured = state["payment"]["captured"]
    complete = all(captured[part] for part in ("number", "expiry", "code"))
    return complete and str(captured["card"]) == card


def payment_stage(state: State) -> str:
    """A10: the status, and in draft the first step that applies."""
    status = state["payment"]["status"]
    if status == "processing":
        return "wait"
    if status in ("approved", "declined"):
        return "result"
    card = instrument(state)
    if not consent_is_valid(state):
        return "ask_consent"
    if card == "unknown":
        return "choose_card"
    return "submit" if details_complete(state, card) else "collect"


def capture_open(state: State) -> bool:
    """A15: opened by the agent's request in this draft, closed by a later stop."""
    payment = state["payment"]
    if payment["status"] != "draft":
        return False
    is_open = False
    groups = group_of(state, "capture_request", "capture_stop")
    for tick, group in said_in_order(state, "agent", groups):
        if group == "capture_stop":
            is_open = False
        elif tick >= payment["draft_since"]:
            is_open = True
    return is_open


def longest_row(text: str) -> int:
    """A16: the most digits in a row; only a word that is no digit breaks the row."""
    longest = row = 0
    for word in words_of(text):
        if word in NUMERALS:
            row += 1
        elif re.fullmatch(r"[0-9]+", word):
            row += len(word)
        else:
            row = 0
        longest = max(longest, row)
    return longest


def live_digits(state: State) -> bool:
    """A16: a partial of the customer or the agent with enough digits in a row."""
    limit = state["policy"]["digits_in_a_row"]
    return any(
        longest_row(u["text"]) >= limit
        for u in state["transcript"]
        if not u["final"] and u["speaker"] in ("customer", "agent")
    )


def recorder(state: State, route: str) -> str:
    """A14: stop in wrap, pause for open capture or live digits, else record."""
    if route == "wrap":
        return "stop"
    return "pause" if capture_open(state) or live_digits(state) else "record"


def payment_call(state: State) -> dict[str, str]:
    """All questions of the payment call; A17: none where the route does not use them."""
    route = payment_route(state)
    target = subject(state) if route == "service" else "none"
    return {
        "route": route,
        "recorder": recorder(state, route),
        "payment_stage": payment_stage(state) if route == "payment" else "none",
        "instrument": instrument(state) if route == "payment" else "none",
        "service_target": target,
        "service_action": service_action(state, target) if route == "service" else "none",
        "hold_action": hold_action(state) if route == "hold" else "none",
    }


# The intercom call (rules B).


def requests_in(state: State, words: list[str]) -> list[tuple[int, int, str, str]]:
    """B05: every request in the words: place, kind and item."""
    return [
        (start, end, kind, item)
        for kind, items in state["policy"]["requests"].items()
        for item, wordings in items.items()
        for wording in wordings
        for start, end in places(words, wording)
    ]


def corrections_in(state: State, words: list[str]) -> list[tuple[int, int, str, str]]:
    """B05: every correction directly followed by a name: place, no kind, item."""
    policy = state["policy"]
    return [
        (start, end, "", item)
        for wording in policy["corrections"]
        for item, name in policy["names"].items()
        for start, end in places(words, f"{wording} {name}")
    ]


def fits(state: State, kind: str, item: str) -> bool:
    """B05: parcels fit delivery and cancel, devices fit repair."""
    items: dict[str, Any] = state["devices"] if kind == "repair" else state["parcels"]
    return item in items


def work(state: State) -> tuple[str, str]:
    """B05: kind and item after the customer's requests and corrections in their order."""
    kind, item = (str(state["call"]["menu_choice"][key]) for key in ("kind", "item"))
    for utterance in finals(state, "customer"):
        words = words_of(utterance["text"])
        wordings = requests_in(state, words) + corrections_in(state, words)
        for _, _, new_kind, new_item in sorted(wordings):
            if new_kind:
                kind, item = new_kind, new_item
            elif fits(state, kind, new_item):
                item = new_item
    return kind, item


def intercom_route(state: State, kind: str) -> str:
    """B06: call status first, then the kind of the work."""
    call = state["call"]
    if call["status"] == "ended":
        return "closed"
    if call["status"] == "hold":
        lasted = state["clock"]["now"] - call["since"]
        return "hold_return" if lasted >= state["policy"]["hold_limit_ticks"] else "hold_wait"
    return kind


def delivery_action(state: State, target: str) -> str:
    """B08: the first that applies."""
    parcel = state["parcels"][target]
    if parcel["status"] == "delivered":
        return "confirm_delivery"
    if parcel["status"] == "address_query":
        return "correct_address"
    if state["clock"]["now"] >= parcel["deadline"]:
        return "open_case"
    return "check_tracking" if parcel["status"] == "label_only" else "wait"


def cancellation_action(state: State, target: str) -> str:
    """B09: the last listed callback for the parcel that says cancelled or refused."""
    action = "cancel_request"
    for callback in state["carrier_callbacks"]:
        if callback["parcel"] == target and callback["outcome"] == "cancelled":
            action = "confirm_cancelled"
        elif callback["parcel"] == target and callback["outcome"] == "refused":
            action = "explain_refusal"
    return action


def finding_action(device: dict[str, Any], finding: str) -> str:
    """B12: a clear finding, or hardware with or without a spare part to fit."""
    if finding == "clear":
        return "explain_clear"
    spare = device["spare"]
    return "send_part" if spare["self_fit"] is True and spare["stock"] >= 1 else "book_visit"


def remote_action(state: State, device: dict[str, Any]) -> str:
    """B11: the remote check of a device whose self-test was unclear."""
    remote = device["remote"]
    if remote["status"] == "running":
        return "await_result"
    if remote["status"] == "done":
        return finding_action(device, remote["result"])
    return "remote_check" if permitted(state, "remote_access") else "request_access"


def repair_action(state: State, target: str) -> str:
    """B10: the device's self-test and what its result leads to."""
    device = state["devices"][target]
    test = device["test"]
    if test["status"] == "none":
        return "diagnose"
    if test["status"] == "running":
        return "await_result"
    if test["result"] == "unclear":
        return remote_action(state, device)
    return finding_action(device, test["result"])


def permitted(state: State, permission: str) -> bool:
    """B13: the customer's own last entry for this permission says given."""
    entries = [entry for entry in state["permission_log"] if entry["by"] == "customer"]
    says = [str(entry["says"]) for entry in entries if entry["for"] == permission]
    return says[-1:] == ["given"]


def contact_channel(state: State) -> str:
    """B14: the channel preferred last, if its permission stands."""
    preferred = said_in_order(state, "customer", state["policy"]["preferences"])
    if not preferred:
        return "none"
    channel = preferred[-1][1]
    return channel if permitted(state, channel) else "none"


def intercom_call(state: State) -> dict[str, str]:
    """All questions of the intercom call; B15: none where the route does not use them."""
    kind, item = work(state)
    route = intercom_route(state, kind)
    return {
        "route": route,
        "contact_channel": contact_channel(state),
        "delivery_target": item if route in ("delivery", "cancel") else "none",
        "delivery_action": delivery_action(state, item) if route == "delivery" else "none",
        "cancellation_action": cancellation_action(state, item) if route == "cancel" else "none",
        "repair_target": item if route == "repair" else "none",
        "repair_action": repair_action(state, item) if route == "repair" else "none",
    }


def answers(state: State) -> dict[str, str]:
    """Every question's value: the payment call has telephony, the intercom call has devices."""
    return payment_call(state) if "telephony" in state else intercom_call(state)
