"""Calls whose policy lists phrases: where the cases start that pin the listed wording of the rules."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streamdecisionbench.families.support.intercom_call.setting import INITIAL as INTERCOM_CALL
from streamdecisionbench.families.support.payment_call.setting import INITIAL as PAYMENT_CALL
from streamdecisionbench.families.support.rules import INTERCOM_RULES, PAYMENT_RULES
from tests.families.cases import Case

Line = tuple[int, str, bool, str]
"""(at, speaker, final, text)"""

C, A, B = "customer", "agent", "background"

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


@dataclass
class Call:
    """One of the two calls: states of it, and the cases that pin its rules."""

    start: dict[str, Any]
    rules: Mapping[str, str]
    cases: list[Case] = field(default_factory=list)

    def state(self, now: int, *lines: Line, **fields: Any) -> dict[str, Any]:
        """The call as it opens, with these utterances and these fields (`call__status="hold"`)."""
        state = copy.deepcopy(self.start)
        state["clock"]["now"] = now
        state["transcript"] = [
            {"id": f"x{i}", "at": at, "speaker": who, "final": final, "text": text}
            for i, (at, who, final, text) in enumerate(lines)
        ]
        for path, value in fields.items():
            *folders, name = path.split("__")
            place = state
            for folder in folders:
                place = place[folder]
            assert name in place, path
            place[name] = value
        return state

    def case(
        self,
        name: str,
        rules: str,
        state: dict[str, Any],
        expected: Mapping[str, str] | None = None,
        **answers: str,
    ) -> None:
        """Add a case; `rules` are id prefixes such as "B05 B08"."""
        ids = tuple(r for prefix in rules.split() for r in self.rules if r.startswith(prefix))
        assert len(ids) == len(rules.split()), rules
        self.cases.append(Case(name, state, {**(expected or {}), **answers}, ids))
