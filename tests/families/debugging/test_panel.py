"""The small panel itself."""

from __future__ import annotations

from streamdecisionbench.families.debugging.reference import reference
from tests.families.debugging.panel import READY, panel


def test_the_plain_panel_is_ready() -> None:
    assert reference(panel()) == READY
