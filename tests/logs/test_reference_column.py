"""`--reference column` and decisions that are empty text mean the same to every command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import sdb
from tests.logs.test_formats import write


def rows(values: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {"stream": f"s{s}", "published_at": float(k), "answered_at": k + 0.2,
         "decision": values[k % len(values)], "reference": values[(k + s) % len(values)],
         "ended_at": 6.0, "state": json.dumps({"k": k, "s": s}), "release": str(s % 2)}
        for s in range(6)
        for k in range(6)
    ]  # fmt: skip


COMMANDS = {
    "check": (), "score": (), "show": (), "pace": (), "suite": ("--out", "out"), "import": ("--out", "out"),
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_the_column(tmp_path: Path, command: str) -> None:
    write(tmp_path / "log.parquet", rows(("a", "b")))
    words = ("logs", command, "log.parquet", "--reference", "column", *COMMANDS[command])
    done = sdb(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    plain = [{k: v for k, v in row.items() if k != "reference"} for row in rows(("a", "b"))]
    (tmp_path / "new").mkdir()
    write(tmp_path / "new" / "log.parquet", plain)
    done = sdb(*words, cwd=tmp_path / "new")
    assert (done.returncode, "there is no column 'reference'" in done.stderr) == (2, True)


def test_the_gate_takes_the_column(tmp_path: Path) -> None:
    write(tmp_path / "log.parquet", rows(("a", "b")))
    words = ("--by", "release", "--baseline", "0", "--max-drop", "99", "--unpaired")
    done = sdb("gate", "log.parquet", "--reference", "column", *words, cwd=tmp_path)
    assert "error" not in done.stderr


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_empty_text_is_a_decision_like_any_other(tmp_path: Path, form: str) -> None:
    """Renaming it changes no score: of the log, of the suite and of the recording made of it."""
    scores = []
    for name, values in (("empty", ("a", "", "b")), ("named", ("a", "nothing", "b"))):
        path = write(tmp_path / f"{name}.{form}", rows(values))
        out = tmp_path / name
        made = sdb("logs", "suite", path, "--out", tmp_path / f"{name}-suite")
        assert made.returncode == 0, made.stderr
        assert "6 of 6 sessions, 36 states" in made.stdout
        done = sdb("logs", "import", path, "--out", out)
        assert done.returncode == 0, done.stderr
        logged = json.loads(sdb("logs", "score", path, "--json").stdout)
        scored = json.loads(sdb("score", out, "--interval", "1", "--json").stdout)
        scores.append((logged["groups"][0]["classes"], _numbers(scored)))
    assert scores[0] == scores[1]


def _numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [n for one in value.values() for n in _numbers(one)]
    if isinstance(value, list):
        return [n for one in value for n in _numbers(one)]
    return [value] if isinstance(value, float) else []
