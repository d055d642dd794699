"""IDE debugging: two status badges and an action card, from runner, editor and debugger events."""

from __future__ import annotations

from streamdecisionbench.families.debugging.refund_loop.timeline import DRAFT as REFUND_LOOP
from streamdecisionbench.families.debugging.rules import RULES as RULES
from streamdecisionbench.families.debugging.settlement_session.timeline import (
    DRAFT as SETTLEMENT_SESSION,
)
from streamdecisionbench.suite.authoring import Draft

DRAFTS: tuple[Draft, ...] = (REFUND_LOOP, SETTLEMENT_SESSION)
