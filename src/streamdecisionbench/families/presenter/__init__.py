"""Presenter voice control: streaming recognition drives slides, clip, captions, card and chair cue."""

from __future__ import annotations

from streamdecisionbench.families.presenter.conference_talk.timeline import DRAFT as CONFERENCE_TALK
from streamdecisionbench.families.presenter.flood_briefing.timeline import DRAFT as FLOOD_BRIEFING
from streamdecisionbench.families.presenter.rules import RULES
from streamdecisionbench.suite.authoring import Draft

__all__ = ["DRAFTS", "RULES"]

DRAFTS: tuple[Draft, ...] = (CONFERENCE_TALK, FLOOD_BRIEFING)
