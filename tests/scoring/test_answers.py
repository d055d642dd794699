"""Without a clock: single answers, mistakes with their evidence, and quantiles of latency."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from streamdecisionbench.recording.event_log import Release, Response
from streamdecisionbench.recording.recording import Episode, Recording
from streamdecisionbench.scoring.answer_accuracy import (
    AnswerScore,
    answer_score,
    mean_answers,
    mistakes,
)
from streamdecisionbench.scoring.latency import latency
from streamdecisionbench.scoring.score import score
from streamdecisionbench.suite.scenario import (
    SCHEMA_VERSION,
    DecisionSpec,
    Question,
    Scenario,
    Step,
    Suite,
)
from streamdecisionbench.suite.suite_files import make_suite

GOLD = (
    {"route": "pay", "card": "visa", "hold": "none"},
    {"route": "pay", "card": "debit", "hold": "none"},
    {"route": "wait", "card": "none", "hold": "check"},
    {"route": "wait", "card": "none", "hold": "none"},
)
GIVEN = (
    {"route": "pay", "card": "visa", "hold": "none"},  # all right
    {"route": "pay", "card": "debit", "hold": "check"},  # wrong only where it is ignored
    {"route": "wait", "card": "none", "hold": "none"},  # the consumed hold is wrong
    {"route": "pay", "card": "none", "hold": "none"},  # the route is wrong
)
OPTIONS = {
    "route": ("pay", "wait"),
    "card": ("visa", "debit", "none"),
    "hold": ("check", "none"),
}


def scenario(name: str, family: str) -> Scenario:
    semantics = {
        q: {f"K{k:02}": value for k, value in enumerate(values, start=1)}
        for q, values in OPTIONS.items()
    }
    return Scenario(
        schema_version=SCHEMA_VERSION,
        episode_id=name,
        task_family=family,
        scenario_id=name,
        title=name,
        tick_seconds=2.0,
        questions={
            q: Question("choice", q, {label: f"{v}: {v}" for label, v in labels.items()})
            for q, labels in semantics.items()
        },
        option_semantics=semantics,
        decision_spec=DecisionSpec("route", (), {"pay": ("card",), "wait": ("hold",)}),
        steps=tuple(
            Step(t=t, state={"now": t}, gold=gold, evidence=(f"note {t}",))
            for t, gold in enumerate(GOLD)
        ),
    )


def recording(suite: Suite, given: dict[str, tuple[dict[str, str], ...]]) -> Recording:
    episodes = {}
    for name, answers in given.items():
        spec = suite.scenarios[name].decision_spec
        responses = tuple(
            Response(
                episode_id=name,
                t=t,
                release_s=2.0 * t,
                request_hash="",
                ok=True,
                accepted=True,
                started_s=2.0 * t,
                received_s=2.0 * t + 0.5,
                pred=pred,
                completed_s=2.0 * t + 0.5,
                actual_recorded_s=2.0 * t + 0.5,
                accepted_s=2.0 * t + 0.5,
                decision=spec.compose(pred),
            )
            for t, pred in enumerate(answers)
        )
        releases = tuple(Release(name, t, 2.0 * t, 2.0 * t) for t in range(len(answers)))
        episodes[name] = Episode(name, releases, (), responses)
    run = {"dataset_manifest": {"dataset_hash": suite.dataset_hash}}
    return Recording("made", run, episodes)


@pytest.fixture
def suite() -> Suite:
    return make_suite([scenario("one", "f"), scenario("two", "f"), scenario("three", "g")])


@pytest.fixture
def made(suite: Suite) -> Recording:
    return recording(suite, {"one": GIVEN, "two": GOLD, "three": GIVEN})


def test_one_scenario_by_hand(made: Recording, suite: Suite) -> None:
    assert answer_score(made, suite.scenarios["one"]) == AnswerScore(
        states=4,
        exact_match=1 / 4,
        per_question={"route": 3 / 4, "card": 1.0, "hold": 2 / 4},
        active_question=6 / 8,
        inactive_only_errors=1,
    )


def test_family_is_a_mean_of_scenarios_and_the_whole_of_families(
    made: Recording, suite: Suite
) -> None:
    found = score(made, suite)
    family, whole = found.answers_at("f"), found.answers_at()
    assert family
    assert whole
    assert family.exact_match == pytest.approx((1 / 4 + 1) / 2)
    assert whole.exact_match == pytest.approx(((1 / 4 + 1) / 2 + 1 / 4) / 2)
    assert whole.active_question == pytest.approx((7 / 8 + 6 / 8) / 2)
    assert whole.per_question == pytest.approx({"route": 13 / 16, "card": 1.0, "hold": 5 / 8})
    assert (whole.states, whole.inactive_only_errors) == (12, 2)
    assert found.answers_at("one") == (found.answers or {})["one"]


def test_what_is_unknown_somewhere_is_unknown_in_the_mean(made: Recording, suite: Suite) -> None:
    one = answer_score(made, suite.scenarios["one"])
    blind = replace(one, exact_match=None, per_question=None, inactive_only_errors=None)
    mean = mean_answers([(0.5, one), (0.5, blind)])
    assert (mean.exact_match, mean.per_question, mean.inactive_only_errors) == (None, None, None)
    assert mean.active_question == one.active_question


def test_mistakes_are_wrong_decisions_with_their_evidence(made: Recording, suite: Suite) -> None:
    found = [m for m in mistakes(made, suite) if m.episode_id == "one"]
    assert [(m.t, m.expected, m.answered, m.evidence) for m in found] == [
        (2, {"route": "wait", "hold": "check"}, {"route": "wait", "hold": "none"}, ("note 2",)),
        (3, {"route": "wait", "hold": "none"}, {"route": "pay", "card": "none"}, ("note 3",)),
    ]
    assert not [m for m in mistakes(made, suite) if m.episode_id == "two"]


def test_latency_quantiles_are_numpys(made: Recording) -> None:
    draw = np.random.default_rng(4)
    for episode in made.episodes.values():
        service = draw.lognormal(size=len(episode.responses))
        slower = tuple(
            msgspec.structs.replace(r, completed_s=r.started_s + float(s))
            for r, s in zip(episode.responses, service, strict=True)
        )
        found = latency([replace(episode, responses=slower)])
        expected = np.percentile([r.service_s for r in slower], [50, 95, 99])
        assert (found.p50, found.p95, found.p99) == pytest.approx(tuple(expected), abs=1e-12)
