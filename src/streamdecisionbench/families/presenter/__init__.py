"""Presenter voice control: streaming recognition drives slides, clip, captions, card and chair cue."""

from __future__ import annotations

from streamdecisionbench.families.presenter.rules import RULES
from streamdecisionbench.families.presenter.scenario_a import DRAFT as DRAFT_A
from streamdecisionbench.families.presenter.scenario_b import DRAFT as DRAFT_B
from streamdecisionbench.suite.authoring import Draft

__all__ = ["DRAFTS", "RULES"]

DRAFTS: tuple[Draft, ...] = (DRAFT_A, DRAFT_B)
