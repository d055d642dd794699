"""What a recording says of the machine, the weights, the program and the price of an hour."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from streamdecisionbench.analysis.token_cost import cost, provisioned, provisioned_table
from streamdecisionbench.cli.main import app
from streamdecisionbench.components.contract import Answer, Request, Usage
from streamdecisionbench.components.local.weights import file_sha256, folder_sha256
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.episode import Diagnostics
from streamdecisionbench.recording.merge import merge
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import record
from streamdecisionbench.recording.run_file import graphics_processors, sources_sha256
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
)
from streamdecisionbench.recording.server_facts import ServerFacts, read_server_facts
from streamdecisionbench.report.report_tables import (
    served_latency,
    tokens,
)
from streamdecisionbench.report.write_report import make_material
from streamdecisionbench.scoring.score import score
from streamdecisionbench.suite.suite_files import read_suite
from tests.cli.command import sdb
from tests.recording.recorder_kit import (
    InProcess,
    alone,
    loopback_server,
    right,
    settings,
    small_suite,
    suite_folder,
)
from tests.recording.test_preparation import needs_llama
from tests.recording.test_services import system_one

DIGEST = "0123456789abcdef" * 4
STATED = {
    "hardware": "1 x L40S (48 GB)", "revision": "r7", "weights_sha256": DIGEST, "hourly_usd": 3.6,
}  # fmt: skip


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("SDB_API_KEY", "TYPESAFE_API_KEY", "TYPESAFE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def stated_run(tmp_path: Path, stated: Mapping[str, Any] = STATED, **more: Any) -> Path:
    data = suite_folder(tmp_path / "suite", "one_a", "two_b", tick=0.05)

    def reply(payload: dict[str, Any], asked: int) -> tuple[int, dict[str, str], Any]:
        status, headers, body = system_one(payload)
        used = {"input_tokens": 5, "output_tokens": 0, "state_tokens": len(str(payload["state"]))}
        return status, headers, {**body, "usage": used}

    with loopback_server(reply) as url:
        request = RunOptions.of(
            components={None: "systemone:m"}, out=tmp_path / "out", data=data,
            base_urls={None: url}, **stated, **more,
        )  # fmt: skip
        launch(request, lambda estimates: True)
    return tmp_path / "out"


def as_dict(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run.json").read_text())
    return found


# --- the machine ---------------------------------------------------------------------------------


def driver(folder: Path, script: str) -> str:
    """A stand-in for the driver's tool: this machine has no such processor."""
    tool = folder / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_graphics_processors_are_asked_of_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "echo 'NVIDIA L40S, 46068 MiB, 570.1'\necho 'NVIDIA L40S, 46068 MiB, 570.1'"
    monkeypatch.setenv("PATH", driver(tmp_path, said))
    assert graphics_processors() == ["NVIDIA L40S (46068 MiB), driver 570.1"] * 2


@pytest.mark.parametrize("script", ["exit 9", "echo"])
def test_a_driver_that_does_not_answer_names_none(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", driver(tmp_path, script))
    assert graphics_processors() == []


def test_the_latency_table_names_hardware_weights_and_client(tmp_path: Path) -> None:
    folder = stated_run(tmp_path)
    suite = read_suite(tmp_path / "suite")
    plain = record(suite, alone(InProcess()), settings(suite), tmp_path / "plain")
    found = [read_recording(f, suite) for f in (folder, plain.folder)]
    (served, here) = served_latency(make_material([(r, suite) for r in found])).texts()
    machine = as_dict(folder)["environment"]
    client = f"{machine['cpu_model'] or machine['platform']}, {machine['cpu_count']} cores"
    assert "1 x L40S (48 GB) (stated)" in served
    assert f"r7 (stated), sha256 {DIGEST[:12]} (stated)" in served
    assert served[-3] == here[-3] == client
    ran = "; ".join(machine["gpus"]) or f"CPU: {client}"
    assert any(ran in cell for cell in here)


# --- weights -------------------------------------------------------------------------------------


def test_weights_are_hashed_whatever_their_size_and_once(tmp_path: Path) -> None:
    large = tmp_path / "model.gguf"
    with large.open("wb") as file:
        file.truncate(2**30 + 1)  # a hole: takes no room on the disk
    with large.open("rb") as file:
        expected = hashlib.file_digest(file, "sha256").hexdigest()
    assert file_sha256(large) == expected
    before = large.stat()
    with large.open("r+b") as file:
        file.write(b"x")
    os.utime(large, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file_sha256(large) == expected  # believed: path, size and time are the same
    os.utime(large, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    with large.open("rb") as file:
        assert file_sha256(large) == hashlib.file_digest(file, "sha256").hexdigest() != expected


def test_a_cache_that_cannot_be_used_is_none(tmp_path: Path) -> None:
    model = tmp_path / "m"
    model.write_bytes(b"weights")
    store = tmp_path / "cache" / "streamdecisionbench" / "weights.json"
    store.parent.mkdir(parents=True)
    for spoiled in ('["no"]', "{", '{"x": 7}'):
        store.write_text(spoiled)
        assert file_sha256(model) == hashlib.sha256(b"weights").hexdigest()
    assert folder_sha256(tmp_path, ["m"]) != file_sha256(model)


@needs_llama
def test_what_is_stated_must_not_contradict_what_is_read(tmp_path: Path) -> None:
    request = RunOptions.of(
        components={None: "gguf:smollm2"}, out=tmp_path / "out",
        data=suite_folder(tmp_path / "suite"), clock="virtual", weights_sha256=DIGEST,
    )  # fmt: skip
    with pytest.raises(InputError, match="weights_sha256 is not the digest of gguf:smollm2"):
        launch(request, lambda estimates: True)


# --- what is stated ------------------------------------------------------------------------------


def test_what_was_stated_is_recorded_and_in_the_signature(tmp_path: Path) -> None:
    folder = stated_run(tmp_path)
    assert as_dict(folder)["config"]["stated"] == STATED
    signature = score(folder, read_suite(tmp_path / "suite")).signature
    assert "revision_stated:r7" in signature
    assert f"weights_stated:{DIGEST[:12]}" in signature


@pytest.mark.parametrize(
    ("stated", "what"),
    [
        ({"weights_sha256": "abc"}, "weights_sha256 is not a SHA-256"),
        ({"hardware": "a\x1bb"}, "hardware is not a short plain text"),
        ({"revision": ""}, "revision is not a short plain text"),
        ({"hourly_usd": 0.0}, "hourly_usd is 0"),
        ({"hourly_usd": float("nan")}, "hourly_usd is nan"),
    ],
)
def test_what_cannot_be_stated(stated: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        ServerFacts(**stated).check()


def test_a_pair_has_two_and_one_statement_fits_neither(tmp_path: Path) -> None:
    request = RunOptions.of(
        components={"fast": "baseline:random", "slow": "baseline:constant"},
        out=tmp_path / "out",
        hardware="a box",
    )
    with pytest.raises(InputError, match="are for one component"):
        launch(request, lambda estimates: True)


# --- diagnostics, sources ------------------------------------------------------------------------


def test_diagnostics_are_summed_up_in_the_run_record(tmp_path: Path) -> None:
    async def diagnosed(request: Request, call: int) -> Answer:
        more = {"tokens": [request.state["clock"], 10], "kernel": "fused", "odd": object()}
        return right(request, diagnostics=more)

    suite = small_suite()
    outcome = record(suite, alone(InProcess(diagnosed)), settings(suite), tmp_path / "out")
    assert as_dict(outcome.folder)["diagnostics"] == {
        "component": {
            "tokens": {"count": 12, "least": 0, "mean": 6.25, "most": 10},
            "kernel": {"fused": 6},
        }
    }


def test_what_a_server_says_beside_the_api_is_kept(tmp_path: Path) -> None:
    found = as_dict(stated_run(tmp_path))["diagnostics"]["component"]["state_tokens"]
    assert found["count"] == 12
    assert found["least"] > 0


def test_diagnostics_cannot_grow_without_end() -> None:
    found = Diagnostics()
    for k in range(1000):
        found.add(None, {f"k{k}": k, "words": f"word {k}", "a\x1bb": 1, "nan": float("nan")})
    (known,) = found.to_json().values()
    assert len(known) <= 60
    assert len(known["words"]) <= 20
    assert "nan" not in known
    assert "\x1b" not in json.dumps(list(known))


def test_the_sources_are_named_by_their_digest(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "a.py").write_text("a = 1\n")
    first = sources_sha256(tmp_path / "room")
    assert sources_sha256(tmp_path / "room") == first
    (tmp_path / "room" / "a.py").write_text("a = 2\n")
    assert sources_sha256(tmp_path / "room") != first
    (tmp_path / "room" / "a.py").rename(tmp_path / "room" / "b.py")
    assert sources_sha256(tmp_path / "room") != first


def test_sources_are_in_the_record_and_in_merged_parts(tmp_path: Path) -> None:
    suite = small_suite("one_a", "two_b")
    parts = [
        record(suite, alone(InProcess()), settings(suite, scenarios=(name,)), tmp_path / name)
        for name in suite.scenarios
    ]
    digests = as_dict(parts[0].folder)["environment"]["sources_sha256"]
    assert set(digests) == {"runner", "adapters"}
    joined = merge([part.folder for part in parts], tmp_path / "both", suite)
    assert [p["environment"]["sources_sha256"] for p in joined["parts"]] == [digests] * 2


# --- provisioned cost ----------------------------------------------------------------------------


def test_an_hour_of_own_hardware_beside_list_prices(tmp_path: Path) -> None:
    """12 states 0.05 s apart take 0.6 s of a machine that costs 3.6 dollars an hour."""
    folder, suite = stated_run(tmp_path), read_suite(tmp_path / "suite")
    recording = read_recording(folder, suite)
    found = provisioned(recording)
    assert found is not None
    assert (found.per_hour, found.decisions) == (3.6, 12)
    assert found.total == pytest.approx(0.6 * 3.6 / 3600, rel=1e-12)
    assert found.per_1000 == pytest.approx(1000 * 0.05 * 3.6 / 3600, rel=1e-12)
    known = cost(recording)
    assert known is not None
    assert known.total is None  # no list price, and none is made of the other
    shown = CliRunner().invoke(
        app, ["analyze", "cost", str(folder), "--data", str(tmp_path / "suite")]
    )
    assert "Provisioned cost of own hardware, as stated (USD)" in shown.output
    table = provisioned_table({"mine": found})
    assert table.title == "Provisioned cost of own hardware, as stated (USD)"
    assert table.texts() == [
        ["per hour", "3.600"],
        ["total, pass", "0.001"],
        ["per 1000 decisions", "0.050"],
    ]
    assert any("3.60" in row for row in tokens(make_material([(recording, suite)]), {}).texts())


def test_streams_share_the_machine(tmp_path: Path) -> None:
    recording = read_recording(stated_run(tmp_path, streams=(2,)), read_suite(tmp_path / "suite"))
    found = provisioned(recording)
    assert found is not None
    assert found.total == pytest.approx(0.6 * 3.6 / 3600 / 2, rel=1e-12)


def test_nothing_stated_nothing_provisioned(tmp_path: Path) -> None:
    folder = stated_run(tmp_path, {})
    recording = read_recording(folder, read_suite(tmp_path / "suite"))
    assert "stated" not in as_dict(folder)["config"]
    assert provisioned(recording) is None
    assert all(
        r.usage == Usage(5, None, 0, 0) for e in recording.episodes.values() for r in e.responses
    )


# --- the server file -----------------------------------------------------------------------------


def test_a_server_file_is_recorded_as_stated(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text(
        f'hardware = "1 x L40S (48 GB)"\nrevision = "r7"\nweights_sha256 = " {DIGEST.upper()}"\n'
        "hourly_usd = 3.6\n"
    )
    assert read_server_facts(file).to_json() == STATED
    data = suite_folder(tmp_path / "suite")
    done = sdb("run", "baseline:random", "--clock", "virtual", "--data", data, "--quiet",
               "--server", file, "--out", tmp_path / "out")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert as_dict(tmp_path / "out")["config"]["stated"] == STATED


@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        (
            'gpu = "L40S"',
            "has an unknown key 'gpu'",
            "hardware, revision, weights_sha256, hourly_usd",
        ),
        ("hardware = ", "is not TOML", "hardware ="),
        ("hardware = 3", "hardware is not text", "quotes"),
        ("hourly_usd = true", "hourly_usd is not a number", "1.86"),
        ('hourly_usd = "3"', "hourly_usd is not a number", "1.86"),
        ("hourly_usd = 0", "hourly_usd is 0", "above 0"),
        ('weights_sha256 = "abc"', "weights_sha256 is not a SHA-256", "64"),
        ('revision = ""', "revision is not a short plain text", "120"),
    ],
)
def test_a_bad_server_file_is_refused_with_its_name_and_a_fix(
    tmp_path: Path, text: str, what: str, fix: str
) -> None:
    file = tmp_path / "server.toml"
    file.write_text(text)
    done = sdb("run", "baseline:random", "--server", file, "--out", tmp_path / "out")
    assert done.returncode == 2
    for part in ("server.toml", what, fix):
        assert part in done.stderr
    assert not (tmp_path / "out").exists()
