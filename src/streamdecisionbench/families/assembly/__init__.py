"""Assembly station: which stage the work is in, and which card the display shows."""

from __future__ import annotations

from streamdecisionbench.families.assembly.rules import RULES
from streamdecisionbench.families.assembly.scenario_a import DRAFT_A
from streamdecisionbench.families.assembly.scenario_b import DRAFT_B
from streamdecisionbench.suite.authoring import Draft

__all__ = ["DRAFTS", "RULES"]

DRAFTS: tuple[Draft, ...] = (DRAFT_A, DRAFT_B)
