from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from streamdecisionbench.components.contract import Options, check_answer
from streamdecisionbench.components.registry import create
from streamdecisionbench.errors import InputError
from tests.components.protocols import REQUEST


def labels(name: str, seed: int = 0, request_hash: str = "") -> dict[str, str]:
    component = create(f"baseline:{name}", Options(seed=seed))
    assert component.info.in_process
    answer = asyncio.run(component.answer(replace(REQUEST, request_hash=request_hash)))
    check_answer(answer, REQUEST.questions)
    return dict(answer.labels)


def test_what_each_answers() -> None:
    assert labels("first-option") == {"mode": "K03", "captions": "K02"}
    assert labels("lexical-overlap")["mode"] == "K01"  # "questions" is in the state
    assert labels("constant") == {"mode": "K01", "captions": "K01"}


def test_random_is_the_same_for_the_same_request_and_seed() -> None:
    draws = [labels("random", request_hash=f"request {n}") for n in range(40)]
    assert draws == [labels("random", request_hash=f"request {n}") for n in range(40)]
    assert {draw["mode"] for draw in draws} == {"K01", "K02", "K03"}
    assert draws != [labels("random", seed=1, request_hash=f"request {n}") for n in range(40)]


def test_an_unknown_baseline_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="lexical-overlap, random"):
        create("baseline:oracle")
