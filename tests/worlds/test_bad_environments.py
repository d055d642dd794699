"""An environment that returns or raises bad things at any tick: one message, and what was recorded stays."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

from streamdecisionbench.recording.event_log import Release, scan
from streamdecisionbench.suite.suite_files import read_suite
from tests.cli.command import sdb

ENVIRONMENT = '''
import json
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium import spaces

PLAN = Path(__file__).with_name("plan.json")
DEEP = []
for _ in range(300):
    DEEP = [DEEP]


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no words")


BAD = {
    "nan": float("nan"), "inf": float("inf"), "-inf": -float("inf"), "surrogate": "a\\udc00",
    "key": {"\\udfff": 1}, "array": np.array([1.0, np.nan]), "objects": np.array([object()]),
    "unprintable": Unprintable(), "deep": DEEP, "alike": {1: 0, "1": 1}, "huge": 1e400,
    "none": None, "wrong": "twelve", "big": 10**400, "rows": [[1.0, float("inf")]], "half": 1 + 2j,
}


class Env(gymnasium.Env):
    """Goes wrong as planned once an action was not the right one: the right twin sees nothing of it."""

    observation_space = spaces.Discrete(2)
    action_space = spaces.Discrete(2)

    def __init__(self):
        self.n, self.wrong = 0, False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.perhaps("reset", self.n % 2), {}

    def step(self, action):
        self.n += 1
        self.wrong = self.wrong or action != 1
        seen, reward = self.perhaps("observation", self.n % 2), self.perhaps("reward", 1.0)
        ended = self.perhaps("ended", self.n % 4 == 0)
        return (seen, reward, ended, False, {}) if self.perhaps("step", 1) == 1 else None

    def perhaps(self, where, good):
        plan = json.loads(PLAN.read_text()) if PLAN.exists() else {}
        if not self.wrong or plan.get("where") != where or self.n < plan["n"]:
            return good
        if plan["what"] == "raises":
            raise [RuntimeError("secret state"), SystemExit(3), KeyError("x"), RecursionError()][self.n % 4]
        return BAD[plan["what"]]


def right(observation):
    return 1


class Wrong:
    def answer(self, request):
        options = request.questions["action"]["criteria"]
        return {"action": next(label for label, text in options.items() if text == "0")}


gymnasium.register(id="Bad-v0", entry_point=Env, disable_env_checker=True)
'''
WHATS = (
    "nan", "inf", "-inf", "surrogate", "key", "array", "objects", "unprintable", "deep", "alike", "huge",
    "none", "wrong", "big", "rows", "half", "raises",
)  # fmt: skip
STEPS = 12


@pytest.mark.parametrize("case", range(40))
def test_a_bad_environment_ends_in_words_and_is_taken_up_later(case: int, tmp_path: Path) -> None:
    drawn = random.Random(case)
    what = WHATS[case % len(WHATS)]
    where = drawn.choice(["observation", "reward", "reset", "step", "ended"])
    plan = {"where": where, "n": drawn.randint(1, STEPS - 1), "what": what}
    (tmp_path / "bad_environment.py").write_text(ENVIRONMENT)
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    run = (
        "world", "run", "gym:bad_environment:Bad-v0", "python:bad_environment:Wrong",
        "--reference", "python:bad_environment:right", "--steps", str(STEPS), "--clock", "virtual",
        "--quiet", "--out", tmp_path / "run",
    )  # fmt: skip
    done = sdb(*run, cwd=tmp_path)
    assert done.returncode in (0, 2), done.stderr
    assert "secret state" not in done.stderr
    record = json.loads((tmp_path / "run" / "run.json").read_text(), parse_constant=pytest.fail)
    released = [
        e.t for e in scan(tmp_path / "run" / "events.jsonl").events if isinstance(e, Release)
    ]
    if done.returncode == 0:
        # What can be written as it is was written as it is; no number was made up.
        assert record["status"] == "complete"
    else:
        assert done.stderr.startswith("error: ")
        assert "fix: " in done.stderr
        assert record["status"] == "incomplete"
        assert released == list(range(len(released))), "every tick before it"
        assert len(released) >= min(plan["n"], STEPS - 1)
        refused = sdb("score", tmp_path / "run", cwd=tmp_path)
        assert refused.returncode == 2
        assert "--resume" in refused.stderr or "incomplete" in refused.stderr
    (tmp_path / "plan.json").unlink()
    sys.modules.pop("bad_environment", None)
    done = sdb(*run, "--resume", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (lived,) = read_suite(tmp_path / "run" / "suite")
    assert lived.n == STEPS
    assert sdb("score", tmp_path / "run", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("where", ["reset", "step", "observation"])
def test_an_environment_that_is_bad_from_its_start_makes_no_folder(
    where: str, tmp_path: Path
) -> None:
    source = ENVIRONMENT.replace("if not self.wrong or", "if")
    (tmp_path / "bad_environment.py").write_text(source)
    (tmp_path / "plan.json").write_text(json.dumps({"where": where, "n": 0, "what": "raises"}))
    done = sdb(
        "world", "run", "gym:bad_environment:Bad-v0", "baseline:constant", "--reference",
        "python:bad_environment:right", "--clock", "virtual", "--out", tmp_path / "run", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2
    assert "bad_environment.py:" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["gym:nowhere_at_all:Bad-v0", "gym:breaks_on_import:Bad-v0"])
def test_a_module_that_cannot_be_imported_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "bad_environment.py").write_text(ENVIRONMENT)
    (tmp_path / "breaks_on_import.py").write_text("raise SystemExit(1)\n")
    done = sdb(
        "world", "run", name, "baseline:constant", "--reference", "python:bad_environment:right",
        "--clock", "virtual", "--out", tmp_path / "run", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2
    assert name.split(":")[1] in done.stderr
