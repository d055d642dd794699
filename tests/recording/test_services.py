"""Recording over a network: secrets a server echoes, gateways, limits, planted links, loopback ports."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamdecisionbench.components.contract import ComponentInfo, Fatal
from streamdecisionbench.components.redaction import HIDDEN, Redactor, secrets_at_hand
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.episode import Tally
from streamdecisionbench.recording.merge import merge
from streamdecisionbench.recording.prices import estimate
from streamdecisionbench.recording.progress import Progress
from streamdecisionbench.recording.recording_folder import RunEnd
from streamdecisionbench.recording.run_file import write_run
from streamdecisionbench.recording.run_options import RetryPolicy, RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
)
from streamdecisionbench.suite.suite_files import read_suite, write_suite
from tests.recording.recorder_kit import loopback_server, small_suite, suite_folder

pytestmark = pytest.mark.slow

Served = tuple[int, dict[str, str], Any]


def system_one(payload: dict[str, Any], model: str = "served") -> Served:
    """A right answer of a System One server, the first label where none is known."""
    hint, answers = payload["state"].get("hint", {}), {}
    for q, question in payload["questions"].items():
        labels = list(question["criteria"])
        right = hint.get(q, labels[0])
        spread = {label: float(label == right) for label in labels}
        answers[q] = {"choice": right, "probabilities": spread}
    return 200, {}, {"model": model, "answers": answers}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return suite_folder(tmp_path / "suite", "one_a", "two_b", tick=0.05)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SDB_API_KEY", "TYPESAFE_API_KEY", "TYPESAFE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def run(data: Path, out: Path, url: str | None, **more: Any) -> RunEnd:
    request = RunOptions.of(
        components={None: "systemone:m"},
        out=out,
        data=data,
        base_urls={None: url},
        **{"scenarios": ("one_a",), **more},
    )
    return launch(request, lambda estimates: True)[0]


def written(out: Path) -> str:
    return "".join(file.read_text() for file in out.iterdir())


@pytest.mark.parametrize("key", ["sk-0123456789abcdef", "k3y", "abc-1"])
@pytest.mark.parametrize("place", ["username", "password alone", "both", "variable", "exported"])
def test_a_key_the_server_echoes_as_its_name_is_not_recorded(
    data: Path, tmp_path: Path, key: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with loopback_server(lambda payload, asked: system_one(payload, f"echo of {key}!")) as url:
        inside = {"username": f"{key}@", "password alone": f":{key}@", "both": f"me:{key}@"}
        address: str | None = url.replace("//", f"//{inside.get(place, '')}")
        if place == "variable":
            monkeypatch.setenv("TYPESAFE_BASE_URL", url.replace("//", f"//{key}@"))
            address = None
        elif place == "exported":
            monkeypatch.setenv("SDB_API_KEY", key)
        assert run(data, tmp_path / "out", address).status == "complete"
    text = written(tmp_path / "out")
    assert key not in text
    assert "echo of [hidden]!" in text


@given(
    stem=st.text("ab-", min_size=10, max_size=24),
    cuts=st.lists(st.tuples(st.integers(0, 8), st.integers(9, 24)), min_size=2, max_size=6),
    sent=st.sets(st.integers(0, 5)),
)
def test_no_part_of_a_secret_is_left_where_another_lies_in_it(
    stem: str, cuts: list[tuple[int, int]], sent: set[int]
) -> None:
    """`sk-team` and `sk-team-7f3a`: hiding the shorter one first would show the tail of the other."""
    secrets = [stem[begin:end] for begin, end in cuts]
    clean = Redactor(secrets, [secrets[k] for k in sent if k < len(secrets)])
    for secret in (s for s in secrets if len(s) >= 8):
        assert clean(secret) == HIDDEN
        assert clean(f"key={secret}!") == f"key={HIDDEN}!"


def test_of_short_secrets_that_were_sent_the_longer_goes_first() -> None:
    assert Redactor([], sent=["k3y", "k3y-1"])("wrong key k3y-1") == f"wrong key {HIDDEN}"


def test_a_password_is_hidden_as_it_is_written_and_as_it_is_sent() -> None:
    assert secrets_at_hand("https://me:p%40ss%2Fword@host/v1", {}) == ["p%40ss%2Fword", "p@ss/word"]


def test_an_echoed_password_is_hidden_in_every_form(data: Path, tmp_path: Path) -> None:
    """The URL has it escaped, basic authentication encodes it, and a server may decode it."""
    with loopback_server(lambda payload, asked: system_one(payload, "echo of p@ss/word7!")) as url:
        address = url.replace("//", "//me:p%40ss%2Fword7@")
        assert run(data, tmp_path / "out", address).status == "complete"
    assert "p@ss" not in written(tmp_path / "out")
    assert "echo of [hidden]!" in written(tmp_path / "out")


def test_secret_options_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "telling_own.py").write_text(
        "from streamdecisionbench.components.contract import ComponentInfo\n"
        "class Own:\n"
        "    def __init__(self, options):\n"
        "        self.info = ComponentInfo('python', 'own', dict(options.extra), in_process=True)\n"
        "    def answer(self, request):\n"
        "        return {q: request.state['hint'][q] for q in request.questions}\n"
    )
    data = suite_folder(tmp_path / "suite", tick=0.01)
    request = RunOptions.of(
        components={None: "python:telling_own:Own"},
        out=tmp_path / "out",
        data=data,
        extra={"api_key": "hunter2", "threads": "2", "prompt_cache_key": "seven"},
    )
    launch(request, lambda estimates: True)
    settings = json.loads((tmp_path / "out" / "run.json").read_text())["config"]["settings"]
    assert settings == {"api_key": "[hidden]", "threads": "2", "prompt_cache_key": "seven"}


def failing_once(status: int, headers: dict[str, str] | None = None) -> Callable[..., Served]:
    def reply(payload: dict[str, Any], asked: int) -> Served:
        return (status, headers or {}, {"error": "x"}) if asked == 1 else system_one(payload)

    return reply


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_gateway_that_fails_stops_a_pass_unless_told_otherwise(
    data: Path, tmp_path: Path, status: int
) -> None:
    stopping = pytest.raises(Fatal, match="--retry-gateway")
    with loopback_server(failing_once(status)) as url, stopping:
        run(data, tmp_path / "stopped", url)
    with loopback_server(failing_once(status)) as url:
        outcome = run(data, tmp_path / "retried", url, retry=RetryPolicy.of(gateway=True))
    assert outcome.status == "complete"
    # Six, but fewer where a busy machine made the recorder begin the scenario anew.
    assert 1 <= outcome.summary["failed_attempts"] <= 6
    config = json.loads((tmp_path / "retried" / "run.json").read_text())["config"]
    assert "gateway error" in config["retry"]["retried"]
    assert '"error_type":"gateway"' in written(tmp_path / "retried")


def test_a_limited_service_says_so(data: Path, tmp_path: Path) -> None:
    with loopback_server(failing_once(503, {"Retry-After": "0"})) as url:
        assert run(data, tmp_path / "waited", url).status == "complete"
    always = loopback_server(lambda payload, asked: (429, {"Retry-After": "0"}, {}))
    with always as url, pytest.raises(Fatal, match="longer --interval"):
        run(data, tmp_path / "given-up", url)


class Heard(Progress):
    """Keeps what would be said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, event: str, **facts: Any) -> None:
        if event == "notice":
            self.said.append(facts["text"])

    def show(self, tally: Tally) -> None:
        pass


def test_the_first_failure_is_told_at_once_with_what_to_try(data: Path, tmp_path: Path) -> None:
    progress = Heard()
    with loopback_server(failing_once(429)) as url:
        request = RunOptions.of(
            components={None: "systemone:m"}, out=tmp_path / "out", data=data, base_urls={None: url}
        )
        launch(request, lambda estimates: True, progress)
    (said,) = progress.said
    assert "limits the rate of requests" in said
    assert "--interval" in said


def test_what_the_service_would_refuse_is_refused_before_it_is_paid(tmp_path: Path) -> None:
    import msgspec

    suite = small_suite("one_a")
    raw = msgspec.to_builtins(suite.scenarios["one_a"])
    labels = {f"K{n:03d}": f"value{n}" for n in range(256)}
    raw["questions"]["speed"]["criteria"] = {k: f"{v}: it is {v}" for k, v in labels.items()}
    raw["option_semantics"]["speed"] = labels
    for step in raw["steps"]:
        step["gold"]["speed"] = "value0"
    from streamdecisionbench.suite.scenario import Scenario
    from streamdecisionbench.suite.suite_files import make_suite

    write_suite(make_suite([msgspec.convert(raw, Scenario)], name="wide"), tmp_path / "suite")
    asked: list[int] = []

    def confirm(estimates: Any) -> bool:
        asked.append(1)
        return True

    request = RunOptions.of(
        components={None: "systemone:m"},
        out=tmp_path / "out",
        data=tmp_path / "suite",
        base_urls={None: "http://127.0.0.1:1"},
    )
    with pytest.raises(InputError, match="speed has 256 options; System One takes 2 to 255"):
        launch(request, confirm)
    assert not asked
    assert not (tmp_path / "out").exists()


def test_planted_links_are_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("keep me")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "run.json.tmp").symlink_to(target)
    write_run(folder, {"status": "running"})
    assert target.read_text() == "keep me"
    assert json.loads((folder / "run.json").read_text()) == {"status": "running"}
    (folder / "events.jsonl").symlink_to(tmp_path / "precious")
    from streamdecisionbench.recording.event_log import EventLog

    with pytest.raises((OSError, InputError)):
        EventLog(folder, resume=True)
    assert target.read_text() == "keep me"


def test_a_server_of_this_machine_may_move_to_another_port(data: Path, tmp_path: Path) -> None:
    with loopback_server(lambda payload, asked: system_one(payload)) as url:
        run(data, tmp_path / "a", url)
    with loopback_server(lambda payload, asked: system_one(payload)) as other:
        assert other != url
        run(data, tmp_path / "b", other, scenarios=("two_b",))
    joined = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "joined")
    assert joined["config"]["scenarios"] == ["one_a", "two_b"]


@pytest.mark.parametrize(
    ("host", "paid"),
    [("[::1]:8080", False), ("localhost:1", False), ("10.1.2.3", False), ("a.example", True)],
)
def test_this_machine_sends_no_bill(host: str, paid: bool) -> None:
    info = ComponentInfo("systemone", "m", base_url_host=host)
    assert (estimate(info, small_suite()) is not None) == paid


def test_what_was_seen_on_the_wire_is_in_the_run_record(data: Path, tmp_path: Path) -> None:
    with loopback_server(lambda payload, asked: system_one(payload)) as url:
        run(data, tmp_path / "out", url)
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    seen = record["observed"]["component"]
    assert seen["requests"] >= 6
    assert seen["http_versions"] == {"HTTP/1.1": seen["requests"]}
    assert record["config"]["settings"]["http"]["keepalive_s"] == 600.0
    assert record["environment"]["versions"]["httpx2"]


def test_a_simulation_behind_a_gateway_stays_one(data: Path, tmp_path: Path) -> None:
    """The gateway gives the model a name of its own; the label in the metadata survives."""

    def reply(payload: dict[str, Any], asked: int) -> Served:
        status, headers, body = system_one(payload, "gateway-alias")
        return status, headers, {**body, "metadata": {"simulation": "of figures"}}

    with loopback_server(reply) as url:
        run(data, tmp_path / "out", url)
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["served_models"] == ["simulated:gateway-alias"]
    assert record["config"]["simulated"] is True


def test_runs_on_different_terms_do_not_look_alike(data: Path, tmp_path: Path) -> None:
    from streamdecisionbench.recording.provenance_notes import unusual_settings
    from streamdecisionbench.recording.reader import read_recording
    from streamdecisionbench.scoring.score import score

    with loopback_server(lambda payload, asked: system_one(payload)) as url:
        run(data, tmp_path / "plain", url, scenarios=())
        run(data, tmp_path / "patient", url, scenarios=(), retry=RetryPolicy.of(gateway=True))
    suite = read_suite(data)
    plain, patient = (read_recording(tmp_path / name, suite) for name in ("plain", "patient"))
    assert "retried:" not in score(plain, suite).signature
    assert "retried:gateway" in score(patient, suite).signature
    tiers = {"settings": {"service_tier": "flex", "cache_control": "1h", "input": "json"}}
    assert unusual_settings(tiers) == {"tier": "flex", "cache": "1h"}
