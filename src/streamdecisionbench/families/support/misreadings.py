"""How each rule of the two calls is misread, as a change to the reference's source."""

from __future__ import annotations

from streamdecisionbench.suite.misreading import Misreading

_SAID = 'finals = [u for u in state["transcript"] if u["final"] and u["speaker"] == speaker]'
_CUSTOMER = 'finals = [u for u in state["transcript"] if u["final"] and u["speaker"] == "customer"]'
_RUNNING = '    if test["status"] == "running":\n        return "wait_test"'
_CHECKING = '    if test["status"] == "running":\n        return "await_result"'

_MEANING = "    return meaning(utterance, call, speaker, names)"
_FOUND = "    found = meaning(utterance, call, speaker, names)"
_FIRST = """
    if found.manner == "correction":
        item = next((n for n in names if n != found.item), "") if found.item else ""
        return Meant(found.before, item, "plain")
    return found"""
_BELIEVED = """
    if found.manner in ("condition", "question", "reported"):
        return Meant("{intent}", "", "plain")
    return found"""

_NAMED = '    said = _said(state, "customer", *_SUBJECTS)\n'
_HELD = """\
    held = [line["at"] for line in state["log"] if line["text"] == "telephony: hold"]
    since = state["telephony"]["since"]
    said = [s for s in said if not any(at <= s.at < since for at in held[-1:])]
"""
_PARKED = """\
        parked = [line["at"] for line in state["log"] if line["text"] == "telephony: hold"]
        if any(at <= said["at"] < state["call"]["since"] for at in parked[-1:]):
            continue
"""

MISREADINGS: tuple[Misreading, ...] = (
    Misreading("A01_time", "counts the first tick of a hold too", (
        ('- state["telephony"]["since"]', '- state["telephony"]["since"] + 1'),
    )),
    Misreading("A02_transcript", "orders utterances by when they began", (
        ('in sorted(finals, key=lambda u: int(u["at"])):', "in finals:"),
    )),
    Misreading("A03_phrases", "takes the phrase standing first", (
        ("max(found)", "min(found)"),
    ), wording="listed"),
    Misreading("A03_intents", "keeps to what was said before the correction", (
        (_MEANING, _FOUND + _FIRST),
    ), wording="free"),
    Misreading("A03_intents", "takes conditions, questions and reports for a consent", (
        (_MEANING, _FOUND + _BELIEVED.format(intent="consent")),
    ), wording="free"),
    Misreading("A03_intents", "takes conditions, questions and reports for a request", (
        (_MEANING, _FOUND + _BELIEVED.format(intent="capture_request")),
    ), wording="free"),
    Misreading("A04_who", "believes text that is not final", (
        (_SAID, _SAID.replace('u["final"] and ', "")),
    )),
    Misreading("A04_who", "believes whoever speaks", (
        (_SAID, _SAID.replace(' and u["speaker"] == speaker', "")),
    )),
    Misreading("A05_route", "keeps to the first subject named", (
        ("_SUBJECTS[said[-1].purpose]", "_SUBJECTS[said[0].purpose]"),
    )),
    Misreading("A05_route", "has no regard for a hold", (
        ('    if status == "hold":', "    if False:"),
    )),
    Misreading("A05_route", "has no regard for the menu choice", (
        ('else str(state["telephony"]["menu_choice"])', 'else "payment"'),
    )),
    Misreading("A05_route", "forgets a subject named during a hold", (
        (_NAMED, _NAMED + _HELD),
    )),
    Misreading("A06_hold", "returns only beyond the threshold", (
        ('held >= state["policy"]["hold_check_ticks"]', 'held > state["policy"]["hold_check_ticks"]'),
    )),
    Misreading("A07_service_target", "always looks at the connection", (
        ('answers["service_target"] = subject', 'answers["service_target"] = "connection"'),
    )),
    Misreading("A08_connection", "does not wait for a running test", (
        (_RUNNING, _RUNNING.replace('test["status"] == "running"', "False")),
    )),
    Misreading("A09_router", "never believes that the router is online", (
        ('service["router"]["status"] == "online"', "False"),
    )),
    Misreading("A10_stage", "asks for the consent last", (
        ("if not _consented(state):",
         'if not _consented(state) and _card(state) == payment["captured"]["card"]'
         ' and all(payment["captured"].values()):'),
    )),
    Misreading("A10_stage", "starts a declined payment again", (
        ('payment["status"] in ("approved", "declined")', 'payment["status"] == "approved"'),
    )),
    Misreading("A11_consent", "lets an old consent cover a new amount", (
        (" and said[-1].at >= since", ""),
    )),
    Misreading("A11_consent", "wants a consent after the tick of the amount", (
        (" and said[-1].at >= since", " and said[-1].at > since"),
    )),
    Misreading("A11_consent", "has no regard for a withdrawal", (
        ('_said(state, "customer", "consent", "withdrawal")', '_said(state, "customer", "consent")'),
    )),
    Misreading("A12_card", "changes the card after the draft", (
        (" if left is None or s.at < left]", "]"),
    )),
    Misreading("A12_card", "takes a card chosen at the tick the draft was left", (
        ("s.at < left]", "s.at <= left]"),
    )),
    Misreading("A12_card", "forgets cards chosen before a new draft", (
        ("if left is None or s.at < left]",
         'if (left is None or s.at < left) and s.at >= state["payment"]["draft_since"]]'),
    )),
    Misreading("A13_details", "takes the form of another card", (
        ('form["card"] == card and form["number"]', 'form["number"]'),
    )),
    Misreading("A14_recorder", "keeps recording after the call", (
        ('    if route == "wrap":\n        return "stop"', '    if route == "wrap":\n        return "record"'),
    )),
    Misreading("A15_capture", "keeps capture open after the draft", (
        ('if payment["status"] != "draft" or not said:', "if not said:"),
    )),
    Misreading("A15_capture", "never stops capturing on request", (
        ('_said(state, "agent", "capture_request", "capture_stop")',
         '_said(state, "agent", "capture_request")'),
    )),
    Misreading("A15_capture", "closes capture during a hold", (
        ('return "pause" if _capturing(state) or', 'return "pause" if route != "hold" and _capturing(state) or'),
    )),
    Misreading("A15_capture", "closes capture when the subject changes", (
        ('return "pause" if _capturing(state) or',
         'return "pause" if route != "service" and _capturing(state) or'),
    )),
    Misreading("A15_capture", "opens capture by a request of an earlier draft", (
        (' and said[-1].at >= payment["draft_since"]', ""),
    )),
    Misreading("A16_live_digits", "lets digits of a television pause", (
        ('u["speaker"] in ("customer", "agent")', "True"),
    )),
    Misreading("A16_live_digits", "does not count figures", (
        ("len(word) if word.isdigit() else int(word in _DIGIT_WORDS)", "int(word in _DIGIT_WORDS)"),
    )),
    Misreading("A16_live_digits", "lets final digits pause", (
        ('if not u["final"] and u["speaker"] in', 'if u["speaker"] in'),
    )),
    Misreading("A16_live_digits", "pauses one digit early", (
        ('>= state["policy"]["digits_in_a_row"]', '>= state["policy"]["digits_in_a_row"] - 1'),
    )),
    Misreading("A17_inactive", "fills in what the route does not use", (
        ('"payment_stage": "none",', '"payment_stage": "result",'),
    ), answers_only=True),
    Misreading("A18_other", "takes the checklist for a consent", (
        ("return bool(said) and said[-1].purpose",
         'return state["checklist"]["identity"] or bool(said) and said[-1].purpose'),
    )),
    Misreading("B01_time", "counts the first tick of a hold too", (
        ('- call["since"]', '- call["since"] + 1'),
    )),
    Misreading("B02_transcript", "orders utterances by when they began", (
        ('return sorted(finals, key=lambda u: int(u["at"]))', "return finals"),
    )),
    Misreading("B03_wordings", "lets wordings take effect from right to left", ((
        "sorted(_requests(state, said) + _corrections(state, said))",
        "sorted(_requests(state, said) + _corrections(state, said), reverse=True)",
    ),), wording="listed"),
    Misreading("B03_intents", "keeps to what was said before the correction", (
        (_MEANING, _FOUND + _FIRST),
    ), wording="free"),
    Misreading("B03_intents", "takes conditions, questions and reports for a wish to be called", (
        (_MEANING, _FOUND + _BELIEVED.format(intent="phone")),
    ), wording="free"),
    Misreading("B04_speech", "believes provisional text", (
        (_CUSTOMER, _CUSTOMER.replace('u["final"] and ', "")),
    )),
    Misreading("B04_speech", "believes whoever speaks", (
        (_CUSTOMER, _CUSTOMER.replace(' and u["speaker"] == "customer"', "")),
    )),
    Misreading("B05_work", "has no regard for the menu choice", (
        ('_Work(menu["kind"], menu["item"])', '_Work("repair", next(iter(state["devices"])))'),
    )),
    Misreading("B05_work", "has no regard for corrections", (
        (" + _corrections(state, said)", ""),
    )),
    Misreading("B05_work", "lets a correction take effect that does not fit", (
        ('elif (item in state["devices"]) == (work.kind == "repair"):', "else:"),
    )),
    Misreading("B06_route", "returns only beyond the limit", (
        ('held >= state["policy"]["hold_limit_ticks"]', 'held > state["policy"]["hold_limit_ticks"]'),
    )),
    Misreading("B06_route", "forgets what was asked for during a hold", (
        ("    for said in _customer_finals(state):\n        for _, kind, item in",
         "    for said in _customer_finals(state):\n" + _PARKED + "        for _, kind, item in"),
    )),
    Misreading("B07_targets", "keeps to the parcel chosen in the menu", (
        ('answers["delivery_target"] = work.item',
         'answers["delivery_target"] = state["call"]["menu_choice"]["item"]'),
    )),
    Misreading("B08_delivery", "calls a parcel late only after its deadline", (
        ('>= parcel["deadline"]', '> parcel["deadline"]'),
    )),
    Misreading("B08_delivery", "goes by the estimated arrival", (
        ('>= parcel["deadline"]', '>= (parcel["eta"] or parcel["deadline"])'),
    )),
    Misreading("B08_delivery", "calls a parcel late that has been delivered", (
        ('if parcel["status"] == "delivered":',
         'if parcel["status"] == "delivered" and state["clock"]["now"] < parcel["deadline"]:'),
    )),
    Misreading("B09_cancellation", "believes callbacks about other parcels", (
        ('if callback["parcel"] == item:', "if True:"),
    )),
    Misreading("B09_cancellation", "goes by the first callback that decides", (
        ('outcomes.get(callback["outcome"], action)',
         'action if action != "cancel_request" else outcomes.get(callback["outcome"], action)'),
    )),
    Misreading("B09_cancellation", "takes a refusal for no answer", (
        (', "refused": "explain_refusal"}', "}"),
    )),
    Misreading("B09_cancellation", "believes the order line", (
        ('action = "cancel_request"\n',
         'action = "confirm_cancelled" if state["parcels"][item]["order_line"] == "cancelled"'
         ' else "cancel_request"\n'),
    )),
    Misreading("B10_device_test", "does not wait for a running test", (
        (_CHECKING, _CHECKING.replace('test["status"] == "running"', "False")),
    )),
    Misreading("B11_remote", "checks remotely without permission", (
        ('if _permitted(state, "remote_access") else', "if True else"),
    )),
    Misreading("B11_remote", "stops a running check when the permission goes", (
        ('    if remote["status"] == "running":\n',
         '    if remote["status"] == "running" and _permitted(state, "remote_access"):\n'),
    )),
    Misreading("B11_remote", "has no regard for what the remote check finds", (
        ('_after_finding(device, remote["result"])', '_after_finding(device, "clear")'),
    )),
    Misreading("B12_finding", "sends a part the customer cannot fit", (
        ('spare["self_fit"] and spare["stock"] >= 1', 'spare["stock"] >= 1'),
    )),
    Misreading("B12_finding", "sends a part that is not in stock", (
        ('spare["self_fit"] and spare["stock"] >= 1', 'spare["self_fit"]'),
    )),
    Misreading("B12_finding", "wants more than one part in stock", (
        ('spare["stock"] >= 1', 'spare["stock"] > 1'),
    )),
    Misreading("B13_permissions", "counts entries that others made", (
        (' and entry["by"] == "customer"', ""),
    )),
    Misreading("B14_channel", "uses a channel without permission", (
        ('return preferred if _permitted(state, preferred) else "none"', "return preferred"),
    )),
    Misreading("B14_channel", "falls back to another permitted channel", ((
        'return preferred if _permitted(state, preferred) else "none"',
        'return next((c for c in (preferred, "email", "sms", "phone")'
        ' if _permitted(state, c)), "none")',
    ),)),
    Misreading("B15_inactive", "fills in what the route does not use", (
        ('"repair_action": "none",', '"repair_action": "diagnose",'),
    ), answers_only=True),
    Misreading("B16_other", "takes a resolved case for the end of the call", (
        ('if call["status"] == "ended":',
         'if call["status"] == "ended" or state["case"]["status"] == "resolved":'),
    )),
)  # fmt: skip
