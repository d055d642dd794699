"""The two presenter scenarios: structure, schedule, sizes, trivial policies and what states may show."""

from __future__ import annotations

import collections
import csv
import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.families.presenter import DRAFTS
from streamdecisionbench.families.presenter.reference import reference
from streamdecisionbench.families.presenter.rules import FREE_RULES
from streamdecisionbench.suite.authoring import Draft, expand
from streamdecisionbench.suite.constant_baselines import (
    first_option,
    lexical_overlap,
)
from streamdecisionbench.suite.scenario import Scenario, estimate_tokens

pytestmark = pytest.mark.slow

SCENARIOS = {draft.scenario_id: expand(draft) for draft in DRAFTS}

TITLES = {
    "presenter_a": "Conference talk with a demo clip and floor questions",
    "presenter_b": "Flood-barrier briefing with a clip and a mid-talk question",
}

SEGMENTS = {
    "presenter_a": (4, 5, 6, 2, 2, 3, 2, 2, 1, 1, 1, 1, 3, 3, 1, 3, 2, 3, 1, 2, 2, 2, 1, 4, 3),
    "presenter_b": (7, 2, 2, 1, 3, 5, 2, 2, 2, 2, 2, 3, 3, 2, 1, 3, 2, 2, 2, 4, 3, 1, 4),
}

RECURRING = {
    "presenter_a": [[15, 33, 37], [17, 30, 27], [22, 26, 29], [19, 28]],
    "presenter_b": [[9, 12], [11, 15], [36, 39], [42, 46]],
}
"""Ticks at which a decision begins that also begins elsewhere; all others are unique."""

HOLDING = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=list(SCENARIOS))


@HOLDING
def test_structure(scenario: Scenario) -> None:
    assert scenario.title == TITLES[scenario.scenario_id]
    assert scenario.task_family == "presenter_voice_control"
    assert (scenario.n, scenario.tick_seconds) == (60, 2.0)
    counts = {name: len(question.criteria) for name, question in scenario.questions.items()}
    assert counts == {
        "mode": 4,
        "slide": 12,
        "captions": 4,
        "clip_state": 3,
        "question_card": 5,
        "host_cue": 3,
    }
    assert scenario.decision_spec.branches == {
        "talk": ("host_cue",),
        "questions": ("question_card", "host_cue"),
        "clip": ("clip_state",),
        "closed": (),
    }
    assert scenario.decision_spec.always == ("slide", "captions")
    assert {len(decision) for decision in scenario.reference()} == {3, 4, 5}
    assert {step.gold["mode"] for step in scenario.steps} == {"talk", "questions", "clip", "closed"}


@HOLDING
def test_schedule(scenario: Scenario) -> None:
    starts = [0, *scenario.changes(), 60]
    lengths = tuple(end - start for start, end in itertools.pairwise(starts))
    assert lengths == SEGMENTS[scenario.scenario_id]


@HOLDING
def test_recurrences(scenario: Scenario) -> None:
    decisions = scenario.reference()
    found = collections.defaultdict(list)
    for tick in [0, *scenario.changes()]:
        found[json.dumps(decisions[tick])].append(tick)
    repeated = sorted(ticks for ticks in found.values() if len(ticks) > 1)
    assert repeated == sorted(sorted(ticks) for ticks in RECURRING[scenario.scenario_id])


@HOLDING
def test_same_pattern_as_published(scenario: Scenario) -> None:
    folder = os.environ.get("SDB_PUBLISHED")
    if not folder:
        pytest.skip(
            "SDB_PUBLISHED is not set: the published schedules and recordings are elsewhere"
        )
    schedules = json.loads((Path(folder) / "schedules.json").read_text())
    assert tuple(schedules["segments"][scenario.scenario_id]) == SEGMENTS[scenario.scenario_id]
    with (Path(folder) / "recordings" / "astra-low.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["episode"] == scenario.scenario_id]
    published = {int(row["t"]): row["decision"] for row in rows}
    ours = scenario.reference()
    for s, t in itertools.combinations(range(60), 2):
        assert (ours[s] == ours[t]) == (published[s] == published[t]), (s, t)


@HOLDING
def test_request_sizes(scenario: Scenario) -> None:
    sizes = [estimate_tokens(scenario.request(t)) for t in range(60)]
    assert min(sizes) >= 2000
    assert max(sizes) <= 4000


@HOLDING
def test_trivial_policies(scenario: Scenario) -> None:
    decisions = scenario.reference()
    compose = scenario.decision_spec.compose
    requests = [scenario.request(t) for t in range(60)]
    first = [compose(scenario.decode(first_option(request))) for request in requests]
    lexical = [compose(scenario.decode(lexical_overlap(request))) for request in requests]
    assert sum(a == b for a, b in zip(first, decisions, strict=True)) == 0
    assert sum(a == b for a, b in zip(lexical, decisions, strict=True)) <= 1
    most = collections.Counter(map(json.dumps, decisions)).most_common(1)[0][1]
    assert most <= 15


@pytest.mark.parametrize("draft", DRAFTS, ids=list(SCENARIOS))
def test_expansion_is_deterministic(draft: Draft) -> None:
    assert expand(draft) == SCENARIOS[draft.scenario_id] == expand(draft)


@pytest.mark.parametrize("draft", DRAFTS, ids=list(SCENARIOS))
def test_every_event_says_why(draft: Draft) -> None:
    assert all(event.note.startswith(("cause: ", "distractor: ")) for event in draft.events)
    causes = {event.at for event in draft.events if event.note.startswith("cause: ")}
    assert causes == {change.at for change in draft.changes}
    distracting = {event.at for event in draft.events if event.note.startswith("distractor: ")}
    starts = [0, *(change.at for change in draft.changes), 60]
    for start, end in itertools.pairwise(starts):
        assert end - start == 1 or distracting & set(range(start, end)), (start, end)


@pytest.mark.parametrize("draft", DRAFTS, ids=list(SCENARIOS))
def test_something_happens(draft: Draft) -> None:
    busy = sorted({-1, 60} | {event.at for event in draft.events})
    assert max(b - a - 1 for a, b in itertools.pairwise(busy)) <= 3


@HOLDING
def test_inactive_questions_are_none(scenario: Scenario) -> None:
    for step in scenario.steps:
        used = scenario.decision_spec.consumed(step.gold["mode"])
        for name, value in step.gold.items():
            assert (value == "none") == (name not in used), (step.t, name)


@HOLDING
def test_states_show_rules_and_no_future(scenario: Scenario) -> None:
    for step in scenario.steps:
        state = step.state
        assert state["rules"] == [f"{name}: {text}" for name, text in FREE_RULES.items()]
        assert state["clock"] == {"now": step.t}
        seen = [line["at"] for line in state["side_log"]] + [state["desk"]["levels_db"]["at"]]
        for entry in state["transcript"]:
            seen += [entry["onset"], entry["final_at"] or 0]
            assert entry["final_at"] is None or entry["final_at"] >= entry["onset"]
        assert max(seen) <= step.t
        onsets = [entry["onset"] for entry in state["transcript"]]
        assert onsets == sorted(onsets)


@HOLDING
def test_transcript_grows_and_finals_stand(scenario: Scenario) -> None:
    for before, after in itertools.pairwise(scenario.steps):
        old, new = before.state["transcript"], after.state["transcript"]
        assert [entry["id"] for entry in new][: len(old)] == [entry["id"] for entry in old]
        for was, now in zip(old, new, strict=False):
            assert (was["channel"], was["onset"]) == (now["channel"], now["onset"])
            if was["final_at"] is not None:
                assert was == now
        log = before.state["side_log"]
        assert after.state["side_log"][: len(log)] == log


@HOLDING
def test_texts_look_like_a_recogniser(scenario: Scenario) -> None:
    for step in scenario.steps:
        for entry in step.state["transcript"]:
            text = entry["text"]
            if entry["final_at"] is None:
                assert text == text.lower()
                assert all(char.isalpha() or char in " '" for char in text), text
            else:
                assert text[-1] in ".?!"
                assert text.strip()
    final = scenario.steps[-1].state["transcript"]
    assert all(entry["final_at"] is not None for entry in final)


@HOLDING
def test_side_log_and_desk_change_no_answer(scenario: Scenario) -> None:
    for step in scenario.steps:
        assert reference(step.state | {"side_log": [], "desk": {}}) == step.gold


def edited(state: dict[str, Any], entry: str, **fields: Any) -> dict[str, Any]:
    """The state with some fields of one transcript entry replaced."""
    copy: dict[str, Any] = json.loads(json.dumps(state))
    next(item for item in copy["transcript"] if item["id"] == entry).update(fields)
    return copy


# fmt: off
EDITS: list[tuple[str, int, str, dict[str, Any], dict[str, str]]] = [
    ("presenter_a", 2, "p2", {"text": "Next slide, please."}, {"slide": "s2"}),
    ("presenter_a", 4, "p3", {"final_at": None}, {"slide": "s1"}),
    ("presenter_a", 4, "p3", {"text": "Don't go to the next slide."}, {"slide": "s1"}),
    ("presenter_a", 4, "p2", {"text": "Slide six, please."}, {"slide": "s7"}),
    ("presenter_a", 7, "p4", {"text": "Over to our moderator."}, {}),
    ("presenter_a", 8, "p5", {"final_at": 8, "text": "Straight to slide seven, please."}, {"slide": "s7"}),
    ("presenter_a", 9, "p5", {"text": "Straight to slide seven, please."}, {"slide": "s7"}),
    ("presenter_a", 12, "p5", {"text": "Straight to slide seven, please."},
     {"slide": "s7", "mode": "clip", "clip_state": "play", "host_cue": "none"}),
    ("presenter_a", 14, "p7", {"text": "Slide four, please."}, {"slide": "s4"}),
    ("presenter_a", 15, "p8", {"text": "Let's go to slide seven, wait, no, to slide six."}, {"slide": "s6"}),
    ("presenter_a", 17, "p9", {"final_at": None}, {"mode": "talk", "clip_state": "none", "host_cue": "listen"}),
    ("presenter_a", 21, "c1", {"channel": "presenter", "text": "Next slide, please."},
     {"captions": "clip", "mode": "talk", "slide": "s8", "clip_state": "none", "host_cue": "listen"}),
    ("presenter_a", 22, "p10", {"text": "hold it"}, {"clip_state": "play"}),
    ("presenter_a", 22, "p10", {"onset": 20}, {"captions": "clip"}),
    ("presenter_a", 23, "p10", {"text": "hold it there if the"}, {"clip_state": "play"}),
    ("presenter_a", 25, "p10", {"text": "Hold it there if the picture jumps."}, {"clip_state": "play"}),
    ("presenter_a", 26, "p12", {"final_at": 26}, {"clip_state": "play"}),
    ("presenter_a", 29, "p13", {"text": "freeze the"}, {"clip_state": "play"}),
    ("presenter_a", 30, "p13", {"text": "freeze the picture"}, {"clip_state": "pause"}),
    ("presenter_a", 32, "p13", {"text": "Freeze the picture."}, {"clip_state": "pause"}),
    ("presenter_a", 33, "p14", {"final_at": None}, {"mode": "clip", "clip_state": "play", "host_cue": "none"}),
    ("presenter_a", 36, "p16", {"text": "over to our"}, {"host_cue": "listen"}),
    ("presenter_a", 37, "p16", {"text": "over to our chair"}, {"host_cue": "stand_by"}),
    ("presenter_a", 41, "p17", {"text": "Please skip to slide eleven."}, {}),
    ("presenter_a", 41, "p17", {"text": "Please skip to slide ten."}, {"slide": "s11"}),
    ("presenter_a", 44, "p19", {"text": "Back to the chair if nobody has anything else."}, {"host_cue": "listen"}),
    ("presenter_a", 45, "a2", {"channel": "presenter"}, {"captions": "host"}),
    ("presenter_a", 45, "h1", {"onset": 41}, {"host_cue": "stand_by"}),
    ("presenter_a", 46, "a3", {"onset": 45}, {"captions": "presenter", "question_card": "waiting"}),
    ("presenter_a", 46, "h1", {"text": "Thank you. If there's time left, we'll take questions."},
     {"mode": "talk", "question_card": "none"}),
    ("presenter_a", 48, "p20", {"final_at": None}, {}),
    ("presenter_a", 49, "a3", {"final_at": 47}, {"question_card": "answer"}),
    ("presenter_a", 49, "p20", {"final_at": 49}, {"question_card": "answer"}),
    ("presenter_a", 50, "p21", {"text": "Your question was how loud it is."}, {"question_card": "answer"}),
    ("presenter_a", 51, "p22", {"final_at": 51}, {"question_card": "answer"}),
    ("presenter_a", 52, "p22", {"text": "Slide three, please."}, {"question_card": "repeat"}),
    ("presenter_a", 55, "a4", {"channel": "host"}, {"captions": "host", "question_card": "answer"}),
    ("presenter_a", 57, "h3", {"final_at": None},
     {"mode": "questions", "question_card": "listening", "host_cue": "listen"}),
    ("presenter_a", 58, "p24", {"final_at": 57}, {"slide": "s1"}),
    ("presenter_b", 4, "p2", {"text": "Now the next slide, please."}, {"slide": "s5"}),
    ("presenter_b", 6, "a1", {"channel": "presenter"}, {"slide": "s5"}),
    ("presenter_b", 6, "p3", {"final_at": 6}, {"slide": "s5"}),
    ("presenter_b", 9, "p4", {"text": "On to the next slide now."},
     {"mode": "talk", "clip_state": "none", "host_cue": "listen"}),
    ("presenter_b", 9, "p4", {"text": "Let's roll the film. On to the next slide now."},
     {"mode": "talk", "clip_state": "none", "host_cue": "listen"}),
    ("presenter_b", 11, "p5", {"text": "pause the"}, {"clip_state": "play"}),
    ("presenter_b", 12, "p5", {"text": "pause the clip"}, {"clip_state": "pause"}),
    ("presenter_b", 14, "c2", {"channel": "presenter", "text": "Hold it there, please."},
     {"captions": "presenter", "clip_state": "pause"}),
    ("presenter_b", 17, "p6", {"text": "Stop the film there, wrote one of the reviewers."}, {"clip_state": "play"}),
    ("presenter_b", 18, "a2", {"channel": "presenter"}, {"clip_state": "play"}),
    ("presenter_b", 20, "h1", {"final_at": 20, "onset": 20}, {}),
    ("presenter_b", 20, "p8", {"final_at": None},
     {"mode": "clip", "slide": "s6", "clip_state": "pause", "host_cue": "none"}),
    ("presenter_b", 21, "h1", {"final_at": 21}, {"mode": "questions", "question_card": "listening"}),
    ("presenter_b", 22, "a3", {"channel": "host"}, {"mode": "questions", "question_card": "waiting"}),
    ("presenter_b", 24, "h2", {"text": "One moment. Please no questions yet."}, {"mode": "talk", "question_card": "none"}),
    ("presenter_b", 26, "a4", {"onset": 23}, {"captions": "audience", "question_card": "waiting"}),
    ("presenter_b", 26, "a4", {"onset": 24}, {}),
    ("presenter_b", 30, "a4", {"final_at": None}, {"question_card": "listening"}),
    ("presenter_b", 33, "a4", {"final_at": 33}, {"question_card": "repeat"}),
    ("presenter_b", 33, "p11", {"text": "Thank you. Last week I was asked how loud it is."}, {"question_card": "repeat"}),
    ("presenter_b", 34, "h3", {"channel": "audience"}, {"question_card": "listening", "host_cue": "stand_by"}),
    ("presenter_b", 35, "h3", {"onset": 33}, {"host_cue": "stand_by"}),
    ("presenter_b", 36, "p13", {"text": "Is slide six readable from the back?"}, {"slide": "s8"}),
    ("presenter_b", 38, "p14", {"text": "our chair has"}, {"host_cue": "listen"}),
    ("presenter_b", 39, "p15", {"channel": "audience"},
     {"captions": "audience", "question_card": "listening", "host_cue": "stand_by"}),
    ("presenter_b", 40, "p15", {"text": "Right, back to my talk. Let's roll the film."},
     {"mode": "clip", "clip_state": "play", "question_card": "none", "host_cue": "none"}),
    ("presenter_b", 42, "p16", {"text": "I don't want to return to the talk yet."},
     {"mode": "questions", "question_card": "answer"}),
    ("presenter_b", 44, "h4", {"final_at": 44}, {"mode": "closed", "host_cue": "none"}),
    ("presenter_b", 47, "p18", {"text": "Now slide two, please."}, {"slide": "s2"}),
    ("presenter_b", 48, "p19", {"channel": "audience"}, {"slide": "s6", "captions": "audience"}),
    ("presenter_b", 52, "p21", {"text": "One slide back, please."}, {"host_cue": "listen"}),
    ("presenter_b", 54, "p21", {"text": "Over to our chair."}, {"slide": "s10"}),
    ("presenter_b", 55, "h5", {"onset": 49}, {"captions": "presenter", "host_cue": "stand_by"}),
    ("presenter_b", 55, "h5", {"onset": 50}, {"captions": "presenter"}),
    ("presenter_b", 56, "h5", {"text": "The session isn't over."}, {"mode": "talk", "host_cue": "listen"}),
    ("presenter_b", 58, "h5", {"text": "The session isn't over."}, {"mode": "questions", "question_card": "waiting", "host_cue": "listen"}),
]
# fmt: on


@pytest.mark.parametrize(("scenario_id", "tick", "entry", "fields", "expected"), EDITS)
def test_minimal_edit(
    scenario_id: str, tick: int, entry: str, fields: dict[str, Any], expected: dict[str, str]
) -> None:
    """One field of one entry differs: exactly these answers differ, and no other."""
    step = SCENARIOS[scenario_id].steps[tick]
    assert reference(edited(step.state, entry, **fields)) == step.gold | expected
