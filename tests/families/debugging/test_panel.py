"""The small panel itself."""

from __future__ import annotations

import pytest

from streamdecisionbench.families.debugging.reference import reference
from tests.families.debugging.panel import READY, panel

pytestmark = pytest.mark.slow


def test_the_plain_panel_is_ready() -> None:
    assert reference(panel()) == READY
