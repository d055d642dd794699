"""The command in a process of its own, forked from one in which its modules are loaded already.

For tests that kill, stop or limit a process: they need a real one, not the start of an interpreter.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing.context import ForkServerProcess
from pathlib import Path

ROOT = str(Path(__file__).parents[2])
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "pytest",
        "httpx",
        "streamdecisionbench.cli.run_command",
        "streamdecisionbench.recording.run_request",
    ]
)


def start(
    *arguments: str | Path,
    cwd: Path,
    errors: Path | None = None,
    before: Callable[[], None] | None = None,
    **environment: str,
) -> ForkServerProcess:
    """`sdb …` as a child; what it says goes to `errors`, what it prints nowhere."""
    words = list(map(str, arguments))
    process = _CONTEXT.Process(
        target=_command,
        args=(words, str(cwd), {**os.environ, **environment}, str(errors or os.devnull), before),
    )
    sys.path.insert(0, ROOT)  # where it finds this module
    try:
        process.start()
    finally:
        sys.path.remove(ROOT)
    return process


def _command(
    words: list[str],
    cwd: str,
    environment: dict[str, str],
    errors: str,
    before: Callable[[], None] | None,
) -> None:
    sys.path.remove(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    for number, path in ((1, os.devnull), (2, errors)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    if before is not None:
        before()
    sys.argv = ["sdb", *words]
    from streamdecisionbench.cli.main import main

    main()
