"""Text from elsewhere, all the way through: shown as text by terminal, files, figures and page."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from streamdecisionbench.suite.suite_files import write_suite
from tests.cli.command import sdb
from tests.report import kit

pytestmark = pytest.mark.slow

TITLE = "call \x1b]0;owned\x07 \x01 <b> | **x** \u202egnp"
NAMES = ("=1+1", "we\x1b[2Jird", "@sum")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("hostile")
    write_suite(kit.suite(title=TITLE), home / "suite")
    for name in NAMES:
        done = sdb(
            "run", "simulated:jev", "--clock", "virtual", "--data", home / "suite",
            "--out", home / name, "--quiet",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return home


def _inert(text: str) -> bool:
    return not set(text) & {chr(k) for k in (*range(9), *range(11, 32), 127, *range(128, 160))}


@pytest.mark.parametrize(
    "words",
    [
        ["score"], ["score", "--csv"], ["score", "--json"], ["score", "--mistakes"],
        ["analyze", "pace"], ["analyze", "paired", "--csv"],
        ["choose", "--interval", "2", "--resamples", "50"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_nothing_printed_is_a_command_to_the_terminal(home: Path, words: list[str]) -> None:
    done = sdb(*words, *(home / name for name in NAMES), FORCE_COLOR="")
    assert done.returncode == 0, done.stderr
    assert _inert(done.stdout)
    assert _inert(done.stderr)
    if "--csv" in words:
        cells = [cell for row in csv.reader(io.StringIO(done.stdout)) for cell in row]
        assert "'=1+1" in cells or "only =1+1" in cells
        texts = [c for c in cells if not _number(c)]
        assert not [c for c in texts if c.startswith(("=", "+", "-", "@"))]
    if "--json" in words:
        names = {r["name"] for r in json.loads(done.stdout)["recordings"]}
        assert names == {"=1+1", "we\\x1b[2Jird", "@sum"}


@pytest.mark.parametrize("words", [["list"], ["show", "support_a"], ["stats"]], ids=" ".join)
def test_a_suite_cannot_speak_to_the_terminal(home: Path, words: list[str]) -> None:
    done = sdb("suite", *words, "--data", home / "suite")
    assert done.returncode == 0, done.stderr
    assert _inert(done.stdout)


def test_messages_cannot_either(tmp_path: Path) -> None:
    done = sdb("score", tmp_path / "no\x1b[2Jthing")
    assert done.returncode == 2
    assert _inert(done.stderr)
    assert "no\\x1b[2Jthing" in done.stderr


def test_a_report_of_it_is_made_and_inert(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.in_haste(monkeypatch)
    out = tmp_path / "report"
    done = sdb("report", *(home / name for name in NAMES), "--out", out, "--formats", "svg,pdf")
    assert done.returncode == 0, done.stderr
    for path in out.rglob("*"):
        if path.suffix in (".md", ".csv", ".tex", ".svg", ".html"):
            assert _inert(path.read_text(encoding="utf-8")), path
        if path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                texts = [c for row in csv.reader(file) for c in row if not _number(c)]
            assert not [c for c in texts if c.startswith(("=", "+", "@"))], path
    text = (out / "report.md").read_text(encoding="utf-8")
    assert "**x**" not in text
    assert "<b>" not in text


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("command", ["score", "pace"])
def test_no_group_of_a_log_is_a_formula(tmp_path: Path, command: str) -> None:
    lines = [
        {
            "stream": f"{name}-{k}", "published_at": float(at), "answered_at": at + 0.5, "ended_at": 4.0,
            "decision": "a", "reference": "a", "=cmd|x": name,
        }
        for name in ("=1+1", "@sum", "-2+3")
        for k in range(2)
        for at in range(4)
    ]  # fmt: skip
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = sdb("logs", command, log, "--by", "=cmd|x", "--csv")
    assert done.returncode == 0, done.stderr
    cells = [cell for row in csv.reader(io.StringIO(done.stdout)) for cell in row]
    assert {"'=1+1", "'@sum", "'-2+3"} <= set(cells)
    assert not [c for c in cells if c.startswith(("=", "+", "-", "@")) and not _number(c)]


def test_annotations_are_written_so_that_the_runner_reads_them_back(tmp_path: Path) -> None:
    """In a command `%` opens an escape: one that is a sign of percent must be one."""
    write_suite(kit.suite(values=("record", "pause at 25%0A", "stop")), tmp_path / "suite")
    for profile in ("astra-low", "jev"):
        done = sdb(
            "run", f"simulated:{profile}", "--clock", "virtual", "--quiet",
            "--data", tmp_path / "suite", "--out", tmp_path / profile,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    done = sdb("gate", tmp_path / "jev", "--baseline", tmp_path / "astra-low", "--github")
    commands = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert [c for c in commands if "pause at 25%250A" in c], commands
    assert not [c for c in commands if re.search("%(?!25|0A|0D|3A|2C)", c)]
