"""Servers nobody here wrote, started as processes of their own and ended by their id."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from tests.components.servers import unused_port

_START_S = 120.0


@contextmanager
def process(command: Sequence[str], *, url: str = "", cwd: Path | None = None) -> Iterator[str]:
    """The address of a server: the one it prints, or `url` once something answers there."""
    started = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, cwd=cwd, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    said: list[str] = []

    def listen() -> None:
        for line in started.stdout or ():
            said.append(line)

    threading.Thread(target=listen, daemon=True).start()
    try:
        yield _wait(started, said, url)
    finally:
        started.terminate()
        try:
            started.wait(30)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def script(name: str) -> str | None:
    """A command installed beside this Python, or on the path."""
    beside = Path(sys.executable).with_name(name)
    base = Path(sys.base_prefix) / "bin" / name
    return next((str(p) for p in (beside, base) if p.exists()), None) or shutil.which(name)


@contextmanager
def sparrow() -> Iterator[str]:
    """`sparrow-decider serve`: a trained decision model of 3 MB that speaks System One."""
    url = f"http://127.0.0.1:{unused_port()}"
    command = [
        sys.executable,
        "-m",
        "sparrow_decider.cli",
        "serve",
        "--port",
        url.rpartition(":")[2],
    ]
    with process(command, url=url) as address:
        yield address


def _wait(started: subprocess.Popen[str], said: list[str], url: str) -> str:
    end = time.monotonic() + _START_S
    while time.monotonic() < end:
        if started.poll() is not None:
            break
        if url and _answers(url):
            return url
        found = re.search(r"http://127\.0\.0\.1:\d+", "".join(said)) if not url else None
        if found:
            return found[0]
        time.sleep(0.05)
    raise RuntimeError(f"the server did not start: {''.join(said)[-500:]}")


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=2):  # noqa: S310
            return True
    except HTTPError:
        return True
    except (URLError, OSError):
        return False
