"""Calls whose policy lists phrases: where the cases start that pin the listed wording of the rules."""

from __future__ import annotations

from typing import Any

from streamdecisionbench.families.support.intercom_call.setting import INITIAL as INTERCOM_CALL
from streamdecisionbench.families.support.payment_call.setting import INITIAL as PAYMENT_CALL
from streamdecisionbench.families.support.rules import INTERCOM_RULES, PAYMENT_RULES

PAYMENT_POLICY: dict[str, Any] = {
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

INTERCOM_POLICY: dict[str, Any] = {
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

PAYMENT_START: dict[str, Any] = {
    **PAYMENT_CALL,
    "rules": PAYMENT_RULES,
    "policy": PAYMENT_POLICY,
    "telephony": {**PAYMENT_CALL["telephony"], "menu_choice": "payment"},
}
INTERCOM_START: dict[str, Any] = {
    **INTERCOM_CALL,
    "rules": INTERCOM_RULES,
    "policy": INTERCOM_POLICY,
}
