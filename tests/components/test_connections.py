"""No answer came: the message names host and kind, and nothing is retried that cannot heal."""

from __future__ import annotations

import base64
import socket
from typing import Any

import pytest

from streamdecisionbench.components.contract import Answer, Fatal, Options, Retryable
from streamdecisionbench.components.providers.failures import quote
from streamdecisionbench.components.redaction import Redactor
from streamdecisionbench.components.registry import create
from streamdecisionbench.errors import InputError
from tests.components.protocols import OPENAI, PROTOCOLS, RIGHT, Protocol, asked_once
from tests.components.secure import Certificate, http2_server, make_certificate
from tests.components.servers import Reply, scripted, unused_port
from tests.components.test_http_policy import _VARIABLES

each = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in _VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


def ask(protocol: Protocol, url: str, timeout_s: float = 20.0) -> Answer:
    return asked_once(create(f"{protocol.provider}:m", Options(base_url=url, timeout_s=timeout_s)))


@each
def test_a_certificate_nobody_knows(protocol: Protocol, certificate: Certificate) -> None:
    with http2_server(certificate, b"{}") as url, pytest.raises(Fatal) as raised:
        ask(protocol, url)
    assert raised.value.error_type == "certificate"
    assert url.removeprefix("https://") in str(raised.value)
    assert "SSL_CERT_FILE" in str(raised.value)


@each
def test_https_to_an_http_port(protocol: Protocol) -> None:
    with scripted(Reply()) as server, pytest.raises(Fatal) as raised:
        ask(protocol, server.url.replace("http://", "https://"))
    assert raised.value.error_type == "not_tls"
    assert "http:// instead of https://" in str(raised.value)


@each
def test_a_refused_connection_names_the_host(protocol: Protocol) -> None:
    port = unused_port()
    with pytest.raises(Retryable) as raised:
        ask(protocol, f"http://127.0.0.1:{port}")
    assert raised.value.error_type == "connection"
    assert f"127.0.0.1:{port} refuses the connection" in raised.value.detail
    assert "start the server" in raised.value.fix


def resolver(code: int) -> Any:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise socket.gaierror(code, "made up")

    return fail


@each
def test_a_name_nobody_knows(protocol: Protocol, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", resolver(socket.EAI_NONAME))
    with pytest.raises(Fatal, match=r"models\.invalid:8080 has no address") as raised:
        ask(protocol, "http://models.invalid:8080")
    assert raised.value.error_type == "name"


def test_a_name_server_that_is_away_may_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", resolver(socket.EAI_AGAIN))
    with pytest.raises(Retryable) as raised:
        ask(OPENAI, "http://models.invalid")
    assert "cannot be resolved right now" in raised.value.detail


@each
def test_a_dead_proxy_is_named(protocol: Protocol, monkeypatch: pytest.MonkeyPatch) -> None:
    port = unused_port()
    monkeypatch.setenv("HTTP_PROXY", f"http://me:hunter2hunter2@127.0.0.1:{port}")
    with pytest.raises(Fatal, match=f"the proxy 127.0.0.1:{port} refuses") as raised:
        ask(protocol, "http://models.example:8080")
    assert raised.value.error_type == "proxy"
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("value", ["socks5://127.0.0.1:1080", "socks4://127.0.0.1:1"])
def test_a_proxy_of_another_kind(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "socksio", None)
    monkeypatch.setenv("ALL_PROXY", value)
    with pytest.raises(InputError, match="ALL_PROXY"):
        ask(OPENAI, "http://models.example")


def test_certificates_that_are_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")
    with pytest.raises(InputError, match="SSL_CERT_FILE"):
        ask(OPENAI, "https://127.0.0.1:1")


@each
def test_a_timeout_says_how_far_it_came(protocol: Protocol) -> None:
    with scripted(Reply(hang=True)) as server, pytest.raises(Retryable) as raised:
        ask(protocol, server.url, timeout_s=0.3)
    assert raised.value.error_type == "timeout"
    assert "no answer from 127.0.0.1" in raised.value.detail
    assert "--timeout" in raised.value.fix
    bound = protocol.provider in ("openai", "chat", "anthropic")
    assert ("max_output_tokens" in raised.value.fix) == bound


@each
def test_a_server_of_ones_own_is_quoted_without_secrets(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SDB_API_KEY", "k3y")
    body = b'{"error": {"message": "grammar\\u001b[31m failed\\nfor k3y", "type": "x"}}'
    with scripted(Reply(body, status=400)) as server, pytest.raises(Fatal) as raised:
        ask(protocol, server.url)
    assert "it says: grammar [31m failed for [hidden]" in str(raised.value)


def test_of_two_secrets_that_begin_alike_no_tail_is_quoted() -> None:
    body = b'{"error": {"message": "bad key sk-team-7f3a"}}'
    assert quote(body, Redactor((), ["sk-team", "sk-team-7f3a"])) == "bad key [hidden]"


@each
def test_a_password_is_a_secret_in_every_form(protocol: Protocol) -> None:
    """Escaped in the URL, decoded, and encoded for basic authentication."""
    url = "http://me:p%40ss%2Fword@127.0.0.1:1/v1"
    secrets = create(f"{protocol.provider}:m", Options(base_url=url)).secrets
    token = base64.b64encode(b"me:p@ss/word").decode()
    assert {"p@ss/word", "p%40ss%2Fword", token, f"Basic {token}"} <= set(secrets)


@each
def test_a_wrong_key_answered_with_400_is_about_the_key(protocol: Protocol) -> None:
    body = b'{"error": {"message": "Authentication Error, Invalid proxy server token"}}'
    with scripted(Reply(body, status=400)) as server, pytest.raises(Fatal) as raised:
        ask(protocol, server.url)
    assert raised.value.error_type == "authentication"
    assert "SDB_API_KEY" in str(raised.value)


@each
def test_a_bare_400_of_a_gateway_may_be_the_key(protocol: Protocol) -> None:
    body = b'{"error": {"message": "No connected db.", "type": "no_db_connection"}}'
    with scripted(Reply(body, status=400)) as server, pytest.raises(Fatal) as raised:
        ask(protocol, server.url)
    assert "wrong key with 400: check SDB_API_KEY" in str(raised.value)


def by_path(absent: int, *paths: str) -> Any:
    """A server that knows these paths alone; what it knows it still refuses without content."""
    from tests.components.servers import Received, ScriptedServer

    class Some(ScriptedServer):
        def next_reply(self, received: Received) -> Reply:
            self.received.append(received)
            return Reply(status=422 if received.path in paths else absent)

    return Some([])


@pytest.mark.parametrize("status", [404, 501])
def test_what_the_server_does_answer_on_is_told(status: int) -> None:
    server = by_path(status, "/v1/chat/completions", "/v1/systemone")
    server.start()
    try:
        with pytest.raises(Fatal) as raised:
            ask(OPENAI, server.url)
    finally:
        server.stop()
    assert "try chat:m or systemone:m" in str(raised.value)


def test_a_reply_without_schema_names_what_to_use_instead() -> None:
    import json

    chatty = json.loads(OPENAI.body(RIGHT))
    chatty["output"][1]["content"][0]["text"] = "Sure! Here are my answers: K01"
    with scripted(Reply(json.dumps(chatty).encode())) as server, pytest.raises(Fatal) as raised:
        ask(OPENAI, server.url)
    assert "does not enforce structured output" in str(raised.value)
    assert "use chat:" in str(raised.value)
