"""`sparrow-decider`: a real, trained decision model of 3 MB, served on this machine by its own package.

It installs by name and needs neither key nor network, so that a demonstration can show one row that
is no simulation. It is not ours and not a dependency: where it is missing, everything goes on without.
"""

from __future__ import annotations

import contextlib
import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from streamdecisionbench.components.serving.ends_with_starter import leashed
from streamdecisionbench.errors import SdbError

INSTALL = "pip install sparrow-decider"

_START_S = 30.0


def is_installed() -> bool:
    """Whether the package is here, without importing it."""
    return importlib.util.find_spec("sparrow_decider") is not None


@contextlib.contextmanager
def sparrow_server(environment: Mapping[str, str], errors: Path) -> Iterator[str]:
    """Its address, once it answers; what it says goes to `errors`. Ended with the block."""
    port = _free_port()
    command = [sys.executable, "-P", "-m", "sparrow_decider.cli", "serve", "--port", str(port)]
    # One thread for its arithmetic: it must not take the processors the clock runs on.
    alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with errors.open("w", encoding="utf-8") as log:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter, a fixed module
            leashed(command),
            stdout=log,
            stderr=log,
            stdin=subprocess.PIPE,
            env={**environment, **alone},
        )
    try:
        _wait(process, port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + _START_S
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise SdbError("sparrow-decider did not start")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
