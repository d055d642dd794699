"""What the payment call's assist panel asks at every tick, and how the answers compose."""

from __future__ import annotations

from streamdecisionbench.suite.authoring import QuestionDraft
from streamdecisionbench.suite.scenario import DecisionSpec

__all__ = ["QUESTIONS", "SPEC"]

QUESTIONS: dict[str, QuestionDraft] = {
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
            "household": "the household card",
            "company": "the company card",
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

SPEC = DecisionSpec(
    route_question="route",
    always=("recorder",),
    branches={
        "payment": ("payment_stage", "instrument"),
        "service": ("service_target", "service_action"),
        "hold": ("hold_action",),
        "wrap": (),
    },
)
