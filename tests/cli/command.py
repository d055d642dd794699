"""Runs the command: inside this process for speed, or in one of its own as a user would."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from streamdecisionbench.cli import main as command_line

COLUMNS = "80"


def sdb(
    *arguments: str | Path, cwd: Path | None = None, encoding: str = "utf-8", **environment: str
) -> subprocess.CompletedProcess[str]:
    """`sdb …` with a terminal of 80 columns, without the start of an interpreter.

    Everything a command could leave behind is put back: environment, folder, module path.
    """
    words = ["sdb", *map(str, arguments)]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="") for _ in range(2))
    with (
        _kept(cwd, {"COLUMNS": COLUMNS, **environment}, words),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            command_line.main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return subprocess.CompletedProcess(words, code, _read(out), _read(err))


def record_simulated(profile: str, out: Path, *options: str | Path) -> Path:
    """A recording of a simulated component on the virtual clock."""
    run = ("run", f"simulated:{profile}", "--clock", "virtual", "--quiet", "--out", out)
    done = sdb(*run, *options)
    assert done.returncode == 0, done.stderr
    return out


def sdb_process(
    *arguments: str | Path, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own, for what only a process shows."""
    return subprocess.run(
        [sys.executable, "-m", "streamdecisionbench.cli.main", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=cwd,
        env={**os.environ, "COLUMNS": COLUMNS, **environment},
    )


@contextlib.contextmanager
def _kept(cwd: Path | None, environment: dict[str, str], words: list[str]) -> Iterator[None]:
    variables, path, argv, folder = dict(os.environ), list(sys.path), sys.argv, Path.cwd()
    modules = set(sys.modules)
    os.environ.update(environment)
    sys.argv = words
    if cwd is not None:
        os.chdir(cwd)
    try:
        yield
    finally:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        sys.path[:] = path
        sys.argv = argv
        for name in set(sys.modules) - modules:
            # A user's own module: the next test may have another one of this name.
            origin = getattr(sys.modules[name], "__file__", None) or ""
            ours = name.startswith(("streamdecisionbench", "tests"))
            installed = "site-packages" in origin or origin.startswith(sys.base_prefix)
            if origin and not ours and not installed:
                del sys.modules[name]


def _read(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode(stream.encoding).replace("\r\n", "\n")
