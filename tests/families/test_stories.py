"""Generated sessions as stories: something goes on to the end, and most rules matter in each of them."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby

import pytest

from streamdecisionbench.families.coverage import coverage
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.scenario import Scenario, Suite
from streamdecisionbench.suite.suite_files import make_suite
from streamdecisionbench.worlds.generation.draws import Draws
from tests.families.test_generated import Generated
from tests.families.test_worlds import PLAYERS, Player, composed, play

pytestmark = pytest.mark.slow

SPEECH = {"live_debugging": "messages", "procedural_coaching": "speech"}
"""Where the families whose stories are told here say what people said."""
EVERY = pytest.mark.parametrize("family", SPEECH)


def flat(scenario: Scenario) -> list[int]:
    """How long nothing has changed but the clock, spell by spell."""
    shown = [{k: v for k, v in step.state.items() if k != "clock"} for step in scenario.steps]
    return [len(list(group)) for _, group in groupby(shown)]


@EVERY
def test_something_happens_every_few_ticks_and_up_to_the_end(
    family: str, generated: Generated
) -> None:
    for scenario in generated(family):
        assert max(flat(scenario)) <= 6
        assert flat(scenario)[-1] <= 4
        assert scenario.changes()[-1] >= scenario.n - 9


@EVERY
@pytest.mark.parametrize("player", PLAYERS)
def test_nor_does_a_world_fall_silent_whatever_is_held(family: str, player: Player) -> None:
    for number in range(4):
        world = composed(family, number=number).again()
        play(world, player, Draws("stories", number))
        assert max(flat(expand(world.draft()))) < 12


@EVERY
def test_no_sentence_is_heard_in_every_session(family: str, generated: Generated) -> None:
    heard: Counter[str] = Counter()
    for scenario in generated(family):
        said = [
            entry["text"] for entry in scenario.steps[-1].state[SPEECH[family]] if entry["final"]
        ]
        heard.update({re.sub(r"\d+", "#", text) for text in said})
    assert max(heard.values()) <= 7


@EVERY
def test_more_than_half_of_the_rules_matter_in_every_session(
    family: str, generated: Generated
) -> None:
    for scenario in generated(family):
        (found,) = coverage(_alone(generated(family), scenario)).values()
        assert 2 * sum(n > 0 for n in found.rules.values()) > len(found.rules), scenario.episode_id


def _alone(suite: Suite, scenario: Scenario) -> Suite:
    return make_suite([scenario], name="one", generation=suite.manifest.generation)
