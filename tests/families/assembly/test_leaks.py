"""What may not give a card away, and how irregular the evidence is."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from streamdecisionbench.families.assembly import DRAFTS
from streamdecisionbench.families.coverage import coverage
from streamdecisionbench.suite.authoring import Draft, Event, expand
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.suite.suite_files import make_suite

pytestmark = pytest.mark.slow

PAIRS = [(draft, expand(draft)) for draft in DRAFTS]
EACH = pytest.mark.parametrize(
    ("draft", "scenario"), PAIRS, ids=[draft.scenario_id for draft in DRAFTS]
)
UNIT = {d.scenario_id: str(s.steps[0].state["prepared"]["station"]["unit"]) for d, s in PAIRS}


def unit(draft: Draft) -> str:
    return UNIT[draft.scenario_id]


def ours(draft: Draft) -> list[Event]:
    return [e for e in draft.events if e.kind == "log" and e.data.get("unit") == unit(draft)]


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def test_every_rule_decides_and_every_misreading_shows() -> None:
    (found,) = coverage(make_suite([scenario for _, scenario in PAIRS], name="assembly")).values()
    assert found.undecided() == []
    assert [(m.rule, m.what) for m in found.unnoticed()] == []


@EACH
def test_every_option_of_a_scenario_answers_some_state(draft: Draft, scenario: Scenario) -> None:
    for question, labels in scenario.option_semantics.items():
        answered = {step.gold[question] for step in scenario.steps}
        assert answered == set(labels.values()), question


@EACH
def test_the_newest_record_does_not_say_the_target(draft: Draft, scenario: Scenario) -> None:
    """A card that names a target often names another one than the newest record does."""
    named = [s for s in scenario.steps if s.gold["target"] != "none"]
    newest = [[r for r in s.state["station_log"] if "target" in r][-1]["target"] for s in named]
    same = sum(n == s.gold["target"] for n, s in zip(newest, named, strict=True))
    assert same <= 0.75 * len(named)


@EACH
def test_the_newest_record_does_not_say_the_stage(draft: Draft, scenario: Scenario) -> None:
    same = 0
    for step in scenario.steps:
        stage = {c["target"]: c["stage"] for c in step.state["prepared"]["station"]["checks"]}
        newest = [r for r in step.state["station_log"] if "target" in r][-1]["target"]
        same += stage[newest] == step.gold["stage"]
    assert same <= 0.85 * scenario.n


@EACH
def test_a_record_of_this_unit_does_not_announce_a_change(draft: Draft, scenario: Scenario) -> None:
    """Of the ticks with records of this unit, a third or more change nothing."""
    ticks = {event.at for event in ours(draft)} - {0}
    assert len(ticks - set(scenario.changes())) * 3 >= len(ticks)


@EACH
def test_devices_name_nothing_that_is_asked_for(draft: Draft, scenario: Scenario) -> None:
    asked = {
        w
        for labels in scenario.option_semantics.values()
        for v in labels.values()
        for w in words(v)
    }
    targets = {c["target"] for c in scenario.steps[0].state["prepared"]["station"]["checks"]}
    for event in draft.events:
        if event.kind == "tool":
            values = {str(v) for v in event.data["fields"].values()}
            assert not {w for v in values for w in words(v)} & (asked | words(" ".join(targets)))


@EACH
def test_option_texts_do_not_say_when_to_choose_them(draft: Draft, scenario: Scenario) -> None:
    conditions = words(
        "if when after until failed fails passed passes damaged missing defective open closed"
    )
    for question in draft.questions.values():
        for text in question.options.values():
            assert not words(text) & conditions, text


@EACH
def test_the_length_of_an_option_text_gives_nothing_away(draft: Draft, scenario: Scenario) -> None:
    for choose in (max, min):
        guess = {
            name: choose(question.options, key=lambda value, q=question: len(q.options[value]))
            for name, question in draft.questions.items()
        }
        assert scenario.decision_spec.compose(guess) not in scenario.reference()


@EACH
def test_hints_are_about_as_often_true_as_false(draft: Draft, scenario: Scenario) -> None:
    said = Counter(
        word
        for event in draft.events
        for word in ("true", "false")
        if event.note.startswith(f"distractor: {word}")
    )
    assert min(said.values()) >= 5
    assert abs(said["true"] - said["false"]) <= 2


@EACH
def test_neighbours_pass_and_fail(draft: Draft, scenario: Scenario) -> None:
    checks = {c["target"]: c for c in scenario.steps[0].state["prepared"]["station"]["checks"]}
    verdicts = set()
    for event in draft.events:
        if event.kind == "log" and event.data.get("unit", unit(draft)) != unit(draft):
            check: dict[str, Any] = checks[event.data["target"]]
            value = event.data["value"]
            if "expects" in check or isinstance(value, str):
                verdicts.add(value == check.get("expects"))
            else:
                verdicts.add(check.get("min", 0) <= value <= check.get("max", value))
    assert verdicts == {True, False}


@EACH
def test_evidence_comes_on_odd_and_even_ticks_and_sometimes_twice(
    draft: Draft, scenario: Scenario
) -> None:
    ticks = Counter(event.at for event in ours(draft))
    assert sum(t % 2 for t in ticks) >= 10
    assert sum(n > 1 for n in ticks.values()) >= 5
    assert len({event.at for event in draft.events}) < scenario.n


@EACH
def test_partials_grow_over_several_ticks_and_decide_nothing(
    draft: Draft, scenario: Scenario
) -> None:
    texts: dict[str, list[Event]] = {}
    for event in draft.events:
        if event.kind == "speech":
            texts.setdefault(event.data["id"], []).append(event)
    growing = [said for said in texts.values() if len({e.at for e in said}) >= 3]
    assert len(growing) >= 2
    for said in texts.values():
        assert [e.data["final"] for e in said] == [False] * (len(said) - 1) + [True]
        lengths = [len(e.data["text"]) for e in said]
        assert lengths == sorted(lengths)


@EACH
def test_a_wrong_part_is_exchanged_on_record_before_the_right_one_is_scanned(
    draft: Draft, scenario: Scenario
) -> None:
    checks = {c["target"]: c for c in scenario.steps[0].state["prepared"]["station"]["checks"]}
    wrong: set[str] = set()
    exchanged = 0
    for event in ours(draft):
        target, value = event.data["target"], event.data.get("value")
        if event.data["kind"] == "replaced":
            exchanged += target in wrong
            wrong.discard(target)
        elif event.data["kind"] == "scan" and value != "NO_READ":
            assert target not in wrong, event
            if value != checks[target]["expects"]:
                wrong.add(target)
    assert not wrong
    assert exchanged


@EACH
def test_the_wait_of_a_finished_unit_is_explained(draft: Draft, scenario: Scenario) -> None:
    """Release shows for many ticks in a row, so the bench says what the unit waits for."""
    last = scenario.steps[57]
    assert last.gold["route"] == "release"
    said = " ".join(u["text"] for u in last.state["speech"])
    full = {"assembly_a": ("conveyor", "status", "full"), "assembly_b": ("rack", "free", 0)}
    device, field, value = full[scenario.scenario_id]
    assert last.state["tools"][device][field] == value
    assert f"{device}'s full" in said.lower()
