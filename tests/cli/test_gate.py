"""`sdb gate` and `sdb diff`: exit codes, forms, and what they refuse."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamdecisionbench.scoring.score import score
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite
from tests.cli.command import sdb


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Simulations on the virtual clock: twice one setting, and a worse one."""
    home = tmp_path_factory.mktemp("gate")
    for name, profile, seed in (("one", "jev", 1), ("two", "jev", 2), ("slow", "astra-low", 1)):
        done = sdb(
            "run", f"simulated:{profile}", "--clock", "virtual", "--quiet", "--seed", str(seed),
            "--out", home / name,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return {name: home / name for name in ("one", "two", "slow")}


def test_exit_codes(runs: dict[str, Path]) -> None:
    same = sdb("gate", runs["one"], "--baseline", runs["one"])
    assert (same.returncode, same.stdout.splitlines()[0][:5]) == (0, "PASS:")
    unsure = ("gate", runs["two"], "--baseline", runs["one"])
    assert sdb(*unsure).stdout.startswith("CANNOT TELL:")
    assert sdb(*unsure).returncode == 0
    assert sdb(*unsure, "--strict").returncode == 3
    worse = sdb("gate", runs["one"], "--baseline", runs["one"], "--min", "99")
    assert (worse.returncode, worse.stdout[:5]) == (1, "FAIL:")
    other = sdb("gate", runs["slow"], "--baseline", runs["one"], "--max-drop", "100")
    assert other.returncode == 1
    assert "another model was served" in other.stdout
    allowed = ("--max-drop", "100", "--allow-model-change")
    assert sdb("gate", runs["slow"], "--baseline", runs["one"], *allowed).returncode == 0
    assert sdb("gate", runs["one"], "--baseline", runs["one"], "--max-drop", "-1").returncode == 2
    missing = sdb("gate", runs["one"] / "nothing", "--baseline", runs["one"])
    assert missing.returncode == 2
    assert "does not exist" in missing.stderr


def test_lines_fit_80_columns_and_simulation_is_said(runs: dict[str, Path]) -> None:
    done = sdb("gate", runs["two"], "--baseline", runs["one"])
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "! simulation" in done.stdout


def test_json_holds_what_the_scores_are(runs: dict[str, Path]) -> None:
    done = sdb("gate", runs["two"], "--baseline", runs["one"], "--interval", "1.2", "--json")
    found = json.loads(done.stdout)
    assert found["schema"] == "sdb-gate/1"
    suite = read_suite(builtin_suite_path())
    for role, run in (("new", "two"), ("baseline", "one")):
        exact = score(runs[run], suite, interval=1.2).in_force
        assert found[role]["value"] == pytest.approx(exact, abs=1e-12)
        low, high = found[role]["interval_95"]
        assert low < exact < high
    assert found["drop"]["value"] == pytest.approx(
        found["baseline"]["value"] - found["new"]["value"], abs=1e-12
    )
    assert found["detectable"] > found["max_drop"] == 0.01


def test_saved_scores_are_gated_by_scenario(runs: dict[str, Path], tmp_path: Path) -> None:
    for name in ("one", "two"):
        saved = sdb("score", runs[name], "--json")
        (tmp_path / f"{name}.json").write_text(saved.stdout)
    ask = ("gate", tmp_path / "two.json", "--baseline", tmp_path / "one.json", "--json")
    found = json.loads(sdb(*ask).stdout)
    whole = json.loads(sdb("gate", runs["two"], "--baseline", runs["one"], "--json").stdout)
    assert found["paired_by"] == "scenario"
    assert found["drop"]["value"] == pytest.approx(whole["drop"]["value"], abs=1e-12)
    assert found["served_models"] == whole["served_models"]
    other_pace = sdb(*ask, "--interval", "1")
    assert other_pace.returncode == 2
    assert "was scored at 2 s, not at 1 s" in other_pace.stderr
    mixed = sdb("gate", runs["two"], "--baseline", tmp_path / "one.json")
    assert mixed.returncode == 2
    assert "is a recording, but" in mixed.stderr
    (tmp_path / "no.json").write_text("{}")
    assert "is no saved score" in sdb(*ask[:1], tmp_path / "no.json", *ask[2:]).stderr


def made_log(path: Path, wrong: float, streams: int = 60, steps: int = 30) -> Path:
    rng = np.random.default_rng(5)
    rows = [
        {
            "stream": f"call-{k}", "published_at": float(t), "answered_at": t + 0.1,
            "decision": "x" if rng.random() < wrong else f"d{t // 4}", "reference": f"d{t // 4}",
            "ended_at": float(steps),
        }
        for k in range(streams)
        for t in range(steps)
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_logs_are_gated_by_stream(tmp_path: Path) -> None:
    old, worse = made_log(tmp_path / "old.parquet", 0.1), made_log(tmp_path / "new.parquet", 0.3)
    found = json.loads(sdb("gate", worse, "--baseline", old, "--json").stdout)
    assert (found["verdict"], found["paired_by"]) == ("fail", "stream")
    for role, path in (("new", worse), ("baseline", old)):
        exact = json.loads(sdb("logs", "score", path, "--json").stdout)["groups"][0]
        assert found[role]["value"] == pytest.approx(exact["in_force"], abs=1e-12)
    assert sdb("gate", worse, "--baseline", old).returncode == 1
    same = sdb("gate", old, "--baseline", old)
    assert (same.returncode, same.stdout[:5]) == (0, "PASS:")
    one = made_log(tmp_path / "one.parquet", 0.1, streams=1)
    assert "too little to say" in sdb("gate", one, "--baseline", old).stderr


def test_junit_and_github(runs: dict[str, Path], tmp_path: Path) -> None:
    junit, summary = tmp_path / "deep" / "gate.xml", tmp_path / "summary.md"
    done = sdb(
        "gate", runs["two"], "--baseline", runs["one"], "--min", "99", "--junit", junit,
        "--github", GITHUB_STEP_SUMMARY=str(summary),
    )  # fmt: skip
    assert done.returncode == 1
    root = ET.parse(junit).getroot()  # noqa: S314
    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("1", "1", "0")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message", "").startswith("FAIL:")
    commands = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert re.fullmatch(r"::error title=sdb gate::FAIL:[^\r\n]*%0A[^\r\n]*", commands[0])
    assert all(re.match(r"::(warning|notice|error) title=[^:,]+::\S", line) for line in commands)
    text = summary.read_text()
    assert text.startswith("## FAIL:")
    assert "| state | what | reference | before | now | evidence |" in text


def test_diff_lists_every_state_that_differs(runs: dict[str, Path]) -> None:
    found = json.loads(sdb("diff", runs["one"], runs["two"], "--json").stdout)
    paired = json.loads(sdb("analyze", "paired", runs["one"], runs["two"], "--json").stdout)
    counts = paired["result"][0]["counts"][-1]
    assert found["counts"]["lost"] == counts["only_first"]
    assert found["counts"]["won"] == counts["only_second"]
    assert len(found["flips"]) == sum(found["counts"].values())
    assert all(flip["first"] != flip["second"] for flip in found["flips"])
    assert all(flip["evidence"] for flip in found["flips"])
    lost = sdb("diff", runs["one"], runs["two"], "--only", "lost")
    assert lost.stdout.count("right before, wrong now") == 1 + counts["only_first"]
    assert max(map(len, lost.stdout.splitlines())) <= 80
    nothing = sdb("diff", runs["one"], runs["two"], "--only", "x")
    assert (nothing.returncode, "lost, won, changed" in nothing.stderr) == (2, True)
