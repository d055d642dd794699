"""Minimal counterfactual edits: one field of a stored state moves exactly the expected answers."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from streamdecisionbench.families.support import DRAFTS
from streamdecisionbench.suite.authoring import expand

pytestmark = pytest.mark.slow

DRAFT = {draft.scenario_id: draft for draft in DRAFTS}
SCENARIO = {name: expand(draft) for name, draft in DRAFT.items()}

EDITS: list[tuple[str, int, str, Any, dict[str, str]]] = [
    ("support_a", 0, "telephony.menu_choice", "connection", {"service_target": "connection", "service_action": "run_test"}),
    ("support_a", 3, "telephony.menu_choice", "payment", {"route": "payment", "service_target": "none", "service_action": "none", "payment_stage": "ask_consent", "instrument": "unknown"}),
    ("support_a", 3, "transcript.u04.final", True, {"route": "payment", "service_target": "none", "service_action": "none", "payment_stage": "ask_consent", "instrument": "unknown"}),
    ("support_a", 4, "transcript.u05.final", False, {"payment_stage": "ask_consent"}),
    ("support_a", 4, "transcript.u05.speaker", "background", {"payment_stage": "ask_consent"}),
    ("support_a", 4, "telephony.menu_choice", "payment", {}),
    ("support_a", 8, "transcript.u07.final", False, {"payment_stage": "choose_card", "instrument": "unknown"}),
    ("support_a", 8, "payment.captured.card", "household", {"payment_stage": "submit"}),
    ("support_a", 11, "transcript.u09.text", "my customer number is two oh nine four", {"recorder": "pause"}),
    ("support_a", 11, "transcript.u09.speaker", "background", {}),
    ("support_a", 11, "transcript.u10.final", True, {"recorder": "pause"}),
    ("support_a", 13, "transcript.u10.speaker", "background", {}),
    ("support_a", 15, "transcript.u10.speaker", "background", {"recorder": "record"}),
    ("support_a", 15, "transcript.u12.speaker", "agent", {"recorder": "record"}),
    ("support_a", 16, "payment.draft_since", 12, {}),
    ("support_a", 16, "payment.draft_since", 13, {"recorder": "record"}),
    ("support_a", 19, "payment.status", "processing", {"payment_stage": "wait", "recorder": "record"}),
    ("support_a", 19, "transcript.u14.final", True, {}),
    ("support_a", 21, "transcript.u14.at", 18, {"route": "payment", "service_target": "none", "service_action": "none", "payment_stage": "collect", "instrument": "household"}),
    ("support_a", 24, "transcript.u18.speaker", "customer", {"recorder": "pause"}),
    ("support_a", 25, "service.line_test.result", "up", {"service_action": "confirm_online"}),
    ("support_a", 26, "service.router.status", "online", {}),
    ("support_a", 28, "payment.amount_since", 4, {"payment_stage": "collect"}),
    ("support_a", 28, "payment.amount_since", 5, {}),
    ("support_a", 30, "transcript.u21.speaker", "background", {"recorder": "record"}),
    ("support_a", 32, "telephony.since", 28, {"hold_action": "return_customer"}),
    ("support_a", 33, "telephony.since", 30, {"hold_action": "wait"}),
    ("support_a", 33, "policy.hold_check_ticks", 5, {"hold_action": "wait"}),
    ("support_a", 34, "transcript.u23.final", False, {"route": "payment", "payment_stage": "ask_consent", "instrument": "household", "service_target": "none", "service_action": "none"}),
    ("support_a", 34, "transcript.u25.final", False, {"recorder": "pause"}),
    ("support_a", 35, "service.router.status", "restarting", {"service_action": "check_power"}),
    ("support_a", 35, "service.line_test.result", "down", {}),
    ("support_a", 35, "transcript.u27.final", False, {"recorder": "pause"}),
    ("support_a", 37, "transcript.u28.at", 25, {"payment_stage": "ask_consent"}),
    ("support_a", 37, "transcript.u28.at", 26, {}),
    ("support_a", 39, "transcript.u31.final", True, {"instrument": "company"}),
    ("support_a", 39, "transcript.u32.speaker", "customer", {"instrument": "company"}),
    ("support_a", 43, "transcript.u35.speaker", "customer", {"payment_stage": "ask_consent"}),
    ("support_a", 43, "payment.captured.code", False, {"payment_stage": "collect"}),
    ("support_a", 45, "transcript.u36.speaker", "background", {"payment_stage": "submit"}),
    ("support_a", 47, "payment.amount_since", 47, {"payment_stage": "ask_consent"}),
    ("support_a", 47, "transcript.u41.final", True, {"payment_stage": "collect", "instrument": "household"}),
    ("support_a", 48, "payment.left_draft_at", 49, {"instrument": "household"}),
    ("support_a", 50, "payment.status", "approved", {}),
    ("support_a", 50, "payment.status", "processing", {"payment_stage": "wait"}),
    ("support_a", 51, "transcript.u43.text", "so the 46.2 is still", {"recorder": "record"}),
    ("support_a", 51, "transcript.u43.speaker", "background", {"recorder": "record"}),
    ("support_a", 54, "payment.left_draft_at", 48, {"instrument": "company"}),
    ("support_a", 54, "payment.amount_since", 46, {"payment_stage": "collect"}),
    ("support_a", 55, "payment.draft_since", 40, {"recorder": "pause"}),
    ("support_a", 57, "telephony.status", "after_call", {"route": "wrap", "recorder": "stop", "service_target": "none", "service_action": "none"}),
    ("support_b", 0, "call.menu_choice", {"kind": "repair", "item": "gate_unit"}, {"route": "repair", "delivery_target": "none", "delivery_action": "none", "repair_target": "gate_unit", "repair_action": "diagnose"}),
    ("support_b", 2, "transcript.s04.final", False, {"contact_channel": "none"}),
    ("support_b", 4, "transcript.s05.speaker", "customer", {"delivery_target": "keypad", "delivery_action": "check_tracking"}),
    ("support_b", 6, "transcript.s06.final", False, {"delivery_target": "doorplate", "delivery_action": "wait"}),
    ("support_b", 9, "parcels.keypad.status", "delivered", {"delivery_action": "confirm_delivery"}),
    ("support_b", 14, "carrier_callbacks.0.parcel", "keypad", {"cancellation_action": "explain_refusal"}),
    ("support_b", 15, "carrier_callbacks.1.outcome", "cancelled", {"cancellation_action": "confirm_cancelled"}),
    ("support_b", 15, "parcels.keypad.order_line", "shipped", {}),
    ("support_b", 16, "carrier_callbacks.2.parcel", "doorplate", {"cancellation_action": "cancel_request"}),
    ("support_b", 19, "parcels.doorplate.deadline", 19, {"delivery_action": "open_case"}),
    ("support_b", 19, "parcels.doorplate.eta", None, {}),
    ("support_b", 20, "parcels.doorplate.deadline", 21, {"delivery_action": "wait"}),
    ("support_b", 21, "parcels.doorplate.status", "address_query", {"delivery_action": "correct_address"}),
    ("support_b", 22, "parcels.doorplate.status", "in_transit", {"delivery_action": "open_case"}),
    ("support_b", 25, "carrier_callbacks.3.outcome", "received", {"cancellation_action": "explain_refusal"}),
    ("support_b", 27, "transcript.s19.final", True, {}),
    ("support_b", 29, "transcript.s19.at", 26, {"route": "cancel", "repair_target": "none", "repair_action": "none", "delivery_target": "keypad", "cancellation_action": "confirm_cancelled"}),
    ("support_b", 31, "transcript.s22.text", "No, no, I'm on about the gate unit.", {"repair_target": "gate_unit"}),
    ("support_b", 31, "transcript.s23.final", True, {"repair_target": "gate_unit"}),
    ("support_b", 35, "devices.hall_screen.test.status", "none", {}),
    ("support_b", 36, "devices.gate_unit.test.result", "hardware", {"repair_action": "book_visit"}),
    ("support_b", 38, "devices.hall_screen.spare.stock", 1, {"repair_action": "send_part"}),
    ("support_b", 40, "permission_log.1.by", "agent", {"contact_channel": "none"}),
    ("support_b", 41, "transcript.s30.speaker", "customer", {"contact_channel": "email"}),
    ("support_b", 42, "devices.hall_screen.spare.stock", 0, {"repair_action": "book_visit"}),
    ("support_b", 43, "devices.hall_screen.spare.self_fit", False, {"repair_action": "book_visit"}),
    ("support_b", 47, "call.since", 43, {"route": "hold_return"}),
    ("support_b", 48, "policy.hold_limit_ticks", 5, {"route": "hold_wait"}),
    ("support_b", 48, "call.status", "ended", {"route": "closed"}),
    ("support_b", 49, "transcript.s32.final", False, {"repair_target": "hall_screen", "repair_action": "send_part"}),
    ("support_b", 50, "permission_log.2.by", "customer", {"repair_action": "remote_check"}),
    ("support_b", 52, "transcript.s36.final", True, {"contact_channel": "none"}),
    ("support_b", 52, "permission_log.3.says", "withdrawn", {"repair_action": "request_access"}),
    ("support_b", 53, "transcript.s36.speaker", "agent", {"contact_channel": "phone"}),
    ("support_b", 54, "permission_log.4.by", "customer", {"contact_channel": "sms"}),
    ("support_b", 55, "permission_log.5.for", "phone", {}),
    ("support_b", 55, "devices.gate_unit.remote.status", "none", {"repair_action": "request_access"}),
    ("support_b", 56, "permission_log.6.for", "email", {"contact_channel": "none"}),
    ("support_b", 56, "devices.gate_unit.remote.result", "clear", {"repair_action": "explain_clear"}),
    ("support_b", 57, "devices.gate_unit.spare.self_fit", True, {"repair_action": "send_part"}),
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
