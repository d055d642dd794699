"""Presenter voice control: streaming recognition drives slides, clip, captions, card and chair cue."""

from __future__ import annotations

from streamdecisionbench.families.presenter.conference_talk.timeline import DRAFT as CONFERENCE_TALK
from streamdecisionbench.families.presenter.flood_briefing.timeline import DRAFT as FLOOD_BRIEFING
from streamdecisionbench.families.presenter.rules import FREE_RULES
from streamdecisionbench.families.presenter.rules import RULES as LISTED_RULES
from streamdecisionbench.suite.authoring import Draft

RULES: dict[str, str] = {**LISTED_RULES, "intents": FREE_RULES["intents"]}
"""By id, in both wordings; where a rule differs between them, its listed text."""
DRAFTS: tuple[Draft, ...] = (CONFERENCE_TALK, FLOOD_BRIEFING)
