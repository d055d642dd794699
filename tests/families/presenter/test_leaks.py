"""Nothing beside the rules and the speech gives an answer away, and speech looks like speech."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from streamdecisionbench.families.presenter import DRAFTS
from streamdecisionbench.families.presenter.bank import NOTHING, bank, meaning
from streamdecisionbench.families.presenter.events import MISTAKEN, TRUE
from streamdecisionbench.families.presenter.rules import FREE_RULES
from streamdecisionbench.families.presenter.state import NUMBERS
from streamdecisionbench.suite.authoring import Draft, expand
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.suite.sentence_bank import NONE, words_of
from streamdecisionbench.worlds.presenter.phrases import HANGING

pytestmark = pytest.mark.slow

SCENARIOS = {draft.scenario_id: expand(draft) for draft in DRAFTS}
BOTH = pytest.mark.parametrize("draft", DRAFTS, ids=list(SCENARIOS))
HOLDING = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=list(SCENARIOS))
PAGES = tuple((f"s{i}", said) for i, said in enumerate(NUMBERS, start=1))
BREAKS_OFF = HANGING | {"but", "in", "just", "me", "not", "up", "you"}


def finals(scenario: Scenario) -> list[dict[str, Any]]:
    return list(scenario.steps[-1].state["transcript"])


def hypotheses(draft: Draft) -> dict[str, list[tuple[int, str, bool]]]:
    """Entry → every text it showed: tick, text, whether final."""
    found: dict[str, list[tuple[int, str, bool]]] = {}
    for event in draft.events:
        if event.kind == "say":
            data = event.data
            found.setdefault(data["id"], []).append((event.at, data["text"], data["final"]))
    return found


@BOTH
def test_the_side_log_is_as_often_right_as_mistaken(draft: Draft) -> None:
    notes = Counter(event.note for event in draft.events if event.kind == "log")
    assert set(notes) == {TRUE, MISTAKEN}
    assert abs(notes[TRUE] - notes[MISTAKEN]) <= 1
    assert min(notes.values()) >= 5


@HOLDING
def test_a_confidence_is_no_sign_of_a_command(scenario: Scenario) -> None:
    sure: dict[bool, list[float]] = {True: [], False: []}
    for entry in finals(scenario):
        if entry["channel"] in ("presenter", "host"):
            meant = [m.intent for m in _meanings(entry)]
            sure[set(meant) != {NONE}].append(entry["confidence"])
    means = {commands: sum(values) / len(values) for commands, values in sure.items()}
    assert min(len(values) for values in sure.values()) >= 9
    assert abs(means[True] - means[False]) < 0.1
    assert min(sure[True]) < 0.7
    assert max(sure[False]) > 0.9


@HOLDING
def test_the_loudest_channel_is_no_sign_of_the_captions(scenario: Scenario) -> None:
    right = 0
    for step in scenario.steps:
        levels = {k: v for k, v in step.state["desk"]["levels_db"].items() if k != "at"}
        right += max(levels, key=lambda channel: levels[channel]) == step.gold["captions"]
    assert right <= 45


@HOLDING
def test_rules_and_options_quote_nothing_that_is_said(scenario: Scenario) -> None:
    """Rules that show their own trap as an example would give it away."""
    options = [text for q in scenario.questions.values() for text in q.criteria.values()]
    shown = [" ".join(words_of(text)) for text in [*FREE_RULES.values(), *options]]
    for entry in finals(scenario):
        for sentence in _sentences(entry["text"]):
            said = " ".join(words_of(sentence))
            if len(said.split()) >= 3:
                assert not [text for text in shown if said in text], said


@HOLDING
def test_the_side_log_uses_no_words_of_an_option(scenario: Scenario) -> None:
    options = {text.lower() for q in scenario.questions.values() for text in q.criteria.values()}
    for line in scenario.steps[-1].state["side_log"]:
        assert not [text for text in options if text in line["text"].lower()], line


@BOTH
def test_text_grows_over_several_ticks_and_mostly_without_harm(draft: Draft) -> None:
    """Growing partials are no sign of a decision: most of them change nothing when they end."""
    causes = {change.at for change in draft.changes}
    growing = [
        shown
        for shown in hypotheses(draft).values()
        if len({text for _, text, final in shown if not final}) >= 2
        or shown[-1][0] - shown[0][0] >= 2
    ]
    assert len(growing) >= 11
    ends_quietly = [shown for shown in growing if shown[-1][0] not in causes]
    assert len(ends_quietly) >= 5
    lengths = Counter(shown[-1][0] - shown[0][0] for shown in hypotheses(draft).values())
    assert lengths[1] <= 0.6 * lengths.total()
    assert max(lengths) >= 4
    assert lengths[0] >= 1


@HOLDING
def test_people_talk_at_once(scenario: Scenario) -> None:
    crossed = 0
    for step in scenario.steps:
        heard = {
            entry["channel"]
            for entry in step.state["transcript"]
            if entry["final_at"] in (None, step.t)
        }
        crossed += len(heard) >= 2
    assert crossed >= 12


def test_words_arrive_on_the_wrong_channel() -> None:
    """The chair is heard in the room microphone before his own is on: the same words, no effect."""
    steps = SCENARIOS["presenter_b"].steps
    room = next(e for e in steps[22].state["transcript"] if e["id"] == "a3")
    own = next(e for e in steps[24].state["transcript"] if e["id"] == "h2")
    assert (room["channel"], own["channel"]) == ("audience", "host")
    assert own["text"].endswith(room["text"])
    assert steps[23].gold["mode"] == "talk"
    assert steps[24].gold["mode"] == "questions"


def test_nobody_is_cut_off_by_an_opening() -> None:
    """Whoever has the word has ended before the chair opens questions with effect."""
    for scenario in SCENARIOS.values():
        for before, step in zip(scenario.steps, scenario.steps[1:], strict=False):
            if (before.gold["mode"], step.gold["mode"]) == ("talk", "questions"):
                speaking = [e for e in before.state["transcript"] if e["final_at"] is None]
                assert [e for e in speaking if e["channel"] == "presenter"] == []


@BOTH
def test_provisional_text_is_a_sentence_or_breaks_off(draft: Draft) -> None:
    for name, shown in hypotheses(draft).items():
        speaker = {"p": "presenter", "h": "host"}.get(name[0])
        for _, text, final in shown:
            if speaker is None or final or not text or text.split()[-1] in BREAKS_OFF:
                continue
            assert _splits(text.split(), speaker), text
    assert not [
        s.text for s in bank().sentences if words_of(s.text)[-1] in BREAKS_OFF - {"me", "you"}
    ]


def _splits(words: list[str], speaker: str) -> bool:
    """Whether the words are one or more sentences of the bank."""
    return any(
        meaning(" ".join(words[:k]), speaker, PAGES, must=False) != NOTHING
        or _known_talk(words[:k], speaker)
        for k in range(1, len(words) + 1)
        if k == len(words) or _splits(words[k:], speaker)
    )


def _known_talk(words: list[str], speaker: str) -> bool:
    said = tuple(words)
    return any(words_of(s.text) == said for s in bank().of("hall", speaker))


def _meanings(entry: dict[str, Any]) -> Iterator[Any]:
    for sentence in _sentences(entry["text"]):
        yield meaning(sentence, entry["channel"], PAGES, must=True)


def _sentences(text: str) -> list[str]:
    return [piece.strip() for piece in re.split(r"[.?!]", text) if piece.strip()]
