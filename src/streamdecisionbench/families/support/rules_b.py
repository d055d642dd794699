"""The intercom call's public rules: the law that `reference_b` implements, sentence by sentence."""

from __future__ import annotations

from typing import Any

__all__ = ["POLICY", "RULES"]

RULES: dict[str, str] = {
    "B01_time": (
        "All times are ticks and clock.now is the current one. Deadlines, ETAs and limits are ticks"
        " too. Decide from this state only."
    ),
    "B02_transcript": (
        "Each utterance keeps its id. While final is false its text is provisional and may be"
        " replaced; once final is true it stands for good. `at` is the tick at which the text shown"
        " appeared. Finals are read in the order of `at`; at one tick, in the order of the list."
    ),
    "B03_wordings": (
        "A wording from policy is present when its complete words appear next to each other in that"
        " order, whatever the capitals, the punctuation and the words around it (text me is not"
        " present in text messages). Anything phrased differently has no effect. Inside one"
        " utterance wordings take effect from left to right."
    ),
    "B04_speech": (
        "Only the customer's final utterances set or correct the work and set the preferred channel."
        " Provisional text, the agent and background voices set nothing, even with the same words."
    ),
    "B05_work": (
        "The work is a kind with an item. It starts as call.menu_choice. A wording in policy.requests"
        " replaces both: delivery and cancel take a parcel, repair takes a device. A correction is a"
        " wording in policy.corrections directly followed by a name in policy.names: it replaces the"
        " item and keeps the kind, provided the item fits the kind (parcels fit delivery and cancel,"
        " devices fit repair); a correction that does not fit has no effect. The last request or"
        " correction stands until another takes effect."
    ),
    "B06_route": (
        "route: call.status ended gives closed. call.status hold gives hold_return when clock.now"
        " minus call.since has reached policy.hold_limit_ticks (exactly reached counts), otherwise"
        " hold_wait. call.status connected gives the kind of the current work. Announcements,"
        " goodbyes, a result that comes in during a hold and case.status do not change the route."
        " Speech during a hold is read as always and shows once the hold is over."
    ),
    "B07_targets": (
        "delivery_target is the parcel of the work in the routes delivery and cancel; repair_target"
        " is the device of the work in the route repair."
    ),
    "B08_delivery": (
        "delivery_action, from parcels.<target>, the first that applies: status delivered,"
        " confirm_delivery; status address_query, correct_address; clock.now at or past deadline,"
        " open_case (a parcel is late exactly at its deadline); status label_only, check_tracking;"
        " otherwise wait. The ETA, driver messages and anybody's opinion move no deadline, and"
        " cancellations play no part here."
    ),
    "B09_cancellation": (
        "cancellation_action, from carrier_callbacks for the target parcel: outcome cancelled gives"
        " confirm_cancelled, refused gives explain_refusal; if there are several such callbacks the"
        " last one listed decides. With no such callback it is cancel_request: outcome received"
        " decides nothing, callbacks about other parcels decide nothing, and neither the agent's word"
        " nor parcels.<target>.order_line cancels anything. A deadline plays no part here."
    ),
    "B10_device_test": (
        "repair_action, from devices.<target>: test.status none gives diagnose; running gives"
        " await_result; done goes by test.result: clear and hardware are findings (B12), unclear"
        " needs the remote check (B11)."
    ),
    "B11_remote": (
        "For an unclear result: remote.status running gives await_result; done makes remote.result"
        " the finding (B12); none gives remote_check if permission remote_access stands, otherwise"
        " request_access. Losing that permission does not undo a remote check that is running or"
        " done."
    ),
    "B12_finding": (
        "Finding clear gives explain_clear. Finding hardware gives send_part if this device's"
        " spare.self_fit is true and its spare.stock is 1 or more, otherwise book_visit. Another"
        " device's record never matters."
    ),
    "B13_permissions": (
        "A permission stands if the last permission_log entry for it with by=customer says given."
        " Entries made by anyone else do not count, nor does anything said on the call. email, sms,"
        " phone and remote_access are four separate permissions: giving or withdrawing one leaves the"
        " other three as they were."
    ),
    "B14_channel": (
        "contact_channel, in every route: the channel preferred last (policy.preferences), if its"
        " permission stands; otherwise none, also before any preference. There is no falling back to"
        " another permitted channel; the preference itself stays until another is set."
    ),
    "B15_inactive": (
        "Questions the route does not use are answered none: delivery_target outside delivery and"
        " cancel, delivery_action outside delivery, cancellation_action outside cancel, repair_target"
        " and repair_action outside repair."
    ),
    "B16_other": "Fields, notes and feed lines that no rule mentions are there to be read, not acted on.",
}

POLICY: dict[str, Any] = {
    "hold_limit_ticks": 4,
    "requests": {
        "delivery": {"doorplate": ["where is the door plate"], "keypad": ["where is the keypad"]},
        "cancel": {"doorplate": ["cancel the door plate"], "keypad": ["cancel the keypad"]},
        "repair": {"gate_unit": ["fix the gate unit"], "hall_screen": ["fix the hall screen"]},
    },
    "corrections": ["i mean the", "make that the"],
    "names": {
        "doorplate": "door plate",
        "keypad": "keypad",
        "gate_unit": "gate unit",
        "hall_screen": "hall screen",
    },
    "preferences": {"email": ["email me"], "sms": ["text me"], "phone": ["ring me"]},
}
"""Thresholds and wordings a deployment would set; published in every state."""
