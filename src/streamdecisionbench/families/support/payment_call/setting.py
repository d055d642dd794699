"""How the payment call starts: account, payment, line and router."""

from __future__ import annotations

from streamdecisionbench.families.support.rules import PAYMENT_FREE_RULES, PAYMENT_INTENTS
from streamdecisionbench.suite.scenario import State

INITIAL: State = {
    "rules": PAYMENT_FREE_RULES,
    "policy": {"hold_check_ticks": 4, "digits_in_a_row": 4, "intents": PAYMENT_INTENTS},
    "clock": {"now": 0},
    "telephony": {"status": "connected", "since": 0, "menu_choice": "router", "seat": "C-14"},
    "transcript": [],
    "account": {
        "id": "CB-20418",
        "holder": "I. Varga",
        "plan": "Fibre 150",
        "card_names": ["household", "company"],
    },
    "payment": {
        "status": "draft",
        "draft_since": 0,
        "left_draft_at": None,
        "amount": "46.20",
        "amount_since": 0,
        "captured": {"card": None, "number": False, "expiry": False, "code": False},
    },
    "service": {
        "line_test": {"status": "not_run", "result": None},
        "router": {"model": "HB-3", "status": "offline"},
    },
    "checklist": {"identity": True, "consent": False, "goodbye": False},
    "log": [],
}
