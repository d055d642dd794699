"""Which drafts make up the suite we author, in published order."""

from __future__ import annotations

import importlib

from streamdecisionbench.suite.authoring import Draft

__all__ = ["FAMILY_MODULES", "drafts"]

FAMILY_MODULES = {
    "live_debugging": "debugging",
    "procedural_coaching": "assembly",
    "support_call_assist": "support",
    "presenter_voice_control": "presenter",
}


def drafts() -> dict[str, Draft]:
    """Scenario id → draft, family by family. Each family module exports `DRAFTS`."""
    found: dict[str, Draft] = {}
    for module in FAMILY_MODULES.values():
        family = importlib.import_module(f"streamdecisionbench.families.{module}")
        for draft in family.DRAFTS:
            found[draft.scenario_id] = draft
    return found
