"""Which families there are, in published order, and the drafts of the suite we author."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable

from streamdecisionbench.suite.authoring import Draft
from streamdecisionbench.suite.scenario import State

__all__ = ["FAMILY_MODULES", "drafts", "has", "reference_of"]

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


def reference_of(family: str) -> Callable[[State], dict[str, str]]:
    """The reference that serves every scenario of a family, authored or generated."""
    module = f"streamdecisionbench.families.{FAMILY_MODULES[family]}.reference"
    reference: Callable[[State], dict[str, str]] = importlib.import_module(module).reference
    return reference


def has(module: str, part: str) -> bool:
    """Whether a family's folder has this module or folder."""
    return importlib.util.find_spec(f"streamdecisionbench.families.{module}.{part}") is not None
