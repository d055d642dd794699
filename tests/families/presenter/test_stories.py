"""Stories hold together: nothing impossible happens in generated halls, and nothing out of place is said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Any

import pytest

from streamdecisionbench.families.presenter.bank import meaning
from streamdecisionbench.families.presenter.generator import WORDINGS, bystanders, lines
from streamdecisionbench.families.presenter.rules import FREE_RULES, RULES
from streamdecisionbench.families.presenter.state import NUMBERS
from streamdecisionbench.suite.generation.world import World
from tests.families.test_worlds import composed

BOTH = pytest.mark.parametrize("wording", WORDINGS)
PAGES = tuple((f"s{i}", said) for i, said in enumerate(NUMBERS, start=1))
LOOKS_BACK = re.compile(r"\b(?:was|again|already|remembers|readable|crowded|once more)\b")
Entry = dict[str, Any]


@cache
def played(wording: str) -> list[World[Any]]:
    """Thirty sessions, played right."""
    found = [
        composed("presenter_voice_control", seed, number, wording).again()
        for seed in (1, 2, 3)
        for number in range(10)
    ]
    for world in found:
        world.play_right()
    return found


def entries(world: World[Any], *channels: str) -> list[Entry]:
    spoken = world.right.steps[-1].state["transcript"]
    return [e for e in spoken if e["channel"] in channels and e["final_at"] is not None]


def sentences(entry: Entry) -> list[str]:
    return [x.strip() for x in re.findall(r"[^.?!]+[.?!]", entry["text"])]


def intent(world: World[Any], entry: Entry, sentence: str) -> str:
    bare = sentence.lower().rstrip(".?!")
    prepared = world.right.steps[0].state["prepared"]
    if "intents" in prepared:
        return meaning(bare, entry["channel"], PAGES, must=False).intent
    if bare.startswith(prepared["commands"]["restate"]):
        return "restate"
    listed = prepared["commands"].get(entry["channel"], {})
    return next(
        (name for name, phrase in listed.items()
         if re.fullmatch(phrase.replace("<number>", r"\w+"), bare)),
        "none",
    )  # fmt: skip


def logged(world: World[Any]) -> Iterator[tuple[int, str, str]]:
    for event in world.script.events:
        if event.kind == "log":
            yield event.at, event.data["source"], event.data["text"]


def runs(ticks: int, kept: set[int], start: int = 0) -> int:
    """The longest run of ticks that are not among these."""
    found = [len(list(g)) for out, g in groupby(t in kept for t in range(start, ticks)) if not out]
    return max(found, default=0)


@BOTH
def test_no_question_is_restated_before_all_of_it_was_asked(wording: str) -> None:
    restated = 0
    for world in played(wording):
        room = world.opened.world
        things = room.hall.subject.things
        asked = {
            question.format(a=a, b=b): again.format(a=a, b=b)
            for question, again in room.words.questions.items()
            for a in things
            for b in things
        }
        asked |= {room.words.asked_formally(again): again for again in asked.values()}
        finals = {e["id"]: e["text"] for e in entries(world, "audience")}
        for entry in entries(world, "presenter"):
            for sentence in sentences(entry):
                if intent(world, entry, sentence) != "restate":
                    continue
                there = world.right.steps[entry["onset"]].state["transcript"]
                heard = [
                    finals[e["id"]]
                    for e in there
                    if finals.get(e["id"]) in asked
                    and re.sub(r"[.,?!]", "", finals[e["id"]].lower())
                    == re.sub(r"[.,?!]", "", e["text"].lower())
                ]  # fmt: skip
                told = [text for text in heard if asked[text] in sentence]
                assert told, (world.scenario_id, entry)
                restated += 1
    assert restated > 20


@BOTH
def test_nobody_looks_back_at_a_page_that_was_not_up(wording: str) -> None:
    looked = 0
    for world in played(wording):
        slides = [step.gold["slide"] for step in world.right.steps]
        for entry in entries(world, "presenter", "host"):
            for sentence in sentences(entry):
                number = re.search(r"\bslide (\w+)", sentence.lower())
                if (number is None or number[1] not in NUMBERS or not LOOKS_BACK.search(sentence)
                        or intent(world, entry, sentence) != "none"):  # fmt: skip
                    continue
                page = f"s{NUMBERS.index(number[1]) + 1}"
                assert page in slides[: entry["final_at"] + 1], (world.scenario_id, entry)
                looked += 1
    assert looked or wording == "listed"


@BOTH
def test_only_questions_that_were_asked_are_answered(wording: str) -> None:
    things = r"the [\w' ]+?"
    answers = [*lines.ANSWERS, *lines.OF_A_QUESTION]
    patterns = [
        re.compile(re.sub(r"\\{\w+\\}", lambda _: things, re.escape(text)), re.IGNORECASE)
        for text in answers
    ]
    given = 0
    for world in played(wording):
        for entry in entries(world, "presenter"):
            if any(p.fullmatch(s) for p in patterns for s in sentences(entry)):
                around = world.right.steps[max(entry["onset"] - 1, 0) : entry["onset"] + 1]
                assert {s.gold["question_card"] for s in around} & {"repeat", "answer"}, entry
                given += 1
    assert given > 5


@BOTH
def test_a_clip_that_did_not_come_is_asked_for_again_on_its_page(wording: str) -> None:
    lost = 0
    for world in played(wording):
        modes = [step.gold["mode"] for step in world.right.steps]
        for entry in entries(world, "presenter"):
            at = entry["final_at"]
            plays = [s for s in sentences(entry) if intent(world, entry, s) == "play"]
            if plays and modes[at] in ("talk", "questions"):
                lost += 1
                assert "clip" in modes[at:] or len(modes) - at < 20, (world.scenario_id, entry)
    assert lost > 5


@BOTH
def test_what_is_said_fits_the_occasion(wording: str) -> None:
    carried = re.compile(r"on the table\.|aunt|\brent\b|How loud|fit behind|in a storm")
    for world in played(wording):
        hall = world.opened.world.hall
        for entry in entries(world, "presenter", "host", "audience", "clip"):
            assert "pilot" not in entry["text"]
            if hall.silent:
                assert entry["channel"] != "clip"
                if entry["channel"] == "audience" or wording == "listed":
                    assert not carried.search(entry["text"]), entry
                if entry["channel"] == "presenter":
                    assert not re.search(
                        r"\bsound (?:works|fails)|any sound|too loud", entry["text"]
                    )


@BOTH
def test_a_clicker_that_is_not_paired_logs_nothing(wording: str) -> None:
    pressed = 0
    for world in played(wording):
        paired = world.right.steps[0].state["desk"]["clicker"].startswith("paired")
        presses = [text for _, source, text in logged(world) if source == "clicker"]
        assert paired or not presses
        pressed += len(presses)
    assert pressed > 5


@BOTH
def test_no_line_of_the_side_log_names_the_page_that_is_or_comes_up(wording: str) -> None:
    named = 0
    for world in played(wording):
        slides = [step.gold["slide"] for step in world.right.steps]
        for at, _, text in logged(world):
            word = re.search(r"\b(?:slide|page|number) (\w+)", text.lower())
            page = re.search(r"\bs\d+\b", text) or re.search(r"(?<=Page )\d+", text)
            found = page[0] if page else ""
            if word and word[1] in NUMBERS:
                found = str(NUMBERS.index(word[1]) + 1)
            if not found:
                continue
            found = f"s{found.removeprefix('s')}"
            ahead = next((s for s in slides[at:] if s != slides[at]), "")
            before = slides[max(at - 1, 0)]
            assert found not in (before, slides[at], ahead), (world.scenario_id, at, text)
            named += 1
    assert named > 20


@BOTH
def test_claims_of_the_side_log_and_levels_tempt(wording: str) -> None:
    claimed, loud = 0, Counter[bool]()
    for world in played(wording):
        steps = world.right.steps
        for at, _, text in logged(world):
            for claim, (_, line) in bystanders._UNLESS.items():
                if re.fullmatch(re.escape(line).replace(r"\{n\}", r"\d+"), text):
                    gold = steps[max(at - 1, 0)].gold
                    assert claim not in (gold["question_card"], gold["clip_state"]), (at, text)
                    claimed += 1
        for event in world.script.events:
            if event.kind == "desk":
                levels = {k: v for k, v in event.data["levels_db"].items() if k != "at"}
                loudest = max(levels, key=lambda c: levels[c])
                loud[loudest == steps[event.at].gold["captions"]] += 1
                before = steps[max(event.at - 1, 0)].gold["mode"]
                assert loudest != "clip" or "clip" in (before, steps[event.at].gold["mode"])
    assert claimed > 10
    assert loud[True] < 0.45 * loud.total()


@BOTH
def test_sessions_neither_stand_still_nor_fade_out(wording: str) -> None:
    for world in played(wording):
        steps = world.right.n
        assert runs(steps, {event.at for event in world.script.events}) <= 5
        modes = [step.gold["mode"] for step in world.right.steps]
        if "closed" in modes:
            closed = modes.index("closed")
            assert steps - closed <= 16
            assert runs(steps, set(world.right.changes()), closed) <= 6


@BOTH
def test_no_sentence_is_in_every_session_and_most_rules_matter_in_each(wording: str) -> None:
    found: Counter[str] = Counter()
    rules = RULES if wording == "listed" else FREE_RULES
    for world in played(wording):
        said = {e["text"] for e in entries(world, "presenter", "host", "audience", "clip")}
        found.update(said | {text for _, _, text in logged(world)})
        named = {rule for situation in world.played for rule in situation.rules} & set(rules)
        assert len(named) >= len(rules) / 2, world.scenario_id
    text, times = found.most_common(1)[0]
    assert times <= 0.7 * len(played(wording)), text
