"""The fixture `sdb`: a component's own test in a fresh project of two files."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.pytest_plugin import Bench
from streamdecisionbench.scoring.score import score

ROOT = Path(__file__).parents[1]
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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as people install it."""
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out],
        cwd=ROOT, check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    return next(out.glob("*.whl"))


def test_the_source_archive_carries_sources_and_nothing_odd(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path],
        cwd=ROOT, check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    tops = {name.partition("/")[0] for name in names}
    assert tops == {
        "src", "docs", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "constraints.txt",
        "pyproject.toml", "PKG-INFO", ".gitignore",
    }  # fmt: skip
    assert not [name for name in names if name.endswith((".pyc", ".env", ".log", ".err"))]


def test_the_wheel_carries_the_package_and_nothing_odd(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top.partition("-")[0] for top in tops} == {"streamdecisionbench"}


def test_a_fresh_project_of_two_files(wheel: Path, tmp_path: Path) -> None:
    """A virtual environment of its own; what the package depends on is borrowed from this one."""
    home = tmp_path / "env"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheel],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    site = next((home / "lib").glob("python*/site-packages"))
    (site / "borrowed.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")
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
