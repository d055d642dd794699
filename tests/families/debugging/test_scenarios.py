"""The two timelines: schedule, sizes, baselines, and what a public state may contain."""

from __future__ import annotations

import csv
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.families.debugging import DRAFTS, RULES
from streamdecisionbench.suite.authoring import Draft, expand
from streamdecisionbench.suite.constant_baselines import (
    first_option,
    lexical_overlap,
)
from streamdecisionbench.suite.scenario import Scenario, estimate_tokens

pytestmark = pytest.mark.slow

SCENARIOS = {draft.scenario_id: expand(draft) for draft in DRAFTS}
TITLES = {
    "debugging_a": "Refund watch loop",
    "debugging_b": "Settlement integration debug session",
}
SEGMENTS = {
    "debugging_a": [3, 2, 4, 2, 3, 2, 4, 3, 2, 4, 2, 3, 2, 3, 4, 2, 2, 3, 3, 5, 2],
    "debugging_b": [1, 1, 5, 2, 2, 2, 5, 2, 2, 4, 2, 3, 4, 4, 2, 3, 2, 4, 2, 3, 2, 3],
}
RECURRENCES = {
    "debugging_a": {(2, 6), (4, 7), (13, 17), (15, 19)},
    "debugging_b": {(1, 4), (1, 6), (4, 6), (13, 21)},
}
"""Pairs of segments, counted from 0, in which the same decision comes back."""

each_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
each_draft = pytest.mark.parametrize("draft", DRAFTS, ids=SCENARIOS)


def decisions(scenario: Scenario) -> list[str]:
    return [json.dumps(decision) for decision in scenario.reference()]


def starts(scenario: Scenario) -> list[int]:
    return [0, *scenario.changes()]


@each_scenario
def test_structure(scenario: Scenario) -> None:
    assert (scenario.n, scenario.tick_seconds) == (60, 2.0)
    assert scenario.title == TITLES[scenario.episode_id]
    assert scenario.task_family == "live_debugging"
    assert len(scenario.questions) == 7
    assert len(scenario.decision_spec.branches) == 6
    options = [len(question.criteria) for question in scenario.questions.values()]
    assert (min(options), max(options)) == (2, 6)
    assert scenario.decision_spec.questions() == set(scenario.questions)
    assert {len(decision) for decision in scenario.reference()} <= set(range(2, 6))


@each_scenario
def test_inactive_questions_have_their_fixed_answer(scenario: Scenario) -> None:
    for step in scenario.steps:
        consumed = scenario.decision_spec.consumed(step.gold["route"])
        for question in set(scenario.questions) - set(consumed):
            under_way = step.gold["process"] in ("running", "stalled")
            placeholder = "stop" if under_way else "continue"
            fixed = placeholder if question == "control_action" else "none"
            assert step.gold[question] == fixed


@each_scenario
def test_segments_and_recurrences(scenario: Scenario) -> None:
    begins = starts(scenario)
    ends = [*begins[1:], scenario.n]
    name = scenario.episode_id
    assert [end - begin for begin, end in zip(begins, ends, strict=True)] == SEGMENTS[name]
    held = [decisions(scenario)[begin] for begin in begins]
    same = {(i, j) for j in range(len(held)) for i in range(j) if held[i] == held[j]}
    assert same == RECURRENCES[name]


@each_scenario
def test_published_schedule_and_pattern(scenario: Scenario) -> None:
    folder = os.environ.get("SDB_PUBLISHED")
    if not folder:
        pytest.skip("SDB_PUBLISHED is not set: it names the folder with schedules.json")
    name = scenario.episode_id
    schedule = json.loads((Path(folder) / "schedules.json").read_text(encoding="utf-8"))
    assert schedule["segments"][name] == SEGMENTS[name]
    with (Path(folder) / "recordings" / "astra-low.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["episode"] == name]
    published = [row["decision"] for row in sorted(rows, key=lambda row: int(row["t"]))]
    ours = decisions(scenario)
    for s in range(scenario.n):
        for t in range(scenario.n):
            assert (ours[s] == ours[t]) == (published[s] == published[t]), (s, t)


@each_scenario
def test_request_sizes(scenario: Scenario) -> None:
    sizes = [estimate_tokens(scenario.request(t)) for t in range(scenario.n)]
    assert min(sizes) >= 2000
    assert max(sizes) <= 4000


@each_scenario
def test_trivial_baselines_stay_trivial(scenario: Scenario) -> None:
    reference = scenario.reference()
    for policy in (first_option, lexical_overlap):
        got = [
            scenario.decision_spec.compose(scenario.decode(policy(scenario.request(t))))
            for t in range(scenario.n)
        ]
        assert sum(a == b for a, b in zip(got, reference, strict=True)) == 0
    most = Counter(decisions(scenario)).most_common(1)[0][1]
    assert most / scenario.n <= 0.25


@each_draft
def test_build_is_deterministic(draft: Draft) -> None:
    assert expand(draft) == expand(draft)


@each_draft
def test_records_come_at_irregular_ticks_and_every_one_has_a_note(draft: Draft) -> None:
    """Some ticks bring nothing, some three records; odd and even ticks bring about as many."""
    at = Counter(event.at for event in draft.events)
    quiet = set(range(60)) - set(at)
    assert 10 <= len(quiet) <= 24
    assert {t % 2 for t in quiet} == {0, 1}
    assert {1, 2, 3} <= set(at.values())
    odd = sum(n for t, n in at.items() if t % 2)
    assert 0.4 <= odd / len(draft.events) <= 0.65
    assert all(event.note.strip() for event in draft.events)
    assert all(change.because for change in draft.changes)


@each_draft
def test_every_change_has_a_cause_or_a_clock_that_runs_out(draft: Draft) -> None:
    for change in draft.changes:
        notes = [event.note for event in draft.events if event.at == change.at]
        by_clock = re.search(r"reach(es)? (the end of (its|their) grace|\d)", change.because)
        assert by_clock or any(note.startswith("cause: ") for note in notes), change


@each_scenario
def test_every_state_carries_all_rules_and_nothing_hidden(scenario: Scenario) -> None:
    for step in scenario.steps:
        assert step.state["rules"] == [f"{name}: {text}" for name, text in RULES.items()]
        assert set(step.state) == {
            "rules",
            "policy",
            "clock",
            "session",
            "runs",
            "editor",
            "saves",
            "debugger",
            "terminal",
            "messages",
        }
        assert step.state["clock"] == {"now": step.t}


def ticks_of(value: Any, key: str = "") -> Iterator[int]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from ticks_of(part, name)
    elif isinstance(value, list):
        for part in value:
            yield from ticks_of(part, key)
    elif key in {"at", "started", "ended", "since"} and value is not None:
        yield value


@each_scenario
def test_no_state_shows_the_future(scenario: Scenario) -> None:
    for step in scenario.steps:
        assert max(ticks_of(step.state)) <= step.t


@each_scenario
def test_active_runs_show_no_results(scenario: Scenario) -> None:
    for step in scenario.steps:
        for run in step.state["runs"]:
            assert ("passed" in run) == (run["ended"] is not None)
        assert sum(run["ended"] is None for run in step.state["runs"]) <= 1


@each_scenario
def test_history_only_grows_and_finals_never_change(scenario: Scenario) -> None:
    for before, after in zip(scenario.steps, scenario.steps[1:], strict=False):
        for tool in ("saves", "debugger", "terminal"):
            kept = after.state[tool][: len(before.state[tool])]
            assert kept == before.state[tool]
        for old, new in zip(before.state["runs"], after.state["runs"], strict=False):
            assert new["id"] == old["id"]
            assert new["output"][: len(old["output"])] == old["output"]
            if old["ended"] is not None:
                assert new == old
        ids = [message["id"] for message in after.state["messages"]]
        assert len(set(ids)) == len(ids)
        for old, new in zip(before.state["messages"], after.state["messages"], strict=False):
            assert (new["id"], new["at"], new["speaker"]) == (old["id"], old["at"], old["speaker"])
            assert new == old or not old["final"]
        assert len(after.state["messages"]) >= len(before.state["messages"])


@each_scenario
def test_run_counts_add_up(scenario: Scenario) -> None:
    """Narrow and module runs of a session account for the same number of tests."""
    runs = scenario.steps[-1].state["runs"]
    totals = {
        len(run["passed"]) + len(run["failed"]) + run["skipped"]
        for run in runs
        if run["scope"] != "full"
    }
    assert len(totals) == 1


@each_scenario
def test_runner_totals_agree_with_the_results(scenario: Scenario) -> None:
    """ "collected N items" and "(N)" count every test that the run then reports."""
    found = 0
    for run in scenario.steps[-1].state["runs"]:
        total = len(run["passed"]) + len(run["failed"]) + run["skipped"]
        for line in run["output"]:
            for printed in re.findall(r"collected (\d+) items|\((\d+)\)$", line["text"]):
                assert int("".join(printed)) == total, run["id"]
                found += 1
    assert found


@each_scenario
def test_a_frame_moves_only_if_its_file_was_saved(scenario: Scenario) -> None:
    """A test that fails again at a file nobody saved in between fails at the same line."""
    state = scenario.steps[-1].state
    seen: dict[tuple[str, str], tuple[str, int]] = {}
    for run in state["runs"]:
        for failed in run["failed"]:
            for frame in failed["frames"]:
                path, _, line = frame.rpartition(":")
                old, since = seen.get((failed["test"], path), (line, run["started"]))
                ticks = [save["at"] for save in state["saves"] if save["path"] == path]
                if not any(since < at <= run["started"] for at in ticks):
                    assert line == old, (run["id"], frame)
                seen[failed["test"], path] = (line, run["started"])


@each_draft
def test_a_final_goes_on_from_its_partial(draft: Draft) -> None:
    """A partial utterance breaks off between words and its final keeps the words heard so far."""
    partial: dict[str, list[str]] = {}
    for event in draft.events:
        if event.kind == "message":
            words = re.findall(r"[\w'-]+", event.data["text"].lower())
            heard = partial.pop(event.data["id"], [])
            assert words[: len(heard)] == heard, event.data["id"]
            if not event.data["final"]:
                partial[event.data["id"]] = words
    assert partial == {}


@each_scenario
def test_partial_speech_is_lower_case_and_unpunctuated(scenario: Scenario) -> None:
    for step in scenario.steps:
        for message in step.state["messages"]:
            if not message["final"]:
                assert message["text"] == message["text"].lower()
                assert message["text"][-1].isalnum()
