"""`sdb score` as a user and as a machine sees it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import streamdecisionbench as package
from streamdecisionbench.scoring.classes import CLASSES
from tests.cli.command import sdb
from tests.recording.made import write


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write(tmp_path / "run")


def test_json_has_the_documented_shape(run: Path) -> None:
    done = sdb("score", run, "--json")
    document = json.loads(done.stdout)
    assert document["schema"] == "sdb-score/1"
    (entry,) = document["recordings"]
    assert entry["name"] == "run"
    assert {"signature", "accepted", "discarded", "latency"} <= set(entry)
    levels = [entry["overall"], *entry["by_family"].values(), *entry["by_scenario"].values()]
    assert len(levels) == 3
    for level in levels:
        for key in (
            "log_auc",
            "untimed",
            "in_force",
            "segment_in_force",
            "oracle",
            "u_current",
            "product",
        ):
            assert 0 <= level[key] <= 1
        assert set(level["classes"]) == set(CLASSES)
        assert sum(level["classes"].values()) == pytest.approx(1, abs=1e-12)
        over = level["integrated"]
        assert over["in_force"] == level["log_auc"]
        assert sum(over["classes"].values()) == pytest.approx(1, abs=1e-12)
        assert {name: over[name] for name in CLASSES} == over["classes"]
    assert entry["overall"]["in_force"] == pytest.approx(0.6, abs=1e-12)


def test_api_and_command_say_the_same(run: Path) -> None:
    suite = package.read_suite(run.parent / "suite")
    score = package.score(
        package.read_recording(run, suite), suite, interval=1.5, bounds=(1, 4), weighting="linear"
    )
    done = sdb(
        "score", run, "--json", "--interval", "1.5", "--bounds", "1", "4", "--weighting", "linear"
    )
    (entry,) = json.loads(done.stdout)["recordings"]
    assert entry["overall"]["log_auc"] == score.log_auc
    assert entry["overall"]["in_force"] == score.in_force
    assert entry["signature"] == score.signature
    assert "bounds:1-4 weighting:linear" in score.signature


def test_csv_and_json_agree(run: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(sdb("score", run, "--csv").stdout)))
    (entry,) = json.loads(sdb("score", run, "--json").stdout)["recordings"]
    assert [row["level"] for row in rows] == ["overall", "family", "scenario"]
    assert float(rows[0]["log_auc"]) == entry["overall"]["log_auc"]
    assert float(rows[0]["integrated_stale"]) == entry["overall"]["integrated"]["stale"]


def test_answers_curves_and_mistakes(run: Path) -> None:
    done = sdb("score", run, "--json", "--curves", "--mistakes")
    (entry,) = json.loads(done.stdout)["recordings"]
    for level in (entry["overall"], *entry["by_family"].values(), *entry["by_scenario"].values()):
        assert level["answers"]["exact_match"] == 0.75
        assert level["answers"]["active_question"] == 0.75
        assert level["answers"]["per_question"] == {"recorder": 0.75}
        for metric, curve in level["curves"].items():
            k = max(i for i, low in enumerate(curve["intervals"][:-1]) if low <= 2.0)
            at_two = curve["c0"][k] + curve["c1"][k] / 2.0
            expected = level[metric] if metric in level else level["classes"][metric]
            assert at_two == pytest.approx(expected, abs=1e-12), metric
    (mistake,) = entry["mistakes"]
    assert (mistake["t"], mistake["expected"]) == (3, {"recorder": "record"})
    assert mistake["answered"] == {"recorder": "pause"}
    rows = list(csv.DictReader(io.StringIO(sdb("score", run, "--csv").stdout)))
    assert [float(row["exact_match"]) for row in rows] == [0.75] * 3
    assert "75.0 % of those in use right" in sdb("score", run).stdout


def test_same_bytes_twice(run: Path) -> None:
    for form in ("--json", "--csv", "--mistakes"):
        assert sdb("score", run, form).stdout == sdb("score", run, form).stdout


def test_screen_fits_80_columns(run: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other")
    for arguments in ((run,), (run, "--by", "scenario", "--mistakes"), (run, other)):
        done = sdb("score", *arguments)
        assert done.returncode == 0, done.stderr
        assert max(len(line) for line in done.stdout.splitlines()) <= 80
    assert "60.0" in sdb("score", run).stdout


def test_two_recordings_of_one_name_stay_apart(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a" / "run"), write(tmp_path / "b" / "run")
    names = [r["name"] for r in json.loads(sdb("score", one, two, "--json").stdout)["recordings"]]
    assert len(set(names)) == 2


@pytest.mark.parametrize(
    "options",
    [
        ("--interval", "0"),
        ("--interval", "-1"),
        ("--interval", "nan"),
        ("--bounds", "8", "0.5"),
        ("--bounds", "0", "8"),
        ("--weighting", "cubic"),
        ("--clock", "wall"),
        ("--by", "moon"),
        ("--json", "--csv"),
        ("--curves",),
        ("--csv", "--mistakes"),
    ],
)
def test_bad_options(run: Path, options: tuple[str, ...]) -> None:
    done = sdb("score", run, *options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_help_names_the_commands() -> None:
    done = sdb("--help")
    assert done.returncode == 0
    for command in ("score", "validate", "import", "suite"):
        assert command in done.stdout


def test_the_folder_of_several_passes_is_scored_as_passes(tmp_path: Path) -> None:
    done = sdb(
        "run", "simulated:jev", "--clock", "virtual", "--scenarios", "support_a", "--passes", "2",
        "--out", tmp_path / "out", "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = sdb("score", tmp_path / "out")
    assert said.returncode == 0, said.stderr
    assert "2 passes at 2 s" in said.stdout
    assert "mean" in said.stdout
    assert "95 %*" in said.stdout
    assert max(map(len, said.stdout.splitlines())) <= 80
