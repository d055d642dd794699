"""What is tried again, how long after, and when it is given up."""

from __future__ import annotations

import pytest

from streamdecisionbench.components.contract import Fatal, Retryable
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.retry import classify, next_delay
from streamdecisionbench.recording.run_options import RetryPolicy

POLICY = RetryPolicy()


def test_waits_are_the_published_ones() -> None:
    assert [next_delay(POLICY, k, Retryable("timeout")) for k in (1, 2, 3, 4)] == [0, 0.5, 1, 2]
    assert POLICY.max_attempts == 5


def test_a_longer_wait_asked_for_is_honoured_and_a_shorter_one_is_not() -> None:
    assert next_delay(POLICY, 4, Retryable("rate_limit", retry_after_s=9.0)) == 9.0
    assert next_delay(POLICY, 4, Retryable("rate_limit", retry_after_s=0.1)) == 2.0


def test_the_fifth_failure_is_the_last() -> None:
    with pytest.raises(Fatal, match=r"5 attempts failed, the last with rate_limit \(HTTP 429\)"):
        next_delay(POLICY, 5, Retryable("rate_limit", http_status=429))


def test_a_wait_of_hours_ends_the_run_instead_of_hanging_it() -> None:
    with pytest.raises(Fatal, match="asks to wait 7200 s") as caught:
        next_delay(POLICY, 1, Retryable("rate_limit", retry_after_s=7200))
    assert "--resume" in str(caught.value)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), Retryable),
        (ConnectionResetError("peer"), Retryable),
        (Retryable("x"), Retryable),
        (Fatal("x", "y"), Fatal),
        (InputError("bad"), Fatal),
        (KeyError("state text"), Fatal),
    ],
)
def test_every_failure_is_of_one_kind(error: Exception, kind: type) -> None:
    assert isinstance(classify(error), kind)


def test_text_of_an_unforeseen_exception_is_left_out() -> None:
    try:
        raise ValueError("the customer said 4111 1111")
    except ValueError as error:
        found = classify(error)
    assert "4111" not in str(found)
    assert "ValueError" in str(found)
    assert "test_retry.py:" in str(found)
