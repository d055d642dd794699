"""Halls in people's own words: what counts, final or not, and generated suites of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.families.coverage import coverage
from streamdecisionbench.families.presenter.bank import bank
from streamdecisionbench.families.presenter.reference import reference
from streamdecisionbench.families.presenter.rules import FREE_RULES, INTENTS
from streamdecisionbench.families.presenter.state import NUMBERS
from streamdecisionbench.suite.constant_baselines import (
    first_option,
    lexical_overlap,
    states_right,
)
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.sentence_bank import NONE, Sentence, words_of
from streamdecisionbench.worlds.generate import generate
from streamdecisionbench.worlds.generation.draws import SPLITS
from streamdecisionbench.worlds.generation.parameters import Parameters
from streamdecisionbench.worlds.presenter.phrases import HANGING
from tests.families.bounds import keeps_its_bounds
from tests.families.cases import Case, holds
from tests.families.presenter.room import PREPARED, room, said, starting

pytestmark = pytest.mark.slow

FAMILY = "presenter_voice_control"
Known = dict[str, dict[tuple[str, ...], Sentence]]


def hall(*entries: dict[str, Any], **prepared: Any) -> dict[str, Any]:
    """The small room under the free law; the presenter's opening word is one of the bank."""
    state = room(*entries, **prepared)
    state["prepared"] = {k: v for k, v in state["prepared"].items() if k != "commands"}
    state["prepared"]["intents"] = INTENTS
    state["transcript"][0]["text"] = "Right."
    return state


def case(name: str, state: dict[str, Any], rules: str = "intents", **expected: str) -> Case:
    return Case(f"free: {name}", state, expected, tuple(rules.split()))


def final(who: str, text: str) -> dict[str, Any]:
    return hall(said(who, 1, text, 2))


PLAY = said("p", 1, "Let's watch the clip now.", 2)
OPEN = said("h", 3, "Who has the first question?", 4)
ASKED = said("a", 5, "How long does it last?", 7)

# fmt: off
CASES = [
    case("nothing said", hall(), mode="talk", slide="s2", host_cue="listen"),
    case("next in own words", final("p", "On to the next slide now."), slide="s3"),
    case("previous in own words", final("p", "One slide back, please."), slide="s1"),
    case("a number", final("p", "Straight to slide four, please."), slide="s4"),
    case("capitals and marks aside", final("p", "STRAIGHT to slide four, please!"), slide="s4"),
    case("a condition", final("p", "Once everybody has seen this, we can have the next slide."), slide="s2"),
    case("a question", final("p", "How many slides are there after this one?"), slide="s2"),
    case("a report", final("p", "My notes say next slide, please."), slide="s2"),
    case("a negation", final("p", "Don't go to the next slide."), slide="s2"),
    case("put off", final("p", "I'll come to slide four later on."), slide="s2"),
    case("a correction", final("p", "Slide three, no, sorry, slide four, please."), slide="s4"),
    case("another way round", final("p", "Next slide, no, sorry, the previous slide, please."), slide="s1"),
    case("taken back", final("p", "Next slide, no, wait, let's stay where we are."), slide="s2"),
    case("each sentence by itself", final("p", "Slide one, please. Could we have the next slide? Let's see the next slide."), slide="s3"),
    case("words around it", final("p", "Well. On to the next slide now. You'll see why."), slide="s3"),
    case("not final", hall(said("p", 1, "on to the next slide now")), "intents tiers", slide="s2"),
    case("a heckler", final("a", "On to the next slide now."), "authority intents", slide="s2"),
    case("the clip speaks", final("c", "On to the next slide now."), "authority intents", slide="s2"),
    case("the audience closes nothing", final("a", "The session is closed."), "authority intents", mode="talk"),
    case("others may say anything", hall(said("a", 1, "Bravo, encore, whatever.", 2), said("c", 1, "Zip.", 2)), slide="s2"),
    case("provisional words may be anything", hall(said("p", 1, "bravo encore"), said("h", 1, "zip")), slide="s2"),
    case("a wish passed on", final("h", "Somebody on the stream would like to see slide four again."), "authority intents", slide="s2"),
    case("play", hall(PLAY), "intents mode", mode="clip", clip_state="play"),
    case("play elsewhere", hall(PLAY, start=starting(slide="s3")), "intents mode", mode="talk"),
    case("a final pause", hall(PLAY, said("p", 3, "Freeze the picture.", 4)), "intents clip", clip_state="pause"),
    case("played on", hall(PLAY, said("p", 3, "Freeze the picture.", 4), said("p", 5, "Please resume the video.", 6)), "intents clip", clip_state="play"),
    case("an early pause", hall(PLAY, said("p", 3, "freeze the picture")), "intents clip tiers", clip_state="pause"),
    case("an early pause in other words", hall(PLAY, said("p", 3, "could we stop on this frame")), "intents clip", clip_state="pause"),
    case("words that break off", hall(PLAY, said("p", 3, "could we stop on")), "intents clip", clip_state="play"),
    case("words that go on", hall(PLAY, said("p", 3, "freeze the picture if")), "intents clip", clip_state="play"),
    case("a condition, all of it", hall(PLAY, said("p", 3, "freeze the picture if it gets too fast")), "intents clip", clip_state="play"),
    case("no early pause of others", hall(PLAY, said("a", 3, "freeze the picture")), "authority clip", clip_state="play"),
    case("a correction ends on pause", hall(PLAY, said("p", 3, "let the film run on oh wait hold it there")), "intents clip", clip_state="pause"),
    case("back", hall(PLAY, said("p", 3, "That's enough of the film, back to my talk.", 4)), "intents mode", mode="talk"),
    case("a page puts the clip away", hall(PLAY, said("p", 3, "Slide two, please.", 4)), "intents slide", mode="talk", slide="s2"),
    case("opened", hall(OPEN), "intents mode", mode="questions", question_card="waiting"),
    case("opened in the end", final("h", "I close the session, no, sorry, first your questions, please."), mode="questions"),
    case("closed", final("h", "This session is over now."), "intents mode", mode="closed"),
    case("closed later", final("h", "I'll close the session in half an hour."), mode="talk"),
    case("closed on a condition", final("h", "The session is closed as soon as the coffee is here."), mode="talk"),
    case("repeat", hall(OPEN, ASKED), "intents card", question_card="repeat"),
    case("restated", hall(OPEN, ASKED, said("p", 8, "So you'd like to know how long it lasts.", 9)), "intents card", question_card="answer"),
    case("restated otherwise than asked", hall(OPEN, ASKED, said("p", 8, "You're asking how loud it is.", 9)), "card", question_card="answer"),
    case("restated in the second sentence", hall(OPEN, ASKED, said("p", 8, "Good. Your question was how long it lasts.", 9)), "intents card", question_card="answer"),
    case("a provisional restatement", hall(OPEN, ASKED, said("p", 8, "your question was how long it lasts")), "card tiers", question_card="repeat"),
    case("thanked", hall(OPEN, ASKED, said("p", 8, "Thank you for asking.", 9)), "intents card", question_card="repeat"),
    case("asked another time", hall(OPEN, ASKED, said("p", 8, "Last week I was asked how loud it is.", 9)), "intents card", question_card="repeat"),
    case("handed over", final("p", "Over to our moderator."), "intents cue", host_cue="stand_by"),
    case("handed over early", hall(said("p", 1, "over to our moderator")), "intents cue tiers", host_cue="stand_by"),
    case("handed over in a second sentence", final("p", "So far so good. Over to our moderator."), "intents cue", host_cue="stand_by"),
    case("handed over on a condition", final("p", "Over to our moderator as soon as the last slide is through."), "intents cue", host_cue="listen"),
    case("the host has started", hall(said("p", 1, "Over to our moderator.", 2), said("h", 3, "")), "intents cue", host_cue="listen"),
]
# fmt: on


@pytest.mark.parametrize("one", CASES, ids=lambda c: c.name)
def test_own_words(one: Case) -> None:
    assert holds(one, reference), reference(one.state)


@pytest.mark.parametrize(
    ("who", "text", "speaker"),
    [("p", "Whatever you like.", "presenter"), ("h", "Next slide, please.", "host")],
)
def test_a_sentence_the_bank_does_not_know_is_refused(who: str, text: str, speaker: str) -> None:
    with pytest.raises(InputError, match=f"(?i)no sentence '{text[:-1]}' of the {speaker}"):
        reference(final(who, f"Right. {text}"))


def test_the_small_hall_lists_no_phrase() -> None:
    assert "commands" in PREPARED
    assert "commands" not in hall()["prepared"]


@pytest.fixture(scope="module")
def free() -> Suite:
    return generate(Parameters(seed=1, families=(FAMILY,), wording="free"))


def test_a_free_suite_keeps_every_bound(free: Suite, tmp_path: Any) -> None:
    keeps_its_bounds(free, tmp_path / "suite", "free")
    for scenario in free:
        assert states_right(scenario, first_option) == 0
        assert states_right(scenario, lexical_overlap) <= 1
        state = scenario.steps[0].state
        assert state["prepared"]["intents"] == INTENTS
        assert "commands" not in state["prepared"]
        assert state["rules"] == [f"{name}: {text}" for name, text in FREE_RULES.items()]


def test_a_free_suite_shows_every_rule_option_and_misreading(free: Suite) -> None:
    (found,) = coverage(free).values()
    assert "intents" in found.rules
    assert "whole_sentence" not in found.rules
    assert found.undecided() == []
    assert found.unanswered() == []
    assert [(m.rule, m.what) for m in found.unnoticed()] == []


@pytest.fixture(scope="module")
def known() -> Known:
    """Channel → words → the sentence of the bank, whatever number or thing it names."""
    found: Known = {"presenter": {}, "host": {}}
    for s in bank().sentences:
        for name, other in permutations(NUMBERS, 2) if "name" in s.slots else [("", "")]:
            for words in bank().fillings(s):
                found[s.speaker][words_of(s.filled(name, other, **words))] = s
    return found


def stories(suite: Suite) -> Iterator[tuple[str, list[tuple[str, bool]]]]:
    """Every entry of presenter and host: its channel, and each text it showed (final or not)."""
    for scenario in suite:
        texts: dict[str, tuple[str, list[tuple[str, bool]]]] = {}
        for step in scenario.steps:
            for entry in step.state["transcript"]:
                _, shown = texts.setdefault(entry["id"], (entry["channel"], []))
                text = (entry["text"], entry["final_at"] is not None)
                if not shown or shown[-1] != text:
                    shown.append(text)
        yield from (story for story in texts.values() if story[0] in INTENTS)


def test_provisional_text_is_a_sentence_or_breaks_off(free: Suite, known: Known) -> None:
    """Nobody has to guess whether words are complete: what is no sentence ends on a hanging word."""
    assert not [s.text for s in bank().sentences if words_of(s.text)[-1] in HANGING]
    seen = set()
    for channel, shown in stories(free):
        for text in (text for text, final in shown if not final):
            words = words_of(text)
            if not words or words[-1] in HANGING:
                seen.add("breaks off")
            elif not (channel == "presenter" and _names_a_page(words)):
                seen.add(known[channel][words].intent)
    assert {"breaks off", "none", "pause", "hand_over"} <= seen


def _names_a_page(words: tuple[str, ...]) -> bool:
    """The first half of a correction: a request for a page, which takes no early effect."""
    return words[-1] in NUMBERS and {"slide", "number"} & set(words) != set()


@pytest.mark.parametrize("purpose", ["pause", "hand_over"])
def test_what_takes_effect_early_grows_and_is_taken_back(
    purpose: str, free: Suite, known: Known
) -> None:
    taken_back = []
    for channel, shown in stories(free):
        first, last = (known[channel].get(words_of(shown[i][0])) for i in (0, -1))
        if first and last and (first.intent, last.intent) == (purpose, NONE):
            starts = [words_of(text)[: len(words_of(shown[0][0]))] for text, _ in shown]
            assert set(starts) == {words_of(shown[0][0])}
            taken_back.append(len(shown))
    assert 3 in taken_back, "complete, going on, final"


def test_train_and_eval_share_no_sentence_that_counts(free: Suite, known: Known) -> None:
    train = generate(
        Parameters(seed=1, families=(FAMILY,), per_family=6, wording="free", split=SPLITS[1]),
        tell=lambda _: None,
    )
    halves = []
    for suite in (free, train):
        finals = {(c, text) for c, shown in stories(suite) for text, final in shown if final}
        said = {
            known[channel][words_of(sentence)]
            for channel, text in finals
            for sentence in re.split(r"[.?!]", text)
            if sentence.strip()
        }
        halves.append({s for s in said if s.manner != "talk"})
        assert len(halves[-1]) > 60
    assert not halves[0] & halves[1]
