"""A key leaves this machine only for the host it belongs to, and never in clear by way of a proxy."""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamdecisionbench.components.contract import Options
from streamdecisionbench.components.providers.address_and_key import is_own_network, is_this_machine
from streamdecisionbench.components.providers.connection import HttpSettings
from streamdecisionbench.components.registry import create
from streamdecisionbench.errors import InputError
from tests.components.protocols import PROTOCOLS, RIGHT, Protocol, asked_once
from tests.components.servers import Reply, scripted
from tests.components.test_http_policy import _VARIABLES

each = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
KEY = "sk-own-0123456789abcdef"
HERE = st.sampled_from(
    ["127.0.0.1", "127.8.9.10", "localhost", "[::1]", "::1", "[::]", "[::ffff:127.0.0.1]", "10.0.0.1"]
)  # fmt: skip
GLUE = st.sampled_from(
    ["%", "%.", "%25.", "%00.", ".", "..", "-", "_.", "@", "#", "?", "/", "\\", " ", "\t", ";", ",",
     ":80.", ":80@", "]", "].", "[", "\u3002", "\uff0e", "\u2024", "&", "+", "=", "%2e", "\x00"]
)  # fmt: skip
EVIL = st.sampled_from(["evil.example", "evil.example.", "com", "x", "127.0.0.1.evil.example"])


@pytest.fixture(autouse=True)
def own_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in _VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "")
    for name in ("OPENAI", "TYPESAFE", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)


@settings(deadline=None)
@given(HERE, GLUE, EVIL, st.booleans())
def test_a_host_that_only_looks_like_this_machine(
    here: str, glue: str, evil: str, turned: bool
) -> None:
    host = evil + glue + here if turned else here + glue + evil
    if turned and (evil + glue).endswith(".") and here == "localhost":
        return  # x.localhost is this machine by RFC 6761
    assert not is_this_machine(host)
    if "10.0" in here or not turned:
        assert not is_own_network(host)
    url = f"http://{host}/v1"
    try:
        component = create("openai:m", Options(base_url=url))
    except InputError:
        return
    service = component.service  # type: ignore[attr-defined]
    assert service.local or service.key != KEY
    if service.local:  # the rest was a user name, a path or a query, which never names the host
        netloc = service.base_url.split("/")[2]
        assert "evil" not in netloc or netloc.endswith(".localhost")


@given(st.text(max_size=30) | st.from_regex(r"[0-9a-fx.:%\[\]]{1,24}", fullmatch=True))
def test_this_machine_is_localhost_or_an_address_and_nothing_else(host: str) -> None:
    if not is_this_machine(host):
        return
    bare = host.strip().lower()
    if bare.startswith("["):
        bare = bare[1 : bare.index("]")]
    elif bare.count(":") == 1:
        bare = bare.split(":")[0]
    if bare.removesuffix(".").rpartition(".")[2] == "localhost":
        return
    assert "%" not in bare
    address = ipaddress.ip_address(bare)
    address = getattr(address, "ipv4_mapped", None) or address
    assert address.is_loopback or address.is_unspecified


@contextmanager
def listening() -> Iterator[tuple[int, list[bytes]]]:
    """A port that keeps whatever anybody sends to it and never answers."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hear() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    heard.append(connection.recv(65536))

        threading.Thread(target=hear, daemon=True).start()
        yield server.getsockname()[1], heard


@each
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY", "http_proxy"])
def test_this_machine_is_reached_without_a_proxy(
    protocol: Protocol, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening() as (port, heard), scripted(Reply(protocol.body(RIGHT))) as server:
        monkeypatch.setenv(variable, f"http://127.0.0.1:{port}")
        component = create(f"{protocol.provider}:m", Options(base_url=server.url))
        assert asked_once(component).labels == RIGHT
        assert not heard


@each
@pytest.mark.parametrize("host", ["nas", "nas.local", "10.0.0.1", "models.example"])
def test_no_key_goes_to_a_proxy_unencrypted(
    protocol: Protocol, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SDB_API_KEY", KEY)
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    with pytest.raises(InputError, match="as it is: http is not encrypted") as raised:
        create(f"{protocol.provider}:m", Options(base_url=f"http://{host}:8080"))
    assert KEY not in str(raised.value)
    create(f"{protocol.provider}:m", Options(base_url=f"http://{host}:8080", plain_http=True))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.9.9.9"])
def test_the_settings_name_no_proxy_for_this_machine(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://proxy.example:3128")
    assert HttpSettings.for_url(f"http://{host}:8080/v1").proxy is None
    assert HttpSettings.for_url("http://models.example/v1").proxy is not None
