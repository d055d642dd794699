"""The desk and the player decide nothing, but what they report fits the voices and the clip."""

from __future__ import annotations

import re

import pytest

from streamdecisionbench.families.presenter import DRAFTS
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.scenario import Scenario

pytestmark = pytest.mark.slow

HOLDING = pytest.mark.parametrize(
    "scenario", [expand(draft) for draft in DRAFTS], ids=lambda scenario: scenario.scenario_id
)


@HOLDING
def test_level_readings_fit_the_voices(scenario: Scenario) -> None:
    """A voice heard at the tick of a reading is loud; without sound from the clip, its level is rest."""
    read = 0
    for step in scenario.steps:
        levels = step.state["desk"]["levels_db"]
        if levels["at"] != step.t:
            continue
        read += 1
        heard = {
            entry["channel"]
            for entry in step.state["transcript"]
            if entry["final_at"] in (None, step.t)
        }
        assert all(levels[channel] >= -25 for channel in heard), step.t
        assert (levels["clip"] == -90) == ("clip" not in heard), step.t
    assert read >= 9


@HOLDING
def test_the_player_says_how_long_the_clip_is_and_not_how_long_it_ran(scenario: Scenario) -> None:
    """A count of ticks shown would tell, with hindsight, when the clip was paused."""
    final = scenario.steps[-1].state
    lines = [line["text"] for line in final["side_log"] if line["source"] == "player"]
    assert [int(n) for text in lines for n in re.findall(r"\d+", text)] == [
        final["desk"]["clip_player"]["length_ticks"]
    ]
