"""Support call: what an agent's panel shows in a payment call and in an intercom call."""

from __future__ import annotations

from streamdecisionbench.families.support.intercom_call.timeline import DRAFT as INTERCOM_CALL
from streamdecisionbench.families.support.payment_call.timeline import DRAFT as PAYMENT_CALL
from streamdecisionbench.families.support.rules import (
    INTERCOM_FREE_RULES,
    INTERCOM_RULES,
    PAYMENT_FREE_RULES,
    PAYMENT_RULES,
)
from streamdecisionbench.suite.authoring import Draft

RULES: dict[str, str] = {
    **PAYMENT_FREE_RULES,
    **INTERCOM_FREE_RULES,
    **PAYMENT_RULES,
    **INTERCOM_RULES,
}
"""By id, in both wordings; where a rule differs between them, its listed text."""
DRAFTS: tuple[Draft, ...] = (PAYMENT_CALL, INTERCOM_CALL)
