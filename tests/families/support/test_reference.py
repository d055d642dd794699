"""The support family as a whole: golden decisions, schedule, structure, and mutants."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.families.coverage import coverage
from streamdecisionbench.families.support import DRAFTS, RULES, reference
from streamdecisionbench.families.support.rules import INTERCOM_FREE_RULES, PAYMENT_FREE_RULES
from streamdecisionbench.suite.authoring import Event, expand
from streamdecisionbench.suite.constant_baselines import (
    first_option,
    lexical_overlap,
)
from streamdecisionbench.suite.scenario import Scenario, estimate_tokens
from streamdecisionbench.suite.suite_files import make_suite
from tests.families.cases import Case, survivors
from tests.families.support import test_free_words as free_words
from tests.families.support import test_intercom_call as intercom_call
from tests.families.support import test_payment_call as payment_call

pytestmark = pytest.mark.slow

DRAFT = {draft.scenario_id: draft for draft in DRAFTS}
SCENARIO = {name: expand(draft) for name, draft in DRAFT.items()}
BOTH = pytest.mark.parametrize("name", ["support_a", "support_b"])

GOLDEN: dict[str, list[tuple[int, str]]] = {
    "support_a": [
        (4, "service record router check_power"),
        (4, "payment record choose_card unknown"),
        (4, "payment record collect household"),
        (8, "payment pause collect household"),
        (2, "service pause connection run_test"),
        (3, "service record connection wait_test"),
        (2, "service record connection escalate_line"),
        (2, "payment pause ask_consent household"),
        (4, "hold pause wait"),
        (1, "hold pause return_customer"),
        (2, "service record router confirm_online"),
        (4, "payment record collect household"),
        (2, "payment pause collect company"),
        (2, "payment pause submit company"),
        (2, "payment pause ask_consent company"),
        (2, "payment pause submit company"),
        (2, "payment record wait company"),
        (1, "payment record result company"),
        (1, "payment pause result company"),
        (2, "payment record result company"),
        (2, "payment record ask_consent household"),
        (2, "service record router confirm_online"),
        (2, "wrap stop"),
    ],
    "support_b": [
        (2, "delivery none doorplate wait"),
        (4, "delivery email doorplate wait"),
        (2, "delivery email keypad check_tracking"),
        (4, "delivery email keypad correct_address"),
        (4, "cancel email keypad cancel_request"),
        (2, "cancel email keypad explain_refusal"),
        (2, "delivery email doorplate wait"),
        (2, "delivery email doorplate open_case"),
        (2, "delivery email doorplate confirm_delivery"),
        (4, "cancel email keypad confirm_cancelled"),
        (4, "repair email hall_screen diagnose"),
        (2, "repair email gate_unit diagnose"),
        (2, "repair email gate_unit await_result"),
        (2, "repair email gate_unit explain_clear"),
        (2, "repair email hall_screen book_visit"),
        (2, "repair phone hall_screen book_visit"),
        (2, "repair phone hall_screen send_part"),
        (4, "hold_wait phone"),
        (1, "hold_return phone"),
        (2, "repair phone gate_unit request_access"),
        (2, "repair phone gate_unit remote_check"),
        (1, "repair none gate_unit remote_check"),
        (2, "repair none gate_unit await_result"),
        (2, "repair sms gate_unit book_visit"),
        (2, "closed sms"),
    ],
}
"""Segment lengths and composed decisions, read off the timelines by hand."""

OPTIONS = {
    "support_a": {"questions": 7, "routes": 4, "fewest": 3, "most": 7, "changes": 22},
    "support_b": {"questions": 7, "routes": 6, "fewest": 3, "most": 8, "changes": 24},
}
TITLES = {
    "support_a": "Payment, reconnection and recorder control",
    "support_b": "Intercom delivery, cancellation and repair guidance",
}


def golden(name: str) -> list[dict[str, str]]:
    """The golden decision of every tick, with the question ids put back."""
    spec = SCENARIO[name].decision_spec
    ticks = []
    for length, text in GOLDEN[name]:
        values = text.split()
        ticks += [dict(zip(spec.consumed(values[0]), values, strict=True))] * length
    return ticks


@BOTH
def test_golden_decisions(name: str) -> None:
    assert SCENARIO[name].reference() == golden(name)


@BOTH
def test_segment_lengths(name: str) -> None:
    changes = SCENARIO[name].changes()
    assert [b - a for a, b in pairwise([0, *changes, 60])] == [n for n, _ in GOLDEN[name]]


@BOTH
def test_schedule_and_recurrence_match_the_published_ones(name: str) -> None:
    folder = os.environ.get("SDB_PUBLISHED")
    if not folder:
        pytest.skip("SDB_PUBLISHED is not set: the published schedule is not at hand")
    segments = json.loads((Path(folder) / "schedules.json").read_text())["segments"][name]
    assert segments == [n for n, _ in GOLDEN[name]]
    with (Path(folder) / "recordings" / "astra-low.csv").open() as file:
        theirs = [row["decision"] for row in csv.DictReader(file) if row["episode"] == name]
    ours = SCENARIO[name].reference()
    assert len(theirs) == 60
    for s in range(60):
        for t in range(60):
            assert (ours[s] == ours[t]) == (theirs[s] == theirs[t]), (s, t)


@BOTH
def test_structure(name: str) -> None:
    scenario, want = SCENARIO[name], OPTIONS[name]
    counts = [len(q.criteria) for q in scenario.questions.values()]
    assert (scenario.n, scenario.tick_seconds) == (60, 2.0)
    assert (scenario.title, scenario.task_family) == (TITLES[name], "support_call_assist")
    assert len(scenario.questions) == want["questions"]
    assert len(scenario.questions["route"].criteria) == want["routes"]
    assert (min(counts), max(counts)) == (want["fewest"], want["most"])
    assert len(scenario.changes()) == want["changes"]
    assert {len(d) for d in scenario.reference()} <= {2, 3, 4, 5}
    assert set(scenario.questions) == scenario.decision_spec.questions()


@BOTH
def test_all_routes_are_visited(name: str) -> None:
    scenario = SCENARIO[name]
    assert {d["route"] for d in scenario.reference()} == set(scenario.decision_spec.branches)


@BOTH
def test_inactive_questions_are_answered_none(name: str) -> None:
    scenario = SCENARIO[name]
    for step in scenario.steps:
        consumed = scenario.decision_spec.consumed(step.gold["route"])
        assert {step.gold[q] for q in scenario.questions if q not in consumed} <= {"none"}


@BOTH
def test_building_twice_gives_the_same(name: str) -> None:
    assert expand(DRAFT[name]) == SCENARIO[name]


@BOTH
def test_request_sizes(name: str) -> None:
    sizes = [estimate_tokens(SCENARIO[name].request(t)) for t in range(60)]
    assert min(sizes) >= 2000
    assert max(sizes) <= 4000


def right(scenario: Scenario, policy: Any) -> int:
    """Ticks at which a trivial policy composes the reference decision."""
    reference, spec = scenario.reference(), scenario.decision_spec
    return sum(
        spec.compose(scenario.decode(policy(scenario.request(t)))) == reference[t]
        for t in range(scenario.n)
    )


@BOTH
def test_trivial_baselines_stay_trivial(name: str) -> None:
    scenario = SCENARIO[name]
    assert right(scenario, first_option) == 0
    assert right(scenario, lexical_overlap) <= 1
    most = Counter(json.dumps(d) for d in scenario.reference()).most_common(1)[0][1]
    assert most <= 15


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for k, v in value.items():
            yield from leaves(v, k)
    elif isinstance(value, list):
        for v in value:
            yield from leaves(v, key)
    else:
        yield key, value


@BOTH
def test_states_show_rules_clock_and_no_future(name: str) -> None:
    rules = PAYMENT_FREE_RULES if name == "support_a" else INTERCOM_FREE_RULES
    for step in SCENARIO[name].steps:
        assert step.state["rules"] == rules
        assert step.state["clock"] == {"now": step.t}
        for key, value in leaves(step.state):
            if value is not None and (key in ("at", "now") or key.endswith(("since", "_at"))):
                assert value <= step.t, (step.t, key)


@BOTH
def test_no_authors_note_reaches_a_state(name: str) -> None:
    notes = [e.note for e in DRAFT[name].events] + [c.because for c in DRAFT[name].changes]
    last = json.dumps(SCENARIO[name].request(59), ensure_ascii=False)
    assert not [note for note in notes if note in last]
    assert "cause:" not in last
    assert "distractor" not in last


@BOTH
def test_finals_stand_and_ids_persist(name: str) -> None:
    for old, new in pairwise(SCENARIO[name].steps):
        was, now = old.state["transcript"], new.state["transcript"]
        assert [u["id"] for u in was] == [u["id"] for u in now[: len(was)]]
        for before, after in zip(was, now, strict=False):
            assert before["speaker"] == after["speaker"]
            if before["final"]:
                assert before == after
        assert len({u["id"] for u in now}) == len(now)
        for feed in ("log", "carrier_callbacks", "permission_log"):
            history = old.state.get(feed, [])
            assert new.state.get(feed, [])[: len(history)] == history


@BOTH
def test_every_partial_ends_final_and_is_lower_case(name: str) -> None:
    assert all(u["final"] for u in SCENARIO[name].steps[-1].state["transcript"])
    partials = [e for e in DRAFT[name].events if e.kind == "say" and not e.data["final"]]
    assert partials
    assert all(e.data["text"] == e.data["text"].lower() for e in partials)


@BOTH
def test_something_happens_at_nearly_every_tick(name: str) -> None:
    draft = DRAFT[name]
    ticks = sorted({e.at for e in draft.events})
    assert max(b - a for a, b in pairwise(ticks)) <= 4
    assert len(ticks) >= 50
    assert all(e.note.startswith(("cause: ", "distractor: ", "ahead: ")) for e in draft.events)


@BOTH
def test_ticks_without_a_change_hold_only_distractors(name: str) -> None:
    """An event called a cause happens where a change is declared (or opens the call)."""
    draft = DRAFT[name]
    changes = {0, *(c.at for c in draft.changes)}
    assert {e.at for e in draft.events if e.note.startswith("cause: ")} <= changes


def test_no_more_than_a_short_prefix_of_digits() -> None:
    for scenario in SCENARIO.values():
        for step in scenario.steps:
            for utterance in step.state["transcript"]:
                assert reference._digit_row(utterance["text"]) <= 6


def later_decisions(name: str, event: Event) -> list[bool]:
    """From the event's tick on: is the decision without it the one the scenario has?"""
    draft, reference = DRAFT[name], SCENARIO[name].reference()
    rest = tuple(e for e in draft.events if e is not event)
    same = []
    for t in range(event.at, draft.steps):
        state = draft.project(tuple(e for e in rest if e.at <= t), t)
        same.append(draft.decision_spec.compose(draft.reference(state)) == reference[t])
    return same


def leaves_a_partial_behind(name: str, event: Event) -> bool:
    """Without its final a partial would stay live."""
    texts = [e for e in DRAFT[name].events if e.data.get("id") == event.data.get("id", "-")]
    return bool(event.data.get("final")) and len(texts) > 1


@BOTH
def test_taking_away_a_distractor_changes_nothing(name: str) -> None:
    for event in DRAFT[name].events:
        if event.note.startswith("distractor: ") and not leaves_a_partial_behind(name, event):
            assert all(later_decisions(name, event)), event


@BOTH
def test_what_is_done_ahead_changes_something_later(name: str) -> None:
    ahead = [e for e in DRAFT[name].events if e.note.startswith("ahead: ")]
    assert len(ahead) >= 3
    for event in ahead:
        same = later_decisions(name, event)
        assert same[0], event
        assert not all(same), event


# --- mutants and documentation --------------------------------------------------------------------


def stored(name: str) -> list[Case]:
    decisions = golden(name)
    return [Case(f"{name} tick {s.t}", s.state, decisions[s.t]) for s in SCENARIO[name].steps]


def test_no_mutant_survives() -> None:
    written = [*payment_call.CASES, *intercom_call.CASES, *free_words.CASES]
    assert (
        survivors(reference, "reference", [*written, *stored("support_a"), *stored("support_b")])
        == []
    )


def test_every_rule_decides_every_option_answers_every_misreading_shows() -> None:
    (found,) = coverage(make_suite(list(SCENARIO.values()), name="support calls")).values()
    assert {"A03_intents", "B03_intents"} <= set(found.rules)
    assert found.undecided() == []
    assert found.unanswered() == []
    assert [(m.rule, m.what) for m in found.unnoticed()] == []


def test_every_rule_is_pinned_and_documented() -> None:
    pinned = {
        r for c in (*payment_call.CASES, *intercom_call.CASES, *free_words.CASES) for r in c.rules
    }
    page = (Path(__file__).parents[3] / "docs" / "families" / "support.md").read_text()
    assert pinned == set(RULES)
    assert not [rule for rule in RULES if f"`{rule}`" not in page]
