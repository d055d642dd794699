"""What the intercom call's guidance card asks at every tick, and how the answers compose."""

from __future__ import annotations

from streamdecisionbench.suite.authoring import QuestionDraft
from streamdecisionbench.suite.scenario import DecisionSpec

__all__ = ["QUESTIONS", "SPEC"]

QUESTIONS: dict[str, QuestionDraft] = {
    "route": QuestionDraft(
        "Which card is in front of the agent? Call status first, then the customer's current work"
        " (B05, B06).",
        {
            "delivery": "a parcel on its way to the customer",
            "cancel": "a parcel the customer no longer wants",
            "repair": "an intercom device that needs attention",
            "hold_wait": "customer on hold, limit not yet reached",
            "hold_return": "customer on hold, time to pick the call up again",
            "closed": "the call has ended",
        },
    ),
    "contact_channel": QuestionDraft(
        "Which channel, if any, is used for follow-up, in whatever route (B13, B14)?",
        {
            "email": "follow up by email",
            "sms": "follow up by text message",
            "phone": "follow up by ringing the customer",
            "none": "no follow-up contact for now",
        },
    ),
    "delivery_target": QuestionDraft(
        "In the routes delivery and cancel, which parcel is meant (B05, B07)? Otherwise none.",
        {
            "doorplate": "the parcel with the engraved door plate",
            "keypad": "the parcel with the spare keypad",
            "none": "no parcel on the card",
        },
    ),
    "delivery_action": QuestionDraft(
        "In the route delivery, what is to be done about the parcel (B08)? Otherwise none.",
        {
            "wait": "let the parcel travel on",
            "check_tracking": "ask the carrier whether it has the parcel at all",
            "correct_address": "settle the address with the customer and the carrier",
            "open_case": "open a late-parcel case with the carrier",
            "confirm_delivery": "tell the customer that the parcel has arrived",
            "none": "no delivery step on the card",
        },
    ),
    "cancellation_action": QuestionDraft(
        "In the route cancel, where does the cancellation stand (B09)? Otherwise none.",
        {
            "cancel_request": "pursue the request with the carrier",
            "confirm_cancelled": "tell the customer that the carrier has called the parcel off",
            "explain_refusal": "tell the customer that the carrier will not call it off",
            "none": "no cancellation on the card",
        },
    ),
    "repair_target": QuestionDraft(
        "In the route repair, which device is meant (B05, B07)? Otherwise none.",
        {
            "gate_unit": "the speaker unit at the gate",
            "hall_screen": "the indoor screen in the hall",
            "none": "no device on the card",
        },
    ),
    "repair_action": QuestionDraft(
        "In the route repair, what is the next thing to do for the device (B10 to B12)? Otherwise"
        " none.",
        {
            "diagnose": "start the device's self-test",
            "await_result": "give the running check time to finish",
            "request_access": "ask the customer to allow remote access",
            "remote_check": "look into the device remotely",
            "book_visit": "arrange for a technician to come",
            "send_part": "post the spare part for the customer to fit",
            "explain_clear": "tell the customer that nothing is wrong with it",
            "none": "no repair step on the card",
        },
    ),
}

SPEC = DecisionSpec(
    route_question="route",
    always=("contact_channel",),
    branches={
        "delivery": ("delivery_target", "delivery_action"),
        "cancel": ("delivery_target", "cancellation_action"),
        "repair": ("repair_target", "repair_action"),
        "hold_wait": (),
        "hold_return": (),
        "closed": (),
    },
)
