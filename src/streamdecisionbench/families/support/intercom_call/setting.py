"""How the intercom call starts: parcels, devices, permissions."""

from __future__ import annotations

from typing import Any

from streamdecisionbench.families.support.rules import INTERCOM_FREE_RULES, INTERCOM_INTENTS
from streamdecisionbench.suite.scenario import State

PARCELS = {
    "doorplate": "the parcel with the engraved door plate",
    "keypad": "the parcel with the spare keypad",
}
DEVICES = {
    "gate_unit": "the speaker unit at the gate",
    "hall_screen": "the indoor screen in the hall",
}


def _device(place: str, self_fit: bool) -> dict[str, Any]:
    return {
        "place": place,
        "test": {"status": "none", "result": None},
        "remote": {"status": "none", "result": None},
        "spare": {"self_fit": self_fit, "stock": 0},
    }


INITIAL: State = {
    "rules": INTERCOM_FREE_RULES,
    "policy": {
        "hold_limit_ticks": 4,
        "intents": INTERCOM_INTENTS,
        "names": {
            "doorplate": "door plate",
            "keypad": "keypad",
            "gate_unit": "gate unit",
            "hall_screen": "hall screen",
        },
    },
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
