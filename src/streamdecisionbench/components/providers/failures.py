"""Which failures of a service may be tried again, which stop the run, and in which words.

Retried: connection errors that can heal, network timeouts, explicit rate limits. Everything else
stops the run, server errors too: a pass whose failures were papered over would not be the pass it
claims to be. No text of a service is passed on, since an error body may repeat the input or a key;
a server on the user's own machine is quoted without its secrets.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from streamdecisionbench.components.contract import Fatal, Retryable
from streamdecisionbench.components.providers.address_and_key import Service
from streamdecisionbench.components.providers.connection import Note
from streamdecisionbench.components.redaction import Redactor, cut

_LONGEST, _LARGEST_BODY = 300, 1_000_000
_KEY_WORDS = re.compile(
    r"api[ _-]?key|authenticat|authoriz|credential|bearer|virtual key|invalid key", re.IGNORECASE
)


def quote(body: Any, clean: Redactor) -> str:
    """The message inside an error body as one line without secrets and control characters.

    >>> quote(b'{"error": {"message": "model not\\\\nfound for sk-12"}}', Redactor((), ["sk-12"]))
    'model not found for [hidden]'
    """
    text = clean(_message(_parsed(body)))
    text = "".join(c if c.isprintable() else " " for c in text)
    return cut(" ".join(text.split()), _LONGEST - 1, clean, "…")


def mentions_key(body: Any) -> bool:
    """Whether the body is about the key: some gateways answer a wrong one with status 400.

    >>> mentions_key(b'{"error": "Invalid API key provided"}'), mentions_key(b"bad schema")
    (True, False)
    """
    return _KEY_WORDS.search(_message(_parsed(body))) is not None


def _parsed(body: Any) -> Any:
    if isinstance(body, bytes):
        # A body is read whole or not at all: what is cut can hold the half of a key.
        body = body.decode("utf-8", "replace") if len(body) <= _LARGEST_BODY else ""
    if isinstance(body, str):
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            return body
    return body


def _message(value: Any) -> str:
    """Where servers put it: `error`, `message` or `detail`, as text, object or list of objects."""
    if isinstance(value, str):
        return "" if "<html" in value.lower() else value
    if isinstance(value, list):
        return "; ".join(filter(None, (_message(item) for item in value[:5])))
    if not isinstance(value, dict):
        return ""
    for name in ("error", "message", "detail", "msg", "title"):
        found = value.get(name)
        if isinstance(found, str | dict | list) and found:
            return _message(found)
    return ""


NOT_JSON_FIX = "check --base-url: it has to lead to the API itself, not to a web page or a proxy"

GATEWAY = "gateway"
"""What 502, 503 and 504 are called: `--retry-gateway` makes them retryable."""

UNKNOWN_PATH = (404, 405, 501)
"""Statuses after which it is worth asking what the server does answer on."""

_ENFORCING = {
    "openai": "chat: (vLLM, llama.cpp and Ollama enforce the schema there), systemone: or gguf:",
    "chat": "a server that honours response_format json_schema (vLLM, llama.cpp, Ollama), or gguf:",
    "anthropic": "chat: on the same server, or one that honours a forced tool",
}


@dataclass(frozen=True, slots=True)
class SdkErrors:
    """The exception classes of one client library that we tell apart."""

    timeout: type[Exception]
    connection: type[Exception]
    status: type[Exception]


def refusal(service: Service, question: str | None = None) -> Fatal:
    """The model declined: no answer was measured, and none may be invented."""
    about = f" to answer {question}" if question else ""
    return Fatal(
        "refusal",
        f"the model at {service.name} refused{about}",
        fix="the model's safety rules reject this state; record the scenario with another model",
    )


def incomplete(service: Service, limit: int | None = None) -> Fatal:
    """The reply ended at an output limit, ours or the server's."""
    ours = f" of {limit:,} tokens" if limit else ""
    return Fatal(
        "incomplete",
        f"the response of {service.name} is incomplete: the output limit{ours} was reached",
        fix="choose a lower --effort, or a higher limit with --option max_output_tokens=N"
        + _structured(service),
    )


def unstructured(service: Service, what: str, error_type: str = "not_json") -> Fatal:
    """The reply is not what the schema asks for: most often the server does not enforce it."""
    if service.home:
        return Fatal(error_type, what, fix="check that the model supports structured output")
    return Fatal(
        error_type,
        f"{what}: {service.name} does not enforce structured output",
        fix=f"use {_ENFORCING[service.provider]}"
        if service.provider in _ENFORCING
        else "use a server that enforces it",
    )


def timed_out(service: Service, phase: str, timeout_s: float) -> Retryable:
    """No complete reply within the limit; what to try depends on how far it came."""
    within = f"within {timeout_s:g} s"
    if phase == "connecting":
        return Retryable(
            "timeout",
            detail=f"no connection to {service.host} {within}",
            fix="check that the server runs and can be reached from here",
        )
    fix = "allow more time with --timeout"
    if service.provider in _ENFORCING and not service.home:
        fix += (
            ", or let the reply be shorter with --option max_output_tokens=N;"
            " a model that runs on may not be bound by the schema" + _structured(service)
        )
    return Retryable("timeout", detail=f"no answer from {service.host} {within}", fix=fix)


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


def status_error(error: Exception, service: Service, note: Note) -> Retryable | Fatal:
    """The meaning of an unsuccessful status. The client library's exception holds the body."""
    status = note.status or getattr(error, "status_code", None) or getattr(error, "status", None)
    headers = note.headers
    wait = retry_after_s(headers)
    # One code is told apart by equality: an empty account answers 429, but waiting will not help.
    if status == 429 and getattr(error, "code", None) != "insufficient_quota":
        return _limited(status, wait, service)
    if status in {503, 529} and wait is not None:
        return _limited(status, wait, service)
    if isinstance(status, int) and 300 <= status < 400:
        return _redirected(status, headers, service)
    if not isinstance(status, int) or status < 400:
        return Fatal(
            "not_json",
            f"{service.name} answered with something else than the API's JSON",
            fix=NOT_JSON_FIX,
        )
    body = _body(error)
    kind, message, fix = _explain(status, service, body)
    said = quote(body, service.clean) if service.local else ""
    return Fatal(
        kind,
        f"{message} (status {status} from {service.host})"
        + (f"\n  it says: {said}" if said else ""),
        fix=fix,
        http_status=status,
    )


def _limited(status: int, wait: float | None, service: Service) -> Retryable:
    return Retryable(
        "rate_limit",
        http_status=status,
        retry_after_s=wait,
        detail=f"{service.name} limits the rate of requests (status {status})",
        fix="publish states less often with a longer --interval, or lower --max-in-flight",
    )


def _redirected(status: int, headers: Mapping[str, str], service: Service) -> Fatal:
    """A redirect is not followed: a key would go along, and every request would be sent twice."""
    location = service.clean(headers.get("location", ""))
    try:
        parts = urlsplit(location)
        where = f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")
        where = where if parts.hostname else "another path of the same host"
    except ValueError:
        where = "another address"
    return Fatal(
        "redirect",
        f"{service.name} redirects to {where if where.isprintable() else 'another address'}"
        f" (status {status} from {service.host})",
        fix="redirects are not followed: give the address it leads to with --base-url",
        http_status=status,
    )


def _body(error: Exception) -> Any:
    """The body as the client library kept it."""
    response = getattr(error, "response", None)
    content = getattr(response, "content", None)
    return content if content is not None else getattr(error, "body", None)


def _explain(status: int, service: Service, body: Any) -> tuple[str, str, str]:
    """Kind, what happened, what to do."""
    name, key = service.name, service.key_variable
    resume = "run again later with --resume"
    known = {
        401: ("authentication", f"{name} does not accept the key",
              f"set a valid key in {key} and check that it may use this model"),
        404: ("rejected", f"{name} does not know this model or address",
              "check the model's name and --base-url"),
        405: ("rejected", f"this is not supported by {name} or its model",
              "choose another provider or another model for this server"),
        407: ("proxy", f"the proxy on the way to {service.host} wants a password",
              "write user:password@ into HTTP_PROXY or HTTPS_PROXY"),
        413: ("rejected", f"the request is larger than {name} takes",
              "a gateway in front has a limit on request bodies (nginx: client_max_body_size), or the"
              " model's context is too short; requests are never cut"),
        429: ("quota", f"the account at {name} has no quota left",
              "add credit to the account; waiting does not help"),
        502: (GATEWAY, f"a gateway in front of {name} reports that the service does not answer",
              f"{resume}, or add --retry-gateway to a pass over a service behind"
              " a gateway that fails now and then"),
    }  # fmt: skip
    known |= {403: known[401], 501: known[405], 503: known[502], 504: known[502]}
    if status in known:
        return known[status]
    if status >= 500:
        what = f"{name} failed; only connection errors, timeouts and rate limits are retried"
        return "server_error", what, f"{resume}: complete scenarios are kept"
    if mentions_key(body):
        what = f"{name} rejects the request and mentions the key"
        return "authentication", what, f"set a valid key in {key}"
    fix = "check the model's name, --effort, and that the server supports what this provider sends"
    return "rejected", f"{name} rejects the request", fix + _gateway_hints(status, service)


def _gateway_hints(status: int, service: Service) -> str:
    """Known meanings of a 400 from gateways that give no reason."""
    if service.home or status != 400:
        return ""
    hint = f"; some gateways answer a wrong key with 400: check {service.key_variable}"
    if service.provider == "openai-decisions":
        hint += "; one that takes no JSON parts wants --option input=text"
    return hint


def _structured(service: Service) -> str:
    if service.home or service.provider not in _ENFORCING:
        return ""
    return f"; otherwise use {_ENFORCING[service.provider]}"
