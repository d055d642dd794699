"""Minimal counterfactual edits: one field of a stored state moves exactly the expected answers."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from streamdecisionbench.families.support import DRAFTS
from streamdecisionbench.suite.authoring import expand

DRAFT = {draft.scenario_id: draft for draft in DRAFTS}
SCENARIO = {name: expand(draft) for name, draft in DRAFT.items()}

EDITS: list[tuple[str, int, str, Any, dict[str, str]]] = [
    ("support_a", 3, "transcript.u03.final", True, {"payment_stage": "choose_card"}),
    ("support_a", 4, "transcript.u03.final", False, {"payment_stage": "ask_consent"}),
    ("support_a", 4, "transcript.u03.speaker", "agent", {"payment_stage": "ask_consent"}),
    ("support_a", 7, "transcript.u05.final", True, {"payment_stage": "collect", "instrument": "company"}),
    ("support_a", 8, "transcript.u05.final", False, {"payment_stage": "choose_card", "instrument": "unknown"}),
    ("support_a", 11, "transcript.u07.final", True, {"recorder": "pause"}),
    ("support_a", 12, "transcript.u07.speaker", "customer", {"recorder": "record"}),
    ("support_a", 15, "transcript.u09.speaker", "agent", {"recorder": "record"}),
    ("support_a", 15, "transcript.u09.speaker", "customer", {}),
    ("support_a", 19, "payment.captured.code", True, {"payment_stage": "submit"}),
    ("support_a", 19, "payment.status", "processing", {"payment_stage": "wait", "recorder": "record"}),
    ("support_a", 21, "transcript.u12.final", True, {"recorder": "record"}),
    ("support_a", 24, "transcript.u13.speaker", "customer", {"service_target": "router", "service_action": "check_power"}),
    ("support_a", 24, "service.router.status", "online", {}),
    ("support_a", 25, "service.line_test.result", "up", {"service_action": "confirm_online"}),
    ("support_a", 25, "transcript.u15.text", "it's still the router from flat two oh two nine", {"recorder": "pause"}),
    ("support_a", 28, "service.router.status", "online", {"service_action": "confirm_online"}),
    ("support_a", 28, "service.line_test.result", "up", {}),
    ("support_a", 32, "telephony.since", 28, {"hold_action": "return_customer"}),
    ("support_a", 33, "telephony.since", 30, {"hold_action": "wait"}),
    ("support_a", 33, "policy.hold_check_ticks", 5, {"hold_action": "wait"}),
    ("support_a", 33, "payment.status", "approved", {}),
    ("support_a", 35, "transcript.u23.speaker", "customer", {"recorder": "pause"}),
    ("support_a", 39, "transcript.u26.final", True, {"instrument": "company"}),
    ("support_a", 41, "payment.captured.card", "company", {"payment_stage": "submit"}),
    ("support_a", 41, "transcript.u28.speaker", "agent", {"recorder": "pause"}),
    ("support_a", 45, "payment.amount_since", 4, {"payment_stage": "collect"}),
    ("support_a", 45, "payment.amount_since", 5, {}),
    ("support_a", 45, "checklist.consent", False, {}),
    ("support_a", 47, "payment.amount_since", 47, {"payment_stage": "ask_consent"}),
    ("support_a", 47, "transcript.u34.final", True, {"payment_stage": "ask_consent"}),
    ("support_a", 49, "payment.captured.card", "household", {"payment_stage": "collect"}),
    ("support_a", 51, "transcript.u36.final", True, {"recorder": "record"}),
    ("support_a", 51, "transcript.u36.text", "so that's the card ending four two one", {"recorder": "record"}),
    ("support_a", 53, "payment.left_draft_at", 54, {"instrument": "household"}),
    ("support_a", 53, "payment.left_draft_at", 53, {}),
    ("support_a", 57, "telephony.status", "after_call", {"route": "wrap", "recorder": "stop", "service_target": "none", "service_action": "none"}),
    ("support_b", 1, "transcript.s02.speaker", "customer", {"contact_channel": "email"}),
    ("support_b", 2, "transcript.s03.final", False, {"contact_channel": "none"}),
    ("support_b", 4, "transcript.s04.speaker", "customer", {"delivery_target": "keypad", "delivery_action": "check_tracking"}),
    ("support_b", 5, "transcript.s05.final", True, {"delivery_target": "keypad", "delivery_action": "check_tracking"}),
    ("support_b", 10, "transcript.s08.final", True, {"contact_channel": "none"}),
    ("support_b", 14, "carrier_callbacks.0.outcome", "cancelled", {"cancellation_action": "confirm_cancelled"}),
    ("support_b", 14, "carrier_callbacks.0.outcome", "refused", {"cancellation_action": "explain_refusal"}),
    ("support_b", 15, "carrier_callbacks.1.parcel", "keypad", {"cancellation_action": "confirm_cancelled"}),
    ("support_b", 15, "parcels.keypad.order_line", "shipped", {}),
    ("support_b", 16, "carrier_callbacks.2.parcel", "doorplate", {"cancellation_action": "cancel_request"}),
    ("support_b", 19, "parcels.doorplate.deadline", 19, {"delivery_action": "open_case"}),
    ("support_b", 20, "parcels.doorplate.deadline", 21, {"delivery_action": "wait"}),
    ("support_b", 20, "parcels.doorplate.eta", 30, {}),
    ("support_b", 21, "parcels.doorplate.status", "address_query", {"delivery_action": "correct_address"}),
    ("support_b", 22, "parcels.doorplate.status", "in_transit", {"delivery_action": "open_case"}),
    ("support_b", 25, "transcript.s17.speaker", "customer", {"repair_target": "hall_screen"}),
    ("support_b", 27, "transcript.s18.final", True, {"repair_target": "hall_screen"}),
    ("support_b", 28, "transcript.s18.final", False, {"repair_target": "gate_unit"}),
    ("support_b", 33, "transcript.s20.text", "I mean the gate unit, sorry.", {"repair_target": "gate_unit", "repair_action": "diagnose"}),
    ("support_b", 35, "transcript.s22.final", True, {"contact_channel": "sms"}),
    ("support_b", 36, "permission_log.2.by", "agent", {"contact_channel": "none"}),
    ("support_b", 37, "devices.hall_screen.spare.stock", 1, {"repair_action": "send_part"}),
    ("support_b", 38, "devices.hall_screen.spare.stock", 0, {"repair_action": "book_visit"}),
    ("support_b", 38, "devices.hall_screen.spare.self_fit", False, {"repair_action": "book_visit"}),
    ("support_b", 41, "permission_log.3.for", "email", {}),
    ("support_b", 41, "permission_log.3.for", "sms", {"contact_channel": "none"}),
    ("support_b", 47, "call.since", 43, {"route": "hold_return"}),
    ("support_b", 48, "policy.hold_limit_ticks", 5, {"route": "hold_wait"}),
    ("support_b", 48, "call.status", "ended", {"route": "closed"}),
    ("support_b", 50, "permission_log.4.by", "customer", {"repair_action": "remote_check"}),
    ("support_b", 52, "permission_log.5.says", "withdrawn", {"repair_action": "request_access"}),
    ("support_b", 53, "permission_log.6.for", "email", {"contact_channel": "sms"}),
    ("support_b", 54, "permission_log.5.says", "withdrawn", {}),
    ("support_b", 55, "permission_log.7.by", "customer", {"contact_channel": "sms"}),
    ("support_b", 56, "devices.gate_unit.remote.result", "hardware", {"repair_action": "book_visit"}),
    ("support_b", 57, "case.status", "open", {}),
    ("support_b", 57, "call.status", "ended", {"route": "closed", "repair_target": "none", "repair_action": "none"}),
]  # fmt: skip


def edited(state: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of the state with one field changed; utterances are addressed by id."""
    state = copy.deepcopy(state)
    *folders, name = path.split(".")
    place: Any = state
    for folder in folders:
        if isinstance(place, list) and not folder.isdigit():
            place = next(u for u in place if u["id"] == folder)
        else:
            place = place[int(folder)] if isinstance(place, list) else place[folder]
    assert name in place
    assert place[name] != value
    place[name] = value
    return state


@pytest.mark.parametrize(
    ("name", "t", "path", "value", "moved"),
    EDITS,
    ids=lambda v: str(v) if not isinstance(v, dict) else "",
)
def test_one_field_moves_exactly_these_answers(
    name: str, t: int, path: str, value: Any, moved: dict[str, str]
) -> None:
    step = SCENARIO[name].steps[t]
    got = DRAFT[name].reference(edited(step.state, path, value))
    assert {q: v for q, v in got.items() if v != step.gold[q]} == moved
