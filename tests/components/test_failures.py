"""Every failure class of every hosted provider, through its real client library and real sockets."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from email.utils import formatdate
from time import monotonic, time
from typing import Any

import pytest

from streamdecisionbench.components.contract import Answer, Fatal, Options, Retryable
from streamdecisionbench.components.providers import remote_provider
from streamdecisionbench.components.providers.prompt import read_object
from streamdecisionbench.components.registry import create
from tests.components.protocols import (
    EVEN,
    PROTOCOLS,
    REQUEST,
    RIGHT,
    SYSTEMONE,
    Protocol,
    asked_once,
)
from tests.components.servers import Reply, ScriptedServer, scripted, unused_port

KEY = "sk-planted-0123456789abcdef"


@dataclass(frozen=True)
class Case:
    """A scripted reply and what it has to become."""

    reply: Callable[[Protocol], Reply]
    error: type[Exception]
    error_type: str
    status: int | None = None
    retry_after_s: float | None = None
    distributions: bool = False
    says: str = ""


def answering(labels: dict[str, str], spread: Any = EVEN) -> Callable[[Protocol], Reply]:
    return lambda protocol: Reply(protocol.body(labels, spread))


def status(code: int, **headers: str) -> Callable[[Protocol], Reply]:
    # An error body that echoes the key and the input, as some services do.
    body = json.dumps({"error": {"message": f"bad key {KEY}", "echo": REQUEST.payload()}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda protocol: Reply(body, status=code, headers=named)


CASES: dict[str, Case] = {
    "reset mid-body": Case(lambda p: Reply(b'{"id":', reset=True), Retryable, "connection"),
    "timeout": Case(lambda p: Reply(hang=True), Retryable, "timeout"),
    "429": Case(status(429), Retryable, "rate_limit", 429),
    "429 with Retry-After": Case(status(429, Retry_After="3"), Retryable, "rate_limit", 429, 3.0),
    "429 with milliseconds": Case(
        status(429, Retry_After_Ms="250"), Retryable, "rate_limit", 429, 0.25
    ),
    "401": Case(status(401), Fatal, "authentication", 401, says="SDB_API_KEY"),
    "403": Case(status(403), Fatal, "authentication", 403),
    "400": Case(status(400), Fatal, "rejected", 400),
    "404": Case(status(404), Fatal, "rejected", 404, says="--base-url"),
    "422": Case(status(422), Fatal, "rejected", 422),
    "500": Case(status(500), Fatal, "server_error", 500, says="--resume"),
    "503": Case(status(503), Fatal, "gateway", 503, says="--retry-gateway"),
    "502": Case(status(502), Fatal, "gateway", 502, says="--retry-gateway"),
    "503 with Retry-After": Case(
        status(503, Retry_After="1"), Retryable, "rate_limit", 503, 1.0, says="--interval"
    ),
    "529 with Retry-After": Case(status(529, Retry_After="0"), Retryable, "rate_limit", 529, 0.0),
    "501": Case(status(501), Fatal, "rejected", 501, says="not supported by"),
    "413": Case(status(413), Fatal, "rejected", 413, says="client_max_body_size"),
    "307": Case(
        status(307, Location="https://elsewhere.example:8443/v1/x?secret=1"),
        Fatal,
        "redirect",
        307,
        says="redirects to https://elsewhere.example:8443",
    ),
    "HTML instead of JSON": Case(
        lambda p: Reply(b"<!doctype html><h1>It works</h1>", content_type="text/html"),
        Fatal,
        "not_json",
        says="--base-url",
    ),
    "truncated JSON": Case(lambda p: Reply(p.body(RIGHT)[:-20]), Fatal, "not_json"),
    "empty body": Case(lambda p: Reply(b""), Fatal, "not_json"),
    "another JSON": Case(lambda p: Reply(b"[1, 2]"), Fatal, "not_json"),
    "missing question": Case(answering({"mode": "K01"}), Fatal, "missing_answer", says="captions"),
    "unknown question": Case(answering({**RIGHT, "joker": "K01"}), Fatal, "unknown_question"),
    "unknown label": Case(answering({**RIGHT, "mode": "K09"}), Fatal, "unknown_label", says="mode"),
    "refusal": Case(lambda p: Reply(json.dumps(p.refusal).encode()), Fatal, "refusal"),
    "probabilities that do not sum to one": Case(
        answering(RIGHT, {**EVEN, "mode": {"K03": 0.2, "K01": 0.6, "K02": 0.1}}),
        Fatal,
        "bad_distribution",
        distributions=True,
        says="0.900",
    ),
    "probabilities over other labels": Case(
        answering(RIGHT, {**EVEN, "mode": {"K03": 0.2, "K01": 0.8}}),
        Fatal,
        "bad_distribution",
        distributions=True,
    ),
    "probability that is no number": Case(
        answering(RIGHT, {**EVEN, "mode": {"K03": None, "K01": 1, "K02": 0}}),
        Fatal,
        "bad_distribution",
        distributions=True,
    ),
    "choice not most probable": Case(
        answering(RIGHT, {**EVEN, "mode": {"K03": 0.5, "K01": 0.4, "K02": 0.1}}),
        Fatal,
        "not_most_probable",
        distributions=True,
        says="mode",
    ),
}

TABLE = [
    pytest.param(protocol, case, id=f"{protocol.provider}-{name}")
    for protocol in PROTOCOLS
    for name, case in CASES.items()
    if protocol.distributions or not case.distributions
]


def ask(protocol: Protocol, url: str, timeout_s: float = 20.0) -> Answer:
    options = Options(base_url=url, timeout_s=timeout_s)
    component = create(f"{protocol.provider}:test-model", options)
    assert KEY not in repr(component.info)
    return asked_once(component)


def everything_said(error: BaseException) -> str:
    """All a program could print about an exception, along the whole chain."""
    texts, seen = [], error
    while seen is not None:
        texts += [str(seen), repr(seen), repr(seen.args), repr(vars(seen))]
        seen = seen.__cause__ or seen.__context__  # type: ignore[assignment]
    return "\n".join([*texts, *traceback.format_exception(error)])


@pytest.fixture(autouse=True)
def planted_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for protocol in PROTOCOLS:
        monkeypatch.setenv(protocol.key_variable, KEY)
    for variable in ("SDB_API_KEY", "OPENAI_BASE_URL", "TYPESAFE_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize(("protocol", "case"), TABLE)
def test_failure(
    protocol: Protocol,
    case: Case,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.INFO)
    reply = case.reply(protocol)
    with scripted(reply) as server:
        with pytest.raises(case.error) as raised:
            ask(protocol, server.url, timeout_s=0.5 if reply.hang else 20.0)
        # The library's own retries are off: whatever failed was sent once. What follows a path
        # that nobody knows are questions without content.
        assert len([r for r in server.received if r.json != {}]) == 1
    error = raised.value
    assert isinstance(error, Fatal | Retryable)
    assert error.error_type == case.error_type
    assert error.http_status == case.status
    if isinstance(error, Retryable):
        assert error.retry_after_s == case.retry_after_s
        assert case.says in error.fix
    else:
        assert case.says in str(error)
    said = everything_said(error) + caplog.text + "".join(capfd.readouterr())
    assert KEY not in said
    assert "Any questions?" not in said


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
def test_refused_connection(protocol: Protocol) -> None:
    with pytest.raises(Retryable) as raised:
        ask(protocol, f"http://127.0.0.1:{unused_port()}")
    assert raised.value.error_type == "connection"
    assert KEY not in everything_said(raised.value)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
def test_retry_after_as_a_date(protocol: Protocol) -> None:
    reply = status(429, Retry_After=formatdate(time() + 40, usegmt=True))(protocol)
    with scripted(reply) as server, pytest.raises(Retryable) as raised:
        ask(protocol, server.url)
    assert raised.value.retry_after_s is not None
    assert 0 < raised.value.retry_after_s <= 41


def test_an_empty_account_is_not_a_rate_limit() -> None:
    body = json.dumps({"error": {"message": "no credit", "code": "insufficient_quota"}}).encode()
    with scripted(Reply(body, status=429)) as server, pytest.raises(Fatal) as raised:
        ask(PROTOCOLS[0], server.url)
    assert raised.value.error_type == "quota"


def test_a_slow_trickle_is_a_timeout() -> None:
    """A client library's limit is per read; ours bounds the attempt."""

    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        try:
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.05)
        except ConnectionError:
            writer.close()

    async def attempt() -> None:
        server = await asyncio.start_server(trickle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        component = create("openai:m", Options(base_url=f"http://127.0.0.1:{port}", timeout_s=1.0))
        try:
            await component.answer(REQUEST)
        finally:
            await component.close()
            server.close()

    with pytest.raises(Retryable) as raised:
        asyncio.run(attempt())
    assert raised.value.error_type == "timeout"


@pytest.mark.parametrize(
    ("status_value", "extra", "error", "error_type"),
    [
        ("incomplete", {"incomplete_details": {"reason": "max_output_tokens"}}, Fatal, "incomplete"),
        ("incomplete", {"incomplete_details": {"reason": "content_filter"}}, Fatal, "refusal"),
        ("failed", {"error": {"code": "server_error", "message": KEY}}, Fatal, "server_error"),
        ("failed", {"error": {"code": "rate_limit_exceeded"}}, Retryable, "rate_limit"),
    ],
)  # fmt: skip
def test_responses_that_did_not_complete(
    status_value: str, extra: dict[str, Any], error: type[Exception], error_type: str
) -> None:
    body = {**json.loads(PROTOCOLS[0].body(RIGHT)), "status": status_value, **extra}
    with scripted(Reply(json.dumps(body).encode())) as server, pytest.raises(error) as raised:
        ask(PROTOCOLS[0], server.url)
    assert raised.value.error_type == error_type  # type: ignore[attr-defined]
    assert KEY not in everything_said(raised.value)


def test_a_question_answered_twice_is_no_answer() -> None:
    text = '{"mode": "K01", "mode": "K02", "captions": "K02"}'
    body = json.loads(PROTOCOLS[0].body(RIGHT))
    body["output"][1]["content"][0]["text"] = text
    with scripted(Reply(json.dumps(body).encode())) as server, pytest.raises(Fatal) as raised:
        ask(PROTOCOLS[0], server.url)
    assert raised.value.error_type == "duplicate_answer"


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
def test_a_label_given_twice_is_not_believed(protocol: Protocol) -> None:
    """Whatever the form of the reply: the last of two labels is no better than the first."""
    whole = protocol.body(RIGHT).decode()
    if protocol.provider == "openai-decisions":
        body = json.loads(whole)
        body["answers"].append(body["answers"][0])
        text = json.dumps(body)
    elif protocol.provider == "systemone":
        answer = json.dumps(json.loads(whole)["answers"]["mode"])
        text = whole.replace('"answers": {', f'"answers": {{"mode": {answer}, ')
    elif protocol.provider == "anthropic":
        text = whole.replace('"input": {', '"input": {"mode": "K01", ')
    else:
        text = whole.replace('{\\"mode\\"', '{\\"mode\\": \\"K01\\", \\"mode\\"')
    assert text != whole
    with scripted(Reply(text.encode())) as server, pytest.raises(Fatal) as raised:
        ask(protocol, server.url)
    assert raised.value.error_type == "duplicate_answer"


def test_system_one_answers_count_with_a_distribution_alone() -> None:
    """For every question; the choice alone was enough once."""
    body = json.loads(SYSTEMONE.body(RIGHT))
    del body["answers"]["captions"]["probabilities"]
    with scripted(Reply(json.dumps(body).encode())) as server, pytest.raises(Fatal) as raised:
        ask(SYSTEMONE, server.url)
    assert raised.value.error_type == "bad_distribution"
    assert "to captions has no distribution" in str(raised.value)


@pytest.mark.parametrize(
    ("captions", "error_type"),
    [
        ({"K02": 0.99, "K01": 0.01}, None),
        ({"K02": 0.495, "K01": 0.505}, None),  # within one reporting step of the highest
        ({"K02": 0.48, "K01": 0.52}, "not_most_probable"),
        ({"K02": 1.0}, "bad_distribution"),
        ({"K02": 0.9, "K01": 0.05, "K09": 0.05}, "bad_distribution"),
        ({"K02": 0.7, "K01": 0.2}, "bad_distribution"),
        ({}, "bad_distribution"),
    ],
)
def test_what_a_distribution_has_to_be(captions: dict[str, float], error_type: str | None) -> None:
    whole = SYSTEMONE.body(RIGHT, {**EVEN, "captions": captions})
    with scripted(Reply(whole)) as server:
        if error_type is None:
            assert ask(SYSTEMONE, server.url).labels == RIGHT
            return
        with pytest.raises(Fatal) as raised:
            ask(SYSTEMONE, server.url)
    assert raised.value.error_type == error_type


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
def test_receipt_is_stamped_before_parsing(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[float] = []

    def parse(*given: Any, **more: Any) -> Any:
        began.append(monotonic())
        return read_object(*given, **more)

    monkeypatch.setattr(remote_provider, "read_object", parse)
    with scripted(Reply(protocol.body(RIGHT))) as server:
        received_at = ask(protocol, server.url).received_at
    assert received_at is not None
    assert received_at <= began[0]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
def test_the_same_component_goes_on_after_a_failure(protocol: Protocol) -> None:
    """The recorder retries on the open component: a reset must not spoil it."""

    async def attempts(server: ScriptedServer) -> Answer:
        component = create(f"{protocol.provider}:m", Options(base_url=server.url))
        await component.open()
        try:
            with pytest.raises(Retryable):
                await component.answer(REQUEST)
            return await component.answer(REQUEST)
        finally:
            await component.close()

    with scripted(Reply(b"{", reset=True), Reply(protocol.body(RIGHT))) as server:
        assert asyncio.run(attempts(server)).labels == RIGHT
        first, second = (replace(r, headers={}) for r in server.received)
        assert first == second


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
def test_half_a_surrogate_pair_can_be_written_down(protocol: Protocol) -> None:
    """JSON may escape what no file can hold; a run must not end over it."""
    body = protocol.body(RIGHT).replace(b'"served-model"', b'"odd \\ud800 \\u001b[31m name"')
    assert body != protocol.body(RIGHT)
    with scripted(Reply(body)) as server:
        try:
            model = ask(protocol, server.url).model or ""
        except Fatal as error:
            model = str(error)
    model.encode()
    assert "\x1b" not in model
    print(model)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
def test_a_path_as_a_models_name_keeps_its_last_part(protocol: Protocol) -> None:
    body = protocol.body(RIGHT).replace(b'"served-model"', b'"/home/somebody/models/tiny.gguf"')
    with scripted(Reply(body)) as server:
        assert ask(protocol, server.url).model == "tiny.gguf"


def test_one_answer_too_many_is_named() -> None:
    with (
        scripted(Reply(SYSTEMONE.body({**RIGHT, "joker": "K01"}))) as server,
        pytest.raises(Fatal, match=r"one answer too many: 'joker'"),
    ):
        ask(SYSTEMONE, server.url)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
def test_cache_use_that_is_not_reported_is_not_zero(protocol: Protocol) -> None:
    body = json.loads(protocol.body(RIGHT))
    for name in ("input_tokens_details", "prompt_tokens_details", "cached_tokens"):
        body["usage"].pop(name, None)
    body["usage"].pop("cache_read_input_tokens", None)
    with scripted(Reply(json.dumps(body).encode())) as server:
        usage = ask(protocol, server.url).usage
    assert usage is not None
    assert usage.cached_tokens is None
    assert usage.input_tokens > 0
