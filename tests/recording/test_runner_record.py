"""A whole pass into a folder: the run record, refusals, stops, secrets, and the command itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.components.contract import Answer, ComponentInfo, Fatal, Request
from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.recording import prices as cost_estimate
from streamdecisionbench.recording.episode import Member
from streamdecisionbench.recording.event_log import EVENTS_FILE
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import record
from streamdecisionbench.recording.run_file import RUN_FILE
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    choose_scenarios,
    launch,
)
from tests.cli import command
from tests.recording.loopback_component import KEY_VARIABLE, Loopback
from tests.recording.recorder_kit import (
    InProcess,
    alone,
    loopback_server,
    ok,
    right,
    settings,
    small_suite,
    suite_folder,
)
from tests.recording.warm_process import start

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
PLANTED = "sk-planted-0123456789abcdef"


def sdb(*arguments: str | Path, url: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    return command.sdb(*arguments, cwd=HERE, SDB_TEST_URL=url, COLUMNS="200", **more)


def environment(url: str, **more: str) -> dict[str, str]:
    return {**os.environ, "SDB_TEST_URL": url, "COLUMNS": "200", **more}


def run_record(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / RUN_FILE).read_text())
    return found


def test_a_pass_is_complete_and_loads(tmp_path: Path) -> None:
    suite = small_suite("one_a", "two_b")
    component = InProcess()
    outcome = record(suite, alone(component), settings(suite, interval_s=0.01), tmp_path / "out")
    assert outcome.status == "complete"
    assert (component.opened, component.closed) == (1, 1)
    recording = read_recording(tmp_path / "out", suite)
    assert list(recording.episodes) == ["one_a", "two_b"]
    run = run_record(tmp_path / "out")
    config = run["config"]
    assert config["interval_s"] == config["tick_seconds"] == 0.01
    assert config["component"] == "test:in-process"
    assert config["clock"] == "real"
    assert config["max_in_flight"] == 32
    assert config["retry"]["delays_s"] == [0.0, 0.5, 1.0, 2.0]
    assert config["scenarios"] == ["one_a", "two_b"]
    assert run["dataset_manifest"]["dataset_hash"] == suite.dataset_hash
    assert run["environment"]["clock"]["resolution_s"] > 0
    assert run["environment"]["versions"]["streamdecisionbench"]
    assert run["started_at"] < run["ended_at"]
    assert run["summary"]["responses"] == 12


def test_scenarios_run_one_after_another(tmp_path: Path) -> None:
    suite = small_suite("one_a", "two_b")
    record(suite, alone(InProcess()), settings(suite), tmp_path)
    lines = [json.loads(line) for line in (tmp_path / EVENTS_FILE).read_text().splitlines()]
    order = [line["episode_id"] for line in lines]
    assert order == sorted(order)


def test_a_live_pair_is_recorded_with_both_halves(tmp_path: Path) -> None:
    suite = small_suite("one_a", steps=5)
    lanes = [Member(InProcess(), "fast"), Member(InProcess(), "slow")]
    chosen = settings(suite, names={"fast": "test:f", "slow": "test:s"}, rule="freshest")
    assert record(suite, lanes, chosen, tmp_path / "out").status == "complete"
    recording = read_recording(tmp_path / "out", suite)
    assert {
        role: len(half.episodes["one_a"].responses) for role, half in recording.halves.items()
    } == {
        "fast": 5,
        "slow": 5,
    }
    assert recording.config["rule"] == "freshest"
    assert recording.config["slow"]["component"] == "test:s"


def test_what_a_simulating_server_answered_is_labelled(tmp_path: Path) -> None:
    async def served(request: Request, call: int) -> Answer:
        return right(request, model="simulated:jev")

    suite = small_suite()
    record(suite, alone(InProcess(served)), settings(suite), tmp_path)
    assert read_recording(tmp_path, suite).simulated


def test_a_folder_that_is_not_fresh_is_refused(tmp_path: Path) -> None:
    suite = small_suite()
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="is not a fresh folder"):
        record(suite, alone(InProcess()), settings(suite), tmp_path)


def test_a_component_that_does_not_open_leaves_no_folder(tmp_path: Path) -> None:
    class Locked(InProcess):
        async def open(self) -> None:
            raise Fatal("authentication", "no key", fix="export one")

    suite = small_suite()
    with pytest.raises(Fatal, match="no key"):
        record(suite, alone(Locked()), settings(suite), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_fatal_error_leaves_an_incomplete_recording_that_says_why(tmp_path: Path) -> None:
    async def refuse(request: Request, call: int) -> Answer:
        if request.state["clock"] == 3:
            raise Fatal("authentication", "the key was refused", fix="renew it")
        return right(request)

    suite = small_suite()
    component = InProcess(refuse)
    with pytest.raises(Fatal, match="the key was refused"):
        record(suite, alone(component), settings(suite), tmp_path)
    run = run_record(tmp_path)
    assert (run["status"], run["error_type"]) == ("incomplete", "authentication")
    assert "renew it" in run["error"]
    assert "events_sha256" not in run
    assert component.closed == 1
    with pytest.raises(InputError, match="incomplete"):
        read_recording(tmp_path, suite)


def test_secrets_are_hidden_everywhere_even_from_careless_components(tmp_path: Path) -> None:
    async def echo(request: Request, call: int) -> Answer:
        if request.state["clock"] == 3:
            raise Fatal(f"bad {PLANTED}", f"refused {PLANTED}", fix=f"renew {PLANTED}")
        return right(request, model=f"model for {PLANTED}")

    suite = small_suite()
    component = InProcess(echo, settings={"header": PLANTED}, versions={"x": PLANTED})
    with pytest.raises(SdbError) as caught:
        record(suite, alone(component), settings(suite), tmp_path, secrets=[PLANTED])
    assert PLANTED not in str(caught.value)
    for file in tmp_path.rglob("*"):
        assert PLANTED not in file.read_text()
    assert "[hidden]" in (tmp_path / EVENTS_FILE).read_text()


def test_a_full_pass_over_loopback_by_command(tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite", "one_a", "two_b")
    with loopback_server(delay_s=0.005) as url:
        done = sdb(
            "run", "python:loopback_component:Loopback", "--data", data, "--out", tmp_path / "out",
            "--jsonl", url=url, **{KEY_VARIABLE: PLANTED},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["name"] for line in lines if line["event"] == "scenario"] == ["one_a", "two_b"]
    assert lines[-1]["event"] == "finished"
    assert lines[-1]["responses"] == 12
    recording = read_recording(tmp_path / "out")
    assert recording.served_models == ("echo-1-served",)
    assert run_record(tmp_path / "out")["served_models"] == ["echo-1-served"]
    assert run_record(tmp_path / "out")["environment"]["base_url_host"] == "127.0.0.1"
    for file in (tmp_path / "out").rglob("*"):
        assert PLANTED not in file.read_text()


def test_rate_limits_and_cut_connections_over_loopback_are_retried(tmp_path: Path) -> None:
    def flaky(payload: dict[str, Any], asked: int) -> Any:
        step = payload["state"]["clock"]
        if step == 1 and asked == 1:
            return 429, {"Retry-After": "0.01"}, {}
        if step == 2 and asked == 1:
            return None
        return ok(payload)

    suite = small_suite()
    with loopback_server(flaky) as url:
        outcome = record(suite, alone(Loopback(url)), settings(suite), tmp_path / "out")
    assert outcome.summary["failed_attempts"] == 2
    assert outcome.summary["retried_requests"] == 2
    attempts = read_recording(tmp_path / "out", suite).episodes["one_a"].attempts
    failed = {a.t: (a.error_type, a.http_status) for a in attempts if not a.ok}
    assert failed == {1: ("rate_limit", 429), 2: ("connection", None)}


def test_a_refused_key_ends_the_command_with_one_message_and_no_key(tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite")
    with loopback_server(lambda payload, asked: (401, {}, {"error": PLANTED})) as url:
        done = sdb(
            "run", "python:loopback_component:Loopback", "--data", data, "--out", tmp_path / "out",
            url=url, **{KEY_VARIABLE: PLANTED},
        )  # fmt: skip
    assert done.returncode == 2
    assert "refused [hidden]" in done.stderr
    assert PLANTED not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert run_record(tmp_path / "out")["error_type"] == "authentication"
    for file in (tmp_path / "out").rglob("*"):
        assert PLANTED not in file.read_text()


@pytest.mark.parametrize(
    "component", ["openai:m", "openai-decisions:m", "chat:m", "anthropic:m", "systemone:m"]
)
def test_keys_planted_everywhere_are_found_nowhere(tmp_path: Path, component: str) -> None:
    """The environment, a file .env and the address hold keys; the server throws them back."""
    names = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "TYPESAFE_API_KEY")
    planted = {name: f"sk-planted-{name.lower()}-0123456789" for name in names}
    in_file, in_address = "sk-planted-in-file-0123456789", "planted-in-address-0123"
    thrown_back = [*planted.values(), in_file]
    data = suite_folder(tmp_path / "suite")
    work = tmp_path / "work"
    work.mkdir()
    words = ["run", component, "--data", str(data), "--yes"]
    (work / ".env").write_text(f"SDB_API_KEY={in_file}\n")
    seen = ""
    with loopback_server(
        lambda payload, asked: (401, {}, {"error": {"message": " ".join(thrown_back)}})
    ) as url:
        # All providers read the address the same way; one of them shows how.
        hidden = url.replace("http://", f"http://me:{in_address}@")
        for address in (url, hidden) if component == "systemone:m" else (url,):
            where = ["--base-url", address, "--out", f"out-{len(seen)}"]
            done = command.sdb(*words, *where, cwd=work, **planted)
            assert done.returncode == 2, done.stderr
            assert "Traceback" not in done.stderr
            assert "[hidden] [hidden] [hidden] [hidden]" in done.stderr
            seen += done.stdout + done.stderr
            thrown_back.append(in_address)
    seen += "".join(p.read_text() for p in work.rglob("out-*/*"))
    assert '"http_status":401' in seen
    for secret in (*planted.values(), in_file, in_address):
        assert secret not in seen


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_keeps_everything_and_says_how_to_go_on(tmp_path: Path, number: int) -> None:
    data = suite_folder(tmp_path / "suite", "one_a", "two_b", steps=400)
    out = tmp_path / "out"
    with loopback_server() as url:
        process = start(
            "run", "python:loopback_component:Loopback", "--data", data, "--out", out, "--quiet",
            cwd=HERE, errors=tmp_path / "errors", SDB_TEST_URL=url,
        )  # fmt: skip
        wait_for_lines(out, 30)
        os.kill(process.pid or 0, number)
        process.join(60)
    errors = (tmp_path / "errors").read_text()
    assert process.exitcode == 130
    assert "--resume" in errors
    assert "Traceback" not in errors
    run = run_record(out)
    assert (run["status"], run["error_type"]) == ("incomplete", "interrupted")
    assert run["summary"]["responses"] > 0
    with pytest.raises(InputError, match="incomplete"):
        read_recording(out)


def wait_for_lines(out: Path, count: int) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        log = out / EVENTS_FILE
        if log.exists() and log.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.005)
    raise AssertionError("the recording did not start")


def test_a_component_that_fails_to_close_spoils_nothing(tmp_path: Path) -> None:
    class Slammed(InProcess):
        async def close(self) -> None:
            raise RuntimeError("bye")

    suite = small_suite()
    assert record(suite, alone(Slammed()), settings(suite), tmp_path).status == "complete"


def nine_thousand_bytes() -> None:
    """No file of this process grows beyond; a module half compiled would be kept for later ones."""
    import resource

    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))


def test_a_disk_that_fills_up_is_one_message_and_can_be_resumed(tmp_path: Path) -> None:
    """A real limit on file size: the write fails half-way through a line."""
    data = suite_folder(tmp_path / "suite", "one_a", "two_b", steps=20)
    out = tmp_path / "out"
    where = ["run", "python:loopback_component:Loopback", "--data", str(data), "--out", str(out)]
    with loopback_server() as url:
        process = start(
            *where, cwd=HERE, errors=tmp_path / "errors", before=nine_thousand_bytes,
            SDB_TEST_URL=url,
        )  # fmt: skip
        process.join(300)
        errors = (tmp_path / "errors").read_text()
        assert process.exitcode == 2, errors
        assert "cannot be written" in errors
        assert "Traceback" not in errors
        assert (out / EVENTS_FILE).stat().st_size == 9000
        with pytest.raises(InputError, match="incomplete"):
            read_recording(out)
        again = sdb(*where, "--resume", url=url)
    assert again.returncode == 0, again.stderr
    assert len(read_recording(out).episodes) == 2


def test_progress_is_drawn_on_a_terminal(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    data = suite_folder(tmp_path / "suite", steps=50)
    main, other = pty.openpty()
    words = [sys.executable, "-m", "streamdecisionbench.cli.main", "run"]
    words += ["python:loopback_component:Loopback"]
    with loopback_server(delay_s=0.005) as url:
        process = subprocess.Popen(
            [*words, "--data", str(data), "--out", str(tmp_path / "out")],
            cwd=HERE,
            env={**environment(url), "TERM": "xterm"},
            stdout=other,
            stderr=other,
        )
        os.close(other)
        seen = b""
        try:
            while chunk := os.read(main, 65536):
                seen += chunk
        except OSError:  # the other end is closed
            pass
        assert process.wait(timeout=120) == 0
    os.close(main)
    text = seen.decode()
    for word in ("one_a (1/1)", "in flight", "accepted", "errors", "in force", "complete"):
        assert word in text


def test_passes_get_folders_and_seeds_of_their_own(tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite")
    request = RunOptions.of(
        {None: "baseline:random"}, tmp_path / "out", data=data, passes=3, clock="virtual", seed=5
    )
    outcomes = launch(request, lambda estimates: False)
    assert [o.folder.name for o in outcomes] == ["pass-1", "pass-2", "pass-3"]
    seeds = [run_record(o.folder)["config"]["seed"] for o in outcomes]
    assert seeds == [5, 6, 7]


def test_a_pair_by_command(tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite")
    done = sdb(
        "run", "--member", "slow=baseline:random", "--member", "fast=baseline:first-option", "--rule", "lag-one",
        "--clock", "virtual", "--data", data, "--out", tmp_path / "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    recording = read_recording(tmp_path / "out")
    assert set(recording.halves) == {"fast", "slow"}
    assert recording.config["rule"] == "lag_one"
    assert recording.config["component"] == "baseline:first-option + baseline:random"


def test_scenarios_are_chosen_by_name_and_by_family() -> None:
    suite = small_suite("one_a", "two_b", "three_a")
    assert choose_scenarios(suite, (), ()) == ("one_a", "two_b", "three_a")
    assert choose_scenarios(suite, (), ("three_a", "one_a")) == ("one_a", "three_a")
    assert choose_scenarios(suite, ("support_call_assist",), ()) == ("two_b",)
    with pytest.raises(InputError, match="has no scenario four"):
        choose_scenarios(suite, (), ("four",))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "baseline:random"], "add --out FOLDER"),
        (["run", "--out", "x"], "COMPONENT is missing"),
        (["run", "--member", "a=b:c", "--out", "x"], "a live pair has the members fast and slow"),
        (
            ["run", "baseline:first-option", "--member", "fast=a:b", "--out", "x"],
            "name one component",
        ),
        (["run", "baseline:first-option", "--out", "x", "--interval", "0"], "--interval is 0"),
        (["run", "baseline:first-option", "--out", "x", "--interval", "nan"], "--interval is nan"),
        (["run", "baseline:first-option", "--out", "x", "--option", "a"], "is not KEY=VALUE"),
        (["run", "baseline:first-option", "--out", "x", "--clock", "sun"], "there is no clock"),
        (["run", "baseline:first-option", "--out", "x", "--data", "nowhere"], "no such file"),
        (
            [
                "run",
                "--member",
                "fast=a:b",
                "--member",
                "slow=c:d",
                "--effort",
                "low",
                "--out",
                "x",
            ],
            "--member-effort",
        ),
        (["merge", "nowhere", "elsewhere", "--out", "x"], "no such folder"),
    ],
)
def test_bad_arguments_are_one_message(tmp_path: Path, arguments: list[str], message: str) -> None:
    data = suite_folder(tmp_path / "suite")
    if "--data" not in arguments and arguments[0] == "run":
        arguments = [*arguments, "--data", str(data)]
    arguments = [str(tmp_path / "out") if a == "x" else a for a in arguments]
    done = sdb(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_paid_pass_is_estimated_and_needs_a_yes(tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite", steps=60)
    done = sdb(
        "run", "openai:gpt-6-astra", "--effort", "low", "--data", data, "--out", tmp_path / "out",
        OPENAI_API_KEY=PLANTED,
    )  # fmt: skip
    assert done.returncode == 2
    assert "60 requests" in done.stderr
    assert "list prices of 2026-09-30" in done.stderr
    assert "add --yes" in done.stderr
    assert PLANTED not in done.stdout + done.stderr
    assert not (tmp_path / "out").exists()


def test_cost_is_tokens_times_the_dated_price() -> None:
    suite = small_suite(steps=60)
    info = ComponentInfo(
        "openai", "gpt-6-astra", {"effort": "none"}, base_url_host="api.openai.com"
    )
    found = cost_estimate.estimate(info, list(suite), passes=2)
    assert found is not None
    assert found.requests == 120
    assert found.cost == pytest.approx(
        (found.input_tokens * 10.0 + found.output_tokens * 50.0) / 1e6
    )
    assert found.reasoning is False


@pytest.mark.parametrize(
    "info",
    [
        ComponentInfo("openai", "gpt-6-astra", base_url_host="127.0.0.1:8080"),
        ComponentInfo("openai", "gpt-6-astra", base_url_host="localhost"),
        ComponentInfo("simulated", "jev", simulated=True, in_process=True),
    ],
)
def test_what_costs_nothing_is_not_estimated(info: ComponentInfo) -> None:
    assert cost_estimate.estimate(info, list(small_suite())) is None


def test_a_service_without_a_known_price_is_asked_about_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-test-key-that-goes-nowhere")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    info = ComponentInfo("openai", "a-model-without-a-price", base_url_host="api.openai.com")
    found = cost_estimate.estimate(info, list(small_suite()))
    assert found is not None
    assert found.cost is None
    assert "price is not known" in str(found)

    def refuse(estimates: Sequence[cost_estimate.Estimate]) -> bool:
        assert [e.cost for e in estimates] == [None]
        return False

    request = RunOptions.of(
        components={None: "openai:a-model-without-a-price"},
        out=tmp_path / "out",
        data=suite_folder(tmp_path / "suite"),
    )
    with pytest.raises(InputError, match="not confirmed"):
        launch(request, refuse)
    assert not (tmp_path / "out").exists()
