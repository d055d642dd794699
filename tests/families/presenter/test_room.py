"""The small room itself."""

from __future__ import annotations

import pytest

from streamdecisionbench.families.presenter.rules import COMMANDS
from streamdecisionbench.families.presenter.state import CHANNELS
from tests.families.presenter.room import PREPARED

pytestmark = pytest.mark.slow


def test_the_small_room_uses_the_published_phrases() -> None:
    assert PREPARED["commands"] == COMMANDS


def test_the_small_room_covers_every_channel() -> None:
    assert sorted(PREPARED["caption_order"]) == sorted(CHANNELS.values())
