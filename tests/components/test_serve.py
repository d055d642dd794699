"""`sdb serve` as a real process: the real SDKs against it, many at once, and input it must survive."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.components.contract import Options, Request, check_answer
from streamdecisionbench.components.registry import create
from streamdecisionbench.components.simulated.profiles import builtin_profiles, find_profile
from streamdecisionbench.components.simulated.simulator import draw_scenario
from streamdecisionbench.families.registry import drafts
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import make_suite, write_suite
from tests.cli.command import sdb

pytestmark = pytest.mark.slow

SERVE = [sys.executable, "-m", "streamdecisionbench.cli.main", "serve"]
QUICK = {
    "name": "quick",
    "title": "a quick service for tests",
    "untimed": 60,
    "latency": {"floor_s": 0.001, "p50_s": 0.002, "p95_s": 0.004, "max_s": 0.01},
}
STEADY = QUICK | {
    "name": "steady",
    "latency": {"floor_s": 0.5, "p50_s": 0.5, "p95_s": 0.5, "max_s": 0.5},
}


@dataclass(frozen=True)
class Server:
    process: subprocess.Popen[str]
    port: int
    suite: Suite
    folder: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def post(self, path: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("POST", path, data, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())

    def raw(self, data: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as sock:
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            found = b""
            while chunk := sock.recv(65536):
                found += chunk
        return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("serve")
    suite = make_suite([expand(draft) for draft in drafts().values()], name="SDB v1")
    write_suite(suite, folder / "suite")
    for profile in (QUICK, STEADY):
        (folder / f"{profile['name']}.json").write_text(json.dumps(profile))
    command = [*SERVE, "--port", "0", "--seed", "3", "--data", str(folder / "suite")]
    command += ["--profile", str(folder / "quick.json"), "--profile", str(folder / "steady.json")]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    line = process.stdout.readline()
    match = re.search(r"http://127\.0\.0\.1:(\d+)", line)
    assert match, line
    yield Server(process, int(match[1]), suite, folder)
    process.terminate()
    process.communicate(timeout=60)


def body_of(server: Server, model: str, scenario: str, t: int) -> dict[str, Any]:
    return {"model": model, **server.suite.scenarios[scenario].request(t)}


def expected(server: Server, scenario_id: str, t: int) -> dict[str, str]:
    scenario = server.suite.scenarios[scenario_id]
    profile = find_profile(str(server.folder / "quick.json"))
    return scenario.encode(draw_scenario(profile, scenario, 3)[t].answers)


def test_system_one_with_the_real_sdk(server: Server) -> None:
    from typesafe_sdk import TypeSafeClient, TypeSafeNotFoundError, TypeSafeUnprocessableEntityError

    scenario = server.suite.scenarios["support_a"]
    with TypeSafeClient(api_key="not-a-secret", base_url=server.url) as client:
        for t in range(0, 60, 7):
            request = scenario.request(t)
            reply = client.system_one(model="quick", **request)
            choices = {name: answer.choice for name, answer in reply.choices.items()}
            assert choices == expected(server, "support_a", t)
            assert reply.model == "simulated:quick"
            for answer in reply.choices.values():
                assert sum(answer.probabilities.values()) == pytest.approx(1)
                assert answer.probabilities[answer.choice] == answer.confidence
        with pytest.raises(TypeSafeNotFoundError, match="jev, laya-english"):
            client.system_one(model="jev-newest", **request)
        assert client.system_one(model="jev-latest", **request).model == "simulated:jev"
        with pytest.raises(TypeSafeUnprocessableEntityError, match="none of the 480 states"):
            client.system_one(model="quick", **request | {"state": {"now": 1}})
        listed = client.models.list().models
        assert {m.name for m in listed} == {*builtin_profiles(), "quick", "steady"}
        assert all(m.description.startswith("simulation of") for m in listed)


def test_responses_with_the_real_sdk(server: Server) -> None:
    from openai import NotFoundError, OpenAI, UnprocessableEntityError

    scenario = server.suite.scenarios["presenter_b"]
    client = OpenAI(api_key="not-a-secret", base_url=f"{server.url}/v1", max_retries=0)
    request = scenario.request(11)
    text = json.dumps({"questions": request["questions"], "state": request["state"]})
    for sent in (text, [{"role": "user", "content": [{"type": "input_text", "text": text}]}]):
        reply = client.responses.create(model="quick", input=sent, store=False)
        assert json.loads(reply.output_text) == expected(server, "presenter_b", 11)
        assert reply.model == "simulated:quick"
        assert reply.usage is not None
        assert reply.usage.input_tokens > 500
        assert reply.usage.output_tokens_details.reasoning_tokens == 0
        assert reply.usage.input_tokens_details.cached_tokens == 0
    with pytest.raises(NotFoundError, match="terra-none"):
        client.responses.create(model="gpt", input=text)
    with pytest.raises(UnprocessableEntityError, match="no JSON object"):
        client.responses.create(model="quick", input="hello")
    assert "astra-low" in {model.id for model in client.models.list()}


@pytest.mark.parametrize(("provider", "path"), [("systemone", ""), ("openai", "/v1")])
def test_our_own_components_against_it(
    server: Server, provider: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "TYPESAFE_API_KEY"):
        monkeypatch.setenv(variable, "not-a-secret")

    async def ask() -> None:
        component = create(f"{provider}:quick", Options(base_url=server.url + path))
        await component.open()
        for scenario in server.suite:
            request = Request(**scenario.request(30))
            answer = await component.answer(request)
            check_answer(answer, request.questions)
            assert answer.labels == expected(server, scenario.scenario_id, 30)
            assert answer.model == "simulated:quick"
        await component.close()

    asyncio.run(ask())


def test_hundreds_wait_at_once(server: Server) -> None:
    """400 requests of half a second on 400 connections: one after another they would need 200 s."""
    bodies = [
        json.dumps(body_of(server, "steady", s.scenario_id, t)).encode()
        for s in server.suite
        for t in range(50)
    ]

    async def one(body: bytes) -> tuple[bytes, float]:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        head = (
            f"POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        begin = asyncio.get_running_loop().time()
        writer.write(head.encode() + body)
        status = await reader.readline()
        took = asyncio.get_running_loop().time() - begin
        writer.close()
        return status, took

    async def everyone() -> list[tuple[bytes, float]]:
        return await asyncio.wait_for(asyncio.gather(*(one(body) for body in bodies)), 100)

    found = asyncio.run(everyone())
    assert {status for status, _ in found} == {b"HTTP/1.1 200 OK\r\n"}
    # The drawn time is a floor; how much later an answer is seen depends on the machine.
    assert min(took for _, took in found) >= 0.498


def test_keep_alive_and_pipelined_requests_answer_in_order(server: Server) -> None:
    data, wanted = b"", []
    for model, t in (("steady", 1), ("quick", 2), ("quick", 3)):
        body = json.dumps(body_of(server, model, "assembly_a", t)).encode()
        head = (
            f"POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        data += head.encode() + body
        wanted.append(f"simulated:{model}")
    data += b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as sock:
        sock.sendall(data)
        found = b""
        while chunk := sock.recv(65536):
            found += chunk
    assert [m.decode() for m in re.findall(rb'"model":"([^"]+)"', found)] == wanted
    assert found.count(b"HTTP/1.1 200 OK") == 4
    assert b"connection: close" in found.lower()


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x00\x01\x02\r\n\r\n", 400),
        (b"GET /health HTTP/9.7\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\nbad header\r\n\r\n", 400),
        (b"POST /v1/responses HTTP/1.1\r\nContent-Length: -5\r\n\r\n", 400),
        (b"POST /v1/responses HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    ],
)
def test_what_is_not_http_gets_a_status_and_the_server_lives(
    server: Server, data: bytes, status: int
) -> None:
    """Refused by the server library, in its words."""
    reply = server.raw(data)
    assert reply.startswith(f"HTTP/1.1 {status} ".encode()), reply[:200]
    assert server.get("/health")[0] == 200


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process as Linux has it")
@pytest.mark.parametrize(
    "begins",
    [
        b"GET /health HTTP/1.1\r\nX-Large: ",
        b"GET /",
        b"GET /health HTTP/1.1\r\n",
        b"POST /v1/responses HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nX-Large: ",
        b"POST /v1/responses HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;",
    ],
    ids=["header", "address", "headers", "trailer", "extension"],
)
def test_a_head_of_a_hundred_megabytes_is_refused_in_little_memory(
    server: Server, begins: bytes
) -> None:
    def peak_kb() -> int:
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0])

    piece = b"X-More: some\r\n" * 75_000 if begins.endswith(b"1.1\r\n") else b"a" * 1_000_000
    assert server.get("/health")[0] == 200
    before, reply = peak_kb(), b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as sock:
        try:
            sock.sendall(begins)
            for _ in range(100):
                sock.sendall(piece)
            reply = sock.recv(65536)
        except OSError:  # closed before all of it was sent
            pass
    assert peak_kb() - before < 20_000
    if b"chunked" not in begins:
        assert reply.startswith(b"HTTP/1.1 431 ")
    assert server.get("/health")[0] == 200


@pytest.mark.parametrize(("size", "status"), [(60_000, 200), (70_000, 431), (200_000, 431)])
def test_a_head_has_at_most_64_kib(server: Server, size: int, status: int) -> None:
    head = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Large: "
    reply = server.raw(head + b"a" * size + b"\r\n\r\n")
    assert reply.startswith(f"HTTP/1.1 {status} ".encode()), reply[:200]


def test_a_body_in_the_smallest_chunks_is_read(server: Server) -> None:
    body = json.dumps(body_of(server, "quick", "support_a", 0)).encode()
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    assert len(chunks) > 1 << 15
    head = b"POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as sock:
        sock.sendall(head + chunks)
        reply = sock.recv(65536)
    assert reply.startswith(b"HTTP/1.1 200 "), reply[:200]


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"POST /v1/responses HTTP/1.1\r\nContent-Length: 99999999999", 413),
        (b"PUT /health HTTP/1.1", 405),
        (b"GET /v1/systemone HTTP/1.1", 405),
        (b"GET /nowhere HTTP/1.1", 404),
    ],
)
def test_requests_out_of_place_are_refused_in_json(
    server: Server, head: bytes, status: int
) -> None:
    refused = server.get("/health")[1]["refused"]
    reply = server.raw(head + b"\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert reply.startswith(f"HTTP/1.1 {status} ".encode()), reply[:200]
    assert json.loads(reply.partition(b"\r\n\r\n")[2])["error"]["message"]
    assert server.get("/health")[1]["refused"] == refused + 1


@pytest.mark.parametrize(
    ("host", "fine"),
    [
        ("127.0.0.1:{port}", True),
        ("localhost:{port}", True),
        ("LOCALHOST", True),
        ("[::1]:{port}", True),
        ("models.localhost:{port}", True),
        ("evil.example:{port}", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example:{port}", False),
        ("8.8.8.8", False),
        ("", False),
    ],
)
def test_only_names_of_this_machine_are_answered(server: Server, host: str, fine: bool) -> None:
    """Another site's name that points to this machine would be that site's page asking."""
    name = host.format(port=server.port)
    for reply in (
        server.post("/v1/systemone", body_of(server, "quick", "debugging_b", 9), Host=name),
        server.get("/health", Host=name),
    ):
        assert reply[0] == (200 if fine else 421)
        assert fine or reply[1]["error"]["code"] == "wrong_host"


def test_a_body_in_chunks_is_read(server: Server) -> None:
    body = json.dumps(body_of(server, "quick", "debugging_b", 9)).encode()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    pieces = (body[k : k + 1000] for k in range(0, len(body), 1000))
    connection.request("POST", "/v1/systemone", pieces, encode_chunked=True)
    reply = json.loads(connection.getresponse().read())
    assert reply == server.post("/v1/systemone", body)[1]


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/v1/systemone", b"{", 400, "not valid JSON"),
        ("/v1/systemone", b"[1]", 400, "not a JSON object"),
        ("/v1/systemone", b"[" * 200000, 400, "not valid JSON"),
        ("/v1/systemone", b"\xff\xfe", 400, "not valid JSON"),
        ("/v1/systemone", {}, 400, "no `model`"),
        ("/v1/systemone", {"model": "quick", "state": {}, "questions": {"a": 1}}, 422, "choice"),
        ("/v1/systemone", {"model": "quick", "state": "x", "questions": {}}, 422, "no JSON object"),
        ("/v1/responses", {"model": "quick", "input": 5}, 422, "no JSON object"),
        ("/v1/responses", {"model": "quick", "input": "{" * 100000}, 422, "no JSON object"),
        ("/v1/responses", {"model": "quick", "input": "", "stream": True}, 400, "does not stream"),
    ],
)
def test_bad_bodies_are_explained(
    server: Server, path: str, body: Any, status: int, message: str
) -> None:
    got, reply = server.post(path, body)
    assert got == status
    assert message in reply["error"]["message"]


def test_compressed_bodies(server: Server) -> None:
    body = json.dumps(body_of(server, "quick", "debugging_b", 9)).encode()
    plain = server.post("/v1/systemone", body)
    assert plain[0] == 200
    assert (
        server.post("/v1/systemone", gzip.compress(body), **{"Content-Encoding": "gzip"}) == plain
    )
    for data, encoding, status in (
        (body, "gzip", 400),
        (body, "br", 415),
        (gzip.compress(b" " * 20_000_000), "gzip", 413),
    ):
        assert server.post("/v1/systemone", data, **{"Content-Encoding": encoding})[0] == status


def test_schema_may_nest_the_answers(server: Server) -> None:
    request = server.suite.scenarios["debugging_a"].request(2)
    names = request["questions"]
    inner = {"type": "object", "properties": {n: {"type": "string"} for n in names}}
    schema = {"type": "object", "properties": {"answers": inner}}
    body = {
        "model": "quick",
        "input": "Decide. " + json.dumps(request) + " Thank you.",
        "text": {"format": {"type": "json_schema", "name": "x", "schema": schema}},
    }
    status, reply = server.post("/v1/responses", body)
    assert status == 200
    text = json.loads(reply["output"][0]["content"][0]["text"])
    assert text == {"answers": expected(server, "debugging_a", 2)}


def test_health_says_that_it_is_a_simulation(server: Server) -> None:
    status, health = server.get("/health")
    assert status == 200
    assert health["simulation"] is True
    assert health["seed"] == 3
    assert health["dataset_hash"] == server.suite.dataset_hash


def test_a_taken_port_and_a_missing_suite_exit_with_two(server: Server) -> None:
    suite = str(server.folder / "suite")
    taken = sdb("serve", "--port", str(server.port), "--data", suite)
    assert taken.returncode == 2
    assert "choose another --port" in taken.stderr
    missing = sdb("serve", "--port", "0", "--data", server.folder / "nothing")
    assert missing.returncode == 2
    assert "no such file" in missing.stderr
    assert "Traceback" not in taken.stderr + missing.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stops_in_order(server: Server, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [*SERVE, "--port", "0", "--data", str(server.folder / "suite")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    process.send_signal(number)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "answered 0 requests" in out
    assert error == ""


def test_an_empty_host_is_not_every_address() -> None:
    done = sdb("serve", "--host", "", "--port", "0")
    assert done.returncode == 2
    assert "every address" in done.stderr


def test_running_out_of_file_descriptors_is_told_once(tmp_path: Path) -> None:
    """asyncio reports every client it cannot take: thousands of lines."""
    errors = tmp_path / "errors"
    command = ["bash", "-c", 'ulimit -n 64; exec "$@"', "serve", *SERVE, "--port", "0"]
    with errors.open("w") as log:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
    assert process.stdout is not None
    match = re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())
    assert match
    address = ("127.0.0.1", int(match[1]))
    held: list[socket.socket] = []
    try:
        for _ in range(120):
            held.append(socket.create_connection(address, timeout=10))
        for _ in range(100):
            if errors.read_text():
                break
            time.sleep(0.05)
        time.sleep(1.2)  # asyncio tries again after a second
        assert len(errors.read_text().splitlines()) == 1
        for one in held:
            one.close()
        time.sleep(1.2)
        connection = http.client.HTTPConnection(*address, timeout=30)
        connection.request("GET", "/health")
        assert connection.getresponse().status == 200
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_every_server_is_the_one_with_the_limits() -> None:
    source = Path(__file__).resolve().parents[2] / "src" / "streamdecisionbench"
    starts = re.compile(
        r"\buvicorn\b|http\.server|HTTPServer|start_server|make_server|socketserver"
    )
    found = {
        path.name
        for path in source.rglob("*.py")
        for line in path.read_text().splitlines()
        if starts.search(line) and line.lstrip().startswith(("import", "from", "class"))
    }
    assert found == {"http_server.py"}
