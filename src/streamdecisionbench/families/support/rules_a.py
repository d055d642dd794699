"""The payment call's public rules: the law that `reference_a` implements, sentence by sentence."""

from __future__ import annotations

from typing import Any

__all__ = ["POLICY", "RULES"]

RULES: dict[str, str] = {
    "A01_time": (
        "Every time is in ticks; clock.now is the present tick. Judge only by what this state shows."
    ),
    "A02_transcript": (
        "Utterances are listed in the order in which they began. final=false is a live partial whose"
        " text may still be replaced under the same id; final=true never changes again. `at` is the"
        " tick of the text now shown. Finals are ordered by `at` and, at one tick, by their place in"
        " the list; wherever a rule says last or later, it means this order."
    ),
    "A03_phrases": (
        "policy.phrases lists the wordings that count for each purpose. An utterance contains a"
        " phrase when the phrase's whole words stand in it side by side in that order; capitals and"
        " punctuation do not matter, nor does the rest of the utterance. Other wordings count for"
        " nothing. If one utterance contains several phrases that compete (subjects; cards; consent"
        " against withdrawal; request against stop), the one standing last in it counts."
    ),
    "A04_who": (
        "Only final customer utterances name the subject, choose a card, and give or withdraw"
        " consent. Partials, the agent, background voices, the checklist and the log, chat lines in it"
        " included, never do, whatever they say."
    ),
    "A05_route": (
        "route: telephony.status after_call gives wrap; hold gives hold; connected gives the subject"
        " the customer named last (subject_payment gives payment, subject_connection and"
        " subject_router give service). Before any subject is named, telephony.menu_choice (payment,"
        " connection or router) is the subject. Announcing a hold, a return or a goodbye changes no route while telephony.status"
        " stays the same. A subject named during a hold applies once the hold is over."
    ),
    "A06_hold": (
        "On hold, hold_action is return_customer as soon as clock.now minus telephony.since is at"
        " least policy.hold_check_ticks (equal is enough), before that wait. Tones and remarks about"
        " the waiting time change nothing."
    ),
    "A07_service_target": "In service, service_target is the subject itself: connection or router.",
    "A08_connection": (
        "For the connection, service_action follows service.line_test alone: status not_run gives"
        " run_test; running gives wait_test, whatever its progress; complete gives escalate_line when"
        " the result is down and confirm_online when it is up."
    ),
    "A09_router": (
        "For the router, service_action follows service.router.status alone: online gives"
        " confirm_online, anything else check_power."
    ),
    "A10_stage": (
        "payment_stage: payment.status processing gives wait; approved or declined gives result. In"
        " status draft the first that applies: no valid consent, ask_consent; no card chosen,"
        " choose_card; card details incomplete, collect; otherwise submit."
    ),
    "A11_consent": (
        "Consent is valid when the last consent or withdrawal is a consent, and its `at` is not"
        " before payment.amount_since (equal is enough): a changed amount needs a new consent."
        " Changing the card or the subject leaves consent as it is."
    ),
    "A12_card": (
        "instrument is the card chosen last, unknown before any choice. Once payment.left_draft_at"
        " is a tick, choices whose `at` is that tick or later no longer count; while it is null all"
        " count."
    ),
    "A13_details": (
        "payment.captured is one form for one card. Details are complete when captured.card is the"
        " chosen card and number, expiry and code are all true. A form for another card counts as"
        " empty."
    ),
    "A14_recorder": (
        "recorder: stop when the route is wrap. Otherwise, in every route, pause while card capture"
        " is open or live digits are showing, else record."
    ),
    "A15_capture": (
        "While payment.status is draft, capture opens with a final agent utterance that contains a"
        " capture_request phrase and whose `at` is payment.draft_since or later. It stays open through changes"
        " of subject or card, holds, missing consent and complete details, and closes only with a"
        " later final agent utterance containing a capture_stop phrase or when payment.status is no"
        " longer draft. Nothing else opens or closes it: no partial, customer utterance or log entry."
    ),
    "A16_live_digits": (
        "Live digits: a partial of the customer or the agent that holds policy.digits_in_a_row or"
        " more digits in a row, whatever number they belong to. zero to nine and oh are one digit"
        " each; a word of figures is as many digits as it has figures. Punctuation does not break the"
        " row, any other word does. Finals and background voices never count."
    ),
    "A17_inactive": (
        "Questions of a branch the route does not use are answered none: payment_stage and instrument"
        " outside payment, service_target and service_action outside service, hold_action outside"
        " hold. The recorder is answered in every route."
    ),
    "A18_other": "Every field and log entry not named above is information only.",
}

POLICY: dict[str, Any] = {
    "hold_check_ticks": 4,
    "digits_in_a_row": 4,
    "phrases": {
        "subject_payment": ["pay the balance", "back to the payment"],
        "subject_connection": ["connection has dropped", "look at the line"],
        "subject_router": ["check the router", "is the router online"],
        "card_household": ["use the household card"],
        "card_company": ["use the company card"],
        "consent": ["you can take the payment", "go ahead and charge"],
        "withdrawal": ["don't take the payment"],
        "capture_request": ["read me the long number", "give me the long number"],
        "capture_stop": ["stop there with the card"],
    },
}
"""Thresholds and wordings a deployment would set; published in every state."""
