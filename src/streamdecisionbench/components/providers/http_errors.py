"""Which failures of a service may be tried again and which stop the run.

Retried: connection errors, network timeouts, explicit rate limits. Everything else stops the run,
server errors too: a pass whose failures were papered over would not be the pass it claims to be.
No text of the service is passed on, since an error body may repeat the input or a key.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from streamdecisionbench.components.contract import Fatal, Retryable

__all__ = ["NOT_JSON_FIX", "SdkErrors", "Service", "call", "incomplete", "refusal", "retry_after_s"]

T = TypeVar("T")

NOT_JSON_FIX = "check --base-url: it has to lead to the API itself, not to a web page or a proxy"


@dataclass(frozen=True, slots=True)
class Service:
    """Who is called, in words fit for a message."""

    name: str
    host: str
    key_variable: str


@dataclass(frozen=True, slots=True)
class SdkErrors:
    """The exception classes of one client library that we tell apart."""

    timeout: type[Exception]
    connection: type[Exception]
    status: type[Exception]


async def call(
    send: Callable[[], Awaitable[T]], errors: SdkErrors, service: Service, timeout_s: float
) -> tuple[T, float]:
    """Sends once; the result and `time.monotonic()` when it had arrived.

    `timeout_s` bounds the whole attempt, since a client library's own limit is per read and a
    trickle of bytes would never reach it. The library's exception is dropped, not chained: it holds
    the body and the request.
    """
    failure: Exception
    try:
        async with asyncio.timeout(timeout_s):
            result = await send()
            return result, time.monotonic()
    except (TimeoutError, errors.timeout):
        failure = Retryable("timeout")
    except errors.connection:
        failure = Retryable("connection")
    except errors.status as error:
        failure = _status_error(error, service)
    except Exception as error:
        failure = Fatal(
            "client_error",
            f"the client library for {service.name} failed with {type(error).__name__}",
            fix="check the model's name, --base-url and the library's version (`sdb providers`)",
        )
    raise failure


def refusal(service: Service, question: str | None = None) -> Fatal:
    """The model declined: no answer was measured, and none may be invented."""
    about = f" to answer {question}" if question else ""
    return Fatal(
        "refusal",
        f"the model at {service.name} refused{about}",
        fix="the model's safety rules reject this state; record the scenario with another model",
    )


def incomplete(service: Service, reason: str) -> Fatal:
    """The reply ended early. `reason` is one of our own words."""
    return Fatal(
        "incomplete",
        f"the response of {service.name} is incomplete: {reason}",
        fix="choose a lower --effort or a model that answers within its output limit",
    )


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds the service asks us to wait: `retry-after-ms`, or `Retry-After` as seconds or a date.

    >>> retry_after_s({"retry-after": "1.5"}), retry_after_s({"retry-after": "soon"})
    (1.5, None)
    """
    lowered = {name.lower(): value.strip() for name, value in headers.items()}
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = lowered.get(name)
        if not value:
            continue
        try:
            seconds = float(value) * scale
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - time.time()
            except (ValueError, TypeError, OverflowError):
                continue
            return max(0.0, seconds)
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    return None


def _status_error(error: Exception, service: Service) -> Exception:
    status = getattr(error, "status_code", None) or getattr(error, "status", None)
    headers: Any = getattr(getattr(error, "response", error), "headers", None) or {}
    # One code is told apart by equality: an empty account answers 429, but waiting will not help.
    if status == 429 and getattr(error, "code", None) != "insufficient_quota":
        return Retryable("rate_limit", http_status=429, retry_after_s=retry_after_s(headers))
    if not isinstance(status, int) or status < 400:
        return Fatal(
            "not_json",
            f"{service.name} answered with something else than the API's JSON",
            fix=NOT_JSON_FIX,
        )
    kind, message, fix = _explain(status, service)
    return Fatal(
        kind, f"{message} (status {status} from {service.host})", fix=fix, http_status=status
    )


def _explain(status: int, service: Service) -> tuple[str, str, str]:
    if status in {401, 403}:
        return (
            "authentication",
            f"{service.name} does not accept the key",
            f"set a valid key in {service.key_variable} and check that it may use this model",
        )
    if status == 404:
        return (
            "rejected",
            f"{service.name} does not know this model or address",
            "check the model's name and --base-url",
        )
    if status == 413:
        return (
            "rejected",
            f"the request is too long for {service.name}",
            "choose a model with a longer context; requests are never cut",
        )
    if status == 429:
        return (
            "quota",
            f"the account at {service.name} has no quota left",
            "add credit to the account; waiting does not help",
        )
    if status < 500:
        return (
            "rejected",
            f"{service.name} rejects the request",
            "check the model's name, --effort, and that the server supports what this provider sends",
        )
    return (
        "server_error",
        f"{service.name} failed; only connection errors, timeouts and rate limits are retried",
        "run again later with --resume: complete scenarios are kept",
    )
