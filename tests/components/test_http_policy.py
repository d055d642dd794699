"""One HTTP policy for every provider: how connections are made, kept, bounded and recorded."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import tracemalloc
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request as WebRequest
from urllib.request import urlopen

import pytest

from streamdecisionbench.components.contract import Answer, Fatal, Options
from streamdecisionbench.components.providers.http_client import MAX_REPLY
from streamdecisionbench.components.registry import create
from tests.components.protocols import OPENAI, PROTOCOLS, REQUEST, RIGHT, SYSTEMONE, Protocol
from tests.components.secure import Certificate, http2_server, make_certificate
from tests.components.servers import Reply, scripted

pytestmark = pytest.mark.slow

each = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
_VARIABLES = (
    "SDB_API_KEY", "OPENAI_BASE_URL", "TYPESAFE_BASE_URL", "ANTHROPIC_BASE_URL",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
)  # fmt: skip


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in _VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


async def ask(component: Any, times: int = 1, pause_s: float = 0.0) -> list[Answer]:
    await component.open()
    try:
        answers = []
        for n in range(times):
            await asyncio.sleep(pause_s if n else 0)
            answers.append(await component.answer(REQUEST))
        return answers
    finally:
        await component.close()


def test_idle_connections_are_kept_by_all_alike() -> None:
    """At 8 s between states some libraries would shake hands anew for every request."""

    async def all_at_once(urls: dict[str, str]) -> list[Any]:
        components = [create(f"{name}:m", Options(base_url=url)) for name, url in urls.items()]
        await asyncio.gather(*(ask(c, times=2, pause_s=5.5) for c in components))
        return components

    servers = {p.provider: scripted(Reply(p.body(RIGHT))) for p in PROTOCOLS}
    opened = {name: server.__enter__() for name, server in servers.items()}
    try:
        components = asyncio.run(all_at_once({n: s.url for n, s in opened.items()}))
    finally:
        for server in servers.values():
            server.__exit__(None, None, None)
    seen = {c.info.provider: c.observed.to_json() for c in components}
    assert {name: facts["connections"] for name, facts in seen.items()} == dict.fromkeys(seen, 1)
    assert {facts["requests"] for facts in seen.values()} == {2}
    assert {json.dumps(c.info.settings["http"], sort_keys=True) for c in components} == {
        json.dumps(
            {
                "keepalive_s": 600.0,
                "http2": "where offered",
                "redirects": "not followed",
                "proxy": None,
                "certificates": "system",
            },
            sort_keys=True,
        )
    }


@each
def test_http2_where_it_is_offered(
    protocol: Protocol, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))
    with http2_server(certificate, protocol.body(RIGHT)) as url:
        component = create(f"{protocol.provider}:m", Options(base_url=url))
        answers = asyncio.run(ask(component, times=3))
    assert [a.labels for a in answers] == [RIGHT] * 3
    observed = component.observed.to_json()  # type: ignore[attr-defined]
    assert observed["http_versions"] == {"HTTP/2": 3}
    assert observed["connections"] == 1


@each
def test_a_reply_that_unpacks_to_gigabytes_is_not_unpacked(protocol: Protocol) -> None:
    bomb = gzip.compress(b" " * (8 * MAX_REPLY), compresslevel=9)
    assert len(bomb) < MAX_REPLY / 50
    with scripted(Reply(bomb, headers={"Content-Encoding": "gzip"})) as server:
        component = create(f"{protocol.provider}:m", Options(base_url=server.url))
        tracemalloc.start()
        with pytest.raises(Fatal, match="larger than 16 MB") as raised:
            asyncio.run(ask(component))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(server.received) == 1
    assert raised.value.error_type == "reply"
    assert peak < 3 * MAX_REPLY


def test_a_long_plain_reply_is_cut_too() -> None:
    with scripted(Reply(b" " * (MAX_REPLY + 1))) as server, pytest.raises(Fatal, match="larger"):
        asyncio.run(ask(create("chat:m", Options(base_url=server.url))))


@each
def test_gzip_is_read(protocol: Protocol) -> None:
    packed = gzip.compress(protocol.body(RIGHT))
    with scripted(Reply(packed, headers={"Content-Encoding": "gzip"})) as server:
        component = create(f"{protocol.provider}:m", Options(base_url=server.url))
        assert asyncio.run(ask(component))[0].labels == RIGHT
        headers = {k.lower(): v for k, v in server.received[0].headers.items()}
    assert headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip"])
def test_a_compression_that_is_none_is_refused(encoding: str) -> None:
    reply = Reply(OPENAI.body(RIGHT), headers={"Content-Encoding": encoding})
    with scripted(reply) as server, pytest.raises(Fatal) as raised:
        asyncio.run(ask(create("openai:m", Options(base_url=server.url))))
    assert raised.value.error_type == "reply"


@each
def test_own_headers_go_along_and_stay_hidden(protocol: Protocol) -> None:
    options = Options(base_url="", headers={"X-Team": "team-secret-1"})
    with scripted(Reply(protocol.body(RIGHT))) as server:
        component = create(
            f"{protocol.provider}:m", Options(base_url=server.url, headers=options.headers)
        )
        asyncio.run(ask(component))
        headers = {k.lower(): v for k, v in server.received[0].headers.items()}
    assert headers["x-team"] == "team-secret-1"
    assert component.info.settings["headers"] == ["X-Team"]
    assert "team-secret-1" not in repr(component.info) + repr(options)
    assert "team-secret-1" in component.secrets  # type: ignore[attr-defined]


class _Forwarding(BaseHTTPRequestHandler):
    """An HTTP proxy: the request line holds the whole address."""

    seen: list[str]
    server_url: str

    def do_POST(self) -> None:
        self.seen.append(self.path)
        self.path = self.path.replace("http://models.example", self.server_url)
        body = self.rfile.read(int(self.headers["content-length"]))
        request = WebRequest(self.path, data=body, headers={"Content-Type": "application/json"})  # noqa: S310
        with urlopen(request) as reply:  # noqa: S310
            content = reply.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


def test_a_proxy_in_use_is_recorded_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    handler = type("Handler", (_Forwarding,), {"seen": seen})
    proxy = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    port = proxy.server_address[1]
    with scripted(Reply(SYSTEMONE.body(RIGHT))) as server:
        handler.server_url = server.url  # type: ignore[attr-defined]
        monkeypatch.setenv("http_proxy", f"http://me:hunter2@127.0.0.1:{port}")
        component = create("systemone:m", Options(base_url="http://models.example"))
        monkeypatch.delenv("http_proxy")  # the proxy's own request goes straight
        try:
            assert asyncio.run(ask(component))[0].labels == RIGHT
        finally:
            proxy.shutdown()
            proxy.server_close()
        assert seen == ["http://models.example/v1/systemone"]
    assert component.info.settings["http"]["proxy"] == f"127.0.0.1:{port}"
    assert "hunter2" not in repr(component.info)


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"])
def test_certificates_by_variable(
    variable: str, certificate: Certificate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    value = certificate.file
    if variable == "SSL_CERT_DIR":
        import shutil
        import subprocess

        shutil.copy(certificate.file, tmp_path / "one.pem")
        subprocess.run(["openssl", "rehash", str(tmp_path)], check=True, capture_output=True)
        value = tmp_path
    monkeypatch.setenv(variable, str(value))
    with http2_server(certificate, OPENAI.body(RIGHT)) as url:
        component = create("openai:m", Options(base_url=url))
        assert asyncio.run(ask(component))[0].labels == RIGHT
    assert component.info.settings["http"]["certificates"] == [variable]
    assert str(value) not in repr(component.info)


def test_the_tier_that_served_is_observed() -> None:
    body = {**json.loads(OPENAI.body(RIGHT)), "service_tier": "flex"}
    with scripted(Reply(json.dumps(body).encode())) as server:
        options = Options(base_url=server.url, extra={"service_tier": "priority"})
        component = create("openai:m", options)
        asyncio.run(ask(component, times=2))
        assert [r.json["service_tier"] for r in server.received] == ["priority"] * 2
    assert component.info.settings["service_tier"] == "priority"
    assert component.observed.to_json()["service_tier"] == {"flex": 2}  # type: ignore[attr-defined]
