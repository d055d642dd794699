"""The fixture `sdb`: a component's own test in a fresh project of two files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.gate.pytest_plugin import Bench
from streamdecisionbench.scoring.score import score
from streamdecisionbench.suite.suite_files import make_suite, write_suite
from tests.cli.command import record_simulated
from tests.installed import ROOT, built, third_party
from tests.report import kit

pytestmark = pytest.mark.slow

COMPONENT = '''\
class Decider:
    """Always the first label in the alphabet."""

    def answer(self, request):
        return {name: min(q["criteria"]) for name, q in request.questions.items()}
'''
TESTS = """\
import pytest
from decider import Decider


def test_it_is_never_right(sdb):
    score = sdb(Decider(), scenarios=["support_a"])
    assert score.in_force == 0.0 < score.by_scenario["support_a"].at_interval.judgment
    assert list(score.by_scenario) == ["support_a"]


@pytest.mark.sdb(scenarios=["presenter_a"], interval=1.2)
def test_the_marker_sets_what_a_call_leaves_out(sdb):
    score = sdb(Decider)
    assert (score.interval, list(score.by_scenario)) == (1.2, ["presenter_a"])
    assert len(sdb.recordings) == 1
"""


def test_a_named_component_and_an_object_are_scored_as_the_command_does(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"scenarios": ["support_b"]})
    named = bench("simulated:jev", seed=3, interval=1.0)
    assert named.simulated
    assert named.in_force == pytest.approx(score(bench.recordings[0], interval=1.0).in_force)

    def answer(request: object) -> dict[str, str]:
        return {name: min(q["criteria"]) for name, q in request.questions.items()}  # type: ignore[attr-defined]

    by_hand = bench(answer)
    assert by_hand.untimed <= 0.02
    assert by_hand.virtual_clock
    with pytest.raises(ValueError, match="not colour"):
        Bench(tmp_path, {"colour": "red"})


@pytest.mark.parametrize("named", [[], (), "support_a"])
@pytest.mark.parametrize("what", ["scenarios", "families"])
def test_no_name_is_not_every_name(tmp_path: Path, what: str, named: object) -> None:
    given: dict[str, Any] = {what: named}
    for bench, options in ((Bench(tmp_path, {}), given), (Bench(tmp_path, given), {})):
        with pytest.raises(ValueError, match=f"{what}=.* is no list of names"):
            bench("simulated:jev", **options)


def test_a_marker_takes_names_alone(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        "import pytest\n\n@pytest.mark.sdb(['support_a'])\ndef test_one(sdb):\n    pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_one.py"],
        cwd=tmp_path, check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    assert "the marker sdb takes names, not ['support_a']" in done.stdout


FAILING = """\
import pytest
from decider import Decider

LATENCY = "lognormal:0.4,0.3"


def test_it_is_good_enough(sdb):
    score = sdb(Decider(), scenarios=["support_a"], interval=1.2, latency=LATENCY)
    assert score.in_force > 0.6


def test_it_is_no_worse(sdb):
    sdb.gate("simulated:jev", "slow", max_drop=2, allow_model_change=True)
    sdb.gate("simulated:astra-low", "fast", max_drop=2, allow_model_change=True)


def test_it_serves_what_it_served(sdb):
    sdb.gate("simulated:jev", "slow", max_drop=2)


def test_a_failure_without_a_score(sdb):
    assert not sdb.recordings
    raise ValueError("its own")
"""


def test_a_failure_says_what_how_much_and_why_in_three_lines(tmp_path: Path) -> None:
    (tmp_path / "decider.py").write_text(COMPONENT)
    (tmp_path / "test_one.py").write_text(FAILING)
    for name, profile in (("fast", "jev"), ("slow", "astra-low")):
        record_simulated(profile, tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-vv", "-p", "no:cacheprovider", "test_one.py"],
        cwd=tmp_path, check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    assert "4 failed" in done.stdout
    said = done.stdout.split("____ test_it_is_no_worse")[0]
    lines = [line[1:].strip() for line in said.splitlines() if line.startswith("E ")]
    assert lines == [
        "assert 0.0 > 0.6",
        "+  where 0.0 = <Result python:decider:Decider: 0.0 % in force at 1.2 s>.in_force",
        "python:decider:Decider: 0.0 % in force at 1.2 s (1 scenario, 60 states)",
        "lost 100.0 points: latency −0.7, judgment −87.2, both −12.1; p50 0.39 s",
        "least in force: support_a 0.0 % (latency −0.7, judgment −87.2, both −12.1)",
    ]
    said = done.stdout.split("____ test_it_is_no_worse")[1].split("____ test")[0]
    what, much, why = [line for line in said.splitlines()[1:] if not line.startswith("_")]
    assert what.startswith("FAIL: in force at 2 s, drop ")
    assert re.fullmatch(
        r"drop \d+\.\d points: latency −4\d\.\d, judgment .*; p50 0.25 → 2.6\d s", much
    )
    assert re.fullmatch(r"\w+ step \d+ \(.* → .*\): right .* of its time, −.* points .*", why)
    assert "another model was served" in done.stdout.split("____ test_it_serves")[1]
    assert "Score(" not in done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as people install it."""
    return built("wheel", tmp_path_factory.mktemp("wheel"))


def test_the_source_archive_carries_sources_and_nothing_odd(tmp_path: Path) -> None:
    with tarfile.open(built("sdist", tmp_path)) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    tops = {name.partition("/")[0] for name in names}
    assert tops == {
        "src", "docs", "README.md", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "LICENSE", "constraints.txt",
        "pyproject.toml", "PKG-INFO", ".gitignore", "action.yml",
    }  # fmt: skip
    assert not [name for name in names if name.endswith((".pyc", ".env", ".log", ".err"))]


def test_the_wheel_carries_the_package_and_nothing_odd(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top.partition("-")[0] for top in tops} == {"streamdecisionbench"}


def fresh(home: Path, *packages: str | Path) -> Path:
    """A virtual environment of its own; what the package depends on is borrowed from this one."""
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    site = next((home / "lib").glob("python*/site-packages"))
    (site / "borrowed.pth").write_text(f"{third_party(home / 'borrowed')}\n")
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-index", "--no-build-isolation", *packages],
        check=True, capture_output=True, timeout=300, env={**os.environ, "PYTHONPATH": ""},
    )  # fmt: skip
    return python


def test_a_fresh_project_of_two_files(wheel: Path, tmp_path: Path) -> None:
    python = fresh(tmp_path / "env", wheel)
    project = tmp_path / "project"
    project.mkdir()
    (project / "decider.py").write_text(COMPONENT)
    (project / "test_decider.py").write_text(TESTS)
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "--strict-markers"],
        cwd=project, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


@pytest.mark.parametrize("kind", [pytest.param("wheel", marks=pytest.mark.realtime), "sdist"])
def test_what_is_built_works_without_the_repository(kind: str, tmp_path: Path) -> None:
    """Installed from the archive, nothing of this repository in sight: what the metadata promise, a
    recording and its log; of the wheel also the demonstration, over a short suite at a quick pace."""
    made = built(kind, tmp_path)
    python = fresh(tmp_path / "env", made)
    command = python.with_name("sdb")
    project = tmp_path / "project"
    project.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(project), "LANG": "C.UTF-8"}

    def ran(*words: str | Path) -> str:
        done = subprocess.run(
            [*map(str, words)], cwd=project, capture_output=True, text=True, timeout=600,
            check=False, env=environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    where = ran(python, "-c", "import streamdecisionbench as s, sys; print(s.__file__, sys.path)")
    assert where.startswith(str(tmp_path / "env"))
    assert str(ROOT) not in where
    told = ran(python, "-m", "pip", "show", "-f", "streamdecisionbench")
    for promised in (
        "Version: ",
        "License",
        "bin/sdb",
        "streamdecisionbench/gate/pytest_plugin.py",
    ):
        assert promised in told
    if kind == "wheel":
        short = make_suite([kit.suite().scenarios["support_a"]], name="short")
        write_suite(short, project / "suite")
        ran(command, "demo", "--data", "suite", "--interval", "0.05", "--formats", "svg")
        assert (project / "demo" / "report" / "index.html").stat().st_size > 100_000
    ran(
        command, "run", "baseline:lexical-overlap", "--clock", "virtual", "--quiet", "--out", "mine"
    )
    ran(command, "logs", "export", "mine", "--out", "log.parquet")
    scored = json.loads(ran(command, "logs", "score", "log.parquet", "--json"))
    assert scored["schema"] == "sdb-logs/1"
    alone = json.loads(ran(command, "score", "mine", "--json"))["recordings"][0]
    by = json.loads(ran(command, "logs", "score", "log.parquet", "--by", "scenario", "--json"))
    for group in by["groups"]:
        level = alone["by_scenario"][group["by"]["scenario"]]
        assert group["in_force"] == pytest.approx(level["in_force"], abs=1e-9)
