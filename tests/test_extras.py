"""Every extra, installed alone, runs the commands its documentation shows; every import is declared."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, blocks, steps
from tests.docs.services import HostedServer
from tests.docs.treatment import QUICK
from tests.docs.workbench import KEYS, write_decisions
from tests.installed import built

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SOURCES = ROOT / "src" / "streamdecisionbench"
WANTED = bool(os.environ.get("CI") or os.environ.get("SDB_ENVIRONMENTS"))
HOSTED = ("--yes", *(word for option in QUICK.items() for word in option))
"""What a pass over a hosted service gets here: one scenario at a quick pace, and no question."""
RECORDED = ("runs/jev", "runs/terra-low", "runs/astra-low", "runs/new", "runs/old")
PROMETHEUS = """
from prometheus_client import generate_latest
from streamdecisionbench.meter import Meter
import streamdecisionbench.meter.prometheus
meter = Meter("recorder")
streamdecisionbench.meter.prometheus.export(meter)
assert b"sdb_" in generate_latest()
"""
OTEL = """
from streamdecisionbench.meter import Meter
import streamdecisionbench.meter.opentelemetry
streamdecisionbench.meter.opentelemetry.export(Meter("recorder"))
"""
DOCUMENTED: dict[str, tuple[str, tuple[str, ...]]] = {
    "": ("docs/start/score-a-model.md", (
        "sdb suite show assembly_a --step 12",
        "sdb run python:my_rules:Decider --families procedural_coaching --clock virtual --out runs/mine",
        "sdb score runs/mine",
        "sdb score runs/mine --mistakes",
    )),
    "logs": ("docs/how-to/map-your-table.md", (
        "sdb logs check decisions.parquet",
        "sdb logs score decisions.parquet --by release",
        "sdb logs score decisions.parquet --by release --page decisions.html",
        "sdb logs show decisions.parquet --by release --worst 1",
        "import voice_agent",
        "sdb logs check calls.csv --write-mapping draft.sql",
        "sdb logs score calls.csv --sql mapping.sql --reference python:agent_rules:reference --by release",
        "sdb logs show calls.csv --sql mapping.sql --reference python:agent_rules:reference --by release --worst 3",
        "sdb logs suite decisions.parquet --reference python:recorder_rules:reference --streams 20 --out calls",
        "sdb run simulated:jev --clock virtual --data calls --out runs/jev-calls",
        "sdb score runs/jev-calls",
        "sdb logs export runs/jev --out jev.parquet",
        "sdb logs score jev.parquet --by scenario",
    )),
    "openai,report": ("README.md", (
        "sdb run openai:gpt-6-astra --effort low --out runs/astra-low",
        "sdb choose runs/jev runs/terra-low --interval 1.2",
        "sdb report runs/jev runs/terra-low --out report",
    )),
    "anthropic": ("docs/how-to/connect-a-model.md", ("sdb run anthropic:MODEL --out runs/other",)),
    "typesafe": ("docs/how-to/connect-a-model.md", ("sdb run systemone:jev-latest --out runs/jev",)),
    "worlds": ("docs/how-to/closed-loops.md", (
        "import gymnasium",
        "sdb world run gym:CartPole-v1 python:balance:Player --reference python:balance:right --steps 100"
        " --clock virtual --out runs/cart",
    )),
    "prometheus": ("docs/how-to/deploy-and-alert.md", ("streamdecisionbench.meter.prometheus.export(meter)",)),
    "otel": ("docs/how-to/deploy-and-alert.md", ("streamdecisionbench.meter.opentelemetry.export(meter)",)),
    "fast": ("docs/how-to/record-and-resume.md", (
        "sdb run baseline:lexical-overlap --clock virtual --out runs/lexical",
    )),
    "audit": ("docs/how-to/generate-suites.md", ("sdb audit probe",)),
}  # fmt: skip
"""By extras: the page, and commands of it word for word, or the first line of a program in it."""
PROGRAMS = {
    "streamdecisionbench.meter.prometheus.export(meter)": PROMETHEUS,
    "streamdecisionbench.meter.opentelemetry.export(meter)": OTEL,
}
ELSEWHERE = {
    "serve": "tests/docs runs `sdb serve`, which does not end",
    "local": "weights of hundreds of megabytes",
    "laya": "needs torch, several gigabytes",
    "spark": "needs Java",
    "inspect": "tests/test_inspect_task.py",
    "docs": "tests/docs/test_site.py",
    "all": "the sum of others",
    "dev": "what runs these tests",
}
"""Extras that are not installed alone here, with the reason."""


def named(requirements: list[str]) -> set[str]:
    return {
        re.split(r"[^\w.-]", one, maxsplit=1)[0].lower().replace("_", "-") for one in requirements
    }


def test_every_import_is_declared() -> None:
    """Also those inside functions: by the package itself, or by an extra."""
    extras = PROJECT["optional-dependencies"]
    declared = named(PROJECT["dependencies"]) | {
        name for extra, wanted in extras.items() if extra != "dev" for name in named(wanted)
    }
    known = packages_distributions()
    undeclared = {}
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules = [node.module]
            for top in {module.partition(".")[0] for module in modules}:
                if top in sys.stdlib_module_names or top == "streamdecisionbench":
                    continue
                found = {one.lower().replace("_", "-") for one in known.get(top, [top])}
                if not found & declared:
                    undeclared.setdefault(top, path.name)
    assert undeclared == {"pytest": "pytest_plugin.py"}  # pytest itself loads that module


def test_every_extra_is_tried_or_has_a_reason() -> None:
    tried = {extra for extras in DOCUMENTED for extra in extras.split(",") if extra}
    assert tried | set(ELSEWHERE) == set(PROJECT["optional-dependencies"])
    assert not tried & set(ELSEWHERE)
    text = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    listed = {name for line in text.splitlines() if line.startswith("| `") for name in
              re.findall(r"`(\w+)`", line.split("|")[1])}  # fmt: skip
    assert listed == set(PROJECT["optional-dependencies"]) - {"dev"}


@pytest.mark.parametrize("extras", DOCUMENTED)
def test_the_documentation_shows_these_commands(extras: str) -> None:
    page, commands = DOCUMENTED[extras]
    shown = [step.text for step in steps(ROOT / page)]
    text = (ROOT / page).read_text(encoding="utf-8")
    for command in commands:
        found = command in PROGRAMS and f"`{command}`" in text
        assert found or any(one == command or one.startswith(f"{command}\n") for one in shown), (
            command
        )


def test_a_documented_query_needs_no_pytz(tmp_path: Path) -> None:
    """DuckDB hands timestamps to Python by way of pytz, which no extra declares."""
    lay_out("docs/how-to/map-your-table.md", tmp_path)
    (tmp_path / "pytz.py").write_text(
        'raise ModuleNotFoundError("No module named pytz", name="pytz")'
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    for words in (
        ["-c", "import voice_agent; voice_agent.make_table()"],
        ["-m", "streamdecisionbench", "logs", "check", "calls.csv", "--sql", "mapping.sql"],
    ):
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert "rows" in done.stdout


def lay_out(page: str, folder: Path) -> None:
    """The files that a page prints, and the example it names."""
    for block in blocks(ROOT / page):
        name = re.match(r"(?:#|--) ([\w-]+\.(?:py|sql|toml))\n", block.text)
        if name:
            (folder / name[1]).write_text(block.text, encoding="utf-8")
    shutil.copy(ROOT / "docs/examples/labels/voice_agent.py", folder)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not WANTED:
        pytest.skip("fresh environments are built in CI, or with SDB_ENVIRONMENTS=1")
    return built("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def server() -> Iterator[HostedServer]:
    one = HostedServer()
    one.start()
    yield one
    one.stop()


@pytest.mark.environments
@pytest.mark.parametrize("extras", DOCUMENTED)
def test_an_extra_alone_runs_what_its_documentation_shows(
    tmp_path: Path, wheel: Path, server: HostedServer, extras: str
) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    package = f"{wheel}[{extras}]" if extras else str(wheel)
    asked = [str(python), "-m", "pip", "install", "-q", package]
    installed = subprocess.run(asked, capture_output=True, text=True, timeout=900, check=False)
    if installed.returncode:
        if re.search("No matching distribution|Connection|Temporary failure", installed.stderr):
            pytest.skip(f"packages cannot be downloaded: {installed.stderr.strip()[-200:]}")
        pytest.fail(installed.stderr)
    work = tmp_path / "work"
    work.mkdir()
    page, commands = DOCUMENTED[extras]
    lay_out(page, work)
    write_decisions(work / "decisions.parquet")
    kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
    environment = {
        **kept, **KEYS, "PATH": f"{python.parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "COLUMNS": "100",
        "OPENAI_BASE_URL": server.url + "/v1", "TYPESAFE_BASE_URL": server.url,
        "ANTHROPIC_BASE_URL": server.url, "PYTHONIOENCODING": "utf-8",
    }  # fmt: skip

    def run(words: list[str]) -> None:
        done = subprocess.run(
            words, cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr, done.stderr

    outs = {found[1] for one in commands if (found := re.search(r"--out (\S+)", one))}
    for name in RECORDED:
        if any(name in one for one in commands) and name not in outs:
            profile = next((one for one in ("astra-low", "terra-low") if one in name), "jev")
            made = f"sdb run simulated:{profile} --clock virtual --quiet --out {name}"
            run(shlex.split(made))
    programs = {block.text.partition("\n")[0]: block.text for block in blocks(ROOT / page)}
    for command in commands:
        if not command.startswith("sdb "):
            run([str(python), "-c", PROGRAMS.get(command) or programs[command]])
            continue
        hosted = re.match(r"sdb run (openai|anthropic|systemone):", command)
        probe = ("--families", "presenter_voice_control", "--train", "4", "--test", "1")
        more = HOSTED if hosted else probe if command == "sdb audit probe" else ()
        run([*shlex.split(command), *more])
