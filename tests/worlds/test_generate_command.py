"""`sdb suite generate` and `sdb suite coverage`, as typed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.suite.suite_files import make_suite, write_suite
from streamdecisionbench.worlds.generate import generate
from streamdecisionbench.worlds.generation import compose
from streamdecisionbench.worlds.generation.parameters import Parameters
from tests.cli.command import sdb

pytestmark = pytest.mark.slow

FAMILY = "live_debugging"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("generate") / "fresh"
    done = sdb(
        "suite", "generate", "--seed", "7", "--families", FAMILY, "--per-family", "2", "--out", out
    )
    assert done.returncode == 0, done.stderr
    assert "SDB eval 7, 2 scenarios" in done.stdout
    return out


def test_what_was_generated_is_valid_and_can_be_made_again(fresh: Path) -> None:
    assert sdb("validate", fresh).returncode == 0
    done = sdb("suite", "check", "--data", fresh)
    assert done.returncode == 0, done.stderr
    assert "references reproduce all 120 stored states" in done.stdout
    manifest = json.loads((fresh / "manifest.json").read_text())
    assert manifest["generation"] == {
        "seed": 7,
        "families": [FAMILY],
        "per_family": 2,
        "steps": 60,
        "changes": 22,
        "noise": 0.5,
        "wording": "listed",
        "split": "eval",
    }


def test_a_manifest_that_says_otherwise_is_found_out(fresh: Path, tmp_path: Path) -> None:
    for path in fresh.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["generation"]["seed"] = 8
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    done = sdb("suite", "check", "--data", tmp_path)
    assert done.returncode == 2
    assert "is not what seed 8 generates" in done.stderr


@pytest.mark.parametrize(
    ("family", "spoken"),
    [
        ("support_call_assist", {"speaker": "customer", "final": True}),
        ("presenter_voice_control", {"channel": "presenter", "final_at": 0}),
    ],
)
def test_a_sentence_outside_the_bank_is_refused_with_file_step_and_words(
    family: str, spoken: dict[str, Any], tmp_path: Path
) -> None:
    wanted = Parameters(
        seed=3, families=(family,), per_family=1, wording="free", steps=30, changes=8
    )
    suite = generate(wanted, tell=lambda _: None)
    (scenario,) = suite
    scenario.steps[9].state["transcript"][0].update(text="Perhaps, perhaps not.", **spoken)
    generation = suite.manifest.generation
    write_suite(make_suite([scenario], name="altered", generation=generation), tmp_path / "new")
    done = sdb("suite", "check", "--data", tmp_path / "new")
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert f"{scenario.episode_id}.json, step 9: the bank has no sentence '" in said
    assert "perhaps, perhaps not" in said.lower()
    assert "fix:" in said
    assert sdb("suite", "coverage", "--data", tmp_path / "new").returncode == 0


def test_coverage_of_any_suite_fits_80_columns(fresh: Path) -> None:
    done = sdb("suite", "coverage", "--data", fresh)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "keeps the grace for one tick longer" in done.stdout
    found = json.loads(sdb("suite", "coverage", "--data", fresh, "--json").stdout)
    assert found["schema"] == "sdb-coverage/1"
    part = found["families"][FAMILY]
    assert part["states"] == 120
    assert part["rules"]["wait"] > 0
    assert sum(part["options"]["route"].values()) == 120


def test_a_second_solver_is_asked(tmp_path: Path) -> None:
    command = ("suite", "generate", "--seed", "7", "--per-family", "1", "--out", tmp_path / "new")
    solver = "streamdecisionbench.families.debugging.reference:reference"
    same = sdb(*command, "--families", FAMILY, "--second-solver", f"{FAMILY}=python:{solver}")
    assert same.returncode == 0, same.stderr
    other = sdb(
        *command[:-1], tmp_path / "other", "--families", FAMILY,
        "--second-solver", f"{FAMILY}=python:builtins:dict",
    )  # fmt: skip
    assert other.returncode == 2
    assert "tick 0: the two solvers differ on route" in other.stderr
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def solve(state): return state['no such key']", "solver raises KeyError at own.py:1"),
        ("def solve(state): raise SystemExit(3)", "solver raises SystemExit"),
        ("def solve(state): return None", "solver returns nothing that maps questions to values"),
        ("solve = 3", "cannot be loaded (it is no function)"),
        ("raise RuntimeError('at import')", "cannot be loaded (RuntimeError"),
        ("def solve(:", "cannot be loaded (SyntaxError"),
    ],
)
def test_a_second_solver_that_fails_is_named(
    source: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.py").write_text(source + "\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own", raising=False)
    done = sdb(
        "suite", "generate", "--seed", "7", "--per-family", "1", "--out", tmp_path / "new",
        "--families", FAMILY, "--second-solver", f"{FAMILY}=python:own:solve",
    )  # fmt: skip
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--per-family", "0"), "choose 1 to 1000"),
        (("--changes", "70"), "choose 12 to 24 with --steps 60"),
        (("--steps", "1000"), "choose 30 to 72"),
        (("--families", "poetry"), "choose from live_debugging"),
        (("--families", ""), "choose from live_debugging"),
        (("--split", "dev"), "choose eval or train"),
        (("--second-solver", "nonsense"), "FAMILY is one of"),
        (("--second-solver", f"{FAMILY}=python:no.such:thing"), "cannot be loaded"),
    ],
)
def test_bad_options_are_refused_with_what_works(
    options: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = sdb("suite", "generate", "--seed", "1", "--out", tmp_path / "new", *options)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert not (tmp_path / "new").exists()


def test_nothing_is_overwritten(fresh: Path) -> None:
    done = sdb("suite", "generate", "--seed", "1", "--out", fresh)
    assert done.returncode == 2
    assert "is not empty" in done.stderr


def test_what_a_session_had_no_room_to_show_is_said_aloud(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compose, "_COMPLETE_ATTEMPTS", 0)
    done = sdb(
        "suite", "generate", "--seed", "1", "--families", FAMILY, "--per-family", "2",
        "--out", tmp_path / "new",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "note: debugging_" in done.stderr
    assert "does not show" in done.stderr
    assert (tmp_path / "new" / "manifest.json").exists()
