"""When an answer counts: laws of the contract, at its edges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamdecisionbench.components.contract import Answer, Fatal, check_answer
from tests.components.protocols import EVEN, REQUEST, RIGHT


def judge(labels: dict[str, str], spread: object = None) -> str | None:
    try:
        check_answer(Answer(labels, probabilities=spread), REQUEST.questions)  # type: ignore[arg-type]
    except Fatal as error:
        return error.error_type
    return None


def test_a_wrong_but_valid_answer_passes() -> None:
    assert judge({"mode": "K02", "captions": "K01"}) is None
    assert judge(RIGHT, EVEN) is None


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ({"K01": 0.33, "K02": 0.34, "K03": 0.33}, None),  # within one reporting step of the highest
        ({"K01": 0.32, "K02": 0.34, "K03": 0.34}, "not_most_probable"),
        ({"K01": 0.5, "K02": 0.25, "K03": 0.26}, None),  # rounding
        ({"K01": 0.5, "K02": 0.25, "K03": 0.27}, "bad_distribution"),
        ({"K01": 1.2, "K02": -0.2, "K03": 0.0}, "bad_distribution"),
        ({"K01": float("nan"), "K02": 0.5, "K03": 0.5}, "bad_distribution"),
        ({"K01": 1.0, "K02": 0.0}, "bad_distribution"),
        ({"K01": 1.0, "K02": 0.0, "K03": 0.0, "K04": 0.0}, "bad_distribution"),
    ],
)
def test_distributions(mode: dict[str, float], expected: str | None) -> None:
    assert judge(RIGHT, {"mode": mode}) == expected


@given(st.lists(st.floats(0.001, 1), min_size=3, max_size=3))
def test_the_rounded_softmax_of_anything_is_valid(weights: list[float]) -> None:
    labels = ["K01", "K02", "K03"]
    shares = [round(w / sum(weights), 2) for w in weights]
    choice = labels[shares.index(max(shares))]
    spread = {"mode": dict(zip(labels, shares, strict=True))}
    assert judge({**RIGHT, "mode": choice}, spread) is None
