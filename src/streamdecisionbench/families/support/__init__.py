"""Support call: a payment call (A) and an intercom call (B), each with its own rules and reference."""

from __future__ import annotations

from streamdecisionbench.families.support import rules_a, rules_b, scenario_a, scenario_b
from streamdecisionbench.suite.authoring import Draft

__all__ = ["DRAFTS", "RULES", "RULES_A", "RULES_B"]

RULES_A: dict[str, str] = rules_a.RULES
RULES_B: dict[str, str] = rules_b.RULES
RULES: dict[str, str] = {**RULES_A, **RULES_B}
DRAFTS: tuple[Draft, ...] = (scenario_a.DRAFT, scenario_b.DRAFT)
