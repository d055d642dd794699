"""What a stranger types: one message that names the fix, exit code 2, nothing lost."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from streamdecisionbench import __version__, score
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.recording_folder import alone_in
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
)
from tests.cli.command import sdb
from tests.recording.made import write

pytestmark = pytest.mark.slow

SCENARIO = "support_a"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Recordings of the same scenario on the virtual clock: two alone, two live pairs of one name."""
    root = tmp_path_factory.mktemp("runs")
    alone = {"jev": "simulated:jev", "low": "simulated:astra-low"}
    found = {name: _record(root / name, {None: which}) for name, which in alone.items()}
    for k in (1, 2):
        both: dict[str | None, str] = {"fast": alone["jev"], "slow": alone["low"]}
        found[f"pair{k}"] = _record(root / str(k) / "pair", both, seed=k)
    found["two"] = _record(root / "two", {None: alone["jev"]}, scenarios=(SCENARIO, "support_b"))
    return found


def _record(
    out: Path,
    components: dict[str | None, str],
    scenarios: tuple[str, ...] = (SCENARIO,),
    seed: int = 0,
) -> Path:
    request = RunOptions.of(components, out, scenarios=scenarios, clock="virtual", seed=seed)
    (outcome,) = launch(request, lambda estimates: True)
    assert outcome.status == "complete"
    return out


def _refused(*arguments: str | Path, naming: str) -> None:
    done = sdb(*arguments)
    assert done.returncode == 2, done.stderr
    assert naming in done.stderr
    assert "Traceback" not in done.stderr


def test_the_version_is_shown() -> None:
    assert sdb("--version").stdout == f"sdb {__version__}\n"


def test_a_live_pair_is_scored_by_its_components(runs: dict[str, Path]) -> None:
    document = json.loads(sdb("score", runs["pair1"], "--json").stdout)
    assert [entry["name"] for entry in document["recordings"]] == ["pair fast", "pair slow"]
    shown = sdb("score", runs["pair1"]).stdout
    assert shown.count("(sim.)") == 2
    assert "sdb compose" in shown


def test_a_live_pair_is_no_half_of_a_pair(runs: dict[str, Path]) -> None:
    for roles in (("pair1", "jev"), ("jev", "pair1")):
        fast, slow = (runs[role] for role in roles)
        _refused("compose", "--fast", fast, "--slow", slow, naming="live pair")
    _refused("compose", "--all", runs["jev"], runs["pair1"], naming="live pair")
    with pytest.raises(InputError, match="live pair"):
        score(runs["pair1"])


def test_two_live_pairs_of_one_name_stay_two(runs: dict[str, Path]) -> None:
    done = sdb("analyze", "transitions", runs["pair1"], runs["pair2"], "--json")
    document = json.loads(done.stdout)
    assert len(document["result"]) == len(document["recordings"]) == 4


@pytest.mark.parametrize("command", [("analyze", "repeats"), ("choose", "--interval", "1")])
def test_one_recording_is_not_counted_twice(
    runs: dict[str, Path], command: tuple[str, ...]
) -> None:
    other_way = runs["jev"].parent / "low" / ".." / "jev"
    _refused(*command, runs["jev"], other_way, naming="given twice")


def test_recordings_of_different_suites_are_not_compared(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    other = write(tmp_path / "tiny")
    for command in ("paired", "repeats", "intervals", "window"):
        _refused("analyze", command, runs["jev"], other, naming="was recorded on suite")
    _refused("choose", "--interval", "1", runs["jev"], other, naming="was recorded on suite")
    assert "different suites" in sdb("score", runs["jev"], other).stdout
    assert "different scenarios" in sdb("score", runs["jev"], runs["two"]).stdout
    assert "! recorded" not in sdb("score", runs["jev"], runs["low"]).stdout


def test_repeats_of_different_components_are_refused(runs: dict[str, Path], tmp_path: Path) -> None:
    told = "low: is a pass of simulated:astra-low, and jev is one of simulated:jev"
    for form in ((), ("--json",), ("--csv",)):
        _refused("analyze", "repeats", runs["jev"], runs["low"], *form, naming=told)
    again = _record(tmp_path / "jev-again", {None: "simulated:jev"}, seed=1)
    assert "2 passes at" in sdb("analyze", "repeats", runs["jev"], again).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "--bounds", "1e-300", "1e300"),
        ("score", "--interval", "1e-300"),
        ("choose", "--interval", "1e300"),
        ("analyze", "pace", "--at", "inf"),
        ("analyze", "pace", "--at", "1e300"),
    ],
)
def test_intervals_beyond_any_pace(runs: dict[str, Path], arguments: tuple[str, ...]) -> None:
    _refused(*arguments, runs["jev"], naming="interval")


@pytest.mark.parametrize(
    "command", [("choose", "--interval", "1"), ("analyze", "schedules"), ("analyze", "intervals")]
)
def test_a_negative_seed(runs: dict[str, Path], command: tuple[str, ...]) -> None:
    _refused(*command, runs["jev"], "--seed", "-1", naming="--seed")


def test_out_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    _refused("suite", "export", "--out", file, naming=str(file))
    assert file.read_text() == "mine"


def test_a_full_disk_is_one_message(runs: dict[str, Path]) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with full.open("w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "streamdecisionbench.cli.main", "score", str(runs["jev"])],
            stdout=out, stderr=subprocess.PIPE, text=True, check=False, timeout=120,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def test_a_foreign_suite_is_not_checked_by_our_references(tmp_path: Path) -> None:
    write(tmp_path / "tiny")
    done = sdb("suite", "check", "--data", tmp_path / "suite")
    assert done.returncode == 2
    assert "reference" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_lies_beside_a_recording_need_not_be_a_suite(tmp_path: Path) -> None:
    run = write(tmp_path / "run")
    (tmp_path / "suite" / "manifest.json").write_text("[]")
    _refused("score", run, naming="--data")


@pytest.mark.parametrize(
    ("arguments", "naming"),
    [
        (("simulated:jev", "--scenarios", ","), "--scenarios names nothing"),
        (("simulated:jev", "--families", ""), "--families names nothing"),
        (("simulated:jev", "--rule", "lag-one"), "for a live pair"),
        (("simulated:jev", "--member-effort", "fast=low"), "for a live pair"),
        (("simulated:jev", "--effort", "low"), "--effort has no meaning"),
        (("simulated:jev", "--base-url", "http://127.0.0.1:1"), "--base-url has no meaning"),
        (("simulated:jev", "--option", "speed=2"), "--option speed has no meaning"),
        (("simulated:jev", "--interval", "1e-300"), "--interval is 1e-300"),
    ],
)
def test_settings_without_effect_are_refused(
    tmp_path: Path, arguments: tuple[str, ...], naming: str
) -> None:
    out = tmp_path / "out"
    _refused("run", *arguments, "--clock", "virtual", "--out", out, naming=naming)
    assert not out.exists()


def test_one_pass_is_not_continued_as_several(runs: dict[str, Path], tmp_path: Path) -> None:
    same = ("run", "simulated:jev", "--clock", "virtual", "--scenarios", SCENARIO, "--resume")
    _refused(*same, "--passes", "2", "--out", runs["jev"], naming="holds one pass")
    out = tmp_path / "out"
    assert sdb(*same, "--passes", "2", "--out", out, "--quiet").returncode == 0
    _refused(*same, "--out", out, naming="holds several passes")


def test_one_process_records_into_a_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("run", "simulated:jev", "--clock", "virtual", "--scenarios", SCENARIO)
    with alone_in(out):
        _refused(*arguments, "--resume", "--out", out, naming="another process is recording")
        _refused(*arguments, "--out", out, naming="another process is recording")
        assert list(out.iterdir()) == []
    assert sdb(*arguments, "--out", out).returncode == 0


def test_progress_counts_each_scenario_by_itself(tmp_path: Path) -> None:
    done = sdb(
        "run", "simulated:jev", "--clock", "virtual", "--families", "support_call_assist",
        "--out", tmp_path / "out",
    )  # fmt: skip
    assert [line.split(",")[0] for line in done.stderr.splitlines()] == [
        "support_a: 60 responses",
        "support_b: 60 responses",
    ]


def test_a_component_that_prints_leaves_json_lines_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chatty.py").write_text(
        "def answer(request):\n"
        "    print('thinking')\n"
        "    return {name: min(q['criteria']) for name, q in request.questions.items()}\n"
    )
    monkeypatch.chdir(tmp_path)
    done = sdb(
        "run", "python:chatty:answer", "--clock", "virtual", "--scenarios", SCENARIO, "--jsonl",
        "--out", tmp_path / "out",
    )  # fmt: skip
    events = [json.loads(line)["event"] for line in done.stdout.splitlines()]
    assert events[-1] == "finished"
    assert "thinking" in done.stderr


def test_a_component_that_exits_is_an_error_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leaver.py").write_text(
        "import sys\n\n\ndef answer(request):\n    sys.exit(str(request.state))\n"
    )
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    done = sdb("run", "python:leaver:answer", "--clock", "virtual", "--quiet", "--out", out)
    assert done.returncode == 2
    assert "leaver.py:5" in done.stderr
    assert "rules" not in done.stderr
    assert json.loads((out / "run.json").read_text())["status"] == "incomplete"


def test_a_folder_whose_name_is_no_text(tmp_path: Path) -> None:
    try:
        run = write(tmp_path / os.fsdecode(b"caf\xe9"))
    except OSError:
        pytest.skip("this file system takes names of UTF-8 only")
    for words in (
        ("score", run),
        ("score", run, "--json"),
        ("score", run, "--csv"),
        ("validate", run),
        ("analyze", "pace", run),
        ("report", run, "--out", tmp_path / os.fsdecode(b"r\xe9port"), "--formats", "svg"),
    ):
        done = sdb(*words)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    (entry,) = json.loads(sdb("score", run, "--json").stdout)["recordings"]
    assert entry["name"] == "caf\\xe9"


@pytest.mark.parametrize(
    ("log", "says"),
    [
        (gzip.compress(b'{"kind":"release"}\n'), "events.jsonl"),
        (b'{"kind":"release","ep\xffisode_id":"tiny"}\n', "events.jsonl"),
        (b"[" * 100_000 + b"\n", "events.jsonl"),
    ],
    ids=["gzip", "no UTF-8 in a key", "100,000 levels"],
)
def test_a_log_that_is_no_log(log: bytes, says: str, tmp_path: Path) -> None:
    run = write(tmp_path / "run")
    (run / "events.jsonl").write_bytes(log)
    record = json.loads((run / "run.json").read_text())
    record["events_sha256"] = hashlib.sha256(log).hexdigest()
    (run / "run.json").write_text(json.dumps(record))
    for words in (("score", run), ("score", run, "--partial"), ("validate", run)):
        done = sdb(*words)
        assert done.returncode == 2
        assert says in done.stderr + done.stdout
        assert "Traceback" not in done.stderr
