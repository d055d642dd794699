"""Assembly station: which stage the work is in, and which card the display shows."""

from __future__ import annotations

from streamdecisionbench.families.assembly.cable_module.timeline import DRAFT as CABLE_MODULE
from streamdecisionbench.families.assembly.gearbox_cover.timeline import DRAFT as GEARBOX_COVER
from streamdecisionbench.families.assembly.rules import RULES as RULES
from streamdecisionbench.suite.authoring import Draft

DRAFTS: tuple[Draft, ...] = (GEARBOX_COVER, CABLE_MODULE)
