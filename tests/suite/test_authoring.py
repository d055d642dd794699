"""The kit holds an author to what they declared, and says what is wrong in their language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from streamdecisionbench.suite.authoring import (
    AuthoringError,
    Change,
    Draft,
    Event,
    QuestionDraft,
    expand,
)
from streamdecisionbench.suite.scenario import DecisionSpec

SPEC = DecisionSpec("route", ("recorder",), {"talk": (), "hold": ("hold_action",)})
QUESTIONS = {
    "route": QuestionDraft("Where are we?", {"talk": "talking", "hold": "on hold"}),
    "recorder": QuestionDraft("Recorder?", {"record": "on", "pause": "off"}),
    "hold_action": QuestionDraft("Hold?", {"wait": "wait", "return": "return", "none": "no hold"}),
}


def project(events: Sequence[Event], now: int) -> dict[str, Any]:
    hold = [e.at for e in events if e.kind == "hold"]
    return {"clock": {"now": now}, "hold_since": hold[-1] if hold else None, "limit": 2}


def reference(state: dict[str, Any]) -> dict[str, str]:
    since = state["hold_since"]
    if since is None:
        return {"route": "talk", "recorder": "record", "hold_action": "none"}
    late = state["clock"]["now"] - since >= state["limit"]
    return {"route": "hold", "recorder": "record", "hold_action": "return" if late else "wait"}


DRAFT = Draft(
    scenario_id="call",
    task_family="support_call_assist",
    title="A call",
    questions=QUESTIONS,
    decision_spec=SPEC,
    events=(Event(1, "hold", note="the agent presses hold"),),
    changes=(
        Change(1, ("route", "hold_action"), "hold began"),
        Change(3, ("hold_action",), "the hold reached its limit"),
    ),
    project=project,
    reference=reference,
    steps=5,
)


def problems(draft: Draft) -> list[str]:
    with pytest.raises(AuthoringError) as caught:
        expand(draft)
    return caught.value.problems


def test_a_draft_that_keeps_its_word() -> None:
    scenario = expand(DRAFT)
    assert scenario.changes() == [1, 3]
    assert [s.gold["hold_action"] for s in scenario.steps] == [
        "none",
        "wait",
        "wait",
        "return",
        "return",
    ]
    assert scenario.steps[1].evidence == ("the agent presses hold", "change: hold began")
    assert expand(DRAFT) == scenario


def test_a_change_that_does_not_come() -> None:
    late = replace(DRAFT, changes=(DRAFT.changes[0], Change(2, ("hold_action",), "too early")))
    assert problems(late) == [
        "call tick 2: expected hold_action to change, reference still says wait",
        "call tick 3: hold_action changes from wait to return, which no declared change expects",
    ]


def test_a_change_nobody_declared() -> None:
    assert problems(replace(DRAFT, changes=DRAFT.changes[:1])) == [
        "call tick 3: hold_action changes from wait to return, which no declared change expects"
    ]


def test_a_field_nobody_declared() -> None:
    changes = (Change(1, ("route",), "hold began"), DRAFT.changes[1])
    assert problems(replace(DRAFT, changes=changes)) == [
        "call tick 1: hold_action changes from (absent) to wait, which no declared change expects"
    ]


def test_answers_outside_the_options() -> None:
    def odd(state: dict[str, Any]) -> dict[str, str]:
        return {**reference(state), "recorder": "off", "mood": "fine"}

    found = problems(replace(DRAFT, reference=odd))
    assert "call tick 0: the reference answers recorder = 'off', which is no option" in found
    assert "call tick 0: the reference answers mood, which is no question" in found


def test_a_reference_that_writes() -> None:
    def writing(state: dict[str, Any]) -> dict[str, str]:
        answers = reference(state)
        state["seen"] = True
        return answers

    assert (
        "the reference changed the state it read" in problems(replace(DRAFT, reference=writing))[0]
    )


def test_events_outside_or_out_of_order() -> None:
    events = (Event(3, "x"), Event(1, "hold"), Event(9, "y"))
    found = problems(replace(DRAFT, events=events))
    assert any("outside 0–4" in p for p in found)
    assert any("in the order they happen" in p for p in found)


def test_no_state_can_show_the_future() -> None:
    seen: list[tuple[int, int]] = []

    def spy(events: Sequence[Event], now: int) -> dict[str, Any]:
        seen.extend((now, e.at) for e in events)
        return project(events, now)

    expand(replace(DRAFT, project=spy))
    assert seen
    assert all(at <= now for now, at in seen)


def test_spec_faults() -> None:
    lonely = DecisionSpec("route", (), {"talk": (), "hold": ()})
    found = problems(
        replace(DRAFT, decision_spec=lonely, changes=(Change(1, ("route",), "hold began"),))
    )
    assert "call: question recorder is used by no branch" in found
    extra = DecisionSpec("route", ("recorder",), {**SPEC.branches, "wrap": ()})
    assert any("'wrap' is not both" in p for p in problems(replace(DRAFT, decision_spec=extra)))


def test_labels_are_opaque_and_depend_on_the_seed_alone() -> None:
    one, two = expand(DRAFT), expand(replace(DRAFT, seed="another"))
    assert one.option_semantics != two.option_semantics
    for q, draft in QUESTIONS.items():
        assert sorted(one.questions[q].criteria) == [
            f"K0{i}" for i in range(1, len(draft.options) + 1)
        ]
        assert set(one.option_semantics[q].values()) == set(draft.options)
        for label, text in one.questions[q].criteria.items():
            assert text.startswith(f"{one.option_semantics[q][label]}: ")


@pytest.mark.parametrize("tick", ["3", 3.5, None, True])
def test_a_tick_that_is_no_whole_number(tick: Any) -> None:
    (said,) = problems(replace(DRAFT, events=(Event(tick, "hold"),)))
    assert said == f"call: event 'hold' is at tick {tick!r}, which is no whole number"
    (said,) = problems(replace(DRAFT, changes=(Change(tick, ("route",), "why"),)))
    assert said == f"call: the change 'why' is at tick {tick!r}, which is no whole number"


@pytest.mark.parametrize(
    ("field", "value"), [("steps", 0), ("steps", 2.5), ("tick_seconds", 0), ("tick_seconds", "2")]
)
def test_sizes_that_cannot_be(field: str, value: Any) -> None:
    (said,) = problems(replace(DRAFT, **{field: value}))
    assert f"call: {field} is {value!r}" in said


def test_code_that_raises_is_named_with_its_tick() -> None:
    def odd(state: dict[str, Any]) -> dict[str, str]:
        return reference(state) if state["clock"]["now"] < 2 else {}[state["clock"]["now"]]

    def torn(events: Sequence[Event], now: int) -> dict[str, Any]:
        return project(events, now) if now < 3 else {"x": object()}

    assert problems(replace(DRAFT, reference=odd)) == [
        "call tick 2: the reference raises KeyError: 2"
    ]
    (said,) = problems(replace(DRAFT, project=torn))
    assert said.startswith("call tick 3: the projection raises TypeError")
    assert any(
        "outside 0–4" in p
        for p in problems(replace(DRAFT, events=(Event(9, "hold"),), project=torn))
    )
