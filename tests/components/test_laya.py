"""`laya:` in this process, Laya's own server behind `systemone:`, and rows its training reads.

The package's weights are not at hand: a checkpoint of three random layers takes their place.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from streamdecisionbench.components.contract import Fatal, Options, Request
from streamdecisionbench.components.registry import create
from streamdecisionbench.components.training_rows import training_rows
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.episode import Member
from streamdecisionbench.recording.recorder import audit
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
)
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import make_suite, write_suite
from streamdecisionbench.worlds.generate import generate
from streamdecisionbench.worlds.generation.parameters import Parameters
from tests.components.laya_checkpoint import make_checkpoint
from tests.components.processes import process, script
from tests.components.protocols import asked_once
from tests.components.servers import unused_port
from tests.recording.recorder_kit import small_scenario, suite_folder
from tests.recording.test_preparation import LATE, growing_suite, recorded

needs_laya = pytest.mark.skipif(
    importlib.util.find_spec("laya") is None or importlib.util.find_spec("torch") is None,
    reason="the package laya, which needs torch, is not installed",
)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory, sdb_v1: Suite) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("laya") / "tiny", sdb_v1)


def run_of(component: str, out: Path, data: Path, **more: Any) -> RunOptions:
    return RunOptions.of(components={None: component}, out=out, data=data, **more)


@needs_laya
def test_states_of_the_suite_are_answered_in_process(checkpoint: Path, sdb_v1: Suite) -> None:
    component = create(f"laya:{checkpoint}")
    assert component.info.settings["max_len"] == 8192
    assert component.info.settings["head_max_len"] == 1024
    assert component.info.settings["sha256"]
    assert str(checkpoint.parent) not in repr(component.info)
    for name in ("support_a", "presenter_a"):
        scenario = sdb_v1.scenarios[name]
        answer = asked_once(component, Request(**scenario.request(3)))
        assert set(answer.labels) == set(scenario.questions)
        assert answer.probabilities is not None
        assert answer.usage is not None
        assert answer.usage.input_tokens > 500
        assert scenario.decision_spec.compose(scenario.decode(answer.labels))


@needs_laya
def test_a_pass_is_audited_warmed_up_and_diagnosed(checkpoint: Path, tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite", steps=3)
    request = run_of(f"laya:{checkpoint}", tmp_path / "out", data, clock="virtual")
    (outcome,) = launch(request, lambda estimates: True)
    assert outcome.status == "complete"
    record = recorded(tmp_path / "out")
    found = record["preparation"]["component"]
    assert found["audit"]["counted_by"] == "laya"
    assert found["audit"]["requests"] == 3
    assert found["audit"]["context"] == 8192
    assert [w["ok"] for w in found["warmups"]] == [True] * 3
    said = record["diagnostics"]["component"]
    assert said["state_tokens"]["count"] == 3
    assert said["device"] == {"cpu": 3}
    assert record["environment"]["versions"]["laya"]


@needs_laya
def test_the_audit_counts_what_the_package_counts(checkpoint: Path, sdb_v1: Suite) -> None:
    """One row of one question: the tokens of the audit are those of the package's own usage."""
    scenario = sdb_v1.scenarios["assembly_a"]
    name, question = next(iter(scenario.wire_questions().items()))
    request = Request(scenario.steps[9].state, {name: question})

    async def both() -> tuple[int, int]:
        component = create(f"laya:{checkpoint}", Options(extra={"head_max_len": "4096"}))
        await component.open()
        size = await component.size(request)  # type: ignore[attr-defined]
        used = (await component.answer(request)).usage
        await component.close()
        return size.tokens, used.input_tokens if used else 0

    audited, used = asyncio.run(both())
    assert audited == used


@needs_laya
def test_the_whole_suite_fits_the_lengths_of_the_paper(checkpoint: Path, sdb_v1: Suite) -> None:
    async def sized() -> dict[str, Any]:
        component = create(f"laya:{checkpoint}")
        await component.open()
        try:
            return await audit(Member(component), list(sdb_v1))
        finally:
            await component.close()

    found = asyncio.run(sized())
    assert (found["requests"], found["exact"], found["context"]) == (480, True, 8192)


@needs_laya
def test_a_late_overflow_is_refused_before_the_first_state(
    checkpoint: Path, tmp_path: Path
) -> None:
    write_suite(growing_suite(), tmp_path / "suite")
    request = run_of(
        f"laya:{checkpoint}", tmp_path / "out", tmp_path / "suite",
        clock="virtual", extra={"max_len": "1024"},
    )  # fmt: skip
    with pytest.raises(InputError) as raised:
        launch(request, lambda estimates: True)
    assert raised.value.where == f"long_a step {LATE}"
    assert "context holds 1,024" in str(raised.value)
    assert not (tmp_path / "out").exists()


@needs_laya
def test_an_option_that_would_be_cut_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    """The package keeps 48 tokens of an option and says nothing."""
    scenario = small_scenario("wordy_a")
    route = scenario.questions["route"]
    wordy = {label: f"{text} {'and so on ' * 40}" for label, text in route.criteria.items()}
    changed = {**scenario.questions, "route": replace(route, criteria=wordy)}
    write_suite(make_suite([replace(scenario, questions=changed)], name="w"), tmp_path / "suite")
    request = run_of(f"laya:{checkpoint}", tmp_path / "out", tmp_path / "suite", clock="virtual")
    with pytest.raises(InputError, match=r"options of route have .* tokens, and the package keeps"):
        launch(request, lambda estimates: True)


def serve(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("LAYA_EXTRA_MODELS", json.dumps({"tiny": str(checkpoint)}))
    for name, value in (("DEVICE", "cpu"), ("HOST", "127.0.0.1"), ("MODELS", "tiny")):
        monkeypatch.setenv(f"LAYA_{name}", value)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("LAYA_PORT", port := str(unused_port()))
    return process([script("laya-serve") or ""], url=f"http://127.0.0.1:{port}")


@needs_laya
def test_laya_serve_answers_systemone(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TYPESAFE_API_KEY", raising=False)
    data = suite_folder(tmp_path / "suite", tick=0.2)
    with serve(checkpoint, monkeypatch) as url:
        request = run_of(
            "systemone:tiny", tmp_path / "out", data, base_urls={None: url}, timeout_s=60.0
        )
        (outcome,) = launch(request, lambda estimates: True)
    assert outcome.status == "complete"
    assert outcome.summary["responses"] == outcome.summary["attempts"] == 6
    record = recorded(tmp_path / "out")
    assert [w["ok"] for w in record["preparation"]["component"]["warmups"]] == [True] * 3
    assert record["diagnostics"]["component"]["state_tokens_dropped"]["most"] == 0


@needs_laya
def test_a_state_that_laya_serve_cut_is_no_answer(
    sdb_v1: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has no endpoint that counts; its reply says what it did."""
    monkeypatch.delenv("TYPESAFE_API_KEY", raising=False)
    short = make_checkpoint(tmp_path / "short", sdb_v1, max_len=1100)
    request = Request(**sdb_v1.scenarios["support_a"].request(40))
    with serve(short, monkeypatch) as url:
        component = create("systemone:tiny", Options(base_url=url, timeout_s=60.0))
        with pytest.raises(Fatal) as raised:
            asked_once(component, request)
    assert raised.value.error_type == "truncated_input"


LESSON = Parameters(
    seed=4, families=("live_debugging",), per_family=1, steps=30, changes=8, split="train"
)


def test_rows_name_the_expected_label_of_every_question() -> None:
    suite = generate(LESSON, tell=lambda _: None)
    (scenario,) = suite
    rows = list(training_rows(suite, "laya"))
    for step, row in zip(scenario.steps, rows, strict=True):
        assert set(row) == {"state", "questions", "expected"}
        assert scenario.decode(row["expected"]) == step.gold


@needs_laya
def test_fresh_streams_fine_tune_a_checkpoint_that_runs(checkpoint: Path, tmp_path: Path) -> None:
    """Train streams → laya's own training → a checkpoint → a recording."""
    from laya.train import TrainConfig, finetune

    suite = generate(LESSON, tell=lambda _: None)
    rows = list(training_rows(suite, "laya"))[:6]
    lessons = tmp_path / "lessons.jsonl"
    lessons.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = TrainConfig(epochs=1, micro_batch=4, grad_accum=1, calib_max=4, amp=False)
    finetune(str(lessons), str(checkpoint), str(tmp_path / "tuned"), config, device="cpu")
    data = suite_folder(tmp_path / "suite", steps=2)
    request = run_of(f"laya:{tmp_path / 'tuned'}", tmp_path / "out", data, clock="virtual")
    (outcome,) = launch(request, lambda estimates: True)
    assert outcome.status == "complete"


def test_a_folder_without_a_checkpoint_is_told(tmp_path: Path) -> None:
    pytest.importorskip("laya")
    with pytest.raises(InputError, match=r"no rl_agent_config.json"):
        create(f"laya:{tmp_path}")
