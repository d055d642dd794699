"""Runs a command as long as the parent of this process is alive.

    python child_process.py COMMAND…

Standard input tells: a pipe whose other end only the starter holds. When the starter ends, by
`kill -9` too, the pipe closes and the command is ended. Standard library alone, run by its path, so
that it starts at once.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from types import FrameType

_PATIENCE_S = 5.0


def ending_with_us(command: list[str]) -> list[str]:
    """The command, bound to this process. Start it with `stdin=subprocess.PIPE` and leave that open."""
    return [sys.executable, "-P", __file__, *command]


def main(command: list[str]) -> int:
    """Ends with the command's own code."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 - what we were told

    def end(_number: int, _frame: FrameType | None) -> None:
        child.terminate()

    signal.signal(signal.SIGTERM, end)
    # Ctrl-C reaches the whole group; the command decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_hold, args=(child,), daemon=True).start()
    code = child.wait()
    return code if code >= 0 else 128 - code


def _hold(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 1024):
            pass
    child.terminate()
    try:
        child.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        child.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
