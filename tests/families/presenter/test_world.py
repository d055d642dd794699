"""A hall that reads its panel: what people do about it, and what it costs, by hand-made histories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from streamdecisionbench.worlds.generation.draws import Draws
from streamdecisionbench.worlds.generation.world import (
    Decision,
    World,
)
from streamdecisionbench.worlds.presenter import WORDINGS
from tests.families.test_worlds import composed, half_right, play

pytestmark = pytest.mark.slow

FAMILY = "presenter_voice_control"
TICK = 2.0
SESSIONS = [(seed, number) for seed in (1, 2) for number in range(10)]
Panel = Callable[[World[Any]], Decision]


def hall(seed: int = 1, number: int = 0, wording: str = "listed") -> World[Any]:
    return composed(FAMILY, seed, number, wording).again()


def live(world: World[Any], panel: Panel) -> World[Any]:
    """To the end, each decision in force for a whole tick."""
    while not world.done:
        world.advance((world.t + 1) * TICK, [(world.t * TICK, panel(world))])
    return world


def right_until(world: World[Any], holds: Callable[[Decision], bool]) -> None:
    while not holds(world.reference()):
        world.advance((world.t + 1) * TICK, [(world.t * TICK, world.reference())])


def spoken(world: World[Any], channel: str) -> list[dict[str, Any]]:
    return [e for e in world.state()["transcript"] if e["channel"] == channel]


def a_wrong_page(world: World[Any]) -> str:
    """A page that is not the right one as long as the session goes as it does played right."""
    right = {decision["slide"] for decision in world.right.reference()}
    pages = world.right.option_semantics["slide"].values()
    return next(page for page in pages if page not in right)


def _another(page: str) -> str:
    return "s2" if page == "s1" else "s1"


@pytest.mark.parametrize("wording", WORDINGS)
def test_right_decisions_prevent_all_that_can_be_prevented(wording: str) -> None:
    for seed, number in SESSIONS:
        outcomes = live(hall(seed, number, wording), lambda w: w.reference()).outcomes()
        outcomes.pop("over_time_s")  # a chair takes some time to close, whatever is shown
        assert set(outcomes.values()) == {0}, (seed, number)


@pytest.mark.parametrize(
    ("outcome", "wrong"),
    [
        ("wrong_slide_s", lambda w: {"slide": a_wrong_page(w)}),
        ("wrong_captions_s", lambda w: {"captions": "nobody"}),
        ("wrong_clip_s", lambda w: {"mode": "clip", "clip_state": "play"}),
    ],
)
def test_what_is_wrong_for_three_and_a_half_seconds_counts_as_much(
    outcome: str, wrong: Callable[[World[Any]], Decision]
) -> None:
    world = hall()
    for held_s in ((0.0, 1.25), (2.0,), (4.0, 4.75)):
        right = world.reference()
        mistaken = {**right, **wrong(world)}
        first = right if held_s[0] == 0 else mistaken
        held = list(zip(held_s, (first, mistaken if first is right else right), strict=False))
        world.advance((world.t + 1) * TICK, held)
    live(world, lambda w: w.reference())
    assert {n: v for n, v in world.outcomes().items() if v and n != "over_time_s"} == {outcome: 3.5}


def test_without_a_decision_there_is_neither_page_nor_captions() -> None:
    world = hall()
    world.advance(1.5, [])
    assert world.outcomes()["wrong_slide_s"] == world.outcomes()["wrong_captions_s"] == 1.5
    assert world.outcomes()["wrong_clip_s"] == 0


@pytest.mark.parametrize("wording", WORDINGS)
def test_a_wrong_page_is_asked_for_again_and_not_for_ever(wording: str) -> None:
    insisted = 0
    for seed, number in SESSIONS:
        world = hall(seed, number, wording)
        live(world, lambda w: {**w.reference(), "slide": _another(w.reference()["slide"])})
        again = {w: n for w, n in world.simulator.objected.items() if w[0] == "slide"}
        assert set(again.values()) <= {1, 2}
        insisted += len(again)
        assert world.outcomes()["wrong_slide_s"] == world.right.n * TICK
    assert insisted > len(SESSIONS)


def test_a_clip_that_does_not_come_is_asked_for_again() -> None:
    for number in range(10):
        world = hall(3, number)
        live(world, lambda w: {**w.reference(), "mode": "talk"})
        assert world.simulator.objected["mode", "clip"] <= 2
    assert any(
        live(hall(3, number), lambda w: {**w.reference(), "mode": "talk"})
        .simulator.objected["mode", "clip"]
        for number in range(10)
    )  # fmt: skip


@pytest.mark.parametrize("wording", WORDINGS)
def test_a_question_without_a_card_is_missed_once(wording: str) -> None:
    tried = 0
    for seed, number in SESSIONS:
        world = hall(seed, number, wording)
        if not any(d.get("question_card") == "repeat" for d in world.right.reference()[:40]):
            continue
        right_until(world, lambda d: d.get("question_card") == "repeat")
        missed = world.outcomes()["questions_missed"]
        while world.outcomes()["questions_missed"] == missed and not world.done:
            unseen = {**world.reference(), "question_card": "listening"}
            world.advance((world.t + 1) * TICK, [(world.t * TICK, unseen)])
        if world.done:
            continue  # the presenter was ahead of the card, or time ran out
        live(world, lambda w: w.reference())
        assert world.outcomes()["questions_missed"] == missed + 1
        tried += 1
    assert tried >= 5


def test_a_light_that_is_on_by_mistake_makes_the_chair_interrupt() -> None:
    world = hall()
    right_until(world, lambda d: d.get("host_cue") == "listen" and d["mode"] == "talk")
    before = len(spoken(world, "host"))
    while not world.outcomes()["interruptions"]:
        on = {**world.reference(), "host_cue": "stand_by"}
        world.advance((world.t + 1) * TICK, [(world.t * TICK, on)])
    assert len(spoken(world, "host")) > before
    live(world, lambda w: w.reference())
    assert world.outcomes()["interruptions"] == 1


def test_a_light_that_stays_off_makes_the_presenter_hand_over_again() -> None:
    more = 0
    for seed, number in SESSIONS:
        twin, dark = hall(seed, number), hall(seed, number)
        live(twin, lambda w: w.reference())
        live(dark, lambda w: {**w.reference(), "host_cue": "listen"})
        phrase = dark.state()["prepared"]["commands"]["presenter"]["hand_over"]
        said = [
            sum(phrase in e["text"].lower().split(". ") or e["text"].lower().rstrip(".!") == phrase
                for e in spoken(w, "presenter"))
            for w in (twin, dark)
        ]  # fmt: skip
        more += said[1] > said[0]
    assert more >= 2


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("modes", [("talk", "clip"), ("questions",)])
@pytest.mark.parametrize("shown", ["clip", "nobody"])
def test_who_reads_wrong_captions_says_so_and_not_for_ever(
    shown: str, modes: tuple[str, ...], wording: str
) -> None:
    """In talk and clip somebody calls out; while that would be a question, the chair is told."""

    def panel(world: World[Any]) -> Decision:
        right = world.reference()
        return {**right, "captions": shown} if right["mode"] in modes else right

    complaints = 0
    for seed, number in SESSIONS[::2]:
        world = live(hall(seed, number, wording), panel)
        called = [e for e in spoken(world, "audience") if "captions" in e["text"].lower()]
        told = [e for e in world.state()["side_log"] if "captions" in e["text"]]
        assert not (told if "talk" in modes else called)
        assert world.outcomes()["complaints"] == len(called) + len(told) <= 2
        complaints += len(called) + len(told)
    assert complaints > 5


def test_who_calls_out_has_the_captions() -> None:
    """What was said because of the panel stands in the states that follow, and is right from then on."""
    world = hall()
    while not world.outcomes()["complaints"]:
        wrong = {**world.reference(), "captions": "nobody"}
        world.advance((world.t + 1) * TICK, [(world.t * TICK, wrong)])
    assert world.reference()["captions"] == "audience"
    twin = world.right.steps[world.t].state["transcript"]
    assert world.state()["transcript"] != twin
    live(world, lambda w: w.reference())
    assert world.outcomes()["complaints"] == 1
    assert any("captions" in e["text"] for e in spoken(world, "audience"))


def test_captions_that_are_a_tick_late_bother_nobody() -> None:
    for number in range(10):
        world, late = hall(1, number), ""
        while not world.done:
            right = world.reference()
            held = {**right, "captions": late or right["captions"]}
            late = right["captions"]
            world.advance((world.t + 1) * TICK, [(world.t * TICK, held)])
        assert not world.outcomes()["complaints"]


def test_over_time_is_what_passes_between_the_end_and_the_close() -> None:
    for number in range(10):
        world = live(hall(1, number), lambda w: w.reference())
        end = world.simulator.end
        open_late = [d["mode"] != "closed" for d in world.right.reference()[end:]]
        assert world.outcomes()["over_time_s"] == TICK * sum(open_late)


def test_talk_that_begins_as_the_floor_opens_is_a_question_and_stays_one() -> None:
    """One of ten thousand histories: what was begun as talk is not ended while the card listens to it."""
    play(hall(19, 9), half_right, Draws("history", 9353))
