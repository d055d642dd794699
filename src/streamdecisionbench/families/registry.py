"""Which families there are, in published order, and the drafts of the suite we author."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Collection, Iterable

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.authoring import Draft
from streamdecisionbench.suite.scenario import State
from streamdecisionbench.suite.sentence_bank import Bank, Intents

FAMILY_MODULES = {
    "live_debugging": "debugging",
    "procedural_coaching": "assembly",
    "support_call_assist": "support",
    "presenter_voice_control": "presenter",
}


def full_names(names: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """Families as files name them; people may say `support` for `support_call_assist`.

    >>> full_names(["support", "live_debugging"], FAMILY_MODULES)
    ('support_call_assist', 'live_debugging')
    """
    short = {module: family for family, module in FAMILY_MODULES.items() if family in known}
    return tuple(dict.fromkeys(name if name in known else short.get(name, name) for name in names))


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


def bank_of(family: str) -> tuple[Bank, dict[str, Intents]]:
    """A family's bank of sentences, and what its readers are told."""
    (family,) = full_names([family], FAMILY_MODULES)
    able = [name for name, module in FAMILY_MODULES.items() if has(module, "bank")]
    if family not in able:
        raise InputError(f"{family} has no bank of sentences", fix=f"choose from {', '.join(able)}")
    found = importlib.import_module(f"streamdecisionbench.families.{FAMILY_MODULES[family]}.bank")
    intents: dict[str, Intents] = found.INTENTS
    return found.bank(), intents


def has(module: str, part: str) -> bool:
    """Whether a family's folder has this module or folder."""
    return importlib.util.find_spec(f"streamdecisionbench.families.{module}.{part}") is not None
