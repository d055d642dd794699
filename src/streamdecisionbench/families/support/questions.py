"""What the panel of each call asks at every tick, and how the answers compose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from streamdecisionbench.suite.authoring import QuestionDraft
from streamdecisionbench.suite.scenario import DecisionSpec


def payment_questions(cards: Iterable[str]) -> dict[str, QuestionDraft]:
    """The payment call's questions for a customer with these cards."""
    return _with(_PAYMENT, instrument={card: f"the {card} card" for card in cards})


def intercom_questions(
    parcels: Mapping[str, str], devices: Mapping[str, str]
) -> dict[str, QuestionDraft]:
    """The intercom call's questions about these parcels and devices, each with its description."""
    return _with(_INTERCOM, delivery_target=parcels, repair_target=devices)


def _with(
    drafts: Mapping[str, QuestionDraft], **more: Mapping[str, str]
) -> dict[str, QuestionDraft]:
    """The questions with options of their own put first."""
    return {
        name: QuestionDraft(draft.instructions, {**more.get(name, {}), **draft.options})
        for name, draft in drafts.items()
    }


_PAYMENT: dict[str, QuestionDraft] = {
    "route": QuestionDraft(
        "Which workflow does the panel show now? Telephony status first, then the subject from final"
        " customer speech (A04, A05).",
        {
            "payment": "taking money for what is owed",
            "service": "help with the connection or the router",
            "hold": "the customer is on hold and the hold timer is running",
            "wrap": "the call is over and the after-call form is open",
        },
    ),
    "recorder": QuestionDraft(
        "Which command goes to the call recorder now, in whatever route (A14 to A16)?",
        {
            "record": "keep the audio of the call",
            "pause": "leave a gap in the audio so that no card number is stored",
            "stop": "close the audio file for good",
        },
    ),
    "payment_stage": QuestionDraft(
        "In the payment route, which step is due (A10, A11, A13)? none in other routes.",
        {
            "ask_consent": "ask the customer to agree to this amount being taken",
            "choose_card": "ask which of the two cards to use",
            "collect": "take down the details of the card that are still missing",
            "submit": "send the finished payment form off",
            "wait": "the bank has the payment; stand by for its reply",
            "result": "tell the customer what the bank replied",
            "none": "no payment step on the panel",
        },
    ),
    "instrument": QuestionDraft(
        "In the payment route, which card is the payment made with (A12)? none in other routes.",
        {
            "unknown": "no card chosen so far",
            "none": "no card on the panel",
        },
    ),
    "service_target": QuestionDraft(
        "In the service route, what is being looked at (A07)? none in other routes.",
        {
            "connection": "the line into the home",
            "router": "the router in the home",
            "none": "no service item on the panel",
        },
    ),
    "service_action": QuestionDraft(
        "In the service route, what is the next thing to do (A08, A09)? none in other routes.",
        {
            "run_test": "start a line test",
            "wait_test": "let the line test finish",
            "escalate_line": "pass the line fault to the network engineers",
            "check_power": "have the customer check the router's plug and lights",
            "confirm_online": "tell the customer that it is back online",
            "none": "no service step on the panel",
        },
    ),
    "hold_action": QuestionDraft(
        "While the customer is on hold, what should the agent do (A06)? none in other routes.",
        {
            "wait": "leave the customer on hold a little longer",
            "return_customer": "go back on the line to the customer",
            "none": "nobody is on hold",
        },
    ),
}

PAYMENT_SPEC = DecisionSpec(
    route_question="route",
    always=("recorder",),
    branches={
        "payment": ("payment_stage", "instrument"),
        "service": ("service_target", "service_action"),
        "hold": ("hold_action",),
        "wrap": (),
    },
)

_INTERCOM: dict[str, QuestionDraft] = {
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

INTERCOM_SPEC = DecisionSpec(
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
