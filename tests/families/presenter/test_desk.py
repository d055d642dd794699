"""The desk and the player decide nothing, but what they report fits the voices and the clip."""

from __future__ import annotations

import re

import pytest

from streamdecisionbench.families.presenter import DRAFTS
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.scenario import Scenario

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
def test_the_player_counts_what_was_shown(scenario: Scenario) -> None:
    """Side material too tells one story: ticks shown are the ticks at which the clip ran."""
    final = scenario.steps[-1].state
    reports = [
        (line["at"], int(found[1]), int(found[2]))
        for line in final["side_log"]
        if (found := re.search(r"(\d+) of (\d+) ticks shown", line["text"]))
    ]
    assert len(reports) == 1
    for at, shown, length in reports:
        ran = sum(step.gold["clip_state"] == "play" for step in scenario.steps[:at])
        assert (shown, length) == (ran, final["desk"]["clip_player"]["length_ticks"])
