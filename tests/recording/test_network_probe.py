"""The network beside the answers: probed before and after every scenario, without a single byte sent."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.components.providers.connection import HttpSettings, Observed, Server
from streamdecisionbench.recording.network_probe import probe
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import record
from streamdecisionbench.sharing.bundles import conditions
from tests.components.secure import make_certificate
from tests.recording.recorder_kit import InProcess, alone, settings, small_suite


@contextmanager
def counting(context: Any = None) -> Iterator[tuple[Server, list[bytes]]]:
    """A real server that keeps every byte of every connection."""
    seen: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    link, _ = listener.accept()
                except OSError:
                    return
                try:
                    with context.wrap_socket(link, server_side=True) if context else link as open_:
                        open_.settimeout(10)
                        seen.append(open_.recv(100))
                except OSError:
                    seen.append(b"")

        threading.Thread(target=serve, daemon=True).start()
        scheme = "https" if context else "http"
        url = f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/v1"
        found = Server.at(url, HttpSettings.for_url(url))
        assert found is not None
        yield found, seen


def test_a_probe_connects_and_says_nothing() -> None:
    with counting() as (server, seen):
        found = probe(server)
        assert set(found) == {"at", "resolve_ms", "connect_ms", "round_trip_ms"}
        assert 0 < found["round_trip_ms"] <= found["connect_ms"]
    assert all(data == b"" for data in seen)


def test_a_probe_agrees_on_encryption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
    with counting(made.context) as (server, seen):
        found = probe(server)
    assert found["tls"].startswith("TLSv1")
    assert found["tls_ms"] > 0
    assert all(data == b"" for data in seen)
    monkeypatch.delenv("SSL_CERT_FILE")
    with counting(made.context) as (server, _):
        unknown = probe(server)
    assert unknown["failed"] == "SSLCertVerificationError"
    assert unknown["connect_ms"] > 0


def test_what_cannot_be_reached_is_named_by_its_kind() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert (
        probe(Server("127.0.0.1", port, False, HttpSettings()))["failed"]
        == "ConnectionRefusedError"
    )
    assert "failed" in probe(Server("no-such-host.invalid", 80, False, HttpSettings()))
    assert "failed" in probe(Server("." * 70, 80, False, HttpSettings()))


def test_behind_a_proxy_nothing_is_probed() -> None:
    assert (
        Server.at("https://models.example.org", HttpSettings(proxy="http://10.0.0.1:3128")) is None
    )


def test_the_run_record_says_how_far_the_server_was(tmp_path: Path) -> None:
    suite, out = small_suite("one_a", "two_b", steps=3, tick=0.05), tmp_path / "out"
    with counting() as (server, seen):
        component = InProcess(in_process=False, base_url_host=f"127.0.0.1:{server.port}")
        component.observed = Observed(server)  # type: ignore[attr-defined]
        record(suite, alone(component), settings(suite), out)
    run = json.loads((out / "run.json").read_text())
    assert [entry["scenario"] for entry in run["network"]] == ["one_a", "two_b"]
    for entry in run["network"]:
        assert entry["host"] == f"127.0.0.1:{server.port}"
        assert entry["before"]["at"] <= entry["after"]["at"]
        assert entry["before"]["round_trip_ms"] > 0
        assert entry["after"]["round_trip_ms"] > 0
    assert all(data == b"" for data in seen)
    assert conditions(read_recording(out, suite), {})["network"] == run["network"]
    client = run["summary"]["client"]
    assert 0 < client["cpu_share"] <= (os.cpu_count() or 1)
    assert run["environment"]["open_files"] > 0
    # A resumed recording keeps what was probed around the scenarios it keeps.
    lines = (out / "events.jsonl").read_bytes().splitlines(keepends=True)
    (out / "events.jsonl").write_bytes(b"".join(x for x in lines if b"one_a" in x))
    (out / "run.json").write_text(json.dumps({**run, "status": "running"}))
    with counting() as (server, _):
        component.observed = Observed(server)  # type: ignore[attr-defined]
        record(suite, alone(component), settings(suite), out, resume=True)
    again = json.loads((out / "run.json").read_text())["network"]
    assert [entry["scenario"] for entry in again] == ["one_a", "two_b"]
    assert again[0] == run["network"][0]


def test_in_process_and_on_the_virtual_clock_nothing_is_far(tmp_path: Path) -> None:
    suite = small_suite(steps=3)
    record(suite, alone(InProcess()), settings(suite, clock="virtual"), tmp_path / "out")
    assert "network" not in json.loads((tmp_path / "out" / "run.json").read_text())
