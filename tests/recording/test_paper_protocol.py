"""The paper's protocol to the letter: its retries, what is said of ours, and its own run folders."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from streamdecisionbench.cli.main import app
from streamdecisionbench.components.contract import Fatal, Retryable
from streamdecisionbench.components.providers.prompt import INSTRUCTION
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.recording_folder import require_same
from streamdecisionbench.recording.retry import classify
from streamdecisionbench.recording.run_file import parse_run, read_run
from streamdecisionbench.recording.run_options import RetryPolicy
from streamdecisionbench.scoring.score import score
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import read_suite
from tests.recording.recorder_kit import loopback_server, suite_folder
from tests.recording.test_services import failing_once, run, system_one
from tests.scoring.test_published import test_every_published_figure as every_figure_is_printed

LIMITED = failing_once(429, {"Retry-After": "0"})
PAPER = RetryPolicy.of(kind="paper")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SDB_API_KEY", "OPENAI_API_KEY", "TYPESAFE_API_KEY", "TYPESAFE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return suite_folder(tmp_path / "suite", "one_a", "two_b", tick=0.05)


def as_dict(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run.json").read_text())
    return found


# --- retries -------------------------------------------------------------------------------------


def test_the_paper_retries_connection_errors_and_timeouts_alone() -> None:
    for kept in (ConnectionResetError(), TimeoutError(), Retryable("connection")):
        assert isinstance(classify(kept, PAPER), Retryable)
    stopped = classify(Retryable("rate_limit", http_status=429), PAPER)
    assert isinstance(stopped, Fatal)
    assert stopped.http_status == 429
    assert PAPER.to_json()["retried"] == ["connection error", "network timeout"]


@pytest.mark.parametrize("status", [429, 503, 529])
def test_a_rate_limit_stops_a_pass_of_the_paper(data: Path, tmp_path: Path, status: int) -> None:
    limited = failing_once(status, {"Retry-After": "0"})
    with loopback_server(limited) as url, pytest.raises(Fatal, match="--retry paper"):
        run(data, tmp_path / "out", url, retry=PAPER, warmup=0)


def test_a_connection_that_breaks_is_retried_by_the_paper(data: Path, tmp_path: Path) -> None:
    def reply(payload: dict[str, Any], asked: int) -> Any:
        return None if asked == 1 else system_one(payload)

    with loopback_server(reply) as url:
        outcome = run(data, tmp_path / "out", url, retry=PAPER, warmup=0)
    assert outcome.status == "complete"
    assert set(as_dict(tmp_path / "out")["summary"]["failed_by_kind"]) == {"connection"}
    assert "retried:" not in score(tmp_path / "out", read_suite(data)).signature


def test_a_rate_limit_that_was_retried_is_told(data: Path, tmp_path: Path) -> None:
    """In the summary, in every attempt and in the signature; where there was none, nowhere."""
    with loopback_server(LIMITED) as url:
        run(data, tmp_path / "limited", url, warmup=0)
    with loopback_server(lambda payload, asked: system_one(payload)) as url:
        run(data, tmp_path / "free", url, warmup=0)
    suite = read_suite(data)
    assert as_dict(tmp_path / "limited")["summary"]["failed_by_kind"]["rate_limit"] >= 1
    assert "retried:rate_limit" in score(tmp_path / "limited", suite).signature
    assert "failed_by_kind" not in as_dict(tmp_path / "free")["summary"]
    assert "retried:" not in score(tmp_path / "free", suite).signature


def test_attempts_and_waits_are_options_and_recorded(data: Path, tmp_path: Path) -> None:
    with loopback_server(LIMITED) as url:
        run(data, tmp_path / "out", url, retry=RetryPolicy.of(3, 0.01), warmup=0)
    with loopback_server(LIMITED) as url, pytest.raises(Fatal, match="1 attempt failed"):
        run(data, tmp_path / "once", url, retry=RetryPolicy.of(1), warmup=0)
    config = as_dict(tmp_path / "out")["config"]
    assert config["retry"]["max_attempts"] == 3
    assert config["retry"]["delays_s"] == [0.0, 0.01]
    assert config["sdk_retries"] == 0


def test_the_usual_waits_are_the_published_ones() -> None:
    assert RetryPolicy.of() == RetryPolicy()
    assert RetryPolicy.of(1).delays_s == ()
    assert RetryPolicy.of(7, 0.5).delays_s == (0, 0.5, 1, 2, 4, 8)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"kind": "never"}, "--retry 'never' is not known"),
        ({"kind": "paper", "gateway": True}, "exclude each other"),
        ({"max_attempts": 0}, "--max-attempts is 0"),
        ({"delay_s": -1.0}, "--retry-delay is -1"),
        ({"delay_s": float("nan")}, "--retry-delay is nan"),
    ],
)
def test_retries_that_cannot_be(options: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        RetryPolicy.of(**options)


def test_a_record_from_before_goes_on(data: Path, tmp_path: Path) -> None:
    """What older records leave out and no setting changes is no other setting."""
    with loopback_server(lambda payload, asked: system_one(payload)) as url:
        run(data, tmp_path / "out", url, warmup=0)
    record, suite = read_run(tmp_path / "out"), read_suite(data)
    now = {**record.config, "settings": {**record.config["settings"], "instruction": "x"}}
    before = {k: v for k, v in record.config.items() if k != "sdk_retries"}
    older = parse_run({**record.to_json(), "config": before})
    require_same(tmp_path, older, now, suite.dataset_hash)
    with pytest.raises(InputError, match="timeout_s was 20"):
        require_same(tmp_path, older, {**now, "timeout_s": 5.0}, suite.dataset_hash)


# --- the instruction -----------------------------------------------------------------------------


def test_the_instruction_is_printed_and_recorded() -> None:
    from streamdecisionbench.components.contract import Options
    from streamdecisionbench.components.registry import create

    digest = hashlib.sha256(INSTRUCTION.encode()).hexdigest()
    shown = CliRunner().invoke(app, ["providers", "--prompt"])
    assert shown.exit_code == 0
    assert shown.output.splitlines() == [INSTRUCTION, f"sha256 {digest}"]
    for provider in ("chat", "openai", "anthropic"):
        info = create(f"{provider}:m", Options(base_url="http://127.0.0.1:9")).info
        assert info.settings["instruction"] == INSTRUCTION
        assert info.settings["instruction_sha256"] == digest
        assert "prompt_sha256" not in info.settings


# --- the authors' own folders --------------------------------------------------------------------


def as_the_authors_write(folder: Path) -> None:
    """The run record in the names of the paper's runner; events stay, byte for byte."""
    ours = as_dict(folder)
    kept = ("status", "schema_version", "dataset_manifest", "events_sha256")
    theirs = {name: ours[name] for name in kept} | {
        "started_at_utc": "2026-09-28T14:03:11+00:00",
        "ended_at_utc": "2026-09-28T14:20:02+00:00",
        "models_returned": ["served-by-them"],
        "config": {
            "provider": "theirs", "model": "asked-for", "workers": 32, "request_timeout_s": 20.0,
            "retry_delay_s": 0.5, "max_attempts": 5, "sdk_retries": 0,
            # The transcribed tables hold composed decisions alone; folders of theirs hold all answers.
            "answers": "consumed_only",
        },
    }  # fmt: skip
    (folder / "run.json").write_text(json.dumps(theirs, indent=1))


def test_folders_of_the_authors_score_to_the_printed_digits(
    published: tuple[Suite, dict[str, Recording]], figures: dict[str, Any], tmp_path: Path
) -> None:
    suite, recordings = published
    found = {}
    for name, recording in recordings.items():
        assert recording.path is not None
        shutil.copytree(recording.path, tmp_path / name)
        as_the_authors_write(tmp_path / name)
        before = (tmp_path / name / "run.json").read_bytes()
        found[name] = read_recording(tmp_path / name, suite)
        assert (tmp_path / name / "run.json").read_bytes() == before
    every_figure_is_printed((suite, found), figures)
    record = read_run(tmp_path / "jev")
    assert record.started_at == "2026-09-28T14:03:11+00:00"
    assert record.served_models == ["served-by-them"]
    assert record.config["max_in_flight"] == 32
    assert record.config["timeout_s"] == 20.0
    assert record.config["retry"] == {"max_attempts": 5, "retry_delay_s": 0.5}
    assert "workers" not in record.config


def test_names_are_mapped_on_reading_alone() -> None:
    status = {"status": "complete", "dataset_manifest": {"dataset_hash": "x"}}
    counted = parse_run({**status, "models_returned": {"a": 479, "b": 1}})
    assert counted.served_models == ["a", "b"]
    environment = {"versions": {"streamdecisionbench": "0.1.0"}}
    ours = parse_run({**status, "environment": environment, "config": {"workers": 2}})
    assert ours.config == {"workers": 2}
    queued = parse_run({**status, "config": {"workers": 2, "clock": "virtual"}})
    assert queued.config["workers"] == 2
