"""IDE debugging: two status badges and an action card, from runner, editor and debugger events."""

from __future__ import annotations

from streamdecisionbench.families.debugging.rules import RULES
from streamdecisionbench.families.debugging.scenario_a import DRAFT_A
from streamdecisionbench.families.debugging.scenario_b import DRAFT_B
from streamdecisionbench.suite.authoring import Draft

__all__ = ["DRAFTS", "RULES"]

DRAFTS: tuple[Draft, ...] = (DRAFT_A, DRAFT_B)
