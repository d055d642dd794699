"""A recording written as a log is worth the same to the last digit, whoever made the recording."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import streamdecisionbench as sdb_api
from streamdecisionbench.logs.log_export import log_of
from streamdecisionbench.recording.reader import read_recording, recorded_suite_hash
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.result import Level
from streamdecisionbench.scoring.score import score
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import find_suite
from tests.cli.command import sdb
from tests.recording.recorder_kit import suite_folder

pytestmark = pytest.mark.slow

EXACT = 1e-12

SLEEPY = """
import random, time
rng = random.Random(7)
class Sleepy:
    def answer(self, request):
        time.sleep(rng.choice([0.001, 0.005, 0.03, 0.09]))
        hint = dict(request.state["hint"])
        if rng.random() < 0.3:
            hint["route"] = "K01" if hint["route"] == "K02" else "K02"
        return hint
class Other(Sleepy):
    pass
"""


@pytest.fixture(scope="module")
def real_time(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pass in real time over two small scenarios, with answers that overtake each other."""
    folder = tmp_path_factory.mktemp("real")
    (folder / "sleepy.py").write_text(SLEEPY)
    suite_folder(folder / "suite", "one_a", "one_b", steps=8)
    done = sdb(
        "run", "python:sleepy:Sleepy", "--data", "suite", "--out", "run", "--quiet", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture(scope="module")
def live_pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pair")
    (folder / "sleepy.py").write_text(SLEEPY)
    suite_folder(folder / "suite", "one_a", steps=8)
    done = sdb(
        "run", "--member", "fast=python:sleepy:Sleepy", "--member", "slow=python:sleepy:Other", "--data", "suite",
        "--out", "run", "--quiet", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture(scope="module")
def virtual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("virtual") / "run"
    done = sdb("run", "simulated:terra-low", "--clock", "virtual", "--quiet", "--out", out)
    assert done.returncode == 0, done.stderr
    return out


def law(parts: list[tuple[Recording, Suite]], log: Path) -> None:
    """By scenario: in force, all classes, as recorded, at any interval, integrated and physical."""
    for interval in (None, 0.31, 2.0, 5.0):
        document = json.loads(
            sdb(
                "logs", "score", log, "--by", "recording", "--by", "scenario", "--bounds", "0.5", "8", "--json",
                *(["--interval", str(interval)] if interval else []),
            ).stdout
        )  # fmt: skip
        groups = {(g["by"]["recording"], g["by"]["scenario"]): g for g in document["groups"]}
        for recording, suite in parts:
            found = score(recording, suite, interval=interval or 2.0)
            assert len(found.by_scenario) > 0
            for name, level in found.by_scenario.items():
                group = groups[recording.name, name]
                agrees(level, group, recorded=interval is None, tick=found.parts[0].tick)
                if all(part.published is None for part in found.parts):
                    # Otherwise the trace is on the clock of the plan, as the replay is.
                    assert level.physical is not None
                    physical = group["physical"]["in_force"]
                    assert physical == pytest.approx(level.physical.in_force, abs=EXACT)


def agrees(level: Level, group: dict[str, object], *, recorded: bool, tick: float) -> None:
    if not recorded or tick == 2.0:
        want = {**level.at_interval.classes(), "unjudged": 0.0, "unattributed": 0.0}
        assert group["classes"] == pytest.approx(want, abs=EXACT)
        assert group["in_force"] == pytest.approx(level.in_force, abs=EXACT)
    assert group["log_auc"] == pytest.approx(level.log_auc, abs=EXACT)
    over = {**level.integrated.classes(), "unjudged": 0.0, "unattributed": 0.0}
    assert group["integrated"]["classes"] == pytest.approx(over, abs=EXACT)  # type: ignore[index]
    assert group["untimed"] == pytest.approx(level.untimed, abs=EXACT)


def opened(run: Path) -> list[tuple[Recording, Suite]]:
    suite = find_suite(recorded_suite_hash(run), near=run)
    recording = read_recording(run, suite)
    return [(part, suite) for part in (recording.halves.values() or [recording])]


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_a_virtual_pass(virtual: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / f"log.{form}"
    assert sdb("logs", "export", virtual, "--out", out, "--no-states").returncode == 0
    law(opened(virtual), out)


def test_a_real_time_pass(real_time: Path, tmp_path: Path) -> None:
    assert sdb("logs", "export", real_time, "--out", tmp_path / "log.parquet").returncode == 0
    law(opened(real_time), tmp_path / "log.parquet")


def test_a_live_pair_component_by_component(live_pair: Path, tmp_path: Path) -> None:
    assert sdb("logs", "export", live_pair, "--out", tmp_path / "log.parquet").returncode == 0
    law(opened(live_pair), tmp_path / "log.parquet")


def test_published_recordings(
    published: tuple[Suite, dict[str, Recording]], tmp_path: Path
) -> None:
    suite, recordings = published
    folders = [r.path for r in recordings.values() if r.path]
    assert sdb("logs", "export", *folders, "--out", tmp_path / "log.parquet").returncode == 0
    law([(r, suite) for r in recordings.values()], tmp_path / "log.parquet")


def test_marks_of_a_simulation_travel_with_it(virtual: Path, tmp_path: Path) -> None:
    sdb("logs", "export", virtual, "--out", tmp_path / "log.parquet")
    shown = sdb("logs", "score", tmp_path / "log.parquet", "--by", "scenario")
    assert "simulation:" in shown.stdout
    assert "virtual clock:" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80


def test_export_keeps_what_is_there(virtual: Path, tmp_path: Path) -> None:
    out = tmp_path / "log.parquet"
    assert sdb("logs", "export", virtual, "--out", out).returncode == 0
    before = out.read_bytes()
    again = sdb("logs", "export", virtual, "--out", out)
    assert (again.returncode, out.read_bytes()) == (2, before)
    wrong = sdb("logs", "export", virtual, "--out", tmp_path / "log.xlsx")
    assert wrong.returncode == 2
    assert "end it in .parquet" in wrong.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log.parquet"]
    out.unlink()
    assert sdb("logs", "export", virtual, "--out", out).returncode == 0
    assert out.read_bytes() == before


def test_another_recording_as_silver_reference(virtual: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    sdb("run", "simulated:jev", "--clock", "virtual", "--quiet", "--out", other)
    log = tmp_path / "log.parquet"
    sdb("logs", "export", virtual, "--out", log)
    gold = sdb("logs", "score", log, "--references", other)
    assert "no reference is silver (decisions of" in gold.stdout.replace("\n", " ")
    (tmp_path / "without.sql").write_text("SELECT * EXCLUDE (reference) FROM source")
    command = ["logs", "score", log, "--references", other, "--sql", tmp_path / "without.sql"]
    found = sdb(*command)
    assert found.returncode == 0, found.stderr
    assert "silver references: decisions of" in found.stdout.replace("\n", " ")
    document = json.loads(sdb(*command, "--json").stdout)
    assert document["references"]["kind"] == "silver"
    assert "references:silver(" in document["signature"]
    agreed = {r["state_id"]: r["decision"] for r in log_of([other]).to_pylist()}
    rows = pq.read_table(log).to_pylist()
    same = sum(agreed[r["state_id"]] == r["decision"] for r in rows) / len(rows)
    assert document["groups"][0]["untimed"] == pytest.approx(same)
    bare = pq.read_table(log).drop_columns(["reference"])
    itself = sdb_api.score_log(bare, references=virtual)
    assert itself.groups[0].untimed == 1.0
