"""Support B: two parcels and two intercom devices, a carrier that calls back, and permissions."""

from __future__ import annotations

from typing import Any

from streamdecisionbench.families.support.questions_b import QUESTIONS, SPEC
from streamdecisionbench.families.support.reference_b import reference
from streamdecisionbench.families.support.rules_b import POLICY, RULES
from streamdecisionbench.families.support.state import feed, log, phone, projection, put, say
from streamdecisionbench.suite.authoring import Change, Draft, Event
from streamdecisionbench.suite.scenario import State

__all__ = ["DRAFT", "INITIAL"]


def _device(place: str, self_fit: bool) -> dict[str, Any]:
    return {
        "place": place,
        "test": {"status": "none", "result": None},
        "remote": {"status": "none", "result": None},
        "spare": {"self_fit": self_fit, "stock": 0},
    }


INITIAL: State = {
    "rules": RULES,
    "policy": POLICY,
    "clock": {"now": 0},
    "call": {
        "status": "connected",
        "since": 0,
        "menu_choice": {"kind": "delivery", "item": "doorplate"},
    },
    "transcript": [],
    "case": {"id": "LN-7731", "customer": "O. Brandt, Mill Lane Co-op", "status": "open"},
    "parcels": {
        "doorplate": {
            "status": "in_transit",
            "deadline": 20,
            "eta": 17,
            "order_line": "shipped",
        },
        "keypad": {
            "status": "label_only",
            "deadline": 45,
            "eta": None,
            "order_line": "shipped",
        },
    },
    "carrier_callbacks": [],
    "devices": {
        "gate_unit": _device("gate post", self_fit=False),
        "hall_screen": _device("entrance hall", self_fit=True),
    },
    "permission_log": [
        {"at": 0, "for": "email", "says": "given", "by": "customer", "via": "portal"},
        {"at": 0, "for": "phone", "says": "given", "by": "customer", "via": "portal"},
    ],
    "log": [],
}

C, A, B = "customer", "agent", "background"
EVENTS: tuple[Event, ...] = (
    say(0, "s01", C, True, "Morning! Where is the door plate I ordered for the co-op?", "cause: asks about the door plate"),
    say(1, "s02", A, True, "It's on the van. For updates, do I tick text me or email me?", "distractor: preference wordings from the agent"),
    say(2, "s03", C, True, "Just email me.", "cause: preference; email permission already stands"),
    put(3, {"parcels.doorplate.eta": 19}, "carrier: door plate ETA now 19", "distractor: an ETA moves nothing"),
    say(4, "s04", B, True, "Otto, where is the keypad?", "distractor: request wording from the background"),
    say(5, "s05", C, False, "and where is the keypad", "distractor: request in provisional text"),
    say(6, "s05", C, True, "And where is the keypad? The spare one, I mean.", "cause: final request for the other parcel, which has only a label"),
    say(7, "s06", A, True, "Hm, a label was printed, but I can't see a scan yet.", "distractor: the agent reads the field aloud"),
    put(8, {"parcels.keypad.status": "address_query"}, "carrier: keypad scanned at the depot and held, house number missing", "cause: the carrier queries the address"),
    say(9, "s07", A, True, "Strange, the address is complete on my side, so it should be moving.", "distractor: the agent's opinion"),
    say(10, "s08", C, False, "okay then text me", "distractor: preference in provisional text that is revised"),
    say(11, "s08", C, True, "Okay. Then text messages from the driver won't help me.", "distractor: the final holds no preference"),
    say(12, "s09", C, True, "You know what, cancel the keypad. I'll buy one in town.", "cause: asks to cancel"),
    say(13, "s10", A, True, "Right, that's cancelled for you.", "distractor: the agent's word cancels nothing"),
    put(13, {"parcels.keypad.order_line": "cancelled"}, "shop: keypad order line cancelled", "distractor: the shop's own record"),
    feed(14, "carrier_callbacks", {"parcel": "keypad", "outcome": "received", "text": "carrier desk: noted, asking the depot"}, "distractor: received is not cancelled"),
    feed(15, "carrier_callbacks", {"parcel": "hinge_set", "outcome": "cancelled", "text": "carrier desk: hinge set called off, order of another customer"}, "distractor: a callback about another parcel"),
    feed(16, "carrier_callbacks", {"parcel": "keypad", "outcome": "cancelled", "text": "carrier desk: keypad goes back to you"}, "cause: the carrier's callback"),
    say(17, "s11", A, True, "There, the carrier has confirmed it too.", "distractor: the agent reads the callback aloud"),
    say(18, "s12", C, True, "Good, one less thing to worry about. So where is the door plate now?", "cause: back to the first parcel, not yet late"),
    say(19, "s13", A, True, "That one's overdue, I'd say. I'll open a case.", "distractor: one tick before the deadline"),
    log(20, "driver: turning into Mill Lane", "distractor: the change comes from the clock alone"),
    put(21, {"parcels.doorplate.eta": 22}, "carrier: door plate ETA now 22", "distractor: an ETA moves no deadline"),
    say(21, "s14", B, True, "Parcel for the co-op! Sign here, please.", "distractor: a voice at the door is no status"),
    put(22, {"parcels.doorplate.status": "delivered"}, "carrier: door plate handed over, signed for", "cause: delivered outranks late"),
    say(23, "s15", A, True, "I'll keep the late case open until I know it's with you.", "distractor: the agent's plan"),
    say(24, "s16", C, True, "It's here, he just dropped it off. Next, can you fix the gate unit for us?", "cause: asks for a repair"),
    say(25, "s17", A, True, "The gate unit? Your note from Monday says, fix the hall screen.", "distractor: request wording from the agent"),
    say(26, "s18", C, False, "oh does it yes", "distractor: provisional text"),
    say(27, "s18", C, False, "oh does it yes sorry i mean the hall screen", "distractor: correction in provisional text"),
    say(28, "s18", C, True, "Oh, does it? Yes, sorry, I mean the hall screen. It's gone black.", "cause: final correction of the device"),
    log(29, "gate unit: heartbeat ok", "distractor: the other device"),
    feed(30, "permission_log", {"for": "sms", "says": "given", "by": "customer", "via": "portal"}, "distractor: a permission for a channel not preferred"),
    say(31, "s19", A, True, "I've started its self-test.", "distractor: the test has not started"),
    put(32, {"devices.hall_screen.test.status": "running"}, "hall screen: self-test running", "cause: the test runs"),
    say(33, "s20", C, True, "And that other order, I mean the keypad, will I get my money back?", "distractor: a parcel does not fit a repair, so the correction has no effect"),
    put(34, {"devices.hall_screen.test": {"status": "done", "result": "hardware"}}, "hall screen: backlight fault", "cause: hardware finding and no spare in stock"),
    say(34, "s21", A, True, "Yes, once it's back with us.", "distractor: about another matter"),
    say(35, "s22", C, False, "could you text me about the screen", "distractor: preference in provisional text"),
    say(36, "s22", C, True, "Could you text me about the screen? I'm off to the site soon.", "cause: final preference; sms permission stands"),
    put(37, {"devices.gate_unit.spare.stock": 4}, "stores: 4 gate unit speakers in", "distractor: the other device's spare"),
    put(38, {"devices.hall_screen.spare.stock": 1}, "stores: 1 backlight strip returned to stock", "cause: exactly one spare, and the customer can fit it"),
    say(39, "s23", A, True, "It's the backlight. You could fit a new strip yourself, but I'd still book a technician.", "distractor: the agent's preference"),
    say(40, "s24", C, True, "No need, I'll fit it. Can you fix the gate unit as well, then? All it does is buzz.", "cause: asks for the other device"),
    feed(41, "permission_log", {"for": "phone", "says": "withdrawn", "by": "customer", "via": "portal"}, "distractor: another channel's permission"),
    put(42, {"devices.gate_unit.test.status": "running"}, "gate unit: self-test running", "cause: the test runs"),
    say(43, "s25", A, True, "I'll park you on hold while it runs.", "distractor: announced, not yet on hold"),
    phone(44, "hold", "cause: hold begins"),
    log(45, "music on hold: track 2", "distractor: nothing restarts the timer"),
    put(46, {"devices.gate_unit.test": {"status": "done", "result": "unclear"}}, "gate unit: self-test inconclusive", "distractor: a result does not end the hold"),
    say(47, "s26", A, True, "Result's in, and he's waited long enough. I'll pick up.", "distractor: one tick short"),
    log(48, "music on hold: track 3", "distractor: the change comes from the clock alone"),
    phone(49, "connected", "cause: the hold ends; unclear result, no access permission"),
    say(49, "s27", A, True, "Me again. The test can't tell, so I'm sending a remote access link to your mobile.", "distractor: a link is no permission"),
    feed(50, "permission_log", {"for": "remote_access", "says": "given", "by": "agent", "via": "desk"}, "distractor: an entry the agent made"),
    say(50, "s28", A, True, "And I've ticked the access box here for you already.", "distractor: the agent's claim"),
    feed(51, "permission_log", {"for": "remote_access", "says": "given", "by": "customer", "via": "link"}, "cause: the customer allows remote access"),
    say(52, "s29", C, True, "Right, I've tapped the link. But it came four times, make it stop!", "distractor: speech about permissions"),
    feed(53, "permission_log", {"for": "sms", "says": "withdrawn", "by": "customer", "via": "STOP reply"}, "cause: the preferred channel loses its permission; email still stands, so does access"),
    put(54, {"devices.gate_unit.remote.status": "running"}, "gate unit: remote check running", "cause: the remote check runs"),
    feed(55, "permission_log", {"for": "sms", "says": "given", "by": "agent", "via": "desk"}, "distractor: an entry the agent made"),
    say(55, "s30", A, True, "I've put your texts back on. And the unit looks clean so far.", "distractor: no permission, and no result yet"),
    put(56, {"devices.gate_unit.remote": {"status": "done", "result": "clear"}}, "gate unit: remote check clear", "cause: the finding is clear"),
    say(56, "s31", A, True, "Finished, it's fine. That buzz must be the gate motor next to it.", "distractor: the agent reads the result aloud"),
    put(57, {"case.status": "resolved"}, "case: resolved", "distractor: a resolved case does not end the call"),
    say(57, "s32", C, True, "The motor, I see. Great, thank you. Goodbye!", "distractor: a goodbye while still connected"),
    phone(58, "ended", "cause: the call has ended"),
    log(59, "survey tool: customer survey queued for email", "distractor: queued by a tool"),
)  # fmt: skip

CHANGES: tuple[Change, ...] = (
    Change(2, ("contact_channel",), "the customer prefers email, whose permission stands"),
    Change(6, ("delivery_target", "delivery_action"), "the question about the keypad becomes final; it has only a label"),
    Change(8, ("delivery_action",), "the carrier queries the keypad's address"),
    Change(12, ("route", "delivery_action", "cancellation_action"), "the customer asks to cancel the keypad"),
    Change(16, ("cancellation_action",), "the carrier's callback says cancelled"),
    Change(18, ("route", "delivery_target", "cancellation_action", "delivery_action"), "the customer returns to the door plate"),
    Change(20, ("delivery_action",), "the clock reaches the door plate's deadline"),
    Change(22, ("delivery_action",), "the door plate is delivered"),
    Change(24, ("route", "delivery_target", "delivery_action", "repair_target", "repair_action"), "the customer asks for the gate unit to be fixed"),
    Change(28, ("repair_target",), "the correction to the hall screen becomes final"),
    Change(32, ("repair_action",), "the hall screen's test runs"),
    Change(34, ("repair_action",), "hardware finding, no spare in stock"),
    Change(36, ("contact_channel",), "the customer prefers text messages, whose permission stands"),
    Change(38, ("repair_action",), "one spare is in stock that the customer can fit"),
    Change(40, ("repair_target", "repair_action"), "the customer turns to the gate unit, untested so far"),
    Change(42, ("repair_action",), "the gate unit's test runs"),
    Change(44, ("route", "repair_target", "repair_action"), "the customer is put on hold"),
    Change(48, ("route",), "48 − 44 equals the limit of 4 ticks"),
    Change(49, ("route", "repair_target", "repair_action"), "the hold is over; the unclear result needs access"),
    Change(51, ("repair_action",), "the customer's own entry allows remote access"),
    Change(53, ("contact_channel",), "sms permission is withdrawn; no falling back to email"),
    Change(54, ("repair_action",), "the remote check runs"),
    Change(56, ("repair_action",), "the remote check finds nothing wrong"),
    Change(58, ("route", "repair_target", "repair_action"), "the telephone system reports the end of the call"),
)  # fmt: skip

DRAFT = Draft(
    scenario_id="support_b",
    task_family="support_call_assist",
    title="Intercom delivery, cancellation and repair guidance",
    questions=QUESTIONS,
    decision_spec=SPEC,
    events=EVENTS,
    changes=CHANGES,
    project=projection(INITIAL, "call"),
    reference=reference,
)
