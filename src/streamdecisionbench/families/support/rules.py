"""The public law of both calls: every state of a call carries its own texts, wordings and thresholds.

The payment call's rule ids start with A, the intercom call's with B.
"""

from __future__ import annotations

_CAPTURE = (
    "Capture is open while payment.status is draft and the last final agent utterance that {does}"
    " is a capture_request whose `at` is payment.draft_since or later. In any other status it is"
    " closed. A change of subject or card, a hold, a code being keyed in, missing consent and complete"
    " details leave it as it is, and so does every partial, customer utterance and log entry."
)

PAYMENT_RULES: dict[str, str] = {
    "A01_time": (
        "Every time is in ticks; clock.now is the present tick. Judge only by what this state shows."
    ),
    "A02_transcript": (
        "Utterances are listed in the order in which they began. final=false is a live partial whose"
        " text may still be replaced under the same id; final=true never changes again. `at` is the"
        " tick of the text now shown. Finals are ordered by `at` and, at one tick, by their place in"
        " the list; wherever a rule says last or later, it means this order, not the order in which they"
        " began."
    ),
    "A03_phrases": (
        "policy.phrases lists the wordings that count for each purpose. An utterance contains a"
        " phrase when the phrase's whole words stand in it side by side in that order; capitals and"
        " punctuation do not matter, nor does the rest of the utterance. Other wordings count for"
        " nothing. If one utterance contains several phrases that compete (subjects; cards; consent"
        " against withdrawal; request against stop), only the one standing last in it counts."
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
        " connection or router) is the subject. Nothing else changes the route. A subject named during a"
        " hold applies once the hold is over."
    ),
    "A06_hold": (
        "On hold, hold_action is return_customer as soon as clock.now minus telephony.since is at"
        " least policy.hold_check_ticks (equal is enough), before that wait. Nothing else counts."
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
        " before payment.amount_since (equal is enough), which a changed amount and a new draft set"
        " anew. Changing the card or the subject leaves consent as it is."
    ),
    "A12_card": (
        "instrument is the card chosen last, unknown before any choice. While payment.left_draft_at is"
        " a tick, choices whose `at` is that tick or later do not count. A new draft sets it back to"
        " null. While it is null, every choice made so far in the call counts, whenever it was made:"
        " before this draft too."
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
    "A15_capture": _CAPTURE.format(does="counts as capture_request or capture_stop (A03)"),
    "A16_live_digits": (
        "Live digits: a partial of the customer or the agent that holds policy.digits_in_a_row or"
        " more digits in a row, whatever number they belong to. zero to nine and oh are one digit"
        " each; a number in figures is as many digits as it has figures, those after a point included"
        " (7.50 is three). Punctuation does not break the row, any other word does. Finals and"
        " background voices never count."
    ),
    "A17_inactive": (
        "Questions of a branch the route does not use are answered none: payment_stage and instrument"
        " outside payment, service_target and service_action outside service, hold_action outside"
        " hold. The recorder is answered in every route."
    ),
    "A18_other": "Every field and log entry not named above is information only.",
}

INTERCOM_RULES: dict[str, str] = {
    "B01_time": (
        "All times are ticks and clock.now is the current one. Deadlines, ETAs and limits are ticks"
        " too. Decide from this state only."
    ),
    "B02_transcript": (
        "Each utterance keeps its id. While final is false its text is provisional and may be"
        " replaced; once final is true it stands for good. `at` is the tick at which the text shown"
        " appeared. Finals are read in the order of `at`, not in the order in which they began; at one"
        " tick, in the order of the list."
    ),
    "B03_wordings": (
        "A wording from policy is present when its complete words appear next to each other in that"
        " order, whatever the capitals, the punctuation and the words around it. Anything phrased"
        " differently has no effect. Inside one utterance wordings take effect from left to right."
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
        " hold_wait. call.status connected gives the kind of the current work. Nothing else changes the"
        " route. Speech during a hold is read as always; what it does to the work shows once the hold is"
        " over."
    ),
    "B07_targets": (
        "delivery_target is the parcel of the work in the routes delivery and cancel; repair_target"
        " is the device of the work in the route repair."
    ),
    "B08_delivery": (
        "delivery_action, from parcels.<target>, the first that applies: status delivered,"
        " confirm_delivery; status address_query, correct_address; clock.now at or past deadline,"
        " open_case (exactly at the deadline counts); status label_only, check_tracking; otherwise wait."
        " Nothing but deadline makes a parcel late, and carrier_callbacks play no part here."
    ),
    "B09_cancellation": (
        "cancellation_action goes by carrier_callbacks whose parcel is the target and whose outcome is"
        " cancelled or refused; the last one listed decides: cancelled gives confirm_cancelled, refused"
        " gives explain_refusal. While there is none it is cancel_request. Nothing else counts, neither"
        " another outcome nor a deadline."
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

INTENT_RULE = (
    "policy.intents says what a speaker can mean; the meaning counts, in whatever words. An utterance has"
    " an intent only if the speaker expresses it as his own, now and without reserve. It has none if it"
    " makes it depend on something (if, unless, once, when, as soon as), if it only asks for information"
    " (unless asking is the intent itself), if it passes on what somebody says, wrote or once said, himself"
    " at another time included, or if it is about something else. A request put as a question (could you"
    " …?) is a request. Saying that something is not so or not to be done is no intent, except where"
    " policy.intents has one for just that. If the speaker corrects himself within the utterance, only what"
    " he ends on counts."
)
"""How utterances are read in calls whose policy defines intents instead of listing phrases."""

PAYMENT_INTENTS: dict[str, dict[str, str]] = {
    "customer": {
        "subject_payment": "wants to deal with paying what is owed",
        "subject_connection": (
            "wants the line or the internet seen to, or reports that it does not work properly"
        ),
        "subject_router": "wants the router seen to, or reports that it does not work properly",
        "card": "chooses the card named for the payment",
        "consent": (
            "agrees to the amount being taken; wanting to pay or choosing a card is not enough"
        ),
        "withdrawal": "says that he does not, or no longer, agree to the amount being taken",
    },
    "agent": {
        "capture_request": "asks the customer to say the card number",
        "capture_stop": "asks the customer to say no more of the card number, or none of it",
    },
}
INTERCOM_INTENTS: dict[str, dict[str, str]] = {
    "customer": {
        "delivery": "asks where the parcel named is or when it comes",
        "cancel": "wants the parcel named called off or sent back",
        "repair": "wants the device named put right, or reports that it does not work properly",
        "correction": "says that the item named is the one meant, and not what to do about it",
        "email": "wants to be contacted by email",
        "sms": "wants to be contacted by text message",
        "phone": "wants to be contacted by a call",
    },
}

PAYMENT_FREE_RULES: dict[str, str] = {
    **{rule: text for rule, text in PAYMENT_RULES.items() if rule < "A03"},
    "A03_intents": INTENT_RULE,
    **{rule: text for rule, text in PAYMENT_RULES.items() if rule > "A04"},
    "A15_capture": _CAPTURE.format(does="has the intent capture_request or capture_stop"),
}
"""The payment call's law where people use their own words."""

INTERCOM_FREE_RULES: dict[str, str] = {
    **{rule: text for rule, text in INTERCOM_RULES.items() if rule < "B03"},
    "B03_intents": INTENT_RULE,
    **{rule: text for rule, text in INTERCOM_RULES.items() if rule > "B04"},
    "B05_work": (
        "The work is a kind with an item. It starts as call.menu_choice. The intents delivery, cancel and"
        " repair replace both: the intent is the kind, and what it names is the item. The intent"
        " correction replaces the item and keeps the kind, provided the item fits the kind (parcels fit"
        " delivery and cancel, devices fit repair); a correction that does not fit has no effect. The"
        " last that takes effect stands. policy.names are the names people use for the items."
    ),
    "B14_channel": (
        "contact_channel, in every route: the channel preferred last (intents email, sms and phone), if"
        " its permission stands; otherwise none, also before any preference. There is no falling back to"
        " another permitted channel; the preference itself stays until another is set."
    ),
}
"""The intercom call's law where people use their own words."""
