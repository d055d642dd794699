"""Stories hold together: nothing impossible happens in generated halls, and nothing out of place is said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import chain, groupby, pairwise
from typing import Any

import pytest

from streamdecisionbench.families.presenter.bank import bank, meaning
from streamdecisionbench.families.presenter.rules import FREE_RULES, RULES
from streamdecisionbench.families.presenter.state import NUMBERS
from streamdecisionbench.worlds.generation.world import World
from streamdecisionbench.worlds.presenter import (
    WORDINGS,
    phrases,
)
from tests.families.test_worlds import composed

pytestmark = pytest.mark.slow

BOTH = pytest.mark.parametrize("wording", WORDINGS)
PAGES = tuple((f"s{i}", said) for i, said in enumerate(NUMBERS, start=1))
LOOKS_BACK = re.compile(r"\b(?:was|again|already|remembers|readable|crowded|once more)\b")
Entry = dict[str, Any]
_ANY = {"name": r"(?:\w+)", "n": r"[\w ]+?"}


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


def filled(text: str) -> re.Pattern[str]:
    """The sentence about anything and any page; its groups are what it is about."""
    slots = re.sub(
        r"\\{(\w+)\\}", lambda slot: _ANY.get(slot[1], r"(the [\w' ]+?)"), re.escape(text)
    )
    return re.compile(slots, re.IGNORECASE)


def logged(world: World[Any]) -> Iterator[tuple[int, str, str]]:
    for event in world.simulator.events:
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
        room = world.simulator
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
    patterns = [
        filled(text) for text in (*chain(*phrases.ANSWERS.values()), *phrases.OF_A_QUESTION)
    ]
    given = 0
    for world in played(wording):
        for entry in entries(world, "presenter"):
            if any(p.fullmatch(s) for p in patterns for s in sentences(entry)):
                around = world.right.steps[max(entry["onset"] - 1, 0) : entry["final_at"] + 1]
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
        hall = world.simulator.hall
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
            for claim, (_, line) in phrases.SIDE_CLAIMS.items():
                if re.fullmatch(re.escape(line).replace(r"\{n\}", r"\d+"), text):
                    gold = steps[max(at - 1, 0)].gold
                    assert claim not in (gold["question_card"], gold["clip_state"]), (at, text)
                    asked = claim in ("repeat", "answer")
                    assert not asked or gold["question_card"] != "waiting", (at, text)
                    claimed += 1
        for event in world.simulator.events:
            if event.kind == "desk":
                levels = {k: v for k, v in event.data["levels_db"].items() if k != "at"}
                loudest = max(levels, key=lambda c: levels[c])
                loud[loudest == steps[event.at].gold["captions"]] += 1
    assert claimed > 10
    assert loud[True] < 0.45 * loud.total()


@BOTH
def test_sessions_neither_stand_still_nor_fade_out(wording: str) -> None:
    for world in played(wording):
        steps = world.right.n
        assert runs(steps, {event.at for event in world.simulator.events}) <= 5
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
        found.update(said | {re.sub(r"\d+", "#", text) for _, _, text in logged(world)})
        named = {rule for situation in world.played for rule in situation.rules} & set(rules)
        assert len(named) >= len(rules) / 2, world.scenario_id
    text, times = found.most_common(1)[0]
    assert times <= 0.6 * len(played(wording)), text


@BOTH
def test_who_speaks_is_heard_and_the_clip_only_while_it_runs(wording: str) -> None:
    read = 0
    for world in played(wording):
        steps, silent = world.right.steps, world.simulator.hall.silent
        for event in world.simulator.events:
            if event.kind != "desk":
                continue
            at, levels = event.at, event.data["levels_db"]
            for entry in entries(world, "presenter", "host", "audience"):
                if entry["onset"] < at < entry["final_at"]:
                    assert levels[entry["channel"]] >= -28, (world.scenario_id, entry, levels)
                    read += 1
            runs = {steps[t].gold["clip_state"] == "play" for t in (at - 1, at)}
            if silent or runs == {False}:
                assert levels["clip"] < -80
            elif runs == {True}:
                assert levels["clip"] >= -28
    assert read > 20


@BOTH
def test_nobody_begins_again_before_everything_is_said(wording: str) -> None:
    """Final text may lag behind: then all the words are there. Nobody starts twice at one tick."""
    for world in played(wording):
        for channel in ("presenter", "host"):
            for one, two in pairwise(entries(world, channel)):
                assert one["onset"] < two["onset"], (world.scenario_id, one, two)
                if two["onset"] < one["final_at"]:
                    there = world.right.steps[two["onset"]].state["transcript"]
                    shown = next(e["text"] for e in there if e["id"] == one["id"])
                    assert shown == re.sub(r"[.,?!]", "", one["text"].lower()), (one, two)


@BOTH
def test_nobody_takes_for_ever_over_a_sentence(wording: str) -> None:
    for world in played(wording):
        for entry in entries(world, "presenter", "host", "audience", "clip"):
            assert entry["final_at"] - entry["onset"] <= 8, (world.scenario_id, entry)


@BOTH
def test_nobody_chats_over_a_question(wording: str) -> None:
    """From its first word to its restatement nobody on stage speaks of something else."""
    chatter = [filled(text) for text in (*phrases.LINES["presenter"], *phrases.LINES["host"])]
    for world in played(wording):
        steps = world.right.steps
        for entry in entries(world, "presenter", "host"):
            before = steps[max(entry["onset"] - 1, 0)].gold["question_card"]
            if before in ("listening", "repeat"):
                assert not any(p.fullmatch(entry["text"]) for p in chatter), (
                    world.scenario_id,
                    entry,
                )


@BOTH
def test_partial_text_grows_into_the_final_or_was_a_command_misheard(wording: str) -> None:
    misheard = 0
    for world in played(wording):
        finals = {e["id"]: e for e in entries(world, "presenter", "host", "audience", "clip")}
        for step in world.right.steps:
            for entry in step.state["transcript"]:
                whole = finals.get(entry["id"])
                if whole is None or entry["final_at"] is not None:
                    continue
                final = re.sub(r"[.,?!]", "", whole["text"].lower())
                if not final.startswith(entry["text"]):
                    assert intent(world, entry, entry["text"]) != "none", (entry, whole)
                    misheard += 1
    assert misheard or wording == "free"


@BOTH
def test_a_word_is_said_about_every_page_before_the_next(wording: str) -> None:
    turned = 0
    for world in played(wording):
        silent = False
        slides = [step.gold["slide"] for step in world.right.steps]
        for entry in sorted(entries(world, "presenter"), key=lambda e: int(e["final_at"])):
            at = entry["final_at"]
            meant = [intent(world, entry, s) for s in sentences(entry)]
            turns = slides[at] != slides[max(at - 1, 0)] and {"next", "previous", "jump"} & {*meant}
            if turns:
                assert not silent or meant[0] == "none", (world.scenario_id, entry)
                turned += 1
            silent = bool(turns)
    assert turned > 60


@BOTH
def test_what_is_said_of_the_page_is_on_it(wording: str) -> None:
    free = wording == "free"
    patterns = [filled(text) for text in phrases.OF_THE_PAGE if ("{thing}" in text) == free]
    named = 0
    for world in played(wording):
        about = world.simulator.hall.about
        slides = [step.gold["slide"] for step in world.right.steps]
        for entry in entries(world, "presenter"):
            for found in (p.fullmatch(s) for s in sentences(entry) for p in patterns):
                if found:
                    up = {about[s] for s in slides[max(entry["onset"] - 1, 0) : entry["final_at"]]}
                    assert found[1] in up, (world.scenario_id, entry, up)
                    named += 1
    assert named > 5


@BOTH
def test_one_thing_is_and_many_are(wording: str) -> None:
    verb = r"(?:is|has|does|lasts|costs|comes|breaks|looks|fits|needs)"
    for world in played(wording):
        hall = world.simulator.hall
        many = "|".join(sorted(set(hall.subject.things) - set(hall.subject.singles))) or "$^"
        wrong = re.compile(rf"\b{verb} (?:{many})\b|\b(?:{many}),? (?:{verb}|it)\b", re.IGNORECASE)
        spoken = entries(world, "presenter", "host", "audience", "clip")
        for text in (*hall.deck.values(), *(e["text"] for e in spoken)):
            assert not wrong.search(text), text
            assert not re.search(r"\bi\b", text), text


@BOTH
def test_after_the_close_people_leave(wording: str) -> None:
    reopened = left = 0
    for world in played(wording):
        modes = [step.gold["mode"] for step in world.right.steps]
        called = False
        for entry in entries(world, "presenter", "host", "audience"):
            if entry["onset"] == 0 or modes[entry["onset"] - 1] != "closed":
                continue
            meant = {intent(world, entry, s) for s in sentences(entry)}
            if "open" in meant:
                assert called, (world.scenario_id, entry)
                reopened += 1
            called = called or entry["text"] in phrases.ONE_MORE
            said = (
                *chain(*phrases.LEAVING.values()),
                *phrases.FREE_LEAVING,
                *phrases.ONE_MORE,
                *phrases.SHORT_LINES["interjections"],
            )
            if meant == {"none"}:
                assert any(filled(text).fullmatch(entry["text"]) for text in said), entry
                left += 1
    assert reopened + left > 10


@BOTH
def test_who_hands_over_is_followed_or_takes_it_back(wording: str) -> None:
    goes_on = [
        filled(text)
        for text in (*phrases.SHORT_LINES["goes_on"], *phrases.FREE_SHORT_LINES["goes_on"])
    ]
    followed: Counter[str] = Counter()
    for world in played(wording):
        steps = world.right.steps
        for one, two in pairwise(entries(world, "presenter", "host")):
            lit = steps[max(two["onset"] - 1, 0)].gold["host_cue"] == "stand_by"
            if one["channel"] != "presenter" or not lit:
                continue
            again = "hand_over" in {intent(world, two, s) for s in sentences(two)}
            back = any(p.fullmatch(s) for p in goes_on for s in sentences(two))
            assert two["channel"] == "host" or again or back, (world.scenario_id, one, two)
            followed[two["channel"]] += 1
    assert followed["host"] > 5
    assert followed["presenter"]


@BOTH
def test_what_was_restated_is_answered_in_kind(wording: str) -> None:
    kinds = phrases.ANSWERS if wording == "listed" else phrases.FREE_ANSWERS
    answered = 0
    for world in played(wording):
        steps, spoken = world.right.steps, entries(world, "presenter")
        for k, entry in enumerate(spoken):
            if steps[entry["final_at"]].gold["question_card"] != "answer":
                continue
            rest = [(s, intent(world, entry, s)) for s in sentences(entry)]
            restated = [i for i, (_, meant) in enumerate(rest) if meant == "restate"]
            if not restated or steps[entry["final_at"] - 1].gold["question_card"] == "answer":
                continue
            after = [s for s, _ in rest[restated[0] + 1 :]] or [
                s for e in spoken[k + 1 : k + 2] for s in sentences(e)
            ]
            if not after:
                continue  # the session is over
            asked = re.search(rf"\b({'|'.join(kinds)})\b(?! is\b)", _asked(rest[restated[0]][0]))
            assert asked, rest
            fitting = [filled(text) for text in kinds[asked[1]]]
            assert any(p.fullmatch(after[0]) for p in fitting), (world.scenario_id, entry, after)
            answered += 1
    assert answered > 10


def _asked(restated: str) -> str:
    """What follows the words that restate."""
    fillers = "|".join(bank().fillers["asked"])
    found = re.search(rf"\b(?:{fillers})\.$", restated)
    return found[0] if found else re.sub(r"^.*?\b(?=whether|how|who|what|why)", "", restated)


@BOTH
def test_nobody_asks_for_a_clip_or_for_questions_to_leave_at_once(wording: str) -> None:
    """A clip is looked at, and somebody asks, unless the presenter was about to play the clip."""
    for world in played(wording):
        modes = [step.gold["mode"] for step in world.right.steps]
        asked = {entry["final_at"] for entry in entries(world, "audience")}
        lost = {
            entry["final_at"]
            for entry in entries(world, "presenter")
            if "play" in {intent(world, entry, s) for s in sentences(entry)}
        }
        spells = [[t for t, _ in group] for _, group in groupby(enumerate(modes), lambda x: x[1])]
        for ticks, after in pairwise(spells):
            if modes[after[0]] != "closed" and modes[ticks[0]] == "clip":
                assert len(ticks) >= 3, (world.scenario_id, ticks)
            elif modes[after[0]] != "closed" and modes[ticks[0]] == "questions":
                assert (asked | lost) & set(ticks), (world.scenario_id, ticks)


@BOTH
def test_the_side_log_says_what_somebody_could_think(wording: str) -> None:
    """Machines report what was asked of them; people guess at words just said, in rows there are."""
    guessed = 0
    for world in played(wording):
        hall, steps = world.simulator.hall, world.right.steps
        for at, source, text in logged(world):
            if source == "player":
                assert re.search(r"request|ready|waits", text), text
            row = re.search(r"\brow (\d+)", text, re.IGNORECASE)
            assert row is None or int(row[1]) <= hall.rows
            if re.search(r"must mean|Sounded like", text):
                assert "She" not in text
                last = [e for e in steps[max(at - 1, 0)].state["transcript"] if e["id"][0] == "p"][
                    -1
                ]
                assert last["final_at"] is None or at - last["final_at"] <= 2, (at, text)
                guessed += 1
    assert guessed
