"""Rows for fine-tuning: the very requests of the providers, from the train split alone."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from streamdecisionbench.components.contract import Request
from streamdecisionbench.components.providers.openai import chat_body
from streamdecisionbench.components.training_rows import training_rows
from streamdecisionbench.errors import InputError
from streamdecisionbench.families.sdb_v1 import build
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import write_suite
from streamdecisionbench.worlds.generate import generate
from streamdecisionbench.worlds.generation.parameters import Parameters
from tests.cli.command import sdb

WANTED = Parameters(
    seed=4, families=("live_debugging",), per_family=1, steps=30, changes=8, split="train"
)


@pytest.fixture(scope="module")
def learned() -> Suite:
    return generate(WANTED, tell=lambda _: None)


@pytest.fixture(scope="module")
def measured() -> Suite:
    return generate(msgspec.structs.replace(WANTED, split="eval"), tell=lambda _: None)


def test_chat_rows_are_the_conversation_of_the_provider(learned: Suite) -> None:
    (scenario,) = learned
    rows = list(training_rows(learned, "chat"))
    assert len(rows) == scenario.n
    for step, row in zip(scenario.steps, rows, strict=True):
        *asked, reply = row["messages"]
        request = Request(step.state, scenario.wire_questions())
        assert asked == chat_body("any", request)["messages"]
        assert reply["role"] == "assistant"
        assert scenario.decode(json.loads(reply["content"])) == step.gold


def test_systemone_rows_are_request_and_answers(learned: Suite) -> None:
    (scenario,) = learned
    for step, row in zip(scenario.steps, training_rows(learned, "systemone"), strict=True):
        assert {"state": row["state"], "questions": row["questions"]} == scenario.request(step.t)
        assert list(row["answers"]) == list(scenario.questions)
        labels = {name: answer["choice"] for name, answer in row["answers"].items()}
        assert scenario.decode(labels) == step.gold


def test_what_scores_are_measured_on_is_refused(learned: Suite, measured: Suite) -> None:
    with pytest.raises(InputError, match="is no training data"):
        list(training_rows(build(), "chat"))
    with pytest.raises(InputError, match="is of the eval split"):
        list(training_rows(measured, "chat"))
    forged = msgspec.structs.replace(measured, manifest=learned.manifest)
    with pytest.raises(InputError, match="says it is of the train split, but debugging_"):
        list(training_rows(forged, "chat"))


def test_as_typed(learned: Suite, measured: Suite, tmp_path: Path) -> None:
    write_suite(learned, tmp_path / "learned")
    write_suite(measured, tmp_path / "measured")
    out = tmp_path / "rows.jsonl"
    command = ("suite", "export", "--data", tmp_path / "learned", "--out", out)
    done = sdb(*command, "--format", "chat")
    assert done.returncode == 0, done.stderr
    assert "30 rows for chat" in done.stdout
    lines = out.read_text().splitlines()
    assert [list(json.loads(line)) for line in lines] == [["messages"]] * 30
    before = out.read_bytes()
    again = sdb(*command, "--format", "systemone")
    assert again.returncode == 2
    assert "exists already" in again.stderr
    assert out.read_bytes() == before
    for data in (("--data", tmp_path / "measured"), ()):
        refused = sdb("suite", "export", *data, "--format", "chat", "--out", tmp_path / "no.jsonl")
        assert refused.returncode == 2
        assert "could no longer be measured by it" in refused.stderr
        assert "--split train" in refused.stderr
        assert not (tmp_path / "no.jsonl").exists()
    unknown = sdb("suite", "export", "--format", "csv", "--out", tmp_path / "no.csv")
    assert unknown.returncode == 2
    assert "choose from files, chat, systemone" in unknown.stderr
