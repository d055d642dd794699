"""Generated halls: phrases drawn anew, words that command nothing, transcripts as a recogniser writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from typing import Any

import pytest

from streamdecisionbench.families.presenter.rules import COMMANDS, RULES
from streamdecisionbench.suite.scenario import Scenario, Suite
from streamdecisionbench.worlds.generation.draws import SPLITS
from streamdecisionbench.worlds.presenter import phrases as wording
from streamdecisionbench.worlds.presenter.hall import worded
from streamdecisionbench.worlds.presenter.words import heard

pytestmark = pytest.mark.slow

FAMILY = "presenter_voice_control"
Generated = Callable[[str], Suite]


def phrases(split: str) -> set[str]:
    """Every command that any hall of a split may list, without page numbers."""
    found = {phrase for pages in wording.PAGES.of(split) for phrase in pages[:2]}
    found |= {pages[2].replace("<number>", "one") for pages in wording.PAGES.of(split)}
    found |= {play for play, _ in wording.CLIPS.of(split)}
    found |= {pause for _, (pause, _) in wording.CLIPS.of(split)}
    found |= {phrase for phrase, _ in wording.HAND_OVER.of(split)}
    return found.union(wording.BACK.of(split), wording.OPEN.of(split), wording.CLOSE.of(split))


def halls(suite: Suite) -> Iterator[tuple[Scenario, dict[str, Any]]]:
    for scenario in suite:
        yield scenario, scenario.steps[-1].state["prepared"]


def test_the_rules_speak_of_the_phrases_that_were_drawn(generated: Generated) -> None:
    assert worded(COMMANDS) == RULES
    for scenario, prepared in halls(generated(FAMILY)):
        text = " ".join(scenario.steps[0].state["rules"])
        listed = {**prepared["commands"]["presenter"], **prepared["commands"]["host"]}
        quoted = set(re.findall(r"(?<![a-z])'([a-z<> ]+)'", text))
        assert quoted == set(listed.values())


def test_halls_differ_in_everything_that_is_drawn(generated: Generated) -> None:
    prepared = [p for _, p in halls(generated(FAMILY))]
    for draw in (
        lambda p: str(p["commands"]),
        lambda p: tuple(p["caption_order"]),
        lambda p: p["clip"]["slide"],
        lambda p: len(p["deck"]),
        lambda p: p["people"]["presenter"],
        lambda p: p["deck"][0]["title"],
    ):
        assert len({draw(p) for p in prepared}) >= 3


@pytest.mark.parametrize("split", SPLITS)
def test_no_phrase_is_another_or_the_beginning_of_a_restatement(split: str) -> None:
    found = phrases(split)
    one_each = (wording.HAND_OVER, wording.BACK, wording.OPEN, wording.CLOSE)
    expected = 3 * len(wording.PAGES.of(split)) + 2 * len(wording.CLIPS.of(split))
    assert len(found) == expected + sum(len(pool.of(split)) for pool in one_each)
    for phrase, words in product(found, wording.RESTATE.of(split)):
        assert not phrase.startswith(words)


@pytest.mark.parametrize("split", SPLITS)
def test_lines_command_nothing(split: str) -> None:
    commands, restating = phrases(split), wording.RESTATE.of(split)
    drifts = [text for _, text in wording.HAND_OVER.of(split)]
    drifts += [text for _, (_, text) in wording.CLIPS.of(split)]
    spoken = [text for channel in wording.LINES.values() for text in channel]
    spoken += [*wording.SHORT_LINES["leads"], *wording.SHORT_LINES["interjections"]]
    spoken += [*wording.AFTERTHOUGHTS, *wording.ASKED]
    for text in (*spoken, *drifts):
        for sentence in re.split(r"[.?!]", text.lower()):
            assert sentence.strip() not in commands
            assert not sentence.strip().startswith(tuple(restating))
        words = heard(text).split()
        assert not {" ".join(words[:k]) for k in range(len(words) + 1)} & commands


def test_transcripts_are_as_the_rules_describe_them(generated: Generated) -> None:
    for scenario in generated(FAMILY):
        for before, after in pairwise(step.state["transcript"] for step in scenario.steps):
            onsets = [entry["onset"] for entry in after]
            assert onsets == sorted(onsets)
            assert [e["id"] for e in after[: len(before)]] == [e["id"] for e in before]
            for old, new in zip(before, after, strict=False):
                assert old["final_at"] is None or old == new
            for entry in after:
                if entry["final_at"] is None:
                    assert not re.search(r"[A-Z.,?!]", entry["text"])
                else:
                    assert entry["text"][-1] in ".?!"


def test_only_a_clip_with_sound_is_heard(generated: Generated) -> None:
    heard_in = {
        scenario.title
        for scenario in generated(FAMILY)
        for entry in scenario.steps[-1].state["transcript"]
        if entry["channel"] == "clip"
    }
    assert heard_in
    silent = {s.title for s in generated(FAMILY) if "public_meeting" in s.episode_id}
    assert not heard_in & silent
