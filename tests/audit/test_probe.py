"""The learned probe: it finds a leak where there is one, and little where there is none."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import msgspec
import pytest

from streamdecisionbench.audit.probe import LIMIT, measure, train
from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.scenario import Scenario, Step
from streamdecisionbench.suite.suite_files import write_suite
from streamdecisionbench.worlds.generate import generate
from streamdecisionbench.worlds.generation.parameters import Parameters
from tests.cli.command import sdb

pytestmark = pytest.mark.slow

pytest.importorskip("sklearn")

FAMILY = "presenter_voice_control"


@cache
def scenarios(split: str, n: int) -> tuple[Scenario, ...]:
    wanted = Parameters(seed=5, families=(FAMILY,), per_family=n, steps=30, changes=10, split=split)
    return tuple(generate(wanted, tell=lambda _: None))


def with_a_leak(scenario: Scenario) -> Scenario:
    """The same states, but the side log says what is right."""

    def told(step: Step) -> Step:
        line = {"source": "leak", "text": " ".join(f"{q}_is_{v}" for q, v in step.gold.items())}
        log = [*step.state["side_log"], line]
        return msgspec.structs.replace(step, state={**step.state, "side_log": log})

    return msgspec.structs.replace(scenario, steps=tuple(map(told, scenario.steps)))


def test_what_can_be_had_without_rules_is_little() -> None:
    found = measure(train(scenarios("train", 6)), scenarios("eval", 2))
    assert found.states == 60
    assert found.composed < LIMIT
    assert not found.leaks
    assert set(found.questions) == set(scenarios("eval", 2)[0].questions)


def test_a_leak_is_found() -> None:
    probe = train([with_a_leak(s) for s in scenarios("train", 6)])
    found = measure(probe, [with_a_leak(s) for s in scenarios("eval", 2)])
    assert found.leaks
    assert sum(share > 0.9 for share in found.questions.values()) >= 4
    assert min(found.questions.values()) > 0.75


def test_the_same_scenarios_teach_the_same() -> None:
    first, second = (train(scenarios("train", 3)) for _ in range(2))
    (scenario, *_) = scenarios("eval", 2)
    assert first.answers(scenario) == second.answers(scenario)


def test_accuracy_is_what_counting_says() -> None:
    probe = train(scenarios("train", 3))
    (scenario, *_) = scenarios("eval", 2)
    right = [
        scenario.decision_spec.compose(answers) == decision
        for answers, decision in zip(probe.answers(scenario), scenario.reference(), strict=True)
    ]
    assert measure(probe, [scenario]).composed == sum(right) / len(right)


def test_a_question_counts_where_it_is_asked() -> None:
    wanted = Parameters(
        seed=5, families=("support_call_assist",), per_family=4, steps=30, changes=10, split="train"
    )
    calls = list(generate(wanted, tell=lambda _: None))
    probe = train(calls)
    found = measure(probe, calls)
    for question, share in found.questions.items():
        told = [
            answers[question] == step.gold[question]
            for call in calls
            if question in call.questions
            for step, answers in zip(call.steps, probe.answers(call), strict=True)
        ]
        assert share == sum(told) / len(told)
    assert set(calls[0].questions) != set(calls[1].questions)


def test_one_family_at_a_time() -> None:
    other = generate(Parameters(seed=1, families=("live_debugging",), per_family=1))
    with pytest.raises(InputError, match="one family at a time"):
        train([*scenarios("train", 3), *other])


def test_as_typed(tmp_path: Path) -> None:
    command = ("audit", "probe", "--families", FAMILY, "--train", "3", "--test", "1")
    done = sdb(*command)
    assert done.returncode == 0, done.stderr
    assert "Untimed accuracy of a learned shallow probe" in done.stdout
    assert "SDB v1" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    wanted = Parameters(seed=9, families=(FAMILY,), per_family=1, split="train")
    write_suite(generate(wanted, tell=lambda _: None), tmp_path / "train")
    wrong = sdb(*command, "--data", tmp_path / "train")
    assert wrong.returncode == 2
    assert "is of the train split" in wrong.stderr
    write_suite(generate(msgspec.structs.replace(wanted, split="eval")), tmp_path / "eval")
    found = json.loads(sdb(*command, "--data", tmp_path / "eval", "--json").stdout)
    assert found["schema"] == "sdb-audit-probe/1"
    assert list(found["families"][FAMILY]) == ["SDB v1", "eval"]
    assert found["families"][FAMILY]["eval"]["states"] == 60


def test_too_little_to_learn_from_is_refused() -> None:
    done = sdb("audit", "probe", "--train", "1")
    assert done.returncode == 2
    assert "at least 3" in done.stderr
